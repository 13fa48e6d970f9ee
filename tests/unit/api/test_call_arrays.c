/* SPDX-License-Identifier: MIT */
/* test_call_arrays.c - kernels called with arrays of any strides. */
#include "fixture.h"

enum { M = 4, K = 8, N = 6 };

static const int64_t of_a[] = {M, K}, of_b[] = {K, N}, of_d[] = {M, N};

static glen_kernel *
kernel_of(glen_context *glen, const char *packed) {
  glen_loops *loops = lower(glen, parse(glen, PRODUCT));
  if (packed)
    cr_assert(glen_prepack(glen, loops, packed));
  glen_kernel *kernel = glen_jit(glen, loops, NULL);
  cr_assert_not_null(kernel, "%s", glen_take_diagnostics(glen, GLEN_DIAG_TEXT));
  return kernel;
}

static float
element_a(int i, int k) {
  return (float)(i * 3 + k - 5);
}

static float
element_b(int k, int j) {
  return (float)(k - 2 * j + 1);
}

static float
element_d(int i, int j) {
  float sum = 0;
  for (int k = 0; k < K; k++)
    sum += element_a(i, k) * element_b(k, j);
  return sum > 0 ? sum : 0;
}

static glen_array
array_of(void *data, const int64_t *shape, const int64_t *strides) {
  return (glen_array){sizeof(glen_array), data, GLEN_F32, 2, shape, strides};
}

static void
store(const glen_array *a, int i, int j, float value) {
  memcpy((char *)a->data + i * a->strides[0] + j * a->strides[1], &value,
         sizeof value);
}

static float
load(const glen_array *a, int i, int j) {
  float value;
  memcpy(&value, (char *)a->data + i * a->strides[0] + j * a->strides[1],
         sizeof value);
  return value;
}

static void
fill(const glen_array *arrays) {
  for (int i = 0; i < M; i++)
    for (int k = 0; k < K; k++)
      store(&arrays[0], i, k, element_a(i, k));
  for (int k = 0; k < K; k++)
    for (int j = 0; j < N; j++)
      store(&arrays[1], k, j, element_b(k, j));
}

static void
expect_product(glen_context *glen, glen_kernel *kernel,
               const glen_array *arrays) {
  cr_assert(glen_kernel_call_arrays(kernel, arrays, 3), "%s",
            glen_take_diagnostics(glen, GLEN_DIAG_TEXT));
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++)
      cr_expect_eq(load(&arrays[2], i, j), element_d(i, j), "%d %d", i, j);
}

/* a backwards, b across, d with gaps, which stay as they are. */
Test(call_arrays, any_strides) {
  float a[M][K], b[N][K], d[M][2 * N];
  const int64_t back[] = {-(int64_t)sizeof a[0], -(int64_t)sizeof **a};
  const int64_t across[] = {sizeof **b, sizeof b[0]};
  const int64_t gaps[] = {sizeof d[0], 2 * sizeof **d};
  const glen_array arrays[] = {array_of(&a[M - 1][K - 1], of_a, back),
                               array_of(b, of_b, across),
                               array_of(d, of_d, gaps)};
  glen_context *glen = begin();
  glen_kernel *kernel = kernel_of(glen, NULL);
  fill(arrays);
  for (int i = 0; i < M; i++)
    for (int j = 0; j < 2 * N; j++)
      d[i][j] = -7;
  expect_product(glen, kernel, arrays);
  for (int i = 0; i < M; i++)
    for (int j = 1; j < 2 * N; j += 2)
      cr_expect_eq(d[i][j], -7);
  glen_kernel_free(kernel);
  glen_context_free(glen);
}

Test(call_arrays, no_alignment_is_needed) {
  static char a[M * K * 4 + 1], b[K * N * 4 + 3], d[M * N * 4 + 2];
  const int64_t row_a[] = {K * 4, 4}, row[] = {N * 4, 4};
  const glen_array arrays[] = {array_of(a + 1, of_a, row_a),
                               array_of(b + 3, of_b, row),
                               array_of(d + 2, of_d, row)};
  glen_context *glen = begin();
  glen_kernel *kernel = kernel_of(glen, NULL);
  fill(arrays);
  expect_product(glen, kernel, arrays);
  glen_kernel_free(kernel);
  glen_context_free(glen);
}

