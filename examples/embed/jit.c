/* SPDX-License-Identifier: MIT */
/* jit.c - a kernel compiled, loaded and called on arrays of the caller; one
 * thread after the other, or with --threads four at a time. */
#include <glen/glen.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { N = 8, THREADS = 4, CALLS = 100 };

static const char program[] =
    "(tensor A (shape 8 8) f32)\n"
    "(tensor B (shape 8 8) f32)\n"
    "(let C (compute dotProd\n"
    "  (cartProd (access A 1) (transpose (access B 1) (list 1 0)))))\n"
    "(output C)\n";

static glen_kernel *
make(glen_context *glen) {
  glen_scheduled scheduled;
  glen_code_options code;
  glen_jit_options jit = {.size = sizeof jit, .threads = 1, .cache = "kernels"};
  glen_code_defaults(&code);
  glen_target *target = glen_target_load(glen, NULL);
  glen_program *p =
      glen_program_parse(glen, target, "<program>", program, strlen(program));
  glen_loops *loops =
      p ? glen_lower_scheduled(glen, p, target, &code, &scheduled) : NULL;
  glen_kernel *kernel = loops ? glen_jit(glen, loops, &jit) : NULL;
  glen_loops_free(loops);
  if (!kernel)
    fputs(glen_take_diagnostics(glen, GLEN_DIAG_TEXT), stderr);
  return kernel;
}

/* The product with a diagonal of twos. */
static int
use(glen_kernel *kernel) {
  float a[N][N], b[N][N], c[N][N];
  void *arrays[] = {a, b, c};
  int wrong = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      a[i][j] = (float)(i * N + j);
      b[i][j] = i == j ? 2 : 0;
    }
  for (int call = 0; call < CALLS; call++)
    wrong += glen_kernel_call(kernel, arrays, NULL) != 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      wrong += c[i][j] != 2 * a[i][j];
  return wrong;
}

/* As use(), with the types checked: B is too small in the first call. */
static int
use_checked(glen_context *glen, glen_kernel *kernel) {
  static float a[N][N], c[N][N];
  const int64_t shape[] = {N, N}, small[] = {N, N - 1};
  glen_array arrays[] = {
      {sizeof(glen_array), a, GLEN_F32, 2, shape, NULL},
      {sizeof(glen_array), a, GLEN_F32, 2, small, NULL},
      {sizeof(glen_array), c, GLEN_F32, 2, shape, NULL},
  };
  glen_diagnostic d;
  if (glen_kernel_call_arrays(kernel, arrays, 3) ||
      !glen_diagnostic_at(glen, 0, &d))
    return 1;
  printf("%s\n", d.message);
  glen_clear_diagnostics(glen);
  arrays[1].shape = shape;
  return !glen_kernel_call_arrays(kernel, arrays, 3);
}

static void *
work(void *failed) {
  glen_context *glen = glen_context_new(NULL, 0);
  glen_kernel *kernel = glen ? make(glen) : NULL;
  if (!kernel || use(kernel))
    *(int *)failed = 1;
  glen_kernel_free(kernel);
  glen_context_free(glen);
  return NULL;
}

static int
in_threads(void) {
  pthread_t threads[THREADS];
  int failed[THREADS] = {0}, all = 0;
  for (int k = 0; k < THREADS; k++)
    if (pthread_create(&threads[k], NULL, work, &failed[k]))
      return 1;
  for (int k = 0; k < THREADS; k++) {
    pthread_join(threads[k], NULL);
    all |= failed[k];
  }
  return all;
}

int
main(int argc, char **argv) {
  if (argc > 1 && !strcmp(argv[1], "--threads"))
    return in_threads();
  glen_context *glen = glen_context_new(NULL, 0);
  glen_kernel *kernel = glen ? make(glen) : NULL;
  if (!kernel || use(kernel) || use_checked(glen, kernel))
    return 1;
  printf("%s, %zu bytes of workspace\n",
         glen_kernel_cached(kernel) ? "found" : "compiled",
         glen_kernel_workspace(kernel));
  glen_kernel_free(kernel);
  glen_context_free(glen);
  return 0;
}
