/* SPDX-License-Identifier: MIT */
/* sample_call.c - calls of instructions, and named inputs, in a pattern.
 *
 * The parameters and sizes of an instruction are chosen in the order of its
 * operands; a size that is an expression follows from those before. */
#include "rules/sample/sample.h"
#include "glenside/target/target.h"
#include <assert.h>
#include <string.h>

typedef struct call {
  rl_sampler *s;
  const eg_term_node *node;
  const gs_instr *instr;
  uint32_t slots[GS_MAX_INSTR_VARS];
} call;

static bool
instr_of(rl_sampler *s, const eg_term_node *n, const gs_instr **out) {
  const bs_values *values = s->ctx.values;
  bs_value name = BS_NIL;
  if (n->attr.kind == EG_ATTR_VALUE)
    name = bs_item(values, n->attr.value, 0);
  else if (n->attr.kind == EG_ATTR_LIST && n->attr.n)
    name = n->attr.items[0].value;
  *out = s->target && bs_kind_of(values, name) == BS_KIND_SYM
             ? gs_find_instr(s->target, bs_as_sym(values, name))
             : NULL;
  return *out && (*out)->scope.vars.len <= GS_MAX_INSTR_VARS;
}

/* What the pattern says of parameter k, or a small number. */
static bs_value
parameter(const call *c, uint32_t k) {
  const eg_attr_pattern *a = &c->node->attr;
  rl_sampler *s = c->s;
  if (a->kind == EG_ATTR_VALUE)
    return bs_item(s->ctx.values, a->value, k + 1);
  if (a->kind == EG_ATTR_LIST && k + 1 < a->n) {
    const eg_attr_pattern *p = &a->items[k + 1];
    if (p->kind == EG_ATTR_VALUE)
      return p->value;
    if (p->kind == EG_ATTR_SLOT && s->slots[p->slot] != UINT32_MAX)
      return (bs_value){s->slots[p->slot]};
  }
  return bs_int(s->ctx.values, 1 + (int64_t)rl_draw(s, 4));
}

static bool
bind_attr(const call *c) {
  const eg_attr_pattern *a = &c->node->attr;
  for (uint32_t k = 0; a->kind == EG_ATTR_LIST && k + 1 < a->n; k++) {
    const eg_attr_pattern *p = &a->items[k + 1];
    if (p->kind == EG_ATTR_SLOT)
      c->s->slots[p->slot] = c->slots[k];
  }
  return a->kind == EG_ATTR_VALUE || a->kind == EG_ATTR_LIST;
}

static bool
size_of(call *c, const gs_expr *e, int64_t *out) {
  bs_values *values = c->s->ctx.values;
  gs_env env = {
      .values = values, .slots = c->slots, .n_slots = c->instr->scope.vars.len};
  bs_value v;
  if (e->kind == GS_X_VAR && !c->slots[e->slot])
    c->slots[e->slot] = bs_int(values, rl_draw_dim(c->s)).i;
  if (!gs_expr_eval(e, &env, &v) || bs_kind_of(values, v) != BS_KIND_INT)
    return false;
  *out = bs_as_int(values, v);
  return *out >= 1;
}

static bool
operand_type(call *c, const gs_operand *o, gs_type *out) {
  *out = (gs_type){.dtype = o->dtype, .access = o->access, .rank = o->rank};
  for (uint32_t d = 0; d < o->rank; d++)
    if (!size_of(c, o->dims[d], &out->dim[d]))
      return false;
  return true;
}

/* Sizes that a bound operand gives. */
static void
bind_sizes(call *c, const gs_operand *o, gs_term t) {
  gs_type type;
  gs_type_at(c->s->p, t, &type);
  for (uint32_t d = 0; d < o->rank && d < type.rank; d++)
    if (o->dims[d]->kind == GS_X_VAR && !c->slots[o->dims[d]->slot])
      c->slots[o->dims[d]->slot] = bs_int(c->s->ctx.values, type.dim[d]).i;
}

gs_term
rl_sample_call(rl_sampler *s, const eg_term *part, uint32_t node,
               const gs_type *goal) {
  assert(node < part->n);
  call c = {.s = s, .node = &part->nodes[node]};
  bs_value items[GS_MAX_INSTR_VARS + 1];
  gs_term kids[GS_MAX_INSTR_VARS];
  gs_type type;
  gs_fault fault;
  if (!instr_of(s, c.node, &c.instr) || c.node->n_kids != c.instr->n_operands)
    return GS_NO_TERM;
  items[0] = bs_sym(s->ctx.values, c.instr->name);
  for (uint32_t k = 0; k < c.instr->n_params; k++) {
    items[k + 1] = parameter(&c, k);
    c.slots[k] = items[k + 1].i;
  }
  for (uint32_t k = 0; k < c.node->n_kids; k++) {
    const eg_term_node *n = &part->nodes[c.node->kids[k]];
    if (n->is_slot && s->slots[n->slot] != UINT32_MAX)
      bind_sizes(&c, &c.instr->operands[k], (gs_term){s->slots[n->slot]});
  }
  for (uint32_t k = 0; k < c.node->n_kids; k++) {
    if (!operand_type(&c, &c.instr->operands[k], &type))
      return GS_NO_TERM;
    kids[k] = rl_grow(s, part, c.node->kids[k], &type);
    if (!gs_term_ok(kids[k]))
      return GS_NO_TERM;
  }
  gs_term t = gs_add(s->p, GS_CALL,
                     bs_list(s->ctx.values, items, c.instr->n_params + 1), kids,
                     c.node->n_kids, BS_NOWHERE, &fault);
  if (!gs_term_ok(t) || !bind_attr(&c))
    return GS_NO_TERM;
  gs_type_at(s->p, t, &type);
  return goal && !gs_type_equal(goal, &type) ? GS_NO_TERM : t;
}

/* (tensor NAME SHAPE DTYPE), (const NAME SHAPE DTYPE) in a pattern */
gs_term
rl_sample_input(rl_sampler *s, const eg_term_node *n, const gs_type *goal) {
  rl_attr a;
  gs_type type;
  bs_value attr;
  if (n->op != GS_TENSOR && n->op != GS_CONST)
    return GS_NO_TERM;
  rl_attr_open(s, n, &a);
  if (goal)
    type = *goal;
  else
    rl_draw_type(s, s->dtype, &type);
  rl_attr_set(&a, 0,
              bs_sym(s->ctx.values,
                     bs_arena_printf(s->ctx.arena, "t%u", s->n_tensors++)));
  rl_attr_set_ints(&a, 1, type.dim, type.rank);
  rl_attr_set(&a, 2, bs_sym(s->ctx.values, gs_dtype_table[type.dtype].name));
  if (!rl_attr_close(&a, &attr) ||
      !gs_dtype_find(bs_as_sym(s->ctx.values, a.item[2]), &type.dtype))
    return GS_NO_TERM;
  type.rank = type.access = (uint8_t)rl_attr_ints(&a, 1, type.dim);
  const char *name = bs_as_sym(s->ctx.values, a.item[0]);
  if (n->op == GS_TENSOR)
    return gs_add_tensor(s->p, name, &type, BS_NOWHERE);
  void *data = bs_arena_calloc(s->ctx.arena, (size_t)gs_elements(&type) + 1,
                               gs_dtype_table[type.dtype].bytes);
  return gs_add_constant(s->p, name, &type, data, BS_NOWHERE);
}
