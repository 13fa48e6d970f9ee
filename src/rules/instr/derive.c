/* SPDX-License-Identifier: MIT */
/* derive.c - the lowering rule of an instruction, from its declared meaning.
 *
 * The rule is written as text in the rule language and then read like any
 * other, so it can be shown, and there is one way to compile a rule.
 *
 * Left: the semantics.  An operand that stands there under a chain of
 * invertible views is matched as the whole chain; the chain carries the
 * declared shape up to what is matched, whose own shape binds the dimensions.
 * Right: the call, each operand under the inverse of its chain.  `access` is
 * put back only where a reshape needs it and at the end. */
#include "glenside/call/over.h"
#include "rules/instr/derive.h"
#include "rules/instr/fit.h"
#include <string.h>

/* --- the left side -------------------------------------------------------- */

/* An integer parameter where an operator takes a number: it matches numbers
 * that are whole. */
static void
put_integer(deriver *d, bs_text *out, const gs_expr *e) {
  const char *name = bs_arena_printf(d->ctx->arena, "?=%u", ++d->n_fresh);
  bs_putf(out, " %s", name);
  rl_add_conjunct(d,
                  bs_arena_printf(d->ctx->arena, "(= %s (integer %s))",
                                  rl_expr_text(d, e), name),
                  NULL, (int)e->slot);
}

/* An attribute of a pattern: what is no literal and no variable becomes a
 * variable that is tested. */
static void
put_pattern_attr(deriver *d, bs_text *out, const gs_expr *e) {
  if (e->kind == GS_X_VAR)
    d->bound[e->slot] = 1;
  if (e->kind != GS_X_CALL) {
    bs_put(out, rl_expr_text(d, e));
    return;
  }
  bool is_operator = e->sort == GS_SORT_OP;
  if (!strcmp(gs_function_name(e->function), "list")) {
    bs_put(out, is_operator ? "(" : "(list");
    for (uint32_t k = 0; k < e->n_args; k++) {
      const gs_expr *arg = e->args[k];
      if (is_operator && !k) {
        bs_put(out, bs_as_sym(d->ctx->values, arg->literal));
        continue;
      }
      if (is_operator && arg->kind == GS_X_VAR && arg->sort == GS_SORT_INT) {
        put_integer(d, out, arg);
        continue;
      }
      bs_putc(out, ' ');
      put_pattern_attr(d, out, arg);
    }
    bs_putc(out, ')');
    return;
  }
  const char *name = bs_arena_printf(d->ctx->arena, "?=%u", ++d->n_fresh);
  bs_put(out, name);
  rl_add_conjunct(
      d, bs_arena_printf(d->ctx->arena, "(= %s %s)", name, rl_expr_text(d, e)),
      rl_uses_of(d, e), -1);
}

static void
put_attrs(deriver *d, bs_text *out, const gs_sk_node *n) {
  for (uint32_t k = n->op == GS_CALL; k < n->n_attrs; k++) {
    if (!n->attrs[k])
      continue;
    bs_putc(out, ' ');
    put_pattern_attr(d, out, n->attrs[k]);
  }
}

static const char *
node_text(deriver *d, const gs_sk_node *n, const char *const *texts) {
  const gs_op_info *info = &gs_op_table[n->op];
  bool first = info->attrs_first;
  bs_text t;
  bs_text_init(&t, d->ctx->heap);
  bs_putf(&t, "(%s",
          n->op == GS_CALL ? bs_as_sym(d->ctx->values, n->attrs[0]->literal)
                           : info->name);
  if (first)
    put_attrs(d, &t, n);
  for (uint32_t k = 0; k < n->n_kids; k++)
    bs_putf(&t, " %s", texts[n->kids[k]]);
  if (!first)
    put_attrs(d, &t, n);
  bs_putc(&t, ')');
  return rl_keep_text(d, &t);
}

