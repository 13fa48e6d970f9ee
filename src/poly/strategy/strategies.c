/* SPDX-License-Identifier: MIT */
/* strategies.c - the list of strategies, each made on a copy of the program.
 *
 * A strategy is a way to fuse (auto.h), sizes of tiles, and a variant of the
 * innermost loops.  The table below is in the order of promise: a search that
 * is cut short has seen the better ones.  A strategy that comes to the same
 * script as an earlier one is not listed again. */
#include "poly/schedule/change.h"
#include "poly/strategy/strategy.h"
#include <inttypes.h>
#include <string.h>

typedef struct recipe {
  po_fuse fuse;
  uint32_t n_tiles;
  int64_t tiles[2];
  po_variant variant;
} recipe;

/* PO_FUSE_MIN: loops stay as the terms made them. */
static const recipe recipes[] = {
    {PO_FUSE_MIN, 0, {0}, PO_AS_IT_IS},
    {PO_FUSE_POST_TILE, 0, {0}, PO_AS_IT_IS},
    {PO_FUSE_SMART, 0, {0}, PO_AS_IT_IS},
    {PO_FUSE_MIN, 0, {0}, PO_CONTIGUOUS},
    {PO_FUSE_MAX, 0, {0}, PO_AS_IT_IS},
    {PO_FUSE_MIN, 0, {0}, PO_AXES},
    {PO_FUSE_SMART, 0, {0}, PO_AXES},
    {PO_FUSE_MIN, 0, {0}, PO_VECTORS},
    {PO_FUSE_MIN, 0, {0}, PO_JAMMED},
    {PO_FUSE_POST_TILE, 2, {32, 256}, PO_AS_IT_IS},
    {PO_FUSE_POST_TILE, 2, {64, 64}, PO_AS_IT_IS},
    {PO_FUSE_POST_TILE, 0, {0}, PO_VECTORS},
    {PO_FUSE_SMART, 0, {0}, PO_VECTORS},
    {PO_FUSE_POST_TILE, 2, {8, 512}, PO_AS_IT_IS},
    {PO_FUSE_POST_TILE, 2, {16, 128}, PO_AS_IT_IS},
    {PO_FUSE_POST_TILE, 2, {128, 128}, PO_AS_IT_IS},
    {PO_FUSE_POST_TILE, 1, {16}, PO_AS_IT_IS},
    {PO_FUSE_POST_TILE, 1, {64}, PO_AS_IT_IS},
    {PO_FUSE_MIN, 0, {0}, PO_WRITTEN},
    {PO_FUSE_MIN, 0, {0}, PO_WIDE},
    {PO_FUSE_POST_TILE, 2, {32, 256}, PO_VECTORS},
    {PO_FUSE_POST_TILE, 0, {0}, PO_WIDE},
    {PO_FUSE_POST_TILE, 2, {64, 256}, PO_AS_IT_IS},
    {PO_FUSE_POST_TILE, 2, {256, 256}, PO_AS_IT_IS},
    {PO_FUSE_POST_TILE, 2, {16, 512}, PO_AS_IT_IS},
    {PO_FUSE_POST_TILE, 2, {32, 32}, PO_AS_IT_IS},
    {PO_FUSE_MAX, 0, {0}, PO_VECTORS},
    {PO_FUSE_SMART, 0, {0}, PO_CONTIGUOUS},
    {PO_FUSE_SMART, 0, {0}, PO_WRITTEN},
    {PO_FUSE_SMART, 0, {0}, PO_WIDE},
    {PO_FUSE_POST_TILE, 2, {64, 64}, PO_VECTORS},
    {PO_FUSE_POST_TILE, 2, {8, 512}, PO_VECTORS},
    {PO_FUSE_POST_TILE, 0, {0}, PO_WRITTEN},
    {PO_FUSE_POST_TILE, 2, {16, 16}, PO_AS_IT_IS},
    {PO_FUSE_POST_TILE, 2, {8, 64}, PO_AS_IT_IS},
    {PO_FUSE_POST_TILE, 2, {64, 512}, PO_AS_IT_IS},
};

enum { N_RECIPES = sizeof recipes / sizeof *recipes };

typedef struct search {
  const po_program *program;
  po_strategies *out;
  uint32_t made_by[N_RECIPES]; /* place in the list + 1; 0: not listed */
} search;

