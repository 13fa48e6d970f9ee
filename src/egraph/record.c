/* record.c - matches looked up ahead, when their turn comes.
 *
 * A node stays under its key as long as its children's classes lose no union:
 * when it dies, that is for another with the same key, of the same class by
 * then.  And what is equal stays equal.  So a known match still does nothing if
 * the classes that it names are canonical, which is asked only where classes
 * were united since it was looked up. */
#include "egraph/record.h"
#include <string.h>

/* Only where some match is known do all columns of the record have classes. */

/* Are there classes, `stride` words apart, that are not canonical? */
static bool
some_moved(const uint32_t *up, const uint32_t *at, size_t stride, uint32_t n) {
  uint32_t all = EG_LEADS, i = 0;
  for (; i + 4 <= n; i += 4, at += 4 * stride)
    all &= up[at[0]] & up[at[stride]] & up[at[2 * stride]] & up[at[3 * stride]];
  for (; i < n; i++, at += stride)
    all &= up[*at];
  return !all;
}

static bool
all_hold(const eg_graph *g, const eg_rule_state *s, const eg_piece *p) {
  const eg_record *r = p->record;
  const uint32_t *matches = r->words + (size_t)p->from * s->stride;
  const uint32_t *inner = r->words + (size_t)r->n * s->stride + p->from;
  bool moved = false;
  if (r->unions == g->unions)
    return true;
  for (uint32_t k = 0; k < s->n_named && !moved; k++)
    moved = some_moved(g->up, matches + s->named[k], s->stride, p->n);
  for (uint32_t k = 0; k < s->n_inner && !moved; k++)
    moved = some_moved(g->up, inner + (size_t)k * r->n, 1, p->n);
  return !moved;
}

static bool
holds(const eg_graph *g, const eg_rule_state *s, const eg_record *r,
      uint32_t at) {
  const uint32_t *match = r->words + (size_t)at * s->stride;
  const uint32_t *inner = r->words + (size_t)r->n * s->stride + at;
  bool moved = false;
  for (uint32_t k = 0; k < s->n_named; k++)
    moved |= some_moved(g->up, match + s->named[k], 0, 1);
  for (uint32_t k = 0; k < s->n_inner; k++)
    moved |= some_moved(g->up, inner + (size_t)k * r->n, 0, 1);
  return !moved;
}

/* The next match from `at` on that is not known. */
static uint32_t
skip_known(const eg_record *r, uint32_t at, uint32_t end) {
  uint64_t eight = 0, all;
  memset(&all, 1, sizeof all);
  for (; at + sizeof eight <= end; at += (uint32_t)sizeof eight) {
    memcpy(&eight, r->known + at, sizeof eight);
    if (eight != all)
      break;
  }
  while (at < end && r->known[at])
    at++;
  return at;
}

uint32_t
eg_piece_rest(const eg_runner *r, uint32_t k, const eg_piece *p, bool all,
              uint32_t *to) {
  const eg_rule_state *s = &r->states[k];
  const eg_record *record = p->record;
  size_t size = s->stride * sizeof *to;
  uint32_t at = p->from, end = at + p->n, n = 0;
  all = all || !record->n_known;
  bool hold = !all && all_hold(r->g, s, p);
  for (; at < end; at++) {
    if (hold && (at = skip_known(record, at, end)) == end)
      break;
    if (!all && !hold && record->known[at] && holds(r->g, s, record, at))
      continue;
    memcpy(to + (size_t)n++ * s->stride, record->words + (size_t)at * s->stride,
           size);
  }
  return n;
}
