/* SPDX-License-Identifier: MIT */
/* memory_plan.c - in which order the calls of a part run, and when operands are
 * loaded.
 *
 * A plan is priced by the cycles of the queues: what is moved so often as its
 * level says, and the calls.  Where values have two places by turns, the queues
 * run side by side and the longest one counts.  The search goes from one
 * plan to the best of its neighbours -- another size of one or two blocks,
 * two loops that change places -- until none is better; for each, levels are
 * moved outwards while that saves cycles and there is room. */
#include "poly/memory/memory_part.h"
#include <assert.h>
#include <string.h>

enum { MOST_QUEUES = 8, MOST_SIZES = 24 };

/* ---- loops ---- */

static void
add_loop(po_plan *plan, uint32_t d, int64_t extent, bool within) {
  assert(plan->n_loops < PO_MOST_LOOPS);
  if (extent > 1)
    plan->loop[plan->n_loops++] = (po_loop){d, extent, within};
}

void
po_plan_loops(const po_calls *x, po_plan *plan) {
  plan->n_loops = 0;
  for (uint32_t k = 0; k < x->n; k++) {
    uint32_t d = plan->order[k];
    add_loop(plan, d, x->size[d] / plan->block[d], false);
  }
  for (uint32_t d = 0; d < x->n; d++)
    add_loop(plan, d, plan->block[d], true);
  assert(plan->n_loops <= PO_MOST_LOOPS);
}

int64_t
po_value_places(const po_calls *x, const po_plan *plan, uint32_t value) {
  assert(value < x->n_values);
  const po_value *v = &x->value[value];
  int64_t n = 1;
  for (uint32_t k = plan->level[value]; k < plan->n_loops; k++)
    n *= v->has[plan->loop[k].dim] ? plan->loop[k].extent : 1;
  return n;
}

/* How often all of its places are filled. */
static double
times_filled(const po_plan *plan, uint32_t value) {
  assert(value < PO_MOST_VALUES);
  double n = 1;
  for (uint32_t k = 0; k < plan->level[value]; k++)
    n *= (double)plan->loop[k].extent;
  return n;
}

/* ---- levels ---- */

/* Out of the loops right around that it does not depend on. */
static uint32_t
hoisted(const po_calls *x, const po_plan *plan, uint32_t value,
        uint32_t level) {
  assert(value < x->n_values && level <= plan->n_loops);
  while (level && !x->value[value].has[plan->loop[level - 1].dim])
    level--;
  return level;
}

/* As deep as may be: what a sum adds to stays until it is whole. */
static void
deepest_levels(const po_calls *x, po_plan *plan) {
  for (uint32_t v = 0; v < x->n_values; v++) {
    uint32_t level = plan->n_loops;
    for (uint32_t k = plan->n_loops; x->value[v].written && k-- > 0;)
      if (x->sum[plan->loop[k].dim])
        level = k;
    plan->level[v] = hoisted(x, plan, v, level);
  }
}

/* ---- the price ---- */

typedef struct bill {
  const char *queue[MOST_QUEUES];
  double cycles[MOST_QUEUES], all, once;
  uint32_t n;
} bill;

static void
charge(bill *b, const char *queue, double cycles) {
  uint32_t k = 0;
  queue = queue ? queue : "main";
  while (k < b->n && strcmp(b->queue[k], queue) != 0)
    k++;
  k = k < MOST_QUEUES ? k : MOST_QUEUES - 1;
  if (k == b->n)
    b->queue[b->n++] = queue;
  b->cycles[k] += cycles;
  b->all += cycles;
}

static double
tile_bytes(const po_tile *t) {
  double n = gs_dtype_table[t->dtype].bytes;
  for (uint32_t d = 0; d < t->rank; d++)
    n *= (double)t->dim[d];
  return n;
}

static void
charge_route(const po_calls *x, po_plan *plan, uint32_t v, const po_route *r,
             bill *b) {
  assert(v < x->n_values);
  double places = (double)po_value_places(x, plan, v);
  double times = times_filled(plan, v);
  for (uint32_t h = 0; h < r->n; h++) {
    charge(b, r->move[h].instr->queue, places * times * r->move[h].cycles);
    b->once += places * r->move[h].cycles;
  }
  plan->bytes += r->n * places * times * tile_bytes(&x->value[v].tile);
}

/* What is moved beside the calls; of a value that has one place it waits. */
static void
price(const po_calls *x, po_plan *plan) {
  bill b = {0}, waits = {0};
  plan->bytes = 0;
  charge(&b, x->queue, x->compute);
  for (uint32_t v = 0; v < x->n_values; v++) {
    bool beside = plan->twice[v] || !plan->level[v];
    if (x->value[v].loaded)
      charge_route(x, plan, v, &x->value[v].in, beside ? &b : &waits);
    if (x->value[v].stored)
      charge_route(x, plan, v, &x->value[v].out, beside ? &b : &waits);
  }
  plan->price = waits.all + b.once;
  double longest = 0;
  for (uint32_t k = 0; k < b.n; k++)
    longest = b.cycles[k] > longest ? b.cycles[k] : longest;
  plan->price += longest;
}

static bool
is_better(const po_plan *a, const po_plan *b) {
  if (a->price != b->price)
    return a->price < b->price;
  return a->bytes < b->bytes;
}

/* ---- one order and one choice of blocks ---- */

