/* SPDX-License-Identifier: MIT */
/* contexts.c - contexts in threads, for the thread sanitizer: each thread has
 * two of its own and goes with them, turn by turn, through all that the library
 * does; then one kernel is called by all of them.  What a thread makes must be
 * what the first one made alone.
 *
 * usage: contexts DATA SCRATCH [THREADS] */
#include <glen/editor.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_THREADS = 16, CONTEXTS = 2, N = 8, CALLS = 50 };

static const char *data, *scratch;

/* One way through the library. */
typedef struct job {
  glen_context *glen;
  glen_target *target;
  glen_rules *rules;
  glen_program *program;
  glen_result *result;
  glen_loops *loops;
  glen_kernel *kernel;
  const char *stage;
  char *text; /* all that was made, to be compared */
} job;

static const char product[] =
    "(tensor A (shape 8 8) f32)\n"
    "(tensor B (shape 8 8) f32)\n"
    "(let C (compute dotProd\n"
    "  (cartProd (access A 1) (access (transpose B (list 1 0)) 1))))\n"
    "(let D (compute relu C))\n"
    "(output D)\n";

/* Programs of integers that are equal as bit-vectors, by Z3 where it is there.
 */
#define EXTREMUM(name) "(compute " name " (pair (access a 0) (access b 0)))"
#define INTEGERS(sum)                                                          \
  "(tensor a (shape 4) i32)\n(tensor b (shape 4) i32)\n"                       \
  "(let c " sum ")\n(output c)\n"

static const char sum[] = INTEGERS(EXTREMUM("add"));
static const char sum_of_both[] =
    INTEGERS("(compute add (pair " EXTREMUM("max") " " EXTREMUM("min") "))");

static bool
note(job *j, const char *text) {
  size_t have = j->text ? strlen(j->text) : 0;
  if (!text)
    return false;
  char *grown = realloc(j->text, have + strlen(text) + 1);
  if (!grown)
    return false;
  j->text = grown;
  memcpy(grown + have, text, strlen(text) + 1);
  return true;
}

static const char *
path_of(char *out, const char *folder, const char *name) {
  snprintf(out, 4096, "%s/%s", folder, name);
  return out;
}

/* ---- stages ---- */

static bool
do_read(job *j) {
  char rules[4096], target[4096];
  const char *paths[] = {path_of(rules, data, "rules")};
  j->target = glen_target_load(
      j->glen, path_of(target, data, "targets/systolic.target"));
  j->rules =
      j->target ? glen_rules_load(j->glen, j->target, paths, 1, NULL, 0) : NULL;
  j->program = j->rules ? glen_program_parse(j->glen, j->target, "product.glen",
                                             product, sizeof product - 1)
                        : NULL;
  return j->program && note(j, glen_program_text(j->glen, j->program, true));
}

/* Diagnostics and their places are the context's own. */
static bool
do_mistake(job *j) {
  glen_diagnostic d;
  bool refused =
      !glen_program_parse(j->glen, NULL, "wrong.glen", "(output Z)", 10) &&
      glen_diagnostic_at(j->glen, 0, &d);
  bool ok = refused && note(j, d.message);
  glen_clear_diagnostics(j->glen);
  return ok;
}

static bool
do_edit(job *j) {
  uint32_t n = 0;
  glen_place place;
  if (!glen_overlay(j->glen, "edited.glen", product, sizeof product - 1))
    return false;
  glen_document *d = glen_document_read(j->glen, NULL, "edited.glen");
  return d && glen_document_symbols(d, &n) && n == 4 &&
         note(j, glen_document_hover(d, strlen("(tens"), &place));
}

static bool
do_saturate(job *j) {
  glen_saturate_options options;
  glen_saturate_defaults(&options);
  options.iterations = 8;
  options.nodes = 1000;
  options.explain = options.growth = true;
  options.regions = GLEN_REGIONS_WHOLE;
  j->result = glen_saturate(j->glen, j->program, j->rules, j->target, &options);
  return j->result && note(j, glen_result_text(j->glen, j->result, false));
}

