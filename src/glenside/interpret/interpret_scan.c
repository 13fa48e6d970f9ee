/* SPDX-License-Identifier: MIT */
/* interpret_scan.c - a scan by its definition: the step, again and again. */
#include "glenside/interpret/interpret_state.h"
#include "glenside/program/scan.h"
#include <assert.h>
#include <string.h>

typedef struct scanning {
  in_state *s;
  const gs_program *step; /* as a program */
  gs_step shape;
  gs_tensor *params, *bounds; /* of one step */
  gs_tensor next, next_bound;
} scanning;

/* Item t of a sequence, where it lies. */
static gs_tensor
item_of(const gs_tensor *all, const gs_type *type, int64_t t) {
  gs_tensor out = {
      .dtype = all->dtype, .rank = type->rank, .elements = gs_elements(type)};
  memcpy(out.dim, type->dim, type->rank * sizeof *out.dim);
  if (all->data)
    out.data =
        (char *)all->data + t * out.elements * gs_dtype_table[all->dtype].bytes;
  return out;
}

/* The state before step t, which is the result of the one before. */
static void
bind_state(const scanning *x, uint32_t term, int64_t t) {
  const in_state *s = x->s;
  uint32_t init = gs_at(s->p, (gs_term){term})->kids[0].i;
  const gs_type *type = &s->types[init];
  x->params[0] = t ? item_of(&s->arrays[term], type, t - 1) : s->arrays[init];
  if (s->bounds)
    x->bounds[0] = t ? item_of(&s->bounds[term], type, t - 1) : s->bounds[init];
}

static void
bind_params(const scanning *x, uint32_t term, int64_t t) {
  const in_state *s = x->s;
  const gs_node *node = gs_at(s->p, (gs_term){term});
  bind_state(x, term, t);
  for (uint32_t k = 1; k < x->shape.n_params; k++) {
    uint32_t kid = node->kids[k].i;
    bool item = k <= x->shape.n_each;
    gs_type type;
    gs_step_param(&x->shape, k, &s->types[kid], &type);
    x->params[k] = item ? item_of(&s->arrays[kid], &type, t) : s->arrays[kid];
    if (s->bounds)
      x->bounds[k] = item ? item_of(&s->bounds[kid], &type, t) : s->bounds[kid];
  }
}

static void
take(const in_state *s, gs_tensor *from, gs_tensor *to, int64_t t) {
  size_t bytes = (size_t)from->elements * gs_dtype_table[from->dtype].bytes;
  if (from->data && to->data)
    memcpy((char *)to->data + (size_t)t * bytes, from->data, bytes);
  gs_tensor_done(s->run->ctx.heap, from);
}

static bool
run_step(scanning *x, uint32_t term, int64_t t) {
  in_state *s = x->s;
  bind_params(x, term, t);
  in_data data = {x->params, s->bounds ? x->bounds : NULL, &x->next,
                  s->bounds ? &x->next_bound : NULL};
  if (!in_run_program(s->run, x->step, &data))
    return false;
  take(s, &x->next, &s->arrays[term], t);
  if (s->bounds)
    take(s, &x->next_bound, &s->bounds[term], t);
  return true;
}

bool
in_scan(in_state *s, uint32_t term) {
  assert(gs_at(s->p, (gs_term){term})->op == GS_SCAN);
  gs_fault fault = {0};
  bs_heap *heap = s->run->ctx.heap;
  scanning x = {.s = s, .step = gs_step_program(s->p, (gs_term){term}, &fault)};
  if (!x.step)
    return bs_error(s->run->ctx.diags, gs_at(s->p, (gs_term){term})->span,
                    fault.code, "%s", fault.message);
  gs_step_read(s->run->ctx.values, gs_at(s->p, (gs_term){term})->attr,
               &x.shape);
  x.params = bs_alloc(heap, 2 * (size_t)x.shape.n_params * sizeof *x.params);
  x.bounds = x.params + x.shape.n_params;
  bool ok = true;
  for (int64_t t = 0; ok && t < s->types[term].dim[0]; t++)
    ok = run_step(&x, term, t);
  bs_free(heap, x.params);
  return ok;
}
