/* share.c - a step of a large group's right sides, built by several threads.
 *
 * Within a step nothing is united, so what it adds can be found out in parts:
 *
 *   look    ranges of the matches are looked up; what is not there is listed by
 *           the part of the table where it belongs;
 *   enter   each part of the table takes what belongs to it.  What several
 *           matches add is theirs who comes first;
 *   (alone) the new nodes are counted: so each range knows its numbers;
 *   write   the rows and classes of each range are written;
 *   finish  the rows are linked to their children's parents, all by one thread;
 *           their numbers are put into the table.
 *
 * A thread takes its own ranges and parts first, for a line that another one
 * has changed takes as long to come as one from memory; then what is left, for
 * processors may differ in speed.  Each goes through the matches in their
 * order, so numbers and lists are those of one thread (batch.c).  */
#include "egraph/share.h"
#include <string.h>

enum {
  PARTS = 4,                         /* of the table */
  RANGES = EG_GROUP_MOST / EG_BATCH, /* of the matches */
  FEWEST = 2 * EG_BATCH,             /* matches that are worth it */
  AHEAD = 16,                        /* that are fetched */
  SOME = 32 /* rows that are linked while others are fetched */
};

#define WAITS 0x80000000u /* as a node in the table: the match that adds it */
#define NEW   EG_NONE     /* as the match that adds the same node: no other */
#define FOUND (EG_NONE - 1u) /* ... the node was there */

typedef enum eg_phase { LOOK, ENTER, WRITE, FINISH, PHASES } eg_phase;

typedef struct eg_range {
  uint32_t from, to; /* matches */
  uint32_t n_todo;   /* those whose node is not there, or not in its class */
  uint32_t n_own[PARTS], n_strays[PARTS]; /* by parts of the table */
  uint32_t n_new[PARTS + 1];              /* ... and what strayed */
  uint32_t first;                         /* new nodes of ranges before it */
  uint32_t n_equal;
  char apart[128]; /* what threads write side by side is not in one line */
} eg_range;

struct eg_share {
  uint32_t room; /* matches */
  uint32_t n;    /* ranges of the group that is on */
  uint32_t *block;
  /* Of each match of which there is something to do. */
  uint32_t *same; /* the first match that adds the same node; NEW, FOUND */
  /* ... whose node is not there */
  eg_class (*kids)[2];
  uint64_t *hash;
  uint32_t *into;  /* the class of a last node */
  uint32_t *place; /* in the table: pairs before it */
  uint32_t *row;
  uint32_t *todo;         /* of a range, from its first match on */
  uint32_t *own[PARTS];   /* the same, by part of the table */
  uint32_t *rows, *seats; /* free ones that are used again, in order */
  uint32_t n_rows, n_seats;
  uint32_t bound[PARTS + 1]; /* of the table's parts: buckets */
  eg_range ranges[RANGES];
  eg_meeting meeting;
  eg_claims claims[PHASES], link;

  eg_runner *r;
  eg_graph *g;
  const eg_batch *b;
  const eg_code *c;
  const eg_step *s;
  uint32_t step, total; /* total: of new nodes */
  bool last;
};

/* --- look --------------------------------------------------------------- */

static void
list(eg_share *s, eg_range *p, const eg_wanted *w, uint32_t i, uint32_t at) {
  uint32_t bucket = eg_bucket_of(s->g, w->hashes[i]), k = 0;
  memcpy(s->kids[at], w->kids[i], sizeof w->kids[i]);
  s->hash[at] = w->hashes[i];
  while (bucket >= s->bound[k + 1])
    k++;
  s->own[k][p->from + p->n_own[k]++] = at;
}

