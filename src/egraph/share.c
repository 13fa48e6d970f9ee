/* share.c - a step of a large group's right sides, built by several threads.
 *
 * Within a step nothing is united, so what it adds can be found out side by
 * side:
 *
 *   look    ranges of the matches are looked up; what is not there enters the
 *           table at once, as the match that adds it.  Of several that add the
 *           same the first one stays there;
 *   (alone) the new nodes are counted: so each range knows its numbers;
 *   write   the rows and classes of each range are written, and their numbers
 *           put into the table, while one thread links the rows to their
 *           children's parents;
 *   settle  matches whose node another one adds get its class.
 *
 * A thread takes its own ranges first, for a line that another one has changed
 * takes as long to come as one from memory; then what is left, for processors
 * may differ in speed.  Each goes through the matches in their order, so
 * numbers and lists are those of one thread (batch.c). */
#include "egraph/share.h"
#include "egraph/waiting.h"
#include <string.h>

enum {
  RANGES = EG_GROUP_MOST / EG_BATCH, /* of the matches */
  FEWEST = 2 * EG_BATCH,             /* matches that are worth it */
  SOME = 32 /* rows that are linked while others are fetched */
};

#define NEW   EG_NONE /* as a match that adds the same node: none before it */
#define FOUND (EG_NONE - 1u) /* ... the node was there */

typedef enum eg_phase { LOOK, GATHER, LINK, WRITE, SETTLE, PHASES } eg_phase;

typedef struct eg_range {
  uint32_t from, to; /* matches */
  uint32_t n_todo;   /* those whose node is not there, or not in its class */
  atomic_uint n_new; /* those that add one */
  uint32_t first;    /* new nodes of ranges before it */
  uint32_t n_equal;
  char apart[128]; /* what threads write side by side is not in one line */
} eg_range;

struct eg_share {
  uint32_t room; /* matches */
  uint32_t n;    /* ranges of the group that is on */
  uint32_t *block;
  /* Of each match of which there is something to do. */
  uint32_t *same; /* an earlier match that adds the same node; NEW, FOUND */
  /* ... whose node is not there */
  eg_class (*kids)[2];
  uint32_t *into;         /* the class of a last node */
  uint32_t *place;        /* in the table: pairs before it */
  uint32_t *todo;         /* of a range, from its first match on */
  uint32_t *rows, *seats; /* free ones that are used again, in order */
  uint32_t n_rows, n_seats, next_row, next_seat; /* next: behind these */
  eg_range ranges[RANGES];
  eg_meeting meeting;
  uint32_t threads;
  eg_claims claims[PHASES];

  eg_runner *r;
  eg_graph *g;
  const eg_batch *b;
  const eg_code *c;
  const eg_step *s;
  uint32_t step, total; /* total: of new nodes */
  bool last;
};

/* --- look --------------------------------------------------------------- */

/* Of the matches that add one node the first one is in the table, and NEW, when
 * all have entered.  False when another one is before match i. */
static bool
enter(eg_share *s, uint32_t i, uint64_t hash) {
  uint32_t home = eg_bucket_of(s->g, hash);
  uint8_t tag = eg_tag_of(hash);
  eg_bucket *b = &s->g->buckets[home];
  eg_bucket_lock(b);
  uint32_t at = eg_find_waiting(s->g, s->kids, i, home, tag);
  uint32_t other =
      at == EG_NONE ? EG_NONE : *eg_place_node(s->g, at) & ~EG_WAITS;
  if (other == EG_NONE) {
    at = eg_put_waiting(s->g, i, home, tag);
  } else if (i < other) {
    s->same[other] = i;
    atomic_fetch_sub(&s->ranges[other / EG_BATCH].n_new, 1);
    __atomic_store_n(eg_place_node(s->g, at), i | EG_WAITS, __ATOMIC_RELEASE);
  }
  s->same[i] = other != EG_NONE && other < i ? other : NEW;
  eg_bucket_unlock(b);
  s->place[i] = at;
  return other == EG_NONE || i < other;
}

/* The first match that adds the node of match i: match i, if that is NEW. */
static uint32_t
first_of(const eg_share *s, uint32_t i) {
  while (s->same[i] != NEW)
    i = s->same[i];
  return i;
}

