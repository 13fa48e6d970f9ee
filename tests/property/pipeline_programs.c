/* SPDX-License-Identifier: MIT */
/* pipeline_programs.c - the whole way from random programs to what their C
 * computes: rules, extraction, lowering, schedule, compiler, run.
 *
 *   pipeline_programs --rules DIR --targets DIR [--seeds FIRST-LAST]
 *       [--batch N] [--minutes M] [--least N] [--plain] [--write DIR]
 *
 * Programs are weighted to contractions, windows and chains of quasi-affine
 * views (programs/products.c), one in four is of any kind.  Each is meant for
 * one of the targets, made ones and those of the folder; rules of the folder
 * are applied by one of their strategies or not at all, and loops scheduled in
 * one of the automatic ways or as they are.  A batch is compiled together under
 * the address and undefined-behaviour sanitizers (--plain: without) and its
 * outputs compared with the interpreter's of the program as it was written.
 *
 * Stages have a budget of processor time, and a batch one of memory, far beyond
 * what programs of this size need: more is a failure.  What fails is shrunk.
 * The number of programs must reach --least; --minutes ends the search after a
 * batch.  With --write the C of each goes to a file of the folder, SEED.c, and
 * nothing is interpreted, compiled or run. */
#include "base/file.h"
#include "codegen/run/run_build.h"
#include "extract/extract_egraph.h"
#include "extract/once.h"
#include "rules/rule/saturate.h"
#include "tests/property/programs/plan.h"
#include "tests/unit/sanitized.h"
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Seconds of a processor for a stage of one program; bytes for a batch. */
#define BUDGET       20.0
#define BUDGET_BYTES ((size_t)3 << 30)

enum { WAYS = 3 }; /* of applying rules: not, `main`, `everything` */

static const char *const strategies[WAYS] = {NULL, NULL, "everything"};

/* ---- the command line ---- */

static const char *rules_folder, *targets_folder, *written_folder;
static uint64_t first_seed = 1, last_seed = 100;
static uint32_t batch = 50, least;
static double minutes;
static bool sanitize = true;

static void
read_option(const char *name, const char *value) {
  if (!strcmp(name, "--rules"))
    rules_folder = value;
  else if (!strcmp(name, "--targets"))
    targets_folder = value;
  else if (!strcmp(name, "--write"))
    written_folder = value;
  else if (!strcmp(name, "--seeds"))
    sscanf(value, "%lu-%lu", &first_seed, &last_seed);
  else if (!strcmp(name, "--batch"))
    batch = (uint32_t)atoi(value);
  else if (!strcmp(name, "--least"))
    least = (uint32_t)atoi(value);
  else if (!strcmp(name, "--minutes"))
    minutes = atof(value);
}

/* ---- targets and rules ---- */

/* Small caches, so that loops are blocked. */
static const char *const machine_texts[MACHINES] = {
    "(target test)\n",
    "(target test (vector-bytes 32) (vector-registers 16)\n"
    "  (cache 1 (bytes 1024)) (cache 2 (bytes 8192)))\n",
    "(target test (vector-bytes 64) (vector-registers 32)\n"
    "  (cache 1 (bytes 2048)) (cache 2 (bytes 16384))\n"
    "  (memory (stored-bytes-per-cycle 2)))\n"};

static rl_rules *rules_for[MOST_MACHINES];

static int
is_target(const struct dirent *e) {
  const char *dot = strrchr(e->d_name, '.');
  return dot && !strcmp(dot, ".target") && !strstr(e->d_name, "_instr");
}

static bool
add_shipped(void) {
  struct dirent **list;
  int n = scandir(targets_folder, &list, is_target, alphasort);
  n_machines = MACHINES;
  for (int k = 0; k < n; k++) {
    const char *path =
        bs_arena_printf(&arena, "%s/%s", targets_folder, list[k]->d_name);
    free(list[k]);
    if (n_machines == MOST_MACHINES)
      continue;
    targets[n_machines] = gs_target_parse_file(&ctx, path);
    if (!targets[n_machines++])
      return false;
  }
  if (n > 0)
    free(list);
  return n > 0;
}

