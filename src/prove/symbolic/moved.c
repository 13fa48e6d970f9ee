/* SPDX-License-Identifier: MIT */
/* moved.c - how far do items of lists of places stand from their places?
 *
 * Beside uniform.c and spread.c, which see ranks, axes and lengths as sums.  A
 * list that is made of another one computes with places, too, without a sum
 * that says so: item d of (reverse (axes ?a)) is rank - 1 - d, which is d for
 * the middle axis alone, and item d of a list with one item put before it is
 * item d - 1.  So where a rule reads an item by its place, what the list is
 * made of counts, definitions written out: each item put in, each permutation,
 * and each reading shifts by one; a sum, a cut at a place, or a list turned
 * around take twice as far.  Where lists are only held against each other, it
 * is their permutations and sums that count, and cuts of what was cut.
 *
 * Functions here call themselves as deep as expressions are nested,
 * GS_MAX_NESTING at most. */
#include "glenside/expr/expr_functions.h"
#include "prove/symbolic/symbolic_forms.h"
#include <assert.h>

enum { MOST_UNITS = 1 << 10, MOST_TURNS = 16 };

/* What a list is made of. */
typedef struct made {
  uint32_t units;   /* places by which items are shifted */
  uint32_t letters; /* permutations applied */
  uint32_t cuts;    /* at a place, or turned around */
  uint32_t joins;   /* lists put behind others */
  uint32_t sums;    /* of places, item by item or for all items */
  bool names;       /* some item alone, as a place */
  bool turned;      /* some list turned around */
} made;

typedef struct walk {
  const bs_values *values;
  const uint8_t *is_size;
  uint64_t defined;       /* bits */
  made of[PV_RULE_SLOTS]; /* what clauses define */
  pv_moves all;
  bool reads;             /* some item is read by its place */
  uint32_t held, of_cuts; /* cuts of what is compared, and those of cuts */
} walk;

bool
pv_holds_sizes(const uint8_t *is_size, const gs_expr *e) {
  if (e->kind == GS_X_VAR)
    return e->slot < PV_RULE_SLOTS && is_size[e->slot];
  if (e->kind != GS_X_CALL || !e->n_args)
    return false;
  gs_function_id f = (gs_function_id)e->function;
  return f == GS_F_SHAPE || f == GS_F_ACCESS_SHAPE || f == GS_F_COMPUTE_SHAPE ||
         pv_holds_sizes(is_size, e->args[f == GS_F_CONS]);
}

/* --- what lists are made of ----------------------------------------------- */

static uint32_t
up_to(uint64_t n, uint32_t most) {
  return n < most ? (uint32_t)n : most;
}

static void
add(made *to, const made *more) {
  to->units = up_to((uint64_t)to->units + more->units, MOST_UNITS);
  to->letters = up_to((uint64_t)to->letters + more->letters, MOST_UNITS);
  to->cuts = up_to((uint64_t)to->cuts + more->cuts, MOST_TURNS);
  to->joins = up_to((uint64_t)to->joins + more->joins, MOST_TURNS);
  to->sums = up_to((uint64_t)to->sums + more->sums, MOST_TURNS);
  to->names |= more->names;
  to->turned |= more->turned;
}

/* Of a sum, those that are no numbers. */
static uint32_t
terms_of(const gs_expr *e) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < e->n_args; k++)
    n += e->args[k]->kind != GS_X_LITERAL;
  return n;
}

/* By so much, or by a place. */
static made
shift_of(const walk *x, const gs_expr *by) {
  int64_t n;
  if (!gs_expr_is_int(x->values, by, &n))
    return (made){.cuts = 1};
  return (made){.units = up_to(n < 0 ? -(uint64_t)n : (uint64_t)n, MOST_UNITS)};
}

/* An item put in that is no number. */
static bool
names_item(const gs_expr *e) {
  switch ((int)e->function) {
  case GS_F_LIST:
    return terms_of(e) > 0;
  case GS_F_CONS:
    return e->args[0]->kind != GS_X_LITERAL;
  case GS_F_FILL:
    return e->args[0]->kind == GS_X_LITERAL && e->args[1]->kind != GS_X_LITERAL;
  case GS_F_INSERT_NTH:
  case GS_F_SET_NTH:
    return e->args[2]->kind != GS_X_LITERAL;
  default:
    return false;
  }
}

