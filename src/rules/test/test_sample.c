/* SPDX-License-Identifier: MIT */
/* test_sample.c - random terms: leaves, attributes, instances of patterns.
 *
 * Sizes come from a few small numbers and types are used again, so that the
 * equalities that operators and conditions ask for come about by chance often
 * enough.  What does not fit is refused by the type rules, and the caller tries
 * again. */
#include "rules/test/test_sample.h"
#include "base/random.h"
#include <assert.h>
#include <string.h>

/* --- numbers -------------------------------------------------------------- */

uint64_t
rl_random(rl_sample *s) {
  return bs_random_next(&s->state);
}

int64_t
rl_random_below(rl_sample *s, int64_t n) {
  return n > 0 ? (int64_t)(rl_random(s) % (uint64_t)n) : 0;
}

bool
rl_chance(rl_sample *s, uint32_t percent) {
  assert(percent <= 100);
  return rl_random_below(s, 100) < percent;
}

static int64_t
random_size(rl_sample *s) {
  static const int64_t sizes[] = {1, 1, 2, 2, 2, 3, 3, 4, 4, 6};
  return sizes[rl_random_below(s, sizeof sizes / sizeof sizes[0])];
}

/* --- leaves --------------------------------------------------------------- */

static void
random_type(rl_sample *s, gs_type *t) {
  *t = (gs_type){.dtype = s->dtype};
  t->access = (uint8_t)rl_random_below(s, 3);
  t->rank = (uint8_t)(t->access + rl_random_below(s, 4));
  for (uint32_t d = 0; d < t->rank; d++)
    t->dim[d] = random_size(s);
}

/* A type seen before, or one like it. */
static void
similar_type(rl_sample *s, gs_type *t) {
  gs_type own;
  *t = s->types.data[rl_random_below(s, s->types.len)];
  if (rl_chance(s, 50))
    return;
  random_type(s, &own);
  uint32_t items = t->rank - t->access;
  if (rl_chance(s, 60)) { /* the same C under another S */
    memmove(own.dim + own.access, t->dim + t->access,
            items * sizeof own.dim[0]);
    own.rank = (uint8_t)(own.access + items);
    own.dtype = t->dtype;
    *t = own;
  } else if (t->rank) {
    int64_t d = rl_random_below(s, t->rank);
    t->dim[d] = random_size(s);
  }
}

static const char *
new_name(rl_sample *s, const char *prefix) {
  return bs_arena_printf(s->ctx->arena, "%s%u", prefix, s->n_made++);
}

/* Zeros, ones, or zeros in some places. */
static gs_term
random_constant(rl_sample *s, const gs_type *t) {
  gs_type stored = *t;
  gs_tensor data;
  uint32_t kind = (uint32_t)rl_random_below(s, 3);
  stored.access = stored.rank;
  gs_tensor_init(s->ctx->heap, &data, &stored);
  for (int64_t i = 0; i < data.elements; i++)
    gs_tensor_set(&data, i, kind < 2 ? kind : (double)(i % 3));
  gs_term term =
      gs_add_constant(s->p, new_name(s, "k"), &stored, data.data, BS_NOWHERE);
  gs_tensor_done(s->ctx->heap, &data);
  return term;
}

gs_term
rl_random_leaf(rl_sample *s) {
  gs_type t, stored;
  bs_values *values = s->ctx->values;
  if (s->types.len && rl_chance(s, 75))
    similar_type(s, &t);
  else
    random_type(s, &t);
  bs_push(s->ctx->heap, &s->types, t);
  stored = t;
  stored.access = stored.rank;
  gs_term term = rl_chance(s, 15) ? random_constant(s, &t)
                                  : gs_add_tensor(s->p, new_name(s, "t"),
                                                  &stored, BS_NOWHERE);
  bs_value split = bs_int(values, t.access);
  if (t.access != t.rank || rl_chance(s, 50))
    term = rl_sample_add(s, GS_ACCESS, bs_list(values, &split, 1), &term, 1);
  return term;
}

/* --- attributes ----------------------------------------------------------- */

static bs_value
one_int(rl_sample *s, int64_t x) {
  return bs_int(s->ctx->values, x);
}

