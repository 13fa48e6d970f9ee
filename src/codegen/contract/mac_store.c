/* SPDX-License-Identifier: MIT */
/* mac_store.c - the sums of a panel on their way to memory.
 *
 * Whole panels without a formula are stored by the kernel itself
 * (cg_mac_stores_sums); all others go through a function.  What offsets added
 * to elements is taken from them, and the formula of the consumer makes of each
 * what is stored: a bias, a scale, a clip.  The inner loop goes along
 * memory. */
#include "codegen/contract/contract_mac.h"
#include <assert.h>

static const char *
result_type(const cg_contract *x) {
  return gs_dtype_table[x->e->p->arrays.data[x->c->c.array].dtype].c_type;
}

/* ---- by the kernel ---- */

/* Panels of the operand are whole fragments; the condition, NULL for always. */
static const cg_expr *
whole_panels(const cg_mac_side *s) {
  const cg_contract *x = s->side.x;
  char letter = s->side.of_x ? 'm' : 'n';
  int64_t size = s->side.of_x ? x->m : x->n;
  if (size % s->side.width % s->rows == 0)
    return NULL;
  return cg_quote(&x->e->arena, "%c_hi - %c >= %lld", letter, letter,
                  (long long)s->side.width);
}

bool
cg_mac_stores_sums(const cg_contract *x) {
  assert(x->c->mac.mac);
  const po_cdims *n = &x->c->dims[PO_DIM_N];
  bool sums = po_mac_sums_rows(x->c, true) ||
              (po_mac_sums_rows(x->c, false) && !po_mac_begins_with_sums(x->c));
  return !cg_has_formula(x) && !sums &&
         (!n->n || cg_last_stride(n, CG_OF_C) == 1);
}

const cg_expr *
cg_mac_is_whole(const cg_contract *x) {
  assert(x->c->mac.mac);
  cg_mac_side sx = cg_mac_side_of(x, true), sy = cg_mac_side_of(x, false);
  const cg_expr *rows = whole_panels(&sx), *columns = whole_panels(&sy);
  if (rows && columns)
    return cg_infix(&x->e->arena, CG_OP_AND, rows, columns);
  return rows ? rows : columns;
}

/* ---- by a function ---- */

/* What sums hold too much because of the other operand's offset is still in
 * them. */
static bool
subtracts(const cg_mac_side *s) {
  const po_contraction *c = s->side.x->c;
  return po_mac_sums_rows(c, s->side.of_x) &&
         (s->side.of_x || !po_mac_begins_with_sums(c));
}

/* The sums of its rows behind a panel. */
static void
put_row_sums(const cg_mac_side *s) {
  const cg_contract *x = s->side.x;
  char letter = s->side.of_x ? 'x' : 'y';
  if (!subtracts(s)) {
    cg_write(x->w, "(void)%c;", letter);
    return;
  }
  cg_write(x->w, "int32_t of_%c[%lld];", letter, (long long)s->side.width);
  cg_write(x->w, "memcpy(of_%c, %c + %lld, sizeof of_%c);", letter, letter,
           (long long)s->sums, letter);
}

static void
put_sum(const cg_contract *x, const cg_mac_side *sx, const cg_mac_side *sy) {
  bool ints = x->c->dtype == GS_I32;
  cg_add(x->w, "const %s sum = ", x->type);
  cg_add(x->w, "%ssums[row * %lld + column]",
         ints ? "(int32_t)((unsigned)" : "", (long long)sy->side.width);
  if (subtracts(sx))
    cg_add(x->w, " - (unsigned)of_x[row]");
  if (subtracts(sy))
    cg_add(x->w, " - (unsigned)of_y[column]");
  cg_write(x->w, ints ? ");" : ";");
}

void
cg_put_mac_store(const cg_contract *x) {
  cg_mac_side sx = cg_mac_side_of(x, true), sy = cg_mac_side_of(x, false);
  const po_cdims *m = &x->c->dims[PO_DIM_M], *n = &x->c->dims[PO_DIM_N];
  const char *index = x->e->index;
  if (cg_mac_stores_sums(x) && !cg_mac_is_whole(x))
    return;
  cg_add(x->w,
         "GLEN_PACK static void\n%s_store(const %s *restrict sums, "
         "const %s *restrict x,\n    const %s *restrict y, %s *restrict c",
         x->name, x->type, sx.lane, sy.lane, result_type(x));
  cg_put_extra_parameters(x);
  cg_write(x->w, ", %s rows, %s columns) {", index, index);
  put_row_sums(&sx);
  put_row_sums(&sy);
  cg_put_elements(x, cg_last_stride(n, CG_OF_C) == 1);
  put_sum(x, &sx, &sy);
  cg_write(x->w, "%s *const at = c + (%lld * row + %lld * column);",
           result_type(x), (long long)cg_last_stride(m, CG_OF_C),
           (long long)cg_last_stride(n, CG_OF_C));
  const cg_expr *sum = cg_name(&x->e->arena, "sum");
  cg_write_store(x->w, "*at",
                 cg_has_formula(x) ? cg_formula_value(x, sum) : sum);
  cg_write(x->w, "}");
  cg_close_function(x->e, x->w);
}
