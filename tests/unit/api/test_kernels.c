/* SPDX-License-Identifier: MIT */
/* test_kernels.c - loops, schedules and what becomes of them: C, a manifest, a
 * kernel in a file. */
#include "fixture.h"

Test(kernels, a_kernel_in_a_file_needs_nothing_else) {
  use_folder();
  const glen_jit_options options = {
      .size = sizeof options, .threads = 1, .cache = "kernels"};
  float a[4][8], b[8][6], d[4][6];
  void *arrays[] = {a, b, d};
  glen_context *glen = begin();
  glen_kernel *made =
      glen_jit(glen, lower(glen, parse(glen, PRODUCT)), &options);
  cr_assert_not_null(made, "%s", glen_take_diagnostics(glen, GLEN_DIAG_TEXT));
  cr_assert_not_null(glen_kernel_file(made));
  char *file = strdup(glen_kernel_file(made));
  glen_kernel_free(made);
  glen_context_free(glen);
  glen = begin();
  glen_kernel *kernel = glen_kernel_load(glen, file, 1);
  cr_assert_not_null(kernel, "%s", glen_take_diagnostics(glen, GLEN_DIAG_TEXT));
  cr_assert_eq(glen_kernel_arguments(kernel), 3);
  const glen_argument *last = glen_kernel_argument(kernel, 2);
  cr_expect(last->output && last->type.rank == 2 && last->type.shape[1] == 6);
  cr_expect_str_eq(glen_kernel_argument(kernel, 1)->name, "b");
  for (int i = 0; i < 32; i++)
    a[i / 8][i % 8] = (float)i;
  for (int i = 0; i < 48; i++)
    b[i / 6][i % 6] = i / 6 == i % 6 ? 1 : 0;
  cr_expect_eq(glen_kernel_call(kernel, arrays, NULL), 0);
  cr_expect_eq(d[3][5], 29);
  cr_expect_null(glen_kernel_load(glen, "none.so", 1));
  cr_expect_gt(glen_error_count(glen), 0);
  glen_kernel_free(kernel);
  glen_context_free(glen);
  free(file);
}

Test(kernels, packed_inputs_are_given_once) {
  use_folder();
  float a[4][8], b[8][6], d[4][6];
  void *arrays[] = {a, b, d}, *without[] = {a, NULL, d};
  glen_context *glen = begin();
  glen_loops *loops = lower(glen, parse(glen, PRODUCT));
  cr_assert(glen_prepack(glen, loops, "b"));
  glen_kernel *kernel = glen_jit(glen, loops, NULL);
  cr_assert_not_null(kernel, "%s", glen_take_diagnostics(glen, GLEN_DIAG_TEXT));
  cr_expect(glen_kernel_argument(kernel, 1)->prepacked);
  cr_expect_not(glen_kernel_argument(kernel, 0)->prepacked);
  for (int i = 0; i < 32; i++)
    a[i / 8][i % 8] = (float)i;
  for (int i = 0; i < 48; i++)
    b[i / 6][i % 6] = i / 6 == i % 6 ? 1 : 0;
  cr_expect_eq(glen_kernel_call(kernel, arrays, NULL),
               GLEN_KERNEL_NOT_PREPARED);
  cr_assert_eq(glen_kernel_prepare(kernel, arrays), 0);
  memset(b, 0, sizeof b);
  cr_expect_eq(glen_kernel_call(kernel, without, NULL), 0);
  cr_expect_eq(d[3][5], 29);
  glen_kernel_free(kernel);
  glen_context_free(glen);
}

/* Threads of a team wait in the code of OpenMP's library, also when the last
 * kernel that needs it is gone. */