static bs_value
random_permutation(rl_sample *s, uint32_t n) {
  int64_t p[GS_MAX_RANK];
  for (uint32_t k = 0; k < n; k++) {
    uint32_t j = (uint32_t)rl_random_below(s, k + 1);
    p[k] = p[j];
    p[j] = k;
  }
  return bs_ints(s->ctx->values, p, n);
}

/* The prime factors of a product dealt to new dimensions. */
static bs_value
random_factors(rl_sample *s, const int64_t *dims, uint32_t n) {
  int64_t out[4] = {1, 1, 1, 1}, rest = gs_prod(dims, n);
  uint32_t rank = n ? 1 + (uint32_t)rl_random_below(s, 3) : 0;
  for (int64_t f = 2; rank && rest > 1; rest % f ? f++ : (rest /= f))
    if (rest % f == 0)
      out[rl_random_below(s, rank)] *= f;
  if (n && rank == n && rl_chance(s, 30))
    return bs_ints(s->ctx->values, dims, n);
  return bs_ints(s->ctx->values, out, rank);
}

static bs_value
random_windows(rl_sample *s, const gs_type *t, uint32_t item) {
  int64_t out[GS_MAX_RANK];
  uint32_t n = (uint32_t)t->rank - t->access;
  bool ones = rl_chance(s, item == 2 ? 80 : 40);
  for (uint32_t k = 0; k < n; k++) {
    int64_t most = item == 0 ? t->dim[t->access + k] : item == 1 ? 3 : 2;
    out[k] = ones ? 1 : 1 + rl_random_below(s, most);
  }
  return bs_ints(s->ctx->values, out, n);
}

static bs_value
random_broadcast(rl_sample *s, const gs_type *t) {
  int64_t out[GS_MAX_RANK];
  for (uint32_t d = 0; d < t->rank; d++)
    out[d] = t->dim[d] == 1 ? random_size(s) : t->dim[d];
  return bs_ints(s->ctx->values, out, t->rank);
}

/* A dimension, of size 1 where there is one and `unit`. */
static int64_t
random_dim(rl_sample *s, const gs_type *t, bool unit) {
  int64_t d = rl_random_below(s, t->rank);
  for (uint32_t k = 0; unit && k < t->rank && t->dim[d] != 1; k++)
    d = (d + 1) % t->rank;
  return d;
}

/* By kind first: the many elementwise ones would push out the others. */
static gs_compute
random_compute(rl_sample *s) {
  static const gs_compute_kind kinds[] = {
      GS_REDUCE,      GS_REDUCE,      GS_FOLD, GS_FOLD,    GS_ELEMENTWISE,
      GS_ELEMENTWISE, GS_ELEMENTWISE, GS_DOT,  GS_SOFTMAX, GS_SELECT};
  size_t n = sizeof kinds / sizeof kinds[0];
  gs_compute_kind kind = kinds[rl_random_below(s, (int64_t)n)];
  gs_compute op = (gs_compute)rl_random_below(s, GS_COMPUTE_COUNT);
  while (!rl_chance(s, 5) && gs_compute_table[op].kind != kind)
    op = (gs_compute)((op + 1) % GS_COMPUTE_COUNT);
  return op;
}

static bs_value
random_operator(rl_sample *s) {
  bs_values *values = s->ctx->values;
  gs_compute op = random_compute(s);
  const gs_compute_info *info = &gs_compute_table[op];
  bs_value items[3] = {bs_sym(values, info->name)};
  static const char *const dtypes[] = {"i32", "i8", "f32"};
  uint32_t n = (uint32_t)strlen(info->params);
  for (uint32_t k = 0; k < n; k++)
    items[k + 1] = info->params[k] == 't'
                       ? bs_sym(values, dtypes[rl_random_below(s, 3)])
                       : bs_int(values, rl_random_below(s, 5) - 2 + 4 * k);
  return n ? bs_list(values, items, n + 1) : items[0];
}

/* Zeros, which rules speak of most, twice as often as another kind. */
static bs_value
random_pad_kind(rl_sample *s) {
  int64_t k = rl_random_below(s, GS_PADDING_COUNT + 1);
  return bs_sym(s->ctx->values, gs_padding_names[k > 0 ? k - 1 : 0]);
}

