/* SPDX-License-Identifier: MIT */
/* emit_recurrent.c - LSTM, GRU and RNN, a step after the other.
 *
 * What the steps take from their inputs is one product for all of them; what
 * is left of a step is a product with the state and a few elementwise
 * operators.  Few steps are written out: groups of code that are alike are one
 * function, so that a step more is a few calls more.  Many are a scan, whose
 * state is that of the layer, with the cell of an LSTM behind it.
 *
 * Where sequences are of different lengths, each step has a number for each of
 * them, above 0 as long as it goes on.  One that has ended keeps its state, and
 * gives zeros; backward, it has not begun yet, and keeps its first state. */
#include "glenside/program/scan.h"
#include "onnx/onnx_import.h"

#include <math.h>
#include <string.h>

enum { MOST_WRITTEN_OUT = 1024, GATES = 4 };

typedef struct recurrent {
  uint32_t gates;             /* products of H rows in W and R */
  int64_t steps, batch, size; /* X is (steps, batch, ...); the state's width */
  double clip;                /* 0: none */
  bool turned;                /* the batch comes first */
  uint32_t directions;
  gs_term left; /* (steps, batch, H), above 0 in a sequence; none: all go on */
} recurrent;

/* One direction, on its way through the steps. */
typedef struct way {
  const recurrent *all;
  uint32_t d; /* of the directions */
  const char *act[3];
  gs_term from_input;  /* (steps, batch, gates H), biases included */
  gs_term r, bias;     /* (gates H, H); what r's product is to be offset by */
  gs_term peephole;    /* (3 H), or none */
  gs_term state, cell; /* (batch, H) */
} way;

/* ---- terms ---- */

/* Rows of a times a matrix whose rows are those of w. */
static gs_term
product(on_import *im, gs_term a, gs_term w) {
  gs_type t;
  if (!t_type(im, a, &t))
    return GS_NO_TERM;
  gs_term both =
      t_cartprod(im, t_access(im, a, t.rank - 1u), t_access(im, w, 1));
  return t_whole(im, t_compute(im, "dotProd", both));
}

static gs_term
combine(on_import *im, const char *op, gs_term a, gs_term b) {
  gs_type t;
  return t_type(im, a, &t) ? t_fold(im, op, a, t_fit(im, b, t.dim, t.rank))
                           : GS_NO_TERM;
}

/* Part k of parts of H along the last dimension. */
static gs_term
part(on_import *im, const way *w, gs_term x, uint32_t k) {
  gs_type t;
  int64_t h = w->all->size;
  return t_type(im, x, &t) ? t_slice(im, x, t.rank - 1, k * h, (k + 1) * h)
                           : GS_NO_TERM;
}

static gs_term
activated(on_import *im, const way *w, uint32_t k, gs_term x) {
  if (w->all->clip > 0)
    x = t_clip(im, -w->all->clip, w->all->clip, x);
  return t_compute(im, w->act[k], x);
}

/* ---- a step, from what the input gives it ---- */

static gs_term
peeped(on_import *im, const way *w, gs_term x, gs_term cell, uint32_t k) {
  if (!gs_term_ok(w->peephole))
    return x;
  return t_fold(im, "add", x,
                combine(im, "mul", cell, part(im, w, w->peephole, k)));
}

/* The gates stand as input, output, forget, cell; peepholes without cell. */
static void
lstm_step(on_import *im, way *w, gs_term x) {
  x = t_fold(im, "add", x, product(im, w->state, w->r));
  gs_term in =
      activated(im, w, 0, peeped(im, w, part(im, w, x, 0), w->cell, 0));
  gs_term forget =
      activated(im, w, 0, peeped(im, w, part(im, w, x, 2), w->cell, 2));
  gs_term fresh = activated(im, w, 1, part(im, w, x, 3));
  w->cell = t_fold(im, "add", t_fold(im, "mul", forget, w->cell),
                   t_fold(im, "mul", in, fresh));
  gs_term out =
      activated(im, w, 0, peeped(im, w, part(im, w, x, 1), w->cell, 1));
  w->state = t_fold(im, "mul", out, t_compute(im, w->act[2], w->cell));
}

