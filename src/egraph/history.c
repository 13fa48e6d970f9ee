/* SPDX-License-Identifier: MIT */
/* history.c - the journal indexed, in a few linear passes.
 *
 * A row joined by an event hangs under the root of the larger tree and never
 * moves again: the way up to the first link younger than a time ends at the
 * root of that time.  The way between two rows in the forest of events follows
 * from it: the youngest link between them is the event that made them equal;
 * what is left on its two sides is older. */
#include "egraph/history.h"
#include "base/hash.h"
#include <assert.h>
#include <string.h>

enum { MOST_VISITS = 1 << 14, RULE = 2, CONGRUENCE = 1 };

/* --- rows --------------------------------------------------------------- */

uint32_t
eg_history_kid(const eg_history *h, uint32_t row, uint32_t j) {
  assert(row < h->n_rows && j < eg_history_arity(h, row));
  const eg_was *w = &h->j->was.data[row];
  bool wide = h->g->rows[row].head & EG_WIDE;
  eg_class c = wide ? h->j->pool.data[w->kid[0].i + j] : w->kid[j];
  return h->first[c.i];
}

static uint32_t
kid_class(const eg_history *h, uint32_t row, uint32_t j) {
  const eg_was *w = &h->j->was.data[row];
  bool wide = h->g->rows[row].head & EG_WIDE;
  return eg_root(h->g, (wide ? h->j->pool.data[w->kid[0].i + j] : w->kid[j]).i);
}

static uint32_t
head_of(const eg_history *h, uint32_t row) {
  return h->g->rows[row].head & EG_HEAD_MASK;
}

bool
eg_history_congruent(const eg_history *h, uint32_t a, uint32_t b) {
  assert(a < h->n_rows && b < h->n_rows);
  if (a == b)
    return true;
  if (head_of(h, a) != head_of(h, b))
    return false;
  for (uint32_t k = 0, n = eg_history_arity(h, a); k < n; k++)
    if (kid_class(h, a, k) != kid_class(h, b, k))
      return false;
  return true;
}

/* --- keys --------------------------------------------------------------- */

static uint64_t
mix(uint64_t hash, uint32_t word) {
  uint64_t x = (hash ^ word) * 0x9e3779b97f4a7c15u;
  return x ^ x >> 29;
}

static uint32_t
place_of_row(const eg_history *h, uint32_t row) {
  uint64_t hash = mix(0, head_of(h, row));
  for (uint32_t k = 0, n = eg_history_arity(h, row); k < n; k++)
    hash = mix(hash, kid_class(h, row, k));
  return (uint32_t)(hash >> 20) & h->mask;
}

static void
index_keys(eg_history *h) {
  bs_heap *heap = h->g->heap;
  uint32_t size = 64;
  while (size < h->n_rows && size < 1u << 30)
    size *= 2;
  h->mask = size - 1;
  h->heads = bs_alloc(heap, size * sizeof *h->heads);
  h->next = bs_alloc(heap, (h->n_rows + (size_t)1) * sizeof *h->next);
  memset(h->heads, 0xff, size * sizeof *h->heads);
  for (uint32_t row = h->n_rows; row-- > 0;) {
    uint32_t at = place_of_row(h, row);
    h->next[row] = h->heads[at];
    h->heads[at] = row;
  }
}

static bool
has_key(const eg_history *h, uint32_t row, uint32_t head,
        const uint32_t *classes, uint32_t n) {
  if (head_of(h, row) != head)
    return false;
  for (uint32_t k = 0; k < n; k++)
    if (kid_class(h, row, k) != classes[k])
      return false;
  return true;
}

uint32_t
eg_history_find(const eg_history *h, uint32_t head, const uint32_t *classes,
                uint32_t n) {
  assert(classes || !n);
  head &= EG_HEAD_MASK;
  uint64_t hash = mix(0, head);
  for (uint32_t k = 0; k < n; k++)
    hash = mix(hash, classes[k]);
  uint32_t row = h->heads[(uint32_t)(hash >> 20) & h->mask];
  while (row != EG_NONE && !has_key(h, row, head, classes, n))
    row = h->next[row];
  return row;
}

uint32_t
eg_history_next(const eg_history *h, uint32_t row) {
  assert(row < h->n_rows);
  uint32_t at = h->next[row];
  while (at != EG_NONE && !eg_history_congruent(h, row, at))
    at = h->next[at];
  return at;
}

/* --- events ------------------------------------------------------------- */

static uint32_t
made_first(const eg_history *h, uint32_t cls) {
  return cls < h->g->n_classes ? h->first[cls] : EG_NONE;
}

