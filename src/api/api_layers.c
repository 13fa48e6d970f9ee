/* SPDX-License-Identifier: MIT */
/* api_layers.c - the layers of a program, each as a program of its own, in a
 * form that does not depend on names or on the order of what was written.
 *
 * A layer is a let that computes; what it uses of other such lets are inputs of
 * it.  Lets that only look at their operands otherwise are a part of the layers
 * that use them. */
#include "api/api.h"
#include "api/object.h"
#include <assert.h>

#include <stdio.h>

typedef BS_VEC(gs_term) terms;

/* seen[t] is the number of the last walk that met t. */
typedef struct walk {
  const gs_program *p;
  bs_heap *heap;
  const uint8_t *stop; /* terms that are not looked into; NULL: none */
  uint32_t *seen, number;
  terms stack;
} walk;

static void
walk_init(walk *w, const gs_program *p, bs_heap *heap, const uint8_t *stop) {
  *w = (walk){.p = p, .heap = heap, .stop = stop};
  w->seen = bs_calloc(heap, p->nodes.len + 1u, sizeof *w->seen);
}

static void
walk_done(walk *w) {
  bs_free(w->heap, w->seen);
  bs_vec_done(w->heap, &w->stack);
}

static bool
is_leaf(const walk *w, gs_term t, gs_term root) {
  return w->stop && w->stop[t.i] && t.i != root.i;
}

/* ---- what a layer is ---- */

static bool
reduces(const gs_program *p, const gs_node *node) {
  gs_compute which;
  bs_value o = bs_item(p->ctx.values, node->attr, 0);
  if (!gs_compute_of(p->ctx.values, o, &which))
    return false;
  gs_compute_kind kind = gs_compute_table[which].kind;
  return kind == GS_REDUCE || kind == GS_DOT || kind == GS_SOFTMAX;
}

typedef enum weight { ONLY_LOOKS, COMPUTES, REDUCES } weight;

static weight
weight_of(const gs_program *p, gs_term t) {
  const gs_node *node = gs_at(p, t);
  if (node->op == GS_CALL)
    return REDUCES;
  if (node->op != GS_COMPUTE)
    return ONLY_LOOKS;
  return reduces(p, node) ? REDUCES : COMPUTES;
}

/* The most that is done between the term and those that are stopped at. */
static weight
weigh(walk *w, gs_term root) {
  weight most = ONLY_LOOKS;
  w->number++;
  bs_push(w->heap, &w->stack, root);
  while (w->stack.len) {
    gs_term t = bs_pop(&w->stack);
    if (w->seen[t.i] == w->number || is_leaf(w, t, root))
      continue;
    w->seen[t.i] = w->number;
    weight own = weight_of(w->p, t);
    most = own > most ? own : most;
    for (uint32_t k = 0; k < gs_at(w->p, t)->n_kids; k++)
      bs_push(w->heap, &w->stack, gs_at(w->p, t)->kids[k]);
  }
  return most;
}

struct glen_layers {
  api_object *object;
  const gs_program *program;
  uint8_t *stop; /* by term: a let that computes */
  BS_VEC(gs_named) list;
};

/* A let stands behind those that it uses. */
static void
find_layers(glen_layers *l, bs_heap *heap) {
  const gs_program *p = l->program;
  walk w;
  l->stop = bs_calloc(heap, p->nodes.len + 1u, 1);
  walk_init(&w, p, heap, l->stop);
  for (uint32_t k = 0; k < p->lets.len; k++) {
    const gs_named *let = &p->lets.data[k];
    if (l->stop[let->term.i])
      continue;
    weight found = weigh(&w, let->term);
    l->stop[let->term.i] = found != ONLY_LOOKS;
    if (found == REDUCES)
      bs_push(heap, &l->list, *let);
  }
  walk_done(&w);
}

/* ---- a copy without names ---- */

typedef struct copying {
  walk walk;
  gs_program *to;
  gs_term root, *made; /* by term of the original */
  uint32_t inputs, constants;
} copying;

static gs_term
copy_input(copying *c, gs_term t) {
  char name[16];
  gs_type type, whole;
  gs_type_at(c->walk.p, t, &type);
  whole = type;
  whole.access = whole.rank;
  snprintf(name, sizeof name, "x%u", c->inputs++);
  gs_term made = gs_add_tensor(c->to, bs_arena_strdup(c->to->ctx.arena, name),
                               &whole, BS_NOWHERE);
  if (type.access == type.rank)
    return made;
  bs_value split = bs_int(c->to->ctx.values, type.access);
  return gs_add(c->to, GS_ACCESS, bs_list(c->to->ctx.values, &split, 1), &made,
                1, BS_NOWHERE, NULL);
}

static gs_term
copy_constant(copying *c, const gs_node *node) {
  const gs_constant *constant = gs_constant_of(c->walk.p, node->attr);
  char name[16];
  snprintf(name, sizeof name, "c%u", c->constants++);
  return gs_add_constant(c->to, bs_arena_strdup(c->to->ctx.arena, name),
                         &constant->type, constant->data, BS_NOWHERE);
}

