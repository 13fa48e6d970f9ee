/* forms.c - the forms of a left side, listed; see forms.h.
 *
 * A pass goes over the pattern, children first, and then over the condition;
 * wherever there is a choice it takes the next number of a sequence, and the
 * sequences are counted up like an odometer, the last wheel first.  A pass that
 * turns out to be impossible ends at once, so that nothing behind it is
 * counted.  A combination is passed over only when the left side cannot have a
 * type so, or a clause that asks for nothing but the form is false. */
#include "prove/forms.h"
#include "glenside/tensor.h"
#include <stdio.h>
#include <string.h>

enum { MAX_WHEELS = 64, MAX_NODES = 24, MAX_SLOTS = 64, MAX_OPERATORS = 96 };

typedef struct shape {
  uint32_t access, rank;
  gs_dtype dtype;
} shape;

typedef struct walk {
  const pv_listing *l;
  bs_values *values;
  gs_program *p;
  uint16_t wheel[MAX_WHEELS], of[MAX_WHEELS];
  uint32_t n_wheels, at;
  bool dead;    /* there is no such form */
  bool unknown; /* something is not understood: the list is not complete */
  bool dtypes;  /* tell forms apart */
  uint32_t slots[MAX_SLOTS];
  bool sizes[MAX_SLOTS]; /* the slot stands for any sizes, a number, or an
                            operator with any parameters */
  shape node[MAX_NODES];
  gs_term tensor[GS_MAX_RANK + 1][GS_DTYPE_COUNT];
  bool made[GS_MAX_RANK + 1][GS_DTYPE_COUNT];
  uint32_t n_operators;
  bs_value operators[MAX_OPERATORS];
} walk;

/* A number below n. */
static uint32_t
pick(walk *w, uint32_t n) {
  if (!n || w->at == MAX_WHEELS) {
    w->dead = true;
    w->unknown |= n > 0;
    return 0;
  }
  if (w->at == w->n_wheels)
    w->wheel[w->n_wheels++] = 0;
  w->of[w->at] = (uint16_t)n;
  return w->wheel[w->at++];
}

/* False when all combinations were looked at. */
static bool
turn(walk *w) {
  w->n_wheels = w->at;
  while (w->n_wheels && ++w->wheel[w->n_wheels - 1] == w->of[w->n_wheels - 1])
    w->n_wheels--;
  return w->n_wheels > 0;
}

/* --- values --------------------------------------------------------------- */

static bool
is_bound(const walk *w, uint32_t slot) {
  return w->slots[slot] != UINT32_MAX;
}

static void
set(walk *w, uint32_t slot, bs_value v) {
  if (w->sizes[slot])
    w->unknown = w->dead = true;
  else if (!is_bound(w, slot))
    w->slots[slot] = v.i;
  else
    w->dead |= w->slots[slot] != v.i;
}

/* What the attribute is by now; NULL value: free. */
static bs_value
now(const walk *w, const gs_expr *e) {
  if (e->kind == GS_X_LITERAL)
    return e->literal;
  if (e->kind == GS_X_VAR && is_bound(w, e->slot))
    return (bs_value){w->slots[e->slot]};
  return BS_NIL;
}

/* A variable whose value stands for others, too. */
static bool
is_any(const walk *w, const gs_expr *e) {
  return e->kind == GS_X_VAR && w->sizes[e->slot];
}

static void
set_any(walk *w, uint32_t slot, bs_value v) {
  set(w, slot, v);
  w->sizes[slot] = true;
}

static void
bind(walk *w, const gs_expr *e, bs_value v) {
  if (e->kind == GS_X_VAR)
    set(w, e->slot, v);
  else if (e->kind == GS_X_LITERAL)
    w->dead |= !bs_same(e->literal, v);
  else
    w->unknown = w->dead = true;
}

/* A whole number below n: an axis or a boundary. */
static uint32_t
number_below(walk *w, const gs_expr *e, uint32_t n) {
  bs_value v = now(w, e);
  if (!v.i) {
    uint32_t k = pick(w, n);
    bind(w, e, bs_int(w->values, k));
    return k;
  }
  if (is_any(w, e)) {
    w->unknown = w->dead = true;
    return 0;
  }
  int64_t k = bs_as_int(w->values, v);
  w->dead |= bs_kind_of(w->values, v) != BS_KIND_INT || k < 0 || k >= n;
  return w->dead ? 0 : (uint32_t)k;
}

