/* data.c - constants of program scope as arrays of bytes, words or, where addresses are among them, of double words. */
#include <inttypes.h>

#include "compiler/target/ptx/emit.h"

/* A constant's bytes, and at which of them an address stands. */
typedef struct image {
  uint8_t *bytes;
  const ir_inst **addresses; /* by double word */
  bool has_addresses, is_crooked;
} image;

static void put_bits(uint8_t *at, uint64_t bits, uint64_t size) {
  for (uint64_t i = 0; i < size; i++) at[i] = (uint8_t)(bits >> (8 * i));
}

static void fill(image *im, uint64_t at, const ir_inst *value);

static void fill_struct(image *im, uint64_t at, const ir_inst *value) {
  const ir_type *type = value->type;
  for (uint32_t i = 0; i < value->arg_count; i++) {
    uint32_t field = i;
    if (type->is_union)
      while (field + 1 < type->field_count && type->fields[field].type != value->args[i]->type) field++;
    fill(im, at + type->fields[field].offset, value->args[i]);
  }
}

static void fill_address(image *im, uint64_t at, const ir_inst *value) {
  im->has_addresses = true;
  im->is_crooked |= at % 8 != 0;
  im->addresses[at / 8] = value;
}

static void fill(image *im, uint64_t at, const ir_inst *value) {
  const ir_type *type = value->type;
  if (value->op == IR_CONST)
    put_bits(im->bytes + at, value->imm, type->size);
  else if (value->op == IR_ADDRESS)
    fill_address(im, at, value);
  else if (value->op == IR_AGGREGATE && type->kind == IR_STRUCT)
    fill_struct(im, at, value);
  else if (value->op == IR_AGGREGATE)
    for (uint32_t i = 0; i < value->arg_count; i++) fill(im, at + i * type->elem->size, value->args[i]);
}

/* Words of `size` bytes; nothing when all are zero. */
static void put_words(emitter *e, const image *im, uint64_t bytes, uint64_t size) {
  bool is_zero = !im->has_addresses;
  for (uint64_t i = 0; i < bytes && is_zero; i++) is_zero = !im->bytes[i];
  if (is_zero) return;
  put(e, " = {");
  for (uint64_t i = 0; i < bytes; i += size) {
    if (i) put(e, i % 64 ? ", " : ",\n  ");
    const ir_inst *address = size == 8 ? im->addresses[i / 8] : NULL;
    uint64_t word = 0;
    for (uint64_t k = 0; k < size; k++) word |= (uint64_t)im->bytes[i + k] << (8 * k);
    if (!address)
      putf(e, "%" PRIu64, word);
    else if (address->imm)
      putf(e, "%s+%" PRIu64, e->constant_names[address->u.var->id], address->imm);
    else
      put(e, e->constant_names[address->u.var->id]);
  }
  put(e, "}");
}

static uint64_t word_size(const image *im, uint64_t bytes, uint64_t align) {
  if (im->has_addresses) return 8;
  return align >= 4 && bytes % 4 == 0 ? 4 : 1;
}

static void put_constant(emitter *e, const ir_var *var) {
  uint64_t bytes = var->type->size ? var->type->size : 1;
  uint64_t align = var->align > var->type->align ? var->align : var->type->align;
  image im = {.bytes = QN_ARENA_ARRAY(e->arena, uint8_t, bytes),
              .addresses = QN_ARENA_ARRAY(e->arena, const ir_inst *, bytes / 8 + 1)};
  if (!im.bytes || !im.addresses) {
    e->failed = true;
    return;
  }
  fill(&im, 0, var->init);
  if (im.has_addresses && (im.is_crooked || bytes % 8))
    ptx_refuse(e, NULL, "an address in a packed struct, in constant '%s'", var->name);
  uint64_t size = word_size(&im, bytes, align);
  if (im.has_addresses && align < 8) align = 8;
  putf(e, "%s .align %" PRIu64 " .u%" PRIu64 " %s[%" PRIu64 "]", e->constant_banked[var->id] ? ".const" : ".global",
       align, 8 * size, e->constant_names[var->id], bytes / size);
  put_words(e, &im, bytes, size);
  put(e, ";\n");
}

/* What an address in a constant names must stand before it: constants are in such an order. */
void ptx_put_constants(emitter *e) {
  e->out = &e->globals;
  e->function = NULL;
  for (const ir_var *v = e->m->constants; v; v = v->next) put_constant(e, v);
}

bool ptx_place_constants(emitter *e) {
  e->constant_names = QN_ARENA_ARRAY(e->arena, const char *, e->unit.constant_count + 1);
  if (!e->constant_names) return false;
  for (const ir_var *v = e->m->constants; v; v = v->next)
    e->constant_names[v->id] = text_name_global(&e->names, v->name);
  return true;
}
