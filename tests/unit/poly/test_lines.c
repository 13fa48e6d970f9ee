/* SPDX-License-Identifier: MIT */
/* test_lines.c - layouts and the lines they bring in, against counting.
 *
 * Random arrays are read by random definitions, in layouts of random steps, on
 * random small caches.  Where an element goes is told by arithmetic on its
 * indices, and lines are those of all its accesses, one by one: what the cost
 * is documented to be is made of these counts.  Where everything fits, it is
 * what a cache that holds the lines used last would have to bring in. */
#include "fixture.h"
#include "layouts.h"
#include "base/random.h"
#include "poly/loops/affine.h"
#include "poly/datalayout/datalayout_price.h"
#include "tests/unit/sanitized.h"

enum { SEEDS = SANITIZED ? 60 : 400, MOST_READS = 3, MOST_LOOPS = 3 };

/* An array as it was, and the steps its layout takes. */
typedef struct laid {
  uint32_t rank, n_steps;
  int64_t dim[GS_MAX_RANK], bytes;
  po_layout_step step[2];
} laid;

/* Index d is the sum of factor[d][loop] times the loop, and more[d]. */
typedef struct reading {
  int64_t factor[GS_MAX_RANK][MOST_LOOPS], more[GS_MAX_RANK];
} reading;

static uint64_t seed, random_state;
static po_layout_model model;
static uint32_t n_reads, n_loops;
static int64_t extent[MOST_LOOPS];
static laid arrays[MOST_READS];
static reading reads[MOST_READS];

static int64_t
below(int64_t n) {
  return (int64_t)(bs_random_next(&random_state) % (uint64_t)n);
}

/* ---- where elements are ---- */

/* A step on the dimensions and on one index; dimension 0 is the last. */
static void
take_step(po_layout_step s, uint32_t *rank, int64_t *dim, int64_t *at) {
  int64_t *d = dim + *rank - 1, *i = at + *rank - 1;
  if (s.op == PO_REORDER) {
    int64_t e = d[0], x = i[0];
    d[0] = d[-1], i[0] = i[-1];
    d[-1] = e, i[-1] = x;
    return;
  }
  int64_t dims[GS_MAX_RANK], index[GS_MAX_RANK];
  uint32_t which = s.op == PO_INTERLEAVE ? 0 : 1, n = *rank, last = n;
  int64_t e = dim[n - 1 - which], x = at[n - 1 - which];
  memcpy(dims, dim, n * sizeof *dim);
  memcpy(index, at, n * sizeof *at);
  dims[n - 1 - which] = s.q, index[n - 1 - which] = x % s.q;
  /* the quotient becomes the third from the end */
  memmove(dim, dims, (n - 2) * sizeof *dim);
  memmove(at, index, (n - 2) * sizeof *at);
  dim[n - 2] = (e + s.q - 1) / s.q, at[n - 2] = x / s.q;
  memcpy(dim + n - 1, dims + n - 2, 2 * sizeof *dim);
  memcpy(at + n - 1, index + n - 2, 2 * sizeof *at);
  *rank = last + 1;
}

static int64_t
place_of(const laid *a, const int64_t *index, int64_t *size) {
  int64_t dim[GS_MAX_RANK], at[GS_MAX_RANK], place = 0;
  uint32_t rank = a->rank;
  memcpy(dim, a->dim, sizeof dim);
  memcpy(at, index, rank * sizeof *at);
  for (uint32_t k = 0; k < a->n_steps; k++)
    take_step(a->step[k], &rank, dim, at);
  *size = 1;
  for (uint32_t d = 0; d < rank; d++) {
    cr_assert(at[d] >= 0 && at[d] < dim[d]);
    place = place * dim[d] + at[d];
    *size *= dim[d];
  }
  return place;
}

/* ---- random models ---- */

static void
draw_array(laid *a) {
  *a = (laid){.rank = 2 + (uint32_t)below(2), .bytes = 1 << below(4)};
  for (int64_t n = below(3); n > 0; n--)
    a->step[a->n_steps++] =
        (po_layout_step){(po_layout_op)below(3), 1 + below(5)};
}

/* The array is as large as the indices need, or a little larger. */
static void
draw_read(laid *a, reading *r) {
  memset(r, 0, sizeof *r);
  for (uint32_t d = 0; d < a->rank; d++) {
    r->more[d] = below(4) ? 0 : below(3);
    a->dim[d] = 1 + r->more[d] + (below(3) ? 0 : below(3));
    for (int64_t n = below(3); n > 0; n--) {
      uint32_t loop = (uint32_t)below(n_loops);
      int64_t factor = below(4) ? 1 : 2;
      r->factor[d][loop] += factor;
      a->dim[d] += factor * (extent[loop] - 1);
    }
  }
}