static const char *
left_text(deriver *d) {
  const gs_skeleton *s = d->instr->semantics;
  const char **texts = BS_NEWS(d->ctx->arena, const char *, s->n);
  for (uint32_t k = 0; k < s->n; k++) {
    const gs_sk_node *n = &s->nodes[k];
    if (!n->hole) {
      texts[k] = texts[k] ? texts[k] : node_text(d, n, texts);
      continue;
    }
    const gs_operand *o = rl_operand_of(d, n->slot);
    const chain *c = &d->chains[o - d->instr->operands];
    texts[k] = bs_arena_printf(d->ctx->arena, "?%s", o->name);
    for (uint32_t up = k, j = 0; j < c->n; j++) {
      up = rl_parent_of(s, up);
      texts[up] = texts[k];
    }
  }
  return texts[s->n - 1];
}

/* --- the right side ------------------------------------------------------- */

/* The views of a layout, applied to a term. */
static const char *
apply_layout(deriver *d, const gs_skeleton *s, const char *term) {
  const char **texts = BS_NEWS(d->ctx->arena, const char *, s->n);
  for (uint32_t k = 0; k < s->n; k++) {
    const gs_sk_node *n = &s->nodes[k];
    bs_text t;
    if (n->hole) {
      texts[k] = term;
      continue;
    }
    bs_text_init(&t, d->ctx->heap);
    bs_putf(&t, "(%s", gs_op_table[n->op].name);
    for (uint32_t j = 0; j < n->n_kids; j++)
      bs_putf(&t, " %s", texts[n->kids[j]]);
    for (uint32_t j = 0; j < n->n_attrs; j++)
      if (n->attrs[j])
        bs_putf(&t, " %s", rl_expr_text(d, n->attrs[j]));
    bs_putc(&t, ')');
    texts[k] = rl_keep_text(d, &t);
  }
  return texts[s->n - 1];
}

/* The operand in its layout: the layout's views, materialized, and undone, so
 * that the call sees the declared shape.  NULL when they cannot be undone. */
static const char *
lay_out(deriver *d, const gs_operand *o, const char *term) {
  const gs_skeleton *s = o->layout;
  uint32_t hole = 0;
  chain *c = BS_NEW(d->ctx->arena, chain);
  while (hole < s->n && !s->nodes[hole].hole)
    hole++;
  rl_climb(d, s, hole, s->n, o, c);
  if (hole == s->n || c->n != s->n - 1) {
    bs_error(d->ctx->diags, o->span, "bad-layout",
             "the layout of '%s' has no inverse", o->name);
    bs_hint(d->ctx->diags,
            "a layout is made of transpose, access, reshape, flatten, squeeze "
            "and insertAxis");
    return NULL;
  }
  const char *view = apply_layout(d, s, term);
  return rl_invert(d, s, c,
                   bs_arena_printf(d->ctx->arena, "(materialize %s)", view));
}

static bool
put_right(deriver *d, bs_text *out) {
  const gs_instr *instr = d->instr;
  bool ok = true;
  bs_text call;
  bs_text_init(&call, d->ctx->heap);
  bs_putf(&call, "(call %s", instr->name);
  for (uint32_t k = 0; k < instr->n_params; k++)
    bs_putf(&call, " ?%s", instr->scope.vars.data[k].name);
  if (d->over)
    bs_putf(&call, " %s", rl_over_attr(d));
  for (uint32_t k = 0; k < instr->n_operands; k++) {
    const gs_operand *o = &instr->operands[k];
    const char *term = bs_arena_printf(d->ctx->arena, "?%s", o->name);
    term = rl_invert(d, instr->semantics, &d->chains[k], term);
    if (o->layout)
      term = lay_out(d, o, term);
    ok &= term != NULL;
    if (d->over)
      term = rl_cut_operand(d, k, term);
    bs_putf(&call, " %s", term ? term : "");
  }
  bs_putc(&call, ')');
  const char *made = rl_keep_text(d, &call);
  bs_put(out, d->over ? rl_join_result(d, made) : made);
  return ok;
}

/* --- the rule ------------------------------------------------------------- */

/* A dot is in no name of an instruction. */
static const char *
rule_name(const deriver *d) {
  const char *name = d->instr->name;
  if (!d->over)
    return name;
  return d->over->into ? bs_arena_printf(d->ctx->arena, "%s.over.%s", name,
                                         d->over->into->name)
                       : bs_arena_printf(d->ctx->arena, "%s.over", name);
}

