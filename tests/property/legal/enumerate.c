/* SPDX-License-Identifier: MIT */
/* enumerate.c - the instances of a program in order; see order.h.
 *
 * Of each statement the values of its indices are tried one after the other,
 * between bounds that its conditions and the loops around it give (intervals
 * narrowed forwards and backwards through expressions, after Benhamou et al.,
 * "Revising hull and box consistency", 1999).  What has all of its values is
 * looked at exactly.  All instances are then sorted by (place, loop value,
 * place, ..., place). */
#include "order.h"
#include <stdlib.h>
#include <string.h>

#define FAR ((int64_t)1 << 40)

typedef struct range {
  int64_t lo, hi;
} range;

typedef struct search {
  or_program *p;
  int stmt, way, n_tests;
  or_test tests[OR_TESTS + 16 * OR_DEPTH];
  range box[OR_VARS];
  int order[OR_VARS], n_order; /* variables that are tried */
} search;

static int64_t
floor_div(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t
near(int64_t v) {
  return v > FAR ? FAR : v < -FAR ? -FAR : v;
}

int64_t
or_value(const or_program *p, int term, const int64_t *vars) {
  const or_term *t = &p->terms[term];
  if (t->kind == OR_NUMBER)
    return t->n;
  if (t->kind == OR_VAR)
    return vars[t->n];
  int64_t a = or_value(p, t->a, vars), b = or_value(p, t->b, vars);
  switch (t->kind) {
  case OR_ADD:
    return a + b;
  case OR_SUB:
    return a - b;
  case OR_MUL:
    return a * b;
  case OR_DIV:
    return b ? floor_div(a, b) : 0;
  case OR_MOD:
  case OR_NUMBER:
  case OR_VAR:
  default:
    return b ? a - b * floor_div(a, b) : 0;
  }
}

/* ---- intervals ---- */

static range
product_of(range a, range b) {
  int64_t all[] = {a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi};
  range out = {FAR, -FAR};
  /* Bounds that are far away stay so: no product of theirs is formed. */
  if (a.hi >= FAR || a.lo <= -FAR || b.hi >= FAR || b.lo <= -FAR)
    return (range){-FAR, FAR};
  for (int k = 0; k < 4; k++) {
    out.lo = all[k] < out.lo ? all[k] : out.lo;
    out.hi = all[k] > out.hi ? all[k] : out.hi;
  }
  return out;
}

static range
range_of(const search *s, int term) {
  const or_term *t = &s->p->terms[term];
  if (t->kind == OR_NUMBER)
    return (range){t->n, t->n};
  if (t->kind == OR_VAR)
    return s->box[t->n];
  range a = range_of(s, t->a), b = range_of(s, t->b);
  switch (t->kind) {
  case OR_ADD:
    return (range){near(a.lo + b.lo), near(a.hi + b.hi)};
  case OR_SUB:
    return (range){near(a.lo - b.hi), near(a.hi - b.lo)};
  case OR_MUL:
    return product_of(a, b);
  case OR_DIV:
    return b.lo > 0 ? (range){floor_div(a.lo, b.lo), floor_div(a.hi, b.lo)}
                    : (range){-FAR, FAR};
  case OR_MOD:
  case OR_NUMBER:
  case OR_VAR:
  default:
    return a.lo >= 0 && a.hi < b.lo ? a : (range){0, b.hi - 1};
  }
}

static range
meet(range a, range b) {
  return (range){a.lo > b.lo ? a.lo : b.lo, a.hi < b.hi ? a.hi : b.hi};
}

/* The values x for which x * by lies in the range; by is not 0. */
static range
divided(range r, int64_t by) {
  if (by < 0) {
    r = (range){-r.hi, -r.lo};
    by = -by;
  }
  return (range){r.lo <= -FAR ? -FAR : -floor_div(-r.lo, by),
                 r.hi >= FAR ? FAR : floor_div(r.hi, by)};
}

/* A term is known to lie in a range: so are its parts. */
static void
narrow(search *s, int term, range to) {
  const or_term *t = &s->p->terms[term];
  if (t->kind == OR_NUMBER)
    return;
  if (t->kind == OR_VAR) {
    s->box[t->n] = meet(s->box[t->n], to);
    return;
  }
  range a = range_of(s, t->a), b = range_of(s, t->b);
  switch (t->kind) {
  case OR_ADD:
    narrow(s, t->a, (range){near(to.lo - b.hi), near(to.hi - b.lo)});
    narrow(s, t->b, (range){near(to.lo - a.hi), near(to.hi - a.lo)});
    break;
  case OR_SUB:
    narrow(s, t->a, (range){near(to.lo + b.lo), near(to.hi + b.hi)});
    narrow(s, t->b, (range){near(a.lo - to.hi), near(a.hi - to.lo)});
    break;
  case OR_MUL:
    if (b.lo == b.hi && b.lo)
      narrow(s, t->a, divided(to, b.lo));
    if (a.lo == a.hi && a.lo)
      narrow(s, t->b, divided(to, a.lo));
    break;
  case OR_DIV:
    if (b.lo > 0 && b.lo == b.hi)
      narrow(s, t->a,
             (range){to.lo <= -FAR ? -FAR : near(to.lo * b.lo),
                     to.hi >= FAR ? FAR : near(to.hi * b.lo + b.lo - 1)});
    break;
  case OR_MOD:
  case OR_NUMBER:
  case OR_VAR:
  default:
    break;
  }
}

/* False where nothing is left. */
static bool
narrow_by(search *s, const or_test *t) {
  int64_t apart = t->how == '<';
  range a = range_of(s, t->left), b = range_of(s, t->right);
  range left = {t->how == '=' ? b.lo : -FAR, b.hi >= FAR ? FAR : b.hi - apart};
  range right = {a.lo <= -FAR ? -FAR : a.lo + apart,
                 t->how == '=' ? a.hi : FAR};
  if (a.lo > left.hi || a.hi < left.lo)
    return false;
  narrow(s, t->left, left);
  narrow(s, t->right, right);
  return true;
}

static bool
narrow_all(search *s, int times) {
  for (int k = 0; k < times; k++) {
    range was[OR_VARS];
    memcpy(was, s->box, sizeof was);
    for (int j = 0; j < s->n_tests; j++)
      if (!narrow_by(s, &s->tests[j]))
        return false;
    if (!memcmp(was, s->box, sizeof was))
      break;
  }
  for (int v = 0; v < OR_VARS; v++)
    if (s->box[v].lo > s->box[v].hi)
      return false;
  return true;
}

/* ---- one statement ---- */

static bool
holds(const or_program *p, const or_test *t, const int64_t *vars) {
  int64_t a = or_value(p, t->left, vars), b = or_value(p, t->right, vars);
  return t->how == '<' ? a < b : t->how == '[' ? a <= b : a == b;
}

static bool
all_hold(const or_program *p, const or_test *t, int n, const int64_t *vars) {
  for (int k = 0; k < n; k++)
    if (!holds(p, &t[k], vars))
      return false;
  return true;
}

static bool
is_known_already(const search *s, const int64_t *vars) {
  const or_node *n = &s->p->nodes[s->stmt];
  for (int k = 0; k < s->way; k++)
    if (all_hold(s->p, n->tests[k], n->n_tests[k], vars))
      return true;
  return false;
}

static bool
add_instance(search *s, const int64_t *vars) {
  or_program *p = s->p;
  if (p->n_instances == OR_INSTANCES) {
    p->why = "too many instances";
    return false;
  }
  or_instance *i = &p->instances[p->n_instances++];
  memset(i, 0, sizeof *i);
  i->stmt = s->stmt;
  memcpy(i->index, vars, sizeof i->index);
  memcpy(i->loop, vars + OR_INDICES, sizeof i->loop);
  return true;
}

static bool
finish(search *s) {
  int64_t vars[OR_VARS];
  for (int v = 0; v < OR_VARS; v++)
    vars[v] = s->box[v].lo;
  return !all_hold(s->p, s->tests, s->n_tests, vars) ||
         is_known_already(s, vars) || add_instance(s, vars);
}

static bool
try_values(search *s, int at) {
  while (at < s->n_order && s->box[s->order[at]].lo == s->box[s->order[at]].hi)
    at++;
  if (at == s->n_order)
    return finish(s);
  range all = s->box[s->order[at]], was[OR_VARS];
  if (all.hi - all.lo > 100000) {
    s->p->why = "an index has no bounds";
    return false;
  }
  memcpy(was, s->box, sizeof was);
  bool ok = true;
  for (int64_t v = all.lo; ok && v <= all.hi; v++) {
    s->box[s->order[at]] = (range){v, v};
    if (narrow_all(s, 3))
      ok = try_values(s, at + 1);
    memcpy(s->box, was, sizeof was);
  }
  return ok;
}

/* ---- what a statement must keep ---- */

static int
make_term(or_program *p, or_kind kind, int64_t n) {
  if (p->n_terms == OR_TERMS) {
    p->why = "too many terms";
    return 0;
  }
  p->terms[p->n_terms] = (or_term){kind, n, 0, 0};
  return p->n_terms++;
}

static void
add_test(search *s, int left, char how, int right) {
  if (s->n_tests < (int)(sizeof s->tests / sizeof *s->tests))
    s->tests[s->n_tests++] = (or_test){left, right, how};
  else
    s->p->why = "too many conditions";
}

static void
collect(search *s) {
  or_program *p = s->p;
  const or_node *n = &p->nodes[s->stmt];
  int loops[OR_DEPTH], depth = or_loops(p, s->stmt, loops);
  s->n_tests = s->n_order = 0;
  for (int v = 0; v < OR_VARS; v++)
    s->box[v] = (range){0, 0};
  for (int k = 0; k < n->n_indices; k++)
    s->box[s->order[s->n_order++] = k] = (range){-FAR, FAR};
  for (int k = 0; k < depth; k++) {
    int var = OR_INDICES + k, loop = make_term(p, OR_VAR, var);
    const or_node *l = &p->nodes[loops[k]];
    s->box[s->order[s->n_order++] = var] = (range){-FAR, FAR};
    for (int j = 0; j < l->n_lo; j++)
      add_test(s, l->lo[j], '[', loop);
    for (int j = 0; j < l->n_hi; j++)
      add_test(s, loop, '<', l->hi[j]);
    add_test(s, loop, '=', n->time[k]);
  }
  for (int k = 0; n->n_ways && k < n->n_tests[s->way]; k++)
    add_test(s, n->tests[s->way][k].left, n->tests[s->way][k].how,
             n->tests[s->way][k].right);
}

static bool
enumerate_stmt(or_program *p, int stmt) {
  static search s;
  int ways = p->nodes[stmt].n_ways;
  for (int way = 0; way < (ways ? ways : 1) && !p->why; way++) {
    s.p = p;
    s.stmt = stmt;
    s.way = way;
    collect(&s);
    if (!p->why && narrow_all(&s, 60))
      try_values(&s, 0);
  }
  return !p->why;
}

/* ---- the order ---- */

static const or_program *sorted;

static int
compare_times(const or_instance *x, const or_instance *y) {
  int xs[OR_DEPTH + 1], ys[OR_DEPTH + 1];
  int n = or_loops(sorted, x->stmt, xs), m = or_loops(sorted, y->stmt, ys);
  xs[n] = x->stmt;
  ys[m] = y->stmt;
  for (int k = 0; k <= n && k <= m; k++) {
    int i = sorted->nodes[xs[k]].place, j = sorted->nodes[ys[k]].place;
    if (i != j)
      return i < j ? -1 : 1;
    if (k < n && k < m && x->loop[k] != y->loop[k])
      return x->loop[k] < y->loop[k] ? -1 : 1;
  }
  return 0;
}

static int
by_time(const void *a, const void *b) {
  const or_instance *x = a, *y = b;
  int c = compare_times(x, y);
  for (int d = 0; !c && d < OR_INDICES; d++)
    c = x->index[d] < y->index[d] ? -1 : x->index[d] > y->index[d];
  return c;
}

static void
rank(or_program *p) {
  for (int k = 0; k < p->n_instances; k++) {
    or_instance *i = &p->instances[k];
    bool ties = k && !compare_times(i - 1, i);
    i->rank = ties ? i[-1].rank : k;
  }
}

/* ---- accesses ---- */

static void
add_access(or_program *p, int instance, const or_reference *r, int64_t element,
           int64_t place) {
  if (p->n_accesses == OR_ACCESSES) {
    p->why = "too many accesses";
    return;
  }
  p->accesses[p->n_accesses++] =
      (or_access){instance, r->array, r->use, element, place};
}

/* All elements behind the first one. */
static void
add_spans(or_program *p, int instance, const or_reference *r, int64_t element,
          int64_t place) {
  int64_t at[4] = {0};
  for (;;) {
    int64_t more = 0;
    int d = 0;
    for (int k = 0; k < r->n_spans; k++)
      more += at[k] * r->stride[k];
    add_access(p, instance, r, element + more, place + more);
    while (d < r->n_spans && ++at[d] == r->count[d])
      at[d++] = 0;
    if (d == r->n_spans || p->why)
      return;
  }
}

static void
add_accesses(or_program *p, int instance) {
  or_instance *i = &p->instances[instance];
  const or_node *n = &p->nodes[i->stmt];
  int64_t vars[OR_VARS];
  memcpy(vars, i->index, sizeof i->index);
  memcpy(vars + OR_INDICES, i->loop, sizeof i->loop);
  i->first = p->n_accesses;
  /* What is written comes first in the text, and last in time. */
  for (int k = 1; k <= n->n_references; k++) {
    const or_reference *r = &n->references[k % n->n_references];
    const or_array *a = &p->arrays[r->array];
    int64_t element = 0, place = 0;
    for (int d = 0; d < r->n; d++) {
      int64_t v = or_value(p, r->index[d], vars);
      int64_t fold = r->from_start ? 0 : a->fold[d];
      bool folds = fold && fold < a->dim[d];
      element = element * a->dim[d] + v;
      place = folds ? place * fold + v - fold * floor_div(v, fold)
                    : place * (r->from_start ? 1 : a->dim[d]) + v;
    }
    add_spans(p, instance, r, element, place);
  }
  i->n = p->n_accesses - i->first;
}

bool
or_enumerate(or_program *p) {
  p->n_instances = p->n_accesses = 0;
  for (int k = 0; k < p->n_nodes; k++)
    if (p->nodes[k].kind == OR_STMT && !enumerate_stmt(p, k))
      return false;
  sorted = p;
  qsort(p->instances, (size_t)p->n_instances, sizeof *p->instances, by_time);
  rank(p);
  for (int k = 0; k < p->n_instances && !p->why; k++)
    add_accesses(p, k);
  return !p->why;
}
