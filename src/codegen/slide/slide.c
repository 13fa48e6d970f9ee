/* SPDX-License-Identifier: MIT */
/* slide.c - the loops over the tiles of a slide.
 *
 *   for every other loop of the result, in parallel
 *     for every run of tiles along the loop of rows
 *       for every run along the loop of vectors: its function
 *     where the formula is costly, what it makes of all their results */
#include "glenside/target/tuned.h"
#include "codegen/slide/slide.h"
#include "codegen/contract/contract.h"
#include <assert.h>

/* ---- where pointers point ---- */

typedef struct interval {
  int64_t lo, hi;
} interval;

static void
widen(interval *x, int64_t a, int64_t b) {
  x->lo += a < b ? a : b;
  x->hi += a < b ? b : a;
}

static int64_t
last_of(const po_run *run) {
  return run->last > run->to ? run->last : run->to;
}

/* The loop of the result that conditions of such a tap name, where it is one
 * that tiles do not run along; or PO_NO_LOOP. */
static uint32_t
loop_of_tap(const po_slide *c, uint32_t tap) {
  assert(tap < c->n);
  for (uint32_t k = 0; k < c->n_borders; k++)
    if (c->borders[k].tap == tap && !c->unrolled[tap] &&
        c->borders[k].loop != c->down && c->borders[k].loop != c->along)
      return c->borders[k].loop;
  return PO_NO_LOOP;
}

/* A tap that is a loop around a tile's code, and has conditions on that loop.
 */
static uint32_t
tap_of_loop(const po_slide *c, uint32_t loop) {
  assert(loop < c->n);
  for (uint32_t tap = c->n_outer; tap < c->n; tap++)
    if (loop_of_tap(c, tap) == loop)
      return tap;
  return PO_NO_LOOP;
}

/* Where a loop of the result and a tap lead together, of those that are there.
 */
static void
widen_by_pairs(interval *out, const po_slide *c, const po_walk *at,
               uint32_t loop, uint32_t tap) {
  assert(loop < c->n && tap < c->n);
  interval both = {INT64_MAX, INT64_MIN};
  for (int64_t i = 0; i < c->extent[loop]; i++)
    for (int64_t k = 0; k < c->extent[tap]; k++) {
      int64_t to = at->factor[loop] * i + at->factor[tap] * k;
      if (!po_tap_is_there(c, loop, i, tap, k))
        continue;
      both.lo = to < both.lo ? to : both.lo;
      both.hi = to > both.hi ? to : both.hi;
    }
  if (both.lo <= both.hi)
    widen(out, both.lo, both.hi);
}

static interval
reach_of(const cg_slide *x, const cg_place *at, const po_sliding *operand) {
  const po_slide *c = x->c;
  interval out = {operand->at.base, operand->at.base};
  for (uint32_t k = 0; k < c->n; k++) {
    int64_t factor = operand->at.factor[k];
    const po_run *run = k == c->down    ? at->down
                        : k == c->along ? at->along
                                        : NULL;
    uint32_t tap = k < c->n_outer && !run ? tap_of_loop(c, k) : PO_NO_LOOP;
    if (tap != PO_NO_LOOP)
      widen_by_pairs(&out, c, &operand->at, k, tap);
    else if (k >= c->n_outer && loop_of_tap(c, k) != PO_NO_LOOP &&
             tap_of_loop(c, loop_of_tap(c, k)) == k)
      continue; /* with its loop */
    else if (run)
      widen(&out, factor * run->from, factor * last_of(run));
    else if (k == c->parts)
      continue; /* each has elements of its own */
    else if (k < c->n_outer || !c->unrolled[k])
      widen(&out, 0, factor * (c->extent[k] - 1));
  }
  return out;
}

cg_source
cg_source_of(const cg_slide *x, const cg_place *at, char letter) {
  assert(letter == 'x' || letter == 'w');
  const po_sliding *operand = letter == 'x' ? &x->c->x : &x->c->y;
  interval reach = reach_of(x, at, operand);
  return (cg_source){.letter = letter,
                     .stride = operand->at.factor[x->c->along],
                     .lo = reach.lo - operand->first,
                     .hi = reach.hi - operand->first,
                     .extent = operand->last - operand->first + 1};
}

/* ---- functions ---- */

