/* SPDX-License-Identifier: MIT */
/* stream.c - arrays larger than the caches.
 *
 * An output that is much larger than the caches and that nothing here reads is
 * gone from them before anybody looks at it; an ordinary store even reads each
 * line first.  Where the innermost loop around its only store goes along
 * memory, the values of some iterations are kept in a row on the stack, which
 * the compiler vectorises as it likes, and the row is copied by stores that
 * write whole lines straight to memory:
 *
 *   for (int glen_from = 0; glen_from <= 6399; glen_from += 1024) {
 *     float glen_row0[1024] GLEN_ALIGNED;
 *     const int glen_to = glen_min(6399, glen_from + 1023);
 *     for (int i1 = glen_from; i1 <= glen_to; i1++)
 *       glen_row0[i1 - glen_from] = ...;
 *     glen_stream(&out[6400 * i0 + glen_from], glen_row0, ...);
 *   }
 *
 * Such stores are not ordered with others: a fence stands at the end of each
 * iteration of a team's loop and of the function.
 *
 * A loop that does not store so, and reads such an array (fetch.c), asks for
 * what it reads a row at a time, some way ahead.
 *
 * Where the target says that stores past the caches are slower than reading,
 * stores are ordinary ones, and the lines that they are to fill are asked for
 * in the same way; those beyond the second cache, too, where an iteration
 * stores to other arrays as well.  There, loops of vectors ask for one line at
 * a time, between the iterations that are made of one.
 *
 * stream_text.c writes this down. */
#include "codegen/simd.h"
#include "codegen/stream.h"
#include <isl/id_to_ast_expr.h>
#include <string.h>

/* Elements of a row; iterations up to which a loop is one row; bytes that are
 * worth a row. */
enum { ROW = 1024, LONG_ROW = 2048, LEAST_BYTES = 512 };

/* Bytes that are fetched at once: as many lines as a core waits for at a time;
 * of each of several rows; one line. */
enum { AT_ONCE = 1024, AT_ONCE_OF_ROWS = 512, LINE = 64 };

/* A shared cache is not one program's alone: so many times the second level
 * counts as far as well. */
enum { PRIVATE_TIMES = 16 };

/* ---- arrays ---- */

static int64_t
cached_bytes(const gs_target *t) {
  int64_t most = INT64_MAX;
  for (uint32_t k = 0; t && k < t->caches.len; k++) {
    const gs_cache *c = &t->caches.data[k];
    int64_t bytes = c->bytes;
    if (c->level == 2 && __builtin_mul_overflow(bytes, PRIVATE_TIMES, &bytes))
      bytes = INT64_MAX;
    if ((c->level == 2 || k + 1 == t->caches.len) && bytes < most)
      most = bytes;
  }
  return most;
}

int64_t
cg_near_bytes(const gs_target *t) {
  int64_t most = cached_bytes(t);
  for (uint32_t k = 0; t && k < t->caches.len; k++)
    if (t->caches.data[k].level == 2 && t->caches.data[k].bytes < most)
      most = t->caches.data[k].bytes;
  return most;
}

static void
exclude_read(const po_stmt *stmt, bool *streamed) {
  for (uint32_t j = 0; j < stmt->n_exprs; j++)
    if (stmt->exprs[j].kind == PO_READ || stmt->exprs[j].kind == PO_GATHER)
      streamed[stmt->exprs[j].array] = false;
  for (uint32_t j = 0; stmt->instr && j <= stmt->instr->n_operands; j++)
    streamed[stmt->operands[j].array] = false;
  if (stmt->kind != PO_ASSIGN)
    streamed[stmt->array] = false;
}

void
cg_find_streamed(cg_emitter *e) {
  const po_program *p = e->p;
  int64_t cached = cached_bytes(p->target);
  int64_t least =
      gs_stores_through_caches(p->target) ? cg_near_bytes(p->target) : cached;
  e->streamed = bs_calloc(e->heap, p->arrays.len + 1, sizeof *e->streamed);
  e->fetched = bs_calloc(e->heap, p->arrays.len + 1, sizeof *e->fetched);
  for (uint32_t k = 0; k < p->arrays.len; k++) {
    int64_t bytes = po_bytes(&p->arrays.data[k]);
    e->fetched[k] = p->arrays.data[k].role != PO_LOCAL && bytes > cached;
    e->streamed[k] = p->arrays.data[k].role == PO_OUTPUT && bytes > least;
  }
  for (uint32_t k = 0; k < p->stmts.len; k++)
    exclude_read(&p->stmts.data[k], e->streamed);
}

bool
cg_may_stream(const cg_emitter *e, const cg_use *use) {
  if (gs_stores_through_caches(e->p->target))
    return false;
  for (uint32_t k = 0; k < use->n_slots; k++)
    if (e->streamed[use->slots[k].array])
      return true;
  return false;
}

