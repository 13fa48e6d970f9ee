/* SPDX-License-Identifier: MIT */
/* uniform.c - up to which rank does a rule tell ranks apart?
 *
 * Whole numbers of a rule are places (ranks, axes, boundaries, indices,
 * lengths) or sizes; which of the two follows from where they stand, as sorts
 * do, by going over all expressions until nothing new is learnt.  A rule that
 * only compares places, adds and subtracts them, and takes parts of lists, does
 * the same at any rank that is large beside its literals.  One that multiplies
 * places, or takes them for sizes, may be anything at some rank.
 *
 * A definition stands for what it says wherever it is used: with t = 1 + 1 and
 * f = t + t, a rank beside f + f is one beside 8.  So each expression is
 * weighed with its definitions written out; rearrangements of lists count,
 * too, since five of them may take a list of five to what no shorter one is. */
#include "glenside/expr/expr_functions.h"
#include "prove/symbolic/senses.h"
#include "prove/symbolic/symbolic_forms.h"
#include <assert.h>
#include <string.h>

enum { MAX_SLOTS = 64, MAX_PASSES = 8, FREE_MOVES = 4 };

/* Of an expression with its definitions written out: what its numbers for
 * places come to, how often it rearranges lists, and how often a permutation is
 * applied in it. */
typedef struct weight {
  uint64_t numbers, moves, letters;
} weight;

typedef struct reader {
  const bs_values *values;
  const rl_rule *rule;
  fm_sense slot[MAX_SLOTS]; /* of a list: of its items */
  bool changed, mixed;      /* a place is taken for a size */
  bool last;                /* pass: literals are counted */
  uint64_t numbers, ones, longest, composed;
  uint64_t items; /* of literal lists of places, added up */
  bool sums;      /* places are added or subtracted */
  bool fills;     /* lists of a computed length with items other than 1 */
  bool adds_up, multiplies;
  bool counts;      /* the elements of a term */
  bool turned;      /* below a `not`, or in an `if` */
  uint64_t strict;  /* places that are told to differ */
  uint64_t letters; /* permutations applied, on both sides and in tests */
  weight now, of_slot[MAX_SLOTS];
  uint64_t most; /* of all expressions */
} reader;

static fm_sense read_expr(reader *r, const gs_expr *e, fm_sense wanted);

static fm_sense
meet(reader *r, fm_sense a, fm_sense b) {
  r->mixed |= a != b && a && b;
  return a ? a : b;
}

/* --- literals ------------------------------------------------------------- */

/* What is counted of a number, at most: no rank comes near it. */
#define MOST_COUNTED ((uint64_t)1 << 20)

/* 0 of what is no integer. */
static uint64_t
magnitude_of(const reader *r, bs_value v) {
  int64_t n = bs_as_int(r->values, v);
  uint64_t most = n < 0 ? -(uint64_t)n : (uint64_t)n;
  return most < MOST_COUNTED ? most : MOST_COUNTED;
}

static void
count_number(reader *r, bs_value v) {
  uint64_t most = magnitude_of(r, v);
  r->ones += most == 1;
  r->now.numbers += most;
  r->numbers += most > 1 ? most : 0;
}

/* A real number may lie between two ranks, be whole, or be large beside what
 * it is added to: places are not counted with such. */
static void
refuse_real(reader *r, bs_value v, fm_sense s) {
  r->mixed |= bs_kind_of(r->values, v) == BS_KIND_REAL && s != FM_SIZE;
}

static void count_literal(reader *r, bs_value v, fm_sense s);

/* Lists in lists are nested no deeper than GS_MAX_NESTING. */
static void
count_item(reader *r, bs_value v, fm_sense s) {
  refuse_real(r, v, s);
  if (bs_kind_of(r->values, v) == BS_KIND_LIST) {
    count_literal(r, v, s);
    return;
  }
  uint64_t most = magnitude_of(r, v);
  r->items += r->items < MOST_COUNTED ? most : 0;
  r->longest = most + 1 > r->longest ? most + 1 : r->longest;
}

