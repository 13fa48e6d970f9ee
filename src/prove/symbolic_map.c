/* symbolic_map.c - from a result's index to the element it is.
 *
 * A side is a set of pieces: a relation from its indices to those of what the
 * elements there are of, which is a variable's term, a zero or the lowest
 * number, below a chain of operators.  Pieces of one kind are joined; the
 * sides are equal when they have the same kinds, with equal relations wherever
 * the parameters are as is known. */
#include "prove/form.h"
#include <isl/constraint.h>
#include <string.h>

enum { MAX_PIECES = 24, MAX_CHAIN = 6 };

enum { FROM_ZERO = FM_SLOTS, FROM_LOWEST };

typedef struct kind {
  uint32_t from; /* a slot, or one of the above */
  uint32_t n;
  bs_value chain[MAX_CHAIN]; /* operators, the innermost first */
} kind;

typedef struct piece {
  kind kind;
  isl_map *map;
} piece;

typedef struct pieces {
  uint32_t n;
  piece at[MAX_PIECES];
} pieces;

typedef struct maker {
  fm_form *f;
  fm_side *side;
  pieces of[FM_NODES];
} maker;

static void
done(maker *m) {
  for (uint32_t k = 0; k < FM_NODES; k++)
    for (uint32_t i = 0; i < m->of[k].n; i++)
      isl_map_free(m->of[k].at[i].map);
}

static void
add(maker *m, pieces *to, const kind *kind, isl_map *map) {
  for (uint32_t k = 0; k < to->n; k++)
    if (!memcmp(&to->at[k].kind, kind, sizeof *kind)) {
      to->at[k].map = isl_map_union(to->at[k].map, map);
      return;
    }
  if (to->n == MAX_PIECES) {
    m->f->failed = true;
    isl_map_free(map);
    return;
  }
  to->at[to->n++] = (piece){*kind, map};
}

/* --- rows ----------------------------------------------------------------- */

/* number * times + the sums of indices: is 0, or at least 0. */
typedef struct row {
  fm_linear l;
  int64_t out[GS_MAX_RANK], in[GS_MAX_RANK]; /* of the term, of its child */
} row;

static void
add_number(const maker *m, row *r, fm_number x, int64_t times) {
  const fm_linear *l = &m->f->number[x];
  bool bad = false;
  int64_t v;
  bad |= __builtin_mul_overflow(l->constant, times, &v) ||
         __builtin_add_overflow(r->l.constant, v, &r->l.constant);
  for (uint32_t k = 0; k < m->f->n_params; k++)
    bad |= __builtin_mul_overflow(l->of[k], times, &v) ||
           __builtin_add_overflow(r->l.of[k], v, &r->l.of[k]);
  m->f->failed |= bad;
}

static isl_basic_map *
with_row(const maker *m, isl_basic_map *map, const row *r, bool zero) {
  isl_ctx *isl = m->f->isl;
  isl_local_space *space =
      isl_local_space_from_space(isl_basic_map_get_space(map));
  isl_constraint *c = zero ? isl_constraint_alloc_equality(space)
                           : isl_constraint_alloc_inequality(space);
  c = isl_constraint_set_constant_val(
      c, isl_val_int_from_si(isl, (long)r->l.constant));
  for (uint32_t k = 0; k < m->f->n_params; k++)
    if (r->l.of[k])
      c = isl_constraint_set_coefficient_val(
          c, isl_dim_param, (int)k, isl_val_int_from_si(isl, (long)r->l.of[k]));
  for (uint32_t k = 0; k < GS_MAX_RANK; k++) {
    if (r->out[k])
      c = isl_constraint_set_coefficient_val(
          c, isl_dim_in, (int)k, isl_val_int_from_si(isl, (long)r->out[k]));
    if (r->in[k])
      c = isl_constraint_set_coefficient_val(
          c, isl_dim_out, (int)k, isl_val_int_from_si(isl, (long)r->in[k]));
  }
  return isl_basic_map_add_constraint(map, c);
}

/* 0 <= index k < dim k, of the term or of its child */
static isl_basic_map *
with_box(const maker *m, isl_basic_map *map, const fm_type *t, bool child) {
  for (uint32_t k = 0; k < t->rank; k++) {
    row low = {0}, high = {0};
    (child ? low.in : low.out)[k] = 1;
    (child ? high.in : high.out)[k] = -1;
    high.l.constant = -1;
    add_number(m, &high, t->dim[k], 1);
    map = with_row(m, map, &low, false);
    map = with_row(m, map, &high, false);
  }
  return map;
}

