/* SPDX-License-Identifier: MIT */
/* value.h - interned immutable values: the payload of nodes and of rules.
 *
 * A value is an integer, a real, a boolean, a symbol or a list of values.
 * Interning makes equality an integer compare and lets the e-graph treat an
 * attribute as 32 bits.  Ids are given in order of first use, so they are
 * deterministic; they must not be used to order output (use
 * `bs_value_compare`). */
#ifndef BASE_VALUE_H
#define BASE_VALUE_H

#include "base/heap.h"

typedef struct bs_value {
  uint32_t i; /* 0 is "no value" */
} bs_value;

#define BS_NIL ((bs_value){0})

typedef enum bs_kind {
  BS_KIND_NIL,
  BS_KIND_INT,
  BS_KIND_REAL,
  BS_KIND_BOOL,
  BS_KIND_SYM,
  BS_KIND_LIST
} bs_kind;

typedef struct bs_values bs_values;

bs_values *bs_values_new(bs_heap *); /* freed with the heap */

bs_value bs_int(bs_values *, int64_t);
bs_value bs_real(bs_values *, double); /* by bits: -0 and NaNs are distinct */
bs_value bs_bool(bs_values *, bool);
bs_value bs_sym(bs_values *, const char *name); /* NUL-terminated */
bs_value bs_symn(bs_values *, const char *name, size_t len);
bs_value bs_list(bs_values *, const bs_value *items, uint32_t n);
bs_value bs_ints(bs_values *, const int64_t *items, uint32_t n);

/* Of a value of another kind: 0, false, "", no items. */
bs_kind bs_kind_of(const bs_values *, bs_value);
int64_t bs_as_int(const bs_values *, bs_value);
double bs_as_real(const bs_values *, bs_value); /* an INT is converted */
bool bs_as_bool(const bs_values *, bs_value);
const char *bs_as_sym(const bs_values *, bs_value); /* lives with the table */
uint32_t bs_sym_len(const bs_values *, bs_value);   /* bytes of a symbol */
uint32_t bs_len(const bs_values *, bs_value list);
/* The items of a list; valid until the next value is interned. */
const bs_value *bs_items(const bs_values *, bs_value list);
bs_value bs_item(const bs_values *, bs_value list, uint32_t index);
/* Copies an all-integer list; false when it is not one or longer than max. */
bool bs_to_ints(const bs_values *, bs_value list, int64_t *out, uint32_t max,
                uint32_t *len);
uint32_t bs_values_count(const bs_values *);
/* Forgets the values made since there were `count`, for work of which no value
 * is kept: what is looked up among fewer is found sooner, and memory stays
 * bounded.  Symbols stay, as their texts may be held, but under other ids. */
void bs_values_forget(bs_values *, uint32_t count);

static inline bool
bs_same(bs_value a, bs_value b) {
  return a.i == b.i;
}

/* A total order by content: kind, then number, text, or items in turn. */
int bs_value_compare(const bs_values *, bs_value, bs_value);

#endif
