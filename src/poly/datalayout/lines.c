/* SPDX-License-Identifier: MIT */
/* lines.c - how many lines of the first cache definitions bring in.
 *
 * For each access, level j counts the lines that its j innermost loops touch
 * and the sets in which they lie.  Up to the last level at which they fit,
 * with the lines of the other accesses, what was brought in is used again; at
 * the first one at which they do not fit, all its lines come anew every time.
 *
 * An access whose lines do not fit into their sets takes the lines of others
 * there with it: how many of those lie in such sets is an average over some
 * iterations of the loops further out, as addresses of two arrays may move
 * through the sets together.
 *
 * A program all of whose arrays fit brings in each line once; a copy that fits,
 * with what it is made from, is there when it is read first.
 *
 * Lines are counted one by one, at the first iteration of the loops further
 * out.  Past a number of iterations, and where an index has several pieces,
 * every iteration of one more loop counts as touching other lines, as far as
 * the array has them. */
#include "poly/loops/affine.h"
#include "poly/datalayout/datalayout_price.h"
#include "poly/loops/quasi.h"
#include "base/random.h"
#include <assert.h>
#include <math.h>
#include <string.h>

enum { MOST_POINTS = 1 << 18, SAMPLES = 64 };

typedef struct access {
  po_quasi address; /* of the loops, outermost first */
  bool simple;
  bool uses[PO_MAX_DEPTH];
  int64_t bytes, all;       /* of an element; lines of the array */
  double lines, sets, cost; /* at the present level; < 0: not known */
  double lost, kept;        /* lines that others drive out, and the part left */
} access;

typedef struct count {
  po_layout_model *m;
  const int64_t *extent;
  uint32_t n_loops, n;
  access *list;
} count;

static void
add_access(count *c, __isl_take isl_map *index, const int64_t *dim,
           uint32_t rank, int64_t bytes) {
  access *a = &c->list[c->n++];
  int64_t size = bytes;
  for (uint32_t d = 0; d < rank; d++)
    size = __builtin_mul_overflow(size, dim[d], &size) ? INT64_MAX : size;
  *a = (access){.bytes = bytes, .cost = -1, .lines = 1, .sets = 1, .kept = 1};
  a->all = size / c->m->cache.line + (size % c->m->cache.line != 0);
  uint32_t mark = po_pool_mark(&c->m->pool);
  po_pool_reserve(&c->m->pool, 2);
  isl_set *domain = isl_map_domain(isl_map_copy(index));
  isl_pw_multi_aff *pw = po_keep_pw_multi_aff(
      &c->m->pool,
      isl_pw_multi_aff_gist(isl_pw_multi_aff_from_map(index), domain));
  isl_multi_aff *one =
      pw && isl_pw_multi_aff_isa_multi_aff(pw) == isl_bool_true
          ? isl_pw_multi_aff_as_multi_aff(isl_pw_multi_aff_copy(pw))
          : NULL;
  if (one) {
    isl_aff *address = po_keep_aff(&c->m->pool, po_linear(one, dim));
    isl_multi_aff_free(one);
    a->simple = address && po_quasi_make(&c->m->arena, address, &a->address);
    for (uint32_t d = 0; a->simple && d < c->n_loops; d++)
      a->uses[d] =
          isl_aff_involves_dims(address, isl_dim_in, d, 1) != isl_bool_false;
  }
  po_pool_release(&c->m->pool, mark);
}

/* Iterations of the `level` innermost loops that differ in address. */
static int64_t
points_of(const count *c, const access *a, uint32_t level) {
  int64_t points = 1;
  for (uint32_t d = c->n_loops - level; d < c->n_loops; d++)
    if ((a->uses[d] || !a->simple) && points <= MOST_POINTS)
      points *= c->extent[d];
  return points;
}

static bool
next_point(const count *c, const access *a, uint32_t level, int64_t *at) {
  for (uint32_t d = c->n_loops; d-- > c->n_loops - level;) {
    if (!a->uses[d])
      continue;
    if (++at[d] < c->extent[d])
      return true;
    at[d] = 0;
  }
  return false;
}

/* The lines of one iteration `at` of the loops outside of `level`, those
 * inside start from 0; `set`: how many of them fall into each set. */
static int64_t
walk_lines(const count *c, const access *a, uint32_t level, int64_t *at,
           uint32_t *set) {
  po_layout_model *m = c->m;
  int64_t lines = 0;
  int64_t *room = bs_calloc(m->heap, a->address.m + 1, sizeof *room);
  uint8_t *line = bs_calloc(m->heap, (size_t)a->all, 1);
  memset(set, 0, (size_t)m->cache.sets * sizeof *set);
  do {
    int64_t k = po_quasi_at(&a->address, at, room) * a->bytes / m->cache.line;
    if (k < 0 || k >= a->all || line[k])
      continue;
    line[k] = 1;
    lines++;
    set[k % m->cache.sets]++;
  } while (next_point(c, a, level, at));
  bs_free(m->heap, room);
  bs_free(m->heap, line);
  return lines;
}

