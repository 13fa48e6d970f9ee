/* SPDX-License-Identifier: MIT */
/* instance.c - random instances of a left side, from its type downwards.
 *
 * `down` is the inverse of type inference: given a node of the pattern and the
 * type it must have, it picks the attribute and the types of the children.
 * Patterns are small, so it recurses. */
#include "instance.h"
#include <string.h>

#define MAX_ELEMENTS 3000

uint64_t
gen_random(generator *g, uint64_t below) {
  g->state += 0x9e3779b97f4a7c15u;
  uint64_t z = g->state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  return below ? z % below : 0;
}

static bool
chance(generator *g, uint64_t percent) {
  return gen_random(g, 100) < percent;
}

static int64_t
small_dim(generator *g) {
  static const int64_t dims[] = {1, 1, 2, 2, 2, 3, 3, 4, 4, 6, 5};
  return dims[gen_random(g, sizeof dims / sizeof *dims)];
}

/* --- attributes ------------------------------------------------------------
 */

static bs_values *
values(const generator *g) {
  return g->ctx->values;
}

/* The value of an attribute expression that is fixed already, or NIL. */
static bs_value
fixed(generator *g, const gs_expr *x) {
  if (!x)
    return BS_NIL;
  if (x->kind == GS_X_LITERAL)
    return x->literal;
  if (x->kind == GS_X_VAR)
    return g->values[x->slot];
  bs_value items[16];
  for (uint32_t k = 0; k < x->n_args; k++)
    if (!(items[k] = fixed(g, x->args[k])).i)
      return BS_NIL;
  return bs_list(values(g), items, x->n_args);
}

/* Binds what the expression leaves open so that it has this value. */
static bool
bind(generator *g, const gs_expr *x, bs_value v) {
  if (!x)
    return true;
  switch (x->kind) {
  case GS_X_LITERAL:
    return bs_same(x->literal, v);
  case GS_X_VAR:
    if (!g->values[x->slot].i)
      g->values[x->slot] = v;
    return bs_same(g->values[x->slot], v);
  case GS_X_CALL:
    if (bs_kind_of(values(g), v) != BS_KIND_LIST ||
        bs_len(values(g), v) != x->n_args)
      return false;
    for (uint32_t k = 0; k < x->n_args; k++)
      if (!bind(g, x->args[k], bs_item(values(g), v, k)))
        return false;
    return true;
  }
  return false;
}

static bool
fixed_int(generator *g, const gs_expr *x, int64_t *out) {
  bs_value v = fixed(g, x);
  if (!v.i || bs_kind_of(values(g), v) != BS_KIND_INT)
    return false;
  *out = bs_as_int(values(g), v);
  return true;
}

static bool
bind_int(generator *g, const gs_expr *x, int64_t i) {
  return bind(g, x, bs_int(values(g), i));
}

static bool
fixed_ints(generator *g, const gs_expr *x, int64_t *out, uint32_t *n) {
  bs_value v = fixed(g, x);
  return v.i && bs_kind_of(values(g), v) == BS_KIND_LIST &&
         bs_to_ints(values(g), v, out, GS_MAX_RANK, n);
}

static bool
bind_ints(generator *g, const gs_expr *x, const int64_t *items, uint32_t n) {
  return bind(g, x, bs_ints(values(g), items, n));
}

/* A dimension index: fixed, or any of [lo, hi). */
static bool
pick(generator *g, const gs_expr *x, int64_t lo, int64_t hi, int64_t *out) {
  if (fixed_int(g, x, out))
    return *out >= lo && *out < hi;
  if (lo >= hi)
    return false;
  *out = lo + (int64_t)gen_random(g, (uint64_t)(hi - lo));
  return bind_int(g, x, *out);
}

/* --- types ---------------------------------------------------------------- */

static void
insert_dim(gs_type *t, uint32_t d, int64_t size) {
  memmove(t->dim + d + 1, t->dim + d, (t->rank - d) * sizeof *t->dim);
  t->dim[d] = size;
  t->rank++;
}

