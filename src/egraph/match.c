/* SPDX-License-Identifier: MIT */
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
#include <assert.h>
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
  assert(c < m->x->classes);
  uint32_t at = m->x->class_segment.data[c];
  bool empty = at == EG_NO_SEGMENT;
  eg_segment s;
  while (eg_segment_next(m->x, &at, &s))
    if (eg_segment_newest(m->g, &s) >= m->since)
      return true;
  return empty;
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
  *fresh = *fresh || eg_top_is_fresh(m, top, e->tops);
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
  assert(m->p->atoms.data[d].kind == EG_ATOM_CLASS || !d);
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
void
eg_open_last(eg_matcher *m, eg_level *l, uint32_t cls) {
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
      eg_open_last(m, l, m->regs[a->reg]);
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
  assert(m->p->root_reg < m->p->n_regs && m->p->n_slots <= m->p->n_regs);
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

/* Where the class is all that a pattern asks for. */
static void
walk_classes(eg_matcher *m, eg_level *l) {
  const uint32_t *segment = m->x->class_segment.data;
  const eg_entries *e = &m->x->by_symbol;
  uint32_t reg = m->p->atoms.data[0].reg;
  assert(m->p->atoms.data[0].kind == EG_ATOM_CLASSES &&
         l->end <= m->x->classes);
  while (l->end > l->at && !m->stopped) {
    uint32_t c = --l->end, at = segment[c];
    bool fresh = l->fresh;
    if ((c & 0xfff) == 0)
      eg_matcher_tick(m, 0x1000);
    if (at == EG_NO_SEGMENT && !eg_leads(m->g, c))
      continue;
    if (!fresh && m->by_bit && at != EG_NO_SEGMENT && at & EG_ALONE)
      fresh = eg_entry_top(e, at & ~EG_ALONE, e->tops) & EG_RECENT;
    else if (!fresh)
      fresh = class_is_fresh(m, c);
    m->regs[reg] = c;
    emit(m, fresh);
  }
}

void
eg_matcher_walk(eg_matcher *m) {
  assert(m->ready && m->p->atoms.len && m->depth < m->p->atoms.len);
  uint32_t last = m->p->atoms.len - 1, d = m->depth;
  bool joins = eg_joins(m), simple = m->inner.simple;
  if (simple && m->sink)
    m->writing = eg_writing_of(m, last);
  for (; !m->stopped; m->depth = d) {
    eg_level *l = &m->levels[d];
    bool fresh;
    m->depth = d;
    if (d == last && simple)
      eg_last(m, l);
    else if (d == last && !d && m->p->atoms.data->kind == EG_ATOM_CLASSES)
      walk_classes(m, l);
    else if (d + 1 == last && joins)
      eg_join(m, d);
    else if (!d && m->filter.n)
      eg_skip_roots(m, l);
    if (m->stopped)
      return;
    if (l->at >= l->end) {
      if (!d)
        return;
      d--;
      continue;
    }
    eg_matcher_tick(m, 1);
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
