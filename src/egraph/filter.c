/* SPDX-License-Identifier: MIT */
/* filter.c - candidates that cannot match, left out early.
 *
 * Many rules look for a rare operator below a common one, or for a constant.
 * What a root's children must be is then tested in one tight loop over the
 * operator's entries, before any level is opened; for a rare operator the
 * classes that hold it are a set of bits, made once a search.
 *
 * Where two segments are joined on a child (a*b + a*c), the second is opened
 * for each entry of the first.  From the second time on its entries are chained
 * by a hash of that child, in their order, so the join costs the sum of both
 * and not the product.  Neither leaves a match out nor changes their order. */
#include "egraph/filter.h"
#include <assert.h>
#include <string.h>

/* --- roots ------------------------------------------------------------- */

static uint32_t
count_of(const eg_index *x, uint32_t symbol) {
  if (symbol == EG_NONE)
    return 0;
  return x->symbol_start.data[symbol + 1] - x->symbol_start.data[symbol];
}

static uint64_t *
classes_with(bs_heap *heap, const eg_graph *g, uint32_t symbol) {
  const eg_index *x = &g->index;
  uint64_t *set = bs_calloc(heap, x->classes / 64 + 1, sizeof *set);
  for (uint32_t i = x->symbol_start.data[symbol];
       i < x->symbol_start.data[symbol + 1]; i++) {
    uint32_t c = eg_entry_class(g, i);
    if (c < x->classes)
      set[c / 64] |= 1ull << (c % 64);
  }
  return set;
}

static void
add_test(eg_filter *f, eg_test t) {
  f->tests[f->n++] = t;
}

/* A compared child of the root: with the other child, or with a ground term. */
static void
test_compared(eg_filter *f, const eg_kid_step *steps, uint32_t kid,
              const uint32_t *regs) {
  uint32_t reg = steps[kid].reg;
  if (f->n == EG_TESTS)
    return;
  if (kid && !steps[0].check && steps[0].reg == reg)
    add_test(f, (eg_test){.kind = EG_TEST_SAME, .kid = kid});
  else
    add_test(f, (eg_test){.kind = EG_TEST_IS, .kid = kid, .is = regs[reg]});
}

/* A child that later atoms look into: where their operators are rare, and where
 * there are several of them, so that one is looked into in vain. */
static void
test_opened(eg_filter *f, bs_heap *heap, const eg_graph *g, const eg_pattern *p,
            const uint32_t *symbols, uint32_t kid, uint32_t reg) {
  uint32_t many = count_of(&g->index, symbols[0]);
  for (uint32_t d = 1; d < p->atoms.len && f->n < EG_TESTS; d++) {
    const eg_atom *a = &p->atoms.data[d];
    if (a->kind != EG_ATOM_CLASS || a->reg != reg)
      continue;
    if (count_of(&g->index, symbols[d]) <= many / 2)
      add_test(f, (eg_test){.kind = EG_TEST_IN,
                            .kid = kid,
                            .set = classes_with(heap, g, symbols[d])});
    else if (p->atoms.len > 2)
      add_test(
          f, (eg_test){.kind = EG_TEST_HAS, .kid = kid, .symbol = symbols[d]});
  }
}

bool
eg_filter_init(eg_filter *f, bs_heap *heap, const eg_graph *g,
               const eg_pattern *p, const uint32_t *symbols,
               const uint32_t *regs) {
  const eg_atom *root = &p->atoms.data[0];
  const eg_kid_step *steps =
      p->kids.data ? p->kids.data + root->first_kid : NULL;
  f->n = 0;
  for (uint32_t d = 0; d < p->atoms.len; d++) {
    eg_atom_kind kind = p->atoms.data[d].kind;
    if ((kind == EG_ATOM_SCAN || kind == EG_ATOM_CLASS) &&
        !count_of(&g->index, symbols[d]))
      return false;
  }
  if (root->kind != EG_ATOM_SCAN || root->arity > 2)
    return true;
  for (uint32_t k = 0; k < root->arity; k++)
    if (steps[k].check)
      test_compared(f, steps, k, regs);
  for (uint32_t k = 0; k < root->arity; k++)
    if (!steps[k].check)
      test_opened(f, heap, g, p, symbols, k, steps[k].reg);
  return true;
}

