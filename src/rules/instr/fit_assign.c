/* SPDX-License-Identifier: MIT */
/* fit_assign.c - every way to assign the digits of a computation to those of an
 * instruction.
 *
 * A digit of the computation can stand for one of the instruction where both
 * are in the result, or reduced over by the same reduction, and where no
 * operand has it that does not have the other.  Of those for a digit that has a
 * fixed size in each call the parts that are taken have that product; a part
 * divides what it is of.  For a digit whose size is bounded they have any
 * product within the bound, but not one so small that other parts, with as many
 * calls as are needed to make up for it, are sure to be better.  For a digit of
 * any size each is taken as a whole or not at all.  What is left over is
 * iterated, or added over; it must be nothing where neither can be. */
#include "rules/instr/fit.h"
#include "base/whole.h"
#include <assert.h>
#include <string.h>

enum { MOST_PAIRS = 96, MOST_STEPS = 100000 };

typedef struct pair {
  uint8_t atom, id;
  bool last; /* of its id */
  bool all;  /* the operands of both are the same */
} pair;

typedef struct search {
  const gs_context *ctx;
  const fit_instr *f;
  const fit_space *s;
  uint32_t sum; /* the group of what may be added over; 0: none */
  uint32_t n;
  pair pairs[MOST_PAIRS];
  fit_assignment a;
  int64_t wanted[FIT_IDS]; /* what is still to be taken of a fixed size */
  int64_t taken[FIT_IDS];  /* of one that is bounded, */
  int64_t enough[FIT_IDS]; /* and the least that it has */
  int64_t most[FIT_IDS];   /* its bound; 0: none */
  bool tight;              /* memories bound sizes, too */
  bool any;                /* an assignment was found */
  int64_t value[MOST_PAIRS];
  uint32_t steps;
} search;

static bool
list_pairs(search *x) {
  for (uint32_t j = 0; j < x->f->n_ids; j++) {
    const fit_id *id = &x->f->id[j];
    uint32_t first = x->n;
    for (uint32_t i = 0; i < x->s->n; i++) {
      const fit_atom *a = &x->s->atom[i];
      if (a->group != id->group || a->operands & ~id->operands)
        continue;
      if (x->n == MOST_PAIRS)
        return false;
      x->pairs[x->n++] = (pair){.atom = (uint8_t)i,
                                .id = (uint8_t)j,
                                .all = a->operands == id->operands};
    }
    if (x->n > first)
      x->pairs[x->n - 1].last = true;
    else if (id->fixed > 1)
      return false;
  }
  return true;
}

/* ---- bounded sizes ---- */

enum { MOST_BOUND = 4096, FEWER = 4 };

/* What products of divisors of the digits reach within the bound. */
static int64_t
most_within(const search *x, uint32_t id) {
  assert(id < x->f->n_ids);
  int64_t most = x->most[id], best = 1;
  bool reached[MOST_BOUND + 1] = {[1] = true};
  for (uint32_t k = 0; k < x->n; k++)
    for (int64_t at = most; x->pairs[k].id == id && at > 0; at--)
      for (int64_t v = 2; reached[at] && v <= most / at; v++)
        if (x->s->atom[x->pairs[k].atom].size % v == 0) {
          reached[at * v] = true;
          best = at * v > best ? at * v : best;
        }
  return best;
}

/* All of the digits that may stand for one of the instruction. */
static int64_t
whole_of(const search *x, uint32_t id) {
  assert(id < x->f->n_ids);
  int64_t n = 1, most = x->most[id] ? x->most[id] : INT64_MAX;
  for (uint32_t k = 0; k < x->n; k++)
    if (x->pairs[k].id == id &&
        __builtin_mul_overflow(n, x->s->atom[x->pairs[k].atom].size, &n))
      return most;
  return n < most ? n : most;
}

/* Where memories have no room for the largest call, each size that there is
 * room for is one that others may be traded for. */
static void
find_tight(search *x) {
  int64_t size[FIT_IDS];
  for (uint32_t j = 0; j < x->f->n_ids; j++)
    size[j] = x->f->id[j].fixed ? x->f->id[j].fixed : whole_of(x, j);
  x->tight = !fit_has_room(x->ctx, x->f, size);
  for (uint32_t j = 0; j < x->f->n_ids && x->tight; j++) {
    int64_t room = x->f->id[j].room;
    x->most[j] = room && (!x->most[j] || room < x->most[j]) ? room : x->most[j];
  }
}

static void
find_bounds(search *x) {
  for (uint32_t j = 0; j < x->f->n_ids; j++) {
    x->taken[j] = 1;
    x->most[j] = x->f->id[j].most;
  }
  find_tight(x);
  for (uint32_t j = 0; j < x->f->n_ids && !x->tight; j++)
    if (x->most[j] && x->most[j] <= MOST_BOUND)
      x->enough[j] = (most_within(x, j) + FEWER - 1) / FEWER;
}

static bool
is_bounded(const search *x, uint32_t id) {
  assert(id < x->f->n_ids);
  return !x->f->id[id].fixed && x->most[id];
}

