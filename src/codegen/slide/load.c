/* SPDX-License-Identifier: MIT */
/* load.c - vectors of what windows slide over.
 *
 * Elements that lie side by side are loaded as they lie; of every other one two
 * vectors are loaded and halved.  Processors halve them block of 16 bytes by
 * block in one instruction, which leaves lanes in another order: results are
 * kept in that order and moved once, before they are stored.  Beyond a border,
 * or where a row is shorter than a vector, the load stands where all of it is
 * in the array, and its lanes are moved. */
#include "base/whole.h"
#include "codegen/contract/contract.h"
#include "codegen/slide/slide.h"
#include <assert.h>

static const char *
text_of(const cg_slide *x, bs_text *text) {
  const char *out = bs_arena_strdup(&x->e->arena, bs_text_str(text));
  bs_text_done(text);
  return out;
}

const char *
cg_pick(const cg_slide *x, const char *a, const char *b, const int64_t *lane) {
  assert(x->c->lanes <= 64);
  bs_text text;
  bs_text_init(&text, x->e->heap);
  bs_putf(&text, "GLEN_PICK(%s_i, %s, %s", x->name, a, b);
  for (uint32_t l = 0; l < x->c->lanes; l++)
    bs_putf(&text, ", %lld", (long long)lane[l]);
  bs_put(&text, ")");
  return text_of(x, &text);
}

bool
cg_is_turned(const cg_slide *x) {
  const po_slide *c = x->c;
  int64_t bytes = gs_dtype_table[c->dtype].bytes;
  return c->x.at.factor[c->along] == 2 && c->across == PO_NO_LOOP &&
         c->lanes * bytes > 16 && bytes <= 8 &&
         (!cg_has_weights(x) || !c->y.at.factor[c->along]);
}

/* Halves of the blocks of the first vector, and beside each that of the second
 * one. */
int64_t
cg_element_of(const cg_slide *x, int64_t lane) {
  assert(lane >= 0 && lane < x->c->lanes);
  int64_t lanes = x->c->lanes;
  int64_t block = 16 / gs_dtype_table[x->c->dtype].bytes, half = block / 2;
  int64_t at = lane % block, first = lane / block * half;
  if (!cg_is_turned(x))
    return lane;
  return at < half ? first + at : lanes / 2 + first + at - half;
}

const char *
cg_in_order(const cg_slide *x, const char *vector) {
  assert(x->c->lanes <= 64);
  int64_t lane[64] = {0};
  for (uint32_t l = 0; l < x->c->lanes; l++)
    lane[cg_element_of(x, l)] = l;
  return cg_pick(x, vector, vector, lane);
}

const char *
cg_filler(const cg_slide *x) {
  return x->fills ? "fill"
                  : bs_arena_printf(&x->e->arena, "(%s_v){0}", x->name);
}

const char *
cg_blend(const cg_slide *x, const char *a, const char *b, cg_lanes from) {
  assert(x->c->lanes <= 64);
  int64_t lane[64];
  for (uint32_t l = 0; l < x->c->lanes; l++)
    lane[l] = from >> cg_element_of(x, l) & 1 ? x->c->lanes + l : l;
  return cg_pick(x, a, b, lane);
}

const char *
cg_vector_at(const cg_slide *x, const cg_source *from, int64_t offset) {
  return bs_arena_printf(&x->e->arena, "*(const %s_v *)(%c + %lld)", x->name,
                         from->letter, (long long)offset);
}

/* ---- where a load stands ---- */

/* Elements of vectors that a load is made of. */
static int64_t
span_of(const cg_slide *x, const cg_source *from) {
  return from->stride * x->c->lanes;
}

static int64_t
first_lane(cg_lanes lanes) {
  int64_t l = 0;
  while (!(lanes >> l & 1))
    l++;
  return l;
}

static int64_t
last_lane(cg_lanes lanes) {
  int64_t l = 63;
  while (!(lanes >> l & 1))
    l--;
  return l;
}

/* Near `offset`, with all that is wanted in it, and inside the array; false:
 * nowhere. */
