/* SPDX-License-Identifier: MIT */
/* strategy_cost.c - cycles of a scheduled program, predicted.
 *
 * Groups that run as kernels cost what their plans say, and those of windows at
 * least what it takes to go over their arrays.  Any other statement costs what
 * its innermost loop does, and the largest of
 *
 *   what a core computes: its operations, loads and stores, in vectors where
 *     the innermost loop can have them, or additions that wait for each other;
 *     of a call, the cycles that the target says;
 *   for each cache, the bytes that come from behind it: the outermost loop
 *     below which all that is touched fits is where data stays, and everything
 *     is fetched once for each iteration of the loops around that which move
 *     it.  Lines are fetched whole.  Nothing comes from behind a cache that has
 *     room for all arrays of the program: calls follow one another.
 *
 * It ranks schedules of one program; it is no time. */
#include "glenside/target/machine.h"
#include "glenside/target/tuned.h"
#include "poly/implgraph/hint.h"
#include "poly/kernel/contraction.h"
#include "poly/kernel/kernel_slide.h"
#include "poly/loops/functions.h"
#include "poly/loops/storage.h"
#include "poly/schedule/change.h"
#include "poly/search/chooser.h"
#include "poly/strategy/strategy.h"
#include <assert.h>
#include <math.h>
#include <string.h>

/* Accesses of a statement that are looked at; more cost nothing. */
enum { MOST_ACCESSES = 64 };

typedef struct access {
  uint32_t array;
  double bytes; /* of an element, or of what a call reads or writes of it */
  bool known;   /* strides are; if not, each iteration moves it anywhere */
  bool seen;    /* another one before it goes over the same elements */
  /* Elements from one iteration of a loop to the next: on the average, and
   * while quotients stay. */
  double stride[PO_MAX_DEPTH], near[PO_MAX_DEPTH];
} access;

typedef struct pricing {
  po_program *p;
  const gs_target *target;
  po_graph_machine machine;
  double live;    /* bytes of all arrays */
  uint8_t *order; /* by node of the nest: 1 + a po_axis_order; 0: not asked */
  /* the statement that is looked at */
  const po_stmt *stmt;
  uint32_t n, loops[PO_MAX_DEPTH];
  int64_t size[PO_MAX_DEPTH];
  uint32_t n_accesses;
  access accesses[MOST_ACCESSES]; /* the first is what it writes */
} pricing;

/* Loops of any depth have so many iterations together that a number has no room
 * for them: this is as good as any number beyond it. */
static double
times(double a, double b) {
  return fmin(a * b, 1e100);
}

/* ---- what a statement touches ---- */

/* The last access goes over the elements of one before it, or over their
 * neighbours. */
static bool
is_seen(const pricing *c) {
  const access *a = &c->accesses[c->n_accesses];
  for (uint32_t j = 0; j < c->n_accesses; j++) {
    const access *b = &c->accesses[j];
    if (a->array == b->array && a->known && b->known &&
        !memcmp(a->stride, b->stride, c->n * sizeof *a->stride))
      return true;
  }
  return false;
}

/* index: NULL where it may be any. */
static void
add_access(pricing *c, uint32_t array, isl_pw_multi_aff *index,
           double elements) {
  if (c->n_accesses == MOST_ACCESSES)
    return;
  access *a = &c->accesses[c->n_accesses];
  memset(a, 0, sizeof *a);
  a->array = array;
  a->bytes = elements * gs_dtype_table[c->p->arrays.data[array].dtype].bytes;
  a->known = index &&
             po_likely_strides(c->p, c->stmt, index, array, a->stride, a->near);
  a->seen = is_seen(c);
  c->n_accesses++;
}

/* Of a call: the result is the last operand. */
static void
add_operands(pricing *c) {
  for (uint32_t k = c->stmt->instr->n_operands + 1; k-- > 0;) {
    const po_operand *o = &c->stmt->operands[k];
    double elements = 1;
    for (uint32_t d = 0; d < o->rank; d++)
      elements *= (double)o->dim[d];
    add_access(c, o->array, o->base, elements);
  }
}

