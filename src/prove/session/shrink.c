/* SPDX-License-Identifier: MIT */
/* shrink.c - see shrink.h.
 *
 * Sizes are mapped by their values: what has 256 rows has 32 of them
 * everywhere.  Under a map the terms are built again, children first; each
 * operator's attributes follow the sizes that its operand had and has: a slice
 * keeps its share, a kernel that covers a dimension covers it again, the groups
 * of a reshape keep their products.  A map under which something has no type is
 * given up.  First all sizes are divided by one number, then single sizes, the
 * largest first, as long as the copy is too large. */
#include "prove/session/shrink.h"
#include <assert.h>
#include <string.h>

#define MOST_SIZES 64
#define MOST_NODES 400000 /* built in all tries */
#define MOST_TRIES 120

typedef struct size {
  int64_t from, to;
} size;

typedef struct shrinker {
  const gs_program *from;
  gs_program *to;
  const pv_pair *pairs;
  uint32_t n_pairs;
  const uint8_t *live;
  size sizes[MOST_SIZES]; /* the map; falling */
  uint32_t n;
  size became[MOST_SIZES]; /* what sizes of terms became, in this build */
  uint32_t n_became;
  gs_term *made; /* by term of `from` */
  uint32_t tries;
} shrinker;

static int64_t
mapped(const shrinker *x, int64_t v) {
  for (uint32_t k = 0; k < x->n; k++)
    if (x->sizes[k].from == v)
      return x->sizes[k].to;
  return v;
}

/* What a size that an attribute names became: of windows, say, it is no share
 * of the operand's. */
static int64_t
now(const shrinker *x, int64_t v) {
  for (uint32_t k = 0; k < x->n_became; k++)
    if (x->became[k].from == v)
      return x->became[k].to;
  return mapped(x, v);
}

static void
note_sizes(shrinker *x, gs_term t) {
  gs_type was, is;
  gs_type_at(x->from, t, &was);
  gs_type_at(x->to, x->made[t.i], &is);
  for (uint32_t d = 0; d < was.rank; d++) {
    bool known = x->n_became == MOST_SIZES;
    for (uint32_t k = 0; k < x->n_became; k++)
      known |= x->became[k].from == was.dim[d];
    if (!known)
      x->became[x->n_became++] = (size){was.dim[d], is.dim[d]};
  }
}

/* --- attributes ----------------------------------------------------------- */

typedef struct change {
  shrinker *x;
  const gs_node *node;
  gs_type was, is; /* of the first child */
  bs_value items[4];
  uint32_t n;
} change;

static int64_t
int_at(const change *c, bs_value list, uint32_t k) {
  const bs_values *values = c->x->to->ctx.values;
  return bs_as_int(values, bs_item(values, list, k));
}

static bs_value
ints(const change *c, const int64_t *v, uint32_t n) {
  bs_values *values = c->x->to->ctx.values;
  bs_value items[GS_MAX_RANK] = {0};
  for (uint32_t k = 0; k < n; k++)
    items[k] = bs_int(values, v[k]);
  return bs_list(values, items, n);
}

static bool
change_slice(change *c) {
  bs_values *values = c->x->to->ctx.values;
  uint32_t d = (uint32_t)int_at(c, c->node->attr, 0);
  int64_t lo = int_at(c, c->node->attr, 1), hi = int_at(c, c->node->attr, 2);
  int64_t was = c->was.dim[d], is = c->is.dim[d];
  int64_t share = was % is == 0 ? was / is : 0;
  if (share && lo % share == 0 && hi % share == 0) {
    lo /= share;
    hi /= share;
  } else if (hi == was) {
    hi = is;
  }
  c->items[1] = bs_int(values, lo);
  c->items[2] = bs_int(values, hi);
  return lo < hi && hi <= is;
}

/* A kernel of all, blocks, or the same kernel on less. */
static bool
change_windows(change *c) {
  uint32_t n = c->was.rank - c->was.access;
  int64_t kernel[GS_MAX_RANK], stride[GS_MAX_RANK];
  for (uint32_t k = 0; k < n; k++) {
    int64_t was = c->was.dim[c->was.access + k];
    int64_t is = c->is.dim[c->is.access + k];
    int64_t share = was % is == 0 ? was / is : 1;
    kernel[k] = int_at(c, c->items[0], k);
    stride[k] = int_at(c, c->items[1], k);
    if (kernel[k] == was) {
      kernel[k] = is;
    } else if (kernel[k] % share == 0 && stride[k] % share == 0 &&
               int_at(c, c->items[2], k) == 1) {
      kernel[k] /= share;
      stride[k] /= share;
    }
  }
  c->items[0] = ints(c, kernel, n);
  c->items[1] = ints(c, stride, n);
  return true;
}

