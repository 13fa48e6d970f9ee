/* SPDX-License-Identifier: MIT */
/* derive_dims.c - which dimensions of an instruction may be cut.
 *
 * The dimensions of operands are followed through the semantics.  Those that
 * are walked together, as the items of a pair, are one.  One that comes through
 * to the result untouched says: each index by itself, so a longer one is many
 * calls side by side.  One over which the whole is a sum says: partial sums may
 * be added.  What is looked at as a whole on the way (windows, a softmax, a
 * reshape) is held: it has the size that it has. */
#include "rules/instr/derive.h"
#include <assert.h>
#include <string.h>

enum { MOST_IDS = 512 };

/* The dimensions of a node of the semantics. */
typedef struct shape_of {
  uint32_t access, rank;
  uint32_t id[GS_MAX_RANK];
} shape_of;

typedef struct following {
  const deriver *d;
  uint32_t n_ids;
  uint32_t same[MOST_IDS]; /* one that is the same; itself at the end */
  bool held[MOST_IDS], sum[MOST_IDS];
  uint32_t (*of_operand)[GS_MAX_RANK]; /* ids, by operand */
  bool failed;
} following;

static uint32_t
new_id(following *f, bool held) {
  if (f->n_ids == MOST_IDS) {
    f->failed = true;
    return 0;
  }
  f->same[f->n_ids] = f->n_ids;
  f->held[f->n_ids] = held;
  return f->n_ids++;
}

static uint32_t
root_of(const following *f, uint32_t id) {
  while (f->same[id] != id)
    id = f->same[id];
  return id;
}

static void
unite(following *f, uint32_t a, uint32_t b) {
  a = root_of(f, a);
  b = root_of(f, b);
  if (a == b)
    return;
  uint32_t first = a < b ? a : b, other = a < b ? b : a;
  f->same[other] = first;
  f->held[first] |= f->held[other];
}

static void
hold(following *f, const shape_of *s, uint32_t from) {
  assert(from <= s->rank);
  for (uint32_t k = from; k < s->rank; k++)
    f->held[root_of(f, s->id[k])] = true;
}

/* A dimension put in at `at`. */
static void
insert(following *f, shape_of *s, uint32_t at) {
  assert(at <= s->rank);
  if (s->rank == GS_MAX_RANK) {
    f->failed = true;
    return;
  }
  memmove(s->id + at + 1, s->id + at, (s->rank - at) * sizeof *s->id);
  s->id[at] = new_id(f, true);
  s->rank++;
}

static void
take_out(shape_of *s, uint32_t at) {
  assert(at < s->rank);
  memmove(s->id + at, s->id + at + 1, (s->rank - at - 1) * sizeof *s->id);
  s->rank--;
}

/* All is seen as a whole, and what comes of it has other dimensions. */
static void
make_new(following *f, shape_of *s, uint32_t access, uint32_t rank) {
  hold(f, s, 0);
  s->access = access;
  s->rank = 0;
  while (s->rank < rank && s->rank < GS_MAX_RANK)
    s->id[s->rank++] = new_id(f, true);
  f->failed |= rank > GS_MAX_RANK;
}

static bool
literal(const following *f, const gs_expr *e, int64_t *out) {
  return gs_expr_is_int(f->d->ctx->values, e, out);
}

/* An attribute that counts dimensions, below `limit`. */
static bool
axis(following *f, const gs_sk_node *n, uint32_t item, uint32_t limit,
     uint32_t *out) {
  int64_t at;
  bool ok = literal(f, n->attrs[item], &at) && at >= 0 && at < limit;
  f->failed |= !ok;
  *out = ok ? (uint32_t)at : 0;
  return ok;
}

static uint32_t
items_in(const following *f, const gs_expr *e) {
  if (e->kind == GS_X_CALL)
    return e->n_args;
  return e->kind == GS_X_LITERAL ? bs_len(f->d->ctx->values, e->literal) : 0;
}

