/* SPDX-License-Identifier: MIT */
/* test_arrays.c - arrays of the caller, what programs compute of them, and how
 * results are compared. */
#include "fixture.h"
#include <math.h>

static const char ratio[] =
    "(tensor x (shape 2 3) f32)\n(tensor y (shape 2 3) f32)\n"
    "(let q (compute div (pair (access x 0) (access y 0))))\n(output q)\n";

static float x[2][3] = {{1, 2, 3}, {4, 5, 6}};
static float y[2][3] = {{2, 2, 2}, {4, 4, 4}};

static glen_array
array_of(void *data, const int64_t *shape, const int64_t *strides) {
  return (glen_array){sizeof(glen_array), data, GLEN_F32, 2, shape, strides};
}

static const int64_t shape[] = {2, 3};

static glen_tensors *
inputs_of(glen_context *glen, const glen_program *p) {
  const glen_array first = array_of(x, shape, NULL);
  const glen_array second = array_of(y, shape, NULL);
  glen_tensors *in = glen_inputs_new(glen, p, 1);
  cr_assert(glen_input_set(glen, in, "x", &first));
  cr_assert(glen_input_set(glen, in, "y", &second));
  return in;
}

Test(arrays, dtypes_have_names_and_sizes) {
  cr_expect_str_eq(glen_dtype_name(GLEN_BF16), "bf16");
  cr_expect_eq(glen_dtype_bytes(GLEN_BF16), 2);
  cr_expect_eq(glen_dtype_bytes(GLEN_F64), 8);
  cr_expect_str_eq(glen_dtype_name((glen_dtype)99), "");
}

Test(arrays, elements_are_taken_by_their_strides) {
  const int64_t across[] = {4, 8}; /* of a 3 x 2 array, seen as 2 x 3 */
  float turned[3][2] = {{1, 4}, {2, 5}, {3, 6}};
  glen_array view = array_of(turned, shape, across), out;
  glen_context *glen = begin();
  glen_program *p = parse(glen, ratio);
  glen_tensors *in = inputs_of(glen, p), *again = glen_inputs_new(glen, p, 1);
  glen_comparison difference;
  cr_assert_eq(glen_tensors_count(in), 2);
  cr_expect_str_eq(glen_tensor_name(in, 1), "y");
  cr_expect_not(glen_tensors_compare(in, again, 0, &difference));
  cr_expect_gt(difference.differing, 0);
  cr_assert(glen_input_set(glen, again, "x", &view));
  cr_expect_eq(glen_tensor_hash(in, 0), glen_tensor_hash(again, 0));
  glen_tensor_array(again, 0, &out);
  cr_expect(out.rank == 2 && out.shape[1] == 3 && out.dtype == GLEN_F32);
  cr_expect_eq(memcmp(out.data, x, sizeof x), 0);
  cr_expect_not(glen_input_set(glen, in, "z", &view));
  expect_code(glen, "unknown-input");
  view.rank = 1;
  cr_expect_not(glen_input_set(glen, in, "x", &view));
  expect_code(glen, "wrong-array");
  glen_tensors_free(in);
  glen_tensors_free(again);
  glen_context_free(glen);
}

Test(arrays, files_hold_what_was_saved) {
  use_folder();
  glen_context *glen = begin();
  glen_program *p = parse(glen, ratio);
  glen_tensors *in = inputs_of(glen, p), *again = glen_inputs_new(glen, p, 7);
  glen_comparison difference;
  cr_assert(glen_tensor_save(glen, in, 0, "x.npy"));
  cr_assert(glen_tensor_save(glen, in, 1, "y.npy"));
  cr_assert(glen_input_load(glen, again, "x", "x.npy"));
  cr_assert(glen_input_load(glen, again, "y", "y.npy"));
  cr_expect(glen_tensors_compare(in, again, 0, &difference));
  cr_expect_eq(difference.differing, 0);
  cr_expect_not(glen_input_load(glen, again, "x", "none.npy"));
  expect_code(glen, "no-file");
  glen_context_free(glen);
}

