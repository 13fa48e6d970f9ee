/* SPDX-License-Identifier: MIT */
/* symbolic_compute.c - an element of what a compute operator makes.
 *
 * A tuple of few is written out; items beyond are variables of a frame of
 * their own, in which cases are told apart: each case is a part of the
 * reduction, over the items for which it holds. */
#include "glenside/array/tensor.h"
#include "prove/symbolic/symbolic_form.h"
#include <assert.h>
#include <string.h>

enum { FEW = 4 };

typedef struct computing {
  fm_form *f;
  const fm_side *side;
  const fm_node *node;
  uint32_t kid;
  const fm_type *from;
  const fm_number *index;
  pv_compute c;
} computing;

static pv_value
element(const computing *x, const fm_number *index) {
  return fm_element(x->f, x->side, x->kid, index);
}

/* --- elementwise ---------------------------------------------------------- */

static pv_value
parameter(const computing *x, uint32_t k) {
  assert(k < x->node->o.n);
  const fm_operator *o = &x->node->o;
  gs_dtype d = x->c.dtype;
  pv_number number;
  double real = gs_literal_value(d, o->param[k].real);
  pv_value p =
      o->param[k].written
          ? pv_real_value(&x->f->elements, d, pv_taken_number(x->c.op, d, real))
          : fm_value_of(x->f, d, o->param[k].number);
  if (pv_is_integer(d) || !p || !pv_is_number(&x->f->elements, p, &number))
    return p;
  real = gs_literal_value(d, pv_number_real(number));
  return pv_real_value(&x->f->elements, d, pv_taken_number(x->c.op, d, real));
}

static pv_value
extremum_with(const computing *x, bool max, pv_value a, pv_value b) {
  pv_value both[2] = {a, b};
  if (!a || !b)
    return 0;
  return pv_extremum(&x->f->elements, x->c.dtype, max, both, 2);
}

static bool
is_zero(const computing *x, pv_value a) {
  pv_number n;
  return pv_is_number(&x->f->elements, a, &n) && !n.num;
}

/* With parameters that are no literals; scale and offset wrap. */
static pv_value
with_parameters(const computing *x, pv_value a) {
  pv_values *v = &x->f->elements;
  gs_dtype d = x->c.dtype;
  uint32_t slot = x->node->o.slot, mark;
  pv_need_held(v, a);
  if (slot < FM_SLOTS && x->f->maps_zero[slot] && is_zero(x, a))
    return a;
  pv_value p = parameter(x, 0);
  switch (gs_compute_table[x->c.op].form) {
  case GS_FORM_SCALE:
    return pv_multiply(v, d, a, p);
  case GS_FORM_OFFSET:
    mark = pv_sum_open(v);
    pv_sum_add(v, d, PV_ONE, a);
    pv_sum_add(v, d, PV_ONE, p);
    return pv_sum_close(v, d, mark);
  case GS_FORM_CLIP:
    return extremum_with(x, false, extremum_with(x, true, a, p),
                         parameter(x, 1));
  case GS_FORM_NONE:
  case GS_FORM_NEGATE:
  case GS_FORM_ABS:
  case GS_FORM_RELU:
  case GS_FORM_FLOOR:
  case GS_FORM_SQUARE:
  case GS_FORM_FUNCTION:
    break;
  }
  fm_fail(x->f, "an operator with parameters");
  return 0;
}

/* The name of an operator of which nothing is known. */
static gs_compute
any_operator(const computing *x) {
  return (gs_compute)(GS_COMPUTE_COUNT + x->node->o.slot);
}

static pv_value
any_elementwise(const computing *x, pv_value a) {
  if (x->f->maps_zero[x->node->o.slot] && is_zero(x, a))
    return a;
  return pv_apply_op(&x->f->elements, x->c.dtype, any_operator(x), 0, false, &a,
                     1);
}

static pv_value
elementwise(const computing *x) {
  pv_value a = element(x, x->index);
  if (!a || x->f->why)
    return 0;
  if (x->node->o.any)
    return any_elementwise(x, a);
  return x->node->o.n && x->c.op != GS_C_CAST
             ? with_parameters(x, a)
             : pv_elementwise(&x->f->elements, &x->c, a);
}

/* --- items ---------------------------------------------------------------- */

