/* SPDX-License-Identifier: MIT */
/* implgraph_solve.c - sizes for every tiling case, and the choice among cases.
 *
 * Tile sizes tried are an axis' size halved again and again, and what gives
 * each core one or two parts; with them the case is done to a copy of the
 * graph.  It is feasible when its buffers fit one core's.  Its cost is the time
 * of the slower of two, memory traffic and the operations of one core, and that
 * of the calls of one core, whose start nothing hides.  A quarter of the cores
 * is taken to be needed to use up the memory's rate.  The cheapest feasible
 * sizes stand for the case; where none fits, those that come nearest.
 *
 * Among cases the highest score with a feasible one wins, then the least cost,
 * then the most cores, then the first.  A result costs the sum of its
 * groups. */
#include "glenside/target/machine.h"
#include "poly/implgraph/buffers.h"
#include <assert.h>

#include "glenside/target/tuned.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { MAX_CASES = 256, MAX_SIZES = 16, EVEN_SIZES = 2 };

po_graph_machine
po_machine_of(const gs_target *target) {
  po_graph_machine m = {.cores = gs_cores(target),
                        .buffer_bytes = gs_core_bytes(target),
                        .align = gs_vector_bytes(target),
                        .bytes_per_cycle = gs_bytes_a_cycle(target, INFINITY),
                        .operations_per_cycle = gs_operations_a_cycle(
                            target, GS_RATE_FUSED, GS_F32),
                        .call_cycles = GS_CALL_START};
  return m;
}

double
po_memory_rate(const po_graph_machine *m, double cores) {
  assert(cores > 0);
  return m->bytes_per_cycle * gs_share_of_memory(cores, (double)m->cores);
}

/* ---- what a graph costs ---- */

/* The axis, or what was made of it, is among the node's. */
static bool
is_of_node(const po_graph *g, const po_graph_node *n, uint32_t axis) {
  for (uint32_t k = axis; k < n->has.len; k++)
    if (n->has.data[k] && po_axis_comes_from(&g->axes, k, axis))
      return true;
  return false;
}

/* What part of the iterations of a node's split axes is there: the last tile or
 * block may be short. */
static double
share_of(const po_graph *g, const po_graph_node *n) {
  double share = 1;
  for (uint32_t k = 0; k < n->has.len; k++) {
    const po_axis *a = po_axis_at(&g->axes, k);
    if (a->split_pair == PO_NO_AXIS || a->split_pair < k)
      continue;
    double inner = (double)po_axis_at(&g->axes, a->split_pair)->value;
    double tail = (double)po_axis_at(&g->axes, a->split_pair)->tail;
    double outer = (double)a->value;
    if (is_of_node(g, n, k))
      share *= ((outer - 1) * inner + tail) / (outer * inner);
  }
  return share;
}

static double
traffic_of(const po_graph *g, const po_graph_machine *m, uint32_t node) {
  assert(node < g->nodes.len);
  const po_graph_node *n = &g->nodes.data[node];
  double used = fmin((double)po_graph_blocks(g, node), (double)m->cores);
  double bytes = 0;
  for (uint32_t i = 0; i < n->tensors.len; i++)
    bytes += po_graph_transfers(g, node, i) * (double)n->tensors.data[i].bytes;
  return bytes * share_of(g, n) / po_memory_rate(m, used);
}

/* What comes next is loaded, and what was made stored, while calls run. */
static bool
is_overlapped(const po_buffers *b) {
  for (uint32_t k = 0; k < b->list.len; k++)
    if (b->list.data[k].kind != PO_TEMPORARY && b->list.data[k].fills > 1 &&
        b->list.data[k].depth < 2)
      return false;
  return true;
}

static double
cost_of(const po_graph *g, const po_buffers *buffers,
        const po_graph_machine *m) {
  double traffic = 0, operations = 0, calls = 0;
  for (uint32_t k = 0; k < g->nodes.len; k++) {
    const po_graph_node *n = &g->nodes.data[k];
    int64_t blocks = po_graph_blocks(g, k);
    assert(blocks > 0 && m->cores > 0);
    double waves = ceil((double)blocks / (double)m->cores);
    double mine = (double)n->calls / (double)blocks * waves;
    calls += mine;
    operations += mine * (double)n->api_elements * n->operations;
    traffic += traffic_of(g, m, k);
  }
  operations /= m->operations_per_cycle;
  return (is_overlapped(buffers) ? fmax(traffic, operations)
                                 : traffic + operations) +
         calls * m->call_cycles;
}

static int64_t
cores_of(const po_graph *g, const po_graph_machine *m) {
  int64_t most = 1;
  for (uint32_t k = 0; k < g->nodes.len; k++)
    most = po_graph_blocks(g, k) > most ? po_graph_blocks(g, k) : most;
  return most < m->cores ? most : m->cores;
}

