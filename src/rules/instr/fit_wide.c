/* SPDX-License-Identifier: MIT */
/* fit_wide.c - what other calls leave in a memory, for what stands behind them:
 * padded, or with rows that are columns of what is stored in the end.
 *
 * Where the tiles of a unit have fixed sizes, calls compute a product between
 * zeros, and a slice takes off what was added.  No unit cuts a tile on its way
 * out, so a conversion takes whole tiles and the slice stands behind it: it
 * works element by element, and what it makes of what was added is cut off.
 * Where the end of all is stored in another order than the operand, calls may
 * leave its tiles turned, and these need no copy by the host.
 * The rules of those calls are asked here, as what they find for the operand's
 * class is united with it only when all rules have been. */
#include "rules/instr/fit_search.h"
#include <assert.h>
#include <string.h>

/* What is left, and the digits of the operand that it has more of, each told by
 * its size and that of all digits below it. */
typedef struct left {
  fit_wide wide;
  uint32_t n;
  struct {
    int64_t low, size, to;
  } of[FIT_SLICED];
} left;

enum { MOST_LEFT = 4 };

typedef struct lefts {
  bool any, whole; /* something is left at all; as it is, without a slice */
  uint32_t n;
  left of[MOST_LEFT];
} lefts;

static int64_t
size_below(const fit_space *s, const fit_list *list, uint32_t at) {
  assert(at < list->n);
  int64_t low = 1;
  while (++at < list->n)
    low *= s->atom[list->atom[at]].size;
  return low;
}

/* The parts of a digit that lie in it below what `id` takes. */
static int64_t
parts_below(const fit_instr *f, const fit_assignment *a, uint32_t atom,
            uint32_t id) {
  assert(atom < FIT_ATOMS && id < f->n_ids);
  int64_t all = 1;
  while (++id < f->n_ids)
    all *= a->part[atom][id];
  return all;
}

/* One more part of a dimension, above those that it has. */
static bool
put_part(int64_t size, int64_t step, fit_tile *t, uint32_t d) {
  if (!step || (t->size[d] > 1 && step != t->step[d] * t->size[d]))
    return false;
  t->step[d] = t->size[d] > 1 ? t->step[d] : step;
  t->size[d] *= size;
  return true;
}

bool
fit_tile_of(const fit_instr *f, const fit_space *s, const fit_list *list,
            const fit_shape *shape, const fit_assignment *a, fit_tile *out) {
  *out = (fit_tile){.rank = shape->rank};
  for (uint32_t d = 0; d < shape->rank; d++) {
    out->size[d] = 1;
    for (uint32_t i = shape->n[d]; i-- > 0;)
      for (uint32_t k = s->n; k-- > 0;) {
        uint32_t id = shape->id[d][i], at = fit_place_of(list, k);
        int64_t low = at < list->n ? size_below(s, list, at) : 0;
        if (a->part[k][id] > 1 &&
            !put_part(a->part[k][id], low * parts_below(f, a, k, id), out, d))
          return false;
      }
  }
  return true;
}

/* Of the first part. */
static bool
tile_of_result(const fitting *y, const fit_cut *cut, fit_tile *out) {
  fit_slice slice = fit_slice_of(&y->space, cut, 0);
  fit_space part = fit_part_of(&y->space, &slice);
  return fit_tile_of(y->m.f, &part, &part.result, &y->m.f->result, &cut->a[0],
                     out);
}

/* A candidate that is not cut is one part. */
static fit_cut
first_part_of(const fitting *y, const fit_candidate *c) {
  fit_cut whole = {.padded = true};
  whole.a[0] = c->a;
  return c->cut ? y->cuts.data[c->cut - 1] : whole;
}

static bool
leaves_well(const fitting *y, const fit_cut *cut) {
  fit_slice slice = fit_slice_of(&y->space, cut, 0);
  return fit_leaves_well(&y->m, &y->space, &slice, &cut->a[0]);
}

static void
list_digits(const fit_space *s, const fit_cut *cut, left *out) {
  for (uint32_t k = 0; k < cut->n; k++) {
    uint32_t at = fit_place_of(&s->result, cut->atom[k]);
    if (at == s->result.n)
      continue;
    out->of[out->n].low = size_below(s, &s->result, at);
    out->of[out->n].size = s->atom[cut->atom[k]].size;
    out->of[out->n++].to = cut->at[k];
  }
}

/* One that is not padded, or only along what it adds up, leaves no more than
 * there is, and where the next calls find it, unless these take it in another
 * order than that in which the end of all is stored. */
static void
note_left(fitting *y, const fit_candidate *c, void *ctx) {
  lefts *out = ctx;
  left next = {.n = 0};
  if (!fit_enter(y, c->space))
    return;
  fit_cut cut = first_part_of(y, c);
  if (cut.padded)
    list_digits(&y->space, &cut, &next);
  bool found = !next.n && (!cut.padded || leaves_well(y, &cut));
  out->any = true;
  out->whole |= found;
  cut.is_taken = true;
  if (!found && out->n < MOST_LEFT &&
      fit_build_wide(&y->m, &y->space, &cut, y->rule->into, fit_mode_of(y),
                     &next.wide) &&
      tile_of_result(y, &cut, &next.wide.tile))
    out->of[out->n++] = next;
}

