/* SPDX-License-Identifier: MIT */
/* slide.h - a slide as C (private to its files).
 *
 *   slide.c  the loops over tiles, in parallel
 *   tile.c   a tile, whose results are in registers
 *   load.c   a vector of what windows slide over
 *   halves.c the same of every other element, by vectors that taps share
 *   slide_lane.c  functions of one lane: the body, the formula
 *   slide_finish.c a costly formula, of the results of all tiles at once */
#ifndef CODEGEN_SLIDE_SLIDE_H
#define CODEGEN_SLIDE_SLIDE_H

#include "codegen/slide/slide_unit.h"
#include "glenside/target/tuned.h"
#include "poly/kernel/kernel_slide.h"

/* Lanes are a set of 64 bits. */
typedef uint64_t cg_lanes;

typedef struct cg_slide {
  cg_emitter *e;
  const po_slide *c;
  cg_writer *w;            /* of the function that is being made */
  const char *name, *type; /* of the kernel's function; of elements in C */
  int64_t width; /* lanes of the first vector that are elements of c */
  bool uneven;   /* those of others are fewer */
  bool fills;    /* `fill` has what missing elements are, where not zeros */
  uint32_t n_down, n_along;
  po_run down[PO_MAX_RUNS], along[PO_MAX_RUNS];
} cg_slide;

/* Where tiles of a function stand. */
typedef struct cg_place {
  const po_run *down, *along;
} cg_place;

/* Elements of an operand around a tile. */
typedef struct cg_source {
  char letter;    /* of its pointer */
  int64_t stride; /* from lane to lane: 0 (one element for all), 1 or 2 */
  int64_t lo, hi; /* pointers point at least, and at most, so far into them */
  int64_t extent; /* elements that loads may touch */
} cg_source;

/* slide.c */
cg_source cg_source_of(const cg_slide *, const cg_place *, char letter);

/* load.c: an expression of the vector whose lanes `want` are elements from
 * `offset` on; lanes `zero` are 0, of the others nothing is said. */
const char *cg_load(const cg_slide *, const cg_source *, int64_t offset,
                    cg_lanes want, cg_lanes zero);
/* load.c: of a row of x that is held, what cg_held names; vectors of a tap. */
const char *cg_held(const cg_slide *, int64_t k);
uint32_t cg_n_held(const cg_slide *);
const char *cg_load_held(const cg_slide *, const cg_source *, int64_t offset,
                         int64_t k);
const char *cg_pick_held(const cg_slide *, int64_t offset, cg_lanes want,
                         cg_lanes fill);
/* A vector of lanes of a, and behind those of b. */
const char *cg_pick(const cg_slide *, const char *a, const char *b,
                    const int64_t *lane);
/* `a` with the lanes of `from` taken from b. */
const char *cg_blend(const cg_slide *, const char *a, const char *b,
                     cg_lanes from);

/* load.c: the vector of the elements from `offset` on. */
const char *cg_vector_at(const cg_slide *, const cg_source *, int64_t offset);
/* load.c: what elements are that are missing. */
const char *cg_filler(const cg_slide *);

/* Lanes of sums are in the order in which every other element is loaded: the
 * element of a vector in the order of memory that its lane is; a vector of them
 * in the order of memory. */
bool cg_is_turned(const cg_slide *);
int64_t cg_element_of(const cg_slide *, int64_t lane);
const char *cg_in_order(const cg_slide *, const char *vector);

/* halves.c: the vectors of even and of odd elements at a place of a tile. */
typedef struct cg_halves {
  int64_t base; /* of the first element, from that of a window's first tap on */
  int64_t place;
  uint32_t number;                /* of the place */
  bool made[GS_SLIDE_VECTORS][2]; /* of a vector of results, at this place */
} cg_halves;
cg_halves cg_find_halves(const cg_slide *, const cg_place *);
void cg_go_on_halves(cg_halves *, int64_t place);
/* As cg_load, of what tap `offset` of a row is for vector v. */
const char *cg_load_halved(const cg_slide *, const cg_source *, cg_halves *,
                           int64_t v, int64_t offset, const cg_lanes lanes[2]);

/* tile.c: NAME_tN(x, y, c, extras, loops): the tile of a place. */
void cg_put_slide_tile(const cg_slide *, const cg_place *, uint32_t number);
/* A loop of the result that conditions of rolled taps name. */
bool cg_is_named(const cg_slide *, uint32_t loop);

/* slide_lane.c: NAME_start(&s), NAME_fold(&s, &x, &y) and NAME_value(&s,
 * extras), where they are needed. */
void cg_put_lane_functions(const cg_slide *);
bool cg_has_start(const cg_slide *);
bool cg_has_value(const cg_slide *);
/* NAME_value is told of how many lanes. */
bool cg_counts_lanes(const cg_slide *);

/* slide_finish.c: whether the formula has a function of its own, and that: it
 * is given the results that the tiles of all rows and vectors have stored. */
bool cg_is_finished_later(const cg_slide *);
void cg_put_finish_function(const cg_slide *);
void cg_put_finish_call(const cg_slide *);
/* What a tile is given of what the formula reads. */
uint32_t cg_extras_of_tile(const cg_slide *);
const char *cg_extra_type(const cg_slide *, uint32_t k);

static inline bool
cg_has_weights(const cg_slide *x) {
  return x->c->y.array != PO_NO_LOOP;
}

/* lanes 0 .. n - 1 */
static inline cg_lanes
cg_first_lanes(int64_t n) {
  return n >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << n) - 1;
}

#endif
