/* SPDX-License-Identifier: MIT */
/* api_primitive.c - the commands of schedules as functions.
 *
 * A function lists what it was given in the order of the command's arguments.
 * What each of them is, the table of primitives says, and names are looked up
 * as those of scripts are. */
#include "api/api.h"
#include "poly/schedule/change.h"
#include <ctype.h>
#include <string.h>

/* One argument; all zeros: it is left out. */
typedef struct given {
  bool is_there;
  const char *text; /* a name, a word or a text */
  int64_t number;
  const char *const *names;
  const int64_t *numbers;
  uint32_t n; /* of the lists */
} given;

typedef struct request {
  po_program *program;
  bs_arena *arena;
  po_step_call call;
} request;

static bool
misused(const request *r, const char *what) {
  po_refuse(r->program, &r->call, "usage", "%s", what);
  bs_hint(r->program->ctx.diags, "usage: %s", r->call.primitive->usage);
  return false;
}

/* ---- arguments ---- */

static bool
find_loops(request *r, const given *g, po_arg *arg) {
  uint32_t *nodes = BS_NEWS(r->arena, uint32_t, g->n + 1);
  for (uint32_t k = 0; k < g->n; k++)
    if (!g->names || !g->names[k])
      return misused(r, "a loop has no name");
    else if (!po_find_loop(r->program, g->names[k], BS_NOWHERE, &nodes[k]))
      return false;
  arg->n = g->n;
  arg->nodes = nodes;
  return true;
}

static bool
find_numbers(request *r, const given *g, po_arg *arg) {
  if (g->n && !g->numbers)
    return misused(r, "a list of numbers is NULL");
  arg->n = g->n;
  arg->numbers = g->numbers;
  return true;
}

/* It stands in quotes when the command is printed. */
static bool
find_text(request *r, const given *g, po_arg *arg) {
  if (strpbrk(g->text, "\"\n"))
    return misused(r, "a text must be one line without quotation marks");
  arg->word = bs_arena_strdup(r->arena, g->text);
  return true;
}

static bool
find_named(request *r, const given *g, po_arg *arg) {
  const po_program *p = r->program;
  if (!g->text)
    return misused(r, "a name or a text is NULL");
  switch (arg->kind) {
  case PO_ARG_LOOP:
  case PO_ARG_AT:
    return po_find_loop(p, g->text, BS_NOWHERE, &arg->node);
  case PO_ARG_NODE:
    return po_find_node(p, g->text, BS_NOWHERE, arg);
  case PO_ARG_STMT:
    return po_find_stmt(p, g->text, BS_NOWHERE, arg);
  case PO_ARG_ARRAY:
    return po_find_array(p, g->text, BS_NOWHERE, &arg->array);
  case PO_ARG_WORD:
  case PO_ARG_TEXT:
    return find_text(r, g, arg);
  case PO_ARG_END:
  case PO_ARG_LOOPS:
  case PO_ARG_STMTS:
  case PO_ARG_INT:
  case PO_ARG_INTS:
    break;
  }
  return true;
}

static bool
find_argument(request *r, const given *g, po_arg *arg) {
  arg->array = PO_NO_NODE;
  arg->number = g->number;
  switch (arg->kind) {
  case PO_ARG_LOOPS:
    return find_loops(r, g, arg);
  case PO_ARG_INTS:
    return find_numbers(r, g, arg);
  case PO_ARG_END:
  case PO_ARG_INT:
    return true;
  case PO_ARG_STMTS:
  case PO_ARG_LOOP:
  case PO_ARG_AT:
  case PO_ARG_NODE:
  case PO_ARG_STMT:
  case PO_ARG_ARRAY:
  case PO_ARG_WORD:
  case PO_ARG_TEXT:
    break;
  }
  return find_named(r, g, arg);
}

