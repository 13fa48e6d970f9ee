/* SPDX-License-Identifier: MIT */
/* graph.c - adding nodes and finding them.
 *
 * Every growth happens before the change that needs it, so an allocation that
 * fails leaves the graph as it was. */
#include "egraph/add.h"
#include "egraph/journal.h"
#include <assert.h>
#include <string.h>

eg_graph *
eg_new(bs_heap *heap, bs_values *values, const eg_options *options) {
  eg_graph *g = bs_calloc(heap, 1, sizeof *g);
  g->heap = heap;
  g->values = values;
  g->self = g;
  if (options) {
    g->analysis = options->analysis;
    g->data_size = g->analysis.size;
    g->origins = options->origins;
    g->wide = options->wide_index;
    if (options->explain)
      g->journal = eg_journal_new(heap);
  }
  uint32_t ids = options ? options->ids : 0;
  g->most_rows = ids && ids < EG_MAX_NODES ? ids : EG_MAX_NODES;
  g->most_pool = ids && ids < EG_POOL_EDGE ? ids : EG_POOL_EDGE - 1;
  for (int i = 0; i < 2 && g->analysis.size; i++)
    g->spare[i] = bs_calloc(heap, 1, g->analysis.size);
  g->epoch = 1;
  g->free_record = EG_NONE;
  g->now = (eg_origin){EG_BY_CLIENT, EG_NO_NODE};
  g->fault_a = g->fault_b = EG_NO_CLASS;
  return g;
}

void
eg_free(eg_graph *g) {
  if (!g)
    return;
  bs_heap *h = g->heap;
  void *blocks[] = {g->rows,      g->links,      g->stamps,   g->origin,
                    g->pool,      g->pool_links, g->up,       g->parents,
                    g->flags,     g->data,       g->spare[0], g->spare[1],
                    g->pool_owner};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
    bs_free(h, blocks[i]);
  bs_vec_done(h, &g->heads);
  bs_vec_done(h, &g->head_table);
  bs_vec_done(h, &g->symbol_ops);
  bs_vec_done(h, &g->symbol_heads);
  bs_vec_done(h, &g->symbol_table);
  bs_vec_done(h, &g->merged);
  bs_vec_done(h, &g->changed);
  bs_vec_done(h, &g->modify_queue);
  bs_vec_done(h, &g->chunks);
  bs_vec_done(h, &g->edges);
  bs_vec_done(h, &g->congruent);
  bs_vec_done(h, &g->prunes);
  bs_vec_done(h, &g->pruned);
  bs_vec_done(h, &g->scratch);
  eg_table_free(g);
  eg_index_free(g);
  eg_journal_free(h, g->journal);
  bs_free(h, g);
}

/* --- growth ------------------------------------------------------------ */

/* Half as much again, an eighth of what is not small, a thirty-second of what
 * is large (larger blocks yet grow in place); near the byte limit, a sixteenth
 * at most. */
uint64_t
eg_grown(eg_graph *g, uint64_t have, uint64_t need, size_t item) {
  uint64_t bytes = have * item;
  uint64_t want = have + (bytes > 1 << 18   ? have / 32
                          : bytes > 1 << 15 ? have / 8
                                            : have / 2);
  if (want < need)
    want = need;
  if (!g->limit || g->heap->used + want * item / 2 <= g->limit)
    return want;
  want = want < have + have / 16 ? want : have + have / 16;
  return want < need ? need : want;
}

static void
grow_rows(eg_graph *g, uint64_t need) {
  uint64_t cap = eg_grown(g, g->cap_rows, need < 64 ? 64 : need, EG_ROW_BYTES);
  if (cap > g->most_rows)
    cap = g->most_rows;
  if (need > cap)
    bs_out_of_memory(g->heap);
  g->rows = bs_realloc(g->heap, g->rows, cap * sizeof *g->rows);
  g->links = bs_realloc(g->heap, g->links, cap * 2 * sizeof *g->links);
  g->stamps = bs_realloc(g->heap, g->stamps, cap * sizeof *g->stamps);
  if (g->origins)
    g->origin = bs_realloc(g->heap, g->origin, cap * sizeof *g->origin);
  g->cap_rows = (uint32_t)cap;
}

