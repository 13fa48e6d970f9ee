/* SPDX-License-Identifier: MIT */
/* session_scan.c - scans in a question.
 *
 * Two scans are equal by induction over their steps, if they begin with equal
 * states, go over equal sequences, and their steps are equal whatever the state
 * is.  Then both become the same term.  What a scan of few steps is otherwise
 * is written out; one of many is taken for an input, of which anything that is
 * proved holds, too, but which cannot be run.
 *
 * A step may make states that are no numbers, or be given such.  Then the steps
 * are asked about with any states, and the input is one of which nothing may
 * cancel. */
#include "glenside/program/scan.h"
#include "prove/session/session.h"
#include <assert.h>

/* Terms that a scan may become, and scans that one is compared with. */
enum { MOST_TERMS = 4096, MOST_COMPARED = 8 };

typedef struct pv_scan {
  struct pv_scan *next;
  const gs_program *from;
  gs_term scan; /* in `from` */
  const gs_term *kids;
  gs_term made; /* as the kids, in the plain program */
  bool partial; /* states may be no numbers */
} pv_scan;

/* --- states that are no numbers ------------------------------------------- */

static bool
makes_partial(const pv_session *s, const pv_scan *x) {
  gs_fault fault;
  const gs_program *step = gs_step_program(x->from, x->scan, &fault);
  if (!step)
    return true;
  uint8_t *facts = bs_calloc(s->ctx.heap, step->nodes.len + (size_t)1, 1);
  pv_partial_terms(step, NULL, facts);
  bool partial = facts[step->outputs.data[0].term.i] & PV_PARTIAL;
  bs_free(s->ctx.heap, facts);
  return partial;
}

static bool
is_given_partial(const pv_session *s, const pv_scan *x) {
  const gs_node *node = gs_at(x->from, x->scan);
  uint8_t *facts = bs_calloc(s->ctx.heap, s->plain->nodes.len + (size_t)1, 1);
  bool partial = false;
  pv_partial_terms(s->plain, s->options->is_partial, facts);
  for (uint32_t k = 0; k < node->n_kids; k++)
    partial |= facts[x->kids[k].i] & PV_PARTIAL;
  bs_free(s->ctx.heap, facts);
  return partial;
}

static bool
any_input(const char *name) {
  (void)name;
  return true;
}

/* --- scans that are equal ------------------------------------------------- */

/* As terms over their parameters, which may be no numbers for `partial`. */
static bool
proves_steps(const pv_session *s, const gs_program *x, const gs_program *y,
             bool partial) {
  pv_session asking = *s;
  pv_options options = *s->options;
  options.is_partial = partial ? any_input : NULL;
  asking.options = &options;
  return s->proves(&asking, x, x->outputs.data[0].term, y,
                   y->outputs.data[0].term);
}

static bool
same_terms(const pv_session *s, gs_term a, gs_term b) {
  return a.i == b.i ||
         (bs_same(gs_at(s->plain, a)->type, gs_at(s->plain, b)->type) &&
          s->proves(s, s->plain, a, s->plain, b));
}

static bool
same_steps(pv_session *s, const pv_scan *a, const pv_scan *b) {
  gs_fault fault;
  if (bs_same(gs_at(a->from, a->scan)->attr, gs_at(b->from, b->scan)->attr))
    return true;
  const gs_program *x = gs_step_program(a->from, a->scan, &fault);
  const gs_program *y = gs_step_program(b->from, b->scan, &fault);
  bool same = x && y && proves_steps(s, x, y, a->partial || b->partial);
  s->by_induction |= same;
  return same;
}

static bool
are_equal(pv_session *s, const pv_scan *a, const pv_scan *b) {
  const gs_node *m = gs_at(a->from, a->scan), *n = gs_at(b->from, b->scan);
  if (m->n_kids != n->n_kids || !bs_same(m->type, n->type))
    return false;
  for (uint32_t k = 0; k < m->n_kids; k++)
    if (!same_terms(s, a->kids[k], b->kids[k]))
      return false;
  return same_steps(s, a, b);
}

/* A tensor of its own: kids and step are in its name. */
static gs_term
as_input(pv_session *s, const pv_scan *x, const gs_type *type) {
  const gs_node *node = gs_at(x->from, x->scan);
  bs_text name;
  bs_text_init(&name, s->ctx.heap);
  bs_putf(&name, "%s %u", x->partial ? PV_PARTIAL_SCAN : "scan", node->attr.i);
  for (uint32_t k = 0; k < node->n_kids; k++)
    bs_putf(&name, " %u", x->kids[k].i);
  gs_term t = gs_add_tensor(s->plain, bs_text_str(&name), type, node->span);
  bs_text_done(&name);
  s->hides_scans = true;
  return t;
}

gs_term
pv_import_scan(pv_session *s, const gs_program *from, gs_term scan,
               const gs_term *kids, gs_fault *fault) {
  assert(gs_at(from, scan)->op == GS_SCAN);
  const gs_node *node = gs_at(from, scan);
  pv_scan *x = BS_NEW(s->ctx.arena, pv_scan);
  gs_type type;
  gs_step step;
  *x = (pv_scan){.next = s->scans, .from = from, .scan = scan};
  x->kids = bs_arena_copy(s->ctx.arena, kids, node->n_kids * sizeof *kids);
  x->partial = is_given_partial(s, x) || makes_partial(s, x);
  gs_type_at(from, scan, &type);
  uint32_t n = 0;
  for (const pv_scan *at = s->scans; at && n < MOST_COMPARED;
       at = at->next, n++)
    if (are_equal(s, at, x))
      return at->made;
  gs_step_read(s->ctx.values, node->attr, &step);
  bool few = type.dim[0] * (step.n_params + step.n_nodes) <= MOST_TERMS;
  x->made = few ? gs_unroll_scan(s->plain, node->attr, type.dim[0], kids, fault)
                : as_input(s, x, &type);
  s->scans = x;
  return x->made;
}
