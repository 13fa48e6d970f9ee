/* SPDX-License-Identifier: MIT */
/* tiling.c - which code takes a call of given sizes, and how it runs there. */
#include "api/api.h"
#include "api/object.h"
#include "poly/kernel/contraction.h"
#include "poly/loops/loops_number.h"
#include <math.h>
#include <string.h>

enum { MOST_CALLS = 4096 }; /* that one answer tells of */

static po_options
lowering(const glen_code_options *o) {
  return (po_options){.strict_fp = o->strict_fp,
                      .max_pieces = API_MAX_PIECES,
                      .prepack = o->prepack,
                      .n_prepack = o->n_prepack};
}

uint32_t
api_most_keys(const glen_code_options *o) {
  return o->n_prepack ? 0 : o->keys;
}

bool
api_choose_keys(glen_context *ctx, const glen_program *program,
                const glen_target *target, const glen_code_options *o,
                po_keys *out) {
  *out = (po_keys){0};
  API_ENTER_STAGE(ctx, "lowering", 1, false);
  po_options options = lowering(o);
  return po_choose_keys(program->program, target->target, &options,
                        api_most_keys(o), out);
}

/* ---- what is told ---- */

typedef struct telling {
  glen_context *ctx;
  const gs_program *p;
  const int64_t *at;
  const po_keys *keys;
  const po_key_price *prices;
  uint32_t key;
  po_program *code; /* of the key, laid out */
  int64_t own[GS_MOST_SIZES];
} telling;

static const gs_size *
part_of(const telling *x, uint32_t k) {
  return k < x->keys->n ? x->keys->list[k].part : x->p->sizes->list;
}

static void
put_part(const telling *x, uint32_t k, bs_text *out) {
  gs_put_bounds(out, part_of(x, k), x->p->sizes->n);
}

/* A block of a loop: equal parts of the whole, each of at most so many and, but
 * for the last, of whole units. */
static int64_t
block_of(int64_t whole, int64_t most, int64_t unit) {
  int64_t parts = whole > most ? bs_ceil_div(whole, most) : 1;
  int64_t block = bs_round_up(bs_ceil_div(whole, parts), unit);
  return block < whole ? block : whole;
}

typedef struct kernel {
  const char *statement, *x, *y;
  int64_t rows, columns, k, n, m;
} kernel;

static const char *
mode_of(po_cmode mode, bool may_lie, bool lies) {
  return may_lie && lies ? "direct" : po_cmode_names[mode];
}

/* Tiles of an image whose lines the call knows are whole steps of its outermost
 * loop. */
static int64_t
rows_of(const po_contraction *c, int64_t m) {
  if (!c->sized[PO_DIM_M] || !po_image_of_x(c) || c->line == m)
    return block_of(m, c->mc, c->mr);
  int64_t unit = m / c->dims[PO_DIM_M].d[0].extent;
  return block_of(m, c->mc / unit * unit, unit);
}

static kernel
kernel_of(const telling *x, const po_contraction *planned, po_contraction *c) {
  const po_program *p = x->code;
  gs_sizes *sizes = po_numbers_of(p, &x->code->arena);
  *c = *planned;
  if (sizes)
    po_contraction_at(sizes, x->own, planned, c);
  int64_t m = po_cdims_size(&c->dims[PO_DIM_M]);
  int64_t n = po_cdims_size(&c->dims[PO_DIM_N]);
  int64_t columns = (int64_t)c->nv * c->lanes;
  return (kernel){
      .statement = p->stmts.data[c->update].name,
      .rows = c->mr,
      .columns = columns,
      .k = block_of(c->dims[PO_DIM_K].d[0].extent, c->kc, 1),
      .n = block_of(n, c->nc, columns),
      .m = rows_of(c, m),
      .x = mode_of(c->x_mode, c->x_may_lie, c->x_may_lie && po_x_lies(c)),
      .y = mode_of(c->y_mode, c->y_may_lie,
                   c->y_may_lie && po_y_lies(c, p->target))};
}

