/* SPDX-License-Identifier: MIT */
/* cuda_shim.h - runs CUDA kernels on the CPU, one block after the other.
 *
 * Every thread of a block is a context with a stack of its own; they take
 * turns from barrier to barrier.  A barrier that some threads of a block come
 * to and others do not, and a thread that ends early, abort.  Shared arrays
 * are static; a launch is GLEN_LAUNCH(kernel, grid, block, stream)(args). */
#ifndef CUDA_SHIM_H
#define CUDA_SHIM_H

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <ucontext.h>
#include <vector>

#define __global__
#define __device__
#define __shared__      static
#define __syncthreads() shim_barrier()

struct dim3 {
  unsigned x, y, z;
  dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};

typedef void *cudaStream_t;
static dim3 threadIdx(0, 0, 0), blockIdx(0, 0, 0);

static int
cudaGetLastError(void) {
  return 0;
}

enum { SHIM_STACK = 256 * 1024 };

struct shim_thread {
  ucontext_t context;
  std::vector<char> stack;
  dim3 index;
  bool done = false;
  unsigned barriers = 0;
};

static std::vector<shim_thread> shim_threads;
static ucontext_t shim_main;
static size_t shim_at;
static std::function<void()> shim_kernel;

static inline void
shim_barrier(void) {
  shim_thread &t = shim_threads[shim_at];
  t.barriers++;
  swapcontext(&t.context, &shim_main);
}

static void
shim_start(void) {
  shim_kernel();
  shim_threads[shim_at].done = true;
  swapcontext(&shim_threads[shim_at].context, &shim_main);
}

static void
shim_fail(const char *what) {
  std::fprintf(stderr, "shim: %s\n", what);
  std::exit(1);
}

/* All threads to the next barrier or to the end; whether there is more. */
static bool
shim_turn(void) {
  size_t done = 0;
  for (shim_at = 0; shim_at < shim_threads.size(); shim_at++) {
    threadIdx = shim_threads[shim_at].index;
    swapcontext(&shim_main, &shim_threads[shim_at].context);
    done += shim_threads[shim_at].done;
    if (shim_threads[shim_at].barriers != shim_threads[0].barriers)
      shim_fail("a barrier that not all threads come to");
  }
  if (done && done != shim_threads.size())
    shim_fail("threads end at different barriers");
  return !done;
}

static void
shim_block(dim3 size) {
  shim_threads.resize((size_t)size.x * size.y * size.z);
  size_t k = 0;
  for (unsigned z = 0; z < size.z; z++)
    for (unsigned y = 0; y < size.y; y++)
      for (unsigned x = 0; x < size.x; x++, k++) {
        shim_thread &t = shim_threads[k];
        t.index = dim3(x, y, z);
        t.done = false;
        t.barriers = 0;
        t.stack.resize(SHIM_STACK);
        getcontext(&t.context);
        t.context.uc_stack.ss_sp = t.stack.data();
        t.context.uc_stack.ss_size = SHIM_STACK;
        t.context.uc_link = nullptr;
        makecontext(&t.context, shim_start, 0);
      }
  while (shim_turn())
    ;
}

static void
shim_launch(dim3 grid, dim3 block, std::function<void()> kernel) {
  shim_kernel = kernel;
  for (unsigned z = 0; z < grid.z; z++)
    for (unsigned y = 0; y < grid.y; y++)
      for (unsigned x = 0; x < grid.x; x++) {
        blockIdx = dim3(x, y, z);
        shim_block(block);
      }
}

#define GLEN_LAUNCH(kernel, grid, block, stream)                               \
  (void)(stream);                                                              \
  [&](auto... args) { shim_launch(grid, block, [=]() { kernel(args...); }); }

#endif
