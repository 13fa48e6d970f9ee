/* SPDX-License-Identifier: MIT */
/* mac_store.c - the sums of a panel on their way to memory.
 *
 * What offsets added to elements is taken from them, and the formula of the
 * consumer makes of each what is stored: a bias, a scale, a clip.  The inner
 * loop goes along memory. */
#include "codegen/contract/mac.h"

static int64_t
stride_of(const po_cdims *dims) {
  return dims->n ? dims->d[dims->n - 1].c : 0;
}

static const char *
result_type(const cg_contract *x) {
  return gs_dtype_table[x->e->p->arrays.data[x->c->c.array].dtype].c_type;
}

/* The sums of its rows behind a panel. */
static void
put_row_sums(const cg_mac_side *s) {
  const cg_contract *x = s->side.x;
  char letter = s->side.of_x ? 'x' : 'y';
  if (!po_mac_sums_rows(x->c, s->side.of_x)) {
    cg_line(x->out, 1, "(void)%c;", letter);
    return;
  }
  cg_line(x->out, 1, "int32_t of_%c[%lld];", letter, (long long)s->side.width);
  cg_line(x->out, 1, "memcpy(of_%c, %c + %lld, sizeof of_%c);", letter, letter,
          (long long)(s->depth * s->side.width), letter);
}

static void
put_sum(const cg_contract *x, int64_t width, uint32_t indent) {
  bool ints = x->c->dtype == GS_I32;
  cg_indent(x->out, indent);
  bs_putf(x->out, "const %s sum = ", x->type);
  bs_putf(x->out, "%ssums[row * %lld + column]",
          ints ? "(int32_t)((unsigned)" : "", (long long)width);
  if (po_mac_sums_rows(x->c, true))
    bs_put(x->out, " - (unsigned)of_x[row]");
  if (po_mac_sums_rows(x->c, false))
    bs_put(x->out, " - (unsigned)of_y[column]");
  bs_put(x->out, ints ? ");\n" : ";\n");
}

void
cg_put_mac_store(const cg_contract *x) {
  cg_mac_side sx = cg_mac_side_of(x, true), sy = cg_mac_side_of(x, false);
  const po_cdims *m = &x->c->dims[PO_DIM_M], *n = &x->c->dims[PO_DIM_N];
  const char *index = x->e->index;
  bs_putf(x->out,
          "GLEN_PACK static void\n%s_store(const %s *restrict sums, "
          "const %s *restrict x,\n    const %s *restrict y, %s *restrict c",
          x->name, x->type, sx.lane, sy.lane, result_type(x));
  cg_put_extra_parameters(x);
  bs_putf(x->out, ", %s rows, %s columns) {\n", index, index);
  put_row_sums(&sx);
  put_row_sums(&sy);
  cg_put_elements(x, stride_of(n) == 1);
  put_sum(x, sy.side.width, 3);
  cg_line(x->out, 3, "%s *const at = c + (%lld * row + %lld * column);",
          result_type(x), (long long)stride_of(m), (long long)stride_of(n));
  cg_indent(x->out, 3);
  bs_put(x->out, "*at = ");
  if (cg_has_formula(x))
    cg_put_formula_value(x, cg_name(&x->e->arena, "sum"));
  else
    bs_put(x->out, "sum");
  bs_put(x->out, ";\n    }\n}\n\n");
}
