/* SPDX-License-Identifier: MIT */
/* heap.c - accounted memory that unwinds on exhaustion.
 *
 * Every block carries a header and stands in the doubly linked list of its
 * heap, so that a heap can be emptied whatever state its users left behind.
 * A block's size, header included, is charged to its heap and to all parents
 * before the hook is asked; a refusal takes the charge back.
 *
 * Invariants: a heap's `used` is the sum of its blocks and of its children's
 * `used`; `used <= limit` when there is a limit; traps stand in the root. */
#include "base/heap.h"
#include "base/governor.h"
#include "base/pages.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct bs_block {
  _Alignas(max_align_t) bs_block *previous;
  bs_block *next;
  size_t size; /* header included */
  size_t kept; /* 0: from the hook; PACKED; else a span's address space */
};

enum { PACKED = 1 };

struct bs_deferred {
  bs_deferred *next;
  void (*call)(void *);
  void *argument;
};

static void *
libc_realloc(void *context, void *block, size_t size) {
  (void)context;
  if (size)
    return realloc(block, size);
  free(block);
  return NULL;
}

static bs_heap *
root_of(bs_heap *heap) {
  while (heap->parent)
    heap = heap->parent;
  return heap;
}

void
bs_heap_init(bs_heap *heap, const bs_hooks *hooks, size_t limit) {
  *heap = (bs_heap){.limit = limit};
  if (hooks && hooks->realloc)
    heap->hooks = *hooks;
  else
    heap->hooks = (bs_hooks){.realloc = libc_realloc};
}

void
bs_heap_init_child(bs_heap *heap, bs_heap *parent, size_t limit) {
  assert(parent && parent != heap);
  *heap = (bs_heap){.parent = parent, .hooks = parent->hooks, .limit = limit};
}

void
bs_heap_done(bs_heap *heap) {
  while (heap->deferred) {
    bs_deferred *deferred = heap->deferred;
    heap->deferred = deferred->next;
    deferred->call(deferred->argument);
  }
  while (heap->blocks)
    bs_free(heap, heap->blocks + 1);
  bs_pages_done(&heap->pages);
}

bs_governor *
bs_governor_of(const bs_heap *heap) {
  while (heap->parent)
    heap = heap->parent;
  return heap->governor;
}

size_t
bs_heap_room(const bs_heap *heap) {
  size_t room = SIZE_MAX;
  for (; heap; heap = heap->parent) {
    size_t limit = heap->limit ? heap->limit : SIZE_MAX;
    size_t left = heap->used < limit ? limit - heap->used : 0;
    room = limit != SIZE_MAX && left < room ? left : room;
  }
  return room;
}

static bool
may_take(bs_heap *heap, size_t size) {
  for (bs_heap *h = heap; h; h = h->parent) {
    size_t limit = h->limit ? h->limit : SIZE_MAX;
    if (h->used > limit || size > limit - h->used)
      return false;
    if (h->governor && !bs_governor_grants(h->governor, size, h->used))
      return false;
  }
  return true;
}

static bool
charge(bs_heap *heap, size_t size) {
  if (!may_take(heap, size))
    return false;
  for (bs_heap *h = heap; h; h = h->parent) {
    h->used += size;
    if (h->used > h->peak)
      h->peak = h->used;
  }
  return true;
}

static void
discharge(bs_heap *heap, size_t size) {
  for (bs_heap *h = heap; h; h = h->parent) {
    assert(h->used >= size);
    h->used -= size;
  }
}

/* Makes the neighbours of a block that is new or has moved point to it. */
static void
link_block(bs_heap *heap, bs_block *block) {
  assert(block->previous != block && block->next != block);
  if (block->previous)
    block->previous->next = block;
  else
    heap->blocks = block;
  if (block->next)
    block->next->previous = block;
}

/* --- where a block lies ------------------------------------------------ */

/* A place for `size` bytes on large pages, which only blocks without a hook
 * are given; NULL: the hook shall serve. */
static bs_block *
place_large(bs_heap *heap, size_t size, size_t *kept) {
  *kept = 0;
  if (heap->hooks.realloc != libc_realloc || size < BS_PAGES_LEAST)
    return NULL;
  if (size >= BS_PAGES_SPAN)
    return bs_span_new(size, kept);
  bs_block *block = NULL;
  if (heap->used >= BS_PAGES_BEGIN)
    block = bs_packed_new(&heap->pages, size);
  *kept = block ? PACKED : 0;
  return block;
}

static bs_block *
place_new(bs_heap *heap, size_t size, size_t *kept) {
  bs_block *block = place_large(heap, size, kept);
  if (block)
    return block;
  *kept = 0;
  return heap->hooks.realloc(heap->hooks.ctx, NULL, size);
}

static void
place_free(bs_heap *heap, bs_block *block) {
  if (!block->kept)
    heap->hooks.realloc(heap->hooks.ctx, block, 0);
  else if (block->kept == PACKED)
    bs_packed_free(heap->pages, block, block->size);
  else
    bs_span_free(block, block->kept);
}

static bool
place_stays(bs_heap *heap, bs_block *block, size_t size) {
  if (block->kept == PACKED)
    return size < BS_PAGES_SPAN &&
           bs_packed_resize(heap->pages, block, block->size, size);
  return bs_span_resize(block, block->kept, block->size, size);
}