static void
look(eg_share *s, eg_range *p) {
  const eg_graph *g = s->g;
  uint32_t at = p->from;
  eg_batch b = eg_batch_part(s->b, at, p->to);
  const uint32_t *into = eg_targets(&b, s->c);
  uint32_t *made = eg_made_at(&b, s->step), todo[EG_BATCH], n_todo = 0;
  eg_wanted w;
  p->n_todo = 0;
  memset(p->n_own, 0, sizeof p->n_own);
  eg_want_shared(&b, s->s, &w);
  for (uint32_t i = 0; i < b.n; i++) {
    made[i] = eg_likely_class(g, s->s, &w, i);
    todo[n_todo] = i;
    n_todo += s->last
                  ? !eg_is_same(g, made[i], into[(size_t)i * b.stride], true)
                  : made[i] == EG_NONE;
  }
  for (uint32_t k = 0; k < n_todo; k++) {
    uint32_t i = todo[k];
    if (made[i] == EG_NONE && !eg_table_lacks(g, w.hashes[i])) {
      eg_key key = eg_wanted_key(s->s, &w, i);
      uint32_t have = eg_table_find(g, &key, w.hashes[i], EG_NONE, NULL);
      made[i] = have == EG_NONE ? EG_NONE : g->rows[have].cls;
    }
    if (made[i] != EG_NONE &&
        (!s->last || eg_is_same(g, made[i], into[(size_t)i * b.stride], true)))
      continue;
    s->todo[p->from + p->n_todo++] = at + i;
    s->same[at + i] = FOUND;
    if (made[i] == EG_NONE)
      list(s, p, &w, i, at + i);
    if (made[i] == EG_NONE && s->last)
      s->into[at + i] = eg_target(&b, s->c, i, true);
  }
}

/* --- enter -------------------------------------------------------------- */

/* The match whose node waits in a bucket under the same key; or NEW. */
static uint32_t
find_waiting(const eg_share *s, const eg_bucket *b, uint8_t tag, uint32_t i) {
  for (uint32_t m = eg_tags_equal(b, tag); m; m &= m - 1) {
    uint32_t node = b->node[__builtin_ctz(m)];
    if (node & WAITS &&
        !memcmp(s->kids[node & ~WAITS], s->kids[i], sizeof s->kids[i]))
      return node & ~WAITS;
  }
  return NEW;
}

/* Enters the node of match i into a bucket from its own up to `end`.  False
 * when there is no room: then it strays. */
static bool
enter(eg_share *s, uint32_t i, uint32_t at, uint32_t end) {
  uint8_t tag = eg_tag_of(s->hash[i]);
  eg_bucket *buckets = s->g->buckets;
  uint32_t to = EG_NONE;
  for (; at < end; at++) {
    eg_bucket *b = &buckets[at];
    uint32_t room = eg_tags_equal(b, 0);
    s->same[i] = find_waiting(s, b, tag, i);
    if (s->same[i] != NEW)
      return true;
    if (to == EG_NONE && room)
      to = at * EG_BUCKET + (uint32_t)__builtin_ctz(room);
    if (!b->spilled && to != EG_NONE)
      break;
    b->spilled = to == EG_NONE ? 1 : b->spilled;
  }
  if (to == EG_NONE)
    return false;
  buckets[to / EG_BUCKET].tag[to % EG_BUCKET] = tag;
  buckets[to / EG_BUCKET].node[to % EG_BUCKET] = i | WAITS;
  s->place[i] = to;
  return true;
}

/* What strays is kept in front of the list. */
static void
enter_some(eg_share *s, eg_range *p, uint32_t part) {
  uint32_t *own = s->own[part] + p->from, n = p->n_own[part];
  uint32_t n_new = 0, n_strays = 0, end = s->bound[part + 1];
  for (uint32_t k = 0; k < n; k++) {
    if (k + AHEAD < n)
      eg_prefetch_own(
          &s->g->buckets[eg_bucket_of(s->g, s->hash[own[k + AHEAD]])]);
    uint32_t i = own[k];
    if (enter(s, i, eg_bucket_of(s->g, s->hash[i]), end))
      n_new += s->same[i] == NEW;
    else
      own[n_strays++] = i;
  }
  p->n_new[part] = n_new;
  p->n_strays[part] = n_strays;
}

