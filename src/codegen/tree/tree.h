/* SPDX-License-Identifier: MIT */
/* tree.h - the code tree: statements of a function before any text exists.
 *
 * A body is a list of nodes linked by `next`.  Nodes are made on an arena and
 * changed by passes; what a printer needs to know of the file around (helpers,
 * headers) is asked of the tree, by the names that it uses. */
#ifndef CODEGEN_TREE_TREE_H
#define CODEGEN_TREE_TREE_H

#include "codegen/tree/tree_expr.h"

typedef enum cg_kind {
  CG_FOR,
  CG_IF,
  CG_SWITCH, /* a list of cases, and of lists of them that are compiled where a
                condition holds */
  CG_CASE,
  CG_WHEN,     /* a list that is compiled where a condition holds */
  CG_BLOCK,    /* a list in braces */
  CG_LET,      /* a variable, or an array, declared */
  CG_STORE,    /* target = value, target += value */
  CG_DO,       /* an expression for its effect */
  CG_TEMPLATE, /* an instruction's text, with expressions in it */
  CG_BARRIER,  /* of the threads of a block */
  CG_LAUNCH,   /* of a kernel, by the host */
  CG_RETURN,   /* from the function, with a value or without */
  CG_CONTINUE, /* with the next iteration of the loop */
  CG_ERROR,    /* what compilers refuse */
  CG_COMMENT,
  CG_MARK,   /* around the code of a loop of the nest, however it was cut */
  CG_NOTHING /* a statement that has no effect */
} cg_kind;

#define CG_NO_LOOP UINT32_MAX

/* What a store or a template came from: a statement of the program, and the
 * address of each of its accesses: expressions of the body, the target,
 * operands of a call. NULL: no access in memory, or a constant place. */
typedef struct cg_origin {
  uint32_t stmt;
  uint32_t n;
  const cg_expr *index[];
} cg_origin;

/* Whether the iterations of a loop run in the lanes of vectors: as a pass saw,
 * or as a schedule asks. */
typedef enum cg_lanes_kind {
  CG_LANES_NONE,
  CG_LANES_SEEN,
  CG_LANES_ASKED
} cg_lanes_kind;

/* What the lanes of a reduction are joined by. */
typedef enum cg_joined_by {
  CG_JOINED_BY_SUM,
  CG_JOINED_BY_PRODUCT,
  CG_JOINED_BY_MAX,
  CG_JOINED_BY_MIN
} cg_joined_by;

/* Of floating-point numbers: the order of integers needs no clause. */
typedef struct cg_reduction {
  cg_joined_by by;
  const char *name;
} cg_reduction;

typedef struct cg_for {
  const char *iterator;
  const char *type;     /* of the iterator; NULL: declared before */
  const cg_expr *first; /* NULL where it goes on from what it is */
  const cg_expr *condition;
  const char *also;   /* goes on with the iterator; NULL: nothing */
  const char *beside; /* a variable declared with the iterator; or NULL */
  int64_t step;       /* 0: `by`; where that is NULL, the body goes on */
  const cg_expr *by;
  /* What passes know of the loop as isl made it. */
  const cg_expr *last; /* NULL where the condition is no bound */
  bool last_excluded;
  int64_t trips; /* how often it runs; 0: not known */
  /* What passes decided. */
  bool is_team;      /* threads share its iterations */
  bool is_team_last; /* threads share the iterations of no loop below it */
  bool is_bounded;   /* the team has a largest size */
  bool is_fenced;    /* a fence stands at the end of its iterations */
  bool unrolls;      /* written out whole by what compiles it */
  uint32_t unrolled; /* iterations written out at a time; 0: as it is */
  bool once;         /* it has one value, of which the condition says nothing */
  uint32_t collapse; /* loops that the team which begins here shares; 0: none */
  /* Whether a team pays, where the call alone knows; NULL: it does.  Code
   * without OpenMP does not have it: its names do not count as uses. */
  const cg_expr *pays;
  cg_lanes_kind lanes;
  bool is_ragged; /* the last vector is not full */
  uint32_t n_reductions;
  const cg_reduction *reductions;
} cg_for;

typedef struct cg_let {
  const char *type, *name, *qualifier; /* qualifier: __shared__; or NULL */
  int64_t elements;                    /* of an array; 0: a variable */
  const char *attribute;               /* behind the name; or NULL */
  bool joins; /* in the declaration of the one before */
  const cg_expr *value;
} cg_let;

typedef struct cg_store {
  const cg_expr *target, *value;
  /* CG_OP_SET, or the operator that goes before it: CG_OP_ADD is `+=`. */
  cg_op op;
} cg_store;

/* The kernel with its arguments; how many blocks, and threads of one, there
 * are: calls of what makes three numbers one. */
