/* SPDX-License-Identifier: MIT */
/* count.c - a bound by counting uses.
 *
 * In a solution without surplus every chosen class but the roots is the child
 * of at least one chosen node.  So a price rho(c) >= 0 may be put on every
 * class and refunded to each node that uses it:
 *
 *   cost'(n) = cost(n) + rho(class of n) - sum over children k of rho(k)
 *
 * and no solution costs less than under cost', less the prices of the roots
 * (which nobody refunds; roots as children refund nothing).  Where many leaves
 * must be joined by nodes of few children this counts the joins, which no set
 * of landmarks can: sums of n distinct leaves, for example.
 *
 * A node passes its cost and its own price on to its children in equal parts;
 * a class gets the least part any user offers.  Starting from zero the prices
 * only grow, and cost' >= 0 holds after every round. */
#include "extract/landmark.h"
#include <assert.h>

#define MAX_ROUNDS 64
#define MAX_OFFERS ((uint64_t)1 << 24)

typedef struct pricing {
  const ex_problem *p;
  bool *root;
  uint32_t *shares; /* per node: children that are not roots */
  double *rho, *offer;
} pricing;

/* What a root may be priced: a join of a children repays (a - 1) prices. */
static double
root_price(const pricing *c, uint32_t root) {
  const ex_problem *p = c->p;
  double price = INFINITY;
  for (uint32_t n = p->class_first[root]; n < p->class_first[root + 1]; n++)
    if (c->shares[n] > 1)
      price = fmin(price, p->cost[n] / (c->shares[n] - 1));
  return isinf(price) ? 0 : price;
}

static void
make_offers(pricing *c) {
  const ex_problem *p = c->p;
  for (uint32_t k = 0; k < p->n_classes; k++)
    c->offer[k] = INFINITY;
  for (uint32_t k = 0; k < p->n_classes; k++)
    for (uint32_t n = p->class_first[k]; n < p->class_first[k + 1]; n++) {
      double part = (p->cost[n] + c->rho[k]) / c->shares[n];
      for (uint32_t i = p->kid_first[n]; i < p->kid_first[n + 1]; i++)
        if (part < c->offer[p->kids[i]])
          c->offer[p->kids[i]] = part;
    }
}

/* Takes the offers; true while a price grows noticeably. */
static bool
raise_prices(pricing *c) {
  bool grew = false;
  for (uint32_t k = 0; k < c->p->n_classes; k++) {
    if (c->root[k] || isinf(c->offer[k]))
      continue;
    grew |= c->offer[k] > c->rho[k] * (1 + 1e-9);
    c->rho[k] = fmax(c->rho[k], c->offer[k]);
  }
  return grew;
}

static void
refund(const pricing *c, double *cost) {
  const ex_problem *p = c->p;
  for (uint32_t k = 0; k < p->n_classes; k++)
    for (uint32_t n = p->class_first[k]; n < p->class_first[k + 1]; n++) {
      cost[n] = p->cost[n] + c->rho[k];
      for (uint32_t i = p->kid_first[n]; i < p->kid_first[n + 1]; i++)
        if (!c->root[p->kids[i]])
          cost[n] -= c->rho[p->kids[i]];
      cost[n] = fmax(cost[n], 0); /* what rounding left below zero */
    }
}

static void
pricing_start(pricing *c, const ex_problem *p) {
  bs_heap *h = p->heap;
  *c = (pricing){.p = p};
  c->root = EX_ZERO(h, bool, p->n_classes);
  c->shares = EX_ZERO(h, uint32_t, p->n_nodes);
  c->rho = EX_ZERO(h, double, p->n_classes);
  c->offer = EX_NEW(h, double, p->n_classes);
  for (uint32_t r = 0; r < p->n_roots; r++)
    c->root[p->roots[r]] = true;
  for (uint32_t n = 0; n < p->n_nodes; n++)
    for (uint32_t i = p->kid_first[n]; i < p->kid_first[n + 1]; i++)
      c->shares[n] += !c->root[p->kids[i]];
}

static void
pricing_done(pricing *c) {
  bs_heap *h = c->p->heap;
  bs_free(h, c->offer);
  bs_free(h, c->rho);
  bs_free(h, c->shares);
  bs_free(h, c->root);
}

double
ex_count_bound(const ex_problem *p, uint32_t *goals, uint32_t n_goals,
               ex_watch *w, double enough, uint64_t visits) {
  assert(goals || !n_goals);
  bs_heap *h = p->heap;
  pricing c;
  double owed = 0;
  pricing_start(&c, p);
  for (uint32_t k = 0; k < p->n_classes; k++)
    if (c.root[k])
      owed += c.rho[k] = root_price(&c, k);
  uint64_t round = (uint64_t)p->kid_first[p->n_nodes] + p->n_nodes + 1;
  for (uint64_t i = 0; i < MAX_ROUNDS && i * round < MAX_OFFERS; i++) {
    make_offers(&c);
    if (!raise_prices(&c))
      break;
  }
  ex_problem priced = *p;
  priced.cost = EX_NEW(h, double, p->n_nodes);
  priced.roots = goals;
  priced.n_roots = n_goals;
  double *left = EX_NEW(h, double, p->n_nodes);
  refund(&c, priced.cost);
  double bound = ex_landmarks(&priced, w, enough + owed, visits, left) - owed;
  bs_free(h, left);
  bs_free(h, priced.cost);
  pricing_done(&c);
  return bound;
}
