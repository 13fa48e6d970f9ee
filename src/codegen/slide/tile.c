/* SPDX-License-Identifier: MIT */
/* tile.c - a tile of a slide: rows times vectors of results, each a named
 * local.
 *
 * Places of x are visited in order, and each vector is used for all rows whose
 * windows hold it; so the taps of a result come in the order of its loops.
 * Where a tile stands at a border, the taps that are missing are left out, or
 * are lanes that change nothing. */
#include "glenside/target/machine.h"
#include "codegen/contract/contract.h"
#include "codegen/slide/slide.h"
#include "glenside/target/tuned.h"
#include "poly/loops/loops_sizes.h"
#include "poly/loops/storage.h"
#include <assert.h>
#include <stdlib.h>

typedef struct tile {
  const cg_slide *x;
  const cg_place *at;
  cg_source from, weights;
  int64_t tap[PO_MAX_DIMS]; /* of unrolled taps, as far as they are chosen */
  int64_t *place;           /* along the loop of rows, in order */
  uint32_t n_places;
  cg_halves halves; /* if c->halved */
} tile;

/* ---- what is where ---- */

static int64_t
row_step(const po_slide *c) {
  return c->down == PO_NO_LOOP ? 0 : c->x.at.factor[c->down];
}

static int64_t
shared_extent(const po_slide *c) {
  return c->shared == PO_NO_LOOP ? 1 : c->extent[c->shared];
}

static int64_t
place_of(const po_slide *c, int64_t row, int64_t k) {
  return row * row_step(c) +
         (c->shared == PO_NO_LOOP ? 0 : k * c->x.at.factor[c->shared]);
}

static int
compare_places(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return x < y ? -1 : x > y;
}

static void
find_places(tile *t) {
  const po_slide *c = t->x->c;
  uint32_t n = 0;
  t->place =
      BS_NEWS(&t->x->e->arena, int64_t, (size_t)(c->rows * shared_extent(c)));
  for (int64_t row = 0; row < c->rows; row++)
    for (int64_t k = 0; k < shared_extent(c); k++)
      t->place[n++] = place_of(c, row, k);
  qsort(t->place, n, sizeof *t->place, compare_places);
  for (uint32_t k = 0; k < n; k++)
    if (!k || t->place[k] != t->place[k - 1])
      t->place[t->n_places++] = t->place[k];
}

/* The shared tap of a row is in the array. */
static bool
has_row(const tile *t, int64_t row, int64_t k) {
  assert(row >= 0 && row < t->x->c->rows);
  const po_slide *c = t->x->c;
  return c->shared == PO_NO_LOOP || !t->at->down->border ||
         po_tap_is_there(c, c->down, t->at->down->from + row, c->shared, k);
}

/* The lanes of vector v for which the other taps are. */
static cg_lanes
lanes_of(const tile *t, int64_t v) {
  assert(v >= 0);
  const po_slide *c = t->x->c;
  int64_t width = po_results_in(c, v);
  cg_lanes out = cg_first_lanes(width);
  for (uint32_t l = 0; t->at->along->border && l < width; l++)
    for (uint32_t tap = c->n_outer; tap < c->n; tap++)
      if (po_is_in_row(c, tap) &&
          !po_tap_is_there(c, c->along, t->at->along->from + v * c->lanes + l,
                           tap, t->tap[tap]))
        out &= ~(UINT64_C(1) << l);
  return out;
}

/* ---- products ---- */

static int64_t
weight_of(const tile *t, int64_t row) {
  assert(row >= 0);
  const po_slide *c = t->x->c;
  int64_t offset = c->down == PO_NO_LOOP ? 0 : row * c->y.at.factor[c->down];
  for (uint32_t tap = c->n_outer; tap < c->n; tap++)
    if (c->unrolled[tap])
      offset += c->y.at.factor[tap] * t->tap[tap];
  return offset;
}

/* An element for all lanes, or one for each. */
static const char *
weights(const tile *t, int64_t row, int64_t v) {
  const po_slide *c = t->x->c;
  int64_t offset = weight_of(t, row);
  if (t->weights.stride)
    return cg_load(t->x, &t->weights, offset + v * c->lanes,
                   cg_first_lanes(t->x->width), 0);
  return bs_arena_printf(&t->x->e->arena, "%sw[%lld]",
                         c->dtype == GS_I32 ? "(unsigned)" : "",
                         (long long)offset);
}

/* What an element is added to, so that all lanes are it. */
static const char *
zeros_and(const cg_slide *x) {
  return bs_arena_printf(&x->e->arena, "(%s_v){0} + ", x->name);
}

