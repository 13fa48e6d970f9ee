/* SPDX-License-Identifier: MIT */
/* flow.c - If, Loop and Scan, where what they do is known while importing.
 *
 * The branch of a known condition and the turns of a known number become part
 * of the program, as if their nodes stood there. */
#include "onnx/flow.h"
#include "onnx/onnx_graph.h"
#include "onnx/sized.h"
#include <assert.h>

#include <string.h>

/* What a body is walked with. */
typedef struct on_loop {
  int64_t turn, turns; /* below 0: until its condition ends it */
  uint32_t n_states, n_made, n_items;
  on_value *states;                         /* what a turn hands to the next */
  BS_VEC(on_value) made;                    /* n_made for each turn */
  const int64_t *axes, *backward;           /* of the items of a Scan */
  const int64_t *made_axes, *made_backward; /* of what is made */
} on_loop;

/* ---- graphs ---- */

static const Onnx__Graph *
decoded(on_import *im, const Onnx__Attribute *a) {
  ProtobufCAllocator allocator = on_allocator(im->ctx);
  return onnx__graph__unpack(&allocator, a->g.len, a->g.data);
}

on_body *
on_body_of(on_import *im, const Onnx__Attribute *a, uint32_t depth) {
  if (!a->has_g || depth > ON_DEEPEST)
    return NULL;
  uint64_t key = (uint64_t)(uintptr_t)a;
  uint32_t at = bs_map_get(&im->body_of, key);
  if (at != BS_NO_ENTRY)
    return im->bodies.data[at];
  const Onnx__Graph *graph = decoded(im, a);
  if (!graph)
    return NULL;
  on_body *body = BS_NEW(im->ctx->arena, on_body);
  *body = (on_body){.graph = graph, .depth = depth};
  bs_map_put(im->ctx->heap, &im->body_of, key, im->bodies.len);
  bs_push(im->ctx->heap, &im->bodies, body);
  return body;
}

/* ---- names ---- */

/* Under a name of its own; false: the name is taken. */
bool
on_define_as(on_import *im, const char *name, const on_value *from) {
  on_value *v = name && *name ? on_define(im, name) : NULL;
  if (!v)
    return on_fail(im,
                   "another value has the name %.100s of an input or a "
                   "weight of its graph, or there is none",
                   name ? name : "");
  const char *own = v->name;
  *v = *from;
  v->name = own;
  v->is_input = false;
  if (v->array && !v->array->name)
    v->array->name = own;
  return true;
}

/* What is read in each turn is read once. */
static void
define_stored(on_import *im, on_body *body) {
  const Onnx__Graph *g = body->graph;
  bool again = body->stored != NULL;
  if (!again)
    body->stored = BS_NEWS(im->ctx->arena, on_value *, g->n_initializer + 1);
  for (size_t k = 0; k < g->n_initializer; k++) {
    const on_value fresh = {.term = GS_NO_TERM, .stored = g->initializer[k]};
    if (!on_define_as(im, g->initializer[k]->name, &fresh))
      return;
    if (again)
      bs_last(&im->list) = body->stored[k];
    else
      body->stored[k] = bs_last(&im->list);
  }
}

static void
forget_from(on_import *im, uint32_t first) {
  for (uint32_t k = first; k < im->list.len; k++)
    im->list.data[k] = NULL;
}

/* ---- into a graph and out of it ---- */

on_frame *
on_enter_graph(on_import *im, on_body *body, const on_row *row,
               uint32_t errors) {
  on_frame *f = BS_NEW(im->ctx->arena, on_frame);
  *f = (on_frame){.outer = im->frame,
                  .body = body,
                  .node = im->node,
                  .row = row,
                  .first = im->list.len,
                  .errors = errors};
  im->frame = f;
  return f;
}

