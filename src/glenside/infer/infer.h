/* SPDX-License-Identifier: MIT */
/* infer.h - one inference in progress (private to infer*.c).
 *
 * Each operator's rule fills `made` from the children's types or leaves a
 * fault and returns false.  Limits that hold for every result (rank, element
 * count) are checked once, by gs_infer.
 *
 * The rules of views are over numbers of any kind (numbers.h): they ask for
 * what must hold by the functions below, and a fault is only told of integers.
 */
#ifndef GLENSIDE_INFER_H
#define GLENSIDE_INFER_H

#include "glenside/type/numbers.h"
#include "glenside/type/type.h"

typedef struct infer {
  const gs_numbers *over; /* NULL: integers; else nothing but kids is set */
  bs_values *values;
  const struct gs_target *target;
  gs_op op;
  bs_value attr; /* a list; its length is checked against op.h already */
  const gs_type *const *kids;
  uint32_t n_kids;
  gs_type made;
  gs_fault *fault; /* or NULL */
} infer;

/* A shape or type as text for a message; long ones end in "...". */
typedef struct infer_text {
  char s[100];
} infer_text;

infer_text infer_show(const int64_t *dims, uint32_t n);
/* Of a type, empty where nobody asks what the fault is. */
infer_text infer_show_type(const infer *, const gs_type *);

/* Sets the hint of the fault just made; returns false. */
bool infer_hint(infer *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Appends dimensions to `made`; false with a fault past the rank limit. */
bool infer_push(infer *, const gs_number *dims, uint32_t n);

/* Attribute items, checked; false with a fault. */
bool infer_int(infer *, uint32_t item, gs_number *out);
bool infer_list(infer *, uint32_t item, gs_number *out, uint32_t *n);
/* A list of sizes, each at least 1. */
bool infer_shape(infer *, uint32_t item, gs_number *out, uint32_t *n);
/* A place or a permutation: integers in any kind of numbers. */
bool infer_place(infer *, uint32_t item, int64_t *out);
bool infer_places(infer *, uint32_t item, int64_t *out, uint32_t *n);
/* A dimension of `t`, or one past the last when `past`. */
bool infer_dim(infer *, uint32_t item, const gs_type *t, bool past,
               uint32_t *out);
/* An integer not below `least`. */
bool infer_natural(infer *, uint32_t item, int64_t least, const char *what,
                   gs_number *out);

/* What a rule needs; false, without a fault, where it does not hold. */
bool infer_at_least(const infer *, gs_number, int64_t least);
bool infer_equal(const infer *, gs_number, gs_number);
bool infer_equal_dims(const infer *, const gs_number *, const gs_number *,
                      uint32_t n);
gs_number infer_product(const infer *, const gs_number *dims, uint32_t n);

/* The rule of an operator that is a view: infer_TRANSPOSE ... */
#define INFER_0(id)
#define INFER_1(id)                                bool infer_##id(infer *);
#define X(id, name, kids, attrs, first, view, ...) INFER_##view(id)
GS_OPS(X)
#undef X
#undef INFER_1
bool infer_compute(infer *);
bool infer_call(infer *);
bool infer_scan(infer *);

/* Whether the operator has as many terms and attributes as it takes, and what
 * its rule asks for; leaves what they give. */
bool infer_run(infer *);

#define INFER_NAME(x) (gs_op_table[(x)->op].name)

static inline uint32_t
infer_items(const gs_type *t) {
  return (uint32_t)t->rank - t->access;
}

#endif
