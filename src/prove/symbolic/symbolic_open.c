/* SPDX-License-Identifier: MIT */
/* symbolic_open.c - two terms of a program that leaves sizes open, read as the
 * two sides of a form.
 *
 * Terms that both sides are made of, and whatever is no view and no operator,
 * are leaves: any elements.  Of both sides the types hold for all sizes
 * already, so what these ask of the sizes is known and need not be shown. */
#include "prove/session/session_prove.h"
#include "prove/symbolic/symbolic_form.h"
#include <assert.h>
#include <string.h>

/* --- sides ---------------------------------------------------------------- */

typedef struct reading {
  bs_heap *heap;
  const gs_program *p;
  uint8_t *of;         /* by term, bits: the sides that are made of it */
  uint32_t *at, *hole; /* by term: its node, and one more than its slot */
  uint8_t *facts;      /* by term: pv_partial_terms */
  uint32_t *leaves;    /* by slot */
  uint32_t n_leaves;
  bool whole; /* terms of both sides are no leaves */
} reading;

static void
mark_side(const reading *r, gs_term root, uint8_t bit) {
  assert(root.i < r->p->nodes.len);
  r->of[root.i] |= bit;
  for (uint32_t i = root.i + 1; i-- > 0;)
    for (uint32_t k = 0; r->of[i] & bit && k < r->p->nodes.data[i].n_kids; k++)
      r->of[r->p->nodes.data[i].kids[k].i] |= bit;
}

static bool
is_understood(const reading *r, uint32_t term) {
  assert(term < r->p->nodes.len);
  gs_op op = r->p->nodes.data[term].op;
  return gs_op_table[op].view || op == GS_COMPUTE || op == GS_MATERIALIZE;
}

/* A leaf is a number: what may be infinite is shown with what it is made of. */
static bool
is_leaf(const reading *r, uint32_t term) {
  return !is_understood(r, term) || (!r->whole && (r->of[term] & 3) == 3 &&
                                     !(r->facts[term] & PV_PARTIAL));
}

/* The terms of a side that no leaf hides, as bit 4. */
static void
mark_shown(const reading *r, gs_term root) {
  assert(root.i < r->p->nodes.len);
  for (uint32_t i = 0; i < r->p->nodes.len; i++)
    r->of[i] &= 3;
  r->of[root.i] |= 4;
  for (uint32_t i = root.i + 1; i-- > 0;)
    for (uint32_t k = 0;
         r->of[i] & 4 && !is_leaf(r, i) && k < r->p->nodes.data[i].n_kids; k++)
      r->of[r->p->nodes.data[i].kids[k].i] |= 4;
}

static void
read_leaf(reading *r, uint32_t term, gs_sk_node *out) {
  assert(term < r->p->nodes.len);
  if (!r->hole[term]) {
    r->leaves[r->n_leaves++] = term;
    r->hole[term] = r->n_leaves;
  }
  *out = (gs_sk_node){.hole = true, .slot = r->hole[term] - 1};
}

static void
read_term(const reading *r, uint32_t term, gs_sk_node *out) {
  assert(term < r->p->nodes.len);
  const gs_node *n = &r->p->nodes.data[term];
  uint32_t n_attrs = (uint32_t)strlen(gs_op_table[n->op].attrs);
  uint32_t *kids = bs_alloc(r->heap, (n->n_kids + 1) * sizeof *kids);
  const gs_expr **attrs = bs_alloc(r->heap, (n_attrs + 1) * sizeof *attrs);
  gs_expr *literals = bs_calloc(r->heap, n_attrs + (size_t)1, sizeof *literals);
  for (uint32_t k = 0; k < n->n_kids; k++)
    kids[k] = r->at[n->kids[k].i];
  for (uint32_t k = 0; k < n_attrs; k++) {
    literals[k].kind = GS_X_LITERAL;
    literals[k].literal = bs_item(r->p->ctx.values, n->attr, k);
    attrs[k] = &literals[k];
  }
  *out = (gs_sk_node){.op = n->op,
                      .kids = kids,
                      .n_kids = n->n_kids,
                      .attrs = attrs,
                      .n_attrs = n_attrs};
}

/* False where it has more terms than a side may have, or a leaf that may be
 * infinite. */
static bool
read_side(reading *r, gs_term root, gs_skeleton *out) {
  gs_sk_node *nodes = bs_calloc(r->heap, FM_NODES, sizeof *nodes);
  *out = (gs_skeleton){.nodes = nodes};
  mark_shown(r, root);
  for (uint32_t i = 0; i <= root.i; i++) {
    if (!(r->of[i] & 4))
      continue;
    if (out->n == FM_NODES || r->n_leaves == FM_SLOTS ||
        (is_leaf(r, i) && r->facts[i] & PV_PARTIAL))
      return false;
    r->at[i] = out->n;
    if (is_leaf(r, i))
      read_leaf(r, i, &nodes[out->n++]);
    else
      read_term(r, i, &nodes[out->n++]);
  }
  return true;
}

static bool
prove_cut(reading *r, gs_term a, gs_term b, const pv_options *options,
          bool *any_order, const char **why) {
  uint32_t n = r->p->nodes.len;
  gs_skeleton side[2];
  r->n_leaves = 0;
  memset(r->hole, 0, n * sizeof *r->hole);
  if (!read_side(r, a, &side[0]) || !read_side(r, b, &side[1])) {
    *why = "a large term, or one that may be infinite";
    return false;
  }
  pv_form form = {.p = r->p,
                  .slots = r->leaves,
                  .max_operations = options->max_operations,
                  .counts = options->counts,
                  .any_order = any_order,
                  .open = side};
  bool numbers;
  return pv_prove_form(&form, r->heap, &numbers, why);
}

bool
pv_prove_open(const gs_program *p, gs_term a, gs_term b,
              const pv_options *options, bs_heap *heap, bool *any_order,
              const char **why) {
  size_t n = p->nodes.len + (size_t)1;
  reading r = {.heap = heap,
               .p = p,
               .of = bs_calloc(heap, n, 1),
               .at = bs_calloc(heap, n, sizeof(uint32_t)),
               .hole = bs_calloc(heap, n, sizeof(uint32_t)),
               .facts = bs_calloc(heap, n, 1),
               .leaves = bs_calloc(heap, FM_SLOTS, sizeof(uint32_t))};
  pv_partial_terms(p, NULL, r.facts);
  mark_side(&r, a, 1);
  mark_side(&r, b, 2);
  for (int whole = 0; whole < 2; whole++) {
    bool any = false;
    r.whole = whole;
    if (prove_cut(&r, a, b, options, &any, why)) {
      *any_order |= any;
      return true;
    }
  }
  return false;
}