static bool
enter(on_import *im, const char *name, on_loop *loop) {
  const Onnx__Attribute *a = on_attr(im, name);
  on_body *body = a ? on_body_of(im, a, im->frame->body->depth + 1) : NULL;
  if (!body)
    return on_fail(im,
                   "its attribute %s is missing, is no graph, or is nested "
                   "more than %d deep",
                   name, ON_DEEPEST);
  if (body->graph->n_sparse_initializer)
    return on_fail(im, "sparse initializers are not supported");
  const Onnx__Node *node = im->node;
  uint32_t errors = im->ctx->diags->errors;
  on_mark_needed(im, body);
  im->node = node;
  im->failed = im->ctx->diags->errors > errors;
  if (im->failed)
    return false;
  on_enter_graph(im, body, im->row, errors)->loop = loop;
  im->entered = true;
  return true;
}

/* The names around a function come back. */
static void
leave_scope(on_import *im, const on_call *call) {
  bs_map_done(im->ctx->heap, &im->values);
  im->values = call->values;
  im->opset = call->opset;
  im->call = call->outer;
}

void
on_leave_graph(on_import *im) {
  assert(im->frame && im->frame->first <= im->list.len);
  forget_from(im, im->frame->first);
  if (im->frame->call)
    leave_scope(im, im->frame->call);
  im->frame = im->frame->outer;
}

bool
on_may_walk(on_import *im) {
  on_frame *f = im->frame;
  if (!f->node || im->inner++ < ON_MOST_INNER)
    return true;
  im->node = f->node;
  im->row = f->row;
  im->failed = im->ctx->diags->errors > f->errors;
  on_fail(im, "its graph comes to more than %d nodes when it is written out",
          ON_MOST_INNER);
  on_advise(im);
  on_leave_graph(im);
  return false;
}

on_value *
on_given(on_import *im, const on_frame *f, size_t k) {
  assert(k < f->body->graph->n_output);
  const Onnx__ValueInfo *info = f->body->graph->output[k];
  on_value *v = info->name ? on_find(im, info->name) : NULL;
  if (!v) {
    on_fail(im, "nothing in its graph gives the output %.100s",
            info->name ? info->name : "");
    return NULL;
  }
  on_read_stored(im, v);
  im->failed |= v->poison || !on_check_declared(im, "output", info, v);
  return v;
}

void
on_give_as(on_import *im, size_t k, const on_value *from) {
  if (!on_wants(im, (uint32_t)k) || im->failed)
    return;
  on_value *v = on_find(im, im->node->output[k]);
  const char *own = v->name;
  *v = *from;
  v->name = own;
  v->stored = NULL;
  v->is_input = false;
}

/* ---- branches ---- */

static void
leave_branch(on_import *im, const on_frame *f) {
  assert(f->node && !f->loop);
  size_t n = f->node->n_output;
  if (f->body->graph->n_output < n)
    on_fail(im, "its branch has %zu %s, not %zu",
            BS_COUNTED(f->body->graph->n_output, "output"), n);
  for (size_t k = 0; k < n && !im->failed; k++) {
    const on_value *v = on_given(im, f, k);
    if (v)
      on_give_as(im, k, v);
  }
  on_leave_graph(im);
}

/* A known truth value, or number, of one element. */
static bool
known(on_import *im, uint32_t k, int64_t *out) {
  const on_array *a = on_array_in(im, k);
  if (!a)
    return false;
  if (a->n != 1)
    return on_fail(im, "input %u is not a single element", k);
  *out = on_int(a, 0);
  return true;
}

void
emit_if(on_import *im) {
  int64_t is = 0;
  if (!known(im, 0, &is))
    return;
  if (enter(im, is ? "then_branch" : "else_branch", NULL)) {
    if (im->frame->body->graph->n_input)
      on_fail(im, "its branch has inputs");
    define_stored(im, im->frame->body);
    if (im->failed)
      on_leave_graph(im);
  }
}

/* ---- turns ---- */

static on_value
of_array(on_array *a) {
  return (on_value){
      .array = a, .term = GS_NO_TERM, .type = a ? a->type : 0, .poison = !a};
}

static on_value
scalar_of(on_import *im, int32_t type, int64_t v) {
  on_array *a = on_array_new(im, type, NULL, 0);
  if (a)
    on_set_int(a, 0, v);
  return of_array(a);
}

