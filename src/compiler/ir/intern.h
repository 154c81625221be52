/* intern.h - what a module keeps beside its lists: hash tables for types, constants and names, and the spare objects
 * that makers give back when memory is out. Everything is in the module's arena. */
#ifndef QUERN_COMPILER_IR_INTERN_H
#define QUERN_COMPILER_IR_INTERN_H

#include "compiler/ir/ir.h"

typedef struct ir_node {
  struct ir_node *next;
  uint64_t hash;
  void *object;
} ir_node;

typedef struct ir_table {
  ir_node **buckets;
  uint64_t capacity, count;
} ir_table;

/* A name in its scope: `owner` is a function, or the module for names that begin with @. */
typedef struct ir_name {
  const void *owner;
  const char *text;
  uint32_t next_suffix;
} ir_name;

struct ir_intern {
  ir_table types, constants, names;
  const ir_type *void_type, *bool_type, *ints[4], *floats[3];
  uint32_t next_type_id, first_type_id; /* first: of types beyond the basic ones */
  ir_type *spare_struct;
  ir_inst *spare_inst;
  ir_block *spare_block;
  ir_var *spare_var;
};

static inline uint64_t ir_mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 29;
}
/* First node of a hash, then by ->next while the hash is the same. */
ir_node *ir_table_first(const ir_table *table, uint64_t hash);
bool ir_table_add(ir_module *m, ir_table *table, uint64_t hash, void *object);

void *ir_alloc(ir_module *m, uint64_t size); /* NULL: out of memory, `failed` is set */
void *ir_alloc_array(ir_module *m, uint64_t size, uint64_t count);
/* Makes the basic types and the spares. */
bool ir_intern_init(ir_module *m);
/* A copy of `name` that is new in `owner`'s scope: the name itself, or with .1, .2 ... behind it. NULL: out of memory.
 */
const char *ir_unique_name(ir_module *m, const void *owner, const char *name);
bool ir_name_taken(const ir_module *m, const void *owner, qn_sv name);

/* A function that is known by name but not yet in the module's list, and its entry there. */
ir_function *ir_function_new(ir_module *m, qn_sv name);
void ir_function_enlist(ir_module *m, ir_function *f);
ir_type *ir_type_alloc(ir_module *m, ir_kind kind, uint64_t size, uint64_t align);
ir_inst *ir_inst_alloc(ir_module *m, ir_op op, const ir_type *type, uint32_t arg_count);

#endif
