/* contract_pack.c - operands copied into the order the kernel reads them in.
 *
 *   x  panels of mr rows, k by k: mr elements side by side
 *   y  rows of the block's columns, k by k, `ld` apart: an odd number of cache
 *      lines, so that the lines of a panel spread over all sets
 *
 * Points where a guard does not hold become zeros.  A guard is linear, so that
 * along the innermost loop it holds on an interval, whose ends are computed
 * before the loop: the loops themselves have no conditions. */
#include "codegen/contract.h"
#include <stdlib.h>

static const char letters[] = "omnk";

/* Index variables are called o0, m0, n0, k0, k1, ... */
static void
put_linear(const cg_contract *x, const po_cguard *g, uint32_t but_role,
           uint32_t but) {
  bs_putf(x->out, "%lld", (long long)g->constant);
  for (uint32_t role = 0; role < 4; role++)
    for (uint32_t k = 0; k < PO_MAX_DIMS; k++)
      if (g->factor[role][k] && !(role == but_role && k == but))
        bs_putf(x->out, " + %lld * %c%u", (long long)g->factor[role][k],
                letters[role], k);
}

/* Narrows lo .. hi, values of index `dim` of `role`, by the guards. */
static void
put_interval(const cg_contract *x, const po_coperand *operand, uint32_t role,
             uint32_t dim, uint32_t indent) {
  for (uint32_t g = 0; g < operand->n_guards; g++) {
    const po_cguard *guard = &operand->guards[g];
    int64_t f = guard->factor[role][dim];
    cg_indent(x->out, indent);
    if (!f) {
      bs_put(x->out, "hi = ");
      put_linear(x, guard, role, dim);
      bs_put(x->out, " >= 0 ? hi : lo;\n");
    } else if (f > 0) {
      bs_putf(x->out, "lo = %s(lo, ", cg_helper_used(x->e, CG_MAX_INDEX));
      bs_putf(x->out, "-%s(", cg_helper_used(x->e, CG_FLOOR_DIV));
      put_linear(x, guard, role, dim);
      bs_putf(x->out, ", %lld));\n", (long long)f);
    } else {
      bs_putf(x->out, "hi = %s(hi, ", cg_helper_used(x->e, CG_MIN_INDEX));
      bs_putf(x->out, "%s(", cg_helper_used(x->e, CG_FLOOR_DIV));
      put_linear(x, guard, role, dim);
      bs_putf(x->out, ", %lld) + 1);\n", (long long)-f);
    }
  }
}

/* The address of x or y without the parts of loop `but` of `but_role`. */
static void
put_address(const cg_contract *x, bool of_x, uint32_t but_role, uint32_t but) {
  static const po_dim_role roles[] = {PO_DIM_M, PO_DIM_N, PO_DIM_K};
  bool any = false;
  for (uint32_t j = 0; j < 3; j++) {
    const po_cdims *dims = &x->c->dims[roles[j]];
    for (uint32_t k = 0; k < dims->n; k++) {
      int64_t f = of_x ? dims->d[k].x : dims->d[k].y;
      if (!f || (roles[j] == but_role && k == but))
        continue;
      bs_putf(x->out, "%s%lld * %c%u", any ? " + " : "", (long long)f,
              letters[roles[j]], k);
      any = true;
    }
  }
  if (!any)
    bs_put(x->out, "0");
}

/* Indices of a role from the flat one in `from`; the last, too, where asked. */
static void
put_split(const cg_contract *x, po_dim_role role, const char *from, bool last,
          uint32_t indent) {
  const po_cdims *dims = &x->c->dims[role];
  int64_t inner = 1;
  for (uint32_t k = dims->n; k-- > 0;) {
    if (k + 1 < dims->n || last) {
      cg_indent(x->out, indent);
      bs_putf(x->out, "const %s %c%u = ", x->e->index, letters[role], k);
      bs_putf(x->out, inner > 1 ? "%s / %lld" : "%s", from, (long long)inner);
      if (k)
        bs_putf(x->out, " %% %lld", (long long)dims->d[k].extent);
      bs_put(x->out, ";\n");
      cg_line(x->out, indent, "(void)%c%u;", letters[role], k);
    }
    inner *= dims->d[k].extent;
  }
}