/* Item t along an axis, without it. */
static on_value
item_of(on_import *im, const on_value *v, int64_t axis, int64_t t) {
  int64_t dim[GS_MAX_RANK], stride[GS_MAX_RANK];
  on_value out = {.type = v->type, .term = GS_NO_TERM};
  if (!v->array) {
    out.term =
        t_whole(im, t_squeeze(im, t_slice(im, v->term, axis, t, t + 1), axis));
    out.poison = im->failed || !gs_term_ok(out.term);
    return out;
  }
  const on_array *a = v->array;
  on_strides(a, stride);
  int64_t offset = t * stride[axis];
  uint32_t n = 0;
  for (uint32_t k = 0; k < a->rank; k++)
    if (k != axis) {
      dim[n] = a->dim[k];
      stride[n++] = stride[k];
    }
  return of_array(on_view(im, a, dim, stride, n, offset));
}

/* What the body of a Loop reads first: the number of the turn, and that it
 * goes on. */
static bool
define_turn(on_import *im, const on_frame *f) {
  assert(f->loop && f->body->graph->n_input >= 2);
  const on_value number = scalar_of(im, ON_INT64, f->loop->turn);
  const on_value goes_on = scalar_of(im, ON_BOOL, 1);
  Onnx__ValueInfo *const *in = f->body->graph->input;
  return on_define_as(im, in[0]->name, &number) &&
         on_define_as(im, in[1]->name, &goes_on);
}

static bool
define_items(on_import *im, const on_frame *f) {
  const on_loop *l = f->loop;
  assert(f->body->graph->n_input >= (size_t)l->n_states + l->n_items);
  for (uint32_t k = 0; k < l->n_items; k++) {
    int64_t t = l->backward[k] ? l->turns - 1 - l->turn : l->turn;
    const on_value item =
        item_of(im, on_in(im, l->n_states + k), l->axes[k], t);
    if (!on_define_as(im, f->body->graph->input[l->n_states + k]->name, &item))
      return false;
  }
  return true;
}

/* Walks the body from its first node on. */
static void
begin_turn(on_import *im) {
  on_frame *f = im->frame;
  const on_loop *l = f->loop;
  bool counts = f->row->which == ON_LOOP;
  Onnx__ValueInfo *const *in = f->body->graph->input + (counts ? 2 : 0);
  f->at = 0;
  define_stored(im, f->body);
  bool fine = !im->failed && (!counts || define_turn(im, f));
  for (uint32_t k = 0; fine && k < l->n_states; k++)
    fine = on_define_as(im, in[k]->name, &l->states[k]);
  if (!fine || !define_items(im, f) || im->failed)
    on_leave_graph(im);
}

/* The values of all turns along an axis, in order. */
static on_value *
made_in_turn(const on_loop *l, uint32_t k, int64_t t) {
  assert(k < l->n_made && t >= 0 && t < l->turn);
  int64_t at = l->made_backward && l->made_backward[k] ? l->turn - 1 - t : t;
  return &l->made.data[at * l->n_made + k];
}

static gs_term
term_of(on_import *im, const on_value *v) {
  return v->array ? t_constant(im, v->array) : v->term;
}

/* All arrays of one shape as one; NULL: they are not. */
static on_array *
stacked_arrays(on_import *im, const on_loop *l, uint32_t k) {
  const on_array *first = made_in_turn(l, k, 0)->array;
  int64_t dim[GS_MAX_RANK] = {l->turn};
  if (!first || first->rank == GS_MAX_RANK)
    return NULL;
  memcpy(dim + 1, first->dim, first->rank * sizeof *dim);
  for (int64_t t = 0; t < l->turn; t++) {
    const on_array *a = made_in_turn(l, k, t)->array;
    if (!a || a->type != first->type || a->rank != first->rank ||
        memcmp(a->dim, first->dim, a->rank * sizeof *dim))
      return NULL;
  }
  on_array *out = on_array_new(im, first->type, dim, first->rank + 1);
  size_t bytes = (size_t)first->n * on_type_of(first->type)->bytes;
  for (int64_t t = 0; out && t < l->turn; t++)
    memcpy((char *)out->data + (size_t)t * bytes,
           made_in_turn(l, k, t)->array->data, bytes);
  return out;
}

