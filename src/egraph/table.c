/* SPDX-License-Identifier: MIT */
/* table.c - interned heads and the hashcons.
 *
 * The hashcons is open addressing over cache lines of twelve (tag, node id)
 * pairs: a lookup compares twelve 8-bit tags at once and reads a node only
 * where its tag agrees, so a miss costs one line.  A node whose key changes is
 * taken out first, so there is one pair for each row that is not dead; a bucket
 * that was once full stays marked until the table is filled anew.  The bucket
 * of a hash is a multiplication, so any size will do. */
#include "egraph/hashcons.h"
#include <string.h>

/* --- heads ------------------------------------------------------------- */

static uint32_t
head_hash(uint32_t op, uint32_t attr, uint32_t arity) {
  uint64_t kind = (uint64_t)op << 32 | arity;
  return (uint32_t)eg_mix(kind ^ 0x9e3779b97f4a7c15u,
                          attr ^ 0xd6e8feb86659fd93u);
}

static bool
head_is(const eg_head *h, uint32_t op, bs_value attr, uint32_t arity) {
  return h->op == op && h->attr.i == attr.i && h->arity == arity;
}

uint32_t
eg_head_find(const eg_graph *g, uint32_t op, bs_value attr, uint32_t arity) {
  uint32_t mask = g->head_table.cap - 1;
  if (!g->head_table.cap)
    return EG_NONE;
  for (uint32_t i = head_hash(op, attr.i, arity) & mask;; i = (i + 1) & mask) {
    uint32_t at = g->head_table.data[i];
    if (!at)
      return EG_NONE;
    if (head_is(&g->heads.data[at - 1], op, attr, arity))
      return (at - 1) | (arity > 2 ? EG_WIDE : 0);
  }
}

uint32_t
eg_symbol_find(const eg_graph *g, uint32_t op, uint32_t arity) {
  uint32_t mask = g->symbol_table.cap - 1;
  if (!g->symbol_table.cap)
    return EG_NONE;
  for (uint32_t i = head_hash(op, 0, arity) & mask;; i = (i + 1) & mask) {
    uint32_t at = g->symbol_table.data[i];
    if (!at)
      return EG_NONE;
    const eg_head *h = &g->heads.data[g->symbol_ops.data[at - 1]];
    if (h->op == op && h->arity == arity)
      return at - 1;
  }
}

/* Twice the room when half full; cap is a power of two or 0. */
static void
table_room(eg_graph *g, uint32_t used, uint32_t **data, uint32_t *cap,
           bool symbols) {
  if (used * 2 < *cap)
    return;
  uint32_t size = *cap ? *cap * 2 : 64;
  uint32_t *fresh = bs_calloc(g->heap, size, sizeof *fresh);
  for (uint32_t k = 0; k < used; k++) {
    const eg_head *h = &g->heads.data[symbols ? g->symbol_ops.data[k] : k];
    uint32_t i = head_hash(h->op, symbols ? 0 : h->attr.i, h->arity);
    for (i &= size - 1; fresh[i];)
      i = (i + 1) & (size - 1);
    fresh[i] = k + 1;
  }
  bs_free(g->heap, *data);
  *data = fresh;
  *cap = size;
}

static void
table_enter(uint32_t *data, uint32_t cap, uint32_t hash, uint32_t value) {
  uint32_t i = hash & (cap - 1);
  while (data[i])
    i = (i + 1) & (cap - 1);
  data[i] = value;
}

static uint32_t
symbol_intern(eg_graph *g, uint32_t op, uint32_t arity, uint32_t head) {
  uint32_t s = eg_symbol_find(g, op, arity);
  if (s != EG_NONE)
    return s;
  table_room(g, g->symbol_ops.len, &g->symbol_table.data, &g->symbol_table.cap,
             true);
  bs_reserve(g->heap, &g->symbol_heads, (uint64_t)g->symbol_ops.len + 1);
  bs_push(g->heap, &g->symbol_ops, head);
  g->symbol_heads.len = g->symbol_ops.len;
  bs_last(&g->symbol_heads) = 0;
  s = g->symbol_ops.len - 1;
  table_enter(g->symbol_table.data, g->symbol_table.cap,
              head_hash(op, 0, arity), s + 1);
  return s;
}

uint32_t
eg_head_intern(eg_graph *g, uint32_t op, bs_value attr, uint32_t arity) {
  uint32_t head = eg_head_find(g, op, attr, arity);
  if (head != EG_NONE)
    return head;
  table_room(g, g->heads.len, &g->head_table.data, &g->head_table.cap, false);
  uint32_t at = g->heads.len;
  if (at >= EG_HEAD_MASK)
    bs_out_of_memory(g->heap);
  bs_push(g->heap, &g->heads, (eg_head){op, arity, attr, 0});
  uint32_t symbol = symbol_intern(g, op, arity, at);
  g->heads.data[at].symbol = symbol;
  g->symbol_heads.data[symbol]++;
  table_enter(g->head_table.data, g->head_table.cap,
              head_hash(op, attr.i, arity), at + 1);
  return at | (arity > 2 ? EG_WIDE : 0);
}

