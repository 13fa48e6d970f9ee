/* SPDX-License-Identifier: MIT */
/* graph.h - the inside of an e-graph; private to this folder.
 *
 * A node is 16 bytes: its head (operator, arity and attribute interned as one
 * number), its class, and two children.  A node with more than two children is
 * `wide`: they stand in the pool, kid[0] is the place and kid[1] a hash of
 * them.  So one comparison of three words decides equality for most nodes, and
 * a node never crosses a cache line.
 *
 * Parents are threaded through the nodes: each (node, child position) is an
 * edge, and a class holds the first edge of its list.  Joining two classes
 * touches no list: the loser keeps its own, and the rebuild, which must visit
 * every edge of it anyway, puts it in front of the winner's.
 *
 * `stamp` of a node is the epoch in which its row (kids or class) changed last;
 * an epoch ends when the index is built, that is, when a search begins.  So
 * "changed since a rule last looked" is one comparison.  While a search is on,
 * what it may read of a stamp stays: a changed row is only marked MOVED.
 * Stamps are bytes and count from `epoch_base`: when they are used up, the
 * older half of the epochs becomes one, in which all counts as fresh. */
#ifndef EGRAPH_GRAPH_H
#define EGRAPH_GRAPH_H

#include "base/vec.h"
#include "egraph/egraph.h"
#include "egraph/entries.h"
#include <string.h>

#define EG_NONE      UINT32_MAX
#define EG_DEAD      0x80000000u /* in a row's head: congruent to another */
#define EG_WIDE      0x40000000u /* in a row's head: more than two children */
#define EG_HEAD_MASK 0x3fffffffu
#define EG_POOL_EDGE 0x80000000u /* an edge in the pool, not of a row */
#define EG_MOVED     0x80        /* in a stamp: changed since the index */
#define EG_PRUNED    0xff        /* as a stamp: not in its class any more */
#define EG_EPOCHS    0x7e        /* the last that a stamp may name */
#define EG_MAX_NODES                                                           \
  0x3ffffff0u /* edges 2n and 2n + 1 stay below POOL_EDGE                      \
               */

#define EG_EARLY UINT64_MAX /* as nodes expected */

typedef uint8_t eg_stamp;

typedef struct eg_row {
  uint32_t head;
  uint32_t cls; /* canonical up to the last rebuild */
  eg_class kid[2];
} eg_row;

typedef struct eg_head {
  uint32_t op, arity;
  bs_value attr;
  uint32_t symbol; /* dense number of (op, arity) */
} eg_head;

/* What a node takes besides the table: its row, two links and a stamp. */
enum {
  EG_ROW_BYTES = sizeof(eg_row) + 2 * sizeof(uint32_t) + sizeof(eg_stamp)
};

enum {
  EG_REMAKE = 1,  /* of a merged class: its parents' data must be remade */
  EG_CHANGED = 2, /* its data changed: so must its parents' */
  EG_MARK = 4     /* scratch of a pass */
};

/* The edges that lead to a class. */
typedef struct eg_parents {
  uint32_t first, n;
} eg_parents;

#define EG_FREE_RECORD UINT32_MAX /* as the number of edges */

/* The record of a canonical class: its parents and flags; its analysis data
 * comes on top. */
enum { EG_RECORD_BYTES = sizeof(eg_parents) + 1 };

/* A class that was merged into another, and the record whose parent list waits
 * for congruence repair. */
typedef struct eg_merged {
  uint32_t cls, record;
} eg_merged;

/* The part of a merged class's parent list that one round of congruence repair
 * takes. */
typedef struct eg_parent_chunk {
  uint32_t edge, visit; /* the next one, and how many are still to come */
  uint32_t rest;        /* edges behind these, which wait for the next time */
  uint32_t first, last; /* those whose nodes live; EG_NONE: none */
  uint32_t at, n;       /* where they are listed */
  bool remake;          /* their nodes' data must be made again */
} eg_parent_chunk;

/* Two nodes that became congruent: one of them dies. */
typedef struct eg_congruence {
  uint32_t dies, stays;
} eg_congruence;

#define EG_BUCKET 12

/* A cache line: tags (0 = free) beside the node ids they belong to. */
typedef struct eg_bucket {
  uint8_t tag[EG_BUCKET];
  uint8_t spilled; /* an insertion went on to the next bucket */
  uint32_t node[EG_BUCKET];
} eg_bucket;

#define EG_FULL_NUM 13 /* grow when filled > slots * 13 / 16 */
#define EG_FULL_DEN 16

/* What identifies a node, children canonical. */
typedef struct eg_key {
  uint32_t head;
  uint32_t a, b;        /* as kid[0], kid[1]; of a wide key only b, its hash */
  const eg_class *kids; /* of a wide key */
  uint32_t n;
} eg_key;