/* A list of sizes, `n` of them, or any number for n < 0; how many. */
static uint32_t
sizes(walk *w, const gs_expr *e, int32_t n) {
  int64_t ones[GS_MAX_RANK];
  bs_value v = now(w, e);
  uint32_t len;
  if (v.i) {
    len = bs_len(w->values, v);
  } else if (e->kind == GS_X_VAR) {
    len = n >= 0 ? (uint32_t)n : pick(w, w->l->rank + 1);
    for (uint32_t k = 0; k < len; k++)
      ones[k] = 1;
    set_any(w, e->slot, bs_ints(w->values, ones, len));
  } else {
    len = e->n_args;
    w->unknown |=
        e->kind != GS_X_CALL || strcmp(gs_function_name(e->function), "list");
  }
  w->dead |= len > GS_MAX_RANK || (n >= 0 && len != (uint32_t)n) || w->unknown;
  return w->dead ? 0 : len;
}

/* The k-th permutation of n items. */
static void
permutation_at(uint32_t k, uint32_t n, int64_t *out) {
  uint32_t left[GS_MAX_RANK];
  for (uint32_t i = 0; i < n; i++)
    left[i] = i;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t at = k % (n - i);
    out[i] = left[at];
    k /= n - i;
    memmove(left + at, left + at + 1, (n - i - at - 1) * sizeof *left);
  }
}

static uint32_t
factorial(uint32_t n) {
  return n < 2 ? 1 : n > 8 ? UINT16_MAX : n * factorial(n - 1);
}

static void
permutation(walk *w, const gs_expr *e, uint32_t n) {
  int64_t p[GS_MAX_RANK];
  bs_value v = now(w, e);
  if (v.i) { /* a repeated variable, or as it is written */
    w->dead |= bs_len(w->values, v) != n;
    if (is_any(w, e))
      w->unknown = w->dead = true;
    return;
  }
  if (n > 7 || e->kind == GS_X_LITERAL) {
    w->unknown = w->dead = true;
    return;
  }
  permutation_at(pick(w, factorial(n)), n, p);
  if (e->kind == GS_X_VAR) {
    set(w, e->slot, bs_ints(w->values, p, n));
    return;
  }
  w->dead |= e->n_args != n;
  for (uint32_t k = 0; k < n && !w->dead; k++)
    bind(w, e->args[k], bs_int(w->values, p[k]));
}

/* A number, or a variable for any. */
static void
number(walk *w, const gs_expr *e) {
  if (!now(w, e).i && e->kind == GS_X_VAR)
    set_any(w, e->slot, bs_int(w->values, 2));
  w->unknown |= !now(w, e).i;
  w->dead |= w->unknown;
}

/* --- operators ------------------------------------------------------------ */

/* One of every kind; what it does with its numbers is not told apart here. */
static void
list_operators(walk *w) {
  for (int op = 0; op < GS_COMPUTE_COUNT; op++) {
    const char *letters = gs_compute_table[op].params;
    bs_value item[4] = {bs_sym(w->values, gs_compute_table[op].name)};
    bool dtype = letters[0] == 't';
    for (int d = 0; d < (dtype ? GS_DTYPE_COUNT : 1); d++) {
      uint32_t n = 0;
      for (; letters[n] && n < 3; n++)
        item[n + 1] = dtype ? bs_sym(w->values, gs_dtype_table[d].name)
                            : bs_int(w->values, n + 2);
      w->unknown |= w->n_operators == MAX_OPERATORS;
      if (w->n_operators < MAX_OPERATORS)
        w->operators[w->n_operators++] =
            n ? bs_list(w->values, item, n + 1) : item[0];
    }
  }
}

/* (clip ?lo ?hi), (cast ?t): heads and numbers as they are, or like those of
 * the list. */
static bs_value
written_operator(walk *w, const gs_expr *e) {
  bs_value item[4];
  gs_compute op;
  if (e->kind != GS_X_CALL || e->n_args > 4 || !e->n_args ||
      e->args[0]->kind != GS_X_LITERAL ||
      !gs_compute_of(w->values, e->args[0]->literal, &op)) {
    w->unknown = w->dead = true;
    return BS_NIL;
  }
  item[0] = e->args[0]->literal;
  for (uint32_t k = 1; k < e->n_args; k++) {
    item[k] = now(w, e->args[k]);
    if (item[k].i)
      continue;
    if (gs_compute_table[op].params[k - 1] == 't') {
      item[k] = bs_sym(w->values, gs_dtype_table[pick(w, GS_DTYPE_COUNT)].name);
      bind(w, e->args[k], item[k]);
    } else {
      number(w, e->args[k]);
      item[k] = now(w, e->args[k]);
    }
    if (w->dead)
      return BS_NIL;
  }
  return bs_list(w->values, item, e->n_args);
}