static bool
find_start(const cg_slide *x, const cg_source *from, int64_t offset,
           cg_lanes want, int64_t *out) {
  int64_t span = span_of(x, from), s = from->stride;
  int64_t first = offset + s * first_lane(want);
  int64_t last = offset + s * last_lane(want);
  int64_t least = last - span + 1, most = first;
  if (least < -from->lo)
    least = -from->lo;
  if (most > from->extent - from->hi - span)
    most = from->extent - from->hi - span;
  int64_t start = offset - bs_floor_mod(offset, s);
  *out = start < least ? least : start > most ? most : start;
  return least <= most;
}

/* ---- loads ---- */

/* Element by element. */
static const char *
one_by_one(const cg_slide *x, const cg_source *from, int64_t offset,
           cg_lanes want) {
  bs_text text;
  bs_text_init(&text, x->e->heap);
  const char *cast = x->c->dtype == GS_I32 ? "(unsigned)" : "";
  bs_putf(&text, "(%s_v){", x->name);
  for (uint32_t l = 0; l < x->c->lanes; l++)
    if (want >> cg_element_of(x, l) & 1)
      bs_putf(&text, "%s%s%c[%lld]", l ? ", " : "", cast, from->letter,
              (long long)(offset + from->stride * cg_element_of(x, l)));
    else
      bs_putf(&text, "%s%s", l ? ", " : "", x->fills ? "fill[0]" : "0");
  bs_put(&text, "}");
  return text_of(x, &text);
}

/* No lane moves, but those of `zero` become zeros: a mask of bits, for which
 * compilers need one instruction in vectors of any length. */
static bool
is_masked(const cg_slide *x, const int64_t *lane, cg_lanes want,
          cg_lanes zero) {
  for (uint32_t l = 0; l < x->c->lanes; l++)
    if (want >> cg_element_of(x, l) & 1 && lane[l] != (int64_t)l)
      return false;
  return zero && !x->fills;
}

static const char *
masked(const cg_slide *x, const char *a, cg_lanes zero) {
  bs_text text;
  bs_text_init(&text, x->e->heap);
  bs_putf(&text, "(%s_v)((%s_i)%s & (%s_i){", x->name, x->name, a, x->name);
  for (uint32_t l = 0; l < x->c->lanes; l++)
    bs_putf(&text, "%s%s", l ? ", " : "",
            zero >> cg_element_of(x, l) & 1 ? "0" : "-1");
  bs_put(&text, "})");
  return text_of(x, &text);
}

/* Lanes of vectors at `start`, moved; what is not wanted is any of them. */
static const char *
moved(const cg_slide *x, const cg_source *from, int64_t offset, int64_t start,
      cg_lanes want, cg_lanes zero) {
  assert(x->c->lanes <= 64);
  int64_t lane[64], lanes = x->c->lanes, span = span_of(x, from);
  bool two = from->stride == 2;
  for (uint32_t l = 0; l < lanes; l++) {
    int64_t element = cg_element_of(x, l);
    lane[l] = offset + from->stride * element - start;
    if (!(want >> element & 1))
      lane[l] = zero >> element & 1 && !two ? lanes + l
                : lane[l] < 0               ? 0
                : lane[l] >= span           ? span - 1
                                            : lane[l];
  }
  const char *a = cg_vector_at(x, from, start);
  if (!two && is_masked(x, lane, want, zero))
    return masked(x, a, zero);
  if (!two)
    return cg_pick(x, a, zero ? cg_filler(x) : a, lane);
  const char *both = cg_pick(x, a, cg_vector_at(x, from, start + lanes), lane);
  return zero ? cg_blend(x, both, cg_filler(x), zero) : both;
}

const char *
cg_load(const cg_slide *x, const cg_source *from, int64_t offset, cg_lanes want,
        cg_lanes zero) {
  int64_t start;
  /* All of its elements are read, wherever they are. */
  if (from->stride == 1 && want == cg_first_lanes(x->c->lanes))
    return cg_vector_at(x, from, offset);
  if (!find_start(x, from, offset, want, &start))
    return one_by_one(x, from, offset, want);
  if (from->stride == 1 && start == offset && !zero)
    return cg_vector_at(x, from, offset);
  return moved(x, from, offset, start, want, zero);
}

