/* SPDX-License-Identifier: MIT */
/* heap.h - accounted, hookable memory with one way to fail.
 *
 * Everything glen allocates hangs off a `bs_heap`.  A heap knows every block it
 * handed out, so `bs_heap_done` returns all of it whatever happened before.
 * When memory runs out (the hook says no, `limit` would be passed, or the
 * governor refuses, for memory or for time) an allocation does not return:
 * control unwinds to the innermost trap, whose function fails.  Code between
 * the two therefore never tests for NULL. Objects that are not on a heap (isl,
 * FILE) must not be live across an allocation that may fail, or must be owned
 * by a heap cleanup (`bs_defer`).
 *
 * A heap is used by one thread.  Worker threads use `bs_try_realloc` on a heap
 * of their own and report failure as a value. */
#ifndef BASE_HEAP_H
#define BASE_HEAP_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct bs_hooks {
  /* size == 0 frees; returns NULL when refusing.  NULL hook = libc. */
  void *(*realloc)(void *ctx, void *block, size_t size);
  void *ctx;
} bs_hooks;

typedef struct bs_block bs_block;
typedef struct bs_trap bs_trap;
typedef struct bs_deferred bs_deferred;

typedef struct bs_heap {
  struct bs_heap *parent; /* accounted to, and unwinds with; or NULL */
  bs_hooks hooks;
  bs_block *blocks;             /* all live blocks */
  bs_deferred *deferred;        /* cleanups, last registered first */
  bs_trap *trap;                /* root heaps only */
  size_t used, peak;            /* bytes, children included */
  size_t limit;                 /* bytes; 0 = none */
  struct bs_pages *pages;       /* large blocks of it, without hooks */
  struct bs_governor *governor; /* of a root, or NULL (governor.h) */
} bs_heap;

void bs_heap_init(bs_heap *, const bs_hooks *hooks, size_t limit);
/* A heap whose memory is counted in `parent` too and unwinds to its trap.
 * Unwinding does not empty it: it must outlive the trap, or be deferred
 * (`bs_heap_done`) to the parent. */
void bs_heap_init_child(bs_heap *, bs_heap *parent, size_t limit);
/* Runs the cleanups, then frees every block. */
void bs_heap_done(bs_heap *);

/* Uninitialised memory, aligned for any type; never NULL.  n may be 0. */
void *bs_alloc(bs_heap *, size_t n);
void *bs_calloc(bs_heap *, size_t count, size_t size); /* checks overflow */
void *bs_realloc(bs_heap *, void *block, size_t n);
/* As bs_realloc, but NULL when memory runs out; `block` stays valid. */
void *bs_try_realloc(bs_heap *, void *block, size_t n);
void bs_free(bs_heap *, void *block); /* NULL is fine */

/* Calls f(arg) when the heap is done; or now, before unwinding, when there is
 * no memory to remember it. */
void bs_defer(bs_heap *, void (*f)(void *), void *arg);
/* Forgets the last such call that was deferred, if there is one: for what is
 * cleaned up, or freed, before its heap is done. */
void bs_undefer(bs_heap *, void (*f)(void *), const void *arg);

/* Where control unwinds to.  Traps nest; the function that sets one owns it:
 *
 *   bs_trap trap BS_TRAP_ENDS;
 *   bs_trap_set(&trap, heap);
 *   if (setjmp(trap.place))
 *     return false;
 *
 * From there on memory that runs out makes the function return false, and
 * whatever way it returns, the trap is gone.  Locals that are changed after
 * setjmp have no value when it returns again. */
struct bs_trap {
  jmp_buf place;
  bs_heap *root;
  bs_trap *outer;
  bool sprung; /* control was unwound to it */
};
#define BS_TRAP_ENDS __attribute__((cleanup(bs_trap_end)))
void bs_trap_set(bs_trap *, bs_heap *);
void bs_trap_end(bs_trap *);

/* Runs body(arg) under a trap; false when memory ran out inside it. */
bool bs_protect(bs_heap *, void (*body)(void *), void *arg);
/* Unwinds to the innermost trap; aborts when there is none (a bug). */
_Noreturn void bs_out_of_memory(bs_heap *);
/* That of the root; NULL: nothing is limited. */
struct bs_governor *bs_governor_of(const bs_heap *);
/* Unwinds, as if memory ran out, where the governor's stage is over. */
void bs_stage_check(bs_heap *);
/* Unwinds where the limits of the whole command are passed: for loops that run
 * long and allocate nothing. */
void bs_limits_check(bs_heap *);
/* Bytes until a limit of the heap or of one around it; SIZE_MAX: none. */
size_t bs_heap_room(const bs_heap *);

#endif
