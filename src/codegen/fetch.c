/* fetch.c - what a loop reads from memory, asked for ahead of time.
 *
 * Processors guess what is read next, but not across the ends of short rows.
 * An array that is larger than
 * the caches and whose elements a loop reads one after the other is prefetched
 * a constant distance ahead, once a line.  Of several reads of an array only
 * those are that come first to a line: a read that others precede by part of a
 * line, or by few iterations of a loop around, finds it in a cache. */
#include "codegen/stream.h"
#include <string.h>

/* Iterations of a loop around after which a line is still in a cache. */
enum { KEPT = 8, LINE = 64, MOST_TERMS = 16 };

/* An address: constant + the sum of factor * iterator. */
typedef struct address {
  int64_t constant;
  uint32_t n;
  struct {
    const char *iterator;
    int64_t factor;
  } term[MOST_TERMS];
} address;

static bool
add_term(address *a, const char *iterator, int64_t factor) {
  uint32_t k = 0;
  while (k < a->n && strcmp(a->term[k].iterator, iterator))
    k++;
  if (k == MOST_TERMS)
    return false;
  if (k == a->n) {
    a->term[a->n].iterator = iterator;
    a->term[a->n++].factor = 0;
  }
  return !__builtin_add_overflow(a->term[k].factor, factor, &a->term[k].factor);
}

static bool add_terms(cg_emitter *, address *, __isl_keep isl_ast_expr *,
                      int64_t factor);

static bool
add_argument(cg_emitter *e, address *a, __isl_keep isl_ast_expr *expr, int k,
             int64_t factor) {
  uint32_t mark = po_pool_mark(&e->pool);
  po_pool_reserve(&e->pool, 1);
  bool ok = add_terms(
      e, a, po_keep_ast_expr(&e->pool, isl_ast_expr_op_get_arg(expr, k)),
      factor);
  po_pool_release(&e->pool, mark);
  return ok;
}

/* A product, one of whose operands is a number. */
static bool
add_product(cg_emitter *e, address *a, __isl_keep isl_ast_expr *expr,
            int64_t factor) {
  for (int k = 0; k < 2; k++) {
    int64_t number;
    isl_ast_expr *operand = isl_ast_expr_op_get_arg(expr, k);
    bool is = cg_constant_index(operand, &number);
    isl_ast_expr_free(operand);
    if (is)
      return !__builtin_mul_overflow(factor, number, &number) &&
             add_argument(e, a, expr, !k, number);
  }
  return false;
}

static bool
add_operation(cg_emitter *e, address *a, __isl_keep isl_ast_expr *expr,
              int64_t factor) {
  switch (isl_ast_expr_op_get_type(expr)) {
  case isl_ast_expr_op_add:
    return add_argument(e, a, expr, 0, factor) &&
           add_argument(e, a, expr, 1, factor);
  case isl_ast_expr_op_sub:
    return add_argument(e, a, expr, 0, factor) && factor != INT64_MIN &&
           add_argument(e, a, expr, 1, -factor);
  case isl_ast_expr_op_minus:
    return factor != INT64_MIN && add_argument(e, a, expr, 0, -factor);
  case isl_ast_expr_op_mul:
    return add_product(e, a, expr, factor);
  default:
    return false;
  }
}

/* Adds factor * an expression; false where it is no sum of that kind. */
static bool
add_terms(cg_emitter *e, address *a, isl_ast_expr *expr, int64_t factor) {
  int64_t number;
  if (isl_ast_expr_get_type(expr) == isl_ast_expr_op)
    return add_operation(e, a, expr, factor);
  if (cg_constant_index(expr, &number))
    return !__builtin_mul_overflow(number, factor, &number) &&
           !__builtin_add_overflow(a->constant, number, &a->constant);
  if (isl_ast_expr_get_type(expr) != isl_ast_expr_id)
    return false;
  isl_id *id = isl_ast_expr_get_id(expr);
  const char *name = isl_id_get_name(id);
  isl_id_free(id); /* the expression still holds it */
  return add_term(a, name, factor);
}