static void
follow_transpose(following *f, const gs_sk_node *n, shape_of *s) {
  int64_t p[GS_MAX_RANK];
  shape_of old = *s;
  uint32_t len;
  if (n->attrs[0]->kind != GS_X_LITERAL ||
      !bs_to_ints(f->d->ctx->values, n->attrs[0]->literal, p, GS_MAX_RANK,
                  &len) ||
      len != s->rank) {
    make_new(f, s, s->access, s->rank);
    return;
  }
  for (uint32_t k = 0; k < len; k++)
    if (p[k] >= 0 && p[k] < len)
      s->id[k] = old.id[p[k]];
    else
      f->failed = true;
}

/* cartProd and pair: items are walked together, and stand in a tuple. */
static void
follow_tuple(following *f, gs_op op, const shape_of *b, shape_of *s) {
  uint32_t items = s->rank - s->access;
  uint32_t from = op == GS_PAIR ? 0 : b->access;
  if (b->rank - b->access != items || s->rank + from >= GS_MAX_RANK ||
      (op == GS_PAIR && b->access != s->access)) {
    f->failed = true;
    return;
  }
  for (uint32_t k = 0; k < items; k++)
    unite(f, s->id[s->access + k], b->id[b->access + k]);
  for (uint32_t k = 0; op == GS_PAIR && k < s->access; k++)
    unite(f, s->id[k], b->id[k]);
  memmove(s->id + s->access + from, s->id + s->access, items * sizeof *s->id);
  memcpy(s->id + s->access, b->id, from * sizeof *s->id);
  s->access += from;
  s->rank += from;
  insert(f, s, s->access);
}

static void
follow_concat(following *f, const gs_sk_node *n, const shape_of *b,
              shape_of *s) {
  uint32_t at;
  if (b->rank != s->rank || !axis(f, n, 0, s->rank, &at)) {
    f->failed = true;
    return;
  }
  for (uint32_t k = 0; k < s->rank; k++)
    unite(f, s->id[k], b->id[k]);
  f->held[root_of(f, s->id[at])] = true;
}

static void
follow_compute(following *f, const gs_sk_node *n, bool root, shape_of *s) {
  const gs_expr *e = n->attrs[0];
  const bs_values *values = f->d->ctx->values;
  gs_compute op;
  bs_value head = e->kind == GS_X_CALL ? e->args[0]->literal : e->literal;
  if (e->kind == GS_X_VAR || !gs_compute_of(values, head, &op)) {
    f->failed = true;
    return;
  }
  switch (gs_compute_table[op].kind) {
  case GS_REDUCE:
  case GS_DOT: {
    bool sums = root && (op == GS_C_REDUCE_SUM || op == GS_C_DOT_PROD);
    for (uint32_t k = s->access; k < s->rank; k++)
      if (sums)
        f->sum[root_of(f, s->id[k])] = true;
    if (!sums)
      hold(f, s, s->access);
    if (op == GS_C_DOT_PROD) /* the tuple */
      f->held[root_of(f, s->id[s->access])] = true;
    s->rank = s->access;
    break;
  }
  case GS_FOLD:
  case GS_SELECT:
    take_out(s, s->access);
    break;
  case GS_GATHER:
    hold(f, s, s->access);
    take_out(s, s->access);
    break;
  case GS_LOOKUP:
    f->failed = true; /* its result has dimensions of its own */
    break;
  case GS_SOFTMAX:
    hold(f, s, s->access);
    break;
  case GS_ELEMENTWISE:
  case GS_CAST:
    break;
  }
}

static void
follow_unchanged(following *f, const gs_sk_node *n, shape_of *s) {
  (void)f, (void)n, (void)s;
}