/* Every index of the term with every one of its child. */
static isl_basic_map *
all_of(const maker *m, const fm_type *t, const fm_type *child) {
  isl_space *space = isl_space_alloc(m->f->isl, m->f->n_params, t->rank,
                                     child ? child->rank : 0);
  isl_basic_map *map = with_box(m, isl_basic_map_universe(space), t, false);
  return child ? with_box(m, map, child, true) : map;
}

/* --- steps ---------------------------------------------------------------- */

typedef struct step {
  maker *m;
  const fm_node *node;
  const fm_type *t, *child;
  uint32_t which; /* child */
  isl_basic_map *map;
} step;

/* factor * child's index i = index o + shift */
static void
link(step *s, uint32_t i, uint32_t o, fm_number shift, int64_t sign) {
  row r = {0};
  r.in[i] = -1;
  r.out[o] = 1;
  if (sign)
    add_number(s->m, &r, shift, sign);
  s->map = with_row(s->m, s->map, &r, true);
}

static int64_t
constant(const step *s, fm_number x) {
  int64_t c = 0;
  s->m->f->failed |= !fm_is_constant(s->m->f, x, &c);
  return c;
}

static uint32_t
axis(const step *s, uint32_t k) {
  return (uint32_t)constant(s, s->node->attr[k].at[0]);
}

static void
same_from(step *s, uint32_t i, uint32_t o, uint32_t n) {
  for (uint32_t k = 0; k < n; k++)
    link(s, i + k, o + k, 0, 0);
}

static void
step_same(step *s) {
  same_from(s, 0, 0, s->t->rank);
}

static void
step_transpose(step *s) {
  for (uint32_t k = 0; k < s->t->rank; k++)
    link(s, (uint32_t)constant(s, s->node->attr[0].at[k]), k, 0, 0);
}

static void
step_tuple(step *s) {
  uint32_t others = s->t->access - s->child->access;
  uint32_t at = s->node->sk->op == GS_CARTPROD && s->which ? others : 0;
  row r = {0};
  r.out[s->t->access] = 1;
  r.l.constant = -(int64_t)s->which;
  s->map = with_row(s->m, s->map, &r, true);
  same_from(s, 0, at, s->child->access);
  same_from(s, s->child->access, s->t->access + 1,
            s->child->rank - s->child->access);
}

static void
step_windows(step *s) {
  uint32_t a = s->child->access, n = s->child->rank - a;
  same_from(s, 0, 0, a);
  for (uint32_t k = 0; k < n; k++) {
    row r = {0};
    r.in[a + k] = -1;
    r.out[a + k] = constant(s, s->node->attr[1].at[k]);
    r.out[a + n + k] = constant(s, s->node->attr[2].at[k]);
    s->map = with_row(s->m, s->map, &r, true);
  }
}

static void
shifted(step *s, uint32_t d, fm_number by, int64_t sign) {
  for (uint32_t k = 0; k < s->t->rank; k++)
    link(s, k, k, by, k == d ? sign : 0);
}

static void
step_slice(step *s) {
  shifted(s, axis(s, 0), s->node->attr[1].at[0], 1);
}

static void
step_concat(step *s) {
  const fm_type *first = &s->m->side->node[s->node->sk->kids[0]].type;
  uint32_t d = axis(s, 0);
  shifted(s, d, first->dim[d], s->which ? -1 : 0);
}

static void
step_pad(step *s) {
  shifted(s, axis(s, 1), s->node->attr[2].at[0], -1);
}

/* The child has no dimension d, or one more there. */
static void
step_squeeze(step *s) {
  uint32_t d = axis(s, 0);
  same_from(s, 0, 0, d);
  same_from(s, d + 1, d, s->t->rank - d);
}

static void
step_insert_axis(step *s) {
  uint32_t d = axis(s, 0);
  same_from(s, 0, 0, d);
  same_from(s, d, d + 1, s->child->rank - d);
}

/* The box of the child keeps a repeated index at 0. */
static void
step_broadcast(step *s) {
  for (uint32_t k = 0; k < s->t->rank; k++)
    if (!(s->node->expands >> k & 1))
      link(s, k, k, 0, 0);
}

