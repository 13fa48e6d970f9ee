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
 * pass_rows.c makes the loops. */
#include "glenside/target/machine.h"
#include "glenside/target/tuned.h"
#include "codegen/pass/stream.h"
#include <assert.h>
#include <string.h>

/* ---- loops ---- */

static uint32_t
written_array(const cg_emitter *e, const cg_node *n) {
  return n->origin ? e->p->stmts.data[n->origin->stmt].array : PO_NO_NODE;
}

/* Places in a list, and below, that write the array. */
static uint32_t
count_writes(const cg_emitter *e, const cg_node *chain, uint32_t array) {
  assert(array < e->p->arrays.len);
  uint32_t count = 0;
  for (const cg_node *n = chain; n; n = n->next) {
    count += written_array(e, n) == array;
    count += count_writes(e, n->first, array);
    if (n->kind == CG_IF)
      count += count_writes(e, n->test.otherwise, array);
  }
  return count;
}

static const cg_expr *
written_index(const cg_node *n) {
  return n->origin->index[n->origin->n - 1];
}

/* The statement's element follows the loop through memory. */
static bool
goes_along(const cg_node *n, const char *iterator) {
  int64_t step;
  const cg_expr *index = written_index(n);
  return index && cg_coefficient(index, iterator, &step) && step == 1;
}

/* A statement right in the body stores elsewhere. */
static bool
stores_elsewhere(const cg_emitter *e, const cg_node *body, uint32_t array) {
  for (const cg_node *n = body; n; n = n->next) {
    uint32_t other = written_array(e, n);
    if (other != PO_NO_NODE && other != array && cg_is_indexed(e, other))
      return true;
  }
  return false;
}

/* Stores are done in their order: one that waits for memory holds up those to
 * arrays that are near. */
static void
add_write(cg_emitter *e, const cg_node *body, cg_node *n, cg_stream *out) {
  uint32_t array = written_array(e, n);
  if (array == PO_NO_NODE || !e->streamed[array] || out->n == CG_MOST_ROWS ||
      !goes_along(n, out->iterator) ||
      (!e->fetched[array] && !stores_elsewhere(e, body, array)) ||
      count_writes(e, body, array) != 1)
    return;
  out->write[out->n++] = n;
}

/* The writes of the body's own statements that could go past the caches. */
static void
find_writes(cg_emitter *e, cg_node *body, cg_stream *out) {
  for (cg_node *n = body; n; n = n->next)
    add_write(e, body, n, out);
}

static int64_t
element_bytes(const cg_emitter *e, const cg_node *n) {
  return cg_element_bytes(e, written_array(e, n));
}

static int64_t
trips_of(const cg_emitter *e, const cg_node *loop) {
  int64_t trips = loop->head.trips;
  return trips ? trips : cg_range_size(e->p, loop->loop);
}

/* Reads alone are worth rows where the loop is one of vectors and longer than
 * a row.  Measured on Zen 3: one stream gains (a tenth of a blur's time); three
 * (planes of harris, of unsharp) lost as much.  Why was not found out. */
static bool
find_fetched(cg_emitter *e, const cg_node *loop, cg_stream *out) {
  if (loop->head.is_team)
    return false;
  cg_find_fetches(e, loop, out);
  if (out->n_fetched != 1 || cg_why_not_simd(e, loop))
    return false;
  out->row = GS_AHEAD_AT_ONCE / cg_element_bytes(e, out->fetch[0].array);
  return trips_of(e, loop) > out->row;
}

/* What this loop is to ask for; whether there is anything. */
static bool
ask_for_rows(const cg_emitter *e, const cg_ahead *ahead, const cg_node *node,
             cg_stream *out) {
  uint32_t before = out->n_fetched;
  for (uint32_t k = 0; ahead && k < ahead->n; k++)
    if (ahead->by[k] == node && out->n_fetched < CG_MOST_FETCHED)
      out->fetch[out->n_fetched++] = ahead->fetch[k];
  if (out->n_fetched == before)
    return false;
  int64_t row =
      GS_AHEAD_OF_ROWS / cg_element_bytes(e, out->fetch[before].array);
  out->row = out->row && out->row < row ? out->row : row;
  return true;
}

/* Stores become ordinary ones, whose lines are asked for. */
static void
ask_for_written(const cg_emitter *e, const cg_node *loop, cg_stream *out) {
  bool is_long =
      out->n &&
      trips_of(e, loop) >= GS_STREAM_BYTES / element_bytes(e, out->write[0]);
  for (uint32_t k = 0; is_long && k < out->n; k++) {
    const cg_node *n = out->write[k];
    if (out->n_fetched < CG_MOST_FETCHED)
      out->fetch[out->n_fetched++] =
          (cg_fetch){written_array(e, n), written_index(n), GS_AHEAD_STREAM,
                     CG_FETCH_WRITE};
    out->row = GS_AHEAD_OF_ROWS / element_bytes(e, n);
  }
  out->n = 0;
}