static void
add_accesses(pricing *c) {
  c->n_accesses = 0;
  if (c->stmt->kind == PO_CALL) {
    add_operands(c);
    return;
  }
  add_access(c, c->stmt->array, c->stmt->write, 1);
  for (uint32_t k = 0; k < c->stmt->n_exprs; k++) {
    const po_expr *e = &c->stmt->exprs[k];
    if (e->kind == PO_READ || e->kind == PO_GATHER)
      add_access(c, e->array, e->kind == PO_READ ? e->index : NULL, 1);
  }
}

static void
look_at(pricing *c, uint32_t stmt) {
  po_program *p = c->p;
  c->stmt = &p->stmts.data[stmt];
  c->n = po_nest_loops(p, c->stmt->leaf, c->loops);
  for (uint32_t k = 0; k < c->n; k++) {
    int64_t most = po_most_iterations(p, c->loops[k]);
    c->size[k] = most > 1 ? most : 1;
  }
  add_accesses(c);
}

/* Iterations of the loops from one to before another. */
static double
iterations(const pricing *c, uint32_t from, uint32_t to) {
  double all = 1;
  for (uint32_t k = from; k < to; k++)
    all = times(all, (double)c->size[k]);
  return all;
}

static bool
moves(const access *a, uint32_t at) {
  return !a->known || a->stride[at] != 0;
}

/* Elements between neighbours along a loop, as instructions see them. */
static double
step_at(const access *a, uint32_t at) {
  return fabs(a->near[at] != 0 ? a->near[at] : a->stride[at]);
}

/* ---- bytes from behind a cache ---- */

/* A loop that moves the access by no more than a run of elements has makes the
 * run longer; false where none of those that are left does. */
static bool
lengthen(const pricing *c, const access *a, uint64_t *left, double *run) {
  for (uint32_t k = 0; k < c->n; k++)
    if (*left >> k & 1 && fabs(a->stride[k]) <= *run) {
      *run += fabs(a->stride[k]) * (double)(c->size[k] - 1);
      *left &= ~(UINT64_C(1) << k);
      return true;
    }
  return false;
}

/* Bytes of the lines that the loops from `at` on touch. */
static double
touched(const pricing *c, const access *a, uint32_t at) {
  double run = 1, runs = 1, line = (double)gs_first_cache(c->target).line;
  uint64_t left = 0;
  for (uint32_t k = at; k < c->n; k++)
    left |= (uint64_t)moves(a, k) << k;
  while (a->known && lengthen(c, a, &left, &run))
    continue;
  for (uint32_t k = at; k < c->n; k++)
    runs = times(runs, left >> k & 1 ? (double)c->size[k] : 1);
  double bytes = fmax(run * a->bytes, runs > 1 ? line : 0);
  return fmin(runs * bytes, (double)po_bytes(&c->p->arrays.data[a->array]));
}

/* The first of the loops that all that is below it stays in so many bytes. */
static uint32_t
stays_at(const pricing *c, double room) {
  for (uint32_t at = 0; at < c->n; at++) {
    double sum = 0;
    for (uint32_t k = 0; k < c->n_accesses; k++)
      sum += c->accesses[k].seen ? 0 : touched(c, &c->accesses[k], at);
    if (sum <= room)
      return at;
  }
  return c->n;
}

/* Places of a local are used again and again. */
static bool
stays_by_itself(const pricing *c, const access *a, double room) {
  const po_array *array = &c->p->arrays.data[a->array];
  return array->role == PO_LOCAL && (double)po_bytes(array) <= room;
}

/* Bytes from behind a cache. The loop around where data stays goes over it
 * piece by piece: what two of its iterations share is there. */
static double
fetched(const pricing *c, double room) {
  uint32_t at = stays_at(c, room);
  uint32_t around = at ? at - 1 : 0;
  double sum = 0;
  for (uint32_t k = 0; k < c->n_accesses; k++) {
    const access *a = &c->accesses[k];
    uint32_t last = 0; /* loops to the last that moves it, of those outside */
    if (a->seen || stays_by_itself(c, a, room))
      continue;
    for (uint32_t i = 0; i < around; i++)
      if (moves(a, i) || (at && moves(a, around)))
        last = i + 1;
    sum += times(iterations(c, 0, last), touched(c, a, around));
  }
  return sum;
}

/* Bytes of a cache; of one that several programs share, few times those of a
 * core's own. */
