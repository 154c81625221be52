/* state.h - the preprocessor's insides, shared by its files.
 *
 * A token comes from the topmost expansion (a context), else from the innermost file (a frame):
 *   pp_take -> pp_expand_next (macros are replaced) -> pp_read (contexts, then the file; directives are obeyed)
 *           -> pp_lex (characters). */
#ifndef QUERN_COMPILER_PP_STATE_H
#define QUERN_COMPILER_PP_STATE_H

#include "base/map.h"
#include "compiler/pp/limits.h"
#include "compiler/pp/pp.h"

/* ---- Text and files ------------------------------------------------------------------------------ */

/* From `offset` of the clean text on, `removed` bytes of the original stood before it. */
typedef struct pp_splice {
  uint32_t offset, removed;
} pp_splice;

/* A file's text, ready to be read; one for each path, however often it is included. */
typedef struct pp_text {
  const char *path;
  qn_sv original;
  qn_sv clean; /* without the spliced line ends; `original` itself when there are none */
  pp_splice *splices;
  uint32_t splice_count;
  bool missing;   /* looked for in vain */
  bool once;      /* #pragma once */
  bool has_nul;   /* told already */
  pp_name *guard; /* all of it stands in #ifndef guard ... #endif */
} pp_text;

typedef struct pp_lexer {
  const char *at, *end, *start;
  qn_loc base;
  const pp_splice *splice, *splice_end; /* the next one */
  uint32_t removed;
  bool line_start;   /* nothing but blanks since the last newline */
  bool in_directive; /* a newline ends the tokens */
  bool quiet;        /* text that needs no right tokens: #error, #pragma */
} pp_lexer;

typedef enum pp_guard_state {
  PP_GUARD_START, /* nothing read yet */
  PP_GUARD_IN,    /* in the #ifndef that was the first thing */
  PP_GUARD_AFTER, /* its #endif was the last thing */
  PP_GUARD_NONE
} pp_guard_state;

/* A file that is being read. */
typedef struct pp_frame {
  pp_lexer lex;
  pp_text *text;
  qn_source_file *source;
  uint32_t conditional_base; /* conditionals below this belong to the includers */
  pp_guard_state guard_state;
  pp_name *guard;
} pp_frame;

/* An #if whose present group is being read. */
typedef struct pp_conditional {
  qn_loc loc;
  qn_loc else_loc; /* 0: no #else yet */
  bool taken;      /* one of its groups was read */
} pp_conditional;

/* ---- Macros -------------------------------------------------------------------------------------- */

typedef enum pp_builtin {
  PP_BUILTIN_NONE,
  PP_BUILTIN_LINE,
  PP_BUILTIN_FILE,
  PP_BUILTIN_COUNTER,
  PP_BUILTIN_DATE,
  PP_BUILTIN_TIME,
  PP_BUILTIN_HAS_INCLUDE
} pp_builtin;

/* What stands at one place of a replacement list besides its token. */
typedef struct pp_part {
  uint32_t parameter; /* 1 + index; 0: none */
  bool stringize;     /* # parameter */
  bool paste;         /* ## and the next part follow */
} pp_part;

typedef struct pp_macro {
  pp_name *name;
  qn_loc loc; /* 0: built in */
  uint32_t length;
  bool is_function, is_variadic;
  bool is_predefined; /* its redefinition is nobody's fault */
  bool is_active;     /* its expansion is being read: its name stays as it is */
  pp_builtin builtin;
  pp_name **parameters;
  bool *expands; /* by parameter: is used where its expansion is needed */
  uint32_t parameter_count;
  pp_token *tokens; /* without # and ## */
  pp_part *parts;   /* beside each token; NULL: no parameters, no ## */
  uint32_t token_count;
  qn_macro_places *places; /* of the tokens; NULL: nobody wants to see them */
} pp_macro;

/* Where the tokens of one use of a macro are: token i at `first` + i * step. */
typedef struct pp_use {
  qn_loc first;
  uint32_t step; /* 0: all where the macro is used */
  uint32_t length;
} pp_use;

typedef struct pp_buffer {
  pp_token *tokens;
  uint32_t count, capacity;
} pp_buffer;

/* Tokens that are read before the file goes on. */
typedef struct pp_context {
  const pp_token *at, *end;
  pp_macro *macro; /* active until the context is left; NULL: an argument or a directive's line */
  pp_buffer owned; /* given back when the context is left */
  pp_use use;      /* of `macro`; first 0: the tokens have their own locations */
  bool is_first;   /* the next token takes over how the macro's name stood */
  bool space_before, line_start;
  bool is_floor; /* reading ends here with PP_EOF, until the context is dropped */
} pp_context;