void
eg_filter_done(eg_filter *f, bs_heap *heap) {
  for (uint32_t i = 0; i < f->n; i++)
    bs_free(heap, f->tests[i].set);
  f->n = 0;
}

/* As `eg_filter_skip`, by the first test alone. */
EG_EACH_FORM uint32_t
skip_first(const eg_test *t, const eg_index *x, uint32_t at, uint32_t end,
           bool wide) {
  const eg_entries e = x->by_symbol;
  const uint64_t *set = t->set;
  uint32_t kid = t->kid, is = t->is, symbol = t->symbol, c;
  eg_segment s;
  switch (t->kind) {
  case EG_TEST_IN:
    while (end > at && (c = eg_entry_kid(&e, end - 1, kid, wide),
                        !(set[c / 64] >> (c % 64) & 1)))
      end--;
    break;
  case EG_TEST_HAS:
    while (end > at && (c = eg_entry_kid(&e, end - 1, kid, wide),
                        !eg_segment_find(x, c, symbol, &s)))
      end--;
    break;
  case EG_TEST_SAME:
    while (end > at && eg_entry_kid(&e, end - 1, kid, wide) !=
                           eg_entry_kid(&e, end - 1, 0, wide))
      end--;
    break;
  case EG_TEST_IS:
    while (end > at && eg_entry_kid(&e, end - 1, kid, wide) != is)
      end--;
    break;
  }
  return end;
}

EG_EACH_FORM uint32_t
skip(const eg_filter *f, const eg_index *x, uint32_t at, uint32_t end,
     bool wide) {
  do
    end = skip_first(&f->tests[0], x, at, end, wide);
  while (end > at && !eg_filter_passes(f, 1, x, end - 1, wide) && --end > at);
  return end;
}

uint32_t
eg_filter_skip(const eg_filter *f, const eg_index *x, uint32_t at,
               uint32_t end) {
  assert(f->n <= EG_TESTS && at <= end);
  return x->by_symbol.tops ? skip(f, x, at, end, true)
                           : skip(f, x, at, end, false);
}

/* --- joins ------------------------------------------------------------- */

enum { FEW = 8 }; /* shorter segments are read through */

/* The first compared child whose register an earlier atom has bound. */
void
eg_chains_init(eg_chains *c, const eg_pattern *p, const eg_atom *a) {
  const eg_kid_step *steps = a->arity ? p->kids.data + a->first_kid : NULL;
  memset(c, 0, sizeof *c);
  c->kid = c->start = EG_NONE;
  if (a->kind != EG_ATOM_CLASS || a->arity > 2)
    return;
  for (uint32_t k = a->arity; k-- > 0;)
    if (steps[k].check &&
        !(k && !steps[0].check && steps[0].reg == steps[k].reg))
      c->kid = k;
}

void
eg_chains_done(eg_chains *c, bs_heap *heap) {
  bs_vec_done(heap, &c->heads);
  bs_vec_done(heap, &c->next);
}

static void
build(eg_chains *c, bs_heap *heap, const eg_graph *g, uint32_t start,
      uint32_t n) {
  uint32_t bits = 32 - (uint32_t)__builtin_clz(n), size = 1u << bits;
  const eg_entries *e = &g->index.by_symbol;
  bs_reserve(heap, &c->heads, size);
  bs_reserve(heap, &c->next, n);
  c->shift = 32 - bits;
  for (uint32_t i = 0; i < size; i++)
    c->heads.data[i] = start;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t cls = eg_entry_kid(e, start + i, c->kid, e->tops);
    uint32_t *head = &c->heads.data[(cls * 2654435761u) >> c->shift];
    c->next.data[i] = *head;
    *head = start + i + 1;
  }
}

bool
eg_chains_open(eg_chains *c, bs_heap *heap, const eg_graph *g, uint32_t start,
               uint32_t end) {
  assert(start <= end);
  if (c->kid == EG_NONE || end - start < FEW)
    return false;
  if (c->start != start) {
    c->start = start;
    c->ready = false;
    return false;
  }
  if (!c->ready)
    build(c, heap, g, start, end - start);
  c->ready = true;
  return true;
}