/* Loops over k but the last `less`; the outermost from k_lo to k_hi. */
static uint32_t
put_k_loops(const cg_contract *x, uint32_t less, uint32_t indent) {
  const po_cdims *k = &x->c->dims[PO_DIM_K];
  const char *index = x->e->index;
  for (uint32_t d = 0; d + less < k->n; d++, indent++) {
    if (d)
      cg_line(x->out, indent, "for (%s k%u = 0; k%u < %lld; k%u++)", index, d,
              d, (long long)k->d[d].extent, d);
    else
      cg_line(x->out, indent, "for (%s k0 = k_lo; k0 < k_hi; k0++)", index);
  }
  return indent;
}

static void
put_outer_parameters(const cg_contract *x, const po_coperand *operand) {
  const po_cdims *o = &x->c->dims[PO_DIM_O];
  for (uint32_t d = 0; d < o->n; d++)
    for (uint32_t g = 0; g < operand->n_guards; g++)
      if (operand->guards[g].factor[PO_DIM_O][d]) {
        bs_putf(x->out, ", %s o%u", x->e->index, d);
        break;
      }
}

static void
put_head(const cg_contract *x, bool of_x) {
  const char *index = x->e->index;
  bs_putf(x->out,
          "static void\n%s_pack_%c(const %s *restrict from, %s *restrict to,\n"
          "    %s k_lo, %s k_hi, %s lo_%c, %s hi_%c",
          x->name, of_x ? 'x' : 'y', x->type, x->type, index, index, index,
          of_x ? 'm' : 'n', index, of_x ? 'm' : 'n');
  put_outer_parameters(x, of_x ? &x->c->x : &x->c->y);
  bs_put(x->out, ") {\n");
}

static void
put_copy(const cg_contract *x, const char *to, const char *from,
         const char *end, int64_t step, int64_t stride, uint32_t indent) {
  if (step == 1 && stride == 1) {
    cg_line(x->out, indent,
            "memcpy(%s + %s - begin, at + %s, (size_t)(%s - %s) * sizeof *at);",
            to, from, from, end, from);
    return;
  }
  cg_line(x->out, indent, "for (%s t = %s; t < %s; t++)", x->e->index, from,
          end);
  cg_line(x->out, indent + 1, "%s[%lld * (t - begin)] = at[%lld * t];", to,
          (long long)step, (long long)stride);
}

/* Zeros up to lo, elements up to hi, zeros up to `end`, `step` apart. */
static void
put_line(const cg_contract *x, const po_coperand *operand, bool of_x,
         po_dim_role role, uint32_t dim, const char *to, int64_t step,
         uint32_t indent) {
  const char *index = x->e->index;
  const po_cdim *d = &x->c->dims[role].d[dim];
  int64_t stride = of_x ? d->x : d->y;
  cg_indent(x->out, indent);
  bs_putf(x->out, "const %s *at = from + ", x->type);
  put_address(x, of_x, role, dim);
  bs_put(x->out, ";\n");
  if (operand->n_guards) {
    cg_line(x->out, indent, "%s lo = begin, hi = end;", index);
    put_interval(x, operand, role, dim, indent);
    cg_line(x->out, indent, "lo = %s(lo, end);",
            cg_helper_used(x->e, CG_MIN_INDEX));
    cg_line(x->out, indent, "hi = %s(hi, lo);",
            cg_helper_used(x->e, CG_MAX_INDEX));
    cg_line(x->out, indent, "for (%s t = begin; t < lo; t++)", index);
    cg_line(x->out, indent + 1, "%s[%lld * (t - begin)] = 0;", to,
            (long long)step);
    put_copy(x, to, "lo", "hi", step, stride, indent);
    cg_line(x->out, indent, "for (%s t = hi; t < end; t++)", index);
    cg_line(x->out, indent + 1, "%s[%lld * (t - begin)] = 0;", to,
            (long long)step);
    return;
  }
  put_copy(x, to, "begin", "end", step, stride, indent);
}