/* ---- the values of a pair, one after another ---- */

/* The next smaller value than `below`; 0: there is none. */
static int64_t
next_fixed(const search *x, const pair *p, int64_t below) {
  int64_t wanted = x->wanted[p->id];
  int64_t most = bs_gcd(x->a.rest[p->atom], wanted);
  if (p->last)
    return below > wanted && most == wanted ? wanted : 0;
  if (below > most)
    return most;
  for (int64_t v = below / 2; v > 0; v--)
    if (most % v == 0)
      return v;
  return below > 1 ? 1 : 0;
}

/* As a whole first, where the operands are the same; else last. */
static int64_t
next_free(const search *x, const pair *p, int64_t last) {
  int64_t whole = x->a.rest[p->atom];
  if (last == INT64_MAX)
    return p->all ? whole : 1;
  if (whole == 1)
    return 0;
  return p->all ? (last == whole ? 1 : 0) : (last == 1 ? whole : 0);
}

/* The next smaller divisor of what is left. */
static int64_t
next_bounded(const search *x, const pair *p, int64_t below) {
  assert(x->taken[p->id] >= 1);
  int64_t left = x->a.rest[p->atom], taken = x->taken[p->id];
  int64_t v = x->most[p->id] / taken;
  v = v < left ? v : left;
  v = v < below ? v : below - 1;
  while (v > 0 && left % v)
    v--;
  return v > 0 && p->last && taken * v < x->enough[p->id] ? 0 : v;
}

static int64_t
next_value(const search *x, uint32_t k, int64_t last) {
  const pair *p = &x->pairs[k];
  if (is_bounded(x, p->id))
    return next_bounded(x, p, last);
  return x->f->id[p->id].fixed ? next_fixed(x, p, last) : next_free(x, p, last);
}

static void
give(search *x, uint32_t k, int64_t v) {
  assert(v >= 1 && x->a.rest[x->pairs[k].atom] % v == 0);
  const pair *p = &x->pairs[k];
  x->value[k] = v;
  x->a.part[p->atom][p->id] = v;
  x->a.rest[p->atom] /= v;
  x->taken[p->id] *= v;
  if (x->f->id[p->id].fixed)
    x->wanted[p->id] /= v;
}

static void
take_back(search *x, uint32_t k) {
  assert(x->value[k] >= 1);
  const pair *p = &x->pairs[k];
  x->a.rest[p->atom] *= x->value[k];
  x->taken[p->id] /= x->value[k];
  if (x->f->id[p->id].fixed)
    x->wanted[p->id] *= x->value[k];
  x->a.part[p->atom][p->id] = 1;
}

static bool
has_room(const search *x) {
  int64_t size[FIT_IDS];
  for (uint32_t j = 0; j < x->f->n_ids; j++)
    size[j] = x->f->id[j].fixed ? x->f->id[j].fixed : x->taken[j];
  return !x->tight || fit_has_room(x->ctx, x->f, size);
}

/* What is left can be iterated, or added over. */
static bool
can_be_iterated(const search *x) {
  for (uint32_t i = 0; i < x->s->n; i++) {
    const fit_atom *a = &x->s->atom[i];
    if (x->a.rest[i] > 1 && a->group && (a->group != x->sum || !a->operands))
      return false;
  }
  return true;
}

/* An odometer over the pairs, each of which starts anew when one before it goes
 * on. */
static void
go(search *x, fit_found found, void *ctx) {
  uint32_t k = 0;
  int64_t last = INT64_MAX;
  for (;;) {
    if (++x->steps > MOST_STEPS)
      return;
    if (k == x->n) {
      bool fits = can_be_iterated(x) && has_room(x);
      x->any |= fits;
      if (fits && !found(ctx, &x->a))
        return;
    } else {
      int64_t v = next_value(x, k, last);
      if (v) {
        give(x, k++, v);
        last = INT64_MAX;
        continue;
      }
    }
    if (!k)
      return;
    last = x->value[--k];
    take_back(x, k);
  }
}

void
fit_assign(const gs_context *gs, const fit_instr *f, const gs_instr *into,
           const fit_space *s, fit_found found, void *ctx) {
  assert(s->n <= FIT_ATOMS && f->n_ids <= FIT_IDS);
  search x = {.ctx = gs, .f = f, .s = s, .sum = fit_sums_over(f, into)};
  for (uint32_t i = 0; i < s->n; i++) {
    x.a.rest[i] = s->atom[i].size;
    for (uint32_t j = 0; j < f->n_ids; j++)
      x.a.part[i][j] = 1;
  }
  for (uint32_t j = 0; j < f->n_ids; j++)
    x.wanted[j] = f->id[j].fixed;
  if (!list_pairs(&x))
    return;
  find_bounds(&x);
  go(&x, found, ctx);
  if (x.any)
    return;
  memset(x.enough, 0, sizeof x.enough); /* fixed sizes may leave no more */
  go(&x, found, ctx);
}