static void
step_repeat(step *s) {
  uint32_t d = axis(s, 0);
  int64_t factor = constant(s, s->node->attr[1].at[0]);
  row low = {0}, high = {0};
  for (uint32_t k = 0; k < s->t->rank; k++)
    if (k != d)
      link(s, k, k, 0, 0);
  low.out[d] = high.in[d] = 1;
  low.in[d] = -factor;
  high.in[d] = factor;
  high.out[d] = -1;
  high.l.constant = factor - 1;
  s->map = with_row(s->m, s->map, &low, false);
  s->map = with_row(s->m, s->map, &high, false);
}

/* Row-major strides of a group of dimensions, as far as they are constants:
 * only the first that is not one may be a parameter. */
static bool
strides_of(fm_form *f, const fm_number *dim, uint32_t n, int64_t *stride) {
  int64_t at = 1, size;
  bool open = false;
  for (uint32_t k = n; k-- > 0;) {
    stride[k] = 0;
    if (fm_is_one(f, dim[k]))
      continue;
    if (open)
      return false;
    stride[k] = at;
    open = !fm_is_constant(f, dim[k], &size);
    if (!open && __builtin_mul_overflow(at, size, &at))
      return false;
  }
  return true;
}

/* Are both groups the same but for ones?  Then their indices are, too. */
static bool
link_alike(step *s, uint32_t i, uint32_t n, uint32_t o, uint32_t m) {
  fm_form *f = s->m->f;
  uint32_t from[GS_MAX_RANK], to[GS_MAX_RANK], a = 0, b = 0;
  for (uint32_t k = 0; k < n; k++)
    if (!fm_is_one(f, s->child->dim[i + k]))
      from[a++] = i + k;
  for (uint32_t k = 0; k < m; k++)
    if (!fm_is_one(f, s->t->dim[o + k]))
      to[b++] = o + k;
  if (a != b)
    return false;
  for (uint32_t k = 0; k < a; k++)
    if (!fm_is_equal(f, s->child->dim[from[k]], s->t->dim[to[k]]))
      return false;
  for (uint32_t k = 0; k < a; k++)
    link(s, from[k], to[k], 0, 0);
  return true;
}

/* Equal places in row-major order, where those are affine. */
static void
link_places(step *s, uint32_t i, uint32_t n, uint32_t o, uint32_t m) {
  fm_form *f = s->m->f;
  row r = {0};
  if (link_alike(s, i, n, o, m))
    return;
  if (!strides_of(f, s->child->dim + i, n, r.in + i) ||
      !strides_of(f, s->t->dim + o, m, r.out + o)) {
    f->failed = true;
    return;
  }
  for (uint32_t k = 0; k < n; k++)
    r.in[i + k] = -r.in[i + k];
  s->map = with_row(s->m, s->map, &r, true);
}

static void
step_reshape(step *s) {
  uint32_t a = s->child->access, b = s->t->access;
  link_places(s, 0, a, 0, b);
  link_places(s, a, s->child->rank - a, b, s->t->rank - b);
}

static void (*const step_of[GS_OP_COUNT])(step *) = {
    [GS_ACCESS] = step_same,         [GS_TRANSPOSE] = step_transpose,
    [GS_CARTPROD] = step_tuple,      [GS_PAIR] = step_tuple,
    [GS_WINDOWS] = step_windows,     [GS_SLICE] = step_slice,
    [GS_CONCAT] = step_concat,       [GS_PAD] = step_pad,
    [GS_SQUEEZE] = step_squeeze,     [GS_INSERT_AXIS] = step_insert_axis,
    [GS_BROADCAST] = step_broadcast, [GS_FLATTEN] = step_reshape,
    [GS_RESHAPE] = step_reshape,     [GS_REPEAT] = step_repeat,
    [GS_COMPUTE] = step_same,        [GS_MATERIALIZE] = step_same,
};

/* --- pieces --------------------------------------------------------------- */

static void
take_child(maker *m, pieces *to, const fm_node *node, uint32_t which,
           isl_basic_map *only) {
  isl_map *map = isl_map_from_basic_map(only);
  const pieces *below = &m->of[node->sk->kids[which]];
  for (uint32_t k = 0; k < below->n; k++) {
    kind kind = below->at[k].kind;
    if (node->sk->op == GS_COMPUTE) {
      if (kind.n == MAX_CHAIN)
        m->f->failed = true;
      else
        kind.chain[kind.n++] = node->attr[0].datum;
    }
    add(m, to, &kind,
        isl_map_apply_range(isl_map_copy(map), isl_map_copy(below->at[k].map)));
  }
  isl_map_free(map);
}

