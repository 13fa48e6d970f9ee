/* SPDX-License-Identifier: MIT */
/* symbolic_form.h - the symbolic reading of a form (private to symbolic*.c).
 *
 * Numbers are polynomials over variables: sizes, indices, quotients, literals.
 * They are interned, so that equal ones are one number; a number is its place
 * in a table.  All tables have fixed sizes: what does not fit is not
 * understood, and `why` says what it was.  No isl object outlives a function.
 *
 * A frame is a place where cases are told apart: frame 0 is the whole path,
 * the others are the reductions that are being evaluated, one inside another.
 * What is known belongs to the frame whose variables it is about. */
#ifndef PROVE_FORM_H
#define PROVE_FORM_H

#include "glenside/type/sizes.h"
#include "poly/loops/affine.h"
#include "prove/symbolic/symbolic_forms.h"
#include "prove/symbolic/symbolic.h"
#include "prove/relation/relation_value.h"

enum {
  FM_VARS = 240,
  FM_MONOS = 1200,
  FM_NUMBERS = 6000,
  FM_TERMS = 30000,
  FM_HASH = 8192, /* more than FM_NUMBERS; they are cleared for each path */
  FM_MONO_HASH = 4096, /* more than FM_MONOS */
  FM_DEGREE = 12,
  FM_SUM = 96, /* terms of one polynomial */
  FM_ROWS = 240,
  FM_RULES = 60,
  FM_NODES = PV_RULE_NODES,
  FM_SLOTS = PV_RULE_SLOTS,
  FM_ATTRS = 4,
  FM_CHOICES = 12, /* on one path of one frame */
  FM_FRAMES = 6,
  FM_PATHS = 600, /* of one form */
  FM_TUPLES = 600,
  FM_REDUCTIONS = 120,
  FM_CASES = 8,        /* of one reduction */
  FM_WORK = 200000,    /* of values, on one path */
  FM_RENAMED = 400000, /* numbers, on one path */
  FM_ZEROS = 6,
  FM_BOUNDS = 6,
  FM_NO_FRAME = 200 /* of names: nothing is decided about them */
};

typedef uint16_t fm_number;

typedef struct fm_term {
  int64_t times;
  uint16_t mono;
} fm_term;

typedef struct fm_mono {
  uint8_t n, frame;
  bool real, quotient;    /* a literal is in it, or a quotient */
  uint8_t var[FM_DEGREE]; /* sorted */
} fm_mono;

typedef enum fm_var_kind {
  FM_V_SIZE,  /* of a term, or a number that the rule is about */
  FM_V_INDEX, /* of the result's element */
  FM_V_BOUND, /* of an item of a reduction that is being evaluated */
  FM_V_NAME,  /* the same once it is done: no more is known of it */
  FM_V_QUOTIENT,
  FM_V_LITERAL /* a real number */
} fm_var_kind;

typedef struct fm_var {
  uint8_t kind, frame;
  uint16_t key;
  bool natural, positive; /* never below 0, or 1, on this path */
  bool whole;             /* FM_V_LITERAL: of an integer dtype */
  bool bounded;           /* FM_V_SIZE: of a dimension, or of a part of one */
  fm_number of, by;       /* FM_V_QUOTIENT: of / by, rounded down; by >= 1 */
} fm_var;

/* Terms in the pool, by monomial. */
typedef struct fm_poly {
  uint32_t at;
  uint16_t n;
  uint8_t frame;
  bool real;          /* a literal is in it */
  uint16_t normal;    /* what it was by the rules known at a time */
  uint16_t normal_at; /* that time, plus one */
  bool answer;        /* is it at least 0? */
  uint64_t asked_at;  /* when this was asked; 0: never */
} fm_poly;

/* A run computes with literals of floats in f64.  A product of literals is as
 * near to the real one as a literal is to a number; so is one sum of literals
 * that are exact, and no other sum: (x + 1) - x may be 0.  So it computes with
 * those of integer dtypes, which are exact as long as they are below 2^53. */
typedef enum fm_rounding {
  FM_EXACT,
  FM_ROUNDED_PRODUCT,
  FM_ROUNDED_SUM
} fm_rounding;

