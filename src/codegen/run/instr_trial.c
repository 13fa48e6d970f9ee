/* SPDX-License-Identifier: MIT */
/* instr_trial.c - one call of an instruction, as a program.
 *
 * Operands are dense, parts of larger tensors, or transposed; the result is an
 * output, a part of one, or transposed.  What a template cannot take so is
 * packed by lowering, as in any program.  Values are whole numbers that keep
 * sums exact, edges of the dtype, and of floats NaN and infinities; where the
 * semantics give NaN the template may give anything, since that is not
 * specified but under --strict-fp. */
#include "codegen/run/instr_trial.h"
#include "glenside/interpret/interpret.h"
#include "glenside/text/text_print.h"
#include "poly/kernel/contraction.h"
#include "poly/loops/storage.h"
#include "base/random.h"
#include <assert.h>
#include <math.h>

/* ---- programs ---- */

typedef struct maker {
  const gs_sizing *s;
  gs_program *p;
  const gs_mac *mac;
  uint32_t way;
} maker;

static gs_term
node(maker *m, gs_op op, const bs_value *items, uint32_t n, gs_term a,
     gs_term b) {
  gs_term kids[2] = {a, b};
  gs_fault fault = {0};
  if (!gs_term_ok(a) || (gs_op_table[op].kids == 2 && !gs_term_ok(b)))
    return GS_NO_TERM;
  return gs_add(m->p, op, bs_list(m->p->ctx.values, items, n), kids,
                (uint32_t)gs_op_table[op].kids, BS_NOWHERE, &fault);
}

static bs_value
number(const maker *m, int64_t v) {
  return bs_int(m->p->ctx.values, v);
}

static gs_term
split(maker *m, gs_term t, uint32_t at) {
  bs_value item = number(m, at);
  return node(m, GS_ACCESS, &item, 1, t, GS_NO_TERM);
}

static gs_term
reversed(maker *m, gs_term t, uint32_t rank) {
  bs_value order[GS_MAX_RANK], item;
  for (uint32_t d = 0; d < rank; d++)
    order[d] = number(m, rank - 1 - d);
  item = bs_list(m->p->ctx.values, order, rank);
  return node(m, GS_TRANSPOSE, &item, 1, t, GS_NO_TERM);
}

/* One element before and two after, in each dimension. */
static gs_term
part(maker *m, const char *name, gs_type type) {
  gs_type whole = type;
  for (uint32_t d = 0; d < type.rank; d++)
    whole.dim[d] += 3;
  gs_term t = gs_add_tensor(m->p, name, &whole, BS_NOWHERE);
  for (uint32_t d = 0; d < type.rank; d++) {
    bs_value items[3] = {number(m, d), number(m, 1),
                         number(m, 1 + type.dim[d])};
    t = node(m, GS_SLICE, items, 3, t, GS_NO_TERM);
  }
  return t;
}

static gs_term
transposed(maker *m, const char *name, gs_type type) {
  gs_type other = type;
  for (uint32_t d = 0; d < type.rank; d++)
    other.dim[d] = type.dim[type.rank - 1 - d];
  return reversed(m, gs_add_tensor(m->p, name, &other, BS_NOWHERE), type.rank);
}

enum { DENSE, PART, TRANSPOSED, WAYS };

/* The second call has operands of its own. */
static gs_term
operand(maker *m, uint32_t k, bool second) {
  const char *own = m->s->instr->operands[k].name;
  const char *name =
      second ? bs_arena_printf(m->p->ctx.arena, "%s.", own) : own;
  gs_type flat = m->s->types[k];
  uint32_t way = m->way >= CG_TRIAL_WAYS ? DENSE
                 : m->way < WAYS         ? m->way
                                         : (m->way + k) % WAYS;
  flat.access = flat.rank;
  gs_term t = way == PART ? part(m, name, flat)
              : way == TRANSPOSED
                  ? transposed(m, name, flat)
                  : gs_add_tensor(m->p, name, &flat, BS_NOWHERE);
  return split(m, t, m->s->types[k].access);
}