/* The rows that a rule made equal: of its left side, and of its right. */
static void
rule_ends(const eg_history *h, const eg_event *e, uint32_t *end) {
  const uint32_t *m = eg_match_at(h, e->why), *slots = m + EG_M_HEAD;
  end[0] = end[1] = EG_NONE;
  if (m[EG_M_RULE] >= h->n_shapes)
    return;
  const eg_result *r = &h->shapes[m[EG_M_RULE]].results[e->b];
  const eg_term_node *last = &r->term.nodes[r->term.n - 1];
  if (r->slot != EG_NONE)
    end[0] = made_first(h, slots[r->slot]);
  else
    end[0] =
        m[EG_M_NODE] != EG_NONE ? m[EG_M_NODE] : made_first(h, m[EG_M_ROOT]);
  end[1] = last->is_slot ? made_first(h, slots[last->slot]) : e->a;
}

static void
find_ends(eg_history *h) {
  for (uint32_t i = 0; i < h->n_events; i++) {
    const eg_event *e = &h->j->events.data[i];
    uint32_t *end = h->ends + 2 * (size_t)i;
    if (eg_is_rule(h, e)) {
      rule_ends(h, e, end);
    } else if (e->why == EG_BY_CONGRUENCE) {
      end[0] = e->a;
      end[1] = e->b;
    } else {
      end[0] = made_first(h, e->a);
      end[1] = made_first(h, e->b);
    }
    if (end[0] >= h->n_rows || end[1] >= h->n_rows)
      end[0] = end[1] = 0; /* of a rule that nobody knows: says nothing */
  }
}

static uint32_t
top(const eg_history *h, uint32_t row) {
  while (h->up[row] != row)
    row = h->up[row];
  return row;
}

static void
grow_forest(eg_history *h) {
  bs_heap *heap = h->g->heap;
  uint32_t *size = bs_alloc(heap, (h->n_rows + (size_t)1) * sizeof *size);
  for (uint32_t i = 0; i < h->n_rows; i++) {
    h->up[i] = i;
    h->when[i] = EG_NONE;
    size[i] = 1;
  }
  for (uint32_t i = 0; i < h->n_events; i++) {
    uint32_t a = top(h, h->ends[2 * (size_t)i]);
    uint32_t b = top(h, h->ends[2 * (size_t)i + 1]);
    if (a == b)
      continue;
    bool swap = size[a] < size[b];
    uint32_t under = swap ? a : b, over = swap ? b : a;
    h->up[under] = over;
    h->when[under] = i;
    size[over] += size[under];
  }
  bs_free(heap, size);
}

static void
index_events(eg_history *h) {
  uint64_t n = 2 * (uint64_t)h->n_events;
  for (uint64_t i = 0; i < n; i++)
    h->start[h->ends[i] + 1]++;
  for (uint32_t i = 0; i < h->n_rows; i++)
    h->start[i + 1] += h->start[i];
  for (uint64_t i = n; i-- > 0;)
    h->edges[--h->start[h->ends[i] + 1]] = (uint32_t)(i / 2);
  for (uint32_t i = 0; i < h->n_rows; i++)
    h->start[i] = h->start[i + 1];
  h->start[h->n_rows] = (uint32_t)n;
}

void
eg_history_init(eg_history *h, const eg_graph *g, const eg_shape *shapes,
                uint32_t n_shapes) {
  assert(g->journal && (shapes || !n_shapes));
  bs_heap *heap = g->heap;
  const eg_journal *j = g->journal;
  *h = (eg_history){.g = g, .j = j, .shapes = shapes, .n_shapes = n_shapes};
  h->n_rows = j->was.len;
  h->n_events = j->events.len;
  size_t rows = (h->n_rows + (size_t)2) * sizeof(uint32_t);
  size_t events = (h->n_events + (size_t)1) * 2 * sizeof(uint32_t);
  h->first = bs_alloc(heap, (g->n_classes + (size_t)1) * sizeof *h->first);
  memset(h->first, 0xff, (g->n_classes + (size_t)1) * sizeof *h->first);
  for (uint32_t i = h->n_rows; i-- > 0;)
    h->first[j->was.data[i].cls] = i;
  h->ends = bs_alloc(heap, events);
  h->edges = bs_alloc(heap, events);
  h->up = bs_alloc(heap, rows);
  h->when = bs_alloc(heap, rows);
  h->start = bs_calloc(heap, 1, rows);
  h->dist = bs_alloc(heap, rows);
  h->from = bs_alloc(heap, rows);
  memset(h->dist, 0xff, rows);
  find_ends(h);
  grow_forest(h);
  index_events(h);
  index_keys(h);
}

void
eg_history_done(eg_history *h) {
  bs_heap *heap = h->g->heap;
  uint32_t *blocks[] = {h->first, h->ends,  h->edges, h->up,   h->when,
                        h->start, h->heads, h->next,  h->dist, h->from};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
    bs_free(heap, blocks[i]);
  bs_vec_done(heap, &h->seen);
  for (int i = 0; i < 3; i++)
    bs_vec_done(heap, &h->queue[i]);
}

/* --- times -------------------------------------------------------------- */

/* The row under which the youngest link between two rows stands; EG_NONE when
 * nothing links them, *none when they are one. */
static uint32_t
youngest(const eg_history *h, uint32_t a, uint32_t b) {
  uint32_t best = EG_NONE;
  while (a != b) {
    uint32_t *low = h->when[a] <= h->when[b] ? &a : &b;
    if (h->when[*low] == EG_NONE)
      return EG_NONE;
    best = *low;
    *low = h->up[*low];
  }
  return best;
}

