/* SPDX-License-Identifier: MIT */
/* cost.c - the price of an e-node in cycles of one core of a target.
 *
 * A price looks at one operator, its attribute and the types around it, never
 * at the terms below, so it is a property of the e-node.  Formulas and reasons
 * are in docs/COST.md.  Every price is finite and >= 0 and grows with the
 * sizes; +inf is kept for what the target cannot run. */
#include "glenside/target/tuned.h"
#include "glenside/target/machine.h"
#include "extract/cost.h"
#include "extract/internal.h"
#include "glenside/call/over.h"
#include "glenside/program/scan.h"
#include <assert.h>
#include <stdlib.h>

double
ex_cost_total(const ex_cost *c) {
  return c->arithmetic + c->memory + c->call + c->view;
}

/* What it comes to for each call where it is paid once. */
static ex_cost
cost_once(ex_cost c) {
  return (ex_cost){c.arithmetic * EX_ONCE, c.memory * EX_ONCE, c.call * EX_ONCE,
                   c.view * EX_ONCE};
}

static double
at_least(double x, double floor) {
  return x > floor ? x : floor;
}

/* Cycles to move `bytes` when `live` bytes compete for the caches. */
static double
traffic(const gs_target *t, double bytes, double live) {
  return bytes / gs_bytes_a_cycle(t, live);
}

static double
size_of(const gs_type *t) {
  return (double)gs_elements(t) * gs_dtype_table[t->dtype].bytes;
}

double
ex_work_items(gs_compute_kind kind, const gs_type *in, const gs_type *out) {
  assert(gs_is_type(in) && gs_is_type(out));
  double n_in = (double)gs_elements(in), n_out = (double)gs_elements(out);
  switch (kind) {
  case GS_FOLD:
    return at_least(n_in - n_out, 0);
  case GS_SELECT:
  case GS_GATHER:
  case GS_LOOKUP:
    return n_out;
  case GS_REDUCE:
  case GS_DOT:
  case GS_ELEMENTWISE:
  case GS_CAST:
  case GS_SOFTMAX:
  default:
    return n_in;
  }
}

/* An operand of a contraction is reused from registers. */
static double
reuse(const gs_target *t) {
  return at_least(sqrt((double)gs_vector_registers(t)), 1);
}

/* What a reduction leaves, in a program that waits for memory. In one that does
 * not, loops are tiled so that it is made for the tile that is to use it: it is
 * written to the second cache and read back from there. */
static double
handed_on(const gs_target *t, ex_limit limit, double bytes) {
  if (limit == EX_BY_MEMORY || !t->caches.len)
    return traffic(t, bytes, INFINITY);
  return traffic(t, 2 * bytes, (double)gs_core_bytes(t));
}

static double
compute_traffic(const gs_target *t, ex_limit limit, gs_compute_kind kind,
                const gs_type *in, const gs_type *out) {
  double read = size_of(in), written = size_of(out);
  switch (kind) {
  case GS_DOT:
    return traffic(t, read / reuse(t), 0) + handed_on(t, limit, written);
  case GS_REDUCE:
    return traffic(t, read, 0) + handed_on(t, limit, written);
  case GS_SOFTMAX:
    return traffic(t, 3 * read + written, read + written);
  case GS_GATHER:
  case GS_LOOKUP:
    return traffic(t, 2 * written, read + written);
  case GS_FOLD:
  case GS_ELEMENTWISE:
  case GS_CAST:
  case GS_SELECT:
  default:
    return traffic(t, read + written, read + written);
  }
}

static void
price_compute(const gs_target *t, ex_limit limit, const bs_values *values,
              bs_value attr, const gs_type *in, const gs_type *type,
              ex_cost *out) {
  gs_compute op;
  if (bs_len(values, attr) == 0 ||
      !gs_compute_of(values, bs_item(values, attr, 0), &op)) {
    out->arithmetic = INFINITY;
    return;
  }
  gs_compute_kind kind = gs_compute_table[op].kind;
  const gs_compute_info *w = &gs_compute_table[op];
  out->arithmetic = w->work * ex_work_items(kind, in, type) /
                    gs_operations_a_cycle(t, w->rate, in->dtype);
  out->memory = compute_traffic(t, limit, kind, in, type);
}

typedef struct called {
  const gs_target *t;
  bs_values *values;
  bs_value attr;
  const gs_type *const *kids;
  uint32_t n_kids;
  const gs_instr *instr;
  uint32_t slots[EX_MAX_SLOTS];
  gs_over over;
  double moved; /* bytes of the operands and the result of one call */
} called;

static bool
bind_call(called *c, const gs_type *type) {
  gs_type whole, tile;
  gs_fault fault;
  if (!c->instr || c->instr->scope.vars.len > EX_MAX_SLOTS ||
      !gs_instr_bind(c->values, c->instr, c->attr, c->kids, c->n_kids, c->slots,
                     &whole, &fault) ||
      !gs_over_read(c->values, c->instr, c->attr, &c->over, &fault))
    return false;
  c->moved = size_of(type) / gs_over_sums(&c->over);
  for (uint32_t k = 0; k < c->n_kids; k++)
    if (gs_over_tile(&c->over, k, c->kids[k], &tile, &fault))
      c->moved += size_of(&tile);
  return true;
}

