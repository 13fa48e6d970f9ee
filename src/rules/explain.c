/* explain.c - chains of the engine as terms of a program.
 *
 * A step may rest on more than its own terms show: a class that two patterns
 * ask of at once, or a fact that one term of a class proves and the term in the
 * chain does not.  Such equalities become lemmas with chains of their own; a
 * lemma that leads to itself is left unproved. */
#include "rules/explain.h"
#include "rules/internal.h"
#include <string.h>

enum { MOST_LEMMAS = 64, MOST_DEPTH = 4, MOST_WITNESSES = 48 };

typedef struct pending {
  uint32_t from, to, depth; /* terms of the engine */
} pending;

typedef struct explaining {
  const gs_context *ctx;
  const rl_run *run;
  const gs_program *a;
  eg_explainer *x;
  eg_shape *shapes;
  rl_explanation *out;
  uint32_t max_steps;
  BS_VEC(gs_term) term_of; /* by term of the engine */
  BS_VEC(pending) lemmas;
  BS_VEC(rl_chain) proved; /* by lemma */
  BS_VEC(uint32_t) todo;
  eg_node *smallest; /* by class; made when a witness is wanted */
  uint32_t n_smallest;
} explaining;

/* --- terms ---------------------------------------------------------------- */

static gs_term
constant_term(explaining *e, bs_value attr) {
  const bs_values *values = e->ctx->values;
  const char *name = bs_as_sym(values, bs_item(values, attr, 0));
  const gs_constant *c = gs_find_constant(e->a, name);
  return c ? gs_add_constant(e->out->program, name, &c->type, c->data,
                             BS_NOWHERE)
           : GS_NO_TERM;
}

static void
make_term(explaining *e, uint32_t t) {
  uint32_t n;
  gs_fault fault;
  const uint32_t *kids = eg_term_kids(e->x, t, &n);
  gs_op op = (gs_op)eg_term_op(e->x, t);
  bs_value attr = eg_term_attr(e->x, t);
  gs_term few[8], *own = few;
  if (op == GS_CONST) {
    e->term_of.data[t] = constant_term(e, attr);
    return;
  }
  if (n > 8)
    own = bs_alloc(e->ctx->heap, n * sizeof *own);
  for (uint32_t k = 0; k < n; k++)
    own[k] = e->term_of.data[kids[k]];
  e->term_of.data[t] =
      gs_add(e->out->program, op, attr, own, n, BS_NOWHERE, &fault);
  if (own != few)
    bs_free(e->ctx->heap, own);
}

/* Children first, with a stack. */
static gs_term
term(explaining *e, uint32_t t) {
  bs_heap *heap = e->ctx->heap;
  while (e->term_of.len < eg_count_terms(e->x))
    bs_push(heap, &e->term_of, GS_NO_TERM);
  bs_push(heap, &e->todo, t);
  while (e->todo.len) {
    uint32_t top = bs_last(&e->todo), n, waiting = e->todo.len;
    const uint32_t *kids = eg_term_kids(e->x, top, &n);
    for (uint32_t k = 0; k < n && !gs_term_ok(e->term_of.data[top]); k++)
      if (!gs_term_ok(e->term_of.data[kids[k]]))
        bs_push(heap, &e->todo, kids[k]);
    if (e->todo.len > waiting)
      continue;
    if (!gs_term_ok(e->term_of.data[top]))
      make_term(e, top);
    e->todo.len--;
  }
  return e->term_of.data[t];
}

/* The terms of a program's outputs, as the engine has them; EG_NO_TERM where
 * the e-graph lacks one. */
static uint32_t *
output_terms(explaining *e, const gs_program *p) {
  bs_heap *heap = e->ctx->heap;
  uint32_t *of = bs_alloc(heap, (p->nodes.len + (size_t)1) * sizeof *of);
  uint32_t *out = BS_NEWS(e->ctx->arena, uint32_t, p->outputs.len + 1);
  for (uint32_t k = 0; k < p->nodes.len; k++) {
    const gs_node *n = &p->nodes.data[k];
    uint32_t few[8], *kids = few;
    if (n->n_kids > 8)
      kids = bs_alloc(heap, n->n_kids * sizeof *kids);
    for (uint32_t j = 0; j < n->n_kids; j++)
      kids[j] = of[n->kids[j].i];
    of[k] = eg_explain_term(e->x, n->op, n->attr, kids, n->n_kids);
    if (kids != few)
      bs_free(heap, kids);
  }
  for (uint32_t k = 0; k < p->outputs.len; k++)
    out[k] = of[p->outputs.data[k].term.i];
  bs_free(heap, of);
  return out;
}

/* --- links ---------------------------------------------------------------- */

static void
take_slots(explaining *e, const eg_link *l, rl_link *out) {
  uint32_t *slots = BS_NEWS(e->ctx->arena, uint32_t, l->n_slots + 1);
  for (uint32_t k = 0; k < l->n_slots; k++) {
    slots[k] = l->slots[k];
    if (l->is_class[k] && l->slots[k] != UINT32_MAX)
      slots[k] = term(e, l->slots[k]).i;
  }
  out->slots = slots;
  out->is_term = l->is_class;
  out->n_slots = l->n_slots;
}

