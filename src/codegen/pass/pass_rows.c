/* SPDX-License-Identifier: MIT */
/* pass_rows.c - the loops of stream.c.
 *
 * A loop that stores by rows, or asks for what it reads and writes, runs from
 * glen_from to glen_to, and a loop over rows stands around it.  Where a row is
 * one line, what does not fill one is a loop of its own, so that the number of
 * iterations of the others is a constant:
 *
 *   {
 *     int glen_from = 0;
 *     for (; glen_from + 15 <= last; glen_from += 16) {
 *       const int glen_to = glen_from + 15;
 *       glen_prefetch(A, ...);
 *       for (int i1 = glen_from; i1 <= glen_to; i1++)
 *         ...
 *     }
 *     if (glen_from <= last) {
 *       ...
 *     }
 *   } */
#include "codegen/pass/stream.h"
#include <assert.h>

typedef struct rows {
  cg_emitter *e;
  const cg_scope *scope;
  cg_node *loop;
  const cg_stream *stream;
  bs_arena *arena;
} rows;

static const cg_expr *
name_of(const rows *r, const char *name) {
  return cg_name(r->arena, name);
}

static const cg_expr *
infix(const rows *r, cg_op op, const cg_expr *a, int64_t n) {
  return cg_infix(r->arena, op, a, cg_number(r->arena, n));
}

/* The last iteration of the loop. */
static const cg_expr *
last_of(const rows *r) {
  const cg_for *head = &r->loop->head;
  return head->last_excluded ? infix(r, CG_OP_SUBTRACT, head->last, 1)
                             : head->last;
}

/* glen_to - glen_from + 1 */
static const cg_expr *
length_of(const rows *r) {
  return infix(r, CG_OP_ADD,
               cg_infix(r->arena, CG_OP_SUBTRACT, name_of(r, "glen_to"),
                        name_of(r, "glen_from")),
               1);
}

/* The address where the row begins. */
static const cg_expr *
place_of(const rows *r, const cg_expr *index) {
  return cg_substitute(r->arena, index, r->loop->head.iterator,
                       name_of(r, "glen_from"));
}

static const cg_expr *
array_of(const rows *r, uint32_t array) {
  return name_of(r, cg_array_name(r->e, r->scope, array));
}

static uint32_t
written_array(const rows *r, const cg_node *store) {
  return r->e->p->stmts.data[store->origin->stmt].array;
}

/* ---- parts ---- */

static cg_node *
make_fetch(const rows *r, const cg_fetch *fetch) {
  static const char *const names[] = {[CG_FETCH_ROW] = "glen_prefetch_row",
                                      [CG_FETCH_SOON] = "glen_prefetch",
                                      [CG_FETCH_WRITE] = "glen_prefetch_write"};
  int64_t bytes = cg_element_bytes(r->e, fetch->array);
  const cg_expr *args[] = {array_of(r, fetch->array), place_of(r, fetch->index),
                           length_of(r), cg_number(r->arena, bytes),
                           cg_number(r->arena, fetch->ahead)};
  return cg_make_do(r->arena, cg_called(r->arena, names[fetch->kind], 5, args));
}

/* What an iteration over rows has before the loop itself. */
static void
add_start(const rows *r, const cg_expr *to, cg_list *list) {
  const char *type = bs_arena_printf(r->arena, "const %s", r->e->index);
  cg_append(list, cg_make_let(r->arena, type, "glen_to", to));
  for (uint32_t k = 0; k < r->stream->n_fetched; k++)
    cg_append(list, make_fetch(r, &r->stream->fetch[k]));
}

/* The loop itself, over one row. */
static cg_node *
make_row(const rows *r, cg_node *loop) {
  cg_for *head = &loop->head;
  loop->next = NULL;
  head->first = name_of(r, "glen_from");
  head->condition = cg_infix(r->arena, CG_OP_AT_MOST,
                             name_of(r, head->iterator), name_of(r, "glen_to"));
  head->is_team = head->is_team_last = false;
  head->collapse = 0;
  return loop;
}

/* The store writes to the row. */
static cg_node *
make_row_array(const rows *r, uint32_t k) {
  assert(k < r->stream->n);
  cg_node *store = r->stream->write[k];
  const char *name = bs_arena_printf(r->arena, "glen_row%u", k);
  const cg_expr *at =
      cg_infix(r->arena, CG_OP_SUBTRACT, name_of(r, r->stream->iterator),
               name_of(r, "glen_from"));
  store->store.target = cg_element(r->arena, name_of(r, name), at);
  gs_dtype dtype = r->e->p->arrays.data[written_array(r, store)].dtype;
  cg_node *let =
      cg_make_let(r->arena, gs_dtype_table[dtype].c_type, name, NULL);
  let->let.elements = r->stream->row;
  let->let.attribute = "GLEN_ALIGNED";
  return let;
}