static void
remove_dim(gs_type *t, uint32_t d) {
  memmove(t->dim + d, t->dim + d + 1, (t->rank - d - 1) * sizeof *t->dim);
  t->rank--;
}

/* Writes a random list of dimensions with this product. */
static uint32_t
factor(generator *g, int64_t product, int64_t *out, bool may_be_empty) {
  uint32_t n = 0;
  if (product == 1 && may_be_empty && chance(g, 50))
    return 0;
  while (n < 3 && chance(g, 60)) {
    int64_t f = small_dim(g);
    if (product % f == 0) {
      out[n++] = f;
      product /= f;
    }
  }
  if (product != 1 || !n || chance(g, 20))
    out[n++] = product;
  for (uint32_t k = n; k > 1; k--) {
    uint32_t j = (uint32_t)gen_random(g, k);
    int64_t swap = out[k - 1];
    out[k - 1] = out[j];
    out[j] = swap;
  }
  return n;
}

/* Another shape with the same elements in S and in C. */
static void
reshaped(generator *g, const gs_type *t, gs_type *out, bool flat) {
  int64_t s = gs_prod(t->dim, t->access);
  int64_t c = gs_prod(t->dim + t->access, t->rank - t->access);
  bool keep_s = chance(g, 35), keep_c = chance(g, 35);
  *out = (gs_type){.dtype = t->dtype};
  if (keep_s && !flat) {
    memcpy(out->dim, t->dim, t->access * sizeof *t->dim);
    out->access = t->access;
  } else {
    out->access = (uint8_t)factor(g, s, out->dim, !flat);
  }
  if (flat && !t->access)
    out->access = 0;
  out->rank = out->access;
  if (keep_c && !flat) {
    memcpy(out->dim + out->rank, t->dim + t->access,
           (t->rank - t->access) * sizeof *t->dim);
    out->rank += t->rank - t->access;
  } else if (!(flat && t->rank == t->access)) {
    out->rank += (uint8_t)factor(g, c, out->dim + out->rank, !flat);
  }
}

/* --- the pattern downwards ------------------------------------------------ */

typedef struct instance {
  generator *g;
  const gs_skeleton *sk;
} instance;

static gs_term down(instance *, uint32_t node, const gs_type *);

static const gs_sk_node *
node_of(const instance *x, uint32_t node) {
  return &x->sk->nodes[node];
}

/* Does a tuple of two come up to this node from below? */
static bool
wants_tuple(const instance *x, uint32_t node) {
  const gs_sk_node *n = node_of(x, node);
  if (n->hole)
    return false;
  if (n->op == GS_CARTPROD || n->op == GS_PAIR)
    return true;
  return n->op != GS_COMPUTE && n->n_kids && wants_tuple(x, n->kids[0]);
}

static gs_term
tensor_of(generator *g, const gs_type *t) {
  static const char *const names[] = {"ta", "tb", "tc", "td", "te", "tf",
                                      "tg", "th", "ti", "tj", "tk", "tl"};
  gs_type flat = *t;
  flat.access = flat.rank;
  if (g->n_tensors >= sizeof names / sizeof *names)
    return GS_NO_TERM;
  gs_term term =
      gs_add_tensor(g->program, names[g->n_tensors++], &flat, BS_NOWHERE);
  gs_fault fault;
  bs_value k = bs_int(values(g), t->access);
  if (gs_term_ok(term) && t->access != t->rank)
    term = gs_add(g->program, GS_ACCESS, bs_list(values(g), &k, 1), &term, 1,
                  BS_NOWHERE, &fault);
  return term;
}

