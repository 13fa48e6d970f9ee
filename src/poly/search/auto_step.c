/* SPDX-License-Identifier: MIT */
/* auto_step.c - one step of the automatic schedule: a command that may be
 * refused in silence, and its arguments. */
#include "poly/loops/limit.h"
#include "poly/search/chooser.h"
#include <assert.h>

po_moment
po_be_quiet(po_chooser *c) {
  bs_diags *d = po_now(c)->ctx.diags;
  po_moment m = {d->list.len, d->errors, d->warnings, d->dropped, d->unread};
  d->unread = true;
  return m;
}

bool
po_speak_again(po_chooser *c, const po_moment *m, bool ok) {
  bs_diags *d = po_now(c)->ctx.diags;
  d->unread = m->unread;
  d->list.len = m->len;
  d->errors = m->errors;
  d->warnings = m->warnings;
  d->dropped = m->dropped;
  c->stopped = po_is_exhausted(c->isl);
  isl_ctx_reset_error(c->isl);
  return ok;
}

bool
po_attempt(po_chooser *c, po_step_call *call, po_program **undo) {
  if (c->stopped)
    return false;
  /* A new program has no plan of its kernels, which are to stay. */
  bool planned = po_has_kernels(po_now(c));
  po_moment m = po_be_quiet(c);
  bool ok = po_apply(c->program, call, undo);
  if (ok && planned)
    po_lay_out(po_now(c));
  return po_speak_again(c, &m, ok);
}

void
po_lay_out_now(po_chooser *c) {
  po_lay_out(po_now(c));
}

po_step_call
po_step(const char *name) {
  return (po_step_call){.primitive = po_primitive_find(name)};
}

po_arg
po_loop_arg(uint32_t node) {
  return (po_arg){.kind = PO_ARG_LOOP, .node = node, .array = PO_NO_NODE};
}

po_arg
po_loops_arg(const uint32_t *nodes, uint32_t n) {
  assert(nodes || !n);
  return (po_arg){.kind = PO_ARG_LOOPS, .nodes = nodes, .n = n};
}

po_arg
po_writers_arg(const po_program *p, uint32_t array) {
  assert(array < p->arrays.len);
  po_arg a = {.kind = PO_ARG_STMT, .array = array};
  for (uint32_t k = 0; k < p->stmts.len; k++)
    if (p->stmts.data[k].array == array) {
      a.stmt = k;
      break;
    }
  return a;
}
