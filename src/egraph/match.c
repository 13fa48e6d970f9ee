/* match.c - e-matching by backtracking over the atoms of a pattern.
 *
 * One cursor an atom; no recursion, no memory a match.  Candidates are taken
 * from the newest class down: a new class is mostly a part of older ones, and
 * when equalities between parts are applied first, fewer nodes are built that
 * turn out equal.  A match is fresh when one of its nodes changed since the
 * rule looked last (semi-naive evaluation); only fresh ones are written, all
 * are counted, and where nothing fresh can come and nothing is compared, a
 * whole segment is counted at once.  The search reads the index and the rows it
 * covers, which stay as they are while matches are applied, so whoever takes
 * the matches may add nodes and unite classes. */
#include "egraph/matcher.h"
#include <string.h>

/* --- one atom ---------------------------------------------------------- */

static bool
attrs_match(eg_matcher *m, const eg_atom *a, bs_value attr) {
  const bs_values *values = m->p->values;
  uint32_t *regs = m->regs;
  regs[a->attr_reg] = attr.i;
  for (uint32_t i = 0; i < a->n_attr; i++) {
    const eg_attr_step *s = &m->p->attrs.data[a->first_attr + i];
    bs_value v = {regs[s->from]};
    switch (s->op) {
    case EG_IS_VALUE:
      if (!bs_same(v, s->value))
        return false;
      break;
    case EG_BIND:
      regs[s->to] = v.i;
      break;
    case EG_IS_REG:
      if (regs[s->to] != v.i)
        return false;
      break;
    case EG_IS_LIST:
      if (bs_kind_of(values, v) != BS_KIND_LIST || bs_len(values, v) != s->n)
        return false;
      for (uint32_t k = 0; k < s->n; k++)
        regs[s->to + k] = bs_item(values, v, k).i;
      break;
    }
  }
  return true;
}

static inline bool
kid_matches(const eg_kid_step *s, uint32_t *regs, uint32_t kid) {
  if (s->check)
    return regs[s->reg] == kid;
  regs[s->reg] = kid;
  return true;
}

static bool
kids_match(const eg_matcher *m, const eg_atom *a, uint32_t at) {
  const eg_entries *e = &m->x->by_symbol;
  if (!a->arity)
    return true;
  const eg_kid_step *steps = m->p->kids.data + a->first_kid;
  uint32_t kid = eg_entry_kid(e, at, 0, e->tops);
  if (a->arity <= 2)
    return kid_matches(&steps[0], m->regs, kid) &&
           (a->arity == 1 ||
            kid_matches(&steps[1], m->regs, eg_entry_kid(e, at, 1, e->tops)));
  for (uint32_t i = 0; i < a->arity; i++)
    if (!kid_matches(&steps[i], m->regs, m->g->pool[kid + i].i))
      return false;
  return true;
}

static bool
entry_matches(eg_matcher *m, const eg_atom *a, uint32_t at, bool attr) {
  const eg_entries *e = &m->x->by_symbol;
  if (!kids_match(m, a, at))
    return false;
  if (attr &&
      !attrs_match(m, a, eg_attr(m->g, (eg_node){eg_entry_node(e, at)})))
    return false;
  if (a->out != EG_NONE)
    m->regs[a->out] = eg_entry_class(m->g, at);
  return true;
}

static bool
class_is_fresh(const eg_matcher *m, uint32_t c) {
  uint32_t at = m->x->class_segment.data[c];
  bool empty = at == EG_NO_SEGMENT;
  eg_segment s;
  while (eg_segment_next(m->x, &at, &s))
    if (eg_segment_newest(m->g, &s) >= m->since)
      return true;
  return empty;
}

static inline bool
top_is_fresh(const eg_matcher *m, uint32_t top, bool wide) {
  if (m->by_bit)
    return top & EG_RECENT;
  return eg_top_stamp(m->g, top, wide) >= m->since;
}