typedef struct fm_value {
  enum { FM_UNKNOWN, FM_INT, FM_LIST, FM_DATUM } kind;
  fm_rounding rounding;      /* FM_INT */
  bool minus_zero;           /* FM_INT: perhaps -0, which is no integer */
  bool real;                 /* FM_INT: a run computes with it in f64, so that a
                                quotient is not rounded down */
  uint32_t n;                /* FM_INT: 1 */
  fm_number at[GS_MAX_RANK]; /* FM_INT: the first */
  bs_value datum;
} fm_value;

typedef struct fm_type {
  uint32_t access, rank;
  gs_dtype dtype;
  fm_number dim[GS_MAX_RANK];
} fm_type;

/* A compute operator and its parameters: numbers, or literals as written. */
typedef struct fm_operator {
  gs_compute op;
  uint32_t n;
  struct {
    bool written;
    double real;
    fm_number number;
  } param[2];
  uint32_t slot; /* the variable it is the value of, or UINT32_MAX */
  bool any;      /* nothing is known but its kind and its types */
} fm_operator;

/* A node of a side: its type, its attributes, and which dimensions a
 * broadcast repeats. */
typedef struct fm_node {
  const gs_sk_node *sk;
  fm_type type;
  fm_value attr[FM_ATTRS];
  fm_operator o;
  uint32_t expands; /* bits */
} fm_node;

typedef struct fm_side {
  const gs_skeleton *skeleton;
  fm_node node[FM_NODES];
} fm_side;

typedef struct fm_row {
  fm_number number; /* at least 0 */
  uint8_t frame;
} fm_row;

/* The cases told apart in a frame on the path that is being taken. */
typedef struct fm_frame {
  uint32_t n, at;  /* made, and come by again */
  uint32_t second; /* bits: those of which the second case is looked at */
  fm_number asked[FM_CHOICES];
} fm_frame;

/* What a reduction comes to, for one case of its items and one product. */
typedef struct fm_reduction {
  uint16_t kind; /* a gs_compute: sum, product, max, min, softmax (a bag) ... */
  uint16_t n, n_guards, height;
  fm_number low[GS_MAX_RANK], high[GS_MAX_RANK];
  uint8_t var[GS_MAX_RANK];
  fm_number guard[FM_CHOICES]; /* at least 0 */
  pv_value body;
} fm_reduction;

typedef struct fm_tuple {
  uint16_t slot, n;
  fm_number at[GS_MAX_RANK];
} fm_tuple;

typedef struct fm_zeros {
  uint32_t slot;
  int32_t axis; /* -1: all of it */
  fm_number low, high;
} fm_zeros;

/* The condition says that a number, of literals too, is at most so far from
 * 0. */
typedef struct fm_bound {
  fm_number number;
  int64_t most;
} fm_bound;

typedef struct fm_form {
  const pv_form *of;
  bs_heap *heap;
  bs_values *values;
  isl_ctx *isl;
  const char *why; /* what is not understood; NULL: nothing so far */
  bool lost;       /* numbers are not what they should be, from `why` on */
  uint32_t n_vars, n_monos, n_numbers, n_terms, n_rows, n_rules;
  uint32_t n_tuples, n_reductions, n_zeros, n_bounds, n_floors;
  uint32_t frames, work, nesting, renamed;
  uint32_t rules_at; /* changes of the rules */
  uint32_t facts;    /* changes of the rows */
  uint16_t mono_at[FM_MONO_HASH], number_at[FM_HASH];
  fm_frame frame[FM_FRAMES];
  uint8_t fixed[FM_SLOTS];    /* the value of the application is meant */
  uint8_t operator[FM_SLOTS]; /* its operator, with any parameters */
  uint8_t maps_zero[FM_SLOTS];
  fm_value value[FM_SLOTS];
  fm_type type[FM_SLOTS];
  uint8_t typed[FM_SLOTS];
  fm_number open_size[GS_MOST_SIZES]; /* divided by their multiples */
  fm_side side[2];
  bool right;   /* facts are to be shown, not taken */
  bool numbers; /* numbers of the application are meant */
  bool asks_dtype;
  bool careful;    /* indices are compared by all that is known of them */
  bool whole_path; /* only what is known of the whole path is asked */
  bool nothing;    /* no application takes this path */
  bool rounded;    /* an operator takes a float that the rule computes */
  pv_values elements;
  /* Only the elements that are counted are written: the arrays are large, and a
   * form has thousands of paths. */
  fm_var var[FM_VARS];
  fm_mono mono[FM_MONOS];
  uint32_t settled_at[FM_MONOS]; /* when no rule applied, and one more */
  fm_row row[FM_ROWS];
  struct {
    uint16_t mono; /* is ... */
    fm_number number;
  } rule[FM_RULES];
  fm_tuple tuple[FM_TUPLES];
  fm_reduction reduction[FM_REDUCTIONS];
  fm_zeros zeros[FM_ZEROS];
  fm_bound bound[FM_BOUNDS];
  fm_number floor[FM_BOUNDS]; /* far from 0 for an f32, says the condition */
  fm_poly number[FM_NUMBERS];
  fm_term term[FM_TERMS];
} fm_form;

