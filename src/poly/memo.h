/* memo.h - values of the loops around statements that were computed lately.
 *
 * What statements have for domains and times stays, from copy to copy of a
 * program, but for those that a step changed: the same few questions are asked
 * again and again.  Entries hold what they were asked of, so that an object's
 * address names it; an isl object does not change while others have it. */
#ifndef POLY_MEMO_H
#define POLY_MEMO_H

#include <isl/aff.h>
#include <isl/set.h>
#include <stdbool.h>
#include <stdint.h>

enum { PO_MEMO_ENTRIES = 128, PO_MEMO_STMTS = 8 };

/* n_outer functions of the times of n statements. */
typedef struct po_memo_key {
  isl_set *domain[PO_MEMO_STMTS];
  isl_multi_aff *time[PO_MEMO_STMTS];
  uint32_t n, n_outer;
} po_memo_key;

typedef struct po_memo {
  struct po_memo_entry {
    po_memo_key key;
    isl_set *values; /* NULL: none */
  } entries[PO_MEMO_ENTRIES];
} po_memo;

/* A copy of what was put; NULL: nothing was, or other things since. */
__isl_give isl_set *po_memo_find(const po_memo *, const po_memo_key *);
void po_memo_put(po_memo *, const po_memo_key *, __isl_keep isl_set *values);
void po_memo_clear(po_memo *);

#endif
