/* SPDX-License-Identifier: MIT */
/* lint_canon.c - a rule up to the names of its variables and the order of its
 * condition, as interned values: equal rules are equal numbers.
 *
 * A term or expression becomes the list of its items.  A variable that the
 * condition defines is replaced by what it is defined as, so that rules that
 * differ in how they spell a computation are equal, too.  The walk goes as deep
 * as rules nest, which the parser bounds. */
#include "rules/lint/lint_internal.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct binding {
  bs_value name, value;
} binding;

typedef struct canon {
  const rl_linter *l;
  const rl_written *w;
  bs_values *values;
  rl_canon *out;
  BS_VEC(binding) bound;
  bool open; /* unknown variables get the next number */
} canon;

/* --- values --------------------------------------------------------------- */

const char *
rl_head_of(const bs_values *values, bs_value v) {
  if (bs_kind_of(values, v) != BS_KIND_LIST || !bs_len(values, v))
    return NULL;
  bs_value head = bs_item(values, v, 0);
  return bs_kind_of(values, head) == BS_KIND_SYM ? bs_as_sym(values, head)
                                                 : NULL;
}

int
rl_canon_number(const bs_values *values, bs_value v) {
  if (bs_kind_of(values, v) != BS_KIND_SYM)
    return -1;
  const char *s = bs_as_sym(values, v);
  if (s[0] != '?' || s[1] < '0' || s[1] > '9')
    return -1;
  return atoi(s + 1);
}

static bool
is_one_of(const char *s, const char *const *names, size_t n) {
  for (size_t k = 0; s && k < n; k++)
    if (!strcmp(s, names[k]))
      return true;
  return false;
}

static bool
commutes(const char *head) {
  static const char *const heads[] = {"and", "or",  "+", "*",  "min",
                                      "max", "gcd", "=", "!=", "add-lists"};
  return is_one_of(head, heads, sizeof heads / sizeof heads[0]);
}

/* Insertion sort: lists are short. */
static void
sort_values(const bs_values *values, bs_value *v, uint32_t n) {
  for (uint32_t k = 1; k < n; k++) {
    bs_value x = v[k];
    uint32_t i = k;
    for (; i && bs_value_compare(values, v[i - 1], x) > 0; i--)
      v[i] = v[i - 1];
    v[i] = x;
  }
}

static void
reverse_values(bs_value *v, uint32_t n) {
  for (uint32_t k = 0; k < n / 2; k++) {
    bs_value x = v[k];
    v[k] = v[n - 1 - k];
    v[n - 1 - k] = x;
  }
}

/* The opposite of a comparison, or NULL. */
static const char *
opposite(const char *head) {
  static const char *const pairs[][2] = {
      {"=", "!="}, {"!=", "="}, {"<", ">="}, {"<=", ">"}};
  for (size_t k = 0; head && k < sizeof pairs / sizeof pairs[0]; k++)
    if (!strcmp(pairs[k][0], head))
      return pairs[k][1];
  return NULL;
}

static bs_value
normal_not(bs_values *values, bs_value list) {
  bs_value x = bs_item(values, list, 1), items[3];
  const char *other = opposite(rl_head_of(values, x));
  if (bs_len(values, list) != 2 || !other || bs_len(values, x) != 3)
    return list;
  items[0] = bs_sym(values, other);
  items[1] = bs_item(values, x, 1);
  items[2] = bs_item(values, x, 2);
  return rl_normal(values, bs_list(values, items, 3));
}

bs_value
rl_normal(bs_values *values, bs_value list) {
  const char *head = rl_head_of(values, list);
  bs_value items[GS_MAX_ARGUMENTS + 1];
  uint32_t n = bs_len(values, list);
  if (!head || n > GS_MAX_ARGUMENTS + 1)
    return list;
  if (!strcmp(head, "not"))
    return normal_not(values, list);
  memcpy(items, bs_items(values, list), n * sizeof *items);
  if (commutes(head))
    sort_values(values, items + 1, n - 1);
  else if (!strcmp(head, ">") || !strcmp(head, ">=")) {
    items[0] = bs_sym(values, head[1] ? "<=" : "<");
    reverse_values(items + 1, n - 1);
  } else if (!strcmp(head, "stride") || !strcmp(head, "dilation") ||
             (!strcmp(head, "shape") && n != 2))
    items[0] = bs_sym(values, "list");
  return bs_list(values, items, n);
}

/* --- names ---------------------------------------------------------------- */

static bs_value
find(const canon *c, bs_value name) {
  for (uint32_t k = c->bound.len; k-- > 0;)
    if (bs_same(c->bound.data[k].name, name))
      return c->bound.data[k].value;
  return BS_NIL;
}

static void
bind(canon *c, bs_value name, bs_value value) {
  bs_push(c->l->ctx->heap, &c->bound, (binding){name, value});
}

