/* SPDX-License-Identifier: MIT */
/* interpret_state.h - one interpretation in progress (private). */
#ifndef GLENSIDE_INTERPRET_STATE_H
#define GLENSIDE_INTERPRET_STATE_H

#include "glenside/interpret/interpret.h"
#include "glenside/target/target.h"

/* Views of more elements than this are never stored, only read through. */
#define IN_MAX_STORED_VIEW ((int64_t)1 << 24)
/* Elements of one stored array, and of one item. */
#define IN_MAX_ARRAY ((int64_t)1 << 30)
#define IN_MAX_ITEM  ((int64_t)1 << 27)
/* Bytes of all arrays, bounds and items at a time, but for inputs. */
#define IN_MAX_BYTES ((int64_t)1 << 32)
/* Element visits of a run. */
#define IN_MAX_WORK ((int64_t)1 << 33)

/* The meaning of a call with these types, as a program over its operands. */
typedef struct in_call {
  struct in_call *next;
  bs_value attr;
  const bs_value *types; /* of the operands */
  uint32_t n;
  gs_program *meaning;
} in_call;

/* Shared by a program and the meanings of its calls. */
typedef struct in_run {
  gs_context ctx;
  in_call *calls;
  int64_t work;   /* visits planned so far */
  int64_t bytes;  /* of the arrays that there are now */
  int64_t visits; /* since the limits were looked at */
} in_run;

typedef struct in_state {
  in_run *run;
  const gs_program *p;
  const gs_tensor *inputs;
  const gs_tensor *input_bounds; /* of the inputs; NULL: they are exact */
  gs_type *types;                /* by term; of live terms */
  uint8_t *live;                 /* by term */
  uint8_t *stored;               /* by term: kept as an array */
  uint8_t *owned;                /* by term: the array is ours to free */
  uint32_t *last_use;            /* by term: the term after which it can go */
  gs_tensor *arrays;             /* by term */
  gs_tensor *bounds; /* by term, of its rounding, f64; without data: 0.  NULL:
                      * not asked for */
  bool are_bounds;   /* `arrays` are such */
} in_state;

/* So many elements were visited, which takes no memory: the limits of time are
 * looked at here. */
static inline void
in_visit(const in_state *s, int64_t n) {
  s->run->visits += n;
  if (s->run->visits < 1 << 16)
    return;
  s->run->visits = 0;
  bs_limits_check(s->run->ctx.heap);
}

/* Inputs and outputs, with their bounds where these are asked for. */
typedef struct in_data {
  const gs_tensor *inputs, *input_bounds;
  gs_tensor *outputs, *bounds;
} in_data;

bool in_run_program(in_run *, const gs_program *, const in_data *);
/* interpret_scan.c: fills the term's array, and its bounds. */
bool in_scan(in_state *, uint32_t term);

/* plan.  Marks what is live and stored and when it can go; false with a
 * diagnostic when that is too much work, or memory. */
bool in_plan(in_state *);
/* Bytes of a term's array and of its bounds, if these are asked for. */
int64_t in_bytes(const in_state *, uint32_t term);

/* A state whose arrays are the bounds, in which all pads are 0. */
in_state in_state_of_bounds(const in_state *);
/* The element of a term at an index (of its rank, destroyed). */
double in_fetch(const in_state *, gs_term, int64_t *index);
/* All elements under an iterated index, in the order of C. */
void in_load(const in_state *, gs_term, const int64_t *outer, double *out);
/* The next index of dimensions from .. rank - 1; false past the last. */
bool in_advance(const gs_type *, uint32_t from, uint32_t to, int64_t *index);

/* A compute operator, its parameters and the dtype of its result. */
typedef struct in_operator {
  gs_compute op;
  gs_dtype from, dtype;
  bool integer;
  double a, b;
  double moved;  /* how far the dtype moves `a` from what is written */
  int64_t table; /* of a lookup: its size */
} in_operator;

in_operator in_prepare(const bs_values *, bs_value o, gs_dtype from,
                       gs_dtype dtype);
/* On one item: `in` holds the elements of the operand of type `t` under one
 * iterated index; fills the result's. */
void in_compute(const in_operator *, const gs_type *t, const double *in,
                double *out);
/* One step of a fold; one element under an elementwise operator. */
double in_fold_step(const in_operator *, gs_fold, double a, double b);
double in_element(const in_operator *, double x);
/* bound.  How far the result may be off when the elements are by up to `e`. */
void in_bound(const in_operator *, const gs_type *t, const double *in,
              const double *e, const double *result, double *out);

#endif