static double
room_of(const pricing *c, uint32_t cache) {
  const gs_target *t = c->target;
  double far = (double)gs_far_bytes(t);
  return t->caches.len ? fmin((double)t->caches.data[cache].bytes, far)
                       : (double)gs_core_bytes(t);
}

/* Cycles for so many bytes from behind a cache; none, where it has room for all
 * arrays. */
static double
cycles_from_behind(const pricing *c, uint32_t cache, double bytes,
                   double cores) {
  const gs_target *t = c->target;
  if (c->live <= room_of(c, cache))
    return 0;
  double rate =
      cache + 1 < t->caches.len
          ? cores * gs_bytes_a_cycle(t, (double)t->caches.data[cache + 1].bytes)
          : po_memory_rate(&c->machine, cores);
  return bytes / fmax(rate, GS_LEAST_RATE);
}

/* The longest that bytes from behind a cache take: so many, which are gone over
 * once, or where that is NULL those that the statement fetches. */
static double
traffic_of(const pricing *c, const double *once, double cores) {
  uint32_t caches = c->target->caches.len ? c->target->caches.len : 1;
  double longest = 0;
  for (uint32_t k = 0; k < caches; k++) {
    double bytes = once ? *once : fetched(c, room_of(c, k));
    longest = fmax(longest, cycles_from_behind(c, k, bytes, cores));
  }
  return longest;
}

/* ---- what a core computes ---- */

/* The innermost loop that is not written out; n: there is none. */
static uint32_t
last_loop(const pricing *c) {
  uint32_t at = c->n;
  while (at > 0 && po_node(c->p, c->loops[at - 1])->mark == PO_UNROLL)
    at--;
  return at ? at - 1 : c->n;
}

/* The root of a body that is added is a product: one instruction does both. */
static bool
is_multiply_add(const po_stmt *s) {
  const po_expr *root = s->n_exprs ? &s->exprs[s->n_exprs - 1] : NULL;
  return s->kind == PO_UPDATE && s->op == GS_C_ADD && root &&
         ((root->kind == PO_BINARY && root->op == GS_C_MUL) ||
          (root->kind == PO_UNARY && root->op == GS_C_SCALE));
}

/* Operations of one instance. */
static double
operations_of(const po_stmt *s) {
  double sum = s->kind == PO_UPDATE;
  for (uint32_t k = 0; k < s->n_exprs; k++) {
    const po_expr *e = &s->exprs[k];
    bool computes = e->kind == PO_UNARY || e->kind == PO_BINARY;
    double work = computes ? gs_compute_table[e->op].work
                           : e->kind == PO_SELECT || e->kind == PO_GATHER;
    sum += computes && po_is_costly(e->op) ? GS_FUNCTION_WORK * work : work;
  }
  return sum - is_multiply_add(s);
}

static po_axis_order
order_at(const pricing *c, uint32_t at) {
  uint8_t *known = &c->order[c->loops[at]];
  if (!*known)
    *known = (uint8_t)(1 + po_order_of(c->p, c->loops[at]));
  return (po_axis_order)(*known - 1);
}

/* Iterations of the loop may be lanes of a vector: none waits for another, but
 * to be added up in any order, and no formula is without vectors. */
static bool
has_vectors(const pricing *c, uint32_t at) {
  bool side_by_side = true;
  if (c->stmt->kind == PO_CALL || po_calls(c->stmt, false) ||
      (c->size[at] < GS_VECTOR_ITERATIONS &&
       po_node(c->p, c->loops[at])->mark != PO_VECTORIZE))
    return false;
  for (uint32_t k = 0; k < c->n_accesses; k++) {
    if (!c->accesses[k].known)
      return false;
    side_by_side &= step_at(&c->accesses[k], at) <= 1;
  }
  po_axis_order order = order_at(c, at);
  return order == PO_AXIS_PARALLEL ||
         (order == PO_AXIS_REDUCTION && side_by_side);
}

/* Loads and stores for so many iterations at once of a loop. */
static double
accesses_at(const pricing *c, uint32_t at, double lanes) {
  double sum = 0;
  for (uint32_t k = 0; k < c->n_accesses; k++) {
    const access *a = &c->accesses[k];
    if (po_is_variable(&c->p->arrays.data[a->array]) ||
        (at < c->n && a->known && step_at(a, at) == 0))
      continue;
    double apart = at < c->n && a->known ? step_at(a, at) : 1;
    sum += apart <= 1 ? 1 : apart <= GS_GROUP_MOST ? fmin(apart, lanes) : lanes;
  }
  return sum;
}