/* ---- loops ---- */

static uint32_t
written_array(const cg_emitter *e, const cg_user_note *note) {
  return note ? e->p->stmts.data[note->stmt].array : PO_NO_NODE;
}

int64_t
cg_element_bytes(const cg_emitter *e, uint32_t array) {
  return gs_dtype_table[e->p->arrays.data[array].dtype].bytes;
}

/* Places in the code below a node that write the array. */
static uint32_t
count_writes(const cg_emitter *e, __isl_take isl_ast_node *node,
             uint32_t array) {
  uint32_t n = 0;
  switch ((int)isl_ast_node_get_type(node)) {
  case isl_ast_node_for:
    n = count_writes(e, isl_ast_node_for_get_body(node), array);
    break;
  case isl_ast_node_mark:
    n = count_writes(e, isl_ast_node_mark_get_node(node), array);
    break;
  case isl_ast_node_if:
    n = count_writes(e, isl_ast_node_if_get_then_node(node), array);
    if (isl_ast_node_if_has_else_node(node) == isl_bool_true)
      n += count_writes(e, isl_ast_node_if_get_else_node(node), array);
    break;
  case isl_ast_node_block: {
    isl_ast_node_list *list = isl_ast_node_block_get_children(node);
    isl_size len = isl_ast_node_list_n_ast_node(list);
    for (int k = 0; k < len; k++)
      n += count_writes(e, isl_ast_node_list_get_ast_node(list, k), array);
    isl_ast_node_list_free(list);
    break;
  }
  case isl_ast_node_user:
    n = written_array(e, cg_note_of_user(node)) == array;
    break;
  default:
    break;
  }
  isl_ast_node_free(node);
  return n;
}

/* The statement's element follows the loop through memory. */
static bool
goes_along(cg_emitter *e, const cg_user_note *note, const char *iterator) {
  int64_t step;
  isl_ast_expr *index = note->index[note->n - 1];
  return index && cg_coefficient(e, index, iterator, &step) && step == 1;
}

/* A statement right in the body stores elsewhere. */
static bool
stores_elsewhere(const cg_emitter *e, __isl_keep isl_ast_node *body,
                 uint32_t array) {
  bool found = false;
  isl_size len = 0;
  isl_ast_node_list *list = NULL;
  if (isl_ast_node_get_type(body) == isl_ast_node_block) {
    list = isl_ast_node_block_get_children(body);
    len = isl_ast_node_list_n_ast_node(list);
  }
  for (int k = 0; k < len && !found; k++) {
    isl_ast_node *child = isl_ast_node_list_get_ast_node(list, k);
    if (isl_ast_node_get_type(child) == isl_ast_node_user) {
      uint32_t other = written_array(e, cg_note_of_user(child));
      found = other != PO_NO_NODE && other != array && cg_is_indexed(e, other);
    }
    isl_ast_node_free(child);
  }
  isl_ast_node_list_free(list);
  return found;
}

/* Stores are done in their order: one that waits for memory holds up those to
 * arrays that are near. */
static void
add_write(cg_emitter *e, __isl_keep isl_ast_node *body,
          const cg_user_note *note, cg_stream *out) {
  uint32_t array = written_array(e, note);
  if (array == PO_NO_NODE || !e->streamed[array] || out->n == CG_MOST_ROWS ||
      !goes_along(e, note, out->iterator) ||
      (!e->fetched[array] && !stores_elsewhere(e, body, array)) ||
      count_writes(e, isl_ast_node_copy(body), array) != 1)
    return;
  out->write[out->n++] = note;
}

/* Those of the body's own statements. */
static void
find_writes(cg_emitter *e, __isl_keep isl_ast_node *body, cg_stream *out) {
  if (isl_ast_node_get_type(body) == isl_ast_node_user) {
    add_write(e, body, cg_note_of_user(body), out);
    return;
  }
  if (isl_ast_node_get_type(body) != isl_ast_node_block)
    return;
  isl_ast_node_list *list = isl_ast_node_block_get_children(body);
  isl_size len = isl_ast_node_list_n_ast_node(list);
  for (int k = 0; k < len; k++) {
    isl_ast_node *child = isl_ast_node_list_get_ast_node(list, k);
    if (isl_ast_node_get_type(child) == isl_ast_node_user)
      add_write(e, body, cg_note_of_user(child), out);
    isl_ast_node_free(child);
  }
  isl_ast_node_list_free(list);
}

static int64_t
element_bytes(const cg_emitter *e, const cg_user_note *note) {
  return cg_element_bytes(e, written_array(e, note));
}

static int64_t
trips_of(const cg_emitter *e, const cg_loop *loop) {
  return loop->trips ? loop->trips : cg_range_size(e->p, loop->node);
}

