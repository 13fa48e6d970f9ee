/* SPDX-License-Identifier: MIT */
/* bench_egraph.c - the engine on the workloads: times, or counts compared.
 *
 *   bench_egraph run FILE... [options]   a table, or with --json one object
 *   bench_egraph check DIR [options]     every section of DIR/counts.txt
 *
 *   --iterations N   --nodes N (of the run)   --backoff   --match-limit N
 *   --full
 *   --repeat N (the fastest is reported)   --verbose   --max-nodes N
 */
#include "base/file.h"
#include "base/json.h"
#include "counts.h"
#include "workload.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct bench_options {
  eg_run_options run;
  uint32_t repeat, max_nodes;
  bool json, verbose;
} bench_options;

typedef struct bench_result {
  uint32_t nodes, classes, iterations;
  uint64_t matches, applied;
  double search_s, apply_s, rebuild_s, total_s, cpu_s, own_s;
  size_t peak;     /* of the heap */
  size_t resident; /* growth of the process's peak */
  const char *stop;
  BS_VEC(eg_iteration) each;
} bench_result;

static void
sum_up(const eg_runner *r, bs_heap *keep, bench_result *out) {
  uint32_t n;
  const eg_iteration *it = eg_runner_iterations(r, &n);
  out->iterations = n;
  for (uint32_t i = 0; i < n; i++) {
    out->matches += it[i].matches;
    out->applied += it[i].applied;
    out->search_s += it[i].search_s;
    out->apply_s += it[i].apply_s;
    out->rebuild_s += it[i].rebuild_s;
    bs_push(keep, &out->each, it[i]);
  }
}

/* Processor seconds of this thread, without those of its helpers. */
static double
own_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* As the system counts it; 0 where it does not tell. */
static size_t
resident_peak(void) {
  char line[256];
  unsigned long kib = 0;
  FILE *f = fopen("/proc/self/status", "r");
  while (f && fgets(line, sizeof line, f))
    if (sscanf(line, "VmHWM: %lu kB", &kib) == 1)
      break;
  if (f)
    fclose(f);
  return (size_t)kib * 1024;
}

static bool
run_once(bs_heap *keep, const char *path, const bench_options *o,
         bench_result *out) {
  bs_heap heap, text;
  bs_heap_init(&heap, NULL, 0);
  bs_heap_init(&text, NULL, 0);
  bs_values *values = bs_values_new(&heap);
  bs_diags diags;
  bs_diags_init(&diags, &text);
  wl_workload w;
  memset(out, 0, sizeof *out);
  bool ok = wl_read(&w, &heap, values, &diags, path);
  for (uint32_t i = 0; i < diags.list.len; i++) {
    bs_text t;
    bs_text_init(&t, &heap);
    bs_render(&diags, &diags.list.data[i], false, &t);
    fprintf(stderr, "%s\n", bs_text_str(&t));
  }
  bs_heap_done(&text);
  if (ok) {
    heap.peak = heap.used;
    size_t resident = resident_peak();
    double t = bs_now();
    clock_t cpu = clock();
    double own = own_seconds();
    eg_graph *g = wl_graph(&w);
    eg_runner *r = eg_runner_new(&heap, g, w.rules.data, w.rules.len, &o->run);
    out->stop = eg_stop_name(eg_run_some(r, NULL, 0));
    out->total_s = bs_now() - t;
    out->cpu_s = (double)(clock() - cpu) / CLOCKS_PER_SEC;
    out->own_s = own_seconds() - own;
    out->peak = heap.peak;
    out->resident = resident_peak() - resident;
    out->nodes = eg_count_nodes(g);
    out->classes = eg_count_classes(g);
    sum_up(r, keep, out);
    eg_runner_free(r);
    eg_free(g);
    wl_done(&w);
  }
  bs_heap_done(&heap);
  return ok;
}

static bool
run_best(bs_heap *keep, const char *path, const bench_options *o,
         bench_result *best) {
  for (uint32_t i = 0; i < o->repeat; i++) {
    bench_result one;
    if (!run_once(keep, path, o, &one))
      return false;
    if (!i || one.cpu_s < best->cpu_s)
      *best = one;
  }
  return true;
}