/* A tensor, now and then with zeros around one dimension. */
static gs_term
hole_of(generator *g, const gs_type *t) {
  gs_type inner = *t;
  if (!t->rank || !chance(g, 25))
    return tensor_of(g, t);
  uint32_t d = (uint32_t)gen_random(g, t->rank);
  int64_t size = 1 + (int64_t)gen_random(g, (uint64_t)t->dim[d]);
  int64_t before = (int64_t)gen_random(g, (uint64_t)(t->dim[d] - size + 1));
  inner.dim[d] = size;
  gs_term a = tensor_of(g, &inner);
  if (!gs_term_ok(a))
    return a;
  bs_value items[4] = {bs_sym(values(g), "zero"), bs_int(values(g), d),
                       bs_int(values(g), before),
                       bs_int(values(g), t->dim[d] - size - before)};
  gs_fault fault;
  return gs_add(g->program, GS_PAD, bs_list(values(g), items, 4), &a, 1,
                BS_NOWHERE, &fault);
}

static bool
down_access(instance *x, const gs_sk_node *n, const gs_type *t, gs_type *k) {
  *k = *t;
  k->access = (uint8_t)gen_random(x->g, t->rank + 1u);
  if (chance(x->g, 20))
    k->access = t->access;
  return bind_int(x->g, n->attrs[0], t->access);
}

static void
random_permutation(generator *g, const gs_type *t, int64_t *p) {
  uint32_t n = t->rank, s = t->access;
  for (uint32_t k = 0; k < n; k++)
    p[k] = k;
  bool mixed = chance(g, 30), in_s = chance(g, 60), in_c = chance(g, 60);
  bool first = chance(g, 50); /* leaves the first dimension of C alone */
  for (uint32_t k = n; k > 1; k--) {
    uint32_t lo = 0, hi = k;
    if (!mixed) {
      bool c = k > s;
      lo = c ? s + (first ? 1 : 0) : 0;
      if (!(c ? in_c : in_s) || lo + 1 >= hi)
        continue;
    }
    uint32_t j = lo + (uint32_t)gen_random(g, hi - lo);
    int64_t swap = p[k - 1];
    p[k - 1] = p[j];
    p[j] = swap;
  }
}

static bool
down_transpose(instance *x, const gs_sk_node *n, const gs_type *t, gs_type *k) {
  int64_t p[GS_MAX_RANK];
  uint32_t len = t->rank, seen = 0;
  if (!fixed_ints(x->g, n->attrs[0], p, &len))
    random_permutation(x->g, t, p);
  if (len != t->rank || !bind_ints(x->g, n->attrs[0], p, len))
    return false;
  *k = *t;
  for (uint32_t i = 0; i < len; i++) {
    if (p[i] < 0 || p[i] >= len || seen >> p[i] & 1)
      return false;
    seen |= 1u << p[i];
    k->dim[p[i]] = t->dim[i];
  }
  return true;
}

static bool
down_windows(instance *x, const gs_sk_node *n, const gs_type *t, gs_type *k) {
  uint32_t m = t->rank - t->access, len = m;
  int64_t kernel[GS_MAX_RANK], stride[GS_MAX_RANK], dilation[GS_MAX_RANK];
  if (t->access < m)
    return false;
  memcpy(kernel, t->dim + t->access, m * sizeof *kernel);
  bool plain = chance(x->g, 50);
  for (uint32_t i = 0; i < m; i++) {
    stride[i] = plain ? 1 : 1 + (int64_t)gen_random(x->g, 3);
    dilation[i] = plain ? 1 : 1 + (int64_t)gen_random(x->g, 2);
  }
  if (!bind_ints(x->g, n->attrs[0], kernel, m))
    return false;
  fixed_ints(x->g, n->attrs[1], stride, &len);
  if (len != m || !bind_ints(x->g, n->attrs[1], stride, m))
    return false;
  if (!n->attrs[2]) {
    for (uint32_t i = 0; i < m; i++)
      dilation[i] = 1;
  } else {
    fixed_ints(x->g, n->attrs[2], dilation, &len);
    if (len != m || !bind_ints(x->g, n->attrs[2], dilation, m))
      return false;
  }
  *k = *t;
  k->access = (uint8_t)(t->access - m);
  k->rank = (uint8_t)(k->access + m);
  for (uint32_t i = 0; i < m; i++) {
    if (stride[i] < 1 || dilation[i] < 1)
      return false;
    k->dim[k->access + i] = dilation[i] * (kernel[i] - 1) +
                            stride[i] * (t->dim[k->access + i] - 1) + 1 +
                            (int64_t)gen_random(x->g, (uint64_t)stride[i]);
  }
  return true;
}