static bool
find_arguments(request *r, const given *all) {
  const po_primitive *what = r->call.primitive;
  for (uint32_t k = 0; k < PO_MAX_ARGS && what->args[k] != PO_ARG_END; k++) {
    if (!all[k].is_there)
      continue;
    r->call.args[k].kind = what->args[k];
    if (!find_argument(r, &all[k], &r->call.args[k]))
      return false;
  }
  return true;
}

/* ---- the loops that are made ---- */

static bool
is_identifier(const char *name) {
  if (!name || isdigit((unsigned char)*name) || !*name)
    return false;
  while (isalnum((unsigned char)*name) || *name == '_')
    name++;
  return !*name;
}

static bool
ask_for_names(request *r, const glen_made *made) {
  if (!made)
    return true;
  if (made->n > GLEN_MAX_MADE)
    return misused(r, "there are too many names");
  for (uint32_t k = 0; k < made->n; k++) {
    if (!is_identifier(made->names[k]))
      return misused(r, "a new name must be an identifier");
    r->call.results[k] = bs_arena_strdup(r->arena, made->names[k]);
  }
  r->call.n_results = made->n;
  return true;
}

static void
give_names(glen_context *ctx, const request *r, glen_made *made) {
  if (!made)
    return;
  made->n = r->call.n_made;
  for (uint32_t k = 0; k < made->n; k++)
    made->names[k] = bs_arena_strdup(
        &ctx->strings, po_node(r->program, r->call.made[k])->name);
}

/* ---- one command ---- */

bool
glen_violated(const glen_loops *loops, glen_violation *out) {
  const po_violation *v = &loops->violation;
  size_t size = out->size;
  glen_violation own = {.size = sizeof own};
  if (v->source)
    own = (glen_violation){.dependence = po_dep_names[v->kind],
                           .array = v->array,
                           .source = v->source,
                           .sink = v->sink,
                           .loop = v->loop,
                           .sizes = v->sizes,
                           .violated = v->violated,
                           .pairs = v->pairs};
  api_give_options(&own, sizeof own, out, size);
  return v->source != NULL;
}

/* options: their values in the order of the table, or NULL. */
static bool
apply(glen_context *ctx, glen_loops *loops, const char *name, glen_made *made,
      const given *all, const char *const *options) {
  API_ENTER_STAGE(ctx, "scheduling", 1, false);
  api_keep_original(loops);
  bs_arena arena;
  bs_arena_init(&arena, &ctx->heap);
  request r = {.program = loops->loops, .arena = &arena};
  r.call.primitive = po_primitive_find(name);
  r.call.violation = &loops->violation;
  loops->violation = (po_violation){0};
  for (uint32_t k = 0; options && k < PO_MAX_OPTIONS; k++)
    r.call.options[k] = options[k];
  uint32_t errors = ctx->diags.errors;
  bool ok = ask_for_names(&r, made) && find_arguments(&r, all) &&
            po_apply(&loops->loops, &r.call, NULL);
  r.program = loops->loops;
  if (ok) {
    give_names(ctx, &r, made);
    api_free_parts(loops);
    po_lay_out(loops->loops);
  } else if (ctx->diags.errors == errors) {
    po_refuse(r.program, &r.call, "failed", "the command failed");
  }
  if (!ok)
    api_blame_limit(&frame);
  bs_arena_done(&arena);
  return ok;
}

#define APPLY(name, made, ...)                                                 \
  apply(ctx, loops, name, made, (const given[PO_MAX_ARGS]){__VA_ARGS__}, NULL)
#define APPLY_WITH(options, name, ...)                                         \
  apply(ctx, loops, name, NULL, (const given[PO_MAX_ARGS]){__VA_ARGS__},       \
        options)
#define TEXT(x)                                                                \
  { .is_there = true, .text = (x) }
#define NUMBER(x)                                                              \
  { .is_there = true, .number = (x) }
#define NAMES(x, k)                                                            \
  { .is_there = true, .names = (x), .n = (k) }
#define NUMBERS(x, k)                                                          \
  { .is_there = true, .numbers = (x), .n = (k) }
