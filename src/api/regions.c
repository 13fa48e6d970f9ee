/* SPDX-License-Identifier: MIT */
/* regions.c - a program saturated region by region.
 *
 * Regions that are alike are saturated once, in an e-graph of their own, within
 * a budget of its own.  What was found for one is put into the e-graph of the
 * whole beside what the program says, wherever a region is like it, and the
 * extraction chooses over all of them.
 *
 * A budget is tried in steps, each some times the one before, up to the one
 * that nothing cuts off; the cheapest result is taken.  So a larger limit never
 * gives a dearer region: it tries what the smaller one tried, and more. */
#include "api/api_saturate.h"
#include "base/file.h"
#include "base/hash.h"
#include <assert.h>

#include <string.h>

enum {
  MOST_AS_ONE = 24,    /* regions of a program that `auto` saturates as one */
  FIRST_BUDGET = 1000, /* e-nodes */
  BUDGET_STEP = 4,
  LEAST_LIMIT = 64000 /* e-nodes that a region may have, whatever their number,
                         if the whole may */
};

/* Regions that are alike: the first one's program, and the ends of all. */
typedef struct kind {
  rg_part part;
  BS_VEC(uint32_t) regions;
} kind;

typedef struct exploration {
  api_saturation *a;
  const rg_cut *cut;
  rg_parts parts;
  rg_ends *ends; /* by region */
  BS_VEC(kind) kinds;
  bs_keys keys; /* of the kinds */
  rl_graft graft;
  api_regions *out;
  bool told, stop; /* the rules were warned of; the other regions stay as they
                      are */
} exploration;

/* ---- whether, and how far a part goes ---- */

static bool
is_product(const bs_values *values, const gs_sk_node *n) {
  gs_compute c;
  if (n->op == GS_CALL)
    return true;
  return n->op == GS_COMPUTE && n->n_attrs && n->attrs[0] &&
         n->attrs[0]->kind == GS_X_LITERAL &&
         gs_compute_of(values, n->attrs[0]->literal, &c) &&
         gs_compute_table[c].kind == GS_DOT;
}

/* On a way through a pattern: a sum of products begins a region above those of
 * what it is made of. */
static uint32_t
regions_spanned(bs_heap *heap, const bs_values *values, const gs_skeleton *s) {
  uint32_t *span = bs_calloc(heap, s->n + (size_t)1, sizeof *span);
  for (uint32_t k = 0; k < s->n; k++) {
    const gs_sk_node *n = &s->nodes[k];
    for (uint32_t j = 0; !n->hole && j < n->n_kids; j++)
      span[k] = span[n->kids[j]] > span[k] ? span[n->kids[j]] : span[k];
    if (n->hole)
      continue;
    if (is_product(values, n))
      span[k]++;
    else if (n->op == GS_COMPUTE && !span[k])
      span[k] = 1;
  }
  uint32_t most = s->n ? span[s->n - 1] : 0;
  bs_free(heap, span);
  return most;
}

/* An instruction may do the work of several layers. */
static uint32_t
reach_of(const api_saturation *a) {
  const rl_rules *rules = a->rules->rules;
  uint32_t reach = 1;
  for (uint32_t k = 0; k < rl_count(rules); k++) {
    const rl_rule *rule = rl_at(rules, k);
    if (rule->kind != RL_LOWERING || !rule->left)
      continue;
    uint32_t n =
        regions_spanned(&a->result->heap, a->result->gs.values, rule->left);
    reach = n > reach ? n : reach;
  }
  return reach;
}

bool
api_wants_regions(api_saturation *a, rg_cut *cut) {
  glen_regions way = a->options->regions;
  *cut = (rg_cut){.heap = &a->result->heap};
  if (way == GLEN_REGIONS_WHOLE ||
      (way == GLEN_REGIONS_AUTO && a->options->matches_a_rule))
    return false;
  rg_cut_program(&a->result->heap, a->result->input, cut);
  return cut->n > (way == GLEN_REGIONS_AUTO ? MOST_AS_ONE : 0);
}

/* ---- which are alike ---- */

static bool
sort_region(exploration *x, uint32_t r) {
  glen_result *result = x->a->result;
  bs_heap *heap = &result->heap;
  bs_key key = {0};
  rg_list(&x->parts, r, &key, &x->ends[r]);
  uint32_t k = bs_keys_number(heap, &x->keys, &key);
  if (k == x->kinds.len) {
    kind new = {0};
    if (!rg_make(&x->parts, r, &result->gs, &new.part))
      return bs_error(&x->a->ctx->diags, BS_NOWHERE, "internal",
                      "a region of the program has no type by itself");
    bs_push(heap, &x->kinds, new);
  }
  bs_push(heap, &x->kinds.data[k].regions, r);
  return true;
}

