/* kept.c - the legality of a step, asked of what it changed.
 *
 * What a program was before the step was legal.  A child of the root with the
 * same loops around the same statements, in the same place among others like
 * it, is in the order that it was in, by itself and towards those others; its
 * marks and the places of its arrays hold as they did unless these are others,
 * or used elsewhere too. */
#include "poly/depend.h"
#include "poly/schedule/edit.h"
#include <string.h>

typedef struct kept {
  const po_program *before;
  po_program *p;
  bool *stmt;     /* below such a child */
  bool *array;    /* used below such children alone, and as it was */
  uint32_t *from; /* by node: of such a child, what it was; PO_NO_NODE */
} kept;

static const po_nest_node *
at(const po_program *p, uint32_t node) {
  return &p->nest.nodes.data[node];
}

static uint32_t
below_root(const po_program *p, uint32_t node) {
  while (at(p, node)->parent)
    node = at(p, node)->parent;
  return node;
}

/* Among the children of the root. */
static uint32_t
place_of(const po_program *p, uint32_t child) {
  uint32_t n = 0;
  for (uint32_t k = at(p, 0)->first; k != child; k = at(p, k)->next)
    n++;
  return n;
}

static bool
is_same_mark(const po_nest_node *a, const po_nest_node *b) {
  return a->kind != PO_LOOP ||
         (a->mark == b->mark && a->bind == b->bind && a->lanes == b->lanes);
}

static bool
is_same_node(const kept *c, uint32_t was, uint32_t is) {
  const po_nest_node *a = at(c->before, was), *b = at(c->p, is);
  if (a->kind != b->kind ||
      po_nest_depth(c->before, was) != po_nest_depth(c->p, is))
    return false;
  return a->kind != PO_LEAF || (!strcmp(c->before->stmts.data[a->stmt].name,
                                        c->p->stmts.data[b->stmt].name) &&
                                po_is_untouched(c->before, c->p, b->stmt));
}

/* marks: only these are compared, of trees that are the same. */
static bool
is_same_tree(const kept *c, uint32_t was, uint32_t is, bool marks) {
  uint32_t x = was, y = is;
  while (x != PO_NO_NODE && y != PO_NO_NODE) {
    if (marks ? !is_same_mark(at(c->before, x), at(c->p, y))
              : !is_same_node(c, x, y))
      return false;
    x = po_nest_next(c->before, x, was);
    y = po_nest_next(c->p, y, is);
  }
  return x == y;
}

/* The child of the root that held the first statement of this one. */
static uint32_t
origin_of(const kept *c, uint32_t child) {
  for (uint32_t k = child; k != PO_NO_NODE; k = po_nest_next(c->p, k, child)) {
    if (at(c->p, k)->kind != PO_LEAF)
      continue;
    const char *name = c->p->stmts.data[at(c->p, k)->stmt].name;
    uint32_t was = po_stmt_named(c->before, name);
    return was < c->before->stmts.len
               ? below_root(c->before, c->before->stmts.data[was].leaf)
               : PO_NO_NODE;
  }
  return PO_NO_NODE;
}

static void
find_children(kept *c) {
  uint32_t next = 0;
  for (uint32_t k = at(c->p, 0)->first; k != PO_NO_NODE;
       k = at(c->p, k)->next) {
    uint32_t was = origin_of(c, k);
    c->from[k] = PO_NO_NODE;
    if (was == PO_NO_NODE || !is_same_tree(c, was, k, false))
      continue;
    uint32_t place = place_of(c->before, was);
    if (place < next)
      continue; /* it went before another one */
    next = place + 1;
    c->from[k] = was;
  }
}

static void
find_kept(kept *c) {
  po_program *p = c->p;
  c->stmt = BS_NEWS(&p->arena, bool, p->stmts.len + 1);
  c->array = BS_NEWS(&p->arena, bool, p->arrays.len + 1);
  c->from = BS_NEWS(&p->arena, uint32_t, p->nest.nodes.len);
  find_children(c);
  for (uint32_t k = 0; k < p->stmts.len; k++)
    c->stmt[k] = c->from[below_root(p, p->stmts.data[k].leaf)] != PO_NO_NODE;
  for (uint32_t a = 0; a < p->arrays.len; a++) {
    c->array[a] = po_array_is_untouched(c->before, p, a);
    for (uint32_t k = 0; k < p->stmts.len && c->array[a]; k++)
      c->array[a] = c->stmt[k] || !po_stmt_accesses(&p->stmts.data[k], a);
  }
}

static bool
uses_kept_arrays(const kept *c, uint32_t child) {
  for (uint32_t k = 0; k < c->p->stmts.len; k++) {
    const po_stmt *s = &c->p->stmts.data[k];
    if (below_root(c->p, s->leaf) != child)
      continue;
    for (uint32_t a = 0; a < c->p->arrays.len; a++)
      if (!c->array[a] && po_stmt_accesses(s, a))
        return false;
  }
  return true;
}

bool
po_step_is_legal(const po_program *before, po_program *p, bool keeps_values,
                 po_violation *v) {
  kept c = {.before = before, .p = p};
  find_kept(&c);
  if (!keeps_values && !po_rest_is_in_order(p, c.stmt, v))
    return false;
  for (uint32_t k = at(p, 0)->first; k != PO_NO_NODE; k = at(p, k)->next)
    if ((c.from[k] == PO_NO_NODE || !is_same_tree(&c, c.from[k], k, true) ||
         !uses_kept_arrays(&c, k)) &&
        !po_marks_are_legal(p, k, v))
      return false;
  for (uint32_t a = 0; a < p->arrays.len; a++)
    if (!c.array[a] && !po_folds_are_legal(p, a, v))
      return false;
  return true;
}