/* 1 where every output is written in whole rows of memory. */
static int
score_of(const po_graph *g, const po_graph_machine *m) {
  for (uint32_t k = 0; k < g->nodes.len; k++)
    for (uint32_t i = 0; i < g->nodes.data[k].tensors.len; i++) {
      const po_tensor *t = &g->nodes.data[k].tensors.data[i];
      int64_t bytes = gs_dtype_table[t->dtype].bytes, run = 1, ends = 1;
      for (uint32_t d = t->view.len; d-- > 0;)
        if (t->view.data[d].repeat > 1) {
          ends = t->view.data[d].stride;
          break;
        }
      for (uint32_t d = t->vectorized.len; d-- > 0 && run == 1;)
        run = t->vectorized.data[d].repeat;
      if (t->output && (ends != 1 || run * bytes < m->align))
        return 0;
    }
  return 1;
}

/* ---- one case ---- */

typedef struct solver {
  po_impl_plan *plan;
  const po_hint *hint;
  const po_graph_machine *machine;
  bs_arena scratch;
} solver;

static bool
implement(const solver *s, const po_tiling_case *t, po_graph *g) {
  return po_apply_case(g, s->hint, t, s->machine, 0) &&
         po_widen_buffers(g, s->machine, s->machine->buffer_bytes);
}

static bool
try_sizes(solver *s, const po_tiling_case *t, po_impl *out) {
  po_graph g;
  bool ok;
  po_graph_copy(&g, &s->hint->graph, &s->scratch);
  ok = implement(s, t, &g);
  if (ok) {
    po_buffers buffers;
    po_place_buffers(&g, s->machine, &buffers);
    out->buffer_bytes = buffers.bytes;
    out->feasible = buffers.bytes <= s->machine->buffer_bytes;
    out->cost = cost_of(&g, &buffers, s->machine);
    po_buffers_done(s->scratch.heap, &buffers);
    out->cores = cores_of(&g, s->machine);
    out->score = score_of(&g, s->machine);
    out->tiling = *t;
  } else if (!s->plan->why) {
    s->plan->why = bs_arena_strdup(s->plan->arena, g.axes.why);
  }
  po_graph_done(&g);
  bs_arena_reset(&s->scratch);
  return ok;
}

static bool
is_better(const po_impl *a, const po_impl *b) {
  if (a->feasible != b->feasible)
    return a->feasible;
  if (!a->feasible)
    return a->buffer_bytes < b->buffer_bytes;
  if (a->score != b->score)
    return a->score > b->score;
  return a->cost != b->cost ? a->cost < b->cost : a->cores > b->cores;
}

/* Iterations of the parallel loops around an axis that is tiled. */
static int64_t
parallel_around(const solver *s, uint32_t axis) {
  const po_axes *t = &s->hint->graph.axes;
  int64_t all = 1;
  for (uint32_t k = 0; k < t->order.len && t->order.data[k] != axis; k++)
    if (s->hint->group[t->order.data[k]] <= PO_CASE_Y &&
        __builtin_mul_overflow(all, po_axis_at(t, t->order.data[k])->value,
                               &all))
      return INT64_MAX;
  return all;
}

/* Parts of an axis that give each core `rounds` of them. */
static int64_t
even_size(const solver *s, uint32_t axis, int64_t rounds) {
  int64_t size = po_axis_at(&s->hint->graph.axes, axis)->value, parts;
  int64_t around = parallel_around(s, axis);
  if (__builtin_mul_overflow(s->machine->cores, rounds, &parts))
    return 1;
  parts = around < parts ? parts / around : 1;
  return size / parts + (size % parts != 0);
}

typedef struct sizes {
  int64_t of[MAX_SIZES + EVEN_SIZES];
  uint32_t n;
} sizes;

static void
add_size(sizes *list, int64_t size) {
  assert(size > 0 && list->n < MAX_SIZES + EVEN_SIZES);
  for (uint32_t k = 0; k < list->n; k++)
    if (list->of[k] == size)
      return;
  list->of[list->n++] = size;
}

/* An axis' size halved again and again, rounded up; then even parts. */
static sizes
tile_sizes(const solver *s, uint32_t axis) {
  sizes list = {.n = 0};
  int64_t most = s->machine->buffer_bytes;
  int64_t size =
      axis == PO_NO_AXIS ? 1 : po_axis_at(&s->hint->graph.axes, axis)->value;
  for (uint32_t k = 0; k < MAX_SIZES; k++) {
    add_size(&list, size);
    size = size > most && most > 0 ? most : size;
    size = size / 2 + size % 2;
  }
  for (int64_t rounds = 1; axis != PO_NO_AXIS && rounds <= EVEN_SIZES; rounds++)
    add_size(&list, even_size(s, axis, rounds));
  return list;
}

