/* SPDX-License-Identifier: MIT */
/* build.c - the program of a plan, and the data it runs on. */
#include "tests/property/programs/plan.h"
#include <string.h>

/* ---- programs and data ---- */

static uint64_t
bits_of(const plan *p, uint32_t k, int64_t i) {
  return random_of(p->seed * 77 + k * 1000003 + (uint64_t)i * 31);
}

/* Quarters within +-32 are exact in every float dtype; integers use all of
 * their range in every other input. */
static void
fill(const plan *p, uint32_t k, gs_tensor *t) {
  bool wild = bits_of(p, k, -1) & 1;
  for (int64_t i = 0; i < t->elements; i++) {
    uint64_t bits = bits_of(p, k, i);
    double small = (double)(bits >> 8 & 255) - 128;
    if (is_float(t->dtype))
      gs_tensor_set(t, i, wild ? small / 4 : small / 128);
    else if (wild)
      gs_tensor_set(t, i, (double)(int32_t)bits);
    else
      gs_tensor_set(t, i, (double)(bits >> 8 & 15) - 4);
  }
}

static const char *
input_name(const plan *p, uint32_t k) {
  static const char *const odd[] = {
      "int", "x-y",  "acc0", "a.b", "M_PI", "expf", "t1",   "class",
      "M",   "SIZE", "FP",   "omp", "glen", "NULL", "main", "restrict"};
  uint64_t bits = bits_of(p, k, -2);
  static const char *const joints[] = {"", "-", "_", "."};
  if (bits % 4)
    return bs_arena_printf(&arena, "in%u", k);
  if (!k)
    return odd[bits / 4 % 16];
  return bs_arena_printf(&arena, "%s%s%u", odd[bits / 4 % 16],
                         joints[bits / 64 % 4], k);
}

static gs_term
add_constant(const plan *p, uint32_t k, gs_program *program) {
  gs_tensor t;
  gs_tensor_init(&heap, &t, &p->steps[k].type);
  fill(p, k, &t);
  gs_term term = gs_add_constant(program, bs_arena_printf(&arena, "const%u", k),
                                 &p->steps[k].type, t.data, BS_NOWHERE);
  gs_tensor_done(&heap, &t);
  return term;
}

/* all: every step but inputs is an output. */
gs_program *
build(const plan *p, bool all) {
  gs_program *program = gs_program_new(&ctx, targets[p->machine]);
  gs_term terms[MAX_STEPS], kids[3];
  bool live[MAX_STEPS] = {false};
  gs_fault fault = {0};
  for (uint32_t k = 0; k < p->n_outputs; k++)
    live[p->outputs[k]] = true;
  for (uint32_t k = p->n; k-- > 0;)
    for (uint32_t j = 0; live[k] && j < p->steps[k].n_kids; j++)
      live[p->steps[k].kids[j]] = true;
  for (uint32_t k = 0; k < p->n; k++) {
    const step *s = &p->steps[k];
    if (!live[k])
      continue;
    for (uint32_t j = 0; j < s->n_kids; j++)
      kids[j] = terms[s->kids[j]];
    if (s->op == GS_CONST)
      terms[k] = add_constant(p, k, program);
    else if (s->op == GS_TENSOR)
      terms[k] = gs_add_tensor(program, input_name(p, k), &s->type, BS_NOWHERE);
    else
      terms[k] =
          gs_add(program, s->op, s->attr, kids, s->n_kids, BS_NOWHERE, &fault);
    if (all && s->op != GS_TENSOR && s->op != GS_CONST)
      gs_add_output(program, bs_arena_printf(&arena, "s%u", k), terms[k],
                    BS_NOWHERE);
  }
  for (uint32_t k = 0; !all && k < p->n_outputs; k++)
    gs_add_output(program, bs_arena_printf(&arena, "out%u", k),
                  terms[p->outputs[k]], BS_NOWHERE);
  return program;
}

gs_tensor *
inputs_of(const plan *p, const gs_program *program) {
  gs_tensor *in = BS_NEWS(&arena, gs_tensor, program->inputs.len + 1);
  uint32_t next = 0;
  bool live[MAX_STEPS] = {false};
  for (uint32_t k = 0; k < p->n_outputs; k++)
    live[p->outputs[k]] = true;
  for (uint32_t k = p->n; k-- > 0;)
    for (uint32_t j = 0; live[k] && j < p->steps[k].n_kids; j++)
      live[p->steps[k].kids[j]] = true;
  for (uint32_t k = 0; k < p->n; k++)
    if (live[k] && p->steps[k].op == GS_TENSOR) {
      gs_tensor_init(&heap, &in[next], &p->steps[k].type);
      fill(p, k, &in[next++]);
    }
  return in;
}
