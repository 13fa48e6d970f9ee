/* SPDX-License-Identifier: MIT */
/* schedule_apply.c - one step of a schedule: on a copy, checked, then put in
 * place.
 *
 * The gate: the dependences of the program before the step must be kept by the
 * nest after it.  A primitive that changes statements forgets the copy's
 * dependences (po_forget_dependences) after showing by itself that values are
 * the same; the copy's own order is then the one to keep from here on, and
 * only marks and folds are left to check. */
#include "poly/kernel/contraction.h"
#include "poly/loops/affine.h"
#include "poly/loops/loops_check.h"
#include "poly/schedule/loop_axes.h"
#include "poly/loops/limit.h"
#include "poly/loops/loops_sizes.h"
#include "poly/schedule/schedule_edit.h"
#include <assert.h>

/* ---- copies ---- */

static isl_pw_multi_aff *
copy_pma(po_program *to, isl_pw_multi_aff *from) {
  return from ? po_keep_pw_multi_aff(&to->pool, isl_pw_multi_aff_copy(from))
              : NULL;
}

static isl_aff *
copy_aff(po_program *to, __isl_keep isl_aff *aff) {
  po_pool_reserve(&to->pool, 1);
  return aff ? po_keep_aff(&to->pool, isl_aff_copy(aff)) : NULL;
}

static void
copy_body(po_program *to, po_stmt *stmt) {
  po_expr *exprs =
      bs_arena_copy(&to->arena, stmt->exprs, stmt->n_exprs * sizeof *exprs);
  po_pool_reserve(&to->pool, stmt->n_exprs);
  for (uint32_t k = 0; k < stmt->n_exprs; k++) {
    exprs[k].index = copy_pma(to, exprs[k].index);
    exprs[k].by = copy_aff(to, exprs[k].by);
  }
  stmt->exprs = exprs;
}

static void
copy_call(po_program *to, po_stmt *stmt) {
  const gs_instr *instr = stmt->instr;
  if (!instr)
    return;
  uint32_t n = instr->n_operands + 1;
  po_operand *operands =
      bs_arena_copy(&to->arena, stmt->operands, n * sizeof *operands);
  po_pool_reserve(&to->pool, n);
  for (uint32_t k = 0; k < n; k++)
    operands[k].base = copy_pma(to, operands[k].base);
  stmt->operands = operands;
  stmt->slots =
      bs_arena_copy(&to->arena, stmt->slots,
                    (instr->scope.vars.len + 1) * sizeof *stmt->slots);
}

static const char **
copy_iters(po_program *to, const po_stmt *from) {
  const char **iters = BS_NEWS(&to->arena, const char *, from->n_iters + 1);
  for (uint32_t k = 0; k < from->n_iters; k++)
    iters[k] = bs_arena_strdup(&to->arena, from->iters[k]);
  return iters;
}

static void
copy_stmt(po_program *to, const po_stmt *from) {
  po_stmt stmt = *from;
  stmt.name = bs_arena_strdup(&to->arena, from->name);
  stmt.iters = copy_iters(to, from);
  if (from->contract)
    stmt.contract =
        bs_arena_copy(&to->arena, from->contract, sizeof *from->contract);
  if (from->n_exprs)
    copy_body(to, &stmt);
  copy_call(to, &stmt);
  po_pool_reserve(&to->pool, 3);
  if (from->counted != from->domain)
    stmt.counted = NULL; /* it may be gone, and its place be used again */
  if (po_is_as_made(from))
    stmt.made[2] = stmt.exprs;
  else
    stmt.like = 0; /* it is no longer as lowering made it */
  stmt.domain = po_keep_set(&to->pool, isl_set_copy(from->domain));
  stmt.write = copy_pma(to, from->write);
  if (from->time)
    stmt.time = po_keep_multi_aff(&to->pool, isl_multi_aff_copy(from->time));
  bs_push(to->ctx.heap, &to->stmts, stmt);
}

static void
copy_size(po_program *to, const po_size *from) {
  po_size size = *from;
  size.name = bs_arena_strdup(&to->arena, size.name);
  po_add_size(to, &size);
}

static void
copy_extents(po_program *to, po_array *array) {
  for (uint32_t d = 0; d < array->rank; d++)
    array->extent[d] = copy_aff(to, array->extent[d]);
}

/* But those that kernels pack into, which are planned anew. */
static void
copy_arrays(po_program *to, const po_program *from) {
  for (uint32_t k = 0; k < from->arrays.len; k++) {
    po_array array = from->arrays.data[k];
    if (array.packed)
      break;
    array.name = bs_arena_strdup(&to->arena, array.name);
    copy_extents(to, &array);
    bs_push(to->ctx.heap, &to->arrays, array);
  }
}

static void
copy_nest(po_program *to, const po_program *from) {
  bs_clear(&to->nest.nodes);
  for (uint32_t k = 0; k < from->nest.nodes.len; k++) {
    po_nest_node node = from->nest.nodes.data[k];
    if (node.kind == PO_LOOP)
      node.name = bs_arena_strdup(&to->arena, node.name);
    bs_push(to->ctx.heap, &to->nest.nodes, node);
  }
}

