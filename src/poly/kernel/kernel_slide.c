/* SPDX-License-Identifier: MIT */
/* kernel_slide.c - recognises reductions over windows with linear addresses. */
#include "poly/kernel/kernel_slide.h"
#include "poly/loops/functions.h"
#include "poly/kernel/contraction.h"
#include "poly/loops/affine.h"
#include "poly/loops/bounds.h"
#include "poly/loops/storage.h"
#include <assert.h>
#include <stdlib.h>

typedef struct finding {
  po_reduction l;
  po_slide *out;
} finding;

/* ---- statements ---- */

static bool
is_vector_type(gs_dtype dtype) {
  return dtype == GS_F32 || dtype == GS_F64 || dtype == GS_I32;
}

static const po_stmt *
stmt_of(const finding *f, uint32_t k) {
  assert(k < f->l.p->stmts.len);
  return &f->l.p->stmts.data[k];
}

static const po_stmt *
last_of(const finding *f) {
  return f->out->store == UINT32_MAX ? f->l.update : stmt_of(f, f->out->store);
}

static bool
starts_with_a_number(finding *f) {
  const po_stmt *s = stmt_of(f, f->out->init);
  return s->kind == PO_ASSIGN && s->array == f->l.update->array &&
         s->n_exprs == 1 && s->exprs[0].kind == PO_LITERAL;
}

static bool
has_loops(finding *f) {
  const po_stmt *sum = f->l.update;
  return sum->kind == PO_UPDATE && sum->n_iters <= PO_MAX_DIMS &&
         sum->n_iters > sum->n_outer &&
         stmt_of(f, f->out->init)->n_iters == sum->n_outer &&
         (last_of(f) == sum || last_of(f)->n_iters == sum->n_outer);
}

/* Of the array of sums alone, and nothing is gathered. */
static bool
reads_only(const po_stmt *s, uint32_t array) {
  for (uint32_t k = 0; k < s->n_exprs; k++)
    if (s->exprs[k].kind == PO_GATHER ||
        (s->exprs[k].kind == PO_READ && s->exprs[k].array != array))
      return false;
  return true;
}

static bool
stores_results(finding *f) {
  const po_stmt *last = last_of(f);
  const po_array *arrays = f->l.p->arrays.data;
  f->out->sums = last->array;
  return arrays[last->array].role != PO_LOCAL &&
         arrays[last->array].dtype == f->out->dtype &&
         (last == f->l.update ||
          (last->kind == PO_ASSIGN && reads_only(last, f->l.update->array)));
}

/* All values of the body have one type. */
static bool
has_one_type(finding *f) {
  const po_stmt *s = f->l.update;
  const po_array *arrays = f->l.p->arrays.data;
  gs_dtype dtype = arrays[s->array].dtype;
  f->out->dtype = dtype;
  for (uint32_t k = 0; k < s->n_exprs; k++)
    if (s->exprs[k].dtype != dtype || s->exprs[k].kind == PO_GATHER ||
        (s->exprs[k].kind == PO_READ &&
         arrays[s->exprs[k].array].dtype != dtype))
      return false;
  return is_vector_type(dtype);
}

/* ---- operands ---- */

static bool
is_same_read(const po_sliding *a, const po_expr *e) {
  return a->array == e->array && isl_pw_multi_aff_plain_is_equal(
                                     (isl_pw_multi_aff *)(uintptr_t)a->index,
                                     e->index) == isl_bool_true;
}

static bool
add_read(finding *f, const po_expr *e) {
  po_sliding *both[] = {&f->out->x, &f->out->y};
  for (uint32_t k = 0; k < 2; k++) {
    if (both[k]->index && is_same_read(both[k], e))
      return true;
    if (both[k]->index)
      continue;
    both[k]->array = e->array;
    both[k]->index = e->index;
    return po_find_address(&f->l, e->array, e->index, f->l.n, &both[k]->at);
  }
  return false;
}

static bool
has_two_operands(finding *f) {
  const po_stmt *s = f->l.update;
  f->out->x.array = f->out->y.array = PO_NO_LOOP;
  for (uint32_t k = 0; k < s->n_exprs; k++)
    if (s->exprs[k].kind == PO_READ && !add_read(f, &s->exprs[k]))
      return false;
  return f->out->x.index;
}

