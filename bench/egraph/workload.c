/* SPDX-License-Identifier: MIT */
/* workload.c - the reader of workload files. */
#include "workload.h"
#include "egraph/egraph_testing.h"
#include <string.h>

typedef struct wl_reader {
  wl_workload *w;
  bs_diags *diags;
  const bs_sexps *s;
  BS_VEC(bs_value) vars;      /* of the current rule; a slot is an index */
  BS_VEC(eg_term_node) nodes; /* of the current term */
  BS_VEC(uint32_t) kids;      /* of the lists being read */
  bs_arena left;              /* of left sides, which are compiled */
} wl_reader;

static const bs_sx *
at(const wl_reader *r, uint32_t node) {
  return &r->s->nodes.data[node];
}

static uint32_t
op_named(wl_workload *w, bs_value name) {
  for (uint32_t i = 0; i < w->ops.len; i++)
    if (bs_same(w->ops.data[i], name))
      return i;
  bs_push(w->heap, &w->ops, name);
  return w->ops.len - 1;
}

static uint32_t
slot_named(wl_reader *r, bs_value name) {
  for (uint32_t i = 0; i < r->vars.len; i++)
    if (bs_same(r->vars.data[i], name))
      return i;
  bs_push(r->w->heap, &r->vars, name);
  return r->vars.len - 1;
}

static eg_attr_pattern
exactly(bs_value v) {
  return (eg_attr_pattern){.kind = EG_ATTR_VALUE, .value = v};
}

static eg_term_node
read_atom(wl_reader *r, const bs_sx *x) {
  bs_values *values = r->w->values;
  eg_term_node n = {.op = WL_SYM, .attr = exactly(x->value)};
  if (x->kind == BS_SX_INT || x->kind == BS_SX_REAL) {
    n.op = WL_CONST;
    n.attr = exactly(bs_real(values, bs_as_real(values, x->value)));
  } else if (bs_as_sym(values, x->value)[0] == '?') {
    n.is_slot = true;
    n.slot = slot_named(r, x->value);
  }
  return n;
}

/* Terms are shallow and of our own writing, but lists are closed by a stack of
 * (end, first kid) all the same. */
typedef struct wl_open {
  uint32_t op, next, first;
} wl_open;

static eg_term
read_term(wl_reader *r, bs_arena *to, uint32_t root) {
  wl_workload *w = r->w;
  BS_VEC(wl_open) stack = {0};
  bs_clear(&r->nodes);
  bs_clear(&r->kids);
  uint32_t x = root;
  for (;;) {
    if (at(r, x)->kind == BS_SX_LIST) {
      uint32_t head = x + 1;
      wl_open o = {op_named(w, at(r, head)->value), at(r, head)->next,
                   r->kids.len};
      bs_push(w->heap, &stack, o);
    } else {
      bs_push(w->heap, &r->nodes, read_atom(r, at(r, x)));
      bs_push(w->heap, &r->kids, r->nodes.len - 1);
    }
    while (stack.len && !bs_last(&stack).next) {
      wl_open o = bs_pop(&stack);
      uint32_t n = r->kids.len - o.first;
      eg_term_node node = {.op = o.op, .attr = exactly(BS_NIL), .n_kids = n};
      node.kids =
          bs_arena_copy(to, r->kids.data + o.first, n * sizeof *r->kids.data);
      bs_push(w->heap, &r->nodes, node);
      r->kids.len = o.first;
      bs_push(w->heap, &r->kids, r->nodes.len - 1);
    }
    if (!stack.len)
      break;
    x = bs_last(&stack).next;
    bs_last(&stack).next = at(r, x)->next;
  }
  bs_vec_done(w->heap, &stack);
  eg_term t = {.n = r->nodes.len};
  t.nodes =
      bs_arena_copy(to, r->nodes.data, r->nodes.len * sizeof *r->nodes.data);
  return t;
}

static bool
read_condition(wl_reader *r, uint32_t x, wl_condition *c) {
  static const char *const names[] = {"not-zero", "sym", "const",
                                      "const-or-distinct-var"};
  const char *head = bs_sx_head(r->s, r->w->values, x);
  for (uint32_t k = 0; head && k < 4; k++) {
    if (strcmp(head, names[k]))
      continue;
    c->kind = k;
    c->a = slot_named(r, at(r, bs_sx_item(r->s, x, 1))->value);
    if (k == WL_CONST_OR_OTHER)
      c->b = slot_named(r, at(r, bs_sx_item(r->s, x, 2))->value);
    return true;
  }
  return bs_error(r->diags, at(r, x)->span, "unknown-condition",
                  "no such condition");
}

