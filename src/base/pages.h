/* SPDX-License-Identifier: MIT */
/* pages.h - large blocks of memory on large pages; private to heap.c.
 *
 * Faulting memory in by 4 KiB pages costs an engine that grows quickly a fifth
 * to a third of its time, and moving a growing array costs again.  So blocks
 * from `BS_PAGES_SPAN` bytes on have a range of addresses of their own, far
 * longer than they are, and grow in place; smaller ones, once the heap is not
 * small any more, are packed into one such range.  Where the system offers no
 * such thing all calls decline, and the caller uses malloc. */
#ifndef BASE_PAGES_H
#define BASE_PAGES_H

#include <stddef.h>

typedef struct bs_pages bs_pages; /* a heap's packed blocks; NULL: none yet */

enum {
  BS_PAGES_LEAST = 1 << 15, /* bytes of a packed block, at least */
  BS_PAGES_BEGIN = 1 << 19, /* bytes a heap holds before it packs any */
  BS_PAGES_SPAN = 1 << 20
};

/* NULL: declined.  *kept: its bytes of address space. */
void *bs_span_new(size_t size, size_t *kept);
/* In place; false when the range is too short. */
int bs_span_resize(void *span, size_t kept, size_t old, size_t size);
void bs_span_free(void *span, size_t kept);

void *bs_packed_new(bs_pages **, size_t size);
int bs_packed_resize(bs_pages *, void *block, size_t old, size_t size);
void bs_packed_free(bs_pages *, void *block, size_t size);
void bs_pages_done(bs_pages **);

#endif