/* The block at its new place, its header still the old one; NULL: refused. */
static bs_block *
place_resize(bs_heap *heap, bs_block *old, size_t size) {
  size_t kept = 0;
  if (old->kept && place_stays(heap, old, size))
    return old;
  bs_block *block = size < old->size ? NULL : place_large(heap, size, &kept);
  if (!block && !old->kept)
    return heap->hooks.realloc(heap->hooks.ctx, old, size);
  if (!block)
    block = heap->hooks.realloc(heap->hooks.ctx, NULL, size);
  if (!block)
    return NULL;
  memcpy(block, old, old->size < size ? old->size : size);
  place_free(heap, old);
  block->kept = kept;
  return block;
}

static void *
allocate(bs_heap *heap, size_t size) {
  if (!charge(heap, size))
    return NULL;
  size_t kept;
  bs_block *block = place_new(heap, size, &kept);
  if (!block) {
    discharge(heap, size);
    return NULL;
  }
  *block = (bs_block){.next = heap->blocks, .size = size, .kept = kept};
  link_block(heap, block);
  return block + 1;
}

static void *
grow(bs_heap *heap, bs_block *old, size_t size) {
  assert(size >= old->size);
  size_t more = size - old->size;
  if (!charge(heap, more))
    return NULL;
  bs_block *block = place_resize(heap, old, size);
  if (!block) {
    discharge(heap, more);
    return NULL;
  }
  block->size = size;
  link_block(heap, block);
  return block + 1;
}

static void *
shrink(bs_heap *heap, bs_block *old, size_t size) {
  assert(size < old->size);
  size_t less = old->size - size;
  bs_block *block = place_resize(heap, old, size);
  if (!block)
    return NULL;
  discharge(heap, less);
  block->size = size;
  link_block(heap, block);
  return block + 1;
}

void *
bs_try_realloc(bs_heap *heap, void *block, size_t n) {
  if (n > SIZE_MAX - sizeof(bs_block))
    return NULL;
  size_t size = n + sizeof(bs_block);
  if (!block)
    return allocate(heap, size);
  bs_block *old = (bs_block *)block - 1;
  return size >= old->size ? grow(heap, old, size) : shrink(heap, old, size);
}

void *
bs_realloc(bs_heap *heap, void *block, size_t n) {
  void *result = bs_try_realloc(heap, block, n);
  if (!result)
    bs_out_of_memory(heap);
  return result;
}

void *
bs_alloc(bs_heap *heap, size_t n) {
  return bs_realloc(heap, NULL, n);
}

void *
bs_calloc(bs_heap *heap, size_t count, size_t size) {
  size_t n;
  if (__builtin_mul_overflow(count, size, &n))
    bs_out_of_memory(heap);
  return memset(bs_alloc(heap, n), 0, n);
}

void
bs_free(bs_heap *heap, void *memory) {
  if (!memory)
    return;
  bs_block *block = (bs_block *)memory - 1;
  /* A block is freed on the heap that it was taken from. */
  assert(block->previous ? block->previous->next == block
                         : heap->blocks == block);
  if (block->previous)
    block->previous->next = block->next;
  else
    heap->blocks = block->next;
  if (block->next)
    block->next->previous = block->previous;
  discharge(heap, block->size);
  place_free(heap, block);
}

void
bs_defer(bs_heap *heap, void (*f)(void *), void *arg) {
  bs_deferred *deferred = bs_try_realloc(heap, NULL, sizeof *deferred);
  if (!deferred) {
    f(arg);
    bs_out_of_memory(heap);
  }
  *deferred = (bs_deferred){heap->deferred, f, arg};
  heap->deferred = deferred;
}

void
bs_undefer(bs_heap *heap, void (*f)(void *), const void *arg) {
  for (bs_deferred **at = &heap->deferred; *at; at = &(*at)->next) {
    bs_deferred *found = *at;
    if (found->call == f && found->argument == arg) {
      *at = found->next;
      bs_free(heap, found);
      return;
    }
  }
}

void
bs_trap_set(bs_trap *trap, bs_heap *heap) {
  trap->root = root_of(heap);
  trap->outer = trap->root->trap;
  trap->sprung = false;
  trap->root->trap = trap;
}

void
bs_trap_end(bs_trap *trap) {
  /* Traps nest; one that control was unwound to is off already. */
  assert(trap->root->trap == (trap->sprung ? trap->outer : trap));
  trap->root->trap = trap->outer;
}

bool
bs_protect(bs_heap *heap, void (*body)(void *), void *arg) {
  bs_trap trap BS_TRAP_ENDS;
  bs_trap_set(&trap, heap);
  if (setjmp(trap.place))
    return false;
  body(arg);
  return true;
}

void
bs_stage_check(bs_heap *heap) {
  if (bs_stage_over(bs_governor_of(heap)))
    bs_out_of_memory(heap);
}

void
bs_limits_check(bs_heap *heap) {
  if (!bs_governor_lets(bs_governor_of(heap)))
    bs_out_of_memory(heap);
}

void
bs_out_of_memory(bs_heap *heap) {
  bs_trap *trap = root_of(heap)->trap;
  if (!trap)
    abort();
  trap->sprung = true;
  root_of(heap)->trap = trap->outer; /* what is done next may fail, too */
  longjmp(trap->place, 1);
}
