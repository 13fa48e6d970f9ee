/* SPDX-License-Identifier: MIT */
/* profile.c - what a profiled build says of the steps that it times. */
#include "codegen/file/codegen_file.h"
#include "codegen/unit/unit_profile.h"
#include "poly/kernel/contraction.h"
#include "poly/loops/nest.h"
#include <assert.h>
#include <string.h>

/* Of one instance: the operators of its body, and the fold. */
static uint32_t
operators_of(const po_stmt *s) {
  uint32_t n = s->kind == PO_UPDATE;
  for (uint32_t k = 0; k < s->n_exprs; k++)
    n += s->exprs[k].kind == PO_UNARY || s->exprs[k].kind == PO_BINARY ||
         s->exprs[k].kind == PO_SELECT;
  return n;
}

static double
operations_of(const cg_emitter *e, const po_group *group) {
  double sum = 0;
  for (uint32_t k = 0; k < group->n; k++) {
    uint32_t stmt = e->groups.stmts.data[group->first + k];
    const po_stmt *s = &e->p->stmts.data[stmt];
    int64_t n = s->kind == PO_CALL ? -1 : po_count_instances(e->p, stmt);
    if (n < 0)
      return -1;
    sum += (double)n * operators_of(s);
  }
  return sum;
}

static double
bytes_of(const cg_emitter *e, uint32_t group) {
  assert(group < e->groups.list.len);
  const cg_use *use = &e->uses[group];
  const po_stmt *call = cg_stmt(e, &e->groups.list.data[group], 0);
  double sum = 0;
  for (uint32_t k = 0; k < use->n_slots; k++)
    sum += (double)po_bytes(&e->p->arrays.data[use->slots[k].array]);
  for (uint32_t k = 0; call->instr && k <= call->instr->n_operands; k++)
    sum += (double)po_bytes(&e->p->arrays.data[call->operands[k].array]);
  return sum;
}

static const char *
name_of(const cg_emitter *e, uint32_t group) {
  const cg_use *use = &e->uses[group];
  return use->kernel == UINT32_MAX
             ? cg_stmt(e, &e->groups.list.data[group], 0)->instr->name
             : e->kernels.data[use->kernel].name;
}

cg_node *
cg_make_note(cg_emitter *e, int64_t step) {
  assert(step >= -1);
  const char *name = bs_arena_printf(&e->arena, "%s_profile", e->options->name);
  const cg_expr *number = cg_number(&e->arena, step);
  return cg_make_do(&e->arena, cg_called(&e->arena, name, 1, &number));
}

cg_node *
cg_make_note_of_step(cg_emitter *e, uint32_t k) {
  assert(k < e->groups.list.len);
  cg_profile *profile = e->options->profile;
  const po_group *group = &e->groups.list.data[k];
  const char *layer = cg_layer_of(e, group);
  cg_step step = {.layer = layer ? layer : "",
                  .kernel = name_of(e, k),
                  .kind = e->uses[k].kernel == UINT32_MAX ? "call"
                          : po_contraction_of(e->p, &e->groups, group)
                              ? "contraction"
                              : "loops",
                  .operations = operations_of(e, group),
                  .bytes = bytes_of(e, k)};
  bs_arena *arena = e->p->ctx.arena;
  step.layer = bs_arena_strdup(arena, step.layer);
  step.kernel = bs_arena_strdup(arena, step.kernel);
  bs_push(e->p->ctx.heap, &profile->steps, step);
  return cg_make_note(e, profile->steps.len - 1);
}
