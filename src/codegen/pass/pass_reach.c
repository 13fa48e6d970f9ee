/* SPDX-License-Identifier: MIT */
/* pass_reach.c - loops that end where data says.
 *
 * Where all that a loop does beyond an end is to update by what changes
 * nothing (poly/loops/mask.h), it ends there:
 *
 *   {
 *     const int glen_end_i1 = glen_reach((double)length[i0], 0.0, 16);
 *     for (int i1 = 0; i1 < glen_end_i1; i1++)
 *       y[i0] += length[i0] - count[i1] > 0 ? ... : 0.0f;
 *   }
 *
 * The condition stays: it also decides where 32-bit differences wrap. */
#include "codegen/build/build.h"
#include "codegen/pass/pass.h"
#include "poly/loops/mask.h"
#include <assert.h>
#include <string.h>

/* Statements below a loop, and loops in it. */
enum { MOST_STORES = 64 };

typedef struct reach {
  cg_emitter *e;
  const cg_scope *scope;
  const cg_node *loop;
  uint32_t n_stores, n_inner;
  const cg_node *store[MOST_STORES];
  const char *inner[PO_MAX_DEPTH]; /* iterators of loops in it */
  const cg_expr *end, *from;       /* of all; NULL: of none so far */
} reach;

static const po_stmt *
stmt_of(const reach *r, const cg_node *store) {
  return &r->e->p->stmts.data[store->origin->stmt];
}

/* It lives in one iteration. */
static bool
is_private(const reach *r, uint32_t array) {
  assert(array < r->e->p->arrays.len);
  const po_program *p = r->e->p;
  uint32_t node = r->e->local_node[array];
  return p->arrays.data[array].role == PO_LOCAL && node != PO_NO_NODE &&
         (node == r->loop->loop || po_nest_is_below(p, node, r->loop->loop));
}

/* ---- what is below ---- */

static bool collect(reach *, const cg_node *chain);

static bool
collect_node(reach *r, const cg_node *n) {
  switch (n->kind) {
  case CG_FOR:
    if (r->n_inner == PO_MAX_DEPTH)
      return false;
    r->inner[r->n_inner++] = n->head.iterator;
    return collect(r, n->first);
  case CG_IF:
    return collect(r, n->first) && collect(r, n->test.otherwise);
  case CG_BLOCK:
  case CG_MARK:
    return collect(r, n->first);
  case CG_STORE:
    if (!n->origin || r->n_stores == MOST_STORES)
      return false;
    r->store[r->n_stores++] = n;
    return true;
  case CG_COMMENT:
  case CG_NOTHING:
    return true;
  case CG_SWITCH:
  case CG_CASE:
  case CG_WHEN:
  case CG_LET:
  case CG_DO:
  case CG_TEMPLATE:
  case CG_BARRIER:
  case CG_LAUNCH:
  case CG_RETURN:
  case CG_CONTINUE:
  case CG_ERROR:
    break;
  }
  return false;
}

static bool
collect(reach *r, const cg_node *chain) {
  for (const cg_node *n = chain; n; n = n->next)
    if (!collect_node(r, n))
      return false;
  return true;
}

/* ---- the end ---- */

static bool
names_inner(const reach *r, const cg_expr *x) {
  for (uint32_t k = 0; k < r->n_inner; k++)
    if (cg_names(x, r->inner[k]))
      return true;
  return false;
}

static bool
is_written(const reach *r, uint32_t array) {
  for (uint32_t k = 0; k < r->n_stores; k++)
    if (stmt_of(r, r->store[k])->array == array)
      return true;
  return false;
}

/* Nothing of expression k changes while the loop runs. */
static bool
is_fixed(const reach *r, const cg_node *store, uint32_t k) {
  assert(k < stmt_of(r, store)->n_exprs);
  const po_expr *x = &stmt_of(r, store)->exprs[k];
  const cg_expr *index = store->origin->index[k];
  if ((x->kind == PO_READ || x->kind == PO_GATHER) &&
      (is_written(r, x->array) ||
       (index &&
        (cg_names(index, r->loop->head.iterator) || names_inner(r, index)))))
    return false;
  for (uint32_t j = 0; j < x->n_kids; j++)
    if (!is_fixed(r, store, x->kids[j]))
      return false;
  return true;
}

/* A sum without the name, where that is one of its terms; else with 0 for
 * it. */
static const cg_expr *
without(bs_arena *arena, const cg_expr *x, const char *name) {
  const cg_expr **rest = BS_NEWS(arena, const cg_expr *, x->n + 1);
  uint32_t n = 0;
  bool is_sum = x->op == CG_OP_ADD;
  for (uint32_t k = 0; is_sum && k < x->n; k++)
    if (!cg_is_name(x->args[k], name))
      rest[n++] = x->args[k];
  if (!n || n + 1 != x->n)
    return cg_substitute(arena, x, name, cg_number(arena, 0));
  return n > 1 ? cg_infix_of(arena, CG_OP_ADD, n, rest) : rest[0];
}