static void
count_literal(reader *r, bs_value v, fm_sense s) {
  if (!r->last)
    return;
  refuse_real(r, v, s);
  if (bs_kind_of(r->values, v) != BS_KIND_LIST) {
    if (s != FM_SIZE)
      count_number(r, v);
    return;
  }
  uint32_t n = bs_len(r->values, v);
  r->now.numbers += n;
  r->longest = n > r->longest ? n : r->longest;
  for (uint32_t k = 0; k < n && s != FM_SIZE; k++)
    count_item(r, bs_item(r->values, v, k), s);
}

/* --- functions ------------------------------------------------------------ */

static bool
share_variable(const gs_expr *a, const gs_expr *b) {
  if (a->kind == GS_X_VAR)
    return ls_reads(b, a->slot);
  for (uint32_t k = 0; k < a->n_args; k++)
    if (share_variable(a->args[k], b))
      return true;
  return false;
}

/* Is something added to, or put beside, itself?  Then places are multiplied. */
static bool
doubles(const gs_expr *e) {
  bool sum = e->function == GS_F_ADD;
  for (uint32_t k = 0; k < e->n_args; k++)
    for (uint32_t i = 0; i < k; i++)
      if ((sum ||
           (e->args[k]->kind == GS_X_VAR && e->args[i]->kind == GS_X_VAR)) &&
          share_variable(e->args[k], e->args[i]))
        return true;
  return false;
}

static bool
moves_items(gs_function_id id) {
  static const gs_function_id moving[] = {
      GS_F_CONS,    GS_F_INSERT_NTH, GS_F_TAKE,    GS_F_DROP,
      GS_F_APPEND,  GS_F_SLICE_LIST, GS_F_SET_NTH, GS_F_REMOVE_NTH,
      GS_F_REVERSE, GS_F_COMPOSE,    GS_F_INVERT,  GS_F_PERMUTE};
  for (size_t k = 0; k < sizeof moving / sizeof *moving; k++)
    if (moving[k] == id)
      return true;
  return false;
}

static void
weigh_call(reader *r, const gs_expr *e) {
  gs_function_id id = (gs_function_id)e->function;
  r->now.numbers += id == GS_F_LIST ? e->n_args : 0;
  r->now.moves += moves_items(id);
  if ((id == GS_F_ADD || id == GS_F_APPEND) && doubles(e))
    r->now.moves += FREE_MOVES + 2;
}

/* What is remarkable about a call, beside the senses. */
static void
note_call(reader *r, const gs_expr *e) {
  gs_function_id id = (gs_function_id)e->function;
  weigh_call(r, e);
  r->composed += r->last && (id == GS_F_COMPOSE || id == GS_F_PERMUTE ||
                             id == GS_F_INVERT);
  r->adds_up |= id == GS_F_SUM;
  r->multiplies |= id == GS_F_PROD;
  r->counts |= id == GS_F_ELEMENTS;
  if (id == GS_F_FILL) {
    const gs_expr *item = e->args[1];
    r->fills |=
        item->kind != GS_X_LITERAL || bs_as_int(r->values, item->literal) != 1;
  }
  if (id == GS_F_LIST && r->last && e->n_args > r->longest)
    r->longest = e->n_args;
}

static fm_sense
read_alike(reader *r, const gs_expr *e) {
  fm_sense s = FM_EITHER;
  for (uint32_t k = 0; k < e->n_args; k++)
    s = meet(r, s, read_expr(r, e->args[k], s));
  for (uint32_t k = 0; k < e->n_args; k++)
    read_expr(r, e->args[k], s);
  return s;
}

static fm_sense
read_call(reader *r, const gs_expr *e, fm_sense wanted) {
  const fm_senses *s = fm_senses_of((gs_function_id)e->function);
  if (!s) {
    r->mixed = true;
    return FM_EITHER;
  }
  if (s->args[0] == '~') {
    read_alike(r, e);
    return fm_sense_of(s->result, FM_EITHER);
  }
  fm_sense whole = meet(r, wanted, fm_sense_of(s->result, wanted));
  for (uint32_t k = 0; k < e->n_args; k++) {
    char letter = fm_letter_at(s, k);
    fm_sense is = read_expr(r, e->args[k], fm_sense_of(letter, whole));
    if (letter == 'a')
      whole = meet(r, whole, is);
  }
  return s->result == '-' ? FM_EITHER : whole;
}