/* ---- one of each kind ---- */

/* A region has its part of the e-nodes, and a fair number in any case. */
static uint32_t
limit_of_each(const exploration *x) {
  uint32_t limit = x->a->options->nodes;
  if (!limit)
    return UINT32_MAX;
  uint32_t part = limit / x->kinds.len;
  uint32_t least = limit < LEAST_LIMIT ? limit : LEAST_LIMIT;
  return part > least ? part : least;
}

/* The region as a saturation of its own. */
static void
begin_part(exploration *x, const kind *k, glen_result *r) {
  glen_result *whole = x->a->result;
  api_result_init(r, x->a->ctx, &whole->heap, whole->target, k->part.program);
  bs_arena_init(&r->arena, &r->heap);
  r->gs = x->a->ctx->gs;
  r->gs.heap = &r->heap;
  r->gs.arena = &r->arena;
  r->limit = whole->limit;
  r->prepacked = (ex_names){k->part.same, k->part.n_same};
  r->part = true;
}

/* NULL: a rule is at fault. */
static glen_result *
try_budget(exploration *x, const kind *k, uint32_t nodes) {
  api_saturation part = *x->a;
  glen_saturate_options options = *x->a->options;
  glen_result *r = BS_NEW(&x->a->result->arena, glen_result);
  begin_part(x, k, r);
  options.nodes = nodes;
  options.seconds /= x->kinds.len;
  options.extract_seconds /= 2 * x->kinds.len;
  part.options = &options;
  part.result = r;
  part.quiet = x->told;
  x->told = true;
  if (api_explore(&part) &&
      api_extract(r, part.method, options.extract_seconds))
    return r;
  glen_result_free(r);
  return NULL;
}

static void
note(exploration *x, const glen_result *r, api_region *out) {
  glen_summary *sum = &x->a->result->summary;
  const glen_summary *one = &r->summary;
  out->nodes = one->nodes;
  out->cut = r->run.finished ? EG_STOP_SATURATED : r->run.stop;
  sum->iterations += one->iterations;
  sum->search_s += one->search_s;
  sum->apply_s += one->apply_s;
  sum->rebuild_s += one->rebuild_s;
  sum->bytes = one->bytes > sum->bytes ? one->bytes : sum->bytes;
  x->a->result->matches += r->matches;
  x->a->result->limited |= r->limited;
  rl_credit(&x->a->result->run, &r->run);
}

static bool
was_stopped(const glen_result *r) {
  return r->run.stop == EG_STOP_INTERRUPT || r->run.stop == EG_STOP_CLIENT;
}

/* The cheapest of what the budgets give; NULL: a rule is at fault. */
static glen_result *
climb(exploration *x, const kind *k, api_region *out) {
  uint32_t limit = limit_of_each(x);
  uint64_t nodes = limit < FIRST_BUDGET ? limit : FIRST_BUDGET;
  glen_result *best = NULL;
  for (bool last = false; !last; nodes *= BUDGET_STEP) {
    glen_result *r = try_budget(x, k, (uint32_t)nodes);
    if (!r)
      return NULL;
    note(x, r, out);
    x->stop |= was_stopped(r);
    last = out->cut != EG_STOP_NODES || x->stop ||
           nodes * BUDGET_STEP > limit || bs_stage_late(&x->a->ctx->governor);
    if (last)
      rl_credit_end(&x->a->result->run, &r->run);
    bool better = !best || r->summary.cost_after < best->summary.cost_after;
    glen_result_free(better ? best : r);
    best = better ? r : best;
  }
  return best;
}

/* ---- into the whole ---- */

/* Places of a region's terms, by those of the first one like it. */
typedef struct places {
  const gs_program *p;
  const rg_ends *from, *to;
  bs_map at;
} places;

static uint64_t
key_of(bs_span span) {
  uint32_t words[] = {span.file, span.lo, span.hi};
  return bs_hash(words, sizeof words);
}

static bs_span
place(void *ctx, bs_span span) {
  const places *x = ctx;
  uint32_t k = bs_map_get(&x->at, key_of(span));
  return k == BS_NO_ENTRY ? span : gs_at(x->p, x->to->all.data[k])->span;
}

static void
note_places(exploration *x, const kind *k, places *out) {
  *out = (places){.p = x->cut->p, .from = &x->ends[k->regions.data[0]]};
  for (uint32_t i = 0; i < out->from->all.len; i++)
    bs_map_put(&x->a->result->heap, &out->at,
               key_of(gs_at(out->p, out->from->all.data[i])->span), i);
}

