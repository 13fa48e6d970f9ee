/* SPDX-License-Identifier: MIT */
/* halves.c - vectors of every other element, which the taps of a row share.
 *
 * Two vectors of x that follow one another are halved into their even and their
 * odd elements.  Taps that stand side by side read the two halves, and a tap
 * that stands further on reads a half whose lanes are moved, with the elements
 * that follow behind them: one load for each further tap, where two vectors of
 * its own would be two.  All of these loads begin at lines of the cache where
 * it is known where those begin. */
#include "base/whole.h"
#include "codegen/slide/slide.h"
#include <assert.h>

/* ---- where halves begin ---- */

/* The least and the largest offset of a tap in a row. */
static void
find_reach(const po_slide *c, int64_t *least, int64_t *most) {
  *least = *most = 0;
  for (uint32_t tap = c->n_outer; tap < c->n; tap++) {
    int64_t to = c->x.at.factor[tap] * (c->extent[tap] - 1);
    if (!po_is_in_row(c, tap))
      continue;
    *least += to < 0 ? to : 0;
    *most += to > 0 ? to : 0;
  }
}

/* Tiles of the run are whole vectors apart. */
static bool
is_in_step(const po_slide *c, uint32_t loop, const po_run *run) {
  int64_t factor = loop == PO_NO_LOOP ? 0 : c->x.at.factor[loop];
  int64_t last = run->last < 0 ? 0 : (run->last - run->from) * factor;
  int64_t step = run->to > run->from ? run->step * factor : 0;
  return !(last % c->lanes) && !(step % c->lanes);
}

/* Elements from the beginning of a line to where the pointers of such tiles
 * point, if arrays begin where lines do; -1: they differ. */
static int64_t
phase_of(const po_slide *c, const cg_place *at) {
  int64_t phase = c->x.at.base;
  if (!is_in_step(c, c->down, at->down) || !is_in_step(c, c->along, at->along))
    return -1;
  for (uint32_t k = 0; k < c->n; k++) {
    if (k != c->along && !po_is_in_row(c, k) && c->extent[k] > 1 &&
        c->x.at.factor[k] % c->lanes)
      return -1;
  }
  if (c->down != PO_NO_LOOP)
    phase += c->x.at.factor[c->down] * at->down->from;
  phase += c->x.at.factor[c->along] * at->along->from;
  return bs_floor_mod(phase, c->lanes);
}

cg_halves
cg_find_halves(const cg_slide *x, const cg_place *at) {
  const po_slide *c = x->c;
  int64_t least, most;
  if (!c->halved)
    return (cg_halves){0};
  find_reach(c, &least, &most);
  int64_t phase = phase_of(c, at);
  int64_t line = least + bs_floor_mod(-phase - least, c->lanes);
  return (cg_halves){.base = phase >= 0 && line < most ? line : least};
}

void
cg_go_on_halves(cg_halves *h, int64_t place) {
  *h = (cg_halves){.base = h->base, .place = place, .number = h->number + 1};
}

/* ---- a half ---- */

/* A load of n elements from here on stands in the array. */
static bool
is_inside(const cg_source *from, int64_t offset, int64_t n) {
  return offset >= -from->lo && offset + n <= from->extent - from->hi;
}

/* The name of a half, which is made where it is used first. */
static const char *
half(const cg_slide *x, const cg_source *from, cg_halves *h, int64_t v,
     int64_t odd) {
  assert(v < GS_SLIDE_VECTORS && (odd == 0 || odd == 1));
  const po_slide *c = x->c;
  int64_t lane[64], first = h->place + h->base + 2 * v * c->lanes;
  const char *name = bs_arena_printf(
      &x->e->arena, "%s%u_%lld", odd ? "odd" : "even", h->number, (long long)v);
  if (h->made[v][odd])
    return name;
  h->made[v][odd] = true;
  for (uint32_t l = 0; l < c->lanes; l++)
    lane[l] = odd + 2 * cg_element_of(x, l);
  cg_write(x->w, "const %s_v %s = %s;", x->name, name,
           cg_pick(x, cg_vector_at(x, from, first),
                   cg_vector_at(x, from, first + c->lanes), lane));
  return name;
}

