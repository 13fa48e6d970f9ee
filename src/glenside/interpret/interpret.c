/* SPDX-License-Identifier: MIT */
/* interpret.c - the reference interpreter: terms in order, one at a time.
 *
 * Each stored term is computed from the definition of its operator and rounded
 * to its dtype; see interpret_plan.c for what is stored, interpret_view.c for
 * how an element is found, interpret_compute.c for the arithmetic.  A call is
 * its declared meaning: the semantics, expanded over the operands into a
 * program of its own, interpreted the same way (semantics hold no calls, so
 * this goes one level down). */
#include "glenside/interpret/interpret_state.h"
#include <assert.h>
#include <string.h>

/* --- calls ---------------------------------------------------------------- */

static bool
is_call(const in_state *s, const in_call *c, const gs_node *node) {
  bool same = bs_same(c->attr, node->attr) && c->n == node->n_kids;
  for (uint32_t k = 0; same && k < c->n; k++)
    same = bs_same(c->types[k], gs_at(s->p, node->kids[k])->type);
  return same;
}

/* The operands as inputs of `q`, with the split that they had. */
static gs_term *
declare_operands(const in_state *s, const gs_node *node, const gs_instr *instr,
                 gs_program *q) {
  bs_values *values = s->run->ctx.values;
  gs_term *operands =
      BS_NEWS(s->run->ctx.arena, gs_term, (size_t)node->n_kids + 1);
  for (uint32_t k = 0; k < node->n_kids; k++) {
    gs_type whole = s->types[node->kids[k].i];
    bs_value split = bs_int(values, whole.access);
    gs_fault fault;
    whole.access = whole.rank;
    gs_term input =
        gs_add_tensor(q, instr->operands[k].name, &whole, BS_NOWHERE);
    operands[k] = gs_add(q, GS_ACCESS, bs_list(values, &split, 1), &input, 1,
                         BS_NOWHERE, &fault);
  }
  return operands;
}

static in_call *
expand_call(in_state *s, const gs_node *node) {
  gs_context *ctx = &s->run->ctx;
  const char *name =
      bs_as_sym(ctx->values, bs_item(ctx->values, node->attr, 0));
  const gs_instr *instr =
      s->p->target ? gs_find_instr(s->p->target, name) : NULL;
  in_call *c = BS_NEW(ctx->arena, in_call);
  bs_value *types = BS_NEWS(ctx->arena, bs_value, (size_t)node->n_kids + 1);
  gs_fault fault = {0};
  if (!instr) {
    bs_error(ctx->diags, node->span, "unknown-instruction",
             "the target declares no instruction '%s'", name);
    return NULL;
  }
  for (uint32_t k = 0; k < node->n_kids; k++)
    types[k] = gs_at(s->p, node->kids[k])->type;
  gs_program *q = gs_program_new(ctx, NULL);
  gs_term *operands = declare_operands(s, node, instr, q);
  gs_term root = gs_instr_expand(instr, q, node->attr, operands, &fault);
  if (!gs_term_ok(root)) {
    bs_error(ctx->diags, node->span, fault.code, "%s", fault.message);
    return NULL;
  }
  gs_add_output(q, "result", root, BS_NOWHERE);
  *c = (in_call){s->run->calls, node->attr, types, node->n_kids, q};
  return s->run->calls = c;
}

static void
own(in_state *s, uint32_t t, bool is) {
  s->run->bytes += in_bytes(s, t) * ((int)is - (int)s->owned[t]);
  s->owned[t] = is;
}

static bool
eval_call(in_state *s, uint32_t t) {
  assert(t < s->p->nodes.len);
  const gs_node *node = &s->p->nodes.data[t];
  in_call *c = s->run->calls;
  while (c && !is_call(s, c, node))
    c = c->next;
  if (!c)
    c = expand_call(s, node);
  if (!c)
    return false;
  gs_tensor *operands =
      bs_alloc(s->run->ctx.heap, 2 * (size_t)node->n_kids * sizeof *operands);
  gs_tensor *bounds = operands + node->n_kids;
  for (uint32_t k = 0; k < node->n_kids; k++) {
    operands[k] = s->arrays[node->kids[k].i];
    if (s->bounds)
      bounds[k] = s->bounds[node->kids[k].i];
  }
  in_data data = {operands, s->bounds ? bounds : NULL, &s->arrays[t],
                  s->bounds ? &s->bounds[t] : NULL};
  bool ok = in_run_program(s->run, c->meaning, &data);
  bs_free(s->run->ctx.heap, operands);
  own(s, t, ok);
  return ok;
}

/* --- terms ---------------------------------------------------------------- */

static void
store(gs_tensor *out, int64_t first, int64_t n, const double *values) {
  for (int64_t k = 0; k < n; k++)
    gs_tensor_set(out, first + k, values[k]);
}