static uint32_t
slice_attr(rl_sample *s, const gs_type *t, bs_value *out) {
  int64_t d = random_dim(s, t, false), n = t->rank ? t->dim[d] : 1;
  int64_t lo = rl_chance(s, 40) ? 0 : rl_random_below(s, n);
  int64_t hi = rl_chance(s, 40) ? n : lo + 1 + rl_random_below(s, n - lo);
  out[0] = one_int(s, d);
  out[1] = one_int(s, lo);
  out[2] = one_int(s, hi);
  return 3;
}

static uint32_t
pad_attr(rl_sample *s, const gs_type *t, bs_value *out) {
  out[0] = random_pad_kind(s);
  out[1] = one_int(s, random_dim(s, t, false));
  out[2] = one_int(s, rl_random_below(s, 3));
  out[3] = one_int(s, rl_random_below(s, 3));
  return 4;
}

/* What is special to an operator: its items hang together, or only some of
 * them fit often enough. */
static uint32_t
special_attr(rl_sample *s, gs_op op, const gs_type *t, bs_value *out) {
  uint32_t n = 0;
  if (op == GS_SLICE)
    return slice_attr(s, t, out);
  if (op == GS_PAD)
    return pad_attr(s, t, out);
  if (op == GS_SQUEEZE)
    out[n++] = one_int(s, random_dim(s, t, true));
  for (; op == GS_WINDOWS && n < 3; n++)
    out[n] = random_windows(s, t, n);
  if (op == GS_RESHAPE) {
    out[n++] = random_factors(s, t->dim, t->access);
    out[n++] = random_factors(s, t->dim + t->access, t->rank - t->access);
  }
  return n;
}

static bs_value
random_item(rl_sample *s, char letter, const gs_type *t) {
  switch (letter) {
  case 'd':
    return one_int(s, random_dim(s, t, false));
  case 'g':
    return one_int(s, rl_random_below(s, t->rank + 1));
  case 'P':
    return random_permutation(s, t->rank);
  case 'R':
    return random_broadcast(s, t);
  case 'o':
    return random_operator(s);
  default:
    return one_int(s, 1 + rl_random_below(s, 3));
  }
}

bs_value
rl_random_attr(rl_sample *s, gs_op op, const gs_type *const *kids,
               uint32_t n_kids) {
  assert(op < GS_OP_COUNT);
  const char *letters = gs_op_table[op].attrs;
  bs_value out[4];
  if (op == GS_TENSOR || op == GS_CONST || op == GS_CALL)
    return BS_NIL;
  uint32_t n = special_attr(s, op, n_kids ? kids[0] : NULL, out);
  for (; letters[n] && n < 4; n++)
    out[n] = random_item(s, letters[n], kids[0]);
  return bs_list(s->ctx->values, out, n);
}

gs_term
rl_sample_add(rl_sample *s, gs_op op, bs_value attr, const gs_term *kids,
              uint32_t n_kids) {
  assert(op < GS_OP_COUNT && (kids || !n_kids));
  gs_type t;
  gs_term term = gs_add(s->p, op, attr, kids, n_kids, BS_NOWHERE, NULL);
  if (!gs_term_ok(term))
    return term;
  gs_type_at(s->p, term, &t);
  return gs_elements(&t) <= s->max_elements ? term : GS_NO_TERM;
}

/* --- instances of patterns ------------------------------------------------ */

typedef struct instance {
  rl_sample *s;
  gs_term *holes;  /* by slot; GS_NO_TERM: free */
  bs_value *attrs; /* by slot; BS_NIL: free */
} instance;

/* The attribute that a pattern takes when it may choose: literals as they are,
 * bound variables as they are, free ones as proposed.  No deeper than an
 * expression. */