/* What the declaration says; without `cycles`, the traffic of its operands. */
static void
price_calls(const called *c, const gs_instr *instr, const uint32_t *slots,
            double calls, ex_cost *out) {
  double bytes = gs_instr_cost(instr, c->values, slots, "bytes", 0);
  double cycles = gs_instr_cost(instr, c->values, slots, "cycles",
                                traffic(c->t, c->moved, c->moved));
  out->call += calls * at_least(cycles, 0);
  out->memory += calls * traffic(c->t, at_least(bytes, 0), c->moved);
}

/* The host adds what further calls of a sum leave in a tile to the result. */
static void
price_sums(const called *c, const gs_type *type, double further, ex_cost *out) {
  double elements = (double)gs_elements(type), added = elements * further;
  double tile = size_of(type) / gs_over_sums(&c->over);
  out->arithmetic +=
      added / gs_operations_a_cycle(c->t, GS_RATE_VECTOR, type->dtype);
  out->memory +=
      traffic(c->t, 3 * added * gs_dtype_table[type->dtype].bytes, 3 * tile);
}

static void
price_call(const gs_target *t, bs_values *values, bs_value attr,
           const gs_type *const *kids, uint32_t n_kids, const gs_type *type,
           ex_cost *out) {
  const char *name = bs_as_sym(values, bs_item(values, attr, 0));
  called c = {.t = t,
              .values = values,
              .attr = attr,
              .kids = kids,
              .n_kids = n_kids,
              .instr = gs_find_instr(t, name)};
  gs_accumulation into;
  gs_fault fault;
  uint32_t slots[GS_MAX_INSTR_VARS];
  if (!bind_call(&c, type)) {
    out->call = INFINITY;
    return;
  }
  double calls = gs_over_calls(&c.over), first = gs_over_sums(&c.over);
  if (calls == first || !c.over.into) {
    price_calls(&c, c.instr, c.slots, calls, out);
    if (calls > first)
      price_sums(&c, type, calls / first - 1, out);
    return;
  }
  price_calls(&c, c.instr, c.slots, first, out);
  if (gs_over_bind_into(values, t, c.instr, attr, kids, &into, slots, &fault))
    price_calls(&c, into.instr, slots, calls - first, out);
  else
    out->call = INFINITY;
}

/* Beside a unit with memories of its own the host copies element by element, as
 * the simulator counts it. */
static void
price_copy(const gs_target *t, const gs_type *type, ex_cost *out) {
  out->memory = traffic(t, 2 * size_of(type), 2 * size_of(type));
  if (t->memories.len)
    out->arithmetic = (double)gs_elements(type) /
                      gs_operations_a_cycle(t, GS_RATE_SCALAR, type->dtype);
}

/* So many times what a step computes. */
static void
price_scan(const gs_target *t, ex_limit limit, bs_values *values, bs_value attr,
           const gs_type *const *kids, const gs_type *type, ex_cost *out) {
  bs_value types[GS_MAX_STEP];
  gs_step step;
  gs_step_node node;
  gs_type operand, made;
  double times = (double)type->dim[0];
  if (!gs_step_read(values, attr, &step) ||
      !gs_step_types(values, attr, &step, kids, types, NULL))
    return;
  for (uint32_t k = 0; k < step.n_nodes; k++) {
    ex_cost one = {0};
    if (!gs_step_node_at(values, attr, &step, k, &node) ||
        node.op != GS_COMPUTE)
      continue;
    gs_type_read(values, types[node.kids[0]], &operand);
    gs_type_read(values, types[step.n_params + k], &made);
    price_compute(t, limit, values, node.attr, &operand, &made, &one);
    out->arithmetic += times * one.arithmetic;
    out->memory += times * one.memory;
  }
}

void
ex_price_node(const gs_target *t, ex_limit limit, bs_values *values, gs_op op,
              bs_value attr, const gs_type *const *kids, uint32_t n_kids,
              const gs_type *type, ex_cost *out) {
  assert(op < GS_OP_COUNT && (kids || !n_kids));
  *out = (ex_cost){0};
  if (op == GS_COMPUTE)
    price_compute(t, limit, values, attr, kids[0], type, out);
  else if (op == GS_MATERIALIZE)
    price_copy(t, type, out);
  else if (op == GS_CALL)
    price_call(t, values, attr, kids, n_kids, type, out);
  else if (op == GS_SCAN)
    price_scan(t, limit, values, attr, kids, type, out);
  else
    out->view = gs_op_table[op].price;
}

void
ex_price_resident(const gs_target *t, const bs_values *values, gs_op op,
                  bs_value attr, double kept, ex_cost *out) {
  assert(op < GS_OP_COUNT);
  gs_compute compute;
  if (op != GS_COMPUTE ||
      !gs_compute_of(values, bs_item(values, attr, 0), &compute) ||
      gs_compute_table[compute].kind != GS_DOT || !isfinite(kept))
    return;
  bool far = kept >= (double)gs_far_bytes(t);
  double read = traffic(t, kept, far ? INFINITY : kept);
  out->memory = at_least(out->memory, read - out->arithmetic);
}