/* Indices of items: those of S, a tuple's place, variables for the others. */
typedef struct items {
  fm_number index[GS_MAX_RANK];
  fm_reduction box;
} items;

static void
open_items(const computing *x, items *it, uint32_t from) {
  assert(from <= x->from->rank);
  fm_form *f = x->f;
  memset(&it->box, 0, sizeof it->box);
  memcpy(it->index, x->index, x->from->access * sizeof *it->index);
  for (uint32_t k = from; k < x->from->rank; k++) {
    uint8_t v = fm_variable(f, (fm_var){.kind = FM_V_BOUND,
                                        .frame = (uint8_t)f->frames,
                                        .natural = true,
                                        .key = (uint16_t)k});
    it->index[k] = fm_of_variable(f, v);
    if (fm_is_one(f, x->from->dim[k])) {
      it->index[k] = fm_constant(f, 0);
      continue;
    }
    it->box.var[it->box.n] = v;
    it->box.low[it->box.n] = fm_constant(f, 0);
    it->box.high[it->box.n++] = fm_normal(f, x->from->dim[k]);
  }
}

static void
know_items(fm_form *f, const items *it) {
  if (f->n_rows + 2 * it->box.n > FM_ROWS) {
    fm_fail(f, "too many conditions");
    return;
  }
  for (uint32_t k = 0; k < it->box.n; k++) {
    fm_number v = fm_of_variable(f, it->box.var[k]);
    fm_know(f, fm_combine(f, 1, v, -1, it->box.low[k], 0));
    fm_know(f, fm_combine(f, 1, it->box.high[k], -1, v, -1));
  }
}

/* The case of the path that was just gone. */
static void
take_guards(fm_form *f, fm_reduction *box) {
  const fm_frame *frame = &f->frame[f->frames];
  box->n_guards = 0;
  for (uint32_t k = 0; k < frame->at; k++) {
    fm_number x = frame->asked[k];
    if (frame->second >> k & 1)
      x = fm_combine(f, -1, x, 0, x, -1);
    box->guard[box->n_guards++] = x;
  }
}

/* What one item is, given its index. */
typedef pv_value (*item_fn)(const computing *, items *);

typedef struct cases {
  uint32_t n;
  fm_reduction box[FM_CASES];
  pv_value body[FM_CASES];
} cases;

static void
find_cases(const computing *x, items *it, item_fn item, cases *out) {
  fm_form *f = x->f;
  do {
    fm_start(f);
    know_items(f, it);
    pv_value body = item(x, it);
    if (out->n == FM_CASES)
      fm_fail(f, "too many cases of an item");
    if (f->why)
      return;
    out->box[out->n] = it->box;
    take_guards(f, &out->box[out->n]);
    out->body[out->n++] = body;
  } while (fm_next(f));
}

static pv_value
join_cases(const computing *x, gs_compute kind, gs_dtype d,
           const pv_value *made, uint32_t n) {
  pv_values *v = &x->f->elements;
  const gs_compute_info *info =
      kind < GS_COMPUTE_COUNT ? &gs_compute_table[kind] : NULL;
  uint32_t mark;
  pv_value all;
  switch (info && info->is_associative ? info->fold : GS_FOLD_NONE) {
  case GS_FOLD_ADD:
    mark = pv_sum_open(v);
    for (uint32_t k = 0; k < n; k++)
      pv_sum_add(v, d, PV_ONE, made[k]);
    return pv_sum_close(v, d, mark);
  case GS_FOLD_MAX:
  case GS_FOLD_MIN:
    if (n)
      return pv_extremum(v, d, info->fold == GS_FOLD_MAX, made, n);
    fm_fail(x->f, "an extremum of nothing");
    return 0;
  case GS_FOLD_MUL:
    all = pv_number_value(v, d, PV_ONE);
    for (uint32_t k = 0; k < n; k++)
      all = n == 1 ? made[k] : pv_multiply(v, d, all, made[k]);
    return all;
  case GS_FOLD_SUB:
  case GS_FOLD_DIV:
  case GS_FOLD_NONE:
  case GS_FOLD_COUNT:
    break;
  }
  if (n == 1)
    return made[0];
  fm_fail(x->f, "cases of items that an operator takes together");
  return 0;
}