/* Expressions nest no deeper than GS_MAX_NESTING. */
static fm_sense
read_expr(reader *r, const gs_expr *e, fm_sense wanted) {
  if (e->kind == GS_X_LITERAL) {
    return wanted;
  }
  if (e->kind == GS_X_VAR) {
    if (e->sort == GS_SORT_CLASS || e->slot >= MAX_SLOTS)
      return FM_EITHER;
    fm_sense s = meet(r, r->slot[e->slot], wanted);
    r->changed |= s != r->slot[e->slot];
    return r->slot[e->slot] = s;
  }
  return read_call(r, e, wanted);
}

static void
add_weight(weight *to, const weight *more) {
  to->numbers += more->numbers;
  to->moves += more->moves;
  to->letters += more->letters;
  to->numbers = to->numbers < MOST_COUNTED ? to->numbers : MOST_COUNTED;
  to->moves = to->moves < MOST_COUNTED ? to->moves : MOST_COUNTED;
  to->letters = to->letters < MOST_COUNTED ? to->letters : MOST_COUNTED;
}

/* Literals, once it is known what they are: another walk, in the same order. */
static void count_in(reader *r, const gs_expr *e, fm_sense wanted);

/* Places that the call tells to differ: each of them asks for one rank more
 * than there would be otherwise. */
static uint64_t
told_apart(const reader *r, const gs_expr *e) {
  switch ((int)e->function) {
  case GS_F_LT:
  case GS_F_GT:
  case GS_F_NE:
    return e->n_args - 1;
  case GS_F_EQ:
  case GS_F_LE:
  case GS_F_GE:
  case GS_F_ALL_EQUAL:
    return r->turned ? e->n_args - 1 : 0;
  case GS_F_MEMBER:
    return r->turned ? 1 + e->args[0]->n_args : 0;
  default:
    return 0;
  }
}

/* How often the call applies a permutation: its list is one of places. */
static uint64_t
letters_of(const gs_expr *e, fm_sense list) {
  switch ((int)e->function) {
  case GS_F_NTH:
  case GS_F_INDEX_OF:
  case GS_F_COMPOSE:
  case GS_F_INVERT:
  case GS_F_PERMUTE:
    return list == FM_PLACE;
  default:
    return 0;
  }
}

/* Of parts of which one holds, the one that asks for most. */
static void
count_some(reader *r, const gs_expr *e) {
  uint64_t was[3] = {r->numbers, r->ones, r->strict}, more = 0;
  uint64_t most[3] = {was[0], was[1], was[2]};
  for (uint32_t k = 0; k < e->n_args; k++) {
    r->numbers = was[0], r->ones = was[1], r->strict = was[2];
    count_in(r, e->args[k], FM_EITHER);
    uint64_t all = r->numbers + r->ones + r->strict - was[0] - was[1] - was[2];
    if (all <= more)
      continue;
    more = all;
    most[0] = r->numbers, most[1] = r->ones, most[2] = r->strict;
  }
  r->numbers = most[0], r->ones = most[1], r->strict = most[2];
}

static bool
adds_places(const gs_expr *e, fm_sense whole) {
  return whole == FM_PLACE &&
         (e->function == GS_F_ADD || e->function == GS_F_SUB ||
          e->function == GS_F_ADD_LISTS || e->function == GS_F_SUB_LISTS);
}

static void
count_call(reader *r, const gs_expr *e, fm_sense wanted) {
  fm_sense whole = read_expr(r, e, wanted);
  const fm_senses *s = fm_senses_of((gs_function_id)e->function);
  if (!s)
    return;
  if (s->args[0] == '~')
    whole = read_alike(r, e);
  r->strict += whole == FM_PLACE ? told_apart(r, e) : 0;
  r->sums |= adds_places(e, whole);
  r->now.letters += letters_of(e, whole);
  for (uint32_t k = 0; k < e->n_args; k++) {
    char letter = fm_letter_at(s, k);
    count_in(r, e->args[k], letter == '~' ? whole : fm_sense_of(letter, whole));
  }
}

