/* SPDX-License-Identifier: MIT */
/* execute.c - see execute.h.
 *
 * Child by child of the root, instances run in the order of their times;
 * nothing of the code generator is used.  Statements over boxes whose times
 * grow with their indices are merged as they go; otherwise all instances are
 * listed and sorted.  Access functions become numbers first (quasi.h). */
#include "poly/loops/execute.h"
#include "base/portable.h"
#include "glenside/interpret/interpret_state.h"
#include "poly/loops/bounds.h"
#include "poly/loops/quasi.h"
#include "poly/loops/loops_sizes.h"
#include "poly/loops/storage.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <isl/val.h>

/* Numbers in the list of the instances of one child of the root. */
#define MAX_NUMBERS ((int64_t)1 << 27)

/* Statements of which the earliest is looked for instance by instance. */
enum { MOST_MERGED = 32 };

/* A statement, its functions as numbers. */
typedef struct prepared {
  const po_stmt *stmt;
  po_quasi *address; /* of the expressions that read; then the target */
  po_quasi *time;
  uint32_t depth;
  uint32_t place[PO_MAX_DEPTH + 1]; /* on the way down; its leaf's is last */
  in_operator *operators;           /* of unary expressions */
  int64_t instances, lo[PO_MAX_DEPTH], hi[PO_MAX_DEPTH];
  int64_t *at; /* the instance that is next, or NULL, as in the list */
} prepared;

typedef struct execution {
  const po_program *p;
  bs_arena arena;
  po_pool pool;
  gs_tensor *memory; /* by array */
  prepared *stmts;   /* of a child of the root */
  uint32_t n, most_iters, most_depth, most_exprs, most_room;
  int64_t *list, width; /* instances: statement, time, indices */
  int64_t len, count;
  uint32_t filling; /* the statement that instances are listed of */
  double *values;
  int64_t *room;
  const gs_tensor *inputs;
  gs_tensor *outputs;
  const po_machine *machine; /* NULL: none */
  bool ok;
} execution;

/* ---- memory ---- */

static void
poison(gs_tensor *t) {
  double value = gs_dtype_table[t->dtype].integer ? -INFINITY : NAN;
  for (int64_t k = 0; k < t->elements; k++)
    gs_tensor_set(t, k, value);
}