static void
follow_window(following *f, const gs_sk_node *n, shape_of *s) {
  (void)n;
  uint32_t items = s->rank - s->access, rank = s->rank + items;
  hold(f, s, s->access);
  s->rank = s->access;
  s->access += items;
  f->failed |= rank > GS_MAX_RANK;
  while (s->rank < rank && s->rank < GS_MAX_RANK)
    s->id[s->rank++] = new_id(f, true);
}

static void
follow_access(following *f, const gs_sk_node *n, shape_of *s) {
  uint32_t at;
  if (axis(f, n, 0, s->rank + 1, &at))
    s->access = at;
}

static void
follow_squeeze(following *f, const gs_sk_node *n, shape_of *s) {
  uint32_t at;
  if (!axis(f, n, 0, s->rank, &at))
    return;
  f->held[root_of(f, s->id[at])] = true;
  s->access -= at < s->access;
  take_out(s, at);
}

static void
follow_insert(following *f, const gs_sk_node *n, shape_of *s) {
  uint32_t at;
  if (!axis(f, n, 0, s->rank + 1, &at))
    return;
  s->access += at <= s->access;
  insert(f, s, at);
}

static void
follow_broadcast(following *f, const gs_sk_node *n, shape_of *s) {
  (void)n;
  make_new(f, s, s->access, s->rank);
}

static void
follow_flatten(following *f, const gs_sk_node *n, shape_of *s) {
  (void)n;
  make_new(f, s, s->access > 0, (s->access > 0) + (s->rank > s->access));
}

static void
follow_reshape(following *f, const gs_sk_node *n, shape_of *s) {
  uint32_t access = items_in(f, n->attrs[0]);
  make_new(f, s, access, access + items_in(f, n->attrs[1]));
}

/* All dimensions stay, and the axis is as long as it is. */
static void
follow_same_axes(following *f, const gs_sk_node *n, shape_of *s) {
  uint32_t at;
  if (axis(f, n, gs_op_axis(n->op), s->rank, &at))
    f->held[root_of(f, s->id[at])] = true;
}

/* What nothing is written of is not followed. */
static void
follow_view(following *f, const gs_sk_node *n, shape_of *s) {
  static void (*const follow[GS_OP_COUNT])(following *, const gs_sk_node *,
                                           shape_of *) = {
      [GS_ACCESS] = follow_access,         [GS_TRANSPOSE] = follow_transpose,
      [GS_WINDOWS] = follow_window,        [GS_SQUEEZE] = follow_squeeze,
      [GS_INSERT_AXIS] = follow_insert,    [GS_BROADCAST] = follow_broadcast,
      [GS_FLATTEN] = follow_flatten,       [GS_RESHAPE] = follow_reshape,
      [GS_MATERIALIZE] = follow_unchanged,
  };
  if (gs_op_is(n->op, GS_SAME_AXES))
    follow_same_axes(f, n, s);
  else if (follow[n->op])
    follow[n->op](f, n, s);
  else
    f->failed = true;
}

static void
follow_hole(following *f, const gs_sk_node *n, shape_of *s) {
  const gs_operand *o = rl_operand_of(f->d, n->slot);
  if (!o) {
    f->failed = true;
    return;
  }
  const uint32_t *ids = f->of_operand[o - f->d->instr->operands];
  s->access = o->access;
  s->rank = o->rank;
  memcpy(s->id, ids, o->rank * sizeof *ids);
}

static void
follow_node(following *f, const gs_skeleton *sk, uint32_t k, shape_of *all) {
  assert(k < sk->n);
  const gs_sk_node *n = &sk->nodes[k];
  if (n->hole) {
    follow_hole(f, n, &all[k]);
    return;
  }
  if (n->n_kids)
    all[k] = all[n->kids[0]];
  if ((n->op == GS_CARTPROD || n->op == GS_PAIR) && n->n_kids == 2)
    follow_tuple(f, n->op, &all[n->kids[1]], &all[k]);
  else if (n->op == GS_CONCAT && n->n_kids == 2)
    follow_concat(f, n, &all[n->kids[1]], &all[k]);
  else if (n->op == GS_COMPUTE)
    follow_compute(f, n, k + 1 == sk->n, &all[k]);
  else
    follow_view(f, n, &all[k]);
}