/* The nodes of one class with one symbol: by_symbol[start .. ]; those that
 * changed since the index before stand first.  The symbol is that whose entries
 * `start` is among.  `what` is EG_FEW, where the entries tell how many there
 * are and which changed; or EG_MANY and where these are noted; or both numbers.
 * Of a segment the index keeps a word: EG_MANY and where, or `start` and, where
 * entries are not wide, both numbers; and EG_LAST with the last one of its
 * class. */
typedef struct eg_segment {
  uint32_t start, what;
} eg_segment;

/* `info`: EG_RECENT and how many changed, or the latest stamp. */
typedef struct eg_many {
  uint32_t start, n, info;
} eg_many;

#define EG_LAST      0x80000000u
#define EG_MANY      0x40000000u
#define EG_FEW       0x20000000u
#define EG_SLOT_MASK 0x3fffffffu
enum {
  EG_COUNT_BITS = 4, /* of each of both numbers, above a short `start` */
  EG_COUNT_MOST = (1 << EG_COUNT_BITS) - 1
};

/* Where a class's segments begin; or that it has none; or, where it has one of
 * EG_FEW_MOST nodes at most, which is not kept, where its entries begin. */
#define EG_ALONE      0x80000000u
#define EG_NO_SEGMENT UINT32_MAX
enum { EG_FEW_MOST = 4 };

/* How many nodes a symbol has, and the latest epoch in which one of them
 * changed, came or went. */
typedef struct eg_use {
  uint32_t n, epoch;
} eg_use;

/* Built from the rows when a search or an iteration first asks. */
typedef struct eg_index {
  bool valid;
  uint32_t classes, nodes, symbols; /* ids covered */
  BS_VEC(uint32_t) class_segment;
  BS_VEC(uint32_t) segments;     /* by class */
  BS_VEC(eg_many) many;          /* of the segments with many nodes */
  BS_VEC(uint32_t) symbol_start; /* symbol -> place in by_symbol */
  eg_entries by_symbol;          /* (symbol, class, recent first, id) order,
                                    and one more, which is EG_FIRST */
  BS_VEC(eg_use) uses;           /* of each symbol; kept from index to index */
  uint32_t epoch;                /* stamps not below it are recent */
  /* Made of these when a class's nodes are first asked for. */
  bool listed;
  BS_VEC(uint32_t) class_start; /* class id -> place in by_class */
  BS_VEC(eg_node) by_class;     /* (class, id) order */
  uint32_t *room;               /* while it is built: counts */
} eg_index;

/* Of the classes that wait to be pruned those from the end of the last such
 * request to `end`, in one way. */
typedef struct eg_prune_request {
  bool (*keep)(void *, uint32_t, uint32_t);
  void *ctx;
  uint32_t end;
} eg_prune_request;

struct eg_graph {
  /* As in `eg_graph_prefix`. */
  uint32_t *up; /* union-find: the class above, or EG_LEADS and a record */
  char *data;   /* analysis data, by record */
  uint32_t data_size;

  bs_heap *heap;
  bs_values *values;
  /* The graph itself, for functions that look at it only and make, of what it
   * says, what was not needed before: the index, lists, room to work in. */
  eg_graph *self;
  eg_analysis analysis;
  bool origins, dirty, modifying, wide;

  eg_row *rows;
  uint32_t *links; /* 2 a node: the next edge of the child's list */
  eg_stamp *stamps;
  eg_origin *origin; /* NULL without origins */
  uint32_t n_rows, cap_rows, most_rows;

  eg_class *pool;
  uint32_t *pool_links, *pool_owner;
  uint32_t n_pool, cap_pool, most_pool;

  uint32_t n_classes, cap_classes;
  eg_parents *parents; /* of a record; a free one's `first` is the next free */
  uint8_t *flags;
  uint32_t n_records, cap_records, free_record;

  BS_VEC(eg_head) heads;
  BS_VEC(uint32_t) head_table;   /* open addressing, head + 1; power of two */
  BS_VEC(uint32_t) symbol_ops;   /* the head a symbol was first seen in */
  BS_VEC(uint32_t) symbol_heads; /* how many heads have the symbol */
  BS_VEC(uint32_t) symbol_table;

  eg_bucket *buckets; /* aligned to 64 inside bucket_block */
  void *bucket_block;
  uint32_t n_buckets, filled;

