/* SPDX-License-Identifier: MIT */
/* instr.c - a call held against what its instruction is declared to mean.
 *
 * The lowering rule of an instruction is derived, so it is not read: the
 * meaning of the call is written out over its operands, and must be the term
 * that the call stands for.  Operands come laid out as the instruction wants
 * them, under views that the meaning undoes; so two terms are compared up to
 * views that only say in which order the elements of one array stand. */
#include "check/check.h"
#include <string.h>

enum { MOST_VIEWS = 256, MOST_DEPTH = 256 };

/* One computation, or equal nodes over terms that are so. */
static bool
same_meaning(const gs_program *p, gs_term a, gs_term b, const bool *known,
             uint32_t depth) {
  const gs_node *x = gs_at(p, a), *y = gs_at(p, b);
  if (a.i == b.i || ck_same_form(p, a, b, known))
    return true;
  bool same = depth < MOST_DEPTH && x->op == y->op &&
              bs_same(x->attr, y->attr) && x->n_kids == y->n_kids && x->n_kids;
  for (uint32_t k = 0; k < x->n_kids && same; k++)
    same = same_meaning(p, x->kids[k], y->kids[k], known, depth + 1);
  return same;
}

static bool
is_view(const gs_node *n) {
  return n->n_kids == 1 && n->op != GS_COMPUTE && n->op != GS_CALL;
}

/* The term with the call below its views, which is left in *at, written out;
 * GS_NO_TERM where there is none of the instruction. */
static gs_term
write_out(gs_program *p, const gs_instr *instr, gs_term *at) {
  gs_term way[MOST_VIEWS], t = *at;
  uint32_t n = 0;
  gs_fault fault;
  for (; n < MOST_VIEWS && is_view(gs_at(p, t)); t = gs_at(p, t)->kids[0])
    way[n++] = t;
  const gs_node call = *gs_at(p, *at = t);
  const bs_values *values = p->ctx.values;
  if (call.op != GS_CALL ||
      strcmp(bs_as_sym(values, bs_item(values, call.attr, 0)), instr->name))
    return GS_NO_TERM;
  gs_term made = gs_instr_expand(instr, p, call.attr, call.kids, &fault);
  while (n-- > 0 && gs_term_ok(made)) {
    const gs_node view = *gs_at(p, way[n]);
    made = gs_add(p, view.op, view.attr, &made, 1, BS_NOWHERE, &fault);
  }
  return made;
}

/* What the operands of the call are views of. */
static bool *
known_of(const gs_program *p, gs_term call) {
  bool *known = bs_calloc(p->ctx.heap, p->nodes.len, sizeof *known);
  known[call.i] = true;
  for (uint32_t k = call.i + 1; k-- > 0;) {
    const gs_node *n = &p->nodes.data[k];
    for (uint32_t i = 0; i < n->n_kids && known[k]; i++)
      known[n->kids[i].i] |= k == call.i || n->n_kids > 1 || is_view(n);
  }
  return known;
}

const char *
ck_check_call(gs_program *p, const gs_instr *instr, gs_term meant,
              gs_term call) {
  gs_term said = write_out(p, instr, &call);
  if (!gs_term_ok(said))
    return "the step does not lead to a call of the instruction that it takes";
  bool *known = known_of(p, call),
       same = same_meaning(p, meant, said, known, 0);
  bs_free(p->ctx.heap, known);
  return same ? NULL : "the instruction cannot be told to mean the same";
}
