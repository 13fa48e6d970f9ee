/* SPDX-License-Identifier: MIT */
/* layout.c - an operand seen through the layout its instruction declares.
 *
 * The layout is a view of the operand, so its view is made like any other: in
 * a program of its own, over a tensor that stands for the operand.  Its pieces
 * are then composed with those of the operand itself. */
#include "poly/lower/lower.h"
#include <assert.h>
#include <string.h>

typedef struct operand_facts {
  bs_values *values;
  const gs_type *const *kids;
} operand_facts;

/* An operand's slot holds its number. */
static bs_value
type_of_operand(void *facts, uint32_t k) {
  const operand_facts *f = facts;
  return gs_type_intern(f->values, f->kids[k]);
}

static bs_value
no_zeros(void *facts, uint32_t k) {
  (void)k;
  return bs_list(((const operand_facts *)facts)->values, NULL, 0);
}

/* The layout as a term over a tensor of the operand's type. */
static gs_term
build_layout(po_lowering *low, gs_program *program, const gs_instr *instr,
             uint32_t k, const gs_type *const *kids, const uint32_t *slots) {
  const gs_operand *operand = &instr->operands[k];
  uint32_t n = instr->scope.vars.len;
  gs_fault fault = {0};
  gs_term *holes = bs_calloc(low->heap, n + 1, sizeof *holes);
  operand_facts facts = {low->source->ctx.values, kids};
  gs_env env = {.values = facts.values,
                .slots = slots,
                .n_slots = n,
                .facts = &facts,
                .type_of = type_of_operand,
                .zeros_of = no_zeros};
  holes[operand->slot] = gs_add_tensor(program, "operand", kids[k], BS_NOWHERE);
  gs_term root =
      gs_skeleton_build(operand->layout, program, &env, holes, &fault);
  bs_free(low->heap, holes);
  if (!gs_term_ok(root)) {
    low->failed = true;
    bs_error(low->source->ctx.diags, operand->span, fault.code, "%s",
             fault.message);
  }
  return root;
}

static void
make_views(po_lowering *low, const gs_program *program, gs_term root) {
  uint8_t *live = bs_calloc(low->heap, program->nodes.len, 1);
  memset(live, 1, program->nodes.len);
  po_views_done(&low->layout);
  po_views_init(&low->layout, program, low->isl, low->heap, live);
  for (uint32_t i = 0; i <= root.i; i++)
    po_view_make(&low->layout, (gs_term){i});
  bs_free(low->heap, live);
}

po_reads
po_reads_laid_out(po_lowering *low, const po_view *view, const gs_instr *instr,
                  uint32_t k, const gs_type *const *kids,
                  const uint32_t *slots) {
  assert(k < instr->n_operands && instr->operands[k].layout);
  gs_program *program = gs_program_new(&low->source->ctx, low->source->target);
  gs_term root = build_layout(low, program, instr, k, kids, slots);
  if (!gs_term_ok(root))
    return po_reads_all(low, view, kids[k]);
  make_views(low, program, root);
  gs_type type;
  gs_type_at(program, root, &type);
  po_reads reads = {.dtype = type.dtype, .rank = type.rank};
  memcpy(reads.dim, type.dim, sizeof reads.dim);
  const po_view *shape = &low->layout.of[root.i];
  for (uint32_t j = 0; j < shape->pieces.len; j++)
    po_reads_through(low, view, kids[k], &shape->pieces.data[j], &reads);
  return reads;
}