static int64_t
workspace_of(const telling *x) {
  return x->code->sizes.len ? po_workspace_at(x->code, x->own)
                            : x->code->workspace_bytes;
}

static void
put_kernels(const telling *x, bs_text *out) {
  po_contraction *room = bs_alloc(&x->ctx->heap, sizeof *room);
  for (uint32_t k = 0; k < x->code->contractions.len; k++) {
    kernel c = kernel_of(x, x->code->contractions.data[k], room);
    bs_putf(out,
            "%-10s kernel of %lld x %lld; blocks of k %lld, n %lld, m %lld; x "
            "%s, y %s\n",
            c.statement, (long long)c.rows, (long long)c.columns,
            (long long)c.k, (long long)c.n, (long long)c.m, c.x, c.y);
  }
  bs_free(&x->ctx->heap, room);
}

static void
put_prices(const telling *x, bs_text *out) {
  for (uint32_t k = 0; k <= x->keys->n; k++) {
    bs_putf(out, "%s key %-3u ", k == x->key ? "*" : " ", k);
    if (x->prices[k].holds)
      bs_putf(out, "%12.0f cycles  ", x->prices[k].cycles);
    else
      bs_put(out, "                     ");
    put_part(x, k, out);
    bs_putc(out, '\n');
  }
  bs_putf(out, "  alone   %12.0f cycles  code for these sizes and no others\n",
          x->prices[x->keys->n + 1].cycles);
}

static void
put_call(const telling *x, bs_text *out) {
  gs_put_sizes_at(out, x->p->sizes, x->at);
  bs_putf(out, ": key %u of %u, for ", x->key, x->keys->n + 1);
  put_part(x, x->key, out);
  bs_putf(out, "\nworkspace  %lld bytes\n", (long long)workspace_of(x));
  put_kernels(x, out);
  put_prices(x, out);
}

/* ---- as JSON ---- */

static void
json_part(const telling *x, uint32_t k, bs_json *j) {
  const gs_size *part = part_of(x, k);
  bs_json_array(j, "sizes");
  for (uint32_t i = 0; i < x->p->sizes->n; i++) {
    bs_json_object(j, NULL);
    bs_json_string(j, "name", part[i].name);
    bs_json_int(j, "least", part[i].least);
    bs_json_int(j, "most", part[i].most);
    bs_json_int(j, "multiple", part[i].multiple);
    bs_json_end(j);
  }
  bs_json_end(j);
}

static void
json_kernels(const telling *x, bs_json *j) {
  po_contraction *room = bs_alloc(&x->ctx->heap, sizeof *room);
  bs_json_array(j, "kernels");
  for (uint32_t k = 0; k < x->code->contractions.len; k++) {
    kernel c = kernel_of(x, x->code->contractions.data[k], room);
    bs_json_object(j, NULL);
    bs_json_string(j, "statement", c.statement);
    bs_json_int(j, "rows", c.rows);
    bs_json_int(j, "columns", c.columns);
    bs_json_int(j, "block_k", c.k);
    bs_json_int(j, "block_n", c.n);
    bs_json_int(j, "block_m", c.m);
    bs_json_string(j, "x", c.x);
    bs_json_string(j, "y", c.y);
    bs_json_end(j);
  }
  bs_json_end(j);
  bs_free(&x->ctx->heap, room);
}

static void
json_keys(const telling *x, bs_json *j) {
  bs_json_array(j, "keys");
  for (uint32_t k = 0; k <= x->keys->n; k++) {
    bs_json_object(j, NULL);
    json_part(x, k, j);
    if (x->prices[k].holds)
      bs_json_real(j, "cycles", x->prices[k].cycles);
    bs_json_end(j);
  }
  bs_json_end(j);
}

static void
json_at(const telling *x, bs_json *j) {
  bs_json_array(j, "at");
  for (uint32_t k = 0; k < x->p->sizes->n; k++) {
    bs_json_object(j, NULL);
    bs_json_string(j, "name", x->p->sizes->list[k].name);
    bs_json_int(j, "value", x->at[k]);
    bs_json_end(j);
  }
  bs_json_end(j);
}