static void
look(eg_share *s, eg_range *p) {
  const eg_graph *g = s->g;
  uint32_t at = p->from;
  eg_batch b = eg_batch_part(s->b, at, p->to);
  const uint32_t *into = eg_targets(&b, s->c);
  uint32_t *made = eg_made_at(&b, s->step), todo[EG_BATCH], n_todo = 0;
  uint32_t n_new = 0;
  eg_wanted w;
  p->n_todo = 0;
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
    if (made[i] == EG_NONE) {
      eg_key key = eg_wanted_key(s->s, &w, i);
      uint32_t have = eg_find_settled(g, &key, w.hashes[i]);
      made[i] = have == EG_NONE ? EG_NONE : g->rows[have].cls;
    }
    if (made[i] != EG_NONE &&
        (!s->last || eg_is_same(g, made[i], into[(size_t)i * b.stride], true)))
      continue;
    s->todo[p->from + p->n_todo++] = at + i;
    if (made[i] != EG_NONE) {
      s->same[at + i] = FOUND;
      continue;
    }
    memcpy(s->kids[at + i], w.kids[i], sizeof w.kids[i]);
    if (s->last)
      s->into[at + i] = eg_target(&b, s->c, i, true);
    n_new += enter(s, at + i, w.hashes[i]);
  }
  atomic_fetch_add(&p->n_new, n_new);
}

/* --- alone -------------------------------------------------------------- */

/* Numbers that are moved while others look add up once these are through. */
static uint32_t
count_new(const eg_share *s) {
  int32_t n = 0;
  for (uint32_t k = 0; k < s->n; k++)
    n += (int32_t)atomic_load(&s->ranges[k].n_new);
  return n < 0 ? 0 : (uint32_t)n;
}

/* Free rows and seats stand in chains, each link of which waits for memory: who
 * is through with looking follows these, for about as many as are new, while
 * others still look. */
static void
gather_rows(eg_share *s, uint32_t n) {
  const eg_graph *g = s->g;
  n = n < g->n_free ? n : g->n_free;
  for (; s->n_rows < n; s->n_rows++) {
    s->rows[s->n_rows] = s->next_row;
    s->next_row = g->rows[s->next_row].kid[0].i;
  }
}

static void
gather_seats(eg_share *s, uint32_t n) {
  for (; s->n_seats < n && s->next_seat != EG_NONE; s->n_seats++) {
    s->seats[s->n_seats] = s->next_seat;
    s->next_seat = s->g->parents[s->next_seat].first;
  }
}

static void
gather(eg_share *s) {
  uint32_t n = count_new(s) + EG_BATCH;
  n = n < s->b->n ? n : s->b->n;
  gather_rows(s, n);
  if (!s->last)
    gather_seats(s, n);
}

static void
take_free_rows(eg_share *s) {
  eg_graph *g = s->g;
  uint32_t n = g->n_free < s->total ? g->n_free : s->total;
  gather_rows(s, n);
  g->free_row = n < s->n_rows ? s->rows[n] : s->next_row;
  s->n_rows = n;
  g->n_free -= n;
  g->n_dead -= n;
}

static void
take_free_seats(eg_share *s) {
  gather_seats(s, s->total);
  if (s->n_seats > s->total) {
    s->next_seat = s->seats[s->total];
    s->n_seats = s->total;
  }
  s->g->free_seat = s->next_seat;
}

