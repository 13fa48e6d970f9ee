/* SPDX-License-Identifier: MIT */
/* test_host.c - the library in a program that is not glen: on a thread whose
 * stack is small, in a locale whose numbers have commas. */
#include "glen/glen.h"
#include "../sanitized.h"
#include <criterion/criterion.h>
#include <langinfo.h>
#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Frames are several times as large where they are watched. */
#define STACK_BYTES ((size_t)(SANITIZED ? 2048 : 256) << 10)

#define PATH(name) GLEN_SOURCE_DIR "/" name

typedef struct work {
  glen_context *glen;
  const char *path; /* of a program */
  bool mapped;      /* to the systolic array */
  bool ok;
  char *c, *text; /* what was made */
} work;

static glen_result *
explore(work *w, const glen_target *target, const glen_program *p,
        const glen_rules *rules) {
  glen_saturate_options options;
  glen_saturate_defaults(&options);
  options.iterations = 12;
  options.nodes = 3000;
  options.explain = options.growth = options.contribution = true;
  return glen_saturate(w->glen, p, rules, target, &options);
}

static bool
report(work *w, glen_result *r) {
  const glen_report what = {.stats = true};
  const glen_html page = {.title = "a page"};
  glen_explain_options chains;
  glen_explained explained;
  glen_mapped mapped;
  glen_explain_defaults(&chains);
  w->text = strdup(glen_result_report(w->glen, r, &what));
  return glen_result_verify(w->glen, r) &&
         glen_result_explain(w->glen, r, &chains, &explained) &&
         glen_map(w->glen, r, NULL, &mapped) &&
         glen_result_egraph_json(w->glen, r) &&
         glen_result_dot(w->glen, r, 100) &&
         glen_result_html(w->glen, r, &page);
}

static bool
lower(work *w, const glen_target *target, const glen_program *p) {
  static const int64_t widths[] = {8};
  const char *c, *h, *name;
  glen_loops *loops = glen_lower(w->glen, p, target, false);
  glen_loops *chosen = loops ? glen_loops_copy(w->glen, loops) : NULL;
  glen_loops *device = loops ? glen_loops_copy(w->glen, loops) : NULL;
  bool ok = chosen && device && glen_loops_text(w->glen, loops) &&
            glen_loops_tree(w->glen, loops) &&
            glen_layout(w->glen, loops, GLEN_LAYOUT_DOC, widths, 1, true) &&
            glen_schedule_print(w->glen, loops, GLEN_PRINT_DEPS) &&
            glen_loops_implgraph(w->glen, loops, true) &&
            glen_schedule_auto(w->glen, loops, GLEN_FUSE_POST_TILE, NULL, 0) &&
            glen_choose(w->glen, chosen, 4, &name) &&
            glen_emit_c(w->glen, loops, "kernel", "kernel.h", &c, &h);
  if (ok)
    w->c = strdup(c);
  /* Instructions have no form on a device. */
  ok = ok &&
       (w->mapped || (glen_bind(w->glen, device) &&
                      glen_emit_cuda(w->glen, device, "kernel") &&
                      glen_emit_opencl(w->glen, device, "kernel", &c, &h)));
  glen_loops_free(device);
  glen_loops_free(chosen);
  glen_loops_free(loops);
  return ok;
}

static bool
compute(work *w, const glen_program *p) {
  glen_tensors *in = glen_inputs_new(w->glen, p, 1);
  glen_tensors *out = in ? glen_interpret(w->glen, p, in) : NULL;
  glen_equality proof;
  bool ok = out && glen_tensor_text(w->glen, out, 0, 4) &&
            glen_programs_prove(w->glen, p, p, &proof);
  glen_tensors_free(out);
  glen_tensors_free(in);
  return ok;
}

