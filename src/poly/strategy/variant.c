/* SPDX-License-Identifier: MIT */
/* variant.c - what is done to the innermost loops of a strategy.
 *
 * Every variant is a sequence of primitives tried nest by nest; a refusal
 * leaves that nest as it was.  Sums of products, which run by a kernel of their
 * own, stay as they are but in the variants that order loops or write them
 * out: those run them as loops. */
#include "glenside/target/tuned.h"
#include "glenside/target/machine.h"
#include "poly/implgraph/hint.h"
#include "poly/loops/limit.h"
#include "poly/search/chooser.h"
#include "poly/strategy/strategy.h"
#include <assert.h>
#include <string.h>

const char *const po_variant_names[PO_VARIANTS] = {
    "", "vectors", "wide", "written", "contiguous", "registers", "axes"};

/* Of isl, for one variant. */
static const unsigned long MOST_OPERATIONS = 100000000;

static int64_t
lanes_of(const po_program *p, uint32_t stmt) {
  assert(stmt < p->stmts.len);
  const gs_target *t = p->target;
  int64_t bytes =
      gs_dtype_table[p->arrays.data[p->stmts.data[stmt].array].dtype].bytes;
  int64_t lanes = gs_vector_lanes(t, bytes);
  return lanes > 64 ? 64 : lanes;
}

static po_arg
loops_arg(const uint32_t *nodes, uint32_t n) {
  return (po_arg){.kind = PO_ARG_LOOPS, .nodes = nodes, .n = n};
}

static po_arg
ints_arg(const int64_t *numbers, uint32_t n) {
  return (po_arg){.kind = PO_ARG_INTS, .numbers = numbers, .n = n};
}

static bool
mark(po_chooser *c, const char *how, uint32_t loop) {
  po_step_call call = po_step(how);
  call.args[0] = po_loop_arg(loop);
  return po_attempt(c, &call, NULL);
}

static bool
vectorize(po_chooser *c, uint32_t loop, int64_t lanes) {
  po_step_call call = po_step("vectorize");
  call.args[0] = po_loop_arg(loop);
  call.args[1] = (po_arg){.kind = PO_ARG_INT, .number = lanes};
  return po_attempt(c, &call, NULL);
}

/* ---- innermost loops ---- */

/* The loop right around a statement where it is one that may still get a
 * mark, and has at least `least` iterations; PO_NO_NODE. */
static uint32_t
innermost(const po_program *p, uint32_t stmt, int64_t least) {
  assert(stmt < p->stmts.len);
  uint32_t loop = po_node(p, p->stmts.data[stmt].leaf)->parent;
  int64_t min, count;
  if (loop == 0 || loop == PO_NO_NODE || po_node(p, loop)->mark != PO_SERIAL ||
      !po_constant_range(p, loop, &min, &count) || count < least)
    return PO_NO_NODE;
  return loop;
}

static void
write_out(po_chooser *c, uint32_t stmt) {
  uint32_t loop = innermost(po_now(c), stmt, 2 * GS_PART_UNROLL);
  int64_t factors[2] = {-1, GS_PART_UNROLL};
  po_step_call call = po_step("split");
  if (loop == PO_NO_NODE)
    return;
  call.args[0] = po_loop_arg(loop);
  call.args[1] = ints_arg(factors, 2);
  if (po_attempt(c, &call, NULL) && call.n_made == 2)
    mark(c, "unroll", call.made[1]);
}

static void
finish_innermost(po_chooser *c, uint32_t stmt, po_variant variant) {
  int64_t lanes = lanes_of(po_now(c), stmt);
  if (variant == PO_WRITTEN) {
    write_out(c, stmt);
    return;
  }
  lanes *= variant == PO_WIDE && lanes <= 32 ? 2 : 1;
  uint32_t loop = innermost(po_now(c), stmt, lanes);
  if (loop != PO_NO_NODE && lanes > 1)
    vectorize(c, loop, lanes);
}

/* ---- order ---- */

/* The loop around a statement along which most of its arrays are contiguous
 * and none is strided; by its place on the way down, `n` where there is none.
 */
