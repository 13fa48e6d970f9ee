/* SPDX-License-Identifier: MIT */
/* fence.c - stores past the caches are not ordered with others: a fence stands
 * at the end of each iteration of a team's loop, and of the function. */
#include "codegen/pass/pass.h"

cg_node *
cg_make_fence(cg_emitter *e) {
  return cg_make_do(&e->arena, cg_called(&e->arena, "glen_fence", 0, NULL));
}

void
cg_put_fences(cg_emitter *e, cg_node *body) {
  for (cg_node *n = body; n; n = n->next) {
    cg_put_fences(e, n->first);
    if (n->kind == CG_IF)
      cg_put_fences(e, n->test.otherwise);
    if (n->kind != CG_FOR || !n->head.is_fenced)
      continue;
    cg_list list;
    cg_list_init(&list);
    cg_append(&list, n->first);
    cg_append(&list, cg_make_fence(e));
    n->first = list.first;
  }
}