static void *
everything(void *arg) {
  work *w = arg;
  const char *const paths[] = {PATH("rules")};
  glen_target *target = glen_target_load(
      w->glen, w->mapped ? PATH("targets/systolic.target") : NULL);
  glen_rules *rules =
      target ? glen_rules_load(w->glen, target, paths, 1, NULL, 0) : NULL;
  glen_program *p = rules ? glen_program_load(w->glen, target, w->path) : NULL;
  glen_result *r = p ? explore(w, target, p, rules) : NULL;
  w->ok = r && report(w, r) && compute(w, p) &&
          lower(w, target, glen_result_program(r));
  glen_result_free(r);
  return NULL;
}

static void
run(work *w, bool small) {
  pthread_attr_t attr;
  pthread_t thread;
  w->glen = glen_context_new(NULL, 0);
  cr_assert(w->glen);
  pthread_attr_init(&attr);
  if (small)
    cr_assert(!pthread_attr_setstacksize(&attr, STACK_BYTES));
  cr_assert(!pthread_create(&thread, &attr, everything, w));
  pthread_join(thread, NULL);
  pthread_attr_destroy(&attr);
  cr_expect(w->ok, "%s: %s", w->path,
            glen_take_diagnostics(w->glen, GLEN_DIAG_TEXT));
  glen_context_free(w->glen);
}

static void
drop(work *w) {
  free(w->c);
  free(w->text);
}

Test(host, small_stacks_are_enough) {
  static const char *const paths[] = {
      PATH("examples/conv.glen"), PATH("examples/softmax.glen"),
      PATH("examples/mlp.glen"), PATH("examples/conv2d-nchw.glen")};
  for (size_t k = 0; k < sizeof paths / sizeof *paths; k++) {
    work w = {.path = paths[k], .mapped = k == 0};
    run(&w, true);
    drop(&w);
  }
}

/* One that is there, or is made from what describes it. */
static bool
use_commas(void) {
  static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.utf8",
                                      "de_DE"};
  char folder[] = "/tmp/glen-locale-XXXXXX", command[200];
  for (size_t k = 0; k < sizeof names / sizeof *names; k++)
    if (setlocale(LC_ALL, names[k]))
      return true;
  if (!mkdtemp(folder))
    return false;
  snprintf(command, sizeof command,
           "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1",
           folder);
  (void)!system(command);
  setenv("LOCPATH", folder, 1);
  bool ok = setlocale(LC_ALL, "de_DE.UTF-8") != NULL;
  snprintf(command, sizeof command, "rm -r %s", folder);
  (void)!system(command);
  return ok;
}

Test(host, the_locale_changes_nothing) {
  work plain = {.path = PATH("examples/softmax.glen")}, commas = plain;
  run(&plain, false);
  /* What the test is about: a locale that would be noticed. */
  cr_assert(use_commas(), "no locale has commas: install `locales`");
  cr_assert_str_eq(nl_langinfo(RADIXCHAR), ",");
  run(&commas, false);
  cr_assert_str_eq(nl_langinfo(RADIXCHAR), ",");
  cr_expect_str_eq(plain.c, commas.c);
  cr_expect_str_eq(plain.text, commas.text);
  drop(&plain);
  drop(&commas);
}

static char codeset[64];

static void
look(void *ctx, const glen_progress *p) {
  (void)ctx;
  (void)p;
  snprintf(codeset, sizeof codeset, "%s", nl_langinfo(CODESET));
}

Test(host, a_thread_gets_its_own_locale_back) {
  locale_t own = newlocale(LC_ALL_MASK, "C.UTF-8", (locale_t)0);
  glen_saturate_options options;
  const char *const paths[] = {PATH("rules")};
  cr_assert(own);
  uselocale(own);
  glen_context *glen = glen_context_new(NULL, 0);
  glen_target *target = glen_target_load(glen, NULL);
  glen_program *p = glen_program_load(glen, target, PATH("examples/mlp.glen"));
  glen_rules *rules = glen_rules_load(glen, target, paths, 1, NULL, 0);
  glen_saturate_defaults(&options);
  options.iterations = 2;
  options.progress = look;
  cr_assert(glen_saturate(glen, p, rules, target, &options));
  cr_expect_str_neq(codeset, "UTF-8");
  cr_expect_neq(codeset[0], '\0');
  cr_expect_eq(uselocale((locale_t)0), own);
  glen_context_free(glen);
}