static bool
down_slice(instance *x, const gs_sk_node *n, const gs_type *t, gs_type *k) {
  int64_t d, lo, hi;
  if (!pick(x->g, n->attrs[0], 0, t->rank, &d))
    return false;
  if (!fixed_int(x->g, n->attrs[1], &lo)) {
    lo = chance(x->g, 40) ? 0 : (int64_t)gen_random(x->g, 4);
    if (fixed_int(x->g, n->attrs[2], &hi))
      lo = hi - t->dim[d];
    if (lo < 0 || !bind_int(x->g, n->attrs[1], lo))
      return false;
  }
  *k = *t;
  hi = lo + t->dim[d];
  k->dim[d] = hi + (chance(x->g, 40) ? 0 : (int64_t)gen_random(x->g, 4));
  return lo >= 0 && bind_int(x->g, n->attrs[2], hi);
}

static bool
down_pad(instance *x, const gs_sk_node *n, const gs_type *t, gs_type *k) {
  static const char *const kinds[] = {"zero", "min", "edge"};
  int64_t d, before, after;
  bs_value kind = fixed(x->g, n->attrs[0]);
  if (!kind.i)
    kind = bs_sym(values(x->g), kinds[gen_random(x->g, 3)]);
  if (!bind(x->g, n->attrs[0], kind) ||
      !pick(x->g, n->attrs[1], 0, t->rank, &d) ||
      !pick(x->g, n->attrs[2], 0, t->dim[d], &before) ||
      !pick(x->g, n->attrs[3], 0, t->dim[d] - before, &after))
    return false;
  *k = *t;
  k->dim[d] = t->dim[d] - before - after;
  return k->dim[d] >= 1;
}

static bool
down_squeeze(instance *x, const gs_sk_node *n, const gs_type *t, gs_type *k) {
  int64_t d;
  if (!pick(x->g, n->attrs[0], 0, t->rank + 1, &d))
    return false;
  *k = *t;
  insert_dim(k, (uint32_t)d, 1);
  if (d < t->access || (d == t->access && chance(x->g, 50)))
    k->access++;
  return true;
}

static bool
down_insert(instance *x, const gs_sk_node *n, const gs_type *t, gs_type *k) {
  int64_t d;
  if (!pick(x->g, n->attrs[0], 0, t->rank, &d) || t->dim[d] != 1)
    return false;
  *k = *t;
  remove_dim(k, (uint32_t)d);
  if (d < t->access)
    k->access--;
  return true;
}

static bool
down_repeat(instance *x, const gs_sk_node *n, const gs_type *t, gs_type *k) {
  int64_t d, f = 1 + (int64_t)gen_random(x->g, 3);
  if (!pick(x->g, n->attrs[0], 0, t->rank, &d))
    return false;
  fixed_int(x->g, n->attrs[1], &f);
  *k = *t;
  if (f < 1 || t->dim[d] % f)
    return false;
  k->dim[d] = t->dim[d] / f;
  return bind_int(x->g, n->attrs[1], f);
}

static bool
down_reverse(instance *x, const gs_sk_node *n, const gs_type *t, gs_type *k) {
  int64_t d;
  *k = *t;
  return pick(x->g, n->attrs[0], 0, t->rank, &d);
}

static bool
down_broadcast(instance *x, const gs_sk_node *n, const gs_type *t, gs_type *k) {
  bool in_s = chance(x->g, 75), in_c = chance(x->g, 50);
  *k = *t;
  for (uint32_t d = 0; d < t->rank; d++)
    if ((d < t->access ? in_s : in_c) && chance(x->g, 50))
      k->dim[d] = 1;
  return bind_ints(x->g, n->attrs[0], t->dim, t->rank);
}