/* The number that the constant holds where the iterator is 0. */
static const cg_expr *
counts_from(const reach *r, const cg_node *store, const po_mask *mask) {
  bs_arena *arena = &r->e->arena;
  const char *iterator = r->loop->head.iterator;
  const cg_expr *index = store->origin->index[mask->count];
  int64_t step;
  if (!index || names_inner(r, index) ||
      !cg_coefficient(index, iterator, &step) || step != 1)
    return NULL;
  const cg_expr *first =
      cg_literal(arena, bs_arena_printf(arena, "%.1f", mask->first));
  if (cg_is_name(cg_bare(index), iterator))
    return first;
  index = without(arena, cg_bare(index), iterator);
  index = cg_cast(arena, "double", cg_paren(arena, index));
  return mask->first == 0 ? index : cg_infix(arena, CG_OP_ADD, first, index);
}

/* The store does nothing beyond the end of all, which is that of the first. */
static bool
ends(reach *r, const cg_node *store) {
  bs_arena *arena = &r->e->arena;
  const po_stmt *stmt = stmt_of(r, store);
  po_mask mask;
  if (is_private(r, stmt->array))
    return true;
  if (!po_mask_of(r->e->p, stmt, &mask) || !is_fixed(r, store, mask.end))
    return false;
  const cg_expr *end = cg_cast(
      arena, "double", cg_make_part(r->e, r->scope, store->origin, mask.end));
  const cg_expr *from = counts_from(r, store, &mask);
  if (!from || (r->end && !(cg_equal(end, r->end) && cg_equal(from, r->from))))
    return false;
  r->end = end;
  r->from = from;
  return true;
}

static bool
has_end(reach *r) {
  const cg_node *n = r->loop;
  const cg_for *head = &n->head;
  if (!cg_is_loop(n) || n->loop == CG_NO_LOOP || head->step != 1 ||
      !head->last || head->is_team ||
      r->e->p->nest.nodes.data[n->loop].mark != PO_SERIAL ||
      !collect(r, n->first))
    return false;
  for (uint32_t k = 0; k < r->n_stores; k++)
    if (!ends(r, r->store[k]))
      return false;
  return r->end != NULL;
}

/* ---- loops ---- */

static const cg_expr *
behind_last(bs_arena *arena, const cg_for *head) {
  int64_t last;
  if (head->last_excluded)
    return head->last;
  if (cg_is_number(head->last, &last) && last < INT64_MAX)
    return cg_number(arena, last + 1);
  return cg_infix(arena, CG_OP_ADD, head->last, cg_number(arena, 1));
}

/* A block with the end and the loop, in its place. */
static cg_node *
end_loop(const reach *r, cg_node *loop) {
  bs_arena *arena = &r->e->arena;
  cg_for *head = &loop->head;
  const char *name = bs_arena_printf(arena, "glen_end_%s", head->iterator);
  const cg_expr *n = behind_last(arena, head);
  cg_node *let =
      cg_make_let(arena, bs_arena_printf(arena, "const %s", r->e->index), name,
                  cg_called(arena, cg_helper_used(r->e, CG_REACH), 3,
                            (const cg_expr *const[]){r->end, r->from, n}));
  cg_node *block = cg_make_block(arena, let);
  block->loop = loop->loop;
  block->next = loop->next;
  loop->next = NULL;
  let->next = loop;
  head->last = cg_name(arena, name);
  head->last_excluded = true;
  head->trips = 0;
  head->condition =
      cg_infix(arena, CG_OP_LESS, cg_name(arena, head->iterator), head->last);
  return block;
}

/* parent: the node, no mark, that the list is the body of; or NULL. */
static void
end_loops(cg_emitter *e, const cg_scope *scope, cg_node *parent, cg_node **at) {
  for (; *at; at = &(*at)->next) {
    reach r = {.e = e, .scope = scope, .loop = *at};
    if (!has_end(&r)) {
      cg_node *around = (*at)->kind == CG_MARK ? parent : *at;
      end_loops(e, scope, around, &(*at)->first);
      cg_node **other = cg_otherwise(*at);
      if (other)
        end_loops(e, scope, around, other);
      continue;
    }
    *at = end_loop(&r, *at);
    if (parent)
      parent->bare = false;
  }
}

void
cg_end_loops(cg_pass_state *s) {
  end_loops(s->e, s->scope, NULL, s->body);
}