/* The best sizes; false when the case is refused whatever they are. */
static bool
solve_case(solver *s, po_tiling_case t, po_impl *best) {
  bool found = false;
  uint32_t step[3] = {0, 0, 0};
  sizes list[3];
  for (uint32_t g = 0; g < 3; g++)
    list[g] = tile_sizes(s, t.axis[g]);
  for (;;) {
    po_impl made = {0};
    for (uint32_t g = 0; g < 3; g++)
      t.inner[g] = list[g].of[step[g]];
    if (try_sizes(s, &t, &made) && (!found || is_better(&made, best))) {
      *best = made;
      found = true;
    }
    uint32_t g = 3;
    while (g > 0 && step[g - 1] + 1 == list[g - 1].n)
      step[--g] = 0;
    if (!g)
      return found;
    step[g - 1]++;
  }
}

static const char *
case_name(const solver *s, const po_tiling_case *t) {
  bs_text text;
  bs_text_init(&text, s->plan->arena->heap);
  bs_putf(&text, "%s_B%" PRIu32, s->hint->graph.name, t->block_id);
  for (uint32_t g = 0; g < 3; g++)
    if (t->axis[g] != PO_NO_AXIS)
      bs_putf(&text, "%c%" PRIu32, "XYR"[g], t -> axis[g]);
  const char *name = bs_arena_strdup(s->plan->arena, bs_text_str(&text));
  bs_text_done(&text);
  return name;
}

static void
solve_group(solver *s, po_impl_group *group, uint32_t block_id) {
  bs_arena *arena = s->plan->arena;
  po_tiling_case *cases = BS_NEWS(arena, po_tiling_case, MAX_CASES);
  uint32_t n = po_tiling_cases(s->hint, cases, MAX_CASES);
  for (uint32_t k = 0; k < n && k < MAX_CASES; k++) {
    po_impl impl = {0};
    cases[k].block_id = block_id;
    if (!solve_case(s, cases[k], &impl))
      continue;
    impl.name = case_name(s, &impl.tiling);
    impl.graph = BS_NEW(arena, po_graph);
    po_graph_copy(impl.graph, &s->hint->graph, arena);
    impl.graph->name = impl.name;
    bool again = implement(s, &impl.tiling, impl.graph);
    assert(again);
    (void)again;
    bs_push(arena->heap, &group->impls, impl);
  }
  for (uint32_t k = 1; k < group->impls.len; k++)
    if (is_better(&group->impls.data[k], &group->impls.data[group->chosen]))
      group->chosen = k;
  assert(!group->impls.len || group->chosen < group->impls.len);
}

static void
finish_result(solver *s, po_impl_result *result) {
  assert(result->groups.len > 0);
  result->feasible = true;
  for (uint32_t k = 0; k < result->groups.len; k++) {
    const po_impl_group *g = &result->groups.data[k];
    result->feasible &= g->impls.len && g->impls.data[g->chosen].feasible;
    result->cost += g->impls.len ? g->impls.data[g->chosen].cost : 0;
  }
  bs_push(s->plan->arena->heap, &s->plan->results, *result);
}

static void
add_group(solver *s, po_impl_result *result, const po_hint *hint,
          uint32_t block_id) {
  po_impl_group group = {0};
  s->hint = hint;
  solve_group(s, &group, block_id);
  bs_push(s->plan->arena->heap, &result->groups, group);
}

/* ---- two phases ---- */

static bool
leaves_cores_idle(const solver *s) {
  const po_axes *t = &s->hint->graph.axes;
  int64_t parallel = 1, reduced = 1;
  for (uint32_t k = 0; k < t->order.len; k++) {
    uint32_t id = t->order.data[k];
    int64_t *product = s->hint->group[id] <= PO_CASE_Y ? &parallel : &reduced;
    if (s->hint->group[id] <= PO_CASE_R &&
        __builtin_mul_overflow(*product, po_axis_at(t, id)->value, product))
      *product = INT64_MAX;
  }
  return parallel < s->machine->cores && reduced >= 2 * s->machine->cores;
}

/* The reduction's iterations are apart: every block adds up its own. */
static po_hint *
first_phase(solver *s) {
  po_hint *made = BS_NEW(s->plan->arena, po_hint);
  memcpy(made->group, s->hint->group, sizeof made->group);
  po_graph_copy(&made->graph, &s->hint->graph, s->plan->arena);
  for (uint32_t k = 0; k < made->graph.axes.list.len; k++)
    if (made->group[k] == PO_CASE_R)
      made->graph.axes.list.data[k].order = PO_AXIS_PARALLEL;
  return made;
}

