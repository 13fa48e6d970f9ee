/* SPDX-License-Identifier: MIT */
/* region_programs.c - random programs saturated region by region: what comes of
 * them computes what they did, and each region is proved or tested, never
 * refuted.
 *
 *   region_programs RULES TARGETS FIRST COUNT
 *
 * Programs are those of the pipeline's test; each is put through the public
 * interface, for one of the shipped targets, and what it gives is interpreted
 * beside the program as it was written. */
#include "base/file.h"
#include "glen/glen.h"
#include "tests/property/programs/plan.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"systolic16", "systolic", "pool", "cpu"};
enum { N_NAMES = sizeof names / sizeof *names };

static const char *rules_folder, *targets_folder;
static glen_context *glen;
static glen_target *machines[N_NAMES];
static glen_rules *rules[N_NAMES];
static uint32_t n_regions, n_rewritten, n_refuted;

static const char *
target_path(uint32_t k) {
  return bs_arena_printf(&arena, "%s/%s.target", targets_folder, names[k]);
}

static bool
load(void) {
  for (uint32_t k = 0; k < N_NAMES; k++) {
    machines[k] = glen_target_load(glen, target_path(k));
    rules[k] = machines[k] ? glen_rules_load(glen, machines[k], &rules_folder,
                                             1, NULL, 0)
                           : NULL;
    targets[k] = gs_target_parse_file(&ctx, target_path(k));
    if (!rules[k] || !targets[k])
      return false;
  }
  return true;
}

static uint32_t
regions_in(const char *json) {
  const char *at = strstr(json, "\"regions\"");
  at = at ? strstr(at, "\"count\": ") : NULL;
  return at ? (uint32_t)strtoul(at + 9, NULL, 10) : 0;
}

/* The text of what regions lead to; NULL: nothing came of it. */
static const char *
rewritten(const gs_program *p, uint32_t machine, bool verify) {
  glen_saturate_options options;
  bs_text text;
  bs_text_init(&text, &heap);
  gs_print(p, false, &text);
  glen_saturate_defaults(&options);
  options.nodes = 4000;
  options.regions = GLEN_REGIONS_LAYERS;
  options.explain = verify;
  glen_program *whole = glen_program_parse(glen, machines[machine], "p.glen",
                                           bs_text_str(&text), text.len);
  glen_result *r = whole ? glen_saturate(glen, whole, rules[machine],
                                         machines[machine], &options)
                         : NULL;
  if (!r)
    return NULL;
  const char *verdict = verify ? glen_result_verify(glen, r) : "";
  n_refuted += !strcmp(verdict, "refuted");
  n_regions += regions_in(glen_result_json(glen, r, false));
  const char *out = glen_program_text(glen, glen_result_program(r), false);
  n_rewritten += strcmp(out, bs_text_str(&text)) != 0;
  glen_result_free(r);
  bs_text_done(&text);
  return out;
}

static bool
is_equal(const plan *of, const gs_program *p, const char *text,
         uint32_t machine) {
  uint32_t source = bs_source_add(&diags, "found.glen", text, strlen(text));
  gs_program *found = gs_parse(&ctx, targets[machine], source);
  gs_tensor *in = inputs_of(of, p);
  gs_tensor *expected = BS_NEWS(&arena, gs_tensor, p->outputs.len);
  gs_tensor *got = BS_NEWS(&arena, gs_tensor, p->outputs.len);
  return found && gs_interpret(p, in, expected) &&
         gs_interpret(found, in, got) && agree(of, p, expected, got, false);
}

static bool
passes(uint64_t seed) {
  plan own;
  uint32_t machine = (uint32_t)(random_of(seed) % N_NAMES);
  if (seed % 4)
    make_products(&own, seed);
  else
    make_plan(&own, seed);
  own.machine = machine;
  gs_program *p = build(&own, false);
  const char *text = rewritten(p, machine, seed % 8 == 1);
  bool ok = text && is_equal(&own, p, text, machine);
  if (ok)
    return true;
  fprintf(stderr, "seed %llu on %s:\n%s\n", (unsigned long long)seed,
          names[machine],
          text ? text : glen_take_diagnostics(glen, GLEN_DIAG_TEXT));
  show_faults();
  return false;
}

typedef struct range {
  uint64_t first, n;
  uint32_t failed;
} range;

static void
run(void *arg) {
  range *r = arg;
  bs_arena_init(&arena, &heap);
  bs_diags_init(&diags, &heap);
  ctx = (gs_context){&heap, &arena, bs_values_new(&heap), &diags};
  n_machines = N_NAMES;
  if (!load()) {
    r->failed = 1;
    return;
  }
  for (uint64_t k = 0; k < r->n; k++)
    r->failed += !passes(r->first + k);
}

int
main(int argc, char **argv) {
  if (argc != 5)
    return 2;
  rules_folder = argv[1];
  targets_folder = argv[2];
  range r = {strtoull(argv[3], NULL, 10), strtoull(argv[4], NULL, 10), 0};
  bs_heap_init(&heap, NULL, 0);
  glen = glen_context_new(NULL, 0);
  bool fine = glen && bs_protect(&heap, run, &r);
  printf("%llu programs, %u regions, %u rewritten, %u refuted, %u failed\n",
         (unsigned long long)r.n, n_regions, n_rewritten, n_refuted, r.failed);
  glen_context_free(glen);
  bs_heap_done(&heap);
  return !fine || r.failed || n_refuted || n_regions < r.n || !n_rewritten;
}
