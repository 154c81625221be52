/* lanes_place.c - reading and writing one element a lane: side by side, in blocks, or gathered. */
#include "lanes_place.h"

#define B (l->e->builder)

enum { MOST_BLOCK_BITS = 8192, MOST_PARTS = 16, MOST_LANES = 64 };

static LLVMValueRef c64(lanes *l, uint64_t v) { return LLVMConstInt(l->e->i64, v, 0); }
static LLVMValueRef c32(lanes *l, uint64_t v) { return LLVMConstInt(l->e->i32, v, 0); }

static LLVMTypeRef memory_elem(lanes *l, const access *a) { return emit_memory_type(l->e, a->elem); }

/* ---- Places --------------------------------------------------------------------------------------------------------
 */

place lanes_place(lanes *l, ir_inst *pointer) {
  place p = {.var = lanes_root(l, pointer), .shape = lanes_shape_of(l, pointer)};
  p.base = p.shape.kind == SHAPE_VARYING ? lanes_vector(l, pointer, 0) : lanes_uniform(l, pointer);
  return p;
}

place place_at(lanes *l, place p, uint64_t bytes) {
  if (bytes == 0) return p;
  LLVMTypeRef type = p.shape.kind == SHAPE_VARYING ? LLVMVectorType(l->e->i64, l->width) : l->e->i64;
  LLVMValueRef step = int_splat(type, bytes);
  p.base = p.var ? LLVMBuildAdd(B, p.base, step, "") : LLVMBuildInBoundsGEP2(B, l->e->i8, p.base, &step, 1, "");
  return p;
}

/* In scratch, where lanes past the row's end would meet other items. */
static bool is_context(const lane_var *var) { return var->ir->storage == IR_STORE_CONTEXT; }

/* Where lane 0 of the leaf at a uniform offset is; the other lanes follow it. */
static LLVMValueRef leaf_address(lanes *l, const lane_var *var, LLVMValueRef offset, uint64_t size) {
  function_state *f = l->e->f;
  if (var->ir->storage == IR_STORE_PLAIN) {
    LLVMValueRef at = LLVMBuildMul(B, offset, c64(l, l->width), "");
    return LLVMBuildInBoundsGEP2(B, l->e->i8, var->storage[0], &at, 1, "");
  }
  LLVMValueRef start = LLVMBuildAdd(B, offset, c64(l, var->ir->offset), "");
  start = LLVMBuildMul(B, start, f->padded_items, "");
  LLVMValueRef item = LLVMBuildMul(B, f->items.linear, c64(l, size), "");
  LLVMValueRef base = LLVMBuildInBoundsGEP2(B, l->e->i8, f->scratch, &start, 1, "");
  return LLVMBuildInBoundsGEP2(B, l->e->i8, base, &item, 1, "");
}

/* The same with an offset a lane. */
static LLVMValueRef leaf_pointers(lanes *l, const lane_var *var, LLVMValueRef offsets, uint64_t size) {
  function_state *f = l->e->f;
  bool plain = var->ir->storage == IR_STORE_PLAIN;
  LLVMValueRef factor = plain ? c64(l, l->width) : f->padded_items;
  LLVMValueRef base = leaf_address(l, var, c64(l, 0), size);
  LLVMValueRef at = LLVMBuildMul(B, offsets, lanes_spread(l, factor), "");
  at = LLVMBuildAdd(B, at, lanes_steps(l, l->e->i64, (int64_t)size), "");
  return LLVMBuildInBoundsGEP2(B, l->e->i8, base, &at, 1, "");
}

/* One pointer a lane. */
static LLVMValueRef place_pointers(lanes *l, place p, uint64_t size) {
  LLVMValueRef steps = lanes_steps(l, l->e->i64, p.shape.stride);
  if (p.var) {
    LLVMValueRef offsets = p.base;
    if (p.shape.kind != SHAPE_VARYING) offsets = LLVMBuildAdd(B, lanes_spread(l, p.base), steps, "");
    return leaf_pointers(l, p.var, offsets, size);
  }
  if (p.shape.kind == SHAPE_VARYING) return p.base;
  return LLVMBuildInBoundsGEP2(B, l->e->i8, p.base, &steps, 1, "");
}