Test(kernels, a_kernel_is_freed_while_its_threads_wait) {
  enum { TIMES = 20 };
  float a[4][8], b[8][6], d[4][6];
  void *arrays[] = {a, b, d};
  use_folder();
  const glen_jit_options options = {
      .size = sizeof options, .threads = 2, .cache = "kernels"};
  glen_context *glen = begin();
  glen_loops *loops = lower(glen, parse(glen, PRODUCT));
  cr_assert(glen_loops_parallel(glen, loops, "i0"));
  glen_kernel *kernel = glen_jit(glen, loops, &options);
  cr_assert_not_null(kernel, "%s", glen_take_diagnostics(glen, GLEN_DIAG_TEXT));
  char *file = strdup(glen_kernel_file(kernel));
  memset(a, 0, sizeof a);
  memset(b, 0, sizeof b);
  for (int k = 0; k < TIMES; k++) {
    a[3][0] = b[0][5] = (float)k;
    cr_assert_eq(glen_kernel_call(kernel, arrays, NULL), 0);
    cr_expect_eq(d[3][5], k * k);
    glen_kernel_free(kernel);
    usleep(1000);
    kernel = glen_kernel_load(glen, file, 2);
    cr_assert_not_null(kernel);
  }
  glen_kernel_free(kernel);
  glen_context_free(glen);
  free(file);
}

Test(kernels, nothing_is_compiled_where_that_is_forbidden) {
  glen_context *glen = begin();
  glen_forbid_native(glen);
  cr_expect_null(glen_jit(glen, lower(glen, parse(glen, PRODUCT)), NULL));
  cr_expect_eq(glen_failure(glen), GLEN_USAGE);
  expect_code(glen, "no-native");
  glen_context_free(glen);
}

Test(kernels, packed_inputs_and_variants_are_in_the_manifest) {
  const char *c, *h;
  glen_context *glen = begin();
  glen_program *p = parse(glen, PRODUCT);
  glen_target *target = glen_target_load(glen, NULL);
  glen_target *wide = glen_target_variant(glen, target, "avx2");
  glen_loops *loops = lower(glen, p);
  glen_loops *variant = glen_lower(glen, p, wide, false);
  cr_expect_not(glen_prepack(glen, loops, "none"));
  expect_code(glen, "unknown-input");
  cr_assert(glen_prepack(glen, loops, "b") && glen_prepack(glen, variant, "b"));
  cr_assert(glen_dispatch(glen, loops, "avx2", variant), "%s",
            glen_take_diagnostics(glen, GLEN_DIAG_TEXT));
  cr_assert(glen_emit_c(glen, loops, "product", "product.h", &c, &h));
  cr_expect_not_null(strstr(h, "product_prepack"));
  cr_expect_not_null(strstr(c, "avx2"));
  const char *manifest = glen_manifest(glen, loops, "product");
  cr_expect_not_null(strstr(manifest, "\"product\""));
  cr_expect_not_null(strstr(manifest, "prepack"));
  cr_expect_str_eq(glen_function_name(glen, loops, "product"), "product");
  cr_expect_str_eq(glen_function_name(glen, loops, "a-b"), "a_b");
  cr_expect_str_eq(glen_function_name(glen, loops, "sin"), "v_sin");
  glen_context_free(glen);
}

/* x by w, of a size that has a kernel, with `n` arrays in the formula behind.
 */
static void
product_and(char *text, size_t size, int n) {
  size_t at = (size_t)snprintf(text, size,
                               "(tensor x (shape 64 96) f32)\n"
                               "(tensor w (shape 96 80) f32)\n"
                               "(let s0 (matmul x w))\n");
  for (int k = 0; k < n; k++)
    at += (size_t)snprintf(text + at, size - at,
                           "(tensor b%d (shape 64 80) f32)\n"
                           "(let s%d (%s s%d b%d))\n",
                           k, k + 1, k % 2 ? "add" : "mul", k, k);
  snprintf(text + at, size - at, "(output s%d)\n", n);
}

Test(kernels, a_packed_input_follows_any_number_of_arrays) {
  enum { MOST = 9 };
  for (int n = 1; n <= MOST; n++) {
    const char *c, *h;
    char text[4096], last[32];
    product_and(text, sizeof text, n);
    snprintf(last, sizeof last, "const float *b%d", n - 1);
    glen_context *glen = begin();
    glen_loops *loops = lower(glen, parse(glen, text));
    cr_assert(glen_prepack(glen, loops, "w"));
    cr_assert(glen_emit_c(glen, loops, "product", "product.h", &c, &h), "%s",
              glen_take_diagnostics(glen, GLEN_DIAG_TEXT));
    cr_expect_not_null(strstr(h, last));
    cr_expect_not_null(strstr(h, "const void *prepacked"));
    glen_context_free(glen);
  }
}