static void
grow_pool(eg_graph *g, uint64_t need) {
  uint64_t cap = eg_grown(g, g->cap_pool, need < 64 ? 64 : need, 12);
  if (cap > g->most_pool)
    cap = g->most_pool;
  if (need > cap)
    bs_out_of_memory(g->heap);
  g->pool = bs_realloc(g->heap, g->pool, cap * sizeof *g->pool);
  g->pool_links = bs_realloc(g->heap, g->pool_links, cap * sizeof(uint32_t));
  g->pool_owner = bs_realloc(g->heap, g->pool_owner, cap * sizeof(uint32_t));
  g->cap_pool = (uint32_t)cap;
}

void
eg_reserve(eg_graph *g, uint64_t more, uint64_t pool) {
  uint64_t nodes = more > g->n_free ? more - g->n_free : 0;
  if (nodes > g->most_rows - g->n_rows)
    nodes = g->most_rows - g->n_rows; /* the first too many is refused */
  if (g->n_rows + nodes > g->cap_rows)
    grow_rows(g, g->n_rows + nodes);
  if (g->n_pool + pool > g->cap_pool)
    grow_pool(g, g->n_pool + pool);
  eg_table_reserve(g, more);
}

static uint64_t
index_growth(const eg_graph *g, uint64_t nodes) {
  const eg_index *x = &g->index;
  uint64_t want = nodes * (EG_ENTRY_MOST + sizeof(eg_node)) +
                  g->n_classes * sizeof(uint32_t) +
                  g->live_classes * (uint64_t)12;
  uint64_t have = eg_entries_bytes(&x->by_symbol) +
                  x->class_segment.cap * sizeof(uint32_t) +
                  x->segments.cap * sizeof(uint32_t);
  return want > have ? want - have : 0;
}

bool
eg_fits(const eg_graph *g, uint64_t more) {
  if (!g->limit)
    return true;
  uint64_t used = g->heap->used + eg_table_growth(g, more) * sizeof(eg_bucket);
  uint64_t rows = g->n_rows - g->n_free + more, classes = g->n_classes + more;
  uint64_t records = g->live_classes + g->merged.len + more;
  if (rows > g->cap_rows)
    used += (rows + rows / 16 - g->cap_rows) * EG_ROW_BYTES;
  if (classes > g->cap_classes)
    used += (classes + classes / 16 - g->cap_classes) * sizeof *g->up;
  if (records > g->cap_records)
    used += (records + records / 16 - g->cap_records) *
            (EG_RECORD_BYTES + g->analysis.size);
  used += more * 12; /* worklists */
  return used + index_growth(g, g->live_nodes + more) <= g->limit;
}

/* --- nodes ------------------------------------------------------------- */

static uint32_t
row_new(eg_graph *g, const eg_key *k, uint64_t hash, const eg_class *kids,
        uint32_t n_kids, uint32_t cls) {
  uint32_t n = eg_row_place(g);
  eg_row *r = &g->rows[n];
  *r = (eg_row){k->head, cls, {{k->a}, {k->b}}};
  g->stamps[n] = (eg_stamp)g->epoch;
  g->links[2 * n] = g->links[2 * n + 1] = EG_NONE;
  if (g->origin)
    g->origin[n] = g->now;
  if (k->head & EG_WIDE) {
    r->kid[0].i = g->n_pool;
    memcpy(g->pool + g->n_pool, kids, n_kids * sizeof *kids);
    for (uint32_t i = 0; i < n_kids; i++) {
      g->pool_owner[g->n_pool] = n;
      eg_edge_link(g, g->n_pool++ | EG_POOL_EDGE, eg_record(g, kids[i].i));
    }
  } else {
    for (uint32_t i = 0; i < n_kids; i++)
      eg_edge_link(g, 2 * n + i, eg_record(g, kids[i].i));
  }
  eg_table_put(g, hash, n);
  g->live_nodes++;
  g->index.valid = false;
  return n;
}

