/* SPDX-License-Identifier: MIT */
/* sizes.h - sizes of a program that are not known while it is compiled.
 *
 * A size is a number from `least` to `most`, a multiple of `multiple`.  What is
 * computed from sizes is a polynomial over them, and over quotients of such
 * polynomials that are rounded down.  Equal polynomials are one interned value,
 * and the number that stands for it, where dimensions and attributes have
 * integers, lies far beyond what any of these may be.  So types and attributes
 * with sizes are compared, hashed and interned as those without.
 *
 * What an operator asks of its operands' sizes must hold for all sizes within
 * their bounds.  Where it does not, the fault is the one that it has at sizes
 * that are found, and says which. */
#ifndef GLENSIDE_SIZES_H
#define GLENSIDE_SIZES_H

#include "base/diag.h"
#include "base/whole.h"
#include "glenside/type/numbers.h"
#include "glenside/type/type.h"

/* Sizes that a program may have. */
#define GS_MOST_SIZES 16

/* Integers in a program with sizes are smaller, as numbers from here on stand
 * for polynomials: the first one plus the id of an interned value. */
#define GS_MOST_PLAIN  ((int64_t)1 << 59)
#define GS_FIRST_SIZED ((int64_t)1 << 60)

/* A size that a number is given for. */
typedef struct gs_given_size {
  const char *name;
  int64_t value;
  /* Set if the program has such a size; NULL: it is an error that it has not.
   */
  bool *taken;
} gs_given_size;

typedef struct gs_size {
  const char *name;
  int64_t least, most, multiple; /* the bounds are multiples */
  bs_span span;
} gs_size;

typedef struct gs_sizes {
  gs_numbers over; /* of these sizes */
  bs_heap *heap;
  bs_values *values;
  uint32_t n;
  gs_size list[GS_MOST_SIZES];
  /* The attribute of the operator that is looked at. */
  bs_value attr;
  /* Some question had no answer that holds for all sizes; `told`: at these it
   * was not as it had to be. */
  bool open, told;
  int64_t at[GS_MOST_SIZES];
} gs_sizes;

/* In zeroed memory. */
void gs_sizes_init(gs_sizes *, bs_heap *, bs_values *);
/* The number that stands for the size just added: an integer where its bounds
 * are one. */
gs_number gs_add_size(gs_sizes *, const gs_size *);
/* The bounds become multiples; false where there is none between them. */
bool gs_fit_bounds(gs_size *);
/* x is one of the size's numbers; the greatest of these that is no more than x,
 * or the least. */
static inline bool
gs_size_holds(const gs_size *s, int64_t x) {
  return x >= s->least && x <= s->most && x % s->multiple == 0;
}
static inline int64_t
gs_size_fit(const gs_size *s, int64_t x) {
  return bs_clamp(x - x % s->multiple, s->least, s->most);
}

static inline bool
gs_is_sized(gs_number x) {
  return x >= GS_FIRST_SIZED && x < GS_FIRST_SIZED + UINT32_MAX;
}
bool gs_type_is_sized(const gs_type *);
/* The dimensions are sums of sizes, each times a number, and of quotients of
 * such sums. */
bool gs_is_affine(const gs_sizes *, gs_number);

/* Bounds that hold for all sizes; they are reached where x is a sum of sizes,
 * each times a number. NULL: x is an integer. */
int64_t gs_least_of(const gs_sizes *, gs_number x);
int64_t gs_most_of(const gs_sizes *, gs_number x);
/* At sizes `at`. */
int64_t gs_number_at(const gs_sizes *, gs_number x, const int64_t *at);
/* Whether x >= 0, or x = 0, at all sizes (1), at none (0), or else (-1), where
 * the sizes are `open`, and told where some are found at which it is not so. */
int gs_ask(gs_sizes *, gs_number x, bool zero);

/* As gs_infer.  NULL: there are no sizes. */
bool gs_infer_sized(gs_sizes *, bs_values *, const struct gs_target *, gs_op,
                    bs_value attr, const gs_type *const *kids, uint32_t n_kids,
                    gs_type *out, gs_fault *);

/* "2*n + 1" */
void gs_put_number(bs_text *, const gs_sizes *, gs_number);
/* As an expression of the language: "(+ (* 2 n) 1)". */
void gs_put_number_term(bs_text *, const gs_sizes *, gs_number);
/* A type whose sizes are those of a program, or NULL. */
void gs_put_type_of(bs_text *, const gs_sizes *, const gs_type *);
/* "n from 1 to 8, m = 1" */
void gs_put_bounds(bs_text *, const gs_size *, uint32_t n);
/* "n = 5, m = 1" */
void gs_put_sizes_at(bs_text *, const gs_sizes *, const int64_t *at);

/* A sum is walked term by term: the product of `by` and of all atoms. */
enum { GS_MOST_DEGREE = 4, GS_MOST_TERMS = 32 };

typedef struct gs_size_term {
  int64_t by;
  uint32_t n;
  uint32_t atom[GS_MOST_DEGREE]; /* see gs_atom_of */
} gs_size_term;

/* Sorted, no two terms of the same atoms; bad: too large to be told. */
typedef struct gs_polynomial {
  bool bad;
  uint32_t n;
  gs_size_term term[GS_MOST_TERMS];
} gs_polynomial;

/* What an atom is: size `size` divided by its multiple, or, where that is
 * GS_MOST_SIZES, the quotient of `of` by `by`, which lies in lo .. hi. */
typedef struct gs_atom {
  uint32_t size;
  gs_number of;
  int64_t by, depth, lo, hi;
} gs_atom;

gs_atom gs_atom_of(const gs_sizes *, uint32_t atom);
void gs_polynomial_of(const gs_sizes *, gs_number, gs_polynomial *);
/* x += by * y */
void gs_add_polynomial(gs_polynomial *x, int64_t by, const gs_polynomial *y);
gs_number gs_number_of(gs_sizes *, const gs_polynomial *);

#endif