static bool
do_report(job *j) {
  glen_mapped mapped;
  glen_explained explained;
  glen_explain_options chains;
  const glen_html page = {.title = "a page"};
  glen_explain_defaults(&chains);
  return glen_map(j->glen, j->result, NULL, &mapped) && note(j, mapped.text) &&
         glen_result_explain(j->glen, j->result, &chains, &explained) &&
         note(j, explained.json) &&
         note(j, glen_result_html(j->glen, j->result, &page));
}

/* Programs by isl and by bit-vectors, and one rule for all sizes. */
static bool
do_prove(job *j) {
  glen_proof proof;
  glen_equality equal;
  glen_prove_options options;
  glen_prove_defaults(&options);
  options.shapes = 2;
  glen_program *a =
      glen_program_parse(j->glen, NULL, "a.glen", sum, sizeof sum - 1);
  glen_program *b = glen_program_parse(j->glen, NULL, "b.glen", sum_of_both,
                                       sizeof sum_of_both - 1);
  return a && b && note(j, glen_result_verify(j->glen, j->result)) &&
         note(j, glen_result_proof(j->glen, j->result)) &&
         glen_programs_prove(j->glen, a, b, &equal) && equal.proved &&
         note(j, equal.text) &&
         glen_rule_prove(j->glen, j->rules, 0, &options, &proof) &&
         note(j, proof.json);
}

static bool
do_lower(job *j) {
  const char *c, *h;
  glen_scheduled scheduled;
  glen_code_options code;
  glen_code_defaults(&code);
  code.fusion = GLEN_FUSE_POST_TILE;
  j->loops =
      glen_lower_scheduled(j->glen, j->program, j->target, &code, &scheduled);
  return j->loops && note(j, glen_loops_text(j->glen, j->loops)) &&
         glen_emit_c(j->glen, j->loops, "kernel", "kernel.h", &c, &h) &&
         note(j, c) && note(j, h);
}

static bool
do_interpret(job *j) {
  glen_tensors *in = glen_inputs_new(j->glen, j->program, 1);
  glen_tensors *out = in ? glen_interpret(j->glen, j->program, in) : NULL;
  bool ok = out && note(j, glen_tensor_text(j->glen, out, 0, 64));
  glen_tensors_free(out);
  glen_tensors_free(in);
  return ok;
}

static bool
is_product(glen_kernel *kernel) {
  float a[N][N], b[N][N] = {{0}}, d[N][N];
  void *arrays[] = {a, b, d};
  bool same = true;
  for (int i = 0; i < N; i++) {
    b[i][i] = 2;
    for (int k = 0; k < N; k++)
      a[i][k] = (float)(i * N + k - 20);
  }
  same = !glen_kernel_call(kernel, arrays, NULL);
  for (int i = 0; i < N; i++)
    for (int k = 0; k < N; k++)
      same = same && d[i][k] == (a[i][k] > 0 ? 2 * a[i][k] : 0);
  return same;
}

static bool
do_begin(job *j) {
  j->glen = glen_context_new(NULL, 0);
  return j->glen;
}

/* All threads want the same kernel in the same cache at once. */
static bool
do_jit(job *j) {
  char cache[4096];
  glen_jit_options options = {.size = sizeof options, .threads = 1};
  options.cache = path_of(cache, scratch, "kernels");
  j->kernel = glen_jit(j->glen, j->loops, &options);
  return j->kernel && is_product(j->kernel);
}

static const struct {
  const char *name;
  bool (*run)(job *);
} stages[] = {
    {"begin", do_begin}, {"read", do_read},         {"mistake", do_mistake},
    {"edit", do_edit},   {"saturate", do_saturate}, {"report", do_report},
    {"prove", do_prove}, {"lower", do_lower},       {"interpret", do_interpret},
    {"jit", do_jit},
};

enum { STAGES = sizeof stages / sizeof *stages };

/* ---- threads ---- */

