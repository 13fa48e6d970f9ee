/* SPDX-License-Identifier: MIT */
/* items.c - do the items of lists of sizes tell ranks apart?
 *
 * Beside uniform.c, which counts numbers that ranks are held against.  A rule
 * may tell ranks apart without any: where all sizes are 2, which (s * s) = (s +
 * s) says item by item, and so does a list that is itself moved by one place
 * behind a 2, a term of 1024 elements has rank 10; and where each size is twice
 * the one before, the last one is a power of the rank.  So two things must not
 * come together: what gives all items of a list values, and what takes all
 * items together, a product of them, or goes from item to item.
 *
 * Whatever stands for a list is described by what it is made of, definitions
 * written out.  What gives items values are tests, and types of the left side:
 * a list is held against itself where a test or a type closes a circle of lists
 * that are equal.  Functions here call themselves as deep as expressions are
 * nested, GS_MAX_NESTING at most. */
#include "glenside/expr/expr_functions.h"
#include "prove/symbolic/symbolic_forms.h"
#include <string.h>

/* What an expression is made of. */
typedef struct made {
  uint64_t from, moved; /* bits: slots of terms and of lists; and those of
                           which items are at other places */
  bool sizes;           /* a size, or a list of these */
  bool counts;          /* with all items of such a list, one by one */
  bool fills;           /* a list with a size that is not 1 */
  bool together;        /* all items, multiplied */
} made;

typedef struct walk {
  const bs_values *values;
  const rl_rule *rule;
  const uint8_t *is_size;
  uint64_t defined; /* bits */
  made of[PV_RULE_SLOTS];
  made tests;    /* what they are made of, together */
  bool together; /* somewhere all items are multiplied */
  bool at_once;  /* they are counted with and multiplied in one expression */
  bool moves;    /* the left side, or a test, moves items of sizes */
  uint8_t group[PV_RULE_SLOTS];
  bool circle; /* a list is held against itself */
} walk;

/* --- expressions ---------------------------------------------------------- */

static void
add(made *to, const made *more) {
  to->from |= more->from;
  to->sizes |= more->sizes;
  to->moved |= more->moved;
  to->counts |= more->counts;
  to->fills |= more->fills;
  to->together |= more->together;
}

static uint64_t
bit_of(uint32_t slot) {
  return slot < PV_RULE_SLOTS ? (uint64_t)1 << slot : 0;
}

static bool
is_one(const walk *x, const gs_expr *e) {
  int64_t v;
  return gs_expr_is_int(x->values, e, &v) && v == 1;
}

/* The part of a function in this, beside its arguments. */
static void
take_function(const walk *x, const gs_expr *e, made *out) {
  switch ((int)e->function) {
  case GS_F_SHAPE:
  case GS_F_ACCESS_SHAPE:
  case GS_F_COMPUTE_SHAPE:
  case GS_F_DIM:
    out->sizes = true;
    return;
  case GS_F_ELEMENTS:
  case GS_F_PROD:
    out->sizes = out->together = true;
    return;
  case GS_F_FILL:
    out->fills |= !is_one(x, e->args[1]);
    return;
  case GS_F_ADD_LISTS:
  case GS_F_SUB_LISTS:
  case GS_F_MUL_LISTS:
  case GS_F_DIV_LISTS:
  case GS_F_MOD_LISTS:
    out->counts |= out->sizes;
    return;
  case GS_F_DROP:
  case GS_F_SLICE_LIST:
  case GS_F_INSERT_NTH:
  case GS_F_REMOVE_NTH:
  case GS_F_REVERSE:
  case GS_F_PERMUTE:
    out->moved |= out->from;
    return;
  case GS_F_RANK:
  case GS_F_LEN:
  case GS_F_AXES:
  case GS_F_ACCESS_RANK:
  case GS_F_COMPUTE_RANK:
  case GS_F_INDEX_OF: /* places, whatever these are places of */
    *out = (made){.together = out->together, .counts = out->counts};
    return;
  }
}

static made
read_expr(walk *x, const gs_expr *e) {
  made out = {0};
  if (e->kind == GS_X_LITERAL)
    return out;
  if (e->kind == GS_X_VAR) {
    if (e->slot < PV_RULE_SLOTS && x->defined >> e->slot & 1)
      return x->of[e->slot];
    bool holds = e->sort == GS_SORT_CLASS || e->sort == GS_SORT_LIST;
    out.from = holds ? bit_of(e->slot) : 0;
    out.sizes = e->slot < PV_RULE_SLOTS && x->is_size[e->slot];
    return out;
  }
  for (uint32_t k = 0; k < e->n_args; k++) {
    made one = read_expr(x, e->args[k]);
    add(&out, &one);
    /* what stands before it moves it; the first list stays in its place */
    if (k && (e->function == GS_F_CONS || e->function == GS_F_APPEND))
      out.moved |= one.from;
  }
  take_function(x, e, &out);
  return out;
}

/* --- lists that are equal ------------------------------------------------- */

