/* SPDX-License-Identifier: MIT */
/* function.c - functions of a file: their trees are checked, what they need is
 * found in them, and they are printed. */
#include "codegen/unit/emit.h"

void
cg_put_function(cg_emitter *e, cg_function *f, cg_node *body) {
  f->body = body;
  CG_VERIFY_FUNCTION(e, f);
  cg_need_for_function(&e->needs, f);
  cg_print_function(&e->body, &cg_c, f);
}

cg_node *
cg_close_body(cg_emitter *e, cg_writer *w) {
  cg_node *body = cg_end(w);
  if (w->why)
    bs_error(e->p->ctx.diags, BS_NOWHERE, "code-tree",
             "%s cannot be made a code tree: %s",
             w->function.name ? w->function.name : "a body", w->why);
  e->failed |= w->why != NULL;
  return body;
}

void
cg_close_function(cg_emitter *e, cg_writer *w) {
  cg_node *body = cg_close_body(e, w);
  if (!w->why) {
    cg_put_function(e, &w->function, body);
    bs_putc(&e->body, '\n');
  }
  cg_start(w, &e->arena);
}
