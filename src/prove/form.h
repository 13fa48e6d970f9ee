/* form.h - the symbolic reading of a form (private to symbolic*.c).
 *
 * Numbers are linear in the parameters and stand in a table; a number is its
 * place there.  All tables have fixed sizes: what does not fit is not
 * understood, and `failed` is set.  No isl object outlives a function. */
#ifndef PROVE_FORM_H
#define PROVE_FORM_H

#include "poly/affine.h"
#include "prove/symbolic.h"

#include <isl/map.h>

enum {
  FM_PARAMS = 30,
  FM_NUMBERS = 1000,
  FM_ROWS = 160,
  FM_NODES = 24,
  FM_SLOTS = 64,
  FM_ATTRS = 4,
  FM_CHOICES = 5
};

typedef uint16_t fm_number;

typedef struct fm_linear {
  int64_t constant, of[FM_PARAMS];
} fm_linear;

typedef struct fm_value {
  enum { FM_UNKNOWN, FM_INT, FM_LIST, FM_DATUM } kind;
  uint32_t n;                /* FM_INT: 1 */
  fm_number at[GS_MAX_RANK]; /* FM_INT: the first */
  bs_value datum;
} fm_value;

typedef struct fm_type {
  uint32_t access, rank;
  gs_dtype dtype;
  fm_number dim[GS_MAX_RANK];
} fm_type;

/* A node of a side: its type, its attributes, and which dimensions a
 * broadcast repeats. */
typedef struct fm_node {
  const gs_sk_node *sk;
  fm_type type;
  fm_value attr[FM_ATTRS];
  uint32_t expands; /* bits */
} fm_node;

typedef struct fm_side {
  const gs_skeleton *skeleton;
  fm_node node[FM_NODES];
} fm_side;

typedef struct fm_form {
  const pv_form *of;
  bs_values *values;
  isl_ctx *isl;
  uint32_t n_params, n_numbers, n_rows;
  fm_linear number[FM_NUMBERS];
  struct {
    fm_number number; /* is 0, or at least 0 */
    bool zero;
  } row[FM_ROWS];
  uint8_t fixed[FM_SLOTS]; /* the value of the application is meant */
  fm_value value[FM_SLOTS];
  fm_type type[FM_SLOTS];
  uint8_t typed[FM_SLOTS];
  fm_side side[2];
  bool right;   /* facts are to be shown, not taken */
  bool failed;  /* something is not understood */
  bool numbers; /* strides or factors of the application are meant */
  bool asks_dtype;
  uint32_t choices, n_choices, given;
} fm_form;

/* symbolic_number.c: numbers and what is known of them. */
fm_number fm_constant(fm_form *, int64_t);
fm_number fm_parameter(fm_form *);
/* a * x + b * y + c */
fm_number fm_combine(fm_form *, int64_t a, fm_number x, int64_t b, fm_number y,
                     int64_t c);
bool fm_is_constant(const fm_form *, fm_number, int64_t *out);
fm_number fm_product(fm_form *, fm_number, fm_number, bool *ok);
/* The quotient by a positive number, rounded down. */
fm_number fm_quotient(fm_form *, fm_number, int64_t by);
void fm_assume(fm_form *, fm_number, bool zero);
bool fm_implied(fm_form *, fm_number, bool zero);
/* Taken of the left side, shown of the right. */
void fm_need(fm_form *, fm_number, bool zero);
void fm_need_equal(fm_form *, fm_number, fm_number);
void fm_need_at_least(fm_form *, fm_number, int64_t);
bool fm_is_equal(fm_form *, fm_number, fm_number);
bool fm_is_one(fm_form *, fm_number);
/* One of two cases, each of which is looked at in turn. */
bool fm_choose(fm_form *);
isl_set *fm_context(fm_form *);

/* symbolic_expr.c */
bool fm_is_fixed(const fm_form *, const gs_expr *);
fm_value fm_eval(fm_form *, const gs_expr *);
fm_value fm_of_datum(fm_form *, bs_value);
void fm_assume_expr(fm_form *, const gs_expr *);
const fm_type *fm_type_of(fm_form *, uint32_t slot);

/* symbolic_type.c: the types of a side, children first. */
void fm_infer_side(fm_form *, fm_side *);

/* symbolic_map.c: do both sides read the same elements everywhere? */
bool fm_same_elements(fm_form *);

#endif