static gs_term
stacked_terms(on_import *im, const on_loop *l, uint32_t k, uint32_t axis) {
  gs_term out = GS_NO_TERM;
  for (int64_t t = l->turn; t-- > 0 && !im->failed;) {
    gs_term x = t_insert(im, term_of(im, made_in_turn(l, k, t)), axis);
    out = gs_term_ok(out) ? t_concat(im, x, out, axis) : x;
  }
  return out;
}

/* Among the dimensions of a result.  A known value makes no term here, which
 * the program might not need. */
static bool
axis_of_made(on_import *im, const on_loop *l, uint32_t k, uint32_t *axis) {
  const on_value *v = made_in_turn(l, k, 0);
  gs_type type = {0};
  *axis = 0;
  if (!l->made_axes)
    return true;
  if (!v->array && !t_type(im, v->term, &type))
    return false;
  uint32_t rank = v->array ? v->array->rank : type.rank;
  return on_axis(im, l->made_axes[k], rank + 1, axis);
}

/* Result n_states + k: what all turns made. */
static void
give_made(on_import *im, const on_loop *l, uint32_t k) {
  uint32_t axis, out = l->n_states + k;
  assert(k < l->n_made);
  if (!on_wants(im, out) || im->failed)
    return;
  if (!l->turn) {
    on_fail(im, "it has no turn, so that its result %u has no elements", out);
    return;
  }
  if (!axis_of_made(im, l, k, &axis))
    return;
  on_array *a = axis ? NULL : stacked_arrays(im, l, k);
  if (a)
    on_out_array(im, out, a);
  else
    on_out(im, out, stacked_terms(im, l, k, axis), made_in_turn(l, k, 0)->type);
}

static void
leave_loop(on_import *im, const on_loop *l) {
  for (uint32_t k = 0; k < l->n_states; k++)
    on_give_as(im, k, &l->states[k]);
  for (uint32_t k = 0; k < l->n_made; k++)
    give_made(im, l, k);
  on_leave_graph(im);
}

/* What the turn gave; whether there is another one. */
static bool
end_turn(on_import *im, const on_frame *f) {
  on_loop *l = f->loop;
  assert(l->turn < l->turns || l->turns < 0);
  bool counts = f->row->which == ON_LOOP, more = true;
  const on_value *until = counts ? on_given(im, f, 0) : NULL;
  if (until && !until->array && !im->failed)
    on_fail(im, "whether it goes on is not known while importing");
  else if (until && until->array && until->array->n == 1)
    more = on_int(until->array, 0) != 0;
  for (uint32_t k = 0; k < l->n_states + l->n_made && !im->failed; k++) {
    const on_value *v = on_given(im, f, k + counts);
    if (v && k < l->n_states)
      l->states[k] = *v;
    else if (v)
      bs_push(im->ctx->heap, &l->made, *v);
  }
  l->turn++;
  return more && (l->turns < 0 || l->turn < l->turns);
}

static void
end_loop_turn(on_import *im, on_frame *f) {
  bool more = end_turn(im, f);
  if (im->failed) {
    on_leave_graph(im);
    return;
  }
  forget_from(im, f->first);
  if (!more)
    leave_loop(im, f->loop);
  else if (on_may_walk(im))
    begin_turn(im);
}

void
on_leave(on_import *im) {
  on_frame *f = im->frame;
  if (!f->node) {
    im->frame = NULL;
    return;
  }
  im->node = f->node;
  im->row = f->row;
  im->told = false;
  im->reads_sizes = im->p->sizes != NULL;
  im->failed = im->ctx->diags->errors > f->errors;
  if (im->failed)
    on_leave_graph(im);
  else if (f->loop)
    end_loop_turn(im, f);
  else if (f->call)
    on_return(im, f);
  else
    leave_branch(im, f);
  on_advise(im);
}

/* ---- loops ---- */