static void
json_call(const telling *x, bs_json *j) {
  bs_json_object(j, NULL);
  bs_json_int(j, "schema", 1);
  json_at(x, j);
  bs_json_int(j, "key", x->key);
  bs_json_int(j, "workspace", workspace_of(x));
  json_kernels(x, j);
  json_keys(x, j);
  bs_json_real(j, "cycles_alone", x->prices[x->keys->n + 1].cycles);
  bs_json_end(j);
}

/* ---- sizes that are given ---- */

/* The number that a size has in a call; numbers that stand alone are those of
 * all calls. */
static bool
number_of(glen_context *ctx, const gs_size *s, const api_numbers *given,
          uint32_t n, uint32_t call, int64_t *out) {
  for (uint32_t k = 0; k < n; k++) {
    if (strcmp(given[k].name, s->name))
      continue;
    *out = given[k].values[given[k].n > 1 ? call : 0];
    return gs_size_holds(s, *out) ||
           bs_error(&ctx->diags, s->span, "size-range",
                    "%s = %lld is not within its bounds", s->name,
                    (long long)*out);
  }
  bs_error(&ctx->diags, BS_NOWHERE, "open-size",
           "a tiling key needs a number for size %s", s->name);
  bs_hint(&ctx->diags, "for example --size %s=%lld", s->name,
          (long long)s->most);
  return false;
}

static void
hint_sizes(glen_context *ctx, const gs_sizes *s, const char *name) {
  const char *names[GS_MOST_SIZES];
  for (uint32_t k = 0; k < s->n; k++)
    names[k] = s->list[k].name;
  bs_hint_names(&ctx->diags, name, names, s->n);
}

static bool
know_names(glen_context *ctx, const gs_sizes *s, const api_numbers *given,
           uint32_t n) {
  for (uint32_t k = 0; k < n; k++) {
    uint32_t j = 0;
    while (j < s->n && strcmp(s->list[j].name, given[k].name))
      j++;
    if (j == s->n) {
      bs_error(&ctx->diags, BS_NOWHERE, "unknown-name",
               "the program has no size named %s", given[k].name);
      hint_sizes(ctx, s, given[k].name);
      return false;
    }
  }
  return true;
}

static bool
is_open(glen_context *ctx, const gs_program *p) {
  if (p->sizes)
    return true;
  bs_error(&ctx->diags, BS_NOWHERE, "open-size",
           "the program leaves no size open, so there is only one version of "
           "its code");
  bs_hint(&ctx->diags, "a size is declared by (size NAME LEAST MOST), that "
                       "of a model by --dim NAME=LEAST..MOST");
  return false;
}

/* Sizes with several numbers have as many, one for each call. */
static bool
count_calls(glen_context *ctx, const api_numbers *given, uint32_t n,
            uint32_t *calls) {
  uint32_t first = 0;
  *calls = 1;
  for (uint32_t k = 0; k < n; k++) {
    if (given[k].n > 1 && *calls > 1 && given[k].n != *calls) {
      ctx->failure = GLEN_USAGE;
      return bs_error(&ctx->diags, BS_NOWHERE, "bad-size",
                      "size %s has %u numbers and size %s has %u: one for each "
                      "call",
                      given[first].name, *calls, given[k].name, given[k].n);
    }
    if (given[k].n > 1 && *calls == 1) {
      *calls = given[k].n;
      first = k;
    }
  }
  return true;
}

/* The sizes of each call, one after the other. */
static const int64_t *
read_calls(glen_context *ctx, const gs_program *p, const char *const *sizes,
           uint32_t n, uint32_t *calls) {
  bs_arena *arena = p->ctx.arena;
  api_numbers *given;
  if (!api_read_numbers(ctx, arena, sizes, n, MOST_CALLS, &given) ||
      !is_open(ctx, p) || !know_names(ctx, p->sizes, given, n) ||
      !count_calls(ctx, given, n, calls))
    return NULL;
  int64_t *at = BS_NEWS(arena, int64_t, *calls * p->sizes->n);
  for (uint32_t k = 0; k < *calls * p->sizes->n; k++)
    if (!number_of(ctx, &p->sizes->list[k % p->sizes->n], given, n,
                   k / p->sizes->n, &at[k]))
      return NULL;
  return at;
}