static const char *
base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static void
print_json(const char *path, const bench_options *o, const bench_result *r) {
  bs_heap heap;
  bs_heap_init(&heap, NULL, 0);
  bs_text t;
  bs_text_init(&t, &heap);
  bs_json j;
  bs_json_init(&j, &t, 0);
  bs_json_object(&j, NULL);
  bs_json_string(&j, "workload", base_name(path));
  bs_json_string(&j, "engine", "glen");
  bs_json_string(&j, "scheduler",
                 o->run.scheduler == EG_BACKOFF ? "backoff" : "simple");
  bs_json_int(&j, "match_limit", o->run.backoff_matches);
  bs_json_bool(&j, "full_search", o->run.full_search);
  bs_json_int(&j, "iterations", r->iterations);
  bs_json_string(&j, "stop", r->stop);
  bs_json_int(&j, "nodes", r->nodes);
  bs_json_int(&j, "classes", r->classes);
  bs_json_int(&j, "matches", (int64_t)r->matches);
  bs_json_int(&j, "applied", (int64_t)r->applied);
  bs_json_real(&j, "search_s", r->search_s);
  bs_json_real(&j, "apply_s", r->apply_s);
  bs_json_real(&j, "rebuild_s", r->rebuild_s);
  bs_json_real(&j, "total_s", r->total_s);
  bs_json_real(&j, "cpu_s", r->cpu_s);
  bs_json_real(&j, "own_s", r->own_s);
  bs_json_real(&j, "nodes_per_s", r->nodes / r->total_s);
  bs_json_int(&j, "peak_bytes", (int64_t)r->peak);
  bs_json_real(&j, "bytes_per_node", (double)r->peak / r->nodes);
  bs_json_real(&j, "resident_per_node", (double)r->resident / r->nodes);
  bs_json_end(&j);
  printf("%s\n", bs_text_str(&t));
  bs_heap_done(&heap);
}

static void
print_row(const char *path, const bench_result *r, bool verbose) {
  printf("%-28s %3u %9u %9u %10llu %8.4f %8.4f %8.4f %8.4f %10.0f %6.1f  %s\n",
         base_name(path), r->iterations, r->nodes, r->classes,
         (unsigned long long)r->matches, r->search_s, r->apply_s, r->rebuild_s,
         r->total_s, r->nodes / r->total_s, (double)r->peak / r->nodes,
         r->stop);
  for (uint32_t i = 0; verbose && i < r->each.len; i++) {
    const eg_iteration *it = &r->each.data[i];
    printf("  %3u nodes %9u classes %9u matches %10llu applied %10llu"
           " search %.4f apply %.4f rebuild %.4f\n",
           i + 1, it->nodes, it->classes, (unsigned long long)it->matches,
           (unsigned long long)it->applied, it->search_s, it->apply_s,
           it->rebuild_s);
  }
}

static int
run_files(const bench_options *o, char **files, int n) {
  bs_heap keep;
  bs_heap_init(&keep, NULL, 0);
  int bad = 0;
  if (!o->json)
    printf("%-28s %3s %9s %9s %10s %8s %8s %8s %8s %10s %6s  %s\n", "workload",
           "it", "nodes", "classes", "matches", "search", "apply", "rebuild",
           "total s", "nodes/s", "B/node", "stop");
  for (int i = 0; i < n; i++) {
    bench_result r = {0};
    if (!run_best(&keep, files[i], o, &r))
      bad = 1;
    else if (o->json)
      print_json(files[i], o, &r);
    else
      print_row(files[i], &r, o->verbose);
  }
  bs_heap_done(&keep);
  return bad;
}

/* --- check ------------------------------------------------------------- */