static void
init_bounds(in_state *s, uint32_t t) {
  gs_type type = s->types[t];
  type.dtype = GS_F64;
  if (s->bounds)
    gs_tensor_init(s->run->ctx.heap, &s->bounds[t], &type);
}

/* The bounds of one item, `first` in the result. */
static void
bound_item(in_state *s, uint32_t t, const in_operator *o, const int64_t *index,
           int64_t first, const double *item, const double *result) {
  assert(t < s->p->nodes.len);
  const gs_node *node = &s->p->nodes.data[t];
  const gs_type *in = &s->types[node->kids[0].i], *type = &s->types[t];
  int64_t n_in = gs_prod(in->dim + in->access, in->rank - in->access);
  int64_t n = gs_prod(type->dim + type->access, type->rank - type->access);
  bs_heap *heap = s->run->ctx.heap;
  double *e = bs_calloc(heap, (size_t)n_in, sizeof *e);
  double *bound = bs_calloc(heap, (size_t)n_in, sizeof *bound);
  in_state of = in_state_of_bounds(s);
  in_load(&of, node->kids[0], index, e);
  in_bound(o, in, item, e, result, bound);
  store(&s->bounds[t], first, n, bound);
  bs_free(heap, bound);
  bs_free(heap, e);
}

/* Item by item over S. */
static void
eval_compute(in_state *s, uint32_t t) {
  const gs_node *node = &s->p->nodes.data[t];
  const bs_values *values = s->run->ctx.values;
  const gs_type *in = &s->types[node->kids[0].i], *type = &s->types[t];
  in_operator o = in_prepare(values, bs_item(values, node->attr, 0), in->dtype,
                             type->dtype);
  int64_t n_in = gs_prod(in->dim + in->access, in->rank - in->access);
  int64_t n = gs_prod(type->dim + type->access, type->rank - type->access);
  int64_t index[GS_MAX_RANK] = {0}, first = 0;
  bs_heap *heap = s->run->ctx.heap;
  double *item = bs_calloc(heap, (size_t)n_in, sizeof *item);
  double *result = bs_calloc(heap, (size_t)n, sizeof *result);
  do {
    in_load(s, node->kids[0], index, item);
    in_compute(&o, in, item, result);
    in_visit(s, n_in);
    store(&s->arrays[t], first, n, result);
    if (s->bounds)
      bound_item(s, t, &o, index, first, item, result);
    first += n;
  } while (in_advance(in, 0, in->access, index));
  bs_free(heap, result);
  bs_free(heap, item);
}

/* A view or a materialize, element by element. */
static void
eval_elements(in_state *s, uint32_t t) {
  const gs_node *node = &s->p->nodes.data[t];
  const gs_type *type = &s->types[t];
  gs_term from = node->op == GS_MATERIALIZE ? node->kids[0] : (gs_term){t};
  int64_t index[GS_MAX_RANK] = {0}, copy[GS_MAX_RANK], k = 0;
  in_state of = in_state_of_bounds(s);
  s->stored[t] = 0; /* read through it, not from it */
  do {
    memcpy(copy, index, type->rank * sizeof *copy);
    gs_tensor_set(&s->arrays[t], k, in_fetch(s, from, copy));
    memcpy(copy, index, type->rank * sizeof *copy);
    if (s->bounds)
      gs_tensor_set(&s->bounds[t], k, in_fetch(&of, from, copy));
    in_visit(s, 1);
    k++;
  } while (in_advance(type, 0, type->rank, index));
  s->stored[t] = 1;
}

static bool
eval_leaf(in_state *s, uint32_t t) {
  const gs_program *p = s->p;
  const bs_values *values = s->run->ctx.values;
  for (uint32_t k = 0; k < p->inputs.len; k++)
    if (p->inputs.data[k].term.i == t) {
      s->arrays[t] = s->inputs[k];
      if (s->input_bounds)
        s->bounds[t] = s->input_bounds[k];
    }
  if (s->arrays[t].data)
    return true;
  const gs_node *n = &p->nodes.data[t];
  const gs_constant *c = gs_constant_of(p, n->attr);
  if (!c)
    return bs_error(p->ctx.diags, n->span, "unknown-name",
                    "'%s' is neither an input nor a constant",
                    bs_as_sym(values, bs_item(values, n->attr, 0)));
  s->arrays[t] = gs_tensor_of(c);
  return true;
}

static bool
eval(in_state *s, uint32_t t) {
  gs_op op = s->p->nodes.data[t].op;
  if (op == GS_TENSOR || op == GS_CONST)
    return eval_leaf(s, t);
  if (op == GS_CALL)
    return eval_call(s, t);
  gs_tensor_init(s->run->ctx.heap, &s->arrays[t], &s->types[t]);
  init_bounds(s, t);
  own(s, t, true);
  if (op == GS_SCAN)
    return in_scan(s, t);
  if (op == GS_COMPUTE)
    eval_compute(s, t);
  else
    eval_elements(s, t);
  return true;
}

