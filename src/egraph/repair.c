/* SPDX-License-Identifier: MIT */
/* repair.c - congruence repair: the parents of merged classes re-hashed. */
#include "egraph/repair.h"
#include "egraph/journal.h"
#include <assert.h>
#include <string.h>

enum { TOGETHER = 32 }; /* whose cache misses overlap */

/* Is the graph beyond the caches, so that asking for what comes is worth it? */
static bool
is_far(const eg_graph *g) {
  return g->n_rows >= 1 << 18;
}

/* --- edges -------------------------------------------------------------- */

static void
prefetch_edge(const eg_graph *g, uint32_t edge) {
  if (edge & EG_POOL_EDGE)
    return;
  __builtin_prefetch(&g->links[edge]);
  __builtin_prefetch(&g->rows[edge / 2]);
}

/* Lists one edge, if its node lives; false after the last one. */
static bool
walk_edge(const eg_graph *g, eg_parent_chunk *c, uint32_t *edges) {
  uint32_t e = c->edge;
  c->edge = *eg_link_of(g, e);
  c->visit--;
  if (c->visit)
    prefetch_edge(g, c->edge);
  if (g->rows[eg_edge_node(g, e)].head & EG_DEAD)
    return c->visit;
  if (c->last == EG_NONE)
    c->first = e;
  else if (*eg_link_of(g, c->last) != e)
    *eg_link_of(g, c->last) = e;
  c->last = e;
  edges[c->at + c->n++] = e;
  return c->visit;
}

/* The edges of dead nodes left gaps. */
static uint32_t
close_gaps(eg_parent_chunk *chunks, uint32_t n, uint32_t *edges) {
  uint32_t from = n ? chunks[0].at : 0, to = from;
  for (uint32_t i = 0; i < n; i++) {
    eg_parent_chunk *s = &chunks[i];
    if (to == s->at) { /* where all are in place there may be no edges at all */
      to += s->n;
      continue;
    }
    const uint32_t *list = edges + s->at;
    s->at = to;
    for (uint32_t k = 0; k < s->n; k++)
      edges[to++] = list[k];
  }
  return to - from;
}

enum { SIDE_BY_SIDE = 8 };

/* Some chunks are followed side by side, for each step waits for memory. */
/* Lists the edges of chunks[0 .. n) from the first one's `at` on, without
 * those of dead nodes, chain by chain; returns how many. */
static uint32_t
walk_chunks(const eg_graph *g, eg_parent_chunk *chunks, uint32_t n,
            uint32_t *edges) {
  eg_parent_chunk *on[SIDE_BY_SIDE];
  uint32_t n_on = 0, at = 0;
  do {
    for (; n_on < SIDE_BY_SIDE && at < n; at++) {
      if (!chunks[at].visit)
        continue;
      prefetch_edge(g, chunks[at].edge);
      on[n_on++] = &chunks[at];
    }
    for (uint32_t i = 0; i < n_on;) {
      if (walk_edge(g, on[i], edges))
        i++;
      else
        on[i] = on[--n_on];
    }
  } while (n_on || at < n);
  return close_gaps(chunks, n, edges);
}

/* What moving the edges of some chunks will write. */
static void
prefetch_winners(const eg_graph *g, const eg_merged *merged,
                 const eg_parent_chunk *chunks, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    __builtin_prefetch(&g->up[merged[i].cls]);
  for (uint32_t i = 0; i < n; i++) {
    if (chunks[i].last == EG_NONE)
      continue;
    __builtin_prefetch(&g->parents[eg_record(g, eg_root(g, merged[i].cls))]);
    __builtin_prefetch(eg_link_of(g, chunks[i].last), 1);
  }
}

static void
splice(eg_graph *g, const eg_merged *l, const eg_parent_chunk *s) {
  eg_parents *to = &g->parents[eg_record(g, eg_root(g, l->cls))];
  if (s->rest)
    g->parents[l->record] = (eg_parents){s->edge, s->rest};
  else
    eg_record_free(g, l->record);
  if (s->last == EG_NONE)
    return;
  *eg_link_of(g, s->last) = to->first;
  to->first = s->first;
  to->n += s->n;
}

