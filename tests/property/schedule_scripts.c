/* SPDX-License-Identifier: MIT */
/* schedule_scripts.c - random loop programs under random schedule scripts.
 *
 *   schedule_scripts [first-seed [programs [steps [optimize]]]]
 *
 * A program is a chain of stages over small arrays: element by element,
 * stencils, transposes, reductions, recurrences in place, triangles.  A script
 * is made step by step from what the program then has; commands that are
 * refused leave it as it was.  After every accepted command outputs must equal
 * those of the unscheduled program (the oracle runs instances one by one), the
 * gate must accept the result, and (of one program in four) the script's normal
 * form must lead to the same text, and that read back to the same outputs.
 * Every accepted command is a case.  The C of what each third script leaves is
 * compiled, many programs together, and finds the same; where glen itself runs
 * under the sanitizers it is made only.  A failing case is shrunk by leaving
 * out commands; seed, program and script are printed. */
#include "codegen/run/run_build.h"
#include "poly/loops/execute.h"
#include "poly/schedule/primitive.h"
#include "recorded.h"
#include "scripts/scripts.h"
#include "tests/unit/sanitized.h"
#include "tests/unit/seeded.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The C of one program in three is compiled: it takes as long as the rest. */
enum { STEPS = 6, MAX_STEPS = 16, BATCH = 100, PER_CODE = 3 };

static bs_heap heap;
static bs_arena arena;
static bs_diags diags;
static gs_context ctx;
static gs_target *target;
static uint64_t tried[64], accepted[64], n_cases, n_compiled;

static void
start(void) {
  bs_heap_init(&heap, NULL, 0);
  bs_arena_init(&arena, &heap);
  bs_diags_init(&diags, &heap);
  ctx = (gs_context){&heap, &arena, bs_values_new(&heap), &diags};
  target = gs_target_default(&ctx);
}

/* ---- texts ---- */

static po_program *
read_program(const char *text) {
  uint32_t source = bs_source_add(&diags, "random.loops", text, strlen(text));
  return po_read_loops(&ctx, target, source, NULL, 0);
}

static void
forget_diagnostics(void) {
  bs_clear(&diags.list);
  diags.errors = diags.warnings = 0;
  diags.dropped = false;
}

static bool
apply(po_program **p, const char *command) {
  bs_text out;
  bs_text_init(&out, &heap);
  uint32_t source =
      bs_source_add(&diags, "random.sched", command, strlen(command));
  bool ok = po_run_script(p, source, &out);
  bs_text_done(&out);
  forget_diagnostics();
  return ok;
}

/* ---- the oracle ---- */

static uint64_t
hash_of(const gs_tensor *t) {
  uint64_t hash = 1469598103934665603u;
  const unsigned char *bytes = t->data;
  for (int64_t k = 0; k < t->elements * 4; k++)
    hash = (hash ^ bytes[k]) * 1099511628211u;
  return hash;
}

static uint64_t
outputs_of(const po_program *p, bool *ran) {
  gs_tensor in[4], out[4];
  seed_tensors(p, 7, in, out);
  *ran = po_execute(p, in, out);
  return hash_of(&out[0]);
}

static char *
text_of(const po_program *p) {
  bs_text out;
  bs_text_init(&out, &heap);
  po_print(p, &out);
  return bs_arena_strdup(&arena, bs_text_str(&out));
}

/* What is wrong with a program; NULL: nothing. */
static const char *
wrong(po_program *p, uint64_t expected) {
  bool ran;
  uint64_t got = outputs_of(p, &ran);
  if (!ran)
    return "the program does not run";
  return got == expected ? NULL : "outputs differ";
}

/* Quotients of times may be written otherwise, the second time. */
static const char *
read_back_differs(const po_program *p, uint64_t expected) {
  po_program *again = read_program(text_of(p));
  if (!again)
    return "the text is not read back";
  const char *fault = wrong(again, expected);
  po_free(again);
  return fault;
}

