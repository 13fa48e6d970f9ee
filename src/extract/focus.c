/* SPDX-License-Identifier: MIT */
/* focus.c - the part of a problem that a good DAG can be in.
 *
 * The cheapest tree gives a first DAG.  A node is of interest only if the
 * dearest chain below it, its own cost and the cheapest way down to it from a
 * root together do not exceed that DAG's cost.  On large e-graphs with a cheap
 * answer this leaves little; two near-linear passes find it, and what follows
 * works on the rest. */
#include "extract/focus.h"
#include "extract/landmark.h"
#include <assert.h>
#include <string.h>

static void
whole(const ex_problem *p, ex_focus *f) {
  f->p = *p;
  f->class_at = f->node_at = NULL;
}

static bool
reach(const ex_problem *p, const double *bound, double most, uint32_t *number,
      ex_list *classes) {
  memset(number, 0xff, p->n_classes * sizeof *number);
  for (uint32_t r = 0; r < p->n_roots; r++)
    if (number[p->roots[r]] == EX_NONE) {
      number[p->roots[r]] = 0;
      bs_push(p->heap, classes, p->roots[r]);
    }
  for (uint32_t done = 0; done < classes->len; done++) {
    uint32_t c = classes->data[done];
    for (uint32_t n = p->class_first[c]; n < p->class_first[c + 1]; n++)
      for (uint32_t k = p->kid_first[n];
           bound[n] <= most && k < p->kid_first[n + 1]; k++)
        if (number[p->kids[k]] == EX_NONE) {
          number[p->kids[k]] = 0;
          bs_push(p->heap, classes, p->kids[k]);
        }
  }
  bs_clear(classes);
  for (uint32_t c = 0; c < p->n_classes; c++)
    if (number[c] == 0) {
      number[c] = classes->len;
      bs_push(p->heap, classes, c);
    }
  return classes->len < p->n_classes;
}

static uint32_t
count_kept(const ex_problem *p, const ex_list *classes, const double *bound,
           double most, uint32_t *kids) {
  uint32_t kept = 0;
  *kids = 0;
  for (uint32_t i = 0; i < classes->len; i++) {
    uint32_t c = classes->data[i];
    for (uint32_t n = p->class_first[c]; n < p->class_first[c + 1]; n++)
      if (bound[n] <= most) {
        kept++;
        *kids += ex_n_kids(p, n);
      }
  }
  return kept;
}

/* Rows of the kept nodes; they stand in order already. */
static void
write_rows(const ex_problem *p, const ex_list *classes, const uint32_t *number,
           const double *bound, double most, ex_focus *f) {
  bs_heap *h = p->heap;
  ex_problem *q = &f->p;
  uint32_t kids;
  uint32_t kept = count_kept(p, classes, bound, most, &kids);
  *q =
      (ex_problem){.heap = h, .n_classes = classes->len, .n_roots = p->n_roots};
  q->class_first = EX_NEW(h, uint32_t, (size_t)classes->len + 1);
  q->cost = EX_NEW(h, double, kept);
  q->kid_first = EX_NEW(h, uint32_t, (size_t)kept + 1);
  q->kids = EX_NEW(h, uint32_t, kids);
  q->roots = EX_NEW(h, uint32_t, p->n_roots);
  f->node_at = EX_NEW(h, uint32_t, kept);
  kids = 0;
  for (uint32_t i = 0; i < classes->len; i++) {
    uint32_t c = classes->data[i];
    q->class_first[i] = q->n_nodes;
    for (uint32_t n = p->class_first[c]; n < p->class_first[c + 1]; n++) {
      if (bound[n] > most)
        continue;
      q->cost[q->n_nodes] = p->cost[n];
      q->kid_first[q->n_nodes] = kids;
      for (uint32_t k = p->kid_first[n]; k < p->kid_first[n + 1]; k++)
        q->kids[kids++] = number[p->kids[k]];
      f->node_at[q->n_nodes++] = n;
    }
  }
  q->class_first[classes->len] = q->n_nodes;
  q->kid_first[q->n_nodes] = kids;
  for (uint32_t r = 0; r < p->n_roots; r++)
    q->roots[r] = number[p->roots[r]];
}

static void
narrow(const ex_problem *p, double dag, ex_focus *f) {
  bs_heap *h = p->heap;
  double *bound = EX_NEW(h, double, p->n_nodes);
  uint32_t *number = EX_NEW(h, uint32_t, p->n_classes);
  double most = dag * (1 + 1e-9);
  ex_list classes = {0};
  ex_node_bounds(p, p->cost, bound);
  if (reach(p, bound, most, number, &classes)) {
    write_rows(p, &classes, number, bound, most, f);
    f->class_at = classes.data;
  } else {
    whole(p, f);
    bs_vec_done(h, &classes);
  }
  bs_free(h, number);
  bs_free(h, bound);
}

bool
ex_focus_start(const ex_problem *p, ex_focus *f) {
  bs_heap *h = p->heap;
  uint32_t *choice = EX_NEW(h, uint32_t, p->n_classes);
  double *best = EX_NEW(h, double, p->n_classes), tree, dag;
  ex_tree(p, NULL, best, choice);
  bs_free(h, best);
  bool feasible = ex_price(p, choice, &tree, &dag);
  bs_free(h, choice);
  if (feasible)
    narrow(p, dag, f);
  return feasible;
}

void
ex_focus_choice(const ex_focus *f, const uint32_t *from, uint32_t *to) {
  assert(from && to && from != to);
  for (uint32_t c = 0; c < f->p.n_classes; c++)
    if (from[c] != EX_NONE)
      to[f->class_at ? f->class_at[c] : c] =
          f->node_at ? f->node_at[from[c]] : from[c];
}

void
ex_focus_done(ex_focus *f) {
  bs_heap *h = f->p.heap;
  if (!f->class_at)
    return;
  bs_free(h, f->class_at);
  bs_free(h, f->node_at);
  ex_problem_done(&f->p);
}
