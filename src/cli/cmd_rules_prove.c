/* SPDX-License-Identifier: MIT */
/* cmd_rules_prove.c - `glen rules prove`: is every rule right?
 *
 * Threads take the next rule each; a thread has a context of its own, with the
 * target and the rules loaded again, so nothing is shared but the table of
 * answers.  An answer depends on the rule and the seed alone, and the table is
 * printed in the order of the rules: one input gives one output, however many
 * threads there are. */
#include "cli/commands.h"
#include "cli/cli_session.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_JOBS = 256 };

typedef struct verdict {
  const char *name, *counted; /* as it is called in the last line */
  uint32_t n;
} verdict;

enum { PROVED, CHECKED, TESTED, REFUTED, UNKNOWN };

typedef struct prover {
  const cl_options *options;
  const uint32_t *chosen; /* indices of rules */
  glen_proof *proofs;     /* of those; a verdict of NULL: it was not reached */
  uint32_t n;
  bool shown;
  atomic_uint next, done, failed;
} prover;

typedef struct worker {
  prover *p;
  cl_session session;
  glen_rules *rules;
  pthread_t thread;
  bool started;
} worker;

/* ---- proving ---- */

static void
draw(const prover *p, const char *rule) {
  if (p->shown)
    fprintf(stderr, "\r\033[K%u of %u: %s", atomic_load(&p->done), p->n, rule);
}

static void *
work(void *arg) {
  worker *w = arg;
  prover *p = w->p;
  glen_prove_options options;
  glen_prove_defaults(&options);
  options.seed = p->options->seed;
  options.shapes = (uint32_t)p->options->shapes;
  for (uint32_t k = atomic_fetch_add(&p->next, 1);
       k < p->n && !atomic_load(&p->failed);
       k = atomic_fetch_add(&p->next, 1)) {
    draw(p, glen_rule_name(w->rules, p->chosen[k]));
    if (!glen_rule_prove(w->session.glen, w->rules, p->chosen[k], &options,
                         &p->proofs[k]))
      atomic_store(&p->failed, 1);
    atomic_fetch_add(&p->done, 1);
  }
  return NULL;
}

/* The first worker is the session that has loaded the rules already. */
static bool
open_worker(worker *w, const cl_session *first) {
  w->session = *first;
  w->session.glen = glen_context_new(NULL, 0);
  if (!w->session.glen)
    return false;
  cl_limit(w->session.glen, first->options);
  glen_target *target = cl_target(&w->session);
  w->rules = target ? cl_rules(&w->session, target) : NULL;
  return w->rules && (w->started = !pthread_create(&w->thread, NULL, work, w));
}

static uint32_t
jobs_of(const prover *p) {
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  uint64_t jobs = p->options->jobs;
  if (!jobs)
    jobs = cores > 0 ? (uint64_t)cores : 1;
  if (jobs > p->n)
    jobs = p->n ? p->n : 1;
  return jobs < MAX_JOBS ? (uint32_t)jobs : MAX_JOBS;
}

/* ---- answers ---- */

static void
count(const prover *p, verdict *v, size_t n) {
  for (uint32_t k = 0; k < p->n; k++)
    for (size_t i = 0; i < n; i++)
      v[i].n += !strcmp(p->proofs[k].verdict, v[i].name);
}

static void
print_json(const prover *p, const verdict *v, size_t n) {
  printf("{\"schema\":1,\"rules\":[");
  for (uint32_t k = 0; k < p->n; k++)
    printf("%s\n%s", k ? "," : "", p->proofs[k].json);
  printf("]");
  for (size_t i = 0; i < n; i++)
    printf(",\"%s\":%u", v[i].name, v[i].n);
  printf("}\n");
}

/* What is proved or checked stands in the table with --verbose, with what the
 * shapes were, and is counted else. */