/* ---- a half that is moved ---- */

/* Lanes of a half that is moved by `by` come from the half itself, but for
 * those of `beyond`, in the order of memory. */
typedef struct moving {
  int64_t first, by; /* the first element of the half */
  cg_lanes beyond;
} moving;

static moving
find_moving(const cg_slide *x, const cg_halves *h, int64_t v, int64_t offset) {
  int64_t lanes = x->c->lanes, at = offset - h->base;
  moving m = {.by = bs_floor_div(at, 2)};
  m.first = h->place + h->base + 2 * v * lanes + bs_floor_mod(at, 2);
  for (int64_t e = 0; e < lanes; e++)
    if (e + m.by < 0 || e + m.by >= lanes)
      m.beyond |= UINT64_C(1) << e;
  return m;
}

static int64_t
place_of(const moving *m, int64_t element) {
  return m->first + 2 * (element + m->by);
}

/* Where a vector stands that holds the elements `want`, beside the half if it
 * may; false: nowhere. */
static bool
find_beside(const cg_slide *x, const cg_source *from, const moving *m,
            cg_lanes want, int64_t *start) {
  int64_t lanes = x->c->lanes, lo = INT64_MAX, hi = INT64_MIN;
  for (int64_t e = 0; e < lanes; e++) {
    if (!(want >> e & 1))
      continue;
    lo = place_of(m, e) < lo ? place_of(m, e) : lo;
    hi = place_of(m, e);
  }
  int64_t least = hi - lanes + 1, most = lo;
  if (least < -from->lo)
    least = -from->lo;
  if (most > from->extent - from->hi - lanes)
    most = from->extent - from->hi - lanes;
  int64_t even = m->first - bs_floor_mod(m->first, 2);
  *start = m->by < 0 ? even - lanes : even + 2 * lanes;
  *start = *start < least ? least : *start > most ? most : *start;
  return least <= most;
}

/* The lanes of a half, moved, and those beyond it of the vector at `start`. */
static const char *
moved(const cg_slide *x, const moving *m, const char *of, const char *beside,
      int64_t start, cg_lanes want) {
  int64_t lanes = x->c->lanes, lane[64], lane_of[64];
  for (int64_t l = 0; l < lanes; l++)
    lane_of[cg_element_of(x, l)] = l;
  for (int64_t l = 0; l < lanes; l++) {
    int64_t e = cg_element_of(x, l);
    lane[l] = !(m->beyond >> e & 1) ? lane_of[e + m->by]
              : want >> e & 1       ? lanes + place_of(m, e) - start
                                    : lanes + l;
  }
  return cg_pick(x, of, beside, lane);
}

const char *
cg_load_halved(const cg_slide *x, const cg_source *from, cg_halves *h,
               int64_t v, int64_t offset, const cg_lanes lanes[2]) {
  const po_slide *c = x->c;
  cg_lanes want = lanes[0], fill = lanes[1];
  int64_t first = h->place + 2 * v * c->lanes, start = 0;
  moving m = find_moving(x, h, v, offset);
  cg_lanes beyond = m.beyond & want;
  if (!is_inside(from, first + h->base, 2 * (int64_t)c->lanes) ||
      (beyond && !find_beside(x, from, &m, beyond, &start)))
    return cg_load(x, from, first + offset, want, fill);
  const char *out = half(x, from, h, v, bs_floor_mod(offset - h->base, 2));
  if (m.by && beyond)
    out = moved(x, &m, out, cg_vector_at(x, from, start), start, want);
  else if (m.by)
    out = moved(x, &m, out, cg_filler(x), start, want);
  cg_lanes missing = m.by && !beyond ? fill & ~m.beyond : fill;
  return missing ? cg_blend(x, out, cg_filler(x), missing) : out;
}
