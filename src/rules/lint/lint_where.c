/* SPDX-License-Identifier: MIT */
/* lint_where.c - conditions that never hold, parts of them that always do, and
 * what follows from a condition.
 *
 * The parts of a condition are facts: intervals of expressions that are
 * compared with numbers, and for two expressions which of <, =, > are left.
 * Nothing is known of an expression but its text, and that ranks and the like
 * are integers from some number on; so what contradicts itself here does so for
 * all terms, while much that does is not found. */
#include "rules/lint/lint_internal.h"
#include <assert.h>
#include <math.h>
#include <string.h>

enum { LESS = 1, EQUAL = 2, GREATER = 4 };

typedef struct interval {
  bs_value expr;
  double lo, hi; /* closed */
  bool integer;
} interval;

typedef struct relation {
  bs_value a, b; /* a.i < b.i */
  unsigned may;  /* of a to b */
} relation;

typedef struct facts {
  const rl_linter *l;
  const rl_canon *rule;
  bs_values *values;
  BS_VEC(interval) intervals;
  BS_VEC(relation) relations;
  BS_VEC(bs_value) holds;
  bool contradiction;
} facts;

/* --- what is known of an expression --------------------------------------- */

static bool
is_number(const bs_values *values, bs_value v) {
  bs_kind k = bs_kind_of(values, v);
  return k == BS_KIND_INT || k == BS_KIND_REAL;
}

/* A literal: no variable, no parameter, no call. */
static bool
is_ground(const bs_values *values, bs_value v) {
  if (bs_kind_of(values, v) == BS_KIND_SYM)
    return !strchr("?$", bs_as_sym(values, v)[0]);
  if (bs_kind_of(values, v) != BS_KIND_LIST)
    return v.i != 0;
  const char *head = rl_head_of(values, v);
  if (!head || strcmp(head, "list"))
    return false;
  for (uint32_t k = 1; k < bs_len(values, v); k++) {
    bs_value item = bs_item(values, v, k);
    if (bs_kind_of(values, item) == BS_KIND_LIST || !is_ground(values, item))
      return false;
  }
  return true;
}

static const struct {
  const char *head;
  double least;
} known_integers[] = {
    {"rank", 0},     {"access-rank", 0}, {"compute-rank", 0},
    {"len", 0},      {"index-of", 0},    {"dim", 1},
    {"elements", 1}, {"mod", -INFINITY}, {"dtype-bytes", 1},
    {"gcd", 0},
};

static interval
known(const facts *f, bs_value e) {
  const char *head = rl_head_of(f->values, e);
  interval out = {e, -INFINITY, INFINITY, false};
  int number = rl_canon_number(f->values, e);
  for (size_t k = 0; head && k < sizeof known_integers / sizeof *known_integers;
       k++)
    if (!strcmp(known_integers[k].head, head)) {
      out.integer = true;
      out.lo = known_integers[k].least;
    }
  for (uint32_t k = 0; number >= 0 && k < f->rule->naturals.len; k++)
    if (f->rule->naturals.data[k] == (uint32_t)number) {
      out.integer = true;
      out.lo = 0;
    }
  if (head && !strcmp(head, "mod") && bs_len(f->values, e) == 3) {
    bs_value by = bs_item(f->values, e, 2);
    if (bs_kind_of(f->values, by) == BS_KIND_INT &&
        bs_as_int(f->values, by) > 0) {
      out.lo = 0;
      out.hi = (double)bs_as_int(f->values, by) - 1;
    }
  }
  return out;
}

static interval *
interval_of(facts *f, bs_value e) {
  for (uint32_t k = 0; k < f->intervals.len; k++)
    if (bs_same(f->intervals.data[k].expr, e))
      return &f->intervals.data[k];
  bs_push(f->l->ctx->heap, &f->intervals, known(f, e));
  return &bs_last(&f->intervals);
}

/* --- adding what holds ---------------------------------------------------- */

/* Of an integer x < c is x <= c - 1; else the bound itself is kept, and that
 * it is not reached by the relation. */
static void
bound(facts *f, bs_value e, bs_value number, unsigned may) {
  interval *i = interval_of(f, e);
  double c = bs_as_real(f->values, number);
  if (!(fabs(c) < 9e15))
    return;
  if (!(may & GREATER))
    i->hi = fmin(i->hi, i->integer && !(may & EQUAL) ? ceil(c) - 1 : c);
  if (!(may & LESS))
    i->lo = fmax(i->lo, i->integer && !(may & EQUAL) ? floor(c) + 1 : c);
  bool open = i->lo == i->hi && i->lo == c && !(may & EQUAL);
  f->contradiction |= i->lo > i->hi || open;
}