static uint32_t
contiguous_loop(const po_hint *h, const po_graph_node *node,
                const uint32_t *loops, uint32_t n) {
  uint32_t best = n, best_count = 0;
  for (uint32_t at = 0; at < n; at++) {
    uint32_t axis = h->axis_of.data[loops[at]], count = 0;
    bool strided = false;
    for (uint32_t k = 0; k < node->tensors.len; k++)
      for (uint32_t d = 0; d < node->tensors.data[k].view.len; d++) {
        const po_dim *dim = &node->tensors.data[k].view.data[d];
        if (dim->axis != axis || dim->repeat < 2)
          continue;
        count += dim->stride == 1;
        strided |= dim->stride != 1;
      }
    if (!strided && count && count >= best_count) {
      best = at;
      best_count = count;
    }
  }
  return best;
}

/* What to bring inside, of every statement of the program: the loops around it
 * and the place of the one to go innermost. */
typedef struct wish {
  uint32_t stmt;
  const char *name; /* of the loop */
} wish;

typedef BS_VEC(wish) wishes;

static void
find_wishes(po_program *p, wishes *out) {
  po_hints hints;
  po_make_hints(p, &hints);
  for (uint32_t k = 0; k < hints.list.len; k++) {
    const po_hint *h = hints.list.data[k];
    for (uint32_t i = 0; i < h->graph.nodes.len; i++) {
      uint32_t stmt = 0, loops[PO_MAX_DEPTH], n;
      while (stmt < p->stmts.len &&
             strcmp(p->stmts.data[stmt].name, h->graph.nodes.data[i].name) != 0)
        stmt++;
      if (stmt == p->stmts.len || p->stmts.data[stmt].kind == PO_CALL)
        continue;
      n = po_nest_loops(p, p->stmts.data[stmt].leaf, loops);
      uint32_t at = contiguous_loop(h, &h->graph.nodes.data[i], loops, n);
      if (at < n)
        bs_push(p->ctx.heap, out,
                (wish){stmt, bs_arena_strdup(&p->arena,
                                             po_node(p, loops[at])->name)});
    }
  }
  po_hints_done(p, &hints);
}

/* The loops from the named one inwards; their number. */
static uint32_t
loops_from(const po_program *p, uint32_t stmt, const char *name,
           uint32_t *loops) {
  uint32_t way[PO_MAX_DEPTH],
      n = po_nest_loops(p, p->stmts.data[stmt].leaf, way), at = 0;
  while (at < n && strcmp(po_node(p, way[at])->name, name) != 0)
    at++;
  memcpy(loops, way + at, (n - at) * sizeof *loops);
  return n - at;
}

/* Locals that the statement makes get a place for each iteration of the loop,
 * so that the loop may go inside what they wait for. */
static void
widen_locals(po_chooser *c, const wish *w) {
  uint32_t loop = po_nest_find(po_now(c), w->name);
  uint32_t array = po_now(c)->stmts.data[w->stmt].array;
  int64_t min, count;
  if (loop == PO_NO_NODE || po_now(c)->arrays.data[array].role != PO_LOCAL ||
      !po_constant_range(po_now(c), loop, &min, &count))
    return;
  po_step_call call = po_step("double_buffer");
  call.args[0] = (po_arg){.kind = PO_ARG_ARRAY, .array = array};
  call.args[1] = po_loop_arg(loop);
  call.args[2] = (po_arg){.kind = PO_ARG_INT, .number = count};
  po_attempt(c, &call, NULL);
}

static bool
rotate(po_chooser *c, const wish *w) {
  uint32_t loops[PO_MAX_DEPTH];
  uint32_t n = loops_from(po_now(c), w->stmt, w->name, loops);
  if (n < 2)
    return n == 1;
  uint32_t first = loops[0];
  memmove(loops, loops + 1, (n - 1) * sizeof *loops);
  loops[n - 1] = first;
  po_step_call call = po_step("reorder");
  call.args[0] = loops_arg(loops, n);
  return po_attempt(c, &call, NULL);
}

static bool
bring_inside(po_chooser *c, const wish *w) {
  if (rotate(c, w))
    return true;
  widen_locals(c, w);
  return rotate(c, w);
}

