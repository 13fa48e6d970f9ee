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
#include "glenside/target/machine.h"
#include "glenside/target/tuned.h"
#include "codegen/pass/stream.h"
#include <assert.h>
#include <string.h>

/* Terms of an address; loops of an iteration that are looked at. */
enum { MOST_TERMS = 16, MOST_LOOPS = 16 };

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
  assert(a->n <= MOST_TERMS);
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

static bool add_terms(address *, const cg_expr *, int64_t factor);

/* A product, one of whose operands is a number. */
static bool
add_product(address *a, const cg_expr *x, int64_t factor) {
  for (int k = 0; k < 2; k++) {
    int64_t number;
    if (cg_is_number(x->args[k], &number))
      return !__builtin_mul_overflow(factor, number, &number) &&
             add_terms(a, x->args[!k], number);
  }
  return false;
}

static bool
add_operation(address *a, const cg_expr *x, int64_t factor) {
  int64_t minus;
  if (x->op == CG_OP_MULTIPLY && x->n == 2)
    return add_product(a, x, factor);
  if (x->op == CG_OP_ADD && x->n == 2)
    return add_terms(a, x->args[0], factor) && add_terms(a, x->args[1], factor);
  return (x->op == CG_OP_SUBTRACT || x->op == CG_OP_NEGATE) &&
         !__builtin_sub_overflow(0, factor, &minus) &&
         (x->n == 1 || add_terms(a, x->args[0], factor)) &&
         add_terms(a, x->args[x->n - 1], minus);
}