/* What was walked goes over to the winners.  The records of losers that have no
 * more edges are free. */
static void
splice_chunks(eg_graph *g, const eg_merged *merged,
              const eg_parent_chunk *chunks, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    if (is_far(g) && i % TOGETHER == 0)
      prefetch_winners(g, merged + i, chunks + i,
                       n - i < TOGETHER ? n - i : TOGETHER);
    splice(g, &merged[i], &chunks[i]);
  }
}

/* --- keys --------------------------------------------------------------- */

typedef struct eg_rekeyed {
  uint32_t node;
  eg_key key;
  uint64_t hash, was;
} eg_rekeyed;

/* Makes the children of a wide row canonical; false when they were. */
static bool
rekey_wide(eg_graph *g, eg_row *r, eg_rekeyed *out) {
  bool changed = false;
  uint32_t n = eg_head_of(g, r->head)->arity;
  eg_class *kids = g->pool + r->kid[0].i;
  out->was = eg_row_hash(r);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t c = eg_root(g, kids[i].i);
    changed |= c != kids[i].i;
    kids[i].i = c;
  }
  out->key = eg_key_of(r->head, kids, n);
  out->hash = eg_key_hash(&out->key);
  r->kid[1].i = out->key.b;
  return changed;
}

static inline bool
rekey_plain(eg_graph *g, uint32_t edge, eg_rekeyed *out) {
  eg_row *r = &g->rows[edge / 2];
  eg_class kids[2];
  uint64_t by_head = eg_head_mix(r->head);
  if (!eg_new_kids(g, edge, r->kid, kids))
    return false;
  out->was = eg_pair_hash(r->kid[0].i, r->kid[1].i, by_head);
  out->key = (eg_key){r->head, kids[0].i, kids[1].i, NULL, 0};
  out->hash = eg_pair_hash(kids[0].i, kids[1].i, by_head);
  memcpy(r->kid, kids, sizeof kids);
  return true;
}

/* The nodes on edges[0 .. n) whose keys changed, with their new keys.  Classes
 * and buckets are fetched ahead. */
static uint32_t
rekey(eg_graph *g, const uint32_t *edges, uint32_t n, eg_rekeyed *out) {
  uint32_t n_out = 0;
  for (uint32_t i = 0; i < n; i++) {
    const eg_row *r = &g->rows[eg_edge_node(g, edges[i])];
    if (r->head & EG_WIDE)
      continue;
    if (r->kid[0].i != EG_NONE)
      __builtin_prefetch(&g->up[r->kid[0].i]);
    if (r->kid[1].i != EG_NONE)
      __builtin_prefetch(&g->up[r->kid[1].i]);
  }
  for (uint32_t i = 0; i < n; i++) {
    uint32_t node = eg_edge_node(g, edges[i]);
    eg_row *r = &g->rows[node];
    eg_rekeyed *x = &out[n_out];
    if (!(r->head & EG_WIDE ? rekey_wide(g, r, x)
                            : rekey_plain(g, edges[i], x)))
      continue;
    eg_stamp_now(g, node);
    n_out++;
    x->node = node;
    eg_table_prefetch(g, x->was);
    eg_table_prefetch(g, x->hash);
  }
  return n_out;
}

/* Nodes with these edges enter the table under their new keys, or are congruent
 * to others. */
static void
reinsert(eg_graph *g, const uint32_t *edges, uint32_t n) {
  eg_rekeyed some[TOGETHER];
  uint32_t changed = rekey(g, edges, n, some);
  g->index.valid = g->index.valid && !changed;
  for (uint32_t i = 0; i < changed; i++)
    eg_table_take(g, some[i].was, some[i].node);
  for (uint32_t i = 0; i < changed; i++)
    eg_table_prefetch_node(g, some[i].hash);
  for (uint32_t i = 0; i < changed; i++) {
    const eg_rekeyed *x = &some[i];
    uint32_t other = eg_table_find(g, &x->key, x->hash, EG_NONE, NULL);
    if (other == EG_NONE)
      eg_table_put(g, x->hash, x->node);
    else
      g->congruent.data[g->congruent.len++] = (eg_congruence){x->node, other};
  }
}

/* --- congruent pairs
 * -------------------------------------------------------------- */