/* The gates stand as update, reset, state. */
static void
gru_step(on_import *im, way *w, gs_term x) {
  int64_t h = w->all->size;
  bool before = on_attr_int(im, "linear_before_reset", 0) != 0;
  gs_term two = t_slice(im, w->r, 0, 0, 2 * h);
  gs_term last = t_slice(im, w->r, 0, 2 * h, 3 * h);
  gs_term gates = t_fold(im, "add", t_slice(im, x, 1, 0, 2 * h),
                         product(im, w->state, two));
  gs_term update = activated(im, w, 0, part(im, w, gates, 0));
  gs_term reset = activated(im, w, 0, part(im, w, gates, 1)), fresh;
  if (before)
    fresh = t_fold(im, "mul", reset,
                   combine(im, "add", product(im, w->state, last), w->bias));
  else
    fresh =
        combine(im, "add",
                product(im, t_fold(im, "mul", reset, w->state), last), w->bias);
  fresh = activated(im, w, 1, t_fold(im, "add", part(im, w, x, 2), fresh));
  /* fresh + update (state - fresh) */
  gs_term change =
      t_fold(im, "mul", update, t_fold(im, "sub", w->state, fresh));
  w->state = t_fold(im, "add", fresh, change);
}

static void
rnn_step(on_import *im, way *w, gs_term x) {
  x = t_fold(im, "add", x, product(im, w->state, w->r));
  w->state = activated(im, w, 0, x);
}

/* ---- what it is given ---- */

static bool
find_sizes(on_import *im, recurrent *all) {
  gs_type x, r;
  if (!on_shape_in(im, 0, &x) || !on_shape_in(im, 2, &r))
    return false;
  if (x.rank != 3 || r.rank != 3 || r.dim[1] != all->gates * r.dim[2])
    return on_fail(im, "its weights do not fit");
  all->turned = on_attr_int(im, "layout", 0) != 0;
  all->steps = x.dim[all->turned ? 1 : 0];
  all->batch = x.dim[all->turned ? 0 : 1];
  all->size = r.dim[2];
  all->clip = on_attr_real(im, "clip", 0);
  all->directions = on_attr_is(im, "direction", "bidirectional", "forward");
  all->directions++;
  return all->directions == r.dim[0] ||
         on_fail(im, "its weights are not for as many directions as it has");
}

/* Whether all sequences are as long as there are steps. */
static bool
check_lengths(on_import *im, const on_array *lengths, int64_t steps,
              bool *alike) {
  *alike = true;
  for (int64_t k = 0; k < lengths->n; k++) {
    int64_t length = on_int(lengths, k);
    if (length < 1 || length > steps)
      return on_fail(im, "a sequence has the length %lld, not 1 to %lld",
                     (long long)length, (long long)steps);
    *alike &= length == steps;
  }
  return true;
}

/* How many steps a sequence still has. */
static gs_term
steps_left(on_import *im, const recurrent *all, gs_dtype d) {
  const int64_t dim[] = {all->steps, all->batch, all->size};
  gs_term lengths = t_cast(im, d, t_insert(im, on_term_in(im, 4), 1));
  gs_term now = t_insert(im, t_insert(im, t_iota(im, d, all->steps), 1), 2);
  return t_fold(im, "sub", t_fit(im, lengths, dim, 3), t_fit(im, now, dim, 3));
}

static bool
find_lengths(on_import *im, recurrent *all) {
  const on_value *lengths = on_in(im, 4);
  bool alike = !lengths;
  gs_type t;
  all->left = GS_NO_TERM;
  if (lengths &&
      (!on_shape_in(im, 4, &t) || t.rank != 1 || t.dim[0] != all->batch))
    return on_fail(im, "it does not have one length for each sequence");
  if (lengths && lengths->array &&
      !check_lengths(im, lengths->array, all->steps, &alike))
    return false;
  if (!alike)
    all->left = steps_left(im, all, on_type_of(on_type_in(im, 0))->dtype);
  return true;
}