/* Reads alone are worth rows where the loop is one of vectors and longer than
 * a row.  Measured on Zen 3: one stream gains (a tenth of a blur's time); three
 * (planes of harris, of unsharp) lost as much.  Why was not found out. */
static bool
find_fetched(cg_emitter *e, const cg_loop *loop, cg_stream *out) {
  if (loop->is_team)
    return false;
  cg_find_fetches(e, loop, out);
  if (out->n_fetched != 1 || cg_why_not_simd(e, loop))
    return false;
  out->row = AT_ONCE / cg_element_bytes(e, out->fetch[0].array);
  return trips_of(e, loop) > out->row;
}

/* What this loop is to ask for; whether there is anything. */
static bool
ask_for_rows(const cg_emitter *e, const cg_ahead *ahead, isl_ast_node *node,
             cg_stream *out) {
  uint32_t before = out->n_fetched;
  for (uint32_t k = 0; ahead && k < ahead->n; k++)
    if (ahead->by[k] == node && out->n_fetched < CG_MOST_FETCHED)
      out->fetch[out->n_fetched++] = ahead->fetch[k];
  if (out->n_fetched == before)
    return false;
  int64_t row = AT_ONCE_OF_ROWS / cg_element_bytes(e, out->fetch[before].array);
  out->row = out->row && out->row < row ? out->row : row;
  return true;
}

/* Stores become ordinary ones, whose lines are asked for. */
static void
ask_for_written(const cg_emitter *e, const cg_loop *loop, cg_stream *out) {
  bool is_long = out->n && trips_of(e, loop) >=
                               LEAST_BYTES / element_bytes(e, out->write[0]);
  for (uint32_t k = 0; is_long && k < out->n; k++) {
    const cg_user_note *note = out->write[k];
    if (out->n_fetched < CG_MOST_FETCHED)
      out->fetch[out->n_fetched++] =
          (cg_fetch){written_array(e, note), note->index[note->n - 1],
                     CG_FETCH_AHEAD, CG_FETCH_WRITE};
    out->row = AT_ONCE_OF_ROWS / element_bytes(e, note);
  }
  out->n = 0;
}

/* A line of each array at a time, and the loop's iterations for it: they are
 * vectors, and what is computed with one line hides the time that the next one
 * takes.  Several lines at once are more than a core waits for, and what it
 * reads from near caches then waits behind them. */
static void
go_by_lines(cg_emitter *e, const cg_loop *loop, cg_stream *out) {
  int64_t least = LINE;
  for (uint32_t k = 0; k < out->n_fetched; k++) {
    int64_t bytes = cg_element_bytes(e, out->fetch[k].array);
    least = bytes < least ? bytes : least;
  }
  if (!out->n_fetched || loop->is_team || cg_why_not_simd(e, loop))
    return;
  out->by_lines = true;
  out->row = LINE / least;
}

/* A loop around asked for rows of what is read here. */
static bool
is_asked_for(const cg_ahead *asked, const cg_stream *reads) {
  for (uint32_t k = 0; asked && k < asked->n; k++)
    if (asked->fetch[k].array == reads->fetch[0].array)
      return true;
  return false;
}

/* As cg_find_stream, for stores through the caches. */
static bool
find_asked(cg_emitter *e, const cg_scope *scope, const cg_loop *loop,
           isl_ast_node *node, cg_stream *out) {
  cg_stream reads = *out;
  bool any = !scope->ahead && find_fetched(e, loop, &reads) &&
             !is_asked_for(scope->asked, &reads);
  if (any) {
    out->row = reads.row;
    out->n_fetched = reads.n_fetched;
    memcpy(out->fetch, reads.fetch, sizeof reads.fetch);
  }
  ask_for_written(e, loop, out);
  ask_for_rows(e, scope->ahead, node, out);
  go_by_lines(e, loop, out);
  return out->n_fetched > 0;
}

bool
cg_find_stream(cg_emitter *e, const cg_scope *scope, const cg_loop *loop,
               isl_ast_node *node, cg_stream *out) {
  *out = (cg_stream){.iterator = loop->iterator};
  if (loop->node == PO_NO_NODE || loop->step != 1 || !loop->last)
    return false;
  find_writes(e, loop->inner, out);
  if (gs_stores_through_caches(e->p->target))
    return find_asked(e, scope, loop, node, out);
  if (out->n &&
      trips_of(e, loop) < LEAST_BYTES / element_bytes(e, out->write[0]))
    return false;
  bool whole = loop->trips && loop->trips <= LONG_ROW && !loop->is_team;
  if (out->n)
    out->row = whole ? loop->trips : ROW;
  if (ask_for_rows(e, scope->ahead, node, out) || out->n)
    return true;
  return !scope->ahead && find_fetched(e, loop, out);
}
