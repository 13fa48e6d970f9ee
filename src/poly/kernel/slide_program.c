/* SPDX-License-Identifier: MIT */
/* slide_program.c - the slides of a program: which groups of statements run as
 * tiles of windows. */
#include "glenside/target/machine.h"
#include "glenside/target/tuned.h"
#include "poly/kernel/contraction.h"
#include "poly/kernel/kernel_slide.h"
#include "poly/loops/storage.h"
#include <assert.h>
#include <math.h>

typedef struct looking {
  po_program *p;
  const po_groups *groups;
  po_slide *room; /* two */
} looking;

/* What is larger than the last cache is stored past it, which loops do. */
static bool
is_near(const po_program *p, const po_slide *c) {
  const gs_target *t = p->target;
  const po_array *to = &p->arrays.data[c->array];
  return !t->caches.len || po_bytes(to) <= bs_last(&t->caches).bytes;
}

/* Loops outside of tiles, which threads share. */
static double
planes(const po_slide *c) {
  double n = 1;
  for (uint32_t k = 0; k < c->n_outer; k++)
    if (k != c->along && k != c->down)
      n *= (double)c->extent[k];
  return n;
}

/* Of x, from the first to the last element that the loops of a tile reach. */
static double
plane_bytes(const po_slide *c) {
  double n = 1;
  for (uint32_t k = 0; k < c->n; k++)
    if (k >= c->n_outer || k == c->along || k == c->down)
      n += fabs((double)c->x.at.factor[k]) * (double)(c->extent[k] - 1);
  return n * gs_dtype_table[c->dtype].bytes;
}

/* Of an array that would not be, if rows of what makes it and of what reads it
 * came in turn: one that only this program has. */
static double
bytes_between(const po_program *p, uint32_t array) {
  return array != PO_NO_LOOP && p->arrays.data[array].role == PO_WORKSPACE
             ? (double)po_bytes(&p->arrays.data[array])
             : 0;
}

/* Cycles in which what a slide reads and what it makes are written and read
 * once more. */
static double
cycles_between(const po_program *p, const po_slide *c) {
  const gs_target *t = p->target;
  double bytes = bytes_between(p, c->x.array) + bytes_between(p, c->y.array) +
                 bytes_between(p, c->array);
  double live = (double)po_bytes(&p->arrays.data[c->x.array]) +
                (double)po_bytes(&p->arrays.data[c->array]);
  for (uint32_t k = 0; k < c->n_extras; k++)
    bytes += bytes_between(p, c->extras[k].array);
  if (live > (double)gs_far_bytes(t))
    live = INFINITY;
  return 2 * bytes / gs_bytes_a_cycle(t, live);
}

/* Planes are gone over one by one by each thread: one that stays in its second
 * cache is as near there as a few rows would be. */
static bool
is_apart(const looking *l, const po_slide *c) {
  const gs_target *t = l->p->target;
  bool near =
      t->caches.len < 2 || plane_bytes(c) <= (double)gs_cache_bytes(t, 2);
  return l->p->settled || (near && !c->by_rows) ||
         po_cycles_by_rows(t, c, l->room + 1) - c->cycles >
             GS_SLIDE_WAITING * cycles_between(l->p, c);
}

static bool
find_in_group(const looking *l, uint32_t k, bool with_formula) {
  assert(k < l->groups->list.len);
  const po_group *group = &l->groups->list.data[k];
  const uint32_t *stmts = l->groups->stmts.data + group->first;
  po_program *p = l->p;
  if (group->n < 2 || group->n > 3)
    return false;
  for (uint32_t j = 0; j < group->n; j++)
    if (!po_is_as_lowered(p, &p->stmts.data[stmts[j]]))
      return false;
  uint32_t store = group->n == 3 ? stmts[2] : UINT32_MAX;
  uint32_t formula =
      with_formula ? po_formula_behind(p, l->groups, k) : UINT32_MAX;
  if (formula != UINT32_MAX &&
      po_may_be_formula(p, stmts[group->n - 1], formula) &&
      po_find_slide(p, stmts[0], stmts[1], store, formula, l->room))
    return true;
  return po_find_slide(p, stmts[0], stmts[1], store, UINT32_MAX, l->room);
}

/* What is fixed may have been said of another target: then the plan chooses. */
static bool
plan_tiles(const looking *l, const po_contract_choice *fixed) {
  const po_program *p = l->p;
  po_slide *c = l->room, *room = l->room + 1;
  c->chosen = fixed && po_plan_slide(p->target, p->strict_fp, fixed, c, room);
  if (!c->chosen && !po_plan_slide(p->target, p->strict_fp, NULL, c, room))
    return false;
  c->by_rows = planes(c) < GS_KERNEL_PLANES;
  return true;
}

/* A loop of the formula's own, which only planes share, is none of a few. */
static bool
is_shared_out(const looking *l) {
  const po_slide *c = l->room;
  return !c->by_rows || c->formula == UINT32_MAX ||
         !po_is_costly_formula(&l->p->stmts.data[c->formula]);
}

static bool
is_profitable(const looking *l) {
  const po_slide *c = l->room;
  return po_taps_of(c) >= GS_KERNEL_WINDOWS && is_near(l->p, c);
}

/* A few planes must be large, and have rows that threads share. */
static bool
has_tiles_enough(const po_slide *c) {
  return !c->by_rows ||
         (c->down != PO_NO_LOOP && po_taps_of(c) >= GS_KERNEL_PLANE);
}

static bool
plan_group(const looking *l, uint32_t k) {
  assert(k < l->groups->list.len);
  const po_group *group = &l->groups->list.data[k];
  if (po_contraction_of(l->p, l->groups, group) || !find_in_group(l, k, true))
    return false;
  const po_contract_choice *fixed = l->p->stmts.data[l->room->update].contract;
  bool asked = fixed && fixed->as == PO_AS_TILES;
  if ((fixed && !asked) || (!asked && !is_profitable(l)) ||
      !plan_tiles(l, fixed) || (!asked && !has_tiles_enough(l->room)))
    return false;
  if (!is_shared_out(l) &&
      !(find_in_group(l, k, false) && plan_tiles(l, fixed)))
    return false;
  l->room->apart = is_apart(l, l->room);
  return true;
}

void
po_plan_slides(po_program *p, const po_groups *groups) {
  bs_clear(&p->slides);
  po_slide *c = bs_calloc(p->ctx.heap, 2, sizeof *c);
  looking l = {p, groups, c};
  for (uint32_t k = 0; k < groups->list.len && !p->plain; k++)
    if (plan_group(&l, k)) {
      const po_slide *kept = bs_arena_copy(&p->arena, c, sizeof *c);
      bs_push(p->ctx.heap, &p->slides, kept);
    }
  bs_free(p->ctx.heap, c);
}

const po_slide *
po_slide_of_update(const po_program *p, uint32_t update) {
  for (uint32_t k = 0; k < p->slides.len; k++)
    if (p->slides.data[k]->update == update)
      return p->slides.data[k];
  return NULL;
}

const po_slide *
po_slide_of(const po_program *p, const po_groups *groups,
            const po_group *group) {
  uint32_t first = groups->stmts.data[group->first];
  if (group->n < 2 || group->n > 4)
    return NULL;
  for (uint32_t k = 0; k < p->slides.len; k++)
    if (p->slides.data[k]->init == first)
      return p->slides.data[k];
  return NULL;
}
