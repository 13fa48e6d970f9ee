/* SPDX-License-Identifier: MIT */
/* spread.c - by how much do comparisons of ranks multiply them?
 *
 * Beside uniform.c, which adds up the numbers that a rule holds ranks, axes and
 * lengths against.  As long as two of these are compared at a time, that sum is
 * enough.  The rank of one term as the sum of those of five others is more:
 * where types make these equal, it is five times the one, and then a rank of 15
 * may be the least one at which anything happens.  So does a type: that of
 * (cartProd ?x ?x) beside that of ?y.
 *
 * Ranks, axes and lengths are read as sums of what the rule is about.  Of a
 * term these are its two ranks, or one of them and both together; where a rule
 * asks for all three, both together are the sum.  Each comparison of which one
 * side has several of them multiplies what the numbers come to, once.  What the
 * condition bounds by a number is no more than that. */
#include "prove/symbolic/spread.h"
#include "base/hash.h"
#include <assert.h>

const sp_places sp_size = {.size = true}, sp_none = {0};

/* --- sums ----------------------------------------------------------------- */

static void
add_term(sp_walk *x, sp_places *to, uint32_t what, int64_t times) {
  assert(to->n <= SP_TERMS && what < SP_WHATS);
  uint32_t k = 0;
  while (k < to->n && to->term[k].what != what)
    k++;
  if (k == SP_TERMS) {
    x->factor = SP_LARGE;
    return;
  }
  if (k == to->n)
    to->term[to->n++].times = 0;
  to->term[k].what = what;
  to->term[k].times += times;
  if (!to->term[k].times)
    to->term[k] = to->term[--to->n];
  x->factor = times > SP_LARGE || times < -SP_LARGE ? SP_LARGE : x->factor;
}

/* A copy, to be changed. */
static sp_places *
copy_of(sp_walk *x, const sp_places *a) {
  sp_places *out = bs_arena_alloc(x->arena, sizeof *out);
  *out = *a;
  return out;
}

const sp_places *
sp_number(sp_walk *x, int64_t n) {
  sp_places *out = copy_of(x, &sp_none);
  out->number = n;
  return out;
}

const sp_places *
sp_lone(sp_walk *x, uint32_t what) {
  assert(what < 3 * SP_SLOTS || what >= SP_VALUE);
  sp_places *out = copy_of(x, &sp_none);
  add_term(x, out, what, 1);
  return out;
}

const sp_places *
sp_shifted(sp_walk *x, const sp_places *a, int64_t by) {
  sp_places *out = copy_of(x, a);
  out->number += by;
  return out;
}

const sp_places *
sp_plus(sp_walk *x, const sp_places *a, int64_t times, const sp_places *b) {
  assert(a->n <= SP_TERMS && b->n <= SP_TERMS);
  sp_places *out = copy_of(x, a);
  out->size |= b->size;
  out->number += times * (b->number < SP_LARGE ? b->number : SP_LARGE);
  for (uint32_t k = 0; k < b->n; k++)
    add_term(x, out, b->term[k].what, times * b->term[k].times);
  return out;
}

static int64_t
magnitude(int64_t n) {
  return n < 0 ? -n : n;
}

const sp_places *
sp_either(sp_walk *x, const sp_places *a, const sp_places *b) {
  sp_places *out = copy_of(x, a);
  out->size &= b->size;
  out->number = b->number > a->number ? b->number : a->number;
  for (uint32_t k = 0; k < b->n; k++) {
    int64_t was = 0, more = b->term[k].times;
    for (uint32_t i = 0; i < a->n; i++)
      was = a->term[i].what == b->term[k].what ? a->term[i].times : was;
    if (magnitude(more) > magnitude(was))
      add_term(x, out, b->term[k].what, more - was);
  }
  return out;
}

const sp_places *
sp_written_out(sp_walk *x, const sp_places *a) {
  sp_places *out = copy_of(x, a);
  out->n = 0;
  for (uint32_t k = 0; k < a->n; k++) {
    uint32_t what = a->term[k].what, slot = what / 3;
    if (what < SP_VALUE && what % 3 == SP_RANK && x->asked[slot] == 7) {
      add_term(x, out, 3 * slot + SP_ACCESS, a->term[k].times);
      what = 3 * slot + SP_COMPUTE;
    }
    add_term(x, out, what, a->term[k].times);
  }
  for (uint32_t k = out->n; k-- > 0;)
    if (x->bounded[out->term[k].what] && magnitude(out->term[k].times) == 1)
      out->term[k] = out->term[--out->n];
  return out;
}

/* --- comparisons ---------------------------------------------------------- */

int64_t
sp_width(const sp_places *a, int64_t more) {
  int64_t above = 0, below = more;
  for (uint32_t k = 0; k < a->n; k++)
    *(a->term[k].times > 0 ? &above : &below) +=
        a->term[k].times > 0 ? a->term[k].times : -a->term[k].times;
  return above > below ? above : below;
}

/* A name that a sum shares with its opposite, whatever number is added. */
static uint64_t
name_of(const sp_places *a) {
  uint64_t sum = 0;
  for (uint32_t k = 0; k < a->n; k++) {
    uint64_t item[2] = {a->term[k].what,
                        (uint64_t)(a->term[k].times > 0 ? a->term[k].times
                                                        : -a->term[k].times)};
    sum += bs_hash(item, sizeof item);
  }
  return sum;
}

static bool
is_new(sp_walk *x, uint64_t name) {
  for (uint32_t k = 0; k < x->n_seen; k++)
    if (x->seen[k] == name)
      return false;
  if (x->n_seen < SP_SEEN)
    x->seen[x->n_seen++] = name;
  return true;
}

uint16_t
sp_group_of(const sp_walk *x, uint32_t what) {
  assert(what < SP_WHATS);
  while (x->group[what] != what)
    what = x->group[what];
  return (uint16_t)what;
}

static void
join_groups(sp_walk *x, const sp_places *a) {
  for (uint32_t k = 1; k < a->n; k++)
    x->group[sp_group_of(x, a->term[k].what)] = sp_group_of(x, a->term[0].what);
}

/* This is held against a number, and `more` places that are not known; it is
 * `strict` where one more or less tells. */
void
sp_note(sp_walk *x, const sp_places *a, int64_t more, uint64_t strict) {
  if (a->size)
    return;
  for (uint32_t k = 0; k < a->n && a->n + more > 1 && !x->counts; k++)
    if (a->term[k].what < SP_VALUE)
      x->asked[a->term[k].what / 3] |= 1u << a->term[k].what % 3;
  if (!x->counts)
    return;
  const sp_places *all = sp_written_out(x, a);
  int64_t w = sp_width(all, more);
  join_groups(x, all);
  uint64_t number = (uint64_t)(a->number < 0 ? -a->number : a->number) + strict;
  uint64_t name[2] = {name_of(all), number};
  if (number && is_new(x, bs_hash(name, sizeof name)))
    x->numbers += number < SP_LARGE ? number : SP_LARGE;
  x->numbers = x->numbers < SP_LARGE ? x->numbers : SP_LARGE;
  if (w > 1 && x->factor < SP_LARGE && is_new(x, name[0]))
    x->factor *= w < SP_LARGE ? (uint64_t)w : SP_LARGE;
}

void
sp_compare(sp_walk *x, const sp_places *a, const sp_places *b,
           uint64_t strict) {
  sp_note(x, sp_plus(x, a, -1, b), 0, strict);
}
