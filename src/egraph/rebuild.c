/* rebuild.c - congruence and analyses restored after unions.
 *
 * Three worklists, in this order of need: classes that lost a union (their
 * parents' keys changed), classes whose data changed (their parents' data must
 * be made again), and `modify`.  A lost class's edges move to the winner as
 * they are visited, so every edge is visited as often as its child loses, and
 * nothing else of the graph is read.  Pruning comes last, in one pass. */
#include "egraph/hashcons.h"
#include "egraph/journal.h"
#include <assert.h>
#include <string.h>

/* The edges of a lost class on their way to the winner. */
typedef struct eg_chain {
  uint32_t edge, seat; /* of the winner */
  bool remake;
} eg_chain;

static void
prefetch_edge(const eg_graph *g, uint32_t edge) {
  if (edge & EG_POOL_EDGE)
    return;
  __builtin_prefetch(&g->links[edge]);
  __builtin_prefetch(&g->rows[edge / 2]);
}

/* The loser's seat is free then.  False when there are no edges. */
static bool
open_chain(eg_graph *g, const eg_lost *l, eg_chain *c) {
  *c = (eg_chain){g->parents[l->seat].first, eg_seat(g, eg_root(g, l->cls)),
                  g->analysis.make && g->flags[l->seat] & EG_REMAKE};
  eg_seat_free(g, l->seat);
  prefetch_edge(g, c->edge);
  return c->edge != EG_NONE;
}

/* Moves one edge and lists its node, for which there is room; false after the
 * last one. */
static bool
take_edge(eg_graph *g, eg_chain *c) {
  uint32_t e = c->edge, p = e & ~EG_POOL_EDGE;
  bool pool = e & EG_POOL_EDGE;
  uint32_t n = pool ? g->pool_owner[p] : p / 2;
  c->edge = pool ? g->pool_links[p] : g->links[p];
  prefetch_edge(g, c->edge);
  if (!(g->rows[n].head & EG_DEAD)) {
    eg_edge_link(g, e, c->seat);
    __builtin_prefetch(&g->stamps[n]);
    g->repair.data[g->repair.len++] = n;
    if (c->remake)
      g->remake.data[g->remake.len++] = n;
  }
  return c->edge != EG_NONE;
}

enum { SIDE_BY_SIDE = 8 };

/* Some chains are followed side by side, for each step waits for memory. */
static void
take_edges(eg_graph *g, const eg_lost *lost, uint32_t n_lost) {
  eg_chain chains[SIDE_BY_SIDE];
  uint32_t n = 0, at = 0;
  do {
    for (; n < SIDE_BY_SIDE && at < n_lost; at++) {
      if (at + SIDE_BY_SIDE < n_lost)
        __builtin_prefetch(&g->parents[lost[at + SIDE_BY_SIDE].seat]);
      n += open_chain(g, &lost[at], &chains[n]);
    }
    for (uint32_t i = 0; i < n;) {
      if (take_edge(g, &chains[i]))
        i++;
      else
        chains[i] = chains[--n];
    }
  } while (n || at < n_lost);
}

typedef struct eg_repair {
  uint32_t node;
  eg_key key;
  uint64_t hash, was;
} eg_repair;

