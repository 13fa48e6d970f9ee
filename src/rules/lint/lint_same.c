/* SPDX-License-Identifier: MIT */
/* lint_same.c - rules written twice, rules that undo each other, rules that a
 * more general one covers.
 *
 * On canonical forms: a rule covers another when its left side matches the
 * other's, turns then into the same right side, and asks for nothing that the
 * other's condition does not imply. */
#include "rules/lint/lint_general.h"
#include <assert.h>
#include <string.h>

/* So many of the rules that may cover one are looked at. */
enum { MAX_DEPTH = 400, MOST_GENERAL = 256 };

/* What the forms are looked up by. */
typedef struct likeness {
  const rl_canon *forms;
  bs_map same, one_way; /* by key: the first form; the first one-way form */
  rl_tree tree;         /* by left side */
  rl_tree_found found;
} likeness;

typedef struct cover {
  const rl_linter *l;
  bs_values *values;
  bs_value *bound; /* by variable of the general rule */
  bs_map replaced; /* by list: what it came to */
} cover;

static const char *
name_of(const rl_canon *c) {
  return c->rule->form->name;
}

static const char *
direction_of(const rl_canon *c) {
  return c->reverse ? " from right to left" : "";
}

/* --- covered -------------------------------------------------------------- */

static bool
match(cover *c, bs_value pattern, bs_value v, int depth) {
  int number = rl_canon_number(c->values, pattern);
  if (number >= 0) {
    if (!c->bound[number].i)
      c->bound[number] = v;
    return bs_same(c->bound[number], v);
  }
  if (bs_kind_of(c->values, pattern) != BS_KIND_LIST)
    return bs_same(pattern, v);
  uint32_t n = bs_len(c->values, pattern);
  if (bs_kind_of(c->values, v) != BS_KIND_LIST || bs_len(c->values, v) != n ||
      depth > MAX_DEPTH)
    return false;
  for (uint32_t k = 0; k < n; k++)
    if (!match(c, bs_item(c->values, pattern, k), bs_item(c->values, v, k),
               depth + 1))
      return false;
  return true;
}

static bs_value replace(cover *, bs_value, int depth);

static bs_value
replace_items(cover *c, bs_value list, int depth) {
  bs_value items[GS_MAX_ARGUMENTS + 1];
  uint32_t n = bs_len(c->values, list);
  if (n > GS_MAX_ARGUMENTS + 1 || depth > MAX_DEPTH)
    return BS_NIL;
  for (uint32_t k = 0; k < n; k++) {
    items[k] = replace(c, bs_item(c->values, list, k), depth + 1);
    if (!items[k].i)
      return BS_NIL;
  }
  return rl_normal(c->values, bs_list(c->values, items, n));
}

/* BS_NIL when it nests too deep or has too many items.  Definitions stand in
 * each place where they are used, so a list is met as often as there are ways
 * to it, and is replaced once. */
static bs_value
replace(cover *c, bs_value v, int depth) {
  int number = rl_canon_number(c->values, v);
  if (number >= 0)
    return c->bound[number].i ? c->bound[number] : v;
  if (bs_kind_of(c->values, v) != BS_KIND_LIST)
    return v;
  uint32_t known = bs_map_get(&c->replaced, v.i);
  if (known != BS_NO_ENTRY)
    return (bs_value){known};
  bs_value out = replace_items(c, v, depth);
  bs_map_put_first(c->l->ctx->heap, &c->replaced, v.i, out.i);
  return out;
}

static bool
is_replaced_by(cover *c, bs_value general, bs_value special) {
  return bs_same(replace(c, general, 0), special);
}

static bool
covers(const rl_linter *l, const rl_canon *a, const rl_canon *b) {
  bs_heap *heap = l->ctx->heap;
  cover c = {.l = l, .values = l->ctx->values};
  c.bound = bs_calloc(heap, a->n_vars + (size_t)1, sizeof *c.bound);
  bool is = match(&c, a->left, b->left, 0) && match(&c, a->with, b->with, 0) &&
            is_replaced_by(&c, a->fors, b->fors) &&
            is_replaced_by(&c, a->right, b->right) &&
            is_replaced_by(&c, a->also, b->also);
  for (uint32_t k = 0; is && k < a->tests.len; k++) {
    bs_value test = replace(&c, a->tests.data[k].value, 0);
    is = test.i && rl_implied(l, b, test);
  }
  bs_free(heap, c.bound);
  bs_map_done(heap, &c.replaced);
  return is;
}