/* The cases reduced, and joined. */
static pv_value
reduce_cases(const computing *x, gs_compute kind, gs_dtype d, cases *found) {
  fm_form *f = x->f;
  fm_frame *frame = &f->frame[f->frames];
  pv_value made[FM_CASES] = {0};
  uint32_t n = 0;
  for (uint32_t k = 0; k < found->n && !f->why; k++) {
    bool none;
    found->box[k].kind = (uint16_t)kind;
    frame->at = frame->n = 0;
    pv_value one = fm_reduce(f, d, &found->box[k], found->body[k], &none);
    if (!none)
      made[n++] = one;
    if (frame->at)
      fm_fail(f, "cases of an item, once more");
  }
  return f->why ? 0 : join_cases(x, kind, d, made, n);
}

/* A reduction of what `item` says, over items from dimension `from` on. */
static pv_value
reduced(const computing *x, gs_compute kind, gs_dtype d, uint32_t from,
        item_fn item) {
  fm_form *f = x->f;
  items it;
  cases found = {0};
  if (!fm_open(f))
    return 0;
  open_items(x, &it, from);
  find_cases(x, &it, item, &found);
  pv_value made = reduce_cases(x, kind, d, &found);
  fm_close(f);
  return f->why ? 0 : made;
}

static pv_value
plain_item(const computing *x, items *it) {
  return element(x, it->index);
}

/* --- reductions ----------------------------------------------------------- */

static fm_number
item_count(const computing *x) {
  fm_number n = fm_constant(x->f, 1);
  for (uint32_t k = x->from->access; k < x->from->rank; k++)
    n = fm_product(x->f, n, x->from->dim[k]);
  return n;
}

static pv_value
mean(const computing *x) {
  pv_values *v = &x->f->elements;
  gs_dtype d = x->c.dtype;
  pv_value count, both[2];
  both[0] = reduced(x, GS_C_REDUCE_SUM, d, x->from->access, plain_item);
  if (!both[0] || is_zero(x, both[0]))
    return both[0];
  count = fm_value_of(x->f, pv_is_real(d) ? d : GS_F64, item_count(x));
  if (!count)
    return 0;
  if (pv_is_real(d))
    return pv_multiply(v, d, both[0], pv_recip(v, d, count));
  both[1] = count;
  return pv_apply_op(v, d, GS_C_REDUCE_MEAN, 0, false, both, 2);
}

static pv_value
reduce(const computing *x) {
  if (x->node->o.any)
    return reduced(x, any_operator(x), x->c.dtype, x->from->access, plain_item);
  if (x->c.op == GS_C_REDUCE_MEAN)
    return mean(x);
  return reduced(x, x->c.op, x->c.dtype, x->from->access, plain_item);
}

/* --- tuples --------------------------------------------------------------- */

/* How many are in the tuple: 0 when that is not known, or many. */
static uint32_t
tuple_size(const computing *x) {
  int64_t n;
  return fm_is_constant(x->f, x->from->dim[x->from->access], &n) && n >= 1 &&
                 n <= FEW
             ? (uint32_t)n
             : 0;
}

static pv_value
product_of_tuple(const computing *x, items *it) {
  fm_form *f = x->f;
  pv_values *v = &f->elements;
  gs_dtype d = x->c.dtype;
  uint32_t n = tuple_size(x);
  pv_value all = 0;
  for (uint32_t k = 0; k < n && !f->why; k++) {
    it->index[x->from->access] = fm_constant(f, k);
    pv_value one = pv_embed(v, d, element(x, it->index));
    all = k ? pv_multiply(v, d, all, one) : one;
  }
  return all;
}

static pv_value
factor(const computing *x, items *it) {
  return pv_embed(&x->f->elements, x->c.dtype, element(x, it->index));
}

/* What `item` says of the places of a tuple from `first` on, with the other
 * indices given. */
static pv_value
reduced_tuple(const computing *x, gs_compute kind, const fm_number *index,
              int64_t first, item_fn item) {
  fm_form *f = x->f;
  computing one = *x;
  uint32_t a = x->from->access;
  items it;
  cases found = {0};
  one.index = index;
  if (!fm_open(f))
    return 0;
  open_items(&one, &it, a);
  for (uint32_t k = a + 1; k < x->from->rank; k++)
    it.index[k] = index[k];
  it.box.n = fm_is_one(f, x->from->dim[a]) ? 0 : 1;
  it.box.low[0] = fm_constant(f, first);
  find_cases(&one, &it, item, &found);
  pv_value made = reduce_cases(&one, kind, x->c.dtype, &found);
  fm_close(f);
  return f->why ? 0 : made;
}