static bool
has_room(const po_calls *x, const po_plan *plan) {
  po_room room;
  return po_find_room(x, plan, &room);
}

static bool
try_plan(const po_calls *x, po_plan *try, po_plan *best) {
  if (!has_room(x, try))
    return false;
  price(x, try);
  if (!is_better(try, best))
    return false;
  *best = *try;
  return true;
}

/* Where there is room, two places by turns for what is filled again. */
static void
give_turns(const po_calls *x, po_plan *plan) {
  for (uint32_t v = 0; v < x->n_values; v++) {
    po_plan try = *plan;
    try.twice[v] = x->value[v].memory && plan->level[v] &&
                   (x->value[v].loaded || x->value[v].stored);
    if (try.twice[v] != plan->twice[v])
      try_plan(x, &try, plan);
  }
}

/* One value further out, the one that saves the most. */
static bool
move_out(const po_calls *x, po_plan *plan) {
  po_plan best = *plan;
  for (uint32_t v = 0; v < x->n_values; v++)
    for (uint32_t level = plan->level[v]; level-- > 0;) {
      po_plan try = *plan;
      try.level[v] = hoisted(x, plan, v, level);
      level = try.level[v];
      try.twice[v] &= level > 0;
      try_plan(x, &try, &best);
    }
  bool better = is_better(&best, plan);
  *plan = best;
  return better;
}

/* Levels and turns for the loops; false where there is no room. */
static bool
complete(const po_calls *x, po_plan *plan) {
  po_plan_loops(x, plan);
  deepest_levels(x, plan);
  memset(plan->twice, 0, sizeof plan->twice);
  if (!has_room(x, plan))
    return false;
  price(x, plan);
  do
    give_turns(x, plan);
  while (move_out(x, plan));
  return true;
}

/* ---- neighbours ---- */

/* Divisors of a size; of many, those that are not close to each other. */
static uint32_t
sizes_of(int64_t n, int64_t *out) {
  uint32_t k = 0;
  for (int64_t b = 1; b <= n && k < MOST_SIZES; b++)
    if (n % b == 0 && (b == n || k + 1 < MOST_SIZES))
      out[k++] = b;
  return k;
}

static bool
may_cut(const po_calls *x, uint32_t d) {
  assert(d < x->n);
  return d >= x->fused && x->size[d] > 1 && !(x->ordered && x->sum[d]);
}

static bool
try_neighbour(const po_calls *x, po_plan *try, po_plan *best) {
  if (!complete(x, try) || !is_better(try, best))
    return false;
  *best = *try;
  return true;
}

static bool
try_blocks(const po_calls *x, const po_plan *from, uint32_t a, uint32_t b,
           po_plan *best) {
  assert(a <= b && b < x->n);
  int64_t of_a[MOST_SIZES], of_b[MOST_SIZES];
  uint32_t n_a = sizes_of(x->size[a], of_a), n_b = sizes_of(x->size[b], of_b);
  bool any = false;
  for (uint32_t i = 0; i < n_a; i++)
    for (uint32_t j = 0; j < (a == b ? 1 : n_b); j++) {
      po_plan try = *from;
      try.block[a] = of_a[i];
      try.block[b] = a == b ? of_a[i] : of_b[j];
      if (try.block[a] != from->block[a] || try.block[b] != from->block[b])
        any |= try_neighbour(x, &try, best);
    }
  return any;
}

static bool
may_swap(const po_calls *x, const po_plan *plan, uint32_t i, uint32_t j) {
  uint32_t a = plan->order[i], b = plan->order[j];
  return i >= x->fused && j >= x->fused && x->size[a] > 1 && x->size[b] > 1 &&
         !(x->ordered && (x->sum[a] || x->sum[b]));
}

static bool
try_orders(const po_calls *x, const po_plan *from, po_plan *best) {
  bool any = false;
  for (uint32_t i = 0; i < x->n; i++)
    for (uint32_t j = i + 1; j < x->n; j++) {
      po_plan try = *from;
      try.order[i] = from->order[j];
      try.order[j] = from->order[i];
      if (may_swap(x, from, i, j))
        any |= try_neighbour(x, &try, best);
    }
  return any;
}

static void
descend(const po_calls *x, po_plan *plan) {
  bool better = true;
  while (better) {
    po_plan from = *plan;
    better = try_orders(x, &from, plan);
    for (uint32_t a = 0; a < x->n; a++)
      for (uint32_t b = a; b < x->n; b++)
        if (may_cut(x, a) && may_cut(x, b))
          better |= try_blocks(x, &from, a, b, plan);
    bs_limits_check(x->p->ctx.heap);
  }
}

/* Loops as lowering left them, without blocks. */
static po_plan
plain_plan(const po_calls *x) {
  po_plan plan = {0};
  for (uint32_t d = 0; d < x->n; d++) {
    plan.block[d] = 1;
    plan.order[d] = d;
  }
  return plan;
}

bool
po_fits_plainly(const po_calls *x) {
  po_plan plan = plain_plan(x);
  po_plan_loops(x, &plan);
  deepest_levels(x, &plan);
  return has_room(x, &plan);
}

bool
po_find_plan(const po_calls *x, po_plan *out) {
  *out = plain_plan(x);
  if (!complete(x, out))
    return false;
  descend(x, out);
  return true;
}