static bool
make_targets(void) {
  for (uint32_t k = 0; k < MACHINES; k++) {
    uint32_t source = bs_source_add(&diags, "test.target", machine_texts[k],
                                    strlen(machine_texts[k]));
    targets[k] = gs_target_parse(&ctx, source);
    if (!targets[k])
      return false;
  }
  return add_shipped();
}

static const rl_rules *
rules_of(uint32_t machine) {
  if (!rules_for[machine]) {
    rl_rules *rules = rl_new(&ctx, targets[machine]);
    if (!rl_load(rules, rules_folder) || !rl_finish(rules))
      return NULL;
    rules_for[machine] = rules;
  }
  return rules_for[machine];
}

/* ---- one program ---- */

typedef struct trial {
  plan plan;
  uint32_t rules; /* strategies[] */
  gs_program *program, *chosen;
  po_program *loops;
  gs_tensor *in, *expected, *found;
  const char *fault; /* what went wrong before it ran */
} trial;

static double
processor_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool
is_in_budget(trial *t, double since, const char *stage) {
  double seconds = processor_seconds() - since;
  if (seconds > BUDGET)
    t->fault = bs_arena_printf(&arena, "%s took %.1f s", stage, seconds);
  return seconds <= BUDGET;
}

static bs_value
type_of(void *none, const eg_graph *g, eg_class c) {
  (void)none;
  return rl_facts_of(g, c)->type;
}

static gs_program *
extract(const trial *t, const rl_run *run) {
  const gs_target *target = targets[t->plan.machine];
  ex_names names = {0};
  ex_pricer pricer = {
      .target = target,
      .limit = ex_limit_of(t->program, target),
      .once = ex_once_classes(&heap, ctx.values, run->graph, &names),
      .values = ctx.values,
      .type_of = type_of};
  ex_options options = {.seconds = 5};
  ex_bridge bridge;
  ex_solution s;
  gs_program *out = NULL;
  ex_from_egraph(&heap, run->graph, run->outputs, run->n_outputs,
                 ex_price_enode, &pricer, &bridge);
  if (ex_solve(&bridge.problem, EX_DAG, &options, &s))
    out = rl_extracted(&ctx, t->program, run, ex_chosen(&heap, &bridge, &s));
  ex_solution_done(&bridge.problem, &s);
  ex_bridge_done(&bridge);
  return out;
}

/* The program that rules and prices of the target lead to. */
static bool
rewrite(trial *t) {
  double since = processor_seconds();
  t->chosen = t->program;
  if (!t->rules)
    return true;
  const rl_rules *rules = rules_of(t->plan.machine);
  rl_options options = {.strategy = strategies[t->rules]};
  eg_run_defaults(&options.run);
  options.run.iterations = 40;
  options.run.nodes = 4000;
  options.run.bytes = (size_t)256 << 20;
  rl_run run;
  if (!rules || !rl_saturate(&ctx, t->program, rules, &options, &run)) {
    t->fault = "rules could not be applied";
    return false;
  }
  t->chosen = extract(t, &run);
  rl_run_done(&run);
  if (!t->chosen)
    t->fault = "nothing that the target can run was found";
  return t->chosen && is_in_budget(t, since, "rules");
}

static bool
lower(trial *t) {
  const plan *p = &t->plan;
  double since = processor_seconds();
  po_options options = {.strict_fp = p->strict_fp,
                        .chains = has_chains(p),
                        .max_pieces = p->max_pieces};
  po_auto_options how = {.n_tiles = p->n_tiles};
  memcpy(how.tiles, p->tiles, sizeof p->tiles);
  t->loops = po_lower(t->chosen, targets[p->machine], &options);
  if (!t->loops) {
    t->fault = "it could not be lowered";
    return false;
  }
  if (!is_in_budget(t, since, "lowering"))
    return false;
  since = processor_seconds();
  how.fuse = (po_fuse)(p->way ? p->way - 1 : 0);
  if (p->way)
    po_schedule_automatically(&t->loops, &how);
  return is_in_budget(t, since, "the schedule");
}