  uint32_t n_dead, n_kept;   /* rows; those the last sweep left alone */
  uint32_t free_row, n_free; /* dead rows to use again; a list by kid[0] */
  uint64_t n_made;           /* rows ever made */
  uint32_t live_nodes, live_classes;
  uint32_t epoch, epoch_base; /* epoch <= EG_EPOCHS */
  uint64_t unions;
  BS_VEC(eg_merged) merged; /* classes whose parents need repair */
  uint32_t n_repaired;      /* of these; where memory ran out, it goes on */
  BS_VEC(uint32_t) changed; /* classes whose parents need remaking */
  BS_VEC(uint32_t) modify_queue; /* classes that wait for `modify` */
  /* Scratch of the round of congruence repair that is on: */
  BS_VEC(eg_parent_chunk) chunks;
  BS_VEC(uint32_t) edges;
  BS_VEC(eg_congruence) congruent;
  uint32_t n_united; /* of these */
  BS_VEC(eg_prune_request) prunes;
  BS_VEC(uint32_t) pruned; /* classes that wait to be */
  BS_VEC(eg_class) scratch;
  void *spare[2]; /* room for one class's data each */

  struct eg_journal *journal; /* NULL without explanations */

  eg_origin now; /* of the nodes being added */
  eg_fault_kind fault;
  eg_class fault_a, fault_b;
  eg_reason fault_reason;

  size_t limit;      /* bytes; growth becomes careful near it; 0 = none */
  uint64_t expected; /* nodes after the iteration that is on; 0: unknown;
                        EG_EARLY: as it is one of the first */
  eg_index index;
  uint32_t pins; /* searches that read the index */
};

_Static_assert(offsetof(eg_graph, up) == offsetof(eg_graph_prefix, up) &&
                   offsetof(eg_graph, data) ==
                       offsetof(eg_graph_prefix, data) &&
                   offsetof(eg_graph, data_size) ==
                       offsetof(eg_graph_prefix, size),
               "eg_data reads it");

/* The epoch that is on, as it may be kept, and what of it a stamp is compared
 * with: 0, which no stamp is below, for those that have become one. */
static inline uint32_t
eg_now(const eg_graph *g) {
  return g->epoch_base + g->epoch;
}

static inline uint32_t
eg_since(const eg_graph *g, uint32_t kept) {
  return kept > g->epoch_base ? kept - g->epoch_base : 0;
}

static inline uint32_t
eg_root(const eg_graph *g, uint32_t c) {
  uint32_t *up = g->up;
  for (;;) {
    uint32_t over = up[c];
    if (__builtin_expect((over & EG_LEADS) != 0, 1))
      return c;
    uint32_t next = up[over];
    if (next & EG_LEADS)
      return over;
    up[c] = next;
    c = next;
  }
}

static inline bool
eg_leads(const eg_graph *g, uint32_t c) {
  return g->up[c] & EG_LEADS;
}

/* For assertions: all of them lead; all of them are ids of classes, or none. */
static inline bool
eg_all_lead(const eg_graph *g, const eg_class *classes, uint32_t n) {
  bool all = true;
  for (uint32_t i = 0; i < n && all; i++)
    all = classes[i].i < g->n_classes && eg_leads(g, classes[i].i);
  return all;
}

static inline bool
eg_all_known(const eg_graph *g, const eg_class *classes, uint32_t n) {
  bool all = true;
  for (uint32_t i = 0; i < n && all; i++)
    all = classes[i].i < g->n_classes || classes[i].i == EG_NONE;
  return all;
}

/* Of a leader. */
static inline uint32_t
eg_record(const eg_graph *g, uint32_t c) {
  return g->up[c] & ~EG_LEADS;
}

static inline void *
eg_data_at(const eg_graph *g, uint32_t c) {
  return g->data + (size_t)eg_record(g, c) * g->analysis.size;
}

/* Copies a class's data: mostly a few words, not worth a call. */
static inline void
eg_copy_data(void *to, const void *from, size_t size) {
  if (size == 4)
    memcpy(to, from, 4);
  else if (size == 8)
    memcpy(to, from, 8);
  else if (size == 16)
    memcpy(to, from, 16);
  else
    memcpy(to, from, size);
}

static inline void
eg_clear_data(void *data, size_t size) {
  if (size == 4)
    memset(data, 0, 4);
  else if (size == 8)
    memset(data, 0, 8);
  else if (size == 16)
    memset(data, 0, 16);
  else
    memset(data, 0, size);
}

static inline bool
eg_data_is_zero(const void *data, size_t size) {
  const char *at = data;
  uint32_t word = 0;
  if (size == sizeof word) {
    memcpy(&word, at, sizeof word);
    return !word;
  }
  while (size && !at[size - 1])
    size--;
  return !size;
}

static inline const eg_head *
eg_head_of(const eg_graph *g, uint32_t head) {
  return &g->heads.data[head & EG_HEAD_MASK];
}

static inline const eg_class *
eg_row_kids(const eg_graph *g, const eg_row *r) {
  return r->head & EG_WIDE ? g->pool + r->kid[0].i : r->kid;
}

