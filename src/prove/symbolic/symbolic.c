/* SPDX-License-Identifier: MIT */
/* symbolic.c - a form read, its key, and its proof; see symbolic.h.
 *
 * Variables in the place of a size are parameters; all others of the left side
 * keep the values of the application at hand, and tell its form.  Where a
 * broadcast may or may not repeat a dimension, both cases are looked at, one
 * path after another. */
#include "prove/symbolic/symbolic_form.h"
#include "prove/symbolic/symbolic_forms.h"
#include <isl/options.h>
#include "base/hash.h"
#include "poly/loops/limit.h"
#include <assert.h>
#include <string.h>

/* --- roles ---------------------------------------------------------------- */

/* All other attributes, but the parameters of compute operators, are axes and
 * the like. */
static bool
is_size(const gs_sk_node *sk, uint32_t k) {
  assert(!sk->hole && k < sk->n_attrs);
  const gs_op_info *op = &gs_op_table[sk->op];
  return op->view && gs_letter_is_size(op->attrs[k]);
}

static void
fix_slot(fm_form *f, const gs_expr *e) {
  if (e->kind == GS_X_VAR && e->slot < FM_SLOTS)
    f->fixed[e->slot] = 1;
  for (uint32_t k = 0; k < e->n_args; k++)
    fix_slot(f, e->args[k]);
}

/* A variable is the operator of the application, with whatever parameters; an
 * operator that is written out has literals. */
static void
fix_operator(fm_form *f, const gs_expr *e) {
  for (uint32_t k = 0; k < e->n_args; k++) {
    const gs_expr *x = e->args[k];
    if (x->kind == GS_X_VAR && x->slot < FM_SLOTS &&
        bs_kind_of(f->values, (bs_value){f->of->slots[x->slot]}) == BS_KIND_SYM)
      f->fixed[x->slot] = 1; /* a dtype */
  }
  if (e->kind != GS_X_VAR || e->slot >= FM_SLOTS)
    return;
  bs_value now = {f->of->slots[e->slot]};
  if (bs_kind_of(f->values, now) == BS_KIND_SYM)
    f->fixed[e->slot] = 1;
  else
    f->operator[e->slot] = 1;
}

static void
fix_node(fm_form *f, const gs_sk_node *sk) {
  for (uint32_t k = 0; !sk->hole && k < sk->n_attrs; k++) {
    if (!sk->attrs[k] || is_size(sk, k))
      continue;
    if (sk->op == GS_COMPUTE)
      fix_operator(f, sk->attrs[k]);
    else
      fix_slot(f, sk->attrs[k]);
  }
}

/* A list with items beyond what axes are counted with: its items are numbers,
 * of which some may not have been seen. */
static bool
lists_numbers(const fm_form *f, const gs_expr *e) {
  if (e->kind == GS_X_LITERAL)
    return bs_kind_of(f->values, e->literal) != BS_KIND_INT ||
           bs_as_int(f->values, e->literal) > 2;
  for (uint32_t k = 0; k < e->n_args; k++)
    if (lists_numbers(f, e->args[k]))
      return true;
  return false;
}

/* Clauses give fixed values to what they compute from fixed ones. */
static void
fix_clauses(fm_form *f) {
  const rl_rule *rule = f->of->rule;
  for (uint32_t k = 0; k < rl_asked_count(rule); k++) {
    rl_asked c = rl_asked_at(rule, k);
    if (!c.expr)
      continue;
    if ((c.kind != RL_ASKS_DEFINE && c.kind != RL_ASKS_FOR) ||
        c.slot >= FM_SLOTS || !fm_is_fixed(f, c.expr))
      continue;
    f->fixed[c.slot] = 1;
    f->numbers |= c.kind == RL_ASKS_FOR && lists_numbers(f, c.expr);
  }
}

static void
fix(fm_form *f) {
  const rl_rule *rule = f->of->rule;
  for (uint32_t k = 0; k < rule->left->n; k++)
    fix_node(f, &rule->left->nodes[k]);
  f->asks_dtype = pv_tells_dtypes(rule);
  fix_clauses(f);
}

/* --- which rules ---------------------------------------------------------- */

