/* SPDX-License-Identifier: MIT */
/* test_inputs.c - targets, programs and rules: by name, from memory, what they
 * say of themselves, and which files were read. */
#include "fixture.h"
#include "../sanitized.h"
#include <limits.h>
#include <malloc.h>

Test(inputs, names_lead_to_files) {
  char path[PATH_MAX], folder[PATH_MAX];
  cr_assert(glen_data_folder(folder, sizeof folder));
  cr_assert(glen_find(GLEN_DATA_TARGET, "systolic16", path, sizeof path));
  cr_expect_eq(strncmp(path, folder, strlen(folder)), 0);
  cr_expect(strstr(path, "targets/systolic16.target"));
  cr_assert(glen_find(GLEN_DATA_RULES, NULL, path, sizeof path));
  cr_expect(strstr(path, folder) && strstr(path, "/rules"), "%s", path);
  cr_expect_not(glen_find(GLEN_DATA_TARGET, "no-such", path, sizeof path));
  cr_expect_str_eq(path, "no-such");
  cr_expect(glen_find(GLEN_DATA_RULES, PATH("rules/access.rules"), path,
                      sizeof path));
}

static uint32_t
lines_of(const char *text) {
  uint32_t n = 0;
  for (; (text = strstr(text, "[bad-name]")); text++)
    n++;
  return n;
}

Test(inputs, each_refusal_is_told_where_those_before_were_taken) {
  static const char bad[] = "(tensor x (shape 2) f32)(output (relo x))";
  char many[25 * 20 + 100] = "(tensor x (shape 2) f32)";
  glen_context *glen = begin();
  for (uint32_t k = 0; k < 25; k++)
    strcat(many, "(output (relo x))");
  for (uint32_t k = 1; k <= 45; k++) {
    bool longer = k % 15 == 0;
    cr_expect_null(glen_program_parse(glen, NULL, "bad.glen",
                                      longer ? many : bad,
                                      strlen(longer ? many : bad)));
    const char *said = glen_take_diagnostics(glen, GLEN_DIAG_TEXT);
    cr_expect_eq(lines_of(said), longer ? 20 : 1, "%u: %s", k, said);
    cr_expect_eq(strstr(said, "5 more errors not shown") != NULL, longer, "%s",
                 said);
  }
  cr_expect_eq(glen_error_count(glen), 42 + 3 * 25);
  cr_expect_str_eq(glen_take_diagnostics(glen, GLEN_DIAG_TEXT), "");
  glen_context_free(glen);
}

Test(inputs, a_target_from_memory_is_as_written) {
  static const char text[] =
      "(target mine (cores 3))\n"
      "(instr twice \"adds a to itself\" (params n)\n"
      "  (operands (a ((n) ()) f32)) (result ((n) ()) f32)\n"
      "  (semantics (compute add (pair a a)))\n"
      "  (emit \"for (int i = 0; i < {n}; i++)\"\n"
      "        \"  {result}[i] = {a}[i] + {a}[i];\"))\n"
      "(instr wrong \"says it doubles\" (params n)\n"
      "  (operands (a ((n) ()) f32)) (result ((n) ()) f32)\n"
      "  (semantics (compute add (pair a a)))\n"
      "  (emit \"for (int i = 0; i < {n}; i++) {result}[i] = {a}[i];\"))\n";
  const glen_instr_options options = {.seed = 1};
  glen_instr_test test;
  glen_context *glen = begin();
  glen_target *t =
      glen_target_parse(glen, "mine.target", text, sizeof text - 1);
  cr_assert_not_null(t, "%s", glen_take_diagnostics(glen, GLEN_DIAG_TEXT));
  cr_expect_not_null(strstr(glen_target_text(glen, t), "(cores 3)"));
  cr_assert_eq(glen_target_instrs(t), 2);
  cr_expect_str_eq(glen_target_instr(t, 0), "twice");
  cr_expect_str_eq(glen_target_instr(t, 1), "wrong");
  cr_assert(glen_target_test(glen, t, 0, &options, &test));
  cr_expect_str_eq(test.verdict, "tested", "%s", test.reason);
  cr_expect_str_eq(test.place, "mine.target:2:8");
  cr_assert(glen_target_test(glen, t, 1, &options, &test));
  cr_expect_str_eq(test.verdict, "refuted");
  cr_expect_str_eq(test.place, "mine.target:7:8");
  cr_expect(*test.detail && strstr(test.json, "\"refuted\""));
  cr_expect_not_null(strstr(test.json, "mine.target:7:8"), "%s", test.json);
  cr_expect_null(glen_target_parse(glen, "x", "(target", 7));
  expect_code(glen, "unclosed-paren");
  glen_target_free(t);
  glen_context_free(glen);
}