static void
want_lemma(explaining *e, uint32_t from, uint32_t to, uint32_t depth) {
  bs_push(e->ctx->heap, &e->lemmas, (pending){from, to, depth});
  bs_push(e->ctx->heap, &e->proved,
          (rl_chain){.from = term(e, from), .to = term(e, to)});
}

/* The lemmas as the checker sees them while they are being collected. */
static void
show_lemmas(explaining *e) {
  e->out->lemmas = e->proved.data;
  e->out->n_lemmas = e->proved.len;
}

static bool
holds(explaining *e, rl_link *l) {
  show_lemmas(e);
  return !rl_check_link(e->ctx, e->run->rules, e->out, l);
}

/* The term of a node over the smallest terms of its children's classes. */
static uint32_t
witness(explaining *e, eg_node node) {
  const eg_graph *g = e->run->graph;
  BS_VEC(eg_node) stack = {0};
  BS_VEC(uint32_t) made = {0};
  uint32_t n, out = EG_NO_TERM, budget = 4096;
  bs_heap *heap = e->ctx->heap;
  /* Post-order: a node is built when it is met again over its children. */
  bs_push(heap, &stack, node);
  bs_push(heap, &stack, EG_NO_NODE);
  while (stack.len && budget--) {
    eg_node top = bs_pop(&stack);
    bool fresh = top.i == UINT32_MAX;
    if (fresh)
      top = bs_last(&stack);
    const eg_class *kids = eg_kids(g, top, &n);
    if (fresh) {
      for (uint32_t k = n; k-- > 0;) {
        eg_node kid = e->smallest[eg_find(g, kids[k]).i];
        if (kid.i == UINT32_MAX)
          budget = 0;
        bs_push(heap, &stack, kid);
        bs_push(heap, &stack, EG_NO_NODE);
      }
      continue;
    }
    made.len -= n;
    bs_reserve(heap, &made, (uint64_t)made.len + n + 1);
    out = eg_explain_term(e->x, eg_op(g, top), eg_attr(g, top),
                          made.data + made.len, n);
    bs_push(heap, &made, out);
  }
  bs_vec_done(heap, &stack);
  bs_vec_done(heap, &made);
  return budget == UINT32_MAX ? EG_NO_TERM : out;
}

/* The link without what it may need besides its terms. */
static rl_link
plain_link(explaining *e, const eg_link *l) {
  rl_link out = {.result = l->result,
                 .forward = l->forward,
                 .whole = term(e, l->whole),
                 .next = term(e, l->next),
                 .before = term(e, l->before),
                 .after = term(e, l->after),
                 .root = term(e, l->root),
                 .path = l->path,
                 .n_path = l->n_path,
                 .first_lemma = e->lemmas.len};
  if (l->rule < rl_count(e->run->rules))
    out.rule = rl_at(e->run->rules, l->rule);
  take_slots(e, l, &out);
  return out;
}

/* Is there a chain whose steps need nothing but their terms? */
static bool
is_plain(explaining *e, uint32_t from, uint32_t to) {
  eg_chain chain;
  bool plain = eg_explain(e->x, from, to, e->max_steps, &chain) == EG_EXPLAINED;
  for (uint32_t k = 0; k < chain.n && plain; k++) {
    rl_link l = plain_link(e, &chain.links[k]);
    plain = holds(e, &l);
  }
  return plain;
}

/* Adds a lemma for the step and keeps it if that makes the step hold. */
static bool
try_witness(explaining *e, rl_link *l, uint32_t slot_term, uint32_t w,
            uint32_t depth) {
  if (w == EG_NO_TERM || w == slot_term || e->lemmas.len >= MOST_LEMMAS)
    return false;
  want_lemma(e, slot_term, w, depth + 1);
  l->n_lemmas++;
  if (holds(e, l))
    return true;
  l->n_lemmas--;
  e->lemmas.len--;
  e->proved.len--;
  return false;
}

/* A condition may rest on facts that another term of a class proves: looks for
 * one such term among the nodes of the classes of the rule's variables, best
 * one whose own chain needs no such help. */
static void
find_witness(explaining *e, const eg_link *link, rl_link *l, uint32_t depth) {
  const eg_graph *g = e->run->graph;
  uint32_t first_slot = EG_NO_TERM, first = EG_NO_TERM;
  if (!e->smallest)
    e->smallest = rl_smallest(e->ctx->heap, g, &e->n_smallest);
  for (uint32_t s = 0; s < link->n_slots; s++) {
    uint32_t n, t = link->slots[s];
    if (!link->is_class[s] || t == UINT32_MAX)
      continue;
    const eg_node *nodes = eg_class_nodes(g, eg_term_class(e->x, t), &n);
    for (uint32_t k = 0; k < n && k < MOST_WITNESSES; k++) {
      uint32_t w = witness(e, nodes[k]);
      if (!try_witness(e, l, t, w, depth))
        continue;
      if (is_plain(e, t, w))
        return;
      if (first == EG_NO_TERM) {
        first_slot = t;
        first = w;
      }
      l->n_lemmas--;
      e->lemmas.len--;
      e->proved.len--;
    }
  }
  try_witness(e, l, first_slot, first, depth);
}

