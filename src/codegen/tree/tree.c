/* SPDX-License-Identifier: MIT */
/* tree.c - nodes of the code tree: made, listed, copied. */
#include "codegen/tree/tree.h"
#include <assert.h>

void
cg_list_init(cg_list *list) {
  list->first = NULL;
  list->end = &list->first;
}

void
cg_append(cg_list *list, cg_node *chain) {
  assert(!*list->end); /* the end of the chain */
  *list->end = chain;
  assert(list->end);
  while (*list->end)
    list->end = &(*list->end)->next;
}

cg_node *
cg_node_new(bs_arena *arena, cg_kind kind) {
  assert(kind <= CG_NOTHING);
  cg_node *n = BS_NEW(arena, cg_node);
  n->kind = kind;
  n->loop = n->iteration = CG_NO_LOOP;
  return n;
}

cg_node *
cg_make_block(bs_arena *arena, cg_node *body) {
  cg_node *n = cg_node_new(arena, CG_BLOCK);
  n->first = body;
  return n;
}

cg_node *
cg_make_if(bs_arena *arena, const cg_expr *condition, cg_node *body) {
  assert(condition);
  cg_node *n = cg_node_new(arena, CG_IF);
  n->test.condition = condition;
  n->first = body;
  return n;
}

cg_node *
cg_make_let(bs_arena *arena, const char *type, const char *name,
            const cg_expr *value) {
  assert(type && name);
  cg_node *n = cg_node_new(arena, CG_LET);
  n->let = (cg_let){.type = type, .name = name, .value = value};
  return n;
}

cg_node *
cg_make_do(bs_arena *arena, const cg_expr *effect) {
  assert(effect);
  cg_node *n = cg_node_new(arena, CG_DO);
  n->effect = effect;
  return n;
}

cg_node *
cg_make_void(bs_arena *arena, const char *name) {
  return cg_make_do(arena, cg_cast(arena, "void", cg_name(arena, name)));
}

cg_node *
cg_make_return(bs_arena *arena, const cg_expr *result) {
  cg_node *n = cg_node_new(arena, CG_RETURN);
  n->result = result;
  return n;
}

cg_node *
cg_make_comment(bs_arena *arena, const char *text) {
  cg_node *n = cg_node_new(arena, CG_COMMENT);
  n->comment = text;
  return n;
}

cg_node *
cg_make_for(bs_arena *arena, const char *type, const char *iterator,
            const cg_expr *first, const cg_expr *condition, int64_t step,
            cg_node *body) {
  assert(iterator && condition);
  assert(step != 0);
  cg_node *n = cg_node_new(arena, CG_FOR);
  n->head.type = type;
  n->head.iterator = iterator;
  n->head.first = first;
  n->head.condition = condition;
  n->head.step = step;
  n->first = body;
  return n;
}

cg_node *
cg_clone(bs_arena *arena, const cg_node *chain) {
  cg_list out;
  cg_list_init(&out);
  for (const cg_node *at = chain; at; at = at->next) {
    cg_node *n = bs_arena_copy(arena, at, sizeof *at);
    n->next = NULL;
    n->first = cg_clone(arena, at->first);
    if (cg_otherwise(n))
      *cg_otherwise(n) = cg_clone(arena, cg_other_branch(at));
    cg_append(&out, n);
  }
  return out.first;
}

cg_node **
cg_otherwise(cg_node *n) {
  return n->kind == CG_IF     ? &n->test.otherwise
         : n->kind == CG_WHEN ? &n->when.otherwise
                              : NULL;
}

cg_node *
cg_below_marks(cg_node *chain) {
  while (cg_is_one(chain) && chain->kind == CG_MARK)
    chain = chain->first;
  return chain;
}

void
cg_add_parameter(bs_arena *arena, cg_function *f, cg_parameter last) {
  assert(last.name && *last.name);
  cg_parameter *all = BS_NEWS(arena, cg_parameter, f->n_parameters + 1);
  for (uint32_t k = 0; k < f->n_parameters; k++)
    all[k] = f->parameters[k];
  all[f->n_parameters++] = last;
  f->parameters = all;
}