/* One lane after the other; where some of them have no tap, a copy is updated,
 * of which those are not taken. */
static void
put_other(const tile *t, const char *sum, const char *weight, bool all,
          cg_lanes lanes) {
  const cg_slide *x = t->x;
  const char *to = all ? sum : "some";
  cg_write(x->w, "{");
  if (!all)
    cg_write(x->w, "%s_v some = %s;", x->name, sum);
  if (weight)
    cg_write(x->w, "const %s_v q = %s%s;", x->name,
             t->weights.stride ? "" : zeros_and(x), weight);
  cg_write(x->w, "%s_fold(&%s, &t%s);", x->name, to, weight ? ", &q" : "");
  if (!all)
    cg_write(x->w, "%s = %s;", sum, cg_blend(x, sum, to, lanes));
  cg_write(x->w, "}");
}

/* Of a result, or of the part of it that every second tap is added to. */
static const char *
sum_name(const cg_slide *x, int64_t row, int64_t v, uint32_t side) {
  return bs_arena_printf(&x->e->arena, "s%lld_%lld%s", (long long)row,
                         (long long)v, side ? "b" : "");
}

/* Where a tap is added follows from its place in the window alone: results at
 * borders are added up as all others. */
static uint32_t
side_of(const tile *t) {
  const po_slide *c = t->x->c;
  int64_t taps = 0;
  for (uint32_t tap = c->n_outer; tap < c->n; tap++)
    if (po_is_in_row(c, tap))
      taps += t->tap[tap];
  return (uint32_t)(taps % c->sides);
}

/* With -ffast-math, gcc breaks chains of fused products and sums into products
 * and sums of their own, unless it cannot see through them. */
static void
put_added(const cg_slide *x, const char *sum, const char *weight) {
  cg_write(x->w, "%s += %s%st;", sum, weight ? weight : "",
           weight ? " * " : "");
  cg_write(x->w, "GLEN_HOLD(%s);", sum);
}

static void
put_fold(const tile *t, int64_t row, int64_t v, cg_lanes lanes) {
  const cg_slide *x = t->x;
  const char *sum = sum_name(x, row, v, side_of(t));
  const char *weight = cg_has_weights(x) ? weights(t, row, v) : NULL;
  if (x->c->body == PO_SLIDE_OTHER)
    put_other(t, sum, weight,
              x->fills || lanes == cg_first_lanes(po_results_in(x->c, v)),
              lanes);
  else
    put_added(x, sum, weight);
}

/* The rows of vector v that have a tap at this place. */
static bool
put_rows(tile *t, int64_t place, int64_t v, cg_lanes lanes, bool write) {
  const po_slide *c = t->x->c;
  bool any = false;
  for (int64_t row = 0; row < c->rows; row++)
    for (int64_t k = 0; k < shared_extent(c); k++) {
      if (place_of(c, row, k) != place || !has_row(t, row, k))
        continue;
      any = true;
      if (c->shared != PO_NO_LOOP)
        t->tap[c->shared] = k;
      if (write)
        put_fold(t, row, v, lanes);
    }
  return any;
}

/* Of vector v, at the taps that are chosen. */
static const char *
vector_of(tile *t, int64_t place, int64_t v, cg_lanes want, cg_lanes fill) {
  const po_slide *c = t->x->c;
  int64_t start = v * c->lanes * c->x.at.factor[c->along], offset = 0;
  for (uint32_t tap = c->n_outer; tap < c->n; tap++)
    if (po_is_in_row(c, tap))
      offset += c->x.at.factor[tap] * t->tap[tap];
  if (c->across != PO_NO_LOOP)
    return cg_pick_held(t->x, start + offset, want, fill);
  if (c->halved)
    return cg_load_halved(t->x, &t->from, &t->halves, v, offset,
                          (cg_lanes[]){want, fill});
  return cg_load(t->x, &t->from, place + start + offset, want, fill);
}

/* A vector of x, and what it is used for. */
static void
put_vector(tile *t, int64_t place, int64_t v) {
  const cg_slide *x = t->x;
  const po_slide *c = x->c;
  cg_lanes lanes = lanes_of(t, v), all = cg_first_lanes(po_results_in(c, v));
  if (!lanes || !put_rows(t, place, v, lanes, false))
    return;
  bool fills = c->body != PO_SLIDE_OTHER || x->fills;
  const char *vector = vector_of(t, place, v, lanes, fills ? all & ~lanes : 0);
  cg_write(x->w, "t = %s;", vector);
  if (c->across == PO_NO_LOOP && *vector == '*' && po_crosses_lines(c))
    cg_write(x->w, "GLEN_HOLD(t);");
  put_rows(t, place, v, lanes, true);
}