/* Arguments that a caller may leave out. */
#define MAYBE_TEXT(x)                                                          \
  { .is_there = (x) != NULL, .text = (x) }
#define MAYBE_NUMBER(x)                                                        \
  { .is_there = (x) != GLEN_LEFT_OUT, .number = (x) }
#define MAYBE_NUMBERS(x, k)                                                    \
  { .is_there = (x) != NULL, .numbers = (x), .n = (k) }

bool
glen_loops_split(glen_context *ctx, glen_loops *loops, const char *loop,
                 const int64_t *factors, uint32_t n, glen_made *made) {
  return APPLY("split", made, TEXT(loop), NUMBERS(factors, n));
}

bool
glen_loops_fuse(glen_context *ctx, glen_loops *loops, const char *const *names,
                uint32_t n, glen_made *made) {
  return APPLY("fuse", made, NAMES(names, n));
}

bool
glen_loops_tile(glen_context *ctx, glen_loops *loops, const char *const *names,
                const int64_t *sizes, uint32_t n, glen_made *made) {
  return APPLY("tile", made, NAMES(names, n), NUMBERS(sizes, n));
}

bool
glen_loops_reorder(glen_context *ctx, glen_loops *loops,
                   const char *const *names, uint32_t n) {
  return APPLY("reorder", NULL, NAMES(names, n));
}

bool
glen_loops_fission(glen_context *ctx, glen_loops *loops, const char *loop,
                   const char *node, glen_made *made) {
  return APPLY("fission", made, TEXT(loop), TEXT(node));
}

bool
glen_loops_merge(glen_context *ctx, glen_loops *loops, const char *loop,
                 const char *next, glen_made *made) {
  return APPLY("merge", made, TEXT(loop), TEXT(next));
}

bool
glen_loops_compute_with(glen_context *ctx, glen_loops *loops, const char *loop,
                        const char *other, int64_t levels, glen_made *made) {
  return APPLY("compute_with", made, TEXT(loop), TEXT(other),
               MAYBE_NUMBER(levels));
}

bool
glen_loops_put_after(glen_context *ctx, glen_loops *loops, const char *node,
                     const char *other) {
  return APPLY("put_after", NULL, TEXT(node), TEXT(other));
}

bool
glen_loops_interleave(glen_context *ctx, glen_loops *loops,
                      const char *const *names, uint32_t n, int64_t size,
                      const int64_t *skews, glen_made *made) {
  return APPLY("interleave", made, NAMES(names, n), NUMBER(size),
               MAYBE_NUMBERS(skews, n));
}

bool
glen_loops_simple_compute_at(glen_context *ctx, glen_loops *loops,
                             const char *stmt, const char *loop) {
  return APPLY("simple_compute_at", NULL, TEXT(stmt), TEXT(loop));
}

bool
glen_loops_shift(glen_context *ctx, glen_loops *loops, const char *stmt,
                 const char *loop, int64_t by) {
  return APPLY("shift", NULL, TEXT(stmt), TEXT(loop), NUMBER(by));
}

bool
glen_loops_skew(glen_context *ctx, glen_loops *loops, const char *loop,
                const char *outer, int64_t by, glen_made *made) {
  return APPLY("skew", made, TEXT(loop), TEXT(outer), NUMBER(by));
}

bool
glen_loops_enclose(glen_context *ctx, glen_loops *loops, const char *node,
                   const char *map, glen_made *made) {
  return APPLY("enclose", made, TEXT(node), TEXT(map));
}

bool
glen_loops_serial(glen_context *ctx, glen_loops *loops, const char *loop) {
  return APPLY("serial", NULL, TEXT(loop));
}

bool
glen_loops_unroll(glen_context *ctx, glen_loops *loops, const char *loop) {
  return APPLY("unroll", NULL, TEXT(loop));
}

bool
glen_loops_parallel(glen_context *ctx, glen_loops *loops, const char *loop) {
  return APPLY("parallel", NULL, TEXT(loop));
}

