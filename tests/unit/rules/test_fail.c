/* SPDX-License-Identifier: MIT */
/* tests/fail/rules: each wrong rule file gives exactly the diagnostics beside
 * it.  A file with a program beside it is well-formed: its rules break the law
 * when they are run.
 *
 * With GLEN_BLESS set in the environment the expectations are written anew;
 * look at the difference before committing it. */
#include "lawful.h"
#include "base/file.h"
#include <stdlib.h>
#include <unistd.h>

TestSuite(fail, .init = fixture_start, .fini = fixture_stop);

static const char *
beside(const char *path, const char *suffix) {
  const char *dot = strrchr(path, '.');
  return bs_arena_printf(&arena, "%.*s%s", (int)(dot - path), path, suffix);
}

static void
run_program(const gs_context *c, const rl_rules *rules, const char *path) {
  gs_program *p = gs_parse_file(c, NULL, path);
  rl_options o = {0};
  rl_run run;
  cr_assert(p, "%s is ill-formed", path);
  eg_run_defaults(&o.run);
  cr_expect(!rl_saturate(c, p, rules, &o, &run), "%s was run well", path);
  cr_expect_eq(run.stop, EG_STOP_FAULT);
  rl_run_done(&run);
}

static void
diagnose(const char *path, bs_text *out) {
  bs_arena a;
  bs_diags d;
  bs_arena_init(&a, &heap);
  bs_diags_init(&d, &heap);
  gs_context c = {&heap, &a, ctx.values, &d};
  rl_rules *rules = rl_new(&c, NULL);
  const char *program = beside(path, ".glen");
  bool runs = access(program, R_OK) == 0;
  bool ok = rl_load(rules, path);
  ok &= rl_finish(rules);
  cr_expect_eq(ok, runs, "%s is %s", path, ok ? "accepted" : "refused");
  if (ok && runs)
    run_program(&c, rules, program);
  cr_expect_gt(d.errors, 0);
  for (uint32_t k = 0; k < d.list.len; k++)
    bs_render(&d, &d.list.data[k], false, out);
}

static char *
read_whole(const char *path, size_t *size) {
  FILE *f = fopen(path, "rb");
  cr_assert(f, "cannot open %s", path);
  fseek(f, 0, SEEK_END);
  *size = (size_t)ftell(f);
  rewind(f);
  char *text = bs_alloc(&heap, *size + 1);
  cr_assert_eq(fread(text, 1, *size, f), *size);
  text[*size] = '\0';
  fclose(f);
  return text;
}

static void
check_file(const char *path) {
  bs_text out;
  size_t size;
  bs_text_init(&out, &heap);
  diagnose(path, &out);
  const char *expected = beside(path, ".err");
  if (getenv("GLEN_BLESS"))
    cr_assert(bs_file_write(&diags, expected, out.data, out.len));
  char *text = read_whole(expected, &size);
  cr_expect(size == out.len && !memcmp(text, out.data, size),
            "%s:\n%s\n--- but %s says\n%s", path, out.data, expected, text);
  bs_text_done(&out);
}

Test(fail, every_file) {
  const char *const *paths;
  uint32_t n;
  cr_assert_eq(chdir(GLEN_SOURCE_DIR "/tests/fail/rules"), 0);
  cr_assert(bs_dir_list(&diags, ".", ".rules", &paths, &n));
  cr_assert_geq(n, 50);
  for (uint32_t k = 0; k < n; k++)
    check_file(strncmp(paths[k], "./", 2) ? paths[k] : paths[k] + 2);
}

Test(fail, a_directory_without_rules) {
  char dir[] = "/tmp/glen-rules-XXXXXX";
  cr_assert(mkdtemp(dir));
  rl_rules *rules = rl_new(&ctx, NULL);
  cr_expect(!rl_load(rules, dir));
  cr_expect_str_eq(diags.list.data[0].code, "no-rules");
  rmdir(dir);
}

Test(fail, a_file_that_is_not_there) {
  rl_rules *rules = rl_new(&ctx, NULL);
  cr_expect(!rl_load(rules, "/no/such/file.rules"));
  cr_expect_str_eq(diags.list.data[0].code, "no-file");
}

Test(fail, a_parameter_nobody_has) {
  rl_rules *rules = rl_new(&ctx, NULL);
  cr_expect(rl_set_param(rules, "unit", bs_int(ctx.values, 3)));
  cr_assert(rl_load_source(rules, source("r", "(param size 3 \"s\")")));
  cr_expect(!rl_set_param(rules, "units", bs_int(ctx.values, 3)));
  cr_expect(!rl_finish(rules));
  cr_expect_str_eq(diags.list.data[0].code, "unknown-param");
}

Test(fail, a_parameter_of_another_kind) {
  rl_rules *rules = rl_new(&ctx, NULL);
  cr_assert(rl_load_source(rules, source("r", "(param size 3 \"s\")")));
  cr_expect(rl_set_param(rules, "size", bs_sym(ctx.values, "big")));
  cr_expect(!rl_finish(rules));
  cr_expect_str_eq(diags.list.data[0].code, "bad-param");
}

Test(fail, strategies_and_rules_nobody_has) {
  rl_rules *rules = rules_of("(rule drop \"d\" (materialize ?a) => ?a)");
  gs_program *p = program_of("(tensor a (shape 2) f32) (output a)");
  rl_options o = options();
  rl_run run;
  o.strategy = "mian";
  cr_expect(!rl_saturate(&ctx, p, rules, &o, &run));
  cr_expect_str_eq(bs_last(&diags.list).code, "unknown-strategy");
  rl_run_done(&run);
  const char *names[] = {"drp"};
  o = options();
  o.disabled = names;
  o.n_disabled = 1;
  cr_expect(!rl_saturate(&ctx, p, rules, &o, &run));
  cr_expect_str_eq(bs_last(&diags.list).code, "unknown-ruleset");
  rl_run_done(&run);
}