static void
finish(job *j) {
  glen_kernel_free(j->kernel);
  glen_loops_free(j->loops);
  glen_result_free(j->result);
  glen_program_free(j->program);
  glen_rules_free(j->rules);
  glen_target_free(j->target);
  glen_context_free(j->glen);
  free(j->text);
}

/* A stage of one context, then the same of the next. */
static bool
run_stages(job *jobs, int from, int to) {
  for (int s = from; s < to; s++)
    for (int k = 0; k < CONTEXTS; k++) {
      jobs[k].stage = stages[s].name;
      if (stages[s].run(&jobs[k]))
        continue;
      fprintf(stderr, "%s failed: %s\n", stages[s].name,
              jobs[k].glen ? glen_take_diagnostics(jobs[k].glen, GLEN_DIAG_TEXT)
                           : "no context");
      return false;
    }
  return true;
}

typedef struct worker {
  pthread_t thread;
  job jobs[CONTEXTS];
  glen_kernel *shared; /* not NULL: to be called, and no more */
  int from, to;        /* stages */
  bool last;           /* what there is is freed, and no more */
  bool ok;
} worker;

static void *
work(void *arg) {
  worker *w = arg;
  w->ok = true;
  for (int k = 0; w->last && k < CONTEXTS; k++)
    finish(&w->jobs[k]);
  if (w->last)
    return NULL;
  if (w->shared)
    for (int k = 0; k < CALLS; k++)
      w->ok = w->ok && is_product(w->shared);
  else
    w->ok = run_stages(w->jobs, w->from, w->to);
  return NULL;
}

static bool
together(worker *workers, int n) {
  bool ok = true;
  for (int k = 0; k < n; k++)
    if (pthread_create(&workers[k].thread, NULL, work, &workers[k]))
      exit(2);
  for (int k = 0; k < n; k++) {
    pthread_join(workers[k].thread, NULL);
    ok = ok && workers[k].ok;
  }
  return ok;
}

/* Contexts go on in another thread than began them. */
static void
pass_on(worker *workers, int n) {
  worker first = workers[0];
  for (int k = 0; k + 1 < n; k++)
    memcpy(workers[k].jobs, workers[k + 1].jobs, sizeof first.jobs);
  memcpy(workers[n - 1].jobs, first.jobs, sizeof first.jobs);
}

static int
compare(const worker *workers, int n, const char *alone) {
  int same = 0;
  for (int k = 0; k < n; k++)
    for (int c = 0; c < CONTEXTS; c++) {
      const job *j = &workers[k].jobs[c];
      bool equal = j->text && !strcmp(j->text, alone);
      if (!equal)
        fprintf(stderr, "thread %d, context %d made something else\n", k, c);
      same += equal;
    }
  return same;
}

int
main(int argc, char **argv) {
  static worker workers[MOST_THREADS], alone;
  int n = argc > 3 ? atoi(argv[3]) : 4, half = STAGES / 2;
  if (argc < 3 || n < 1 || n > MOST_THREADS)
    return 2;
  data = argv[1];
  scratch = argv[2];
  for (int k = 0; k < n; k++)
    workers[k].to = half;
  bool ok = together(workers, n);
  pass_on(workers, n);
  for (int k = 0; k < n; k++) {
    workers[k].from = half;
    workers[k].to = STAGES;
  }
  ok = ok && together(workers, n);
  alone.to = STAGES;
  ok = ok && together(&alone, 1);
  int same = ok ? compare(workers, n, alone.jobs[0].text) : 0;
  for (int k = 0; k < n; k++)
    workers[k].shared = alone.jobs[0].kernel;
  ok = ok && together(workers, n);
  for (int k = 0; k < n; k++)
    workers[k].last = true;
  ok = together(workers, n) && ok;
  alone.last = true;
  ok = together(&alone, 1) && ok;
  printf("%d contexts, %d equal\n", n * CONTEXTS, same);
  return ok && same == n * CONTEXTS ? 0 : 1;
}
