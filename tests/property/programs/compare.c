/* SPDX-License-Identifier: MIT */
/* compare.c - whether outputs of generated code are those of the interpreter.
 *
 * Integers must agree exactly.  For floats the tolerance is relative to the
 * largest value anywhere in the program. */
#include "tests/property/programs/plan.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void
show_faults(void) {
  bs_text out;
  bs_text_init(&out, &heap);
  for (uint32_t k = 0; k < diags.list.len; k++)
    bs_render(&diags, &diags.list.data[k], false, &out);
  fputs(bs_text_str(&out), stderr);
  bs_text_done(&out);
  bs_clear(&diags.list);
  diags.errors = 0;
}

/* The largest finite value of a float array; NaN when there is a NaN. */
static double
largest(const gs_tensor *t) {
  double most = 0;
  for (int64_t i = 0; is_float(t->dtype) && i < t->elements; i++) {
    double x = fabs(gs_tensor_get(t, i));
    if (isnan(x) || (isfinite(x) && x > most))
      most = x;
  }
  return most;
}

/* Some of the factors of a product may pass the largest float though the
 * product is zero: the interpreter, that computes with doubles, tells nothing
 * then. */
static bool
may_overflow(const plan *p, const step *s, const double *most) {
  bool all = bs_same(s->attr, attr1(word("reduceProd")));
  bool some = bs_same(s->attr, attr1(word("dotProd")));
  if (s->op != GS_COMPUTE || !(all || some) || !is_float(s->type.dtype))
    return false;
  const gs_type *t = &p->steps[s->kids[0]].type;
  double factors = 1;
  for (uint32_t d = t->access; d < (all ? t->rank : t->access + 1u); d++)
    factors *= (double)t->dim[d];
  double digits = s->type.dtype == GS_F16 ? 15 : 126;
  return factors * log2(fmax(most[s->kids[0]], 1)) > digits;
}

/* The largest finite value of any float in the program; NaN when there is a
 * NaN anywhere; infinity when nothing can be told. */
static double
magnitude(const plan *p) {
  gs_program *program = build(p, true);
  gs_tensor *in = inputs_of(p, program);
  gs_tensor *out = BS_NEWS(&arena, gs_tensor, program->outputs.len + 1);
  double most = 32, of[MAX_STEPS];
  bool overflow = false;
  if (!program->outputs.len || !gs_interpret(program, in, out))
    return most;
  for (uint32_t k = 0; k < p->n; k++)
    of[k] = most;
  for (uint32_t k = 0; k < program->outputs.len; k++) {
    uint32_t at = (uint32_t)atoi(program->outputs.data[k].name + 1);
    of[at] = largest(&out[k]);
    overflow |= may_overflow(p, &p->steps[at], of);
    if (isnan(of[at]) || of[at] > most)
      most = of[at];
    gs_tensor_done(&heap, &out[k]);
  }
  for (uint32_t k = 0; k < program->inputs.len; k++)
    gs_tensor_done(&heap, &in[k]);
  return overflow ? INFINITY : most;
}

static double
tolerance(const plan *p) {
  double worst = 1e-9;
  for (uint32_t k = 0; k < p->n; k++) {
    if (p->steps[k].type.dtype == GS_F32 && worst < 1e-4)
      worst = 1e-4;
    if (gs_is_half(p->steps[k].type.dtype))
      worst = 0.05;
  }
  return worst;
}

bool
agree(const plan *p, const gs_program *program, const gs_tensor *expected,
      const gs_tensor *found, bool show) {
  double most = magnitude(p);
  /* Comparisons with NaN are unspecified, and so is what follows. */
  if (isinf(most) || (isnan(most) && !p->strict_fp))
    return true;
  double rel = tolerance(p);
  double abs = rel * (isnan(most) ? 1e3 : most);
  for (uint32_t k = 0; k < program->outputs.len; k++) {
    gs_difference d;
    if (gs_tensor_compare(&expected[k], &found[k], rel, abs, &d))
      continue;
    if (show)
      fprintf(stderr, "output %u: %lld differ, the first at %lld: %g, not %g\n",
              k, (long long)d.count, (long long)d.first, d.b, d.a);
    return false;
  }
  return true;
}
