/* SPDX-License-Identifier: MIT */
/* test_answers.c - what is answered of each rule of this folder, word for word.
 *
 * One seed gives one answer, on every machine: how many shapes and forms were
 * looked at, what they had in them, the shape that refutes, and how much each
 * part of the prover did for it.  answers/ holds
 * them; a change of the prover that means to change them writes them anew with
 * GLEN_RECORD=1 in the environment, and the difference is to be read.  What
 * ends an answer is a bound of work, never a clock: all rules are recorded. */
#include "fixture.h"
#include "tests/unit/sanitized.h"
#include <stdio.h>
#include <stdlib.h>

#define DIR GLEN_SOURCE_DIR "/tests/unit/prove/"

enum { SHAPES = 10, EVERY = SANITIZED ? 5 : 1 };

static void
put_answer(bs_text *out, const rl_rules *rules, const rl_rule *rule) {
  pv_rule_options o;
  pv_rule_answer a;
  pv_rule_defaults(&o);
  o.shapes = SHAPES;
  o.attempts = 100;
  pv_prove_rule(&ctx, rules, rule, &o, &a);
  put_rule_answer(out, rule, &a);
  bs_putf(out, "  %s by %s, %u: %u proved, %u tested, %u unknown, %u large\n",
          pv_verdict_name(a.verdict), pv_method_name(a.answer.method), a.shapes,
          a.proved, a.tested, a.unknown, a.too_large);
  bs_putf(out, "  rank %u, %u of %u forms; %s\n  ", a.rank, a.general_forms,
          a.forms, a.why ? a.why : "all of it");
  pv_put_looked(out, &a.looked);
  bs_put(out, "\n  ");
  pv_put_counts(out, &a.work);
  bs_putc(out, '\n');
}

/* The block of a rule: from its name in brackets to the next one. */
static const char *
block_of(const char *recorded, const char *name, size_t *len) {
  char head[200];
  snprintf(head, sizeof head, "[%s]\n", name);
  const char *at = strstr(recorded, head);
  const char *end = at ? strstr(at, "\n\n") : NULL;
  *len = end ? (size_t)(end - at) + 1 : 0;
  return at;
}

static void
write_file(const char *path, const bs_text *all) {
  FILE *f = fopen(path, "w");
  cr_assert(f && fwrite(all->data, 1, all->len, f) == all->len && !fclose(f),
            "%s", path);
}

static const char *
read_file(const char *path) {
  FILE *f = fopen(path, "r");
  cr_assert(f, "%s is not there", path);
  bs_text t;
  bs_text_init(&t, &heap);
  for (int c; (c = getc(f)) != EOF;)
    bs_putc(&t, (char)c);
  fclose(f);
  return bs_text_str(&t);
}

static uint32_t asked;

static void
compare(const char *recorded, const char *name, const bs_text *answer) {
  size_t len;
  const char *block = block_of(recorded, name, &len);
  asked++;
  cr_expect(block && len == answer->len &&
                !memcmp(block, answer->data, answer->len),
            "recorded:\n%.*s\nnow:\n%.*s", block ? (int)len : 0,
            block ? block : "", (int)answer->len, answer->data);
}

static void
answers_of(const char *file) {
  bool record = getenv("GLEN_RECORD");
  const char *path = bs_arena_printf(&arena, DIR "answers/%s.txt", file);
  const char *recorded = record ? NULL : read_file(path);
  rl_rules *rules = rl_new(&ctx, NULL);
  bs_text all;
  bs_text_init(&all, &heap);
  cr_assert(rl_load(rules, bs_arena_printf(&arena, DIR "%s.rules", file)) &&
                rl_finish(rules),
            "%s", faults());
  for (uint32_t k = 0; k < rl_count(rules); k++) {
    const rl_rule *rule = rl_at(rules, k);
    bs_text one;
    if (!record && k % EVERY)
      continue;
    bs_text_init(&one, &heap);
    bs_putf(&one, "[%s]\n", rule->name);
    put_answer(&one, rules, rule);
    if (!record)
      compare(recorded, rule->name, &one);
    else
      bs_putf(&all, "%s\n", bs_text_str(&one));
    bs_text_done(&one);
  }
  if (record)
    write_file(path, &all);
  cr_expect(record || asked);
}

#define FILE_OF(name, file)                                                    \
  Test(answers, name, .init = fixture_start, .fini = fixture_stop) {           \
    answers_of(file);                                                          \
  }

FILE_OF(of_rules_for_all_sizes, "all-sizes")
FILE_OF(of_rules_for_some_sizes, "some-sizes")
FILE_OF(of_near_misses, "near-sizes")
FILE_OF(of_what_is_equal_up_to_rounding, "open")
FILE_OF(of_sound_rules, "sound")
FILE_OF(of_more_sound_rules, "more-sound")
FILE_OF(of_unsound_rules, "unsound")
FILE_OF(of_more_unsound_rules, "more-unsound")
FILE_OF(of_nearest_sound_rules, "nearest-sound")
FILE_OF(of_nearest_unsound_rules, "nearest-unsound")
