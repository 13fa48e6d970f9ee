/* SPDX-License-Identifier: MIT */
/* join.c - the last two atoms of a search, where the last one looks into a
 * class that was bound before: a loop over the candidates of the one and, for
 * each, over the nodes of that class.
 *
 * A class that is looked into again and again is found once, and candidates
 * under which nothing is fresh and nothing compared are only counted. */
#include "egraph/matcher.h"
#include <assert.h>

/* On to the next root that passes the filter. */
void
eg_skip_roots(eg_matcher *m, eg_level *l) {
  while (l->end > l->at && !m->stopped) {
    bool far = l->end - l->at > EG_STRETCH;
    uint32_t stop = far ? l->end - EG_STRETCH : l->at;
    l->end = eg_filter_skip(&m->filter, m->x, stop, l->end);
    if (l->end != stop)
      return;
    m->stopped =
        m->how->tick && far && !m->how->tick(m->how->tick_ctx, m->steps);
  }
}

/* Where all matches under a candidate of level d can be counted by a look at
 * one segment: the child of its entry that is the class of that segment; else
 * EG_NONE. */
static uint32_t
counted_by(const eg_matcher *m, uint32_t d) {
  const eg_atom *a = &m->p->atoms.data[d], *next = a + 1;
  if (m->levels[d + 1].symbol == EG_NONE || !m->inner.plain || !m->outer.plain)
    return EG_NONE;
  for (uint32_t k = 0; k < a->arity; k++)
    if (m->p->kids.data[a->first_kid + k].reg == next->reg)
      return k;
  return EG_NONE;
}

bool
eg_joins(eg_matcher *m) {
  uint32_t last = m->p->atoms.len - 1;
  m->inner = eg_atom_form(m, last);
  m->opened = EG_NONE;
  if (!last || m->p->atoms.data[last].kind != EG_ATOM_CLASS || !m->inner.simple)
    return false;
  m->outer = eg_atom_form(m, last - 1);
  if (!m->outer.simple)
    return false;
  m->counted = counted_by(m, last - 1);
  return true;
}

/* --- counting ---------------------------------------------------------- */

/* Passes over candidates under which nothing is fresh, as the next is not
 * itself: they are only counted.  Stops at one that is looked at more closely.
 */
EG_EACH_FORM void
skim_as(eg_matcher *m, uint32_t d, uint32_t kid, bool wide) {
  eg_level *l = &m->levels[d];
  const eg_entries *e = &m->x->by_symbol;
  uint32_t symbol = m->levels[d + 1].symbol, end = l->end;
  uint32_t since = m->since, stop = l->at;
  uint64_t limit = m->how->limit ? m->how->limit : UINT64_MAX;
  if (end - stop > EG_STRETCH)
    stop = end - EG_STRETCH;
  for (; end > stop; end--) {
    if (!d && !eg_filter_passes(&m->filter, 0, m->x, end - 1, wide))
      continue;
    if (eg_top_is_fresh(m, eg_entry_top(e, end - 1, wide), wide))
      break;
    eg_segment s;
    if (!eg_segment_find(m->x, eg_entry_kid(e, end - 1, kid, wide), symbol, &s))
      continue;
    uint32_t n, newest = eg_segment_both(m->g, &s, &n);
    if (newest >= since || n > limit - m->count)
      break;
    m->count += n;
  }
  if (end < l->end)
    eg_matcher_tick(m, l->end - end);
  l->end = end;
}

static void
skim(eg_matcher *m, uint32_t d, uint32_t kid) {
  if (m->x->by_symbol.tops)
    skim_as(m, d, kid, true);
  else
    skim_as(m, d, kid, false);
}

/* --- joining ----------------------------------------------------------- */

/* Opens the last level in a class. */
static inline void
open(eg_matcher *m, eg_level *l, uint32_t cls) {
  if (m->inner.plain && !l->fresh) {
    eg_open_last(m, l, cls);
    return;
  }
  if (cls != m->opened) {
    eg_segment s;
    m->opened = cls;
    m->from = m->to = 0;
    if (cls < m->x->classes && l->symbol != EG_NONE &&
        eg_segment_find(m->x, cls, l->symbol, &s)) {
      m->from = s.start;
      m->to = s.start + eg_segment_n(m->x, &s);
    }
  }
  l->at = m->from;
  l->end = m->to;
  l->next = NULL;
  if (m->inner.plain)
    return;
  eg_chains *c = &m->chains[l - m->levels];
  if (eg_chains_ready(c, l->at, l->end) ||
      eg_chains_open(c, m->heap, m->g, l->at, l->end)) {
    l->end = eg_chains_head(c, m->regs[m->inner.check[c->kid]]);
    l->next = c->next.data;
  }
}

enum { TICK = 64 }; /* candidates; those of the last level tick, too */

EG_EACH_FORM void
join(eg_matcher *m, uint32_t d, bool wide) {
  const eg_entries e = m->x->by_symbol;
  const eg_form s = m->outer;
  uint32_t *regs = m->regs, reg = m->p->atoms.data[d + 1].reg;
  eg_level *l = &m->levels[d], *in = l + 1;
  bool skims = m->counted != EG_NONE && !l->fresh && !l->next;
  uint32_t n = 0;
  uint64_t want, is;
  if (!eg_form_bits(&s, regs, &want))
    l->end = l->at;
  while (l->end > l->at && !m->stopped) {
    if (skims && !eg_top_is_fresh(m, eg_entry_top(&e, l->end - 1, wide), wide))
      skim(m, d, m->counted);
    if (!d && m->filter.n)
      eg_skip_roots(m, l);
    if (l->end <= l->at || m->stopped)
      break;
    uint32_t i = l->end - 1;
    l->end = l->next ? l->next[i - l->at] : i;
    if (!(++n & (TICK - 1)))
      eg_matcher_tick(m, TICK);
    if ((e.words[i] & s.mask) != want)
      continue;
    uint32_t top = eg_entry_top(&e, i, wide), node = eg_top_node(top, wide);
    regs[s.bind[0]] = eg_entry_kid(&e, i, 0, wide);
    regs[s.bind[1]] = eg_entry_kid(&e, i, 1, wide);
    if (s.out != EG_NONE)
      regs[s.out] = m->g->rows[node].cls;
    if (!d)
      m->root_node.i = node;
    in->fresh = l->fresh || eg_top_is_fresh(m, top, wide);
    open(m, in, regs[reg]);
    if (in->end <= in->at)
      continue;
    if (m->inner.plain)
      eg_last_plain(m, in);
    else if (eg_form_bits(&m->inner, regs, &is) && eg_seek_equal(m, in, is))
      eg_last_equal(m, in);
    if (m->stopped) {
      m->depth = d + 1;
      return;
    }
  }
}

void
eg_join(eg_matcher *m, uint32_t d) {
  assert(d < m->p->atoms.len);
  if (m->x->by_symbol.tops)
    join(m, d, true);
  else
    join(m, d, false);
}