static void
count_in(reader *r, const gs_expr *e, fm_sense wanted) {
  if (e->kind == GS_X_LITERAL)
    count_literal(r, e->literal, wanted);
  if (e->kind == GS_X_VAR && e->sort != GS_SORT_CLASS && e->slot < MAX_SLOTS)
    add_weight(&r->now, &r->of_slot[e->slot]);
  if (e->kind != GS_X_CALL)
    return;
  bool was = r->turned;
  r->turned |= e->function == GS_F_NOT || e->function == GS_F_IF;
  note_call(r, e);
  if (e->function == GS_F_OR && !r->turned)
    count_some(r, e);
  else
    count_call(r, e, wanted);
  r->turned = was;
}

/* --- a rule --------------------------------------------------------------- */

static fm_sense
of_attribute(gs_op op, uint32_t k) {
  assert(op < GS_OP_COUNT);
  char letter = gs_op_table[op].attrs[k];
  if (letter == 'd' || letter == 'g' || letter == 'P')
    return FM_PLACE;
  return gs_letter_is_size(letter) || letter == 'o' ? FM_SIZE : FM_EITHER;
}

static void
read_at(reader *r, const gs_expr *e, fm_sense wanted) {
  if (!r->last) {
    read_expr(r, e, wanted);
    return;
  }
  r->now = (weight){0};
  count_in(r, e, wanted);
  uint64_t more = r->now.moves > FREE_MOVES ? r->now.moves - FREE_MOVES : 0;
  more += r->now.numbers;
  r->most = more > r->most ? more : r->most;
}

static void
read_side(reader *r, const gs_skeleton *s) {
  for (uint32_t k = 0; k < s->n; k++)
    for (uint32_t i = 0; !s->nodes[k].hole && i < s->nodes[k].n_attrs; i++)
      if (s->nodes[k].attrs[i] && s->nodes[k].op != GS_CALL) {
        read_at(r, s->nodes[k].attrs[i], of_attribute(s->nodes[k].op, i));
        if (r->last)
          r->letters +=
              r->now.letters + (s->nodes[k].op == GS_TRANSPOSE &&
                                s->nodes[k].attrs[i]->kind == GS_X_VAR);
      }
}

static void
read_clause(reader *r, const rl_asked *c) {
  if (!c->expr)
    return;
  if (c->kind == RL_ASKS_TEST || c->slot >= MAX_SLOTS) {
    read_at(r, c->expr, FM_EITHER);
    r->letters += r->last ? r->now.letters : 0;
    return;
  }
  fm_sense *slot = &r->slot[c->slot];
  fm_sense is = read_expr(r, c->expr, *slot);
  is = meet(r, *slot, is);
  r->changed |= is != *slot;
  *slot = is;
  read_at(r, c->expr, is);
  if (r->last)
    r->of_slot[c->slot] = r->now;
}

static void
read_rule(reader *r) {
  const rl_rule *rule = r->rule;
  r->changed = false;
  for (uint32_t k = 0; k < rl_asked_count(rule); k++) {
    rl_asked c = rl_asked_at(rule, k);
    read_clause(r, &c);
  }
  read_side(r, rule->left);
  for (uint32_t k = 0; k < rule->n_right; k++)
    read_side(r, rule->right[k]);
}

/* The variables that are axes: of the left side, or chosen from a list. */
static uint32_t
axes_of(const reader *r) {
  assert(!r->changed);
  const rl_rule *rule = r->rule;
  uint64_t seen = 0;
  for (uint32_t k = 0; k < rl_asked_count(rule); k++) {
    rl_asked c = rl_asked_at(rule, k);
    if (c.kind == RL_ASKS_FOR && c.slot < MAX_SLOTS &&
        r->slot[c.slot] == FM_PLACE)
      seen |= (uint64_t)1 << c.slot;
  }
  for (uint32_t k = 0; k < rule->left->n; k++) {
    const gs_sk_node *n = &rule->left->nodes[k];
    for (uint32_t i = 0; !n->hole && i < n->n_attrs; i++)
      if (n->attrs[i] && n->attrs[i]->kind == GS_X_VAR &&
          n->attrs[i]->slot < MAX_SLOTS && of_attribute(n->op, i) == FM_PLACE)
        seen |= (uint64_t)1 << n->attrs[i]->slot;
  }
  return (uint32_t)__builtin_popcountll(seen);
}