#define PP_SPARE_BUFFERS 16

struct pp {
  qn_arena *arena;
  qn_sources *sources;
  qn_diags *diags;
  const pp_options *options;
  const pp_files *files;

  /* names: open addressing, a power of two, never shrinks */
  pp_name **names;
  uint32_t name_capacity, name_count;
  pp_name *name_defined, *name_pragma, *name_has_include, *name_va_args, *name_once, *name_long_prefix;

  qn_map texts;    /* path -> pp_text */
  qn_bytes params; /* names of generator parameters, for a message */
  pp_text **once;
  uint32_t once_count, once_capacity;

  pp_frame frames[PP_INCLUDE_DEPTH + 4]; /* and the main file, the command line, the predefined macros, a parameter */
  uint32_t frame_count;
  pp_conditional conditionals[PP_CONDITIONAL_DEPTH];
  uint32_t conditional_count;

  pp_context *contexts;
  uint32_t context_count, context_capacity;
  pp_buffer spare[PP_SPARE_BUFFERS];
  uint32_t spare_count;
  uint64_t live_tokens;

  /* How an expansion to nothing stood: the next token takes it over. */
  bool carry_space, carry_line;
  bool carry_nothing;
  const pp_macro *last_nothing; /* the last one that expanded to nothing */
  uint32_t collecting;          /* argument lists that are being read */
  uint32_t argument_depth;      /* arguments that are being expanded */
  bool predefining;             /* the predefined macros are being read */
  uint64_t counter;             /* __COUNTER__ */
  uint64_t work, work_limit;
  bool done;
};

/* ---- Errors and limits (pp.c) --------------------------------------------------------------------- */