static cg_slide
measured(cg_emitter *e, const po_slide *c, const char *name) {
  cg_slide x = {.e = e, .c = c, .name = name};
  x.w = BS_NEW(&e->arena, cg_writer);
  cg_start(x.w, &e->arena);
  x.type = gs_dtype_table[c->dtype].c_type;
  x.width = c->extent[c->along] < c->lanes ? c->extent[c->along] : c->lanes;
  x.uneven = po_results_in(c, c->vectors - 1) < x.width;
  x.fills = c->body == PO_SLIDE_OTHER && po_has_filler(e->p, c);
  x.n_down = po_find_runs(c, c->down, c->rows, x.down);
  x.n_along =
      po_find_runs(c, c->along, (int64_t)c->lanes * c->vectors, x.along);
  return x;
}

/* NAME_v: a vector, anywhere in memory; of i32 unsigned, which wraps. NAME_i:
 * numbers of its lanes. */
static void
put_vector_types(const cg_slide *x) {
  long long bytes = gs_dtype_table[x->c->dtype].bytes;
  bs_text *out = &x->e->body;
  bs_putf(out,
          "typedef %s %s_v __attribute__((vector_size(%lld), aligned(%lld), "
          "may_alias));\n",
          x->c->dtype == GS_I32 ? "unsigned" : x->type, x->name,
          bytes * x->c->lanes, bytes);
  bs_putf(out, "typedef %s %s_i __attribute__((vector_size(%lld)));\n\n",
          bytes == 8 ? "int64_t" : "int32_t", x->name, bytes * x->c->lanes);
}

void
cg_put_slide_parts(cg_emitter *e, const po_slide *c, const char *name) {
  cg_slide x = measured(e, c, name);
  cg_need(&e->needs, CG_CONTRACT);
  put_vector_types(&x);
  cg_put_lane_functions(&x);
  for (uint32_t d = 0; d < x.n_down; d++)
    for (uint32_t a = 0; a < x.n_along; a++)
      cg_put_slide_tile(&x, &(cg_place){&x.down[d], &x.along[a]},
                        d * x.n_along + a);
  cg_put_finish_function(&x);
}

/* ---- pointers ---- */

static int64_t
base_of(const cg_use *use, uint32_t array, int64_t base) {
  for (uint32_t k = 0; k < use->n_slots; k++)
    if (use->slots[k].array == array)
      return base - use->slots[k].base;
  return base;
}

static const char *
type_of(const cg_slide *x, uint32_t array) {
  assert(array < x->e->p->arrays.len);
  return gs_dtype_table[x->e->p->arrays.data[array].dtype].c_type;
}

/* Under a name that no array has. */
static void
put_pointer(const cg_slide *x, const cg_scope *scope, const char *name,
            uint32_t array, int64_t base) {
  cg_write(x->w, "%s%s *const glen_%s = %s + %lld;",
           array == x->c->array ? "" : "const ", type_of(x, array), name,
           cg_array_name(x->e, scope, array),
           (long long)base_of(scope->use, array, base));
}

static bool
is_outside(const po_slide *c, uint32_t loop) {
  assert(loop < c->n);
  return loop != c->down && loop != c->along && c->extent[loop] > 1;
}

/* Moved to where the loops outside of tiles stand. */
static void
put_moved(const cg_slide *x, const char *name, uint32_t array,
          const po_walk *at) {
  const po_slide *c = x->c;
  cg_add(x->w, "%s%s *const %s = glen_%s", array == c->array ? "" : "const ",
         type_of(x, array), name, name);
  for (uint32_t k = 0; k < c->n_outer; k++)
    if (is_outside(c, k) && at->factor[k])
      cg_add(x->w, " + %lld * o%u", (long long)at->factor[k], k);
  cg_write(x->w, ";");
}

static const char *
extra_name(const cg_slide *x, uint32_t k) {
  return bs_arena_printf(&x->e->arena, "e%u", k);
}

static void
put_pointers(const cg_slide *x, const cg_scope *scope) {
  const po_slide *c = x->c;
  put_pointer(x, scope, "x", c->x.array, c->x.at.base);
  if (cg_has_weights(x))
    put_pointer(x, scope, "y", c->y.array, c->y.at.base);
  put_pointer(x, scope, "c", c->array, c->c.base);
  for (uint32_t k = 0; k < c->n_extras; k++)
    put_pointer(x, scope, extra_name(x, k), c->extras[k].array,
                c->extra[k].base);
  if (c->sums != c->array)
    cg_write(x->w, "(void)%s;", cg_array_name(x->e, scope, c->sums));
}

static void
put_all_moved(const cg_slide *x) {
  const po_slide *c = x->c;
  put_moved(x, "x", c->x.array, &c->x.at);
  if (cg_has_weights(x))
    put_moved(x, "y", c->y.array, &c->y.at);
  put_moved(x, "c", c->array, &c->c);
  for (uint32_t k = 0; k < c->n_extras; k++)
    put_moved(x, extra_name(x, k), c->extras[k].array, &c->extra[k]);
}