/* Takes the next candidate of an atom; false when it does not match. */
static bool
step(eg_matcher *m, uint32_t d, bool *fresh) {
  const eg_atom *a = &m->p->atoms.data[d];
  eg_level *l = &m->levels[d];
  uint32_t at = l->end - 1;
  l->end = l->next ? l->next[at - l->at] : at;
  *fresh = l->fresh;
  if (a->kind == EG_ATOM_SAME) {
    if (a->bind_out)
      m->regs[a->out] = m->regs[a->reg];
    return m->regs[a->out] == m->regs[a->reg];
  }
  if (a->kind == EG_ATOM_CLASSES) {
    m->regs[a->reg] = at;
    *fresh = *fresh || class_is_fresh(m, at);
    return eg_leads(m->g, at) || m->x->class_segment.data[at] != EG_NO_SEGMENT;
  }
  if (!entry_matches(m, a, at, l->attr))
    return false;
  const eg_entries *e = &m->x->by_symbol;
  uint32_t top = eg_entry_top(e, at, e->tops);
  if (!d)
    m->root_node.i = eg_top_node(top, e->tops);
  *fresh = *fresh || top_is_fresh(m, top, e->tops);
  return true;
}

/* --- entering a level -------------------------------------------------- */

static void
open_root(eg_matcher *m, const eg_atom *a, eg_level *l) {
  const eg_index *x = m->x;
  l->at = l->end = 0;
  if (a->kind == EG_ATOM_SAME) {
    l->end = 1;
  } else if (a->kind == EG_ATOM_CLASSES) {
    l->end = x->classes;
  } else if (l->symbol != EG_NONE) {
    l->at = x->symbol_start.data[l->symbol];
    l->end = x->symbol_start.data[l->symbol + 1];
  }
}

static void
open_class(eg_matcher *m, uint32_t d, uint32_t cls) {
  eg_level *l = &m->levels[d];
  eg_chains *c = &m->chains[d];
  eg_segment s;
  l->at = l->end = 0;
  l->next = NULL;
  if (cls >= m->x->classes || l->symbol == EG_NONE ||
      !eg_segment_find(m->x, cls, l->symbol, &s))
    return;
  l->at = s.start;
  l->end = s.start + eg_segment_n(m->x, &s);
  if (c->kid != EG_NONE && eg_chains_open(c, m->heap, m->g, l->at, l->end)) {
    const eg_atom *a = &m->p->atoms.data[d];
    uint32_t reg = m->p->kids.data[a->first_kid + c->kid].reg;
    l->end = eg_chains_head(c, m->regs[reg]);
    l->next = c->next.data;
  }
}

/* The last atom, of a match without anything fresh so far, and nothing is
 * compared: what is not fresh of the segment is only counted. */
static void
open_last(eg_matcher *m, eg_level *l, uint32_t cls) {
  eg_segment s;
  l->at = l->end = 0;
  if (cls >= m->x->classes || l->symbol == EG_NONE ||
      !eg_segment_find(m->x, cls, l->symbol, &s))
    return;
  uint32_t all = eg_segment_n(m->x, &s);
  uint32_t n = m->by_bit ? eg_segment_recent(m->x, &s) : all;
  if (!m->by_bit && eg_segment_newest(m->g, &s) < m->since)
    n = 0;
  l->at = s.start;
  l->end = s.start + n;
  m->count += all - n;
}

static void
open_level(eg_matcher *m, uint32_t d) {
  const eg_atom *a = &m->p->atoms.data[d];
  eg_level *l = &m->levels[d];
  if (a->kind == EG_ATOM_CLASS) {
    if (d + 1 == m->p->atoms.len && l->plain && !l->fresh)
      open_last(m, l, m->regs[a->reg]);
    else
      open_class(m, d, m->regs[a->reg]);
  } else {
    open_root(m, a, l);
  }
}

/* The roots of a search in one class only. */
static void
open_only(eg_matcher *m, uint32_t cls) {
  const eg_atom *a = &m->p->atoms.data[0];
  eg_level *l = &m->levels[0];
  if (a->kind == EG_ATOM_CLASSES) {
    l->at = cls;
    l->end = cls < m->x->classes ? cls + 1 : cls;
  } else if (a->kind == EG_ATOM_CLASS && m->regs[a->reg] != cls) {
    l->at = l->end = 0;
  } else {
    open_class(m, 0, cls);
  }
}

void
eg_matcher_open(eg_matcher *m) {
  if (m->how->only_class != EG_NONE)
    open_only(m, m->how->only_class);
  else
    open_level(m, 0);
}

/* --- the search -------------------------------------------------------- */

static void
write_match(eg_matcher *m) {
  eg_sink *s = m->sink;
  if (!s)
    return;
  s->at[0] = m->regs[m->p->root_reg];
  s->at[1] = m->root_node.i;
  memcpy(s->at + EG_MATCH_HEAD, m->regs, m->p->n_slots * sizeof *m->regs);
  m->stopped = !eg_sink_next(s);
}