static bool
read_rule(wl_reader *r, uint32_t x) {
  wl_workload *w = r->w;
  bs_clear(&r->vars);
  uint32_t name = bs_sx_item(r->s, x, 1), left = bs_sx_item(r->s, x, 2),
           right = bs_sx_item(r->s, x, 3);
  eg_term lhs = read_term(r, &r->left, left);
  eg_result *result = BS_NEW(&w->arena, eg_result);
  eg_rule rule = {.name = bs_as_sym(w->values, at(r, name)->value),
                  .id = w->rules.len,
                  .results = result,
                  .n_results = 1};
  uint32_t n_slots = r->vars.len, more = at(r, x)->count - 4;
  uint32_t none = UINT32_MAX;
  rule.pattern = eg_pattern_new(w->heap, w->values, &lhs, &none, 1, n_slots);
  bs_arena_reset(&r->left);
  *result = (eg_result){read_term(r, &w->arena, right), UINT32_MAX};
  rule.n_slots = n_slots;
  if (more) {
    wl_conditions *all = BS_NEW(&w->arena, wl_conditions);
    all->values = w->values;
    all->list = BS_NEWS(&w->arena, wl_condition, more);
    for (uint32_t c = at(r, right)->next; c; c = at(r, c)->next)
      if (!read_condition(r, c, &all->list[all->n++]))
        return false;
    rule.guard = wl_guard;
    rule.guard_ctx = all;
  }
  if (r->vars.len != n_slots)
    return bs_error(r->diags, at(r, x)->span, "unbound", "unbound variable");
  bs_push(w->heap, &w->rules, rule);
  return true;
}

static bool
read_form(wl_reader *r, uint32_t x) {
  wl_workload *w = r->w;
  const char *head = bs_sx_head(r->s, w->values, x);
  uint32_t first = bs_sx_item(r->s, x, 1);
  if (head && first && !strcmp(head, "analysis")) {
    const char *kind = bs_as_sym(w->values, at(r, first)->value);
    w->fold = strcmp(kind, "none") != 0;
    w->prune = !strcmp(kind, "constfold-prune");
    return true;
  }
  if (head && at(r, x)->count >= 4 && !strcmp(head, "rule"))
    return read_rule(r, x);
  if (head && first && !strcmp(head, "start")) {
    eg_term t = read_term(r, &w->start, first);
    bs_push(w->heap, &w->starts, t);
    return true;
  }
  return bs_error(r->diags, at(r, x)->span, "unknown-form", "unknown form");
}

bool
wl_read(wl_workload *w, bs_heap *heap, bs_values *values, bs_diags *diags,
        const char *path) {
  *w = (wl_workload){.heap = heap, .values = values};
  bs_arena_init(&w->arena, heap);
  bs_arena_init(&w->start, heap);
  bs_push(heap, &w->ops, bs_sym(values, "#const"));
  bs_push(heap, &w->ops, bs_sym(values, "#sym"));
  uint32_t source = bs_source_read(diags, path, BS_NOWHERE);
  bs_sexps s = {0};
  if (!source || !bs_sexp_read(heap, values, diags, source, &s))
    return false;
  wl_reader r = {.w = w, .diags = diags, .s = &s};
  bool ok = true;
  bs_arena_init(&r.left, heap);
  for (uint32_t i = 0; i < s.roots.len && ok; i++)
    ok = read_form(&r, s.roots.data[i]);
  bs_vec_done(heap, &r.vars);
  bs_vec_done(heap, &r.nodes);
  bs_vec_done(heap, &r.kids);
  bs_arena_done(&r.left);
  bs_sexps_done(heap, &s);
  return ok;
}

void
wl_done(wl_workload *w) {
  for (uint32_t i = 0; i < w->rules.len; i++)
    eg_pattern_free(w->heap, w->rules.data[i].pattern);
  bs_vec_done(w->heap, &w->rules);
  bs_vec_done(w->heap, &w->starts);
  bs_vec_done(w->heap, &w->ops);
  bs_arena_done(&w->arena);
  bs_arena_done(&w->start);
}

eg_graph *
wl_graph(wl_workload *w) {
  eg_options o = {.analysis = wl_analysis(w)};
  eg_graph *g = eg_new(w->heap, w->values, &o);
  for (uint32_t i = 0; i < w->starts.len; i++)
    eg_instantiate(g, &w->starts.data[i], NULL);
  eg_rebuild(g);
  w->starts.len = 0;
  bs_arena_done(&w->start);
  return g;
}
