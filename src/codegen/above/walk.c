/* SPDX-License-Identifier: MIT */
/* walk.c - what a file needs above its functions: the names in their trees. */
#include "codegen/above/above.h"
#include "poly/loops/names.h"
#include <string.h>

/* A helper that has the name; CG_NO_HELPER: none. */
static cg_helper
helper_named(const char *name) {
  cg_helper k = CG_HELPER_COUNT;
  while (--k && (!cg_helper_names[k] || strcmp(cg_helper_names[k], name)))
    ;
  return k;
}

static bool
begins(const char *name, const char *with) {
  return !strncmp(name, with, strlen(with));
}

void
cg_need_for_name(cg_needs *needs, const char *name) {
  cg_need(needs, po_name_is_of_math(name) ? CG_MATH : helper_named(name));
}

static bool
is_of_math(const char *literal) {
  literal += *literal == '-';
  return !strcmp(literal, "NAN") || !strcmp(literal, "INFINITY");
}

static void
note(const cg_expr *x, bool target, void *needs) {
  (void)target;
  if (x->kind == CG_CALLED)
    cg_need_for_name(needs, x->text);
  else if (x->kind == CG_NAME && begins(x->text, "GLEN_"))
    cg_need_for_name(needs, x->text);
  else if (x->kind == CG_LITERAL && is_of_math(x->text))
    cg_need(needs, CG_MATH);
}

static void
note_nodes(cg_needs *needs, const cg_node *chain) {
  for (const cg_node *n = chain; n; n = n->next) {
    if (n->kind == CG_FOR && n->head.unrolls)
      cg_need(needs, CG_UNROLL);
    if (n->kind == CG_LET && n->let.aligned)
      cg_need(needs, CG_QUIET);
    note_nodes(needs, n->first);
    if (n->kind == CG_IF)
      note_nodes(needs, n->test.otherwise);
  }
}

void
cg_need_for_nodes(cg_needs *needs, const cg_node *body) {
  cg_each_expr(body, note, needs);
  note_nodes(needs, body);
}

void
cg_need_for_expr(cg_needs *needs, const cg_expr *x) {
  cg_node effect = {.kind = CG_DO, .effect = x};
  cg_need_for_nodes(needs, &effect);
}
