/* SPDX-License-Identifier: MIT */
/* index.c - contiguous node lists by operator and class.
 *
 * Built (index_build.c, index_segments.c) when a search or an iteration first
 * asks after a change.  No class owns memory of its own.
 *
 * The index describes the graph as it was when built.  Adding nodes and uniting
 * classes leaves it and the rows it names as they are (only a rebuild changes
 * rows), so a search may go on over it while matches are being applied. */
#include "egraph/index_build.h"
#include "egraph/segments.h"
#include <assert.h>
#include <string.h>

static void
drop_lists(eg_graph *g) {
  eg_index *x = &g->index;
  bs_vec_done(g->heap, &x->class_start);
  bs_vec_done(g->heap, &x->by_class);
  bs_free(g->heap, x->room);
  x->room = NULL;
  x->listed = false;
}

/* The older half of the epochs becomes one.  After 2^31 epochs none ends any
 * more: all changes count as recent, which is more work and no harm. */
static void
drop_epochs(eg_graph *g) {
  enum { HALF = EG_EPOCHS / 2 };
  eg_use *uses = g->index.uses.data;
  if (g->epoch < EG_EPOCHS || g->epoch_base > UINT32_MAX / 2)
    return;
  for (uint32_t n = 0; n < g->n_rows; n++) {
    eg_stamp s = g->stamps[n], at = s & (eg_stamp)~EG_MOVED;
    at = at > HALF ? at - HALF : 1;
    if (s != EG_PRUNED)
      g->stamps[n] = (s & EG_MOVED) | at;
  }
  for (uint32_t s = 0; s < g->index.uses.len; s++)
    uses[s].epoch = uses[s].epoch > HALF ? uses[s].epoch - HALF : 1;
  g->epoch -= HALF;
  g->epoch_base += HALF;
}

/* Nothing waits while the index is built, which is when most is in use. */
static void
drop_worklists(eg_graph *g) {
  bs_vec_done(g->heap, &g->merged);
  bs_vec_done(g->heap, &g->changed);
  bs_vec_done(g->heap, &g->modify_queue);
  bs_vec_done(g->heap, &g->chunks);
  bs_vec_done(g->heap, &g->edges);
  bs_vec_done(g->heap, &g->congruent);
  bs_vec_done(g->heap, &g->pruned);
}

static void
build(eg_graph *g) {
  eg_index *x = &g->index;
  x->classes = x->nodes = x->symbols = 0;
  drop_epochs(g);
  drop_lists(g);
  drop_worklists(g);
  bs_vec_done(g->heap, &x->segments);
  bs_clear(&x->many);
  eg_index_build(g);
  x->classes = g->n_classes;
  x->nodes = g->n_rows;
  x->symbols = g->symbol_ops.len;
  x->valid = true;
  x->epoch = g->epoch;
  g->epoch += g->epoch < EG_EPOCHS;
}

/* While unions are pending or a search runs, the last index stands. */
const eg_index *
eg_index_of(const eg_graph *g) {
  if (!g->index.valid && !g->dirty && !g->pins)
    build(g->self);
  return &g->index;
}

void
eg_index_lists_free(eg_graph *g) {
  eg_index *x = &g->index;
  bs_heap *h = g->heap;
  drop_lists(g);
  bs_vec_done(h, &x->class_segment);
  bs_vec_done(h, &x->segments);
  bs_free(h, x->by_symbol.words);
  x->by_symbol = (eg_entries){0};
  x->valid = false;
  x->classes = x->nodes = x->symbols = 0;
}

void
eg_index_give_back(eg_graph *g) {
  const bs_heap *h = g->heap;
  if (!g->index.valid && !g->pins && h->used + h->used / 16 >= h->peak)
    eg_index_lists_free(g);
}

void
eg_index_free(eg_graph *g) {
  eg_index *x = &g->index;
  bs_heap *h = g->heap;
  eg_index_lists_free(g);
  bs_vec_done(h, &x->many);
  bs_vec_done(h, &x->symbol_start);
  bs_vec_done(h, &x->uses);
}

/* --- a class's nodes ---------------------------------------------------- */

/* By Shell's method, for most lists are short and in some ordered runs. */
static void
sort(eg_node *list, uint32_t n) {
  for (uint32_t gap = n / 2; gap; gap /= 2)
    for (uint32_t i = gap; i < n; i++) {
      eg_node one = list[i];
      uint32_t at = i;
      for (; at >= gap && list[at - gap].i > one.i; at -= gap)
        list[at] = list[at - gap];
      list[at] = one;
    }
}

static void
list_by_class(eg_graph *g) {
  eg_index *x = &g->index;
  uint32_t at = 0;
  EG_ROOM(g, &x->class_start, (uint64_t)x->classes + 1);
  EG_ROOM(g, &x->by_class, (uint64_t)x->symbol_start.data[x->symbols]);
  for (uint32_t c = 0; c < x->classes; c++) {
    uint32_t from = x->class_start.data[c] = at, k = x->class_segment.data[c];
    eg_segment s;
    while (eg_segment_next(x, &k, &s)) {
      uint32_t end = s.start + eg_segment_n(x, &s);
      for (uint32_t i = s.start; i < end; i++)
        x->by_class.data[at++].i = eg_entry_node(&x->by_symbol, i);
    }
    sort(x->by_class.data + from, at - from);
  }
  x->class_start.data[x->classes] = at;
  x->listed = true;
}

/* --- iteration --------------------------------------------------------- */

static eg_class
class_from(const eg_graph *g, uint32_t c) {
  while (c < g->n_classes && !eg_leads(g, c))
    c++;
  return c < g->n_classes ? (eg_class){c} : EG_NO_CLASS;
}

eg_class
eg_first_class(const eg_graph *g) {
  return class_from(g, 0);
}

eg_class
eg_next_class(const eg_graph *g, eg_class c) {
  assert(c.i < g->n_classes);
  return class_from(g, c.i + 1);
}

uint32_t
eg_class_ids(const eg_graph *g) {
  uint32_t n = g->n_classes;
  while (n > 0 && !eg_leads(g, n - 1))
    n--;
  return n;
}

const eg_node *
eg_class_nodes(const eg_graph *g, eg_class c, uint32_t *n) {
  assert(c.i < g->n_classes);
  const eg_index *x = eg_index_of(g);
  c.i = eg_root(g, c.i);
  if (c.i >= x->classes) {
    *n = 0;
    return NULL;
  }
  if (!x->listed)
    list_by_class(g->self);
  uint32_t from = x->class_start.data[c.i];
  *n = x->class_start.data[c.i + 1] - from;
  return x->by_class.data + from;
}