static void
cast_to(walk *w, bs_value o, gs_dtype *out) {
  bs_value to = gs_compute_param(w->values, o, 0);
  w->dead |= bs_kind_of(w->values, to) != BS_KIND_SYM ||
             !gs_dtype_find(bs_as_sym(w->values, to), out);
}

/* One of each kind; its numbers stand for any. */
static void
choose_operator(walk *w, uint32_t slot, bs_value *o) {
  *o = w->operators[pick(w, w->n_operators)];
  set(w, slot, *o);
  bs_value p = gs_compute_param(w->values, *o, 0);
  w->sizes[slot] = p.i && bs_kind_of(w->values, p) != BS_KIND_SYM;
}

static void
compute(walk *w, const gs_expr *e, shape *t) {
  gs_compute op;
  bs_value o = now(w, e);
  if (!o.i && e->kind == GS_X_VAR)
    choose_operator(w, e->slot, &o);
  else if (!o.i)
    o = written_operator(w, e);
  if (w->dead || !gs_compute_of(w->values, o, &op)) {
    w->dead = true;
    return;
  }
  gs_compute_kind kind = gs_compute_table[op].kind;
  bool items = kind != GS_ELEMENTWISE && kind != GS_CAST;
  w->dead |=
      (items && t->rank == t->access) ||
      (gs_dtype_table[t->dtype].integer && !gs_compute_takes_integers(op));
  if (w->dead)
    return;
  if (kind == GS_REDUCE || kind == GS_DOT)
    t->rank = t->access;
  else if (items && kind != GS_SOFTMAX)
    t->rank--;
  if (kind == GS_CAST)
    cast_to(w, o, &t->dtype);
  else
    t->dtype = gs_compute_dtype(op, t->dtype);
}

/* --- views ---------------------------------------------------------------- */

static void
tuple(walk *w, shape *t, const shape *a, const shape *b, bool both) {
  w->dead |= a->dtype != b->dtype || a->rank - a->access != b->rank - b->access;
  w->dead |= !both && a->access != b->access;
  t->access = a->access + (both ? b->access : 0);
  t->rank = t->access + 1 + a->rank - a->access;
}

static void
windows(walk *w, const gs_sk_node *sk, shape *t) {
  uint32_t n = t->rank - t->access;
  w->dead |= !n;
  for (uint32_t k = 0; k < 3; k++)
    if (sk->attrs[k])
      sizes(w, sk->attrs[k], (int32_t)n);
  t->access += n;
  t->rank += n;
}

static void
squeeze(walk *w, const gs_sk_node *sk, shape *t) {
  uint32_t d = number_below(w, sk->attrs[0], t->rank);
  if (w->dead)
    return;
  t->access -= d < t->access;
  t->rank--;
}

static void
insert_axis(walk *w, const gs_sk_node *sk, shape *t) {
  uint32_t d = number_below(w, sk->attrs[0], t->rank + 1);
  t->access += d <= t->access;
  t->rank++;
}

static void
pad(walk *w, const gs_sk_node *sk, shape *t) {
  static const char *const kinds[] = {"zero", "min", "edge"};
  if (!now(w, sk->attrs[0]).i)
    bind(w, sk->attrs[0], bs_sym(w->values, kinds[pick(w, 3)]));
  number_below(w, sk->attrs[1], t->rank);
}

static void
repeat(walk *w, const gs_sk_node *sk, const shape *t) {
  number_below(w, sk->attrs[0], t->rank);
  if (!w->dead)
    number(w, sk->attrs[1]);
}

static void
reshape(walk *w, const gs_sk_node *sk, shape *t) {
  t->access = sizes(w, sk->attrs[0], -1);
  t->rank = t->access + sizes(w, sk->attrs[1], -1);
}

static void
flatten(shape *t) {
  uint32_t s = t->access, c = t->rank - s;
  t->access = s > 0;
  t->rank = t->access + (c > 0);
}