/* ---- what was found ---- */

/* Variables that attributes of the semantics speak of are held: at another
 * size the term would be another one. */
static void
note_spoken_of(void *spoken, uint32_t slot, bs_span span) {
  (void)span;
  ((bool *)spoken)[slot] = true;
}

static void
hold_spoken_of(following *f) {
  const gs_instr *instr = f->d->instr;
  const gs_skeleton *s = instr->semantics;
  bool *spoken = BS_NEWS(f->d->ctx->arena, bool, instr->scope.vars.len + 1u);
  for (uint32_t k = 0; k < s->n; k++)
    for (uint32_t a = 0; a < s->nodes[k].n_attrs; a++)
      if (s->nodes[k].attrs[a])
        gs_expr_vars(s->nodes[k].attrs[a], note_spoken_of, spoken);
  for (uint32_t k = 0; k < instr->n_operands; k++)
    for (uint32_t d = 0; d < instr->operands[k].rank; d++) {
      const gs_expr *e = instr->operands[k].dims[d];
      if (e->kind == GS_X_CALL || (e->kind == GS_X_VAR && spoken[e->slot]))
        f->held[root_of(f, f->of_operand[k][d])] = true;
    }
}

static int
place_in(const following *f, const uint32_t *ids, uint32_t n, uint32_t id,
         uint32_t *times) {
  int at = -1;
  *times = 0;
  for (uint32_t k = 0; k < n; k++)
    if (root_of(f, ids[k]) == id) {
      at = (int)k;
      ++*times;
    }
  return at;
}

/* Where it stands; false where it stands twice in one place. */
static bool
find_places(const following *f, const shape_of *result, uint32_t id,
            rl_dimension *out) {
  const gs_instr *instr = f->d->instr;
  uint32_t times;
  out->sum = f->sum[id];
  out->in_result = place_in(f, result->id, result->rank, id, &times);
  bool once = times <= 1 && (out->in_result >= 0) != out->sum;
  for (uint32_t k = 0; k < instr->n_operands; k++) {
    out->in_operand[k] =
        place_in(f, f->of_operand[k], instr->operands[k].rank, id, &times);
    once &= times <= 1;
  }
  return once;
}

static void
name_operands(following *f) {
  const gs_instr *instr = f->d->instr;
  for (uint32_t k = 0; k < instr->n_operands; k++)
    for (uint32_t d = 0; d < instr->operands[k].rank; d++)
      f->of_operand[k][d] = new_id(f, false);
}

uint32_t
rl_find_dimensions(const deriver *d, rl_dimension *out, uint32_t most) {
  const gs_skeleton *sk = d->instr->semantics;
  bs_arena *arena = d->ctx->arena;
  following *f = BS_NEW(arena, following);
  shape_of *all = BS_NEWS(arena, shape_of, sk->n + 1u);
  uint32_t n = 0;
  f->d = d;
  f->of_operand = bs_arena_calloc(arena, d->instr->n_operands + (size_t)1,
                                  sizeof *f->of_operand);
  name_operands(f);
  for (uint32_t k = 0; k < sk->n && !f->failed; k++)
    follow_node(f, sk, k, all);
  const shape_of *result = &all[sk->n - 1];
  if (f->failed || result->rank != d->instr->result.rank)
    return 0;
  hold_spoken_of(f);
  for (uint32_t id = 0; id < f->n_ids && n < most; id++) {
    if (root_of(f, id) != id || f->held[id])
      continue;
    out[n].in_operand = BS_NEWS(arena, int, d->instr->n_operands + (size_t)1);
    n += find_places(f, result, id, &out[n]);
  }
  return n;
}