static int
dearer_first(const void *a, const void *b) {
  const ex_line *x = a, *y = b;
  double cx = ex_cost_total(&x->cost), cy = ex_cost_total(&y->cost);
  if (cx != cy)
    return cx > cy ? -1 : 1;
  return (x->term.i > y->term.i) - (x->term.i < y->term.i);
}

static void
price_term(const gs_program *p, const gs_target *t, ex_limit limit,
           gs_term term, gs_type *kid_types, const gs_type **kids,
           ex_cost *out) {
  const gs_node *node = gs_at(p, term);
  gs_type type;
  gs_type_at(p, term, &type);
  for (uint32_t k = 0; k < node->n_kids; k++) {
    gs_type_at(p, node->kids[k], &kid_types[k]);
    kids[k] = &kid_types[k];
  }
  ex_price_node(t, limit, p->ctx.values, node->op, node->attr, kids,
                node->n_kids, &type, out);
}

uint32_t
ex_breakdown(const gs_program *p, const gs_target *t, ex_limit limit,
             const ex_names *prepacked, ex_line *lines, double *total) {
  bs_heap *heap = p->ctx.heap;
  const ex_names none = {0};
  uint8_t *once = ex_once_terms(heap, p, prepacked ? prepacked : &none);
  uint32_t n = 0, widest = 1;
  double *kept = ex_resident_terms(heap, p, once);
  uint8_t *live = EX_NEW(heap, uint8_t, p->nodes.len);
  gs_mark_live(p, live);
  for (uint32_t i = 0; i < p->nodes.len; i++)
    if (p->nodes.data[i].n_kids > widest)
      widest = p->nodes.data[i].n_kids;
  gs_type *types = EX_NEW(heap, gs_type, widest);
  const gs_type **kids = EX_NEW(heap, const gs_type *, widest);
  *total = 0;
  for (uint32_t i = 0; i < p->nodes.len; i++)
    if (live[i]) {
      lines[n].term = (gs_term){i};
      price_term(p, t, limit, lines[n].term, types, kids, &lines[n].cost);
      if (once && once[i])
        lines[n].cost = cost_once(lines[n].cost);
      else if (kept && p->nodes.data[i].n_kids == 1)
        ex_price_resident(t, p->ctx.values, p->nodes.data[i].op,
                          p->nodes.data[i].attr,
                          kept[p->nodes.data[i].kids[0].i], &lines[n].cost);
      *total += ex_cost_total(&lines[n++].cost);
    }
  qsort(lines, n, sizeof *lines, dearer_first);
  bs_free(heap, kids);
  bs_free(heap, types);
  bs_free(heap, live);
  bs_free(heap, kept);
  bs_free(heap, once);
  return n;
}

/* Cycles that a term takes when all that it reads is at hand. */
static double
work_of(const gs_program *p, const gs_target *t, const ex_line *line) {
  const gs_node *node = gs_at(p, line->term);
  double work = line->cost.arithmetic + line->cost.call;
  gs_compute op;
  gs_type in;
  if (node->op != GS_COMPUTE ||
      !gs_compute_of(p->ctx.values, bs_item(p->ctx.values, node->attr, 0), &op))
    return work;
  gs_type_at(p, node->kids[0], &in);
  if (gs_compute_table[op].kind == GS_REDUCE)
    work += traffic(t, size_of(&in), 0);
  if (gs_compute_table[op].kind == GS_DOT)
    work += traffic(t, size_of(&in) / reuse(t), 0);
  return work;
}

/* Work that is hidden while memory is waited for, of that time: rates are
 * peaks, and a loop that reads memory is followed by others that do not.  Less
 * is where an array more is written over what was read of it last
 * (poly/search/auto_in_place.c). */
static double
hidden(const gs_target *t) {
  return gs_stores_through_caches(t) ? GS_HIDDEN_IN_PLACE : GS_HIDDEN;
}

ex_limit
ex_limit_of(const gs_program *p, const gs_target *t) {
  double total, work = 0, moved = 0;
  gs_type type;
  ex_line *lines = EX_NEW(p->ctx.heap, ex_line, p->nodes.len + (size_t)1);
  uint32_t n = ex_breakdown(p, t, EX_BY_MEMORY, NULL, lines, &total);
  for (uint32_t k = 0; k < n; k++) {
    work += work_of(p, t, &lines[k]);
    gs_type_at(p, lines[k].term, &type);
    if (gs_at(p, lines[k].term)->op == GS_TENSOR)
      moved += size_of(&type);
  }
  for (uint32_t k = 0; k < p->outputs.len; k++) {
    gs_type_at(p, p->outputs.data[k].term, &type);
    moved += size_of(&type);
  }
  bs_free(p->ctx.heap, lines);
  return work > hidden(t) * traffic(t, moved, INFINITY) ? EX_BY_WORK
                                                        : EX_BY_MEMORY;
}