static bool
is_known(const gs_skeleton *s) {
  for (uint32_t k = 0; k < s->n; k++)
    if (!s->nodes[k].hole &&
        !(gs_op_table[s->nodes[k].op].view || s->nodes[k].op == GS_COMPUTE ||
          s->nodes[k].op == GS_MATERIALIZE))
      return false;
  return s->n > 0 && s->n <= FM_NODES;
}

static bool
is_candidate(const pv_form *form) {
  rl_parts parts;
  rl_parts_of(form->rules, form->rule, &parts);
  return parts.n_parts == 1 && parts.n_slots <= FM_SLOTS &&
         form->rule->n_right == 1 && is_known(form->rule->left) &&
         is_known(form->rule->right[0]);
}

/* What a variable that is no term has to do with the form: its value, its
 * operator, or how long a list it is. */
static uint64_t
trait_of(const fm_form *f, uint32_t slot) {
  assert(slot < FM_SLOTS);
  bs_value now = {f->of->slots[slot]};
  gs_compute op;
  if (f->fixed[slot])
    return now.i;
  if (f->operator[slot] && gs_compute_of(f->values, now, &op)) {
    bs_value p = gs_compute_param(f->values, now, 0);
    bool dtype = bs_kind_of(f->values, p) == BS_KIND_SYM;
    return (uint64_t)op + 1 + ((uint64_t)(dtype ? p.i : 0) << 16);
  }
  return bs_kind_of(f->values, now) == BS_KIND_LIST
             ? bs_len(f->values, now) + 1u
             : 0;
}

static uint64_t
key_of(const fm_form *f) {
  const gs_scope *scope = &f->of->rule->scope;
  uint64_t h = 1;
  for (uint32_t k = 0; k < scope->vars.len && k < FM_SLOTS; k++) {
    uint64_t item[4] = {h, 0, 0, 0};
    if (scope->vars.data[k].sort != GS_SORT_CLASS) {
      if (f->of->slots[k] == UINT32_MAX)
        continue;
      item[1] = trait_of(f, k);
    } else if (f->of->slots[k] < f->of->p->nodes.len) {
      gs_type t;
      gs_type_at(f->of->p, (gs_term){f->of->slots[k]}, &t);
      item[1] = t.rank;
      item[2] = t.access;
      item[3] = f->asks_dtype ? t.dtype + 1u : 0;
    }
    h = bs_hash(item, sizeof item);
  }
  return h;
}

/* --- one path ------------------------------------------------------------- */

/* Strides and dilations may be any, where there is one window or one element of
 * it; all other sizes are of dimensions. */
static bool
is_bounded(const gs_sk_node *sk, uint32_t k) {
  return sk->op != GS_WINDOWS || !k;
}

static void
free_size(fm_form *f, const gs_expr *e, bool list, bool bounded) {
  for (uint32_t k = 0; k < e->n_args; k++)
    free_size(f, e->args[k], false, bounded);
  if (e->kind != GS_X_VAR || e->sort == GS_SORT_CLASS || e->slot >= FM_SLOTS ||
      f->fixed[e->slot] || f->value[e->slot].kind != FM_UNKNOWN)
    return;
  fm_value *v = &f->value[e->slot];
  bs_value now = {f->of->slots[e->slot]};
  v->n = list ? bs_len(f->values, now) : 1;
  if (v->n > GS_MAX_RANK || f->why) {
    fm_fail(f, "a long list");
    return;
  }
  v->kind = list ? FM_LIST : FM_INT;
  for (uint32_t k = 0; k < v->n; k++)
    v->at[k] = bounded ? fm_dimension(f) : fm_parameter(f);
}

/* Literals of an operator that is written out: any real numbers, or the size of
 * a table. */