static bs_value
numbered(canon *c, char letter, uint32_t n) {
  char name[16];
  if (letter)
    snprintf(name, sizeof name, "?%c%u", letter, n);
  else
    snprintf(name, sizeof name, "?%u", n);
  return bs_sym(c->values, name);
}

static bs_value
canon_variable(canon *c, bs_value name) {
  bs_value have = find(c, name);
  if (have.i || !c->open)
    return have.i ? have : name;
  have = numbered(c, 0, c->out->n_vars++);
  if (strcmp(bs_as_sym(c->values, name), "?_"))
    bind(c, name, have);
  return have;
}

/* --- terms and expressions ------------------------------------------------ */

/* Dimensions and counts that the left side binds are 0 or more. */
static void
note_natural(canon *c, bs_value list, uint32_t item, bs_value value) {
  const char *head = rl_head_of(c->values, list);
  int number = rl_canon_number(c->values, value);
  gs_op op;
  if (!c->open || number < 0 || !head || !gs_op_find(head, &op))
    return;
  int attr = (int)item - 1 - gs_op_table[op].kids;
  const char *letters = gs_op_table[op].attrs;
  if (gs_op_table[op].attrs_first || attr < 0 || attr >= (int)strlen(letters) ||
      !strchr("dn", letters[attr]))
    return;
  bs_push(c->l->ctx->heap, &c->out->naturals, (uint32_t)number);
}

static bs_value
canon_node(canon *c, uint32_t node) {
  const bs_sx *x = rl_at_node(c->w, node);
  if (x->kind != BS_SX_LIST)
    return rl_variable_at(c->l, c->w->file, node) ? canon_variable(c, x->value)
                                                  : x->value;
  bs_heap *heap = c->l->ctx->heap;
  bs_value *items = bs_alloc(heap, (x->count + (size_t)1) * sizeof *items);
  uint32_t n = 0, count = x->count;
  for (uint32_t k = bs_sx_first(&c->w->file->sx, node); k;
       k = rl_at_node(c->w, k)->next)
    items[n++] = canon_node(c, k);
  bs_value list = bs_list(c->values, items, count);
  for (uint32_t k = 1; k < count; k++)
    note_natural(c, list, k, items[k]);
  bs_free(heap, items);
  return rl_normal(c->values, list);
}

/* --- conditions ----------------------------------------------------------- */

static bool
all_bound(const canon *c, uint32_t node) {
  uint32_t end = rl_end(c->w->file, node);
  for (; node < end; node++)
    if (rl_variable_at(c->l, c->w->file, node) &&
        !find(c, rl_at_node(c->w, node)->value).i)
      return false;
  return true;
}

static bool
is_loop_variable(const canon *c, bs_value name) {
  for (uint32_t k = 0; k < c->w->fors.len; k++)
    if (bs_same(rl_at_node(c->w, c->w->fors.data[k] + 1)->value, name))
      return true;
  return false;
}

static bool
may_define(const canon *c, uint32_t target, uint32_t expr) {
  bs_value name = rl_at_node(c->w, target)->value;
  return rl_variable_at(c->l, c->w->file, target) && !find(c, name).i &&
         !is_loop_variable(c, name) && all_bound(c, expr);
}

/* (= ?new EXPR): ?new is EXPR from now on. */
static bool
define(canon *c, uint32_t node) {
  const bs_sexps *sx = &c->w->file->sx;
  const char *head = bs_sx_head(sx, c->values, node);
  if (!head || strcmp(head, "=") || rl_at_node(c->w, node)->count != 3)
    return false;
  uint32_t a = bs_sx_item(sx, node, 1), b = bs_sx_item(sx, node, 2);
  if (!may_define(c, a, b)) {
    uint32_t swap = a;
    a = b;
    b = swap;
  }
  if (!may_define(c, a, b))
    return false;
  bind(c, rl_at_node(c->w, a)->value, canon_node(c, b));
  return true;
}

static void
push_test(canon *c, bs_value v, uint32_t node) {
  for (uint32_t k = 0; k < c->out->tests.len; k++)
    if (bs_same(c->out->tests.data[k].value, v))
      return;
  bs_push(c->l->ctx->heap, &c->out->tests, (rl_condition_test){v, node});
}

/* (< a b c) is two tests. */
static void
add_test(canon *c, uint32_t node) {
  bs_values *values = c->values;
  bs_value v = canon_node(c, node), items[3];
  const char *head = rl_head_of(values, v);
  uint32_t n = bs_len(values, v);
  bool chain =
      head && (!strcmp(head, "<") || !strcmp(head, "<=") || !strcmp(head, "="));
  if (!chain || n <= 3) {
    push_test(c, v, node);
    return;
  }
  for (uint32_t k = 1; k + 1 < n; k++) {
    for (uint32_t i = 0; i < 3; i++)
      items[i] = bs_item(values, v, i ? k + i - 1 : 0);
    push_test(c, rl_normal(values, bs_list(values, items, 3)), node);
  }
}