/* ---- Shuffles
 * -------------------------------------------------------------------------------------------------------- */

static LLVMValueRef shuffled(lanes *l, LLVMValueRef x, const int *from, unsigned count) {
  LLVMValueRef mask[512];
  for (unsigned i = 0; i < count && i < 512; i++)
    mask[i] = from[i] < 0 ? LLVMGetPoison(l->e->i32) : c32(l, (uint64_t)from[i]);
  return LLVMBuildShuffleVector(B, x, LLVMGetPoison(LLVMTypeOf(x)), LLVMConstVector(mask, count), "");
}

/* Component c of vectors that stand one after another, `room` elements each. */
static LLVMValueRef every_nth(lanes *l, LLVMValueRef block, unsigned room, unsigned c) {
  int from[MOST_LANES];
  for (unsigned i = 0; i < l->width; i++) from[i] = (int)(i * room + c);
  return shuffled(l, block, from, l->width);
}

static LLVMValueRef join_two(lanes *l, LLVMValueRef x, LLVMValueRef y) {
  LLVMValueRef mask[512];
  unsigned count = 2 * lane_count(LLVMTypeOf(x));
  for (unsigned i = 0; i < count && i < 512; i++) mask[i] = c32(l, i);
  return LLVMBuildShuffleVector(B, x, y, LLVMConstVector(mask, count), "");
}

/* Vectors of one type, end to end; their number is filled up to a power of two. Returns the vector. */
static LLVMValueRef join_all(lanes *l, LLVMValueRef *parts, unsigned count) {
  LLVMValueRef now[MOST_LANES];
  unsigned rounded = 1;
  while (rounded < count) rounded *= 2;
  for (unsigned i = 0; i < rounded; i++) now[i] = i < count ? parts[i] : LLVMGetPoison(LLVMTypeOf(parts[0]));
  for (; rounded > 1; rounded /= 2)
    for (unsigned i = 0; i < rounded / 2; i++) now[i] = join_two(l, now[2 * i], now[2 * i + 1]);
  return now[0];
}

/* Lane after lane, its components and what room is left. */
static LLVMValueRef interleaved(lanes *l, LLVMValueRef *parts, const access *a) {
  int from[512];
  for (unsigned i = 0; i < l->width; i++)
    for (unsigned c = 0; c < a->room; c++) from[i * a->room + c] = c < a->count ? (int)(c * l->width + i) : -1;
  return shuffled(l, join_all(l, parts, a->count), from, l->width * a->room);
}

/* The mask of such a block; only the first `used` of each lane's elements count. */
static LLVMValueRef block_mask(lanes *l, unsigned room, unsigned used) {
  LLVMValueRef mask = lanes_mask(l), pick[512];
  unsigned count = l->width * room;
  for (unsigned i = 0; i < count; i++) pick[i] = c32(l, i % room < used ? i / room : l->width);
  return LLVMBuildShuffleVector(B, mask, LLVMConstNull(LLVMTypeOf(mask)), LLVMConstVector(pick, count), "");
}

/* ---- Vectors in memory
 * ------------------------------------------------------------------------------------------------ */

/* All of `type`, or where `mask` says; other elements are 0. */
static LLVMValueRef load_masked(lanes *l, LLVMTypeRef type, LLVMValueRef pointer, unsigned align, LLVMValueRef mask) {
  if (!mask) {
    LLVMValueRef load = LLVMBuildLoad2(B, type, pointer, "");
    LLVMSetAlignment(load, align);
    return load;
  }
  LLVMTypeRef types[2] = {type, l->e->ptr};
  LLVMValueRef args[4] = {pointer, c32(l, align), mask, LLVMConstNull(type)};
  return emit_intrinsic(l->e, "llvm.masked.load", types, 2, args, 4);
}

