/* catch.c - matches wait until there are enough to be applied.
 *
 * They are applied in turns, each in groups of EG_BATCH: what happens between
 * groups must not depend on how many threads search.  So matches that were
 * looked up ahead, which need not be written anywhere, are taken in the same
 * groups, each as soon as it is complete. */
#include "egraph/catch.h"
#include "base/file.h"
#include "egraph/parallel.h"
#include "egraph/record.h"
#include <string.h>

/* Matches of a turn. */
static uint32_t
most_waiting(const eg_catch *c) {
  uint32_t words = c->hold ? EG_HELD : EG_WAITING, stride = c->sink.stride;
  return (words + stride - 1) / stride;
}

static uint64_t
room_for(const eg_catch *c) {
  uint64_t cap = c->r->matches.cap;
  return cap > EG_SINK_SLACK ? (cap - EG_SINK_SLACK) / c->sink.stride : 0;
}

static void
grow_to(eg_runner *r, uint64_t words) {
  uint32_t *data = r->matches.data;
  r->matches.data = bs_realloc(r->heap, data, words * sizeof *data);
  r->matches.cap = (uint32_t)words;
}

/* As much room as if all matches of the turn had been written, so that memory
 * is used alike whether they are looked up ahead or not. */
static void
reserve_waiting(eg_catch *c) {
  eg_runner *r = c->r;
  uint64_t stride = c->sink.stride, room;
  uint64_t n = c->done + c->group + r->matches.len / stride;
  uint64_t most = most_waiting(c) * stride + EG_SINK_SLACK;
  while ((room = room_for(c)) <= n && room < most_waiting(c)) {
    uint64_t cap = r->matches.cap + r->matches.cap / 2;
    uint64_t least = (room + 1) * stride + EG_SINK_SLACK;
    grow_to(r, cap < least ? least : cap < most ? cap : most);
  }
}

/* The next match follows those that wait. */
static void
offer_room(eg_catch *c) {
  eg_runner *r = c->r;
  reserve_waiting(c);
  uint64_t room = room_for(c) * c->sink.stride - r->matches.len;
  uint64_t left = (uint64_t)(most_waiting(c) - c->done) * c->sink.stride;
  left -= r->matches.len;
  c->sink.at = r->matches.data + r->matches.len;
  c->sink.last = c->sink.at + (room < left ? room : left) - c->sink.stride;
}

/* Applies all that waits. */
static void
apply_waiting(eg_catch *c) {
  eg_runner *r = c->r;
  double t = bs_now(), restored = r->restore_s;
  if (r->n_pieces) {
    eg_apply_pieces(r, c->rule);
  } else {
    r->matches.len = (uint32_t)(c->sink.at - r->matches.data);
    eg_apply_matches(r, c->rule);
  }
  c->sink.at = r->matches.data;
  c->group = 0;
  restored = r->restore_s - restored;
  c->apply_s += bs_now() - t - restored;
  c->restore_s += restored;
}

void
eg_catch_flush(eg_catch *c) {
  apply_waiting(c);
  c->done = 0;
}

/* Instead of holding more matches they are only counted first, which is much
 * quicker than finding them; false when there are too many. */
static bool
count_ahead(eg_catch *c) {
  eg_runner *r = c->r;
  eg_search_options how = eg_search_how(r, c->rule);
  uint64_t n;
  how.since = UINT32_MAX;
  if (!eg_ahead_count(r, c->rule, &n))
    n = eg_search_with(r->g, r->rules[c->rule].pattern, &how, NULL, NULL);
  c->banned = n > how.limit;
  c->hold = false;
  return !c->banned;
}

static bool
catch_matches(void *ctx) {
  eg_catch *c = ctx;
  eg_runner *r = c->r;
  r->matches.len = (uint32_t)(c->sink.at - r->matches.data);
  if (r->matches.len / c->sink.stride + c->done >= most_waiting(c)) {
    if (c->hold && !count_ahead(c))
      return false;
    eg_catch_flush(c);
    if (r->cut)
      return false;
  }
  offer_room(c);
  return true;
}

/* --- matches looked up ahead ------------------------------------------- */

/* Writes some of a record's matches as if they had been found now; returns how
 * many.  It ends with a group, whose matches are then applied. */
static uint32_t
write_some(eg_catch *c, const eg_record *record, uint32_t from, uint32_t n,
           bool *go) {
  eg_runner *r = c->r;
  eg_sink *s = &c->sink;
  uint32_t have = (uint32_t)(s->at - r->matches.data) / s->stride;
  uint32_t room = (uint32_t)(s->last - s->at) / s->stride + 1;
  uint32_t group = EG_BATCH - have % EG_BATCH;
  n = n < room ? n : room;
  n = n < group ? n : group;
  memcpy(s->at, record->words + (size_t)from * s->stride,
         (size_t)n * s->stride * sizeof *s->at);
  s->at += (size_t)(n - 1) * s->stride;
  *go = eg_sink_next(s);
  have = (uint32_t)(s->at - r->matches.data) / s->stride;
  if (*go && !c->hold && have && have % EG_BATCH == 0) {
    apply_waiting(c);
    c->done += have;
    offer_room(c);
  }
  return n;
}

/* Some of a record's matches join the next group; returns how many. */
static uint32_t
take_some(eg_catch *c, const eg_record *record, uint32_t from, uint32_t n,
          bool *go) {
  eg_runner *r = c->r;
  uint32_t left = most_waiting(c) - c->done;
  uint32_t most = left < EG_BATCH ? left : EG_BATCH;
  n = n < most - c->group ? n : most - c->group;
  r->pieces[r->n_pieces++] = (eg_piece){record, from, n};
  c->group += n;
  offer_room(c);
  if (c->group == most) {
    apply_waiting(c);
    c->done += most;
    if (most == left) {
      c->done = 0;
      *go = !r->cut;
    }
  }
  offer_room(c);
  return n;
}

static uint32_t
catch_record(void *ctx, const eg_record *record, bool *go) {
  eg_catch *c = ctx;
  uint32_t at = 0;
  while (at < record->n && *go) {
    bool write = c->hold || c->sink.at != c->r->matches.data;
    at += write ? write_some(c, record, at, record->n - at, go)
                : take_some(c, record, at, record->n - at, go);
  }
  return at;
}

/* The group that is not complete is written. */
static void
settle(void *ctx) {
  eg_catch *c = ctx;
  eg_runner *r = c->r;
  bool go = true;
  uint32_t n = r->n_pieces;
  r->n_pieces = c->group = 0;
  for (uint32_t i = 0; i < n; i++) {
    const eg_piece *p = &r->pieces[i];
    for (uint32_t at = 0; at < p->n;)
      at += write_some(c, p->record, p->from + at, p->n - at, &go);
  }
}

void
eg_catch_begin(eg_catch *c, eg_runner *r, uint32_t rule, bool hold) {
  *c = (eg_catch){.r = r, .rule = rule, .hold = hold};
  c->sink = (eg_sink){.stride = r->states[rule].stride,
                      .full = catch_matches,
                      .take = catch_record,
                      .settle = settle,
                      .ctx = c};
  r->n_pieces = 0;
  offer_room(c);
}