/* Row by row, each walked along k: where that is how the operand lies. */
static void
put_pack_rows(const cg_contract *x, bool of_x) {
  const po_cdims *k = &x->c->dims[PO_DIM_K];
  const char *index = x->e->index;
  const char *row = of_x ? "m" : "n";
  put_head(x, of_x);
  if (of_x)
    cg_line(x->out, 1, "const %s kc = %lld * (k_hi - k_lo);", index,
            (long long)x->inner);
  cg_line(x->out, 1, "for (%s %s = lo_%s; %s < hi_%s; %s++) {", index, row, row,
          row, row, row);
  put_split(x, of_x ? PO_DIM_M : PO_DIM_N, row, true, 2);
  if (of_x)
    cg_line(x->out, 2,
            "%s *row = to + (m - lo_m) / %u * %u * kc + (m - lo_m) %% %u;",
            x->type, x->c->mr, x->c->mr, x->c->mr);
  else
    cg_line(x->out, 2, "%s *row = to + n - lo_n;", x->type);
  int64_t step = of_x ? x->c->mr : x->ld;
  uint32_t indent = put_k_loops(x, 1, 2);
  cg_line(x->out, indent, "{");
  if (k->n == 1)
    cg_line(x->out, indent + 1, "const %s begin = k_lo, end = k_hi;", index);
  else
    cg_line(x->out, indent + 1, "const %s begin = 0, end = %lld;", index,
            (long long)k->d[k->n - 1].extent);
  put_line(x, of_x ? &x->c->x : &x->c->y, of_x, PO_DIM_K, k->n - 1, "row", step,
           indent + 1);
  cg_line(x->out, indent + 1, "row += %lld * (end - begin);", (long long)step);
  cg_line(x->out, indent, "}");
  cg_line(x->out, 1, "}");
  if (!of_x && x->n % x->c->lanes) {
    cg_line(x->out, 1, "for (%s n = hi_n - lo_n; n %% %u; n++)", index,
            x->c->lanes);
    cg_line(x->out, 2, "for (%s k = 0; k < %lld * (k_hi - k_lo); k++)", index,
            (long long)x->inner);
    cg_line(x->out, 3, "to[%lld * k + n] = 0;", (long long)x->ld);
  }
  bs_put(x->out, "}\n\n");
}

/* Along k by row, each row along n. */
static void
put_pack_columns(const cg_contract *x) {
  const po_cdims *n = &x->c->dims[PO_DIM_N];
  const char *index = x->e->index;
  int64_t extent = n->d[n->n - 1].extent;
  put_head(x, false);
  cg_line(x->out, 1, "%s *row = to;", x->type);
  uint32_t indent = put_k_loops(x, 0, 1);
  cg_line(x->out, indent++, "{");
  cg_line(x->out, indent, "%s *next = row;", x->type);
  cg_line(x->out, indent, "for (%s n = lo_n; n < hi_n;) {", index);
  put_split(x, PO_DIM_N, "n", false, indent + 1);
  if (n->n > 1) {
    cg_line(x->out, indent + 1, "const %s begin = n %% %lld;", index,
            (long long)extent);
    cg_line(x->out, indent + 1, "const %s end = %s(%lld, begin + hi_n - n);",
            index, cg_helper_used(x->e, CG_MIN_INDEX), (long long)extent);
  } else {
    cg_line(x->out, indent + 1, "const %s begin = n, end = hi_n;", index);
  }
  put_line(x, &x->c->y, false, PO_DIM_N, n->n - 1, "next", 1, indent + 1);
  cg_line(x->out, indent + 1, "next += end - begin;");
  cg_line(x->out, indent + 1, "n += end - begin;");
  cg_line(x->out, indent, "}");
  if (x->n % x->c->lanes) {
    cg_line(x->out, indent, "while ((next - row) %% %u)", x->c->lanes);
    cg_line(x->out, indent + 1, "*next++ = 0;");
  }
  cg_line(x->out, indent, "row += %lld;", (long long)x->ld);
  cg_line(x->out, indent - 1, "}");
  bs_put(x->out, "}\n\n");
}

/* Whether y's elements lie closer along k than along n. */
static bool
lies_along_k(const cg_contract *x) {
  const po_cdims *n = &x->c->dims[PO_DIM_N], *k = &x->c->dims[PO_DIM_K];
  return llabs(k->d[k->n - 1].y) < llabs(n->d[n->n - 1].y);
}

void
cg_put_contract_packs(const cg_contract *x) {
  if (x->c->x_mode != PO_DIRECT)
    put_pack_rows(x, true);
  if (x->c->y_mode == PO_DIRECT)
    return;
  if (lies_along_k(x))
    put_pack_rows(x, false);
  else
    put_pack_columns(x);
}