/* Ends the attempt; the first reason stays. */
static inline void
fm_fail(fm_form *f, const char *why) {
  if (!f->why)
    f->why = why;
}

/* Ends the attempt where numbers cannot be held any more: what they say from
 * here on means nothing, so that no contradiction follows from it. */
static inline void
fm_lose(fm_form *f, const char *why) {
  fm_fail(f, why);
  f->lost = true;
}

/* symbolic_monomial.c: the first one is the empty one. */
void fm_describe(const fm_form *, fm_mono *);
uint16_t fm_intern_mono(fm_form *, const fm_mono *);
uint16_t fm_times_mono(fm_form *, uint16_t x, uint16_t y);
/* x / y where y divides x. */
bool fm_over_mono(fm_form *, uint16_t x, uint16_t y, uint16_t *out);
int fm_compare_monos(const fm_form *, uint16_t x, uint16_t y);
uint16_t fm_common_mono(fm_form *, uint16_t x, uint16_t y);

/* symbolic_number.c, symbolic_rename.c: polynomials. */
uint8_t fm_variable(fm_form *, fm_var like); /* the same one for equal keys */
fm_number fm_of_variable(fm_form *, uint8_t var);
fm_number fm_of_mono(fm_form *, uint16_t mono);
fm_number fm_constant(fm_form *, int64_t);
fm_number fm_parameter(fm_form *);
fm_number fm_dimension(fm_form *); /* 2^40 at most */
/* a * x + b * y + c */
fm_number fm_combine(fm_form *, int64_t a, fm_number x, int64_t b, fm_number y,
                     int64_t c);
fm_number fm_product(fm_form *, fm_number x, fm_number y);
/* By the rules that are known. */
fm_number fm_normal(fm_form *, fm_number);
bool fm_is_constant(fm_form *, fm_number x, int64_t *out);
/* Variables replaced; quotients are made again. */
typedef struct fm_renaming {
  uint32_t n;
  uint8_t var[GS_MAX_RANK];
  fm_number by[GS_MAX_RANK];
} fm_renaming;
fm_number fm_rename(fm_form *, const fm_renaming *, fm_number);
bool fm_depends(const fm_form *, fm_number, uint8_t var);
/* Is a literal of a float in it? */
bool fm_has_float(const fm_form *, fm_number);
/* x = a * var + rest, where neither a nor rest depends on it. */
bool fm_linear_in(fm_form *, fm_number x, uint8_t var, fm_number *a,
                  fm_number *rest);
/* The monomials of x that a divides, divided by it, and what is left. */
bool fm_divide(fm_form *, fm_number x, fm_number by, fm_number *quotient,
               fm_number *rest);
/* Rounded down; by >= 1 must be known. */
fm_number fm_quotient(fm_form *, fm_number x, fm_number by);
/* What is 0 as a rule; false when no monomial of it can be told alone. */
bool fm_add_rule(fm_form *, fm_number zero);
bool fm_overlap(fm_form *, fm_number *zero);
fm_number fm_primitive(fm_form *, fm_number);

/* symbolic_known.c: what is known, and cases. */
void fm_assume(fm_form *, fm_number, bool zero);
bool fm_is_contradiction(fm_form *);
bool fm_implied(fm_form *, fm_number, bool zero);
/* Taken of the left side, shown of the right. */
void fm_need(fm_form *, fm_number, bool zero);
void fm_need_equal(fm_form *, fm_number, fm_number);
void fm_need_at_least(fm_form *, fm_number, int64_t);
bool fm_is_equal(fm_form *, fm_number, fm_number);
bool fm_is_one(fm_form *, fm_number);
bool fm_at_least(fm_form *, fm_number, int64_t);
/* One of two cases, each of which is looked at in turn. */
bool fm_choose(fm_form *);
/* Is the number at least 0?  Where it is not known, one case after another. */
bool fm_decide(fm_form *, fm_number);
/* Opens a frame of cases, starts one path of it, and goes to the next. */
bool fm_open(fm_form *);
void fm_start(fm_form *);
bool fm_next(fm_form *);
void fm_close(fm_form *);
void fm_know(fm_form *, fm_number);
void fm_forget(fm_form *, uint32_t rows);