static void store_masked(lanes *l, LLVMValueRef value, LLVMValueRef pointer, unsigned align, LLVMValueRef mask) {
  if (!mask) {
    LLVMSetAlignment(LLVMBuildStore(B, value, pointer), align);
    return;
  }
  LLVMTypeRef types[2] = {LLVMTypeOf(value), l->e->ptr};
  LLVMValueRef args[4] = {value, pointer, c32(l, align), mask};
  (void)emit_intrinsic(l->e, "llvm.masked.store", types, 2, args, 4);
}

/* ---- Small vectors as integers of their size: a pixel of four bytes is one element, taken apart by shifts
 * --------------------------------------------------------------------------- */

static LLVMTypeRef whole_type(lanes *l, const access *a) {
  LLVMTypeRef elem = memory_elem(l, a);
  if (a->room == 1 || LLVMGetTypeKind(elem) == LLVMPointerTypeKind) return NULL;
  unsigned bits = a->room * elem_bits(elem);
  return bits == 16 || bits == 32 || bits == 64 ? LLVMIntTypeInContext(l->e->context, bits) : NULL;
}

/* Larger elements are shuffled in one instruction. */
static LLVMTypeRef whole_of_small(lanes *l, const access *a) {
  return a->elem->kind != IR_POINTER && elem_bits(memory_elem(l, a)) < 32 ? whole_type(l, a) : NULL;
}

static void take_apart(lanes *l, LLVMValueRef all, const access *a, LLVMValueRef *parts) {
  LLVMTypeRef elem = memory_elem(l, a), type = LLVMTypeOf(all), small = int_with_bits(l->e, type, elem_bits(elem));
  for (unsigned c = 0; c < a->count; c++) {
    LLVMValueRef part = LLVMBuildLShr(B, all, int_splat(type, (uint64_t)c * elem_bits(elem)), "");
    parts[c] = LLVMBuildBitCast(B, LLVMBuildTrunc(B, part, small, ""), LLVMVectorType(elem, l->width), "");
  }
}

static LLVMValueRef put_together(lanes *l, LLVMTypeRef whole, const access *a, LLVMValueRef *parts) {
  LLVMTypeRef type = LLVMVectorType(whole, l->width);
  unsigned bits = elem_bits(memory_elem(l, a));
  LLVMValueRef all = LLVMConstNull(type);
  for (unsigned c = 0; c < a->count; c++) {
    LLVMValueRef part = LLVMBuildBitCast(B, parts[c], int_with_bits(l->e, type, bits), "");
    part = LLVMBuildShl(B, LLVMBuildZExt(B, part, type, ""), int_splat(type, (uint64_t)c * bits), "");
    all = LLVMBuildOr(B, all, part, "");
  }
  return all;
}

/* ---- Gathering
 * ---------------------------------------------------------------------------------------------------------- */

static LLVMValueRef mask_bits(lanes *l) {
  LLVMTypeRef type = LLVMIntTypeInContext(l->e->context, l->width);
  return LLVMBuildZExt(B, LLVMBuildBitCast(B, lanes_mask(l), type, ""), l->e->i64, "");
}

LLVMValueRef lanes_last_running(lanes *l) {
  if (!l->mask) return c32(l, l->width - 1);
  LLVMValueRef args[2] = {mask_bits(l), LLVMConstInt(l->e->i1, 1, 0)};
  LLVMValueRef zeros = emit_intrinsic1(l->e, "llvm.ctlz", l->e->i64, args, 2);
  return LLVMBuildTrunc(B, LLVMBuildXor(B, zeros, c64(l, 63), ""), l->e->i32, "");
}

/* Pointers that can all be read: lanes that don't run take a running one's. */
static LLVMValueRef safe_pointers(lanes *l, LLVMValueRef pointers) {
  if (!l->mask) return pointers;
  LLVMValueRef one = LLVMBuildExtractElement(B, pointers, lanes_last_running(l), "");
  return LLVMBuildSelect(B, l->mask, pointers, lanes_spread(l, one), "");
}

static bool machine_gathers(lanes *l, LLVMTypeRef elem) {
  unsigned bits = LLVMGetTypeKind(elem) == LLVMPointerTypeKind ? 64 : elem_bits(elem);
  return l->e->facts.wide512 && bits >= 32;
}

