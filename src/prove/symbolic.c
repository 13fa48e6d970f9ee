/* symbolic.c - a form read, its key, and its proof; see symbolic.h.
 *
 * Variables in the place of a size are parameters; all others of the left side
 * keep the values of the application at hand, and tell its form.  Where a
 * broadcast may or may not repeat a dimension, both cases are looked at, one
 * path after another. */
#include "prove/form.h"
#include <isl/options.h>
#include "base/hash.h"

/* --- roles ---------------------------------------------------------------- */

/* Which attributes of an operator are sizes, and which are numbers that must
 * be constants though they are no axes. */
static const struct {
  uint8_t sizes, numbers; /* bits */
} roles[GS_OP_COUNT] = {
    [GS_WINDOWS] = {1, 6},   [GS_SLICE] = {6, 0},   [GS_PAD] = {12, 0},
    [GS_BROADCAST] = {1, 0}, [GS_RESHAPE] = {3, 0}, [GS_REPEAT] = {0, 2},
};

static void
fix_slot(fm_form *f, const gs_expr *e, bool number) {
  if (e->kind == GS_X_VAR && e->slot < FM_SLOTS) {
    f->fixed[e->slot] = 1;
    f->numbers |= number;
  }
  for (uint32_t k = 0; k < e->n_args; k++)
    fix_slot(f, e->args[k], number);
}

/* An operator with parameters that the rule does not write out. */
static bool
has_parameters(const fm_form *f, const gs_expr *e) {
  if (e->kind == GS_X_VAR && e->slot < f->of->rule->scope.vars.len) {
    bs_value now = {f->of->slots[e->slot]};
    return bs_kind_of(f->values, now) != BS_KIND_SYM;
  }
  for (uint32_t k = 0; k < e->n_args; k++)
    if (has_parameters(f, e->args[k]))
      return true;
  return false;
}

static void
fix_node(fm_form *f, const gs_sk_node *sk) {
  for (uint32_t k = 0; !sk->hole && k < sk->n_attrs; k++) {
    if (!sk->attrs[k] || roles[sk->op].sizes >> k & 1)
      continue;
    bool is_operator = sk->op == GS_COMPUTE;
    fix_slot(f, sk->attrs[k],
             roles[sk->op].numbers >> k & 1 ||
                 (is_operator && has_parameters(f, sk->attrs[k])));
    f->asks_dtype |= is_operator;
  }
}

static bool
asks_dtype(const gs_expr *e) {
  if (e->kind != GS_X_CALL)
    return false;
  const gs_function_info *info = gs_function_at(e->function);
  if (info->result == 't')
    return true;
  for (uint32_t k = 0; k < e->n_args; k++)
    if (asks_dtype(e->args[k]))
      return true;
  return false;
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
    f->asks_dtype |= asks_dtype(c.expr);
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
  for (uint32_t k = 0; k < rule->right[0]->n; k++)
    f->asks_dtype |= !rule->right[0]->nodes[k].hole &&
                     rule->right[0]->nodes[k].op == GS_COMPUTE;
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

static uint64_t
key_of(const fm_form *f) {
  const gs_scope *scope = &f->of->rule->scope;
  uint64_t h = 1;
  for (uint32_t k = 0; k < scope->vars.len && k < FM_SLOTS; k++) {
    uint64_t item[4] = {h, f->fixed[k] ? f->of->slots[k] : 0, 0, 0};
    if (scope->vars.data[k].sort == GS_SORT_CLASS &&
        f->of->slots[k] < f->of->p->nodes.len) {
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

static void
free_size(fm_form *f, const gs_expr *e, bool list) {
  for (uint32_t k = 0; k < e->n_args; k++)
    free_size(f, e->args[k], false);
  if (e->kind != GS_X_VAR || e->sort == GS_SORT_CLASS || e->slot >= FM_SLOTS ||
      f->fixed[e->slot] || f->value[e->slot].kind != FM_UNKNOWN)
    return;
  fm_value *v = &f->value[e->slot];
  bs_value now = {f->of->slots[e->slot]};
  v->n = list ? bs_len(f->values, now) : 1;
  if (v->n > GS_MAX_RANK || f->failed) {
    f->failed = true;
    return;
  }
  v->kind = list ? FM_LIST : FM_INT;
  for (uint32_t k = 0; k < v->n; k++)
    v->at[k] = fm_parameter(f);
}

static void
free_sizes(fm_form *f) {
  const gs_skeleton *left = f->of->rule->left;
  for (uint32_t i = 0; i < left->n; i++) {
    const gs_sk_node *sk = &left->nodes[i];
    for (uint32_t k = 0; !sk->hole && k < sk->n_attrs; k++)
      if (sk->attrs[k] && roles[sk->op].sizes >> k & 1)
        free_size(f, sk->attrs[k],
                  sk->op != GS_SLICE && sk->op != GS_PAD &&
                      sk->attrs[k]->kind == GS_X_VAR);
  }
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
      f->of->rule->scope.vars.data[c->slot].sort == GS_SORT_INT)
    v = (fm_value){.kind = FM_INT, .n = 1, .at = {fm_parameter(f)}};
  f->value[c->slot] = v;
}

/* Both sides have one type. */
static void
compare_types(fm_form *f) {
  const fm_type *a = &f->side[0].node[f->side[0].skeleton->n - 1].type;
  const fm_type *b = &f->side[1].node[f->side[1].skeleton->n - 1].type;
  if (a->access != b->access || a->rank != b->rank || a->dtype != b->dtype) {
    f->failed = true;
    return;
  }
  for (uint32_t k = 0; k < a->rank; k++)
    fm_need_equal(f, a->dim[k], b->dim[k]);
}

static bool
prove_path(fm_form *f) {
  const rl_rule *rule = f->of->rule;
  free_sizes(f);
  f->side[0].skeleton = rule->left;
  f->side[1].skeleton = rule->right[0];
  fm_infer_side(f, &f->side[0]);
  for (uint32_t k = 0; k < rl_asked_count(rule) && !f->failed; k++) {
    rl_asked c = rl_asked_at(rule, k);
    take_clause(f, &c);
  }
  f->right = true;
  if (!f->failed)
    fm_infer_side(f, &f->side[1]);
  if (!f->failed)
    compare_types(f);
  return !f->failed && fm_same_elements(f);
}

/* --- all paths ------------------------------------------------------------ */

static void
free_isl(void *isl) {
  isl_ctx_free(isl);
}

static fm_form *
open_form(const pv_form *form, bs_heap *heap, isl_ctx *isl) {
  fm_form *f = bs_calloc(heap, 1, sizeof *f);
  f->of = form;
  f->values = form->p->ctx.values;
  f->isl = isl;
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

bool
pv_prove_form(const pv_form *form, bs_heap *heap, bool *numbers) {
  isl_ctx *isl = isl_ctx_alloc();
  bs_defer(heap, free_isl, isl);
  isl_options_set_on_error(isl, ISL_ON_ERROR_CONTINUE);
  isl_ctx_set_max_operations(isl, form->max_operations);
  uint32_t choices = 0;
  bool ok = true, more = true;
  while (ok && more) {
    fm_form *f = open_form(form, heap, isl);
    f->choices = choices;
    ok = prove_path(f);
    *numbers = f->numbers;
    /* the next path: the last choice that took its first case */
    uint32_t n = f->n_choices;
    while (n && choices >> (n - 1) & 1)
      choices &= ~(1u << --n);
    more = n > 0;
    if (more)
      choices |= 1u << (n - 1);
    bs_free(heap, f);
  }
  return ok && isl_ctx_last_error(isl) == isl_error_none;
}
