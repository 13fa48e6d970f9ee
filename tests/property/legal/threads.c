/* SPDX-License-Identifier: MIT */
/* threads.c - blocks, threads and barriers; see judge.h. */
#include "judge.h"
#include <stdlib.h>
#include <string.h>

static ju_answer
no(const char **why, const char *what) {
  *why = what;
  return JU_NO;
}

/* The least and the greatest value that a loop has, by the instances below. */
static bool
values_of(const or_program *p, int loop, int64_t *lo, int64_t *hi) {
  bool any = false;
  for (int k = 0; k < p->n_instances; k++) {
    const or_instance *i = &p->instances[k];
    if (!or_is_below(p, i->stmt, loop))
      continue;
    int64_t v = i->loop[p->nodes[loop].depth];
    *lo = !any || v < *lo ? v : *lo;
    *hi = !any || v > *hi ? v : *hi;
    any = true;
  }
  return any;
}

static int64_t
count_of(const or_program *p, int loop) {
  int64_t lo, hi;
  return values_of(p, loop, &lo, &hi) ? hi - lo + 1 : 0;
}

static bool
is_bound(const or_program *p, int k, bool threads) {
  const or_node *n = &p->nodes[k];
  return n->kind == OR_LOOP && n->mark == OR_BIND && (n->axis >= 3) == threads;
}

/* Of the loops around a node and itself, from the outermost. */
static ju_answer
check_way(const or_program *p, int node, const char **why) {
  static const int64_t most[] = {INT32_MAX, 65535, 65535, 1024, 1024, 64};
  int way[OR_DEPTH + 1], n = or_loops(p, node, way);
  bool seen[6] = {false}, threads = false;
  way[n++] = node;
  for (int k = 0; k < n; k++) {
    const or_node *l = &p->nodes[way[k]];
    if (l->mark != OR_BIND)
      continue;
    int64_t count = count_of(p, way[k]);
    if (seen[l->axis])
      return no(why, "an axis is used twice");
    seen[l->axis] = true;
    if (count > most[l->axis])
      return no(why, "an axis is too long");
    if (l->axis < 3 && threads)
      return no(why, "blocks are inside threads");
    threads |= l->axis >= 3;
  }
  return JU_YES;
}

static int
kernel_of(const or_program *p, int node) {
  while (p->nodes[node].parent >= 0)
    node = p->nodes[node].parent;
  return node;
}

/* Threads of a block of a kernel along an axis. */
static int64_t
most_threads(const or_program *p, int kernel, int axis) {
  int64_t most = 1;
  for (int k = 0; k < p->n_nodes; k++)
    if (is_bound(p, k, true) && p->nodes[k].axis == axis &&
        kernel_of(p, k) == kernel && count_of(p, k) > most)
      most = count_of(p, k);
  return most;
}

ju_answer
ju_bindings_hold(const or_program *p, const char **why) {
  for (int k = 0; k < p->n_nodes; k++)
    if (p->nodes[k].kind == OR_LOOP && check_way(p, k, why) == JU_NO)
      return JU_NO;
  for (int k = 0; k < p->n_nodes; k++) {
    int64_t all = 1;
    for (int axis = 3; p->nodes[k].parent < 0 && axis < 6; axis++)
      all *= most_threads(p, k, axis);
    if (all > 1024)
      return no(why, "a block has too many threads");
  }
  return JU_YES;
}

/* ---- barriers ---- */

/* Iterations of the innermost loop around a barrier, a row of values each. */
static int64_t rows[OR_INSTANCES][OR_DEPTH];
static int n_values;

static int
by_values(const void *a, const void *b) {
  return memcmp(a, b, (size_t)n_values * sizeof(int64_t));
}

static int
iterations(const or_program *p, int loop) {
  int n = 0, kept = 0;
  for (int k = 0; k < p->n_instances; k++)
    if (or_is_below(p, p->instances[k].stmt, loop))
      memcpy(rows[n++], p->instances[k].loop, sizeof *rows);
  qsort(rows, (size_t)n, sizeof *rows, by_values);
  for (int k = 0; k < n; k++)
    if (!k || by_values(rows[kept - 1], rows[k]))
      memmove(rows[kept++], rows[k], sizeof *rows);
  return kept;
}

static bool
is_there(const int64_t *row, int n) {
  return bsearch(row, rows, (size_t)n, sizeof *rows, by_values) != NULL;
}

/* For each iteration those of all other values of this thread's axis are. */
static ju_answer
all_come(const or_program *p, int thread, int n, const char **why) {
  int64_t lo = 0, hi = 0, row[OR_DEPTH];
  int d = p->nodes[thread].depth;
  values_of(p, thread, &lo, &hi);
  if (hi - lo + 1 <
      most_threads(p, kernel_of(p, thread), p->nodes[thread].axis))
    return no(why, "a block has threads that never come to a barrier");
  for (int k = 0; k < n; k++)
    for (int64_t v = lo; v <= hi; v++) {
      memcpy(row, rows[k], sizeof row);
      row[d] = v;
      if (!is_there(row, n))
        return no(why, "not all threads come to a barrier equally often");
    }
  return JU_YES;
}

ju_answer
ju_barriers_hold(const or_program *p, const char **why) {
  for (int k = 0; k < p->n_nodes; k++) {
    int loops[OR_DEPTH], n;
    if (p->nodes[k].kind != OR_SYNC || !(n = or_loops(p, k, loops)))
      continue;
    n_values = n;
    int m = iterations(p, loops[n - 1]);
    for (int j = 0; j < n; j++)
      if (is_bound(p, loops[j], true) && all_come(p, loops[j], m, why) == JU_NO)
        return JU_NO;
  }
  return JU_YES;
}