static uint32_t *
new_sets(const count *c) {
  return bs_calloc(c->m->heap, (size_t)c->m->cache.sets, sizeof(uint32_t));
}

static bool
can_walk(const count *c, const access *a, uint32_t level) {
  return a->simple && a->all <= INT32_MAX &&
         points_of(c, a, level) <= MOST_POINTS;
}

static void
count_level(const count *c, access *a, uint32_t level) {
  uint32_t d = c->n_loops - level;
  if (a->simple && !a->uses[d])
    return;
  if (can_walk(c, a, level)) {
    int64_t at[PO_MAX_DEPTH] = {0};
    uint32_t *set = new_sets(c);
    a->lines = (double)walk_lines(c, a, level, at, set);
    a->sets = 0;
    for (int64_t k = 0; k < c->m->cache.sets; k++)
      a->sets += set[k] != 0;
    bs_free(c->m->heap, set);
    return;
  }
  a->lines *= (double)c->extent[d];
  if (a->lines > (double)a->all)
    a->lines = (double)a->all;
  a->sets =
      a->lines < (double)c->m->cache.sets ? a->lines : (double)c->m->cache.sets;
}

/* What an access brings in that does not fit at this level. */
static double
times_outside(const count *c, double lines, uint32_t level) {
  for (uint32_t d = 0; d + level < c->n_loops; d++)
    lines *= (double)c->extent[d];
  return lines;
}

/* ---- lines that others drive out ---- */

/* Sample number k of the iterations outside of a level. */
static void
place_sample(const count *c, uint32_t level, uint32_t k, int64_t *at) {
  uint64_t mixed = (uint64_t)k * BS_RANDOM_STEP;
  for (uint32_t d = 0; d < c->n_loops; d++)
    at[d] = 0;
  for (uint32_t d = 0; d + level < c->n_loops; d++) {
    at[d] = (int64_t)((mixed >> 32) % (uint64_t)c->extent[d]);
    mixed *= UINT64_C(0xd1342543de82ef95);
    mixed += UINT64_C(0x2545f4914f6cdd1d);
  }
}

/* Of a's lines, those in sets that b overfills; an average. */
static double
lines_lost(const count *c, const access *a, const access *b, uint32_t level) {
  int64_t at[PO_MAX_DEPTH], ways = c->m->cache.ways, lost = 0;
  uint32_t *mine = new_sets(c), *others = new_sets(c);
  for (uint32_t k = 0; k < SAMPLES; k++) {
    place_sample(c, level, k, at);
    walk_lines(c, a, level, at, mine);
    place_sample(c, level, k, at);
    walk_lines(c, b, level, at, others);
    for (int64_t s = 0; s < c->m->cache.sets; s++)
      lost += others[s] >= ways ? mine[s] : 0;
  }
  bs_free(c->m->heap, mine);
  bs_free(c->m->heap, others);
  return (double)lost / SAMPLES;
}

/* b came not to fit into its sets at this level. */
static void
drive_out(count *c, const access *b, uint32_t level) {
  if (!can_walk(c, b, level))
    return;
  for (uint32_t k = 0; k < c->n; k++) {
    access *a = &c->list[k];
    if (a->cost >= 0 || a->lines > a->sets * (double)c->m->cache.ways ||
        !can_walk(c, a, level))
      continue;
    double lost = a->kept * lines_lost(c, a, b, level);
    a->lost += times_outside(c, lost, level);
    a->kept -= lost / a->lines;
    a->kept = a->kept > 0 ? a->kept : 0;
  }
}

static double
total_cost(count *c) {
  const po_layout_cache *cache = &c->m->cache;
  double ways = (double)cache->ways, room = ways * (double)cache->sets;
  double total = 0;
  for (uint32_t level = 1; level <= c->n_loops; level++) {
    double all = 0;
    for (uint32_t k = 0; k < c->n; k++) {
      count_level(c, &c->list[k], level);
      all += c->list[k].lines;
    }
    for (uint32_t k = 0; k < c->n; k++) {
      access *a = &c->list[k];
      bool overfills = a->lines > a->sets * ways;
      if (a->cost >= 0 || (all <= room && !overfills))
        continue;
      if (all <= room)
        drive_out(c, a, level);
      a->cost = times_outside(c, a->lines, level);
    }
    if (all > room)
      break;
  }
  for (uint32_t k = 0; k < c->n; k++) {
    access *a = &c->list[k];
    a->cost = a->lost + a->kept * (a->cost < 0 ? a->lines : a->cost);
    total += a->cost;
  }
  return total;
}

