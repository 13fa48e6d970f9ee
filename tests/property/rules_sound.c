/* SPDX-License-Identifier: MIT */
/* rules_sound.c - rules against the interpreter, on random programs.
 *
 *   rules_sound DIRECTORY [PROGRAMS [SEED [NAME=VALUE...]]]
 *
 * First the checker itself: rules that are known to be wrong must be caught.
 * Then each rule of the directory, alone on programs made for its left side,
 * and all of them together on programs of all operators; then again under the
 * parameters (integers), which should make rules fire on small sizes.  Every
 * variant is explained, too, and each step of its chain replayed.  Under the
 * sanitizers one rule in three is tried alone. */
#include "rules/test/sound_testing.h"
#include "tests/unit/sanitized.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEP = SANITIZED ? 3 : 1 };

/* Each of these was believed somewhere. */
static const char wrong_rules[] =
    "(rule concat-on-the-tuple-axis \"The tuple axis is multiplied.\""
    "  (compute dotProd (concat ?a ?b ?d))"
    "  => (compute add (access (pair (compute dotProd ?a)"
    "       (compute dotProd ?b)) ?n))"
    "  :where (and (= ?n (access-rank ?a)) (= ?n (access-rank ?b))"
    "              (>= ?d ?n)))\n"
    "(rule reshape-of-the-tuple-axis \"So a reshape may not change it.\""
    "  (compute dotProd (reshape ?a ?s ?c))"
    "  => (reshape (compute dotProd ?a) ?s (list)))\n"
    "(rule windows-that-leave-some-out \"A stride may pass the last one.\""
    "  (compute reduceMax ?a)"
    "  => (compute reduceMax (access (compute reduceMax"
    "       (windows ?a (shape 2) (stride 2))) ?n))"
    "  :where (and (= ?n (access-rank ?a)) (= (compute-rank ?a) 1)"
    "              (>= (dim ?a ?n) 2)))\n"
    "(rule pad-of-a-maximum \"Zero is no neutral element of max.\""
    "  (compute reduceMax ?a) => (compute reduceMax (pad ?a zero ?d 0 1))"
    "  :where (and (= ?d (access-rank ?a)) (> (compute-rank ?a) 0)))\n"
    "(rule integers-do-not-cancel \"Integers are rounded.\""
    "  (compute (scale ?x) (compute (scale ?y) ?a))"
    "  => (compute (scale ?y) (compute (scale ?x) (compute relu ?a))))\n"
    "(rule access-of-a-pair \"A pair has items of its own.\""
    "  (pair ?a ?b) => (pair ?b ?a))\n"
    "(rule moved-axis \"The type tells.\""
    "  (transpose ?a ?p) => ?a)\n"
    "(rule past-the-end \"The type tells.\""
    "  (slice ?a ?d ?lo ?hi) => (slice ?a ?d ?lo (+ ?hi 1)))\n";

static bs_heap heap;
static bs_arena arena;
static bs_diags diags;
static gs_context ctx;
static rl_sound_options options;
static int failures;

static void
print_diags(void) {
  bs_text text;
  bs_text_init(&text, &heap);
  for (uint32_t k = 0; k < diags.list.len; k++)
    bs_render(&diags, &diags.list.data[k], false, &text);
  printf("%s", bs_text_str(&text));
  bs_text_done(&text);
}

static rl_rules *
finished(rl_rules *rules, bool loaded) {
  if (rl_finish(rules) && loaded)
    return rules;
  print_diags();
  failures++;
  return NULL;
}

static void
check_wrong_rules(void) {
  rl_rules *rules = rl_new(&ctx, NULL);
  uint32_t source =
      bs_source_add(&diags, "wrong.rules", wrong_rules, sizeof wrong_rules - 1);
  rl_sound_options o = options;
  o.programs = 60;
  o.attempts = 3000;
  if (!finished(rules, rl_load_source(rules, source)))
    return;
  for (uint32_t k = 0; k < rl_count(rules); k++) {
    rl_sound_result r;
    if (!rl_check_sound(&ctx, rules, k, &o, &r))
      continue;
    printf("%s was not caught; it fired on %u programs\n",
           rl_at(rules, k)->name, r.fired);
    failures++;
  }
}

static bool
set_params(rl_rules *rules, char **params) {
  bool ok = true;
  for (; *params; params++) {
    char *equals = strchr(*params, '=');
    const char *name = bs_arena_printf(
        &arena, "%.*s", (int)(equals ? equals - *params : 0), *params);
    bs_value value =
        bs_int(ctx.values, equals ? strtoll(equals + 1, NULL, 10) : 0);
    if (rl_set_param(rules, name, value))
      continue;
    printf("there is no parameter %s\n", name);
    ok = false;
  }
  return ok;
}

static void
check_directory(const char *path, char **params) {
  rl_rules *rules = rl_new(&ctx, NULL);
  uint32_t never = 0;
  uint64_t explained = 0, steps = 0, lemmas = 0;
  rl_sound_result r;
  bool ok = rl_load(rules, path) && set_params(rules, params);
  if (!finished(rules, ok))
    return;
  for (uint32_t k = 0; k < rl_count(rules); k += STEP) {
    if (!rl_check_sound(&ctx, rules, k, &options, &r)) {
      printf("%s\n", r.message);
      failures++;
    }
    never += !r.fired;
    explained += r.explained;
    steps += r.steps;
    lemmas += r.lemmas;
  }
  printf("%u rules, %u of them never fired\n", rl_count(rules), never);
  printf("%llu variants explained in %llu steps, %llu lemmas\n",
         (unsigned long long)explained, (unsigned long long)steps,
         (unsigned long long)lemmas);
  if (!rl_check_sound_together(&ctx, rules, &options, &r)) {
    printf("%s\n", r.message);
    failures++;
  }
  printf("together: %u programs, %u variants compared, explained in %u steps\n",
         r.fired, r.compared, r.steps);
}

static void
body(void *arg) {
  char **argv = arg, *none = NULL;
  rl_sound_defaults(&options);
  if (argv[2])
    options.programs = (uint32_t)strtoul(argv[2], NULL, 10);
  if (argv[2] && argv[3])
    options.seed = strtoull(argv[3], NULL, 10);
  check_wrong_rules();
  options.explain = true;
  check_directory(argv[1], &none);
  if (argv[2] && argv[3] && argv[4])
    check_directory(argv[1], argv + 4);
}

int
main(int argc, char **argv) {
  if (argc < 2)
    return 2;
  bs_heap_init(&heap, NULL, 0);
  bs_arena_init(&arena, &heap);
  bs_diags_init(&diags, &heap);
  ctx = (gs_context){&heap, &arena, bs_values_new(&heap), &diags};
  failures += !bs_protect(&heap, body, argv);
  bs_heap_done(&heap);
  return failures ? 1 : 0;
}