static po_slide_body
body_of(const po_slide *c, const po_stmt *s) {
  const po_expr *root = &s->exprs[s->n_exprs - 1];
  if (s->op != GS_C_ADD)
    return PO_SLIDE_OTHER;
  if (root->kind == PO_READ)
    return PO_SLIDE_SUM;
  bool product = root->kind == PO_BINARY && root->op == GS_C_MUL &&
                 s->n_exprs == 3 && c->y.index;
  return product ? PO_SLIDE_PRODUCT : PO_SLIDE_OTHER;
}

/* Loops of the result that move an operand. */
static uint32_t
moves(const po_slide *c, const po_sliding *operand) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < c->n_outer; k++)
    n += operand->at.factor[k] != 0;
  return n;
}

/* x is what windows slide over, y their weights. */
static bool
has_windows(finding *f) {
  po_slide *c = f->out;
  if (c->y.index && moves(c, &c->y) > moves(c, &c->x)) {
    po_sliding swap = c->x;
    c->x = c->y;
    c->y = swap;
  }
  c->body = body_of(c, f->l.update);
  for (uint32_t k = 0; k < c->n_outer; k++)
    if (c->extent[k] > 1 && !c->x.at.factor[k])
      return false;
  return true;
}

static bool
fills_a_box(finding *f) {
  if (!po_find_box(&f->l, stmt_of(f, f->out->init)))
    return false;
  for (uint32_t k = 0; k < f->l.n; k++)
    f->out->extent[k] = f->l.extent[k];
  return true;
}

static bool
agrees_on_elements(finding *f) {
  const po_stmt *last = last_of(f);
  return po_sums_agree(&f->l, stmt_of(f, f->out->init),
                       last == f->l.update ? NULL : last);
}

/* ---- results ---- */

static bool
stores_a_formula(finding *f) {
  po_slide *c = f->out;
  po_walk at[1 + PO_MAX_EXTRAS];
  uint32_t last = c->store == UINT32_MAX ? c->update : c->store;
  const po_stmt *s = stmt_of(f, c->formula);
  if (f->l.p->arrays.data[s->array].dtype != c->dtype ||
      !po_find_formula(&f->l, last, c->formula, c->sums, at, c->extras,
                       &c->n_extras))
    return false;
  c->array = s->array;
  c->c = at[0];
  for (uint32_t k = 0; k < c->n_extras; k++)
    c->extra[k] = at[1 + k];
  return true;
}

static bool
has_linear_results(finding *f) {
  const po_stmt *last = last_of(f);
  po_slide *c = f->out;
  if (c->formula != UINT32_MAX)
    return stores_a_formula(f);
  c->array = last->array;
  return po_find_address(&f->l, last->array, last->write, last->n_iters, &c->c);
}

/* Each element is made from one window, and from no other element of the
 * formula's. */
static bool
makes_others(finding *f) {
  const po_slide *c = f->out;
  for (uint32_t k = 0; k < c->n_outer; k++)
    if (c->extent[k] > 1 && !c->c.factor[k])
      return false;
  for (uint32_t k = 0; k < c->n_extras; k++)
    if (c->extras[k].array == c->array)
      return false;
  return c->sums == c->array ||
         (c->x.array != c->sums && c->y.array != c->sums);
}

/* ---- borders ---- */

/* Its one loop of the result, its one tap. */
static bool
add_border(po_slide *c, const po_guard *guard) {
  po_border *b = &c->borders[c->n_borders++];
  *b = (po_border){PO_NO_LOOP, PO_NO_LOOP, guard->constant, 0, 0};
  for (uint32_t k = 0; k < c->n; k++) {
    uint32_t *which = k < c->n_outer ? &b->loop : &b->tap;
    if (!guard->factor[k])
      continue;
    if (*which != PO_NO_LOOP)
      return false;
    *which = k;
    *(k < c->n_outer ? &b->outer : &b->inner) = guard->factor[k];
  }
  return b->loop != PO_NO_LOOP && b->tap != PO_NO_LOOP;
}

static bool
has_borders(finding *f) {
  if (!po_find_guards(&f->l))
    return false;
  for (uint32_t k = 0; k < f->l.n_guards; k++)
    if (!add_border(f->out, &f->l.guards[k]))
      return false;
  return true;
}

/* ---- operands in the array of the results ---- */

/* The first loop that moves x as far as it moves the results, as that of the
 * images of a batch does; no border asks for its index. */
static uint32_t
loop_of_parts(const po_slide *c) {
  uint32_t k = 0;
  while (k < c->n_outer && c->extent[k] == 1)
    k++;
  if (k == c->n_outer || c->x.at.factor[k] != c->c.factor[k])
    return PO_NO_LOOP;
  for (uint32_t j = 0; j < c->n_borders; j++)
    if (c->borders[j].loop == k)
      return PO_NO_LOOP;
  return k;
}

