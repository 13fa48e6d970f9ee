/* SPDX-License-Identifier: MIT */
/* fetch.c - what a loop reads from memory, asked for ahead of time.
 *
 * Processors guess what is read next, but not across the ends of short rows,
 * and not while they compute with what has come.  An array that is larger than
 * the caches and whose elements a loop reads one after the other is prefetched,
 * once a line: a constant distance ahead, or, where an iteration of a loop over
 * rows has loops that read memory and others that do not, the next row by one
 * of the others, so that memory is at work all the time; where such loops run
 * parts of a row in turn, what is read some parts later.  Of several reads of
 * an array only those are that come first to a line: a read that others precede
 * by part of a line, or by few iterations of a loop around, finds it in a
 * cache. */
#include "codegen/simd.h"
#include "codegen/stream.h"
#include <string.h>

/* Iterations of a loop around after which a line is still in a cache. */
enum { KEPT = 8, LINE = 64, MOST_TERMS = 16 };

/* Loops of an iteration that are looked at; iterations of one that asks for
 * what others read. */
enum { MOST_LOOPS = 16, LONG_LOOP = 256 };

/* Bytes, and parts, that a loop over a part of a row asks for ahead. */
enum { PARTS_BYTES = 1024, PARTS_AHEAD = 2 };

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
  switch ((int)isl_ast_expr_op_get_type(expr)) {
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
 * some loop before, in which no more than `near` bytes went by. */
static bool
comes_after(const address *a, const address *first, int64_t bytes,
            int64_t near) {
  int64_t apart;
  if (!has_terms_of(a, first) || !has_terms_of(first, a) ||
      __builtin_sub_overflow(first->constant, a->constant, &apart) || apart < 0)
    return false;
  if (apart < LINE / bytes)
    return true;
  if (apart > near / bytes)
    return false;
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
  const cg_loop *loop; /* that is looked at, and its number */
  uint32_t number, n;
  cg_fetch fetch[CG_MOST_FETCHED];
  address at[CG_MOST_FETCHED];
  uint32_t by[CG_MOST_FETCHED]; /* numbers of loops */
  uint32_t work[MOST_LOOPS];    /* operations of an iteration of each */
} search;

static void
add_read(search *x, uint32_t array, isl_ast_expr *index) {
  address a = {0};
  int64_t bytes = cg_element_bytes(x->e, array);
  int64_t near = cg_near_bytes(x->e->p->target);
  if (!index || !add_terms(x->e, &a, index, 1) ||
      factor_of(&a, x->loop->iterator) != 1)
    return;
  uint32_t k;
  for (k = 0; k < x->n; k++) {
    if (x->fetch[k].array != array)
      continue;
    if (comes_after(&a, &x->at[k], bytes, near))
      return;
    if (comes_after(&x->at[k], &a, bytes, near))
      break;
  }
  if (k == CG_MOST_FETCHED)
    return;
  x->n += k == x->n;
  x->fetch[k] = (cg_fetch){array, index, CG_FETCH_AHEAD, CG_FETCH_SOON};
  x->at[k] = a;
  x->by[k] = x->number;
}

static void
add_stmt(search *x, __isl_keep isl_ast_node *node) {
  const cg_user_note *note = cg_note_of_user(node);
  if (!note)
    return;
  const po_stmt *stmt = &x->e->p->stmts.data[note->stmt];
  x->work[x->number] += stmt->n_exprs;
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
  switch ((int)isl_ast_node_get_type(node)) {
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
  search x = {.e = e, .loop = loop};
  out->n_fetched = add_node(&x, loop->inner) ? x.n : 0;
  memcpy(out->fetch, x.fetch, sizeof x.fetch);
}

/* ---- rows ---- */

/* The loops of an iteration, in their order. */
typedef struct row_loops {
  cg_emitter *e;
  uint32_t n;
  isl_ast_node *node[MOST_LOOPS];
  cg_loop loop[MOST_LOOPS];
  bool instead[MOST_LOOPS]; /* of one that comes before in the list */
} row_loops;

static void collect_loops(row_loops *, __isl_take isl_ast_node *);

static void
collect_parts(row_loops *l, __isl_keep isl_ast_node *node) {
  if (isl_ast_node_get_type(node) == isl_ast_node_if) {
    collect_loops(l, isl_ast_node_if_get_then_node(node));
    uint32_t first = l->n;
    if (isl_ast_node_if_has_else_node(node) == isl_bool_true)
      collect_loops(l, isl_ast_node_if_get_else_node(node));
    for (uint32_t k = first; k < l->n; k++)
      l->instead[k] = true;
    return;
  }
  isl_size n = 1;
  for (int k = 0; k < n; k++) {
    po_pool_reserve(&l->e->pool, 1);
    isl_ast_node_list *list = isl_ast_node_block_get_children(node);
    n = isl_ast_node_list_n_ast_node(list);
    isl_ast_node *child = isl_ast_node_list_get_ast_node(list, k);
    isl_ast_node_list_free(list);
    collect_loops(l, child);
  }
}

static void
collect_loops(row_loops *l, isl_ast_node *node) {
  po_pool_reserve(&l->e->pool, 1);
  node = cg_below_marks(l->e, po_keep_ast_node(&l->e->pool, node));
  switch ((int)isl_ast_node_get_type(node)) {
  case isl_ast_node_if:
  case isl_ast_node_block:
    collect_parts(l, node);
    break;
  case isl_ast_node_for:
    if (l->n == MOST_LOOPS || !cg_is_loop(node))
      break;
    l->node[l->n] = node;
    l->loop[l->n++] = cg_describe_loop(l->e, node);
    break;
  default:
    break;
  }
}

/* In place of the only loop of an iteration those below it, which may run parts
 * of rows in turn, where there are several; the loop over parts is kept. */
static bool
collect_in_parts(row_loops *l, cg_loop *parts, cg_ahead *out) {
  row_loops below = {.e = l->e};
  collect_loops(&below, isl_ast_node_copy(l->loop[0].inner));
  if (below.n < 2)
    return false;
  *parts = l->loop[0];
  out->parts = l->node[0];
  *l = below;
  return true;
}

/* One by one, long, and in vectors: it may as well ask for something. */
static bool
may_ask(const row_loops *l, uint32_t k) {
  const cg_loop *loop = &l->loop[k];
  int64_t trips = loop->trips;
  if (loop->node == PO_NO_NODE || cg_why_not_simd(l->e, loop))
    return false;
  return (trips ? trips : cg_range_size(l->e->p, loop->node)) >= LONG_LOOP;
}

static bool
reads(const search *x, uint32_t loop) {
  for (uint32_t k = 0; k < x->n; k++)
    if (x->by[k] == loop)
      return true;
  return false;
}

/* A loop that runs instead of one before has nothing read for it by that. */
static bool
reads_itself(const row_loops *l, uint32_t k) {
  search x = {.e = l->e, .loop = &l->loop[k]};
  return l->instead[k] && add_node(&x, l->loop[k].inner) && x.n > 0;
}

/* What all of the loops read; the first one that reads. */
static uint32_t
find_reads(const row_loops *l, search *x) {
  uint32_t first = 0;
  for (uint32_t k = 0; k < l->n; k++) {
    search before = *x;
    x->loop = &l->loop[k];
    x->number = k;
    if (x->loop->node == PO_NO_NODE || !add_node(x, x->loop->inner))
      *x = before;
  }
  while (first < l->n && !reads(x, first))
    first++;
  return first;
}

/* The loop that is to ask for one more row: the one that has the most work for
 * each that it asks for. */
static uint32_t
least_busy(const row_loops *l, const search *x, const bool *may,
           const uint32_t *asked) {
  uint32_t best = l->n;
  for (uint32_t k = 0; k < l->n; k++)
    if (may[k] &&
        (best == l->n || (uint64_t)x->work[k] * (asked[best] + 1) >
                             (uint64_t)x->work[best] * (asked[k] + 1)))
      best = k;
  return best;
}

/* What is read depends on a loop: it is none over parts of what those below
 * run over. */
static bool
steps_along(const search *x, const cg_loop *parts) {
  for (uint32_t k = 0; k < x->n; k++)
    if (factor_of(&x->at[k], parts->iterator))
      return true;
  return false;
}

/* Where rows follow each other in memory, what is read some parts later, the
 * first ones of the next row among them: it is needed sooner than that of the
 * next row, and less of the near caches is taken by what waits.  False where it
 * is not known. */
static bool
some_parts_ahead(const row_loops *l, const search *x, uint32_t k,
                 const cg_loop *parts, int64_t step, cg_fetch *fetch) {
  int64_t bytes = cg_element_bytes(l->e, fetch->array), apart, far;
  int64_t width = cg_range_size(l->e->p, l->loop[x->by[k]].node);
  if (parts->trips < 1 || width < 1 ||
      __builtin_sub_overflow(step, width, &apart) || apart > 2 * LINE / bytes ||
      apart < -2 * LINE / bytes)
    return false;
  int64_t part = (width - 1) / parts->trips + 1;
  if (__builtin_mul_overflow(part, PARTS_AHEAD * bytes, &far))
    return false;
  far = far < PARTS_BYTES ? PARTS_BYTES : far;
  fetch->ahead = (far - 1) / LINE * LINE + LINE;
  fetch->kind = CG_FETCH_SOON;
  return true;
}

/* parts: NULL where loops are over whole rows. */
static void
share_out(const row_loops *l, const search *x, const cg_loop *rows,
          const cg_loop *parts, const bool *may, cg_ahead *out) {
  uint32_t asked[MOST_LOOPS] = {0};
  for (uint32_t k = 0; k < x->n; k++) {
    cg_fetch fetch = x->fetch[k];
    int64_t step = factor_of(&x->at[k], rows->iterator);
    int64_t bytes = cg_element_bytes(l->e, fetch.array);
    if (!step || __builtin_mul_overflow(step, bytes, &fetch.ahead))
      continue;
    uint32_t by = least_busy(l, x, may, asked);
    asked[by]++;
    fetch.kind = CG_FETCH_ROW;
    if (parts)
      some_parts_ahead(l, x, k, parts, step, &fetch);
    out->by[out->n] = l->node[by];
    out->fetch[out->n++] = fetch;
  }
}

/* A core that waits for few lines at a time stands still where one loop asks
 * for all: there those that can share it. */
bool
cg_find_ahead(cg_emitter *e, const cg_loop *rows, cg_ahead *out) {
  row_loops l = {.e = e};
  search x = {.e = e};
  cg_loop parts;
  *out = (cg_ahead){0};
  if (rows->node == PO_NO_NODE || rows->step != 1)
    return false;
  collect_loops(&l, isl_ast_node_copy(rows->inner));
  bool in_parts = l.n == 1 && collect_in_parts(&l, &parts, out);
  if (l.n < 2)
    return false;
  bool may[MOST_LOOPS] = {false}, any = false, all;
  all = gs_stores_through_caches(e->p->target);
  uint32_t first = find_reads(&l, &x);
  if (in_parts && steps_along(&x, &parts))
    return false;
  for (uint32_t k = first; k < l.n && (all || !any); k++)
    any |= may[k] = !reads(&x, k) && !reads_itself(&l, k) && may_ask(&l, k);
  if (any)
    share_out(&l, &x, rows, in_parts ? &parts : NULL, may, out);
  return out->n > 0;
}
