/* SPDX-License-Identifier: MIT */
/* judge.c - see judge.h. */
#include "judge.h"
#include <stdlib.h>
#include <string.h>

static ju_answer
no(const char **why, const char *what) {
  *why = what;
  return JU_NO;
}

/* ---- instances of two programs ---- */

/* A name without the number that makes it another's. */
static size_t
stem(const char *name) {
  const char *tail = strrchr(name, '_');
  return tail && tail[1] && strspn(tail + 1, "0123456789") == strlen(tail + 1)
             ? (size_t)(tail - name)
             : strlen(name);
}

static const or_program *of_keys;

/* Statements by their stems, then instances by their values. */
static int
by_name(const void *a, const void *b) {
  const or_instance *x = &of_keys->instances[*(const int *)a];
  const or_instance *y = &of_keys->instances[*(const int *)b];
  const char *s = of_keys->nodes[x->stmt].name;
  const char *t = of_keys->nodes[y->stmt].name;
  size_t n = stem(s), m = stem(t);
  int c = memcmp(s, t, n < m ? n : m);
  if (c || n != m)
    return c ? c : n < m ? -1 : 1;
  /* Where a statement has no indices of its own, it has those of its loops. */
  int k = of_keys->nodes[x->stmt].n_indices,
      j = of_keys->nodes[y->stmt].n_indices;
  const int64_t *u = k ? x->index : x->loop, *v = j ? y->index : y->loop;
  for (int d = 0; d < OR_INDICES; d++)
    if (u[d] != v[d])
      return u[d] < v[d] ? -1 : 1;
  return 0;
}

static void
sort_by_name(const or_program *p, int *out) {
  for (int k = 0; k < p->n_instances; k++)
    out[k] = k;
  of_keys = p;
  qsort(out, (size_t)p->n_instances, sizeof *out, by_name);
}

static bool
is_same(const or_program *a, int i, const or_program *b, int j) {
  const or_instance *x = &a->instances[i], *y = &b->instances[j];
  const char *s = a->nodes[x->stmt].name, *t = b->nodes[y->stmt].name;
  size_t n = stem(s);
  const int64_t *u = a->nodes[x->stmt].n_indices ? x->index : x->loop;
  const int64_t *v = b->nodes[y->stmt].n_indices ? y->index : y->loop;
  if (n != stem(t) || memcmp(s, t, n) != 0 || x->n != y->n ||
      memcmp(u, v, OR_INDICES * sizeof *u) != 0)
    return false;
  for (int k = 0; k < x->n; k++) {
    const or_access *c = &a->accesses[x->first + k];
    const or_access *d = &b->accesses[y->first + k];
    if (c->element != d->element || c->use != d->use ||
        strcmp(a->arrays[c->array].name, b->arrays[d->array].name) != 0)
      return false;
  }
  return true;
}

/* ---- the order ---- */

static int first_of[OR_INSTANCES], second_of[OR_INSTANCES];
static int now_at[OR_INSTANCES];    /* ranks, by number before */
static int by_element[OR_ACCESSES]; /* accesses, of each element in order */
static const or_program *of_elements;

static int
element_order(const void *a, const void *b) {
  const or_access *x = &of_elements->accesses[*(const int *)a];
  const or_access *y = &of_elements->accesses[*(const int *)b];
  if (x->array != y->array)
    return x->array < y->array ? -1 : 1;
  if (x->element != y->element)
    return x->element < y->element ? -1 : 1;
  return *(const int *)a < *(const int *)b ? -1 : 1;
}

static char
class_of(const or_program *p, const or_access *a) {
  return a->use == OR_UPDATE ? p->nodes[p->instances[a->instance].stmt].op
                             : '\0';
}

/* Two accesses of an element, of which one sets it: they stay in order, unless
 * both are updates that may change places. */
static bool
may_change_places(const or_program *p, const or_access *a, const or_access *b) {
  char x = class_of(p, a), y = class_of(p, b);
  return (a->use == OR_READ && b->use == OR_READ) || (x && x == y && x != '/');
}

