/* SPDX-License-Identifier: MIT */
/* pass_jam.c - sums of several rows side by side.
 *
 * A sum along a row waits for each of its additions, and reads one row of an
 * array; sums of rows that follow one another wait together, and what they
 * share is read once for all of them.  Where iterations of a loop around a sum
 * depend on nothing of one another, several run at once (unroll and jam):
 *
 *   for (int i = 0; i < 4093; i += 4) {
 *     acc = 0;
 *     acc_row1 = 0;
 *     ...
 *     for (int k = 0; k < 1024; k++) {
 *       acc += a[1024 * i + k] * x[k];
 *       acc_row1 += a[1024 * (i + 1) + k] * x[k];
 *       ...
 *     }
 *     y[i] = acc;
 *     y[i + 1] = acc_row1;
 *     ...
 *   }
 *
 * What is left of the rows is a loop after it, as they were. */
#include "codegen/build/build.h"
#include "codegen/pass/pass.h"
#include "glenside/target/tuned.h"
#include <assert.h>

/* What locals of other rows are named after. */
#define ROW "row"

typedef struct jam {
  cg_emitter *e;
  const cg_node *rows; /* the loop whose iterations run together */
  const cg_node *sum;  /* the loop in it, and where it stands, in its marks */
  const cg_node *at;
  const char *i;        /* the iterator of rows */
  int64_t first, trips; /* of rows */
} jam;

/* ---- what is looked for ---- */

/* It is a local of the loop over rows, of which each row has one of its own:
 * a name that is set before the sum. */
static bool
is_own(const jam *x, const char *name) {
  for (const cg_node *n = cg_below_marks(x->rows->first); n != x->at;
       n = n->next)
    if (cg_is_name(n->store.target, name))
      return true;
  return false;
}

/* Sums into locals of the rows, whose order is free. */
static bool
is_of_own_sums(const jam *x) {
  int64_t first, trips;
  const cg_for *head = &x->sum->head;
  if (head->lanes != CG_LANES_SEEN || head->step != 1 ||
      !cg_fixed_range(head, &first, &trips) || !x->sum->first)
    return false;
  for (const cg_node *n = cg_below_marks(x->sum->first); n; n = n->next)
    if (n->kind != CG_STORE || n->store.target->kind != CG_NAME ||
        !is_own(x, n->store.target->text))
      return false;
  return true;
}

/* A local of a row is set for the first time, before its sum. */
static bool
begins_local(const jam *x, const cg_node *store) {
  if (store->store.target->kind != CG_NAME || store->store.op != CG_OP_SET ||
      !store->origin)
    return false;
  const char *name = store->store.target->text;
  const cg_node *n = cg_below_marks(x->rows->first);
  while (n != store && !cg_is_name(n->store.target, name))
    n = n->next;
  return n == store;
}

/* Assignments, and one loop of sums among them. */
static bool
find_sum(jam *x) {
  for (cg_node *n = cg_below_marks(x->rows->first); n; n = n->next) {
    if (n->kind == CG_STORE && (x->at || begins_local(x, n)))
      continue;
    const cg_node *below = n->kind == CG_MARK ? cg_below_marks(n->first) : n;
    if (x->at || !cg_is_one(below) || below->kind != CG_FOR)
      return false;
    x->at = n;
    x->sum = below;
  }
  return x->at && is_of_own_sums(x);
}

/* Threads share it together with a loop around it, in which nothing else may
 * stand. */
static bool
is_collapsed(const cg_for *head) {
  return head->is_team && !head->collapse;
}

/* No array is named like a local of another row. */
static bool
has_names(const jam *x) {
  for (const cg_node *n = cg_below_marks(x->rows->first); n != x->at;
       n = n->next)
    if (!cg_can_copy_name(x->e, n->store.target->text, ROW, GS_JAM_ROWS))
      return false;
  return true;
}

static bool
find_jam(jam *x) {
  const cg_for *head = &x->rows->head;
  x->i = head->iterator;
  return cg_is_parallel(x->e, x->rows) && head->step == 1 &&
         head->lanes == CG_LANES_NONE &&
         cg_fixed_range(head, &x->first, &x->trips) &&
         x->trips >= 2 * GS_JAM_ROWS &&
         (!is_collapsed(head) || x->trips % GS_JAM_ROWS == 0) && find_sum(x) &&
         has_names(x);
}

/* ---- what is made ---- */

