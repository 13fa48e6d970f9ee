/* SPDX-License-Identifier: MIT */
/* text_read.c - loop programs from text (docs/LOOPS.md).
 *
 * One pass, no look-ahead but a token: declarations of arrays, then loops and
 * statements.  Open loops are kept in a list, so that their nesting costs no
 * stack.  isl's work on one statement is bounded. */
#include "poly/depend/depend.h"
#include "poly/loops/limit.h"
#include "poly/text/text_read.h"
#include "base/utf8.h"
#include <assert.h>
#include <string.h>

#define MAX_NODES 500000

/* ---- loops ---- */

static bool
read_lanes(po_reader *r, po_nest_node *loop) {
  int64_t lanes;
  bool comma;
  if (!po_need_symbol(r, "(") || !po_need_int(r, 1, 1024, &lanes) ||
      !po_take_symbol(r, ",", &comma))
    return false;
  loop->lanes = (uint32_t)lanes;
  if (comma) {
    if (!po_need_word(r, "mask"))
      return false;
    loop->tail = PO_TAIL_MASK;
  }
  return po_need_symbol(r, ")");
}

/* (blockIdx.x) */
static bool
read_axis(po_reader *r, po_nest_node *loop) {
  bool block, thread, taken = false;
  if (!po_need_symbol(r, "(") || !po_take_word(r, "blockIdx", &block) ||
      (!block && !po_take_word(r, "threadIdx", &thread)))
    return false;
  if (!block && !thread)
    return po_syntax(r, "`blockIdx` or `threadIdx`");
  if (!po_need_symbol(r, "."))
    return false;
  static const char *const axes[] = {"x", "y", "z"};
  for (uint32_t k = 0; k < 3 && !taken; k++) {
    if (!po_take_word(r, axes[k], &taken))
      return false;
    if (taken)
      loop->bind = (po_bind_axis)((block ? PO_BLOCK_X : PO_THREAD_X) + k);
  }
  return taken ? po_need_symbol(r, ")") : po_syntax(r, "`x`, `y` or `z`");
}

/* [separate] [parallel | unroll | vectorize(8) | bind(threadIdx.x)] */
static bool
read_marks(po_reader *r, po_nest_node *loop) {
  static const struct {
    const char *word;
    po_mark mark;
    bool (*more)(po_reader *, po_nest_node *);
  } marks[] = {{"parallel", PO_PARALLEL, NULL},
               {"unroll", PO_UNROLL, NULL},
               {"vectorize", PO_VECTORIZE, read_lanes},
               {"bind", PO_BIND, read_axis}};
  bool taken;
  if (!po_take_word(r, "separate", &loop->separate))
    return false;
  for (size_t k = 0; k < sizeof marks / sizeof *marks; k++) {
    if (!po_take_word(r, marks[k].word, &taken))
      return false;
    if (!taken)
      continue;
    loop->mark = marks[k].mark;
    return !marks[k].more || marks[k].more(r, loop);
  }
  return true;
}

static bool
check_name(po_reader *r, const char *name, uint32_t from) {
  if (po_find_entry(r, PO_E_LOOP, name, strlen(name)) == UINT32_MAX)
    return po_is_no_size(r, name, from);
  return bs_error(r->ctx.diags, po_span_from(r, from), "duplicate-name",
                  "a loop is named `%s` already", name);
}

/* The bounds of the loops around hold too. */
static bool
open_loop(po_reader *r, uint32_t loop, __isl_keep isl_set *bounds) {
  uint32_t n = r->n_loops;
  isl_set *all = isl_set_copy(bounds);
  po_pool_reserve(&r->pool, 1);
  if (n)
    all = isl_set_intersect(
        all, isl_set_add_dims(isl_set_copy(r->bounds[n - 1]), isl_dim_set, 1));
  r->bounds[n] = po_keep_set(&r->pool, all);
  r->loops[r->n_loops++] = loop;
  return r->bounds[n] || bs_error(r->ctx.diags, po_span_here(r), "too-complex",
                                  "the bounds are too complex");
}

/* MARKS for NAME in BOUNDS { */
static bool
read_loop(po_reader *r) {
  po_nest_node marks = {0};
  const char *name;
  isl_set *bounds;
  bs_span span = po_span_here(r);
  if (r->n_loops == PO_MAX_LOOPS || r->p->nest.nodes.len > MAX_NODES)
    return bs_error(r->ctx.diags, po_span_here(r), "too-deep",
                    "loops nest deeper than %d, or are more than %d",
                    PO_MAX_LOOPS, MAX_NODES);
  if (!read_marks(r, &marks) || !po_need_word(r, "for"))
    return false;
  uint32_t from = r->now.lo;
  if (!po_need_name(r, "a loop", &name) || !check_name(r, name, from) ||
      !po_need_word(r, "in"))
    return false;
  r->nesting = 0;
  r->n_names = r->n_loops;
  for (uint32_t k = 0; k < r->n_loops; k++)
    r->names[k] = r->p->nest.nodes.data[r->loops[k]].name;
  if (!po_read_bounds(r, &bounds) || !po_need_symbol(r, "{"))
    return false;
  uint32_t parent = r->n_loops ? r->loops[r->n_loops - 1] : 0;
  uint32_t loop = po_nest_add_loop(r->p, parent, PO_NO_NODE, name);
  po_nest_node *node = &r->p->nest.nodes.data[loop];
  node->mark = marks.mark;
  node->lanes = marks.lanes;
  node->tail = marks.tail;
  node->bind = marks.bind;
  node->separate = marks.separate;
  po_add_entry(r, PO_E_LOOP, loop);
  if (node->mark != PO_SERIAL) {
    po_marked *m = BS_NEW(&r->arena, po_marked);
    *m = (po_marked){loop, span, r->marked};
    r->marked = m;
  }
  return open_loop(r, loop, bounds);
}

