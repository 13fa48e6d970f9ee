/* mend_share.c - keys of nodes made again, by several threads.
 *
 *   walk   ranges of the lost classes: their edges are followed, the nodes on
 *          these get their new keys and leave the table; they are listed by the
 *          part of it where they go;
 *   enter  each part of the table takes what has its key now, or finds its
 *          twin.  One thread moves the edges to the winners' meanwhile.
 *
 * A node is one edge's alone, though two threads may look at it: its children
 * are read and written both at once.  A pair leaves the table by one byte,
 * which is its node's thread's alone. */
#include "egraph/mend.h"
#include "egraph/share.h"
#include <string.h>

enum {
  PARTS = 8,       /* of the table */
  RANGES = 16,     /* of the lost classes */
  FEWEST = 1 << 9, /* edges that are worth it */
  TOGETHER = 32    /* nodes whose cache misses overlap */
};

typedef enum eg_phase { WALK, SPLICE, ENTER, PHASES } eg_phase;

typedef struct eg_range {
  uint32_t from, to; /* strands */
  uint32_t at, n;    /* nodes: places in the columns */
  uint32_t left;     /* of these, the table */
  uint32_t n_enter[PARTS], n_strays[PARTS], entered[PARTS];
  char apart[128]; /* what threads write side by side is not in one line */
} eg_range;

struct eg_mending {
  uint32_t room; /* nodes */
  uint32_t *block;
  /* Of each node: */
  uint64_t *hash; /* of its new key */
  eg_class (*kids)[2];
  uint32_t *node, *head;
  uint32_t *twin; /* a node with the same key, or EG_NONE */
  /* By part of the table, of a range from its `at` on: */
  uint32_t *enter[PARTS];
  uint32_t bound[PARTS + 1]; /* of these parts: buckets */
  eg_range ranges[RANGES];
  eg_meeting meeting;
  uint32_t threads;
  eg_claims claims[PHASES];

  eg_graph *g;
  const eg_lost *lost;
  uint32_t n; /* of these */
};

/* --- walk --------------------------------------------------------------- */

typedef struct eg_rekeyed {
  uint32_t node;
  uint64_t was;
} eg_rekeyed;

static void
list(eg_mending *m, eg_range *r, uint32_t node, uint32_t head,
     const eg_class kids[2]) {
  uint32_t i = r->at + r->n++, part = 0;
  m->node[i] = node;
  m->head[i] = head;
  memcpy(m->kids[i], kids, sizeof m->kids[i]);
  m->hash[i] = eg_pair_hash(kids[0].i, kids[1].i, eg_head_mix(head));
  uint32_t bucket = eg_bucket_of(m->g, m->hash[i]);
  while (bucket >= m->bound[part + 1])
    part++;
  m->enter[part][r->at + r->n_enter[part]++] = i;
}

/* Of the nodes on edges[0 .. n) those whose keys changed get the new ones. */
static uint32_t
rekey(eg_mending *m, eg_range *r, const uint32_t *edges, uint32_t n,
      eg_rekeyed *out) {
  eg_graph *g = m->g;
  uint32_t n_out = 0;
  for (uint32_t i = 0; i < n; i++) {
    eg_class kids[2];
    eg_kids_read(&g->rows[edges[i] / 2], kids);
    for (int k = 0; k < 2; k++)
      if (kids[k].i != EG_NONE)
        __builtin_prefetch(&g->up[kids[k].i]);
  }
  for (uint32_t i = 0; i < n; i++) {
    eg_class was[2], kids[2];
    uint32_t node = edges[i] / 2, head = g->rows[node].head;
    eg_kids_read(&g->rows[node], was);
    if (!eg_new_kids(g, edges[i], was, kids, true))
      continue;
    out[n_out].node = node;
    out[n_out].was = eg_pair_hash(was[0].i, was[1].i, eg_head_mix(head));
    eg_table_prefetch(g, out[n_out++].was);
    eg_kids_write(&g->rows[node], kids);
    eg_stamp_now(g, node);
    list(m, r, node, head, kids);
  }
  return n_out;
}

static void
walk(eg_mending *m, eg_range *r) {
  eg_graph *g = m->g;
  const uint32_t *edges = g->edges.data + r->at;
  uint32_t n = eg_strands_walk(g, g->strands.data + r->from, r->to - r->from,
                               g->edges.data);
  for (uint32_t i = 0; i < n; i += TOGETHER) {
    eg_rekeyed some[TOGETHER];
    uint32_t n_some =
        rekey(m, r, edges + i, n - i < TOGETHER ? n - i : TOGETHER, some);
    for (uint32_t k = 0; k < n_some; k++)
      r->left += eg_table_leave(g, some[k].was, some[k].node);
  }
}

/* --- enter -------------------------------------------------------------- */

static eg_key
key_of(const eg_mending *m, uint32_t i) {
  return (eg_key){m->head[i], m->kids[i][0].i, m->kids[i][1].i, NULL, 0};
}

/* What strays is kept in front of the list. */
static void
enter(eg_mending *m, eg_range *r, uint32_t part) {
  eg_graph *g = m->g;
  uint32_t *list = m->enter[part] + r->at, n = r->n_enter[part];
  uint32_t end = m->bound[part + 1], n_strays = 0, entered = 0;
  for (uint32_t from = 0; from < n; from += TOGETHER) {
    uint32_t to = from + TOGETHER < n ? from + TOGETHER : n;
    for (uint32_t k = from; k < to; k++)
      eg_prefetch_own(&g->buckets[eg_bucket_of(g, m->hash[list[k]])]);
    for (uint32_t k = from; k < to; k++)
      eg_table_prefetch_node(g, m->hash[list[k]]);
    for (uint32_t k = from; k < to; k++) {
      uint32_t i = list[k];
      eg_key key = key_of(m, i);
      if (!eg_enter_before(g, &key, m->hash[i], end, m->node[i], &m->twin[i]))
        list[n_strays++] = i;
      else
        entered += m->twin[i] == EG_NONE;
    }
  }
  r->n_strays[part] = n_strays;
  r->entered[part] = entered;
}