static bool
write_code(const plan *p, bs_text *h, bs_text *c) {
  const char *path = bs_arena_printf(&arena, "%s/%llu.c", written_folder,
                                     (unsigned long long)p->seed);
  const char *code =
      bs_arena_printf(&arena, "%s%s", bs_text_str(h), bs_text_str(c));
  return bs_file_write(&diags, path, code, strlen(code));
}

static bool
emits(trial *t) {
  double since = processor_seconds();
  bs_text c, h;
  bs_text_init(&c, &heap);
  bs_text_init(&h, &heap);
  cg_options options = {.name = "f", .openmp = true};
  bool ok = cg_emit_c(t->loops, &options, &c, &h);
  if (ok && written_folder)
    ok = write_code(&t->plan, &h, &c);
  bs_text_done(&h);
  bs_text_done(&c);
  if (!ok)
    t->fault = "no C could be made";
  return ok && is_in_budget(t, since, "C");
}

static bool
prepare(trial *t) {
  t->fault = NULL;
  t->program = build(&t->plan, false);
  t->in = inputs_of(&t->plan, t->program);
  t->expected = BS_NEWS(&arena, gs_tensor, t->program->outputs.len);
  t->found = BS_NEWS(&arena, gs_tensor, t->program->outputs.len);
  if (written_folder)
    return rewrite(t) && lower(t) && emits(t);
  if (!gs_interpret(t->program, t->in, t->expected)) {
    t->fault = "it is not interpreted";
    return false;
  }
  return rewrite(t) && lower(t) && emits(t);
}

/* Whether all could be compiled and run. */
static bool
run(trial *trials, uint32_t n) {
  cg_job *jobs = BS_NEWS(&arena, cg_job, n);
  const char *flag = bs_arena_printf(&arena, "-I%s", targets_folder);
  cg_build_options options = {.sanitize = sanitize,
                              .optimize = "-O1",
                              .time_limit = 600,
                              .threads = 2,
                              .flags = &flag,
                              .n_flags = 1};
  for (uint32_t k = 0; k < n; k++)
    jobs[k] = (cg_job){.program = trials[k].loops,
                       .inputs = trials[k].in,
                       .outputs = trials[k].found};
  return SANITIZED || cg_build_and_run_all(jobs, n, &options, 1);
}

static bool
agrees(const trial *t, bool show) {
  return SANITIZED || agree(&t->plan, t->program, t->expected, t->found, show);
}

/* ---- failures ---- */

static uint32_t rules_shrunk; /* the way of the plan that is shrunk */

static bool
passes(const plan *p, bool show) {
  trial t = {.plan = *p, .rules = rules_shrunk};
  bool ok = prepare(&t) && run(&t, 1) && agrees(&t, show);
  if (show && t.fault)
    fprintf(stderr, "%s\n", t.fault);
  if (show)
    show_faults();
  po_free(t.loops);
  bs_clear(&diags.list);
  return ok;
}

static void
show_plan(const plan *p) {
  bs_text out;
  bs_text_init(&out, &heap);
  gs_print(build(p, false), true, &out);
  fprintf(stderr,
          "seed %llu, target %s, rules %u, fuse %s, strict %d, pieces %u, "
          "tiles %lld %lld:\n%s\n",
          (unsigned long long)p->seed, targets[p->machine]->name, rules_shrunk,
          p->way ? po_fuse_names[p->way - 1] : "none", p->strict_fp,
          p->max_pieces, (long long)(p->n_tiles > 0 ? p->tiles[0] : 0),
          (long long)(p->n_tiles > 1 ? p->tiles[1] : 0), bs_text_str(&out));
  bs_text_done(&out);
}

static void
fail(const trial *t) {
  plan smallest = t->plan;
  rules_shrunk = t->rules;
  if (passes(&t->plan, true))
    fprintf(stderr, "seed %llu fails only together with others\n",
            (unsigned long long)t->plan.seed);
  while (rules_shrunk && (rules_shrunk--, passes(&smallest, false)))
    if (++rules_shrunk, true)
      break;
  shrink(&smallest, passes, 60);
  show_plan(&smallest);
  passes(&smallest, true);
}

/* ---- batches ---- */

static uint64_t n_done, n_products, n_rewritten, n_calls, n_failed;
static uint64_t of_way[PO_FUSE_POST_TILE + 2], of_machine[MOST_MACHINES];