static bool
put_rule(deriver *d, bs_text *out) {
  const gs_instr *instr = d->instr;
  const char *left = left_text(d);
  for (uint32_t k = 0; k < instr->n_operands; k++)
    rl_bind_operand(d, &instr->operands[k], &d->chains[k]);
  if (d->over)
    rl_bind_over(d);
  if (instr->where)
    rl_add_condition(d, instr->where);
  for (uint32_t k = 0; k < instr->n_rooms; k++)
    rl_add_condition(d, instr->rooms[k].fits);
  bs_putf(out, "(rule %s :kind lowering\n  ", rule_name(d));
  bs_put_json_string(out, instr->intent && instr->intent[0]
                              ? instr->intent
                              : "What the instruction means.");
  bs_putf(out, "\n  %s\n  => ", left);
  bool ok = put_right(d, out);
  bs_put(out, "\n  :where (and");
  rl_put_conjuncts(d, out);
  bs_put(out, "))\n");
  return ok;
}

/* Does the rule bind all that it takes? */
static bool
all_done(const deriver *d) {
  for (uint32_t k = 0; k < d->conjuncts.len; k++)
    if (!d->conjuncts.data[k].done)
      return false;
  for (uint32_t k = 0; k < d->instr->n_params; k++)
    if (!d->bound[k])
      return false;
  return true;
}

static void
forget(deriver *d) {
  memset(d->bound, 0, d->scope.vars.len);
  bs_clear(&d->conjuncts);
  d->n_fresh = 0;
}

/* First with all chains, then with those that can be gone back. */
static bool
put_best_rule(deriver *d, bs_text *out) {
  rl_find_chains(d);
  bool ok = put_rule(d, out);
  if (!ok || all_done(d))
    return ok;
  rl_cut_chains(d);
  forget(d);
  bs_text_clear(out);
  return put_rule(d, out);
}

/* What is wrong in the text is wrong in the instruction, whose place is one
 * that can be looked at. */
static void
blame_instr(const deriver *d, uint32_t source, uint32_t first) {
  const gs_skeleton *s = d->instr->semantics;
  bs_diags *diags = d->ctx->diags;
  for (uint32_t k = first; k < diags->list.len; k++)
    if (diags->list.data[k].span.file == source)
      diags->list.data[k].span = s->nodes[s->n - 1].span;
  bs_note(diags, d->instr->span,
          "this is in the rule derived from the instruction '%s'",
          d->instr->name);
}

/* Reads the text as a file of its own. */
static bool
read_rule(deriver *d, const char *name, const char *text) {
  rl_rules *rules = d->rules;
  const gs_context *ctx = d->ctx;
  const char *path = bs_arena_printf(ctx->arena, "<the rule of %s>", name);
  rl_file f = {.path = path};
  f.source = bs_source_add(ctx->diags, path, text, strlen(text));
  if (!f.source ||
      !bs_sexp_read(ctx->heap, ctx->values, ctx->diags, f.source, &f.sx))
    return false;
  bs_push(ctx->heap, &rules->forms.files, f);
  uint32_t node = f.sx.roots.data[0];
  rl_form form = {.name = name,
                  .span = d->instr->span,
                  .file = rules->forms.files.len - 1,
                  .node = node};
  uint32_t first = ctx->diags->list.len;
  bool ok = rl_parse_rule(rules, &form);
  if (ok)
    bs_last(&rules->compiled)->instr = d->instr;
  else
    blame_instr(d, f.source, first);
  return ok;
}

static bool
derive(rl_rules *rules, const gs_instr *instr, const rl_over *over) {
  const gs_context *ctx = &rules->ctx;
  deriver d = {.rules = rules, .ctx = ctx, .instr = instr, .over = over};
  bs_text text;
  d.scope = instr->scope;
  d.scope.question_marks = true;
  d.bound = BS_NEWS(ctx->arena, uint8_t, instr->scope.vars.len + 1u);
  bs_text_init(&text, ctx->heap);
  bool ok = put_best_rule(&d, &text) &&
            read_rule(&d, rule_name(&d), bs_text_str(&text));
  bs_text_done(&text);
  bs_vec_done(ctx->heap, &d.conjuncts);
  return ok;
}

static bool
has_sums(const rl_over *over) {
  for (uint32_t k = 0; k < over->n; k++)
    if (over->dim[k].sum)
      return true;
  return false;
}

/* Calls over further dimensions: a rule for sums that the host makes, and one
 * for each instruction that goes on with them. */
