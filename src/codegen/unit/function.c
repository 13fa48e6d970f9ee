/* SPDX-License-Identifier: MIT */
/* function.c - functions of a file: their trees are checked, what they need is
 * found in them, and they are printed. */
#include "codegen/unit/emit.h"

void
cg_put_function(cg_emitter *e, cg_function *f, cg_node *body) {
  f->body = body;
  e->failed = e->failed || !cg_verify_function(e->p, &e->arena, f);
  cg_need_for_function(&e->needs, f);
  cg_print_function(&e->body, &cg_c, f);
}

static cg_node *
end(const po_program *p, cg_writer *w) {
  cg_node *body = cg_end(w);
  if (w->why)
    bs_error(p->ctx.diags, BS_NOWHERE, "code-tree",
             "%s cannot be made a code tree: %s",
             w->function.name ? w->function.name : "a body", w->why);
  return body;
}

cg_node *
cg_close_body(cg_emitter *e, cg_writer *w) {
  cg_node *body = end(e->p, w);
  e->failed |= w->why != NULL;
  return body;
}

bool
cg_print_entry(const po_program *p, bs_arena *arena,
               const cg_language *language, cg_function *f, bs_text *out) {
  bool ok = cg_verify_function(p, arena, f);
  cg_print_function(out, language, f);
  return ok;
}

bool
cg_close_entry(const po_program *p, cg_writer *w, bs_text *out) {
  w->function.body = end(p, w);
  return !w->why && cg_print_entry(p, w->arena, &cg_c, &w->function, out);
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