/* Cycles of so many instances at once. */
static double
cycles_of(const pricing *c, uint32_t at, double lanes) {
  if (c->stmt->kind == PO_CALL)
    return gs_instr_cost(c->stmt->instr, c->p->ctx.values, c->stmt->slots,
                         "cycles", GS_CALL_START);
  gs_dtype dtype = c->p->arrays.data[c->stmt->array].dtype;
  double rate = gs_operations_a_cycle(
      c->target, lanes > 1 ? GS_RATE_VECTOR : GS_RATE_SCALAR, dtype);
  double operations =
      operations_of(c->stmt) * lanes / fmax(rate, GS_LEAST_RATE);
  return fmax(operations, accesses_at(c, at, lanes) / GS_SLIDE_UNITS);
}

/* The code generator adds up sums of several rows side by side: of a parallel
 * loop around that has no other loop in it. */
static bool
is_jammed(const pricing *c, uint32_t at) {
  uint32_t loops = 0;
  if (!at || c->size[at - 1] < 2 * GS_JAM_ROWS ||
      po_node(c->p, c->loops[at - 1])->mark != PO_PARALLEL)
    return false;
  for (uint32_t k = po_node(c->p, c->loops[at - 1])->first; k != PO_NO_NODE;
       k = po_node(c->p, k)->next)
    loops += po_node(c->p, k)->kind == PO_LOOP;
  return loops == 1;
}

/* The write goes to one place all along a loop. */
static bool
sums_up(const pricing *c, uint32_t at) {
  const access *to = c->accesses;
  return c->stmt->kind == PO_UPDATE && to->known && step_at(to, at) == 0;
}

/* Additions to one sum that wait for each other, where there are many: those
 * of the loop and of what is written out in it, so many at once. */
static double
waits_of(const pricing *c, uint32_t at, double lanes) {
  double terms = 1;
  if (!sums_up(c, at))
    return 0;
  for (uint32_t k = at; k < c->n; k++)
    terms = times(terms, sums_up(c, k) ? (double)c->size[k] : 1);
  if (terms < GS_VECTOR_ITERATIONS)
    return 0;
  double additions = ceil(terms / lanes);
  double parts =
      lanes > 1 ? fmin(floor(additions / GS_SUM_PART), GS_SUM_PARTS) : 1;
  double beside = fmax(parts, is_jammed(c, at) ? GS_JAM_ROWS : 1);
  return additions * GS_FMA_LATENCY / beside;
}

static double
lanes_at(const pricing *c, uint32_t at) {
  gs_dtype dtype = c->p->arrays.data[c->stmt->array].dtype;
  return at < c->n && has_vectors(c, at)
             ? (double)gs_vector_lanes(c->target, gs_dtype_table[dtype].bytes)
             : 1;
}

/* What an innermost loop costs beside its statements, which share it: the first
 * one has it. */
static double
overhead_of(const pricing *c) {
  uint32_t at = last_loop(c);
  if (at == c->n || c->size[at] <= GS_UNROLL_ROW ||
      po_nest_first_leaf(c->p, c->loops[at]) != c->stmt->leaf)
    return 0;
  double vectors = ceil((double)c->size[at] / lanes_at(c, at));
  return times(iterations(c, 0, at),
               GS_LOOP_ENTRY + vectors * GS_LOOP_ITERATION);
}

/* Cycles of the statement itself, on one core. */
static double
work_of(const pricing *c) {
  uint32_t at = last_loop(c);
  if (at == c->n)
    return times(iterations(c, 0, at), cycles_of(c, at, 1));
  double lanes = lanes_at(c, at), vectors = ceil((double)c->size[at] / lanes);
  double written = iterations(c, at + 1, c->n);
  return times(iterations(c, 0, at),
               fmax(times(vectors, written) * cycles_of(c, at, lanes),
                    waits_of(c, at, lanes)));
}