/* An expression of the first row, of another one. */
static const cg_expr *
of_row(const jam *x, const cg_expr *value, int64_t row) {
  assert(row >= 0);
  bs_arena *arena = &x->e->arena;
  if (!row || !value)
    return value;
  const cg_expr *at =
      cg_paren(arena, cg_infix(arena, CG_OP_ADD, cg_name(arena, x->i),
                               cg_number(arena, row)));
  value = cg_substitute(arena, value, x->i, at);
  for (const cg_node *n = cg_below_marks(x->rows->first); n != x->at;
       n = n->next) {
    const char *own = n->store.target->text;
    value = cg_substitute(arena, value, own,
                          cg_name(arena, cg_copy_name(x->e, own, ROW, row)));
  }
  return value;
}

static cg_node *
make_store(const jam *x, const cg_node *first, int64_t row) {
  assert(first->kind == CG_STORE);
  cg_node *n = cg_node_new(&x->e->arena, CG_STORE);
  n->origin = row ? NULL : first->origin;
  n->store = first->store;
  n->store.target = of_row(x, first->store.target, row);
  n->store.value = of_row(x, first->store.value, row);
  return n;
}

/* The sums of an iteration, of each row. */
static void
put_sums(const jam *x, cg_list *out) {
  for (const cg_node *n = cg_below_marks(x->sum->first); n; n = n->next)
    for (int64_t row = 0; row < GS_JAM_ROWS; row++)
      cg_append(out, make_store(x, n, row));
}

/* What is done with a sum, row by row: what is local to that is used again. */
static void
put_ends(const jam *x, cg_list *out) {
  for (int64_t row = 0; row < GS_JAM_ROWS; row++)
    for (const cg_node *n = x->at->next; n; n = n->next)
      cg_append(out, make_store(x, n, row));
}

/* The local of another row, with what the first one's is set to. */
static cg_node *
make_local(const jam *x, const cg_node *first, int64_t row) {
  const po_program *p = x->e->p;
  uint32_t array = p->stmts.data[first->origin->stmt].array;
  return cg_make_let(&x->e->arena,
                     gs_dtype_table[p->arrays.data[array].dtype].c_type,
                     cg_copy_name(x->e, first->store.target->text, ROW, row),
                     of_row(x, first->store.value, row));
}

/* What is set before the sum. */
static void
put_locals(const jam *x, cg_list *out) {
  const cg_node *first = cg_below_marks(x->rows->first);
  for (const cg_node *n = first; n != x->at; n = n->next)
    cg_append(out, make_store(x, n, 0));
  for (const cg_node *n = first; n != x->at; n = n->next)
    for (int64_t row = 1; row < GS_JAM_ROWS; row++)
      cg_append(out, make_local(x, n, row));
}

static cg_node *
make_sum(const jam *x) {
  cg_node *n = cg_node_new(&x->e->arena, CG_FOR);
  cg_list body;
  cg_list_init(&body);
  *n = *x->sum;
  n->next = NULL;
  n->bare = false;
  put_sums(x, &body);
  n->first = body.first;
  cg_copy_reductions(x->e, &x->sum->head, ROW, GS_JAM_ROWS, &n->head);
  return n;
}

/* The loop over as many rows at a time as run together. */
static cg_node *
make_rows(const jam *x) {
  bs_arena *arena = &x->e->arena;
  int64_t end = x->first + x->trips - x->trips % GS_JAM_ROWS;
  cg_node *n = cg_node_new(arena, CG_FOR);
  cg_list body;
  cg_list_init(&body);
  *n = *x->rows;
  n->next = NULL;
  n->bare = false;
  n->head.step = GS_JAM_ROWS;
  n->head.trips = x->trips / GS_JAM_ROWS;
  n->head.last = cg_number(arena, end - GS_JAM_ROWS);
  n->head.last_excluded = false;
  n->head.condition =
      cg_infix(arena, CG_OP_AT_MOST, cg_name(arena, x->i), n->head.last);
  put_locals(x, &body);
  cg_append(&body, make_sum(x));
  put_ends(x, &body);
  n->first = body.first;
  return n;
}

/* The loop over the rows that are fewer than run together; NULL: none is left.
 */
static cg_node *
make_rest(const jam *x) {
  bs_arena *arena = &x->e->arena;
  int64_t rest = x->trips % GS_JAM_ROWS;
  cg_node *n = cg_clone(arena, x->rows);
  n->head.first = cg_number(arena, x->first + x->trips - rest);
  n->head.trips = rest;
  n->head.is_team = n->head.is_team_last = false;
  n->head.collapse = 0;
  return rest ? n : NULL;
}

static cg_node *
make_jam(cg_emitter *e, cg_node *n) {
  jam x = {.e = e, .rows = n};
  if (n->kind != CG_FOR || !find_jam(&x))
    return NULL;
  n->next = NULL;
  cg_node *out = make_rows(&x);
  out->next = make_rest(&x);
  return out;
}

void
cg_jam_rows(cg_pass_state *s) {
  cg_replace_nodes(s->e, s->body, make_jam);
}