/* The next combination of the taps that are neither rolled nor shared. */
static bool
next_taps(tile *t) {
  const po_slide *c = t->x->c;
  for (uint32_t tap = c->n; tap-- > c->n_outer;) {
    if (!po_is_in_row(c, tap))
      continue;
    if (++t->tap[tap] < c->extent[tap])
      return true;
    t->tap[tap] = 0;
  }
  return false;
}

/* The row at this place, in registers. */
static void
hold_row(tile *t, int64_t place) {
  const cg_slide *x = t->x;
  if (!put_rows(t, place, 0, 0, false))
    return;
  for (uint32_t k = 0; k < cg_n_held(x); k++) {
    cg_write(x->w, "%s = %s;", cg_held(x, k),
             cg_load_held(x, &t->from, place, k));
    cg_write(x->w, "GLEN_HOLD(%s);", cg_held(x, k));
  }
}

/* Vectors from `first` on, `n` of them. */
static void
put_places(tile *t, int64_t first, int64_t n) {
  for (uint32_t k = 0; k < t->n_places; k++) {
    hold_row(t, t->place[k]);
    cg_go_on_halves(&t->halves, t->place[k]);
    do
      for (int64_t v = first; v < first + n; v++)
        put_vector(t, t->place[k], v);
    while (next_taps(t));
  }
}

/* Weights that are vectors are each vector's own: its places come together, so
 * that they are held in registers meanwhile. */
static void
put_window(tile *t) {
  int64_t vectors = t->x->c->vectors;
  if (!cg_has_weights(t->x) || !t->weights.stride) {
    put_places(t, 0, vectors);
    return;
  }
  for (int64_t v = 0; v < vectors; v++)
    put_places(t, v, 1);
}

/* ---- what the next tile reads ---- */

/* Windows slide over more than the second cache holds. */
static bool
is_far(const tile *t) {
  const po_program *p = t->x->e->p;
  return !po_has_sizes(p) &&
         po_bytes(&p->arrays.data[t->x->c->x.array]) > gs_near_bytes(p->target);
}

/* All taps but the shared one stay in the row of a place. */
static bool
stays_in_rows(const po_slide *c) {
  int64_t within = 0;
  for (uint32_t tap = c->n_outer; tap < c->n; tap++)
    if (tap != c->shared)
      within += llabs(c->x.at.factor[tap]) * (c->extent[tap] - 1);
  return within < c->lanes;
}

/* Lines of a row that the vectors of a tile lie in, from the place on. */
static void
put_row_ahead(const tile *t, int64_t place) {
  const po_slide *c = t->x->c;
  int64_t bytes = gs_dtype_table[c->dtype].bytes;
  int64_t line = gs_first_cache(t->x->e->p->target).line;
  int64_t row = c->vectors * c->lanes * c->x.at.factor[c->along] * bytes;
  for (int64_t at = 0; at < row; at += line)
    cg_write(t->x->w, "GLEN_AHEAD(i, %lld);", (long long)(place * bytes + at));
}

/* A tile of many rows reads a little of each, which no processor goes on with
 * by itself: the rows that the tile below reads and this one does not are asked
 * for; below the last one the next image may begin. */
static void
put_rows_ahead(const tile *t) {
  const po_slide *c = t->x->c;
  int64_t below = c->rows * row_step(c), last = t->place[t->n_places - 1];
  if (t->n_places < GS_AHEAD_PLACES || !is_far(t) || !stays_in_rows(c))
    return;
  for (uint32_t k = 0; k < t->n_places; k++)
    if (t->place[k] + below > last)
      put_row_ahead(t, t->place[k] + below);
}

/* ---- loops over taps that are not written out ---- */

static void
put_conditions(const tile *t, uint32_t tap) {
  assert(tap < t->x->c->n);
  const po_slide *c = t->x->c;
  for (uint32_t k = 0; k < c->n_borders; k++) {
    const po_border *b = &c->borders[k];
    if (b->tap != tap)
      continue;
    cg_write(t->x->w, "if (%lld + %lld * o%u + %lld * k%u < 0)",
             (long long)b->constant, (long long)b->outer, b->loop,
             (long long)b->inner, tap);
    cg_write(t->x->w, "continue;");
  }
}