static uint32_t
class_for(eg_graph *g, uint32_t head, const eg_class *kids, uint32_t n_kids,
          uint32_t into, eg_reason why) {
  const eg_analysis *a = &g->analysis;
  if (a->make || a->size || a->modify)
    return eg_class_with_data(g, head, kids, n_kids, into, why);
  return into == EG_NONE ? eg_class_made(g) : into;
}

uint32_t
eg_add_new(eg_graph *g, const eg_key *k, uint64_t hash, const eg_class *kids,
           uint32_t n, uint32_t into, eg_reason why) {
  assert((k->head & EG_HEAD_MASK) < g->heads.len &&
         eg_head_of(g, k->head)->arity == n);
  assert(eg_all_lead(g, kids, n));
  assert(into == EG_NONE || into < g->n_classes);
  uint32_t pool = k->head & EG_WIDE ? n : 0;
  if ((g->n_rows >= g->most_rows && !g->n_free) ||
      pool > g->most_pool - g->n_pool) {
    eg_fail(g, EG_FAULT_IDS, into, EG_NONE, why);
    return EG_NONE;
  }
  if (pool || (g->n_rows == g->cap_rows && !g->n_free))
    eg_reserve(g, 1, pool);
  else
    eg_table_reserve(g, 1);
  if (g->journal)
    eg_journal_room(g, pool, 1);
  eg_modify_room(g);
  uint32_t c = class_for(g, k->head, kids, n, into, why);
  if (c == EG_NONE)
    return EG_NONE;
  row_new(g, k, hash, kids, n, c);
  if (g->journal)
    eg_journal_row(g, kids, n, c, into, why);
  eg_modify_soon(g, c);
  return c;
}

uint32_t
eg_add_key(eg_graph *g, const eg_key *k, uint64_t hash, const eg_class *kids,
           uint32_t n, uint32_t into, eg_reason why) {
  assert(kids || !n);
  assert(into == EG_NONE || into < g->n_classes);
  uint32_t have = eg_table_find(g, k, hash, EG_NONE, NULL), c;
  if (have == EG_NONE) {
    c = eg_add_new(g, k, hash, kids, n, into, why);
    return c == EG_NONE ? c : eg_root(g, c);
  }
  c = eg_root(g, g->rows[have].cls);
  if (g->journal)
    g->journal->row = have;
  if (into == EG_NONE || !eg_unite(g, into, c, why)) {
    if (g->journal && into != EG_NONE)
      eg_journal_again(g, why);
    return c;
  }
  return eg_root(g, c);
}

uint32_t
eg_add_head(eg_graph *g, uint32_t head, const eg_class *kids, uint32_t n,
            uint32_t into, eg_reason why) {
  assert(n == 0 || kids);
  eg_key k = eg_key_of(head, kids, n);
  return eg_add_key(g, &k, eg_key_hash(&k), kids, n, into, why);
}

static uint32_t
find_head(const eg_graph *g, uint32_t head, const eg_class *kids, uint32_t n) {
  assert(n == 0 || kids);
  assert((head & EG_HEAD_MASK) < g->heads.len && eg_all_lead(g, kids, n));
  eg_key k = eg_key_of(head, kids, n);
  uint32_t at = eg_table_find(g, &k, eg_key_hash(&k), EG_NONE, NULL);
  return at == EG_NONE ? EG_NONE : eg_root(g, g->rows[at].cls);
}

/* Canonical children in a buffer of the graph's, or in `few`. */
static eg_class *
canonical(eg_graph *g, const eg_class *kids, uint32_t n, eg_class few[8]) {
  eg_class *out = few;
  if (n > 8) {
    bs_reserve(g->heap, &g->scratch, n);
    out = g->scratch.data;
  }
  for (uint32_t i = 0; i < n; i++)
    out[i].i = eg_root(g, kids[i].i);
  return out;
}

eg_class
eg_add(eg_graph *g, uint32_t op, bs_value attr, const eg_class *kids,
       uint32_t n_kids) {
  assert(eg_all_known(g, kids, n_kids));
  eg_class few[8];
  for (uint32_t i = 0; i < n_kids; i++)
    if (kids[i].i == EG_NONE)
      return EG_NO_CLASS;
  uint32_t head = eg_head_intern(g, op, attr, n_kids);
  const eg_class *own = canonical(g, kids, n_kids, few);
  eg_reason why = {g->now.rule, 0};
  return (eg_class){eg_add_head(g, head, own, n_kids, EG_NONE, why)};
}

