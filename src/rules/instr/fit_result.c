/* SPDX-License-Identifier: MIT */
/* fit_result.c - what calls give, put together: the result of an assignment,
 * and that of parts. */
#include "glenside/target/machine.h"
#include "rules/instr/fit_build.h"
#include <assert.h>

/* The dimensions of the whole, or of a slice the atoms. */
static void
end_dims_of_result(const building *b, parts *to) {
  const fit_match *m = b->m;
  for (uint32_t d = 0; d < m->type.rank && !b->slice; d++)
    fit_end_dim(to, m->type.dim[d]);
  for (uint32_t k = 0; k < b->s->result.n && b->slice; k++) {
    uint32_t atom = b->s->result.atom[k], cut = fit_cut_of(b, atom);
    fit_end_dim(to, cut < FIT_SLICED ? b->slice->of[cut].size
                                     : fit_whole_size(b, atom));
  }
}

/* What is added to the result is cut off again by a view: a copy would only be
 * another such array. */
static bool
is_padded(const building *b) {
  bool any = false;
  for (uint32_t k = 0; b->slice && k < b->slice->n; k++) {
    uint32_t atom = b->slice->of[k].atom;
    any |= b->slice->of[k].size > fit_whole_size(b, atom) &&
           fit_place_of(&b->s->result, atom) < b->s->result.n;
  }
  return any;
}

/* Nothing moves results to where the host could copy them. */
static bool
stays(const building *b) {
  const gs_operand *o = &b->m->f->instr->result;
  return o->memory && !gs_hops(b->m->session->target, o->dtype, o->memory, 0);
}

/* What calls leave of a reduction stands behind the dimensions of the result.
 */
static bool
put_stages(const building *b, parts *to) {
  int64_t all = 1;
  for (uint32_t i = 0; i < b->s->n; i++)
    if (fit_is_staged(b->m->f, &b->s->atom[i]) && b->a->rest[i] > 1) {
      fit_put_rest(b, i, to);
      all *= b->a->rest[i];
    }
  if (all > 1)
    fit_end_dim(to, all);
  return all > 1;
}

/* What calls leave is reduced by the operator of the instruction's root. */
static void
reduce_stages(building *b) {
  gs_compute op = b->m->f->node[0].op;
  bs_value spec = bs_sym(b->m->session->ctx.values, gs_compute_table[op].name);
  fit_add_view(b, GS_COMPUTE, &spec, 1);
}

static bool
is_well(const building *b) {
  const fit_match *m = b->m;
  parts rows;
  fit_list_of_atoms(b, &b->s->result, &rows);
  return !m->f->in_memory || is_padded(b) ||
         fit_lies_well(b, &m->f->result, m->f->instr->n_operands, &rows,
                       &m->lie[FIT_OPERANDS]);
}

bool
fit_leaves_well(const fit_match *m, const fit_space *s, const fit_slice *slice,
                const fit_assignment *a) {
  building b = {.m = m, .s = s, .a = a, .slice = slice, .mode = FIT_PRICE};
  return is_well(&b);
}

static void
build_result(building *b, rl_fit *calls) {
  const fit_match *m = b->m;
  parts from, to;
  fit_list_of_call(b, &m->f->result, UINT32_MAX, &from);
  fit_list_of_atoms(b, &b->s->result, &to);
  end_dims_of_result(b, &to);
  uint32_t access = to.n_dims;
  bool staged = put_stages(b, &to);
  bool well = staged || (b->slice && b->slice->is_taken) || is_well(b);
  b->failed |= !well && stays(b);
  if (!well)
    fit_copy(b);
  if (staged)
    calls->cycles +=
        (double)gs_elements(&b->type) /
        gs_operations_a_cycle(m->session->target, GS_RATE_SCALAR, GS_F32);
  fit_rearrange(b, &from, &to, b->slice || staged ? access : m->type.access);
  if (staged)
    reduce_stages(b);
}

static void
build(building *b, const gs_instr *into, rl_fit *calls) {
  fit_find_over(b);
  if (b->slice && b->slice->onto)
    fit_build_onto(b, calls);
  else
    fit_build_call(b, fit_has_sums(&b->over) ? into : NULL, calls);
  if (!b->failed)
    build_result(b, calls);
  if (!b->failed)
    calls->cycles += b->copied / gs_operations_a_cycle(b->m->session->target,
                                                       GS_RATE_SCALAR, GS_F32);
}

eg_class
fit_build(fit_match *m, const fit_space *s, const fit_assignment *a,
          const gs_instr *into, fit_mode mode, rl_fit *calls) {
  building b = {.m = m, .s = s, .a = a, .mode = mode};
  build(&b, into, calls);
  return b.failed ? EG_NO_CLASS : b.cls;
}

/* ---- parts of a whole ---- */

bool
fit_price_slice(fit_match *m, const fit_space *s, const fit_slice *slice,
                const fit_assignment *a, const gs_instr *into, rl_fit *calls) {
  building b = {.m = m, .s = s, .a = a, .slice = slice, .mode = FIT_PRICE};
  build(&b, into, calls);
  return !b.failed;
}

uint32_t
fit_place_of(const fit_list *list, uint32_t atom) {
  assert(list->n <= FIT_ATOMS);
  uint32_t at = 0;
  while (at < list->n && list->atom[at] != atom)
    at++;
  return at;
}