static void
copy_states(on_import *im, on_loop *l, uint32_t first) {
  l->states = BS_NEWS(im->ctx->arena, on_value, l->n_states + 1);
  for (uint32_t k = 0; k < l->n_states; k++) {
    const on_value *v = on_in(im, first + k);
    if (v)
      l->states[k] = *v;
    else
      on_fail(im, "input %u is missing", first + k);
  }
}

/* The body must have the inputs and outputs that the node gives and takes. */
static bool
check_body(on_import *im, const on_loop *l, uint32_t before_in,
           uint32_t before_out) {
  const Onnx__Graph *g = im->frame->body->graph;
  size_t in = (size_t)before_in + l->n_states + l->n_items;
  if (g->n_input != in)
    return on_fail(im, "its graph has %zu %s, not %zu",
                   BS_COUNTED(g->n_input, "input"), in);
  if (g->n_output < (size_t)before_out + l->n_states ||
      im->node->n_output > g->n_output - before_out)
    return on_fail(
        im, "its graph has %zu %s too few",
        BS_COUNTED_AS(g->n_output, "output, which is", "outputs, which are"));
  return true;
}

static void
start(on_import *im, on_loop *l, uint32_t before_in, uint32_t before_out) {
  if (im->failed || !enter(im, "body", l))
    return;
  if (!check_body(im, l, before_in, before_out)) {
    on_leave_graph(im);
    return;
  }
  l->n_made =
      (uint32_t)im->frame->body->graph->n_output - before_out - l->n_states;
  if (!l->turns)
    leave_loop(im, l);
  else
    begin_turn(im);
}

void
emit_loop(on_import *im) {
  on_loop *l = BS_NEW(im->ctx->arena, on_loop);
  int64_t turns = -1, goes_on = 1;
  l->n_states = on_inputs(im) - 2;
  if ((on_in(im, 0) && !known(im, 0, &turns)) ||
      (on_in(im, 1) && !known(im, 1, &goes_on)))
    return;
  if (on_in(im, 0) && turns < 0)
    turns = 0;
  l->turns = goes_on ? turns : 0;
  copy_states(im, l, 2);
  start(im, l, 2, 1);
}

/* As many turns as the items of all inputs that are read item by item. */
static bool
count_items(on_import *im, on_loop *l, int64_t *axes) {
  l->turns = -1;
  for (uint32_t k = 0; k < l->n_items; k++) {
    gs_type type;
    uint32_t axis;
    if (!on_shape_in(im, l->n_states + k, &type) ||
        !on_axis(im, axes[k], type.rank, &axis))
      return false;
    axes[k] = axis;
    if (on_is_sized(im, type.dim[axis]))
      return on_fail(im, "the number of its turns is open");
    if (l->turns >= 0 && l->turns != type.dim[axis])
      return on_fail(im, "its inputs have different numbers of items");
    l->turns = type.dim[axis];
  }
  return true;
}

void
emit_scan(on_import *im) {
  on_loop *l = BS_NEW(im->ctx->arena, on_loop);
  int64_t items = on_attr_int(im, "num_scan_inputs", 0);
  uint32_t n = on_inputs(im), m;
  if (items < 1 || items > n) {
    on_fail(im, "num_scan_inputs is not from 1 to the number of its inputs");
    return;
  }
  l->n_items = (uint32_t)items;
  l->n_states = n - l->n_items;
  m = (uint32_t)im->node->n_output;
  m = m > l->n_states ? m - l->n_states : 0;
  int64_t *axes = BS_NEWS(im->ctx->arena, int64_t, 2 * (size_t)n);
  int64_t *made = BS_NEWS(im->ctx->arena, int64_t, 2 * (size_t)m + 1);
  if (!on_attr_ints(im, "scan_input_axes", 0, axes, l->n_items) ||
      !on_attr_ints(im, "scan_input_directions", 0, axes + n, l->n_items) ||
      !on_attr_ints(im, "scan_output_axes", 0, made, m) ||
      !on_attr_ints(im, "scan_output_directions", 0, made + m, m) ||
      !count_items(im, l, axes))
    return;
  l->axes = axes;
  l->backward = axes + n;
  l->made_axes = made;
  l->made_backward = made + m;
  copy_states(im, l, 0);
  start(im, l, 0, 0);
}
