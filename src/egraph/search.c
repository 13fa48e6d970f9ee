/* SPDX-License-Identifier: MIT */
/* search.c - searches: made ready, in one go, in parts, with one call a match.
 *
 * Ground terms are looked up and operators resolved before the walk (match.c)
 * begins; where one is not there, nothing can match.  A part of a search takes
 * what the whole made ready and some of its roots. */
#include "egraph/hashcons.h"
#include "egraph/matcher.h"
#include <assert.h>
#include <string.h>

static uint32_t
find_ground(const eg_graph *g, const eg_pattern *p, uint32_t i,
            const uint32_t *classes, eg_class *kids) {
  const eg_ground *t = &p->grounds.data[i];
  for (uint32_t j = 0; j < t->n_kids; j++)
    kids[j].i = classes[p->ground_kids.data[t->first_kid + j]];
  uint32_t head = eg_head_find(g, t->op, t->attr, t->n_kids);
  if (head == EG_NONE)
    return EG_NONE;
  eg_key key = eg_key_of(head, kids, t->n_kids);
  uint32_t node = eg_table_find(g, &key, eg_key_hash(&key), EG_NONE, NULL);
  return node < g->index.nodes ? node : EG_NONE;
}

bool
eg_find_grounds(const eg_graph *g, const eg_pattern *p, uint32_t *classes,
                uint32_t *newest) {
  eg_class *kids = bs_alloc(g->heap, (p->ground_kids.len + 1) * sizeof *kids);
  uint32_t i = 0;
  *newest = 0;
  for (; i < p->grounds.len; i++) {
    uint32_t node = find_ground(g, p, i, classes, kids);
    if (node == EG_NONE)
      break;
    classes[i] = g->rows[node].cls;
    if (g->stamps[node] > *newest)
      *newest = g->stamps[node];
  }
  bs_free(g->heap, kids);
  return i == p->grounds.len;
}

/* A ground term that changed makes every match fresh. */
static bool
set_grounds(eg_matcher *m, bool *fresh) {
  const eg_pattern *p = m->p;
  const uint32_t *known = m->how->grounds;
  uint32_t newest = m->how->grounds_newest;
  uint32_t *found = NULL;
  bool ok = true;
  if (!p->grounds.len)
    return true;
  if (!known) {
    found = bs_alloc(m->g->heap, p->grounds.len * sizeof *found);
    ok = eg_find_grounds(m->g, p, found, &newest);
    known = found;
  }
  for (uint32_t i = 0; ok && i < p->grounds.len; i++)
    m->regs[p->grounds.data[i].reg] = known[i];
  bs_free(m->g->heap, found);
  *fresh = *fresh || newest >= m->since;
  return ok;
}

static uint32_t
symbol_of(const eg_matcher *m, const eg_atom *a) {
  uint32_t s = eg_symbol_find(m->g, a->op, a->arity);
  return s < m->x->symbols ? s : EG_NONE;
}

/* Where all nodes of a symbol have one attribute, it is compared here; false
 * when it is another than the pattern's. */
static bool
decide_attr(const eg_matcher *m, const eg_atom *a, eg_level *l) {
  l->plain = a->plain_kids;
  l->attr = a->attr_reg != EG_NONE;
  if (!l->attr || l->symbol == EG_NONE)
    return true;
  const eg_attr_step *s = &m->p->attrs.data[a->first_attr];
  if (a->n_attr == 1 && s->op == EG_IS_VALUE &&
      m->g->symbol_heads.data[l->symbol] == 1) {
    uint32_t head = m->g->symbol_ops.data[l->symbol];
    l->attr = false;
    return bs_same(m->g->heads.data[head].attr, s->value);
  }
  for (uint32_t i = 0; i < a->n_attr; i++)
    l->plain = l->plain && s[i].op == EG_BIND;
  return true;
}

/* Up to the opening of the first level; false when nothing can match. */
static bool
prepare(eg_matcher *m) {
  bool fresh = !m->since;
  const eg_pattern *p = m->p;
  for (uint32_t i = 0; i < p->n_regs; i++)
    m->regs[i] = EG_NONE;
  if (!p->atoms.len || !m->x->class_segment.cap || !set_grounds(m, &fresh))
    return false;
  for (uint32_t d = 0; d < p->atoms.len; d++) {
    const eg_atom *a = &p->atoms.data[d];
    m->levels[d] = (eg_level){.symbol = EG_NONE, .fresh = fresh};
    if (a->kind != EG_ATOM_SCAN && a->kind != EG_ATOM_CLASS)
      continue;
    m->levels[d].symbol = m->symbols[d] = symbol_of(m, a);
    if (!decide_attr(m, a, &m->levels[d]))
      return false;
    eg_chains_init(&m->chains[d], p, a);
  }
  if (!eg_filter_init(&m->filter, m->heap, m->g, p, m->symbols, m->regs))
    return false;
  eg_matcher_open(m);
  return true;
}