po_program *
po_copy_for(const po_program *from, const gs_target *target) {
  po_program *to = po_new_program(&from->ctx, from->source, target, from);
  to->workspace_bytes = from->workspace_bytes;
  to->strict_fp = from->strict_fp;
  to->chains = from->chains;
  to->copies_views = from->copies_views;
  to->settled = from->settled;
  for (uint32_t k = 0; k < from->sizes.len; k++)
    copy_size(to, &from->sizes.data[k]);
  copy_arrays(to, from);
  for (uint32_t k = 0; k < from->stmts.len; k++)
    copy_stmt(to, &from->stmts.data[k]);
  copy_nest(to, from);
  for (uint32_t k = 0; k < from->script.len; k++)
    bs_push(to->ctx.heap, &to->script,
            bs_arena_strdup(&to->arena, from->script.data[k]));
  po_axes_copy_of(to, from);
  for (uint32_t k = 0; k < from->deps.len; k++)
    po_take_dependences(to, from, k);
  return to;
}

po_program *
po_copy(const po_program *from) {
  return po_copy_for(from, from->target);
}

/* ---- refusals ---- */

bool
po_refuse_violation(const po_program *p, const po_step_call *call,
                    const po_violation *v) {
  bs_text text;
  bs_text_init(&text, p->ctx.heap);
  po_put_violation(v, &text);
  po_refuse(p, call, "illegal", "%s", bs_text_str(&text));
  bs_text_done(&text);
  po_tell_violation(p, call, v);
  if (v->fold && v->loop)
    bs_hint(p->ctx.diags,
            "what is made inside loop %s (compute_at, cache_read at %s) has "
            "places for each iteration",
            v->loop, v->loop);
  else if (v->fold)
    bs_hint(p->ctx.diags, "double_buffer keeps more of them");
  else if (!v->loop)
    bs_hint(p->ctx.diags,
            "%s must stay before %s; `print deps` lists all "
            "dependences, `shift` delays a statement",
            v->source, v->sink);
  return false;
}

/* ---- the step ---- */

/* Below a node at least one statement is not as it was. */
static bool
is_touched(const po_program *before, const po_program *p, uint32_t root) {
  for (uint32_t k = root; k != PO_NO_NODE; k = po_nest_next(p, k, root))
    if (p->nest.nodes.data[k].kind == PO_LEAF &&
        !po_is_untouched(before, p, p->nest.nodes.data[k].stmt))
      return true;
  return false;
}

static bool
gate(const po_program *before, po_program *p, const po_step_call *call) {
  po_violation v;
  if (po_step_is_legal(before, p, call->primitive->keeps_values, &v))
    return true;
  if (!v.source)
    return po_refuse(p, call, "too-complex", "legality could not be decided");
  po_refuse_violation(p, call, &v);
  if (v.loop)
    bs_hint(p->ctx.diags, "loop %s is marked; `serial %s` removes the mark",
            v.loop, v.loop);
  return false;
}

/* Loops around what changed may have a fixed range now. */
static void
ask_for_axes(const po_program *before, po_program *p) {
  for (uint32_t k = 0; k != PO_NO_NODE; k = po_nest_next(p, k, 0))
    if (p->nest.nodes.data[k].no_axis && is_touched(before, p, k))
      p->nest.nodes.data[k].no_axis = false;
  po_axes_follow(p);
}

static bool
knows_enough(const po_program *p, const po_step_call *call) {
  if (!po_has_sizes(p) || call->primitive->open_sizes)
    return true;
  po_refuse(p, call, "open-size", "it needs a number for size %s",
            p->sizes.data[0].name);
  bs_hint(p->ctx.diags, "for example --size %s=%lld", p->sizes.data[0].name,
          (long long)p->sizes.data[0].most);
  return false;
}

static void
note_unused_names(const po_program *p, const po_step_call *call) {
  if (call->n_results > call->n_made)
    bs_warning(p->ctx.diags, call->span, "unused-name",
               "%s makes %u %s, %u names are given", call->primitive->name,
               BS_COUNTED(call->n_made, "loop"), call->n_results);
}

bool
po_apply(po_program **program, po_step_call *call, po_program **undo) {
  assert(*program && call->primitive && call->primitive->apply);
  po_program *before = *program;
  call->n_made = 0;
  if (!knows_enough(before, call))
    return false;
  bs_text right;
  bs_text_init(&right, before->ctx.heap);
  po_put_command(before, call, &right);
  po_axes_follow(before);
  po_program *after = po_copy(before);
  after->order_of = before;
  po_limit limit = po_limit_operations(before, PO_COMMAND);
  po_simplify_domains(before);
  bool ok = call->primitive->apply(after, call) && !after->pool.failed;
  po_simplify_domains(after);
  bool exhausted = po_is_exhausted(before->isl);
  po_unlimit(&limit);
  if (ok && exhausted)
    ok = po_refuse(before, call, "too-complex", "the loops are too complex");
  ok = ok && (call->primitive->keeps_order || gate(before, after, call)) &&
       po_bindings_hold(before, after, call) &&
       po_barriers_are_met(after, call) && po_kernels_hold(after, call) &&
       po_verify(after, call->primitive->name);
  after->order_of = NULL;
  if (!ok && after->pool.failed)
    po_refuse(after, call, "too-complex", "the integer set library failed");
  if (ok) {
    ask_for_axes(before, after);
    po_log_command(after, call, bs_text_str(&right));
    note_unused_names(after, call);
  }
  bs_text_done(&right);
  if (!ok) {
    po_free(after);
    return false;
  }
  *program = after;
  if (undo)
    *undo = before;
  else
    po_free(before);
  return true;
}
