/* SPDX-License-Identifier: MIT */
/* next.c - the block of y that comes next, on its way into the second cache.
 *
 * A block is copied from rows that the caches do not hold, one after the other,
 * and nothing is multiplied meanwhile.  So each panel that is multiplied before
 * asks for a part of those rows. */
#include "codegen/contract/contract.h"
#include "glenside/target/machine.h"
#include "poly/loops/storage.h"
#include <stdlib.h>

static const po_cdim *
only_dim(const cg_contract *x, po_dim_role role) {
  const po_cdims *dims = &x->c->dims[role];
  return dims->n == 1 ? dims->d : NULL;
}

/* Elements of y lie side by side along k. */
static bool
lies_along_k(const cg_contract *x) {
  return only_dim(x, PO_DIM_K)->y == 1;
}

/* From one row to the next. */
static int64_t
row_stride(const cg_contract *x) {
  return lies_along_k(x) ? only_dim(x, PO_DIM_N)->y : only_dim(x, PO_DIM_K)->y;
}

static int64_t
line_elements(const cg_contract *x) {
  return x->c->cache_line / gs_dtype_table[x->c->dtype].bytes;
}

/* The blocks that are multiplied and the next one of y take at most three
 * quarters of the second cache, by which rows of x and of c go, too. */
static bool
has_room(const cg_contract *x) {
  const po_contraction *c = x->c;
  int64_t rows = 2 * c->nc + (c->x_mode == PO_BLOCK ? c->mb : 0);
  int64_t row = c->kc * gs_dtype_table[c->dtype].bytes;
  return rows <= gs_cache_bytes(x->e->p->target, 2) / 4 * 3 / row;
}

bool
cg_asks_for_next(const cg_contract *x) {
  const po_contraction *c = x->c;
  const po_cdim *k = only_dim(x, PO_DIM_K), *n = only_dim(x, PO_DIM_N);
  const po_array *y = &x->e->p->arrays.data[c->y.array];
  if (c->y_mode != PO_BLOCK || c->y_may_lie || cg_has_windows(x) || x->over ||
      c->y.n_guards || !k || !n || (k->y != 1 && n->y != 1))
    return false;
  return llabs(row_stride(x)) >= line_elements(x) && c->nc < n->extent &&
         po_bytes(y) > gs_cache_bytes(x->e->p->target, 2) && has_room(x);
}

/* NAME_next_y(y, row, last_row, first, last): lines of rows. */
void
cg_put_next_function(const cg_contract *x) {
  const char *index = x->e->index;
  cg_add(x->w,
         "static void\n%s_next_y(const %s *y, %s row, %s last_row, %s first, "
         "%s last",
         x->name, x->type, index, index, index, index);
  cg_write(x->w, ") {");
  cg_write(x->w, "for (; row < last_row; row++)");
  cg_write(x->w, "for (%s t = first; t < last; t += %lld)", index,
           (long long)line_elements(x));
  cg_write(x->w, "GLEN_LATER(y + (%lld * row + t), 0);",
           (long long)row_stride(x));
  cg_close_function(x->e, x->w);
}

/* Where it begins: behind this one along k, or the first for the next tile,
 * which may have the same columns. */
void
cg_put_next_block(const cg_contract *x) {
  const char *index = x->e->index, *min = cg_helper_names[CG_MIN_INDEX];
  long long k = only_dim(x, PO_DIM_K)->extent, m = (long long)x->m;
  cg_write(x->w, "const %s next_k = k_hi < %lld ? k_hi : 0;", index, k);
  cg_write(x->w,
           "const %s next_n = k_hi < %lld || tile + %lld < %lld ? n_lo : n_hi;",
           index, k, (long long)x->c->mc, m);
  cg_write(x->w, "const %s next_k_hi = %s(next_k + %lld, %lld);", index, min,
           (long long)x->c->kc, k);
  cg_write(x->w, "const %s next_n_hi = %s(next_n + %lld, %lld);", index, min,
           (long long)x->c->nc, (long long)x->n);
}

/* The part that this panel asks for: the first block of rows of a tile does. */
void
cg_put_next_part(const cg_contract *x) {
  const po_contraction *c = x->c;
  int64_t across = bs_ceil_div(c->mb < c->mc ? c->mb : c->mc, c->mr);
  int64_t parts = across * bs_ceil_div(c->nc, x->columns);
  char row = lies_along_k(x) ? 'n' : 'k', other = lies_along_k(x) ? 'k' : 'n';
  const char *index = x->e->index;
  cg_write(x->w, "const %s part = (n - n_lo) / %lld * %lld + (m - m_lo) / %u;",
           index, (long long)x->columns, (long long)across, c->mr);
  cg_write(x->w, "const %s rows = next_%c_hi - next_%c;", index, row, row);
  if (c->mb < c->mc)
    cg_write(x->w, "if (m_lo == tile)");
  cg_write(x->w,
           "%s_next_y(y, next_%c + rows * part / %lld, "
           "next_%c + rows * (part + 1) / %lld, next_%c, next_%c_hi);",
           x->name, row, (long long)parts, row, (long long)parts, other, other);
}
