/* SPDX-License-Identifier: MIT */
/* execute.c - see execute.h.
 *
 * Child by child of the root, instances run in the order of their times;
 * nothing of the code generator is used.  Statements over boxes whose times
 * grow with their indices are merged as they go; otherwise all instances are
 * listed and sorted.  Access functions become numbers first (quasi.h). */
#include "poly/loops/execute.h"
#include "base/portable.h"
#include "poly/loops/bounds.h"
#include "poly/loops/execute_state.h"
#include "poly/loops/loops_sizes.h"
#include "poly/loops/storage.h"
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <isl/val.h>

/* Numbers in the list of the instances of one child of the root. */
#define MAX_NUMBERS ((int64_t)1 << 27)

/* Statements of which the earliest is looked for instance by instance. */
enum { MOST_MERGED = 32 };

/* ---- memory ---- */

static void
poison(gs_tensor *t) {
  double value = gs_dtype_table[t->dtype].integer ? -INFINITY : NAN;
  for (int64_t k = 0; k < t->elements; k++)
    gs_tensor_set(t, k, value);
}

static gs_tensor
memory_of(po_execution *x, const po_array *array) {
  gs_tensor t = {.dtype = array->dtype, .elements = po_elements(array)};
  assert(t.elements >= 0);
  if (array->role == PO_INPUT)
    return x->inputs[array->number];
  if (array->role == PO_OUTPUT)
    return x->outputs[array->number];
  if (array->role == PO_MEMORY)
    return t;
  if (array->role == PO_CONSTANT)
    return gs_tensor_over(t.dtype, t.elements, array->data);
  if (t.elements > MAX_NUMBERS) {
    x->ok = bs_error(x->p->ctx.diags, BS_NOWHERE, "too-large",
                     "%s is too large to run", array->name);
    return t;
  }
  t.data = bs_arena_alloc(&x->arena,
                          (size_t)t.elements * gs_dtype_table[t.dtype].bytes);
  poison(&t);
  return t;
}

/* ---- preparation ---- */

static bool
not_simple(po_execution *x, const po_stmt *stmt) {
  return bs_error(x->p->ctx.diags, stmt->span, "too-complex",
                  "an access of %s is not a quasi-affine function", stmt->name);
}

static bool
prepare_access(po_execution *x, const po_stmt *stmt, uint32_t array,
               isl_pw_multi_aff *index, po_quasi *out) {
  po_pool_reserve(&x->pool, 2);
  isl_pw_aff *address =
      po_keep_pw_aff(&x->pool, po_address(&x->p->arrays.data[array], index));
  if (!address || isl_pw_aff_n_piece(address) != 1)
    return not_simple(x, stmt);
  isl_aff *aff =
      po_keep_aff(&x->pool, isl_pw_aff_as_aff(isl_pw_aff_copy(address)));
  if (!aff || !po_quasi_make(&x->arena, aff, out))
    return not_simple(x, stmt);
  if (out->m > x->most_room)
    x->most_room = out->m;
  return true;
}

static bool
prepare_time(po_execution *x, po_executed *s) {
  s->time = BS_NEWS(&x->arena, po_quasi, s->depth + 1);
  for (uint32_t k = 0; k < s->depth; k++) {
    po_pool_reserve(&x->pool, 1);
    isl_aff *aff =
        po_keep_aff(&x->pool, isl_multi_aff_get_aff(s->stmt->time, (int)k));
    if (!aff || !po_quasi_make(&x->arena, aff, &s->time[k]))
      return not_simple(x, s->stmt);
    if (s->time[k].m > x->most_room)
      x->most_room = s->time[k].m;
  }
  return true;
}