static count
start(po_layout_model *m, uint32_t n_loops, const int64_t *extent,
      uint32_t room) {
  return (count){.m = m,
                 .extent = extent,
                 .n_loops = n_loops,
                 .list = BS_NEWS(&m->arena, access, room + 1)};
}

double
po_lines_of_definition(po_layout_model *m, const po_definition *d,
                       const po_layout *layouts, uint32_t of) {
  assert(of == PO_EVERY_ARRAY || of < m->arrays.len);
  if (d->packs)
    return 0;
  count c = start(m, d->n_loops, d->extent, d->reads.len);
  for (uint32_t k = 0; k < d->reads.len; k++) {
    const po_layout_read *r = &d->reads.data[k];
    const po_layout *l = &layouts[r->array];
    add_access(&c, po_layout_read_through(r, l), l->dim, l->rank,
               m->arrays.data[r->array].bytes);
  }
  double all = total_cost(&c), part = 0;
  for (uint32_t k = 0; k < c.n; k++)
    part += d->reads.data[k].array == of ? c.list[k].cost : 0;
  return of == PO_EVERY_ARRAY ? all : part;
}

double
po_lines_of_copy(po_layout_model *m, const po_layout_array *a,
                 const po_layout *l) {
  count c = start(m, a->rank, a->dim, 2);
  isl_map *index = isl_map_from_multi_aff(po_identity(m->isl, a->rank));
  add_access(&c, index, a->dim, a->rank, a->bytes);
  index = isl_map_from_multi_aff(isl_multi_aff_copy(l->map));
  add_access(&c, index, l->dim, l->rank, a->bytes);
  return total_cost(&c);
}

/* ---- a program ---- */

static double
lines_of_array(const po_layout_model *m, const po_layout_array *a,
               const int64_t *dim, uint32_t rank) {
  double size = (double)a->bytes;
  for (uint32_t d = 0; d < rank; d++)
    size *= (double)dim[d];
  return ceil(size / (double)m->cache.line);
}

static bool
is_copied(const po_layout_model *m, const po_layout *layouts, uint32_t array) {
  return layouts[array].n_steps && !m->arrays.data[array].own;
}

/* Of everything that is used, copies among it. */
static double
lines_of_all(const po_layout_model *m, const po_layout *layouts) {
  double all = 0;
  for (uint32_t k = 0; k < m->arrays.len; k++) {
    const po_layout_array *a = &m->arrays.data[k];
    all += lines_of_array(m, a, layouts[k].dim, layouts[k].rank);
    if (is_copied(m, layouts, k))
      all += lines_of_array(m, a, a->dim, a->rank);
  }
  return all;
}

static double
remembered(po_layout_model *m, po_definition *d, const po_layout *layouts) {
  if (!m->remembers || !d->known) {
    d->lines = po_lines_of_definition(m, d, layouts, PO_EVERY_ARRAY);
    m->priced++;
  }
  d->known = m->remembers;
  return d->lines;
}

void
po_layout_forget(po_layout_model *m, uint32_t array) {
  assert(array < m->arrays.len);
  for (uint32_t k = 0; k < m->definitions.len; k++) {
    po_definition *d = &m->definitions.data[k];
    for (uint32_t j = 0; j < d->reads.len; j++)
      d->known = d->known && d->reads.data[j].array != array;
  }
}

double
po_lines_of_program(po_layout_model *m, const po_layout *layouts) {
  double room = (double)m->cache.sets * (double)m->cache.ways;
  double all = lines_of_all(m, layouts), total = 0;
  bool packs = false;
  for (uint32_t k = 0; k < m->definitions.len; k++)
    packs |= m->definitions.data[k].packs;
  if (all <= room && !packs)
    return all;
  for (uint32_t k = 0; k < m->definitions.len; k++)
    total += remembered(m, &m->definitions.data[k], layouts);
  for (uint32_t k = 0; k < m->arrays.len; k++) {
    const po_layout_array *a = &m->arrays.data[k];
    if (!is_copied(m, layouts, k))
      continue;
    total += a->copies * po_lines_of_copy(m, a, &layouts[k]);
    double made = lines_of_array(m, a, layouts[k].dim, layouts[k].rank);
    if (made + lines_of_array(m, a, a->dim, a->rank) <= room)
      total -= made;
  }
  return total;
}
