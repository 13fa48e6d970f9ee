/* SPDX-License-Identifier: MIT */
/* target_check.c - tries an instruction on sizes that its condition admits.
 *
 * A declaration speaks of all sizes at once; a contradiction between operands,
 * semantics and result shows on one.  The first admitted sizes in a fixed order
 * are taken (target_sample.h). */
#include "glenside/target/target_parse.h"
#include "glenside/target/target_sample.h"
#include <assert.h>
#include <math.h>
#include <string.h>

#define MAX_TRIES      40000
#define MAX_PARAMETERS 4000 /* choices of them for one choice of sizes */

static bool
find_sample(gs_sizing *s) {
  for (uint32_t tries = 0; tries < MAX_TRIES; tries++) {
    if (gs_sizing_holds(s))
      return true;
    if (!gs_sizing_advance(s))
      return false;
  }
  return false;
}

static bool
bad_semantics(const gs_sizing *s, const gs_fault *fault, const char *sizes) {
  const gs_skeleton *semantics = s->instr->semantics;
  bs_error(s->ctx->diags, semantics->nodes[semantics->n - 1].span,
           "bad-semantics", "%s", fault->message);
  bs_hint(s->ctx->diags, "tried with %s", sizes);
  return false;
}

/* The type of the semantics over tensors of the sample's types.  Parameters
 * that give the semantics none, such as bounds in the wrong order, are passed
 * over: the rule finds no such call either. */
static bool
check_semantics(gs_sizing *s, gs_program *p, const gs_term *operands) {
  gs_fault first = {0}, fault = {0};
  const char *sizes = NULL;
  uint32_t tries = 0;
  do {
    if (!gs_sizing_holds(s))
      continue;
    if (gs_term_ok(gs_instr_expand(s->instr, p, s->attr, operands, &fault)))
      return true;
    if (!strcmp(fault.code, GS_UNDECLARED_TYPE))
      return bad_semantics(s, &fault, gs_sizing_text(s));
    first = sizes ? first : fault;
    sizes = sizes ? sizes : gs_sizing_text(s);
  } while (++tries < MAX_PARAMETERS && gs_sizing_advance_free(s));
  return bad_semantics(s, &first, sizes);
}

/* Notes the rank of the view, which the template speaks of. */
static bool
check_layout(const gs_sizing *s, gs_program *p, gs_operand *o,
             const gs_term *holes) {
  gs_env env = {.values = s->ctx->values,
                .slots = s->slots,
                .n_slots = s->instr->scope.vars.len};
  gs_fault fault = {0};
  gs_type type;
  if (!o->layout)
    return true;
  gs_term view = gs_skeleton_build(o->layout, p, &env, holes, &fault);
  if (gs_term_ok(view)) {
    gs_type_at(p, view, &type);
    o->layout_rank = type.rank;
    return true;
  }
  bs_error(s->ctx->diags, o->layout->nodes[o->layout->n - 1].span, "bad-layout",
           "%s", fault.message);
  bs_hint(s->ctx->diags, "tried with %s", gs_sizing_text(s));
  return false;
}

static const char *
place_text(const gs_sizing *s, const gs_target *target, const gs_type *type,
           uint32_t memory) {
  bs_text text;
  bs_text_init(&text, s->ctx->heap);
  gs_put_type(&text, type);
  const char *of =
      bs_arena_printf(s->ctx->arena, "%s in %s", bs_text_str(&text),
                      gs_memory_name(target, memory));
  bs_text_done(&text);
  return of;
}

/* What is written in the place of an operand is as large as that. */
static bool
check_onto(const gs_sizing *s, const gs_target *target) {
  const gs_instr *instr = s->instr;
  if (!instr->onto)
    return true;
  const gs_operand *o = &instr->operands[instr->onto - 1];
  const gs_type *a = &s->types[instr->onto - 1], *b = &s->result;
  if (o->memory == instr->result.memory && a->dtype == b->dtype &&
      a->rank == b->rank && !memcmp(a->dim, b->dim, a->rank * sizeof *a->dim))
    return true;
  return bs_error(s->ctx->diags, instr->result.span, "type-mismatch",
                  "the result, %s, is written in the place of '%s', which is "
                  "%s",
                  place_text(s, target, b, instr->result.memory), o->name,
                  place_text(s, target, a, o->memory));
}

static bool
check_costs(const gs_sizing *s) {
  const gs_instr *instr = s->instr;
  for (uint32_t k = 0; k < instr->n_costs; k++) {
    const gs_cost_item *c = &instr->costs[k];
    double x = gs_instr_cost(instr, s->ctx->values, s->slots, c->name, NAN);
    if (x >= 0 && isfinite(x))
      continue;
    if (isfinite(x))
      bs_error(s->ctx->diags, c->value->span, "bad-value",
               "'%s' is %g, but a cost cannot be below 0", c->name, x);
    else
      bs_error(s->ctx->diags, c->value->span, "bad-value",
               "'%s' has no finite value", c->name);
    bs_hint(s->ctx->diags, "tried with %s", gs_sizing_text(s));
    return false;
  }
  return true;
}

static bool
check_types(gs_sizing *s, const gs_target *target) {
  const gs_instr *instr = s->instr;
  gs_program *p = gs_program_new(s->ctx, NULL);
  gs_term *holes = BS_NEWS(s->ctx->arena, gs_term, instr->scope.vars.len + 1);
  gs_term *operands = BS_NEWS(s->ctx->arena, gs_term, instr->n_operands + 1);
  gs_sizing_declare(s, p, operands);
  for (uint32_t k = 0; k < instr->n_operands; k++)
    holes[instr->operands[k].slot] = operands[k];
  bool ok = check_semantics(s, p, operands);
  for (uint32_t k = 0; k < instr->n_operands; k++)
    ok &= check_layout(s, p, &instr->operands[k], holes);
  return ok && check_onto(s, target) && check_costs(s);
}

static bool
has_room(const gs_sizing *s, const gs_target *target, bool tell) {
  return target_check_room(tell ? s->ctx : NULL, target, s->instr, s->types,
                           &s->result);
}

/* Whether a call of some sizes fits into the memories; what is told, if none
 * does, is about the first ones. */
static bool
check_room(gs_sizing *s, const gs_target *target) {
  gs_sizing first;
  gs_sizing_init(&first, s->ctx, s->instr);
  for (uint32_t tries = 0; tries < MAX_TRIES; tries++) {
    if (gs_sizing_holds(s) && has_room(s, target, false))
      return true;
    if (!gs_sizing_advance(s))
      break;
  }
  return !find_sample(&first) || has_room(&first, target, true);
}

bool
target_check_instr(const gs_context *ctx, const gs_target *target,
                   gs_instr *instr) {
  assert(instr->semantics && instr->scope.vars.len <= GS_MAX_INSTR_VARS);
  gs_sizing s;
  gs_sizing_init(&s, ctx, instr);
  if (find_sample(&s))
    return check_types(&s, target) && check_room(&s, target);
  bs_warning(ctx->diags, instr->span, "untried",
             "no small sizes were found that '%s' admits; its semantics were "
             "not checked",
             instr->name);
  return true;
}