/* What is made of a candidate. */
typedef void (*noting)(fitting *, const fit_candidate *, void *out);

static void
ask(const fitting *x, const rl_compiled *feed, eg_class root, eg_node node,
    noting note, void *out) {
  const fit_match *m = &x->m;
  uint32_t n;
  bs_value spec = bs_item(m->session->ctx.values, eg_attr(m->graph, node), 0);
  fitting *y = fit_begin(m->session, m->graph, x->guard, feed, root,
                         eg_kids(m->graph, node, &n)[0], spec);
  if (!y)
    return;
  fit_find_all(y);
  fit_sort(y);
  for (uint32_t k = 0; k < y->all.len; k++)
    if (y->all.data[k].calls.cycles <=
        fit_dearest * y->all.data[0].calls.cycles)
      note(y, &y->all.data[k], out);
  fit_end(y);
}

/* All rules that leave what the class computes in the operand's memory. */
static void
ask_all(const fitting *x, eg_class root, noting note, void *out) {
  for (uint32_t k = 0; k < x->rule->n_feeds; k++) {
    uint32_t n; /* none as long as the class is too new for the index */
    eg_class_nodes(x->m.graph, root, &n);
    for (uint32_t i = 0; i < n; i++) {
      eg_node node = eg_class_nodes(x->m.graph, root, &n)[i]; /* they move */
      if (eg_op(x->m.graph, node) == GS_COMPUTE)
        ask(x, x->rule->feeds[k], root, node, note, out);
    }
  }
}

/* The digit of that size above `low` elements; the number of digits: none. */
static uint32_t
find_digit(const fit_space *s, int64_t low, int64_t size) {
  const fit_list *list = &s->operand[0];
  for (uint32_t k = 0; k < list->n; k++)
    if (s->atom[list->atom[k]].size == size && size_below(s, list, k) == low)
      return list->atom[k];
  return s->n;
}

static bool
cut_of(const fit_space *s, const left *l, fit_cut *out) {
  *out = (fit_cut){.padded = true, .is_wide = true, .wide = l->wide, .n = l->n};
  for (uint32_t k = 0; k < l->n; k++) {
    out->atom[k] = find_digit(s, l->of[k].low, l->of[k].size);
    out->at[k] = l->of[k].to;
    if (out->atom[k] == s->n)
      return false;
  }
  return true;
}

bool
fit_find_wide(fitting *x) {
  lefts all = {0};
  if (x->m.f->n_seen != 1 || !fit_enter(x, 0))
    return false;
  ask_all(x, eg_find(x->m.graph, x->m.leaf[0]), note_left, &all);
  x->fed = all.any;
  for (uint32_t way = 0; way < FIT_WAYS && all.n; way++)
    for (uint32_t k = 0; fit_enter(x, way) && k < all.n; k++) {
      fit_cut cut;
      if (cut_of(&x->space, &all.of[k], &cut))
        fit_note_cut(x, &cut);
    }
  return !all.whole && x->all.len > 0;
}

bool
fit_is_kept(const fitting *x) {
  const gs_operand *o = &x->m.f->instr->operands[0];
  return !gs_hops(x->m.session->target, o->dtype, o->memory, 0);
}

/* ---- tiles in another order ---- */

static bool
are_alike(const fit_tile *a, const fit_tile *b) {
  bool alike = a->rank == b->rank;
  for (uint32_t d = 0; d < a->rank && alike; d++)
    alike = (a->size[d] > 1) == (b->size[d] > 1) &&
            (a->size[d] == 1 || a->step[d] == b->step[d]);
  return alike;
}

static void
note_tile(fitting *y, const fit_candidate *c, void *ctx) {
  fit_left *out = ctx;
  fit_tile tile;
  if (out->n == FIT_MOST_LEFT || !fit_enter(y, c->space))
    return;
  fit_cut cut = first_part_of(y, c);
  if (!leaves_well(y, &cut) || !tile_of_result(y, &cut, &tile))
    return;
  for (uint32_t k = 0; k < out->n; k++)
    if (are_alike(&out->tile[k], &tile))
      return;
  out->tile[out->n++] = tile;
}

/* Elements that follow one another lie farther apart than those of a dimension
 * before. */
static bool
is_turned(const fit_lie *lie) {
  int64_t least = INT64_MAX;
  bool turned = false;
  for (uint32_t d = 0; d < lie->shape.rank && lie->known; d++) {
    turned |= lie->shape.dim[d] > 1 && lie->stride[d] > least;
    if (lie->shape.dim[d] > 1)
      least = lie->stride[d];
  }
  return turned;
}

void
fit_find_left(fitting *x) {
  fit_chain chain;
  const fit_list *from = &x->space.operand[0], *to = &x->space.result;
  bool turned = is_turned(&x->m.lie[0]) || is_turned(&x->m.lie[FIT_OPERANDS]) ||
                from->n != to->n || memcmp(from->atom, to->atom, from->n) != 0;
  if (!turned || !fit_find_chain(&x->m, 0, &chain)) {
    x->m.left = (fit_left){.n = 0};
    return;
  }
  eg_class of = eg_find(x->m.graph, chain.cls[chain.n]);
  if (x->m.left.of.i == of.i && x->m.left.n)
    return;
  x->m.left = (fit_left){.of = of};
  ask_all(x, of, note_tile, &x->m.left);
}
