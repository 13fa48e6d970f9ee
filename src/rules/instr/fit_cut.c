/* SPDX-License-Identifier: MIT */
/* fit_cut.c - a computation cut in parts, for an instruction of bounded sizes.
 *
 * Parts of a digit divide it, so 49 rows are seven calls of seven rows on a
 * unit that takes sixteen.  Three calls of sixteen and one of a single row are
 * fewer: what is left over where whole calls end is a computation of its own,
 * and may be assigned in another way.  What is left over of a sum is added to
 * the rest by an instruction that goes on with sums, in the same place. */
#include "base/whole.h"
#include "rules/instr/fit.h"
#include <assert.h>
#include <string.h>

typedef struct cutting {
  fit_match *m;
  const fit_space *whole;
  const gs_instr *into;
  const fit_slice *slice;
  fit_space part;              /* with the sizes of the slice */
  const fit_assignment *begun; /* of the sums that it goes on with, or NULL */
  uint32_t looked_at;
  bool any;
  rl_fit least;
  fit_assignment best;
} cutting;

uint32_t
fit_parts_of(const fit_cut *cut) {
  return cut->padded ? 1 : 1u << cut->n;
}

fit_slice
fit_slice_of(const fit_space *s, const fit_cut *cut, uint32_t k) {
  assert(k < fit_parts_of(cut));
  fit_slice out = {.wide = cut->is_wide ? &cut->wide : NULL,
                   .is_taken = cut->is_taken,
                   .n = cut->n};
  for (uint32_t j = 0; j < cut->n; j++) {
    int64_t whole = s->atom[cut->atom[j]].size, at = cut->at[j];
    bool second = !cut->padded && k >> (cut->n - 1 - j) & 1;
    out.of[j].atom = cut->atom[j];
    out.of[j].from = second ? at : 0;
    out.of[j].size = second ? whole - at : at;
  }
  return out;
}

static int64_t
greatest_part(int64_t size, int64_t most) {
  assert(size >= 1 && most >= 1);
  int64_t v = most < size ? most : size;
  while (size % v)
    v--;
  return v;
}

/* What a call takes of a digit at most; 0: any size. */
static int64_t
bound_of(const fit_id *id) {
  if (id->fixed)
    return 0;
  return id->most && (!id->room || id->most < id->room) ? id->most : id->room;
}

int64_t
fit_cut_at(const fit_instr *f, const gs_instr *into, const fit_space *s,
           uint32_t atom) {
  assert(atom < s->n);
  const fit_atom *a = &s->atom[atom];
  int64_t least = INT64_MAX, at = 0;
  if (a->group && !fit_is_staged(f, a) &&
      (!into || a->group != fit_sums_over(f, into)))
    return 0;
  for (uint32_t j = 0; j < f->n_ids; j++) {
    const fit_id *id = &f->id[j];
    int64_t most = bound_of(id);
    if (!most || id->group != a->group || a->operands & ~id->operands ||
        a->size <= most)
      continue;
    int64_t calls = a->size / greatest_part(a->size, most);
    int64_t cut = (a->size + most - 1) / most;
    if (cut < calls && cut < least) {
      least = cut;
      at = a->size - a->size % most;
    }
  }
  return at;
}

/* ---- padding ---- */

/* Whether zeros in all of its operands leave a reduction as it is. */
static bool
ignores_zeros(const fit_instr *f, uint32_t group) {
  for (uint32_t k = 0; k < f->n_nodes; k++) {
    const fit_node *n = &f->node[k], *of = &f->node[n->kid[0]];
    if (n->reduces && n->group == group)
      return n->op == GS_C_REDUCE_SUM && !of->is_operand && !of->reduces &&
             of->op == GS_C_MUL;
  }
  return group == 0;
}

/* The largest digit that could be padded for one of the instruction; the number
 * of digits where there is none, or where no padding is needed. */
static uint32_t
digit_for(const fit_space *s, const fit_id *id, bool *needed) {
  uint32_t best = s->n;
  *needed = id->fixed > 1;
  for (uint32_t i = 0; i < s->n && *needed; i++) {
    const fit_atom *a = &s->atom[i];
    if (a->group != id->group || a->operands & ~id->operands)
      continue;
    *needed = a->size % id->fixed != 0;
    if (a->operands == id->operands &&
        (best == s->n || a->size > s->atom[best].size))
      best = i;
  }
  return best;
}

static bool
is_padded(const fit_cut *cut, uint32_t atom) {
  for (uint32_t k = 0; k < cut->n; k++)
    if (cut->atom[k] == atom)
      return true;
  return false;
}

static bool
has_digit_for(const fit_space *s, const fit_id *id) {
  for (uint32_t i = 0; i < s->n; i++)
    if (s->atom[i].group == id->group && s->atom[i].operands == id->operands)
      return true;
  return false;
}

static bool
add_one(const fit_instr *f, fit_space *s, const fit_id *id) {
  if (s->n == FIT_ATOMS)
    return false;
  uint8_t atom = (uint8_t)s->n++;
  s->atom[atom] = (fit_atom){.size = 1, .operands = id->operands};
  for (uint32_t k = 0; k < f->n_seen; k++)
    if (id->operands >> k & 1)
      s->operand[k].atom[s->operand[k].n++] = atom;
  s->result.atom[s->result.n++] = atom;
  return true;
}

bool
fit_add_ones(const fit_instr *f, fit_space *s) {
  uint32_t before = s->n;
  for (uint32_t j = 0; j < f->n_ids; j++)
    if (f->id[j].fixed > 1 && !f->id[j].group && !has_digit_for(s, &f->id[j]) &&
        !add_one(f, s, &f->id[j]))
      return false;
  return s->n > before;
}

