/* SPDX-License-Identifier: MIT */
/* sexp.h - the S-expression reader of every text language of glen.
 *
 * Iterative, so depth is bounded by memory only.  Nodes stand in one array in
 * pre-order: a list's first item is the next node, `next` is its sibling.
 * Atoms: integer (-?[0-9]+ within int64), real (also inf, -inf, nan), string
 * "..." (with \" \\ \n \t and \x01 to \x7f; it may span lines), true, false,
 * and symbols (everything else between delimiters).
 * `;` comments to the end of the line.  UTF-8 is checked. */
#ifndef BASE_SEXP_H
#define BASE_SEXP_H

#include "base/diag.h"
#include "base/value.h"
#include <assert.h>

typedef enum bs_sx_kind {
  BS_SX_LIST,
  BS_SX_SYM,
  BS_SX_INT,
  BS_SX_REAL,
  BS_SX_BOOL,
  BS_SX_STRING
} bs_sx_kind;

typedef struct bs_sx {
  bs_sx_kind kind;
  bs_span span;
  bs_value value; /* atoms; a string's is a symbol of its text */
  uint32_t count; /* items of a list */
  uint32_t next;  /* index of the next sibling, or 0 */
} bs_sx;

typedef struct bs_sexps {
  BS_VEC(bs_sx) nodes;    /* nodes.data[0] is unused */
  BS_VEC(uint32_t) roots; /* top-level forms */
} bs_sexps;

/* Reads a whole source; false with diagnostics on a syntax error. */
bool bs_sexp_read(bs_heap *, bs_values *, bs_diags *, uint32_t source,
                  bs_sexps *out);
void bs_sexps_done(bs_heap *, bs_sexps *);

/* The first item of a list (0 when empty); its siblings follow by `next`. */
static inline uint32_t
bs_sx_first(const bs_sexps *s, uint32_t node) {
  assert(node < s->nodes.len);
  return s->nodes.data[node].count ? node + 1 : 0;
}
static inline const bs_sx *
bs_sx_at(const bs_sexps *s, uint32_t node) {
  assert(node < s->nodes.len);
  return &s->nodes.data[node];
}
/* The name that a symbol is; NULL of anything else, and of no node (0). */
const char *bs_sx_symbol(const bs_sexps *, const bs_values *, uint32_t node);
/* The list's head symbol, or NULL when it is no list or has another head. */
const char *bs_sx_head(const bs_sexps *, const bs_values *, uint32_t node);
/* Is it a list with that head?  No node (0) is none. */
bool bs_sx_is_form(const bs_sexps *, const bs_values *, uint32_t node,
                   const char *head);
uint32_t bs_sx_item(const bs_sexps *, uint32_t list, uint32_t index); /* 0 */
/* The value an expression denotes as data: atoms, lists of data (iterative) */
bs_value bs_sx_value(bs_heap *, bs_values *, const bs_sexps *, uint32_t node);

#endif
