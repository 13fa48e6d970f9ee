/* SPDX-License-Identifier: MIT */
/* accumulate.c - instructions that add what another one computes.
 *
 * One accumulates another where its semantics are (compute add (pair c X)) or
 * (compute add (pair X c)), X the semantics of the other one but for names, and
 * all declared shapes are the same.  It goes on with its own sums where c has
 * the type of its result: then the first call adds to an array that is given.
 * Skeletons are at most GS_MAX_NESTING deep, so walking them may recurse. */
#include "glenside/call/over.h"
#include <assert.h>
#include <string.h>

typedef struct pairing {
  const gs_instr *plain, *more;
  uint32_t *of;   /* by slot of `more`: 1 + the slot of `plain`, or 0 */
  uint8_t *taken; /* by slot of `plain` */
} pairing;

static bool
same_slot(const pairing *x, uint32_t plain, uint32_t more) {
  if (!x->of[more] && !x->taken[plain]) {
    x->of[more] = plain + 1;
    x->taken[plain] = 1;
  }
  return x->of[more] == plain + 1;
}

static bool
same_expr(const pairing *x, const gs_expr *a, const gs_expr *b) {
  if (!a || !b)
    return a == b;
  if (a->kind != b->kind)
    return false;
  if (a->kind == GS_X_LITERAL)
    return bs_same(a->literal, b->literal);
  if (a->kind == GS_X_VAR)
    return same_slot(x, a->slot, b->slot);
  if (a->function != b->function || a->n_args != b->n_args)
    return false;
  for (uint32_t k = 0; k < a->n_args; k++)
    if (!same_expr(x, a->args[k], b->args[k]))
      return false;
  return true;
}

static bool
same_node(const pairing *x, uint32_t plain, uint32_t more) {
  const gs_sk_node *a = &x->plain->semantics->nodes[plain];
  const gs_sk_node *b = &x->more->semantics->nodes[more];
  if (a->hole || b->hole)
    return a->hole && b->hole && same_slot(x, a->slot, b->slot);
  if (a->op != b->op || a->n_kids != b->n_kids || a->n_attrs != b->n_attrs)
    return false;
  for (uint32_t k = 0; k < a->n_attrs; k++)
    if (!same_expr(x, a->attrs[k], b->attrs[k]))
      return false;
  for (uint32_t k = 0; k < a->n_kids; k++)
    if (!same_node(x, a->kids[k], b->kids[k]))
      return false;
  return true;
}

static bool
same_operand(const pairing *x, const gs_operand *a, const gs_operand *b) {
  if (a->dtype != b->dtype || a->access != b->access || a->rank != b->rank)
    return false;
  for (uint32_t d = 0; d < a->rank; d++)
    if (!same_expr(x, a->dims[d], b->dims[d]))
      return false;
  return true;
}

/* The operand of a slot, or n_operands. */
static uint32_t
operand_of(const gs_instr *instr, uint32_t slot) {
  uint32_t k = 0;
  while (k < instr->n_operands && instr->operands[k].slot != slot)
    k++;
  return k;
}

static bool
same_declarations(const pairing *x, gs_accumulation *out) {
  const gs_instr *plain = x->plain, *more = x->more;
  for (uint32_t k = 0; k < more->n_operands; k++) {
    const gs_operand *o = &more->operands[k];
    uint32_t of = x->of[o->slot] ? operand_of(plain, x->of[o->slot] - 1) : 0;
    if (o->layout)
      return false;
    out->operand[k] = of;
    if (!same_operand(x, k == out->onto ? &plain->result : &plain->operands[of],
                      o))
      return false;
  }
  for (uint32_t k = 0; k < more->n_params; k++)
    if (!x->of[k] || x->of[k] - 1 >= plain->n_params)
      return false;
  return same_operand(x, &plain->result, &more->result);
}

/* The node of X, and the operand beside it. */
static bool
find_sum(const gs_instr *more, uint32_t side, uint32_t *x, uint32_t *onto) {
  const gs_skeleton *s = more->semantics;
  const gs_sk_node *root = &s->nodes[s->n - 1];
  if (root->hole || root->op != GS_COMPUTE ||
      root->attrs[0]->kind != GS_X_LITERAL)
    return false;
  const gs_sk_node *pair = &s->nodes[root->kids[0]];
  if (pair->hole || pair->op != GS_PAIR)
    return false;
  const gs_sk_node *c = &s->nodes[pair->kids[side]];
  *x = pair->kids[1 - side];
  *onto = c->hole ? operand_of(more, c->slot) : more->n_operands;
  return *onto < more->n_operands;
}

static bool
is_add(const bs_values *values, const gs_instr *more) {
  const gs_skeleton *s = more->semantics;
  gs_compute op;
  return gs_compute_of(values, s->nodes[s->n - 1].attrs[0]->literal, &op) &&
         op == GS_C_ADD;
}

/* Whether a node, or what it is made of, is the variable. */
static bool
mentions(const gs_skeleton *s, uint32_t at, uint32_t slot) {
  const gs_sk_node *n = &s->nodes[at];
  bool found = n->hole && n->slot == slot;
  for (uint32_t k = 0; k < n->n_kids && !n->hole && !found; k++)
    found = mentions(s, n->kids[k], slot);
  return found;
}

static bool
is_as_result(const gs_instr *instr, const gs_operand *c) {
  const gs_operand *r = &instr->result;
  bool same = !c->layout && c->dtype == r->dtype && c->access == r->access &&
              c->rank == r->rank;
  for (uint32_t d = 0; same && d < c->rank; d++)
    same = gs_expr_same(c->dims[d], r->dims[d]);
  return same;
}

