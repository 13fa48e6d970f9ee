/* SPDX-License-Identifier: MIT */
/* core.c - the shrinking problem: construction, edits, and the way back. */
#include "extract/core.h"
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int
compare_u32(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

uint32_t
core_sort(uint32_t *item, uint32_t n) {
  uint32_t kept = 0;
  bool sorted = true;
  for (uint32_t i = 1; i < n; i++)
    sorted &= item[i - 1] < item[i];
  if (sorted)
    return n;
  qsort(item, n, sizeof *item, compare_u32);
  for (uint32_t i = 0; i < n; i++)
    if (kept == 0 || item[kept - 1] != item[i])
      item[kept++] = item[i];
  return kept;
}

double
core_cheapest(const ex_core *g, uint32_t c) {
  assert(c < g->n_classes);
  double best = INFINITY;
  for (uint32_t i = 0; i < g->classes[c].nodes.len; i++) {
    const core_node *n = &g->nodes.data[g->classes[c].nodes.data[i]];
    best = n->live && n->cost < best ? n->cost : best;
  }
  return best;
}

static bool
has_kid(const core_node *n, uint32_t class) {
  assert(n->n_kids < 2 || n->kids[0] < n->kids[n->n_kids - 1]);
  uint32_t lo = 0, hi = n->n_kids;
  if (!(n->signature >> class % 64 & 1))
    return false;
  while (lo < hi) {
    uint32_t mid = (lo + hi) / 2;
    if (n->kids[mid] < class)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo < n->n_kids && n->kids[lo] == class;
}

void
core_kill_node(ex_core *g, uint32_t node) {
  assert(node < g->nodes.len);
  core_node *n = &g->nodes.data[node];
  if (!n->live)
    return;
  n->live = false;
  g->live_nodes--;
  g->classes[n->class].n_live--;
  g->classes[n->class].ragged = true;
  for (uint32_t k = 0; k < n->n_kids; k++)
    g->classes[n->kids[k]].ragged = true;
}

void
core_set_kids(ex_core *g, uint32_t node, const uint32_t *kids,
              uint32_t n_kids) {
  assert(node < g->nodes.len && (kids || !n_kids));
  core_node *n = &g->nodes.data[node];
  for (uint32_t k = 0; k < n->n_kids; k++)
    g->classes[n->kids[k]].ragged = true;
  if (n_kids > n->n_kids)
    n->kids = BS_NEWS(&g->arena, uint32_t, n_kids);
  if (n_kids)
    memmove(n->kids, kids, n_kids * sizeof *kids);
  n->n_kids = core_sort(n->kids, n_kids);
  n->signature = 0;
  for (uint32_t k = 0; k < n->n_kids; k++) {
    core_class *c = &g->classes[n->kids[k]];
    n->signature |= (uint64_t)1 << n->kids[k] % 64;
    c->ragged |= c->users.len && bs_last(&c->users) >= node;
    bs_push(g->heap, &c->users, node);
  }
  if (has_kid(n, n->class))
    core_kill_node(g, node);
}

void
core_add_node(ex_core *g, uint32_t class, double cost, const uint32_t *kids,
              uint32_t n_kids, uint32_t trace) {
  assert(class < g->n_classes && trace < g->traces->len);
  for (uint32_t k = 0; k < n_kids; k++)
    if (kids[k] == class)
      return;
  uint32_t node = g->nodes.len;
  bs_push(
      g->heap, &g->nodes,
      (core_node){.cost = cost, .class = class, .trace = trace, .live = true});
  bs_push(g->heap, &g->classes[class].nodes, node);
  g->classes[class].n_live++;
  g->live_nodes++;
  core_set_kids(g, node, kids, n_kids);
}

void
core_tidy(ex_core *g, uint32_t class) {
  assert(class < g->n_classes);
  core_class *c = &g->classes[class];
  uint32_t kept = 0;
  if (!c->ragged)
    return;
  c->ragged = false;
  for (uint32_t i = 0; i < c->nodes.len; i++)
    if (g->nodes.data[c->nodes.data[i]].live)
      c->nodes.data[kept++] = c->nodes.data[i];
  c->nodes.len = kept;
  kept = 0;
  c->users.len = core_sort(c->users.data, c->users.len);
  for (uint32_t i = 0; i < c->users.len; i++) {
    const core_node *n = &g->nodes.data[c->users.data[i]];
    if (n->live && has_kid(n, class))
      c->users.data[kept++] = c->users.data[i];
  }
  c->users.len = kept;
}

uint32_t
core_join(ex_core *g, uint32_t trace, uint32_t with) {
  assert(trace < g->traces->len && with < g->traces->len);
  bs_push(g->heap, g->traces, (ex_trace){EX_NONE, trace, with});
  return g->traces->len - 1;
}

static void
core_init(ex_core *g, bs_heap *heap, ex_traces *traces, uint32_t n_classes) {
  *g = (ex_core){.heap = heap,
                 .traces = traces,
                 .n_classes = n_classes,
                 .live_classes = n_classes,
                 .cutoff = INFINITY};
  bs_arena_init(&g->arena, heap);
  g->classes = EX_ZERO(heap, core_class, n_classes);
  for (uint32_t c = 0; c < n_classes; c++)
    g->classes[c].live = true;
}

void
core_from_problem(ex_core *g, const ex_problem *p, ex_traces *traces,
                  const uint32_t *tree) {
  core_init(g, p->heap, traces, p->n_classes);
  for (uint32_t c = 0; c < p->n_classes; c++)
    for (uint32_t n = p->class_first[c]; n < p->class_first[c + 1]; n++) {
      bool usable = !isinf(p->cost[n]);
      for (uint32_t k = p->kid_first[n]; k < p->kid_first[n + 1]; k++)
        usable &= tree[p->kids[k]] != EX_NONE;
      if (!usable)
        continue;
      bs_push(g->heap, traces, (ex_trace){n, 0, 0});
      core_add_node(g, c, p->cost[n], p->kids + p->kid_first[n],
                    ex_n_kids(p, n), traces->len - 1);
    }
  for (uint32_t r = 0; r < p->n_roots; r++)
    g->classes[p->roots[r]].forced = true;
}

void
core_copy(ex_core *to, const ex_core *from) {
  assert(to != from);
  uint32_t *number = EX_NEW(from->heap, uint32_t, from->n_classes), n = 0;
  ex_list kids = {0};
  for (uint32_t c = 0; c < from->n_classes; c++)
    number[c] = from->classes[c].live ? n++ : EX_NONE;
  core_init(to, from->heap, from->traces, n);
  to->base = from->base;
  to->cutoff = from->cutoff;
  to->step = from->step;
  to->infeasible = from->infeasible;
  for (uint32_t i = 0; i < from->fixed.len; i++)
    bs_push(to->heap, &to->fixed, from->fixed.data[i]);
  for (uint32_t c = 0; c < from->n_classes; c++) {
    const core_class *k = &from->classes[c];
    if (!k->live)
      continue;
    to->classes[number[c]].forced = k->forced;
    to->classes[number[c]].component = k->component;
    for (uint32_t i = 0; i < k->nodes.len; i++) {
      const core_node *node = &from->nodes.data[k->nodes.data[i]];
      if (!node->live)
        continue;
      bs_clear(&kids);
      for (uint32_t j = 0; j < node->n_kids; j++)
        bs_push(to->heap, &kids, number[node->kids[j]]);
      core_add_node(to, number[c], node->cost, kids.data, kids.len,
                    node->trace);
    }
  }
  bs_vec_done(from->heap, &kids);
  bs_free(from->heap, number);
}

void
core_done(ex_core *g) {
  for (uint32_t c = 0; c < g->n_classes; c++) {
    bs_vec_done(g->heap, &g->classes[c].nodes);
    bs_vec_done(g->heap, &g->classes[c].users);
  }
  bs_free(g->heap, g->classes);
  bs_vec_done(g->heap, &g->nodes);
  bs_vec_done(g->heap, &g->fixed);
  bs_arena_done(&g->arena);
}

/* Appends the live part to a draft's rows. */
typedef struct rows {
  BS_VEC(double) cost;
  ex_list class_of, kid_first, kids, roots, classes, nodes;
} rows;

static void
collect_rows(const ex_core *g, rows *r) {
  bs_heap *h = g->heap;
  uint32_t *number = EX_NEW(h, uint32_t, g->n_classes);
  for (uint32_t c = 0; c < g->n_classes; c++) {
    number[c] = r->classes.len;
    if (g->classes[c].live && g->classes[c].forced)
      bs_push(h, &r->roots, r->classes.len);
    if (g->classes[c].live)
      bs_push(h, &r->classes, c);
  }
  for (uint32_t i = 0; i < g->nodes.len; i++) {
    const core_node *n = &g->nodes.data[i];
    if (!n->live)
      continue;
    bs_push(h, &r->nodes, i);
    bs_push(h, &r->cost, n->cost);
    bs_push(h, &r->class_of, number[n->class]);
    bs_push(h, &r->kid_first, r->kids.len);
    for (uint32_t k = 0; k < n->n_kids; k++)
      bs_push(h, &r->kids, number[n->kids[k]]);
  }
  bs_push(h, &r->kid_first, r->kids.len);
  bs_free(h, number);
}

void
core_to_problem(const ex_core *g, ex_problem *out, uint32_t **class_at,
                uint32_t **node_at) {
  bs_heap *h = g->heap;
  rows r = {0};
  collect_rows(g, &r);
  ex_draft draft = {.n_classes = r.classes.len,
                    .n_nodes = r.nodes.len,
                    .n_roots = r.roots.len,
                    .class_of = r.class_of.data,
                    .cost = r.cost.data,
                    .kid_first = r.kid_first.data,
                    .kids = r.kids.data,
                    .roots = r.roots.data};
  uint32_t *place = EX_NEW(h, uint32_t, r.nodes.len);
  ex_problem_build(h, &draft, place, out);
  *node_at = EX_NEW(h, uint32_t, r.nodes.len);
  for (uint32_t i = 0; i < r.nodes.len; i++)
    (*node_at)[place[i]] = r.nodes.data[i];
  *class_at = r.classes.data;
  bs_free(h, place);
  bs_vec_done(h, &r.nodes);
  bs_vec_done(h, &r.cost);
  bs_vec_done(h, &r.class_of);
  bs_vec_done(h, &r.kid_first);
  bs_vec_done(h, &r.kids);
  bs_vec_done(h, &r.roots);
}

void
core_keep(const ex_core *g, const ex_problem *p, const uint32_t *node_at,
          const uint32_t *choice, double dag, core_solution *out) {
  uint32_t *order = EX_NEW(g->heap, uint32_t, p->n_classes);
  uint32_t n = ex_order(p, choice, order);
  out->cost = g->base + dag;
  bs_clear(&out->traces);
  for (uint32_t i = 0; i < g->fixed.len; i++)
    bs_push(g->heap, &out->traces, g->fixed.data[i]);
  for (uint32_t i = 0; i < n; i++)
    bs_push(g->heap, &out->traces,
            g->nodes.data[node_at[choice[order[i]]]].trace);
  bs_free(g->heap, order);
}

void
core_restore(bs_heap *heap, const ex_traces *traces, const ex_list *from,
             const uint32_t *class_of, uint32_t *choice) {
  ex_list stack = {0};
  for (uint32_t i = 0; i < from->len; i++) {
    bs_push(heap, &stack, from->data[i]);
    while (stack.len) {
      const ex_trace *t = &traces->data[bs_pop(&stack)];
      if (t->node != EX_NONE) {
        choice[class_of[t->node]] = t->node;
      } else {
        bs_push(heap, &stack, t->left);
        bs_push(heap, &stack, t->right);
      }
    }
  }
  bs_vec_done(heap, &stack);
}
