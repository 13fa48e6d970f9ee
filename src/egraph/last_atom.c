/* SPDX-License-Identifier: MIT */
/* last_atom.c - the last atom of a search: by far the most candidates.
 *
 * Where its nodes have at most two children and no attribute to be looked at,
 * all that a candidate must be is that some bits of its entry are known ones;
 * and a match is the words that were known before, copied some at a time, with
 * what the last node adds on top of them. */
#include "egraph/matcher.h"
#include <assert.h>

/* Four words of a match. */
typedef uint32_t eg_quad
    __attribute__((vector_size(16), aligned(4), may_alias));

enum { QUAD = sizeof(eg_quad) / sizeof(uint32_t) };

_Static_assert((int)EG_SINK_SLACK >= (int)QUAD - 1, "matches end in slack");
_Static_assert((int)EG_REGS_SLACK >= 2 * (int)QUAD - EG_MATCH_HEAD,
               "two of them are there to be read");

/* --- what is compared and written -------------------------------------- */

/* A child that stands twice in an atom is compared with what the atom itself
 * binds, not with what was known before. */
eg_form
eg_atom_form(const eg_matcher *m, uint32_t d) {
  assert(d < m->p->atoms.len);
  const eg_atom *a = &m->p->atoms.data[d];
  const eg_kid_step *steps = a->arity ? m->p->kids.data + a->first_kid : NULL;
  uint32_t any = m->p->n_regs, bits = m->x->by_symbol.tops ? 32 : EG_SHORT_KID;
  eg_form s = {.kid_mask = ((uint64_t)1 << bits) - 1,
               .kid_bits = bits,
               .check = {any, any},
               .bind = {any, any},
               .out = a->out};
  if ((a->kind != EG_ATOM_SCAN && a->kind != EG_ATOM_CLASS) ||
      m->levels[d].attr || a->arity > 2)
    return s;
  s.simple = s.plain = true;
  for (uint32_t k = 0; k < a->arity; k++) {
    uint32_t reg = steps[k].reg;
    if (!steps[k].check) {
      s.bind[k] = reg;
      continue;
    }
    bool own = reg == a->out || (k && reg == s.bind[0]);
    s.simple = s.simple && !own;
    s.plain = false;
    s.check[k] = reg;
    s.mask |= s.kid_mask << (k * bits);
  }
  return s;
}

/* The word of a match that a register goes to; what is not wanted goes to the
 * word behind the match. */
static uint32_t
word_of(const eg_matcher *m, uint32_t reg) {
  return reg < m->p->n_slots ? EG_MATCH_HEAD + reg : m->sink->stride;
}

eg_writing
eg_writing_of(const eg_matcher *m, uint32_t d) {
  const eg_form *s = &m->inner;
  uint32_t root = m->p->root_reg, behind = m->sink->stride;
  eg_writing w = {.kid = {word_of(m, s->bind[0]), word_of(m, s->bind[1])},
                  .out = word_of(m, s->out),
                  .root = s->out == root ? 0 : behind,
                  .node = d ? behind : 1,
                  .root_kid = s->bind[0] == root   ? 0
                              : s->bind[1] == root ? 1
                                                   : EG_NONE,
                  .scan = s->out != EG_NONE};
  w.full = w.scan || w.root_kid != EG_NONE || !d;
  return w;
}

/* --- writing ----------------------------------------------------------- */

/* Over what is known. */
EG_EACH_FORM void
put_node(const eg_matcher *m, uint32_t *to, uint64_t kids, uint32_t top,
         bool wide) {
  const eg_writing *w = &m->writing;
  uint32_t own = eg_top_node(top, wide);
  uint32_t cls = w->scan ? m->g->rows[own].cls : EG_NONE;
  to[w->out] = cls;
  to[w->root] = cls;
  to[w->node] = own;
  if (w->root_kid != EG_NONE)
    to[0] = (uint32_t)(w->root_kid ? kids >> 32 : kids);
}

/* What is known of a match, before its last node. */
static inline const uint32_t *
known(const eg_matcher *m) {
  uint32_t *head = m->regs - EG_MATCH_HEAD;
  head[0] = m->regs[m->p->root_reg];
  head[1] = m->root_node.i;
  return head;
}

/* Writes the matches of the entries from `at` down to `stop`, until the sink is
 * full; returns where it ended.  Constants: `full`, they have more than
 * children; `quads` to a match, 0: more than two. */
