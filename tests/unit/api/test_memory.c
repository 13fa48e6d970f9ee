/* SPDX-License-Identifier: MIT */
/* test_memory.c - a result that is verified, and its proof, while memory runs
 * out: at no allocation does that become "proved". */
#include "../refusals.h"
#include "glen/glen.h"
#include "../sanitized.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

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

static glen_result *
explore(glen_context *glen) {
  const char *const paths[] = {"memory.rules"};
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
}

static void
write_rules(void) {
  FILE *f = fopen("memory.rules", "w");
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
  remove("memory.rules");
}