static void
free_literals(fm_form *f, const gs_expr *e) {
  gs_compute op = GS_COMPUTE_COUNT;
  if (e->n_args && e->args[0]->kind == GS_X_LITERAL)
    gs_compute_of(f->values, e->args[0]->literal, &op);
  for (uint32_t k = 0; k < e->n_args; k++) {
    const gs_expr *x = e->args[k];
    if (x->kind != GS_X_VAR || x->slot >= FM_SLOTS || f->fixed[x->slot] ||
        f->value[x->slot].kind != FM_UNKNOWN)
      continue;
    bs_value now = {f->of->slots[x->slot]};
    if (bs_kind_of(f->values, now) == BS_KIND_INT ||
        bs_kind_of(f->values, now) == BS_KIND_REAL)
      f->value[x->slot] = (fm_value){
          .kind = FM_INT, .n = 1, .at = {fm_any_number(f, op, x->slot)}};
  }
}

static bool
is_list(const fm_form *f, const gs_expr *e) {
  return e->kind == GS_X_VAR && e->slot < f->of->rule->scope.vars.len &&
         bs_kind_of(f->values, (bs_value){f->of->slots[e->slot]}) ==
             BS_KIND_LIST;
}

static void
free_sizes(fm_form *f) {
  const gs_skeleton *left = f->of->rule->left;
  for (uint32_t i = 0; i < left->n; i++) {
    const gs_sk_node *sk = &left->nodes[i];
    for (uint32_t k = 0; !sk->hole && k < sk->n_attrs; k++)
      if (sk->attrs[k] && is_size(sk, k))
        free_size(f, sk->attrs[k], is_list(f, sk->attrs[k]), is_bounded(sk, k));
  }
  for (uint32_t i = 0; i < left->n; i++)
    if (!left->nodes[i].hole && left->nodes[i].op == GS_COMPUTE)
      free_literals(f, left->nodes[i].attrs[0]);
}

/* lo <= x < hi, of the items that a clause lists. */
static void
assume_item(fm_form *f, const gs_expr *e, fm_number x) {
  const char *name = e->kind == GS_X_CALL ? gs_function_name(e->function) : "";
  fm_value a = {.kind = FM_UNKNOWN}, b = a;
  if (strcmp(name, "range") && strcmp(name, "cuts") &&
      strcmp(name, "halvings") && strcmp(name, "iota"))
    return;
  a = fm_eval(f, e->args[0]);
  if (!strcmp(name, "range")) {
    b = fm_eval(f, e->args[1]);
  } else {
    b = a;
    a.at[0] = fm_constant(f, !!strcmp(name, "iota"));
  }
  if (a.kind == FM_INT && (e->n_args < 3 || strcmp(name, "range")))
    fm_assume(f, fm_combine(f, 1, x, -1, a.at[0], 0), false);
  if (b.kind == FM_INT && (e->n_args < 3 || strcmp(name, "range")))
    fm_assume(f, fm_combine(f, 1, b.at[0], -1, x, -1), false);
}

static void
take_clause(fm_form *f, const rl_asked *c) {
  if (c->kind == RL_ASKS_TEST) {
    fm_assume_expr(f, c->expr);
    return;
  }
  if (c->kind == RL_ASKS_OTHER || c->slot >= FM_SLOTS || f->fixed[c->slot])
    return;
  fm_value v = {.kind = FM_UNKNOWN};
  if (c->kind == RL_ASKS_DEFINE)
    v = fm_eval(f, c->expr);
  if (v.kind == FM_UNKNOWN &&
      f->of->rule->scope.vars.data[c->slot].sort == GS_SORT_INT) {
    v = (fm_value){.kind = FM_INT, .n = 1, .at = {fm_parameter(f)}};
    if (c->kind == RL_ASKS_FOR)
      assume_item(f, c->expr, v.at[0]);
  }
  f->value[c->slot] = v;
}

static const fm_type *
type_of_side(const fm_form *f, uint32_t k) {
  assert(k < 2 && f->side[k].skeleton && f->side[k].skeleton->n);
  return &f->side[k].node[f->side[k].skeleton->n - 1].type;
}

/* Both sides have one type. */
static void
compare_types(fm_form *f) {
  const fm_type *a = type_of_side(f, 0), *b = type_of_side(f, 1);
  if (a->access != b->access || a->rank != b->rank || a->dtype != b->dtype) {
    fm_fail(f, "the types differ");
    return;
  }
  for (uint32_t k = 0; k < a->rank; k++)
    fm_need_equal(f, a->dim[k], b->dim[k]);
}