/* A line of each array at a time, and the loop's iterations for it: they are
 * vectors, and what is computed with one line hides the time that the next one
 * takes.  Several lines at once are more than a core waits for, and what it
 * reads from near caches then waits behind them. */
static void
go_by_lines(cg_emitter *e, const cg_node *loop, cg_stream *out) {
  int64_t line = gs_first_cache(e->p->target).line, least = line;
  for (uint32_t k = 0; k < out->n_fetched; k++) {
    int64_t bytes = cg_element_bytes(e, out->fetch[k].array);
    least = bytes < least ? bytes : least;
  }
  if (!out->n_fetched || loop->head.is_team || cg_why_not_simd(e, loop))
    return;
  out->by_lines = true;
  out->row = line / least;
}

/* A loop around asked for rows of what is read here. */
static bool
is_asked_for(const cg_ahead *asked, const cg_stream *reads) {
  for (uint32_t k = 0; asked && k < asked->n; k++)
    if (asked->fetch[k].array == reads->fetch[0].array)
      return true;
  return false;
}

/* Where the search is: what loops around ask for. */
typedef struct walk {
  cg_emitter *e;
  const cg_scope *scope;
  const cg_ahead *ahead; /* of the iteration around; NULL: none */
  const cg_ahead *asked; /* of any loop around; NULL: none */
  bool *streams;         /* something was stored past the caches */
} walk;

/* As find_stream, for stores through the caches. */
static bool
find_asked(const walk *w, const cg_node *loop, cg_stream *out) {
  cg_stream reads = *out;
  bool any = !w->ahead && find_fetched(w->e, loop, &reads) &&
             !is_asked_for(w->asked, &reads);
  if (any) {
    out->row = reads.row;
    out->n_fetched = reads.n_fetched;
    memcpy(out->fetch, reads.fetch, sizeof reads.fetch);
  }
  ask_for_written(w->e, loop, out);
  ask_for_rows(w->e, w->ahead, loop, out);
  go_by_lines(w->e, loop, out);
  return out->n_fetched > 0;
}

/* Whether some store in the body of a loop goes through a row, or something
 * is fetched ahead: what the loop reads itself, or where there is `ahead`, of
 * the iteration around it, what that tells it to. */
static bool
find_stream(const walk *w, const cg_node *loop, cg_stream *out) {
  cg_emitter *e = w->e;
  const cg_for *head = &loop->head;
  *out = (cg_stream){.iterator = head->iterator};
  if (loop->loop == CG_NO_LOOP || head->step != 1 || !head->last)
    return false;
  find_writes(e, cg_below_marks(loop->first), out);
  if (gs_stores_through_caches(e->p->target))
    return find_asked(w, loop, out);
  if (out->n &&
      trips_of(e, loop) < GS_STREAM_BYTES / element_bytes(e, out->write[0]))
    return false;
  bool whole =
      head->trips && head->trips <= GS_STREAM_LONG_ROW && !head->is_team;
  if (out->n)
    out->row = whole ? head->trips : GS_STREAM_ROW;
  if (ask_for_rows(e, w->ahead, loop, out) || out->n)
    return true;
  return !w->ahead && find_fetched(e, loop, out);
}

static void visit(const walk *, cg_node **chain);

static cg_node *
visit_loop(const walk *around, cg_node *loop) {
  walk w = *around;
  cg_stream stream;
  cg_ahead ahead;
  bool fenced = loop->head.is_team_last && cg_may_stream(w.e, w.scope->use);
  bool any = find_stream(&w, loop, &stream);
  if (!w.ahead || w.ahead->parts != loop)
    w.ahead = cg_find_ahead(w.e, loop, &ahead) ? &ahead : NULL;
  w.asked = w.ahead ? w.ahead : w.asked;
  if (any && !stream.by_lines)
    *w.streams |= stream.n > 0;
  visit(&w, &loop->first);
  if (any && stream.by_lines)
    return cg_make_lines(w.e, w.scope, loop, &stream);
  cg_node *out = any ? cg_make_rows(w.e, w.scope, loop, &stream) : loop;
  out->head.is_fenced = fenced && (any || *w.streams);
  out->bare &= !fenced;
  return out;
}

static void
visit(const walk *w, cg_node **chain) {
  for (; *chain; chain = &(*chain)->next) {
    cg_node *n = *chain, *next = n->next;
    if (cg_is_loop(n) && !cg_is_for_vectors(w->e, n)) {
      n = visit_loop(w, n);
      n->next = next;
      *chain = n;
      continue;
    }
    visit(w, &n->first);
    if (n->kind == CG_IF)
      visit(w, &n->test.otherwise);
  }
}

void
cg_stream_loops(cg_pass_state *s) {
  visit(&(walk){.e = s->e, .scope = s->scope, .streams = &s->fenced}, s->body);
}