eg_class
eg_lookup(const eg_graph *g, uint32_t op, bs_value attr, const eg_class *kids,
          uint32_t n_kids) {
  assert(eg_all_known(g, kids, n_kids));
  eg_class few[8];
  uint32_t head = eg_head_find(g, op, attr, n_kids);
  if (head == EG_NONE)
    return EG_NO_CLASS;
  for (uint32_t i = 0; i < n_kids; i++)
    if (kids[i].i == EG_NONE)
      return EG_NO_CLASS;
  const eg_class *own = canonical(g->self, kids, n_kids, few);
  return (eg_class){find_head(g, head, own, n_kids)};
}

/* --- looking ----------------------------------------------------------- */

bool
eg_is_clean(const eg_graph *g) {
  return !g->dirty;
}

uint32_t
eg_count_nodes(const eg_graph *g) {
  return g->live_nodes;
}

uint32_t
eg_count_classes(const eg_graph *g) {
  return g->live_classes;
}

uint32_t
eg_op(const eg_graph *g, eg_node n) {
  assert(n.i < g->n_rows);
  return eg_head_of(g, g->rows[n.i].head)->op;
}

bs_value
eg_attr(const eg_graph *g, eg_node n) {
  assert(n.i < g->n_rows);
  return eg_head_of(g, g->rows[n.i].head)->attr;
}

const eg_class *
eg_kids(const eg_graph *g, eg_node n, uint32_t *n_kids) {
  assert(n.i < g->n_rows);
  const eg_row *r = &g->rows[n.i];
  *n_kids = eg_head_of(g, r->head)->arity;
  return eg_row_kids(g, r);
}

eg_class
eg_class_of(const eg_graph *g, eg_node n) {
  assert(n.i < g->n_rows);
  return (eg_class){eg_root(g, g->rows[n.i].cls)};
}

eg_fault_kind
eg_fault(const eg_graph *g) {
  return g->fault;
}

void
eg_fault_merge(const eg_graph *g, eg_class *a, eg_class *b, eg_reason *reason) {
  *a = g->fault_a;
  *b = g->fault_b;
  *reason = g->fault_reason;
}

eg_origin
eg_origin_of(const eg_graph *g, eg_node n) {
  assert(n.i < g->n_rows);
  if (!g->origin)
    return (eg_origin){EG_BY_CLIENT, EG_NO_NODE};
  return g->origin[n.i];
}

size_t
eg_bytes(const eg_graph *g) {
  const eg_index *x = &g->index;
  size_t row = EG_ROW_BYTES;
  if (g->origin)
    row += sizeof *g->origin;
  size_t journal = g->journal ? eg_journal_bytes(g->journal) : 0;
  size_t n = journal + sizeof *g + g->cap_rows * row;
  n += (size_t)g->cap_pool * 3 * sizeof(uint32_t);
  n += (size_t)g->cap_classes * sizeof *g->up;
  n += (size_t)g->cap_records * (EG_RECORD_BYTES + g->analysis.size);
  n += (size_t)g->merged.cap * sizeof(eg_merged);
  n += (size_t)g->n_buckets * sizeof *g->buckets;
  n += g->heads.cap * sizeof(eg_head);
  n += ((size_t)g->head_table.cap + g->symbol_table.cap + g->symbol_ops.cap +
        g->changed.cap + g->modify_queue.cap + g->edges.cap + g->scratch.cap) *
       sizeof(uint32_t);
  n += g->chunks.cap * sizeof(eg_parent_chunk) +
       g->congruent.cap * sizeof(eg_congruence);
  n += ((size_t)x->class_start.cap + x->by_class.cap + x->class_segment.cap +
        x->symbol_start.cap) *
       sizeof(uint32_t);
  return n + x->segments.cap * sizeof(uint32_t) +
         eg_entries_bytes(&x->by_symbol);
}