/* Are axes multiplied that the rule does not name? */
static bool
multiplies_others(const gs_skeleton *s) {
  for (uint32_t k = 0; k < s->n; k++)
    if (!s->nodes[k].hole &&
        (s->nodes[k].op == GS_FLATTEN || s->nodes[k].op == GS_RESHAPE))
      return true;
  return false;
}

/* How many axes there have to be beside those that are named, so that a fault
 * is seen.  One, since with no other the named ones are all there are.  Where
 * axes are multiplied, their products may say that there is one before, behind
 * and between those that variables name, in S and in C. */
static uint64_t
unnamed(const reader *r, uint64_t axes) {
  bool multiplies =
      r->multiplies || r->counts || multiplies_others(r->rule->left);
  for (uint32_t k = 0; k < r->rule->n_right; k++)
    multiplies |= multiplies_others(r->rule->right[k]);
  return multiplies ? axes + 2 : 1;
}

/* The least rank at which permutations that are applied so many times in all
 * tell whether both sides are the same: no word of fewer than 6 letters is the
 * identity for all of three places, and none of fewer than 10 for all of four.
 * One of n letters is not for those of n + 1 places, which it may lead one of
 * through all others. */
static uint64_t
rank_of_word(uint64_t letters) {
  return letters < 2 ? 1 : letters < 6 ? 3 : letters < 10 ? 4 : letters + 1;
}

/* Goes over all expressions until nothing new is learnt, and once more. */
static bool
read_all(reader *r) {
  if (r->rule->scope.vars.len > MAX_SLOTS)
    return false;
  for (uint32_t k = 0; k < MAX_PASSES && r->changed; k++)
    read_rule(r);
  if (r->changed)
    return false;
  r->last = true;
  read_rule(r);
  return !r->mixed && !r->adds_up && !(r->fills && r->multiplies);
}

bool
pv_reach_of(const gs_context *ctx, const rl_rule *rule, pv_reach *out) {
  reader r = {.values = ctx->values, .rule = rule, .changed = true};
  uint8_t is_size[MAX_SLOTS];
  *out = (pv_reach){0};
  if (!read_all(&r))
    return false;
  for (uint32_t k = 0; k < MAX_SLOTS; k++)
    is_size[k] = r.slot[k] == FM_SIZE;
  if (pv_lists_tell_ranks(ctx, rule, is_size))
    return false;
  /* what is held against a sum is as much as its numbers and the item */
  *out = (pv_reach){.numbers = r.numbers + r.ones + (r.sums ? r.items : 0),
                    .strict = r.strict,
                    .longest = r.longest,
                    .most = r.most,
                    .axes = axes_of(&r),
                    /* of two they are their own inverses and commute; of three
                       not */
                    .composed = r.composed ? r.composed + 2 : 1,
                    .word = rank_of_word(r.letters),
                    .multiple = pv_rank_multiple(ctx, rule, is_size),
                    .between = pv_axes_between(ctx, rule),
                    .moves = pv_moves_of_places(ctx, rule, is_size)};
  out->others = unnamed(&r, out->axes);
  return true;
}

static uint64_t
larger(uint64_t a, uint64_t b) {
  return a > b ? a : b;
}

uint32_t
pv_rank_reach(const gs_context *ctx, const rl_rule *rule) {
  pv_reach of;
  if (!pv_reach_of(ctx, rule, &of))
    return UINT32_MAX;
  uint64_t reach = of.numbers + of.strict + of.moves.units;
  /* axis k is there at ranks above k */
  uint64_t named = reach + (reach > 0);
  reach = larger(named << of.moves.turns, named + of.others);
  reach = larger(reach, of.axes + (of.axes > 0 ? of.others : 0));
  reach = larger(larger(reach, of.longest), of.most);
  reach = larger(larger(reach, of.composed), of.word);
  reach = larger(reach, of.multiple) + of.between;
  return reach < UINT32_MAX ? (uint32_t)reach : UINT32_MAX;
}
