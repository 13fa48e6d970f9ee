/* SPDX-License-Identifier: MIT */
/* blend.c - vectors whose lanes are of two rows of an image.
 *
 *   NAME_parts    where the elements of each vector of a panel are: those of
 *                 its first row, those of the next, each as if all lanes were,
 *                 and how many are of the first
 *   NAME_RxC_two  the kernel that loads both and takes the lanes of each
 *
 * A panel that is read by few panels of x is not worth a copy, in which its
 * elements lie side by side. */
#include "codegen/contract/image.h"
#include <assert.h>

void
cg_put_vector_places_function(const cg_contract *x) {
  cg_image i = cg_image_of(x);
  const char *index = x->e->index, *min = cg_helper_names[CG_MIN_INDEX];
  const char *numbers = cg_number_arguments(x);
  const char *row = cg_image_text(&i, i.n->d[i.last].extent);
  cg_add(x->w,
         "static inline void\n%s_parts(const %s *image, const %s **part, "
         "%s *left,\n    %s first, %s n_lo, %s n_hi",
         x->name, x->type, x->type, index, index, index, index);
  cg_open_image_function(&i);
  cg_write(x->w, "for (%s v = 0; v < %u; v++) {", index, x->c->nv);
  cg_write(x->w, "const %s n = %s(n_lo + %u * v, n_hi - 1);", index, min,
           x->c->lanes);
  cg_write(x->w, "const %s rest = %s - n %% %s;", index, row, row);
  cg_write(x->w, "left[v] = %s(rest, %u);", min, x->c->lanes);
  cg_write(x->w, "part[2 * v] = image + %s_place(n, first%s);", x->name,
           numbers);
  cg_write(x->w, "part[2 * v + 1] = part[2 * v];");
  cg_write(x->w, "if (rest < n_hi - n)");
  cg_write(x->w,
           "part[2 * v + 1] = image + (%s_place(n + rest, first%s) - rest);",
           x->name, numbers);
  cg_write(x->w, "}");
  cg_close_function(x->e, x->w);
}

void
cg_put_vector_places(const cg_contract *x) {
  const char *index = x->e->index;
  long long vectors = x->c->nv;
  cg_write(x->w, "const int within = %s_within(n, n_hi%s);", x->name,
           cg_number_arguments(x));
  cg_write(x->w, "const %s *part[%lld];", x->type, 2 * vectors);
  cg_write(x->w, "%s left[%lld];", index, vectors);
  cg_write(x->w, "%s_parts(y_image, part, left, row, n, n_hi%s);", x->name,
           cg_number_arguments(x));
}

/* ---- in the kernel ---- */

const char *
cg_lane_number(const cg_contract *x) {
  return gs_dtype_table[x->c->dtype].bytes == 8 ? "long long" : "int";
}

void
cg_put_blends(const cg_contract *x, int64_t vectors) {
  assert(vectors > 0);
  long long lanes = x->c->lanes;
  cg_add(x->w, "static const %s lanes[%lld] = {", cg_lane_number(x), 2 * lanes);
  for (int64_t k = 0; k < 2 * lanes; k++)
    cg_add(x->w, "%s%s%s", k ? "," : "", k % 16 ? " " : "\n",
           k < lanes ? "-1" : "0");
  cg_write(x->w, "};");
  for (long long v = 0; v < vectors; v++)
    cg_write(
        x->w,
        "const %s_i mask%lld = *(const %s_i *)(lanes + %lld - left[%lld]);",
        x->name, v, x->name, lanes, v);
}

void
cg_put_blended(const cg_contract *x, const cg_point *point, int64_t vector) {
  assert(vector >= 0);
  const char *name = x->name;
  long long v = vector;
  cg_write(x->w, "const %s_i next%lld = *(const %s_i *)(part[%lld] + %s);",
           name, v, name, 2 * v + 1, point->y);
  cg_write(x->w,
           "%s_v y%lld = (%s_v)(next%lld ^ "
           "((*(const %s_i *)(part[%lld] + %s) ^ next%lld) & mask%lld));",
           name, v, name, v, name, 2 * v, point->y, v, v);
}