/* --- alone -------------------------------------------------------------- */

/* The table's end is followed by its beginning. */
static void
enter_strays(eg_share *s, eg_range *p, uint32_t part) {
  uint32_t n = s->g->n_buckets;
  for (uint32_t k = 0; k < p->n_strays[part]; k++) {
    uint32_t i = s->own[part][p->from + k];
    if (!enter(s, i, eg_bucket_of(s->g, s->hash[i]), n))
      enter(s, i, 0, n);
    p->n_new[PARTS] += s->same[i] == NEW;
  }
}

static void
take_free_rows(eg_share *s) {
  eg_graph *g = s->g;
  uint32_t n = g->n_free < s->total ? g->n_free : s->total;
  for (s->n_rows = 0; s->n_rows < n; s->n_rows++) {
    s->rows[s->n_rows] = g->free_row;
    g->free_row = g->rows[g->free_row].kid[0].i;
  }
  g->n_free -= n;
  g->n_dead -= n;
}

static void
take_free_seats(eg_share *s) {
  eg_graph *g = s->g;
  s->n_seats = 0;
  while (s->n_seats < s->total && g->free_seat != EG_NONE) {
    s->seats[s->n_seats++] = g->free_seat;
    g->free_seat = g->parents[g->free_seat].first;
  }
}

/* Numbers for all that is new. */
static void
number(void *ctx) {
  eg_share *s = ctx;
  s->total = 0;
  for (uint32_t k = 0; k < s->n; k++) {
    eg_range *p = &s->ranges[k];
    p->first = s->total;
    p->n_new[PARTS] = 0;
    for (uint32_t part = 0; part < PARTS; part++) {
      enter_strays(s, p, part);
      s->total += p->n_new[part];
    }
    s->total += p->n_new[PARTS];
  }
  take_free_rows(s);
  if (!s->last)
    take_free_seats(s);
}

/* --- write -------------------------------------------------------------- */

/* A class of its own for new node k. */
static uint32_t
write_class(eg_share *s, uint32_t k) {
  eg_graph *g = s->g;
  uint32_t c = g->n_classes + k;
  uint32_t seat = k < s->n_seats ? s->seats[k] : g->n_seats + k - s->n_seats;
  g->up[c] = EG_LEADS | seat;
  g->parents[seat] = (eg_parents){EG_NONE, 0};
  g->flags[seat] = 0;
  return c;
}

static void
write_row(eg_share *s, uint32_t i, uint32_t k, uint32_t cls) {
  eg_graph *g = s->g;
  uint32_t n = k < s->n_rows ? s->rows[k] : g->n_rows + k - s->n_rows;
  g->rows[n] = (eg_row){s->s->head, cls, {s->kids[i][0], s->kids[i][1]}};
  g->stamps[n] = (eg_stamp)g->epoch;
  s->row[i] = n;
}

/* The classes that a range's last nodes make equal. */
static void
list_equal(eg_share *s, eg_range *p) {
  const uint32_t *made = eg_made_at(s->b, s->step);
  eg_equal *equal = s->r->equal.data + p->from;
  p->n_equal = 0;
  for (uint32_t t = 0; s->last && t < p->n_todo; t++) {
    uint32_t i = s->todo[p->from + t], same = s->same[i];
    if (same == FOUND)
      equal[p->n_equal++] = (eg_equal){i, made[i], EG_NONE};
    else if (same != NEW && s->into[same] != s->into[i])
      equal[p->n_equal++] = (eg_equal){i, s->into[same], EG_NONE};
  }
}

static void
write_some(eg_share *s, eg_range *p) {
  uint32_t *made = eg_made_at(s->b, s->step), k = p->first;
  for (uint32_t t = 0; t < p->n_todo; t++) {
    uint32_t i = s->todo[p->from + t];
    if (s->same[i] != NEW)
      continue;
    made[i] = s->last ? s->into[i] : write_class(s, k);
    write_row(s, i, k++, made[i]);
  }
  list_equal(s, p);
}

