/* words.h - constants of program scope, as the words that memory holds. */
#ifndef QUERN_COMPILER_TARGET_TEXT_WORDS_H
#define QUERN_COMPILER_TARGET_TEXT_WORDS_H

#include "base/arena.h"
#include "base/bytes.h"
#include "compiler/ir/ir.h"

/* Whether an initialiser has such a leaf. */
bool text_holds(const ir_inst *init, bool (*is_it)(const ir_inst *leaf));
bool text_is_address(const ir_inst *leaf);

/* "1u, 0x20u": `count` words, eight a line, `suffix` behind each. `init` holds no address. False: out of memory. */
QN_MUST_USE bool text_put_words(qn_bytes *out, qn_arena *arena, const ir_inst *init, uint64_t count, const char *suffix,
                                uint32_t indent);

#endif