/* glen_stream(&out[...], glen_row0, (size_t)(glen_to - glen_from + 1) * 4) */
static cg_node *
make_copy(const rows *r, uint32_t k) {
  assert(k < r->stream->n);
  const cg_node *store = r->stream->write[k];
  uint32_t array = written_array(r, store);
  const cg_expr *index = store->origin->index[store->origin->n - 1];
  const cg_expr *place =
      cg_element(r->arena, array_of(r, array), place_of(r, index));
  const cg_expr *n =
      cg_cast(r->arena, "size_t", cg_paren(r->arena, length_of(r)));
  const cg_expr *args[] = {
      cg_prefix(r->arena, CG_OP_ADDRESS, place),
      name_of(r, bs_arena_printf(r->arena, "glen_row%u", k)),
      infix(r, CG_OP_MULTIPLY, n, cg_element_bytes(r->e, array))};
  return cg_make_do(r->arena, cg_called(r->arena, "glen_stream", 3, args));
}

/* ---- loops ---- */

/* The loop over rows has what the loop had of the nest. */
static cg_node *
make_around(const rows *r, const cg_expr *first, const cg_expr *condition,
            cg_node *body) {
  const char *type = first ? r->e->index : NULL;
  cg_node *n = cg_make_for(r->arena, type, "glen_from", first, condition,
                           r->stream->row, body);
  const cg_for *head = &r->loop->head;
  n->loop = r->loop->loop;
  n->head.is_team = head->is_team;
  n->head.collapse = head->collapse;
  n->head.is_bounded = head->is_bounded;
  return n;
}

cg_node *
cg_make_rows(cg_emitter *e, const cg_scope *scope, cg_node *loop,
             const cg_stream *stream) {
  assert(loop->kind == CG_FOR && stream->row > 0);
  rows r = {e, scope, loop, stream, &e->arena};
  const cg_expr *from = name_of(&r, "glen_from"), *last = last_of(&r);
  const cg_expr *ends[] = {last, infix(&r, CG_OP_ADD, from, stream->row - 1)};
  const char *min = cg_helper_names[CG_MIN_INDEX];
  cg_list body;
  cg_list_init(&body);
  for (uint32_t k = 0; k < stream->n; k++)
    cg_append(&body, make_row_array(&r, k));
  add_start(&r, cg_called(r.arena, min, 2, ends), &body);
  cg_node *around = make_around(
      &r, loop->head.first, cg_infix(r.arena, CG_OP_AT_MOST, from, last), NULL);
  cg_append(&body, make_row(&r, loop));
  for (uint32_t k = 0; k < stream->n; k++)
    cg_append(&body, make_copy(&r, k));
  around->first = body.first;
  return around;
}

cg_node *
cg_make_lines(cg_emitter *e, const cg_scope *scope, cg_node *loop,
              const cg_stream *stream) {
  assert(loop->kind == CG_FOR && stream->row > 0);
  rows r = {e, scope, loop, stream, &e->arena};
  const cg_expr *from = name_of(&r, "glen_from"), *last = last_of(&r);
  const cg_expr *end = infix(&r, CG_OP_ADD, from, stream->row - 1);
  bool rest = !loop->head.trips || loop->head.trips % stream->row;
  cg_list whole, part, all;
  cg_list_init(&whole);
  cg_list_init(&part);
  cg_list_init(&all);
  add_start(&r, end, &whole);
  add_start(&r, last, &part);
  cg_append(&all,
            cg_make_let(r.arena, e->index, "glen_from", loop->head.first));
  cg_node *around =
      make_around(&r, NULL, cg_infix(r.arena, CG_OP_AT_MOST, end, last), NULL);
  loop->next = NULL;
  cg_node *once_more = rest ? cg_clone(r.arena, loop) : NULL;
  cg_append(&whole, make_row(&r, loop));
  around->first = whole.first;
  cg_append(&all, around);
  if (rest) {
    cg_append(&part, make_row(&r, once_more));
    cg_append(&all,
              cg_make_if(r.arena, cg_infix(r.arena, CG_OP_AT_MOST, from, last),
                         part.first));
  }
  cg_node *out = cg_make_block(r.arena, all.first);
  out->loop = loop->loop;
  return out;
}