/* The product of a tuple of any size: a frame inside the one of the items. */
static pv_value
product_of_many(const computing *x, items *it) {
  fm_number index[GS_MAX_RANK];
  memcpy(index, it->index, sizeof index);
  return reduced_tuple(x, GS_C_REDUCE_PROD, index, 0, factor);
}

static pv_value
dot(const computing *x) {
  return reduced(x, GS_C_REDUCE_SUM, x->c.dtype, x->from->access + 1,
                 tuple_size(x) ? product_of_tuple : product_of_many);
}

/* The item of a result's element, at a place of the tuple. */
static void
tuple_index(const computing *x, fm_number *index) {
  uint32_t a = x->from->access;
  memcpy(index, x->index, a * sizeof *index);
  index[a] = fm_constant(x->f, 0);
  for (uint32_t k = a + 1; k < x->from->rank; k++)
    index[k] = x->index[k - 1];
}

static pv_value
fold_few(computing *x, uint32_t n) {
  assert(n <= FEW);
  fm_form *f = x->f;
  fm_number index[GS_MAX_RANK];
  pv_value in[FEW], out = 0;
  tuple_index(x, index);
  for (uint32_t k = 0; k < n && !f->why; k++) {
    index[x->from->access] = fm_constant(f, k);
    in[k] = element(x, index);
    if (!in[k])
      return 0;
  }
  if (x->node->o.any)
    return f->why ? 0
                  : pv_apply_op(&f->elements, x->c.dtype, any_operator(x), 0,
                                false, in, n);
  x->c.tuple = n;
  if (!f->why)
    pv_compute_item(&f->elements, &x->c, in, n, &out);
  return out;
}

static gs_compute
kind_of_fold(const computing *x) {
  switch (gs_compute_table[x->c.op].fold) {
  case GS_FOLD_ADD:
  case GS_FOLD_SUB:
    return GS_C_REDUCE_SUM;
  case GS_FOLD_MUL:
    return GS_C_REDUCE_PROD;
  case GS_FOLD_MAX:
    return GS_C_REDUCE_MAX;
  case GS_FOLD_MIN:
    return GS_C_REDUCE_MIN;
  case GS_FOLD_DIV:
    return pv_is_real(x->c.dtype) ? GS_C_REDUCE_PROD : GS_C_DIV;
  case GS_FOLD_NONE:
  case GS_FOLD_COUNT:
    break;
  }
  return x->c.op; /* of a sequence */
}

/* x0 - x1 - ... is x0 - (x1 + ...), and likewise with quotients of real
 * numbers: of all items, x0 is the one that may be 0, and that no rounding of
 * the others meets. */
static pv_value
fold_first(const computing *x, const fm_number *index) {
  pv_values *v = &x->f->elements;
  gs_dtype d = x->c.dtype;
  pv_value first = element(x, index);
  if (!first || fm_is_one(x->f, x->from->dim[x->from->access]))
    return first;
  pv_value rest = reduced_tuple(x, kind_of_fold(x), index, 1, plain_item);
  if (!rest)
    return 0;
  if (x->c.op == GS_C_DIV)
    return pv_multiply(v, d, first, pv_recip(v, d, rest));
  uint32_t mark = pv_sum_open(v);
  pv_sum_add(v, d, PV_ONE, first);
  pv_sum_add(v, d, pv_number_of_int(d, -1), rest);
  return pv_sum_close(v, d, mark);
}

static pv_value
fold_many(const computing *x) {
  fm_number index[GS_MAX_RANK];
  tuple_index(x, index);
  if (x->node->o.any)
    return reduced_tuple(x, any_operator(x), index, 0, plain_item);
  if (x->c.op == GS_C_SUB || (x->c.op == GS_C_DIV && pv_is_real(x->c.dtype)))
    return fold_first(x, index);
  return reduced_tuple(x, kind_of_fold(x), index, 0, plain_item);
}

static pv_value
fold(computing *x) {
  uint32_t n = tuple_size(x);
  return n ? fold_few(x, n) : fold_many(x);
}

