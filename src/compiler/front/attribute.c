#include <string.h>

#include "compiler/front/convert.h"
#include "compiler/front/parse.h"
#include "compiler/front/recover.h"
#include "compiler/front/token.h"

typedef void (*attribute_reader)(front *f, const front_token *name, front_attributes *out);

/* ---- Sizes of work-groups ---------------------------------------------------------------------------------------- */

/* (x, y, z), also fewer or more, which is told later; the first three are kept. False: told. */
static bool read_sizes(front *f, uint64_t out[3], uint32_t *out_count) {
  bool is_told = false;
  *out_count = 0;
  if (!front_expect(f, PP_P_LPAREN, " after the attribute's name")) return false;
  do {
    uint64_t value = 0;
    if (!front_constant_expression(f, "a work-group size", NULL, &value)) {
      if (f->is_panicking) return false;
      is_told = true;
    }
    if (*out_count < 3) out[*out_count] = value;
    ++*out_count;
  } while (front_accept(f, PP_P_COMMA));
  return front_expect(f, PP_P_RPAREN, "") && !is_told;
}

/* No device counts the items of a group with more than 32 bits; what each takes is known at the launch. */
static bool is_possible_group(front *f, const front_token *name, const uint64_t items[3]) {
  uint64_t product = 1;
  for (int i = 0; i < 3; i++) {
    if (items[i] == 0 || (int64_t)items[i] < 0) {
      front_error(f, name->pp.loc, name->pp.length, "a work-group size must be at least 1");
      return false;
    }
    if (__builtin_mul_overflow(product, items[i], &product) || product > UINT32_MAX) {
      front_error(f, name->pp.loc, name->pp.length,
                  "no device has work-groups of so many work-items: the product of the sizes must fit into 32 bits");
      return false;
    }
  }
  return true;
}

/* Two sizes of one kernel must agree when they are required. */
static void merge_group_size(front *f, front_group_size *into, const front_group_size *from, bool is_required) {
  if (from->items[0] == 0) return;
  if (into->items[0] == 0) {
    *into = *from;
    return;
  }
  if (memcmp(into->items, from->items, sizeof into->items) == 0) return;
  if (is_required) {
    front_error(f, from->loc, from->length, "another work-group size is required already: (%llu, %llu, %llu)",
                (unsigned long long)into->items[0], (unsigned long long)into->items[1],
                (unsigned long long)into->items[2]);
  } else {
    front_warning(f, from->loc, from->length, "another work-group size is hinted at already (this one is ignored)");
  }
  front_note(f, into->loc, into->length, "it stands here");
}

static void read_group_size(front *f, const front_token *name, front_group_size *out, bool is_required) {
  front_group_size size = {.loc = name->pp.loc, .length = name->pp.length};
  uint32_t count = 0;
  if (!read_sizes(f, size.items, &count)) return;
  if (count != 3) {
    front_error(f, name->pp.loc, name->pp.length, "attribute '%.*s' takes three sizes", QN_SV_ARG(name->pp.text));
    return;
  }
  if (is_possible_group(f, name, size.items)) merge_group_size(f, out, &size, is_required);
}

static void read_required(front *f, const front_token *name, front_attributes *out) {
  read_group_size(f, name, &out->required, true);
}
static void read_hint(front *f, const front_token *name, front_attributes *out) {
  read_group_size(f, name, &out->hinted, false);
}

/* ---- Other attributes -------------------------------------------------------------------------------------------- */

static void read_vec_type_hint(front *f, const front_token *name, front_attributes *out) {
  (void)out;
  if (!front_expect(f, PP_P_LPAREN, " after vec_type_hint")) return;
  const front_type *type = front_type_name(f);
  if (type->kind != FRONT_ERROR && !front_is_numeric(type)) {
    front_error(f, name->pp.loc, name->pp.length, "vec_type_hint needs a scalar or vector type, not '%s'",
                front_type_text(f, type));
  }
  (void)front_expect(f, PP_P_RPAREN, " after the type");
}

static void read_packed(front *f, const front_token *name, front_attributes *out) {
  (void)f, (void)name;
  out->is_packed = true;
}
static void read_inline(front *f, const front_token *name, front_attributes *out) {
  (void)f, (void)name;
  out->is_inline = true;
}
static void read_overloadable(front *f, const front_token *name, front_attributes *out) {
  (void)f, (void)name;
  out->is_overloadable = true;
}
static void read_noinline(front *f, const front_token *name, front_attributes *out) {
  (void)f, (void)name;
  out->is_noinline = true;
}

/* aligned alone means the largest alignment there is: that of a 16-vector of 64 bits. */
enum { LARGEST_ALIGN = 128, ALIGN_LIMIT = 4096 };