/* d begins in a, and then ends where b begins. */
Test(call_arrays, an_output_may_lie_on_inputs) {
  float memory[M * K + K * N];
  const int64_t row_a[] = {K * 4, 4}, row[] = {N * 4, 4};
  glen_array arrays[] = {array_of(memory, of_a, row_a),
                         array_of(memory + M * K, of_b, row),
                         array_of(memory, of_d, row)};
  glen_context *glen = begin();
  glen_kernel *kernel = kernel_of(glen, NULL);
  for (int shift = 0; shift <= M * K; shift += 5) {
    arrays[2].data = memory + shift;
    fill(arrays);
    expect_product(glen, kernel, arrays);
  }
  glen_kernel_free(kernel);
  glen_context_free(glen);
}

Test(call_arrays, what_is_refused_is_told) {
  static float a[M][K], b[K][N], d[M][N];
  const int64_t one_place[] = {0, sizeof **d};
  const glen_array right[] = {array_of(a, of_a, NULL), array_of(b, of_b, NULL),
                              array_of(d, of_d, NULL)};
  glen_array arrays[3];
  glen_context *glen = begin();
  glen_kernel *kernel = kernel_of(glen, NULL);
  cr_expect_not(glen_kernel_call_arrays(kernel, right, 2));
  expect_code(glen, "wrong-array");
  memcpy(arrays, right, sizeof right);
  arrays[1].dtype = GLEN_I32;
  cr_expect_not(glen_kernel_call_arrays(kernel, arrays, 3));
  expect_code(glen, "wrong-array");
  memcpy(arrays, right, sizeof right);
  arrays[0].data = NULL;
  cr_expect_not(glen_kernel_call_arrays(kernel, arrays, 3));
  expect_code(glen, "wrong-array");
  memcpy(arrays, right, sizeof right);
  arrays[2].strides = one_place;
  cr_expect_not(glen_kernel_call_arrays(kernel, arrays, 3));
  expect_code(glen, "wrong-array");
  arrays[2].strides = NULL;
  arrays[0].strides = one_place;
  cr_expect(glen_kernel_call_arrays(kernel, arrays, 3));
  glen_kernel_free(kernel);
  glen_context_free(glen);
}

/* What two strides make of the elements: rows that begin within another, in
 * whole elements or in parts of one, forwards and backwards; and rows that lie
 * between the elements of another. */
Test(call_arrays, outputs_do_not_overlap_themselves) {
  static float a[M][K], b[K][N], memory[4 * M * N];
  static const struct {
    int64_t strides[2];
    bool fine;
  } cases[] = {
      {{4, 4}, false},   {{4, 8}, false},   {{8, 12}, false}, {{22, 4}, false},
      {{24, 4}, true},   {{-22, 4}, false}, {{24, -4}, true}, {{-24, -4}, true},
      {{4, 16}, true},   {{4, 14}, false},  {{28, 20}, true}, {{26, 20}, false},
      {{27, 20}, false}, {{0, 4}, false},
  };
  glen_array arrays[] = {array_of(a, of_a, NULL), array_of(b, of_b, NULL),
                         array_of(memory + 2 * M * N, of_d, NULL)};
  glen_context *glen = begin();
  glen_kernel *kernel = kernel_of(glen, NULL);
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    arrays[2].strides = cases[k].strides;
    cr_expect_eq(glen_kernel_call_arrays(kernel, arrays, 3), cases[k].fine,
                 "%d %d", (int)cases[k].strides[0], (int)cases[k].strides[1]);
    if (!cases[k].fine)
      expect_code(glen, "wrong-array");
  }
  glen_kernel_free(kernel);
  glen_context_free(glen);
}

Test(call_arrays, packed_inputs_are_not_looked_at) {
  static float a[M][K], b[K][N], d[M][N];
  void *pointers[] = {a, b, d};
  glen_array arrays[] = {array_of(a, of_a, NULL), {0}, array_of(d, of_d, NULL)};
  glen_context *glen = begin();
  glen_kernel *kernel = kernel_of(glen, "b");
  cr_expect_not(glen_kernel_call_arrays(kernel, arrays, 3));
  expect_code(glen, "not-prepared");
  cr_assert_eq(glen_kernel_prepare(kernel, pointers), 0);
  cr_expect(glen_kernel_call_arrays(kernel, arrays, 3));
  glen_kernel_free(kernel);
  glen_context_free(glen);
}
