/* SPDX-License-Identifier: MIT */
/* instr.c - a call held against what its instruction is declared to mean.
 *
 * The lowering rule of an instruction is derived, so it is not read: the
 * meaning of the call is written out over its operands, and must be the term
 * that the call stands for.  Operands come laid out as the instruction wants
 * them, under views that the meaning undoes; so two terms are compared up to
 * views that only say in which order the elements of one array stand.
 *
 * An array under such views is a list of parts (size, stride) for each of its
 * dimensions, over the elements of what is below all of them. */
#include "check/check.h"
#include <string.h>

enum { MOST_PARTS = 64, MOST_VIEWS = 256, MOST_DEPTH = 256 };

typedef struct part {
  int64_t size, stride;
} part;

typedef struct layout {
  uint32_t rank;
  uint32_t n[GS_MAX_RANK]; /* parts of a dimension, outermost first */
  part at[GS_MAX_RANK][MOST_PARTS];
} layout;

static bool
is_order(gs_op op) {
  return op == GS_ACCESS || op == GS_TRANSPOSE || op == GS_SQUEEZE ||
         op == GS_INSERT_AXIS || op == GS_FLATTEN || op == GS_RESHAPE ||
         op == GS_MATERIALIZE;
}

static void
plain(layout *l, const gs_type *type) {
  int64_t stride = 1;
  l->rank = type->rank;
  for (uint32_t d = type->rank; d-- > 0;) {
    l->n[d] = type->dim[d] != 1;
    l->at[d][0] = (part){type->dim[d], stride};
    stride *= type->dim[d];
  }
}

static void
transpose(const bs_values *values, const gs_node *n, layout *l,
          layout *scratch) {
  *scratch = *l;
  bs_value p = bs_item(values, n->attr, 0);
  for (uint32_t d = 0; d < l->rank; d++) {
    int64_t from = bs_as_int(values, bs_item(values, p, d));
    l->n[d] = scratch->n[from];
    memcpy(l->at[d], scratch->at[from], sizeof l->at[d]);
  }
}

/* Takes what is `want` large from the inner end of the parts, splitting one
 * where that goes; false where parts of other sizes would be cut. */
static bool
take(part *all, uint32_t *left, int64_t want, part *to, uint32_t *n) {
  *n = 0;
  while (want > 1) {
    if (!*left || *n == MOST_PARTS)
      return false;
    part *last = &all[*left - 1];
    if (want % last->size == 0) {
      want /= last->size;
      to[(*n)++] = *last;
      --*left;
    } else if (last->size % want == 0) {
      to[(*n)++] = (part){want, last->stride};
      last->size /= want;
      last->stride *= want;
      want = 1;
    } else {
      return false;
    }
  }
  for (uint32_t i = 0, k = *n; i < k; i++) {
    part t = to[i];
    to[i] = to[--k];
    to[k] = t;
  }
  return true;
}

/* Neighbours that stand together are one. */
static uint32_t
joined(const layout *l, part *out) {
  uint32_t n = 0;
  for (uint32_t d = 0; d < l->rank; d++)
    for (uint32_t k = 0; k < l->n[d] && n < MOST_PARTS; k++) {
      part p = l->at[d][k];
      if (n && out[n - 1].stride == p.size * p.stride)
        out[n - 1] = (part){out[n - 1].size * p.size, p.stride};
      else
        out[n++] = p;
    }
  return n;
}

static bool
reshape(const gs_type *type, layout *l) {
  part all[MOST_PARTS];
  uint32_t left = joined(l, all);
  l->rank = type->rank;
  for (uint32_t d = type->rank; d-- > 0;)
    if (!take(all, &left, type->dim[d], l->at[d], &l->n[d]))
      return false;
  return !left;
}

/* The term below the views of t, and how t lies over it. */
static bool
order_of(const gs_program *p, gs_term t, gs_term *base, layout *l,
         layout *scratch) {
  gs_term way[MOST_VIEWS];
  uint32_t n = 0;
  gs_type type;
  for (; is_order(gs_at(p, t)->op); t = gs_at(p, t)->kids[0]) {
    if (n == MOST_VIEWS)
      return false;
    way[n++] = t;
  }
  *base = t;
  gs_type_at(p, t, &type);
  plain(l, &type);
  while (n-- > 0) {
    const gs_node *node = gs_at(p, way[n]);
    gs_type_at(p, way[n], &type);
    if (node->op == GS_TRANSPOSE)
      transpose(p->ctx.values, node, l, scratch);
    else if (node->op != GS_ACCESS && node->op != GS_MATERIALIZE &&
             !reshape(&type, l))
      return false;
  }
  return true;
}