static bool
graft(exploration *x, const kind *k, const glen_result *found) {
  assert(k->regions.len > 0);
  places at;
  bool ok = true;
  note_places(x, k, &at);
  for (uint32_t i = 0; i < k->regions.len && ok; i++) {
    const rg_ends *ends = at.to = &x->ends[k->regions.data[i]];
    rl_piece piece = {.part = k->part.program,
                      .found = found->program.program,
                      .inputs = ends->inputs.data,
                      .constants = ends->constants.data,
                      .outputs = ends->outputs.data,
                      .place = place,
                      .place_ctx = &at};
    ok = rl_graft_piece(&x->graft, &piece);
  }
  bs_map_done(&x->a->result->heap, &at.at);
  return ok ||
         bs_error(&x->a->ctx->diags, BS_NOWHERE, "internal",
                  "what was found for a region is not a part of the whole");
}

static void
note_used(exploration *x, const glen_result *found) {
  glen_result *r = x->a->result;
  for (uint32_t i = 0; i < found->n_used_rules; i++) {
    bool new = r->n_used_rules < API_MAX_USED_RULES;
    for (uint32_t j = 0; j < r->n_used_rules && new; j++)
      new = r->used_rules[j] != found->used_rules[i];
    if (new)
      r->used_rules[r->n_used_rules++] = found->used_rules[i];
  }
}

static bool
explore_kind(exploration *x, uint32_t at) {
  assert(at < x->kinds.len);
  const kind *k = &x->kinds.data[at];
  api_region *out = &x->out->list[at];
  bs_governor *g = &x->a->ctx->governor;
  *out = (api_region){.times = k->regions.len,
                      .name = k->part.program->outputs.data[0].name};
  bs_stage before =
      bs_stage_begin(g, "saturation", 0.8 / (x->kinds.len - at), 1);
  glen_result *found = climb(x, k, out);
  bs_stage_end(g, before);
  if (!found)
    return false;
  x->out->cut += out->cut != EG_STOP_SATURATED;
  x->a->result->summary.nodes += out->nodes;
  x->a->result->summary.classes += found->summary.classes;
  note_used(x, found);
  out->result = found;
  bool ok = graft(x, k, found);
  if (!x->a->options->explain)
    rl_run_done(&found->run);
  return ok;
}

/* ---- all of them ---- */

static void
begin(exploration *x) {
  glen_result *r = x->a->result;
  const uint8_t *once = ex_once_terms(&r->heap, r->input, &r->prepacked);
  rg_parts_init(&x->parts, x->cut, &r->arena, once, reach_of(x->a));
  x->ends = bs_calloc(&r->heap, x->cut->n + (size_t)1, sizeof *x->ends);
  rl_graft_init(&x->graft, &r->heap, &r->run);
}

static bool
begin_whole(exploration *x) {
  glen_result *r = x->a->result;
  rl_options options =
      api_run_options(x->a->ctx, x->a->options, false, NULL, NULL);
  options.quiet = true;
  r->used_rules =
      bs_arena_alloc(&r->arena, API_MAX_USED_RULES * sizeof *r->used_rules);
  r->regions = x->out = BS_NEW(&r->arena, api_regions);
  *x->out = (api_regions){.different = x->kinds.len, .count = x->cut->n};
  x->out->list = BS_NEWS(&r->arena, api_region, x->kinds.len + (size_t)1);
  return rl_begin(&r->gs, r->input, x->a->rules->rules, &options, &r->run);
}

static void
done(exploration *x) {
  bs_heap *heap = &x->a->result->heap;
  for (uint32_t k = 0; k < x->cut->n; k++)
    rg_ends_done(heap, &x->ends[k]);
  for (uint32_t k = 0; k < x->kinds.len; k++)
    bs_vec_done(heap, &x->kinds.data[k].regions);
  bs_free(heap, x->ends);
  bs_vec_done(heap, &x->kinds);
  bs_keys_done(heap, &x->keys);
  rl_graft_done(&x->graft);
  rg_parts_done(&x->parts);
}

bool
api_explore_regions(api_saturation *a, const rg_cut *cut) {
  exploration x = {.a = a, .cut = cut};
  bool ok = true;
  begin(&x);
  for (uint32_t r = 0; r < cut->n && ok; r++)
    ok = sort_region(&x, r);
  ok = ok && begin_whole(&x);
  for (uint32_t k = 0; k < x.kinds.len && ok && !x.stop; k++)
    ok = explore_kind(&x, k);
  ok = ok && rl_graft_join(&x.graft);
  if (ok)
    api_note_stop(a->result);
  done(&x);
  return ok;
}