uint32_t
eg_history_since(const eg_history *h, uint32_t a, uint32_t b) {
  assert(a < h->n_rows && b < h->n_rows);
  if (a == b)
    return 0;
  uint32_t at = youngest(h, a, b);
  return at == EG_NONE ? EG_NONE : h->when[at] + 1;
}

/* --- ways --------------------------------------------------------------- */

static void
put(const eg_history *h, eg_way *w, uint32_t event) {
  bs_push(h->g->heap, w, event);
}

/* The way between rows in the forest: pieces still to be split stand on a
 * stack as pairs of rows, events that are decided as (event, EG_NONE). */
static bool
forest_way(eg_history *h, uint32_t a, uint32_t b, eg_way *out) {
  bs_heap *heap = h->g->heap;
  BS_VEC(uint32_t) todo = {0};
  bs_push(heap, &todo, b);
  bs_push(heap, &todo, a);
  bool ok = true;
  while (todo.len && ok) {
    uint32_t x = bs_pop(&todo), y = bs_pop(&todo);
    if (y == EG_NONE) {
      put(h, out, x);
      continue;
    }
    if (x == y)
      continue;
    uint32_t at = youngest(h, x, y);
    if (at == EG_NONE) {
      ok = false;
      break;
    }
    uint32_t e = h->when[at];
    uint32_t p = h->ends[2 * (size_t)e], q = h->ends[2 * (size_t)e + 1];
    uint32_t near = eg_history_since(h, x, p);
    bool back = near == EG_NONE || near > e;
    uint32_t word[6] = {
        y, back ? p : q, EG_NONE, e | (back ? EG_BACK : 0), back ? q : p, x};
    for (int i = 0; i < 6; i++)
      bs_push(heap, &todo, word[i]);
  }
  bs_vec_done(heap, &todo);
  return ok;
}

static void
reach(eg_history *h, uint32_t row, uint32_t from, uint32_t dist) {
  if (dist >= h->dist[row])
    return;
  if (h->dist[row] == EG_NONE)
    bs_push(h->g->heap, &h->seen, row);
  h->dist[row] = dist;
  h->from[row] = from;
  bs_push(h->g->heap, &h->queue[dist % 3], row);
}

static void
spread(eg_history *h, uint32_t row, uint32_t bound) {
  uint32_t dist = h->dist[row];
  for (uint32_t i = h->start[row]; i < h->start[row + 1]; i++) {
    uint32_t e = h->edges[i];
    if (e >= bound)
      continue;
    const uint32_t *end = h->ends + 2 * (size_t)e;
    bool back = end[0] != row;
    bool plain = h->j->events.data[e].why == EG_BY_CONGRUENCE;
    reach(h, end[!back], e | (back ? EG_BACK : 0),
          dist + (plain ? CONGRUENCE : RULE));
  }
}

static void
way_back(const eg_history *h, uint32_t a, uint32_t b, eg_way *out) {
  uint32_t first = out->len;
  while (b != a) {
    uint32_t e = h->from[b];
    put(h, out, e);
    b = h->ends[2 * (size_t)(e & ~EG_BACK) + (e & EG_BACK ? 1 : 0)];
  }
  for (uint32_t i = first, k = out->len; i < k; i++) {
    uint32_t t = out->data[i];
    out->data[i] = out->data[--k];
    out->data[k] = t;
  }
}

/* Three queues suffice for steps of one and two. */
static bool
shortest_way(eg_history *h, uint32_t a, uint32_t b, uint32_t bound,
             eg_way *out) {
  uint32_t visits = 0;
  reach(h, a, EG_NONE, 0);
  for (uint32_t dist = 0, empty = 0; empty < 3; dist++) {
    empty = h->queue[dist % 3].len ? 0 : empty + 1;
    for (uint32_t i = 0; i < h->queue[dist % 3].len; i++) {
      uint32_t row = h->queue[dist % 3].data[i];
      if (h->dist[row] != dist)
        continue;
      if (row == b || ++visits > MOST_VISITS)
        goto over;
      spread(h, row, bound);
    }
    bs_clear(&h->queue[dist % 3]);
  }
over:;
  bool found = h->dist[b] != EG_NONE && visits <= MOST_VISITS;
  if (found)
    way_back(h, a, b, out);
  for (uint32_t i = 0; i < h->seen.len; i++)
    h->dist[h->seen.data[i]] = EG_NONE;
  bs_clear(&h->seen);
  for (int i = 0; i < 3; i++)
    bs_clear(&h->queue[i]);
  return found;
}

bool
eg_history_way(eg_history *h, uint32_t a, uint32_t b, uint32_t bound,
               bool shortest, eg_way *out) {
  assert(a < h->n_rows && b < h->n_rows);
  return (shortest && shortest_way(h, a, b, bound, out)) ||
         forest_way(h, a, b, out);
}