static bool
same_order(const layout *a, const layout *b) {
  part x[MOST_PARTS], y[MOST_PARTS];
  uint32_t n = joined(a, x);
  if (n != joined(b, y))
    return false;
  for (uint32_t k = 0; k < n; k++)
    if (x[k].size != y[k].size || x[k].stride != y[k].stride)
      return false;
  return true;
}

bool
ck_same_array(const gs_program *p, gs_term a, gs_term b) {
  gs_type x, y;
  gs_term below_a, below_b;
  layout *l = bs_alloc(p->ctx.heap, 3 * sizeof *l);
  gs_type_at(p, a, &x);
  gs_type_at(p, b, &y);
  bool same = gs_type_equal(&x, &y) && order_of(p, a, &below_a, &l[0], &l[2]) &&
              order_of(p, b, &below_b, &l[1], &l[2]) &&
              below_a.i == below_b.i && same_order(&l[0], &l[1]);
  bs_free(p->ctx.heap, l);
  return same;
}

/* Equal nodes over terms that are the same so. */
static bool
same_meaning(const gs_program *p, gs_term a, gs_term b, uint32_t depth) {
  const gs_node *x = gs_at(p, a), *y = gs_at(p, b);
  if (a.i == b.i || ck_same_array(p, a, b))
    return true;
  if (depth == MOST_DEPTH || x->op != y->op || !bs_same(x->attr, y->attr) ||
      x->n_kids != y->n_kids || !x->n_kids)
    return false;
  for (uint32_t k = 0; k < x->n_kids; k++)
    if (!same_meaning(p, x->kids[k], y->kids[k], depth + 1))
      return false;
  return true;
}

/* The term with the call below its views written out; GS_NO_TERM where there is
 * none of the instruction. */
static gs_term
write_out(gs_program *p, const gs_instr *instr, gs_term t) {
  gs_term way[MOST_VIEWS];
  uint32_t n = 0;
  gs_fault fault;
  for (; n < MOST_VIEWS && is_order(gs_at(p, t)->op); t = gs_at(p, t)->kids[0])
    way[n++] = t;
  const gs_node call = *gs_at(p, t);
  const bs_values *values = p->ctx.values;
  if (call.op != GS_CALL ||
      strcmp(bs_as_sym(values, bs_item(values, call.attr, 0)), instr->name))
    return GS_NO_TERM;
  gs_term *operands =
      bs_alloc(p->ctx.heap, (call.n_kids + 1u) * sizeof *operands);
  memcpy(operands, call.kids, call.n_kids * sizeof *operands);
  gs_term made = gs_instr_expand(instr, p, call.attr, operands, &fault);
  bs_free(p->ctx.heap, operands);
  while (n-- > 0 && gs_term_ok(made)) {
    const gs_node view = *gs_at(p, way[n]);
    made = gs_add(p, view.op, view.attr, &made, 1, BS_NOWHERE, &fault);
  }
  return made;
}

const char *
ck_check_calls(gs_program *p, const gs_instr *instr, gs_term meant,
               gs_term calls) {
  gs_term said = write_out(p, instr, calls);
  if (!gs_term_ok(said))
    return "the step does not lead to calls of the instruction";
  return ck_same_form(p, meant, said)
             ? NULL
             : "the calls cannot be told to mean the same";
}

const char *
ck_check_call(gs_program *p, const gs_instr *instr, gs_term meant,
              gs_term call) {
  const gs_node n = *gs_at(p, call);
  const bs_values *values = p->ctx.values;
  gs_fault fault;
  if (n.op != GS_CALL ||
      strcmp(bs_as_sym(values, bs_item(values, n.attr, 0)), instr->name))
    return "the step does not lead to a call of the instruction";
  gs_term *operands = bs_alloc(p->ctx.heap, (n.n_kids + 1u) * sizeof *operands);
  memcpy(operands, n.kids, n.n_kids * sizeof *operands);
  gs_term said = gs_instr_expand(instr, p, n.attr, operands, &fault);
  bs_free(p->ctx.heap, operands);
  if (!gs_term_ok(said))
    return "the instruction does not take these operands";
  return same_meaning(p, meant, said, 0)
             ? NULL
             : "the instruction means something else";
}
