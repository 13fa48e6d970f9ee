/* SPDX-License-Identifier: MIT */
/* bench_extract.c - runs the extractors on e-graphs of other tools.
 *
 *   bench_extract [--seconds S] [--methods tree,dag,exact] FILE.json...
 *
 * One JSON object a file on a line of its own; run.py makes the table. */
#include "base/json.h"
#include "extract/problem.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct settings {
  double seconds;
  bool wanted[EX_ILP + 1];
} settings;

static double
now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void
put_result(bs_json *j, const ex_problem *p, ex_method m, double limit) {
  ex_options options = {.seconds = limit};
  ex_solution s;
  double start = now(), tree, dag;
  bool ok = ex_solve(p, m, &options, &s);
  double seconds = now() - start;
  bs_json_object(j, ex_method_name(m));
  bs_json_bool(j, "feasible", ok);
  bs_json_bool(j, "valid", ok && ex_price(p, s.choice, &tree, &dag));
  bs_json_real(j, "tree", s.tree_cost);
  bs_json_real(j, "dag", s.dag_cost);
  bs_json_real(j, "bound", s.bound);
  bs_json_bool(j, "proved", s.optimal);
  bs_json_int(j, "steps", (int64_t)s.steps);
  bs_json_real(j, "seconds", seconds);
  bs_json_end(j);
  ex_solution_done(p, &s);
}

static bool
put_file(const settings *set, const char *path) {
  bs_heap heap;
  bs_diags diags;
  bs_text text;
  bs_json j;
  ex_problem p;
  bs_heap_init(&heap, NULL, 0);
  bs_diags_init(&diags, &heap);
  bs_text_init(&text, &heap);
  uint32_t source = bs_source_read(&diags, path, BS_NOWHERE);
  bool ok = source && ex_import_json(&heap, &diags, source, &p);
  if (ok) {
    bs_json_init(&j, &text, 0);
    bs_json_object(&j, NULL);
    bs_json_string(&j, "file", path);
    bs_json_int(&j, "nodes", p.n_nodes);
    bs_json_int(&j, "classes", p.n_classes);
    bs_json_int(&j, "roots", p.n_roots);
    for (int m = EX_TREE; m <= EX_ILP; m++)
      if (set->wanted[m] && ex_method_is_there((ex_method)m))
        put_result(&j, &p, (ex_method)m, set->seconds);
    bs_json_end(&j);
    puts(bs_text_str(&text));
    fflush(stdout);
  } else {
    for (uint32_t i = 0; i < diags.list.len; i++)
      bs_render(&diags, &diags.list.data[i], false, &text);
    fputs(bs_text_str(&text), stderr);
  }
  bs_heap_done(&heap);
  return ok;
}

static bool
read_methods(settings *set, char *list) {
  ex_method m;
  memset(set->wanted, 0, sizeof set->wanted);
  for (char *name = strtok(list, ","); name; name = strtok(NULL, ",")) {
    if (!ex_method_find(name, &m))
      return false;
    set->wanted[m] = true;
  }
  return true;
}

int
main(int argc, char **argv) {
  settings set = {1, {[EX_TREE] = true, [EX_DAG] = true, [EX_EXACT] = true}};
  int i = 1;
  bool ok = true;
  for (; i + 1 < argc && !strncmp(argv[i], "--", 2); i += 2)
    if (!strcmp(argv[i], "--seconds"))
      set.seconds = atof(argv[i + 1]);
    else if (strcmp(argv[i], "--methods") || !read_methods(&set, argv[i + 1]))
      return fprintf(stderr, "unknown option %s\n", argv[i]), 2;
  for (; i < argc; i++)
    ok &= put_file(&set, argv[i]);
  return ok ? 0 : 1;
}