static bool
change_broadcast(change *c) {
  int64_t to[GS_MAX_RANK];
  for (uint32_t d = 0; d < c->is.rank; d++)
    to[d] =
        c->is.dim[d] == 1 ? now(c->x, int_at(c, c->items[0], d)) : c->is.dim[d];
  c->items[0] = ints(c, to, c->is.rank);
  return true;
}

/* New sizes of a group whose product is to be `product`: as mapped, but for one
 * that takes what is left. */
static bool
fill_group(const shrinker *x, const int64_t *was, uint32_t n, int64_t product,
           int64_t *out) {
  for (uint32_t free = 0; free < n; free++) {
    int64_t rest = product;
    for (uint32_t k = 0; k < n && rest; k++) {
      out[k] = n == 1 ? product : now(x, was[k]);
      if (k != free)
        rest = rest % out[k] == 0 ? rest / out[k] : 0;
    }
    out[free] = rest;
    if (rest)
      return true;
  }
  return n == 0;
}

/* One side of a reshape; groups of dimensions with one product stay such. */
static bool
regroup(const shrinker *x, const int64_t *was, const int64_t *is, uint32_t n,
        const int64_t *to, uint32_t m, int64_t *out) {
  uint32_t i = 0, j = 0;
  while (i < n || j < m) {
    uint32_t first = j;
    int64_t a = 1, product = 1, b = 1;
    do {
      if (i < n && (a <= b || j == m)) {
        a *= was[i];
        product *= is[i++];
      } else {
        b *= to[j++];
      }
    } while (a != b && (i < n || j < m));
    if (a != b || (first == j && product != 1) ||
        !fill_group(x, to + first, j - first, product, out + first))
      return false;
  }
  return true;
}

static bool
change_reshape(change *c) {
  const bs_values *values = c->x->to->ctx.values;
  const gs_type *was = &c->was, *is = &c->is;
  for (uint32_t side = 0; side < 2; side++) {
    int64_t to[GS_MAX_RANK], out[GS_MAX_RANK];
    uint32_t m = bs_len(values, c->items[side]);
    uint32_t first = side ? was->access : 0;
    uint32_t n = side ? was->rank - was->access : was->access;
    for (uint32_t k = 0; k < m; k++)
      to[k] = int_at(c, c->items[side], k);
    if (!regroup(c->x, was->dim + first, is->dim + first, n, to, m, out))
      return false;
    c->items[side] = ints(c, out, m);
  }
  return true;
}

static bool (*const changes[GS_OP_COUNT])(change *) = {
    [GS_SLICE] = change_slice,
    [GS_WINDOWS] = change_windows,
    [GS_BROADCAST] = change_broadcast,
    [GS_RESHAPE] = change_reshape,
};

/* --- building ------------------------------------------------------------- */

static const char *
name_of(const shrinker *x, const gs_node *n) {
  const bs_values *values = x->from->ctx.values;
  return bs_as_sym(values, bs_item(values, n->attr, 0));
}

/* The first elements along each dimension. */
static gs_term
add_constant(shrinker *x, const gs_constant *c, const gs_type *type) {
  gs_tensor from = gs_tensor_of(c), to;
  int64_t index[GS_MAX_RANK] = {0};
  gs_tensor_init(x->to->ctx.heap, &to, type);
  for (int64_t k = 0; k < to.elements; k++) {
    int64_t at = 0;
    for (uint32_t d = 0; d < type->rank; d++)
      at = at * c->type.dim[d] + index[d];
    gs_tensor_set(&to, k, gs_tensor_get(&from, at));
    for (uint32_t d = type->rank; d-- > 0 && ++index[d] == type->dim[d];)
      index[d] = 0;
  }
  return gs_add_constant(x->to, c->name, type, to.data, BS_NOWHERE);
}

