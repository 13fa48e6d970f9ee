/* SPDX-License-Identifier: MIT */
/* session_import.c - terms copied from one program into another.
 *
 * A tensor is the tensor of its name; a constant that meets another one of its
 * name gets a new name.  Terms are copied in order, so that children come
 * first. */
#include "prove/session/session.h"
#include "glenside/array/inspect.h"
#include "glenside/target/target.h"
#include <assert.h>
#include <string.h>

typedef struct importer {
  pv_session *s;
  const gs_program *from;
  gs_program *to;
  bool plain;
  gs_term *made; /* by term of `from` */
} importer;

static void
mark_roots(const gs_program *p, const gs_term *roots, uint32_t n,
           uint8_t *live) {
  for (uint32_t k = 0; k < n; k++)
    live[roots[k].i] = 1;
  for (uint32_t i = p->nodes.len; i-- > 0;)
    for (uint32_t k = 0; live[i] && k < p->nodes.data[i].n_kids; k++)
      live[p->nodes.data[i].kids[k].i] = 1;
}

void
pv_mark(const gs_program *p, const pv_pair *pairs, uint32_t n, uint8_t *live) {
  assert(pairs || !n);
  for (uint32_t k = 0; k < n; k++) {
    gs_term roots[2] = {pairs[k].left, pairs[k].right};
    mark_roots(p, roots, 2, live);
  }
}

bool
pv_is_plain(const gs_program *p, const uint8_t *live) {
  for (uint32_t k = 0; k < p->nodes.len; k++) {
    gs_op op = p->nodes.data[k].op;
    if (live[k] && (op == GS_CALL || op == GS_MATERIALIZE))
      return false;
  }
  return true;
}

static const char *
own_name(const gs_program *p, const gs_node *n) {
  return bs_as_sym(p->ctx.values, bs_item(p->ctx.values, n->attr, 0));
}

static gs_term
import_tensor(const importer *x, const gs_node *n, const gs_type *type) {
  const char *name = own_name(x->from, n);
  for (uint32_t k = 0; k < x->to->inputs.len; k++) {
    gs_term t = x->to->inputs.data[k].term;
    if (!strcmp(x->to->inputs.data[k].name, name) &&
        bs_same(gs_at(x->to, t)->type, n->type))
      return t;
  }
  return gs_add_tensor(x->to, name, type, n->span);
}

static gs_term
constant_term(const gs_program *p, const gs_constant *c) {
  for (uint32_t k = 0; k < p->nodes.len; k++)
    if (p->nodes.data[k].op == GS_CONST &&
        !strcmp(own_name(p, &p->nodes.data[k]), c->name))
      return (gs_term){k};
  return GS_NO_TERM;
}

gs_term
pv_import_constant(const gs_constant *c, gs_program *to, bs_span span) {
  assert(gs_is_type(&c->type));
  const char *name = c->name;
  const gs_constant *have = gs_find_constant(to, name);
  while (have && !gs_same_constant(have, c)) {
    name = bs_arena_printf(to->ctx.arena, "%s'", name);
    have = gs_find_constant(to, name);
  }
  return have ? constant_term(to, have)
              : gs_add_constant(to, name, &c->type, c->data, span);
}

static gs_term
import_constant(const importer *x, const gs_node *n, const gs_type *type) {
  const gs_constant *c = gs_constant_of(x->from, n->attr);
  return c ? pv_import_constant(c, x->to, n->span) : import_tensor(x, n, type);
}

static gs_term
import_call(const importer *x, const gs_node *n, const gs_term *kids,
            gs_fault *fault) {
  const gs_instr *instr =
      x->from->target ? gs_find_instr(x->from->target, own_name(x->from, n))
                      : NULL;
  if (instr)
    return gs_instr_expand(instr, x->to, n->attr, kids, fault);
  gs_fail(fault, "unknown-instruction", -1, -1,
          "no target declares the instruction %s", own_name(x->from, n));
  return GS_NO_TERM;
}

static gs_term
import_node(importer *x, gs_term t, gs_fault *fault) {
  const gs_node *n = gs_at(x->from, t);
  gs_type type;
  gs_type_at(x->from, t, &type);
  if (n->op == GS_TENSOR)
    return import_tensor(x, n, &type);
  if (n->op == GS_CONST)
    return import_constant(x, n, &type);
  if (x->plain && n->op == GS_MATERIALIZE)
    return x->made[n->kids[0].i];
  gs_term *kids = bs_alloc(x->s->ctx.heap, (n->n_kids + 1) * sizeof *kids);
  for (uint32_t k = 0; k < n->n_kids; k++)
    kids[k] = x->made[n->kids[k].i];
  gs_term made =
      x->plain && n->op == GS_CALL ? import_call(x, n, kids, fault)
      : x->plain && n->op == GS_SCAN
          ? pv_import_scan(x->s, x->from, t, kids, fault)
          : gs_add(x->to, n->op, n->attr, kids, n->n_kids, n->span, fault);
  bs_free(x->s->ctx.heap, kids);
  return made;
}

gs_term *
pv_import(pv_session *s, const gs_program *from, gs_program *to,
          const gs_term *roots, uint32_t n, bool plain) {
  assert(from != to && (roots || !n));
  uint32_t count = from->nodes.len;
  uint8_t *live = bs_calloc(s->ctx.heap, count + (size_t)1, 1);
  importer x = {.s = s, .from = from, .to = to, .plain = plain};
  x.made = BS_NEWS(s->ctx.arena, gs_term, count + (size_t)1);
  mark_roots(from, roots, n, live);
  for (uint32_t k = 0; k < count; k++) {
    gs_fault fault = {0};
    x.made[k] = live[k] ? import_node(&x, (gs_term){k}, &fault) : GS_NO_TERM;
    if (live[k] && !gs_term_ok(x.made[k])) {
      bs_error(s->ctx.diags, BS_NOWHERE, "ill-typed", "%s", fault.message);
      return NULL;
    }
  }
  bs_free(s->ctx.heap, live);
  return x.made;
}