static void read_aligned(front *f, const front_token *name, front_attributes *out) {
  uint64_t align = LARGEST_ALIGN;
  if (front_accept(f, PP_P_LPAREN)) {
    bool good = front_constant_expression(f, "an alignment", NULL, &align);
    if (!front_expect(f, PP_P_RPAREN, "") || !good) return;
  }
  if (align == 0 || align > ALIGN_LIMIT || (align & (align - 1)) != 0) {
    front_error(f, name->pp.loc, name->pp.length, "an alignment must be a power of two up to %d", ALIGN_LIMIT);
    return;
  }
  if (align > out->align) out->align = align;
}

/* Known and without effect here; arguments are skipped. */
static void read_nothing(front *f, const front_token *name, front_attributes *out) {
  (void)name, (void)out;
  if (front_at(f, PP_P_LPAREN)) front_skip_brackets(f);
}

static const struct {
  const char *name;
  attribute_reader read;
} attribute_table[] = {
    {"reqd_work_group_size", read_required},
    {"work_group_size_hint", read_hint},
    {"vec_type_hint", read_vec_type_hint},
    {"packed", read_packed},
    {"aligned", read_aligned},
    {"always_inline", read_inline},
    {"noinline", read_noinline},
    {"overloadable", read_overloadable},
    {"opencl_unroll_hint", read_nothing},
    {"nosvm", read_nothing},
    {"unused", read_nothing},
    {"used", read_nothing},
    {"const", read_nothing},
    {"pure", read_nothing},
    {"endian", read_nothing},
    {"flatten", read_nothing},
    {"hot", read_nothing},
    {"may_alias", read_nothing},
    {"convergent", read_nothing},
    {"nothrow", read_nothing},
    {"intel_reqd_sub_group_size", read_nothing},
    {"max_work_group_size", read_nothing},
    {"amdgpu_flat_work_group_size", read_nothing},
    {"vector_size_hint", read_nothing},
};

/* packed and __packed__ are one. */
static qn_sv without_underscores(qn_sv name) {
  if (name.size > 4 && qn_sv_starts_with(name, QN_SV("__")) && qn_sv_ends_with(name, QN_SV("__"))) {
    return qn_sv_make(name.data + 2, name.size - 4);
  }
  return name;
}

static void one_attribute(front *f, front_attributes *out) {
  front_token name = f->tok;
  front_next(f);
  qn_sv text = without_underscores(name.pp.text);
  for (size_t i = 0; i < sizeof(attribute_table) / sizeof(attribute_table[0]); i++) {
    if (!qn_sv_is(text, attribute_table[i].name)) continue;
    attribute_table[i].read(f, &name, out);
    return;
  }
  front_warning(f, name.pp.loc, name.pp.length, "unknown attribute '%.*s' (ignored)", QN_SV_ARG(name.pp.text));
  read_nothing(f, &name, out);
}

/* ((attribute, ...)), behind the word. */
static void attribute_list(front *f, front_attributes *out) {
  if (!front_expect(f, PP_P_LPAREN, " after __attribute__")) return;
  if (!front_expect(f, PP_P_LPAREN, " after __attribute__")) return;
  do {
    if (f->tok.pp.kind == PP_IDENT) one_attribute(f, out);
  } while (!f->is_panicking && front_accept(f, PP_P_COMMA));
  if (front_expect(f, PP_P_RPAREN, " after the attributes")) {
    (void)front_expect(f, PP_P_RPAREN, " after the attributes");
  }
}

/* Goes on behind the parentheses that close, or on the next line: the declaration is still read. */
static void recover_list(front *f) {
  bool was_close = false;
  while (!front_at_end(f) && !f->tok.pp.line_start) {
    bool is_close = front_at(f, PP_P_RPAREN);
    if (was_close && !is_close) break;
    was_close = is_close;
    front_next(f);
  }
  f->is_panicking = f->is_fatal;
}

void front_attributes_read(front *f, front_attributes *out) {
  while (!f->is_panicking && front_accept_keyword(f, KW_ATTRIBUTE)) {
    attribute_list(f, out);
    if (f->is_panicking) recover_list(f);
  }
}

void front_attributes_merge(front *f, front_attributes *into, const front_attributes *from) {
  into->is_packed |= from->is_packed;
  into->is_inline |= from->is_inline;
  into->is_noinline |= from->is_noinline;
  into->is_overloadable |= from->is_overloadable;
  if (from->align > into->align) into->align = from->align;
  merge_group_size(f, &into->required, &from->required, true);
  merge_group_size(f, &into->hinted, &from->hinted, false);
}
