/* SPDX-License-Identifier: MIT */
/* expr.h - the total expression language of rules and targets.
 *
 * Integers, booleans, lists, symbols, and facts about the shape of a class.
 * Evaluation never fails hard: division by zero, an index out of range or an
 * overflow make the value undefined, and a condition over it false.
 *
 * The functions, their arguments and meanings stand in the one table of
 * expr_functions.h (gs_function_at reads it): arithmetic, comparison, logic,
 * lists (the list is always the first argument, but for `cons`), permutations,
 * cut points, facts of a class, facts of a compute operator.
 *
 * Logic is three-valued: `and` is false as soon as one part is, `or` true as
 * soon as one is; otherwise an undefined part makes them undefined. */
#ifndef GLENSIDE_EXPR_H
#define GLENSIDE_EXPR_H

#include "base/sexp.h"
#include "glenside/type/context.h"
#include "glenside/type/type.h"

typedef enum gs_sort {
  GS_SORT_ANY, /* not known yet */
  GS_SORT_CLASS,
  GS_SORT_INT,
  GS_SORT_BOOL,
  GS_SORT_REAL,
  GS_SORT_LIST,
  GS_SORT_SYM, /* names, pad kinds */
  GS_SORT_DTYPE,
  GS_SORT_OP, /* a compute operator with its parameters */
  GS_SORT_TYPE
} gs_sort;

const char *gs_sort_name(gs_sort);

/* The variables in scope: slot k holds variable k's value. */
typedef struct gs_var {
  const char *name;
  gs_sort sort;
  bs_span span; /* first occurrence */
} gs_var;

/* A name for a term, written once and used several times: the node of the term
 * in the file that is parsed.  A term may use the names before its own. */
typedef struct gs_let {
  const char *name; /* as written, with its question mark */
  uint32_t node;
} gs_let;

typedef struct gs_scope {
  BS_VEC(gs_var) vars;
  const gs_let *lets;
  uint32_t n_lets;
  bool question_marks; /* variables are written ?x (rules) or x (targets) */
  bool open;           /* an unknown variable is added, else it is an error */
  /* The value of `$NAME`, BS_NIL when there is none; NULL: no parameters. */
  bs_value (*param)(void *ctx, const char *name);
  /* The slot of the class that a bare NAME stands for where a term is wanted
   * (with question marks on), or -1; NULL: there are none. */
  int (*named)(void *ctx, const char *name);
  void *ctx; /* of the two callbacks */
} gs_scope;

/* Names are kept without the question mark; both take them with or without.
 * `?_` is a new variable at each occurrence. */
/* The slot of a name, or -1. */
int gs_scope_find(const gs_scope *, const char *name);
int gs_scope_add(const gs_context *, gs_scope *, const char *name, gs_sort,
                 bs_span);

/* What a slot holds: a class id (GS_SORT_CLASS) or a value id. */
typedef struct gs_env {
  bs_values *values;
  const uint32_t *slots;
  uint32_t n_slots;
  void *facts; /* passed to the two callbacks */
  /* The type of the class in a slot, as an interned value. */
  bs_value (*type_of)(void *facts, uint32_t class_id);
  /* Proven zero regions: a list of (axis lo hi); may be NULL. */
  bs_value (*zeros_of)(void *facts, uint32_t class_id);
  /* The value every element has, or BS_NIL; may be NULL. */
  bs_value (*constant_of)(void *facts, uint32_t class_id);
  /* Whose numbers may stand among the integers; NULL: nobody's.  A question
   * about these that has no answer for all sizes is undefined, and noted. */
  struct gs_sizes *sizes;
} gs_env;

typedef enum gs_expr_kind { GS_X_LITERAL, GS_X_VAR, GS_X_CALL } gs_expr_kind;

typedef struct gs_expr {
  gs_expr_kind kind;
  gs_sort sort; /* of the result, as far as known */
  bs_span span;
  bs_value literal;
  uint32_t slot;
  uint16_t function; /* index into the function table */
  uint16_t n_args;
  /* A parameter `$NAME` had a part in it, but stands here no longer: its value
   * was put in its place, and may have decided what is left. */
  bool settable;
  const struct gs_expr *const *args; /* nesting is at most GS_MAX_NESTING */
} gs_expr;

#define GS_MAX_NESTING   200
#define GS_MAX_ARGUMENTS 32
#define GS_MAX_LIST      1024 /* items of a computed list */

/* Parses one expression, checking arity and sorts; NULL with diagnostics.
 * (shape 1 2), (stride ..), (dilation ..) and (list ..) are lists; (shape ?a)
 * of one term is its shape.  (clip 0 6) is an operator.  Calls of literals are
 * evaluated at once. */
const gs_expr *gs_expr_parse(const gs_context *, const bs_sexps *,
                             uint32_t node, gs_scope *);
/* Parses an expression where a value of one sort is wanted: `min` may be a pad
 * kind. */
const gs_expr *gs_expr_parse_as(const gs_context *, const bs_sexps *,
                                uint32_t node, gs_scope *, gs_sort wanted);
const gs_expr *gs_expr_literal(const gs_context *, bs_value, gs_sort, bs_span);
/* A call of a function that there is, of arguments of the sorts that it takes;
 * they are copied. */
const gs_expr *gs_expr_call(const gs_context *, const char *function, gs_sort,
                            const gs_expr *const *args, uint32_t n, bs_span);
/* Is it a call of this function?  `e` may be NULL. */
bool gs_expr_is_call(const gs_expr *e, const char *function);
/* False when undefined. */
bool gs_expr_eval(const gs_expr *, const gs_env *, bs_value *out);
/* True when defined and equal to `true`. */
bool gs_expr_test(const gs_expr *, const gs_env *);
/* Whether both are the same text, over slots of one scope; NULL is NULL. */
bool gs_expr_same(const gs_expr *, const gs_expr *);
/* Calls f for each variable occurrence. */
void gs_expr_vars(const gs_expr *, void (*f)(void *, uint32_t slot, bs_span),
                  void *arg);
/* expr_bounds.c: is it an integer that is written out?  Which, in `out`; `e`
 * may be NULL. */
bool gs_expr_is_int(const bs_values *, const gs_expr *e, int64_t *out);
/* expr_bounds.c: what (= v N), and what (<= v N), among what must hold says of
 * a variable; `where` may be NULL. */
bool gs_expr_fixes(const bs_values *, const gs_expr *where, uint32_t slot,
                   int64_t *out);
bool gs_expr_bounds(const bs_values *, const gs_expr *where, uint32_t slot,
                    int64_t *out);
const char *gs_function_name(uint16_t function);
int gs_function_find(const char *name); /* -1 when there is none */

typedef struct gs_function_info {
  const char *name;
  const char *args; /* a letter an argument, see expr_functions.h */
  uint8_t min_args, max_args;
  char result;
  const char *doc; /* one line, in terms of a, b, c, ... */
} gs_function_info;
uint16_t gs_function_count(void);
const gs_function_info *gs_function_at(uint16_t function);
/* What a letter of that table means: "int", "term", ... */
const char *gs_letter_word(char letter);
/* A table of all functions in Markdown. */
void gs_put_functions(bs_text *);
/* Is the name a dtype, a compute operator, a pad kind, or a kind of operator?
 * Then it means that in an expression. */
bool gs_is_reserved(const char *name);
/* A string literal of a source file. */
void gs_put_quoted(bs_text *, const char *s);
void gs_put_expr(bs_text *, const bs_values *, const gs_scope *,
                 const gs_expr *);

#endif