static void
print_table(const prover *p, const verdict *v, size_t n) {
  bool all = p->options->verbose;
  for (uint32_t k = 0; k < p->n; k++) {
    const glen_proof *a = &p->proofs[k];
    bool proved = !strcmp(a->verdict, v[PROVED].name);
    if (!all && (proved || !strcmp(a->verdict, v[CHECKED].name)))
      continue;
    printf("%-8s %-32s %s\n", a->verdict, a->rule, a->reason);
    if (!strcmp(a->verdict, "refuted"))
      printf("  of %s\n", *a->place ? a->place : "an instruction");
    if (!strcmp(a->verdict, "refuted") || (all && !proved))
      fputs(a->detail, stdout);
  }
  printf("%u %s:", CL_COUNTED(p->n, "rule"));
  for (size_t i = 0; i < n; i++)
    printf("%s %u %s", i ? "," : "", v[i].n, v[i].counted);
  putchar('\n');
}

static int
answer(const prover *p) {
  verdict v[] = {{"proved", "proved for all sizes", 0},
                 {"checked", "checked", 0},
                 {"tested", "tested", 0},
                 {"refuted", "refuted", 0},
                 {"unknown", "unknown", 0}};
  size_t n = sizeof v / sizeof v[0];
  count(p, v, n);
  if (p->options->json)
    print_json(p, v, n);
  else
    print_table(p, v, n);
  if (v[REFUTED].n)
    return GLEN_REFUTED;
  return p->options->strict && v[UNKNOWN].n ? GLEN_BAD_INPUT : GLEN_OK;
}

/* ---- the command ---- */

static int
prove_all(prover *p, worker *workers, uint32_t n) {
  uint32_t used = 1;
  p->shown = !p->options->quiet && isatty(STDERR_FILENO);
  /* A thread that cannot start leaves its share to the others. */
  while (used < n && open_worker(&workers[used], &workers[0].session))
    used++;
  work(&workers[0]);
  for (uint32_t k = 1; k < used; k++)
    pthread_join(workers[k].thread, NULL);
  if (p->shown)
    fputs("\r\033[K", stderr);
  int code =
      atomic_load(&p->failed) ? cl_failed(&workers[0].session) : answer(p);
  for (uint32_t k = 1; k < n; k++)
    if (workers[k].session.glen)
      glen_context_free(workers[k].session.glen);
  if (atomic_load(&p->failed) && !code)
    fputs("glen: out of memory\n", stderr);
  return atomic_load(&p->failed) && !code ? GLEN_INTERNAL : code;
}

static uint32_t
choose(const glen_rules *rules, const char *filter, uint32_t *out) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < glen_rules_count(rules); k++)
    if (!filter || strstr(glen_rule_name(rules, k), filter))
      out[n++] = k;
  return n;
}

static int
prove(worker *first) {
  prover *p = first->p;
  glen_target *target = cl_target(&first->session);
  first->rules = target ? cl_rules(&first->session, target) : NULL;
  if (!first->rules)
    return cl_failed(&first->session);
  uint32_t n = glen_rules_count(first->rules), jobs;
  uint32_t *chosen = calloc(n + (size_t)1, sizeof *chosen);
  glen_proof *proofs = calloc(n + (size_t)1, sizeof *proofs);
  worker *workers = calloc(MAX_JOBS, sizeof *workers);
  int code = GLEN_INTERNAL;
  if (chosen && proofs && workers) {
    p->chosen = chosen;
    p->proofs = proofs;
    p->n = choose(first->rules, p->options->filter, chosen);
    if (!p->n && p->options->filter)
      cl_note_filter(&first->session, "rule");
    jobs = jobs_of(p);
    for (uint32_t k = 0; k < jobs; k++)
      workers[k].p = p;
    workers[0] = *first;
    code = prove_all(p, workers, jobs);
  }
  free(workers);
  free(proofs);
  free(chosen);
  return code;
}

int
cl_rules_prove(const cl_options *options) {
  cl_options settings = *options;
  prover p = {.options = &settings};
  worker first = {.p = &p};
  for (uint32_t k = 0; k < options->files.n && settings.rules.n < CL_MAX_LIST;
       k++)
    settings.rules.items[settings.rules.n++] = options->files.items[k];
  if (!settings.rules.n && !settings.target) {
    fputs("glen: rules prove needs a rule file or a directory of them, or a "
          "--target with instructions\n",
          stderr);
    return GLEN_USAGE;
  }
  if (!cl_open(&first.session, &settings))
    return GLEN_INTERNAL;
  /* There is nothing to save. */
  signal(SIGINT, SIG_DFL);
  return cl_close(&first.session, prove(&first));
}