static LLVMValueRef gather(lanes *l, LLVMValueRef pointers, LLVMTypeRef elem, unsigned align) {
  LLVMTypeRef type = LLVMVectorType(elem, l->width);
  if (machine_gathers(l, elem)) {
    LLVMTypeRef types[2] = {type, LLVMTypeOf(pointers)};
    LLVMValueRef args[4] = {pointers, c32(l, align), lanes_mask(l), LLVMConstNull(type)};
    return emit_intrinsic(l->e, "llvm.masked.gather", types, 2, args, 4);
  }
  LLVMValueRef safe = safe_pointers(l, pointers), value = LLVMGetPoison(type);
  for (unsigned i = 0; i < l->width; i++) {
    LLVMValueRef load = LLVMBuildLoad2(B, elem, LLVMBuildExtractElement(B, safe, c32(l, i), ""), "");
    LLVMSetAlignment(load, align);
    value = LLVMBuildInsertElement(B, value, load, c32(l, i), "");
  }
  return value;
}

static void gather_vectors(lanes *l, LLVMValueRef pointers, const access *a, LLVMValueRef *parts) {
  LLVMTypeRef whole = whole_type(l, a);
  if (whole) {
    take_apart(l, gather(l, pointers, whole, a->align), a, parts);
    return;
  }
  LLVMValueRef rows[MOST_LANES], safe = safe_pointers(l, pointers);
  LLVMTypeRef elem = memory_elem(l, a), type = LLVMVectorType(elem, a->room);
  for (unsigned i = 0; i < l->width; i++)
    rows[i] = load_masked(l, type, LLVMBuildExtractElement(B, safe, c32(l, i), ""), a->align, NULL);
  if ((uint64_t)l->width * a->room > 256) {
    for (unsigned c = 0; c < a->count; c++) {
      parts[c] = LLVMGetPoison(LLVMVectorType(elem, l->width));
      for (unsigned i = 0; i < l->width; i++) {
        LLVMValueRef one = LLVMBuildExtractElement(B, rows[i], c32(l, c), "");
        parts[c] = LLVMBuildInsertElement(B, parts[c], one, c32(l, i), "");
      }
    }
    return;
  }
  LLVMValueRef block = join_all(l, rows, l->width);
  for (unsigned c = 0; c < a->count; c++) parts[c] = every_nth(l, block, a->room, c);
}

static void scatter(lanes *l, LLVMValueRef value, LLVMValueRef pointers, unsigned align) {
  LLVMTypeRef types[2] = {LLVMTypeOf(value), LLVMTypeOf(pointers)};
  LLVMValueRef args[4] = {value, pointers, c32(l, align), lanes_mask(l)};
  (void)emit_intrinsic(l->e, "llvm.masked.scatter", types, 2, args, 4);
}

static LLVMValueRef offset_pointers(lanes *l, LLVMValueRef pointers, uint64_t bytes) {
  LLVMValueRef step = int_splat(LLVMVectorType(l->e->i64, l->width), bytes);
  return bytes ? LLVMBuildInBoundsGEP2(B, l->e->i8, pointers, &step, 1, "") : pointers;
}

/* ---- Loads
 * ---------------------------------------------------------------------------------------------------------------- */

static bool is_block(lanes *l, place p, const access *a) {
  uint64_t bytes = a->room * a->elem->size;
  return p.shape.kind == SHAPE_STRIDED && p.shape.stride == (int64_t)bytes && bytes * 8 * l->width <= MOST_BLOCK_BITS &&
         a->room * l->width <= 256;
}

static void load_block(lanes *l, place p, const access *a, LLVMValueRef *parts) {
  LLVMTypeRef whole = whole_of_small(l, a);
  if (whole) {
    take_apart(l, load_masked(l, LLVMVectorType(whole, l->width), p.base, a->align, l->mask), a, parts);
    return;
  }
  LLVMTypeRef type = LLVMVectorType(memory_elem(l, a), l->width * a->room);
  LLVMValueRef mask = l->mask && a->room > 1 ? block_mask(l, a->room, a->count) : l->mask;
  LLVMValueRef block = load_masked(l, type, p.base, a->align, mask);
  for (unsigned c = 0; c < a->count; c++) parts[c] = a->room == 1 ? block : every_nth(l, block, a->room, c);
}