/* Numbers for all that is new. */
static void
number(void *ctx) {
  eg_share *s = ctx;
  s->total = 0;
  for (uint32_t k = 0; k < s->n; k++) {
    s->ranges[k].first = s->total;
    s->total += s->ranges[k].n_new;
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

/* The row of new node k. */
static uint32_t
row_of(const eg_share *s, uint32_t k) {
  return k < s->n_rows ? s->rows[k] : s->g->n_rows + k - s->n_rows;
}

static void
write_row(eg_share *s, uint32_t i, uint32_t k, uint32_t cls) {
  eg_graph *g = s->g;
  uint32_t n = row_of(s, k);
  g->rows[n] = (eg_row){s->s->head, cls, {s->kids[i][0], s->kids[i][1]}};
  g->stamps[n] = (eg_stamp)g->epoch;
  *eg_place_node(s->g, s->place[i]) = n;
}

/* The classes that a range's last nodes make equal. */
static void
list_equal(eg_share *s, eg_range *p) {
  const uint32_t *made = eg_made_at(s->b, s->step);
  eg_equal *equal = s->r->equal.data + p->from;
  p->n_equal = 0;
  for (uint32_t t = 0; s->last && t < p->n_todo; t++) {
    uint32_t i = s->todo[p->from + t], cls;
    if (s->same[i] == NEW)
      continue;
    bool found = s->same[i] == FOUND;
    cls = found ? made[i] : s->into[first_of(s, i)];
    if (found || cls != s->into[i])
      equal[p->n_equal++] = (eg_equal){i, cls, EG_NONE};
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

/* --- link --------------------------------------------------------------- */

/* New nodes of a range's list from `t` on, some of them; their children's
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
  for (uint32_t r = 0, k = 0; r < s->n; r++) {
    uint32_t some[SOME], n;
    for (uint32_t t = 0; (n = fetch_parents(s, &s->ranges[r], &t, some));)
      for (uint32_t j = 0; j < n; j++) {
        uint32_t row = row_of(s, k++);
        link_kid(s->g, 2 * row, s->kids[some[j]][0].i);
        link_kid(s->g, 2 * row + 1, s->kids[some[j]][1].i);
      }
  }
}

/* --- settle ------------------------------------------------------------- */

static void
settle(eg_share *s, const eg_range *p) {
  uint32_t *made = eg_made_at(s->b, s->step);
  for (uint32_t t = 0; t < p->n_todo; t++) {
    uint32_t i = s->todo[p->from + t];
    if (s->same[i] != NEW && s->same[i] != FOUND)
      made[i] = made[first_of(s, i)];
  }
}

/* What each thread does. */
static void
take_part(void *ctx, uint32_t thread) {
  eg_share *s = ctx;
  uint32_t i;
  if (!eg_crew_join(&s->meeting))
    return;
  while (eg_claim(&s->claims[LOOK], thread, &i))
    look(s, &s->ranges[i]);
  if (eg_claim(&s->claims[GATHER], thread, &i))
    gather(s);
  eg_crew_meet(&s->meeting, number, s);
  if (eg_claim(&s->claims[LINK], thread, &i))
    link_rows(s);
  while (eg_claim(&s->claims[WRITE], thread, &i))
    write_some(s, &s->ranges[i]);
  if (s->last)
    return;
  eg_crew_meet(&s->meeting, NULL, NULL);
  while (eg_claim(&s->claims[SETTLE], thread, &i))
    settle(s, &s->ranges[i]);
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
  s->threads = eg_crew_parts(r->g->crew);
  s->n_rows = s->n_seats = 0;
  s->next_row = r->g->free_row;
  s->next_seat = r->g->free_seat;
  eg_meeting_call(&s->meeting);
  for (int k = 0; k < PHASES; k++)
    eg_claims_open(&s->claims[k], k == GATHER || k == LINK ? 1 : s->n,
                   s->threads);
  for (uint32_t k = 0; k < s->n; k++) {
    atomic_store(&s->ranges[k].n_new, 0);
    s->ranges[k].from = k * EG_BATCH;
    s->ranges[k].to = k + 1 < s->n ? (k + 1) * EG_BATCH : b->n;
  }
  eg_crew_run(r->g->crew, take_part, s, s->threads);
  count_in(s);
  join_equal(s);
}

/* --- room --------------------------------------------------------------- */

/* A table that is as full as one thread would let it be may grow in the middle
 * of a step: then one thread builds the group. */
static bool
has_room(const eg_graph *g, uint64_t nodes) {
  uint64_t slots = (uint64_t)g->n_buckets * EG_BUCKET;
  return slots <= UINT32_MAX &&
         (g->filled + nodes) * EG_FULL_DEN <= slots * EG_FULL_NUM &&
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
  enum { WORDS = 8 };
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
  uint32_t **columns[] = {&s->into, &s->place, &s->todo,
                          &s->same, &s->rows,  &s->seats};
  s->block = at;
  s->room = (uint32_t)n;
  s->kids = (eg_class(*)[2])(void *)at;
  at += 2 * n;
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++, at += n)
    *columns[i] = at;
}

void
eg_share_free(eg_runner *r) {
  if (r->share)
    bs_free(r->heap, r->share->block);
  bs_free(r->heap, r->share);
  r->share = NULL;
}
