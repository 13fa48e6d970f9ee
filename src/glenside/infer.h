/* SPDX-License-Identifier: MIT */
/* infer.h - one inference in progress (private to infer*.c).
 *
 * Each operator's rule fills `made` from the children's types or leaves a
 * fault and returns false.  Limits that hold for every result (rank, element
 * count) are checked once, by gs_infer. */
#ifndef GLENSIDE_INFER_H
#define GLENSIDE_INFER_H

#include "glenside/type.h"

typedef struct infer {
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
bool infer_push(infer *, const int64_t *dims, uint32_t n);

/* Attribute items, checked; false with a fault. */
bool infer_int(infer *, uint32_t item, int64_t *out);
bool infer_list(infer *, uint32_t item, int64_t *out, uint32_t *n);
/* A list of sizes, each at least 1. */
bool infer_shape(infer *, uint32_t item, int64_t *out, uint32_t *n);
/* A dimension of `t`, or one past the last when `past`. */
bool infer_dim(infer *, uint32_t item, const gs_type *t, bool past,
               uint32_t *out);
/* An integer not below `least`. */
bool infer_natural(infer *, uint32_t item, int64_t least, const char *what,
                   int64_t *out);

bool infer_access(infer *);
bool infer_transpose(infer *);
bool infer_cartprod(infer *);
bool infer_pair(infer *);
bool infer_windows(infer *);
bool infer_slice(infer *);
bool infer_concat(infer *);
bool infer_pad(infer *);
bool infer_squeeze(infer *);
bool infer_insert_axis(infer *);
bool infer_broadcast(infer *);
bool infer_flatten(infer *);
bool infer_reshape(infer *);
bool infer_repeat(infer *);
bool infer_compute(infer *);
bool infer_call(infer *);

#define INFER_NAME(x) (gs_op_table[(x)->op].name)

static inline uint32_t
infer_items(const gs_type *t) {
  return (uint32_t)t->rank - t->access;
}

#endif