/* In front of, or behind, other elements along the first or last dimension. */
static gs_term
beside(maker *m, gs_term t, bool last) {
  gs_type type = m->s->result;
  bs_value axis = number(m, last ? type.rank - 1 : 0);
  type.access = type.rank;
  gs_term other = gs_add_tensor(m->p, "beside.", &type, BS_NOWHERE);
  return last ? node(m, GS_CONCAT, &axis, 1, t, other)
              : node(m, GS_CONCAT, &axis, 1, other, t);
}

static gs_term
result(maker *m, gs_term call) {
  uint32_t rank = m->s->result.rank, way = m->way % CG_TRIAL_WAYS;
  if (!rank || way == DENSE)
    return call;
  gs_term t = split(m, call, rank);
  return way == TRANSPOSED ? reversed(m, t, rank) : beside(m, t, way == PART);
}

static gs_term
call(maker *m, bool second) {
  const gs_instr *instr = m->s->instr;
  gs_fault fault = {0};
  gs_term *kids = BS_NEWS(m->p->ctx.arena, gs_term, instr->n_operands + 1);
  for (uint32_t k = 0; k < instr->n_operands; k++) {
    kids[k] = operand(m, k, second);
    if (!gs_term_ok(kids[k]))
      return GS_NO_TERM;
  }
  if (m->mac)
    return gs_instr_expand(instr, m->p, m->s->attr, kids, &fault);
  return gs_add(m->p, GS_CALL, m->s->attr, kids, instr->n_operands, BS_NOWHERE,
                &fault);
}

/* Two calls, whose results are one array. */
static gs_term
pair_of_calls(maker *m, gs_term first) {
  uint32_t rank = m->s->result.rank;
  bs_value axis = number(m, 0);
  gs_term second = call(m, true);
  if (!rank || !gs_term_ok(second))
    return first;
  return node(m, GS_CONCAT, &axis, 1, split(m, first, rank),
              split(m, second, rank));
}

static void
make_arrays(cg_trial *t) {
  bs_arena *arena = t->p->ctx.arena;
  t->inputs = BS_NEWS(arena, gs_tensor, t->p->inputs.len + (size_t)1);
  t->expected = BS_NEWS(arena, gs_tensor, 1);
  t->bounds = BS_NEWS(arena, gs_tensor, 1);
  t->found = BS_NEWS(arena, gs_tensor, 1);
  for (uint32_t k = 0; k < t->p->inputs.len; k++) {
    gs_type type;
    gs_type_at(t->p, t->p->inputs.data[k].term, &type);
    gs_tensor_init(t->p->ctx.heap, &t->inputs[k], &type);
    t->cost += t->inputs[k].elements;
  }
}

/* Sums run as a kernel, however few they are, and on the instruction. */
static bool
runs_on(po_program *p, const gs_mac *mac) {
  static const po_contract_choice any = {.x_mode = PO_ANY_MODE,
                                         .y_mode = PO_ANY_MODE};
  for (uint32_t k = 0; k < p->stmts.len; k++)
    if (p->stmts.data[k].kind == PO_UPDATE)
      p->stmts.data[k].contract = &any;
  po_lay_out(p);
  return p->contractions.len && p->contractions.data[0]->mac.mac == mac;
}