static const char *
replayed_differs(const char *program, po_program *p, uint64_t expected) {
  bs_text out;
  bs_text_init(&out, &heap);
  po_print_script(p, &out);
  po_program *again = read_program(program);
  po_violation v;
  if (!apply(&again, bs_text_str(&out)))
    return "the normal form is refused";
  if (!po_program_is_legal(again, &v))
    return "the gate does not accept the result";
  const char *same = strcmp(text_of(again), text_of(p)) == 0
                         ? NULL
                         : "the normal form leads elsewhere";
  po_free(again);
  return same ? same : read_back_differs(p, expected);
}

/* ---- the C ---- */

static const char *optimize = "-O1";

/* A program that a script led to. */
typedef struct trial {
  char text[TEXT];
  uint64_t seed, expected;
  po_program *loops;
  gs_tensor in[4], out[4];
  bool has_code;
} trial;

/* Whether C can be made: what is meant for a GPU is refused. */
static bool
has_code(const po_program *p) {
  bs_text c, h;
  bs_text_init(&c, &heap);
  bs_text_init(&h, &heap);
  cg_options options = {.name = "f", .openmp = true};
  bool ok = cg_emit_c(p, &options, &c, &h);
  bs_text_done(&h);
  bs_text_done(&c);
  return ok;
}

/* Compiles and runs those that have code; false: the compiler refuses some, or
 * one dies. */
static bool
run_code(trial *trials, uint32_t n) {
  cg_job *jobs = BS_NEWS(&arena, cg_job, n ? n : 1);
  cg_build_options options = {
      .optimize = optimize, .time_limit = 300, .threads = 2};
  uint32_t n_jobs = 0;
  for (uint32_t k = 0; k < n; k++) {
    trial *t = &trials[k];
    po_lay_out(t->loops);
    t->has_code = t->seed % PER_CODE == 0 && has_code(t->loops);
    if (!t->has_code || SANITIZED)
      continue;
    seed_tensors(t->loops, 7, t->in, t->out);
    jobs[n_jobs++] =
        (cg_job){.program = t->loops, .inputs = t->in, .outputs = t->out};
  }
  return !n_jobs || cg_build_and_run_all(jobs, n_jobs, &options, 1);
}

static bool
code_agrees(const trial *t) {
  return SANITIZED || !t->has_code || hash_of(&t->out[0]) == t->expected;
}

/* ---- cases ---- */

typedef struct script {
  char command[MAX_STEPS][256];
  bool kept[MAX_STEPS];
  int n;
} script;

/* Runs the commands that are kept; what went wrong. */
static const char *
run_script(const char *program, const script *s) {
  po_program *p = read_program(program);
  bool ran;
  uint64_t expected = outputs_of(p, &ran);
  const char *fault = NULL;
  for (int k = 0; !fault && k < s->n; k++)
    if (s->kept[k] && apply(&p, s->command[k])) {
      fault = wrong(p, expected);
      text_of(p);
    }
  if (!fault)
    fault = replayed_differs(program, p, expected);
  trial t = {.expected = expected, .loops = p}; /* seed 0: has code */
  if (!fault && !run_code(&t, 1))
    fault = "its C does not compile or run";
  if (!fault && !code_agrees(&t))
    fault = "outputs of its C differ";
  forget_diagnostics();
  po_free(p);
  return fault;
}

static void
shrink(const char *program, script *s) {
  for (int k = 0; k < s->n; k++) {
    if (!s->kept[k])
      continue;
    s->kept[k] = false;
    if (!run_script(program, s))
      s->kept[k] = true;
  }
}

static int
number_of(const char *command) {
  char name[64];
  snprintf(name, sizeof name, "%.*s", (int)strcspn(command, " "), command);
  const po_primitive *what = po_primitive_find(name);
  return what ? (int)(what - po_primitives) : 63;
}

/* What the compiler said of the C, and glen of it. */
static void
show_diagnostics(void) {
  bs_text out;
  bs_text_init(&out, &heap);
  for (uint32_t k = 0; k < diags.list.len; k++)
    bs_render(&diags, &diags.list.data[k], false, &out);
  fputs(bs_text_str(&out), stdout);
  bs_text_done(&out);
  forget_diagnostics();
}