static const char *
activation(on_import *im, const char *name) {
  static const char *const names[][2] = {
      {"Sigmoid", "sigmoid"}, {"Tanh", "tanh"}, {"Relu", "relu"}};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++)
    if (!strcmp(names[k][0], name))
      return names[k][1];
  on_fail(im, "the activation %.40s is not supported", name);
  return "tanh";
}

static void
find_activations(on_import *im, way *w, uint32_t n) {
  static const char *const usual[] = {"Sigmoid", "Tanh", "Tanh"};
  const Onnx__Attribute *a = on_attr(im, "activations");
  uint32_t first = w->d * n;
  for (uint32_t k = 0; k < n; k++) {
    const char *name = n == 1 ? "Tanh" : usual[k];
    char given[41] = "";
    if (a && first + k < a->n_strings) {
      size_t len = a->strings[first + k].len;
      memcpy(given, a->strings[first + k].data, len < 40 ? len : 40);
      name = given;
    }
    w->act[k] = activation(im, name);
  }
}

/* Input k for one direction, without that dimension; none if it is not
 * there. */
static gs_term
of_direction(on_import *im, const way *w, uint32_t k, uint32_t axis) {
  if (!on_in(im, k))
    return GS_NO_TERM;
  return t_squeeze(im, t_slice(im, on_term_in(im, k), axis, w->d, w->d + 1),
                   axis);
}

static gs_term
first_state(on_import *im, const way *w, uint32_t k, gs_dtype d) {
  int64_t dim[] = {w->all->batch, w->all->size};
  gs_term given = of_direction(im, w, k, w->all->turned ? 1 : 0);
  return gs_term_ok(given) || im->failed ? given : t_value(im, d, 0, dim, 2);
}

/* The biases of W and R: added once where the product with R is not scaled by
 * a gate. */
static void
add_biases(on_import *im, way *w, gs_dtype d) {
  int64_t h = w->all->size, n = w->all->gates * h;
  bool gru = im->row->which == ON_GRU;
  gs_term b = of_direction(im, w, 3, 0);
  w->bias = t_value(im, d, 0, &h, 1);
  if (!gs_term_ok(b))
    return;
  gs_term of_r = t_slice(im, b, 0, n, 2 * n);
  w->from_input = combine(im, "add", w->from_input, t_slice(im, b, 0, 0, n));
  if (gru) {
    w->bias = t_slice(im, of_r, 0, 2 * h, 3 * h);
    of_r = t_pad(im, t_slice(im, of_r, 0, 0, 2 * h), "zero", 0, 0, h);
  }
  w->from_input = combine(im, "add", w->from_input, of_r);
}

static bool
open_way(on_import *im, way *w) {
  static const int64_t swap[] = {1, 0, 2};
  gs_type t;
  gs_term x = on_term_in(im, 0);
  if (!t_type(im, x, &t))
    return false;
  find_activations(im, w,
                   im->row->which == ON_LSTM  ? 3
                   : im->row->which == ON_GRU ? 2
                                              : 1);
  if (w->all->turned)
    x = t_transpose(im, x, swap, 3);
  w->from_input = product(im, x, of_direction(im, w, 1, 0));
  w->r = of_direction(im, w, 2, 0);
  w->peephole = of_direction(im, w, 7, 0);
  w->state = first_state(im, w, 5, t.dtype);
  w->cell =
      im->row->which == ON_LSTM ? first_state(im, w, 6, t.dtype) : GS_NO_TERM;
  add_biases(im, w, t.dtype);
  return !im->failed;
}

/* ---- all steps ---- */

/* left: above 0 where the sequence goes on; none: all do. */
static void
step(on_import *im, way *w, gs_term x, gs_term left) {
  static void (*const steps[])(on_import *, way *, gs_term) = {
      [ON_LSTM] = lstm_step, [ON_GRU] = gru_step, [ON_RNN] = rnn_step};
  gs_term state = w->state, cell = w->cell;
  steps[im->row->which](im, w, x);
  if (!gs_term_ok(left))
    return;
  w->state = t_select(im, left, w->state, state);
  if (gs_term_ok(cell))
    w->cell = t_select(im, left, w->cell, cell);
}