/* --- the hashcons ------------------------------------------------------ */

enum { TOGETHER = 32, STRAYS = 256 };

/* Enters the rows that are not dead into empty buckets, some at a time: first
 * their hashes, then the nodes, whose buckets have been fetched meanwhile.
 * Those that spill out of the last bucket are put in afterwards; false when
 * they are too many. */
static bool
fill_together(eg_graph *g) {
  uint64_t hash[TOGETHER];
  uint32_t node[TOGETHER], strays[STRAYS], n_strays = 0, end = g->n_rows;
  for (uint32_t from = 0; from < end;) {
    uint32_t n = 0;
    for (; n < TOGETHER && from < end; from++) {
      const eg_row *r = &g->rows[from];
      hash[n] = eg_row_hash(r);
      node[n] = from;
      eg_table_prefetch(g, hash[n]);
      n += !(r->head & EG_DEAD);
    }
    for (uint32_t i = 0; i < n; i++) {
      if (eg_put_before(g->buckets, eg_bucket_of(g, hash[i]), g->n_buckets,
                        eg_tag_of(hash[i]), node[i]))
        continue;
      if (n_strays == STRAYS)
        return false;
      strays[n_strays++] = node[i];
    }
  }
  for (uint32_t k = 0; k < n_strays; k++)
    eg_table_put(g, eg_row_hash(&g->rows[strays[k]]), strays[k]);
  return true;
}

static void
clear(eg_graph *g) {
  memset(g->buckets, 0, (size_t)g->n_buckets * sizeof *g->buckets);
  g->filled = 0;
}

/* Where the nodes crowd so much that too many stray, they are entered one by
 * one. */
static void
fill(eg_graph *g) {
  clear(g);
  if (!fill_together(g)) {
    clear(g);
    for (uint32_t node = 0; node < g->n_rows; node++)
      if (!(g->rows[node].head & EG_DEAD))
        eg_table_put(g, eg_row_hash(&g->rows[node]), node);
  }
  g->filled = g->n_rows - g->n_dead;
}

/* The pairs are made anew from the rows, so no second table is needed. */
static void
table_resize(eg_graph *g, uint64_t n_buckets) {
  size_t size = (n_buckets + 1) * sizeof(eg_bucket);
  void *block = bs_realloc(g->heap, g->bucket_block, size);
  uintptr_t at = ((uintptr_t)block + 63) & ~(uintptr_t)63;
  g->bucket_block = block;
  g->buckets = (eg_bucket *)at;
  g->n_buckets = (uint32_t)n_buckets;
  fill(g);
}

/* Slots; larger tables grow by half.  `EARLY`: in the first iterations, where
 * graphs mostly grow by more. */
enum { DOUBLED = 1 << 15, DOUBLED_EARLY = 1 << 16 };

static uint64_t
buckets_for(uint64_t entries) {
  return entries * EG_FULL_DEN / (EG_FULL_NUM * EG_BUCKET) + 2;
}

/* Room for half as many again or, where the iteration is expected to add more,
 * for that, up to sixteen times; small tables double. */
static uint64_t
comfortable(const eg_graph *g, uint64_t slots, uint64_t need) {
  bool early = g->expected == EG_EARLY;
  uint64_t most = need * 16;
  uint64_t want =
      slots < (early ? DOUBLED_EARLY : DOUBLED) ? need * 2 : need + need / 2;
  if (!early && want < g->expected)
    want = g->expected < most ? g->expected : most;
  return buckets_for(want);
}

/* Near the byte limit the table is filled more tightly first. */
void
eg_table_make_room(eg_graph *g, uint64_t more) {
  uint64_t slots = (uint64_t)g->n_buckets * EG_BUCKET;
  uint64_t want = g->filled + more;
  uint64_t n = comfortable(g, slots, want);
  if (n < 8)
    n = 8;
  if (g->limit && g->heap->used + n * sizeof(eg_bucket) > g->limit) {
    if (want * 20 <= slots * 19)
      return;
    n = buckets_for(want);
  }
  table_resize(g, n);
}

void
eg_table_refill(eg_graph *g) {
  if (g->n_buckets)
    fill(g);
}

uint64_t
eg_table_growth(const eg_graph *g, uint64_t more) {
  uint64_t slots = (uint64_t)g->n_buckets * EG_BUCKET;
  uint64_t want = g->filled + more;
  return want * 20 <= slots * 19 ? 0 : buckets_for(g->live_nodes + more);
}

void
eg_table_free(eg_graph *g) {
  bs_free(g->heap, g->bucket_block);
  g->bucket_block = NULL;
  g->buckets = NULL;
  g->n_buckets = g->filled = 0;
}