/* The elements that are read while `parts` is at its start. */
static bool
find_span(const finding *f, po_sliding *operand) {
  const po_array *array = &f->l.p->arrays.data[operand->array];
  isl_set *domain = isl_set_copy(f->l.update->domain);
  isl_pw_aff *address = po_linear_pw(operand->index, array->dim);
  if (f->out->parts != PO_NO_LOOP)
    domain = isl_set_fix_si(domain, isl_dim_set, f->out->parts, 0);
  address = isl_pw_aff_intersect_domain(address, domain);
  return po_bounds_of_values(address, &operand->first, &operand->last);
}

/* The elements that are written while `parts` is at its start. */
static void
find_written(const po_slide *c, int64_t *first, int64_t *last) {
  *first = *last = c->c.base;
  for (uint32_t k = 0; k < c->n_outer; k++) {
    int64_t step = c->c.factor[k] * (c->extent[k] - 1);
    if (k != c->parts)
      *(step < 0 ? first : last) += step;
  }
}

/* Before the results or behind them, in each part. */
static bool
lies_apart(finding *f) {
  po_slide *c = f->out;
  int64_t first, last, part = INT64_MAX;
  if (!find_span(f, &c->x))
    return false;
  find_written(c, &first, &last);
  if (c->parts != PO_NO_LOOP)
    part = llabs(c->c.factor[c->parts]);
  int64_t from = first < c->x.first ? first : c->x.first;
  int64_t to = last > c->x.last ? last : c->x.last;
  return (last < c->x.first || c->x.last < first) && to - from < part;
}

static bool
reads_others(finding *f) {
  po_slide *c = f->out;
  c->parts = PO_NO_LOOP;
  c->x.first = c->y.first = 0;
  c->x.last = po_elements(&f->l.p->arrays.data[c->x.array]) - 1;
  if (c->y.index)
    c->y.last = po_elements(&f->l.p->arrays.data[c->y.array]) - 1;
  if (c->y.index && c->y.array == c->array)
    return false;
  if (c->x.array != c->array || lies_apart(f))
    return true;
  c->parts = loop_of_parts(c);
  return c->parts != PO_NO_LOOP && lies_apart(f);
}

bool
po_is_costly_formula(const po_stmt *s) {
  for (uint32_t k = 0; k < s->n_exprs; k++) {
    const po_expr *e = &s->exprs[k];
    if (e->kind == PO_UNARY && po_is_costly(e->op))
      return true;
  }
  return false;
}

bool
po_has_filler(const po_program *p, const po_slide *c) {
  const po_stmt *s = &p->stmts.data[c->update];
  return (s->op == GS_C_MAX || s->op == GS_C_MIN) && s->n_exprs == 1 &&
         p->stmts.data[c->init].exprs[0].literal == po_fold_start(s->op);
}

bool
po_tap_is_there(const po_slide *c, uint32_t loop, int64_t at, uint32_t tap,
                int64_t k) {
  assert(loop < c->n && tap < c->n);
  for (uint32_t j = 0; j < c->n_borders; j++) {
    const po_border *b = &c->borders[j];
    if (b->loop == loop && b->tap == tap &&
        b->constant + b->outer * at + b->inner * k < 0)
      return false;
  }
  return true;
}

/* ---- all of it ---- */

/* In this order: each may ask for what those before it found. */
static bool (*const CHECKS[])(finding *) = {
    has_loops,          starts_with_a_number, has_one_type,     stores_results,
    fills_a_box,        agrees_on_elements,   has_two_operands, has_windows,
    has_linear_results, makes_others,         has_borders,      reads_others,
};

bool
po_find_slide(po_program *p, uint32_t init, uint32_t update, uint32_t store,
              uint32_t formula, po_slide *out) {
  assert(update < p->stmts.len);
  const po_stmt *sum = &p->stmts.data[update];
  *out = (po_slide){.init = init,
                    .update = update,
                    .store = store,
                    .formula = formula,
                    .n = sum->n_iters,
                    .n_outer = sum->n_outer};
  finding f = {
      .l = {.p = p, .update = sum, .n = sum->n_iters, .n_outer = sum->n_outer},
      .out = out};
  for (uint32_t k = 0; k < sizeof CHECKS / sizeof *CHECKS; k++)
    if (!CHECKS[k](&f))
      return false;
  return true;
}