/* Makes the children of a wide row canonical; false when they were. */
static bool
rekey_wide(eg_graph *g, eg_row *r, eg_repair *out) {
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
rekey_plain(eg_graph *g, eg_row *r, eg_repair *out) {
  uint32_t a = r->kid[0].i, b = r->kid[1].i;
  uint32_t c = a == EG_NONE ? a : eg_root(g, a);
  uint32_t d = b == EG_NONE ? b : eg_root(g, b);
  uint64_t by_head = eg_head_mix(r->head);
  if (a == c && b == d)
    return false;
  r->kid[0].i = c;
  r->kid[1].i = d;
  out->was = eg_pair_hash(a, b, by_head);
  out->key = (eg_key){r->head, c, d, NULL, 0};
  out->hash = eg_pair_hash(c, d, by_head);
  return true;
}

/* Of two equal nodes `dies` goes; what lives in a class must stay in it. */
static void
bury(eg_graph *g, uint32_t dies, uint32_t stays) {
  g->rows[dies].head |= EG_DEAD;
  g->n_dead++;
  g->index.valid = false;
  if (g->stamps[dies] == EG_PRUNED)
    return;
  if (g->stamps[stays] == EG_PRUNED)
    g->stamps[stays] = (eg_stamp)g->epoch;
  else
    g->live_nodes--;
}

/* Enters a node under its new key, or it dies; true when that united two
 * classes. */
static bool
reenter(eg_graph *g, uint32_t n, const eg_key *k, uint64_t hash) {
  eg_row *r = &g->rows[n];
  uint32_t other = eg_table_find(g, k, hash, EG_NONE, NULL);
  if (other == EG_NONE) {
    eg_table_put(g, hash, n);
    return false;
  }
  uint32_t a = g->rows[other].cls, b = r->cls;
  eg_reason why = {EG_BY_CONGRUENCE, 0};
  bool same = eg_root(g, a) == eg_root(g, b);
  if (g->journal) {
    g->journal->row = n;
    g->journal->other = other;
  }
  if (!same && !eg_unite(g, a, b, why))
    return false;
  bury(g, n, other);
  return !same;
}

enum { TOGETHER = 32 };

/* The nodes of list[0 .. n) whose keys changed, with their new keys.  Rows,
 * classes and buckets are fetched ahead. */
static uint32_t
rekey(eg_graph *g, const uint32_t *list, uint32_t n, eg_repair *out) {
  uint32_t n_out = 0;
  for (uint32_t i = 0; i < n; i++) {
    const eg_row *r = &g->rows[list[i]];
    if (r->head & EG_WIDE)
      continue;
    if (r->kid[0].i != EG_NONE)
      __builtin_prefetch(&g->up[r->kid[0].i]);
    if (r->kid[1].i != EG_NONE)
      __builtin_prefetch(&g->up[r->kid[1].i]);
  }
  for (uint32_t i = 0; i < n; i++) {
    uint32_t node = list[i];
    eg_row *r = &g->rows[node];
    eg_repair *x = &out[n_out];
    if (r->head & EG_DEAD ||
        !(r->head & EG_WIDE ? rekey_wide(g, r, x) : rekey_plain(g, r, x)))
      continue;
    if (g->stamps[node] != EG_PRUNED)
      g->stamps[node] =
          g->pins ? (eg_stamp)(g->stamps[node] | EG_MOVED) : (eg_stamp)g->epoch;
    n_out++;
    x->node = node;
    eg_table_prefetch(g, x->was);
    eg_table_prefetch(g, x->hash);
  }
  return n_out;
}

static uint32_t
repair(eg_graph *g, const uint32_t *list, uint32_t n) {
  eg_repair some[TOGETHER];
  uint32_t unions = 0;
  uint32_t changed = rekey(g, list, n, some);
  g->index.valid = g->index.valid && !changed;
  for (uint32_t i = 0; i < changed; i++)
    eg_table_take(g, some[i].was, some[i].node);
  for (uint32_t i = 0; i < changed; i++)
    eg_table_prefetch_node(g, some[i].hash);
  for (uint32_t i = 0; i < changed; i++)
    if (!(g->rows[some[i].node].head & EG_DEAD))
      unions += reenter(g, some[i].node, &some[i].key, some[i].hash);
  return unions;
}

bool
eg_remake(eg_graph *g, uint32_t n) {
  const eg_analysis *a = &g->analysis;
  eg_row *r = &g->rows[n];
  if (r->head & EG_DEAD || !a->make)
    return true;
  const eg_head *h = eg_head_of(g, r->head);
  uint32_t c = eg_root(g, r->cls);
  void *data = g->spare[0];
  if (a->size)
    eg_clear_data(data, a->size);
  bool ok =
      a->make(a->ctx, g, h->op, h->attr, eg_row_kids(g, r), h->arity, data);
  if (!ok) {
    if (!g->fault) {
      g->fault = EG_FAULT_NODE;
      g->fault_a.i = c;
    }
    return false;
  }
  if (!a->size)
    return true;
  void *into = eg_data_at(g, c);
  eg_copy_data(g->spare[1], into, a->size);
  uint32_t bits = a->merge ? a->merge(a->ctx, g, into, data) : 0;
  if (bits & EG_MERGE_CONFLICT) {
    eg_copy_data(into, g->spare[1], a->size);
    if (!g->fault) {
      g->fault = EG_FAULT_MERGE;
      g->fault_a.i = g->fault_b.i = c;
      g->fault_reason = (eg_reason){EG_BY_CONGRUENCE, 0};
    }
    return false;
  }
  if (bits & 1) {
    eg_touch(g, (eg_class){c});
    if (a->modify)
      bs_push(g->heap, &g->touched, c);
  }
  return true;
}

/* Room for all that repairing n nodes can add to the worklists: memory that
 * runs out does so before anything has changed. */
static void
make_room(eg_graph *g, uint64_t n) {
  bs_reserve(g->heap, &g->repair, n);
  if (g->analysis.make)
    bs_reserve(g->heap, &g->remake, n);
  bs_reserve(g->heap, &g->lost, (uint64_t)g->lost.len + n);
  if (g->analysis.size)
    bs_reserve(g->heap, &g->changed, (uint64_t)g->changed.len + n);
  if (g->analysis.modify)
    bs_reserve(g->heap, &g->touched, (uint64_t)g->touched.len + n);
}

enum { EDGES_AT_ONCE = 2048 };

/* Takes the edges of lost classes from `from` on, as many as are few enough;
 * returns where it ended. */
static uint32_t
take_lost(eg_graph *g, uint32_t from, uint32_t end) {
  uint32_t to = from;
  uint64_t edges = 0;
  for (; to < end && edges < EDGES_AT_ONCE; to++)
    edges += g->parents[g->lost.data[to].seat].n;
  make_room(g, edges);
  bs_clear(&g->repair);
  bs_clear(&g->remake);
  take_edges(g, g->lost.data + from, to - from);
  return to;
}

static uint32_t
repair_taken(eg_graph *g) {
  uint32_t unions = 0;
  g->settling = true;
  for (uint32_t i = 0; i < g->repair.len; i += TOGETHER) {
    uint32_t n = g->repair.len - i;
    unions += repair(g, g->repair.data + i, n < TOGETHER ? n : TOGETHER);
  }
  g->settling = false;
  for (uint32_t i = 0; i < g->remake.len; i++)
    eg_remake(g, g->remake.data[i]);
  return unions;
}

/* One wave: what is lost meanwhile waits for the next. */
static uint32_t
repair_lost(eg_graph *g) {
  uint32_t unions = 0, end = g->lost.len;
  for (uint32_t at = 0; at < end;) {
    at = take_lost(g, at, end);
    unions += repair_taken(g);
  }
  g->lost.len -= end;
  memmove(g->lost.data, g->lost.data + end, g->lost.len * sizeof *g->lost.data);
  eg_settle(g);
  return unions;
}

static void
remake_parents(eg_graph *g, uint32_t cls) {
  uint32_t seat = eg_seat(g, eg_root(g, cls));
  g->flags[seat] &= (uint8_t)~EG_CHANGED;
  uint32_t e = g->parents[seat].first;
  while (e != EG_NONE) {
    bool pool = e & EG_POOL_EDGE;
    uint32_t p = e & ~EG_POOL_EDGE;
    eg_remake(g, pool ? g->pool_owner[p] : p / 2);
    e = pool ? g->pool_links[p] : g->links[p];
  }
  eg_settle(g);
}

/* --- pruning ----------------------------------------------------------- */

static uint8_t *
prune_flags(eg_graph *g, uint32_t i) {
  return &g->flags[eg_seat(g, eg_root(g, g->pruned.data[i]))];
}

static void
prune_marked(eg_graph *g, const eg_prune_request *how) {
  for (uint32_t n = 0; n < g->n_rows; n++) {
    uint32_t c = eg_root(g, g->rows[n].cls);
    if (!(g->flags[eg_seat(g, c)] & EG_MARK) || !eg_is_live(g, n))
      continue;
    const eg_head *h = eg_head_of(g, g->rows[n].head);
    if (how->keep(how->ctx, h->op, h->arity))
      continue;
    g->stamps[n] = EG_PRUNED;
    g->live_nodes--;
    g->index.valid = false;
  }
}

/* One pass over the nodes for each request. */
static void
prune(eg_graph *g) {
  uint32_t from = 0;
  for (uint32_t k = 0; k < g->prunes.len; k++) {
    const eg_prune_request *how = &g->prunes.data[k];
    for (uint32_t i = from; i < how->end; i++)
      *prune_flags(g, i) |= EG_MARK;
    prune_marked(g, how);
    for (uint32_t i = from; i < how->end; i++)
      *prune_flags(g, i) &= (uint8_t)~EG_MARK;
    from = how->end;
  }
  bs_clear(&g->prunes);
  bs_clear(&g->pruned);
}

/* Data is joined as classes are, but parents' data and pruning wait. */
void
eg_restore(eg_graph *g) {
  eg_settle(g);
  while (g->lost.len)
    repair_lost(g);
  eg_reclaim(g);
}

uint32_t
eg_rebuild(eg_graph *g) {
  uint32_t unions = 0;
  g->settling = false;
  eg_settle(g);
  while (g->lost.len || g->changed.len) {
    if (g->lost.len)
      unions += repair_lost(g);
    else
      remake_parents(g, bs_pop(&g->changed));
  }
  prune(g);
  eg_reclaim(g);
  g->dirty = false;
  /* The check builds the index, for which there may be no room. */
  assert(!eg_fits(g, 0) || !eg_check(g));
  return unions;
}