/* Lanes that go down in memory. */
static bool is_reversed(place p, const access *a) {
  return p.shape.kind == SHAPE_STRIDED && a->count == 1 && p.shape.stride == -(int64_t)a->elem->size;
}

static LLVMValueRef reversed(lanes *l, LLVMValueRef x) {
  int from[MOST_LANES];
  for (unsigned i = 0; i < l->width; i++) from[i] = (int)(l->width - 1 - i);
  return x ? shuffled(l, x, from, l->width) : NULL;
}

static LLVMValueRef reversed_start(lanes *l, place p) {
  return place_at(l, p, (uint64_t)(p.shape.stride * (int64_t)(l->width - 1))).base;
}

/* Elements a few apart: what lies between is masked off, so that nothing past the last is touched. */
static unsigned sparse_room(lanes *l, place p, const access *a) {
  int64_t size = (int64_t)a->elem->size, room = size ? p.shape.stride / size : 0;
  bool fits = p.shape.kind == SHAPE_STRIDED && a->count == 1 && room >= 2 && room <= 4 && room * size == p.shape.stride;
  return fits && l->e->facts.wide512 && size >= 4 ? (unsigned)room : 0;
}

static void load_leaf(lanes *l, place p, const access *a, LLVMValueRef *parts) {
  uint64_t size = a->elem->size;
  LLVMTypeRef type = LLVMVectorType(memory_elem(l, a), l->width);
  unsigned align = (unsigned)size;
  for (unsigned c = 0; c < a->count; c++) {
    place at = place_at(l, p, c * size);
    if (p.shape.kind == SHAPE_UNIFORM)
      parts[c] = load_masked(l, type, leaf_address(l, p.var, at.base, size), align, is_context(p.var) ? l->mask : NULL);
    else
      parts[c] = gather(l, place_pointers(l, at, size), memory_elem(l, a), align);
  }
}

static void load_pointers(lanes *l, place p, const access *a, LLVMValueRef *parts) {
  unsigned room = sparse_room(l, p, a);
  if (is_block(l, p, a)) {
    load_block(l, p, a, parts);
  } else if (is_reversed(p, a)) {
    LLVMTypeRef type = LLVMVectorType(memory_elem(l, a), l->width);
    parts[0] = reversed(l, load_masked(l, type, reversed_start(l, p), a->align, reversed(l, l->mask)));
  } else if (room) {
    LLVMTypeRef type = LLVMVectorType(memory_elem(l, a), l->width * room);
    parts[0] = every_nth(l, load_masked(l, type, p.base, a->align, block_mask(l, room, 1)), room, 0);
  } else if (a->count > 1) {
    gather_vectors(l, place_pointers(l, p, 0), a, parts);
  } else {
    parts[0] = gather(l, place_pointers(l, p, 0), memory_elem(l, a), a->align);
  }
}

void place_load(lanes *l, place p, const access *a, LLVMValueRef *parts) {
  if (p.var)
    load_leaf(l, p, a, parts);
  else
    load_pointers(l, p, a, parts);
  if (a->elem->kind != IR_BOOL) return;
  for (unsigned c = 0; c < a->count; c++)
    parts[c] = LLVMBuildTrunc(B, parts[c], with_elem(LLVMTypeOf(parts[c]), l->e->i1), "");
}

/* ---- Stores
 * ------------------------------------------------------------------------------------------------------------------ */

static void store_leaf(lanes *l, place p, const access *a, LLVMValueRef *parts, bool blend) {
  uint64_t size = a->elem->size;
  unsigned align = (unsigned)size;
  for (unsigned c = 0; c < a->count; c++) {
    place at = place_at(l, p, c * size);
    if (p.shape.kind != SHAPE_UNIFORM) {
      scatter(l, parts[c], place_pointers(l, at, size), align);
      continue;
    }
    LLVMValueRef pointer = leaf_address(l, p.var, at.base, size), value = parts[c];
    if (is_context(p.var)) {
      store_masked(l, value, pointer, align, l->mask);
      continue;
    }
    if (blend && l->mask) {
      LLVMValueRef old = load_masked(l, LLVMTypeOf(value), pointer, align, NULL);
      value = LLVMBuildSelect(B, l->mask, value, old, "");
    }
    store_masked(l, value, pointer, align, NULL);
  }
}

