/* SPDX-License-Identifier: MIT */
/* test_memory.c - a result that is verified, and its proof, while memory runs
 * out: at no allocation does that become "proved".  And each function that
 * makes a text: without memory it says so, and makes all of it or nothing. */
#include "../refusals.h"
#include "glen/glen.h"
#include "../sanitized.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TRIES = SANITIZED ? 20 : 100 };

/* Programs with a sum too long to be run, whose results are not the same
 * relation: that one relu is two must be seen, so it is proved by its steps. */
#define W(k) "(tensor w" k " (shape 512 512) f32)"
#define LAYER(k, of)                                                           \
  "(let t" k " (compute dotProd (cartProd (access " of " 1) (access w" k       \
  " 1))))(let c" k " (compute relu (compute relu t" k ")))"

static const char text[] = "(tensor x (shape 512 512) f32)" W("0") W("1") W("2")
    W("3") W("4") W("5") W("6") W("7") LAYER("0", "x") LAYER("1", "c0")
        LAYER("2", "c1") LAYER("3", "c2") LAYER("4", "c3") LAYER("5", "c4")
            LAYER("6", "c5") LAYER("7", "c6") "(output c7)";

static const char rule_text[] =
    "(rule twice \"Two are one.\""
    "  (compute relu (compute relu ?a)) => (compute relu ?a))";

typedef struct attempt {
  uint64_t left;     /* allocations before the first refusal */
  uint64_t before;   /* allocations before anything was to be proved */
  uint64_t verified; /* by then it was verified */
  uint64_t used;
  bool proved, by_steps;
  bool proof;
} attempt;

/* Cases run side by side, each in a process of its own. */
static const char *
rules_path(void) {
  static char path[64];
  snprintf(path, sizeof path, "memory-%ld.rules", (long)getpid());
  return path;
}

static glen_result *
explore(glen_context *glen) {
  const char *const paths[] = {rules_path()};
  glen_saturate_options options;
  glen_target *target = glen_target_load(glen, NULL);
  glen_rules *rules =
      target ? glen_rules_load(glen, target, paths, 1, NULL, 0) : NULL;
  glen_program *p = rules ? glen_program_parse(glen, target, "memory.glen",
                                               text, strlen(text))
                          : NULL;
  glen_saturate_defaults(&options);
  options.explain = true;
  return p ? glen_saturate(glen, p, rules, target, &options) : NULL;
}

static void
try(attempt *a) {
  counter c = {.left = a->left};
  glen_allocator allocator = {count_down, &c};
  glen_context *glen = glen_context_new(&allocator, 0);
  glen_result *r = glen ? explore(glen) : NULL;
  a->before = c.used;
  const char *verdict = r ? glen_result_verify(glen, r) : NULL;
  a->proved = verdict && !strcmp(verdict, "proved");
  a->verified = c.used;
  const char *said = r ? glen_result_text(glen, r, false) : NULL;
  a->by_steps = said && strstr(said, " steps, ");
  a->proof = r && glen_result_proof(glen, r) != NULL;
  a->used = c.used;
  glen_result_free(r);
  glen_context_free(glen);
  cr_expect_eq(c.live, 0, "without %lu: %ld blocks are lost",
               (unsigned long)a->left, (long)c.live);
}

static void
write_rules(void) {
  FILE *f = fopen(rules_path(), "w");
  cr_assert(f);
  fputs(rule_text, f);
  cr_assert(!fclose(f));
}

Test(memory, that_runs_out_proves_nothing) {
  attempt whole = {.left = UINT64_MAX};
  write_rules();
  try(&whole);
  cr_assert(whole.proved && whole.by_steps && whole.proof);
  uint64_t step = (whole.used - whole.before) / TRIES + 1;
  for (uint64_t k = whole.before; k < whole.used; k += step) {
    attempt a = {.left = k};
    try(&a);
    cr_expect(!a.proved || k >= whole.verified, "proved without %lu",
              (unsigned long)k);
    cr_expect_not(a.proof, "a proof without %lu", (unsigned long)k);
  }
  remove(rules_path());
}

/* ---- functions that make a text ---- */

typedef struct things {
  glen_context *glen;
  glen_target *target;
  glen_program *program;
  glen_rules *rules;
  glen_result *result;
  glen_loops *loops;
  glen_tensors *inputs;
} things;

static const char small_text[] =
    "(tensor a (shape 3 4) f32)"
    "(let b (compute relu (compute relu (transpose a (list 1 0)))))(output b)";

static bool
make(things *x) {
  const char *const paths[] = {rules_path()};
  glen_saturate_options options;
  glen_saturate_defaults(&options);
  options.explain = options.growth = true;
  x->target = glen_target_load(x->glen, NULL);
  x->rules = glen_rules_load(x->glen, x->target, paths, 1, NULL, 0);
  x->program = glen_program_parse(x->glen, x->target, "small.glen", small_text,
                                  strlen(small_text));
  x->result = x->program ? glen_saturate(x->glen, x->program, x->rules,
                                         x->target, &options)
                         : NULL;
  x->loops =
      x->result ? glen_lower(x->glen, x->program, x->target, false) : NULL;
  x->inputs = x->loops ? glen_inputs_new(x->glen, x->program, 1) : NULL;
  return x->inputs;
}