Test(inputs, targets_of_machines) {
  glen_context *glen = begin();
  glen_target *native = glen_target_named(glen, "native");
  glen_target *detected = glen_target_detect(glen);
  glen_target *named = glen_target_named(glen, "systolic16");
  glen_target *base = glen_target_variant(glen, native, "base");
  glen_target *wide = glen_target_variant(glen, native, "avx512");
  cr_assert(native && detected && named && base && wide);
  cr_expect_str_eq(glen_target_text(glen, native),
                   glen_target_text(glen, detected));
  cr_expect_not(glen_target_is_mapped_to(native));
  cr_expect(glen_target_is_mapped_to(named));
  cr_expect_gt(glen_target_instrs(named), 0);
  cr_expect(strstr(glen_target_text(glen, wide), "(vector-bytes 64)"));
  cr_expect(!strstr(glen_target_text(glen, base), "(vector-bytes 64)"));
  cr_expect_null(glen_target_variant(glen, native, "avx9"));
  expect_code(glen, "unknown-variant");
  cr_expect_null(glen_target_named(glen, "no-such"));
  expect_code(glen, "no-file");
  glen_context_free(glen);
}

Test(inputs, a_program_says_what_it_takes) {
  use_folder();
  put("net.weights", "0123456789abcdef");
  put("net.glen", "(tensor x (shape 4) f32)\n"
                  "(tensor w (shape 4) f32 :data \"net.weights\" 0)\n"
                  "(let y (compute add (pair (access x 0) (access w 0))))\n"
                  "(output y)\n(output x)\n");
  glen_context *glen = begin();
  const char *file;
  size_t bytes;
  glen_program *p = glen_program_load(glen, NULL, "net.glen");
  cr_assert_not_null(p, "%s", glen_take_diagnostics(glen, GLEN_DIAG_TEXT));
  cr_expect_eq(glen_program_inputs(p), 2);
  cr_expect_eq(glen_program_outputs(p), 2);
  cr_expect_str_eq(glen_input_name(p, 1), "w");
  cr_expect_str_eq(glen_output_name(p, 0), "y");
  cr_expect(!glen_input_is_stored(p, 0) && glen_input_is_stored(p, 1));
  cr_expect_null(glen_weights_held(p, &file, &bytes)); /* they are in a file */
  cr_assert_eq(glen_files_read(glen), 1);
  cr_expect_str_eq(glen_file_read(glen, 0), "net.glen");
  cr_assert_eq(glen_files_named(glen), 1);
  cr_expect_str_eq(glen_file_named(glen, 0), "net.weights");
  cr_expect_eq(glen_folders_read(glen), 0);
  glen_context_free(glen);
}

/* The bytes that a context has. */
static void *
counted(void *bytes, void *block, size_t size) {
  size_t *all = bytes;
  *all -= block ? malloc_usable_size(block) : 0;
  if (!size) {
    free(block);
    return NULL;
  }
  void *now = realloc(block, size);
  *all += malloc_usable_size(now ? now : block);
  return now;
}

