/* SPDX-License-Identifier: MIT */
/* stream_text.c - the loops of stream.c as text.
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
#include "codegen/stream.h"
#include <isl/id_to_ast_expr.h>

static uint32_t
stored_array(const cg_emitter *e, const cg_user_note *note) {
  return e->p->stmts.data[note->stmt].array;
}

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
          (long long)cg_element_bytes(e, fetch->array),
          (long long)fetch->ahead);
}

/* What an iteration over rows has before the loop itself. */
static void
put_fetches(cg_emitter *e, const cg_scope *scope, const cg_loop *loop,
            const cg_stream *stream, uint32_t indent) {
  for (uint32_t k = 0; k < stream->n_fetched; k++) {
    put_fetch(e, scope, loop, &stream->fetch[k], indent);
    e->uses_fetch_write |= stream->fetch[k].kind == CG_FETCH_WRITE;
  }
  e->uses_fetch |= stream->n_fetched > 0;
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
    uint32_t array = stored_array(e, stream->write[k]);
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
  put_fetches(e, scope, loop, stream, indent + 1);
  e->uses_alignment |= stream->n > 0;
  e->uses_stream |= stream->n > 0;
}

void
cg_open_lines(cg_emitter *e, const cg_scope *scope, const cg_loop *loop,
              const cg_stream *stream, uint32_t indent) {
  bs_text *out = &e->body;
  long long last = (long long)stream->row - 1;
  cg_indent(out, indent);
  bs_put(out, "{\n");
  cg_indent(out, indent + 1);
  bs_putf(out, "%s glen_from = ", e->index);
  cg_put_index(e, loop->first);
  bs_put(out, ";\n");
  cg_indent(out, indent + 1);
  bs_putf(out, "for (; glen_from + %lld <= ", last);
  put_last(e, loop);
  bs_putf(out, "; glen_from += %lld) {\n", last + 1);
  cg_indent(out, indent + 2);
  bs_putf(out, "const %s glen_to = glen_from + %lld;\n", e->index, last);
  put_fetches(e, scope, loop, stream, indent + 2);
}

void
cg_open_rest(cg_emitter *e, const cg_scope *scope, const cg_loop *loop,
             const cg_stream *stream, uint32_t indent) {
  bs_text *out = &e->body;
  cg_indent(out, indent + 1);
  bs_put(out, "}\n");
  cg_indent(out, indent + 1);
  bs_put(out, "if (glen_from <= ");
  put_last(e, loop);
  bs_put(out, ") {\n");
  cg_indent(out, indent + 2);
  bs_putf(out, "const %s glen_to = ", e->index);
  put_last(e, loop);
  bs_put(out, ";\n");
  put_fetches(e, scope, loop, stream, indent + 2);
}

void
cg_close_lines(cg_emitter *e, uint32_t indent) {
  cg_indent(&e->body, indent + 1);
  bs_put(&e->body, "}\n");
  cg_indent(&e->body, indent);
  bs_put(&e->body, "}\n");
}

void
cg_close_stream(cg_emitter *e, const cg_scope *scope, const cg_loop *loop,
                const cg_stream *stream, bool fenced, uint32_t indent) {
  bs_text *out = &e->body;
  for (uint32_t k = 0; k < stream->n; k++) {
    const cg_user_note *note = stream->write[k];
    cg_indent(out, indent + 1);
    bs_putf(out, "glen_stream(&%s[",
            cg_array_name(e, scope, stored_array(e, note)));
    put_place(e, loop, note->index[note->n - 1]);
    bs_putf(out, "], glen_row%u, (size_t)(glen_to - glen_from + 1) * %lld);\n",
            k, (long long)cg_element_bytes(e, stored_array(e, note)));
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