static unsigned
mirrored(unsigned may) {
  return (may & EQUAL) | (may & LESS ? GREATER : 0) |
         (may & GREATER ? LESS : 0);
}

static void
relate(facts *f, bs_value a, bs_value b, unsigned may) {
  if (a.i > b.i) {
    bs_value swap = a;
    a = b;
    b = swap;
    may = mirrored(may);
  }
  for (uint32_t k = 0; k < f->relations.len; k++) {
    relation *r = &f->relations.data[k];
    if (bs_same(r->a, a) && bs_same(r->b, b)) {
      r->may &= may;
      f->contradiction |= !r->may;
      return;
    }
  }
  bs_push(f->l->ctx->heap, &f->relations, (relation){a, b, may});
}

/* Two literals: equal exactly when they are one value, or equal numbers. */
static unsigned
relation_of_literals(const facts *f, bs_value a, bs_value b) {
  if (bs_same(a, b))
    return EQUAL;
  if (!is_number(f->values, a) || !is_number(f->values, b))
    return LESS | GREATER;
  double x = bs_as_real(f->values, a), y = bs_as_real(f->values, b);
  return x < y ? LESS : x > y ? GREATER : EQUAL;
}

/* Another literal that the expression is said to equal. */
static bool
equals_another(const facts *f, bs_value e, bs_value literal) {
  for (uint32_t k = 0; k < f->relations.len; k++) {
    const relation *r = &f->relations.data[k];
    bs_value other = bs_same(r->a, e) ? r->b : r->a;
    if (r->may == EQUAL && (bs_same(r->a, e) || bs_same(r->b, e)) &&
        is_ground(f->values, other) &&
        !(relation_of_literals(f, other, literal) & EQUAL))
      return true;
  }
  return false;
}

static void
compare(facts *f, bs_value a, bs_value b, unsigned may) {
  bool left = is_ground(f->values, a), right = is_ground(f->values, b);
  if (bs_same(a, b)) {
    f->contradiction |= !(may & EQUAL);
    return;
  }
  if (left && right) {
    f->contradiction |= !(relation_of_literals(f, a, b) & may);
    return;
  }
  if (may == EQUAL && (left || right))
    f->contradiction |= equals_another(f, left ? b : a, left ? a : b);
  relate(f, a, b, may);
  if (is_number(f->values, b))
    bound(f, a, b, may);
  else if (is_number(f->values, a))
    bound(f, b, a, mirrored(may));
}

/* The relation that a comparison allows; 0 when it is none. */
static unsigned
relation_named(const char *head) {
  static const struct {
    const char *head;
    unsigned may;
  } names[] = {
      {"<", LESS}, {"<=", LESS | EQUAL}, {"=", EQUAL}, {"!=", LESS | GREATER}};
  for (size_t k = 0; head && k < sizeof names / sizeof names[0]; k++)
    if (!strcmp(names[k].head, head))
      return names[k].may;
  return 0;
}

static bool
is_held(const facts *f, bs_value v) {
  for (uint32_t k = 0; k < f->holds.len; k++)
    if (bs_same(f->holds.data[k], v))
      return true;
  return false;
}

static bool
denies(const facts *f, bs_value a, bs_value b) {
  const char *head = rl_head_of(f->values, a);
  return head && !strcmp(head, "not") && bs_len(f->values, a) == 2 &&
         bs_same(bs_item(f->values, a, 1), b);
}

static void
check_denial(facts *f, bs_value v) {
  for (uint32_t k = 0; k < f->holds.len; k++)
    f->contradiction |=
        denies(f, v, f->holds.data[k]) || denies(f, f->holds.data[k], v);
}

/* (member (list a b) c) of literals */
static bool
is_member_of_literals(const facts *f, bs_value v, bool *is) {
  const char *head = rl_head_of(f->values, v);
  if (!head || strcmp(head, "member") || bs_len(f->values, v) != 3)
    return false;
  bs_value list = bs_item(f->values, v, 1), x = bs_item(f->values, v, 2);
  if (bs_kind_of(f->values, list) != BS_KIND_LIST ||
      !is_ground(f->values, list) || !is_ground(f->values, x))
    return false;
  *is = false;
  for (uint32_t k = 1; k < bs_len(f->values, list); k++)
    *is |= bs_same(bs_item(f->values, list, k), x);
  return true;
}