Test(kernels, schedules_by_script_and_by_name) {
  use_folder();
  put("split.sched", "print loops\nsplit i0 [-1, 2]\n");
  put("wrong.sched", "split nothing [2]\n");
  const char *printed;
  static const int64_t widths[] = {4};
  glen_context *glen = begin();
  glen_loops *loops = lower(glen, parse(glen, PRODUCT));
  char *before = strdup(glen_schedule_print(glen, loops, GLEN_PRINT_LOOPS));
  cr_assert(glen_schedule(glen, loops, "split.sched", false, &printed), "%s",
            glen_take_diagnostics(glen, GLEN_DIAG_TEXT));
  cr_expect_str_eq(printed, before);
  cr_expect_str_neq(glen_schedule_print(glen, loops, GLEN_PRINT_LOOPS), before);
  cr_expect_not_null(
      strstr(glen_schedule_print(glen, loops, GLEN_PRINT_SCRIPT), "split"));
  cr_expect_not(glen_schedule(glen, loops, "wrong.sched", false, &printed));
  expect_code(glen, "unknown-name");
  cr_expect_not_null(strstr(glen_schedule_help(glen), "split"));
  glen_loops *other = lower(glen, parse(glen, PRODUCT));
  cr_expect_not_null(strchr(glen_strategies(glen, other, 4), '*'));
  const char *results = glen_results(glen, other, 2);
  cr_expect_not_null(strstr(results, "\"chosen\": true"), "%s", results);
  cr_expect_not_null(strstr(results, "\"groups\": [{\"kind\": \"graph\""));
  cr_expect(glen_give_layouts(glen, other, GLEN_LAYOUT_LINES, widths, 1));
  cr_expect_not(glen_give_layouts(glen, other, GLEN_LAYOUT_NONE, widths, 1));
  free(before);
  glen_context_free(glen);
}

Test(kernels, loops_read_from_text_are_loops) {
  use_folder();
  glen_context *glen = begin();
  glen_loops *loops = lower(glen, parse(glen, PRODUCT));
  put("product.loops", glen_loops_text(glen, loops));
  glen_loops *read = glen_loops_load(glen, glen_target_load(glen, NULL),
                                     "product.loops", false);
  cr_assert_not_null(read, "%s", glen_take_diagnostics(glen, GLEN_DIAG_TEXT));
  const glen_program *p = glen_loops_program(glen, read);
  cr_assert_not_null(p);
  cr_expect_eq(glen_program_inputs(p), 2);
  cr_expect_str_eq(glen_output_name(p, 0), "d");
  glen_tensors *in = glen_inputs_new(glen, p, 1);
  glen_tensors *a = glen_loops_interpret(glen, loops, in);
  glen_tensors *b = glen_loops_interpret(glen, read, in);
  glen_comparison difference;
  cr_expect(glen_tensors_compare(a, b, 0, &difference));
  glen_context_free(glen);
}

/* One code for all sizes, called at one of them. */
Test(kernels, sizes_stay_open_until_they_are_given) {
  static const char *const sizes[] = {"N=9"};
  const glen_build_options options = {.threads = 1, .repeats = 1};
  use_folder();
  put("twice.loops", "size N: 1 to 64\n"
                     "input A: f32[N]\noutput B: f32[N]\n"
                     "for i in 0..N { S: B[i] = A[i] + A[i] }\n");
  glen_context *glen = begin();
  glen_target *target = glen_target_load(glen, NULL);
  glen_loops *open =
      glen_loops_load_at(glen, target, "twice.loops", false, NULL, 0);
  glen_loops *nine =
      glen_loops_load_at(glen, target, "twice.loops", false, sizes, 1);
  cr_assert(open && nine, "%s", glen_take_diagnostics(glen, GLEN_DIAG_TEXT));
  glen_tensors *in = glen_inputs_new(glen, glen_loops_program(glen, nine), 1);
  glen_tensors *meant = glen_loops_interpret(glen, nine, in);
  glen_tensors *built =
      glen_build_and_run_at(glen, open, nine, in, &options, NULL);
  glen_comparison difference;
  cr_assert(meant && built, "%s", glen_take_diagnostics(glen, GLEN_DIAG_TEXT));
  cr_expect(glen_tensors_compare(meant, built, 0, &difference));
  glen_context_free(glen);
}

