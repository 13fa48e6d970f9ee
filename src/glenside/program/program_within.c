/* SPDX-License-Identifier: MIT */
/* program_within.c - a program for a part of its sizes.
 *
 * Numbers over the sizes of one program become numbers over those of the other,
 * which have narrower bounds or greater multiples, or are integers: a
 * polynomial is computed anew from what stands for its atoms there.  Terms are
 * then added again, so that their types are those at the narrower sizes. */
#include "glenside/program/program.h"
#include "glenside/type/sizes.h"
#include <assert.h>

typedef struct narrowing {
  const gs_program *from;
  gs_program *to;
  gs_number size[GS_MOST_SIZES]; /* of the new program, as of the old one */
  gs_term *made;
} narrowing;

static const gs_numbers *
over_of(const narrowing *x) {
  return x->to->sizes ? &x->to->sizes->over : NULL;
}

/* ---- numbers ---- */

static gs_number number_of(const narrowing *x, gs_number n);

/* Quotients stand in one another three deep at most. */
static gs_number
atom_of(const narrowing *x, uint32_t number) {
  gs_atom atom = gs_atom_of(x->from->sizes, number);
  if (atom.size == GS_MOST_SIZES)
    return gs_quotient(over_of(x), number_of(x, atom.of), atom.by);
  return gs_quotient(over_of(x), x->size[atom.size],
                     x->from->sizes->list[atom.size].multiple);
}

static gs_number
number_of(const narrowing *x, gs_number n) {
  gs_polynomial p;
  gs_number sum = 0;
  if (!gs_is_sized(n))
    return n;
  gs_polynomial_of(x->from->sizes, n, &p);
  for (uint32_t k = 0; k < p.n; k++) {
    gs_number term = p.term[k].by;
    for (uint32_t j = 0; j < p.term[k].n; j++)
      term = gs_product(over_of(x), term, atom_of(x, p.term[k].atom[j]));
    sum = gs_sum(over_of(x), sum, term);
  }
  return sum;
}

/* ---- attributes ---- */

static bs_value value_of(const narrowing *x, bs_value v);

static bs_value
list_of(const narrowing *x, bs_value v) {
  bs_values *values = x->to->ctx.values;
  uint32_t n = bs_len(values, v);
  bs_value *items = bs_alloc(x->to->ctx.heap, (n + (size_t)1) * sizeof *items);
  for (uint32_t k = 0; k < n; k++)
    items[k] = value_of(x, bs_item(values, v, k));
  v = bs_list(values, items, n);
  bs_free(x->to->ctx.heap, items);
  return v;
}

/* Lists of an attribute hold integers, words and lists of these. */
static bs_value
value_of(const narrowing *x, bs_value v) {
  bs_values *values = x->to->ctx.values;
  if (bs_kind_of(values, v) == BS_KIND_INT)
    return bs_int(values, number_of(x, bs_as_int(values, v)));
  return bs_kind_of(values, v) == BS_KIND_LIST ? list_of(x, v) : v;
}

/* ---- terms ---- */

static void
add_inputs(const narrowing *x) {
  for (uint32_t k = 0; k < x->from->inputs.len; k++) {
    const gs_named *input = &x->from->inputs.data[k];
    gs_type type;
    gs_type_at(x->from, input->term, &type);
    for (uint32_t d = 0; d < type.rank; d++)
      type.dim[d] = number_of(x, type.dim[d]);
    gs_add_tensor(x->to, input->name, &type, input->span);
  }
  gs_copy_data(x->from, x->to);
}

static gs_term
add_again(const narrowing *x, const gs_node *node) {
  if (node->op == GS_CONST)
    return gs_copy_constant(x->from, node->attr, x->to, node->span);
  gs_node copy = *node;
  copy.attr = value_of(x, node->attr);
  return gs_add_like(x->to, &copy, x->made);
}

static void
add_names(const narrowing *x) {
  for (uint32_t k = 0; k < x->from->lets.len; k++) {
    gs_named let = x->from->lets.data[k];
    let.term = x->made[let.term.i];
    bs_push(x->to->ctx.heap, &x->to->lets, let);
  }
  for (uint32_t k = 0; k < x->from->outputs.len; k++) {
    const gs_named *output = &x->from->outputs.data[k];
    gs_add_output(x->to, output->name, x->made[output->term.i], output->span);
  }
}

const gs_program *
gs_program_within(const gs_program *from, const gs_size *part, gs_term *made) {
  assert(from->sizes && made);
  narrowing x = {.from = from,
                 .to = gs_program_new(&from->ctx, from->target),
                 .made = made};
  for (uint32_t k = 0; k < from->sizes->n; k++)
    x.size[k] = part[k].least == part[k].most ? part[k].least
                                              : gs_open_size(x.to, &part[k]);
  add_inputs(&x);
  for (uint32_t k = 0; k < from->nodes.len; k++) {
    x.made[k] = add_again(&x, &from->nodes.data[k]);
    if (!gs_term_ok(x.made[k]))
      return NULL;
  }
  add_names(&x);
  return x.to;
}

const gs_program *
gs_program_at(const gs_program *from, const int64_t *at, gs_term *made) {
  assert(from->sizes && from->sizes->n <= GS_MOST_SIZES);
  gs_size part[GS_MOST_SIZES];
  for (uint32_t k = 0; k < from->sizes->n; k++) {
    part[k] = from->sizes->list[k];
    part[k].least = part[k].most = at[k];
  }
  return gs_program_within(from, part, made);
}
