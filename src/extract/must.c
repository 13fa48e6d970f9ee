/* SPDX-License-Identifier: MIT */
/* must.c - what every term of a class contains.
 *
 *   must(c) = {c} + intersection over nodes n of c of
 *                   union over children k of n of must(k)
 *
 * The greatest solution, reached from "everything" downwards, holds for every
 * finite term (by induction on its height).  A node whose union has its own
 * class is in no acyclic term and does not take part.  From the sets follow:
 * such nodes die; what a forced class must contain is forced; a child that
 * another child must contain is implied and dropped. */
#include "extract/core.h"
#include <assert.h>
#include <string.h>

/* Classes up to which sets are kept (n^2 / 8 bytes). */
#define MAX_SETS 16384

static uint64_t *
set_of(const core_must *m, uint32_t c) {
  return m->set + (size_t)c * m->words;
}

const uint64_t *
core_must_node(core_must *m, uint32_t node) {
  assert(node < m->p.n_nodes);
  const ex_problem *p = &m->p;
  memset(m->scratch, 0, m->words * sizeof(uint64_t));
  for (uint32_t k = p->kid_first[node]; k < p->kid_first[node + 1]; k++) {
    uint32_t kid = p->kids[k];
    if (!m->set) {
      m->scratch[kid / 64] |= (uint64_t)1 << kid % 64;
      continue;
    }
    const uint64_t *set = set_of(m, kid);
    for (uint32_t w = 0; w < m->words; w++)
      m->scratch[w] |= set[w];
  }
  return m->scratch;
}

/* Recomputes one class; true when it lost members. */
static bool
refine(core_must *m, uint32_t c, uint64_t *all) {
  const ex_problem *p = &m->p;
  uint64_t *set = set_of(m, c), lost = 0;
  memset(all, 0xff, m->words * sizeof(uint64_t));
  for (uint32_t n = p->class_first[c]; n < p->class_first[c + 1]; n++) {
    const uint64_t *of_node = core_must_node(m, n);
    if (core_bit(of_node, c))
      continue;
    for (uint32_t w = 0; w < m->words; w++)
      all[w] &= of_node[w];
  }
  all[c / 64] |= (uint64_t)1 << c % 64;
  for (uint32_t w = 0; w < m->words; w++) {
    lost |= set[w] & ~all[w];
    set[w] &= all[w];
  }
  return lost != 0;
}

/* Classes by component, children's components first. */
static uint32_t *
component_order(const ex_core *g, const core_must *m) {
  uint32_t n = m->p.n_classes;
  uint32_t *order = EX_NEW(g->heap, uint32_t, n);
  uint32_t *first = EX_ZERO(g->heap, uint32_t, (size_t)n + 1);
  for (uint32_t c = 0; c < n; c++)
    first[g->classes[m->class_at[c]].component + 1]++;
  for (uint32_t c = 0; c < n; c++)
    first[c + 1] += first[c];
  for (uint32_t c = 0; c < n; c++)
    order[first[g->classes[m->class_at[c]].component]++] = c;
  bs_free(g->heap, first);
  return order;
}

/* Each component to its fixpoint, in order. */
static void
refine_all(const ex_core *g, ex_watch *w, core_must *m) {
  uint32_t *order = component_order(g, m), n = m->p.n_classes, end;
  uint64_t *all = EX_NEW(g->heap, uint64_t, m->words);
  for (uint32_t from = 0; from < n && !ex_watch_over(w); from = end) {
    uint32_t component = g->classes[m->class_at[order[from]]].component;
    for (end = from; end < n; end++)
      if (g->classes[m->class_at[order[end]]].component != component)
        break;
    for (bool changed = true; changed && !ex_watch_over(w);) {
      changed = false;
      for (uint32_t i = from; i < end; i++)
        changed |= refine(m, order[i], all);
      changed = changed && end - from > 1;
    }
  }
  bs_free(g->heap, all);
  bs_free(g->heap, order);
}

void
core_must_start(const ex_core *g, ex_watch *w, core_must *m) {
  *m = (core_must){0};
  core_to_problem(g, &m->p, &m->class_at, &m->node_at);
  m->words = (m->p.n_classes + 63) / 64;
  m->scratch = EX_NEW(g->heap, uint64_t, m->words);
  if (m->p.n_classes > MAX_SETS)
    return;
  size_t size = (size_t)m->p.n_classes * m->words;
  m->set = EX_NEW(g->heap, uint64_t, size);
  memset(m->set, 0xff, size * sizeof(uint64_t));
  refine_all(g, w, m);
  if (ex_watch_over(w)) { /* perhaps not down to what holds */
    bs_free(g->heap, m->set);
    m->set = NULL;
  }
}

void
core_must_done(core_must *m) {
  bs_heap *heap = m->p.heap;
  bs_free(heap, m->set);
  bs_free(heap, m->scratch);
  bs_free(heap, m->class_at);
  bs_free(heap, m->node_at);
  ex_problem_done(&m->p);
}

void
core_must_goals(const core_must *m, ex_list *out) {
  const ex_problem *p = &m->p;
  bool *goal = EX_ZERO(p->heap, bool, p->n_classes);
  for (uint32_t r = 0; r < p->n_roots; r++) {
    goal[p->roots[r]] = true;
    for (uint32_t c = 0; m->set && c < p->n_classes; c++)
      goal[c] |= core_bit(set_of(m, p->roots[r]), c);
  }
  for (uint32_t c = 0; c < p->n_classes; c++)
    if (goal[c])
      bs_push(p->heap, out, c);
  bs_free(p->heap, goal);
}

static uint32_t
force_implied(ex_core *g, const core_must *m) {
  uint32_t changed = 0;
  ex_list goals = {0};
  core_must_goals(m, &goals);
  for (uint32_t i = 0; i < goals.len; i++) {
    core_class *k = &g->classes[m->class_at[goals.data[i]]];
    changed += !k->forced;
    k->forced = true;
  }
  bs_vec_done(g->heap, &goals);
  return changed;
}

/* Is child k among what another child must contain? */
static bool
implied(const core_must *m, uint32_t node, uint32_t k) {
  for (uint32_t i = m->p.kid_first[node]; i < m->p.kid_first[node + 1]; i++)
    if (i != k && core_bit(set_of(m, m->p.kids[i]), m->p.kids[k]))
      return true;
  return false;
}

static bool
drop_implied(ex_core *g, const core_must *m, uint32_t node, ex_list *kids) {
  const ex_problem *p = &m->p;
  bs_clear(kids);
  for (uint32_t k = p->kid_first[node]; k < p->kid_first[node + 1]; k++)
    if (!implied(m, node, k))
      bs_push(g->heap, kids, m->class_at[p->kids[k]]);
  if (kids->len == ex_n_kids(p, node))
    return false;
  core_set_kids(g, m->node_at[node], kids->data, kids->len);
  return true;
}

uint32_t
core_use_must(ex_core *g, core_must *m) {
  const ex_problem *p = &m->p;
  uint32_t changed = 0;
  ex_list kids = {0};
  if (!m->set)
    return 0;
  for (uint32_t c = 0; c < p->n_classes; c++)
    for (uint32_t n = p->class_first[c]; n < p->class_first[c + 1]; n++)
      if (core_bit(core_must_node(m, n), c)) {
        core_kill_node(g, m->node_at[n]);
        changed++;
      } else if (ex_n_kids(p, n) > 1) {
        changed += drop_implied(g, m, n, &kids);
      }
  bs_vec_done(g->heap, &kids);
  return changed + force_implied(g, m);
}
