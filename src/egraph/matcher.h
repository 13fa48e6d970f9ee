/* SPDX-License-Identifier: MIT */
/* matcher.h - a search's state; private to match.c, join.c, last_atom.c and
 * search.c.
 */
#ifndef EGRAPH_MATCHER_H
#define EGRAPH_MATCHER_H

#include "egraph/filter.h"

typedef struct eg_level {
  uint32_t at, end;     /* candidates left; the last one is next */
  const uint32_t *next; /* or chained: the end after each */
  uint32_t symbol;
  bool fresh; /* something fresh was chosen before this level */
  bool attr;  /* the attribute must be looked at */
  bool plain; /* nothing is compared: every node matches */
} eg_level;

/* What a candidate of an atom is asked, and where its children and class go:
 * registers, or the one behind all others.  `simple`: that is all; there are at
 * most two children, and each is bound, or compared with what was known before
 * the atom. */
typedef struct eg_form {
  bool simple, plain; /* plain: nothing is compared */
  uint64_t mask;      /* the bits of an entry that are compared */
  uint64_t kid_mask;
  uint32_t kid_bits, check[2], bind[2];
  uint32_t out; /* EG_NONE: not wanted */
} eg_form;

/* The bits that an entry must have; false when none can have them. */
static inline bool
eg_form_bits(const eg_form *s, const uint32_t *regs, uint64_t *bits) {
  uint64_t high = s->mask >> s->kid_bits;
  uint64_t kid0 = s->mask & s->kid_mask ? regs[s->check[0]] : 0;
  uint64_t kid1 = high ? regs[s->check[1]] : 0;
  *bits = kid0 | kid1 << s->kid_bits;
  return (kid0 | kid1) <= s->kid_mask;
}

/* How a match is written from an entry of the last atom, over a copy of what
 * was known before: the words that its children, its class, the root's class
 * where that is it, and its node go to. */
typedef struct eg_writing {
  uint32_t kid[2], out, root, node;
  uint32_t root_kid; /* the child that is the root; mostly EG_NONE */
  bool scan;         /* its class is wanted */
  bool full;         /* more than children is written */
} eg_writing;

enum { EG_REGS_SLACK = 8 }; /* words behind the registers */

typedef struct eg_matcher {
  bs_heap *heap;
  const eg_graph *g;
  const eg_index *x;
  const eg_pattern *p;
  const eg_search_options *how;
  eg_sink *sink; /* NULL: matches are only counted */
  eg_level *levels;
  eg_chains *chains; /* one a level */
  eg_filter filter;  /* of level 0 */
  uint32_t *symbols; /* one a level */
  uint32_t *regs;    /* behind room for the head of a match */
  eg_node root_node;
  eg_writing writing;
  eg_form outer, inner; /* of the last two atoms */
  uint32_t counted;     /* the child of the one that alone the other is of */
  uint32_t opened;      /* the class that the last atom looked into last */
  uint32_t from, to;    /* its entries */
  uint64_t count, steps;
  uint32_t since; /* as stamps count */
  uint32_t depth; /* where to go on */
  bool stopped;
  bool ready;  /* something may match */
  bool by_bit; /* fresh means recent */
} eg_matcher;

/* match.c: opens the first level, all else being ready. */
void eg_matcher_open(eg_matcher *);
/* Goes on until the end of the roots, or until stopped. */
void eg_matcher_walk(eg_matcher *);
/* Opens the last level in a class, where nothing is compared and a match has
 * nothing fresh so far: what is not fresh is only counted. */
void eg_open_last(eg_matcher *, eg_level *, uint32_t cls);

EG_EACH_FORM bool
eg_top_is_fresh(const eg_matcher *m, uint32_t top, bool wide) {
  if (m->by_bit)
    return top & EG_RECENT;
  return eg_top_stamp(m->g, top, wide) >= m->since;
}

enum { EG_STRETCH = 1 << 14 }; /* candidates between two ticks, at most */

/* n candidates more are looked at. */
static inline void
eg_matcher_tick(eg_matcher *m, uint32_t n) {
  uint64_t before = m->steps >> 16;
  m->steps += n;
  if (m->steps >> 16 != before && m->how->tick &&
      !m->how->tick(m->how->tick_ctx, m->steps))
    m->stopped = true;
}

/* Passes over candidates of the last level that have not these bits; false
 * after the last one. */
static inline bool
eg_seek_equal(eg_matcher *m, eg_level *l, uint64_t want) {
  const uint64_t *words = m->x->by_symbol.words, mask = m->inner.mask;
  const uint32_t *next = l->next;
  uint32_t at = l->at, end = l->end, n = l->end;
  if (next)
    for (n = 0; end > at && (words[end - 1] & mask) != want; n++)
      end = next[end - 1 - at];
  else
    while (end > at && (words[end - 1] & mask) != want)
      end--;
  eg_matcher_tick(m, next ? n : n - end);
  l->end = end;
  return end > at;
}

/* last_atom.c: the candidates of the last level, which is open and simple. */
eg_form eg_atom_form(const eg_matcher *, uint32_t d);
eg_writing eg_writing_of(const eg_matcher *, uint32_t d);
void eg_last_plain(eg_matcher *, eg_level *);
void eg_last_equal(eg_matcher *, eg_level *);

static inline void
eg_last(eg_matcher *m, eg_level *l) {
  if (m->inner.plain)
    eg_last_plain(m, l);
  else
    eg_last_equal(m, l);
}

/* join.c: makes `inner` and `outer`; can the last two levels be joined? */
bool eg_joins(eg_matcher *);
/* All candidates of the last but one, d, which is open. */
void eg_join(eg_matcher *, uint32_t d);
void eg_skip_roots(eg_matcher *, eg_level *);

#endif