static void
drop(things *x) {
  glen_tensors_free(x->inputs);
  glen_loops_free(x->loops);
  glen_result_free(x->result);
  glen_context_free(x->glen);
}

/* Each makes a text of the things; a second one, or none.  Those that search
 * are not among them: where memory runs out in the midst of that, what isl then
 * holds is not given back. */
typedef const char *text_maker(const things *, const char **more);

#define MAKES(name, call)                                                      \
  static const char *name(const things *x, const char **more) {                \
    *more = "";                                                                \
    return call;                                                               \
  }

MAKES(target_text, glen_target_text(x->glen, x->target))
MAKES(program_text, glen_program_text(x->glen, x->program, true))
MAKES(details, glen_version_details(x->glen))
MAKES(functions, glen_rules_functions(x->glen, true))
MAKES(result_text, glen_result_text(x->glen, x->result, false))
MAKES(result_json, glen_result_json(x->glen, x->result, false))
MAKES(verified_text, glen_result_verified_text(x->glen, x->result, true))
MAKES(report,
      glen_result_report(x->glen, x->result, &(glen_report){.stats = true}))
MAKES(egraph, glen_result_egraph_json(x->glen, x->result))
MAKES(dot, glen_result_dot(x->glen, x->result, 100))
MAKES(proof, glen_result_proof(x->glen, x->result))
MAKES(html, glen_result_html(x->glen, x->result, &(glen_html){.title = "t"}))
MAKES(loops_text, glen_loops_text(x->glen, x->loops))
MAKES(loops_tree, glen_loops_tree(x->glen, x->loops))
MAKES(manifest, glen_manifest(x->glen, x->loops, "kernel"))
MAKES(function_name, glen_function_name(x->glen, x->loops, "while"))
MAKES(printed, glen_schedule_print(x->glen, x->loops, GLEN_PRINT_DEPS))
MAKES(help, glen_schedule_help(x->glen))
MAKES(tensor, glen_tensor_text(x->glen, x->inputs, 0, 4))

static const char *
code(const things *x, const char **more) {
  const char *c;
  return glen_emit_c(x->glen, x->loops, "kernel", "kernel.h", &c, more) ? c
                                                                        : NULL;
}

static const struct {
  const char *name;
  text_maker *make;
} makers[] = {
    {"target_text", target_text},     {"program_text", program_text},
    {"version_details", details},     {"rules_functions", functions},
    {"result_text", result_text},     {"result_json", result_json},
    {"verified_text", verified_text}, {"result_report", report},
    {"egraph_json", egraph},          {"result_dot", dot},
    {"result_proof", proof},          {"result_html", html},
    {"loops_text", loops_text},       {"loops_tree", loops_tree},
    {"manifest", manifest},           {"function_name", function_name},
    {"schedule_print", printed},      {"schedule_help", help},
    {"tensor_text", tensor},          {"emit_c", code},
};

/* With so many allocations left; its texts, or "" and false where there was no
 * memory for them. */
static bool
make_with(uint32_t maker, uint64_t left, uint64_t *used, char **said) {
  counter c = {.left = UINT64_MAX};
  glen_allocator allocator = {count_down, &c};
  const char *more;
  things x = {.glen = glen_context_new(&allocator, 0)};
  cr_assert(x.glen && make(&x));
  uint64_t before = c.used;
  c.left = left;
  const char *made = makers[maker].make(&x, &more);
  *used = c.used - before;
  c.left = UINT64_MAX;
  bool fine = made && *made;
  *said = NULL;
  if (fine)
    cr_assert(asprintf(said, "%s\n%s", made, more) >= 0);
  else
    cr_expect(*used > left, "%s fails with memory", makers[maker].name);
  drop(&x);
  cr_expect_eq(c.live, 0, "%s without %lu: %ld blocks are lost",
               makers[maker].name, (unsigned long)left, (long)c.live);
  return fine;
}

Test(memory, that_runs_out_leaves_no_half_of_a_text) {
  write_rules();
  for (uint32_t m = 0; m < sizeof makers / sizeof *makers; m++) {
    uint64_t used, needs;
    char *whole, *said;
    cr_assert(make_with(m, UINT64_MAX, &needs, &whole), "%s", makers[m].name);
    uint64_t step = needs / (SANITIZED ? 3 : 12) + 1;
    for (uint64_t k = 0; k < needs; k += step) {
      if (make_with(m, k, &used, &said))
        cr_expect_str_eq(said, whole, "%s", makers[m].name);
      free(said);
    }
    free(whole);
  }
  remove(rules_path());
}