/* The table's end is followed by its beginning. */
static void
enter_strays(eg_mending *m, const eg_range *r, uint32_t part) {
  eg_graph *g = m->g;
  for (uint32_t k = 0; k < r->n_strays[part]; k++) {
    uint32_t i = m->enter[part][r->at + k];
    eg_key key = key_of(m, i);
    m->twin[i] = eg_table_find(g, &key, m->hash[i], EG_NONE, NULL);
    if (m->twin[i] == EG_NONE)
      eg_table_put(g, m->hash[i], m->node[i]);
  }
}

static void
list_twins(const eg_mending *m, const eg_range *r) {
  eg_graph *g = m->g;
  for (uint32_t i = r->at; i < r->at + r->n; i++)
    if (m->twin[i] != EG_NONE)
      g->twins.data[g->twins.len++] = (eg_twin){m->node[i], m->twin[i]};
}

static void
finish(eg_mending *m) {
  eg_graph *g = m->g;
  for (int k = 0; k < RANGES; k++) {
    g->filled -= m->ranges[k].left;
    g->index.valid = g->index.valid && !m->ranges[k].n;
    for (int part = 0; part < PARTS; part++) {
      g->filled += m->ranges[k].entered[part];
      enter_strays(m, &m->ranges[k], part);
    }
  }
  for (int k = 0; k < RANGES; k++)
    list_twins(m, &m->ranges[k]);
}

/* --- all of it ---------------------------------------------------------- */

/* What each thread does. */
static void
take_part(void *ctx, uint32_t thread) {
  eg_mending *m = ctx;
  uint32_t i;
  if (!eg_crew_join(&m->meeting))
    return;
  while (eg_claim(&m->claims[WALK], thread, &i))
    walk(m, &m->ranges[i]);
  eg_crew_meet(&m->meeting, NULL, NULL);
  if (eg_claim(&m->claims[SPLICE], thread, &i))
    eg_strands_splice(m->g, m->lost, m->g->strands.data, m->n);
  while (eg_claim(&m->claims[ENTER], thread, &i))
    for (int k = 0; k < RANGES; k++)
      enter(m, &m->ranges[k], i);
}

/* Ranges of about as many edges each. */
static void
cut(eg_mending *m, uint32_t edges) {
  const eg_strand *s = m->g->strands.data;
  uint32_t at = 0;
  for (uint32_t k = 0; k < RANGES; k++) {
    eg_range *r = &m->ranges[k];
    uint32_t end = (uint32_t)((uint64_t)edges * (k + 1) / RANGES);
    *r = (eg_range){.from = at, .at = at < m->n ? s[at].at : edges};
    while (at < m->n && (s[at].at < end || k + 1 == RANGES))
      at++;
    r->to = at;
  }
}

bool
eg_mend_takes(const eg_graph *g, uint32_t edges) {
  return eg_crew_parts(g->crew) > 1 && g->mending && edges >= FEWEST &&
         edges <= g->mending->room && !g->n_pool && !g->journal;
}

void
eg_mend_shared(eg_graph *g, const eg_lost *lost, uint32_t n, uint32_t edges) {
  static const uint32_t tasks[PHASES] = {RANGES, 1, PARTS};
  eg_mending *m = g->mending;
  m->g = g;
  m->lost = lost;
  m->n = n;
  for (uint32_t k = 0; k <= PARTS; k++)
    m->bound[k] = (uint32_t)((uint64_t)g->n_buckets * k / PARTS);
  cut(m, edges);
  m->threads = eg_crew_parts(g->crew);
  for (int k = 0; k < PHASES; k++)
    eg_claims_open(&m->claims[k], tasks[k], m->threads);
  eg_meeting_call(&m->meeting);
  eg_crew_run(g->crew, take_part, m, m->threads);
  finish(m);
}

/* --- room --------------------------------------------------------------- */

/* None in a graph whose chunks are too few edges. */
static void
make_room(eg_runner *r) {
  enum { WORDS = 7 + PARTS, GROWTH = 4 /* of the graph, meanwhile */ };
  eg_mending *m = r->mending;
  size_t n = (size_t)r->g->live_nodes / 64 * GROWTH;
  n = n < EG_MEND_MOST ? n : EG_MEND_MOST;
  if (n < FEWEST || (m && m->room >= n))
    return;
  if (!m) {
    m = r->mending = eg_take_room(r, NULL, sizeof *m);
    if (!m)
      return;
    *m = (eg_mending){0};
  }
  uint32_t *at = eg_take_room(r, m->block, n * WORDS * sizeof *at);
  if (!at)
    return;
  m->block = at;
  m->room = (uint32_t)n;
  m->hash = (uint64_t *)(void *)at;
  m->kids = (eg_class(*)[2])(void *)(at + 2 * n);
  m->node = at + 4 * n;
  m->head = at + 5 * n;
  m->twin = at + 6 * n;
  for (int k = 0; k < PARTS; k++)
    m->enter[k] = at + (7 + k) * n;
}

void
eg_mending_begin(eg_runner *r) {
  make_room(r);
  r->g->mending = r->mending;
}

void
eg_mending_free(eg_runner *r) {
  if (r->mending)
    bs_free(r->heap, r->mending->block);
  bs_free(r->heap, r->mending);
  r->mending = NULL;
}