static bool
same_counts(const ct_section *want, const bench_result *got) {
  bool ok = got->each.len == want->n;
  if (!ok)
    printf("  %u iterations, %u expected\n", got->each.len, want->n);
  for (uint32_t i = 0; i < want->n && i < got->each.len; i++) {
    const ct_row *w = &want->rows[i];
    const eg_iteration *g = &got->each.data[i];
    if (g->nodes == w->nodes && g->classes == w->classes &&
        g->matches == w->matches)
      continue;
    printf("  iteration %u: nodes %u/%u classes %u/%u matches %llu/%llu\n",
           i + 1, g->nodes, w->nodes, g->classes, w->classes,
           (unsigned long long)g->matches, (unsigned long long)w->matches);
    ok = false;
  }
  return ok;
}

static bool
check_section(bs_heap *keep, const bench_options *o, const char *dir,
              const ct_section *s) {
  bench_options mine = *o;
  char path[4096];
  bench_result got;
  snprintf(path, sizeof path, "%s/%s.txt", dir, s->workload);
  mine.run.scheduler = s->backoff ? EG_BACKOFF : EG_SIMPLE;
  if (s->match_limit)
    mine.run.backoff_matches = s->match_limit;
  mine.run.iterations = s->n;
  if (!run_once(keep, path, &mine, &got))
    return false;
  bool ok = same_counts(s, &got);
  printf("%-4s %-26s %-8s %6u %3u iterations %9u nodes %9u classes %.3f s\n",
         ok ? "ok" : "BAD", s->workload, s->backoff ? "backoff" : "simple",
         s->match_limit, s->n, got.nodes, got.classes, got.total_s);
  return ok;
}

static int
check_dir(const bench_options *o, const char *dir) {
  char path[4096];
  snprintf(path, sizeof path, "%s/counts.txt", dir);
  FILE *f = fopen(path, "r");
  if (!f) {
    fprintf(stderr, "cannot read %s\n", path);
    return 1;
  }
  bs_heap keep;
  bs_heap_init(&keep, NULL, 0);
  ct_section s;
  int bad = 0, n = 0;
  while (ct_next(f, &s)) {
    if (!s.n || (o->max_nodes && s.rows[s.n - 1].nodes > o->max_nodes))
      continue;
    n++;
    bad += !check_section(&keep, o, dir, &s);
  }
  fclose(f);
  bs_heap_done(&keep);
  printf("%d of %d sections differ\n", bad, n);
  return bad || !n;
}

/* --- options ----------------------------------------------------------- */

static uint32_t
number(char **argv, int *i) {
  return argv[*i + 1] ? (uint32_t)strtoul(argv[++*i], NULL, 10) : 0;
}

int
main(int argc, char **argv) {
  bench_options o = {.repeat = 1};
  int n = 0;
  char **files = calloc((size_t)argc + 1, sizeof *files);
  eg_run_defaults(&o.run);
  o.run.iterations = o.run.nodes = 0;
  o.run.seconds = 0;
  for (int i = 2; i < argc; i++) {
    const char *a = argv[i];
    if (!strcmp(a, "--iterations"))
      o.run.iterations = number(argv, &i);
    else if (!strcmp(a, "--match-limit"))
      o.run.backoff_matches = number(argv, &i);
    else if (!strcmp(a, "--max-nodes"))
      o.max_nodes = number(argv, &i);
    else if (!strcmp(a, "--nodes"))
      o.run.nodes = number(argv, &i);
    else if (!strcmp(a, "--repeat"))
      o.repeat = number(argv, &i);
    else if (!strcmp(a, "--backoff"))
      o.run.scheduler = EG_BACKOFF;
    else if (!strcmp(a, "--full"))
      o.run.full_search = true;
    else if (!strcmp(a, "--json"))
      o.json = true;
    else if (!strcmp(a, "--verbose"))
      o.verbose = true;
    else
      files[n++] = argv[i];
  }
  int rc = 2;
  if (argc > 2 && !strcmp(argv[1], "run"))
    rc = run_files(&o, files, n);
  else if (argc > 2 && !strcmp(argv[1], "check") && n == 1)
    rc = check_dir(&o, files[0]);
  else
    fprintf(stderr, "usage: bench_egraph run FILE... | check DIR\n");
  free(files);
  return rc;
}
