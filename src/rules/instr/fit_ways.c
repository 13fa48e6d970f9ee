/* SPDX-License-Identifier: MIT */
/* fit_ways.c - which views of a class lead down to an array.
 *
 * Equal terms are one class, so that a class may have many views, and some of
 * them are views of each other.  The way down should not depend on how a
 * program was spelled, nor end in a circle.  So each class has a rank: the
 * elements of the smallest array that views lead to, then the least number of
 * views on that way.  A class that something computes or stores is an array
 * itself. */
#include "rules/instr/fit.h"
#include "base/map.h"
#include <assert.h>

typedef struct rank {
  eg_class cls;
  int64_t elements; /* INT64_MAX: none is known */
  uint32_t steps;
} rank;

struct fit_ranks {
  bs_map at; /* of a class its place */
  BS_VEC(rank) of;
};

static bool
is_below(const rank *a, const rank *b) {
  return a->elements != b->elements ? a->elements < b->elements
                                    : a->steps < b->steps;
}

/* What is copied has the same elements. */
static bool
is_way(const fit_match *m, eg_node node) {
  uint32_t op = eg_op(m->graph, node);
  return (gs_op_table[op].view && op != GS_CONCAT) || op == GS_MATERIALIZE;
}

static uint32_t
place_of(const fit_ranks *r, eg_class c) {
  return bs_map_get(&r->at, c.i);
}

static void
note_class(const fit_match *m, eg_class c) {
  fit_ranks *r = m->ranks;
  c = eg_find(m->graph, c);
  if (place_of(r, c) != BS_NO_ENTRY)
    return;
  bs_map_put(m->session->ctx.heap, &r->at, c.i, r->of.len);
  bs_push(m->session->ctx.heap, &r->of, (rank){c, INT64_MAX, 0});
}

/* Of a view: that of what it shows, and one step; of a tuple, of both. */
static rank
rank_of_way(const fit_match *m, eg_node node) {
  uint32_t n;
  const eg_class *kids = eg_kids(m->graph, node, &n);
  rank all = {.steps = 1};
  for (uint32_t k = 0; k < n; k++) {
    uint32_t at = place_of(m->ranks, eg_find(m->graph, kids[k]));
    rank kid = at == BS_NO_ENTRY ? (rank){.elements = INT64_MAX}
                                 : m->ranks->of.data[at];
    if (__builtin_add_overflow(all.elements, kid.elements, &all.elements))
      all.elements = INT64_MAX;
    all.steps = kid.steps >= all.steps ? kid.steps + 1 : all.steps;
  }
  return all;
}

/* Whether anything of the class has become less. */
static bool
relax(const fit_match *m, rank *of) {
  uint32_t n;
  rank was = *of;
  const eg_node *nodes = eg_class_nodes(m->graph, of->cls, &n);
  for (uint32_t k = 0; k < n; k++) {
    rank way =
        is_way(m, nodes[k])
            ? rank_of_way(m, nodes[k])
            : (rank){.elements = gs_elements(fit_class_type(m, of->cls))};
    if (is_below(&way, of))
      *of = (rank){of->cls, way.elements, way.steps};
  }
  return is_below(of, &was);
}

/* Ranks of all classes that views lead to from one. */
static void
explore(const fit_match *m, eg_class c) {
  fit_ranks *r = m->ranks;
  uint32_t n, n_kids, from = r->of.len;
  note_class(m, c);
  for (uint32_t i = from; i < r->of.len; i++) {
    const eg_node *nodes = eg_class_nodes(m->graph, r->of.data[i].cls, &n);
    for (uint32_t k = 0; k < n; k++) {
      const eg_class *kids = eg_kids(m->graph, nodes[k], &n_kids);
      for (uint32_t j = 0; is_way(m, nodes[k]) && j < n_kids; j++)
        note_class(m, kids[j]);
    }
  }
  for (bool any = r->of.len > from; any;) {
    any = false;
    for (uint32_t i = r->of.len; i-- > from;)
      any |= relax(m, &r->of.data[i]);
  }
}

fit_ranks *
fit_ranks_new(bs_heap *heap) {
  return bs_calloc(heap, 1, sizeof(fit_ranks));
}

void
fit_ranks_free(bs_heap *heap, fit_ranks *r) {
  bs_vec_done(heap, &r->of);
  bs_map_done(heap, &r->at);
  bs_free(heap, r);
}

bool
fit_is_array(const fit_match *m, eg_class c) {
  explore(m, c);
  uint32_t at = place_of(m->ranks, eg_find(m->graph, c));
  return at != BS_NO_ENTRY && !m->ranks->of.data[at].steps &&
         m->ranks->of.data[at].elements < INT64_MAX;
}

/* Behind those that are not above it; what there is no room for is left out. */
static void
insert(fit_ways *w, rank *ranks, const rank *way, eg_node node) {
  assert(w->n <= FIT_MOST_WAYS);
  uint32_t at = w->n < FIT_MOST_WAYS ? w->n++ : w->n;
  for (; at > 0 && is_below(way, &ranks[at - 1]); at--)
    if (at < FIT_MOST_WAYS) {
      ranks[at] = ranks[at - 1];
      w->node[at] = w->node[at - 1];
    }
  if (at < FIT_MOST_WAYS) {
    ranks[at] = *way;
    w->node[at] = node;
  }
}

void
fit_find_ways(const fit_match *m, eg_class c, fit_ways *out) {
  rank ranks[FIT_MOST_WAYS];
  uint32_t n;
  explore(m, c);
  const eg_node *nodes = eg_class_nodes(m->graph, c, &n);
  out->n = 0;
  for (uint32_t k = 0; k < n; k++)
    if (is_way(m, nodes[k])) {
      rank way = rank_of_way(m, nodes[k]);
      insert(out, ranks, &way, nodes[k]);
    }
}
