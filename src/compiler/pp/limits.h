/* limits.h - what bounds hostile input. Each is far above what real kernels need; docs/preprocessor.md lists them. */
#ifndef QUERN_COMPILER_PP_LIMITS_H
#define QUERN_COMPILER_PP_LIMITS_H

#define PP_INCLUDE_DEPTH 64
#define PP_CONDITIONAL_DEPTH 256
/* Macro arguments within macro arguments: each level is a recursion here. */
#define PP_ARGUMENT_DEPTH 200
/* Parentheses, unary operators and ?: within #if: each level is a recursion here. */
#define PP_EXPRESSION_DEPTH 200
/* Tokens that wait at one time in macro arguments and expansions. */
#define PP_LIVE_TOKENS (UINT32_C(1) << 22)
/* Work: tokens read, plus what else costs time or memory, in all. */
#define PP_WORK UINT64_C(10000000)
#define PP_WORK_INCLUDE 100 /* and one per 8 bytes of text */
#define PP_WORK_NAME 8
#define PP_WORK_BYTES 4 /* bytes of text made by # and ## that count as one */
#define PP_PASTE_BYTES (UINT32_C(1) << 16)
#define PP_STRING_BYTES (UINT32_C(1) << 20)
#define PP_FILE_BYTES (UINT64_C(1) << 28)

#endif