/* Two ways to run one program, and to compile it. */
Test(arrays, results_agree) {
  use_folder();
  const glen_build_options options = {.threads = 1, .repeats = 1};
  glen_context *glen = begin();
  glen_program *p = parse(glen, ratio);
  glen_tensors *in = inputs_of(glen, p);
  glen_loops *loops = lower(glen, p);
  glen_tensors *meant = glen_interpret(glen, p, in);
  glen_tensors *looped = glen_loops_interpret(glen, loops, in);
  double seconds = -1;
  glen_tensors *built = glen_build_and_run(glen, loops, in, &options, &seconds);
  glen_comparison difference;
  glen_array out;
  cr_assert(meant && looped && built, "%s",
            glen_take_diagnostics(glen, GLEN_DIAG_TEXT));
  cr_expect_geq(seconds, 0);
  cr_expect(glen_tensors_compare(meant, looped, 0, &difference));
  cr_expect(glen_tensors_compare(meant, built, 0, &difference));
  glen_tensor_array(built, 0, &out);
  cr_expect_eq(((float *)out.data)[4], 1.25f);
  glen_context_free(glen);
}

static const char two_cores[] =
    "(target two (cores 2) (frequency-ghz 2)\n"
    "  (cache 1 (bytes 32768) (line 64) (ways 8) (bytes-per-cycle 32))\n"
    "  (memory (bytes-per-cycle 4))\n"
    "  (host (flops-per-cycle 8) (scalar-ops-per-cycle 2)))\n";

Test(arrays, the_least_time_is_that_of_the_cores_in_use) {
  use_folder();
  glen_context *glen = begin();
  glen_program *p = parse(glen, ratio);
  glen_tensors *in = inputs_of(glen, p);
  const glen_target *target =
      glen_target_parse(glen, "two", two_cores, sizeof two_cores - 1);
  glen_loops *loops = glen_lower(glen, p, target, false);
  cr_assert(target && loops, "%s", glen_take_diagnostics(glen, GLEN_DIAG_TEXT));
  glen_profile profile[2];
  for (uint32_t k = 0; k < 2; k++) {
    const glen_build_options options = {
        .threads = k + 1, .repeats = 1, .profile = &profile[k]};
    cr_assert(glen_build_and_run(glen, loops, in, &options, NULL), "%s",
              glen_take_diagnostics(glen, GLEN_DIAG_TEXT));
    cr_assert_eq(profile[k].n, 1);
  }
  const glen_profile_step *one = profile[0].steps, *two = profile[1].steps;
  cr_expect_eq(one->bytes, 3 * sizeof x);
  cr_expect_gt(one->least, 0);
  cr_expect_float_eq(two->least, one->least / 2, 1e-3 * one->least);
  cr_expect_float_eq(one->least, one->bytes / 32 / 2e9, 1e-3 * one->least);
  glen_context_free(glen);
}

Test(arrays, rounding_explains_what_it_can) {
  glen_context *glen = begin();
  glen_program *p = parse(glen, ratio);
  glen_tensors *in = inputs_of(glen, p);
  glen_tensors *a = glen_interpret(glen, p, in);
  glen_tensors *b = glen_interpret(glen, p, in);
  glen_tensors *bounds = glen_rounding_bounds(glen, p, in);
  glen_comparison difference;
  glen_array out;
  cr_assert_not_null(bounds);
  glen_tensor_array(b, 0, &out);
  float *values = out.data;
  values[1] = nextafterf(values[1], 2);
  cr_expect_not(glen_tensors_compare(a, b, 0, &difference));
  cr_expect_eq(difference.differing, 1);
  cr_expect_eq(difference.index, 1);
  cr_expect(glen_tensors_compare_within(a, b, 0, bounds, bounds, &difference));
  cr_expect_eq(difference.rounding, 1);
  values[1] = 3;
  cr_expect_not(
      glen_tensors_compare_within(a, b, 0, bounds, bounds, &difference));
  glen_context_free(glen);
}