static int64_t
factor_of(const address *a, const char *iterator) {
  for (uint32_t k = 0; k < a->n; k++)
    if (!strcmp(a->term[k].iterator, iterator))
      return a->term[k].factor;
  return 0;
}

static bool
has_terms_of(const address *a, const address *b) {
  for (uint32_t k = 0; k < a->n; k++)
    if (factor_of(b, a->term[k].iterator) != a->term[k].factor)
      return false;
  return true;
}

/* What `a` reads was read by `first` within a line, or a few iterations of
 * some loop before. */
static bool
comes_after(const address *a, const address *first, int64_t bytes) {
  int64_t apart;
  if (!has_terms_of(a, first) || !has_terms_of(first, a) ||
      __builtin_sub_overflow(first->constant, a->constant, &apart) || apart < 0)
    return false;
  if (apart < LINE / bytes)
    return true;
  for (uint32_t k = 0; k < a->n; k++) {
    int64_t step = a->term[k].factor;
    if (step < LINE / bytes)
      continue;
    int64_t rest = apart % step, times = apart / step;
    if (step - rest < rest) {
      rest = step - rest;
      times++;
    }
    if (rest < LINE / bytes && times <= KEPT)
      return true;
  }
  return false;
}

typedef struct search {
  cg_emitter *e;
  const cg_loop *loop;
  cg_stream *out;
  address at[CG_MOST_FETCHED];
} search;

static void
add_read(search *x, uint32_t array, isl_ast_expr *index) {
  address a = {0};
  cg_stream *out = x->out;
  int64_t bytes = gs_dtype_table[x->e->p->arrays.data[array].dtype].bytes;
  if (!index || !add_terms(x->e, &a, index, 1) ||
      factor_of(&a, x->loop->iterator) != 1)
    return;
  uint32_t k;
  for (k = 0; k < out->n_fetched; k++) {
    if (out->fetch[k].array != array)
      continue;
    if (comes_after(&a, &x->at[k], bytes))
      return;
    if (comes_after(&x->at[k], &a, bytes))
      break;
  }
  if (k == CG_MOST_FETCHED)
    return;
  out->n_fetched += k == out->n_fetched;
  out->fetch[k] = (cg_fetch){array, index};
  x->at[k] = a;
}

static void
add_stmt(search *x, __isl_keep isl_ast_node *node) {
  const cg_user_note *note = cg_note_of_user(node);
  if (!note)
    return;
  const po_stmt *stmt = &x->e->p->stmts.data[note->stmt];
  for (uint32_t k = 0; k < stmt->n_exprs; k++)
    if (stmt->exprs[k].kind == PO_READ && x->e->fetched[stmt->exprs[k].array])
      add_read(x, stmt->exprs[k].array, note->index[k]);
}

static bool add_node(search *, __isl_keep isl_ast_node *);

/* The pool keeps what is walked: memory may run out on the way. */
static bool
add_block(search *x, __isl_keep isl_ast_node *block) {
  bool only = true;
  isl_size n = 1;
  for (int k = 0; k < n && only; k++) {
    po_pool_reserve(&x->e->pool, 1);
    isl_ast_node_list *list = isl_ast_node_block_get_children(block);
    n = isl_ast_node_list_n_ast_node(list);
    isl_ast_node *child = isl_ast_node_list_get_ast_node(list, k);
    isl_ast_node_list_free(list);
    only = add_node(x, po_keep_ast_node(&x->e->pool, child));
  }
  return only;
}

/* False where there is more than statements that every iteration runs. */
static bool
add_node(search *x, isl_ast_node *node) {
  node = cg_below_marks(x->e, node);
  switch (isl_ast_node_get_type(node)) {
  case isl_ast_node_user:
    add_stmt(x, node);
    return true;
  case isl_ast_node_block:
    return add_block(x, node);
  default:
    return false;
  }
}

void
cg_find_fetches(cg_emitter *e, const cg_loop *loop, cg_stream *out) {
  search x = {.e = e, .loop = loop, .out = out};
  if (!add_node(&x, loop->inner))
    out->n_fetched = 0;
}