static const char *
name_of(bs_arena *arena, const recipe *r) {
  bs_text text;
  bs_text_init(&text, arena->heap);
  bs_put(&text, r->fuse == PO_FUSE_MIN ? "none" : po_fuse_names[r->fuse]);
  for (uint32_t k = 0; k < r->n_tiles; k++)
    bs_putf(&text, "%c%" PRId64, k ? ',' : ' ', r->tiles[k]);
  if (r->variant != PO_AS_IT_IS)
    bs_putf(&text, " %s", po_variant_names[r->variant]);
  const char *name = bs_arena_strdup(arena, bs_text_str(&text));
  bs_text_done(&text);
  return name;
}

static bool
same_loops(const recipe *a, const recipe *b) {
  return a->fuse == b->fuse && a->n_tiles == b->n_tiles &&
         !memcmp(a->tiles, b->tiles, sizeof a->tiles);
}

/* A copy of what an earlier strategy with the same loops made; NULL. */
static po_program *
made_before(const search *s, const recipe *r) {
  for (uint32_t k = 0; k < N_RECIPES; k++)
    if (s->made_by[k] && same_loops(&recipes[k], r) &&
        recipes[k].variant == PO_AS_IT_IS)
      return po_copy(s->out->list.data[s->made_by[k] - 1].program);
  return NULL;
}

static po_program *
follow(const search *s, const recipe *r) {
  po_program *p = made_before(s, r);
  if (!p) {
    po_auto_options options = {.fuse = r->fuse, .n_tiles = r->n_tiles};
    p = po_copy(s->program);
    memcpy(options.tiles, r->tiles, sizeof r->tiles);
    po_schedule_automatically(&p, &options);
  }
  po_apply_variant(&p, r->variant);
  return p;
}

/* The commands after the first `from`, which were there before. */
static const char *
script_of(const po_program *p, uint32_t from, bs_arena *arena) {
  bs_text text;
  bs_text_init(&text, arena->heap);
  for (uint32_t k = from; k < p->script.len; k++)
    bs_putf(&text, "%s\n", p->script.data[k]);
  const char *script = bs_arena_strdup(arena, bs_text_str(&text));
  bs_text_done(&text);
  return script;
}

static bool
is_listed(const po_strategies *s, const char *script) {
  for (uint32_t k = 0; k < s->list.len; k++)
    if (!strcmp(s->list.data[k].script, script))
      return true;
  return false;
}

static void
add(search *s, uint32_t number) {
  po_strategies *out = s->out;
  po_program *p = follow(s, &recipes[number]);
  const char *script = script_of(p, s->program->script.len, out->arena);
  if (is_listed(out, script)) {
    po_free(p);
    return;
  }
  po_strategy made = {name_of(out->arena, &recipes[number]), script,
                      po_predict_cycles(p), p};
  bs_push(out->arena->heap, &out->list, made);
  s->made_by[number] = out->list.len;
  if (made.cost < out->list.data[out->cheapest].cost)
    out->cheapest = out->list.len - 1;
}

void
po_make_strategies(const po_program *program, uint32_t most,
                   const volatile int *interrupt, bs_arena *arena,
                   po_strategies *out) {
  search s = {.program = program, .out = out};
  *out = (po_strategies){.arena = arena};
  for (uint32_t k = 0; k < N_RECIPES && out->list.len < most; k++) {
    if (k && interrupt && *interrupt)
      return;
    add(&s, k);
  }
}

void
po_strategies_done(po_strategies *s) {
  for (uint32_t k = 0; k < s->list.len; k++)
    if (s->list.data[k].program)
      po_free(s->list.data[k].program);
  bs_vec_done(s->arena->heap, &s->list);
}

void
po_print_strategies(const po_strategies *s, bs_text *out) {
  for (uint32_t k = 0; k < s->list.len; k++) {
    const po_strategy *one = &s->list.data[k];
    uint32_t commands = 0;
    for (const char *at = one->script; *at; at++)
      commands += *at == '\n';
    bs_putf(out, "%s result %" PRIu32 " cost %.0f commands %" PRIu32 " %s\n",
            k == s->cheapest ? "*" : " ", k, one->cost, commands, one->name);
  }
}