/* Item t of what has one for each step; none of none. */
static gs_term
at_step(on_import *im, gs_term all, int64_t t) {
  return gs_term_ok(all) ? t_squeeze(im, t_slice(im, all, 0, t, t + 1), 0)
                         : GS_NO_TERM;
}

/* All states in the order of the inputs: (steps, 1, batch, H). */
static gs_term
write_out(on_import *im, way *w, bool backward) {
  gs_term list[MOST_WRITTEN_OUT], out = GS_NO_TERM;
  int64_t n = w->all->steps;
  for (int64_t k = 0; k < n && !im->failed; k++) {
    int64_t t = backward ? n - 1 - k : k;
    step(im, w, at_step(im, w->from_input, t), at_step(im, w->all->left, t));
    list[t] = t_insert(im, t_insert(im, w->state, 0), 0);
  }
  for (int64_t t = n; t-- > 0 && !im->failed;)
    out = gs_term_ok(out) ? t_concat(im, list[t], out, 0) : list[t];
  return out;
}

/* ---- as a scan ---- */

enum { MOST_OPERANDS = 6 };

/* (2, batch, H): what both are in one. */
static gs_term
with_cell(on_import *im, const way *w) {
  return gs_term_ok(w->cell) ? t_concat(im, t_insert(im, w->state, 0),
                                        t_insert(im, w->cell, 0), 0)
                             : w->state;
}

/* The state or, 1, the cell of such, along that dimension. */
static gs_term
part_of_state(on_import *im, gs_term both, int64_t d, int64_t part) {
  return t_squeeze(im, t_slice(im, both, d, part, part + 1), d);
}

/* A state, what has an item for each step, and what all steps read. */
typedef struct scanned {
  gs_term operands[MOST_OPERANDS];
  uint32_t n_each, n;
} scanned;

/* Parameters for these operands, in a program of their own. */
static bool
add_params(on_import *im, const gs_program *around, const scanned *s,
           gs_term *params) {
  const gs_step one = {.n_each = s->n_each, .n_params = s->n};
  const gs_term *operands = s->operands;
  uint32_t n = s->n;
  for (uint32_t k = 0; k < n; k++) {
    char name[] = {'p', (char)('0' + k), 0};
    gs_type type;
    if (!gs_term_ok(operands[k]))
      return false;
    gs_type_at(around, operands[k], &type);
    gs_step_param(&one, k, &type, &type);
    params[k] = gs_add_tensor(im->p, name, &type, BS_NOWHERE);
  }
  return true;
}

/* The step over parameters: the state, its input, what is left of sequences, if
 * they end, r, and then the bias of what has one, and peepholes. */
static gs_term
next_state(on_import *im, const way *w, const gs_term *params) {
  way inner = *w;
  uint32_t n = 2;
  gs_term left = gs_term_ok(w->all->left) ? params[n++] : GS_NO_TERM;
  bool cell = gs_term_ok(w->cell);
  inner.state = cell ? part_of_state(im, params[0], 0, 0) : params[0];
  inner.cell = cell ? part_of_state(im, params[0], 0, 1) : GS_NO_TERM;
  inner.r = params[n++];
  inner.bias = im->row->which == ON_GRU ? params[n++] : GS_NO_TERM;
  inner.peephole = gs_term_ok(w->peephole) ? params[n++] : GS_NO_TERM;
  step(im, &inner, params[1], left);
  return with_cell(im, &inner);
}

static bool
encode_step(on_import *im, const way *w, const scanned *s, bs_value *attr) {
  gs_program *around = im->p;
  gs_term params[MOST_OPERANDS];
  gs_fault fault = {0};
  im->p = gs_program_new(im->ctx, NULL);
  gs_term next = add_params(im, around, s, params) ? next_state(im, w, params)
                                                   : GS_NO_TERM;
  bool ok = gs_term_ok(next) && !im->failed;
  if (ok && !gs_step_encode(im->p, next, s->n_each, attr, &fault))
    ok = on_fail(im, "%s", fault.message);
  im->p = around;
  im->failed |= !ok;
  return ok;
}

static void
add_operand(scanned *s, gs_term t) {
  if (gs_term_ok(t))
    s->operands[s->n++] = t;
}

