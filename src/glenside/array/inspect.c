/* SPDX-License-Identifier: MIT */
/* inspect.c - see inspect.h. */
#include "glenside/array/inspect.h"
#include <assert.h>
#include <string.h>

bool
gs_keeps_order(gs_op op) {
  return op == GS_ACCESS || op == GS_RESHAPE || op == GS_FLATTEN ||
         op == GS_SQUEEZE || op == GS_INSERT_AXIS;
}

static bool
stays(const gs_view_row *row) {
  return !row->offset && !row->divided &&
         (!row->n || (row->n == 1 && row->term[0].times == 1));
}

static bool
is_aligned(const gs_view_part *part, uint32_t rank) {
  bool aligned = part->source == GS_VIEW_CHILD && !part->repeated;
  for (uint32_t d = 0; d < rank && aligned; d++)
    aligned = stays(&part->row[d]);
  return aligned;
}

/* Before a child that begins at 0 there is nothing; zeros stand behind it. */
bool
gs_is_aligned(const gs_program *p, gs_term t) {
  assert(!p->sizes);
  const gs_node *n = gs_at(p, t);
  gs_view view;
  gs_type kid;
  bool aligned = true;
  gs_view_at(p, t, &view);
  for (uint32_t k = 0; k < view.n && !view.keeps_order && aligned; k++) {
    const gs_view_part *part = &view.part[k];
    bool empty = view.n > 1 && part->from >= part->to;
    gs_type_at(p, n->kids[part->kid], &kid);
    aligned =
        empty || part->source == GS_VIEW_ZERO || is_aligned(part, kid.rank);
  }
  return aligned;
}

bool
gs_row_range(const gs_view_row *row, const gs_type *type, uint32_t axis,
             int64_t lo, int64_t hi, int64_t *least, int64_t *most) {
  bool along = !row->n;
  *least = *most = row->offset;
  for (uint32_t k = 0; k < row->n; k++) {
    bool here = row->term[k].of == axis;
    int64_t times = row->term[k].times, one = here ? lo : 0;
    int64_t other = (here ? hi : type->dim[row->term[k].of]) - 1;
    *least += times * (times > 0 ? one : other);
    *most += times * (times > 0 ? other : one);
    along |= here;
  }
  if (row->divided) {
    *least = gs_quotient(NULL, *least, row->by);
    *most = gs_quotient(NULL, *most, row->by);
  }
  return along;
}

bool
gs_same_constant(const gs_constant *a, const gs_constant *b) {
  if (!a || !b || !gs_type_equal(&a->type, &b->type))
    return false;
  size_t bytes = gs_dtype_table[a->type.dtype].bytes;
  return !memcmp(a->data, b->data, (size_t)gs_elements(&a->type) * bytes);
}

bool
gs_has_one_value(const gs_tensor *t, double *out) {
  *out = gs_tensor_get(t, 0);
  for (int64_t i = 0; i < t->elements; i++)
    if (gs_tensor_get(t, i) != *out)
      return false;
  return true;
}