static ju_answer
compare_elements(const or_program *p, const char **why) {
  for (int k = 0; k < p->n_accesses; k++)
    by_element[k] = k;
  of_elements = p;
  qsort(by_element, (size_t)p->n_accesses, sizeof *by_element, element_order);
  for (int k = 0; k < p->n_accesses; k++) {
    const or_access *a = &p->accesses[by_element[k]];
    for (int j = k + 1; j < p->n_accesses; j++) {
      const or_access *b = &p->accesses[by_element[j]];
      if (a->array != b->array || a->element != b->element)
        break;
      if (p->instances[a->instance].rank != p->instances[b->instance].rank &&
          !may_change_places(p, a, b) &&
          now_at[a->instance] >= now_at[b->instance])
        return no(why, "two accesses of an element change places");
    }
  }
  return JU_YES;
}

ju_answer
ju_keeps_order(const or_program *before, const or_program *now,
               const char **why) {
  *why = "statements are others";
  if (before->n_instances != now->n_instances)
    return JU_UNKNOWN;
  sort_by_name(before, first_of);
  sort_by_name(now, second_of);
  for (int k = 0; k < now->n_instances; k++) {
    if (!is_same(before, first_of[k], now, second_of[k]))
      return JU_UNKNOWN;
    now_at[first_of[k]] = now->instances[second_of[k]].rank;
  }
  *why = NULL;
  return compare_elements(before, why);
}

/* ---- places ---- */

static int
by_place_only(const void *a, const void *b) {
  const or_access *x = &of_elements->accesses[*(const int *)a];
  const or_access *y = &of_elements->accesses[*(const int *)b];
  if (x->array != y->array)
    return x->array < y->array ? -1 : 1;
  if (x->place != y->place)
    return x->place < y->place ? -1 : 1;
  return *(const int *)a < *(const int *)b ? -1 : 1;
}

static bool
is_written_before(const or_program *p, const int *list, int k) {
  const or_access *a = &p->accesses[list[k]];
  for (int j = k; j-- > 0;) {
    const or_access *b = &p->accesses[list[j]];
    if (b->array != a->array || b->place != a->place)
      break;
    if (b->element == a->element && b->use != OR_READ &&
        b->instance != a->instance)
      return true;
  }
  return false;
}

ju_answer
ju_places_hold(const or_program *p, const char **why) {
  int last = -1; /* write to the place, before the instance */
  for (int k = 0; k < p->n_accesses; k++)
    by_element[k] = k;
  of_elements = p;
  qsort(by_element, (size_t)p->n_accesses, sizeof *by_element, by_place_only);
  for (int k = 0; k < p->n_accesses; k++) {
    const or_access *a = &p->accesses[by_element[k]];
    if (last >= 0 && (p->accesses[last].array != a->array ||
                      p->accesses[last].place != a->place))
      last = -1;
    if (last >= 0 && a->use != OR_WRITE &&
        p->accesses[last].instance != a->instance &&
        p->accesses[last].element != a->element &&
        is_written_before(p, by_element, k))
      return no(why, "what is read was written over");
    if (a->use != OR_READ)
      last = by_element[k];
  }
  return JU_YES;
}

/* ---- marks ---- */

/* What the loops around the iterations of one have in common. */
typedef struct meeting {
  const or_program *p;
  int loop, depth;
  int64_t lanes;
} meeting;

static const meeting *of_meeting;

static int64_t
value_at(const meeting *m, const or_access *a) {
  return m->p->instances[a->instance].loop[m->depth];
}

static int64_t
block_of(const meeting *m, const or_access *a) {
  int64_t v = value_at(m, a);
  return !m->lanes ? 0
         : v >= 0  ? v / m->lanes
                   : -((-v + m->lanes - 1) / m->lanes);
}

/* By array, place, the values of the loops around, the vector. */
static int
compare_places(const or_access *x, const or_access *y) {
  const meeting *m = of_meeting;
  if (x->array != y->array)
    return x->array < y->array ? -1 : 1;
  if (x->place != y->place)
    return x->place < y->place ? -1 : 1;
  const int64_t *u = m->p->instances[x->instance].loop;
  const int64_t *v = m->p->instances[y->instance].loop;
  for (int d = 0; d < m->depth; d++)
    if (u[d] != v[d])
      return u[d] < v[d] ? -1 : 1;
  int64_t i = block_of(m, x), j = block_of(m, y);
  return i < j ? -1 : i > j;
}