static void
prepare_operators(po_execution *x, po_executed *s) {
  const po_stmt *stmt = s->stmt;
  bs_values *values = x->p->ctx.values;
  s->operators = BS_NEWS(&x->arena, in_operator, stmt->n_exprs + 1);
  for (uint32_t k = 0; k < stmt->n_exprs; k++) {
    const po_expr *e = &stmt->exprs[k];
    if (e->kind != PO_UNARY || e->op == GS_C_REDUCE_MEAN)
      continue;
    bs_value o =
        e->param.i ? e->param : bs_sym(values, gs_compute_table[e->op].name);
    s->operators[k] =
        in_prepare(values, o, stmt->exprs[e->kids[0]].dtype, e->dtype);
  }
}

static bool
prepare(po_execution *x, po_executed *s, uint32_t leaf) {
  const po_nest_node *nodes = x->p->nest.nodes.data;
  assert(nodes[leaf].kind == PO_LEAF);
  const po_stmt *stmt = s->stmt = &x->p->stmts.data[nodes[leaf].stmt];
  if (stmt->kind == PO_CALL && !x->machine)
    return bs_error(x->p->ctx.diags, stmt->span, "no-call",
                    "%s calls an instruction, which only compiled code does",
                    stmt->name);
  s->depth = po_nest_depth(x->p, leaf);
  uint32_t k = s->depth + 1;
  for (uint32_t node = leaf; node; node = nodes[node].parent) {
    uint32_t place = 0;
    for (uint32_t prev = nodes[node].prev; prev != PO_NO_NODE;
         prev = nodes[prev].prev)
      place++;
    s->place[--k] = place;
  }
  s->address = BS_NEWS(&x->arena, po_quasi, stmt->n_exprs + 1);
  s->now = BS_NEWS(&x->arena, int64_t, stmt->n_exprs + 1);
  for (uint32_t j = 0; j < stmt->n_exprs; j++)
    if (stmt->exprs[j].index &&
        !prepare_access(x, stmt, stmt->exprs[j].array, stmt->exprs[j].index,
                        &s->address[j]))
      return false;
  prepare_operators(x, s);
  x->most_iters = stmt->n_iters > x->most_iters ? stmt->n_iters : x->most_iters;
  x->most_depth = s->depth > x->most_depth ? s->depth : x->most_depth;
  x->most_exprs = stmt->n_exprs > x->most_exprs ? stmt->n_exprs : x->most_exprs;
  bool call = stmt->kind == PO_CALL;
  return (call || prepare_access(x, stmt, stmt->array, stmt->write,
                                 &s->address[stmt->n_exprs])) &&
         prepare_time(x, s);
}

static bool
prepare_all(po_execution *x, uint32_t top) {
  const po_nest_node *nodes = x->p->nest.nodes.data;
  uint32_t n = 0;
  for (uint32_t k = top; k != PO_NO_NODE; k = po_nest_next(x->p, k, top))
    n += nodes[k].kind == PO_LEAF;
  x->stmts = BS_NEWS(&x->arena, po_executed, n);
  x->n = x->most_iters = x->most_depth = x->most_exprs = x->most_room = 0;
  for (uint32_t k = top; k != PO_NO_NODE; k = po_nest_next(x->p, k, top))
    if (nodes[k].kind == PO_LEAF && !prepare(x, &x->stmts[x->n++], k))
      return false;
  x->values = BS_NEWS(&x->arena, double, x->most_exprs + 1);
  x->room = BS_NEWS(&x->arena, int64_t, x->most_room + 1);
  x->width = 1 + 2 * x->most_depth + 1 + x->most_iters;
  return true;
}

/* ---- instances ---- */

static bool
count_all(po_execution *x) {
  x->count = 0;
  for (uint32_t k = 0; k < x->n; k++) {
    int64_t n = po_count_points(isl_set_copy(x->stmts[k].stmt->domain));
    int64_t numbers;
    x->stmts[k].instances = n;
    if (n < 0 || __builtin_add_overflow(x->count, n, &x->count) ||
        __builtin_mul_overflow(x->count, x->width, &numbers) ||
        numbers > MAX_NUMBERS)
      return bs_error(x->p->ctx.diags, x->stmts[k].stmt->span, "too-large",
                      "too many instances to run one by one");
  }
  return true;
}

