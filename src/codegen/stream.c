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
 * stores to other arrays as well. */
#include "codegen/simd.h"
#include "codegen/stream.h"
#include <isl/id_to_ast_expr.h>
#include <string.h>

/* Elements of a row; iterations up to which a loop is one row; bytes that are
 * worth a row. */
enum { ROW = 1024, LONG_ROW = 2048, LEAST_BYTES = 512 };

/* Bytes that are fetched at once: as many lines as a core waits for at a time;
 * of each of several rows. */
enum { AT_ONCE = 1024, AT_ONCE_OF_ROWS = 512 };

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

/* Of the second cache; where there is none, as far as all of them go. */
static int64_t
near_bytes(const gs_target *t) {
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
      gs_stores_through_caches(p->target) ? near_bytes(p->target) : cached;
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

/* Places in the code below a node that write the array. */
static uint32_t
count_writes(const cg_emitter *e, __isl_take isl_ast_node *node,
             uint32_t array) {
  uint32_t n = 0;
  switch (isl_ast_node_get_type(node)) {
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
bytes_of(const cg_emitter *e, uint32_t array) {
  return gs_dtype_table[e->p->arrays.data[array].dtype].bytes;
}

static int64_t
element_bytes(const cg_emitter *e, const cg_user_note *note) {
  return bytes_of(e, written_array(e, note));
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
  out->row = AT_ONCE / bytes_of(e, out->fetch[0].array);
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
  int64_t row = AT_ONCE_OF_ROWS / bytes_of(e, out->fetch[before].array);
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

/* As cg_find_stream, for stores through the caches. */
static bool
find_asked(cg_emitter *e, const cg_loop *loop, const cg_ahead *ahead,
           isl_ast_node *node, cg_stream *out) {
  cg_stream reads = *out;
  bool any = !ahead && find_fetched(e, loop, &reads);
  if (any) {
    out->row = reads.row;
    out->n_fetched = reads.n_fetched;
    memcpy(out->fetch, reads.fetch, sizeof reads.fetch);
  }
  ask_for_written(e, loop, out);
  ask_for_rows(e, ahead, node, out);
  return out->n_fetched > 0;
}

bool
cg_find_stream(cg_emitter *e, const cg_loop *loop, const cg_ahead *ahead,
               isl_ast_node *node, cg_stream *out) {
  *out = (cg_stream){.iterator = loop->iterator};
  if (loop->node == PO_NO_NODE || loop->step != 1 || !loop->last)
    return false;
  find_writes(e, loop->inner, out);
  if (gs_stores_through_caches(e->p->target))
    return find_asked(e, loop, ahead, node, out);
  if (out->n &&
      trips_of(e, loop) < LEAST_BYTES / element_bytes(e, out->write[0]))
    return false;
  bool whole = loop->trips && loop->trips <= LONG_ROW && !loop->is_team;
  if (out->n)
    out->row = whole ? loop->trips : ROW;
  if (ask_for_rows(e, ahead, node, out) || out->n)
    return true;
  return !ahead && find_fetched(e, loop, out);
}

/* ---- text ---- */

void
cg_put_stream_element(const cg_stream *stream, const cg_user_note *note,
                      bs_text *out) {
  uint32_t k = 0;
  while (stream->write[k] != note)
    k++;
  bs_putf(out, "glen_row%u[%s - glen_from]", k, stream->iterator);
}

bool
cg_is_streamed_here(const cg_stream *stream, const cg_user_note *note) {
  for (uint32_t k = 0; stream && k < stream->n; k++)
    if (stream->write[k] == note)
      return true;
  return false;
}

static void
put_last(cg_emitter *e, const cg_loop *loop) {
  cg_put_index(e, loop->last);
  bs_put(&e->body, loop->last_excluded ? " - 1" : "");
}

/* The address where the row begins. */
static void
put_place(cg_emitter *e, const cg_loop *loop, __isl_keep isl_ast_expr *index) {
  isl_ctx *isl = e->p->isl;
  isl_id *iterator = isl_id_alloc(isl, loop->iterator, NULL);
  isl_ast_expr *from =
      isl_ast_expr_from_id(isl_id_alloc(isl, "glen_from", NULL));
  isl_id_to_ast_expr *map = isl_id_to_ast_expr_alloc(isl, 1);
  map = isl_id_to_ast_expr_set(map, iterator, from);
  po_pool_reserve(&e->pool, 1);
  cg_put_index(e,
               po_keep_ast_expr(&e->pool, isl_ast_expr_substitute_ids(
                                              isl_ast_expr_copy(index), map)));
}

static void
put_fetch(cg_emitter *e, const cg_scope *scope, const cg_loop *loop,
          const cg_fetch *fetch, uint32_t indent) {
  static const char *const suffixes[] = {[CG_FETCH_ROW] = "_row",
                                         [CG_FETCH_SOON] = "",
                                         [CG_FETCH_WRITE] = "_write"};
  cg_indent(&e->body, indent);
  bs_putf(&e->body, "glen_prefetch%s(%s, ", suffixes[fetch->kind],
          cg_array_name(e, scope, fetch->array));
  put_place(e, loop, fetch->index);
  bs_putf(&e->body, ", glen_to - glen_from + 1, %lld, %lld);\n",
          (long long)bytes_of(e, fetch->array), (long long)fetch->ahead);
}

void
cg_open_stream(cg_emitter *e, const cg_scope *scope, const cg_loop *loop,
               const cg_stream *stream, uint32_t indent) {
  bs_text *out = &e->body;
  cg_indent(out, indent);
  bs_putf(out, "for (%s glen_from = ", e->index);
  cg_put_index(e, loop->first);
  bs_put(out, "; glen_from <= ");
  put_last(e, loop);
  bs_putf(out, "; glen_from += %lld) {\n", (long long)stream->row);
  for (uint32_t k = 0; k < stream->n; k++) {
    uint32_t array = written_array(e, stream->write[k]);
    cg_indent(out, indent + 1);
    bs_putf(out, "%s glen_row%u[%lld] GLEN_ALIGNED;\n",
            gs_dtype_table[e->p->arrays.data[array].dtype].c_type, k,
            (long long)stream->row);
  }
  cg_indent(out, indent + 1);
  bs_putf(out, "const %s glen_to = %s(", e->index,
          cg_helper_used(e, CG_MIN_INDEX));
  put_last(e, loop);
  bs_putf(out, ", glen_from + %lld);\n", (long long)stream->row - 1);
  for (uint32_t k = 0; k < stream->n_fetched; k++) {
    put_fetch(e, scope, loop, &stream->fetch[k], indent + 1);
    e->uses_fetch_write |= stream->fetch[k].kind == CG_FETCH_WRITE;
  }
  e->uses_alignment |= stream->n > 0;
  e->uses_stream |= stream->n > 0;
  e->uses_fetch |= stream->n_fetched > 0;
}

void
cg_close_stream(cg_emitter *e, const cg_scope *scope, const cg_loop *loop,
                const cg_stream *stream, bool fenced, uint32_t indent) {
  bs_text *out = &e->body;
  for (uint32_t k = 0; k < stream->n; k++) {
    const cg_user_note *note = stream->write[k];
    cg_indent(out, indent + 1);
    bs_putf(out, "glen_stream(&%s[",
            cg_array_name(e, scope, written_array(e, note)));
    put_place(e, loop, note->index[note->n - 1]);
    bs_putf(out, "], glen_row%u, (size_t)(glen_to - glen_from + 1) * %lld);\n",
            k, (long long)element_bytes(e, note));
  }
  if (fenced)
    cg_put_fence(e, indent + 1);
  cg_indent(out, indent);
  bs_put(out, "}\n");
}

void
cg_put_fence(cg_emitter *e, uint32_t indent) {
  cg_indent(&e->body, indent);
  bs_put(&e->body, "glen_fence();\n");
}

void
cg_put_stream_includes(bs_text *out) {
  bs_put(out, "#if defined(__SSE2__)\n#include <immintrin.h>\n#endif\n\n");
}

/* Whole lines only: part of one would be slower than an ordinary store. */
void
cg_put_stream_helpers(bs_text *out) {
  static const struct {
    const char *macro, *store, *type, *load;
    unsigned bytes;
  } kinds[] = {
      {"__AVX512F__", "_mm512_stream_si512", "__m512i", "_mm512_loadu_si512",
       64},
      {"__AVX__", "_mm256_stream_si256", "__m256i", "_mm256_loadu_si256", 32},
      {"__SSE2__", "_mm_stream_si128", "__m128i", "_mm_loadu_si128", 16}};
  bs_put(out, "/* To memory past the caches: whole lines of it need not be "
              "read first. */\n"
              "static inline void\n"
              "glen_stream(void *to, const void *from, size_t bytes) {\n"
              "  unsigned char *t = (unsigned char *)to;\n"
              "  const unsigned char *f = (const unsigned char *)from;\n"
              "  size_t k = (size_t)(0 - (uintptr_t)to) % 64;\n"
              "  k = k < bytes ? k : bytes;\n"
              "  memcpy(t, f, k);\n");
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    bs_putf(out, "#%s defined(%s)\n  for (; bytes - k >= 64; k += 64) {\n",
            k ? "elif" : "if", kinds[k].macro);
    for (unsigned at = 0; at < 64; at += kinds[k].bytes)
      bs_putf(out,
              "    %s((%s *)(void *)(t + k + %u),\n"
              "        %s((const %s *)(const void *)(f + k + %u)));\n",
              kinds[k].store, kinds[k].type, at, kinds[k].load, kinds[k].type,
              at);
    bs_put(out, "  }\n");
  }
  bs_put(out, "#endif\n"
              "  memcpy(t + k, f + k, bytes - k);\n}\n\n"
              "/* What was stored so is seen by others from here on. */\n"
              "static inline void\nglen_fence(void) {\n"
              "#if defined(__SSE2__)\n  _mm_sfence();\n#endif\n}\n\n");
}

static void
put_fetch_helper(const cg_emitter *e, const char *suffix, const char *level,
                 bs_text *out) {
  bs_putf(out,
          "static inline void\n"
          "glen_prefetch%s(const void *array, %s first, %s n, %s bytes,\n"
          "              ptrdiff_t ahead) {\n"
          "#if defined(__GNUC__)\n"
          "  const uintptr_t from = (uintptr_t)array +\n"
          "      (uintptr_t)first * (uintptr_t)bytes + (uintptr_t)ahead;\n"
          "  for (uintptr_t k = 0; k < (uintptr_t)n * (uintptr_t)bytes; "
          "k += 64)\n"
          "    __builtin_prefetch((const void *)(from + k)%s);\n"
          "#else\n  (void)array, (void)first, (void)n, (void)bytes, "
          "(void)ahead;\n"
          "#endif\n}\n\n",
          suffix, e->index, e->index, e->index, level);
}

/* No pointer is formed: the place may be past the end of the array. */
void
cg_put_fetch_helpers(const cg_emitter *e, bs_text *out) {
  bs_putf(out,
          "/* n elements of so many bytes from `first` on, so many bytes\n"
          " * further: they are read soon, or in the next row%s. */\n",
          e->uses_fetch_write ? ", or\n * written soon" : "");
  put_fetch_helper(e, "", "", out);
  put_fetch_helper(e, "_row", ", 0, 2", out);
  if (e->uses_fetch_write)
    put_fetch_helper(e, "_write", ", 1", out);
}