/* ---- calls ---- */

/* Where a tile stands: the names of its loops, or numbers. */
typedef struct standing {
  const char *down, *along;
} standing;

static void
put_argument(const cg_slide *x, const char *name, const po_walk *at,
             const standing *s) {
  const po_slide *c = x->c;
  cg_add(x->w, "%s", name);
  if (c->down != PO_NO_LOOP && at->factor[c->down])
    cg_add(x->w, " + %lld * %s", (long long)at->factor[c->down], s->down);
  if (at->factor[c->along])
    cg_add(x->w, " + %lld * %s", (long long)at->factor[c->along], s->along);
}

static void
put_call(const cg_slide *x, uint32_t number, const standing *s) {
  const po_slide *c = x->c;
  cg_add(x->w, "%s_t%u(", x->name, number);
  put_argument(x, "x", &c->x.at, s);
  if (cg_has_weights(x)) {
    cg_add(x->w, ", ");
    put_argument(x, "y", &c->y.at, s);
  }
  cg_add(x->w, ", ");
  put_argument(x, "c", &c->c, s);
  for (uint32_t k = 0; k < cg_extras_of_tile(x); k++) {
    cg_add(x->w, ", ");
    put_argument(x, extra_name(x, k), &c->extra[k], s);
  }
  for (uint32_t k = 0; k < c->n_outer; k++)
    if (cg_is_named(x, k))
      cg_add(x->w, ", %s",
             k == c->down       ? s->down
             : k == c->along    ? s->along
             : c->extent[k] > 1 ? bs_arena_printf(&x->e->arena, "o%u", k)
                                : "0");
  cg_write(x->w, ");");
}

/* A loop over the tiles of a run, where there are several; its index, or the
 * number of the one. */
static const char *
put_run(const cg_slide *x, const po_run *run, const char *name) {
  if (run->from == run->to)
    return bs_arena_printf(&x->e->arena, "%lld", (long long)run->from);
  cg_write(x->w, "for (%s %s = %lld; %s <= %lld; %s += %lld)", x->e->index,
           name, (long long)run->from, name, (long long)run->to, name,
           (long long)run->step);
  return name;
}

static po_run
only_last(const po_run *run) {
  return (po_run){run->last, run->last, run->step, -1, run->border};
}

static void
put_along(const cg_slide *x, uint32_t d, const char *down) {
  assert(d < x->n_down);
  for (uint32_t a = 0; a < x->n_along; a++)
    for (uint32_t again = 0; again <= (x->along[a].last >= 0); again++) {
      po_run run = again ? only_last(&x->along[a]) : x->along[a];
      standing s = {down, put_run(x, &run, "v")};
      put_call(x, d * x->n_along + a, &s);
    }
}

/* ---- loops outside of tiles ---- */

static void
put_team(const cg_slide *x, uint32_t loops) {
  if (!loops || !x->e->options->openmp || x->e->p->target->cores < 2 ||
      po_taps_of(x->c) < GS_THREAD_PRODUCTS)
    return;
  cg_write_team(x->w, loops, NULL);
}

static void
put_down(const cg_slide *x) {
  for (uint32_t d = 0; d < x->n_down; d++)
    for (uint32_t again = 0; again <= (x->down[d].last >= 0); again++) {
      po_run run = again ? only_last(&x->down[d]) : x->down[d];
      put_team(x, x->c->by_rows && run.from != run.to);
      const char *down = put_run(x, &run, "r");
      if (run.from != run.to)
        cg_write(x->w, "{");
      put_along(x, d, down);
      if (run.from != run.to)
        cg_write(x->w, "}");
    }
}

cg_node *
cg_make_slide_body(cg_emitter *e, const po_slide *c, const char *name,
                   const cg_scope *scope) {
  cg_slide x = measured(e, c, name);
  uint32_t loops = 0;
  cg_open_body(x.w);
  put_pointers(&x, scope);
  for (uint32_t k = 0; k < c->n_outer; k++)
    loops += is_outside(c, k);
  put_team(&x, c->by_rows ? 0 : loops);
  for (uint32_t k = 0; k < c->n_outer; k++)
    if (is_outside(c, k))
      cg_add(x.w, "for (%s o%u = 0; o%u < %lld; o%u++) ", e->index, k, k,
             (long long)c->extent[k], k);
  cg_write(x.w, "{");
  put_all_moved(&x);
  put_down(&x);
  cg_put_finish_call(&x);
  cg_write(x.w, "}");
  return cg_close_body(e, x.w);
}
