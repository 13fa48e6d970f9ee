/* SPDX-License-Identifier: MIT */
/* type.h - the type ((S),(C)) dtype of a term, and inference.
 *
 * Every operator gives exactly one type or one fault.  Sizes are >= 1, ranks
 * at most GS_MAX_RANK, element counts at most 2^40; arithmetic is checked. */
#ifndef GLENSIDE_TYPE_H
#define GLENSIDE_TYPE_H

#include "base/text.h"
#include "glenside/type/op.h"

#define GS_MAX_RANK     24
#define GS_MAX_ELEMENTS ((int64_t)1 << 40)

typedef struct gs_type {
  uint8_t access; /* |S| */
  uint8_t rank;   /* |S| + |C| */
  gs_dtype dtype;
  int64_t dim[GS_MAX_RANK]; /* S ++ C */
} gs_type;

/* What is wrong, for a diagnostic or for a rule's report. */
typedef struct gs_fault {
  const char *code; /* "axis-range", "type-mismatch", ... */
  char message[240];
  char hint[160]; /* may be empty */
  int child;      /* the child at fault, or -1 */
  int attr;       /* the attribute item at fault, or -1 */
} gs_fault;

struct gs_target;

/* The type of op(attr) over children of the given types. `target` declares the
 * instructions of GS_CALL and may be NULL, and so may `fault`. */
bool gs_infer(bs_values *, const struct gs_target *target, gs_op op,
              bs_value attr, const gs_type *const *kids, uint32_t n_kids,
              gs_type *out, gs_fault *fault);

/* The fault's own formatter; returns false. */
bool gs_fail(gs_fault *, const char *code, int child, int attr,
             const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Whether it is one at all, which assertions ask. */
static inline bool
gs_is_type(const gs_type *t) {
  return t->access <= t->rank && t->rank <= GS_MAX_RANK &&
         t->dtype < GS_DTYPE_COUNT;
}

/* Types as interned values ((S) (C) dtype): equal types, equal ids. */
bs_value gs_type_intern(bs_values *, const gs_type *);
void gs_type_read(const bs_values *, bs_value, gs_type *out);
bool gs_type_equal(const gs_type *, const gs_type *);
int64_t gs_elements(const gs_type *);             /* prod of all dims */
int64_t gs_prod(const int64_t *dims, uint32_t n); /* unchecked */
bool gs_checked_prod(const int64_t *dims, uint32_t n, int64_t *out);
/* As in the paper: ((1, 64), (3, 3)) f32 */
void gs_put_type(bs_text *, const gs_type *);

#endif
