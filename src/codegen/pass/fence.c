/* SPDX-License-Identifier: MIT */
/* fence.c - stores past the caches are not ordered with others: a fence stands
 * at the end of each iteration of a team's loop, and of the function. */
#include "codegen/pass/pass.h"

static cg_node *
make_fence(cg_emitter *e) {
  return cg_make_do(&e->arena, cg_called(&e->arena, "glen_fence", 0, NULL));
}

static void
end_by_fence(cg_emitter *e, cg_node **body) {
  cg_list list;
  cg_list_init(&list);
  cg_append(&list, *body);
  cg_append(&list, make_fence(e));
  *body = list.first;
}

static void
visit(cg_emitter *e, cg_node *body) {
  for (cg_node *n = body; n; n = n->next) {
    visit(e, n->first);
    if (n->kind == CG_IF)
      visit(e, n->test.otherwise);
    if (n->kind == CG_FOR && n->head.is_fenced)
      end_by_fence(e, &n->first);
  }
}

void
cg_put_fences(cg_pass_state *s) {
  visit(s->e, *s->body);
  if (s->fenced)
    end_by_fence(s->e, s->body);
}