static bool
take_definition(canon *c, uint8_t *taken) {
  for (uint32_t k = 0; k < c->w->conjuncts.len; k++)
    if (!taken[k] && define(c, c->w->conjuncts.data[k])) {
      taken[k] = 1;
      return true;
    }
  return false;
}

static bool
take_for(canon *c, uint8_t *taken, bs_value *lists, uint32_t *n) {
  for (uint32_t k = 0; k < c->w->fors.len; k++) {
    uint32_t var = c->w->fors.data[k] + 1, list = rl_at_node(c->w, var)->next;
    if (taken[k] || !all_bound(c, list))
      continue;
    taken[k] = 1;
    lists[*n] = canon_node(c, list);
    bind(c, rl_at_node(c->w, var)->value, numbered(c, 'f', *n));
    (*n)++;
    return true;
  }
  return false;
}

static void
sort_tests(canon *c) {
  rl_condition_test *t = c->out->tests.data;
  for (uint32_t k = 1; k < c->out->tests.len; k++) {
    rl_condition_test x = t[k];
    uint32_t i = k;
    for (; i && bs_value_compare(c->values, t[i - 1].value, x.value) > 0; i--)
      t[i] = t[i - 1];
    t[i] = x;
  }
}

static void
canon_condition(canon *c) {
  bs_heap *heap = c->l->ctx->heap;
  const rl_written *w = c->w;
  uint8_t *taken = bs_calloc(heap, w->conjuncts.len + (size_t)1, 1);
  uint8_t *looped = bs_calloc(heap, w->fors.len + (size_t)1, 1);
  bs_value *lists = bs_calloc(heap, w->fors.len + (size_t)1, sizeof *lists);
  uint32_t n = 0;
  while (take_definition(c, taken) || take_for(c, looped, lists, &n))
    continue;
  for (uint32_t k = 0; k < w->conjuncts.len; k++)
    if (!taken[k])
      add_test(c, w->conjuncts.data[k]);
  sort_tests(c);
  c->out->fors = bs_list(c->values, lists, n);
  bs_free(heap, lists);
  bs_free(heap, looped);
  bs_free(heap, taken);
}

/* --- rules ---------------------------------------------------------------- */

/* The (?x TERM) of :with or :also. */
static bs_value
canon_clauses(canon *c, const rl_nodes *nodes) {
  bs_heap *heap = c->l->ctx->heap;
  bs_value *items = bs_calloc(heap, nodes->len + (size_t)1, sizeof *items);
  for (uint32_t k = 0; k < nodes->len; k++)
    items[k] = canon_node(c, nodes->data[k]);
  bs_value out = bs_list(c->values, items, nodes->len);
  bs_free(heap, items);
  return out;
}

/* What a name of :let stands for is put in where it is used. */
static void
canon_lets(canon *c) {
  const rl_written *w = c->w;
  for (uint32_t k = 0; k < w->lets.len; k++) {
    uint32_t name = bs_sx_first(&w->file->sx, w->lets.data[k]);
    bind(c, rl_at_node(w, name)->value,
         canon_node(c, rl_at_node(w, name)->next));
  }
}

static bs_value
key_of(const canon *c) {
  const rl_canon *o = c->out;
  bs_heap *heap = c->l->ctx->heap;
  uint32_t n = o->tests.len;
  bs_value *tests = bs_calloc(heap, n + (size_t)1, sizeof *tests);
  for (uint32_t k = 0; k < n; k++)
    tests[k] = o->tests.data[k].value;
  bs_value items[] = {o->left,  o->with, o->fors,
                      o->right, o->also, bs_list(c->values, tests, n)};
  bs_free(heap, tests);
  return bs_list(c->values, items, sizeof items / sizeof items[0]);
}

void
rl_canon_of(const rl_linter *l, const rl_written *w, bool reverse,
            rl_canon *out) {
  canon c = {.l = l, .w = w, .values = l->ctx->values, .out = out};
  *out = (rl_canon){.rule = w, .reverse = reverse};
  c.open = true;
  out->left = canon_node(&c, reverse ? w->right : w->left);
  out->with = canon_clauses(&c, &w->with);
  c.open = false;
  canon_condition(&c);
  canon_lets(&c);
  out->right = canon_node(&c, reverse ? w->left : w->right);
  out->also = canon_clauses(&c, &w->also);
  out->key = key_of(&c);
  bs_vec_done(l->ctx->heap, &c.bound);
}

void
rl_canon_done(const rl_linter *l, rl_canon *c) {
  bs_vec_done(l->ctx->heap, &c->tests);
  bs_vec_done(l->ctx->heap, &c->naturals);
  bs_vec_done(l->ctx->heap, &c->idle);
}