/* --- finish ------------------------------------------------------------- */

/* New rows of a range's list from `t` on, some of them; their children's
 * parents are fetched. */
static uint32_t
fetch_parents(const eg_share *s, const eg_range *p, uint32_t *t,
              uint32_t some[SOME]) {
  const eg_graph *g = s->g;
  uint32_t n = 0;
  for (; *t < p->n_todo && n < SOME; ++*t) {
    uint32_t i = s->todo[p->from + *t];
    if (s->same[i] != NEW)
      continue;
    some[n++] = i;
    for (int k = 0; k < 2; k++)
      if (s->kids[i][k].i != EG_NONE)
        eg_prefetch_own(&g->parents[eg_seat(g, s->kids[i][k].i)]);
  }
  return n;
}

static void
link_kid(eg_graph *g, uint32_t edge, uint32_t kid) {
  if (kid == EG_NONE)
    g->links[edge] = EG_NONE;
  else
    eg_edge_link(g, edge, eg_seat(g, kid));
}

static void
link_rows(eg_share *s) {
  for (uint32_t k = 0; k < s->n; k++) {
    uint32_t some[SOME], n;
    for (uint32_t t = 0; (n = fetch_parents(s, &s->ranges[k], &t, some));)
      for (uint32_t j = 0; j < n; j++) {
        uint32_t i = some[j];
        link_kid(s->g, 2 * s->row[i], s->kids[i][0].i);
        link_kid(s->g, 2 * s->row[i] + 1, s->kids[i][1].i);
      }
  }
}

/* The table gets the rows' numbers, and matches that add what another adds its
 * class. */
static void
settle_some(eg_share *s, const eg_range *p) {
  uint32_t *made = eg_made_at(s->b, s->step);
  for (uint32_t t = 0; t < p->n_todo; t++) {
    uint32_t i = s->todo[p->from + t], at = s->place[i];
    if (s->same[i] == NEW)
      s->g->buckets[at / EG_BUCKET].node[at % EG_BUCKET] = s->row[i];
    else if (s->same[i] != FOUND)
      made[i] = made[s->same[i]];
  }
}

/* What each thread does. */
static void
take_part(void *ctx, uint32_t thread) {
  eg_share *s = ctx;
  uint32_t i, threads = s->meeting.n;
  while (eg_claim(&s->claims[LOOK], thread, threads, s->n, &i))
    look(s, &s->ranges[i]);
  eg_crew_meet(&s->meeting, NULL, NULL);
  while (eg_claim(&s->claims[ENTER], thread, threads, PARTS, &i))
    for (uint32_t k = 0; k < s->n; k++)
      enter_some(s, &s->ranges[k], i);
  eg_crew_meet(&s->meeting, number, s);
  while (eg_claim(&s->claims[WRITE], thread, threads, s->n, &i))
    write_some(s, &s->ranges[i]);
  eg_crew_meet(&s->meeting, NULL, NULL);
  if (eg_claim(&s->link, thread, threads, 1, &i))
    link_rows(s);
  while (eg_claim(&s->claims[FINISH], thread, threads, s->n, &i))
    settle_some(s, &s->ranges[i]);
}

/* --- a step ------------------------------------------------------------- */

static void
count_in(eg_share *s) {
  eg_graph *g = s->g;
  uint32_t n = s->total;
  g->n_made += n;
  g->live_nodes += n;
  g->filled += n;
  g->n_rows += n - s->n_rows;
  g->index.valid = g->index.valid && !n;
  if (s->last)
    return;
  g->n_classes += n;
  g->live_classes += n;
  g->n_seats += n - s->n_seats;
}

