/* SPDX-License-Identifier: MIT */
/* relation_value.c - the table of values: equal nodes are one node.
 *
 * A node's content is a run of words in one pool; the table is open addressing
 * with linear probing, at most half full.  Once `failed` is set every
 * constructor gives 0 and the whole evaluation is void. */
#include "prove/relation/relation_value.h"
#include "base/hash.h"
#include <assert.h>
#include <math.h>
#include <string.h>

void
pv_values_init(pv_values *v, bs_heap *heap, uint64_t max_work) {
  *v = (pv_values){.heap = heap, .size = 1024, .max_work = max_work};
  v->slots = bs_calloc(heap, v->size, sizeof *v->slots);
  bs_push(heap, &v->nodes, (pv_node){0});
}

void
pv_values_done(pv_values *v) {
  bs_free(v->heap, v->slots);
  bs_vec_done(v->heap, &v->nodes);
  bs_vec_done(v->heap, &v->pool);
  bs_vec_done(v->heap, &v->parts);
  bs_vec_done(v->heap, &v->words);
  bs_vec_done(v->heap, &v->dropped);
}

bool
pv_spend(pv_values *v, uint64_t work) {
  v->work += work;
  v->failed |= v->work > v->max_work;
  return !v->failed;
}

static uint64_t
hash_of(const pv_node *n, const uint32_t *words, uint32_t count) {
  uint64_t head[3] = {(uint64_t)n->kind | (uint64_t)n->dtype << 8 |
                          (uint64_t)n->op << 16,
                      n->param, count};
  return XXH3_64bits_withSeed(words, count * sizeof *words,
                              bs_hash(head, sizeof head));
}

static bool
is_node(const pv_values *v, const pv_node *a, const pv_node *b,
        const uint32_t *words, uint32_t n) {
  return a->hash == b->hash && a->kind == b->kind && a->dtype == b->dtype &&
         a->op == b->op && a->param == b->param && a->n == n &&
         (!n || !memcmp(&v->pool.data[a->at], words, n * sizeof *words));
}

static void
grow(pv_values *v) {
  uint32_t size = v->size * 2;
  uint32_t *slots = bs_calloc(v->heap, size, sizeof *slots);
  for (uint32_t k = 1; k < v->nodes.len; k++) {
    uint32_t at = (uint32_t)v->nodes.data[k].hash & (size - 1);
    while (slots[at])
      at = (at + 1) & (size - 1);
    slots[at] = k;
  }
  bs_free(v->heap, v->slots);
  v->slots = slots;
  v->size = size;
}

/* Of what it is made of.  The words of a sum are parts, of five words each, of
 * which the last is a product; a product has a factor in every second one. */
static bool
has_partial(const pv_values *v, const pv_node *node, const uint32_t *words,
            uint32_t n) {
  uint32_t step = node->kind == PV_SUM ? 5 : node->kind == PV_PRODUCT ? 2 : 1;
  if (node->kind == PV_NUMBER || node->kind == PV_LEAF)
    return false;
  uint32_t first = node->kind == PV_SUM ? 4 : node->labelled;
  for (uint32_t k = first; k < n; k += step)
    if (v->nodes.data[words[k]].partial)
      return true;
  return false;
}

void
pv_drop(pv_values *v, pv_value x) {
  const uint32_t *last = v->dropped.data + v->dropped.len;
  if (pv_at(v, x)->partial && (!v->dropped.len || last[-1] != x))
    bs_push(v->heap, &v->dropped, x);
}

/* `words` may not lie in the pool. */
pv_value
pv_intern(pv_values *v, pv_node node, const uint32_t *words, uint32_t n) {
  if (!pv_spend(v, n + 1))
    return 0;
  assert(v->size && !(v->size & (v->size - 1)));
  node.hash = hash_of(&node, words, n);
  uint32_t at = (uint32_t)node.hash & (v->size - 1);
  for (; v->slots[at]; at = (at + 1) & (v->size - 1))
    if (is_node(v, &v->nodes.data[v->slots[at]], &node, words, n))
      return v->slots[at];
  node.partial |= has_partial(v, &node, words, n);
  node.n = n;
  node.at = v->pool.len;
  bs_reserve(v->heap, &v->pool, (uint64_t)v->pool.len + n);
  if (n)
    memcpy(v->pool.data + v->pool.len, words, n * sizeof *words);
  v->pool.len += n;
  bs_push(v->heap, &v->nodes, node);
  v->slots[at] = v->nodes.len - 1;
  if (v->nodes.len >= v->size / 2)
    grow(v);
  return v->nodes.len - 1;
}

