/* SPDX-License-Identifier: MIT */
/* relation_value.h - what one element of a term is, as a hash-consed normal
 * form.
 *
 *   number | leaf | lowest         an exact number; an element of an input;
 *                                  minus infinity
 *   sum                            of numbers times products of factors: a
 *                                  polynomial, terms sorted by product
 *   max, min                       of a set: sorted, without repetition
 *   apply                          any other operator on values
 *
 * Factors are values that are no sum in the ring at hand: leaves, extrema,
 * applications, and sums of another dtype, which wrapped or were rounded
 * there.  Two values that are one number are equal for all inputs; floats are
 * taken as the real numbers, integers as they wrap. */
#ifndef PROVE_VALUE_H
#define PROVE_VALUE_H

#include "base/vec.h"
#include "base/value.h"
#include "glenside/type/op.h"
#include "prove/relation/relation_number.h"
#include <assert.h>

typedef uint32_t pv_value; /* 0: none */

#define PV_MAX_DEPTH 64

typedef enum pv_kind {
  PV_NUMBER = 1,
  PV_LEAF,
  PV_LOWEST,
  PV_PRODUCT, /* of factors; only inside sums */
  PV_SUM,
  PV_MAX,
  PV_MIN,
  PV_APPLY
} pv_kind;

typedef struct pv_node {
  uint8_t kind, dtype;
  bool nonnegative; /* of a float: never below 0 */
  bool positive;    /* of a float: always above 0; powers may be negative */
  bool partial;     /* for some operands it has no value: see `dropped` */
  bool labelled;    /* PV_APPLY: the first word is no value */
  bool formal;      /* a sum up to a bound, of which a difference is a sum */
  uint16_t op;      /* PV_APPLY: a gs_compute, or GS_COMPUTE_COUNT and more: an
                       operator of which nothing is known */
  uint32_t param;   /* PV_APPLY: a number that belongs to the operator */
  uint32_t n, at;   /* words in the pool */
  uint64_t hash;
} pv_node;

/* A term of a sum, as it stands in the pool. */
typedef struct pv_part {
  pv_number times;
  pv_value product;
} pv_part;

typedef struct pv_values {
  bs_heap *heap;
  BS_VEC(pv_node) nodes; /* by value; 0 is unused */
  BS_VEC(uint32_t) pool;
  uint32_t *slots; /* open addressing */
  uint32_t size;   /* a power of two */
  uint64_t work, max_work;
  bool failed;    /* too much work, or a number too large: no value is right */
  uint32_t depth; /* of extrema being rebuilt inside each other */
  bool unsure;    /* infinities were combined: equality is no proof */
  /* Of floats of 16 bits: a sum or product of three and more, which may be
   * made in any order; a sum, or a formal one, that was taken away; formal sums
   * that cancelled.  A sum may not be taken from what was added to it. */
  bool any_order, negated, cancelled;
  /* Partial values that cancelled, in part or wholly, were multiplied by 0, or
   * by the items of a sum: a value that was made so may be another one, or a
   * number, where they are none. */
  BS_VEC(uint32_t) dropped;
  BS_VEC(pv_part) parts;  /* stack of sums being made */
  BS_VEC(uint32_t) words; /* scratch */
} pv_values;

void pv_values_init(pv_values *, bs_heap *, uint64_t max_work);
void pv_values_done(pv_values *);

static inline const pv_node *
pv_at(const pv_values *v, pv_value x) {
  assert((x || v->failed) && x < v->nodes.len);
  return &v->nodes.data[x];
}
static inline const uint32_t *
pv_words(const pv_values *v, pv_value x) {
  assert((x || v->failed) && x < v->nodes.len);
  return &v->pool.data[v->nodes.data[x].at];
}
/* Counts work; false when it is too much or something failed. */
bool pv_spend(pv_values *, uint64_t work);

/* relation_value.c: constructors of what needs no normal form. */
pv_value pv_intern(pv_values *, pv_node like, const uint32_t *words,
                   uint32_t n);
pv_value pv_number_value(pv_values *, gs_dtype, pv_number);
pv_value pv_real_value(pv_values *, gs_dtype, double);
pv_value pv_leaf(pv_values *, gs_dtype, uint32_t source, int64_t element,
                 bool partial);
pv_value pv_lowest(pv_values *, gs_dtype);
pv_value pv_apply_op(pv_values *, gs_dtype, gs_compute, uint32_t param,
                     bool nonnegative, const pv_value *args, uint32_t n);
bool pv_is_number(const pv_values *, pv_value, pv_number *out);
/* Fails where an operator reads a number that its dtype rounds before. */
void pv_need_held(pv_values *, pv_value);
void pv_drop(pv_values *, pv_value); /* if it is partial */

/* sum.c: polynomials.  Operands of another dtype are embedded. */
/* Opens a sum; parts are added to it and it is closed.  Sums nest. */
uint32_t pv_sum_open(const pv_values *);
void pv_sum_add(pv_values *, gs_dtype, pv_number times, pv_value);
pv_value pv_sum_close(pv_values *, gs_dtype, uint32_t mark);
pv_value pv_multiply(pv_values *, gs_dtype, pv_value, pv_value);
pv_value pv_scale(pv_values *, gs_dtype, pv_number times, pv_value);
/* factor ^ power; a negative power of what is positive only */
pv_value pv_power(pv_values *, gs_dtype, pv_value factor, int32_t power);
/* The factor of a product of one factor, once; else 0. */
pv_value pv_lone_factor(const pv_values *, pv_value product);
/* The value itself in a dtype that holds all of its own. */
pv_value pv_embed(pv_values *, gs_dtype, pv_value);
/* A sum of one product: its number and its product. */
bool pv_is_monomial(const pv_values *, pv_value, pv_part *out);
uint32_t pv_n_parts(const pv_values *, pv_value sum);
pv_part pv_part_at(const pv_values *, pv_value sum, uint32_t k);

/* extremum.c */
pv_value pv_extremum(pv_values *, gs_dtype, bool max, const pv_value *args,
                     uint32_t n);

/* A compute operator, applied. */
typedef struct pv_compute {
  const bs_values *values;
  bs_value o;
  gs_compute op;
  gs_dtype from, dtype; /* of the operand, of the result */
  uint32_t tuple;       /* the first compute dimension; 1 without one */
} pv_compute;

/* elementwise.c; 0 of 0, which is a value that failed */
pv_value pv_elementwise(pv_values *, const pv_compute *, pv_value x);
pv_value pv_divide(pv_values *, gs_dtype, pv_value a, pv_value b);
pv_value pv_recip(pv_values *, gs_dtype, pv_value x);
pv_value pv_exponential(pv_values *, gs_dtype, pv_value x);

/* relation_compute.c: the result items of one item. */
void pv_compute_item(pv_values *, const pv_compute *, const pv_value *in,
                     uint32_t n, pv_value *out);

#endif