static void
put_moved(const tile *t, const char *to, char from, const po_walk *at) {
  const po_slide *c = t->x->c;
  cg_add(t->x->w, "const %s *const %s = %c", t->x->type, to, from);
  for (uint32_t tap = c->n_outer; tap < c->n; tap++)
    if (!c->unrolled[tap] && at->factor[tap])
      cg_add(t->x->w, " + %lld * k%u", (long long)at->factor[tap], tap);
  cg_write(t->x->w, ";");
}

static void
put_taps(tile *t) {
  const po_slide *c = t->x->c;
  const char *index = t->x->e->index;
  uint32_t open = 0;
  for (uint32_t tap = c->n_outer; tap < c->n; tap++)
    if (!c->unrolled[tap]) {
      cg_write(t->x->w, "for (%s k%u = 0; k%u < %lld; k%u++) {", index, tap,
               tap, (long long)c->extent[tap], tap);
      put_conditions(t, tap);
      open++;
    }
  put_moved(t, "x", 'i', &c->x.at);
  if (cg_has_weights(t->x))
    put_moved(t, "w", 'y', &c->y.at);
  put_window(t);
  while (open-- > 0)
    cg_write(t->x->w, "}");
}

/* ---- the function ---- */

bool
cg_is_named(const cg_slide *x, uint32_t loop) {
  assert(loop < x->c->n);
  for (uint32_t k = 0; k < x->c->n_borders; k++)
    if (x->c->borders[k].loop == loop && !x->c->unrolled[x->c->borders[k].tap])
      return true;
  return false;
}

static void
put_parameters(const cg_slide *x) {
  const po_slide *c = x->c;
  cg_add(x->w, "(const %s *restrict i, ", x->type);
  if (cg_has_weights(x))
    cg_add(x->w, "const %s *restrict y, ", x->type);
  cg_add(x->w, "%s *restrict c", x->type);
  for (uint32_t k = 0; k < cg_extras_of_tile(x); k++)
    cg_add(x->w, ",\n    const %s *restrict e%u", cg_extra_type(x, k), k);
  for (uint32_t k = 0; k < c->n_outer; k++)
    if (cg_is_named(x, k))
      cg_add(x->w, ", %s o%u", x->e->index, k);
  cg_write(x->w, ") {");
}

/* A part of a sum starts with zero. */
static void
put_start_of(const cg_slide *x, const char *sum, bool part) {
  bool calls = cg_has_start(x) && !part;
  cg_write(x->w, "%s_v %s%s;", x->name, sum, calls ? "" : " = {0}");
  if (calls)
    cg_write(x->w, "%s_start(&%s);", x->name, sum);
}

static void
put_start(const cg_slide *x) {
  for (uint32_t row = 0; row < x->c->rows; row++)
    for (uint32_t v = 0; v < x->c->vectors; v++)
      for (uint32_t side = 0; side < x->c->sides; side++)
        put_start_of(x, sum_name(x, row, v, side), side);
  cg_write(x->w, "%s_v t;", x->name);
  for (uint32_t k = 0; k < cg_n_held(x); k++)
    cg_write(x->w, "%s_v %s;", x->name, cg_held(x, k));
  if (!x->fills)
    return;
  cg_write(x->w, "%s_v fill;", x->name);
  cg_write(x->w, "%s_start(&fill);", x->name);
  cg_write(x->w, "(void)fill;");
}

static const char *
result_name(const cg_slide *x, uint32_t row, uint32_t v) {
  assert(row < x->c->rows);
  return bs_arena_printf(&x->e->arena, "r%u_%u", row, v);
}

/* NAME_value(&r0_0, e0 + ..), of a row and a vector. */
static void
put_value(const cg_slide *x, uint32_t row, uint32_t v) {
  assert(row < x->c->rows);
  const po_slide *c = x->c;
  cg_add(x->w, "%s_value(&%s", x->name, result_name(x, row, v));
  if (cg_counts_lanes(x))
    cg_add(x->w, ", %lld", (long long)po_results_in(c, v));
  for (uint32_t k = 0; k < cg_extras_of_tile(x); k++) {
    int64_t down = c->down == PO_NO_LOOP ? 0 : c->extra[k].factor[c->down];
    cg_add(x->w, ", e%u + %lld", k,
           (long long)(down * row +
                       c->extra[k].factor[c->along] * (int64_t)(v * c->lanes)));
  }
  cg_write(x->w, ");");
}

/* The end of a row that is shorter than vectors may be stored with what is
 * beyond it, where rows of the tile that follow in memory are stored later. */
