/* SPDX-License-Identifier: MIT */
/* symbolic_forms.c - the forms of a left side, listed; see symbolic_forms.h.
 *
 * A pass goes over the pattern, children first, and then over the condition;
 * wherever there is a choice it takes the next number of a sequence, and the
 * sequences are counted up like an odometer, the last wheel first.  A pass that
 * turns out to be impossible ends at once, so that nothing behind it is
 * counted.  A combination is passed over only when the left side cannot have a
 * type so, or a clause that asks for nothing but the form is false. */
#include "prove/symbolic/listing.h"
#include "glenside/type/view.h"
#include <assert.h>
#include <string.h>

/* A number below n. */
uint32_t
ls_pick(ls_walk *w, uint32_t n) {
  assert(w->at <= LS_WHEELS && w->n_wheels <= LS_WHEELS && n <= UINT16_MAX);
  if (!n || w->at == LS_WHEELS) {
    w->dead = true;
    w->unknown |= n > 0;
    return 0;
  }
  if (w->at == w->n_wheels)
    w->wheel[w->n_wheels++] = 0;
  w->of[w->at] = (uint16_t)n;
  w->dtype_at[w->at] = false;
  return w->wheel[w->at++];
}

static gs_dtype
pick_dtype(ls_walk *w) {
  gs_dtype out = (gs_dtype)ls_pick(w, GS_DTYPE_COUNT);
  if (!w->dead)
    w->dtype_at[w->at - 1] = true;
  return out;
}

/* False when all combinations were looked at.  What is impossible whatever the
 * dtypes are is so for the other dtypes, too. */
static bool
turn(ls_walk *w) {
  while (w->dead && w->whatever && w->at && w->dtype_at[w->at - 1])
    w->at--;
  w->n_wheels = w->at;
  while (w->n_wheels && ++w->wheel[w->n_wheels - 1] == w->of[w->n_wheels - 1])
    w->n_wheels--;
  return w->n_wheels > 0;
}

/* --- values --------------------------------------------------------------- */

bool
ls_is_bound(const ls_walk *w, uint32_t slot) {
  assert(slot < PV_RULE_SLOTS);
  return w->slots[slot] != UINT32_MAX;
}

void
ls_set(ls_walk *w, uint32_t slot, bs_value v) {
  assert(slot < PV_RULE_SLOTS);
  if (w->sizes[slot])
    w->unknown = w->dead = true;
  else if (!ls_is_bound(w, slot))
    w->slots[slot] = v.i;
  else
    w->dead |= w->slots[slot] != v.i;
}

/* What the attribute is by now; NULL value: free. */
static bs_value
now(const ls_walk *w, const gs_expr *e) {
  if (e->kind == GS_X_LITERAL)
    return e->literal;
  if (e->kind == GS_X_VAR && ls_is_bound(w, e->slot))
    return (bs_value){w->slots[e->slot]};
  return BS_NIL;
}

/* A variable whose value stands for others, too. */
bool
ls_is_any(const ls_walk *w, const gs_expr *e) {
  return e->kind == GS_X_VAR && w->sizes[e->slot];
}

static void
set_any(ls_walk *w, uint32_t slot, bs_value v) {
  ls_set(w, slot, v);
  w->sizes[slot] = true;
}

static void
bind(ls_walk *w, const gs_expr *e, bs_value v) {
  if (e->kind == GS_X_VAR)
    ls_set(w, e->slot, v);
  else if (e->kind == GS_X_LITERAL)
    w->dead |= !bs_same(e->literal, v);
  else
    w->unknown = w->dead = true;
}

/* A whole number below n: an axis or a boundary. */
static uint32_t
number_below(ls_walk *w, const gs_expr *e, uint32_t n) {
  bs_value v = now(w, e);
  if (!v.i) {
    uint32_t k = ls_pick(w, n);
    bind(w, e, bs_int(w->values, k));
    return k;
  }
  if (ls_is_any(w, e)) {
    w->unknown = w->dead = true;
    return 0;
  }
  int64_t k = bs_as_int(w->values, v);
  w->dead |= bs_kind_of(w->values, v) != BS_KIND_INT || k < 0 || k >= n;
  return w->dead ? 0 : (uint32_t)k;
}

