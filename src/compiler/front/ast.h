/* ast.h - typed trees: what the parser makes and emission reads. Conversions are explicit (EXPR_CONVERT); only the
 * loading of an lvalue is implied. A tree that was reported has EXPR_ERROR and the type error and is passed on in
 * silence. Everything lives in the front end's arena. */
#ifndef QUERN_COMPILER_FRONT_AST_H
#define QUERN_COMPILER_FRONT_AST_H

#include "compiler/front/state.h"
#include "compiler/front/type.h"

typedef struct front_expr front_expr;
typedef struct front_stmt front_stmt;
typedef struct front_object front_object;
typedef struct front_func front_func;
typedef struct front_init front_init;

typedef enum front_expr_kind {
  EXPR_ERROR,
  EXPR_CONST,       /* constant */
  EXPR_STRING,      /* string: an array of char in constant memory */
  EXPR_OBJECT,      /* object; an lvalue */
  EXPR_DEREF,       /* *a; an lvalue */
  EXPR_MEMBER,      /* a.member; an lvalue when a is */
  EXPR_SWIZZLE,     /* lanes of the vector a; an lvalue when a is and no lane is named twice */
  EXPR_LANE,        /* vector a, index b; an lvalue when a is */
  EXPR_LITERAL,     /* compound literal: object with its initialiser; an lvalue */
  EXPR_DECAY,       /* array lvalue a to a pointer to its first element */
  EXPR_ADDRESS,     /* &a */
  EXPR_CONVERT,     /* a to type */
  EXPR_UNARY,       /* op a: OP_NEG OP_PLUS OP_BITNOT OP_NOT */
  EXPR_BINARY,      /* a op b of one type; shifts: b has a's type too */
  EXPR_COMPARE,     /* a op b of one type */
  EXPR_LOGICAL,     /* scalars: bool each; vectors: truth vectors */
  EXPR_CONDITIONAL, /* scalar a ? b : c */
  EXPR_CHOOSE,      /* vector a ? b : c, lane by lane on a's sign bit */
  EXPR_ASSIGN,      /* lvalue a = b */
  EXPR_COMPOUND,    /* lvalue a = (calc)a op b */
  EXPR_STEP,        /* ++a --a a++ a-- : op is OP_ADD or OP_SUB, is_postfix */
  EXPR_POINTER_ADD, /* pointer a, integer b; OP_ADD or OP_SUB */
  EXPR_POINTER_DIFF,
  EXPR_COMMA,
  EXPR_CALL,    /* callee, args */
  EXPR_BUILTIN, /* overload, args */
  EXPR_VECTOR   /* vector literal: args are scalars and vectors of the element type, as many lanes as the type */
} front_expr_kind;

/* X(ID, text) */
#define FRONT_OPS(X) \
  X(ADD, "+")        \
  X(SUB, "-")        \
  X(MUL, "*")        \
  X(DIV, "/")        \
  X(MOD, "%")        \
  X(SHL, "<<")       \
  X(SHR, ">>")       \
  X(AND, "&")        \
  X(XOR, "^")        \
  X(OR, "|")         \
  X(EQ, "==")        \
  X(NE, "!=")        \
  X(LT, "<")         \
  X(GT, ">")         \
  X(LE, "<=")        \
  X(GE, ">=")        \
  X(ANDAND, "&&")    \
  X(OROR, "||")      \
  X(NEG, "-")        \
  X(PLUS, "+")       \
  X(BITNOT, "~")     \
  X(NOT, "!")
typedef enum front_op {
#define QN_X(id, text) OP_##id,
  FRONT_OPS(QN_X)
#undef QN_X
      OP_COUNT
} front_op;
extern const char *const front_op_text[OP_COUNT];

/* A lane that a swizzle names beside a 3-vector's three: any value is read, nothing is written. */
#define FRONT_NO_LANE ((uint8_t)255)

/* Small: most of what a compilation allocates is these. */
struct front_expr {
  front_expr_kind kind : 8;
  front_op op : 8;
  bool is_lvalue : 1;
  bool is_postfix : 1;
  bool is_contract : 1; /* FP_CONTRACT was on */
  bool is_paren : 1;    /* stood in parentheses */
  uint32_t depth;       /* of the tree, bounded */
  qn_loc loc;           /* where a diagnostic points */
  uint32_t length;
  const front_type *type;
  front_expr *a, *b, *c;
  union {
    ir_inst *constant;
    qn_sv string;         /* without quotes, escapes resolved */
    front_object *object; /* OBJECT, LITERAL */
    uint32_t member;
    struct {
      uint8_t lanes[16];
      uint32_t count;
    } swizzle;
    const front_type *calc;
    struct {
      front_func *callee;             /* CALL */
      const front_overload *overload; /* BUILTIN */
      front_expr **args;
      uint32_t count;
    } call;
  } u;
};