static gs_term
in_order(on_import *im, gs_term each, bool backward) {
  return backward && gs_term_ok(each) ? t_reverse(im, each, 0) : each;
}

static scanned
scanned_of(on_import *im, const way *w, bool backward) {
  scanned s = {.operands = {with_cell(im, w)}, .n = 1};
  add_operand(&s, in_order(im, w->from_input, backward));
  add_operand(&s, in_order(im, w->all->left, backward));
  s.n_each = s.n - 1;
  add_operand(&s, w->r);
  if (im->row->which == ON_GRU)
    add_operand(&s, w->bias);
  add_operand(&s, w->peephole);
  return s;
}

static gs_term
scan(on_import *im, way *w, bool backward) {
  int64_t last = w->all->steps - 1;
  bool cell = gs_term_ok(w->cell);
  const scanned s = scanned_of(im, w, backward);
  bs_value attr;
  if (im->failed || !encode_step(im, w, &s, &attr))
    return GS_NO_TERM;
  gs_term all = t_scan(im, attr, s.operands, s.n);
  gs_term end = t_squeeze(im, t_slice(im, all, 0, last, last + 1), 0);
  w->state = cell ? part_of_state(im, end, 0, 0) : end;
  w->cell = cell ? part_of_state(im, end, 0, 1) : GS_NO_TERM;
  if (cell)
    all = part_of_state(im, all, 1, 0);
  return t_insert(im, in_order(im, all, backward), 1);
}

/* All states, and zeros behind the end of a sequence. */
static gs_term
run(on_import *im, way *w, bool backward) {
  const recurrent *all = w->all;
  const int64_t dim[] = {all->steps, 1, all->batch, all->size};
  gs_term out = all->steps > MOST_WRITTEN_OUT ? scan(im, w, backward)
                                              : write_out(im, w, backward);
  if (!gs_term_ok(all->left) || !gs_term_ok(out))
    return out;
  gs_dtype d = on_type_of(on_type_in(im, 0))->dtype;
  return t_select(im, t_insert(im, all->left, 1), out,
                  t_value(im, d, 0, dim, 4));
}

static gs_term
joined(on_import *im, gs_term a, gs_term b, uint32_t axis) {
  return gs_term_ok(a) ? t_concat(im, a, b, axis) : b;
}

/* (directions, batch, H), or with the batch first. */
static void
give_state(on_import *im, const recurrent *all, uint32_t k, gs_term x) {
  static const int64_t swap[] = {1, 0, 2};
  if (on_wants(im, k))
    on_out(im, k, all->turned ? t_transpose(im, x, swap, 3) : x,
           on_type_in(im, 0));
}

void
emit_recurrent(on_import *im) {
  static const int64_t batch_first[] = {2, 0, 1, 3};
  recurrent all = {.gates = im->row->which == ON_LSTM  ? 4
                            : im->row->which == ON_GRU ? 3
                                                       : 1};
  gs_term y = GS_NO_TERM, h = GS_NO_TERM, c = GS_NO_TERM;
  if (!find_sizes(im, &all) || !find_lengths(im, &all))
    return;
  if (gs_is_half(on_type_of(on_type_in(im, 0))->dtype)) {
    on_fail(im, "half floats are not supported");
    return;
  }
  if (on_attr_int(im, "input_forget", 0)) {
    on_fail(im, "coupled gates are not supported");
    return;
  }
  for (uint32_t d = 0; d < all.directions; d++) {
    way w = {.all = &all, .d = d};
    if (!open_way(im, &w))
      return;
    bool backward = d || on_attr_is(im, "direction", "reverse", "forward");
    y = joined(im, y, run(im, &w, backward), 1);
    h = joined(im, h, t_insert(im, w.state, 0), 0);
    if (im->row->which == ON_LSTM)
      c = joined(im, c, t_insert(im, w.cell, 0), 0);
  }
  if (on_wants(im, 0))
    on_out(im, 0, all.turned ? t_transpose(im, y, batch_first, 4) : y,
           on_type_in(im, 0));
  give_state(im, &all, 1, h);
  if (im->row->which == ON_LSTM)
    give_state(im, &all, 2, c);
}