/* --- a program ------------------------------------------------------------ */

static void
drop(in_state *s, uint32_t t) {
  if (s->owned[t])
    gs_tensor_done(s->run->ctx.heap, &s->arrays[t]);
  if (s->owned[t] && s->bounds)
    gs_tensor_done(s->run->ctx.heap, &s->bounds[t]);
  own(s, t, false);
}

/* Frees what nobody reads after term t: children, and what stands behind
 * children that are not stored. */
static bool
eval_all(in_state *s) {
  uint32_t n = s->p->nodes.len;
  bs_heap *heap = s->run->ctx.heap;
  uint32_t *first = bs_calloc(heap, (size_t)n + 1, sizeof *first);
  uint32_t *next = bs_calloc(heap, (size_t)n + 1, sizeof *next);
  bool ok = true;
  for (uint32_t t = 0; t < n; t++) {
    uint32_t last = s->last_use[t];
    if (!s->stored[t] || last >= n)
      continue;
    next[t] = first[last];
    first[last] = t + 1;
  }
  for (uint32_t t = 0; ok && t < n; t++) {
    if (!s->live[t] || !s->stored[t])
      continue;
    ok = eval(s, t);
    for (uint32_t k = first[t]; k; k = next[k - 1])
      drop(s, k - 1);
  }
  bs_free(heap, next);
  bs_free(heap, first);
  return ok;
}

static void
copy(const in_state *s, const gs_tensor *from, const gs_type *type,
     gs_tensor *out) {
  gs_tensor_init(s->run->ctx.heap, out, type);
  if (from->data)
    memcpy(out->data, from->data,
           (size_t)from->elements * gs_dtype_table[from->dtype].bytes);
}

static void
copy_outputs(const in_state *s, const in_data *data) {
  for (uint32_t k = 0; k < s->p->outputs.len; k++) {
    uint32_t t = s->p->outputs.data[k].term.i;
    gs_type of_bounds = s->types[t];
    of_bounds.dtype = GS_F64;
    copy(s, &s->arrays[t], &s->types[t], &data->outputs[k]);
    if (data->bounds)
      copy(s, &s->bounds[t], &of_bounds, &data->bounds[k]);
  }
}

bool
in_run_program(in_run *run, const gs_program *p, const in_data *data) {
  bs_heap *heap = run->ctx.heap;
  size_t n = (size_t)p->nodes.len + 1;
  in_state s = {.run = run,
                .p = p,
                .inputs = data->inputs,
                .input_bounds = data->input_bounds,
                .types = bs_calloc(heap, n, sizeof *s.types),
                .live = bs_calloc(heap, n, 1),
                .stored = bs_calloc(heap, n, 1),
                .owned = bs_calloc(heap, n, 1),
                .last_use = bs_calloc(heap, n, sizeof *s.last_use),
                .arrays = bs_calloc(heap, n, sizeof *s.arrays)};
  if (data->bounds)
    s.bounds = bs_calloc(heap, n, sizeof *s.bounds);
  bool ok = in_plan(&s) && eval_all(&s);
  if (ok)
    copy_outputs(&s, data);
  for (uint32_t t = 0; t < p->nodes.len; t++)
    drop(&s, t);
  bs_free(heap, s.bounds);
  bs_free(heap, s.arrays);
  bs_free(heap, s.last_use);
  bs_free(heap, s.owned);
  bs_free(heap, s.stored);
  bs_free(heap, s.live);
  bs_free(heap, s.types);
  return ok;
}

static bool
check_input(const gs_program *p, uint32_t k, const gs_tensor *found) {
  assert(k < p->inputs.len);
  gs_type type;
  gs_type_at(p, p->inputs.data[k].term, &type);
  bool same = found->dtype == type.dtype && found->rank == type.rank &&
              !memcmp(found->dim, type.dim, type.rank * sizeof *type.dim);
  return same || bs_error(p->ctx.diags, p->inputs.data[k].span, "type-mismatch",
                          "the array given for '%s' has another type",
                          p->inputs.data[k].name);
}

bool
gs_interpret(const gs_program *p, const gs_tensor *inputs, gs_tensor *outputs) {
  return gs_interpret_bounded(p, inputs, outputs, NULL);
}

bool
gs_interpret_bounded(const gs_program *p, const gs_tensor *inputs,
                     gs_tensor *outputs, gs_tensor *bounds) {
  in_run run = {.ctx = p->ctx};
  in_data data = {inputs, NULL, outputs, bounds};
  for (uint32_t k = 0; k < p->inputs.len; k++)
    if (!check_input(p, k, &inputs[k]))
      return false;
  return in_run_program(&run, p, &data);
}