/* The part of a function in this, beside its arguments. */
static made
part_of(const walk *x, const gs_expr *e) {
  switch ((int)e->function) {
  case GS_F_CONS:
  case GS_F_INSERT_NTH:
  case GS_F_REMOVE_NTH:
  case GS_F_SET_NTH:
    return (made){.units = 1};
  case GS_F_INVERT:
  case GS_F_COMPOSE:
  case GS_F_PERMUTE:
    return (made){.letters = 1};
  case GS_F_DROP:
  case GS_F_SLICE_LIST:
    return shift_of(x, e->args[1]);
  case GS_F_RANGE:
    return (made){.sums = shift_of(x, e->args[0]).cuts};
  case GS_F_REVERSE:
    return (made){.cuts = 1, .turned = true};
  case GS_F_APPEND:
    return (made){.joins = e->n_args - 1};
  case GS_F_ADD:
  case GS_F_SUB:
    return (made){.sums = terms_of(e) > 1 ? terms_of(e) - 1 : 0};
  case GS_F_ADD_LISTS:
  case GS_F_SUB_LISTS:
    return (made){.sums = 1};
  default:
    return (made){0};
  }
}

static made
made_of(const walk *x, const gs_expr *e) {
  made out = {0};
  if (e->kind == GS_X_VAR && e->slot < PV_RULE_SLOTS &&
      x->defined >> e->slot & 1)
    return x->of[e->slot];
  if (e->kind != GS_X_CALL || e->function == GS_F_LEN ||
      e->function == GS_F_RANK)
    return out;
  for (uint32_t k = 0; k < e->n_args; k++) {
    made one = made_of(x, e->args[k]);
    add(&out, &one);
  }
  made one = part_of(x, e);
  add(&out, &one);
  out.names |= names_item(e);
  return out;
}

/* --- what is done with them ----------------------------------------------- */

static void
count(walk *x, uint64_t units, uint64_t turns) {
  x->all.units = up_to(x->all.units + units, MOST_UNITS);
  x->all.turns = up_to(x->all.turns + turns, MOST_TURNS);
}

static bool
is_places(const walk *x, const gs_expr *e) {
  if (e->kind == GS_X_LITERAL)
    return bs_kind_of(x->values, e->literal) == BS_KIND_LIST &&
           bs_len(x->values, e->literal) &&
           bs_kind_of(x->values, bs_item(x->values, e->literal, 0)) ==
               BS_KIND_INT;
  return e->sort == GS_SORT_LIST && !pv_holds_sizes(x->is_size, e);
}

/* An item of a list, or its place, is told. */
static void
take_item(walk *x, const made *of) {
  x->reads = true;
  count(x, 1 + (uint64_t)of->units + of->letters,
        (uint64_t)of->cuts + of->joins + of->sums);
}

/* That is what the call gives. */
static void
take_reading(walk *x, const gs_expr *e) {
  made all = {0};
  for (uint32_t k = 0; k < e->n_args; k++) {
    made one = made_of(x, e->args[k]);
    add(&all, &one);
  }
  take_item(x, &all);
}

/* Sides that are cut and added to alike say no more than one of them. */
static void
take_comparison(walk *x, const gs_expr *e) {
  made all = {0};
  uint32_t sums = 0;
  for (uint32_t k = 0; k < e->n_args; k++)
    if (is_places(x, e->args[k])) {
      made one = made_of(x, e->args[k]);
      add(&all, &one);
      sums = one.sums > sums ? one.sums : sums;
    }
  if (all.names) {
    take_item(x, &all);
    return;
  }
  /* items put in stand at places, and permutations meet what they are held
   * against only after so many turns */
  uint32_t of_cuts = all.cuts > 1 ? all.cuts - 1 : 0;
  uint32_t turns = all.letters ? all.cuts + all.joins : 0;
  count(x, all.letters + (all.units ? 1 + all.units : 0), sums + turns);
  x->held = up_to((uint64_t)x->held + all.cuts, MOST_TURNS);
  x->of_cuts += of_cuts > sums ? of_cuts - sums : 0;
}

static bool
is_range(const gs_expr *e) {
  return e->kind == GS_X_CALL && e->function == GS_F_RANGE;
}

/* What lies in a range is held against its ends, and tells as much as sums of
 * the two. */
static void
take_ends(walk *x, const gs_expr *e) {
  assert(e->n_args >= 2);
  made ends = made_of(x, e->args[0]), item = made_of(x, e->args[1]);
  if (item.sums)
    count(x, 1, (uint64_t)ends.sums + item.sums);
}

/* Some item of the list. Of places in their order it is any place of a part;
 * where items were moved or put in, it tells its own. */