static void
read_some(glen_context *glen, uint32_t n) {
  static const char wrong[] = "(let y (matmull x x))(let z (relu q))(output y)";
  for (uint32_t k = 0; k < n; k++) {
    glen_program *p = parse(glen, PRODUCT);
    cr_assert(p && *glen_program_text(glen, p, true));
    cr_assert_null(glen_program_parse(glen, NULL, "w", wrong, strlen(wrong)));
    cr_assert(strstr(glen_take_diagnostics(glen, GLEN_DIAG_TEXT), "matmull"));
    glen_program_free(p);
    glen_clear_diagnostics(glen);
    glen_free_strings(glen);
  }
}

Test(inputs, a_context_does_not_grow_with_what_was_wrong) {
  size_t bytes = 0;
  const glen_allocator allocator = {counted, &bytes};
  glen_context *glen = glen_context_new(&allocator, 0);
  read_some(glen, 100);
  size_t before = bytes;
  read_some(glen, SANITIZED ? 2000 : 20000);
  cr_expect_leq(bytes, before + 4096, "%zu, then %zu", before, bytes);
  glen_context_free(glen);
  cr_expect_eq(bytes, 0);
}

Test(inputs, sizes_get_numbers_or_stay_open) {
  const char *const sizes[] = {"n=5"};
  use_folder();
  put("n.glen", "(size n 1 64) (tensor x (shape n) f32) (output x)");
  glen_context *glen = begin();
  cr_expect_null(glen_program_load(glen, NULL, "n.glen"));
  glen_program *open = glen_program_load_at(glen, NULL, "n.glen", NULL, 0);
  cr_assert_not_null(open);
  cr_expect_str_eq(glen_program_text(glen, open, false),
                   "(size n 1 64)\n(tensor x (shape n) f32)\n(output x)\n");
  cr_expect_null(glen_inputs_new(glen, open, 1));
  glen_program *fixed = glen_program_load_at(glen, NULL, "n.glen", sizes, 1);
  cr_assert_not_null(fixed);
  cr_expect_str_eq(glen_program_text(glen, fixed, false),
                   "(tensor x (shape 5) f32)\n(output x)\n");
  cr_expect_not_null(glen_inputs_new(glen, fixed, 1));
  glen_context_free(glen);
}

Test(inputs, sizes_of_a_text_from_memory_get_numbers) {
  static const char text[] =
      "(size n 1 64) (tensor x (shape n) f32) (output x)";
  static const char *const sizes[] = {"n=5"}, *const none[] = {"m=5"};
  glen_context *glen = begin();
  glen_program *p = glen_program_parse_at(glen, NULL, "t.glen", text,
                                          sizeof text - 1, sizes, 1);
  cr_assert_not_null(p);
  cr_expect_str_eq(glen_program_text(glen, p, false),
                   "(tensor x (shape 5) f32)\n(output x)\n");
  cr_expect_null(glen_program_parse_at(glen, NULL, "t.glen", text,
                                       sizeof text - 1, none, 1));
  cr_expect_not_null(strstr(glen_take_diagnostics(glen, GLEN_DIAG_TEXT), "m"));
  p = glen_program_parse_at(glen, NULL, "t.glen", text, sizeof text - 1, NULL,
                            0);
  cr_assert_not_null(p, "what is not given stays open");
  cr_expect_not_null(strstr(glen_program_text(glen, p, false), "(size n"));
  glen_context_free(glen);
}

/* A number is for those of several programs that have the size. */
Test(inputs, sizes_of_several_programs) {
  const char *const sizes[] = {"n=5", "m=2"};
  bool taken[2] = {false, false};
  use_folder();
  put("n.glen", "(size n 1 64) (tensor x (shape n) f32) (output x)");
  put("two.glen", "(tensor x (shape 5) f32) (output x)");
  glen_context *glen = begin();
  glen_program *a =
      glen_program_load_among(glen, NULL, "n.glen", sizes, 2, taken);
  cr_assert_not_null(a);
  cr_expect(taken[0] && !taken[1]);
  cr_expect_str_eq(glen_program_text(glen, a, false),
                   "(tensor x (shape 5) f32)\n(output x)\n");
  taken[0] = false;
  glen_program *b =
      glen_program_load_among(glen, NULL, "two.glen", sizes, 2, taken);
  cr_assert_not_null(b);
  cr_expect(!taken[0] && !taken[1]);
  cr_expect(glen_programs_agree(glen, a, b));
  glen_context_free(glen);
}