/* Any one element of the result. */
static void
free_index(fm_form *f, fm_number *index) {
  const fm_type *t = type_of_side(f, 0);
  assert(t->rank <= GS_MAX_RANK);
  for (uint32_t k = 0; k < t->rank; k++) {
    uint8_t v = fm_variable(
        f, (fm_var){.kind = FM_V_INDEX, .natural = true, .key = (uint16_t)k});
    index[k] = fm_of_variable(f, v);
    fm_assume(f, index[k], false);
    fm_assume(f, fm_combine(f, 1, t->dim[k], -1, index[k], -1), false);
    if (fm_is_one(f, t->dim[k]))
      index[k] = fm_constant(f, 0);
  }
}

static void
compare_elements(fm_form *f) {
  assert(!f->nothing);
  fm_number index[GS_MAX_RANK];
  pv_value of[2];
  free_index(f, index);
  for (uint32_t k = 0; k < 2; k++)
    of[k] = f->why
                ? 0
                : fm_element(f, &f->side[k], f->side[k].skeleton->n - 1, index);
  if (f->elements.failed || f->elements.unsure || !of[0] || !of[1])
    fm_fail(f, "values too large, or infinite");
  else if (f->elements.negated && f->elements.cancelled)
    fm_fail(f, "a rounded sum is taken from what it was added to");
  else if (of[0] != of[1])
    fm_fail(f, "the elements are not shown to be equal");
  else if (!fm_holds_dropped(f, of[0]))
    fm_fail(f, "what cancels has no value for some operands");
}

/* Sizes of terms come first: what else there is, is told by them. */
static void
type_holes(fm_form *f, const gs_skeleton *s) {
  for (uint32_t k = 0; k < s->n && !f->why; k++)
    if (s->nodes[k].hole)
      fm_type_of(f, s->nodes[k].slot);
}

/* Literals that an integer dtype takes are whole, and computed with exactly. */
static void
tell_literals(fm_form *f) {
  const fm_side *left = &f->side[0];
  for (uint32_t k = 0; k < left->skeleton->n && !f->why; k++) {
    const fm_node *n = &left->node[k];
    if (n->sk->hole || n->sk->op != GS_COMPUTE || n->o.any ||
        !gs_dtype_table[left->node[n->sk->kids[0]].type.dtype].integer)
      continue;
    for (uint32_t i = 0; i < n->o.n; i++) {
      const fm_poly *p = &f->number[n->o.param[i].number];
      if (!n->o.param[i].written && p->n == 1 && p->real)
        f->var[f->mono[f->term[p->at].mono].var[0]].whole = true;
    }
  }
  for (uint32_t k = 0; k < rl_asked_count(f->of->rule) && !f->why; k++) {
    rl_asked c = rl_asked_at(f->of->rule, k);
    if (c.kind == RL_ASKS_TEST)
      fm_round_literals(f, c.expr);
  }
}

static void
take_rule(fm_form *f) {
  const rl_rule *rule = f->of->rule;
  assert(rule->left->n <= FM_NODES && rule->right[0]->n <= FM_NODES);
  type_holes(f, rule->left);
  free_sizes(f);
  f->side[0].skeleton = rule->left;
  f->side[1].skeleton = rule->right[0];
  fm_infer_side(f, &f->side[0]);
  tell_literals(f);
  for (uint32_t k = 0; k < rl_asked_count(rule) && !f->why; k++) {
    rl_asked c = rl_asked_at(rule, k);
    take_clause(f, &c);
  }
  f->right = true;
  if (!f->why && !f->nothing)
    fm_infer_side(f, &f->side[1]);
}

static void
take_open(fm_form *f) {
  fm_free_open_sizes(f);
  for (uint32_t k = 0; k < 2; k++) {
    f->side[k].skeleton = &f->of->open[k];
    type_holes(f, f->side[k].skeleton);
    if (!f->why)
      fm_infer_side(f, &f->side[k]);
  }
  f->right = true;
}

/* From what contradicts itself everything follows. */
static void
tell_whether_it_applies(fm_form *f) {
  bool *applies = f->of->applies;
  if (applies && !*applies && !f->why)
    *applies = !fm_is_contradiction(f);
}