static gs_tensor
memory_of(execution *x, const po_array *array) {
  gs_tensor t = {.dtype = array->dtype, .elements = po_elements(array)};
  if (array->role == PO_INPUT)
    return x->inputs[array->number];
  if (array->role == PO_OUTPUT)
    return x->outputs[array->number];
  if (array->role == PO_MEMORY)
    return t;
  if (array->role == PO_CONSTANT) {
    t.data = (void *)array->data;
    return t;
  }
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
not_simple(execution *x, const po_stmt *stmt) {
  return bs_error(x->p->ctx.diags, stmt->span, "too-complex",
                  "an access of %s is not a quasi-affine function", stmt->name);
}

static bool
prepare_access(execution *x, const po_stmt *stmt, uint32_t array,
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
prepare_time(execution *x, prepared *s) {
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
prepare_operators(execution *x, prepared *s) {
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
prepare(execution *x, prepared *s, uint32_t leaf) {
  const po_nest_node *nodes = x->p->nest.nodes.data;
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
prepare_all(execution *x, uint32_t top) {
  const po_nest_node *nodes = x->p->nest.nodes.data;
  uint32_t n = 0;
  for (uint32_t k = top; k != PO_NO_NODE; k = po_nest_next(x->p, k, top))
    n += nodes[k].kind == PO_LEAF;
  x->stmts = BS_NEWS(&x->arena, prepared, n);
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
count_all(execution *x) {
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
put_times(execution *x, const prepared *s, int64_t *at) {
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
  execution *x = user;
  const prepared *s = &x->stmts[x->filling];
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
by_time(const void *a, const void *b, void *user) {
  const execution *x = user;
  const int64_t *i = a, *j = b;
  for (int64_t k = 1; k < x->width; k++)
    if (i[k] != j[k])
      return i[k] < j[k] ? -1 : 1;
  return *i < *j ? -1 : *i > *j;
}

static bool
list_all(execution *x) {
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

/* ---- instances of boxes ---- */

/* Whether the instances are all points of the box around them. */
static bool
is_box(prepared *s) {
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
go_to_first(execution *x, prepared *s, uint32_t number, int64_t *at) {
  s->at = at;
  memset(at, 0, (size_t)x->width * sizeof *at);
  *at = number;
  memcpy(at + x->width - x->most_iters, s->lo,
         s->stmt->n_iters * sizeof *s->lo);
  put_times(x, s, at);
}

/* The last index counts fastest. */
static void
go_to_next(execution *x, prepared *s) {
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
  put_times(x, s, s->at);
}

/* Whether times grow with the indices, instance by instance. */
static bool
is_in_order(execution *x, prepared *s, int64_t *at, int64_t *before) {
  go_to_first(x, s, 0, at);
  for (;;) {
    memcpy(before, at, (size_t)x->width * sizeof *at);
    go_to_next(x, s);
    if (!s->at)
      return true;
    if (by_time(before, at, x) > 0)
      return false;
  }
}

/* Makes the first instance of each statement ready; false: they are no boxes
 * in order. */
static bool
start_boxes(execution *x) {
  size_t width = (size_t)x->width;
  int64_t *at = BS_NEWS(&x->arena, int64_t, width * (x->n + 1));
  for (uint32_t k = 0; k < x->n; k++)
    if (!is_box(&x->stmts[k]) ||
        !is_in_order(x, &x->stmts[k], at, at + width * x->n))
      return false;
  for (uint32_t k = 0; k < x->n; k++)
    go_to_first(x, &x->stmts[k], k, at + width * k);
  return true;
}

/* The statement whose next instance is the earliest; NULL: all have run. */
static prepared *
earliest(const execution *x) {
  prepared *best = NULL;
  for (uint32_t k = 0; k < x->n; k++) {
    prepared *s = &x->stmts[k];
    if (s->at && (!best || by_time(s->at, best->at, (void *)x) < 0))
      best = s;
  }
  return best;
}

/* ---- values ---- */

/* As a value that generated code computes with. */
static double
rounded(gs_dtype dtype, double v) {
  if (dtype == GS_F64)
    return v;
  if (!gs_dtype_table[dtype].integer)
    return (double)(float)v;
  return v;
}

static double
fold(gs_compute op, gs_dtype dtype, double a, double b) {
  gs_fold by = gs_compute_table[op].fold;
  if (!gs_dtype_table[dtype].integer)
    return rounded(dtype, gs_fold_real(by, a, b));
  return (double)gs_wrap(dtype,
                         gs_fold_table[by].whole((int64_t)a, (int64_t)b));
}

static double
unary(execution *x, const prepared *s, uint32_t k) {
  const po_expr *e = &s->stmt->exprs[k];
  double in = x->values[e->kids[0]], out;
  if (e->op == GS_C_REDUCE_MEAN)
    return fold(GS_C_DIV, e->dtype, in, e->literal);
  gs_type one = {.access = 0, .rank = 0, .dtype = s->operators[k].from};
  in_compute(&s->operators[k], &one, &in, &out);
  if (e->op == GS_C_CAST)
    return gs_convert(e->dtype, out);
  return rounded(e->dtype, out);
}

static double
gather(execution *x, const prepared *s, uint32_t k, const int64_t *index) {
  const po_expr *e = &s->stmt->exprs[k];
  double at = x->values[e->kids[0]];
  int64_t step = !(at > 0)                      ? 0
                 : at >= (double)(e->count - 1) ? e->count - 1
                                                : (int64_t)at;
  int64_t from = po_quasi_at(&s->address[k], index, x->room);
  return gs_tensor_get(&x->memory[e->array], from + e->stride * step);
}

static double
value(execution *x, const prepared *s, uint32_t k, const int64_t *index) {
  const po_expr *e = &s->stmt->exprs[k];
  const double *v = x->values;
  switch (e->kind) {
  case PO_LITERAL:
    return isinf(e->literal) || gs_dtype_table[e->dtype].integer
               ? gs_convert(e->dtype, e->literal)
               : rounded(e->dtype, e->literal);
  case PO_READ:
    return gs_tensor_get(&x->memory[e->array],
                         po_quasi_at(&s->address[k], index, x->room));
  case PO_UNARY:
    return unary(x, s, k);
  case PO_BINARY:
    return fold(e->op, e->dtype, v[e->kids[0]], v[e->kids[1]]);
  case PO_SELECT:
    return v[e->kids[0]] > 0 ? v[e->kids[1]] : v[e->kids[2]];
  case PO_GATHER:
  default:
    return gather(x, s, k, index);
  }
}

static void
run_instance(execution *x, const int64_t *at) {
  const prepared *s = &x->stmts[*at];
  const po_stmt *stmt = s->stmt;
  const int64_t *index = at + x->width - x->most_iters;
  if (x->machine)
    x->ok = x->machine->step(x->machine->self, stmt, index, x->memory);
  if (stmt->kind == PO_CALL)
    return;
  for (uint32_t k = 0; k < stmt->n_exprs; k++)
    x->values[k] = value(x, s, k, index);
  gs_tensor *to = &x->memory[stmt->array];
  int64_t place = po_quasi_at(&s->address[stmt->n_exprs], index, x->room);
  double v = x->values[stmt->n_exprs - 1];
  if (stmt->kind == PO_UPDATE)
    v = fold(stmt->op, to->dtype, gs_tensor_get(to, place), v);
  gs_tensor_set(to, place, v);
}

static void
run_boxes(execution *x) {
  for (prepared *s = earliest(x); s && x->ok; s = earliest(x)) {
    run_instance(x, s->at);
    go_to_next(x, s);
  }
}

static void
run_list(execution *x) {
  x->ok = list_all(x);
  for (int64_t j = 0; x->ok && j < x->len; j++)
    run_instance(x, x->list + j * x->width);
}

static void
run_child(execution *x, uint32_t child) {
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
  execution *x = arg;
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
  execution x = {
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

void
po_seed_tensors(const po_program *p, uint64_t seed, gs_tensor *inputs,
                gs_tensor *outputs) {
  for (uint32_t k = 0; k < p->arrays.len; k++) {
    const po_array *array = &p->arrays.data[k];
    if (array->role != PO_INPUT && array->role != PO_OUTPUT)
      continue;
    gs_tensor *t = (array->role == PO_INPUT ? inputs : outputs) + array->number;
    gs_type type = {.access = (uint8_t)array->rank,
                    .rank = (uint8_t)array->rank,
                    .dtype = array->dtype};
    memcpy(type.dim, array->dim, sizeof type.dim);
    gs_tensor_init(p->ctx.heap, t, &type);
    gs_tensor_fill(t, seed, array->name);
  }
}