static void
look_at_view(walk *w, const gs_sk_node *sk, shape *t) {
  switch (sk->op) {
  case GS_ACCESS:
    t->access = number_below(w, sk->attrs[0], t->rank + 1);
    break;
  case GS_TRANSPOSE:
    permutation(w, sk->attrs[0], t->rank);
    break;
  case GS_WINDOWS:
    windows(w, sk, t);
    break;
  case GS_SLICE:
  case GS_CONCAT:
    number_below(w, sk->attrs[0], t->rank);
    break;
  case GS_REPEAT:
    repeat(w, sk, t);
    break;
  case GS_PAD:
    pad(w, sk, t);
    break;
  case GS_SQUEEZE:
    squeeze(w, sk, t);
    break;
  case GS_INSERT_AXIS:
    insert_axis(w, sk, t);
    break;
  case GS_BROADCAST:
    sizes(w, sk->attrs[0], (int32_t)t->rank);
    break;
  case GS_RESHAPE:
    reshape(w, sk, t);
    break;
  case GS_FLATTEN:
    flatten(t);
    break;
  case GS_MATERIALIZE:
    break;
  default:
    w->unknown = w->dead = true;
  }
}

/* --- the left side -------------------------------------------------------- */

/* A term of that shape; its sizes mean nothing. */
static gs_term
term_of(walk *w, const shape *t) {
  gs_type type = {.dtype = t->dtype, .rank = (uint8_t)t->rank};
  char name[32];
  gs_fault fault;
  bs_value split = bs_int(w->values, t->access);
  type.access = type.rank;
  for (uint32_t d = 0; d < t->rank; d++)
    type.dim[d] = 2;
  snprintf(name, sizeof name, "f%u_%d", t->rank, t->dtype);
  gs_term x = w->tensor[t->rank][t->dtype];
  if (!w->made[t->rank][t->dtype])
    x = gs_add_tensor(w->p, bs_arena_strdup(w->p->ctx.arena, name), &type,
                      BS_NOWHERE);
  w->tensor[t->rank][t->dtype] = x;
  w->made[t->rank][t->dtype] = true;
  if (!gs_term_ok(x) || t->access == t->rank)
    return x;
  return gs_add(w->p, GS_ACCESS, bs_list(w->values, &split, 1), &x, 1,
                BS_NOWHERE, &fault);
}

static void
leaf(walk *w, uint32_t slot, shape *t) {
  gs_type type;
  if (is_bound(w, slot)) {
    gs_type_at(w->p, (gs_term){w->slots[slot]}, &type);
    *t = (shape){type.access, type.rank, type.dtype};
    return;
  }
  t->rank = pick(w, w->l->rank + 1);
  t->access = pick(w, t->rank + 1);
  t->dtype = w->dtypes ? (gs_dtype)pick(w, GS_DTYPE_COUNT) : GS_F32;
  gs_term x = term_of(w, t);
  w->unknown |= !gs_term_ok(x);
  w->dead |= w->unknown;
  w->slots[slot] = x.i;
}

static void
look_at_node(walk *w, const gs_sk_node *sk, shape *t) {
  if (sk->hole) {
    leaf(w, sk->slot, t);
    return;
  }
  const shape *a = &w->node[sk->kids[0]],
              *b = &w->node[sk->kids[1 % sk->n_kids]];
  *t = *a;
  if (sk->op == GS_COMPUTE) {
    compute(w, sk->attrs[0], t);
  } else if (sk->op == GS_CARTPROD || sk->op == GS_PAIR) {
    tuple(w, t, a, b, sk->op == GS_CARTPROD);
  } else {
    if (sk->op == GS_CONCAT)
      w->dead |=
          a->access != b->access || a->rank != b->rank || a->dtype != b->dtype;
    if (!w->dead)
      look_at_view(w, sk, t);
  }
  w->dead |= t->rank > GS_MAX_RANK;
}

/* --- the condition -------------------------------------------------------- */

static bool
is_named(const gs_expr *e, const char *name) {
  return e->kind == GS_X_CALL && !strcmp(gs_function_name(e->function), name);
}

static bool
is_class(const gs_expr *e) {
  return e->kind == GS_X_VAR && e->sort == GS_SORT_CLASS;
}

static bool
is_form_fact(const gs_expr *e) {
  static const char *const names[] = {"rank", "access-rank", "compute-rank",
                                      "dtype", "axes"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++)
    if (is_named(e, names[k]))
      return e->n_args == 1 && is_class(e->args[0]);
  return false;
}

/* Does the value follow from the form? */
static bool
is_known(const walk *w, const gs_expr *e) {
  if (e->settable || is_class(e))
    return false;
  if (e->kind == GS_X_LITERAL)
    return true;
  if (is_form_fact(e))
    return is_bound(w, e->args[0]->slot);
  if (e->kind == GS_X_VAR)
    return is_bound(w, e->slot) && !w->sizes[e->slot];
  if (e->n_args && is_any(w, e->args[0]))
    return is_named(e, "len") || is_named(e, "rank") ||
           is_named(e, "op-kind") || is_named(e, "op-name");
  for (uint32_t k = 0; k < e->n_args; k++)
    if (!is_known(w, e->args[k]))
      return false;
  return true;
}

