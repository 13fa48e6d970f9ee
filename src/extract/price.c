/* SPDX-License-Identifier: MIT */
/* price.c - landmarks with better prices.
 *
 * Landmarks are rows of a covering problem: sum of x[n] over a landmark >= 1.
 * For any prices u >= 0 of the rows
 *
 *   L(u) = sum of u + sum over nodes of min(0, cost - prices of its rows)
 *
 * is a lower bound (Lagrangian duality); what landmark-cut pays is a feasible
 * point of it.  Subgradient steps of Polyak's kind raise L(u).  Under the costs
 * that are left then, landmark-cut finds new landmarks, which add to the bound
 * and become rows in their turn. */
#include "extract/landmark.h"
#include <string.h>

#define AGAIN    0.3
#define STEPS    60 /* of a walk */
#define PATIENCE 6  /* steps in vain before the step length falls */

typedef struct pricing {
  const ex_problem *p;
  ex_cuts cuts;      /* with the prices of the walk */
  uint32_t n;        /* landmarks that take part */
  double *rest;      /* cost less prices, per node; may be negative */
  double *slope;     /* per landmark: 1 - its nodes with negative rest */
  double *best;      /* the best prices seen, */
  double value;      /* L of them, */
  double *best_rest; /* and what they leave */
} pricing;

static uint32_t
cut_end(const ex_cuts *c, uint32_t i) {
  return i + 1 < c->first.len ? c->first.data[i + 1] : c->nodes.len;
}

/* L of the current prices; sets rest and slope, *norm the slope's square. */
static double
evaluate(pricing *g, double *norm) {
  const ex_problem *p = g->p;
  const ex_cuts *c = &g->cuts;
  double value = 0;
  memcpy(g->rest, p->cost, p->n_nodes * sizeof *g->rest);
  for (uint32_t i = 0; i < g->n; i++) {
    value += c->price.data[i];
    for (uint32_t k = c->first.data[i]; k < cut_end(c, i); k++)
      g->rest[c->nodes.data[k]] -= c->price.data[i];
  }
  for (uint32_t n = 0; n < p->n_nodes; n++)
    value += g->rest[n] < 0 ? g->rest[n] : 0;
  *norm = 0;
  for (uint32_t i = 0; i < g->n; i++) {
    g->slope[i] = 1;
    for (uint32_t k = c->first.data[i]; k < cut_end(c, i); k++)
      g->slope[i] -= g->rest[c->nodes.data[k]] < 0;
    if (g->slope[i] < 0 && c->price.data[i] <= 0)
      g->slope[i] = 0;
    *norm += g->slope[i] * g->slope[i];
  }
  return value;
}

static void
move(pricing *g, double length) {
  for (uint32_t i = 0; i < g->n; i++)
    g->cuts.price.data[i] =
        fmax(0, g->cuts.price.data[i] + length * g->slope[i]);
}

static void
keep_best(pricing *g, double value) {
  g->value = value;
  memcpy(g->best, g->cuts.price.data, g->n * sizeof *g->best);
  memcpy(g->best_rest, g->rest, g->p->n_nodes * sizeof *g->rest);
}

/* Walks on from the prices as they are. */
static void
climb(pricing *g, double enough) {
  double norm, length = 1, now = evaluate(g, &norm);
  uint32_t vain = 0;
  if (now > g->value)
    keep_best(g, now);
  for (uint32_t i = 0; i < STEPS && norm > 0; i++) {
    double goal = fmin(enough, g->value * 1.1 + 1e-9);
    move(g, length * (goal - now) / norm);
    now = evaluate(g, &norm);
    if (now > g->value) {
      keep_best(g, now);
      vain = 0;
    } else if (++vain == PATIENCE) {
      vain = 0;
      length *= 0.6;
    }
    if (g->value >= enough || length < 0.02)
      break;
  }
}

/* Drops landmarks without a price. */
static void
purge(pricing *g) {
  ex_cuts *c = &g->cuts;
  uint32_t kept = 0, nodes = 0;
  for (uint32_t i = 0; i < c->first.len; i++) {
    uint32_t from = c->first.data[i], end = cut_end(c, i);
    if (c->price.data[i] <= 0 && g->best[i] <= 0)
      continue;
    c->first.data[kept] = nodes;
    g->best[kept] = g->best[i];
    c->price.data[kept++] = c->price.data[i];
    for (uint32_t k = from; k < end; k++)
      c->nodes.data[nodes++] = c->nodes.data[k];
  }
  c->first.len = c->price.len = kept;
  c->nodes.len = nodes;
}

/* Lets the landmarks found since take part. */
static void
resize(pricing *g) {
  bs_heap *h = g->p->heap;
  uint32_t n = g->cuts.first.len;
  g->slope = bs_realloc(h, g->slope, n * sizeof(double));
  g->best = bs_realloc(h, g->best, n * sizeof(double));
  for (; g->n < n; g->n++)
    g->best[g->n] = 0;
}

static void
pricing_done(pricing *g) {
  bs_heap *h = g->p->heap;
  bs_free(h, g->best_rest);
  bs_free(h, g->best);
  bs_free(h, g->slope);
  bs_free(h, g->rest);
  bs_vec_done(h, &g->cuts.first);
  bs_vec_done(h, &g->cuts.nodes);
  bs_vec_done(h, &g->cuts.price);
}

/* More landmarks, without a price yet: those cut from what is left of the costs
 * and a part of the costs themselves, so that what was paid for costs again. */
static void
find_more(pricing *g, ex_watch *w, uint64_t visits, double *scratch) {
  uint32_t from = g->cuts.price.len;
  for (uint32_t n = 0; n < g->p->n_nodes; n++)
    scratch[n] = fmax(g->rest[n], 0) + AGAIN * g->p->cost[n];
  ex_root_cuts(g->p, scratch, &g->cuts);
  ex_cut_costs(g->p, w, INFINITY, visits, scratch, &g->cuts);
  for (uint32_t i = from; i < g->cuts.price.len; i++)
    g->cuts.price.data[i] = 0;
}

double
ex_priced_landmarks(const ex_problem *p, ex_watch *w, double enough,
                    uint64_t visits, uint32_t rounds, double *left) {
  pricing g = {.p = p};
  size_t bytes = p->n_nodes * sizeof *left;
  if (bytes)
    memcpy(left, p->cost, bytes);
  double bound = ex_cut_costs(p, w, enough, visits, left, &g.cuts);
  g.rest = EX_NEW(p->heap, double, p->n_nodes);
  g.best_rest = EX_NEW(p->heap, double, p->n_nodes);
  double *now = EX_NEW(p->heap, double, p->n_nodes);
  memcpy(g.rest, left, bytes);
  g.value = -INFINITY;
  for (uint32_t round = 0; round < rounds; round++) {
    if (bound >= enough || g.cuts.first.len == 0 || ex_watch_over(w))
      break;
    find_more(&g, w, visits, now);
    resize(&g);
    climb(&g, enough);
    for (uint32_t n = 0; n < p->n_nodes; n++)
      now[n] = fmax(g.best_rest[n], 0);
    double more =
        g.value + ex_cut_costs(p, w, enough - g.value, visits, now, NULL);
    purge(&g);
    g.n = g.cuts.first.len;
    bool advances = more - bound > 0.02 * (enough - bound);
    if (more > bound) {
      bound = more;
      memcpy(left, now, bytes);
    }
    if (!advances && round > 0)
      break;
  }
  bs_free(p->heap, now);
  pricing_done(&g);
  return bound;
}