static void
emit(eg_matcher *m, bool fresh) {
  m->count++;
  if (m->how->limit && m->count > m->how->limit)
    m->stopped = true;
  else if (fresh)
    write_match(m);
}

static void
tick(eg_matcher *m) {
  if ((++m->steps & 0xffff) == 0 && m->how->tick &&
      !m->how->tick(m->how->tick_ctx))
    m->stopped = true;
}

/* As `tick`, for n steps at once. */
static void
tick_many(eg_matcher *m, uint32_t n) {
  uint64_t before = m->steps >> 16;
  m->steps += n;
  if (m->steps >> 16 != before && m->how->tick &&
      !m->how->tick(m->how->tick_ctx))
    m->stopped = true;
}

/* The word of a match that a register goes to; what is not wanted goes to the
 * word behind the match. */
static uint32_t
word_of(const eg_matcher *m, uint32_t reg) {
  return reg < m->p->n_slots ? EG_MATCH_HEAD + reg : m->sink->stride;
}

/* Once the sink is known. */
static eg_writing
how_written(const eg_matcher *m, const eg_atom *a) {
  const eg_kid_step *steps = a->arity ? m->p->kids.data + a->first_kid : NULL;
  uint32_t root = m->p->root_reg;
  eg_writing w = {{m->sink->stride, m->sink->stride}, m->sink->stride, 0};
  for (uint32_t k = a->arity; k-- > 0;) {
    w.kid[k] = word_of(m, steps[k].reg);
    if (steps[k].reg == root)
      w.root = k ? EG_ROOT_KID1 : EG_ROOT_KID0;
  }
  if (a->out != EG_NONE)
    w.out = word_of(m, a->out);
  if (a->out == root)
    w.root = EG_ROOT_OUT;
  return w;
}

/* Writes the matches of the entries from *end down to `stop`; *end: where it
 * ended. */
EG_EACH_FORM void
write_last(eg_matcher *m, uint32_t d, uint32_t stop, uint32_t *end, bool wide) {
  const eg_writing w = m->writing;
  const eg_entries e = m->x->by_symbol;
  const uint32_t *regs = m->regs;
  eg_sink *s = m->sink;
  uint32_t n = m->p->n_slots, node = m->root_node.i, at = *end;
  uint32_t known = regs[m->p->root_reg];
  bool all = m->levels[d].fresh, scan = m->p->atoms.data[d].out != EG_NONE;
  bool go = true;
  while (at > stop && go) {
    uint32_t top = eg_entry_top(&e, --at, wide);
    if (!all && !top_is_fresh(m, top, wide))
      continue;
    uint32_t *to = s->at;
    for (uint32_t i = 0; i < n; i += EG_SINK_SLACK)
      memcpy(to + EG_MATCH_HEAD + i, regs + i, EG_SINK_SLACK * sizeof *to);
    uint32_t kid0 = eg_entry_kid(&e, at, 0, wide);
    uint32_t kid1 = eg_entry_kid(&e, at, 1, wide);
    uint32_t own = eg_top_node(top, wide);
    uint32_t cls = scan ? m->g->rows[own].cls : known;
    to[w.kid[0]] = kid0;
    to[w.kid[1]] = kid1;
    to[w.out] = cls;
    to[0] = w.root == EG_ROOT_OUT    ? cls
            : w.root == EG_ROOT_KID0 ? kid0
            : w.root == EG_ROOT_KID1 ? kid1
                                     : known;
    to[1] = d ? node : own;
    go = eg_sink_next(s);
  }
  m->stopped = m->stopped || !go;
  *end = at;
}

/* The last level, where nothing is compared: by far the most candidates. */
static void
walk_plain(eg_matcher *m, uint32_t d) {
  eg_level *l = &m->levels[d];
  uint64_t limit = m->how->limit ? m->how->limit : UINT64_MAX;
  uint32_t end = l->end, stop = l->at;
  if (stop >= end)
    return;
  tick_many(m, end - stop);
  if (m->stopped)
    return;
  bool over = end - stop > limit - m->count;
  if (over)
    stop = end - (uint32_t)(limit - m->count);
  if (!m->sink)
    end = stop;
  else if (m->x->by_symbol.tops)
    write_last(m, d, stop, &end, true);
  else
    write_last(m, d, stop, &end, false);
  m->count += l->end - end;
  l->end = end;
  if (over && !m->stopped) {
    l->end--;
    m->count++;
    m->stopped = true;
  }
}

