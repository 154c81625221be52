#include "compiler/ir/intern.h"

void *ir_alloc(ir_module *m, uint64_t size) {
  void *p = qn_arena_alloc(m->arena, size);
  if (!p) m->failed = true;
  return p;
}

void *ir_alloc_array(ir_module *m, uint64_t size, uint64_t count) {
  void *p = qn_arena_alloc_array(m->arena, size, count ? count : 1);
  if (!p) m->failed = true;
  return p;
}

ir_node *ir_table_first(const ir_table *table, uint64_t hash) {
  if (!table->capacity) return NULL;
  ir_node *node = table->buckets[hash & (table->capacity - 1)];
  while (node && node->hash != hash) node = node->next;
  return node;
}

/* Old buckets stay in the arena: together they are no larger than the present ones. */
static bool table_grow(ir_module *m, ir_table *table) {
  uint64_t capacity = table->capacity ? table->capacity * 2 : 64;
  ir_node **buckets = ir_alloc_array(m, sizeof *buckets, capacity);
  if (!buckets) return false;
  for (uint64_t i = 0; i < table->capacity; i++) {
    ir_node *node = table->buckets[i];
    while (node) {
      ir_node *next = node->next;
      ir_node **bucket = &buckets[node->hash & (capacity - 1)];
      node->next = *bucket;
      *bucket = node;
      node = next;
    }
  }
  table->buckets = buckets;
  table->capacity = capacity;
  return true;
}

bool ir_table_add(ir_module *m, ir_table *table, uint64_t hash, void *object) {
  if (table->count >= table->capacity && !table_grow(m, table)) return false;
  ir_node *node = ir_alloc(m, sizeof *node);
  if (!node) return false;
  ir_node **bucket = &table->buckets[hash & (table->capacity - 1)];
  *node = (ir_node){*bucket, hash, object};
  *bucket = node;
  table->count++;
  return true;
}

static uint64_t name_hash(const void *owner, qn_sv name) {
  return ir_mix(qn_sv_hash(name), (uint64_t)(uintptr_t)owner);
}

static ir_name *name_find(const ir_module *m, const void *owner, qn_sv name) {
  uint64_t hash = name_hash(owner, name);
  for (ir_node *n = ir_table_first(&m->intern->names, hash); n; n = n->next) {
    ir_name *entry = n->object;
    if (n->hash == hash && entry->owner == owner && qn_sv_is(name, entry->text)) return entry;
  }
  return NULL;
}

bool ir_name_taken(const ir_module *m, const void *owner, qn_sv name) { return name_find(m, owner, name) != NULL; }

static const char *name_add(ir_module *m, const void *owner, const char *text) {
  ir_name *entry = ir_alloc(m, sizeof *entry);
  if (!entry) return NULL;
  *entry = (ir_name){owner, text, 1};
  return ir_table_add(m, &m->intern->names, name_hash(owner, qn_sv_from(text)), entry) ? text : NULL;
}

const char *ir_unique_name(ir_module *m, const void *owner, const char *name) {
  ir_name *old = name_find(m, owner, qn_sv_from(name));
  const char *text = NULL;
  if (!old) {
    text = qn_arena_copy(m->arena, qn_sv_from(name));
  } else {
    do {
      text = qn_arena_printf(m->arena, "%s.%u", name, old->next_suffix++);
    } while (text && name_find(m, owner, qn_sv_from(text)));
  }
  if (!text) {
    m->failed = true;
    return NULL;
  }
  return name_add(m, owner, text);
}

static bool scalars_init(ir_module *m) {
  struct ir_intern *in = m->intern;
  in->void_type = ir_type_alloc(m, IR_VOID, 0, 1);
  in->bool_type = ir_type_alloc(m, IR_BOOL, 1, 1);
  for (uint32_t i = 0; i < 4; i++) {
    ir_type *t = ir_type_alloc(m, IR_INT, 1u << i, 1u << i);
    if (t) t->bits = 8u << i;
    in->ints[i] = t;
  }
  for (uint32_t i = 0; i < 3; i++) {
    ir_type *t = ir_type_alloc(m, IR_FLOAT, 2u << i, 2u << i);
    if (t) t->bits = 16u << i;
    in->floats[i] = t;
  }
  return !m->failed;
}

static bool spares_init(ir_module *m) {
  struct ir_intern *in = m->intern;
  in->spare_struct = ir_type_alloc(m, IR_STRUCT, 0, 1);
  in->spare_inst = ir_inst_alloc(m, IR_UNDEF, in->void_type, 0);
  in->spare_block = ir_alloc(m, sizeof *in->spare_block);
  in->spare_var = ir_alloc(m, sizeof *in->spare_var);
  ir_block **blocks = ir_alloc_array(m, sizeof(ir_block *), 2);
  if (m->failed) return false;
  in->spare_struct->name = "";
  in->first_type_id = in->next_type_id;
  blocks[0] = blocks[1] = in->spare_block;
  in->spare_inst->u.ctrl.blocks = blocks;
  in->spare_inst->u.ctrl.block_count = 2;
  *in->spare_var = (ir_var){.name = "", .type = in->void_type, .address = in->spare_inst};
  return true;
}

bool ir_intern_init(ir_module *m) {
  m->intern = ir_alloc(m, sizeof *m->intern);
  return m->intern && scalars_init(m) && spares_init(m);
}