typedef struct cg_launched {
  const cg_expr *call, *blocks, *threads;
} cg_launched;

/* Parts of a template in their order: a literal is text. */
typedef struct cg_template {
  uint32_t n;
  const cg_expr *const *parts;
  bool braces;
} cg_template;

typedef struct cg_node {
  cg_kind kind;
  /* The body of a loop, or the branch of an `if`, is written without braces:
   * it is one statement. */
  bool bare;
  /* Its expression goes on on new lines where it is long: arguments of a call,
   * operands of a condition, what is cast in a declaration. */
  bool wraps;
  bool one_line;    /* a block, with all that is in it */
  bool brace_below; /* that of the body of a loop is on a new line */
  /* The loop of the nest of which all iterations are in it, and the one of
   * which its body is an iteration, in which locals of that live; CG_NO_LOOP:
   * none. */
  uint32_t loop, iteration;
  struct cg_node *next, *first; /* first: of the body */
  const cg_origin *origin;
  union {
    cg_for head; /* of a loop */
    struct {
      const cg_expr *condition;
      struct cg_node *otherwise;
    } test;
    struct {
      const char *condition; /* a line of the preprocessor: ifdef X */
      struct cg_node *otherwise;
      bool joins; /* it is all that is done otherwise: elif X */
    } when;
    struct {
      int64_t label; /* of a case */
      bool is_default;
    };
    cg_let let;
    cg_store store;
    const cg_expr *effect; /* what a switch looks at */
    cg_template text;
    cg_launched launched;
    uint32_t mark;         /* the loop of the nest */
    const cg_expr *result; /* of a return; NULL: nothing */
    const char *comment;   /* or the text of an error */
  };
} cg_node;

/* Where the next node of a list goes. */
typedef struct cg_list {
  cg_node *first, **end;
} cg_list;

void cg_list_init(cg_list *);
void cg_append(cg_list *, cg_node *chain);

cg_node *cg_node_new(bs_arena *, cg_kind);
cg_node *cg_make_block(bs_arena *, cg_node *body);
cg_node *cg_make_if(bs_arena *, const cg_expr *condition, cg_node *body);
cg_node *cg_make_let(bs_arena *, const char *type, const char *name,
                     const cg_expr *value);
cg_node *cg_make_do(bs_arena *, const cg_expr *);
cg_node *cg_make_return(bs_arena *, const cg_expr *);
cg_node *cg_make_comment(bs_arena *, const char *text);
/* (void)name; */
cg_node *cg_make_void(bs_arena *, const char *name);
/* for (type iterator = first; condition; iterator += step), of no loop of the
 * nest. */
cg_node *cg_make_for(bs_arena *, const char *type, const char *iterator,
                     const cg_expr *first, const cg_expr *condition,
                     int64_t step, cg_node *body);
/* A list and all below it, once more. */
cg_node *cg_clone(bs_arena *, const cg_node *chain);
/* Where what is done otherwise is: of a test, or of what is compiled where a
 * condition holds; NULL: of other nodes. */
cg_node **cg_otherwise(cg_node *);
static inline const cg_node *
cg_other_branch(const cg_node *n) {
  cg_node *const *at = cg_otherwise((cg_node *)(uintptr_t)n);
  return at ? *at : NULL;
}
/* What is below the marks at a list of one node. */
cg_node *cg_below_marks(cg_node *);
static inline bool
cg_is_one(const cg_node *chain) {
  return chain && !chain->next;
}

/* ---- questions ---- */

/* Calls `see` for each expression of a list and what is below it, parts of
 * expressions as well; target: it names what an assignment writes. */
void cg_each_expr(const cg_node *chain,
                  void (*see)(const cg_expr *, bool target, void *), void *);
/* The variable is named where it is not declared anew. */
bool cg_mentions(const cg_node *chain, const char *name);
/* The variable is read, and not only assigned to. */
bool cg_reads(const cg_node *chain, const char *name);

/* ---- functions ---- */

typedef struct cg_parameter {
  const char *type, *name; /* `const float *restrict` */
  bool breaks;             /* on a new line, where they are laid out by hand */
} cg_parameter;

typedef struct cg_function {
  /* What stands before the name: static int; NULL: nothing so far. */
  const char *head;
  const char *name;
  uint32_t n_parameters;
  const cg_parameter *parameters;
  bool by_hand; /* parameters say themselves where lines break */
  /* What closes the list of parameters does not count in the length of a line:
   * so the heads of kernels are broken, and other functions' not. */
  bool closes_anywhere;
  /* Functions of the file that it hands to macros, by name; NULL: none. */
  const char *handed[2];
  cg_node *body;
} cg_function;
/* Adds one behind the others. */
void cg_add_parameter(bs_arena *, cg_function *, cg_parameter);

#endif