/* ---- the text ---- */

static const struct {
  const char *word;
  po_role role;
} roles[] = {{"memory", PO_MEMORY},       {"input", PO_INPUT},
             {"constant", PO_CONSTANT},   {"output", PO_OUTPUT},
             {"workspace", PO_WORKSPACE}, {"local", PO_LOCAL}};

/* A word that starts a line is a name where `:` or `[` follows. */
static bool
is_name_of_stmt(const po_reader *r) {
  uint32_t at = r->now.hi;
  while (at < r->size && strchr(" \t\r\n", r->text[at]))
    at++;
  return at < r->size && (r->text[at] == ':' || r->text[at] == '[');
}

static bool
is_start_of_loop(const po_reader *r) {
  static const char *const words[] = {"for",       "separate", "parallel",
                                      "vectorize", "unroll",   "bind"};
  for (size_t k = 0; k < sizeof words / sizeof *words; k++)
    if (po_is_word(r, words[k]))
      return true;
  return false;
}

static bool
read_item(po_reader *r) {
  bool taken;
  po_begin_divisions(r);
  if (po_is_symbol(r, "}")) {
    if (!r->n_loops)
      return po_syntax(r, "a loop or a statement");
    r->n_loops--;
    return po_next_token(r);
  }
  if (r->now.kind != PO_T_NAME)
    return po_syntax(r, "a loop or a statement");
  if (is_name_of_stmt(r))
    return po_read_stmt(r);
  if (is_start_of_loop(r))
    return read_loop(r);
  if (!po_take_word(r, "sync", &taken))
    return false;
  if (taken) {
    po_nest_add_sync(r->p, r->n_loops ? r->loops[r->n_loops - 1] : 0,
                     PO_NO_NODE);
    return true;
  }
  if (po_is_word(r, "size") && !r->n_loops)
    return po_read_size(r);
  for (size_t k = 0; k < sizeof roles / sizeof *roles && !r->n_loops; k++)
    if (po_is_word(r, roles[k].word))
      return po_read_array(r, roles[k].role);
  return po_syntax(r, "a loop or a statement");
}

static bool
read_all(po_reader *r) {
  if (!po_next_token(r) || !po_take_word(r, "strict", &r->p->strict_fp))
    return false;
  while (r->now.kind != PO_T_END)
    if (!read_item(r))
      return false;
  return !r->n_loops || po_syntax(r, "`}`");
}

static void
begin(po_reader *r) {
  const bs_source *source = &r->ctx.diags->sources.data[r->file - 1];
  r->text = source->text;
  r->size = source->size;
  r->now.hi = bs_utf8_begin(r->text, r->size);
  r->source = gs_program_new(&r->ctx, r->target);
  r->p = po_new_program(&r->ctx, r->source, r->target, NULL);
}

static bool
refuse_violation(const po_reader *r, bs_span span, const po_violation *v) {
  bs_text text;
  if (!v->source)
    return false; /* it was said that isl gave up */
  bs_text_init(&text, r->ctx.heap);
  po_put_violation(v, &text);
  bs_error(r->ctx.diags, span, "illegal", "%s", bs_text_str(&text));
  bs_text_done(&text);
  return false;
}

/* Marks and places are promises; a text may make false ones. */
static bool
check_promises(po_reader *r) {
  po_violation v = {0};
  for (const po_marked *m = r->marked; m; m = m->next)
    if (!po_mark_is_legal(r->p, m->loop, &v)) {
      v.loop = r->p->nest.nodes.data[m->loop].name;
      return refuse_violation(r, m->span, &v);
    }
  for (uint32_t k = 0; k < r->p->arrays.len; k++)
    if (!po_folds_are_legal(r->p, k, &v))
      return refuse_violation(r, po_span_here(r), &v);
  return true;
}

static void
read_job(void *arg) {
  po_reader *r = arg;
  begin(r);
  bool ok = read_all(r) && po_check_given(r);
  if (ok)
    po_simplify_domains(r->p);
  bool failed = r->pool.failed || r->p->pool.failed ||
                isl_ctx_last_error(r->p->isl) != isl_error_none;
  if (ok && failed)
    ok = bs_error(r->ctx.diags, po_span_here(r), "too-complex",
                  "the program is too complex");
  po_bind_isl(r->p->isl, r->ctx.heap, 0);
  isl_ctx_reset_error(r->p->isl);
  if (!ok || !check_promises(r))
    return;
  po_lay_out(r->p);
  r->result = r->p;
}

po_program *
po_read_loops(const gs_context *ctx, const gs_target *target, uint32_t source,
              const po_given_size *given, uint32_t n) {
  assert(source <= ctx->diags->sources.len && (given || !n));
  po_reader r = {.ctx = *ctx,
                 .target = target,
                 .file = source,
                 .given = given,
                 .n_given = n};
  po_pool_init(&r.pool, ctx->heap);
  bs_arena_init(&r.arena, ctx->heap);
  bool memory = bs_protect(ctx->heap, read_job, &r);
  po_pool_done(&r.pool);
  if (!memory)
    bs_out_of_memory(ctx->heap);
  bs_arena_done(&r.arena);
  if (!r.result)
    po_free(r.p);
  return r.result;
}