bool
glen_loops_vectorize(glen_context *ctx, glen_loops *loops, const char *loop,
                     int64_t lanes, const char *tail) {
  const char *options[PO_MAX_OPTIONS] = {tail};
  return APPLY_WITH(options, "vectorize", TEXT(loop), NUMBER(lanes));
}

bool
glen_loops_bind(glen_context *ctx, glen_loops *loops, const char *loop,
                const char *axis) {
  return APPLY("bind", NULL, TEXT(loop), TEXT(axis));
}

bool
glen_loops_sync_threads(glen_context *ctx, glen_loops *loops, const char *node,
                        bool after) {
  const char *options[PO_MAX_OPTIONS] = {after ? "true" : "false"};
  return APPLY_WITH(options, "sync_threads", TEXT(node));
}

bool
glen_loops_separate(glen_context *ctx, glen_loops *loops, const char *loop) {
  return APPLY("separate", NULL, TEXT(loop));
}

bool
glen_loops_peel(glen_context *ctx, glen_loops *loops, const char *loop,
                int64_t n, glen_made *made) {
  return APPLY("peel", made, TEXT(loop), NUMBER(n));
}

bool
glen_loops_partition(glen_context *ctx, glen_loops *loops, const char *loop,
                     const int64_t *values, uint32_t n, glen_made *made) {
  return APPLY("partition", made, TEXT(loop), NUMBERS(values, n));
}

bool
glen_loops_specialise(glen_context *ctx, glen_loops *loops, const char *node,
                      const char *condition, glen_made *made) {
  return APPLY("specialise", made, TEXT(node), TEXT(condition));
}

bool
glen_loops_divide(glen_context *ctx, glen_loops *loops, const char *array) {
  return APPLY("divide", NULL, TEXT(array));
}

bool
glen_loops_trim(glen_context *ctx, glen_loops *loops, const char *array) {
  return APPLY("trim", NULL, TEXT(array));
}

bool
glen_loops_compute_inline(glen_context *ctx, glen_loops *loops,
                          const char *stmt) {
  return APPLY("compute_inline", NULL, TEXT(stmt));
}

bool
glen_loops_reverse_compute_inline(glen_context *ctx, glen_loops *loops,
                                  const char *stmt) {
  return APPLY("reverse_compute_inline", NULL, TEXT(stmt));
}

bool
glen_loops_compute_at(glen_context *ctx, glen_loops *loops, const char *stmt,
                      const char *loop) {
  return APPLY("compute_at", NULL, TEXT(stmt), TEXT(loop));
}

bool
glen_loops_roll(glen_context *ctx, glen_loops *loops, const char *stmt,
                const char *loop, const char *fill) {
  const char *options[PO_MAX_OPTIONS] = {fill};
  return APPLY_WITH(options, "roll", TEXT(stmt), TEXT(loop));
}

bool
glen_loops_reverse_compute_at(glen_context *ctx, glen_loops *loops,
                              const char *stmt, const char *loop) {
  return APPLY("reverse_compute_at", NULL, TEXT(stmt), TEXT(loop));
}

bool
glen_loops_rfactor(glen_context *ctx, glen_loops *loops, const char *loop,
                   int64_t axis, glen_made *made) {
  return APPLY("rfactor", made, TEXT(loop), MAYBE_NUMBER(axis));
}

bool
glen_loops_privatise(glen_context *ctx, glen_loops *loops, const char *loop,
                     int64_t parts, glen_made *made) {
  return APPLY("privatise", made, TEXT(loop), NUMBER(parts));
}

bool
glen_loops_decompose_reduction(glen_context *ctx, glen_loops *loops,
                               const char *stmt, const char *loop) {
  return APPLY("decompose_reduction", NULL, TEXT(stmt), TEXT(loop));
}

bool
glen_loops_pad_einsum(glen_context *ctx, glen_loops *loops, const char *stmt,
                      const int64_t *factors, uint32_t n) {
  return APPLY("pad_einsum", NULL, TEXT(stmt), NUMBERS(factors, n));
}