/* Rows and vectors of a reduction's result inside the loops that it is summed
 * over, so that the tile may stay in registers. */
static void
tile_registers(po_chooser *c, const wish *w) {
  uint32_t way[PO_MAX_DEPTH], order[PO_MAX_DEPTH], m = 0;
  const po_program *p = po_now(c);
  uint32_t n = po_nest_loops(p, p->stmts.data[w->stmt].leaf, way);
  int64_t sizes[2] = {GS_REGISTER_ROWS, 2 * lanes_of(p, w->stmt)}, min, count;
  if (p->stmts.data[w->stmt].kind != PO_UPDATE || n < 3 ||
      !po_constant_range(p, way[n - 1], &min, &count) || count < sizes[1] ||
      !po_constant_range(p, way[0], &min, &count) || count < 2 * sizes[0])
    return;
  uint32_t pair[2] = {way[0], way[n - 1]};
  if (po_node(p, way[0])->mark != PO_SERIAL && !mark(c, "serial", way[0]))
    return;
  po_step_call call = po_step("tile");
  call.args[0] = loops_arg(pair, 2);
  call.args[1] = ints_arg(sizes, 2);
  if (!po_attempt(c, &call, NULL) || call.n_made != 4)
    return;
  order[m++] = call.made[0];
  order[m++] = call.made[1];
  for (uint32_t k = 1; k + 1 < n; k++)
    order[m++] = way[k];
  uint32_t row = call.made[2], vector = call.made[3];
  order[m++] = row;
  order[m++] = vector;
  const char *names[3] = {po_node(po_now(c), order[0])->name,
                          po_node(po_now(c), row)->name,
                          po_node(po_now(c), vector)->name};
  for (uint32_t k = 0; k < 3; k++)
    names[k] = bs_arena_strdup(po_now(c)->ctx.arena, names[k]);
  call = po_step("reorder");
  call.args[0] = loops_arg(order, m);
  if (!po_attempt(c, &call, NULL))
    return;
  mark(c, "unroll", po_nest_find(po_now(c), names[1]));
  vectorize(c, po_nest_find(po_now(c), names[2]), lanes_of(po_now(c), w->stmt));
  mark(c, "parallel", po_nest_find(po_now(c), names[0]));
}

static void
order_loops(po_chooser *c, po_variant variant) {
  wishes list = {0};
  bs_heap *heap = po_now(c)->ctx.heap;
  find_wishes(po_now(c), &list);
  for (uint32_t k = 0; k < list.len && !c->stopped; k++) {
    list.data[k].name =
        bs_arena_strdup(po_now(c)->ctx.arena, list.data[k].name);
  }
  for (uint32_t k = 0; k < list.len && !c->stopped; k++) {
    if (!bring_inside(c, &list.data[k]))
      continue;
    if (variant == PO_JAMMED)
      tile_registers(c, &list.data[k]);
  }
  bs_vec_done(heap, &list);
}

void
po_apply_variant(po_program **program, po_variant variant) {
  assert(variant < PO_VARIANTS);
  static const po_auto_options none;
  po_chooser c = {.program = program, .options = &none, .isl = (*program)->isl};
  if (variant == PO_AS_IT_IS)
    return;
  po_bind_isl(c.isl, (*program)->ctx.heap, po_bound(*program, MOST_OPERATIONS));
  po_lay_out(po_now(&c));
  if (variant == PO_CONTIGUOUS || variant == PO_JAMMED)
    order_loops(&c, variant);
  else if (variant == PO_AXES)
    po_apply_axes(&c);
  po_lay_out(po_now(&c));
  for (uint32_t k = 0;
       variant != PO_AXES && k < po_now(&c)->stmts.len && !c.stopped; k++)
    if (variant == PO_WRITTEN ||
        po_may_change(po_now(&c), po_root_of(po_now(&c), k)))
      finish_innermost(&c, k, variant);
  po_bind_isl(c.isl, (*program)->ctx.heap, 0);
  isl_ctx_reset_error(c.isl);
  po_lay_out(po_now(&c));
}