pv_value
pv_number_value(pv_values *v, gs_dtype d, pv_number number) {
  assert(number.den > 0);
  uint32_t words[4];
  memcpy(words, &number, sizeof words);
  return pv_intern(
      v,
      (pv_node){.kind = PV_NUMBER, .dtype = d, .nonnegative = number.num >= 0},
      words, 4);
}

/* What is no fraction that fits stands for itself, by its bits. */
pv_value
pv_real_value(pv_values *v, gs_dtype d, double x) {
  assert(d < GS_DTYPE_COUNT);
  pv_number number;
  uint32_t words[2];
  if (pv_number_of_real(d, x, &number))
    return pv_number_value(v, d, number);
  if (x == -INFINITY)
    return pv_lowest(v, d);
  memcpy(words, &x, sizeof words);
  v->unsure |= !isfinite(x);
  return pv_intern(
      v, (pv_node){.kind = PV_LEAF, .dtype = d, .nonnegative = x >= 0}, words,
      2);
}

pv_value
pv_leaf(pv_values *v, gs_dtype d, uint32_t source, int64_t element,
        bool partial) {
  assert(d < GS_DTYPE_COUNT);
  uint32_t words[3] = {source, (uint32_t)element,
                       (uint32_t)((uint64_t)element >> 32)};
  return pv_intern(
      v, (pv_node){.kind = PV_LEAF, .dtype = d, .partial = partial}, words, 3);
}

pv_value
pv_lowest(pv_values *v, gs_dtype d) {
  assert(d < GS_DTYPE_COUNT);
  if (gs_dtype_table[d].integer)
    return pv_number_value(v, d, pv_number_least(d));
  return pv_intern(v, (pv_node){.kind = PV_LOWEST, .dtype = d}, NULL, 0);
}

/* May the operator have no value for such operands?  Nothing is known of what
 * stands for several. */
static bool
is_partial(const pv_values *v, gs_dtype d, gs_compute op, const pv_value *args,
           uint32_t n) {
  assert(d < GS_DTYPE_COUNT);
  const pv_node *x = pv_at(v, args[n - 1]);
  if (gs_dtype_table[d].integer)
    return false;
  if (op >= GS_COMPUTE_COUNT || op == GS_C_DIV)
    return op != GS_C_DIV || !x->positive;
  switch (gs_compute_table[op].domain) {
  case GS_DOMAIN_POSITIVE:
  case GS_DOMAIN_NONZERO:
    return !x->positive;
  case GS_DOMAIN_NONNEGATIVE:
    return !x->nonnegative;
  case GS_DOMAIN_REALS:
    return false;
  }
  return true;
}

pv_value
pv_apply_op(pv_values *v, gs_dtype d, gs_compute op, uint32_t param,
            bool nonnegative, const pv_value *args, uint32_t n) {
  assert(args || !n);
  gs_sign sign =
      op < GS_COMPUTE_COUNT ? gs_compute_table[op].sign : GS_SIGN_ANY;
  pv_node node = {.kind = PV_APPLY,
                  .dtype = d,
                  .op = (uint16_t)op,
                  .param = param,
                  .positive = sign == GS_SIGN_POSITIVE,
                  .nonnegative = nonnegative};
  for (uint32_t k = 0; k < n; k++)
    if (!args[k])
      return 0;
  if (sign == GS_SIGN_KEEPS_POSITIVE || sign == GS_SIGN_POSITIVE_ALONE)
    node.positive = pv_at(v, args[0])->positive;
  node.partial = is_partial(v, d, op, args, n);
  return pv_intern(v, node, args, n);
}

void
pv_need_held(pv_values *v, pv_value x) {
  pv_number number;
  if (x && pv_is_number(v, x, &number))
    v->failed |= !pv_number_is_held((gs_dtype)pv_at(v, x)->dtype, number);
}

bool
pv_is_number(const pv_values *v, pv_value x, pv_number *out) {
  if (pv_at(v, x)->kind != PV_NUMBER)
    return false;
  memcpy(out, pv_words(v, x), sizeof *out);
  return true;
}