/* ---- rows that are held ---- */

uint32_t
cg_n_held(const cg_slide *x) {
  const po_slide *c = x->c;
  return c->across == PO_NO_LOOP
             ? 0
             : (uint32_t)bs_ceil_div(po_held_row(c).n, c->lanes);
}

const char *
cg_held(const cg_slide *x, int64_t k) {
  assert(k >= 0);
  return bs_arena_printf(&x->e->arena, "h%lld", (long long)k);
}

const char *
cg_load_held(const cg_slide *x, const cg_source *from, int64_t offset,
             int64_t k) {
  assert(k >= 0 && k < cg_n_held(x));
  const po_slide *c = x->c;
  po_held row = po_held_row(c);
  int64_t rest = row.n - k * c->lanes;
  cg_lanes all = cg_first_lanes(c->lanes);
  cg_lanes want = cg_first_lanes(rest < c->lanes ? rest : c->lanes);
  cg_source line = *from;
  line.stride = 1;
  return cg_load(x, &line, offset + row.first + k * c->lanes, want,
                 all & ~want);
}

/* Where lanes of a vector come from, in two vectors that are held. */
typedef struct picking {
  int64_t lane[64]; /* as GLEN_PICK has them */
  int64_t first;    /* of the two */
  bool both, whole; /* lanes are of both; each is where it was, of the first */
  cg_lanes missing; /* are in neither of them */
} picking;

/* A lane that is filled behind the end of the row, as the place in the row; or
 * -1. */
static int64_t
spare_place(const cg_slide *x, const picking *p) {
  int64_t n = po_held_row(x->c).n, lanes = x->c->lanes;
  bool there =
      n < cg_n_held(x) * lanes && (p->both || p->first + 1 == cg_n_held(x));
  return there ? n : -1;
}

static void
find_vectors(const cg_slide *x, const int64_t *place, cg_lanes want,
             picking *p) {
  int64_t lo = INT64_MAX, hi = 0;
  for (uint32_t l = 0; l < x->c->lanes; l++) {
    if (!(want >> l & 1))
      continue;
    lo = place[l] < lo ? place[l] : lo;
    hi = place[l] > hi ? place[l] : hi;
  }
  p->first = lo / x->c->lanes;
  p->both = hi / x->c->lanes != p->first;
}

static picking
find_lanes(const cg_slide *x, const int64_t *place, cg_lanes want,
           cg_lanes fill) {
  picking p = {.whole = !fill};
  int64_t lanes = x->c->lanes;
  find_vectors(x, place, want, &p);
  int64_t spare = spare_place(x, &p);
  for (uint32_t l = 0; l < lanes; l++) {
    bool wanted = want >> l & 1, filled = fill >> l & 1;
    int64_t from = wanted ? place[l] : filled && spare >= 0 ? spare : -1;
    p.lane[l] = from >= 0 ? from - p.first * lanes : l;
    if (filled && from < 0 && !p.both)
      p.lane[l] = lanes + l;
    else if (filled && from < 0)
      p.missing |= UINT64_C(1) << l;
    p.whole &= !wanted || p.lane[l] == (int64_t)l;
  }
  return p;
}

const char *
cg_pick_held(const cg_slide *x, int64_t offset, cg_lanes want, cg_lanes fill) {
  assert(x->c->lanes <= 64);
  const po_slide *c = x->c;
  int64_t place[64];
  for (uint32_t l = 0; l < c->lanes; l++)
    place[l] =
        offset + c->x.at.factor[c->along] * (int64_t)l - po_held_row(c).first;
  picking p = find_lanes(x, place, want, fill);
  const char *a = cg_held(x, p.first);
  if (p.whole && !p.both)
    return a;
  const char *b = p.both ? cg_held(x, p.first + 1) : cg_filler(x);
  const char *out = cg_pick(x, a, b, p.lane);
  return p.missing ? cg_blend(x, out, cg_filler(x), p.missing) : out;
}