static void
hold(facts *f, bs_value v) {
  const char *head = rl_head_of(f->values, v);
  unsigned may = relation_named(head);
  bool is;
  if (is_held(f, v))
    return;
  check_denial(f, v);
  bs_push(f->l->ctx->heap, &f->holds, v);
  if (bs_kind_of(f->values, v) == BS_KIND_BOOL)
    f->contradiction |= !bs_as_bool(f->values, v);
  else if (is_member_of_literals(f, v, &is))
    f->contradiction |= !is;
  else if (may && bs_len(f->values, v) == 3)
    compare(f, bs_item(f->values, v, 1), bs_item(f->values, v, 2), may);
}

/* --- sets of parts -------------------------------------------------------- */

static facts
facts_new(const rl_linter *l, const rl_canon *rule) {
  return (facts){.l = l, .rule = rule, .values = l->ctx->values};
}

static void
facts_done(facts *f) {
  bs_heap *heap = f->l->ctx->heap;
  bs_vec_done(heap, &f->intervals);
  bs_vec_done(heap, &f->relations);
  bs_vec_done(heap, &f->holds);
}

static bool
is_headed(const facts *f, bs_value v, const char *word) {
  const char *head = rl_head_of(f->values, v);
  return head && !strcmp(head, word);
}

/* A part, or what an `and` is made of. */
static void
hold_all(facts *f, bs_value v) {
  if (!is_headed(f, v, "and")) {
    hold(f, v);
    return;
  }
  for (uint32_t k = 1; k < bs_len(f->values, v); k++)
    hold(f, bs_item(f->values, v, k));
}

/* Whether the whole condition with `more` (or BS_NIL) contradicts itself; parts
 * that are an `or` are left out. */
static bool
contradicts(const rl_linter *l, const rl_canon *c, bs_value more) {
  facts f = facts_new(l, c);
  for (uint32_t k = 0; k < c->tests.len; k++)
    hold_all(&f, c->tests.data[k].value);
  if (more.i)
    hold_all(&f, more);
  bool out = f.contradiction;
  facts_done(&f);
  return out;
}

static bool
contradicts_alone(const rl_linter *l, const rl_canon *c, bs_value v) {
  facts f = facts_new(l, c);
  hold_all(&f, v);
  bool out = f.contradiction;
  facts_done(&f);
  return out;
}

/* The opposite of a part, or BS_NIL. */
static bs_value
negation(bs_values *values, bs_value v) {
  const char *head = rl_head_of(values, v);
  bs_value items[2] = {bs_sym(values, "not"), v};
  if (!relation_named(head) || bs_len(values, v) != 3)
    return BS_NIL;
  bs_value not = rl_normal(values, bs_list(values, items, 2));
  return rl_head_of(values, not ) && strcmp(rl_head_of(values, not ), "not")
             ? not
             : BS_NIL;
}

/* Literals and parts of the condition. */
static bool
is_plainly_implied(const rl_linter *l, const rl_canon *c, bs_value test) {
  facts f = facts_new(l, c);
  bool member = false;
  for (uint32_t k = 0; k < c->tests.len; k++)
    if (bs_same(c->tests.data[k].value, test))
      return true;
  if (bs_kind_of(f.values, test) == BS_KIND_BOOL)
    return bs_as_bool(f.values, test);
  return is_member_of_literals(&f, test, &member) && member;
}

bool
rl_implied(const rl_linter *l, const rl_canon *c, bs_value test) {
  bs_values *values = l->ctx->values;
  const char *head = rl_head_of(values, test);
  bool any = head && !strcmp(head, "or"), all = head && !strcmp(head, "and");
  uint32_t n = any || all ? bs_len(values, test) - 1 : 0, holding = 0;
  if (is_plainly_implied(l, c, test))
    return true;
  for (uint32_t k = 0; k < n; k++)
    holding += rl_implied(l, c, bs_item(values, test, k + 1));
  if (n)
    return any ? holding > 0 : holding == n;
  bs_value other = negation(values, test);
  return other.i && contradicts(l, c, other);
}

/* --- findings ------------------------------------------------------------- */

static bool
mentions_parameter(const rl_linter *l, const rl_written *w, uint32_t node) {
  uint32_t end = rl_end(w->file, node);
  for (; node < end; node++) {
    const char *name = rl_symbol(l->rules, w->file, node);
    if (name && (name[0] == '$' || name[0] == '?'))
      return true;
  }
  return false;
}