bool
cg_trial_make(const gs_context *ctx, const gs_target *target,
              const gs_sizing *s, const gs_mac *mac, uint32_t way,
              cg_trial *out) {
  maker m = {.s = s, .p = gs_program_new(ctx, target), .mac = mac, .way = way};
  po_options options = {0};
  *out = (cg_trial){.p = m.p, .sizes = gs_sizing_text(s), .way = way};
  bool pair = way >= CG_TRIAL_WAYS;
  gs_term t = call(&m, false);
  if (gs_term_ok(t))
    t = pair ? pair_of_calls(&m, t) : result(&m, t);
  if (!gs_term_ok(t))
    return false;
  gs_add_output(m.p, "result", t, BS_NOWHERE);
  out->loops = po_lower(m.p, target, &options);
  if (!out->loops || (mac && !runs_on(out->loops, mac)))
    return false;
  if (pair)
    cg_trial_beside(out->loops, s->instr, way > CG_TRIAL_WAYS);
  make_arrays(out);
  return true;
}

void
cg_trial_drop_found(cg_trial *t) {
  gs_tensor_done(t->p->ctx.heap, t->found);
}

void
cg_trial_done(cg_trial *t) {
  if (t->loops)
    po_free(t->loops);
  t->loops = NULL;
}

/* ---- values ---- */

static double
edge(gs_dtype d, uint64_t bits) {
  static const double floats[] = {0, -0.0, 1, -1, 0.5, -300, 300, 1e-3};
  if (!gs_dtype_table[d].integer)
    return floats[bits % 8];
  double lo = (double)gs_dtype_least(d), hi = (double)gs_dtype_most(d);
  const double whole[] = {lo, hi, 0, 1, lo + 1, hi - 1, hi / 2, 2};
  return floor(whole[bits % 8]);
}

static double
special(uint64_t bits) {
  static const double values[] = {NAN, INFINITY, -INFINITY, -0.0};
  return values[bits % 4];
}

enum { SMALL, EDGES, RANGE, SPECIAL, KINDS };

static double
value(gs_dtype d, uint32_t kind, uint64_t bits) {
  assert(d < GS_DTYPE_COUNT);
  bool whole = gs_dtype_table[d].integer;
  if (kind == EDGES || (kind == SPECIAL && whole && bits % 2))
    return edge(d, bits >> 8);
  if (kind == RANGE || (kind == SPECIAL && whole))
    return whole ? (double)gs_any_whole(d, bits >> 8)
                 : ((double)(bits % 4096) - 2048) / 64;
  if (kind == SPECIAL && bits % 8 == 0)
    return special(bits >> 8);
  return gs_is_unsigned(d) ? (double)(bits % 8) : (double)(bits % 9) - 4;
}

bool
cg_trial_expect(cg_trial *t) {
  gs_tensor_done(t->p->ctx.heap, t->expected);
  gs_tensor_done(t->p->ctx.heap, t->bounds);
  return gs_interpret_bounded(t->p, t->inputs, t->expected, t->bounds);
}

bool
cg_trial_fill(cg_trial *t, uint32_t kind, uint64_t seed) {
  uint64_t at = bs_random_of(seed * 31 + kind);
  t->kind = kind;
  for (uint32_t k = 0; k < t->p->inputs.len; k++)
    for (int64_t i = 0; i < t->inputs[k].elements; i++)
      gs_tensor_set(
          &t->inputs[k], i,
          value(t->inputs[k].dtype, kind % KINDS, bs_random_of(++at) >> 16));
  return cg_trial_expect(t);
}

/* ---- comparing ---- */

/* Twice the bound: both sides round. */
static bool
differs(gs_dtype d, double expected, double found, double bound) {
  if (isnan(expected) || expected == found)
    return false;
  if (gs_dtype_table[d].integer || !isfinite(expected) || isnan(found))
    return true;
  return !(fabs(expected - found) <= 2 * bound) && !isnan(bound);
}

int64_t
cg_trial_difference(const cg_trial *t) {
  assert(t->expected->elements == t->found->elements &&
         t->expected->dtype == t->found->dtype);
  for (int64_t i = 0; i < t->expected->elements; i++)
    if (differs(t->expected->dtype, gs_tensor_get(t->expected, i),
                gs_tensor_get(t->found, i), gs_tensor_get(t->bounds, i)))
      return i;
  return -1;
}