/* What is before the indices, from the indices. */
static void
put_times(po_execution *x, const po_executed *s, int64_t *at) {
  assert(s->stmt->n_iters <= x->most_iters && s->depth <= x->most_depth);
  const int64_t *index = at + x->width - x->most_iters;
  for (uint32_t k = 0; k <= s->depth; k++) {
    at[1 + 2 * k] = s->place[k];
    if (k < s->depth)
      at[2 + 2 * k] = po_quasi_at(&s->time[k], index, x->room);
  }
}

/* isl calls this: nothing is allocated here. */
static isl_stat
list_instance(__isl_take isl_point *point, void *user) {
  po_execution *x = user;
  const po_executed *s = &x->stmts[x->filling];
  assert(x->filling < x->n);
  if (x->len == x->count) {
    isl_point_free(point);
    return isl_stat_error;
  }
  int64_t *at = x->list + x->len++ * x->width;
  int64_t *index = at + x->width - x->most_iters;
  memset(at, 0, (size_t)x->width * sizeof *at);
  *at = x->filling;
  for (uint32_t k = 0; k < s->stmt->n_iters; k++) {
    isl_val *val = isl_point_get_coordinate_val(point, isl_dim_set, (int)k);
    index[k] = isl_val_get_num_si(val);
    isl_val_free(val);
  }
  isl_point_free(point);
  put_times(x, s, at);
  return isl_stat_ok;
}

static int
compare_times(const po_execution *x, const int64_t *i, const int64_t *j) {
  for (int64_t k = 1; k < x->width; k++)
    if (i[k] != j[k])
      return i[k] < j[k] ? -1 : 1;
  return *i < *j ? -1 : *i > *j;
}

static int
by_time(const void *a, const void *b, void *user) {
  return compare_times(user, a, b);
}

static bool
list_all(po_execution *x) {
  x->list = bs_arena_alloc(&x->arena,
                           (size_t)(x->count * x->width + 1) * sizeof *x->list);
  x->len = 0;
  for (x->filling = 0; x->filling < x->n; x->filling++)
    if (isl_set_foreach_point(x->stmts[x->filling].stmt->domain, list_instance,
                              x) != isl_stat_ok)
      return bs_error(x->p->ctx.diags, x->stmts[x->filling].stmt->span,
                      "too-complex", "the instances cannot be listed");
  bs_sort(x->list, (size_t)x->len, (size_t)x->width * sizeof *x->list, by_time,
          x);
  return true;
}

/* ---- addresses ---- */

static void
locate(po_execution *x, po_executed *s, const int64_t *index) {
  for (uint32_t k = 0; k <= s->stmt->n_exprs; k++)
    if (s->address[k].rows)
      s->now[k] = po_quasi_at(&s->address[k], index, x->room);
}

/* After the last index has grown by one. */
static void
locate_next(po_execution *x, po_executed *s, const int64_t *index) {
  for (uint32_t k = 0; k <= s->stmt->n_exprs; k++) {
    const po_quasi *address = &s->address[k];
    if (address->m)
      s->now[k] = po_quasi_at(address, index, x->room);
    else if (address->rows)
      s->now[k] += po_quasi_row(address, 0)[address->n];
  }
}

/* ---- instances of boxes ---- */

/* Whether the instances are all points of the box around them. */
static bool
is_box(po_executed *s) {
  int64_t points = 1;
  if (s->stmt->n_iters > PO_MAX_DEPTH || s->instances < 1)
    return false;
  for (uint32_t d = 0; d < s->stmt->n_iters; d++) {
    int64_t size;
    if (!po_bounds(s->stmt->domain, d, &s->lo[d], &s->hi[d]) ||
        __builtin_sub_overflow(s->hi[d], s->lo[d], &size) ||
        __builtin_add_overflow(size, 1, &size) ||
        __builtin_mul_overflow(points, size, &points))
      return false;
  }
  return points == s->instances;
}