static isl_map *
map_of(const laid *a, const reading *r) {
  bs_text text;
  bs_text_init(&text, &heap);
  bs_put(&text, "{ [");
  for (uint32_t k = 0; k < n_loops; k++)
    bs_putf(&text, "%si%u", k ? ", " : "", k);
  bs_put(&text, "] -> [");
  for (uint32_t d = 0; d < a->rank; d++) {
    bs_putf(&text, "%s%lld", d ? ", " : "", (long long)r->more[d]);
    for (uint32_t k = 0; k < n_loops; k++)
      bs_putf(&text, " + %lld i%u", (long long)r->factor[d][k], k);
  }
  bs_put(&text, "] }");
  po_pool_reserve(&model.pool, 1);
  return isl_map_read_from_str(model.isl, bs_text_str(&text));
}

static void
draw_model(po_layout *layouts) {
  static const int64_t lines[] = {8, 16, 24, 64}, sets[] = {1, 2, 3, 4, 8};
  model.cache = (po_layout_cache){lines[below(4)], sets[below(5)],
                                  below(3) ? 1 + below(4) : 64};
  n_loops = 1 + (uint32_t)below(MOST_LOOPS);
  n_reads = 1 + (uint32_t)below(MOST_READS);
  for (uint32_t k = 0; k < n_loops; k++)
    extent[k] = 1 + below(9);
  uint32_t d = po_layout_add_definition(&model, "f", n_loops, extent);
  for (uint32_t k = 0; k < n_reads; k++) {
    laid *a = &arrays[k];
    draw_array(a);
    draw_read(a, &reads[k]);
    po_layout_add_array(&model, "A", a->rank, a->dim, a->bytes);
    po_layout_add_read(&model, d, k, map_of(a, &reads[k]));
  }
  for (uint32_t k = 0; k < n_reads; k++) {
    layouts[k] = po_layout_plain(&model, &model.arrays.data[k]);
    for (uint32_t j = 0; j < arrays[k].n_steps; j++)
      cr_assert(
          po_layout_apply(&model, &layouts[k], arrays[k].step[j], &layouts[k]));
  }
}

/* ---- lines of accesses, one by one ---- */

enum { MOST_LINES = 1 << 14 };

typedef struct touched {
  int64_t lines, sets;
} touched;

static int64_t
line_at(uint32_t k, const int64_t *loops) {
  const laid *a = &arrays[k];
  int64_t index[GS_MAX_RANK], size;
  for (uint32_t d = 0; d < a->rank; d++) {
    index[d] = reads[k].more[d];
    for (uint32_t j = 0; j < n_loops; j++)
      index[d] += reads[k].factor[d][j] * loops[j];
  }
  return place_of(a, index, &size) * a->bytes / model.cache.line;
}

/* By the iterations of the innermost loops, the others at their first one. */
static touched
touch(uint32_t k, uint32_t level) {
  static bool seen[MOST_LINES];
  bool set[8] = {false};
  touched t = {0};
  int64_t n = 1;
  memset(seen, 0, sizeof seen);
  for (uint32_t d = n_loops - level; d < n_loops; d++)
    n *= extent[d];
  for (int64_t i = 0; i < n; i++) {
    int64_t loops[MOST_LOOPS] = {0}, left = i;
    for (uint32_t d = n_loops; d-- > n_loops - level; left /= extent[d])
      loops[d] = left % extent[d];
    int64_t line = line_at(k, loops);
    cr_assert_lt(line, MOST_LINES);
    t.lines += !seen[line];
    t.sets += !set[line % model.cache.sets];
    seen[line] = set[line % model.cache.sets] = true;
  }
  return t;
}

typedef struct counted {
  double all, each[MOST_READS];
  bool fits;    /* every access, all the time */
  bool crowded; /* one drives others out of its sets, which is an average */
} counted;

static counted
count_lines(void) {
  counted c = {.fits = true};
  int64_t room = model.cache.sets * model.cache.ways;
  bool settled[MOST_READS] = {false}, full = false;
  for (uint32_t level = 1; level <= n_loops && !full; level++) {
    touched t[MOST_READS];
    double outside = 1;
    int64_t sum = 0;
    for (uint32_t d = 0; d + level < n_loops; d++)
      outside *= (double)extent[d];
    for (uint32_t k = 0; k < n_reads; k++) {
      t[k] = touch(k, level);
      sum += t[k].lines;
    }
    full = sum > room;
    for (uint32_t k = 0; k < n_reads; k++) {
      bool over = t[k].lines > t[k].sets * model.cache.ways;
      if (!settled[k])
        c.each[k] = (double)t[k].lines * (full || over ? outside : 1);
      settled[k] |= full || over;
      c.crowded |= over && !full && n_reads > 1;
      c.fits &= !full && !over;
    }
  }
  for (uint32_t k = 0; k < n_reads; k++)
    c.all += c.each[k];
  return c;
}