static void
join_equal(eg_share *s) {
  eg_runner *r = s->r;
  for (uint32_t k = 0; k < s->n; k++) {
    const eg_range *p = &s->ranges[k];
    memmove(r->equal.data + r->equal.len, r->equal.data + p->from,
            p->n_equal * sizeof *r->equal.data);
    r->equal.len += p->n_equal;
  }
}

void
eg_share_step(eg_runner *r, const eg_batch *b, const eg_code *c,
              uint32_t step) {
  eg_share *s = r->share;
  s->r = r;
  s->g = r->g;
  s->b = b;
  s->c = c;
  s->s = &c->steps[step];
  s->step = step;
  s->last = step + 1 == c->n;
  s->n = (b->n + EG_BATCH - 1) / EG_BATCH;
  s->meeting.n = eg_crew_parts(r->g->crew);
  for (int k = 0; k < PHASES; k++)
    eg_claims_reset(&s->claims[k]);
  eg_claims_reset(&s->link);
  for (uint32_t k = 0; k < s->n; k++) {
    s->ranges[k].from = k * EG_BATCH;
    s->ranges[k].to = k + 1 < s->n ? (k + 1) * EG_BATCH : b->n;
  }
  for (uint32_t k = 0; k <= PARTS; k++)
    s->bound[k] = (uint32_t)((uint64_t)r->g->n_buckets * k / PARTS);
  eg_crew_run(r->g->crew, take_part, s, s->meeting.n);
  count_in(s);
  join_equal(s);
}

/* --- room --------------------------------------------------------------- */

/* A table that is as full as one thread would let it be may grow in the middle
 * of a step: then one thread builds the group. */
static bool
has_room(const eg_graph *g, uint64_t nodes) {
  uint64_t slots = (uint64_t)g->n_buckets * EG_BUCKET;
  return (g->filled + nodes) * EG_FULL_DEN <= slots * EG_FULL_NUM &&
         g->most_rows - g->n_rows >= nodes;
}

bool
eg_share_takes(const eg_runner *r, const eg_batch *b) {
  const eg_graph *g = r->g;
  const eg_analysis *a = &g->analysis;
  return r->share && b->n >= FEWEST && b->n <= r->share->room &&
         eg_crew_parts(g->crew) > 1 && !g->journal && !g->origin && !a->make &&
         !a->size && !a->modify && has_room(g, b->n);
}

/* What is taken is not the graph's, so limits are met in the same place. */
void *
eg_take_room(eg_runner *r, void *block, size_t n) {
  size_t used = r->heap->used;
  void *out = bs_try_realloc(r->heap, block, n);
  r->extra += r->heap->used - used;
  if (r->g->limit)
    r->g->limit += r->heap->used - used;
  return out;
}

/* Without room groups are built by one thread. */
void
eg_share_begin(eg_runner *r) {
  enum { WORDS = 11 + PARTS };
  size_t n = r->group;
  if (n < FEWEST || (r->share && r->share->room >= n))
    return;
  if (!r->share) {
    r->share = eg_take_room(r, NULL, sizeof *r->share);
    if (!r->share)
      return;
    *r->share = (eg_share){0};
  }
  eg_share *s = r->share;
  uint32_t *at = eg_take_room(r, s->block, n * WORDS * sizeof *at);
  if (!at)
    return;
  uint32_t **columns[] = {&s->into, &s->place, &s->row,  &s->todo,
                          &s->same, &s->rows,  &s->seats};
  s->block = at;
  s->room = (uint32_t)n;
  s->hash = (uint64_t *)(void *)at;
  s->kids = (eg_class(*)[2])(void *)(at + 2 * n);
  at += 4 * n;
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++, at += n)
    *columns[i] = at;
  for (int k = 0; k < PARTS; k++, at += n)
    s->own[k] = at;
}

void
eg_share_free(eg_runner *r) {
  if (r->share)
    bs_free(r->heap, r->share->block);
  bs_free(r->heap, r->share);
  r->share = NULL;
}