/* Adds factor * an expression; false where it is no sum of that kind. */
static bool
add_terms(address *a, const cg_expr *x, int64_t factor) {
  int64_t number;
  x = cg_bare(x);
  if (x->kind == CG_INFIX || x->op == CG_OP_NEGATE)
    return add_operation(a, x, factor);
  if (cg_is_number(x, &number))
    return !__builtin_mul_overflow(number, factor, &number) &&
           !__builtin_add_overflow(a->constant, number, &a->constant);
  return x->kind == CG_NAME && add_term(a, x->text, factor);
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
 * some loop before, in which no more than `near` elements went by. */
static bool
comes_after(const address *a, const address *first, int64_t line,
            int64_t near) {
  assert(line > 0);
  int64_t apart;
  if (!has_terms_of(a, first) || !has_terms_of(first, a) ||
      __builtin_sub_overflow(first->constant, a->constant, &apart) || apart < 0)
    return false;
  if (apart < line)
    return true;
  if (apart > near)
    return false;
  for (uint32_t k = 0; k < a->n; k++) {
    int64_t step = a->term[k].factor;
    if (step < line)
      continue;
    int64_t rest = apart % step, times = apart / step;
    if (step - rest < rest) {
      rest = step - rest;
      times++;
    }
    if (rest < line && times <= GS_AHEAD_KEPT)
      return true;
  }
  return false;
}

typedef struct search {
  cg_emitter *e;
  const cg_node *loop; /* that is looked at, and its number */
  uint32_t number, n;
  cg_fetch fetch[CG_MOST_FETCHED];
  address at[CG_MOST_FETCHED];
  uint32_t by[CG_MOST_FETCHED]; /* numbers of loops */
  uint32_t work[MOST_LOOPS];    /* operations of an iteration of each */
} search;

static void
add_read(search *x, uint32_t array, const cg_expr *index) {
  address a = {0};
  int64_t bytes = cg_element_bytes(x->e, array);
  int64_t line = gs_line_elements(x->e->p->target, bytes);
  int64_t near = gs_near_bytes(x->e->p->target) / bytes;
  if (!index || !add_terms(&a, index, 1) ||
      factor_of(&a, x->loop->head.iterator) != 1)
    return;
  uint32_t k;
  for (k = 0; k < x->n; k++) {
    if (x->fetch[k].array != array)
      continue;
    if (comes_after(&a, &x->at[k], line, near))
      return;
    if (comes_after(&x->at[k], &a, line, near))
      break;
  }
  if (k == CG_MOST_FETCHED)
    return;
  x->n += k == x->n;
  x->fetch[k] = (cg_fetch){array, index, GS_AHEAD_STREAM, CG_FETCH_SOON};
  x->at[k] = a;
  x->by[k] = x->number;
}

static void
add_stmt(search *x, const cg_origin *origin) {
  const po_stmt *stmt = &x->e->p->stmts.data[origin->stmt];
  x->work[x->number] += stmt->n_exprs;
  for (uint32_t k = 0; k < stmt->n_exprs; k++)
    if (stmt->exprs[k].kind == PO_READ && x->e->fetched[stmt->exprs[k].array])
      add_read(x, stmt->exprs[k].array, origin->index[k]);
}

/* False where there is more than statements that every iteration runs. */
static bool
add_chain(search *x, const cg_node *chain) {
  for (const cg_node *n = chain; n; n = n->next)
    if (n->origin)
      add_stmt(x, n->origin);
    else if (n->kind != CG_MARK || !add_chain(x, n->first))
      return false;
  return true;
}

void
cg_find_fetches(cg_emitter *e, const cg_node *loop, cg_stream *out) {
  assert(loop->kind == CG_FOR);
  search x = {.e = e, .loop = loop};
  out->n_fetched = add_chain(&x, loop->first) ? x.n : 0;
  memcpy(out->fetch, x.fetch, sizeof x.fetch);
}

/* ---- rows ---- */

/* The loops of an iteration, in their order. */
typedef struct row_loops {
  cg_emitter *e;
  uint32_t n;
  cg_node *loop[MOST_LOOPS];
  bool instead[MOST_LOOPS]; /* of one that comes before in the list */
} row_loops;

static void
collect_loops(row_loops *l, cg_node *chain) {
  for (cg_node *n = chain; n; n = n->next) {
    if (n->kind == CG_MARK || n->kind == CG_IF)
      collect_loops(l, n->first);
    uint32_t first = l->n;
    if (n->kind == CG_IF)
      collect_loops(l, n->test.otherwise);
    for (uint32_t k = first; k < l->n; k++)
      l->instead[k] = true;
    if (l->n < MOST_LOOPS && cg_is_loop(n))
      l->loop[l->n++] = n;
  }
}

/* In place of the only loop of an iteration those below it, which may run parts
 * of rows in turn, where there are several; the loop over parts is kept. */
static bool
collect_in_parts(row_loops *l, const cg_node **parts, cg_ahead *out) {
  row_loops below = {.e = l->e};
  collect_loops(&below, l->loop[0]->first);
  if (below.n < 2)
    return false;
  *parts = out->parts = l->loop[0];
  *l = below;
  return true;
}

static int64_t
width_of(const cg_emitter *e, const cg_node *loop) {
  return cg_range_size(e->p, loop->loop);
}

/* One by one, long, and in vectors: it may as well ask for something. */
static bool
may_ask(const row_loops *l, uint32_t k) {
  const cg_node *loop = l->loop[k];
  if (loop->loop == CG_NO_LOOP || cg_why_not_simd(l->e, loop))
    return false;
  int64_t trips = loop->head.trips;
  return (trips ? trips : width_of(l->e, loop)) >= GS_AHEAD_LOOP;
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
  search x = {.e = l->e, .loop = l->loop[k]};
  return l->instead[k] && add_chain(&x, l->loop[k]->first) && x.n > 0;
}

/* What all of the loops read; the first one that reads. */
static uint32_t
find_reads(const row_loops *l, search *x) {
  uint32_t first = 0;
  for (uint32_t k = 0; k < l->n; k++) {
    search before = *x;
    x->loop = l->loop[k];
    x->number = k;
    if (x->loop->loop == CG_NO_LOOP || !add_chain(x, x->loop->first))
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
steps_along(const search *x, const cg_node *parts) {
  for (uint32_t k = 0; k < x->n; k++)
    if (factor_of(&x->at[k], parts->head.iterator))
      return true;
  return false;
}

/* Where rows follow each other in memory, what is read some parts later, the
 * first ones of the next row among them: it is needed sooner than that of the
 * next row, and less of the near caches is taken by what waits.  False where it
 * is not known. */
static bool
some_parts_ahead(const row_loops *l, const search *x, uint32_t k,
                 const cg_node *parts, int64_t step, cg_fetch *fetch) {
  int64_t bytes = cg_element_bytes(l->e, fetch->array), apart, far;
  int64_t width = width_of(l->e, l->loop[x->by[k]]);
  int64_t line = gs_first_cache(l->e->p->target).line;
  if (parts->head.trips < 1 || width < 1 ||
      __builtin_sub_overflow(step, width, &apart) || apart > 2 * line / bytes ||
      apart < -2 * line / bytes)
    return false;
  int64_t part = (width - 1) / parts->head.trips + 1;
  if (__builtin_mul_overflow(part, GS_AHEAD_PARTS * bytes, &far))
    return false;
  far = far < GS_AHEAD_OF_PARTS ? GS_AHEAD_OF_PARTS : far;
  fetch->ahead = (far - 1) / line * line + line;
  fetch->kind = CG_FETCH_SOON;
  return true;
}

/* The index, in the words of the loop that asks for what another one reads. */
static const cg_expr *
index_in(const row_loops *l, const cg_expr *index, uint32_t reads,
         uint32_t asks) {
  bs_arena *arena = &l->e->arena;
  return cg_substitute(arena, index, l->loop[reads]->head.iterator,
                       cg_name(arena, l->loop[asks]->head.iterator));
}

/* parts: NULL where loops are over whole rows. */
static void
share_out(const row_loops *l, const search *x, const cg_node *rows,
          const cg_node *parts, const bool *may, cg_ahead *out) {
  uint32_t asked[MOST_LOOPS] = {0};
  for (uint32_t k = 0; k < x->n; k++) {
    cg_fetch fetch = x->fetch[k];
    int64_t step = factor_of(&x->at[k], rows->head.iterator);
    int64_t bytes = cg_element_bytes(l->e, fetch.array);
    if (!step || __builtin_mul_overflow(step, bytes, &fetch.ahead))
      continue;
    uint32_t by = least_busy(l, x, may, asked);
    asked[by]++;
    fetch.kind = CG_FETCH_ROW;
    fetch.index = index_in(l, fetch.index, x->by[k], by);
    if (parts)
      some_parts_ahead(l, x, k, parts, step, &fetch);
    out->by[out->n] = l->loop[by];
    out->fetch[out->n++] = fetch;
  }
}

/* A core that waits for few lines at a time stands still where one loop asks
 * for all: there those that can share it. */
bool
cg_find_ahead(cg_emitter *e, const cg_node *rows, cg_ahead *out) {
  assert(rows->kind == CG_FOR);
  row_loops l = {.e = e};
  search x = {.e = e};
  const cg_node *parts = NULL;
  *out = (cg_ahead){0};
  if (rows->loop == CG_NO_LOOP || rows->head.step != 1)
    return false;
  collect_loops(&l, rows->first);
  bool in_parts = l.n == 1 && collect_in_parts(&l, &parts, out);
  if (l.n < 2)
    return false;
  bool may[MOST_LOOPS] = {false}, any = false, all;
  all = gs_stores_through_caches(e->p->target);
  uint32_t first = find_reads(&l, &x);
  if (in_parts && steps_along(&x, parts))
    return false;
  for (uint32_t k = first; k < l.n && (all || !any); k++)
    any |= may[k] = !reads(&x, k) && !reads_itself(&l, k) && may_ask(&l, k);
  if (any)
    share_out(&l, &x, rows, parts, may, out);
  return out->n > 0;
}