/* A part without variables and parameters: true, false, or -1. */
static int
value_of_constant(const rl_linter *l, const rl_canon *c, uint32_t node) {
  const rl_written *w = c->rule;
  if (mentions_parameter(l, w, node))
    return -1;
  gs_scope scope = {.question_marks = true};
  const gs_expr *e =
      gs_expr_parse_as(l->ctx, &w->file->sx, node, &scope, GS_SORT_BOOL);
  gs_env env = {.values = l->ctx->values};
  return e ? gs_expr_test(e, &env) : -1;
}

static void
report_never(const rl_linter *l, const rl_canon *c, uint32_t node, bool alone) {
  bs_diags *d = l->ctx->diags;
  const char *name = c->rule->form->name;
  bs_error(d, rl_at_node(c->rule, node)->span, "never-true",
           alone ? "this never holds, so the rule '%s'%s never applies"
                 : "this contradicts the rest of the condition, so the rule "
                   "'%s'%s never applies",
           name, c->reverse ? " from right to left" : "");
}

/* True when the part never holds. */
static bool
check_part(const rl_linter *l, rl_canon *c, const rl_condition_test *t) {
  int constant = value_of_constant(l, c, t->node);
  bs_value other = negation(l->ctx->values, t->value);
  if (constant == 0 || contradicts_alone(l, c, t->value)) {
    report_never(l, c, t->node, true);
    return true;
  }
  if (constant != 1 && !(other.i && contradicts_alone(l, c, other)))
    return false;
  bs_push(l->ctx->heap, &c->idle, t->node);
  return false;
}

/* Parts of an `or` that cannot hold with the rest. */
static void
check_or(const rl_linter *l, rl_canon *c, const rl_condition_test *t) {
  bs_values *values = l->ctx->values;
  const char *head = rl_head_of(values, t->value);
  uint32_t n = bs_len(values, t->value), dead = 0;
  if (!head || strcmp(head, "or"))
    return;
  for (uint32_t k = 1; k < n; k++)
    dead += contradicts(l, c, bs_item(values, t->value, k));
  c->never |= dead + 1 == n;
  if (dead + 1 == n)
    report_never(l, c, t->node, false);
  else if (dead && !c->reverse)
    bs_warning(l->ctx->diags, rl_at_node(c->rule, t->node)->span,
               "never-true-part",
               "%u of these %u alternatives cannot hold with the rest of the "
               "condition of '%s'",
               dead, n - 1, c->rule->form->name);
}

/* The part that, as they are written, first contradicts those before it. */
static uint32_t
first_contradiction(const rl_linter *l, const rl_canon *c) {
  facts f = facts_new(l, c);
  uint32_t at = 0, last = 0;
  while (!f.contradiction) {
    const rl_condition_test *next = NULL;
    for (uint32_t k = 0; k < c->tests.len; k++) {
      const rl_condition_test *t = &c->tests.data[k];
      if (t->node > last && (!next || t->node < next->node))
        next = t;
    }
    if (!next)
      break;
    last = at = next->node;
    for (uint32_t k = 0; k < c->tests.len; k++)
      if (c->tests.data[k].node == last)
        hold_all(&f, c->tests.data[k].value);
  }
  facts_done(&f);
  return at;
}

void
rl_lint_conditions(rl_linter *l, rl_canon *c) {
  bool known = false;
  for (uint32_t k = 0; k < c->tests.len; k++)
    known |= check_part(l, c, &c->tests.data[k]);
  c->never = known;
  if (known)
    return;
  if (contradicts(l, c, BS_NIL)) {
    report_never(l, c, first_contradiction(l, c), false);
    c->never = true;
    return;
  }
  for (uint32_t k = 0; k < c->tests.len; k++)
    check_or(l, c, &c->tests.data[k]);
}

static bool
has_node(const rl_nodes *list, uint32_t node) {
  for (uint32_t k = 0; k < list->len; k++)
    if (list->data[k] == node)
      return true;
  return false;
}

/* What defines a variable in one direction is trivial there, not idle. */
void
rl_lint_idle(rl_linter *l, const rl_canon *c, uint32_t n) {
  assert(n <= 2);
  for (uint32_t k = 0; n && k < c[0].idle.len; k++) {
    uint32_t node = c[0].idle.data[k];
    if (n > 1 && !has_node(&c[1].idle, node))
      continue;
    bs_warning(l->ctx->diags, rl_at_node(c[0].rule, node)->span, "always-true",
               "this always holds");
    bs_hint(l->ctx->diags, "leave it out of the condition of '%s'",
            c[0].rule->form->name);
  }
}