static void
go_to_first(po_execution *x, po_executed *s, uint32_t number, int64_t *at) {
  assert(number < x->n);
  s->at = at;
  memset(at, 0, (size_t)x->width * sizeof *at);
  *at = number;
  memcpy(at + x->width - x->most_iters, s->lo,
         s->stmt->n_iters * sizeof *s->lo);
  locate(x, s, s->lo);
  put_times(x, s, at);
}

/* After the last index has grown by one. */
static void
put_next_times(po_execution *x, po_executed *s) {
  const int64_t *index = s->at + x->width - x->most_iters;
  for (uint32_t k = 0; x->compares && k < s->depth; k++) {
    const po_quasi *time = &s->time[k];
    if (time->m)
      s->at[2 + 2 * k] = po_quasi_at(time, index, x->room);
    else
      s->at[2 + 2 * k] += po_quasi_row(time, 0)[time->n];
  }
}

/* The last index counts fastest. */
static void
go_to_next(po_execution *x, po_executed *s) {
  assert(s->at);
  int64_t *index = s->at + x->width - x->most_iters;
  uint32_t d = s->stmt->n_iters;
  while (d && index[d - 1] == s->hi[d - 1]) {
    d--;
    index[d] = s->lo[d];
  }
  if (!d) {
    s->at = NULL;
    return;
  }
  index[d - 1]++;
  if (d == s->stmt->n_iters) {
    locate_next(x, s, index);
    put_next_times(x, s);
    return;
  }
  locate(x, s, index);
  if (x->compares)
    put_times(x, s, s->at);
}

/* The one index that a time is a positive multiple of; n_iters: a time that
 * stays as it is; UINT32_MAX: another. */
static uint32_t
index_of_time(const po_executed *s, const po_quasi *time) {
  const int64_t *factor = po_quasi_row(time, 0) + 1;
  uint32_t found = s->stmt->n_iters;
  if (time->m || time->n != s->stmt->n_iters)
    return UINT32_MAX;
  for (uint32_t d = 0; d < time->n; d++) {
    if (!factor[d] || s->lo[d] == s->hi[d])
      continue;
    if (factor[d] < 0 || found < time->n)
      return UINT32_MAX;
    found = d;
  }
  return found;
}

/* Whether times are multiples of the indices, in their order and from the first
 * one on, so that they grow with them. */
static bool
are_times_indices(const po_executed *s) {
  uint32_t n = s->stmt->n_iters, next = 0;
  for (uint32_t k = 0; k < s->depth; k++) {
    uint32_t d = index_of_time(s, &s->time[k]);
    while (next < n && s->lo[next] == s->hi[next])
      next++;
    if (d == n || d < next)
      continue;
    if (d != next)
      return false;
    next++;
  }
  return true;
}

/* Whether times grow with the indices, instance by instance. */
static bool
is_in_order(po_execution *x, po_executed *s, int64_t *at, int64_t *before) {
  if (are_times_indices(s))
    return true;
  go_to_first(x, s, 0, at);
  for (;;) {
    memcpy(before, at, (size_t)x->width * sizeof *at);
    go_to_next(x, s);
    if (!s->at)
      return true;
    if (compare_times(x, before, at) > 0)
      return false;
  }
}

/* Makes the first instance of each statement ready; false: they are no boxes
 * in order. */
static bool
start_boxes(po_execution *x) {
  size_t width = (size_t)x->width;
  int64_t *at = BS_NEWS(&x->arena, int64_t, width * (x->n + 1));
  x->compares = true;
  for (uint32_t k = 0; k < x->n; k++)
    if (!is_box(&x->stmts[k]) ||
        !is_in_order(x, &x->stmts[k], at, at + width * x->n))
      return false;
  x->compares = x->n != 1;
  for (uint32_t k = 0; k < x->n; k++)
    go_to_first(x, &x->stmts[k], k, at + width * k);
  return true;
}