/* The array that the innermost reducing statement makes. */
static const po_tensor *
reduced_tensor(const po_hint *h) {
  const po_tensor *found = NULL;
  for (uint32_t k = 0; k < h->graph.nodes.len; k++) {
    const po_graph_node *n = &h->graph.nodes.data[k];
    bool reduces = false;
    for (uint32_t a = 0; a < n->has.len; a++)
      reduces |= n->has.data[a] && h->group[a] == PO_CASE_R;
    for (uint32_t i = 0; reduces && i < n->tensors.len; i++)
      if (n->tensors.data[i].output)
        found = &n->tensors.data[i];
  }
  return found;
}

/* Adds up what the cores made: the parallel axes, then one over cores. */
static po_hint *
second_phase(solver *s) {
  bs_arena *arena = s->plan->arena;
  const po_graph *g = &s->hint->graph;
  const po_tensor *sum = reduced_tensor(s->hint);
  uint32_t axes[PO_MAX_AXES], n = 0;
  int64_t repeats[2][PO_MAX_AXES], strides[2][PO_MAX_AXES];
  int64_t size[2] = {1, 1}, cores = s->machine->cores;
  po_hint *made = BS_NEW(arena, po_hint);
  po_graph_init(&made->graph, arena, bs_arena_printf(arena, "%s_sum", g->name));
  memset(made->group, PO_CASE_N, sizeof made->group);
  for (uint32_t k = 0; k < g->axes.order.len; k++) {
    const po_axis *a = po_axis_at(&g->axes, g->axes.order.data[k]);
    if (s->hint->group[a->id] > PO_CASE_Y)
      continue;
    axes[n] = po_axis_add(&made->graph.axes, a->name, NULL, a->value,
                          PO_AXIS_PARALLEL);
    repeats[0][n] = repeats[1][n] = a->value;
    made->group[axes[n++]] = PO_CASE_Y;
  }
  assert(sum && n < PO_MAX_AXES);
  axes[n] =
      po_axis_add(&made->graph.axes, "cores", NULL, cores, PO_AXIS_REDUCTION);
  repeats[0][n] = cores;
  repeats[1][n] = 1;
  made->group[axes[n++]] = PO_CASE_R;
  for (uint32_t t = 0; t < 2; t++)
    for (uint32_t k = n; k-- > 0; size[t] *= repeats[t][k])
      strides[t][k] = repeats[t][k] > 1 ? size[t] : 0;
  uint32_t node = po_graph_add_node(&made->graph, "sum", axes, n);
  made->graph.nodes.data[node].operations = 1;
  po_graph_add_tensor(&made->graph, node,
                      bs_arena_printf(arena, "%s_partial", sum->name),
                      sum->dtype, false, repeats[0], strides[0]);
  po_graph_add_tensor(&made->graph, node, sum->name, sum->dtype, true,
                      repeats[1], strides[1]);
  return made;
}

static void
add_two_phases(solver *s) {
  po_impl_result result = {0};
  const po_hint *whole = s->hint;
  po_hint **phases = s->plan->phases;
  phases[0] = first_phase(s);
  phases[1] = second_phase(s);
  add_group(s, &result, phases[0], 1);
  add_group(s, &result, phases[1], 0);
  s->hint = whole;
  finish_result(s, &result);
}

void
po_plan_graph(po_impl_plan *plan, const po_hint *hint,
              const po_graph_machine *m, bs_arena *arena) {
  solver s = {.plan = plan, .hint = hint, .machine = m};
  *plan = (po_impl_plan){.arena = arena, .hint = hint, .chosen = -1};
  bs_arena_init(&s.scratch, arena->heap);
  po_impl_result one = {0};
  add_group(&s, &one, hint, 0);
  finish_result(&s, &one);
  if (hint->two_phases && leaves_cores_idle(&s))
    add_two_phases(&s);
  bs_arena_done(&s.scratch);
  const po_impl_result *best = NULL;
  for (uint32_t k = 0; k < plan->results.len; k++) {
    const po_impl_result *r = &plan->results.data[k];
    if (r->feasible && (!best || r->cost < best->cost)) {
      best = r;
      plan->chosen = po_key_of_choice(plan, k);
    }
  }
}

void
po_impl_plan_done(po_impl_plan *plan) {
  bs_heap *heap = plan->arena->heap;
  for (uint32_t k = 0; k < plan->results.len; k++) {
    po_impl_result *r = &plan->results.data[k];
    for (uint32_t i = 0; i < r->groups.len; i++) {
      po_impl_group *g = &r->groups.data[i];
      for (uint32_t c = 0; c < g->impls.len; c++)
        if (g->impls.data[c].graph)
          po_graph_done(g->impls.data[c].graph);
      bs_vec_done(heap, &g->impls);
    }
    bs_vec_done(heap, &r->groups);
  }
  bs_vec_done(heap, &plan->results);
  for (uint32_t k = 0; k < 2; k++)
    if (plan->phases[k])
      po_graph_done(&plan->phases[k]->graph);
}
