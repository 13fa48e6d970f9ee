/* SPDX-License-Identifier: MIT */
/* schedule_sizes.c - loop programs over sizes under random schedule scripts.
 *
 *   schedule_sizes [first-seed [programs [steps]]]
 *
 * A program is a chain of stages over arrays whose extents are sizes, and a
 * script is made step by step from what the program then has.  After every
 * accepted command the text of the program, with numbers put in, must give what
 * the text of the unscheduled one gives with the same numbers: at both bounds
 * and at random sizes, each of which is a case.  A command that is refused for
 * a pair of instances at sizes that the message names must be refused with
 * these numbers put in, too; for which pair is isl's choice. */
#include "poly/loops/execute.h"
#include "poly/schedule/primitive.h"
#include "poly/script/script.h"
#include "scripts/scripts.h"
#include "tests/unit/seeded.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_STEPS = 16, COMMAND = 256, MOST_SIZES = 2, RANDOM_SIZES = 2 };

static bs_heap heap;
static bs_arena arena;
static bs_diags diags;
static gs_context ctx;
static gs_target *target;
static uint64_t n_accepted, n_cases, n_refused, n_named;

static void
start(void) {
  bs_heap_init(&heap, NULL, 0);
  bs_arena_init(&arena, &heap);
  bs_diags_init(&diags, &heap);
  ctx = (gs_context){&heap, &arena, bs_values_new(&heap), &diags};
  target = gs_target_default(&ctx);
}

static void
forget_diagnostics(void) {
  bs_clear(&diags.list);
  diags.errors = diags.warnings = 0;
  diags.dropped = false;
}

/* ---- programs ---- */

static po_program *
read_at(const char *text, const po_given_size *at, uint32_t n) {
  uint32_t source = bs_source_add(&diags, "random.loops", text, strlen(text));
  return po_read_loops(&ctx, target, source, at, n);
}

static bool
apply(po_program **p, const char *command) {
  bs_text out;
  bs_text_init(&out, &heap);
  uint32_t source =
      bs_source_add(&diags, "random.sched", command, strlen(command));
  bool ok = po_run_script(p, source, &out);
  bs_text_done(&out);
  return ok;
}

static const char *
text_of(const po_program *p) {
  bs_text out;
  bs_text_init(&out, &heap);
  po_print(p, &out);
  const char *text = bs_arena_strdup(&arena, bs_text_str(&out));
  bs_text_done(&out);
  return text;
}

/* What the text gives at sizes, as a hash; 0: it is not read, or does not run.
 */
static uint64_t
result_at(const char *text, const po_given_size *at) {
  po_program *p = read_at(text, at, MOST_SIZES);
  gs_tensor in[4], out[4];
  uint64_t hash = 0;
  if (!p)
    return 0;
  seed_tensors(p, 7, in, out);
  if (po_execute(p, in, out)) {
    const unsigned char *bytes = out[0].data;
    hash = 1469598103934665603u;
    for (int64_t k = 0; k < out[0].elements * 4; k++)
      hash = (hash ^ bytes[k]) * 1099511628211u;
  }
  po_free(p);
  return hash;
}

/* The least, the most, then any. */
static void
choose_sizes(const po_program *p, int k, po_given_size *at) {
  for (uint32_t j = 0; j < p->sizes.len; j++) {
    const po_size *s = &p->sizes.data[j];
    int steps = (int)((s->most - s->least) / s->multiple);
    int step = k == 0 ? 0 : k == 1 ? steps : pick(0, steps);
    at[j] = (po_given_size){.name = s->name,
                            .value = s->least + step * s->multiple};
  }
}

/* ---- what is asked of a command ---- */

static const char *
wrong_at_sizes(const char *before, const po_program *p) {
  const char *after = text_of(p);
  for (int k = 0; k < 2 + RANDOM_SIZES; k++) {
    po_given_size at[MOST_SIZES];
    choose_sizes(p, k, at);
    uint64_t expected = result_at(before, at), got = result_at(after, at);
    n_cases++;
    if (!expected || !got)
      return "it does not run at some sizes";
    if (expected != got)
      return "outputs differ at some sizes";
  }
  return NULL;
}

/* "... S0[1,3] -> S0[2,2] at n = 3, m = 4 (...": the sizes; false: none are
 * named. */
static bool
named_sizes(const char *message, po_given_size *at) {
  const char *place = strstr(message, " at n = ");
  long long n, m;
  if (!place || sscanf(place, " at n = %lld, m = %lld", &n, &m) != 2)
    return false;
  at[0] = (po_given_size){.name = "n", .value = n};
  at[1] = (po_given_size){.name = "m", .value = m};
  return true;
}

static const bs_diag *
refusal(void) {
  for (uint32_t k = 0; k < diags.list.len; k++)
    if (!strcmp(diags.list.data[k].code, "illegal"))
      return &diags.list.data[k];
  return NULL;
}

/* A command that was refused for a pair, with the numbers that were named. */
static const char *
wrong_refusal(const po_program *p, const char *command) {
  const bs_diag *d = refusal();
  po_given_size at[MOST_SIZES];
  if (!d || !named_sizes(d->message, at))
    return NULL;
  forget_diagnostics();
  n_named++;
  po_program *fixed = read_at(text_of(p), at, MOST_SIZES);
  const char *fault = NULL;
  if (!fixed)
    return "the program is not read at the sizes that are named";
  if (apply(&fixed, command))
    fault = "it is accepted at the sizes that are named";
  else if (!refusal())
    fault = "it is refused for no pair at the sizes that are named";
  po_free(fixed);
  return fault;
}

/* ---- a program and its script ---- */

static bool
run(uint64_t seed, int steps) {
  char text[TEXT], command[COMMAND], script[MAX_STEPS * COMMAND] = "";
  const char *fault = NULL;
  int kept = 0;
  start();
  random_start(seed);
  make_open_program(text, sizeof text);
  po_program *p = read_at(text, NULL, 0);
  if (!p)
    fault = "the program is not read";
  for (int tries = 0; !fault && tries < 4 * steps && kept < steps; tries++) {
    make_command(p, command, sizeof command);
    if (apply(&p, command)) {
      n_accepted++;
      kept++;
      fault = wrong_at_sizes(text, p);
      snprintf(script + strlen(script), sizeof script - strlen(script), "%s\n",
               command);
    } else {
      n_refused++;
      fault = wrong_refusal(p, command);
    }
    forget_diagnostics();
  }
  if (fault)
    printf("seed %llu: %s: %s\n%s%s", (unsigned long long)seed, command, fault,
           text, script);
  po_free(p);
  bs_heap_done(&heap);
  return !fault;
}

int
main(int argc, char **argv) {
  uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
  uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 10) : 300;
  int steps = argc > 3 ? atoi(argv[3]) : 6, failed = 0;
  if (steps < 1 || steps > MAX_STEPS)
    steps = MAX_STEPS;
  for (uint64_t k = 0; k < n; k++)
    failed += !run(first + k, steps);
  printf("%llu programs from seed %llu: %llu commands accepted, %llu cases; "
         "%llu refused, %llu for a pair at sizes; %d failed\n",
         (unsigned long long)n, (unsigned long long)first,
         (unsigned long long)n_accepted, (unsigned long long)n_cases,
         (unsigned long long)n_refused, (unsigned long long)n_named, failed);
  return failed != 0;
}