bool
glen_loops_tensorize(glen_context *ctx, glen_loops *loops, const char *loop,
                     const char *instruction, const int64_t *parameters,
                     uint32_t n) {
  return APPLY("tensorize", NULL, TEXT(loop), TEXT(instruction),
               MAYBE_NUMBERS(parameters, n));
}

bool
glen_loops_cache_read(glen_context *ctx, glen_loops *loops, const char *stmt,
                      const char *array, const char *scope, const char *at) {
  return APPLY("cache_read", NULL, TEXT(stmt), TEXT(array), TEXT(scope),
               MAYBE_TEXT(at));
}

bool
glen_loops_cache_write(glen_context *ctx, glen_loops *loops, const char *stmt,
                       const char *scope, const char *at) {
  return APPLY("cache_write", NULL, TEXT(stmt), TEXT(scope), MAYBE_TEXT(at));
}

bool
glen_loops_pack(glen_context *ctx, glen_loops *loops, const char *stmt,
                const char *array, const char *layout, const char *scope,
                const char *at) {
  return APPLY("pack", NULL, TEXT(stmt), TEXT(array), TEXT(layout), TEXT(scope),
               MAYBE_TEXT(at));
}

bool
glen_loops_set_buffer(glen_context *ctx, glen_loops *loops, const char *array,
                      const char *scope) {
  return APPLY("set_buffer", NULL, TEXT(array), TEXT(scope));
}

bool
glen_loops_transform_layout(glen_context *ctx, glen_loops *loops,
                            const char *array, const char *layout) {
  return APPLY("transform_layout", NULL, TEXT(array), TEXT(layout));
}

bool
glen_loops_storage_align(glen_context *ctx, glen_loops *loops,
                         const char *array, int64_t dim, int64_t factor,
                         int64_t offset) {
  return APPLY("storage_align", NULL, TEXT(array), NUMBER(dim), NUMBER(factor),
               MAYBE_NUMBER(offset));
}

bool
glen_loops_fold_storage(glen_context *ctx, glen_loops *loops, const char *array,
                        int64_t dim, int64_t places) {
  return APPLY("fold_storage", NULL, TEXT(array), NUMBER(dim),
               MAYBE_NUMBER(places));
}

bool
glen_loops_double_buffer(glen_context *ctx, glen_loops *loops,
                         const char *array, const char *loop, int64_t places) {
  return APPLY("double_buffer", NULL, TEXT(array), TEXT(loop),
               MAYBE_NUMBER(places));
}

bool
glen_loops_pipeline(glen_context *ctx, glen_loops *loops, const char *stmt,
                    const char *loop, int64_t ahead) {
  return APPLY("pipeline", NULL, TEXT(stmt), TEXT(loop), MAYBE_NUMBER(ahead));
}

/* Sizes as the options of a script are, which are words. */
typedef struct size_words {
  char text[6][24];
} size_words;

static void
put_sizes(const glen_contract *c, size_words *words, const char **options) {
  const int64_t sizes[] = {c->rows,      c->vectors,      c->depth,
                           c->tile_rows, c->tile_columns, c->block_rows};
  for (uint32_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    snprintf(words->text[k], sizeof words->text[k], "%lld",
             (long long)sizes[k]);
    options[k] = sizes[k] ? words->text[k] : NULL;
  }
}

bool
glen_loops_contract(glen_context *ctx, glen_loops *loops, const char *stmt,
                    const glen_contract *given_contract) {
  glen_contract c = {.size = sizeof c};
  size_words words;
  if (given_contract && !api_take_options(ctx, given_contract, &c, sizeof c))
    return false;
  const char *options[PO_MAX_OPTIONS] = {c.as, c.swap, c.x, c.y};
  put_sizes(&c, &words, options + 4);
  return APPLY_WITH(options, "contract", TEXT(stmt));
}