static bool
is_plain(const eg_matcher *m, uint32_t d) {
  const eg_atom *a = &m->p->atoms.data[d];
  return (a->kind == EG_ATOM_SCAN || a->kind == EG_ATOM_CLASS) &&
         m->levels[d].plain && !m->levels[d].attr && a->arity <= 2;
}

enum { STRETCH = 1 << 14 };

/* On to the next root that passes the filter. */
static void
skip_roots(eg_matcher *m, eg_level *l) {
  while (l->end > l->at && !m->stopped) {
    bool far = l->end - l->at > STRETCH;
    uint32_t stop = far ? l->end - STRETCH : l->at;
    l->end = eg_filter_skip(&m->filter, m->x, stop, l->end);
    if (l->end != stop)
      return;
    m->stopped = m->how->tick && far && !m->how->tick(m->how->tick_ctx);
  }
}

/* Where all matches under a candidate of level d can be counted by a look at
 * one segment: the child of its entry that is the class of that segment; else
 * EG_NONE. */
static uint32_t
counted_by(const eg_matcher *m, uint32_t d) {
  const eg_atom *a = &m->p->atoms.data[d], *next = a + 1;
  if (d + 2 != m->p->atoms.len || next->kind != EG_ATOM_CLASS ||
      m->levels[d + 1].symbol == EG_NONE || !is_plain(m, d + 1) ||
      !is_plain(m, d))
    return EG_NONE;
  for (uint32_t k = 0; k < a->arity; k++)
    if (m->p->kids.data[a->first_kid + k].reg == next->reg)
      return k;
  return EG_NONE;
}

/* Passes over candidates under which nothing is fresh: they are only counted.
 * Stops at one that is looked at more closely. */
EG_EACH_FORM void
skim_as(eg_matcher *m, uint32_t d, uint32_t kid, bool wide) {
  eg_level *l = &m->levels[d];
  const eg_entries *e = &m->x->by_symbol;
  uint32_t symbol = m->levels[d + 1].symbol, end = l->end;
  uint32_t since = m->since, stop = l->at;
  uint64_t limit = m->how->limit ? m->how->limit : UINT64_MAX;
  if (top_is_fresh(m, eg_entry_top(e, end - 1, wide), wide))
    return;
  if (end - stop > STRETCH)
    stop = end - STRETCH;
  for (; end > stop; end--) {
    if (!d && !eg_filter_passes(&m->filter, 0, m->x, end - 1, wide))
      continue;
    if (top_is_fresh(m, eg_entry_top(e, end - 1, wide), wide))
      break;
    eg_segment s;
    if (!eg_segment_find(m->x, eg_entry_kid(e, end - 1, kid, wide), symbol, &s))
      continue;
    uint32_t n = eg_segment_n(m->x, &s);
    if (eg_segment_newest(m->g, &s) >= since || n > limit - m->count)
      break;
    m->count += n;
  }
  if (end < l->end)
    tick_many(m, l->end - end);
  l->end = end;
}

static void
skim(eg_matcher *m, uint32_t d, uint32_t kid) {
  if (m->x->by_symbol.tops)
    skim_as(m, d, kid, true);
  else
    skim_as(m, d, kid, false);
}

void
eg_matcher_walk(eg_matcher *m) {
  uint32_t last = m->p->atoms.len - 1, d = m->depth;
  bool plain = is_plain(m, last);
  if (plain && m->sink)
    m->writing = how_written(m, &m->p->atoms.data[last]);
  uint32_t kid = last ? counted_by(m, last - 1) : EG_NONE;
  for (; !m->stopped; m->depth = d) {
    eg_level *l = &m->levels[d];
    bool fresh;
    m->depth = d;
    if (d == last && plain)
      walk_plain(m, d);
    if (d + 1 == last && kid != EG_NONE && !l->fresh && !l->next &&
        l->at < l->end)
      skim(m, d, kid);
    if (!d && m->filter.n)
      skip_roots(m, l);
    if (m->stopped)
      return;
    if (l->at >= l->end) {
      if (!d)
        return;
      d--;
      continue;
    }
    tick(m);
    if (!step(m, d, &fresh))
      continue;
    if (d == last) {
      emit(m, fresh);
      continue;
    }
    m->levels[++d].fresh = fresh;
    open_level(m, d);
  }
}