static bool
down_reshape(instance *x, const gs_sk_node *n, const gs_type *t, gs_type *k) {
  reshaped(x->g, t, k, false);
  return bind_ints(x->g, n->attrs[0], t->dim, t->access) &&
         bind_ints(x->g, n->attrs[1], t->dim + t->access, t->rank - t->access);
}

static bool
down_flatten(instance *x, const gs_type *t, gs_type *k) {
  if (t->access > 1 || t->rank - t->access > 1)
    return false;
  reshaped(x->g, t, k, true);
  return true;
}

/* --- computes --------------------------------------------------------------
 */

static bs_value
random_number(generator *g, gs_dtype dtype) {
  static const double reals[] = {0.5, 2, -1, 3, 0, 1, -0.25, 4};
  if (gs_dtype_table[dtype].integer || chance(g, 30))
    return bs_int(values(g), (int64_t)gen_random(g, 5) - 1);
  return bs_real(values(g), reals[gen_random(g, 8)]);
}

static bs_value
random_dtype(generator *g) {
  return bs_sym(values(g), gs_dtype_table[gen_random(g, GS_DTYPE_COUNT)].name);
}

/* A random operator attribute that agrees with the pattern's. */
static bs_value
random_compute(generator *g, const gs_expr *x, gs_dtype dtype) {
  gs_compute op = (gs_compute)gen_random(g, GS_COMPUTE_COUNT);
  if (x->kind == GS_X_CALL) {
    bs_value head = fixed(g, x->args[0]);
    if (!head.i || !gs_compute_of(values(g), head, &op))
      return BS_NIL;
  }
  const gs_compute_info *info = &gs_compute_table[op];
  bs_value items[4] = {bs_sym(values(g), info->name)};
  uint32_t n = 1;
  for (const char *p = info->params; *p; p++, n++) {
    if (x->kind == GS_X_CALL && n < x->n_args)
      items[n] = fixed(g, x->args[n]);
    if (!items[n].i)
      items[n] = *p == 't' ? random_dtype(g) : random_number(g, dtype);
  }
  return n == 1 ? items[0] : bs_list(values(g), items, n);
}

static gs_dtype
operand_dtype(generator *g, gs_compute op, gs_dtype result) {
  if (op == GS_C_CAST)
    return (gs_dtype)gen_random(g, GS_DTYPE_COUNT);
  for (int tries = 0; tries < 6; tries++) {
    gs_dtype d = (gs_dtype)gen_random(g, GS_DTYPE_COUNT);
    if (gs_compute_dtype(op, d) == result)
      return d;
  }
  return result;
}

/* The C of the operand in front of the result's. */
static bool
operand_items(instance *x, uint32_t kid, gs_compute op, gs_type *k) {
  generator *g = x->g;
  bool two = wants_tuple(x, kid);
  bool threes = chance(g, 20); /* the windows that some rules ask for */
  uint32_t at = k->access;
  switch (gs_compute_table[op].kind) {
  case GS_REDUCE:
  case GS_DOT:
    for (int n = (int)gen_random(g, 3); n >= 0; n--)
      insert_dim(k, at, threes ? 3 : small_dim(g));
    if (two)
      k->dim[at] = 2;
    return true;
  case GS_FOLD:
    insert_dim(k, at, two ? 2 : small_dim(g));
    return true;
  case GS_SELECT:
    insert_dim(k, at, 3);
    return !two;
  case GS_SOFTMAX:
    return k->rank > k->access;
  case GS_GATHER:
    insert_dim(k, at, 2);
    return true;
  case GS_LOOKUP:
    return k->rank == at + 1;
  case GS_CAST:
  case GS_ELEMENTWISE:
  default:
    return true;
  }
}

