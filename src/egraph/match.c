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
#include <stddef.h>
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

static bool
entry_matches(eg_matcher *m, const eg_atom *a, const eg_entry *e, bool attr) {
  const eg_class *kids = a->arity > 2 ? m->g->pool + e->kid[0].i : e->kid;
  const eg_kid_step *steps = a->arity ? m->p->kids.data + a->first_kid : NULL;
  uint32_t *regs = m->regs;
  for (uint32_t i = 0; i < a->arity; i++) {
    if (!steps[i].check)
      regs[steps[i].reg] = kids[i].i;
    else if (regs[steps[i].reg] != kids[i].i)
      return false;
  }
  if (attr &&
      !attrs_match(m, a, eg_attr(m->g, (eg_node){e->node & EG_NODE_MASK})))
    return false;
  if (a->out != EG_NONE)
    regs[a->out] = eg_entry_class(m->g, e);
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
entry_is_fresh(const eg_matcher *m, const eg_entry *e) {
  if (m->by_bit)
    return e->node & EG_RECENT;
  return eg_entry_stamp(m->g, e) >= m->since;
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
  const eg_entry *e = &m->x->by_symbol.data[at];
  if (!entry_matches(m, a, e, l->attr))
    return false;
  if (!d)
    m->root_node.i = e->node & EG_NODE_MASK;
  *fresh = *fresh || entry_is_fresh(m, e);
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

/* Writes the matches of the entries from *end down to `stop`; *end: where it
 * ended. */
static void
write_last(eg_matcher *m, uint32_t d, uint32_t stop, uint32_t *end) {
  const eg_atom *a = &m->p->atoms.data[d];
  const eg_kid_step *steps = a->arity ? m->p->kids.data + a->first_kid : NULL;
  const eg_entry *entries = m->x->by_symbol.data;
  const uint32_t *regs = m->regs;
  eg_sink *s = m->sink;
  uint32_t n = m->p->n_slots, none = s->stride, root_reg = m->p->root_reg;
  uint32_t kid0 = a->arity > 0 ? word_of(m, steps[0].reg) : none;
  uint32_t kid1 = a->arity > 1 ? word_of(m, steps[1].reg) : none;
  uint32_t out = a->out != EG_NONE ? word_of(m, a->out) : none;
  uint32_t root = regs[root_reg], node = m->root_node.i, at = *end;
  bool all = m->levels[d].fresh, root_is_out = a->out == root_reg;
  bool scan = a->out != EG_NONE;
  bool root_is_kid0 = a->arity > 0 && steps[0].reg == root_reg;
  bool root_is_kid1 = a->arity > 1 && steps[1].reg == root_reg;
  bool go = true;
  while (at > stop && go) {
    const eg_entry *e = &entries[--at];
    if (!all && !entry_is_fresh(m, e))
      continue;
    uint32_t *to = s->at;
    for (uint32_t i = 0; i < n; i += EG_SINK_SLACK)
      memcpy(to + EG_MATCH_HEAD + i, regs + i, EG_SINK_SLACK * sizeof *to);
    to[kid0] = e->kid[0].i;
    to[kid1] = e->kid[1].i;
    uint32_t cls = scan ? eg_entry_class(m->g, e) : root;
    to[out] = cls;
    to[0] = root_is_out    ? cls
            : root_is_kid0 ? e->kid[0].i
            : root_is_kid1 ? e->kid[1].i
                           : root;
    to[1] = d ? node : e->node & EG_NODE_MASK;
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
  if (m->sink)
    write_last(m, d, stop, &end);
  else
    end = stop;
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
 * one segment: the word of its entry that is the class of that segment; else
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
      return (uint32_t)(offsetof(eg_entry, kid) / sizeof(uint32_t)) + k;
  return EG_NONE;
}

/* Passes over candidates under which nothing is fresh: they are only counted.
 * Stops at one that is looked at more closely. */
static void
skim(eg_matcher *m, uint32_t d, uint32_t word) {
  eg_level *l = &m->levels[d];
  const eg_entry *entries = m->x->by_symbol.data;
  uint32_t symbol = m->levels[d + 1].symbol, end = l->end;
  uint32_t since = m->since, stop = l->at;
  uint64_t limit = m->how->limit ? m->how->limit : UINT64_MAX;
  if (l->fresh || l->next || stop == end ||
      entry_is_fresh(m, &entries[end - 1]))
    return;
  if (end - stop > STRETCH)
    stop = end - STRETCH;
  for (; end > stop; end--) {
    const eg_entry *e = &entries[end - 1];
    if (!d && !eg_filter_passes(&m->filter, m->x, e))
      continue;
    if (entry_is_fresh(m, e))
      break;
    uint32_t words[sizeof *e / sizeof(uint32_t)];
    memcpy(words, e, sizeof words);
    eg_segment s;
    if (!eg_segment_find(m->x, words[word], symbol, &s))
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

void
eg_matcher_walk(eg_matcher *m) {
  uint32_t last = m->p->atoms.len - 1, d = m->depth;
  bool plain = is_plain(m, last);
  uint32_t word = last ? counted_by(m, last - 1) : EG_NONE;
  for (; !m->stopped; m->depth = d) {
    eg_level *l = &m->levels[d];
    bool fresh;
    m->depth = d;
    if (d == last && plain)
      walk_plain(m, d);
    if (d + 1 == last && word != EG_NONE)
      skim(m, d, word);
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