static void
take_choice(walk *x, const gs_expr *list) {
  if (!is_places(x, list))
    return;
  made of = made_of(x, list);
  if (of.turned || of.letters || of.units)
    take_item(x, &of);
  else
    count(x, 0, of.sums - (is_range(list) ? part_of(x, list).sums : 0));
}

static bool
reads_sizes(const walk *x, const gs_expr *e) {
  if (e->kind == GS_X_VAR)
    return e->slot < PV_RULE_SLOTS && x->is_size[e->slot];
  bool reads = e->kind == GS_X_CALL &&
               (e->function == GS_F_DIM || e->function == GS_F_ELEMENTS);
  for (uint32_t k = 0; k < e->n_args && !reads; k++)
    reads = reads_sizes(x, e->args[k]);
  return reads;
}

/* Steps of 2 take twice as far, steps up to 4 four times. */
static void
take_steps(walk *x, const gs_expr *e) {
  int64_t step = MOST_UNITS;
  if (e->n_args < 3 || reads_sizes(x, e))
    return;
  gs_expr_is_int(x->values, e->args[2], &step);
  uint64_t size = step < 0 ? -(uint64_t)step : (uint64_t)step;
  for (uint64_t k = 1; k < size && k < MOST_UNITS; k *= 2)
    count(x, 0, 1);
}

static void
take_call(walk *x, const gs_expr *e) {
  switch ((int)e->function) {
  case GS_F_NTH:
  case GS_F_LAST:
    if (is_places(x, e->args[0]))
      take_reading(x, e);
    return;
  case GS_F_INDEX_OF: /* the place of a size is a place, too */
    take_reading(x, e);
    return;
  case GS_F_RANGE:
    take_steps(x, e);
    return;
  case GS_F_MEMBER:
    if (is_range(e->args[0]) && is_places(x, e->args[0]))
      take_ends(x, e);
    else
      take_choice(x, e->args[0]);
    return;
  case GS_F_EQ:
  case GS_F_NE:
  case GS_F_ALL_EQUAL:
  case GS_F_IS_PERMUTATION:
    take_comparison(x, e);
    return;
  }
}

static void
read_expr(walk *x, const gs_expr *e) {
  if (e->kind != GS_X_CALL)
    return;
  take_call(x, e);
  for (uint32_t k = 0; k < e->n_args; k++)
    read_expr(x, e->args[k]);
}

/* A clause that lists differ leaves nearly all there is: what they are made of
 * meets nothing. */
static bool
leaves_out(const rl_asked *c) {
  return c->kind == RL_ASKS_TEST && c->expr->kind == GS_X_CALL &&
         c->expr->function == GS_F_NE && c->expr->args[0]->sort == GS_SORT_LIST;
}

static void
read_difference(walk *x, const gs_expr *e) {
  for (uint32_t k = 0; k < e->n_args; k++) {
    count(x, made_of(x, e->args[k]).letters, 0);
    read_expr(x, e->args[k]);
  }
}

static void
read_clause(walk *x, const rl_asked *c) {
  if (!c->expr)
    return;
  if (leaves_out(c))
    read_difference(x, c->expr);
  else
    read_expr(x, c->expr);
  if (c->kind == RL_ASKS_FOR)
    take_choice(x, c->expr);
  if (c->kind == RL_ASKS_TEST || c->slot >= PV_RULE_SLOTS)
    return;
  x->of[c->slot] = made_of(x, c->expr);
  x->defined |= (uint64_t)1 << c->slot;
}

static void
read_side(walk *x, const gs_skeleton *s) {
  for (uint32_t k = 0; k < s->n; k++)
    for (uint32_t i = 0; !s->nodes[k].hole && i < s->nodes[k].n_attrs; i++)
      if (s->nodes[k].attrs[i])
        read_expr(x, s->nodes[k].attrs[i]);
}

pv_moves
pv_moves_of_places(const gs_context *ctx, const rl_rule *rule,
                   const uint8_t *is_size) {
  walk x = {.values = ctx->values, .is_size = is_size};
  for (uint32_t k = 0; k < rl_asked_count(rule); k++) {
    rl_asked c = rl_asked_at(rule, k);
    read_clause(&x, &c);
  }
  read_side(&x, rule->left);
  for (uint32_t k = 0; k < rule->n_right; k++)
    read_side(&x, rule->right[k]);
  count(&x, 0, x.reads ? x.held : x.of_cuts);
  return x.all;
}
