/* SPDX-License-Identifier: MIT */
/* infer_sized.c - the types of terms whose sizes are not known.
 *
 * The rules of infer*.c are asked over the numbers of sizes.h.  Where one
 * refuses, it is asked again over integers, at sizes that were found: what it
 * says then is the fault, with these sizes behind it. */
#include "glenside/infer/infer.h"
#include "glenside/type/sizes.h"
#include <assert.h>
#include <stdio.h>
#include <string.h>

bool
gs_type_is_sized(const gs_type *t) {
  for (uint32_t k = 0; k < t->rank; k++)
    if (gs_is_sized(t->dim[k]))
      return true;
  return false;
}

/* ---- at the sizes that were found ---- */

static bs_value
value_at(const gs_sizes *s, bs_value v) {
  bs_value items[GS_MAX_RANK];
  if (bs_kind_of(s->values, v) == BS_KIND_INT)
    return bs_int(s->values, gs_number_at(s, bs_as_int(s->values, v), s->at));
  uint32_t n = bs_len(s->values, v);
  if (bs_kind_of(s->values, v) != BS_KIND_LIST || n > GS_MAX_RANK)
    return v;
  for (uint32_t k = 0; k < n; k++) {
    bs_value item = bs_item(s->values, v, k);
    items[k] = bs_kind_of(s->values, item) == BS_KIND_INT
                   ? bs_int(s->values,
                            gs_number_at(s, bs_as_int(s->values, item), s->at))
                   : item;
  }
  return bs_list(s->values, items, n);
}

/* Items that are integers, and those of lists of them. */
static bs_value
attr_at(const gs_sizes *s, bs_value attr) {
  bs_value items[GS_MAX_RANK];
  uint32_t n = bs_len(s->values, attr);
  if (n > GS_MAX_RANK)
    return attr;
  for (uint32_t k = 0; k < n; k++)
    items[k] = value_at(s, bs_item(s->values, attr, k));
  return bs_list(s->values, items, n);
}

static void
type_at(const gs_sizes *s, const gs_type *t, gs_type *out) {
  *out = *t;
  for (uint32_t k = 0; k < t->rank; k++)
    out->dim[k] = gs_number_at(s, t->dim[k], s->at);
}

/* Behind the message that it has at these sizes. */
static void
add_sizes(const gs_sizes *s, gs_fault *fault) {
  size_t n = strlen(fault->message), left = sizeof fault->message - n;
  bs_heap *heap = s->heap;
  bs_text at;
  bs_text_init(&at, heap);
  bs_put(&at, " at ");
  gs_put_sizes_at(&at, s, s->at);
  if (at.len < left)
    memcpy(fault->message + n, bs_text_str(&at), at.len + 1);
  bs_text_done(&at);
}

static bool
undecided(gs_op op, gs_fault *fault) {
  gs_fail(fault, "open-size", -1, -1,
          "whether %s has a type here depends on sizes in a way that cannot "
          "be decided",
          gs_op_table[op].name);
  if (fault)
    snprintf(fault->hint, sizeof fault->hint,
             "--size NAME=NUMBER puts a number in its place");
  return false;
}

static bool
tell(gs_sizes *s, const infer *x, gs_fault *fault) {
  gs_type types[2], out;
  const gs_type *kids[2] = {&types[0], &types[1]};
  if (!fault)
    return false;
  for (uint32_t k = 0; k < s->n && !s->told; k++)
    s->at[k] = s->list[k].least;
  for (uint32_t k = 0; k < x->n_kids && k < 2; k++)
    type_at(s, x->kids[k], &types[k]);
  if (x->n_kids > 2 ||
      gs_infer(x->values, x->target, x->op, attr_at(s, x->attr), kids,
               x->n_kids, &out, fault))
    return undecided(x->op, fault);
  add_sizes(s, fault);
  return false;
}

/* ---- over sizes ---- */

static bool
size_fits(gs_sizes *s, const gs_type *t) {
  int64_t most[GS_MAX_RANK], elements;
  for (uint32_t k = 0; k < t->rank; k++)
    most[k] = gs_most_of(s, t->dim[k]);
  if (gs_checked_prod(most, t->rank, &elements) && elements <= GS_MAX_ELEMENTS)
    return true;
  for (uint32_t k = 0; k < s->n; k++)
    s->at[k] = s->list[k].most;
  s->told = true;
  return false;
}

static bool
some_is_sized(const gs_type *const *kids, uint32_t n) {
  for (uint32_t k = 0; k < n; k++)
    if (gs_type_is_sized(kids[k]))
      return true;
  return false;
}

/* Rules of those that say it are over integers. */
static bool
wants_numbers(gs_op op) {
  return op == GS_CALL || op == GS_SCAN;
}

static bool
fail_with_sizes(gs_op op, gs_fault *fault) {
  gs_fail(fault, "open-size", -1, -1,
          "the dimensions of %s operands are numbers",
          op == GS_CALL ? "an instruction's" : "a scan's");
  if (fault)
    snprintf(fault->hint, sizeof fault->hint,
             "--size NAME=NUMBER puts a number in its place");
  return false;
}

bool
gs_infer_sized(gs_sizes *s, bs_values *values, const struct gs_target *target,
               gs_op op, bs_value attr, const gs_type *const *kids,
               uint32_t n_kids, gs_type *out, gs_fault *fault) {
  assert(op < GS_OP_COUNT && (kids || !n_kids));
  if (wants_numbers(op) && s && some_is_sized(kids, n_kids))
    return fail_with_sizes(op, fault);
  if (!s || wants_numbers(op))
    return gs_infer(values, target, op, attr, kids, n_kids, out, fault);
  infer x = {.over = &s->over,
             .values = values,
             .target = target,
             .op = op,
             .attr = attr,
             .kids = kids,
             .n_kids = n_kids};
  s->attr = attr;
  s->open = s->told = false;
  if (!infer_run(&x) || !size_fits(s, &x.made))
    return tell(s, &x, fault);
  *out = x.made;
  return true;
}
