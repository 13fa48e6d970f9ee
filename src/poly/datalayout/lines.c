/* lines.c - how many lines of the first cache definitions bring in.
 *
 * For each access, level j counts the lines that its j innermost loops touch
 * and the sets in which they lie.  Up to the last level at which they fit,
 * with the lines of the other accesses, what was brought in is used again; at
 * the first one at which they do not fit, all its lines come anew every time.
 *
 * Lines are counted one by one, at the first iteration of the loops further
 * out.  Past a number of iterations, and where an index has several pieces,
 * every iteration of one more loop counts as touching other lines, as far as
 * the array has them. */
#include "poly/affine.h"
#include "poly/datalayout/price.h"
#include "poly/quasi.h"
#include <string.h>

enum { MOST_POINTS = 1 << 18 };

typedef struct access {
  po_quasi address; /* of the loops, outermost first */
  bool simple;
  bool uses[PO_MAX_DEPTH];
  int64_t bytes, all;       /* of an element; lines of the array */
  double lines, sets, cost; /* at the present level; < 0: not known */
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
  *a = (access){.bytes = bytes, .cost = -1, .lines = 1, .sets = 1};
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

static void
walk_lines(const count *c, access *a, uint32_t level) {
  po_layout_model *m = c->m;
  int64_t at[PO_MAX_DEPTH] = {0}, sets = m->cache.sets;
  int64_t *room = bs_calloc(m->heap, a->address.m + 1, sizeof *room);
  uint8_t *line = bs_calloc(m->heap, (size_t)a->all, 1);
  uint8_t *set = bs_calloc(m->heap, (size_t)sets, 1);
  a->lines = a->sets = 0;
  do {
    int64_t k = po_quasi_at(&a->address, at, room) * a->bytes / m->cache.line;
    if (k < 0 || k >= a->all || line[k])
      continue;
    line[k] = 1;
    a->lines++;
    a->sets += !set[k % sets];
    set[k % sets] = 1;
  } while (next_point(c, a, level, at));
  bs_free(m->heap, room);
  bs_free(m->heap, line);
  bs_free(m->heap, set);
}

static void
count_level(const count *c, access *a, uint32_t level) {
  uint32_t d = c->n_loops - level;
  if (a->simple && !a->uses[d])
    return;
  if (a->simple && a->all <= INT32_MAX &&
      points_of(c, a, level) <= MOST_POINTS) {
    walk_lines(c, a, level);
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

static double
settle(count *c) {
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
      if (a->cost < 0 && (all > room || a->lines > a->sets * ways))
        a->cost = times_outside(c, a->lines, level);
    }
    if (all > room)
      break;
  }
  for (uint32_t k = 0; k < c->n; k++) {
    access *a = &c->list[k];
    a->cost = a->cost < 0 ? a->lines : a->cost;
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
  count c = start(m, d->n_loops, d->extent, d->reads.len);
  for (uint32_t k = 0; k < d->reads.len; k++) {
    const po_layout_read *r = &d->reads.data[k];
    const po_layout *l = &layouts[r->array];
    add_access(&c, po_layout_read_through(r, l), l->dim, l->rank,
               m->arrays.data[r->array].bytes);
  }
  double all = settle(&c), part = 0;
  for (uint32_t k = 0; k < c.n; k++)
    part += d->reads.data[k].array == of ? c.list[k].cost : 0;
  return of == PO_EVERY_ARRAY ? all : part;
}

double
po_lines_of_copy(po_layout_model *m, const po_layout_array *a,
                 const po_layout *l, double *written) {
  count c = start(m, l->rank, l->dim, 2);
  isl_map *index = isl_map_from_multi_aff(isl_multi_aff_copy(l->back));
  add_access(&c, index, a->dim, a->rank, a->bytes);
  index = isl_map_from_multi_aff(po_identity(m->isl, l->rank));
  add_access(&c, index, l->dim, l->rank, a->bytes);
  double all = settle(&c);
  *written = c.list[1].cost;
  return all;
}