/* ---- what is compared ---- */

static void
check_places(uint32_t k, const po_layout *l) {
  const laid *a = &arrays[k];
  isl_map *map = address_of_layout(&model, &model.arrays.data[k], l);
  int64_t n = gs_prod(a->dim, a->rank), size, zero[GS_MAX_RANK] = {0};
  place_of(a, zero, &size);
  cr_expect_eq(gs_prod(l->dim, l->rank), size);
  for (int64_t i = below(3); i < n; i += 1 + n / 7) {
    int64_t index[GS_MAX_RANK], left = i;
    isl_point *at = isl_point_zero(isl_space_domain(isl_map_get_space(map)));
    for (uint32_t d = a->rank; d-- > 0; left /= a->dim[d]) {
      index[d] = left % a->dim[d];
      at = isl_point_set_coordinate_val(
          at, isl_dim_set, (int)d, isl_val_int_from_si(model.isl, index[d]));
    }
    isl_set *to = isl_set_apply(isl_set_from_point(at), isl_map_copy(map));
    isl_point *found = isl_set_sample_point(to);
    isl_val *v = isl_point_get_coordinate_val(found, isl_dim_set, 0);
    cr_expect_eq(isl_val_get_num_si(v), place_of(a, index, &size),
                 "seed %llu, array %u", (unsigned long long)seed, k);
    isl_val_free(v);
    isl_point_free(found);
  }
  isl_map_free(map);
}

static double
lines_of(const po_layout *layouts, uint32_t of) {
  return po_lines_of_definition(&model, &model.definitions.data[0], layouts,
                                of);
}

#define SAME(got, want, what)                                                  \
  do {                                                                         \
    double is_ = (got), should_ = (want);                                      \
    cr_expect(is_ == should_, "seed %llu: %s: %g, not %g",                     \
              (unsigned long long)seed, what, is_, should_);                   \
  } while (0)

static void
check_counts(const po_layout *layouts, const counted *c) {
  double least = 0, most = n_reads;
  for (uint32_t k = 0; k < n_reads; k++)
    least += (double)touch(k, n_loops).lines;
  for (uint32_t d = 0; d < n_loops; d++)
    most *= (double)extent[d];
  double all = lines_of(layouts, PO_EVERY_ARRAY);
  cr_expect(all <= most + 1e-6, "seed %llu: %g lines, of %g accesses",
            (unsigned long long)seed, all, most);
  if (c->crowded)
    return;
  if (c->fits)
    SAME(all, least, "each line once");
  SAME(all, c->all, "all lines");
  for (uint32_t k = 0; k < n_reads; k++)
    SAME(lines_of(layouts, k), c->each[k], "lines of an array");
}

static int64_t
lines_of_place(const laid *a, bool made) {
  int64_t index[GS_MAX_RANK] = {0}, size, n = gs_prod(a->dim, a->rank);
  place_of(a, index, &size);
  int64_t bytes = (made ? size : n) * a->bytes;
  return (bytes + model.cache.line - 1) / model.cache.line;
}

/* A program that fits brings in each line of its arrays, and of the copies. */
static void
check_program(const po_layout *layouts) {
  int64_t all = 0;
  for (uint32_t k = 0; k < n_reads; k++) {
    all += lines_of_place(&arrays[k], true);
    all += arrays[k].n_steps ? lines_of_place(&arrays[k], false) : 0;
  }
  if (all <= model.cache.sets * model.cache.ways)
    SAME(po_lines_of_program(&model, layouts), (double)all, "all that is used");
}

Test(lines, are_those_of_each_access, .init = fixture_start,
     .fini = fixture_stop) {
  uint32_t n_fit = 0, n_full = 0;
  isl_ctx *isl = isl_ctx_alloc();
  for (seed = 1; seed <= SEEDS; seed++) {
    po_layout layouts[MOST_READS];
    random_state = bs_random_of(seed);
    po_layout_model_init(&model, &heap, isl);
    draw_model(layouts);
    counted c = count_lines();
    n_fit += c.fits;
    n_full += !c.fits && !c.crowded;
    for (uint32_t k = 0; k < n_reads; k++)
      check_places(k, &layouts[k]);
    check_counts(layouts, &c);
    check_program(layouts);
    po_layout_model_done(&model);
  }
  cr_expect(n_fit > SEEDS / 8 && n_full > SEEDS / 8, "%u and %u", n_fit,
            n_full);
  isl_ctx_free(isl);
}