/* One behind the other along a digit of the result. */
static void
join(building *whole, const fit_wide *two, uint32_t atom, fit_wide *out) {
  assert(atom < whole->s->n);
  bs_values *values = whole->m->session->ctx.values;
  const gs_type *types[2] = {&two[0].type, &two[1].type};
  eg_class kids[2] = {two[0].cls, two[1].cls};
  bs_value dim = bs_int(values, fit_place_of(&whole->s->result, atom));
  fit_add_node(whole, GS_CONCAT, bs_list(values, &dim, 1), kids, types, 2);
  *out = (fit_wide){.cls = whole->cls, .type = whole->type};
}

/* Without what padded digits add to the result. */
static void
crop(building *whole, const fit_cut *cut) {
  bs_values *values = whole->m->session->ctx.values;
  const fit_list *list = &whole->s->result;
  for (uint32_t k = 0; k < cut->n; k++) {
    uint32_t at = fit_place_of(list, cut->atom[k]);
    bs_value items[3] = {bs_int(values, at), bs_int(values, 0),
                         bs_int(values, whole->s->atom[cut->atom[k]].size)};
    if (at < list->n)
      fit_add_view(whole, GS_SLICE, items, 3);
  }
}

static void
build_part(building *whole, const fit_cut *cut, uint32_t k,
           const gs_instr *into, const fit_onto *onto, fit_wide *out) {
  assert(k < fit_parts_of(cut));
  fit_slice slice = fit_slice_of(whole->s, cut, k);
  slice.onto = onto;
  building b = *whole;
  rl_fit calls;
  b.a = &cut->a[k];
  b.slice = &slice;
  build(&b, into, &calls);
  whole->failed |= b.failed;
  *out = (fit_wide){.cls = b.cls, .type = b.type};
}

static bs_value
fold_of(const fit_match *m) {
  gs_compute op = gs_fold_operator(gs_compute_table[m->f->node[0].op].fold);
  return bs_sym(m->session->ctx.values, gs_compute_table[op].name);
}

double
fit_fold_cycles(const fit_match *m, const fit_space *part) {
  gs_type type = fit_type_of_part(m, part);
  return (double)gs_elements(&type) /
         gs_operations_a_cycle(m->session->target, GS_RATE_SCALAR, GS_F32);
}

/* What the calls of two parts reduce, as one. */
static void
fold(building *whole, const fit_wide *two, fit_wide *out) {
  const gs_type *types[2] = {&two[0].type, &two[1].type};
  eg_class kids[2] = {two[0].cls, two[1].cls};
  bs_value spec = fold_of(whole->m);
  fit_add_node(whole, GS_PAIR, bs_list(whole->m->session->ctx.values, NULL, 0),
               kids, types, 2);
  fit_add_view(whole, GS_COMPUTE, &spec, 1);
  *out = (fit_wide){.cls = whole->cls, .type = whole->type};
}

/* Part k of the result, of which a sum, or another reduction, may be cut. */
static void
build_sums(building *whole, const fit_cut *cut, uint32_t k,
           const gs_instr *into, fit_wide *out) {
  assert(cut->sums <= 1);
  fit_onto onto;
  fit_wide two[2];
  build_part(whole, cut, k << cut->sums, into, NULL, out);
  if (!cut->sums)
    return;
  if (whole->m->f->staged) {
    two[0] = *out;
    build_part(whole, cut, 2 * k + 1, into, NULL, &two[1]);
    fold(whole, two, out);
    return;
  }
  onto = (fit_onto){.cls = out->cls, .type = out->type};
  whole->failed |= !fit_goes_on(whole->m, into, &onto.by);
  if (!whole->failed)
    build_part(whole, cut, 2 * k + 1, into, &onto, out);
}

bool
fit_build_wide(fit_match *m, const fit_space *s, const fit_cut *cut,
               const gs_instr *into, fit_mode mode, fit_wide *out) {
  assert(cut->n <= FIT_SLICED);
  building whole = {.m = m, .s = s, .mode = mode};
  build_part(&whole, cut, 0, into, NULL, out);
  return !whole.failed;
}

eg_class
fit_build_cut(fit_match *m, const fit_space *s, const fit_cut *cut,
              const gs_instr *into, fit_mode mode) {
  assert(cut->sums <= cut->n && cut->n <= FIT_SLICED);
  building whole = {.m = m, .s = s, .mode = mode};
  fit_wide part[FIT_PARTS];
  uint32_t n = cut->n - cut->sums;
  for (uint32_t k = 0; k < fit_parts_of(cut) >> cut->sums; k++)
    build_sums(&whole, cut, k, into, &part[k]);
  for (uint32_t j = n; j-- > 0 && !cut->padded;)
    for (uint32_t k = 0; k < 1u << j; k++)
      join(&whole, &part[2 * k], cut->atom[j], &part[k]);
  whole.cls = part[0].cls;
  whole.type = part[0].type;
  if (cut->padded)
    crop(&whole, cut);
  fit_reshape(&whole, m->type.dim, m->type.rank, m->type.access);
  return whole.failed ? EG_NO_CLASS : whole.cls;
}