static void
report(const trial *t, script *s, const char *fault) {
  printf("seed %llu: %s\n", (unsigned long long)t->seed, fault);
  shrink(t->text, s);
  printf("%s", t->text);
  for (int k = 0; k < s->n; k++)
    if (s->kept[k])
      printf("  %s\n", s->command[k]);
}

/* A program and its script, up to the C; false: it fails. */
static bool
schedule(trial *t, script *s, int steps) {
  bool ran;
  random_start(t->seed);
  make_program(t->text, sizeof t->text);
  po_program *p = read_program(t->text);
  if (!p) {
    printf("seed %llu: the program is not read:\n%s",
           (unsigned long long)t->seed, t->text);
    return false;
  }
  t->expected = outputs_of(p, &ran);
  const char *fault = ran ? NULL : "the program does not run";
  uint64_t hash = 0;
  int n = 0;
  for (int tries = 0; !fault && tries < 4 * steps && s->n < steps; tries++) {
    make_command(p, s->command[s->n], sizeof s->command[s->n]);
    int number = number_of(s->command[s->n]);
    const char *command = s->command[s->n];
    tried[number]++;
    n++;
    bool done = apply(&p, command);
    recorded_hash(&hash, command, strlen(command));
    recorded_hash(&hash, &done, sizeof done);
    if (!done)
      continue;
    accepted[number]++;
    s->kept[s->n++] = true;
    n_cases++;
    fault = wrong(p, t->expected);
    if (t->seed % 8 == 0)
      text_of(p); /* what is asked in between changes nothing */
  }
  if (!fault && t->seed % 4 == 0)
    fault = replayed_differs(t->text, p, t->expected);
  recorded_hash(&hash, text_of(p), strlen(text_of(p)));
  if (!fault && steps == STEPS &&
      !recorded_same("schedule_scripts", t->seed,
                     "%d of %d commands accepted, texts %016" PRIx64, s->n, n,
                     hash))
    fault = "it comes to something else";
  if (fault)
    report(t, s, fault);
  t->loops = p;
  return !fault;
}

/* Programs of consecutive seeds in one context; how many fail. */
static int
run_batch(uint64_t first, uint32_t n, int steps) {
  start();
  trial *trials = bs_calloc(&heap, n, sizeof *trials);
  script *scripts = bs_calloc(&heap, n, sizeof *scripts);
  uint32_t made = 0;
  for (uint32_t k = 0; k < n; k++) {
    trials[made] = (trial){.seed = first + k};
    scripts[made].n = 0;
    made += schedule(&trials[made], &scripts[made], steps);
  }
  bool all = run_code(trials, made);
  if (!all)
    show_diagnostics();
  forget_diagnostics();
  int failed = (int)(n - made);
  for (uint32_t k = 0; k < made; k++) {
    n_compiled += trials[k].has_code;
    const char *fault = all && code_agrees(&trials[k])
                            ? NULL
                            : run_script(trials[k].text, &scripts[k]);
    if (fault) {
      failed++;
      report(&trials[k], &scripts[k], fault);
    }
  }
  for (uint32_t k = 0; k < made; k++)
    po_free(trials[k].loops);
  bs_heap_done(&heap);
  return failed;
}

int
main(int argc, char **argv) {
  uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
  uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000;
  int steps = argc > 3 ? atoi(argv[3]) : STEPS, failed = 0;
  optimize = argc > 4 ? argv[4] : optimize;
  if (steps < 1 || steps > MAX_STEPS)
    steps = MAX_STEPS;
  for (uint64_t k = 0; k < n; k += BATCH)
    failed +=
        run_batch(first + k, (uint32_t)(n - k < BATCH ? n - k : BATCH), steps);
  printf("%llu programs from seed %llu, %llu cases, %llu with C, %d failed\n",
         (unsigned long long)n, (unsigned long long)first,
         (unsigned long long)n_cases, (unsigned long long)n_compiled, failed);
  for (uint32_t k = 0; k < po_n_primitives && k < 64; k++)
    if (tried[k])
      printf("  %-24s %6llu accepted of %6llu\n", po_primitives[k].name,
             (unsigned long long)accepted[k], (unsigned long long)tried[k]);
  return failed != 0;
}