/* The statement whose next instance is the earliest; NULL: all have run. */
static po_executed *
earliest(const po_execution *x) {
  po_executed *best = NULL;
  if (!x->compares)
    return x->stmts->at ? x->stmts : NULL;
  for (uint32_t k = 0; k < x->n; k++) {
    po_executed *s = &x->stmts[k];
    if (s->at && (!best || compare_times(x, s->at, best->at) < 0))
      best = s;
  }
  return best;
}

/* ---- running ---- */

static void
run_instance(po_execution *x, const int64_t *at) {
  assert(*at >= 0 && *at < x->n);
  const po_executed *s = &x->stmts[*at];
  const po_stmt *stmt = s->stmt;
  const int64_t *index = at + x->width - x->most_iters;
  if (x->machine)
    x->ok = x->machine->step(x->machine->self, stmt, index, x->memory);
  if (stmt->kind == PO_CALL)
    return;
  for (uint32_t k = 0; k < stmt->n_exprs; k++)
    x->values[k] = po_execute_expr(x, s, k);
  gs_tensor *to = &x->memory[stmt->array];
  int64_t place = s->now[stmt->n_exprs];
  double v = x->values[stmt->n_exprs - 1];
  if (stmt->kind == PO_UPDATE)
    v = po_execute_fold(stmt->op, to->dtype, gs_tensor_get(to, place), v);
  gs_tensor_set(to, place, v);
}

static void
run_boxes(po_execution *x) {
  for (po_executed *s = earliest(x); s && x->ok; s = earliest(x)) {
    run_instance(x, s->at);
    go_to_next(x, s);
  }
}

static void
run_list(po_execution *x) {
  x->ok = list_all(x);
  for (int64_t j = 0; x->ok && j < x->len; j++) {
    const int64_t *at = x->list + j * x->width;
    locate(x, &x->stmts[*at], at + x->width - x->most_iters);
    run_instance(x, at);
  }
}

static void
run_child(po_execution *x, uint32_t child) {
  x->ok = prepare_all(x, child) && count_all(x);
  if (!x->ok)
    return;
  if (x->n <= MOST_MERGED && start_boxes(x))
    run_boxes(x);
  else
    run_list(x);
}

static void
run(void *arg) {
  po_execution *x = arg;
  const po_program *p = x->p;
  const po_nest_node *nodes = p->nest.nodes.data;
  x->memory = BS_NEWS(&x->arena, gs_tensor, p->arrays.len + 1);
  x->ok = true;
  for (uint32_t k = 0; k < p->arrays.len && x->ok; k++)
    x->memory[k] = memory_of(x, &p->arrays.data[k]);
  for (uint32_t k = nodes[0].first; k != PO_NO_NODE && x->ok;
       k = nodes[k].next) {
    uint32_t mark = po_pool_mark(&x->pool);
    run_child(x, k);
    po_pool_release(&x->pool, mark);
  }
}

bool
po_execute(const po_program *p, const gs_tensor *inputs, gs_tensor *outputs) {
  return po_execute_on(p, NULL, inputs, outputs);
}

bool
po_execute_on(const po_program *p, const po_machine *machine,
              const gs_tensor *inputs, gs_tensor *outputs) {
  po_execution x = {
      .p = p, .inputs = inputs, .outputs = outputs, .machine = machine};
  if (po_has_sizes(p))
    return bs_error(p->ctx.diags, BS_NOWHERE, "open-size",
                    "a number for size %s is missing", p->sizes.data[0].name);
  bs_arena_init(&x.arena, p->ctx.heap);
  po_pool_init(&x.pool, p->ctx.heap);
  bool memory = bs_protect(p->ctx.heap, run, &x);
  po_pool_done(&x.pool);
  if (!memory)
    bs_out_of_memory(p->ctx.heap);
  bs_arena_done(&x.arena);
  return x.ok;
}