static void
report_covered(const rl_linter *l, const rl_canon *general,
               const rl_canon *special) {
  bs_diags *d = l->ctx->diags;
  bs_warning(d, special->rule->form->span, "subsumed-rule",
             "'%s'%s adds nothing: '%s'%s does the same wherever it applies",
             name_of(special), direction_of(special), name_of(general),
             direction_of(general));
  bs_note(d, general->rule->form->span, "the more general rule is here");
}

/* --- written twice -------------------------------------------------------- */

static void
report_twice(const rl_linter *l, const rl_canon *first, const rl_canon *c) {
  bs_diags *d = l->ctx->diags;
  if (first->rule == c->rule) {
    bs_warning(d, c->rule->form->span, "same-both-ways",
               "'%s' is the same rule in both directions", name_of(c));
    bs_hint(d, "write => for <=>");
    return;
  }
  bs_warning(d, c->rule->form->span, "duplicate-rule",
             "'%s'%s is the rule '%s'%s under another name", name_of(c),
             direction_of(c), name_of(first), direction_of(first));
  bs_note(d, first->rule->form->span, "the first one is here");
}

/* LEFT => LEFT */
static bool
does_nothing(const rl_linter *l, const rl_canon *c) {
  return bs_same(c->left, c->right) && !bs_len(l->ctx->values, c->also);
}

static void
report_nothing(const rl_linter *l, const rl_canon *c) {
  bs_warning(l->ctx->diags, c->rule->form->span, "no-effect",
             "the right side of '%s' is its left side", name_of(c));
}

/* The rule itself is the first of those like it. */
static const rl_canon *
find_same(const likeness *x, const rl_canon *c) {
  const rl_canon *first = &x->forms[bs_map_get(&x->same, c->key.i)];
  return first == c ? NULL : first;
}

/* Of two rules that cover each other the later one is told. */
static const rl_canon *
find_general(const rl_linter *l, likeness *x, const rl_canon *c) {
  rl_tree_find(&x->tree, c->left, MOST_GENERAL, &x->found);
  for (uint32_t k = 0; k < x->found.len; k++) {
    const rl_canon *f = &x->forms[x->found.data[k]];
    if (f->rule != c->rule && !f->never && !bs_same(f->key, c->key) &&
        covers(l, f, c) && (f < c || !covers(l, c, f)))
      return f;
  }
  return NULL;
}

/* --- undone --------------------------------------------------------------- */

static bool
is_one_way(const rl_canon *c) {
  return !c->rule->compiled[1] && !c->rule->with.len && !c->rule->also.len;
}

/* Two rules that are each other's reverse; told at the later one. */
static void
report_undone(const rl_linter *l, const rl_canon *f, const rl_canon *c) {
  bs_warning(l->ctx->diags, c->rule->form->span, "inverse-rule",
             "'%s' is '%s' from right to left", name_of(c), name_of(f));
  bs_hint(l->ctx->diags, "write one rule with <=>");
  bs_note(l->ctx->diags, f->rule->form->span, "that rule is here");
}

static void
check_undone(const rl_linter *l, const likeness *x, const rl_canon *c) {
  rl_canon back;
  if (!is_one_way(c))
    return;
  rl_canon_of(l, c->rule, true, &back);
  uint32_t k = bs_map_get(&x->one_way, back.key.i);
  if (k != BS_NO_ENTRY && &x->forms[k] < c)
    report_undone(l, &x->forms[k], c);
  rl_canon_done(l, &back);
}

/* --- all of them ---------------------------------------------------------- */

static void
check_form(const rl_linter *l, likeness *x, const rl_canon *c) {
  const rl_canon *other = find_same(x, c);
  if (other) {
    report_twice(l, other, c);
    return;
  }
  if (does_nothing(l, c)) {
    report_nothing(l, c);
    return;
  }
  check_undone(l, x, c);
  other = c->never ? NULL : find_general(l, x, c);
  if (other)
    report_covered(l, other, c);
}

void
rl_lint_same(rl_linter *l, const rl_canon *forms, uint32_t n) {
  assert(forms || !n);
  bs_heap *heap = l->ctx->heap;
  likeness x = {.forms = forms};
  rl_tree_init(&x.tree, heap, l->ctx->values);
  for (uint32_t k = 0; k < n; k++) {
    bs_map_put_first(heap, &x.same, forms[k].key.i, k);
    if (is_one_way(&forms[k]))
      bs_map_put_first(heap, &x.one_way, forms[k].key.i, k);
    rl_tree_add(&x.tree, forms[k].left);
  }
  for (uint32_t k = 0; k < n; k++)
    check_form(l, &x, &forms[k]);
  rl_tree_done(&x.tree);
  bs_map_done(heap, &x.same);
  bs_map_done(heap, &x.one_way);
  bs_vec_done(heap, &x.found);
}