/* One place for all lanes: the last one's value stays. */
static void store_last(lanes *l, place p, const access *a, LLVMValueRef *parts) {
  LLVMValueRef lane = lanes_last_running(l);
  for (unsigned c = 0; c < a->count; c++) {
    LLVMValueRef one = LLVMBuildExtractElement(B, parts[c], lane, "");
    store_masked(l, one, place_at(l, p, c * a->elem->size).base, a->align, NULL);
  }
}

static void store_pointers(lanes *l, place p, const access *a, LLVMValueRef *parts) {
  LLVMTypeRef whole = a->count == a->room && is_block(l, p, a) ? whole_of_small(l, a) : NULL;
  if (whole) {
    store_masked(l, put_together(l, whole, a, parts), p.base, a->align, l->mask);
    return;
  }
  LLVMValueRef mask = l->mask && a->room > 1 ? block_mask(l, a->room, a->count) : l->mask;
  if (p.shape.kind == SHAPE_UNIFORM) {
    store_last(l, p, a, parts);
  } else if (is_block(l, p, a)) {
    if (!mask && a->room > a->count) mask = block_mask(l, a->room, a->count);
    store_masked(l, a->room == 1 ? parts[0] : interleaved(l, parts, a), p.base, a->align, mask);
  } else if (is_reversed(p, a)) {
    store_masked(l, reversed(l, parts[0]), reversed_start(l, p), a->align, reversed(l, l->mask));
  } else {
    LLVMValueRef pointers = place_pointers(l, p, 0);
    for (unsigned c = 0; c < a->count; c++)
      scatter(l, parts[c], offset_pointers(l, pointers, c * a->elem->size), (unsigned)a->elem->size);
  }
}

void place_store(lanes *l, place p, const access *a, LLVMValueRef *parts, bool blend) {
  LLVMValueRef stored[MOST_PARTS];
  for (unsigned c = 0; c < a->count; c++) {
    stored[c] = parts[c];
    if (a->elem->kind == IR_BOOL) stored[c] = LLVMBuildZExt(B, parts[c], with_elem(LLVMTypeOf(parts[c]), l->e->i8), "");
  }
  if (p.var)
    store_leaf(l, p, a, stored, blend);
  else
    store_pointers(l, p, a, stored);
}

/* ---- One lane after another
 * ------------------------------------------------------------------------------------------------------ */

void each_lane_open(lanes *l, each_lane *loop) {
  LLVMBasicBlockRef before = LLVMGetInsertBlock(B);
  LLVMValueRef bits = mask_bits(l);
  loop->body = new_block(l->e, "");
  LLVMBuildBr(B, loop->body);
  at_block(l->e, loop->body);
  loop->phi = LLVMBuildPhi(B, l->e->i64, "");
  LLVMAddIncoming(loop->phi, &bits, &before, 1);
  LLVMValueRef args[2] = {loop->phi, LLVMConstInt(l->e->i1, 1, 0)};
  loop->lane = LLVMBuildTrunc(B, emit_intrinsic1(l->e, "llvm.cttz", l->e->i64, args, 2), l->e->i32, "");
}

void each_lane_close(lanes *l, each_lane *loop) {
  LLVMBasicBlockRef done = new_block(l->e, ""), here = LLVMGetInsertBlock(B);
  LLVMValueRef less = LLVMBuildSub(B, loop->phi, c64(l, 1), "");
  LLVMValueRef rest = LLVMBuildAnd(B, loop->phi, less, "");
  LLVMAddIncoming(loop->phi, &rest, &here, 1);
  LLVMBuildCondBr(B, LLVMBuildICmp(B, LLVMIntEQ, rest, c64(l, 0), ""), done, loop->body);
  at_block(l->e, done);
}