static rl_link
link_of(explaining *e, const eg_link *l, uint32_t depth) {
  rl_link out = plain_link(e, l);
  for (uint32_t k = 0; k < l->n_premises && e->lemmas.len < MOST_LEMMAS; k++) {
    want_lemma(e, l->premises[k].from, l->premises[k].to, depth + 1);
    out.n_lemmas++;
  }
  const rl_compiled *c =
      out.rule ? e->run->rules->compiled.data[l->rule] : NULL;
  if (c && c->condition && !c->condition->steady && !holds(e, &out))
    find_witness(e, l, &out, depth);
  return out;
}

/* Paths are copied: the explainer does not outlive the explanation. */
static void
own_arrays(explaining *e, rl_link *l) {
  bs_arena *arena = e->ctx->arena;
  l->path = bs_arena_copy(arena, l->path, l->n_path * sizeof *l->path + 1);
  if (l->n_slots)
    l->is_term = bs_arena_copy(arena, l->is_term, l->n_slots);
}

static eg_explained
explain_pair(explaining *e, uint32_t from, uint32_t to, uint32_t depth,
             rl_chain *out) {
  eg_chain chain;
  *out = (rl_chain){.from = GS_NO_TERM, .to = GS_NO_TERM};
  eg_explained got = eg_explain(e->x, from, to, e->max_steps, &chain);
  if (from != EG_NO_TERM && to != EG_NO_TERM) {
    out->from = term(e, from);
    out->to = term(e, to);
  }
  if (got != EG_EXPLAINED)
    return got;
  rl_link *links = BS_NEWS(e->ctx->arena, rl_link, chain.n + 1);
  for (uint32_t k = 0; k < chain.n; k++) {
    links[k] = link_of(e, &chain.links[k], depth);
    own_arrays(e, &links[k]);
  }
  out->links = links;
  out->n = chain.n;
  out->found = true;
  return got;
}

static void
prove_lemmas(explaining *e) {
  for (uint32_t k = 0; k < e->lemmas.len; k++) {
    pending p = e->lemmas.data[k];
    rl_chain chain;
    if (p.depth > MOST_DEPTH)
      continue;
    explain_pair(e, p.from, p.to, p.depth, &chain);
    e->proved.data[k] = chain;
  }
}

static void
begin(explaining *e) {
  const rl_rules *rules = e->run->rules;
  uint32_t n = rules->compiled.len;
  e->shapes = bs_calloc(e->ctx->heap, n + (size_t)1, sizeof *e->shapes);
  for (uint32_t k = 0; k < n; k++) {
    const rl_compiled *c = rules->compiled.data[k];
    e->shapes[k] = (eg_shape){c->parts, c->part_roots, c->n_parts, c->results,
                              c->rule.n_right};
  }
  e->x = eg_explainer_new(e->run->graph, e->shapes, n);
  e->out->program = gs_program_new(e->ctx, e->run->session->target);
  for (uint32_t k = 0; k < e->a->inputs.len; k++) {
    const gs_named *input = &e->a->inputs.data[k];
    gs_type type;
    gs_type_at(e->a, input->term, &type);
    gs_add_tensor(e->out->program, input->name, &type, input->span);
  }
}

static void
end(explaining *e) {
  bs_heap *heap = e->ctx->heap;
  e->out->n_lemmas = e->proved.len;
  e->out->lemmas = bs_arena_copy(e->ctx->arena, e->proved.data,
                                 e->proved.len * sizeof *e->proved.data);
  eg_explainer_free(e->x);
  bs_free(heap, e->shapes);
  bs_free(heap, e->smallest);
  bs_vec_done(heap, &e->term_of);
  bs_vec_done(heap, &e->lemmas);
  bs_vec_done(heap, &e->proved);
  bs_vec_done(heap, &e->todo);
}

bool
rl_explain(const gs_context *ctx, const rl_run *run, const gs_program *a,
           const gs_program *b, uint32_t max_steps, rl_explanation *out) {
  explaining e = {
      .ctx = ctx, .run = run, .a = a, .out = out, .max_steps = max_steps};
  uint32_t n =
      a->outputs.len < b->outputs.len ? a->outputs.len : b->outputs.len;
  *out = (rl_explanation){.why = EG_EXPLAINED};
  begin(&e);
  out->chains = BS_NEWS(ctx->arena, rl_chain, n + 1);
  const uint32_t *from = output_terms(&e, a), *to = output_terms(&e, b);
  for (uint32_t k = 0; k < n && out->why == EG_EXPLAINED; k++) {
    out->why = explain_pair(&e, from[k], to[k], 0, &out->chains[k]);
    out->failed = k;
    out->n_chains = k + 1;
  }
  prove_lemmas(&e);
  end(&e);
  return out->why == EG_EXPLAINED;
}