static bool
may_spill(const cg_slide *x, uint32_t row, int64_t width) {
  assert(row < x->c->rows);
  const po_slide *c = x->c;
  int64_t extent = c->extent[c->along];
  return c->down != PO_NO_LOOP && c->c.factor[c->down] == extent &&
         (c->rows - 1 - row) * extent >= c->lanes - width;
}

/* The vector that ends where this one begins, in the same row or in the row
 * before it; false: its end is not what lies there. */
static bool
find_before(const cg_slide *x, uint32_t *row, uint32_t *v) {
  const po_slide *c = x->c;
  if (*v) {
    --*v;
    return true;
  }
  if (!*row || c->down == PO_NO_LOOP ||
      c->c.factor[c->down] != c->extent[c->along])
    return false;
  --*row;
  *v = c->vectors - 1;
  return true;
}

/* The end of a row with as many results before it as fill a vector, which are
 * stored once more: a copy of some lanes goes through memory.  NULL: there are
 * not as many. */
static const char *
reached_back(const cg_slide *x, uint32_t row, uint32_t v) {
  const po_slide *c = x->c;
  uint32_t before = row, of = v;
  int64_t width = po_results_in(c, v), n = c->lanes - width, lane[64];
  if (!find_before(x, &before, &of) || po_results_in(c, of) < n)
    return NULL;
  for (int64_t l = 0; l < c->lanes; l++)
    lane[l] = l < n ? po_results_in(c, of) - n + l : c->lanes + l - n;
  return cg_pick(x, result_name(x, before, of), result_name(x, row, v), lane);
}

static void
put_store(const cg_slide *x, uint32_t row, uint32_t v) {
  assert(row < x->c->rows);
  const po_slide *c = x->c;
  int64_t down = c->down == PO_NO_LOOP ? 0 : c->c.factor[c->down];
  int64_t at = down * row + (int64_t)v * c->lanes;
  int64_t width = po_results_in(c, v);
  const char *result = result_name(x, row, v);
  const char *both = width == c->lanes || may_spill(x, row, width)
                         ? NULL
                         : reached_back(x, row, v);
  if (both)
    cg_write(x->w, "*(%s_v *)(c + %lld) = %s;", x->name,
             (long long)(at + width - c->lanes), both);
  else if (width == c->lanes || may_spill(x, row, width))
    cg_write(x->w, "*(%s_v *)(c + %lld) = %s;", x->name, (long long)at, result);
  else
    cg_write(x->w, "memcpy(c + %lld, &%s, %lld);", (long long)at, result,
             (long long)(width * gs_dtype_table[c->dtype].bytes));
}

/* The sums themselves have no address: where a function or a copy needs one,
 * they would all be kept in memory. */
static void
put_result(const cg_slide *x, uint32_t row, uint32_t v) {
  assert(row < x->c->rows);
  const char *sum = sum_name(x, row, v, 0);
  cg_write(x->w, "%s_v %s = %s;", x->name, result_name(x, row, v),
           cg_is_turned(x) ? cg_in_order(x, sum) : sum);
  if (cg_has_value(x))
    put_value(x, row, v);
  put_store(x, row, v);
}

static void
put_joined(const cg_slide *x) {
  for (uint32_t row = 0; row < x->c->rows; row++)
    for (uint32_t v = 0; v < x->c->vectors; v++)
      for (uint32_t side = 1; side < x->c->sides; side++)
        cg_write(x->w, "%s += %s;", sum_name(x, row, v, 0),
                 sum_name(x, row, v, side));
}

static void
put_results(const cg_slide *x) {
  for (uint32_t row = 0; row < x->c->rows; row++)
    for (uint32_t v = 0; v < x->c->vectors; v++)
      put_result(x, row, v);
}

void
cg_put_slide_tile(const cg_slide *x, const cg_place *at, uint32_t number) {
  bool fuses = !x->e->p->strict_fp && x->c->dtype != GS_I32 &&
               x->c->body == PO_SLIDE_PRODUCT && !cg_has_value(x);
  tile t = {.x = x, .at = at};
  t.from = cg_source_of(x, at, 'x');
  if (cg_has_weights(x))
    t.weights = cg_source_of(x, at, 'w');
  find_places(&t);
  t.halves = cg_find_halves(x, at);
  cg_add(x->w, "%sstatic void\n%s_t%u", fuses ? "GLEN_CONTRACT " : "", x->name,
         number);
  put_parameters(x);
  if (fuses)
    cg_write(x->w, "GLEN_CONTRACT_BODY");
  put_start(x);
  put_rows_ahead(&t);
  put_taps(&t);
  put_joined(x);
  put_results(x);
  cg_close_function(x->e, x->w);
}