static bool
accumulates_itself(const bs_values *values, const gs_instr *instr,
                   gs_accumulation *out) {
  *out = (gs_accumulation){.instr = instr};
  for (uint32_t k = 0; k < GS_MAX_INSTR_VARS; k++)
    out->operand[k] = out->slot[k] = k;
  for (; out->side < 2; out->side++)
    if (find_sum(instr, out->side, &out->added, &out->onto) &&
        is_add(values, instr) &&
        is_as_result(instr, &instr->operands[out->onto]) &&
        !mentions(instr->semantics, out->added,
                  instr->operands[out->onto].slot))
      return instr->n_operands > 1;
  return false;
}

bool
gs_accumulates(const bs_values *values, const gs_instr *plain,
               const gs_instr *more, gs_accumulation *out) {
  assert(plain->n_operands);
  uint32_t slots[GS_MAX_INSTR_VARS];
  uint8_t taken[GS_MAX_INSTR_VARS];
  if (plain == more)
    return accumulates_itself(values, plain, out);
  if (more->n_operands != plain->n_operands + 1 ||
      more->n_params != plain->n_params ||
      more->scope.vars.len > GS_MAX_INSTR_VARS ||
      plain->scope.vars.len > GS_MAX_INSTR_VARS)
    return false;
  for (uint32_t side = 0; side < 2; side++) {
    pairing x = {plain, more, slots, taken};
    memset(slots, 0, sizeof slots);
    memset(taken, 0, sizeof taken);
    *out = (gs_accumulation){.instr = more, .side = side};
    if (!find_sum(more, side, &out->added, &out->onto) ||
        !is_add(values, more) ||
        !same_node(&x, plain->semantics->n - 1, out->added) ||
        x.of[more->operands[out->onto].slot] || !same_declarations(&x, out))
      continue;
    for (uint32_t k = 0; k < more->scope.vars.len; k++)
      out->slot[k] = slots[k] ? slots[k] - 1 : UINT32_MAX;
    return true;
  }
  return false;
}

/* Parameters of the accumulating instruction from those of the call. */
static bs_value
attr_of(bs_values *values, const gs_accumulation *a, bs_value attr) {
  bs_value items[GS_MAX_INSTR_VARS + 1];
  items[0] = bs_sym(values, a->instr->name);
  for (uint32_t k = 0; k < a->instr->n_params; k++)
    items[k + 1] = bs_item(values, attr, a->slot[k] + 1);
  return bs_list(values, items, a->instr->n_params + 1);
}

static bool
no_accumulation(const gs_instr *instr, const gs_over *over, bs_value attr,
                const bs_values *values, gs_fault *fault) {
  return gs_fail(fault, "bad-over", -1, (int)bs_len(values, attr) - 1,
                 "'%.60s' does not add what %s computes to an operand of it",
                 over->into, instr->name);
}

/* Whether the operand that a sum begins with has one of its dimensions. */
static bool
sums_over_start(const gs_over *over, const gs_instr *instr,
                const gs_accumulation *a) {
  for (uint32_t d = 0; d < over->n && a->instr == instr; d++)
    if (over->sum[d] && over->has[d] >> a->onto & 1)
      return true;
  return false;
}

/* The call of one tile alone, of operands of these types. */
static bool
bind_tile(bs_values *values, const gs_instr *instr, bs_value attr,
          const gs_type *types, gs_type *result, gs_fault *fault) {
  uint32_t plain[GS_MAX_INSTR_VARS];
  bs_value bare[GS_MAX_INSTR_VARS + 1];
  const gs_type *at[33];
  for (uint32_t k = 0; k < instr->n_operands; k++)
    at[k] = &types[k];
  for (uint32_t k = 0; k <= instr->n_params; k++)
    bare[k] = bs_item(values, attr, k);
  bs_value own = bs_list(values, bare, instr->n_params + 1);
  return gs_instr_bind(values, instr, own, at, instr->n_operands, plain, result,
                       fault);
}

/* The call with `over` is of an instruction that goes on with sums, which do
 * not begin with an operand that a sum is over. */
static const gs_instr *
more_of(bs_values *values, const gs_target *target, const gs_instr *instr,
        const gs_over *over, bs_value attr, gs_accumulation *out,
        gs_fault *fault) {
  const gs_instr *more =
      target && over->into ? gs_find_instr(target, over->into) : NULL;
  if (!more || instr->n_operands > 32 ||
      !gs_accumulates(values, instr, more, out)) {
    no_accumulation(instr, over, attr, values, fault);
    return NULL;
  }
  if (!sums_over_start(over, instr, out))
    return more;
  gs_fail(fault, "bad-over", -1, (int)bs_len(values, attr) - 1,
          "sums begin with '%s', which has no dimension of a sum",
          instr->operands[out->onto].name);
  return NULL;
}

bool
gs_over_bind_into(bs_values *values, const gs_target *target,
                  const gs_instr *instr, bs_value attr,
                  const gs_type *const *kids, gs_accumulation *out,
                  uint32_t *slots, gs_fault *fault) {
  gs_over over;
  gs_type types[33], result;
  const gs_type *operands[33];
  if (!gs_over_read(values, instr, attr, &over, fault))
    return false;
  const gs_instr *more =
      more_of(values, target, instr, &over, attr, out, fault);
  for (uint32_t k = 0; more && k < instr->n_operands; k++)
    if (!gs_over_tile(&over, k, kids[k], &types[k], fault))
      return false;
  if (!more || !bind_tile(values, instr, attr, types, &result, fault))
    return false;
  for (uint32_t k = 0; k < more->n_operands; k++)
    operands[k] = k == out->onto ? &result : &types[out->operand[k]];
  return gs_instr_bind(values, more, attr_of(values, out, attr), operands,
                       more->n_operands, slots, &result, fault);
}