static inline fm_value
fm_of_number(fm_number x) {
  return (fm_value){.kind = FM_INT, .n = 1, .at = {x}};
}

static inline bool
fm_is_class(const gs_expr *e) {
  return e->kind == GS_X_VAR && e->sort == GS_SORT_CLASS;
}

/* symbolic_function.c: unknown where it is not understood. */
fm_value fm_call(fm_form *, const gs_expr *);
fm_value fm_product_of(fm_form *, const fm_number *, uint32_t n);

/* symbolic_size.c: the sizes of a program, and a number over them. */
void fm_free_open_sizes(fm_form *);
fm_number fm_of_int(fm_form *, int64_t);

/* symbolic_expr.c, symbolic_where.c */
bool fm_is_fixed(const fm_form *, const gs_expr *);
fm_value fm_eval(fm_form *, const gs_expr *);
void fm_assume_expr(fm_form *, const gs_expr *);
void fm_round_literals(fm_form *, const gs_expr *);
const fm_type *fm_type_of(fm_form *, uint32_t slot);
bool fm_fixed_value(fm_form *, const gs_expr *, bs_value *out);
/* 1 or 0: the condition holds on this path, or not; cases of sizes are told
 * apart.  -1: it is not understood. */
int fm_truth(fm_form *, const gs_expr *);
bool fm_operator_of(fm_form *, const gs_expr *, fm_operator *out);
fm_number fm_any_number(fm_form *, gs_compute, uint32_t key);

/* symbolic_literal.c: is what operators on narrow floats take as near to what
 * the rule computes as any rounded product? */
void fm_assume_floors(fm_form *, const gs_expr *);
void fm_check_literals(fm_form *, const fm_side *);

/* symbolic_type.c: the types of a side, children first. */
void fm_infer_side(fm_form *, fm_side *);

/* symbolic_view.c: the type of a node that is a view, and where the element at
 * an index stands. */
typedef struct fm_place {
  bool keeps_order; /* else: */
  uint32_t kid;
  pv_value value; /* not 0: what it is, without a child */
  fm_number to[GS_MAX_RANK];
} fm_place;
void fm_infer_view(fm_form *, const fm_side *, fm_node *);
void fm_follow_view(fm_form *, const fm_side *, const fm_node *,
                    const fm_number *index, fm_place *out);

/* symbolic_index.c: the element of a node at an index. */
pv_value fm_element(fm_form *, const fm_side *, uint32_t node,
                    const fm_number *index);
/* symbolic_compute.c: likewise of a compute node. */
pv_value fm_compute_element(fm_form *, const fm_side *, const fm_node *,
                            const fm_number *index);
/* symbolic_value.c: numbers as values, and values under a renaming. */
pv_value fm_value_of(fm_form *, gs_dtype, fm_number);
pv_value fm_leaf(fm_form *, uint32_t slot, gs_dtype, const fm_type *,
                 const fm_number *index);
pv_value fm_rename_value(fm_form *, const fm_renaming *, pv_value);
bool fm_value_depends(fm_form *, pv_value, uint8_t var);
pv_value fm_leaf_of_reduction(fm_form *, gs_dtype, const fm_reduction *);
uint32_t fm_height(fm_form *, pv_value);
/* symbolic_partial.c: has the value none wherever what cancelled had none? */
bool fm_holds_dropped(fm_form *, pv_value);
/* symbolic_reduce.c: a reduction over a box of items, made a value. */
/* *none: there are no items on this path. */
pv_value fm_reduce(fm_form *, gs_dtype, const fm_reduction *box, pv_value body,
                   bool *none);

/* Sources of leaves that are no element of a variable's term. */
enum { FM_LEAF_NUMBER = 1000, FM_LEAF_REDUCTION };

#endif