static void
count(const trial *t) {
  n_done++;
  n_products += t->plan.products;
  n_rewritten += t->chosen != t->program;
  of_way[t->plan.way]++;
  of_machine[t->plan.machine]++;
  for (uint32_t k = 0; k < t->loops->stmts.len; k++)
    if (t->loops->stmts.data[k].kind == PO_CALL) {
      n_calls++;
      break;
    }
}

static void
make(trial *t, uint64_t seed) {
  *t = (trial){.rules = (uint32_t)(random_of(seed) % WAYS)};
  if (seed % 4)
    make_products(&t->plan, seed);
  else
    make_plan(&t->plan, seed);
}

static void
run_batch(uint64_t seed, uint32_t n) {
  trial *trials = bs_calloc(&heap, n, sizeof *trials);
  uint32_t ready = 0;
  for (uint32_t k = 0; k < n; k++) {
    make(&trials[ready], seed + k);
    if (prepare(&trials[ready])) {
      count(&trials[ready++]);
      continue;
    }
    n_failed++;
    fail(&trials[ready]);
    po_free(trials[ready].loops);
  }
  bool ran = written_folder || run(trials, ready);
  for (uint32_t k = 0; k < ready && !written_folder; k++) {
    rules_shrunk = trials[k].rules;
    if (ran ? agrees(&trials[k], false) : passes(&trials[k].plan, false))
      continue;
    n_failed++;
    fail(&trials[k]);
  }
  if (!ran)
    show_faults();
  for (uint32_t k = 0; k < ready; k++)
    po_free(trials[k].loops);
  bs_clear(&diags.list);
}

static void
run_batch_in(void *arg) {
  const uint64_t *range = arg;
  bs_arena_init(&arena, &heap);
  bs_diags_init(&diags, &heap);
  ctx = (gs_context){&heap, &arena, bs_values_new(&heap), &diags};
  memset(rules_for, 0, sizeof rules_for);
  if (make_targets()) {
    run_batch(range[0], (uint32_t)range[1]);
    return;
  }
  show_faults();
  n_failed++;
}

static void
report(double seconds) {
  printf("%llu programs, %.1f a minute, seeds %llu-%llu: %llu weighted to "
         "contractions, %llu rewritten, %llu with calls, %llu failed\n",
         (unsigned long long)n_done, 60 * (double)n_done / seconds,
         (unsigned long long)first_seed, (unsigned long long)last_seed,
         (unsigned long long)n_products, (unsigned long long)n_rewritten,
         (unsigned long long)n_calls, (unsigned long long)n_failed);
  for (uint32_t k = 0; k < PO_FUSE_POST_TILE + 2; k++)
    printf("  %s %llu", k ? po_fuse_names[k - 1] : "none",
           (unsigned long long)of_way[k]);
  for (uint32_t k = 0; k < n_machines; k++)
    printf("  target-%u %llu", k, (unsigned long long)of_machine[k]);
  printf("\n");
}

int
main(int argc, char **argv) {
  double start = bs_now();
  for (int k = 1; k < argc; k++)
    if (!strcmp(argv[k], "--plain"))
      sanitize = false;
    else if (k + 1 < argc)
      read_option(argv[k], argv[k + 1]), k++;
  if (!rules_folder || !targets_folder || !batch)
    return 2;
  for (uint64_t seed = first_seed; seed <= last_seed; seed += batch) {
    uint64_t left = last_seed - seed + 1;
    uint64_t range[] = {seed, left < batch ? left : batch};
    bs_heap_init(&heap, NULL, BUDGET_BYTES);
    if (!bs_protect(&heap, run_batch_in, range)) {
      fprintf(stderr, "seeds %llu-%llu: more than %zu bytes\n",
              (unsigned long long)seed,
              (unsigned long long)(seed + range[1] - 1), BUDGET_BYTES);
      n_failed++;
    }
    bs_heap_done(&heap);
    if (minutes > 0 && bs_now() - start > 60 * minutes) {
      last_seed = seed + range[1] - 1;
      break;
    }
  }
  report(bs_now() - start);
  return n_failed || n_done < least;
}