static bs_value
type_of(void *facts, uint32_t term) {
  const walk *w = facts;
  gs_type type;
  gs_type_at(w->p, (gs_term){term}, &type);
  return gs_type_intern(w->values, &type);
}

static void
define(walk *w, uint32_t slot, bs_value v) {
  if (!w->sizes[slot])
    set(w, slot, v);
}

static void
take_clause(walk *w, const rl_asked *c) {
  gs_env env = {.values = w->values,
                .slots = w->slots,
                .n_slots = w->l->rule->scope.vars.len,
                .facts = w,
                .type_of = type_of};
  bs_value v;
  if (c->kind == RL_ASKS_OTHER || !c->expr || !is_known(w, c->expr))
    return;
  if (c->kind == RL_ASKS_TEST) {
    w->dead |= !gs_expr_test(c->expr, &env);
    return;
  }
  if (!gs_expr_eval(c->expr, &env, &v)) {
    w->dead = true;
    return;
  }
  if (c->kind == RL_ASKS_FOR) {
    if (bs_kind_of(w->values, v) != BS_KIND_LIST ||
        bs_len(w->values, v) > 500) {
      w->unknown = w->dead = true;
      return;
    }
    uint32_t k = pick(w, bs_len(w->values, v));
    if (w->dead)
      return;
    v = bs_item(w->values, v, k);
  }
  define(w, c->slot, v);
}

/* --- all ------------------------------------------------------------------ */

static bool
asks_dtype(const gs_expr *e) {
  if (e->kind != GS_X_CALL)
    return false;
  if (gs_function_at(e->function)->result == 't')
    return true;
  for (uint32_t k = 0; k < e->n_args; k++)
    if (asks_dtype(e->args[k]))
      return true;
  return false;
}

static bool
computes(const gs_skeleton *s) {
  for (uint32_t k = 0; k < s->n; k++)
    if (!s->nodes[k].hole && s->nodes[k].op == GS_COMPUTE)
      return true;
  return false;
}

static bool
tells_dtypes(const rl_rule *rule) {
  bool tells = computes(rule->left);
  for (uint32_t k = 0; k < rule->n_right; k++)
    tells |= computes(rule->right[k]);
  for (uint32_t k = 0; k < rl_asked_count(rule); k++) {
    rl_asked c = rl_asked_at(rule, k);
    tells |= c.expr && asks_dtype(c.expr);
  }
  return tells;
}

/* Clauses that are false already leave nothing behind them to be counted. */
static void
test_early(walk *w) {
  for (uint32_t k = 0; k < rl_asked_count(w->l->rule) && !w->dead; k++) {
    rl_asked c = rl_asked_at(w->l->rule, k);
    if (c.kind == RL_ASKS_TEST)
      take_clause(w, &c);
  }
}

static void
pass(walk *w) {
  const rl_rule *rule = w->l->rule;
  w->at = 0;
  w->dead = false;
  memset(w->slots, 0xff, sizeof w->slots);
  memset(w->sizes, 0, sizeof w->sizes);
  for (uint32_t k = 0; k < rule->left->n && !w->dead; k++) {
    look_at_node(w, &rule->left->nodes[k], &w->node[k]);
    test_early(w);
  }
  for (uint32_t k = 0; k < rl_asked_count(rule) && !w->dead; k++) {
    rl_asked c = rl_asked_at(rule, k);
    take_clause(w, &c);
  }
}

bool
pv_list_forms(const pv_listing *l, uint32_t *n) {
  walk *w = bs_calloc(l->ctx->heap, 1, sizeof *w);
  bool more = true, complete = true;
  *n = 0;
  w->l = l;
  w->values = l->ctx->values;
  w->p = gs_program_new(l->ctx, rl_target(l->rules));
  w->dtypes = tells_dtypes(l->rule);
  list_operators(w);
  complete = l->rule->left->n && l->rule->left->n <= MAX_NODES &&
             l->rule->scope.vars.len <= MAX_SLOTS;
  for (uint32_t tries = 0; complete && more; tries++) {
    pass(w);
    complete = !w->unknown && tries < l->max_tries && *n <= l->max_forms;
    if (complete && !w->dead) {
      ++*n;
      complete = l->found(l->arg, w->p, w->slots);
    }
    more = turn(w);
  }
  bs_free(l->ctx->heap, w);
  return complete;
}