static void
init(eg_matcher *m, bs_heap *heap, const eg_graph *g, const eg_pattern *p,
     const eg_search_options *how) {
  uint32_t n = p->atoms.len;
  *m = (eg_matcher){.heap = heap,
                    .g = g,
                    .x = eg_index_of(g),
                    .p = p,
                    .how = how,
                    .root_node = EG_NO_NODE};
  m->levels = bs_alloc(heap, (n + 1) * sizeof *m->levels);
  m->chains = bs_calloc(heap, n + 1, sizeof *m->chains);
  m->symbols = bs_alloc(heap, (n + 1) * sizeof *m->symbols);
  m->regs = bs_calloc(heap, EG_MATCH_HEAD + p->n_regs + EG_REGS_SLACK,
                      sizeof *m->regs);
  m->regs += EG_MATCH_HEAD;
  m->since = eg_since(g, how->since);
  m->by_bit = m->since == m->x->epoch;
}

static void
done(eg_matcher *m) {
  for (uint32_t d = 0; d < m->p->atoms.len; d++)
    eg_chains_done(&m->chains[d], m->heap);
  eg_filter_done(&m->filter, m->heap);
  bs_free(m->heap, m->levels);
  bs_free(m->heap, m->chains);
  bs_free(m->heap, m->symbols);
  bs_free(m->heap, m->regs - EG_MATCH_HEAD);
}

uint64_t
eg_search_with(const eg_graph *g, const eg_pattern *p,
               const eg_search_options *how, eg_sink *sink, bool *stopped) {
  assert(how->only_class == EG_NONE || eg_leads(g, how->only_class));
  eg_matcher m;
  init(&m, g->heap, g, p, how);
  g->self->pins++;
  m.ready = prepare(&m);
  m.sink = sink;
  if (m.ready)
    eg_matcher_walk(&m);
  g->self->pins--;
  done(&m);
  if (stopped)
    *stopped = m.stopped;
  return m.count;
}

/* --- one call a match -------------------------------------------------- */

typedef struct eg_caller {
  eg_found found;
  void *ctx;
  uint32_t *match;
  eg_sink sink;
  bs_heap *heap;
  uint64_t most; /* candidates */
  bool ended;    /* there were no more of them */
} eg_caller;

static bool
call(void *ctx) {
  eg_caller *c = ctx;
  c->sink.at = c->match;
  return c->found(c->ctx, (eg_class){c->match[0]}, (eg_node){c->match[1]},
                  c->match + EG_MATCH_HEAD);
}

/* Nobody else asks for the limits while candidates are looked at: there may be
 * as many as those of each part multiplied, and no match among them. */
static bool
search_on(void *ctx, uint64_t steps) {
  eg_caller *c = ctx;
  bs_limits_check(c->heap);
  c->ended = steps <= c->most;
  return c->ended;
}

static bool
search_calling(const eg_graph *g, const eg_pattern *p, uint32_t only_class,
               uint64_t most, eg_found found, void *ctx) {
  uint32_t stride = EG_MATCH_HEAD + p->n_slots, words = stride + EG_SINK_SLACK;
  eg_caller c = {.found = found,
                 .ctx = ctx,
                 .match = bs_alloc(g->heap, words * sizeof(uint32_t)),
                 .sink = {.stride = stride, .full = call, .ctx = &c},
                 .heap = g->heap,
                 .most = most,
                 .ended = true};
  eg_search_options how = {
      .only_class = only_class, .tick = search_on, .tick_ctx = &c};
  eg_sink_set(&c.sink, c.match, words);
  eg_search_with(g, p, &how, &c.sink, NULL);
  bs_free(g->heap, c.match);
  return c.ended;
}

void
eg_search(const eg_graph *g, const eg_pattern *p, eg_found found, void *ctx) {
  search_calling(g, p, EG_NONE, UINT64_MAX, found, ctx);
}

void
eg_search_class(const eg_graph *g, const eg_pattern *p, eg_class c,
                eg_found found, void *ctx) {
  eg_search_within(g, p, c, UINT64_MAX, found, ctx);
}

bool
eg_search_within(const eg_graph *g, const eg_pattern *p, eg_class c,
                 uint64_t steps, eg_found found, void *ctx) {
  assert(c.i < g->n_classes);
  return search_calling(g, p, eg_root(g, c.i), steps, found, ctx);
}