/* A program of an older library knows less of the options than this one. */
Test(kernels, options_say_how_large_they_are) {
  struct {
    glen_tune_options options;
    char behind[8];
  } tune, same;
  glen_saturate_options saturate;
  glen_prove_options prove;
  glen_code_options code;
  memset(&tune, 0x5a, sizeof tune);
  memset(&same, 0x5a, sizeof same);
  glen_tune_defaults_of(&tune.options, sizeof tune.options);
  (glen_tune_defaults)(&same.options);
  cr_expect_eq(memcmp(tune.behind, same.behind, sizeof same.behind), 0);
  cr_expect_eq(tune.options.size, sizeof tune.options);
  cr_expect(tune.options.rounds == same.options.rounds &&
            tune.options.candidates == same.options.candidates);
  memset(&saturate, 0x5a, sizeof saturate);
  size_t half = offsetof(glen_saturate_options, extractor);
  glen_saturate_defaults_of(&saturate, half);
  cr_expect_eq(saturate.size, half);
  cr_expect_eq(((unsigned char *)&saturate)[half], 0x5a);
  (glen_saturate_defaults)(&saturate);
  cr_expect_eq(saturate.extractor, GLEN_EXTRACT_DAG);
  (glen_prove_defaults)(&prove);
  cr_expect_gt(prove.shapes, 0);
  glen_prove_defaults_of(&prove, sizeof prove);
  cr_expect_eq(prove.size, sizeof prove);
  memset(&code, 0x5a, sizeof code);
  glen_code_defaults_of(&code, sizeof code);
  cr_expect(code.fusion == GLEN_FUSE_AUTO && !code.n_tiles && !code.script);
}

/* What a machine of a target does with loops, in cycles of its declaration. */
Test(kernels, loops_run_on_the_machine_of_a_target) {
  static const char text[] =
      "(target mine)\n"
      "(instr twice \"adds a to itself\" (params n)\n"
      "  (operands (a ((n) ()) f32)) (result ((n) ()) f32)\n"
      "  (semantics (compute add (pair a a))) (cost (cycles 8))\n"
      "  (emit \"for (int i = 0; i < {n}; i++)\"\n"
      "        \"  {result}[i] = {a}[i] + {a}[i];\"))\n";
  static const char program[] =
      "(tensor x (shape 4) f32)\n"
      "(let y (twice 4 (twice 4 (access x 1))))\n(output y)\n";
  glen_context *glen = begin();
  glen_simulation s;
  glen_target *t =
      glen_target_parse(glen, "mine.target", text, sizeof text - 1);
  cr_assert_not_null(t, "%s", glen_take_diagnostics(glen, GLEN_DIAG_TEXT));
  glen_program *p =
      glen_program_parse(glen, t, "p.glen", program, sizeof program - 1);
  cr_assert_not_null(p, "%s", glen_take_diagnostics(glen, GLEN_DIAG_TEXT));
  glen_loops *loops = glen_lower(glen, p, t, false);
  glen_tensors *inputs = glen_inputs_new(glen, p, 1);
  cr_assert(loops && inputs);
  cr_assert(glen_simulate(glen, loops, inputs, true, &s));
  cr_expect_eq(s.cycles, 16);
  cr_expect(strstr(s.text, "2 calls") && strstr(s.json, "\"calls\""));
  cr_expect(strstr(s.trace, "twice x+0"), "%s", s.trace);
  glen_tensors *right = glen_interpret(glen, p, inputs);
  glen_comparison found;
  cr_assert_not_null(right);
  cr_expect(glen_tensors_compare(right, s.outputs, 0, &found));
  glen_tensors_free(right);
  glen_tensors_free(s.outputs);
  glen_tensors_free(inputs);
  glen_loops_free(loops);
  glen_target_free(t);
  glen_context_free(glen);
}