static bool
prove_path(fm_form *f) {
  if (f->of->open)
    take_open(f);
  else
    take_rule(f);
  if (!f->why && !f->nothing)
    compare_types(f);
  for (uint32_t k = 0; k < 2 && !f->why && !f->nothing && !f->of->open; k++)
    fm_check_literals(f, &f->side[k]);
  if (!f->why && !f->nothing)
    compare_elements(f);
  tell_whether_it_applies(f);
  if (f->why && fm_is_contradiction(f))
    f->why = NULL;
  return !f->why;
}

/* --- all paths ------------------------------------------------------------ */

static void
free_isl(void *isl) {
  po_free_isl(isl);
}

static fm_form *
open_form(const pv_form *form, bs_heap *heap, isl_ctx *isl) {
  assert(form->open || form->rule);
  fm_form *f = bs_alloc(heap, sizeof *f);
  memset(f, 0, offsetof(fm_form, var));
  f->of = form;
  f->heap = heap;
  f->values = form->p->ctx.values;
  f->isl = isl;
  if (!form->open)
    fix(f);
  return f;
}

bool
pv_form_key(const pv_form *form, bs_heap *heap, uint64_t *key) {
  if (!is_candidate(form))
    return false;
  fm_form *f = open_form(form, heap, NULL);
  *key = key_of(f);
  bs_free(heap, f);
  return true;
}

uint64_t
pv_form_fixes(const pv_form *form, bs_heap *heap) {
  fm_form *f = open_form(form, heap, NULL);
  uint64_t fixed = 0;
  for (uint32_t k = 0; k < FM_SLOTS; k++)
    fixed |= (uint64_t)(f->fixed[k] || f->operator[k]) << k;
  bs_free(heap, f);
  return fixed;
}

static void
count_path(const fm_form *f) {
  pv_counts *c = f->of->counts;
  pv_count(c, PV_W_PATHS, 1);
  pv_count(c, PV_W_CASES, f->frame[0].n);
  pv_count(c, PV_W_SIZES, f->n_numbers + f->n_monos + f->n_vars);
  pv_count(c, PV_W_FACTS, f->n_rows + f->n_rules + f->n_bounds + f->n_floors);
  pv_count(c, PV_W_SUMS, f->n_tuples + f->n_reductions + f->n_zeros);
  pv_count(c, PV_W_VALUES, f->elements.work);
}

bool
pv_prove_form(const pv_form *form, bs_heap *heap, bool *numbers,
              const char **why) {
  assert(form->open || form->rule->n_right);
  isl_ctx *isl = isl_ctx_alloc();
  bs_defer(heap, free_isl, isl);
  isl_options_set_on_error(isl, ISL_ON_ERROR_CONTINUE);
  isl_ctx_set_max_operations(isl, form->max_operations);
  fm_frame cases = {0};
  bool ok = true, more = true, careful = false;
  *why = NULL;
  for (uint32_t paths = 0; ok && more; paths++) {
    fm_form *f = open_form(form, heap, isl);
    pv_values_init(&f->elements, heap, FM_WORK);
    f->frame[0] = cases;
    f->frame[0].at = 0;
    f->careful = careful;
    ok = prove_path(f);
    count_path(f);
    if (!ok && !careful) {
      /* From the start, with indices compared by what is known of them: other
       * cases are told apart then, and those of both ways together need not be
       * all that there are. */
      careful = ok = true;
      cases = (fm_frame){0};
      paths = 0;
      pv_values_done(&f->elements);
      bs_free(heap, f);
      continue;
    }
    if (ok && paths == FM_PATHS) {
      fm_fail(f, "too many cases");
      ok = false;
    }
    *numbers = f->numbers;
    *form->any_order |= f->elements.any_order;
    if (form->rounded)
      *form->rounded |= f->rounded;
    *why = f->why;
    more = fm_next(f);
    cases = f->frame[0];
    pv_values_done(&f->elements);
    bs_free(heap, f);
  }
  if (ok && isl_ctx_last_error(isl) != isl_error_none)
    *why = "a bound of work was reached";
  return ok && !*why;
}
