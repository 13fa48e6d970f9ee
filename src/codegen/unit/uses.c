/* SPDX-License-Identifier: MIT */
/* uses.c - what a file needs above its functions: asked of their trees. */
#include "codegen/unit/emit.h"
#include <string.h>

/* ---- names ---- */

static bool
begins(const char *name, const char *with) {
  return !strncmp(name, with, strlen(with));
}

static void
note_function(cg_emitter *e, const char *name) {
  bool glen = begins(name, "glen_");
  for (int k = 0; glen && k < CG_HELPER_COUNT; k++)
    if (!strcmp(cg_helper_names[k], name))
      e->helpers |= UINT64_C(1) << k;
  e->uses_math |= !glen;
  e->uses_stream |= glen && begins(name, "glen_stream");
  e->uses_fetch |= glen && begins(name, "glen_prefetch");
  e->uses_fetch_write |= !strcmp(name, "glen_prefetch_write");
}

static void
note(const cg_expr *x, bool target, void *arg) {
  cg_emitter *e = arg;
  (void)target;
  if (x->kind == CG_CALLED)
    note_function(e, x->text);
  else if (x->kind == CG_LITERAL)
    e->uses_math |= !strcmp(x->text, "NAN") || !strcmp(x->text, "INFINITY") ||
                    !strcmp(x->text, "-INFINITY");
  else if (x->kind == CG_NAME)
    e->uses_team |= !strcmp(x->text, "GLEN_THREAD");
}

static void
note_nodes(cg_emitter *e, const cg_node *chain) {
  for (const cg_node *n = chain; n; n = n->next) {
    e->uses_unroll |= n->kind == CG_FOR && n->head.unrolls;
    e->uses_alignment |= n->kind == CG_LET && n->let.aligned;
    note_nodes(e, n->first);
    if (n->kind == CG_IF)
      note_nodes(e, n->test.otherwise);
  }
}

void
cg_note_uses(cg_emitter *e, const cg_node *body) {
  cg_each_expr(body, note, e);
  note_nodes(e, body);
}

void
cg_note_expr(cg_emitter *e, const cg_expr *x) {
  cg_node effect = {.kind = CG_DO, .effect = x};
  cg_each_expr(&effect, note, e);
}