static bool
derive_over(rl_rules *rules, const gs_instr *instr) {
  const gs_target *t = rules->target;
  deriver d = {.rules = rules, .ctx = &rules->ctx, .instr = instr};
  gs_accumulation into;
  rl_over *over = BS_NEW(rules->ctx.arena, rl_over);
  if (!rl_plan_over(&d, over))
    return true;
  const gs_instr *whole = rl_widen_instr(&d, over);
  bool ok = derive(rules, whole, over);
  for (uint32_t k = 0; has_sums(over) && k < t->instrs.len; k++) {
    const gs_instr *more = t->instrs.data[k];
    if (more == instr || !gs_accumulates(rules->ctx.values, instr, more, &into))
      continue;
    over->into = more;
    ok &= derive(rules, whole, over);
  }
  return ok;
}

/* The right side is made by the rule itself: it stands there as a variable. */
static bool
derive_fit(rl_rules *rules, const fit_instr *f, const gs_instr *into) {
  const gs_context *ctx = &rules->ctx;
  deriver d = {.rules = rules, .ctx = ctx, .instr = f->instr};
  const char *name =
      into
          ? bs_arena_printf(ctx->arena, "%s.fit.%s", f->instr->name, into->name)
          : bs_arena_printf(ctx->arena, "%s.fit", f->instr->name);
  bs_text text;
  bs_text_init(&text, ctx->heap);
  bs_putf(&text, "(rule %s :kind lowering\n  ", name);
  bs_put_json_string(&text, f->instr->intent && f->instr->intent[0]
                                ? f->instr->intent
                                : "What the instruction means.");
  bs_put(&text, "\n  (compute ?op ?x) => ?x)\n");
  bool ok = read_rule(&d, name, bs_text_str(&text));
  bs_text_done(&text);
  if (ok)
    fit_attach(ctx, bs_last(&rules->compiled), f, into);
  return ok;
}

/* Rules that look for what the instruction means, however it is spelled, and
 * cover what is larger; of what has no form that can be looked for, those that
 * match it as it is written. */
static bool
derive_more(rl_rules *rules, const gs_instr *instr) {
  const gs_target *t = rules->target;
  const fit_instr *f = fit_instr_new(&rules->ctx, t, instr);
  gs_accumulation into;
  bool ok = f ? derive_fit(rules, f, NULL) : derive_over(rules, instr);
  for (uint32_t k = 0; f && k < t->instrs.len; k++)
    if (fit_sums_over(f, t->instrs.data[k]) &&
        gs_accumulates(rules->ctx.values, instr, t->instrs.data[k], &into))
      ok &= derive_fit(rules, f, t->instrs.data[k]);
  return ok;
}

static bool
feeds(const rl_compiled *a, const rl_compiled *b) {
  const gs_operand *to = &b->fit->instr->operands[0];
  return a->fit && !a->fit->instr->pointwise &&
         a->fit->instr->result.memory == to->memory &&
         a->fit->instr->result.dtype == to->dtype;
}

/* What of the rules that were derived stands before what else of them. */
static void
note_feeds(rl_rules *rules, uint32_t from) {
  uint32_t n = rules->compiled.len - from;
  if (!n)
    return;
  rl_compiled **all = rules->compiled.data + from;
  for (uint32_t k = 0; k < n; k++) {
    if (!all[k]->fit || !all[k]->fit->instr->pointwise ||
        !all[k]->fit->instr->operands[0].memory)
      continue;
    const rl_compiled **found =
        BS_NEWS(rules->ctx.arena, const rl_compiled *, n);
    for (uint32_t j = 0; j < n; j++)
      if (feeds(all[j], all[k]))
        found[all[k]->n_feeds++] = all[j];
    all[k]->feeds = found;
  }
}

bool
rl_derive_rules(rl_rules *rules) {
  const gs_target *t = rules->target;
  uint32_t from = rules->compiled.len;
  bool ok = true;
  for (uint32_t k = 0; t && k < t->instrs.len; k++)
    if (!t->instrs.data[k]->moves) /* these are calls of the loops alone */
      ok &= derive(rules, t->instrs.data[k], NULL) &&
            derive_more(rules, t->instrs.data[k]);
  note_feeds(rules, from);
  return ok;
}