static gs_term
add_leaf(shrinker *x, gs_term t, const gs_node *n) {
  gs_type type;
  gs_type_at(x->from, t, &type);
  const gs_constant *c =
      n->op == GS_CONST ? gs_find_constant(x->from, name_of(x, n)) : NULL;
  for (uint32_t d = 0; d < type.rank; d++)
    type.dim[d] = mapped(x, type.dim[d]);
  return c ? add_constant(x, c, &type)
           : gs_add_tensor(x->to, name_of(x, n), &type, BS_NOWHERE);
}

static gs_term
add_node(shrinker *x, const gs_node *n) {
  bs_values *values = x->to->ctx.values;
  change c = {.x = x, .node = n, .n = bs_len(values, n->attr)};
  gs_term kids[2] = {GS_NO_TERM, GS_NO_TERM};
  gs_fault fault = {0};
  gs_type_at(x->from, n->kids[0], &c.was);
  gs_type_at(x->to, x->made[n->kids[0].i], &c.is);
  for (uint32_t k = 0; k < n->n_kids && k < 2; k++)
    kids[k] = x->made[n->kids[k].i];
  for (uint32_t k = 0; k < c.n && k < 4; k++)
    c.items[k] = bs_item(values, n->attr, k);
  if (changes[n->op] && !changes[n->op](&c))
    return GS_NO_TERM;
  bs_value attr = changes[n->op] ? bs_list(values, c.items, c.n) : n->attr;
  return gs_add(x->to, n->op, attr, kids, n->n_kids, BS_NOWHERE, &fault);
}

static bool
build_terms(shrinker *x) {
  for (uint32_t k = 0; k < x->from->nodes.len; k++) {
    const gs_node *n = gs_at(x->from, (gs_term){k});
    if (!x->live[k])
      continue;
    x->made[k] = n->op == GS_TENSOR || n->op == GS_CONST
                     ? add_leaf(x, (gs_term){k}, n)
                     : add_node(x, n);
    if (!gs_term_ok(x->made[k]))
      return false;
    note_sizes(x, (gs_term){k});
  }
  return true;
}

static bool
types_agree(const shrinker *x) {
  for (uint32_t k = 0; k < x->n_pairs; k++) {
    gs_type a, b;
    gs_type_at(x->to, x->made[x->pairs[k].left.i], &a);
    gs_type_at(x->to, x->made[x->pairs[k].right.i], &b);
    if (!gs_type_equal(&a, &b))
      return false;
  }
  return true;
}

static bool
build(shrinker *x, const gs_context *ctx) {
  x->to = gs_program_new(ctx, NULL);
  x->n_became = 0;
  for (uint32_t k = 0; k < x->n; k++)
    if (x->sizes[k].to < 1)
      return false;
  return build_terms(x) && types_agree(x);
}

/* Views have no price within terms, but what is compared is written out. */
static double
compared(const shrinker *x) {
  double sum = 0;
  for (uint32_t k = 0; k < x->n_pairs; k++) {
    gs_type type;
    gs_type_at(x->to, x->made[x->pairs[k].left.i], &type);
    sum += 2 * (double)gs_elements(&type);
  }
  return sum;
}

static double
visits_of(const shrinker *x) {
  double sum = 0;
  for (uint32_t k = 0; k < x->to->nodes.len; k++) {
    const gs_node *n = gs_at(x->to, (gs_term){k});
    gs_type type;
    gs_type_at(x->to, n->op == GS_COMPUTE ? n->kids[0] : (gs_term){k}, &type);
    if (n->op == GS_COMPUTE || n->op == GS_TENSOR)
      sum += (double)gs_elements(&type);
  }
  return sum + compared(x);
}

/* --- maps ----------------------------------------------------------------- */

typedef struct attempt {
  shrinker *x;
  gs_context outer;
  bs_heap heap;
  double visits; /* below 0: no types */
} attempt;

static void
try_map(void *arg) {
  attempt *a = arg;
  bs_arena arena;
  bs_diags diags;
  bs_arena_init(&arena, &a->heap);
  bs_diags_init(&diags, &a->heap);
  gs_context ctx = {&a->heap, &arena, a->outer.values, &diags};
  a->visits = build(a->x, &ctx) ? visits_of(a->x) : -1;
}