bool
fit_find_pads(const fit_instr *f, const fit_space *s, fit_cut *cut) {
  *cut = (fit_cut){.padded = true};
  for (uint32_t j = 0; j < f->n_ids; j++) {
    const fit_id *id = &f->id[j];
    bool needed;
    uint32_t i = digit_for(s, id, &needed);
    if (!needed)
      continue;
    if (i == s->n || cut->n == FIT_SLICED || is_padded(cut, i) ||
        !ignores_zeros(f, id->group))
      return false;
    cut->atom[cut->n] = i;
    cut->at[cut->n++] = bs_round_up(s->atom[i].size, id->fixed);
  }
  return cut->n > 0;
}

/* ---- assignments ---- */

/* Whether a dimension of the calls goes on where a digit of theirs ends: what
 * is iterated of it lies right above. */
static bool
goes_on(const fit_space *s, const fit_assignment *a, uint32_t atom) {
  assert(atom < s->n);
  const fit_list *list = &s->result;
  bool behind = false, on = true;
  for (uint32_t k = 0; k < list->n; k++) {
    on &= !behind || a->rest[list->atom[k]] == 1;
    behind |= list->atom[k] == atom;
  }
  return on || a->rest[atom] == 1;
}

/* Of dimension d all tiles that are left there lie in a row. */
static bool
is_row_of_tiles(const fit_instr *f, const fit_space *s, const fit_assignment *a,
                uint32_t d) {
  const fit_shape *shape = &f->operand[0];
  bool row = true;
  for (uint32_t i = 0; i < shape->n[d]; i++)
    for (uint32_t k = 0; k < s->n; k++)
      row &= a->part[k][shape->id[d][i]] == 1 || goes_on(s, a, k);
  return row;
}

/* Tiles that other calls leave are those that these calls take, or rows of
 * those. */
static bool
takes_tiles(const cutting *x, const fit_assignment *a) {
  const fit_instr *f = x->m->f;
  const fit_wide *wide = x->slice->wide;
  fit_tile tile;
  if (!wide)
    return true;
  bool same =
      fit_tile_of(f, &x->part, &x->part.operand[0], &f->operand[0], a, &tile) &&
      tile.rank == wide->tile.rank;
  for (uint32_t d = 0; d < tile.rank && same; d++)
    same = wide->tile.size[d] == 1 ? is_row_of_tiles(f, &x->part, a, d)
                                   : tile.size[d] == wide->tile.size[d] &&
                                         tile.step[d] == wide->tile.step[d];
  return same;
}

/* Calls that go on with sums have the tiles of those that began them. */
static bool
goes_on_alike(const cutting *x, const fit_assignment *a) {
  for (uint32_t i = 0; x->begun && i < x->whole->n; i++)
    if (!x->whole->atom[i].group &&
        memcmp(a->part[i], x->begun->part[i], sizeof a->part[i]) != 0)
      return false;
  return true;
}

static bool
note(void *ctx, const fit_assignment *a) {
  cutting *x = ctx;
  rl_fit calls;
  if (takes_tiles(x, a) && goes_on_alike(x, a) &&
      fit_price_slice(x->m, x->whole, x->slice, a, x->into, &calls) &&
      (!x->any || calls.cycles < x->least.cycles)) {
    x->any = true;
    x->least = calls;
    x->best = *a;
  }
  return ++x->looked_at < FIT_MOST;
}

fit_space
fit_part_of(const fit_space *whole, const fit_slice *slice) {
  fit_space part = *whole;
  for (uint32_t j = 0; j < slice->n; j++)
    part.atom[slice->of[j].atom].size = slice->of[j].size;
  return part;
}

/* The cheapest assignment of a part. */
static bool
find_part(cutting *x, fit_assignment *out) {
  x->part = fit_part_of(x->whole, x->slice);
  fit_assign(&x->m->session->ctx, x->m->f, x->into, &x->part, note, x);
  *out = x->best;
  return x->any;
}

/* What a part goes on with; only its type is known before it is built. */
static bool
find_onto(const cutting *x, fit_onto *out) {
  fit_space part = fit_part_of(x->whole, x->slice);
  *out = (fit_onto){.cls = EG_NO_CLASS, .type = fit_type_of_part(x->m, &part)};
  return fit_goes_on(x->m, x->into, &out->by);
}

static bool
find_one(fit_match *m, const fit_space *s, const gs_instr *into, fit_cut *cut,
         uint32_t k, rl_fit *least) {
  fit_slice slice = fit_slice_of(s, cut, k);
  fit_onto onto;
  cutting x = {.m = m, .whole = s, .into = into, .slice = &slice};
  bool last = cut->sums && k & 1;
  if (last && !m->f->staged) {
    x.begun = &cut->a[k - 1];
    if (!find_onto(&x, &onto))
      return false;
    slice.onto = &onto;
  }
  bool found = find_part(&x, &cut->a[k]);
  *least = x.least;
  if (last && m->f->staged)
    least->cycles += fit_fold_cycles(m, &x.part);
  return found;
}

bool
fit_find_cut(fit_match *m, const fit_space *s, const gs_instr *into,
             fit_cut *cut, rl_fit *calls) {
  *calls = (rl_fit){0};
  for (uint32_t k = 0; k < fit_parts_of(cut); k++) {
    rl_fit least;
    if (!find_one(m, s, into, cut, k, &least))
      return false;
    calls->cycles += least.cycles;
    if (k)
      calls->also[calls->n_also++] = least.attr;
    else
      calls->attr = least.attr;
  }
  return true;
}