void eg_table_make_room(eg_graph *, uint64_t more);

/* Room for so many more pairs. */
static inline void
eg_table_reserve(eg_graph *g, uint64_t more) {
  uint64_t slots = (uint64_t)g->n_buckets * EG_BUCKET;
  if ((g->filled + more) * EG_FULL_DEN > slots * EG_FULL_NUM)
    eg_table_make_room(g, more);
}

static inline bool
eg_is_live(const eg_graph *g, uint32_t node) {
  return !(g->rows[node].head & EG_DEAD) && g->stamps[node] != EG_PRUNED;
}

/* Where the edge behind this one in its list is. */
static inline uint32_t *
eg_link_of(const eg_graph *g, uint32_t edge) {
  return edge & EG_POOL_EDGE ? &g->pool_links[edge & ~EG_POOL_EDGE]
                             : &g->links[edge];
}

/* An edge joins the parents in a record. */
static inline void
eg_edge_link(eg_graph *g, uint32_t edge, uint32_t record) {
  eg_parents *c = &g->parents[record];
  *eg_link_of(g, edge) = c->first;
  c->first = edge;
  c->n++;
}

/* The edge of a plain row joins the parents of a child; returns the one that
 * follows it. */
static inline uint32_t
eg_parents_add(eg_graph *g, uint32_t edge, uint32_t kid) {
  eg_parents *c = &g->parents[eg_record(g, kid)];
  uint32_t next = c->first;
  c->first = edge;
  c->n++;
  return next;
}

/* table.c: heads, symbols and the hashcons. */
uint32_t eg_head_intern(eg_graph *, uint32_t op, bs_value attr, uint32_t arity);
uint32_t eg_head_find(const eg_graph *, uint32_t op, bs_value attr,
                      uint32_t arity); /* EG_NONE */
uint32_t eg_symbol_find(const eg_graph *, uint32_t op, uint32_t arity);
/* The buckets that a growth for `more` would allocate; 0 when none is due */
uint64_t eg_table_growth(const eg_graph *, uint64_t more);
void eg_table_refill(eg_graph *); /* rows have moved */
void eg_table_free(eg_graph *);

/* graph.c */
void eg_reserve(eg_graph *, uint64_t nodes, uint64_t pool);
/* Adds a node under canonicalised kids.  `into` (or EG_NONE): the class that
 * it must join.  Returns its class, EG_NONE when refused. */
uint32_t eg_add_head(eg_graph *, uint32_t head, const eg_class *kids,
                     uint32_t n, uint32_t into, eg_reason);
uint32_t eg_add_key(eg_graph *, const eg_key *, uint64_t hash,
                    const eg_class *kids, uint32_t n, uint32_t into, eg_reason);
/* As `eg_add_key`, for a key that the table does not hold.  Children must be
 * canonical. */
uint32_t eg_add_new(eg_graph *, const eg_key *, uint64_t hash,
                    const eg_class *kids, uint32_t n, uint32_t into, eg_reason);
/* A capacity of at least `need`; careful near the limit. */
uint64_t eg_grown(eg_graph *, uint64_t have, uint64_t need, size_t item);

/* Would this many more nodes, and the index over all, stay in the limit? */
bool eg_fits(const eg_graph *, uint64_t more);

/* classes.c */
void eg_class_room(eg_graph *); /* for one more, and its record */
/* Room for so many more, and for their records. */
void eg_reserve_classes(eg_graph *, uint64_t more);
void eg_record_free(eg_graph *, uint32_t record);
bool eg_unite(eg_graph *, uint32_t a, uint32_t b, eg_reason);
void eg_run_modify(eg_graph *); /* empties the queue of `modify` */
void eg_mark_changed(eg_graph *, uint32_t leader);
void eg_fail(eg_graph *, eg_fault_kind, uint32_t a, uint32_t b, eg_reason);

/* rebuild.c */
void eg_restore(eg_graph *); /* congruence alone */
bool eg_remake(eg_graph *, uint32_t node);

/* reclaim.c: makes dead rows free where they are many; nothing is pending. */
void eg_reclaim(eg_graph *);
/* As `eg_reclaim`, where `most` nodes at most are expected to come and fewer
 * than the dead rows hold: the live rows move together, and what the dead ones
 * took is given back. */
void eg_compact(eg_graph *, uint64_t most);

/* index.c */
const eg_index *eg_index_of(const eg_graph *);
void eg_index_free(eg_graph *);
/* What it holds but for how many nodes symbols had; none uses it. */
void eg_index_lists_free(eg_graph *);
/* As `eg_index_lists_free`, where the index is out of date and about as much
 * memory was never in use. */
void eg_index_give_back(eg_graph *);
#endif
