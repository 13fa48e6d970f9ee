/* SPDX-License-Identifier: MIT */
/* shrink.c - a smaller plan that fails as well. */
#include "tests/property/programs/plan.h"
#include <string.h>

static bool
drop_output(plan *p, uint32_t k) {
  if (p->n_outputs < 2 || k >= p->n_outputs)
    return false;
  memmove(&p->outputs[k], &p->outputs[k + 1],
          (p->n_outputs - k - 1) * sizeof *p->outputs);
  p->n_outputs--;
  return true;
}

static bool
lower_output(plan *p, uint32_t k) {
  const step *s = &p->steps[p->outputs[k]];
  if (!s->n_kids)
    return false;
  p->outputs[k] = s->kids[s->n_kids - 1];
  return true;
}

/* The step becomes an input (where it has no compute side). */
static bool
make_input(plan *p, uint32_t k) {
  step *s = &p->steps[k];
  if (!s->n_kids || s->type.access != s->type.rank)
    return false;
  s->op = GS_TENSOR;
  s->n_kids = 0;
  return true;
}

static bool
drop_schedule(plan *p) {
  if (!p->way)
    return false;
  p->way = 0;
  return true;
}

static bool
shrink_once(plan *p, bool (*passes)(const plan *, bool)) {
  plan unscheduled = *p;
  if (drop_schedule(&unscheduled) && !passes(&unscheduled, false)) {
    *p = unscheduled;
    return true;
  }
  for (uint32_t k = 0; k < 2 * MAX_OUTPUTS + MAX_STEPS; k++) {
    plan smaller = *p;
    bool made = k < MAX_OUTPUTS ? drop_output(&smaller, k)
                : k < 2 * MAX_OUTPUTS
                    ? k - MAX_OUTPUTS < p->n_outputs &&
                          lower_output(&smaller, k - MAX_OUTPUTS)
                    : k - 2 * MAX_OUTPUTS < p->n &&
                          make_input(&smaller, k - 2 * MAX_OUTPUTS);
    if (made && !passes(&smaller, false)) {
      *p = smaller;
      return true;
    }
  }
  return false;
}

void
shrink(plan *p, bool (*passes)(const plan *, bool show), int times) {
  for (int k = 0; k < times && shrink_once(p, passes); k++)
    continue;
}