static double
cores_of(const pricing *c) {
  double cores = (double)gs_cores(c->target);
  for (uint32_t k = 0; k < c->n; k++)
    if (po_node(c->p, c->loops[k])->mark == PO_PARALLEL)
      return fmin(cores, (double)c->size[k]);
  return 1;
}

/* Of the iterations of the loops, those that the statement has instances in:
 * few, where it is of a border. */
static double
share_of(const pricing *c, uint32_t stmt) {
  double instances = po_estimate_instances(c->p, stmt);
  return instances > 0 ? fmin(instances / iterations(c, 0, c->n), 1) : 1;
}

static double
price_of_stmt(pricing *c, uint32_t stmt) {
  look_at(c, stmt);
  double cores = cores_of(c);
  assert(cores >= 1);
  return share_of(c, stmt) *
             fmax(traffic_of(c, NULL, cores), work_of(c) / cores) +
         overhead_of(c) / cores;
}

/* ---- the program ---- */

/* Threads share a kernel of so many products where that pays. */
static double
cores_for(const pricing *c, double products, double least) {
  return products >= least ? (double)gs_cores(c->target) : 1;
}

static double
price_of_contraction(const pricing *c, const po_contraction *x) {
  double products = 1;
  for (uint32_t role = 0; role < 4; role++)
    products = times(products, (double)po_cdims_size(&x->dims[role]));
  return x->cycles * (double)po_cdims_size(&x->dims[PO_DIM_O]) /
         cores_for(c, products, po_least_shared(x));
}

static double
price_of_slide(const pricing *c, const po_slide *x) {
  const uint32_t arrays[] = {x->x.array, x->y.array, x->array};
  double bytes = 0, cores = cores_for(c, po_taps_of(x), GS_THREAD_PRODUCTS);
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
    if (arrays[k] != PO_NO_LOOP)
      bytes += (double)po_bytes(&c->p->arrays.data[arrays[k]]);
  return fmax(x->cycles / cores, traffic_of(c, &bytes, cores));
}

static double
price_of_group(pricing *c, const po_groups *groups, const po_group *group) {
  const po_contraction *x = po_contraction_of(c->p, groups, group);
  const po_slide *slide = po_slide_of(c->p, groups, group);
  double sum = 0;
  if (x)
    return price_of_contraction(c, x);
  if (slide)
    return price_of_slide(c, slide);
  for (uint32_t k = 0; k < group->n; k++)
    sum += price_of_stmt(c, groups->stmts.data[group->first + k]);
  return sum;
}

/* A statement of the group is of one of these terms. */
static bool
is_of(const po_program *p, const po_groups *groups, const po_group *group,
      const gs_term *terms, uint32_t n) {
  for (uint32_t k = 0; k < group->n; k++)
    for (uint32_t j = 0; j < n; j++)
      if (p->stmts.data[groups->stmts.data[group->first + k]].term.i ==
          terms[j].i)
        return true;
  return false;
}

static double
live_bytes(const po_program *p) {
  double sum = 0;
  for (uint32_t k = 0; k < p->arrays.len; k++)
    if (p->arrays.data[k].role != PO_WORKSPACE &&
        p->arrays.data[k].role != PO_LOCAL)
      sum += (double)po_bytes(&p->arrays.data[k]);
  return sum + (double)p->workspace_bytes;
}

double
po_predict_others(po_program *p, const gs_term *terms, uint32_t n) {
  po_groups groups;
  pricing *c = bs_calloc(p->ctx.heap, 1, sizeof *c);
  double sum = 0;
  c->p = p;
  c->target = p->target ? p->target : gs_target_default(&p->ctx);
  c->machine = po_machine_of(c->target);
  po_lay_out(p);
  c->live = live_bytes(p);
  c->order = bs_calloc(p->ctx.heap, p->nest.nodes.len, sizeof *c->order);
  po_find_groups(p, &groups);
  for (uint32_t k = 0; k < groups.list.len; k++)
    if (!is_of(p, &groups, &groups.list.data[k], terms, n))
      sum += price_of_group(c, &groups, &groups.list.data[k]);
  po_groups_done(p, &groups);
  bs_free(p->ctx.heap, c->order);
  bs_free(p->ctx.heap, c);
  assert(sum >= 0); /* and a number */
  return sum;
}

double
po_predict_cycles(po_program *p) {
  return po_predict_others(p, NULL, 0);
}