static bool
down_compute(instance *x, const gs_sk_node *n, const gs_type *t, gs_type *k) {
  bs_value o = fixed(x->g, n->attrs[0]);
  gs_compute op;
  if (!o.i)
    o = random_compute(x->g, n->attrs[0], t->dtype);
  if (!o.i || !bind(x->g, n->attrs[0], o) ||
      !gs_compute_of(values(x->g), o, &op))
    return false;
  gs_compute_kind kind = gs_compute_table[op].kind;
  if ((kind == GS_REDUCE || kind == GS_DOT) && t->rank != t->access)
    return false;
  *k = *t;
  k->dtype = operand_dtype(x->g, op, t->dtype);
  if (!operand_items(x, n->kids[0], op, k))
    return false;
  if (kind == GS_LOOKUP) /* the table stands before the indices */
    k->dim[k->access] += gs_lookup_table(values(x->g), o);
  return true;
}

/* --- one node ---------------------------------------------------------------
 */

static bool
down_one(instance *x, const gs_sk_node *n, const gs_type *t, gs_type *k) {
  switch (n->op) {
  case GS_ACCESS:
    return down_access(x, n, t, k);
  case GS_TRANSPOSE:
    return down_transpose(x, n, t, k);
  case GS_WINDOWS:
    return down_windows(x, n, t, k);
  case GS_SLICE:
    return down_slice(x, n, t, k);
  case GS_PAD:
    return down_pad(x, n, t, k);
  case GS_SQUEEZE:
    return down_squeeze(x, n, t, k);
  case GS_INSERT_AXIS:
    return down_insert(x, n, t, k);
  case GS_BROADCAST:
    return down_broadcast(x, n, t, k);
  case GS_FLATTEN:
    return down_flatten(x, t, k);
  case GS_RESHAPE:
    return down_reshape(x, n, t, k);
  case GS_REPEAT:
    return down_repeat(x, n, t, k);
  case GS_REVERSE:
    return down_reverse(x, n, t, k);
  case GS_COMPUTE:
    return down_compute(x, n, t, k);
  case GS_MATERIALIZE:
    *k = *t;
    return true;
  case GS_CALL:
  case GS_SCAN:
  case GS_CARTPROD:
  case GS_CONCAT:
  case GS_CONST:
  case GS_OP_COUNT:
  case GS_PAIR:
  case GS_TENSOR:
  default:
    return false;
  }
}

static bool
down_two(instance *x, const gs_sk_node *n, const gs_type *t, gs_type *k) {
  generator *g = x->g;
  k[0] = k[1] = *t;
  if (n->op == GS_CONCAT) {
    int64_t d;
    if (!pick(g, n->attrs[0], 0, t->rank, &d) || t->dim[d] < 2)
      return false;
    k[0].dim[d] = 1 + (int64_t)gen_random(g, (uint64_t)t->dim[d] - 1);
    if (t->dim[d] % 2 == 0 && chance(g, 50))
      k[0].dim[d] = t->dim[d] / 2;
    k[1].dim[d] = t->dim[d] - k[0].dim[d];
    return true;
  }
  if (t->rank == t->access || t->dim[t->access] != 2)
    return false;
  remove_dim(&k[0], t->access);
  k[1] = k[0];
  if (n->op == GS_PAIR)
    return true;
  if (n->op != GS_CARTPROD)
    return false;
  uint32_t left = (uint32_t)gen_random(g, t->access + 1u);
  uint32_t right = t->access - left;
  for (uint32_t i = 0; i < right; i++)
    remove_dim(&k[0], left);
  for (uint32_t i = 0; i < left; i++)
    remove_dim(&k[1], 0);
  k[0].access = (uint8_t)left;
  k[1].access = (uint8_t)right;
  return true;
}

/* All attribute items as one value; every variable is bound by now. */
static bool
attribute(instance *x, const gs_sk_node *n, bs_value *out) {
  bs_value items[8];
  for (uint32_t i = 0; i < n->n_attrs; i++) {
    if (!n->attrs[i]) {
      uint32_t len = bs_len(values(x->g), items[0]);
      int64_t ones[GS_MAX_RANK];
      for (uint32_t k = 0; k < len; k++)
        ones[k] = 1;
      items[i] = bs_ints(values(x->g), ones, len);
    } else if (!(items[i] = fixed(x->g, n->attrs[i])).i) {
      return false;
    }
  }
  *out = bs_list(values(x->g), items, n->n_attrs);
  return true;
}

