/* SPDX-License-Identifier: MIT */
/* match_buffer.c - the matches of a rule wait until there is a group of them to
 * be applied. */
#include "egraph/match_buffer.h"
#include "base/file.h"
#include <assert.h>

enum { STEPS_OF_WORD = 4 }; /* of a match: to write it, and to build from it */

static uint32_t
most_waiting(const eg_match_buffer *c) {
  uint32_t stride = c->sink.stride;
  return c->hold ? (EG_HELD + stride - 1) / stride : c->r->group;
}

static uint64_t
room_for(const eg_match_buffer *c) {
  uint64_t cap = c->r->matches.cap;
  return cap > EG_SINK_SLACK ? (cap - EG_SINK_SLACK) / c->sink.stride : 0;
}

/* Room for one match more, or for half as many again, but for no more than wait
 * for their turn. */
static void
grow(eg_runner *r, uint32_t stride, uint64_t most) {
  uint64_t cap = r->matches.cap + r->matches.cap / 2;
  uint64_t least = r->matches.len + stride + EG_SINK_SLACK;
  uint64_t words = cap < least ? least : cap < most ? cap : most;
  r->matches.data =
      bs_realloc(r->heap, r->matches.data, words * sizeof *r->matches.data);
  r->matches.cap = (uint32_t)words;
}

/* The next match follows those that wait. */
static void
offer_room(eg_match_buffer *c) {
  eg_runner *r = c->r;
  uint64_t stride = c->sink.stride, most = most_waiting(c) * stride;
  if (room_for(c) * stride <= r->matches.len)
    grow(r, stride, most + EG_SINK_SLACK);
  uint64_t room = room_for(c) * stride - r->matches.len;
  uint64_t left = most - r->matches.len;
  c->sink.at = r->matches.data + r->matches.len;
  c->sink.last = c->sink.at + (room < left ? room : left) - stride;
}

void
eg_match_buffer_flush(eg_match_buffer *c) {
  assert(c->sink.at >= c->r->matches.data);
  eg_runner *r = c->r;
  double t = bs_now(), restored = r->restore_s;
  r->matches.len = (uint32_t)(c->sink.at - r->matches.data);
  c->applied += r->matches.len / c->sink.stride;
  eg_apply_matches(r, c->rule);
  if (c->applied > r->work / STEPS_OF_WORD / c->sink.stride)
    eg_cut(r, EG_STOP_WORK);
  c->sink.at = r->matches.data;
  restored = r->restore_s - restored;
  c->apply_s += bs_now() - t - restored;
  c->restore_s += restored;
}

/* Instead of holding more matches they are only counted first, which is much
 * quicker than finding them; false when there are too many. */
static bool
count_ahead(eg_match_buffer *c) {
  eg_runner *r = c->r;
  eg_search_options how = eg_search_how(r, c->rule);
  how.since = UINT32_MAX;
  c->banned = eg_search_with(r->g, r->rules[c->rule].pattern, &how, NULL,
                             NULL) > how.limit;
  c->hold = false;
  return !c->banned;
}

static bool
when_full(void *ctx) {
  eg_match_buffer *c = ctx;
  eg_runner *r = c->r;
  r->matches.len = (uint32_t)(c->sink.at - r->matches.data);
  if (r->matches.len / c->sink.stride >= most_waiting(c)) {
    if (c->hold && !count_ahead(c))
      return false;
    eg_match_buffer_flush(c);
    if (r->cut)
      return false;
  }
  offer_room(c);
  return true;
}

void
eg_match_buffer_open(eg_match_buffer *c, eg_runner *r, uint32_t rule,
                     bool hold) {
  assert(rule < r->n_rules && r->states[rule].stride);
  *c = (eg_match_buffer){.r = r, .rule = rule, .hold = hold};
  c->sink =
      (eg_sink){.stride = r->states[rule].stride, .full = when_full, .ctx = c};
  offer_room(c);
}