/* An initialiser as it must be done, in the shape of the type. A leaf has `value`, already converted; a missing child
 * is zero. */
struct front_init {
  const front_type *type;
  front_expr *value;
  front_init **children; /* elements, or members */
  uint64_t count;        /* children: up to the last that is given */
  uint64_t capacity;
};

typedef enum front_object_kind { OBJECT_PRIVATE, OBJECT_PARAM, OBJECT_LOCAL, OBJECT_CONSTANT } front_object_kind;

struct front_object {
  front_object_kind kind;
  qn_sv name;          /* empty: a parameter or compound literal without one */
  pp_name *name_entry; /* parameters: NULL without a name */
  qn_loc loc;
  uint32_t length;
  const front_type *type;
  const char *type_name; /* parameters: as in the source */
  front_init *init;      /* NULL: none */
  ir_inst *initial;      /* constants: the whole value */
  bool is_failed;        /* its initialiser was reported */
  uint64_t align;        /* attribute aligned */
  uint32_t index;        /* parameter */
  bool is_assigned;      /* after its initialisation, or its address is taken */
  uint32_t escapes;      /* how often an array in it becomes a pointer that isn't followed at once */
  bool in_switch;        /* declared directly in the body of a switch: its initialisation may be jumped over */
  bool is_used;
  front_expr *item_value; /* what it starts with, if that is a work-item's id or a test of one */
  ir_inst *constant;      /* value of a const scalar or vector with a constant initialiser */
  /* emission */
  ir_inst *value; /* when it needs no memory */
  ir_var *var;
};

typedef enum front_stmt_kind {
  STMT_EMPTY,
  STMT_EXPR,    /* expr */
  STMT_DECL,    /* object */
  STMT_BLOCK,   /* body: a list */
  STMT_IF,      /* expr, body, other */
  STMT_LOOP,    /* for and while: init, expr (NULL: for ever), step, body */
  STMT_DO,      /* body, expr */
  STMT_SWITCH,  /* expr, body: a list with cases; */
  STMT_CASE,    /* value; a label in the list of a switch */
  STMT_DEFAULT, /* the same */
  STMT_BREAK,
  STMT_CONTINUE,
  STMT_RETURN /* expr or NULL */
} front_stmt_kind;

struct front_stmt {
  front_stmt_kind kind;
  qn_loc loc;
  front_stmt *next;
  front_expr *expr, *step;
  front_stmt *init, *body, *other;
  front_object *object;
  uint64_t value;
  bool has_break, has_continue; /* loops: one that leaves or goes on with this loop */
};

/* reqd_work_group_size or work_group_size_hint, and where it stands; zeros: not given. */
typedef struct front_group_size {
  uint64_t items[3];
  qn_loc loc;
  uint32_t length;
} front_group_size;

typedef struct front_attributes {
  bool is_packed, is_inline, is_noinline, is_overloadable;
  uint64_t align;
  front_group_size required, hinted;
} front_attributes;

/* A barrier below what looks as if it splits the group; judged when the whole function is known. */
typedef struct front_suspect {
  qn_loc loc;
  uint32_t length;
  front_split split;
  struct front_suspect *next;
} front_suspect;

typedef struct front_call_site {
  front_func *callee;
  qn_loc loc;
  uint32_t length;
} front_call_site;

struct front_func {
  qn_sv name;
  qn_loc loc;
  uint32_t length;
  const front_type *type;
  front_object **params; /* of the definition, else of the last prototype */
  uint32_t param_count;
  front_attributes attributes;
  bool is_kernel, is_defined, is_static, is_inline;
  bool has_local; /* declares local variables */
  bool is_called;
  bool is_missing_told; /* that it is called and not defined */
  bool has_barrier;     /* in its body, or in that of a function defined before it that it calls */
  qn_loc barrier_loc;   /* of the last one */
  uint32_t barrier_length;
  front_stmt *body;
  front_suspect *suspects;
  front_expr *item_result; /* what it returns, if that is all it does and as item_value */
  front_expr **passed;     /* the first argument like item_value for each parameter; NULL: none */
  front_call_site *calls;
  uint32_t call_count, call_capacity;
  ir_function *ir;             /* of the kernel, or of the function */
  ir_function *ir_helper;      /* a kernel that is called: its body as a function */
  uint32_t mark;               /* of the search for cycles */
  front_func *next_caller;     /* all functions, callers before what they call */
  uint64_t callers_require[3]; /* as required.items, of the kernel that calls it and says most */
  bool is_called_by_kernel;    /* also through other functions; callers_require holds */
  front_func *next_overload;
  uint32_t overload; /* its number among those of its name */
  uint32_t number;   /* in order of declaration */
  bool is_reached;   /* is emitted, or will be */
  bool is_called_from_reached;
  front_func *next_reached;
  front_func *next;
};

#endif