void pp_error(pp *p, qn_loc loc, uint32_t length, const char *format, ...) __attribute__((format(printf, 4, 5)));
void pp_warning(pp *p, qn_loc loc, uint32_t length, const char *format, ...) __attribute__((format(printf, 4, 5)));
void pp_note(pp *p, qn_loc loc, uint32_t length, const char *format, ...) __attribute__((format(printf, 4, 5)));
/* After an error that took tokens from the parser, or gave it others: it has nothing to say about what it expected. */
static inline void pp_tokens_lost(pp *p) { p->diags->tokens_lost = true; }
/* An error after which nothing is read. */
void pp_fatal(pp *p, qn_loc loc, uint32_t length, const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Always false, so that callers can return it. */
bool pp_no_memory(pp *p);
/* Whether reading goes on. */
static inline bool pp_alive(const pp *p) { return !p->done && !p->diags->stopped; }
/* The limit of work was passed: told once. Always false. */
bool pp_over_limit(pp *p);
/* Counts work. False: the limit is passed, or reading is over. */
static inline bool pp_charge(pp *p, uint64_t work) {
  p->work += work;
  return p->work <= p->work_limit ? pp_alive(p) : pp_over_limit(p);
}
/* Where the innermost file is read. */
qn_loc pp_here(const pp *p);
/* Ensures room for one more in a heap array. */
bool pp_grow(pp *p, void *array_pointer, uint32_t *capacity, uint32_t count, size_t item_size);

/* ---- Names (name.c) ------------------------------------------------------------------------------- */

bool pp_names_open(pp *p);
/* As pp_intern, but `text` lives as long as the arena. */
pp_name *pp_intern_kept(pp *p, qn_sv text);

/* ---- Characters to tokens (lex.c) ----------------------------------------------------------------- */

void pp_lexer_start(pp_lexer *lex, const pp_text *text, qn_loc base);
void pp_lex(pp *p, pp_lexer *lex, pp_token *out);
/* Location of lex->at. */
qn_loc pp_lex_loc(pp_lexer *lex);
/* Past blanks and comments of this line; true when there were any. */
bool pp_lex_blanks(pp *p, pp_lexer *lex);
/* Whether the next token is '(' on this or a later line; reads nothing. */
bool pp_lex_sees_paren(const pp_lexer *lex);
/* To the newline, or to the end. Knows comments and quotes. */
void pp_lex_rest_of_line(pp_lexer *lex);
/* The one token that `text` is; false when it isn't exactly one. `text` has a NUL behind it and lives in the arena. */
bool pp_lex_whole(pp *p, qn_sv text, qn_loc loc, pp_token *out);

/* ---- Files (file.c) ------------------------------------------------------------------------------- */

/* Pushes a text. Errors are told. */
bool pp_enter(pp *p, pp_text *text, qn_loc included_at);
/* Pushes text of our own, "<command line>"; copies nothing. */
bool pp_enter_string(pp *p, const char *name, qn_sv text);
bool pp_enter_main(pp *p, qn_source_file *file);
/* At the end of the innermost file: back to its includer. False: it was the last. */
bool pp_leave(pp *p);
/* Finds what an #include names; NULL: not there (nothing told) or an error (told; pp is dead then). */
pp_text *pp_find(pp *p, qn_sv name, bool angled);
void pp_include(pp *p, qn_sv name, bool angled, qn_loc loc, uint32_t length);
void pp_once(pp *p);

/* ---- Directives (directive.c, condition.c, value.c, define.c) ------------------------------------- */

#define PP_DIRECTIVES(X) \
  X(DEFINE, "define")    \
  X(UNDEF, "undef")      \
  X(INCLUDE, "include")  \
  X(IF, "if")            \
  X(IFDEF, "ifdef")      \
  X(IFNDEF, "ifndef")    \
  X(ELIF, "elif")        \
  X(ELSE, "else") X(ENDIF, "endif") X(LINE, "line") X(ERROR, "error") X(WARNING, "warning") X(PRAGMA, "pragma")
typedef enum pp_directive {
  PP_D_NONE,
#define QN_X(id, text) PP_D_##id,
  PP_DIRECTIVES(QN_X)
#undef QN_X
      PP_D_COUNT
} pp_directive;
extern const char *const pp_directive_texts[PP_D_COUNT];

/* After a '#' that starts a line. True: `out` is a pragma's token. */
bool pp_obey(pp *p, const pp_token *hash, pp_token *out);
/* Tells about tokens behind a directive that takes no more. */
void pp_expect_line_end(pp *p, const char *directive);
/* The rest of the directive's line, as it stands; false: out of memory or over a limit. The caller gives it back. */
bool pp_read_line(pp *p, pp_buffer *out);

void pp_if(pp *p, pp_directive directive, const pp_token *name);
void pp_else_or_elif(pp *p, pp_directive directive, const pp_token *name);
void pp_endif(pp *p, const pp_token *name);
/* Tells of conditionals that the innermost file leaves open. */
void pp_check_conditionals(pp *p);

/* The value of an #if's expression; an error gives false. */
bool pp_condition(pp *p, const pp_token *directive);

void pp_define(pp *p);
void pp_undef(pp *p);
/* #pragma quern param (param.c): whether a pragma's line is one, and what it does. */
bool pp_is_param(const pp_buffer *line);
void pp_param(pp *p, const pp_buffer *line);
/* At the end: tells of values for parameters that there are not. */
void pp_check_params(pp *p);
/* A macro's name in a directive; NULL: told. */
pp_name *pp_macro_name(pp *p, pp_token *out);
bool pp_define_builtins(pp *p);

/* ---- Expansion (expand.c, substitute.c) ----------------------------------------------------------- */

/* The next token before expansion. Obeys directives. Names of active macros are marked no_expand. */
void pp_read(pp *p, pp_token *out);
/* The next token after expansion. */
void pp_expand_next(pp *p, pp_token *out);
/* Reads tokens as if they stood alone, until they are used up: PP_EOF then. */
bool pp_push_floor(pp *p, const pp_token *tokens, uint32_t count);
void pp_drop_floor(pp *p);
/* Appends the expansion of tokens that stand alone. */
bool pp_expand_tokens(pp *p, const pp_token *tokens, uint32_t count, pp_buffer *out);

bool pp_buffer_add(pp *p, pp_buffer *buffer, const pp_token *token);
void pp_buffer_release(pp *p, pp_buffer *buffer);

/* Where a parameter's argument stands: as written in `raw`, expanded in `expanded`. */
typedef struct pp_argument {
  uint32_t raw_start, raw_end;
  uint32_t start, end;
  bool is_raw; /* expanding changes nothing: use raw */
} pp_argument;
typedef struct pp_arguments {
  pp_buffer raw, expanded;
  pp_argument *list;   /* by parameter */
  bool lacks_variable; /* nothing was given for "...", not even an empty argument behind a comma */
} pp_arguments;
/* The replacement list, which has parts, with its arguments put in. */
bool pp_substitute(pp *p, const pp_macro *macro, const pp_arguments *arguments, const pp_token *invocation,
                   pp_buffer *out);
/* Notes a use of a macro. */
pp_use pp_use_macro(pp *p, const pp_macro *macro, const pp_token *invocation);
/* A string literal of `text`, escaped. */
qn_sv pp_quote(pp *p, qn_sv text);

#endif