static uint8_t
group_of(const walk *x, uint32_t slot) {
  while (x->group[slot] != slot)
    slot = x->group[slot];
  return (uint8_t)slot;
}

/* These are held against each other, and of each other, too, where `moved`. */
static void
tie(walk *x, uint64_t a, uint64_t b, uint64_t moved) {
  x->circle |= (a & b & moved) != 0;
  uint32_t first = PV_RULE_SLOTS;
  uint64_t rest = (a | b) & ~(a & b);
  for (uint32_t k = 0; k < PV_RULE_SLOTS; k++) {
    if (!((a | b) >> k & 1))
      continue;
    first = first == PV_RULE_SLOTS ? k : first;
    x->circle |=
        k != first && (rest >> k & 1) && group_of(x, k) == group_of(x, first);
    x->group[group_of(x, k)] = group_of(x, first);
  }
}

/* Lists that a test holds against each other, at whatever depth. */
static void
tie_test(walk *x, const gs_expr *e) {
  if (e->kind != GS_X_CALL)
    return;
  if (e->function == GS_F_EQ) {
    made a = read_expr(x, e->args[0]);
    for (uint32_t k = 1; k < e->n_args; k++) {
      made b = read_expr(x, e->args[k]);
      if ((a.sizes || b.sizes) && e->args[k]->sort == GS_SORT_LIST)
        tie(x, a.from, b.from, a.moved | b.moved);
    }
    return;
  }
  for (uint32_t k = 0; k < e->n_args; k++)
    tie_test(x, e->args[k]);
}

/* --- the left side -------------------------------------------------------- */

static uint64_t
lists_of(walk *x, const gs_sk_node *sk) {
  uint64_t from = 0;
  for (uint32_t k = 0; k < sk->n_attrs; k++)
    if (sk->attrs[k] && sk->attrs[k]->kind == GS_X_VAR &&
        sk->attrs[k]->sort == GS_SORT_LIST &&
        sk->attrs[k]->slot < PV_RULE_SLOTS && x->is_size[sk->attrs[k]->slot])
      from |= bit_of(sk->attrs[k]->slot);
  return from;
}

/* Types hold children against each other, and lists against dimensions. */
static void
read_left(walk *x) {
  const gs_skeleton *s = x->rule->left;
  uint64_t from[PV_RULE_NODES] = {0};
  for (uint32_t k = 0; k < s->n && k < PV_RULE_NODES; k++) {
    const gs_sk_node *sk = &s->nodes[k];
    if (sk->hole) {
      from[k] = bit_of(sk->slot);
      continue;
    }
    for (uint32_t i = 0; i < sk->n_kids; i++) {
      if (i)
        tie(x, from[k], from[sk->kids[i]], UINT64_MAX);
      from[k] |= from[sk->kids[i]];
    }
    uint64_t lists = lists_of(x, sk);
    if (lists & from[k])
      x->circle = true;
    from[k] |= lists;
    x->together |= sk->op == GS_FLATTEN || sk->op == GS_RESHAPE;
    x->moves |= sk->op == GS_TRANSPOSE || sk->op == GS_INSERT_AXIS ||
                sk->op == GS_SQUEEZE;
  }
}

/* --- a rule --------------------------------------------------------------- */

static void
take(walk *x, const made *one) {
  x->at_once |= one->together && (one->counts || one->fills);
  x->together |= one->together;
}

static void
read_clause(walk *x, const rl_asked *c) {
  if (!c->expr)
    return;
  made one = read_expr(x, c->expr);
  take(x, &one);
  if (c->kind == RL_ASKS_TEST) {
    add(&x->tests, &one);
    tie_test(x, c->expr);
  } else if (c->slot < PV_RULE_SLOTS) {
    x->of[c->slot] = one;
    x->defined |= bit_of(c->slot);
  }
}

static void
read_right(walk *x, const gs_skeleton *s) {
  for (uint32_t k = 0; k < s->n; k++)
    for (uint32_t i = 0; !s->nodes[k].hole && i < s->nodes[k].n_attrs; i++)
      if (s->nodes[k].attrs[i]) {
        made one = read_expr(x, s->nodes[k].attrs[i]);
        take(x, &one);
      }
}

bool
pv_lists_tell_ranks(const gs_context *ctx, const rl_rule *rule,
                    const uint8_t *is_size) {
  walk x = {.values = ctx->values, .rule = rule, .is_size = is_size};
  for (uint32_t k = 0; k < PV_RULE_SLOTS; k++)
    x.group[k] = (uint8_t)k;
  read_left(&x);
  for (uint32_t k = 0; k < rl_asked_count(rule); k++) {
    rl_asked c = rl_asked_at(rule, k);
    read_clause(&x, &c);
  }
  for (uint32_t k = 0; k < rule->n_right; k++)
    read_right(&x, rule->right[k]);
  bool around = x.circle && (x.moves || x.tests.moved);
  bool given = x.tests.counts || x.tests.fills || around;
  return x.at_once || (x.together && given) || (x.tests.counts && around);
}