/* The key, its part, and the blocks that fit these sizes. */
Test(inputs, a_call_is_taken_by_the_code_of_its_part) {
  const char *const small[] = {"n=8"}, *const large[] = {"n=65"},
                    *const beyond[] = {"n=401"}, *const other[] = {"m=5"};
  glen_code_options options;
  glen_code_defaults(&options);
  options.keys = 3;
  use_folder();
  put("mm.glen", "(size n 1 65) (tensor A (shape n n) f32)"
                 "(tensor B (shape n n) f32) (let C (matmul A B)) (output C)");
  glen_context *glen = begin();
  glen_target *target = glen_target_load(glen, NULL);
  glen_program *p = glen_program_load_at(glen, target, "mm.glen", NULL, 0);
  const char *at = glen_tiling(glen, p, target, &options, small, 1, false);
  cr_assert_not_null(at);
  cr_expect(strstr(at, ", for n = 8\n"), "%s", at);
  at = glen_tiling(glen, p, target, &options, large, 1, true);
  cr_expect(at && strstr(at, "\"block_k\": 65"), "%s", at);
  options.keys = 0;
  at = glen_tiling(glen, p, target, &options, small, 1, false);
  cr_expect(at && !strncmp(at, "n = 8: key 0 of 1, ", 19), "%s", at);
  cr_expect_null(glen_tiling(glen, p, target, &options, beyond, 1, false));
  cr_expect_null(glen_tiling(glen, p, target, &options, other, 1, false));
  cr_expect_null(glen_tiling(glen, p, target, &options, NULL, 0, false));
  glen_context_free(glen);
}

Test(inputs, folders_of_rules_are_told) {
  const char *const paths[] = {"some"};
  use_folder();
  cr_assert_eq(system("mkdir some"), 0);
  put("some/a.rules", "(rule one \"Two are one.\" (compute relu (compute relu "
                      "?a)) => (compute relu ?a))\n");
  put("some/b.rules", "(rule two \"Nothing is below zero.\" (compute abs "
                      "(compute relu ?a)) => (compute relu ?a))\n");
  glen_context *glen = begin();
  glen_rules *rules = glen_rules_load(glen, NULL, paths, 1, NULL, 0);
  cr_assert_not_null(rules, "%s", glen_take_diagnostics(glen, GLEN_DIAG_TEXT));
  cr_assert_eq(glen_rules_count(rules), 2);
  cr_expect_str_eq(glen_rule_name(rules, 0), "one");
  cr_expect_str_eq(glen_rule_name(rules, 1), "two");
  cr_assert_eq(glen_folders_read(glen), 1);
  cr_expect_str_eq(glen_folder_read(glen, 0), "some");
  cr_expect_eq(glen_files_read(glen), 2);
  glen_rules_free(rules);
  glen_context_free(glen);
}

Test(inputs, programs_that_agree) {
  glen_context *glen = begin();
  glen_program *a = parse(glen, PRODUCT);
  glen_program *b = parse(glen, "(tensor a (shape 4 8) f32)\n"
                                "(let d (compute relu (access a 2)))\n"
                                "(output d)\n");
  cr_expect(glen_programs_agree(glen, a, a));
  cr_expect_not(glen_programs_agree(glen, a, b));
  cr_expect_gt(glen_error_count(glen), 0);
  cr_expect_gt(glen_diagnostics(glen), 0);
  cr_expect_eq(glen_failure(glen), GLEN_BAD_INPUT);
  glen_context_free(glen);
}