static bs_value
fix_attr(instance *i, const eg_attr_pattern *a, bs_value proposed) {
  bs_values *values = i->s->ctx->values;
  bs_value items[GS_MAX_NESTING];
  switch (a->kind) {
  case EG_ATTR_VALUE:
    return a->value;
  case EG_ATTR_SLOT:
    if (!i->attrs[a->slot].i)
      i->attrs[a->slot] = proposed;
    return i->attrs[a->slot];
  case EG_ATTR_LIST:
    if (a->n > GS_MAX_NESTING)
      return BS_NIL;
    for (uint32_t k = 0; k < a->n; k++) {
      bool has = bs_kind_of(values, proposed) == BS_KIND_LIST &&
                 k < bs_len(values, proposed);
      items[k] = fix_attr(i, &a->items[k],
                          has ? bs_item(values, proposed, k) : BS_NIL);
      if (!items[k].i)
        return BS_NIL;
    }
    return bs_list(values, items, a->n);
  case EG_ATTR_ANY:
  default:
    return proposed;
  }
}

/* (tensor ?name ?shape ?dtype) and (const ...) match any leaf of theirs. */
static gs_term
fix_leaf(instance *i, const eg_term_node *n) {
  gs_type t;
  random_type(i->s, &t);
  t.access = t.rank;
  gs_term term = n->op == GS_CONST ? random_constant(i->s, &t)
                                   : gs_add_tensor(i->s->p, new_name(i->s, "t"),
                                                   &t, BS_NOWHERE);
  bs_value attr = gs_at(i->s->p, term)->attr;
  bs_value fixed = fix_attr(i, &n->attr, attr);
  return bs_same(fixed, attr) ? term : GS_NO_TERM;
}

static gs_term
fix_node(instance *i, const eg_term_node *n, const gs_term *made) {
  gs_term kids[GS_MAX_NESTING];
  gs_type types[8];
  const gs_type *list[8];
  if (n->n_kids > 8)
    return GS_NO_TERM;
  if (n->op == GS_TENSOR || n->op == GS_CONST)
    return fix_leaf(i, n);
  for (uint32_t k = 0; k < n->n_kids; k++) {
    kids[k] = made[n->kids[k]];
    gs_type_at(i->s->p, kids[k], &types[k]);
    list[k] = &types[k];
  }
  bs_value proposed = rl_random_attr(i->s, (gs_op)n->op, list, n->n_kids);
  bs_value attr = fix_attr(i, &n->attr, proposed);
  return attr.i ? rl_sample_add(i->s, (gs_op)n->op, attr, kids, n->n_kids)
                : GS_NO_TERM;
}

static bool
fix_term(instance *i, const eg_term *t, gs_term *out) {
  bs_heap *heap = i->s->ctx->heap;
  gs_term *made = bs_alloc(heap, t->n * sizeof *made);
  bool ok = true;
  for (uint32_t k = 0; k < t->n && ok; k++) {
    const eg_term_node *n = &t->nodes[k];
    if (!n->is_slot) {
      made[k] = fix_node(i, n, made);
    } else {
      gs_term *hole = &i->holes[n->slot];
      if (!gs_term_ok(*hole))
        *hole = rl_random_leaf(i->s);
      made[k] = *hole;
    }
    ok = gs_term_ok(made[k]);
  }
  if (ok)
    *out = made[t->n - 1];
  bs_free(heap, made);
  return ok;
}

/* The :with patterns first: the class that one is asked of is then its term. */
bool
rl_sample_left(rl_sample *s, const rl_compiled *rule, gs_term *root) {
  bs_heap *heap = s->ctx->heap;
  instance i = {.s = s};
  bool ok = true;
  i.holes = bs_alloc(heap, (rule->n_slots + (size_t)1) * sizeof *i.holes);
  i.attrs = bs_calloc(heap, rule->n_slots + (size_t)1, sizeof *i.attrs);
  for (uint32_t k = 0; k < rule->n_slots; k++)
    i.holes[k] = GS_NO_TERM;
  for (uint32_t k = 1; k < rule->n_parts && ok; k++) {
    gs_term *hole = &i.holes[rule->part_roots[k]], made;
    ok = fix_term(&i, &rule->parts[k], &made) &&
         (!gs_term_ok(*hole) || hole->i == made.i);
    if (ok)
      *hole = made;
    if (ok)
      gs_add_output(s->p, bs_arena_printf(s->ctx->arena, "with%u", k), made,
                    BS_NOWHERE);
  }
  ok = ok && fix_term(&i, &rule->parts[0], root);
  bs_free(heap, i.holes);
  bs_free(heap, i.attrs);
  return ok;
}
