/* SPDX-License-Identifier: MIT */
/* derive_over.c - the rule that covers what is larger than an instruction.
 *
 * A dimension that may be cut (derive_dims.c), and of which a call takes a size
 * that the declaration fixes, is n tiles of that size.  The rule is derived
 * from the declaration with `(* n size)` in its place: the left side matches
 * the whole, and the right side is the call over the n, of operands that are
 * cut, and its result put together again.  So what is built does not grow with
 * n. */
#include "rules/instr/derive.h"
#include <assert.h>
#include <string.h>

/* The size that every call has; where operands name it twice, either tells. */
static bool
fixed_size(const deriver *d, const rl_dimension *x, int64_t *out) {
  const gs_instr *instr = d->instr;
  for (uint32_t k = 0; k < instr->n_operands; k++) {
    if (x->in_operand[k] < 0)
      continue;
    const gs_expr *e = instr->operands[k].dims[x->in_operand[k]];
    if ((gs_expr_is_int(d->ctx->values, e, out) && *out > 0) ||
        (e->kind == GS_X_VAR &&
         gs_expr_fixes(d->ctx->values, instr->where, e->slot, out)))
      return true;
  }
  return false;
}

static bool
has_layouts(const gs_instr *instr) {
  for (uint32_t k = 0; k < instr->n_operands; k++)
    if (instr->operands[k].layout)
      return true;
  return false;
}

bool
rl_plan_over(const deriver *d, rl_over *out) {
  rl_dimension all[GS_MAX_RANK];
  uint32_t n = has_layouts(d->instr) || d->instr->n_operands > 32
                   ? 0
                   : rl_find_dimensions(d, all, GS_MAX_RANK);
  bool sums = gs_sum_dtype(d->instr->result.dtype) == d->instr->result.dtype;
  *out = (rl_over){.instr = d->instr};
  for (uint32_t sum = 0; sum < 2; sum++)
    for (uint32_t k = 0; k < n; k++)
      if (all[k].sum == (sum != 0) && (!sum || sums) &&
          fixed_size(d, &all[k], &out->tile[out->n]))
        out->dim[out->n++] = all[k];
  return out->n > 0;
}

/* ---- the declaration of the whole ---- */

static const gs_expr *
whole_size(const deriver *d, const rl_over *over, uint32_t i, bs_span span) {
  assert(i < over->n);
  gs_expr *tiles = BS_NEW(d->ctx->arena, gs_expr);
  *tiles = (gs_expr){.kind = GS_X_VAR,
                     .sort = GS_SORT_INT,
                     .span = span,
                     .slot = over->slot[i]};
  const gs_expr *const args[] = {
      tiles, gs_expr_literal(d->ctx, bs_int(d->ctx->values, over->tile[i]),
                             GS_SORT_INT, span)};
  return gs_expr_call(d->ctx, "*", GS_SORT_INT, args, 2, span);
}

static void
widen(const deriver *d, const rl_over *over, uint32_t i, int at,
      gs_operand *o) {
  assert(at < (int)o->rank);
  if (at < 0)
    return;
  const gs_expr **dims =
      bs_arena_copy(d->ctx->arena, o->dims, o->rank * sizeof *o->dims);
  dims[at] = whole_size(d, over, i, o->span);
  o->dims = dims;
}

const gs_instr *
rl_widen_instr(const deriver *d, rl_over *over) {
  const gs_context *ctx = d->ctx;
  gs_instr *whole = bs_arena_copy(ctx->arena, d->instr, sizeof *whole);
  gs_operand *operands = bs_arena_copy(
      ctx->arena, whole->operands, (whole->n_operands + 1u) * sizeof *operands);
  gs_scope *scope = &whole->scope;
  gs_var *vars = BS_NEWS(ctx->arena, gs_var, scope->vars.len + over->n + 1u);
  memcpy(vars, scope->vars.data, scope->vars.len * sizeof *vars);
  for (uint32_t i = 0; i < over->n; i++) {
    over->slot[i] = scope->vars.len + i;
    vars[over->slot[i]] =
        (gs_var){.name = bs_arena_printf(ctx->arena, "=tiles%u", i),
                 .sort = GS_SORT_INT,
                 .span = whole->span};
  }
  scope->vars.data = vars;
  scope->vars.len += over->n;
  for (uint32_t i = 0; i < over->n; i++) {
    for (uint32_t k = 0; k < whole->n_operands; k++)
      widen(d, over, i, over->dim[i].in_operand[k], &operands[k]);
    widen(d, over, i, over->dim[i].in_result, &whole->result);
  }
  whole->operands = operands;
  return whole;
}

/* ---- the rule ---- */

static const char *
tiles(const deriver *d, uint32_t i) {
  assert(i < d->over->n);
  return bs_arena_printf(d->ctx->arena, "?%s",
                         d->scope.vars.data[d->over->slot[i]].name);
}

/* Variables of dimensions that are cut have the size of a tile. */
static void
bind_variables(deriver *d, uint32_t i) {
  assert(i < d->over->n);
  const rl_over *over = d->over;
  for (uint32_t k = 0; k < over->instr->n_operands; k++) {
    int at = over->dim[i].in_operand[k];
    const gs_expr *e = at < 0 ? NULL : over->instr->operands[k].dims[at];
    if (!e || e->kind != GS_X_VAR || d->bound[e->slot])
      continue;
    d->bound[e->slot] = 1;
    rl_add_conjunct(d,
                    bs_arena_printf(d->ctx->arena, "(= %s %lld)",
                                    rl_expr_text(d, e),
                                    (long long)over->tile[i]),
                    NULL, (int)e->slot);
  }
}