/* What a run of the copy takes, or -1; on memory that is given back. */
static double
visits_under(shrinker *x, const gs_context *ctx) {
  attempt a = {.x = x, .outer = *ctx};
  bs_heap_init_child(&a.heap, ctx->heap, 0);
  bool ok = bs_protect(&a.heap, try_map, &a);
  bs_heap_done(&a.heap);
  x->tries++;
  if (!ok)
    bs_out_of_memory(ctx->heap);
  return a.visits;
}

static bool
may_try(const shrinker *x) {
  return x->tries < MOST_TRIES &&
         (uint64_t)x->tries * x->from->nodes.len < MOST_NODES;
}

static void
add_size(shrinker *x, int64_t v) {
  uint32_t k = 0;
  while (k < x->n && x->sizes[k].from > v)
    k++;
  if (v < 2 || x->n == MOST_SIZES || (k < x->n && x->sizes[k].from == v))
    return;
  memmove(&x->sizes[k + 1], &x->sizes[k], (x->n - k) * sizeof *x->sizes);
  x->sizes[k] = (size){v, v};
  x->n++;
}

static void
find_sizes(shrinker *x) {
  for (uint32_t k = 0; k < x->from->nodes.len; k++) {
    gs_type type;
    if (!x->live[k])
      continue;
    gs_type_at(x->from, (gs_term){k}, &type);
    for (uint32_t d = 0; d < type.rank; d++)
      add_size(x, type.dim[d]);
  }
}

/* Sizes of one would be broadcast, or dropped, as they were not before. */
static bool
divide(size *s, int64_t by) {
  if (s->from % by || s->from / by < 2)
    return false;
  s->to = s->from / by;
  return true;
}

/* All sizes by one number: the largest under which there are types. */
static double
divide_all(shrinker *x, const gs_context *ctx) {
  static const int64_t by[] = {64, 32, 16, 8, 4, 2, 7, 5, 3};
  double best = -1;
  for (size_t i = 0; i < sizeof by / sizeof *by && best < 0; i++) {
    bool any = false;
    for (uint32_t k = 0; k < x->n; k++)
      any |= divide(&x->sizes[k], by[i]);
    best = any && may_try(x) ? visits_under(x, ctx) : -1;
    for (uint32_t k = 0; k < x->n && best < 0; k++)
      x->sizes[k].to = x->sizes[k].from;
  }
  return best;
}

/* One size, alone: divided, or cut down to a small number. */
static double
reduce_one(shrinker *x, const gs_context *ctx, size *s, double visits) {
  static const int64_t small[] = {4, 6, 9, 13, 20, 33};
  int64_t was = s->to;
  for (int64_t by = 64; by >= 2 && may_try(x); by /= 2) {
    if (was % by || was / by < 2)
      continue;
    s->to = was / by;
    double now = visits_under(x, ctx);
    if (now >= 0 && now < visits)
      return now;
  }
  for (size_t i = 0; i < sizeof small / sizeof *small && may_try(x); i++) {
    if (small[i] >= was)
      break;
    s->to = small[i];
    double now = visits_under(x, ctx);
    if (now >= 0 && now < visits)
      return now;
  }
  s->to = was;
  return visits;
}

gs_program *
pv_shrink(const gs_context *ctx, const gs_program *from, const pv_pair *pairs,
          uint32_t n, int64_t most, pv_pair *out) {
  assert((pairs || !n) && most >= 0);
  uint8_t *live = bs_calloc(ctx->heap, from->nodes.len + (size_t)1, 1);
  shrinker x = {.from = from, .pairs = pairs, .n_pairs = n, .live = live};
  pv_mark(from, pairs, n, live);
  x.made = bs_calloc(ctx->heap, from->nodes.len + (size_t)1, sizeof *x.made);
  find_sizes(&x);
  double visits = divide_all(&x, ctx);
  if (visits < 0)
    visits = visits_under(&x, ctx);
  for (uint32_t k = 0; k < x.n && visits > (double)most; k++)
    visits = reduce_one(&x, ctx, &x.sizes[k], visits);
  bool ok = visits >= 0 && visits <= (double)most && build(&x, ctx);
  for (uint32_t k = 0; ok && k < n; k++)
    out[k] = (pv_pair){x.made[pairs[k].left.i], x.made[pairs[k].right.i]};
  bs_free(ctx->heap, x.made);
  bs_free(ctx->heap, live);
  return ok ? x.to : NULL;
}