/* ---- calls ---- */

typedef struct lowered {
  po_program *of[PO_MOST_KEYS + 1]; /* by key; NULL: not yet */
} lowered;

/* As it is compiled by default. */
static po_program *
lower_key(const telling *x, const gs_target *t, const po_options *options,
          lowered *done) {
  po_program **code = &done->of[x->key], *before = NULL;
  po_auto_options fusing = {.max_recompute = 0};
  po_auto_result fused;
  if (*code)
    return *code;
  *code = po_lower_part(
      x->key < x->keys->n ? x->keys->list[x->key].program : x->p, t, options);
  if (*code)
    api_fuse_unasked(code, &fusing, &fused, &before);
  if (before)
    po_free(before);
  return *code;
}

static bool
put_calls(telling *x, uint32_t n, const gs_target *t, const po_options *options,
          const po_key_prices *prices, lowered *done, bs_text *out,
          bs_json *j) {
  for (uint32_t k = 0; k < n; k++) {
    x->prices = prices[k].of;
    x->key = po_key_at(x->keys, x->p->sizes->n, x->at);
    po_sizes_left(part_of(x, x->key), x->p->sizes->n, x->at, x->own);
    x->code = lower_key(x, t, options, done);
    if (!x->code)
      return false;
    bs_put(out, !j && k ? "\n" : "");
    if (j)
      json_call(x, j);
    else
      put_call(x, out);
    x->at += x->p->sizes->n;
  }
  return true;
}

static const char *
tell_calls(telling *x, uint32_t n, const gs_target *t,
           const po_options *options, const po_key_prices *prices, bool json) {
  bs_text out;
  bs_json j;
  lowered done = {0};
  bs_text_init(&out, &x->ctx->heap);
  bs_json_init(&j, &out, 0);
  if (json && n > 1)
    bs_json_array(&j, NULL);
  bool ok = put_calls(x, n, t, options, prices, &done, &out, json ? &j : NULL);
  for (uint32_t k = 0; k <= PO_MOST_KEYS; k++)
    po_free(done.of[k]);
  if (json && n > 1)
    bs_json_end(&j);
  if (json)
    bs_putc(&out, '\n');
  const char *text = api_string(x->ctx, &out);
  return ok ? text : NULL;
}

static const char *
tell(glen_context *ctx, const gs_program *p, const gs_target *t,
     const glen_code_options *o, const char *const *sizes, uint32_t n_sizes,
     bool json) {
  po_keys keys;
  uint32_t n;
  const int64_t *at = read_calls(ctx, p, sizes, n_sizes, &n);
  if (!at)
    return NULL;
  for (uint32_t k = 0; k < o->n_prepack; k++)
    if (!api_know_input(ctx, p, o->prepack[k]))
      return NULL;
  po_options options = lowering(o);
  po_key_prices *prices = BS_NEWS(p->ctx.arena, po_key_prices, n);
  if (!po_choose_keys(p, t, &options, api_most_keys(o), &keys) ||
      !po_price_keys(p, t, &options, &keys, n, at, prices))
    return NULL;
  telling x = {.ctx = ctx, .p = p, .at = at, .keys = &keys};
  return tell_calls(&x, n, t, &options, prices, json);
}

const char *
glen_tiling(glen_context *ctx, const glen_program *program,
            const glen_target *target, const glen_code_options *given,
            const char *const *sizes, uint32_t n_sizes, bool json) {
  API_ENTER_STAGE(ctx, "lowering", 1, NULL);
  glen_code_options o;
  glen_code_defaults(&o);
  if (!api_take_options(ctx, given, &o, sizeof o))
    return NULL;
  api_object *object = api_object_take(ctx);
  gs_program there = api_program_in(object, program->program);
  const char *text =
      tell(ctx, &there, target->target, &o, sizes, n_sizes, json);
  if (!text)
    api_blame_limit(&frame);
  api_object_free(object);
  return text;
}
