/* SPDX-License-Identifier: MIT */
/* pages.c - large blocks of memory on large pages.
 *
 * A span reserves addresses for sixteen times its first size, 8 GiB at least;
 * only what is written takes memory, less than one large page more than used.
 *
 * The packed range is cut in units of 4 KiB.  Free pieces stand in a list in
 * the order of their addresses, first fit, joined with their neighbours; behind
 * the last block everything is free.  Both are left to malloc under the address
 * sanitizer, which knows its blocks better. */
#include "base/pages.h"
#include <assert.h>
#include <stdint.h>

#if defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define PLAIN 1
#endif
#endif
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define PLAIN 1
#endif
#ifdef __linux__
#include <sys/mman.h>
#endif

#if defined MADV_HUGEPAGE && defined MAP_NORESERVE && !defined PLAIN

#define LARGE ((size_t)2 << 20)
#define UNIT  ((size_t)4096)
#define SPAN  ((size_t)1 << (sizeof(size_t) > 4 ? 33 : 26))

static size_t
round_up(size_t n, size_t unit) {
  return (n + unit - 1) & ~(unit - 1);
}

/* `size` bytes of addresses that begin where a large page may; or NULL. */
static void *
reserve(size_t size) {
  char *p = mmap(NULL, size + LARGE, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED)
    return NULL;
  char *at = (char *)round_up((size_t)(uintptr_t)p, LARGE);
  size_t before = (size_t)(at - p);
  if (before)
    munmap(p, before);
  munmap(at + size, LARGE - before);
  return at;
}

/* --- spans ------------------------------------------------------------- */

void *
bs_span_new(size_t size, size_t *kept) {
  if (size > SIZE_MAX / 64)
    return NULL;
  *kept = size > SPAN / 16 ? round_up(size * 16, LARGE) : SPAN;
  void *at = reserve(*kept);
  if (at)
    madvise(at, round_up(size, LARGE), MADV_HUGEPAGE);
  return at;
}

/* A shorter span gives back what it does not need. */
int
bs_span_resize(void *span, size_t kept, size_t old, size_t size) {
  size_t from = round_up(size, LARGE), to = round_up(old, LARGE);
  if (size > kept)
    return 0;
  if (from < to)
    madvise((char *)span + from, to - from, MADV_DONTNEED);
  if (from > to)
    madvise(span, from, MADV_HUGEPAGE);
  return 1;
}

void
bs_span_free(void *span, size_t kept) {
  munmap(span, kept);
}

/* --- packed blocks ----------------------------------------------------- */

typedef struct piece {
  struct piece *next;
  size_t size;
} piece;

struct bs_pages {
  piece *free; /* in the order of addresses */
  char *top;   /* from here on all is free */
  size_t kept;
};

static bs_pages *
pages_new(void) {
  size_t kept = (size_t)1 << 30;
  bs_pages *p = reserve(kept);
  if (!p)
    return NULL;
  madvise(p, kept, MADV_HUGEPAGE);
  *p = (bs_pages){NULL, (char *)p + UNIT, kept};
  return p;
}

static size_t
left(const bs_pages *p) {
  return p->kept - (size_t)(p->top - (const char *)p);
}

/* What is cut off a piece stays in the list. */
static void *
take(piece **at, size_t size) {
  piece *p = *at;
  if (p->size == size) {
    *at = p->next;
  } else {
    piece *rest = (piece *)((char *)p + size);
    *rest = (piece){p->next, p->size - size};
    *at = rest;
  }
  return p;
}

void *
bs_packed_new(bs_pages **pages, size_t size) {
  if (!*pages)
    *pages = pages_new();
  bs_pages *p = *pages;
  if (!p)
    return NULL;
  size = round_up(size, UNIT);
  for (piece **at = &p->free; *at; at = &(*at)->next)
    if ((*at)->size >= size)
      return take(at, size);
  if (left(p) < size)
    return NULL;
  char *block = p->top;
  p->top += size;
  return block;
}

/* Large pages far behind the last block go back to the system. */
static void
lower(bs_pages *p, char *top) {
  size_t from = round_up((size_t)(top - (char *)p), LARGE) + LARGE;
  size_t to = round_up((size_t)(p->top - (char *)p), LARGE);
  if (from < to)
    madvise((char *)p + from, to - from, MADV_DONTNEED);
  p->top = top;
}

static void
put_back(bs_pages *p, char *block, size_t size) {
  piece **at = &p->free, *before = NULL;
  for (; *at && (char *)*at < block; at = &(*at)->next)
    before = *at;
  piece *after = *at, *mine = (piece *)block;
  *mine = (piece){after, size};
  *at = mine;
  if (after && block + size == (char *)after)
    *mine = (piece){after->next, size + after->size};
  if (before && (char *)before + before->size == block) {
    *before = (piece){mine->next, before->size + mine->size};
    mine = before;
  }
  if ((char *)mine + mine->size != p->top)
    return;
  lower(p, (char *)mine);
  for (at = &p->free; *at != mine; at = &(*at)->next)
    ;
  *at = NULL;
}

void
bs_packed_free(bs_pages *p, void *block, size_t size) {
  put_back(p, block, round_up(size, UNIT));
}

/* Growing takes from what is free behind the block. */
static int
extend(bs_pages *p, char *block, size_t old, size_t more) {
  if (block + old == p->top) {
    if (left(p) < more)
      return 0;
    p->top += more;
    return 1;
  }
  for (piece **at = &p->free; *at && (char *)*at <= block + old;
       at = &(*at)->next)
    if ((char *)*at == block + old && (*at)->size >= more) {
      take(at, more);
      return 1;
    }
  return 0;
}

int
bs_packed_resize(bs_pages *p, void *block, size_t old, size_t size) {
  old = round_up(old, UNIT);
  size = round_up(size, UNIT);
  if (size < old)
    put_back(p, (char *)block + size, old - size);
  return size <= old || extend(p, block, old, size - old);
}

void
bs_pages_done(bs_pages **pages) {
  if (*pages)
    munmap(*pages, (*pages)->kept);
  *pages = NULL;
}

#else

void *
bs_span_new(size_t size, size_t *kept) {
  (void)size;
  *kept = 0;
  return NULL;
}

int
bs_span_resize(void *span, size_t kept, size_t old, size_t size) {
  assert(old <= kept);
  (void)span;
  (void)old;
  return size <= kept;
}

void
bs_span_free(void *span, size_t kept) {
  (void)span;
  (void)kept;
}

void *
bs_packed_new(bs_pages **pages, size_t size) {
  (void)pages;
  (void)size;
  return NULL;
}

int
bs_packed_resize(bs_pages *p, void *block, size_t old, size_t size) {
  (void)p;
  (void)block;
  return size <= old;
}

void
bs_packed_free(bs_pages *p, void *block, size_t size) {
  (void)p;
  (void)block;
  (void)size;
}

void
bs_pages_done(bs_pages **pages) {
  *pages = NULL;
}

#endif