/* What lives in a class must stay in it. */
static void
mark_dead(eg_graph *g, const eg_congruence *t) {
  g->rows[t->dies].head |= EG_DEAD;
  g->n_dead++;
  g->index.valid = false;
  if (g->stamps[t->dies] == EG_PRUNED)
    return;
  if (g->stamps[t->stays] == EG_PRUNED)
    g->stamps[t->stays] = (eg_stamp)g->epoch;
  else
    g->live_nodes--;
}

static void
prefetch_rows(const eg_graph *g, const eg_congruence *pairs, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    __builtin_prefetch(&g->rows[pairs[i].stays]);
    __builtin_prefetch(&g->rows[pairs[i].dies]);
  }
}

static void
prefetch_record(const eg_graph *g, uint32_t cls) {
  uint32_t over = g->up[cls];
  if (over & EG_LEADS)
    __builtin_prefetch(&g->parents[over & ~EG_LEADS]);
}

/* What uniting the classes of some congruent pairs, whose rows are there, will
 * read. */
static void
prefetch_classes(const eg_graph *g, const eg_congruence *pairs, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    __builtin_prefetch(&g->up[g->rows[pairs[i].stays].cls]);
    __builtin_prefetch(&g->up[g->rows[pairs[i].dies].cls]);
  }
  for (uint32_t i = 0; i < n; i++) {
    prefetch_record(g, g->rows[pairs[i].stays].cls);
    prefetch_record(g, g->rows[pairs[i].dies].cls);
  }
}

/* Some pairs from `at` on, and the rows of those behind them. */
static void
prefetch_congruences(const eg_graph *g, uint32_t at, uint32_t n) {
  const eg_congruence *pairs = g->congruent.data + at;
  uint32_t left = n - at, some = left < TOGETHER ? left : TOGETHER;
  uint32_t more = left - some < TOGETHER ? left - some : TOGETHER;
  prefetch_rows(g, pairs + some, more);
  prefetch_classes(g, pairs, some);
}

/* True when that united two classes. */
static bool
unite_congruent(eg_graph *g, const eg_congruence *t) {
  uint32_t a = g->rows[t->stays].cls, b = g->rows[t->dies].cls;
  bool same = eg_root(g, a) == eg_root(g, b);
  eg_reason why = {EG_BY_CONGRUENCE, 0};
  if (g->journal) {
    g->journal->row = t->dies;
    g->journal->other = t->stays;
  }
  if (!same && !eg_unite(g, a, b, why))
    return false;
  mark_dead(g, t);
  return !same;
}

uint32_t
eg_unite_congruent(eg_graph *g) {
  uint32_t unions = 0, n = g->congruent.len;
  while (g->n_united < n) {
    uint32_t i = g->n_united;
    if (is_far(g) && i % TOGETHER == 0)
      prefetch_congruences(g, i, n);
    unions += unite_congruent(g, &g->congruent.data[i]);
    g->n_united++;
  }
  bs_clear(&g->congruent);
  g->n_united = 0;
  return unions;
}

/* --- all of it ---------------------------------------------------------- */

static void
repair_parents(eg_graph *g, const eg_merged *merged, uint32_t n) {
  eg_parent_chunk *chunks = g->chunks.data;
  uint32_t n_edges = walk_chunks(g, chunks, n, g->edges.data);
  splice_chunks(g, merged, chunks, n);
  for (uint32_t i = 0; i < n_edges; i += TOGETHER)
    reinsert(g, g->edges.data + i,
             n_edges - i < TOGETHER ? n_edges - i : TOGETHER);
}

static void
remake(eg_graph *g, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    const eg_parent_chunk *c = &g->chunks.data[i];
    for (uint32_t k = 0; c->remake && k < c->n; k++)
      eg_remake(g, eg_edge_node(g, g->edges.data[c->at + k]));
  }
}

uint32_t
eg_repair(eg_graph *g, const eg_merged *merged, uint32_t n) {
  assert(merged || !n);
  assert(!g->modifying);
  g->modifying = true;
  repair_parents(g, merged, n);
  uint32_t unions = eg_unite_congruent(g);
  g->modifying = false;
  remake(g, n);
  return unions;
}