Test(arrays, nothing_is_asked_where_a_nan_is_expected) {
  glen_context *glen = begin();
  glen_program *p = parse(glen, ratio);
  glen_tensors *in = inputs_of(glen, p);
  glen_tensors *a = glen_interpret(glen, p, in);
  glen_tensors *b = glen_interpret(glen, p, in);
  glen_comparison difference;
  glen_array out;
  glen_tensor_array(a, 0, &out);
  ((float *)out.data)[2] = NAN;
  cr_expect_not(glen_tensors_compare(a, b, 0, &difference));
  glen_overlook_nans(a, b);
  cr_expect(glen_tensors_compare(a, b, 0, &difference));
  glen_context_free(glen);
}

/* ---- arrays of any strides ---- */

typedef struct view {
  glen_array array;
  int64_t shape[4], strides[4];
  char *base;
} view;

static uint64_t dice;

static int64_t
below(uint64_t n) {
  dice = dice * 6364136223846793005u + 1442695040888963407u;
  return (int64_t)((dice >> 33) % n);
}

/* Dimensions in any order, with gaps, backwards, or the same place again. */
static void
random_view(view *v, char *memory, size_t bytes, uint32_t rank) {
  glen_dtype dtype = (glen_dtype)below(GLEN_U16 + 1);
  int64_t stride = (int64_t)glen_dtype_bytes(dtype);
  *v = (view){.base = memory + bytes / 2};
  v->array =
      (glen_array){sizeof v->array, v->base, dtype, rank, v->shape, v->strides};
  for (uint32_t k = 0; k < rank; k++) {
    uint32_t d = (uint32_t)below(rank);
    while (v->shape[d])
      d = (d + 1) % rank;
    v->shape[d] = 1 + below(3);
    v->strides[d] = below(6) ? below(4) ? stride : -stride : 0;
    stride *= v->shape[d] * (below(4) ? 1 : 2);
  }
}

static glen_program *
program_of(glen_context *glen, const view *v) {
  char text[300], sizes[100] = "";
  for (uint32_t d = 0; d < v->array.rank; d++)
    snprintf(sizes + strlen(sizes), sizeof sizes - strlen(sizes), " %lld",
             (long long)v->shape[d]);
  snprintf(text, sizeof text,
           "(tensor x (shape%s) %s)(let y (insertAxis x 0))(output y)", sizes,
           glen_dtype_name(v->array.dtype));
  return parse(glen, text);
}

/* Whether an array in C order holds what the view shows. */
static bool
shows(const view *v, const char *dense) {
  size_t bytes = glen_dtype_bytes(v->array.dtype);
  int64_t n = 1;
  for (uint32_t d = 0; d < v->array.rank; d++)
    n *= v->shape[d];
  for (int64_t k = 0; k < n; k++) {
    const char *at = v->base;
    int64_t left = k;
    for (uint32_t d = v->array.rank; d-- > 0; left /= v->shape[d])
      at += left % v->shape[d] * v->strides[d];
    if (memcmp(at, dense + (size_t)k * bytes, bytes) != 0)
      return false;
  }
  return true;
}

Test(arrays, views_of_any_strides_are_taken_element_by_element) {
  static char memory[1 << 16];
  for (size_t k = 0; k < sizeof memory; k++)
    memory[k] = (char)below(100);
  for (uint32_t k = 0; k < 200; k++) {
    glen_context *glen = begin();
    glen_array out;
    view v;
    random_view(&v, memory, sizeof memory, k % 5);
    glen_tensors *in = glen_inputs_new(glen, program_of(glen, &v), 1);
    cr_assert(glen_input_set(glen, in, "x", &v.array), "%s",
              glen_take_diagnostics(glen, GLEN_DIAG_TEXT));
    glen_tensor_array(in, 0, &out);
    cr_expect(shows(&v, out.data), "view %u", k);
    glen_context_free(glen);
  }
}