static int
place_order(const void *a, const void *b) {
  const or_access *x = &of_meeting->p->accesses[*(const int *)a];
  const or_access *y = &of_meeting->p->accesses[*(const int *)b];
  int c = compare_places(x, y);
  return c ? c : *(const int *)a < *(const int *)b ? -1 : 1;
}

/* All uses of a local are below the loop, or are it. */
static bool
is_used_only_below(const or_program *p, int array, int loop) {
  for (int k = 0; k < p->n_nodes; k++)
    for (int r = 0; r < p->nodes[k].n_references; r++)
      if (p->nodes[k].kind == OR_STMT &&
          p->nodes[k].references[r].array == array && !or_is_below(p, k, loop))
        return false;
  return true;
}

/* Of the accesses of each element in order: one that reads gets its value from
 * another iteration of the loop at this depth, or of one around it. */
static bool
is_handed_on(const or_program *p, int array, int depth) {
  int n = 0, last = -1;
  for (int k = 0; k < p->n_accesses; k++)
    if (p->accesses[k].array == array)
      by_element[n++] = k;
  of_elements = p;
  qsort(by_element, (size_t)n, sizeof *by_element, element_order);
  for (int k = 0; k < n; k++) {
    const or_access *a = &p->accesses[by_element[k]];
    if (k && p->accesses[by_element[k - 1]].element != a->element)
      last = -1;
    if (last >= 0 && a->use != OR_WRITE &&
        memcmp(p->instances[p->accesses[last].instance].loop,
               p->instances[a->instance].loop,
               (size_t)(depth + 1) * sizeof(int64_t)) != 0)
      return true;
    if (a->use != OR_READ)
      last = by_element[k];
  }
  return false;
}

/* Each iteration, or each thread that runs some, has the array to itself. */
static bool
is_own(const or_program *p, int array, int loop) {
  const or_array *a = &p->arrays[array];
  const or_node *l = &p->nodes[loop];
  if (a->role != 'l')
    return false;
  if (l->mark == OR_BIND && (!a->shared || l->axis < 3))
    return true;
  return is_used_only_below(p, array, loop) &&
         !is_handed_on(p, array, l->depth);
}

static int
gather_below(const meeting *m, int array, int *out) {
  int n = 0;
  for (int k = 0; k < m->p->n_accesses; k++) {
    const or_access *a = &m->p->accesses[k];
    if (a->array == array &&
        or_is_below(m->p, m->p->instances[a->instance].stmt, m->loop))
      out[n++] = k;
  }
  return n;
}

/* Two iterations use a place, one of them to set it.  same_element: only such
 * count as use the same element of it. */
static bool
do_meet(const meeting *m, const int *list, int n, bool same_element) {
  for (int k = 0; k < n; k++)
    for (int j = k + 1; j < n; j++) {
      const or_access *a = &m->p->accesses[list[k]];
      const or_access *b = &m->p->accesses[list[j]];
      if (compare_places(a, b))
        break;
      if (value_at(m, a) != value_at(m, b) &&
          (a->use != OR_READ || b->use != OR_READ) &&
          (!same_element || a->element == b->element))
        return true;
    }
  return false;
}

ju_answer
ju_mark_holds(const or_program *p, int loop, const char **why) {
  static int list[OR_ACCESSES];
  const or_node *l = &p->nodes[loop];
  meeting m = {p, loop, l->depth, l->mark == OR_VECTOR ? l->lanes : 0};
  if (l->mark == OR_SERIAL || l->mark == OR_UNROLL)
    return JU_YES;
  for (int a = 0; a < p->n_arrays; a++) {
    int n = gather_below(&m, a, list);
    of_meeting = &m;
    qsort(list, (size_t)n, sizeof *list, place_order);
    if (do_meet(&m, list, n, true))
      return no(why, "iterations of a loop use one element");
    if (do_meet(&m, list, n, false) && !is_own(p, a, loop))
      return no(why, "iterations of a loop use one place");
  }
  return JU_YES;
}

ju_answer
ju_marks_hold(const or_program *p, const char **why) {
  for (int k = 0; k < p->n_nodes; k++)
    if (p->nodes[k].kind == OR_LOOP && ju_mark_holds(p, k, why) == JU_NO)
      return JU_NO;
  return JU_YES;
}
