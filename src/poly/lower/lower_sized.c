/* SPDX-License-Identifier: MIT */
/* lower_sized.c - what of a program with open sizes code is made for.
 *
 * Sets of indices and functions of them are affine, in the sizes, too.  So a
 * dimension is a sum of sizes, each times a number, and of quotients of such
 * sums; distances between windows are numbers; and a reshape cuts dimensions at
 * numbers, as that of n * 64 to (n, 8, 8) does. */
#include "poly/loops/open.h"
#include "poly/lower/lower.h"

static bool
refuse(const po_lowering *low, gs_term t, const char *what) {
  bs_diags *diags = low->source->ctx.diags;
  bs_error(diags, gs_at(low->source, t)->span, "open-size",
           "no code can be made for all sizes: %s", what);
  bs_hint(diags, "--size NAME=NUMBER puts a number in its place");
  return false;
}

static bool
check_dims(const po_lowering *low, gs_term t, const gs_type *type) {
  const gs_sizes *s = low->source->sizes;
  for (uint32_t d = 0; d < type->rank; d++)
    if (!gs_is_affine(s, type->dim[d])) {
      bs_text text;
      bs_text_init(&text, low->heap);
      bs_putf(&text, "dimension %u is ", d);
      gs_put_number(&text, s, type->dim[d]);
      bs_put(&text, ", a product of sizes");
      refuse(low, t, bs_text_str(&text));
      bs_text_done(&text);
      return false;
    }
  return true;
}

static bool
has_sized_item(const po_lowering *low, const gs_node *node, uint32_t item) {
  const bs_values *values = low->source->ctx.values;
  bs_value v = bs_item(values, node->attr, item);
  int64_t list[GS_MAX_RANK] = {bs_as_int(values, v)};
  uint32_t n = 1;
  if (bs_kind_of(values, v) == BS_KIND_LIST)
    bs_to_ints(values, v, list, GS_MAX_RANK, &n);
  for (uint32_t k = 0; k < n; k++)
    if (gs_is_sized(list[k]))
      return true;
  return false;
}

/* Of a table and its indices; the table of a `lookup` has a known length. */
static bool
has_sized_table(const po_lowering *low, const gs_node *node) {
  gs_compute op;
  gs_type type;
  if (node->op != GS_COMPUTE ||
      !gs_compute_of(low->source->ctx.values,
                     bs_item(low->source->ctx.values, node->attr, 0), &op) ||
      gs_compute_table[op].kind != GS_GATHER)
    return false;
  gs_type_at(low->source, node->kids[0], &type);
  for (uint32_t d = type.access; d < type.rank; d++)
    if (gs_is_sized(type.dim[d]))
      return true;
  return false;
}

static bool
check_term(const po_lowering *low, gs_term t) {
  const gs_node *node = gs_at(low->source, t);
  gs_type type, child;
  gs_type_at(low->source, t, &type);
  if (!check_dims(low, t, &type))
    return false;
  if (node->op == GS_WINDOWS &&
      (has_sized_item(low, node, 1) || has_sized_item(low, node, 2)))
    return refuse(low, t,
                  "the distance between windows, or within one, depends on "
                  "them");
  if (node->op == GS_REPEAT && has_sized_item(low, node, 1))
    return refuse(low, t, "how often elements are repeated depends on them");
  if (has_sized_table(low, node))
    return refuse(low, t, "the table that is looked up in has them");
  if (node->op != GS_RESHAPE && node->op != GS_FLATTEN)
    return true;
  gs_type_at(low->source, node->kids[0], &child);
  return po_has_reshape(low->isl, type.dim, type.rank, child.dim, child.rank) ||
         refuse(low, t, "a dimension is cut at one");
}

bool
po_check_sizes(const po_lowering *low) {
  const gs_program *source = low->source;
  bool fine = true;
  if (!source->sizes)
    return true;
  if (source->target && low->out->target->memories.len)
    return bs_error(source->ctx.diags, BS_NOWHERE, "open-size",
                    "the memories of a target need numbers for sizes");
  uint8_t *live = bs_calloc(low->heap, source->nodes.len, 1);
  gs_mark_live(source, live);
  for (uint32_t i = 0; i < source->nodes.len && fine; i++)
    fine = !live[i] || check_term(low, (gs_term){i});
  bs_free(low->heap, live);
  return fine;
}