/* --- softmax and tables --------------------------------------------------- */

static pv_value
exponential_item(const computing *x, items *it) {
  pv_value a = element(x, it->index);
  return a ? pv_exponential(&x->f->elements, x->c.dtype, a) : 0;
}

/* A quotient of exponentials where all items are real numbers: beside an
 * infinity a softmax is NaN, and e / oo is 0. */
static pv_value
softmax(const computing *x) {
  pv_values *v = &x->f->elements;
  gs_dtype d = x->c.dtype;
  pv_value args[2];
  args[0] = element(x, x->index);
  args[1] =
      args[0] && pv_is_real(d)
          ? reduced(x, GS_C_REDUCE_SUM, d, x->from->access, exponential_item)
          : 0;
  if (!args[0] || (!args[1] && pv_is_real(d)))
    return 0;
  if (pv_is_real(d) && !pv_at(v, args[0])->partial &&
      !pv_at(v, args[1])->partial)
    return pv_multiply(v, d, pv_exponential(v, d, args[0]),
                       pv_recip(v, d, args[1]));
  args[1] = reduced(x, GS_C_SOFTMAX, d, x->from->access, plain_item);
  return args[1] ? pv_apply_op(v, d, GS_C_SOFTMAX, 0, true, args, 2) : 0;
}

static pv_value
table_item(const computing *x, items *it) {
  it->index[x->from->access] = fm_constant(x->f, 0);
  return element(x, it->index);
}

/* What the index picks of the table, a sequence.  Where all items are one
 * number it is that one, whatever the index is. */
static pv_value
from_table(const computing *x, pv_value index, pv_value table) {
  assert(x->c.dtype < GS_DTYPE_COUNT);
  pv_values *v = &x->f->elements;
  pv_value args[2] = {index, table};
  pv_number all;
  if (!index || !table)
    return 0;
  if (!pv_is_number(v, table, &all))
    return pv_apply_op(v, x->c.dtype, GS_C_GATHER, 0, false, args, 2);
  pv_drop(v, index);
  return table;
}

static pv_value
gather(const computing *x) {
  fm_form *f = x->f;
  fm_number index[GS_MAX_RANK];
  tuple_index(x, index);
  index[x->from->access] = fm_constant(f, 1);
  pv_value at = element(x, index);
  return from_table(
      x, at,
      at ? reduced(x, GS_C_GATHER, x->c.dtype, x->from->access + 1, table_item)
         : 0);
}

/* The first n items are the table, a sequence; the others lie behind it. */
static pv_value
lookup(const computing *x) {
  fm_form *f = x->f;
  fm_number index[GS_MAX_RANK], n = x->node->o.param[0].number;
  uint32_t d = x->from->access;
  fm_type table = *x->from;
  computing in = *x;
  memcpy(index, x->index, x->from->rank * sizeof *index);
  index[d] = fm_combine(f, 1, index[d], 1, n, 0);
  table.dim[d] = n;
  in.from = &table;
  pv_value at = element(x, index);
  return from_table(
      x, at, at ? reduced(&in, GS_C_GATHER, x->c.dtype, d, plain_item) : 0);
}

pv_value
fm_compute_element(fm_form *f, const fm_side *side, const fm_node *node,
                   const fm_number *index) {
  assert(node->sk->op == GS_COMPUTE && node->sk->n_kids == 1);
  uint32_t kid = node->sk->kids[0];
  computing x = {.f = f,
                 .side = side,
                 .node = node,
                 .kid = kid,
                 .from = &side->node[kid].type,
                 .index = index,
                 .c = {.values = f->values,
                       .op = node->o.op,
                       .from = side->node[kid].type.dtype,
                       .dtype = node->type.dtype,
                       .tuple = 1}};
  switch (gs_compute_table[node->o.op].kind) {
  case GS_ELEMENTWISE:
  case GS_CAST:
    return elementwise(&x);
  case GS_REDUCE:
    return reduce(&x);
  case GS_DOT:
    return dot(&x);
  case GS_FOLD:
    return fold(&x);
  case GS_SELECT:
    return fold_few(&x, 3);
  case GS_SOFTMAX:
    return softmax(&x);
  case GS_GATHER:
    return gather(&x);
  case GS_LOOKUP:
    return lookup(&x);
  }
  return 0;
}