/* Before or behind the inner part of a pad. */
static isl_basic_map *
outside(maker *m, const fm_node *node, isl_basic_map *map, bool behind) {
  const fm_type *child = &m->side->node[node->sk->kids[0]].type;
  uint32_t d = (uint32_t)m->f->number[node->attr[1].at[0]].constant;
  row r = {0};
  r.out[d] = behind ? 1 : -1;
  r.l.constant = behind ? 0 : -1;
  add_number(m, &r, node->attr[2].at[0], behind ? -1 : 1);
  if (behind)
    add_number(m, &r, child->dim[d], -1);
  return with_row(m, map, &r, false);
}

/* The first or the last element of dimension d. */
static isl_basic_map *
edge_of(maker *m, const fm_node *node, bool behind) {
  const fm_type *child = &m->side->node[node->sk->kids[0]].type;
  uint32_t d = (uint32_t)m->f->number[node->attr[1].at[0]].constant;
  step s = {m, node, &node->type, child, 0, all_of(m, &node->type, child)};
  row r = {0};
  for (uint32_t k = 0; k < child->rank; k++)
    if (k != d)
      link(&s, k, k, 0, 0);
  r.in[d] = 1;
  if (behind) {
    add_number(m, &r, child->dim[d], -1);
    r.l.constant += 1;
  }
  return with_row(m, s.map, &r, true);
}

static void
add_border(maker *m, pieces *to, const fm_node *node) {
  const char *how = bs_as_sym(m->f->values, node->attr[0].datum);
  for (int behind = 0; behind < 2; behind++) {
    if (!strcmp(how, "edge")) {
      take_child(m, to, node, 0,
                 outside(m, node, edge_of(m, node, behind), behind));
      continue;
    }
    kind kind = {.from = strcmp(how, "zero") ? FROM_LOWEST : FROM_ZERO};
    isl_basic_map *map = outside(m, node, all_of(m, &node->type, NULL), behind);
    add(m, to, &kind, isl_map_from_basic_map(map));
  }
}

static void
make_node(maker *m, uint32_t at) {
  const fm_node *node = &m->side->node[at];
  pieces *to = &m->of[at];
  if (node->sk->hole) {
    kind kind = {.from = node->sk->slot};
    step s = {m,           node, &node->type,
              &node->type, 0,    all_of(m, &node->type, &node->type)};
    step_same(&s);
    add(m, to, &kind, isl_map_from_basic_map(s.map));
    return;
  }
  for (uint32_t k = 0; k < node->sk->n_kids; k++) {
    const fm_type *child = &m->side->node[node->sk->kids[k]].type;
    step s = {m, node, &node->type, child, k, all_of(m, &node->type, child)};
    step_of[node->sk->op](&s);
    take_child(m, to, node, k, s.map);
  }
  if (node->sk->op == GS_PAD)
    add_border(m, to, node);
}

static pieces
make_side(maker *m, fm_form *f, uint32_t which) {
  pieces none = {0};
  m->f = f;
  m->side = &f->side[which];
  uint32_t n = m->side->skeleton->n;
  for (uint32_t k = 0; k < n && !f->failed; k++)
    make_node(m, k);
  return f->failed ? none : m->of[n - 1];
}

/* The part of `of` that is of this kind, where the parameters may be. */
static isl_map *
part(const pieces *of, const kind *kind, isl_space *space, isl_set *context) {
  isl_map *map = isl_map_empty(space);
  for (uint32_t k = 0; k < of->n; k++)
    if (!memcmp(&of->at[k].kind, kind, sizeof *kind))
      map = isl_map_union(map, isl_map_copy(of->at[k].map));
  return isl_map_intersect_params(map, isl_set_copy(context));
}

static bool
covers(const pieces *a, const pieces *b, isl_set *context) {
  bool same = true;
  for (uint32_t k = 0; k < a->n && same; k++) {
    isl_space *space = isl_map_get_space(a->at[k].map);
    isl_map *x = part(a, &a->at[k].kind, isl_space_copy(space), context);
    isl_map *y = part(b, &a->at[k].kind, space, context);
    same = isl_map_is_equal(x, y) == isl_bool_true;
    isl_map_free(x);
    isl_map_free(y);
  }
  return same;
}

bool
fm_same_elements(fm_form *f) {
  maker left = {0}, right = {0};
  pieces a = make_side(&left, f, 0), b = make_side(&right, f, 1);
  isl_set *context = fm_context(f);
  bool same = !f->failed && a.n && b.n && covers(&a, &b, context) &&
              covers(&b, &a, context);
  isl_set_free(context);
  done(&left);
  done(&right);
  return same && !f->failed;
}