static gs_term
hole(instance *x, const gs_sk_node *n, const gs_type *t) {
  gs_term *bound = &x->g->terms[n->slot];
  gs_type have;
  if (!gs_term_ok(*bound)) {
    *bound = hole_of(x->g, t);
    return *bound;
  }
  gs_type_at(x->g->program, *bound, &have);
  return gs_type_equal(&have, t) ? *bound : GS_NO_TERM;
}

static gs_term
down(instance *x, uint32_t node, const gs_type *t) {
  const gs_sk_node *n = node_of(x, node);
  gs_type kids[2];
  gs_term terms[2];
  bs_value attr;
  gs_fault fault;
  if (t->rank > 9 || gs_elements(t) > MAX_ELEMENTS)
    return GS_NO_TERM;
  if (n->hole)
    return hole(x, n, t);
  if (n->n_kids < 1 || n->n_kids > 2 ||
      !(n->n_kids == 1 ? down_one(x, n, t, kids) : down_two(x, n, t, kids)) ||
      !attribute(x, n, &attr))
    return GS_NO_TERM;
  for (uint32_t i = 0; i < n->n_kids; i++) {
    terms[i] = down(x, n->kids[i], &kids[i]);
    if (!gs_term_ok(terms[i]))
      return GS_NO_TERM;
  }
  return gs_add(x->g->program, n->op, attr, terms, n->n_kids, BS_NOWHERE,
                &fault);
}

static void
random_type(generator *g, gs_type *t, bool two) {
  static const gs_dtype dtypes[] = {GS_F32, GS_F32, GS_F32, GS_F64,
                                    GS_I32, GS_I8,  GS_U8,  GS_BF16};
  uint32_t s = (uint32_t)gen_random(g, 4), c = (uint32_t)gen_random(g, 4);
  *t = (gs_type){.dtype = dtypes[gen_random(g, 8)]};
  t->access = (uint8_t)s;
  t->rank = (uint8_t)(s + c);
  for (uint32_t d = 0; d < t->rank; d++)
    t->dim[d] = small_dim(g);
  two = two && chance(g, 75);
  if (two && !c) {
    t->rank++;
    c++;
  }
  if (two)
    t->dim[s] = 2;
}

gs_program *
gen_instance(generator *g, const gs_context *ctx, uint64_t seed,
             const gs_skeleton *sk, const gs_scope *scope) {
  instance x = {g, sk};
  gs_type t;
  g->ctx = ctx;
  g->state = seed * 0x2545f4914f6cdd1du + 7;
  g->program = gs_program_new(ctx, NULL);
  g->scope = scope;
  g->n_tensors = 0;
  g->values = BS_NEWS(ctx->arena, bs_value, scope->vars.len + 1);
  g->terms = BS_NEWS(ctx->arena, gs_term, scope->vars.len + 1);
  for (uint32_t k = 0; k <= scope->vars.len; k++)
    g->terms[k] = GS_NO_TERM;
  uint32_t root = sk->n - 1;
  random_type(g, &t, wants_tuple(&x, root));
  if (sk->nodes[root].op == GS_COMPUTE && !sk->nodes[root].hole &&
      chance(g, 70)) {
    bs_value o = fixed(g, sk->nodes[root].attrs[0]);
    gs_compute op;
    if (!o.i || (gs_compute_of(ctx->values, o, &op) &&
                 gs_compute_table[op].kind <= GS_DOT))
      t.rank = t.access;
  }
  gs_term term = down(&x, root, &t);
  if (!gs_term_ok(term))
    return NULL;
  gs_add_output(g->program, "out", term, BS_NOWHERE);
  return g->program;
}