void
rl_bind_over(deriver *d) {
  assert(d->over && d->over->n);
  const rl_over *over = d->over;
  uint8_t *uses = BS_NEWS(d->ctx->arena, uint8_t, d->scope.vars.len + 1u);
  bs_text more;
  bs_text_init(&more, d->ctx->heap);
  bs_put(&more, "(> (*");
  for (uint32_t i = 0; i < over->n; i++) {
    bind_variables(d, i);
    uses[over->slot[i]] = 1;
    if (!over->into || over->dim[i].sum)
      bs_putf(&more, " %s", tiles(d, i));
  }
  bs_put(&more, ") 1)");
  rl_add_conjunct(d, rl_keep_text(d, &more), uses, -1);
}

const char *
rl_over_attr(const deriver *d) {
  assert(d->over && d->over->n);
  const rl_over *over = d->over;
  bs_text t;
  bs_text_init(&t, d->ctx->heap);
  bs_put(&t, "(over");
  for (uint32_t i = 0; i < over->n; i++) {
    bs_putf(&t, " (%s %s", over->dim[i].sum ? "sum" : "each", tiles(d, i));
    for (uint32_t k = 0; k < d->instr->n_operands; k++)
      if (over->dim[i].in_operand[k] >= 0)
        bs_putf(&t, " %s", d->instr->operands[k].name);
    bs_putc(&t, ')');
  }
  if (over->into)
    bs_putf(&t, " (into %s)", over->into->name);
  bs_putc(&t, ')');
  return rl_keep_text(d, &t);
}

/* The number of what is cut at a dimension of an operand (or the result), or
 * n. */
static uint32_t
cut_at(const rl_over *over, uint32_t operand, uint32_t dim) {
  assert(operand <= over->instr->n_operands);
  uint32_t i = 0;
  for (; i < over->n; i++) {
    bool result = operand == over->instr->n_operands;
    int at = result ? over->dim[i].in_result : over->dim[i].in_operand[operand];
    if (at == (int)dim)
      break;
  }
  return i;
}

/* Dimensions from..to of the declaration, those that are cut as two. */
static void
put_cut_sizes(const deriver *d, uint32_t operand, const gs_operand *o,
              uint32_t from, uint32_t to, bs_text *t) {
  bs_put(t, " (list");
  for (uint32_t k = from; k < to; k++) {
    uint32_t i = cut_at(d->over, operand, k);
    if (i < d->over->n)
      bs_putf(t, " %s %lld", tiles(d, i), (long long)d->over->tile[i]);
    else
      bs_putf(t, " %s", rl_expr_text(d, o->dims[k]));
  }
  bs_putc(t, ')');
}

static uint32_t
count_cuts(const rl_over *over, uint32_t operand, const gs_operand *o) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < o->rank; k++)
    n += cut_at(over, operand, k) < over->n;
  return n;
}

/* Where number-of-tiles and rest of dimension k stand once all are split. */
static uint32_t
split_place(const rl_over *over, uint32_t operand, uint32_t k) {
  uint32_t at = 0;
  for (uint32_t j = 0; j < k; j++)
    at += 1 + (cut_at(over, operand, j) < over->n);
  return at;
}

const char *
rl_cut_operand(const deriver *d, uint32_t k, const char *term) {
  assert(k < d->instr->n_operands && term);
  const rl_over *over = d->over;
  const gs_operand *o = &d->instr->operands[k];
  uint32_t n = count_cuts(over, k, o);
  bs_text t;
  if (!n)
    return term;
  bs_text_init(&t, d->ctx->heap);
  bs_putf(&t, "(access (transpose (reshape %s", term);
  put_cut_sizes(d, k, o, 0, o->access, &t);
  put_cut_sizes(d, k, o, o->access, o->rank, &t);
  bs_put(&t, ") (list");
  for (uint32_t i = 0; i < over->n; i++)
    if (over->dim[i].in_operand[k] >= 0)
      bs_putf(&t, " %u",
              split_place(over, k, (uint32_t)over->dim[i].in_operand[k]));
  for (uint32_t j = 0; j < o->rank; j++)
    bs_putf(&t, " %u",
            split_place(over, k, j) + (cut_at(over, k, j) < over->n));
  bs_putf(&t, ")) %u)", n + o->access);
  return rl_keep_text(d, &t);
}

const char *
rl_join_result(const deriver *d, const char *call) {
  const rl_over *over = d->over;
  const gs_operand *o = &d->instr->result;
  uint32_t n_operands = over->instr->n_operands,
           n = count_cuts(over, n_operands, o);
  uint32_t access = 0;
  bs_text t;
  if (!n)
    return call;
  bs_text_init(&t, d->ctx->heap);
  bs_putf(&t, "(reshape (access (transpose %s (list", call);
  for (uint32_t j = 0; j < o->rank; j++) {
    uint32_t i = cut_at(over, n_operands, j), lead = 0;
    for (uint32_t e = 0; e < i && i < over->n; e++)
      lead += !over->dim[e].sum;
    if (i < over->n)
      bs_putf(&t, " %u", lead);
    bs_putf(&t, " %u", n + j);
    access += j < o->access ? 1 + (i < over->n) : 0;
  }
  bs_putf(&t, ")) %u) (list", access);
  for (uint32_t j = 0; j < o->rank; j++)
    bs_putf(&t, "%s %s", j == o->access ? ") (list" : "",
            rl_expr_text(d, o->dims[j]));
  bs_put(&t, o->access == o->rank ? ") (list))" : "))");
  return rl_keep_text(d, &t);
}