EG_EACH_FORM uint32_t
write_down(eg_matcher *m, uint32_t stop, uint32_t at, bool all, bool wide,
           bool full, uint32_t quads) {
  const eg_entries e = m->x->by_symbol;
  const uint32_t *head = known(m);
  eg_quad first = *(const eg_quad *)head,
          second = *(const eg_quad *)(head + QUAD);
  uint32_t *to = m->sink->at, *last = m->sink->last;
  uint32_t stride = m->sink->stride;
  uint32_t word0 = m->writing.kid[0], word1 = m->writing.kid[1];
  while (at > stop && to <= last) {
    uint32_t top = eg_entry_top(&e, --at, wide);
    if (!all && !eg_top_is_fresh(m, top, wide))
      continue;
    uint32_t kid0 = eg_entry_kid(&e, at, 0, wide);
    uint32_t kid1 = eg_entry_kid(&e, at, 1, wide);
    *(eg_quad *)to = first;
    if (quads != 1)
      *(eg_quad *)(to + QUAD) = second;
    for (uint32_t k = 2 * QUAD; !quads && k < stride; k += QUAD)
      *(eg_quad *)(to + k) = *(const eg_quad *)(head + k);
    to[word0] = kid0;
    to[word1] = kid1;
    if (full)
      put_node(m, to, (uint64_t)kid1 << 32 | kid0, top, wide);
    to += stride;
  }
  m->sink->at = to;
  return at;
}

EG_EACH_FORM uint32_t
write_form(eg_matcher *m, uint32_t stop, uint32_t at, bool all, bool wide) {
  uint32_t stride = m->sink->stride;
  bool full = m->writing.full;
  if (stride > 2 * QUAD)
    return write_down(m, stop, at, all, wide, true, 0);
  if (stride > QUAD)
    return full ? write_down(m, stop, at, all, wide, true, 2)
                : write_down(m, stop, at, all, wide, false, 2);
  return full ? write_down(m, stop, at, all, wide, true, 1)
              : write_down(m, stop, at, all, wide, false, 1);
}

static uint32_t
write_wide(eg_matcher *m, uint32_t stop, uint32_t at, bool all) {
  return write_form(m, stop, at, all, true);
}

static inline uint32_t
write_some(eg_matcher *m, uint32_t stop, uint32_t at, bool all) {
  return m->x->by_symbol.tops ? write_wide(m, stop, at, all)
                              : write_form(m, stop, at, all, false);
}

/* After matches were written: the sink makes room when it is due. */
static inline void
go_on(eg_matcher *m) {
  eg_sink *s = m->sink;
  if (s->at > s->last && !s->full(s->ctx))
    m->stopped = true;
}

/* --- nothing is compared ----------------------------------------------- */

void
eg_last_plain(eg_matcher *m, eg_level *l) {
  uint64_t limit = m->how->limit ? m->how->limit : UINT64_MAX;
  uint32_t end = l->end, stop = l->at;
  if (stop >= end)
    return;
  eg_matcher_tick(m, end - stop);
  if (m->stopped)
    return;
  bool over = end - stop > limit - m->count;
  if (over)
    stop = end - (uint32_t)(limit - m->count);
  if (!m->sink)
    end = stop;
  while (end > stop && !m->stopped) {
    end = write_some(m, stop, end, l->fresh);
    go_on(m);
  }
  m->count += l->end - end;
  l->end = end;
  if (over && !m->stopped) {
    l->end--;
    m->count++;
    m->stopped = true;
  }
}

/* --- children are compared --------------------------------------------- */

void
eg_last_equal(eg_matcher *m, eg_level *l) {
  const eg_entries *e = &m->x->by_symbol;
  uint64_t limit = m->how->limit ? m->how->limit : UINT64_MAX, want;
  if (!eg_form_bits(&m->inner, m->regs, &want))
    l->end = l->at;
  while (eg_seek_equal(m, l, want) && !m->stopped) {
    uint32_t i = l->end - 1;
    l->end = l->next ? l->next[i - l->at] : i;
    if (++m->count > limit) {
      m->stopped = true;
    } else if (m->sink &&
               (l->fresh ||
                eg_top_is_fresh(m, eg_entry_top(e, i, e->tops), e->tops))) {
      write_some(m, i, i + 1, true);
      go_on(m);
    }
  }
}