/* A list of sizes, `n` of them, or any number for n < 0; how many. */
static uint32_t
sizes(ls_walk *w, const gs_expr *e, int32_t n) {
  int64_t ones[GS_MAX_RANK];
  bs_value v = now(w, e);
  uint32_t len;
  if (v.i) {
    len = bs_len(w->values, v);
  } else if (e->kind == GS_X_VAR) {
    len = n >= 0 ? (uint32_t)n : ls_pick(w, w->l->rank + 1);
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
  assert(n <= GS_MAX_RANK);
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
permutation(ls_walk *w, const gs_expr *e, uint32_t n) {
  assert(n <= GS_MAX_RANK);
  int64_t p[GS_MAX_RANK];
  bs_value v = now(w, e);
  if (v.i) { /* a repeated variable, or as it is written */
    w->dead |= bs_len(w->values, v) != n;
    if (ls_is_any(w, e))
      w->unknown = w->dead = true;
    return;
  }
  if (n > 7 || e->kind == GS_X_LITERAL) {
    w->unknown = w->dead = true;
    return;
  }
  permutation_at(ls_pick(w, factorial(n)), n, p);
  if (e->kind == GS_X_VAR) {
    ls_set(w, e->slot, bs_ints(w->values, p, n));
    return;
  }
  w->dead |= e->n_args != n;
  for (uint32_t k = 0; k < n && !w->dead; k++)
    bind(w, e->args[k], bs_int(w->values, p[k]));
}

/* A number, or a variable for any. */
static void
number(ls_walk *w, const gs_expr *e) {
  if (!now(w, e).i && e->kind == GS_X_VAR)
    set_any(w, e->slot, bs_int(w->values, 2));
  w->unknown |= !now(w, e).i;
  w->dead |= w->unknown;
}

/* --- operators ------------------------------------------------------------ */

/* One of every kind; what it does with its numbers is not told apart here. */
static void
list_operators(ls_walk *w) {
  for (int op = 0; op < GS_COMPUTE_COUNT; op++) {
    const char *letters = gs_compute_table[op].params;
    bs_value item[4] = {bs_sym(w->values, gs_compute_table[op].name)};
    bool dtype = letters[0] == 't';
    for (int d = 0; d < (dtype ? GS_DTYPE_COUNT : 1); d++) {
      uint32_t n = 0;
      for (; letters[n] && n < 3; n++)
        item[n + 1] = dtype ? bs_sym(w->values, gs_dtype_table[d].name)
                            : bs_int(w->values, n + 2);
      w->unknown |= w->n_operators == LS_OPERATORS;
      if (w->n_operators < LS_OPERATORS)
        w->operators[w->n_operators++] =
            n ? bs_list(w->values, item, n + 1) : item[0];
    }
  }
}

/* (clip ?lo ?hi), (cast ?t): heads and numbers as they are, or like those of
 * the list. */
static bs_value
written_operator(ls_walk *w, const gs_expr *e) {
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
      item[k] =
          bs_sym(w->values, gs_dtype_table[ls_pick(w, GS_DTYPE_COUNT)].name);
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
cast_to(ls_walk *w, bs_value o, gs_dtype *out) {
  bs_value to = gs_compute_param(w->values, o, 0);
  w->dead |= bs_kind_of(w->values, to) != BS_KIND_SYM ||
             !gs_dtype_find(bs_as_sym(w->values, to), out);
}

bool
ls_has_numbers(const ls_walk *w, bs_value o) {
  bs_value p = gs_compute_param(w->values, o, 0);
  return p.i && bs_kind_of(w->values, p) != BS_KIND_SYM;
}

/* One of each kind; its numbers stand for any. */
static void
choose_operator(ls_walk *w, uint32_t slot, bs_value *o) {
  *o = ls_pick_operator(w, slot);
  if (w->dead)
    return;
  ls_set(w, slot, *o);
  w->sizes[slot] = ls_has_numbers(w, *o);
}

static void
compute(ls_walk *w, const gs_expr *e, ls_shape *t) {
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
  w->whatever = (items && t->rank == t->access) ||
                (kind == GS_LOOKUP && t->rank > t->access + 1);
  w->dead |= w->whatever || !gs_compute_takes(op, t->dtype);
  if (w->dead)
    return;
  if (kind == GS_REDUCE || kind == GS_DOT)
    t->rank = t->access;
  else if (items && kind != GS_SOFTMAX && kind != GS_LOOKUP)
    t->rank--;
  if (kind == GS_CAST)
    cast_to(w, o, &t->dtype);
  else
    t->dtype = gs_compute_dtype(op, t->dtype);
}

bool
ls_reads(const gs_expr *e, uint32_t slot) {
  if (e->kind == GS_X_VAR)
    return e->slot == slot;
  for (uint32_t k = 0; k < e->n_args; k++)
    if (ls_reads(e->args[k], slot))
      return true;
  return false;
}

/* --- views ---------------------------------------------------------------- */

static void
pad_kind(ls_walk *w, const gs_expr *e) {
  if (!now(w, e).i)
    bind(w, e,
         bs_sym(w->values, gs_padding_names[ls_pick(w, GS_PADDING_COUNT)]));
}

/* An item of the attribute of a view of a term of that shape. */
static void
choose_item(ls_walk *w, char letter, const gs_expr *e, const ls_shape *t) {
  switch (letter) {
  case 'd':
    number_below(w, e, t->rank);
    return;
  case 'g':
    number_below(w, e, t->rank + 1);
    return;
  case 'P':
    permutation(w, e, t->rank);
    return;
  case 'R':
    sizes(w, e, (int32_t)t->rank);
    return;
  case 'C':
    sizes(w, e, (int32_t)(t->rank - t->access));
    return;
  case 'L':
    sizes(w, e, -1);
    return;
  case 'f':
    number(w, e);
    return;
  case 'k':
    pad_kind(w, e);
    return;
  case 'n': /* a bound or an amount is a parameter of the form */
    return;
  default:
    w->unknown = w->dead = true;
  }
}

/* --- types of which ranks alone matter ------------------------------------ */

/* Numbers of which nothing is known, but that places are integers. */
typedef struct ranks {
  const ls_walk *w;
  const gs_sk_node *sk;
  uint32_t items; /* compute dimensions of the child */
} ranks;

static gs_number
any_constant(void *arg, int64_t c) {
  (void)arg;
  return c;
}

static gs_number
any_sum(void *arg, int64_t a, gs_number x, int64_t b, gs_number y, int64_t c) {
  (void)arg, (void)a, (void)b, (void)y, (void)c;
  return x;
}

static gs_number
any_product(void *arg, gs_number x, gs_number y) {
  (void)arg, (void)y;
  return x;
}

static bool
any_is_constant(void *arg, gs_number x, int64_t *out) {
  (void)arg;
  *out = x;
  return true;
}

static bool
any_meets(void *arg, gs_number x, bool zero) {
  (void)arg, (void)x, (void)zero;
  return true;
}

static int
any_repeats(void *arg, uint32_t k, gs_number from, gs_number to) {
  (void)arg, (void)k, (void)from, (void)to;
  return 0;
}

static gs_number
integer_of(const ls_walk *w, const gs_expr *e) {
  bs_value v = now(w, e);
  bool is_integer = v.i && bs_kind_of(w->values, v) == BS_KIND_INT;
  return is_integer ? bs_as_int(w->values, v) : 1;
}

static int32_t
any_item(void *arg, uint32_t item, gs_number *out, uint32_t max) {
  const ranks *r = arg;
  const gs_expr *e = item < r->sk->n_attrs ? r->sk->attrs[item] : NULL;
  char letter = gs_op_table[r->sk->op].attrs[item];
  bs_value v = e ? now(r->w, e) : BS_NIL;
  uint32_t n = e ? e->n_args : r->items;
  if (!gs_letter_is_list(letter)) {
    out[0] = integer_of(r->w, e);
    return 1;
  }
  if (v.i)
    return bs_to_ints(r->w->values, v, out, max, &n) ? (int32_t)n : -1;
  for (uint32_t k = 0; k < n && n <= max; k++)
    out[k] = e ? integer_of(r->w, e->args[k]) : 1;
  return n <= max ? (int32_t)n : -1;
}

static bs_value
any_word(void *arg, uint32_t item) {
  assert(item < ((const ranks *)arg)->sk->n_attrs);
  const ranks *r = arg;
  return now(r->w, r->sk->attrs[item]);
}

static gs_type
shape_type(const ls_shape *t) {
  return (gs_type){.access = (uint8_t)t->access,
                   .rank = (uint8_t)t->rank,
                   .dtype = t->dtype};
}

static void
look_at_view(ls_walk *w, const gs_sk_node *sk, const ls_shape *a,
             const ls_shape *b, ls_shape *t) {
  const char *letters = gs_op_table[sk->op].attrs;
  for (uint32_t k = 0; k < sk->n_attrs && letters[k] && !w->dead; k++)
    if (sk->attrs[k])
      choose_item(w, letters[k], sk->attrs[k], a);
  w->whatever = w->dead && !w->of_dtype;
  if (w->dead)
    return;
  ranks r = {w, sk, a->rank - a->access};
  gs_numbers over = {&r,          any_constant,    any_sum,   any_product,
                     any_product, any_is_constant, any_meets, any_repeats,
                     any_item,    any_word};
  gs_type kids[2] = {shape_type(a), shape_type(b)}, made;
  const gs_type *of[] = {&kids[0], &kids[1]};
  if (gs_infer_over(&over, sk->op, of, &made)) {
    *t = (ls_shape){made.access, made.rank, made.dtype};
    return;
  }
  /* A view asks no more of dtypes than that they be equal. */
  kids[1].dtype = kids[0].dtype;
  w->dead = true;
  w->whatever = !gs_infer_over(&over, sk->op, of, &made);
}

/* --- the left side -------------------------------------------------------- */

static void
leaf(ls_walk *w, uint32_t slot, ls_shape *t) {
  assert(slot < PV_RULE_SLOTS);
  gs_type type;
  if (ls_is_bound(w, slot)) {
    gs_type_at(w->p, (gs_term){w->slots[slot]}, &type);
    *t = (ls_shape){type.access, type.rank, type.dtype};
    return;
  }
  t->rank = ls_pick(w, w->l->rank + 1);
  t->access = ls_pick(w, t->rank + 1);
  if (!w->dtypes)
    t->dtype = GS_F32;
  else if (!ls_has_dtype_of_other(w, slot, &t->dtype))
    t->dtype = pick_dtype(w);
  gs_term x = ls_term_of(w, t);
  w->unknown |= !gs_term_ok(x);
  w->dead |= w->unknown;
  w->slots[slot] = x.i;
}

static void
look_at_node(ls_walk *w, const gs_sk_node *sk, ls_shape *t) {
  if (sk->hole) {
    leaf(w, sk->slot, t);
    return;
  }
  const ls_shape *a = &w->node[sk->kids[0]],
                 *b = &w->node[sk->kids[1 % sk->n_kids]];
  *t = *a;
  if (sk->op == GS_COMPUTE)
    compute(w, sk->attrs[0], t);
  else if (gs_op_table[sk->op].view)
    look_at_view(w, sk, a, b, t);
  else if (sk->op != GS_MATERIALIZE)
    w->unknown = w->dead = true;
  w->dead |= t->rank > GS_MAX_RANK;
}

/* --- all ------------------------------------------------------------------ */

/* The state before a step: a node of the left side, or the condition. */
static void
mark(ls_walk *w, uint32_t step) {
  assert(step <= PV_RULE_NODES);
  ls_mark *m = &w->before[step];
  uint32_t n = w->l->rule->scope.vars.len;
  memcpy(m->slots, w->slots, n * sizeof *m->slots);
  memcpy(m->sizes, w->sizes, n * sizeof *m->sizes);
  m->at = w->at;
  m->alike = w->alike;
  m->held = w->held;
  w->marks = step + 1;
}

static void
go_back(ls_walk *w, uint32_t step) {
  assert(step <= PV_RULE_NODES);
  const ls_mark *m = &w->before[step];
  uint32_t n = w->l->rule->scope.vars.len;
  memcpy(w->slots, m->slots, n * sizeof *m->slots);
  memcpy(w->sizes, m->sizes, n * sizeof *m->sizes);
  w->at = m->at;
  w->alike = m->alike;
  w->held = m->held;
  w->dead = false;
}

/* Steps before the wheel that turned last would choose what they have chosen:
 * the pass begins with the step that this wheel belongs to. */
static uint32_t
first_step(const ls_walk *w) {
  uint32_t step = w->marks - 1;
  while (step && w->before[step].at >= w->n_wheels)
    step--;
  return step;
}

static void
pass(ls_walk *w) {
  const rl_rule *rule = w->l->rule;
  uint32_t k = first_step(w);
  w->whatever = false;
  go_back(w, k);
  for (; k < rule->left->n && !w->dead; k++) {
    mark(w, k);
    look_at_node(w, &rule->left->nodes[k], &w->node[k]);
    ls_test_early(w);
  }
  if (w->dead)
    return;
  mark(w, k);
  ls_take_clauses(w);
  w->dead |= !w->dead && ls_is_other_dtype(w);
}

static void
start(ls_walk *w) {
  memset(w->slots, 0xff, sizeof w->slots);
  mark(w, 0);
}

bool
pv_list_forms(const pv_listing *l, uint32_t *n) {
  ls_walk *w = bs_calloc(l->ctx->heap, 1, sizeof *w);
  bool more = true, complete = true;
  *n = 0;
  w->l = l;
  w->values = l->ctx->values;
  w->p = gs_program_new(l->ctx, rl_target(l->rules));
  w->dtypes = pv_tells_dtypes(l->rule);
  list_operators(w);
  ls_find_dtypes(w);
  complete = l->rule->left->n && l->rule->left->n <= PV_RULE_NODES &&
             l->rule->scope.vars.len <= PV_RULE_SLOTS;
  if (complete)
    start(w);
  for (uint32_t tries = 0; complete && more; tries++) {
    pass(w);
    pv_count(l->counts, PV_W_LISTED, 1);
    complete = !w->unknown && tries < l->max_tries && *n <= l->max_forms;
    if (complete && !w->dead) {
      ++*n;
      complete = l->found(l->arg, w->p, w->slots, w->alike);
    }
    more = turn(w);
  }
  bs_free(l->ctx->heap, w);
  return complete;
}