static gs_term
copy_node(copying *c, const gs_node *node) {
  bs_heap *heap = c->walk.heap;
  gs_term *kids = bs_calloc(heap, node->n_kids + 1u, sizeof *kids);
  for (uint32_t k = 0; k < node->n_kids; k++)
    kids[k] = c->made[node->kids[k].i];
  gs_term made =
      gs_add(c->to, node->op, node->attr, kids, node->n_kids, BS_NOWHERE, NULL);
  bs_free(heap, kids);
  return made;
}

static gs_term
copy(copying *c, gs_term t) {
  const gs_node *node = gs_at(c->walk.p, t);
  if (node->op == GS_TENSOR || is_leaf(&c->walk, t, c->root))
    return copy_input(c, t);
  return node->op == GS_CONST ? copy_constant(c, node) : copy_node(c, node);
}

/* Pushes the operands that are not made yet, the first on top. */
static bool
wants_operands(copying *c, gs_term t) {
  walk *w = &c->walk;
  const gs_node *node = gs_at(w->p, t);
  bool wants = false;
  if (is_leaf(w, t, c->root))
    return false;
  for (uint32_t k = node->n_kids; k-- > 0;)
    if (!gs_term_ok(c->made[node->kids[k].i])) {
      bs_push(w->heap, &w->stack, node->kids[k]);
      wants = true;
    }
  return wants;
}

/* Operands before what they are of, the first one first: the order in which
 * names are given. */
static void
copy_down(copying *c, gs_term root) {
  walk *w = &c->walk;
  bs_push(w->heap, &w->stack, root);
  while (w->stack.len) {
    gs_term t = bs_last(&w->stack);
    if (!gs_term_ok(c->made[t.i]) && wants_operands(c, t))
      continue;
    (void)bs_pop(&w->stack);
    if (!gs_term_ok(c->made[t.i]))
      c->made[t.i] = copy(c, t);
  }
}

static void
copy_output(copying *c, gs_term root, uint32_t number) {
  char name[16];
  c->root = root;
  copy_down(c, root);
  snprintf(name, sizeof name, "y%u", number);
  gs_add_output(c->to, bs_arena_strdup(c->to->ctx.arena, name), c->made[root.i],
                BS_NOWHERE);
}

static void
copying_init(copying *c, const gs_program *p, const gs_context *gs,
             const uint8_t *stop) {
  *c = (copying){.to = gs_program_new(gs, p->target)};
  walk_init(&c->walk, p, gs->heap, stop);
  c->made = bs_calloc(gs->heap, p->nodes.len + 1u, sizeof *c->made);
  for (uint32_t k = 0; k < p->nodes.len; k++)
    c->made[k] = GS_NO_TERM;
}

static gs_program *
copying_done(copying *c) {
  walk_done(&c->walk);
  bs_free(c->walk.heap, c->made);
  return c->to;
}

/* ---- the public functions ---- */

glen_layers *
glen_layers_new(glen_context *ctx, const glen_program *program) {
  API_ENTER(ctx, NULL);
  api_object *object = api_object_take(ctx);
  const gs_context *gs = api_object_context(object);
  glen_layers *l = BS_NEW(gs->arena, glen_layers);
  *l = (glen_layers){.object = object, .program = program->program};
  find_layers(l, gs->heap);
  return l;
}

void
glen_layers_free(glen_layers *layers) {
  if (layers)
    api_object_free(layers->object);
}

uint32_t
glen_layers_count(const glen_layers *layers) {
  return layers->list.len;
}

const char *
glen_layer_name(const glen_layers *layers, uint32_t k) {
  assert(k < layers->list.len);
  return layers->list.data[k].name;
}

static glen_program *
made_in(api_object *object, gs_program *made) {
  glen_program *out = BS_NEW(api_object_context(object)->arena, glen_program);
  *out = (glen_program){.object = object, .program = made};
  return out;
}

glen_program *
glen_layer_program(glen_context *ctx, const glen_layers *layers, uint32_t k) {
  API_ENTER(ctx, NULL);
  if (!api_has_numbers(ctx, layers->program, "a layer by itself"))
    return NULL;
  api_object *object = api_object_take(ctx);
  copying c;
  copying_init(&c, layers->program, api_object_context(object), layers->stop);
  copy_output(&c, layers->list.data[k].term, 0);
  return made_in(object, copying_done(&c));
}

glen_program *
glen_program_canonical(glen_context *ctx, const glen_program *program) {
  API_ENTER(ctx, NULL);
  const gs_program *p = program->program;
  if (!api_has_numbers(ctx, p, "a canonical form"))
    return NULL;
  api_object *object = api_object_take(ctx);
  copying c;
  copying_init(&c, p, api_object_context(object), NULL);
  for (uint32_t k = 0; k < p->outputs.len; k++)
    copy_output(&c, p->outputs.data[k].term, k);
  return made_in(object, copying_done(&c));
}
