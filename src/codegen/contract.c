/* contract.c - the loops around a contraction's kernel.
 *
 *   for every tile of c, in parallel
 *     for every block of k
 *       pack the block of y
 *       for every block of rows
 *         pack the block of x
 *         for every panel of y, for every panel of x: the kernel
 *
 * What is packed whole is packed first.  Packed blocks are on the stack of the
 * thread. */
#include "codegen/contract.h"
#include <string.h>

static const char *
array_name(const cg_contract *x, const cg_scope *scope, uint32_t array) {
  return cg_array_name(x->e, scope, array);
}

/* Address of an operand's origin less what its slot adds to the pointer. */
static int64_t
base_of(const cg_use *use, const po_coperand *operand) {
  for (uint32_t k = 0; k < use->n_slots; k++)
    if (use->slots[k].array == operand->array)
      return operand->base - use->slots[k].base;
  return operand->base;
}

static void
put_outer_offset(const cg_contract *x, char which) {
  const po_cdims *o = &x->c->dims[PO_DIM_O];
  for (uint32_t d = 0; d < o->n; d++) {
    int64_t f = which == 'x' ? o->d[d].x : which == 'y' ? o->d[d].y : o->d[d].c;
    if (f)
      bs_putf(x->out, " + %lld * o%u", (long long)f, d);
  }
}

/* The pointers of the function under names that no array has. */
static void
put_pointer(const cg_contract *x, const cg_scope *scope, char which,
            const po_coperand *operand) {
  cg_line(x->out, 1, "%s%s *const glen_%c = %s + %lld;",
          which == 'c' ? "" : "const ", x->type, which,
          array_name(x, scope, operand->array),
          (long long)base_of(scope->use, operand));
}

/* ... moved to where the outer loops stand. */
static void
put_moved(const cg_contract *x, char which, uint32_t indent) {
  cg_indent(x->out, indent);
  bs_putf(x->out, "%s%s *const %c = glen_%c", which == 'c' ? "" : "const ",
          x->type, which, which);
  put_outer_offset(x, which);
  bs_put(x->out, ";\n");
}

static void
put_outer_arguments(const cg_contract *x, const po_coperand *operand) {
  const po_cdims *o = &x->c->dims[PO_DIM_O];
  for (uint32_t d = 0; d < o->n; d++)
    for (uint32_t g = 0; g < operand->n_guards; g++)
      if (operand->guards[g].factor[PO_DIM_O][d]) {
        bs_putf(x->out, ", o%u", d);
        break;
      }
}

static void
put_pragma(const cg_contract *x, uint32_t loops) {
  if (!x->e->options->openmp || x->e->p->target->cores < 2)
    return;
  bs_put(x->out, "#ifdef _OPENMP\n");
  if (loops > 1)
    cg_line(x->out, 1, "#pragma omp parallel for collapse(%u)", loops);
  else
    cg_line(x->out, 1, "#pragma omp parallel for");
  bs_put(x->out, "#endif\n");
}

static int64_t
rounded_rows(const cg_contract *x) {
  return (x->m + x->c->mr - 1) / x->c->mr * x->c->mr;
}

/* Rows of x in chunks of mb, each for all blocks of k. */
static void
put_whole(const cg_contract *x) {
  const char *index = x->e->index;
  long long extent = x->c->dims[PO_DIM_K].d[0].extent, kc = x->c->kc;
  put_pragma(x, 2);
  cg_line(x->out, 1, "for (%s k_lo = 0; k_lo < %lld; k_lo += %lld)", index,
          extent, kc);
  cg_line(x->out, 2, "for (%s m = 0; m < %lld; m += %lld) {", index,
          (long long)x->m, (long long)x->c->mb);
  cg_line(x->out, 3, "const %s k_hi = %s(k_lo + %lld, %lld);", index,
          cg_helper_used(x->e, CG_MIN_INDEX), kc, extent);
  cg_line(x->out, 3,
          "%s_pack_x(glen_x, glen_packed + %lld * k_lo + "
          "%lld * (k_hi - k_lo) * m,",
          x->name, (long long)(rounded_rows(x) * x->inner),
          (long long)x->inner);
  cg_line(x->out, 5, "k_lo, k_hi, m, %s(m + %lld, %lld));",
          cg_helper_used(x->e, CG_MIN_INDEX), (long long)x->c->mb,
          (long long)x->m);
  cg_line(x->out, 2, "}");
}

static void
put_panel_call(const cg_contract *x, uint32_t indent) {
  const po_contraction *c = x->c;
  const po_cdims *m = &c->dims[PO_DIM_M], *n = &c->dims[PO_DIM_N];
  const po_cdims *k = &c->dims[PO_DIM_K];
  cg_indent(x->out, indent);
  bs_putf(x->out, "%s_panel(", x->name);
  if (c->x_mode == PO_DIRECT)
    bs_putf(x->out, "x + %lld * m + %lld * k_lo",
            (long long)(m->n ? m->d[0].x : 0), (long long)k->d[0].x);
  else if (c->x_mode == PO_BLOCK)
    bs_put(x->out, "x_block + kc * (m - m_lo)");
  else
    bs_putf(x->out, "glen_packed + %lld * k_lo + kc * m",
            (long long)(rounded_rows(x) * x->inner));
  bs_put(x->out, ",\n");
  cg_indent(x->out, indent + 2);
  if (c->y_mode == PO_DIRECT)
    bs_putf(x->out, "y + n + %lld * k_lo", (long long)k->d[0].y);
  else
    bs_put(x->out, "y_block + n - n_lo");
  bs_putf(x->out, ", c + %lld * m + %lld * n, kc,\n",
          (long long)(m->n ? m->d[m->n - 1].c : 0),
          (long long)(n->n ? n->d[n->n - 1].c : 0));
  cg_line(x->out, indent + 2, "k_lo == 0, m_hi - m, n_hi - n);");
}

static void
put_tile(const cg_contract *x, uint32_t indent) {
  const po_contraction *c = x->c;
  const char *index = x->e->index, *min = cg_helper_used(x->e, CG_MIN_INDEX);
  long long extent = c->dims[PO_DIM_K].d[0].extent, inner = x->inner;
  bs_text *out = x->out;
  if (c->y_mode == PO_BLOCK)
    cg_line(out, indent, "%s y_block[%lld] __attribute__((aligned(64)));",
            x->type, (long long)(c->kc * inner * x->ld));
  if (c->x_mode == PO_BLOCK)
    cg_line(out, indent, "%s x_block[%lld] __attribute__((aligned(64)));",
            x->type, (long long)(c->kc * inner * c->mb));
  if (c->x_mode != PO_WHOLE)
    put_moved(x, 'x', indent);
  put_moved(x, 'y', indent);
  put_moved(x, 'c', indent);
  cg_line(out, indent, "const %s n_hi = %s(n_lo + %lld, %lld);", index, min,
          (long long)c->nc, (long long)x->n);
  cg_line(out, indent, "for (%s k_lo = 0; k_lo < %lld; k_lo += %lld) {", index,
          extent, (long long)c->kc);
  cg_line(out, indent + 1, "const %s k_hi = %s(k_lo + %lld, %lld);", index, min,
          (long long)c->kc, extent);
  cg_line(out, indent + 1, "const %s kc = %lld * (k_hi - k_lo);", index, inner);
  if (c->y_mode == PO_BLOCK) {
    cg_indent(out, indent + 1);
    bs_putf(out, "%s_pack_y(y, y_block, k_lo, k_hi, n_lo, n_hi", x->name);
    put_outer_arguments(x, &c->y);
    bs_put(out, ");\n");
  }
  cg_line(out, indent + 1,
          "for (%s m_lo = tile; m_lo < %s(tile + %lld, %lld); m_lo += %lld) {",
          index, min, (long long)c->mc, (long long)x->m, (long long)c->mb);
  cg_line(out, indent + 2,
          "const %s m_hi = %s(m_lo + %lld, %s(tile + %lld, %lld));", index, min,
          (long long)c->mb, min, (long long)c->mc, (long long)x->m);
  if (c->x_mode == PO_BLOCK) {
    cg_indent(out, indent + 2);
    bs_putf(out, "%s_pack_x(x, x_block, k_lo, k_hi, m_lo, m_hi", x->name);
    put_outer_arguments(x, &c->x);
    bs_put(out, ");\n");
  }
  cg_line(out, indent + 2, "for (%s n = n_lo; n < n_hi; n += %lld)", index,
          (long long)(c->nv * c->lanes));
  cg_line(out, indent + 3, "for (%s m = m_lo; m < m_hi; m += %u)", index,
          c->mr);
  put_panel_call(x, indent + 4);
  cg_line(out, indent + 1, "}");
  cg_line(out, indent, "}");
}

static void
put_tiles(const cg_contract *x) {
  const po_cdims *o = &x->c->dims[PO_DIM_O];
  const char *index = x->e->index;
  uint32_t indent = 1;
  put_pragma(x, o->n + 2);
  for (uint32_t d = 0; d < o->n; d++, indent++)
    cg_line(x->out, indent, "for (%s o%u = 0; o%u < %lld; o%u++)", index, d, d,
            (long long)o->d[d].extent, d);
  cg_line(x->out, indent++, "for (%s n_lo = 0; n_lo < %lld; n_lo += %lld)",
          index, (long long)x->n, (long long)x->c->nc);
  cg_line(x->out, indent, "for (%s tile = 0; tile < %lld; tile += %lld) {",
          index, (long long)x->m, (long long)x->c->mc);
  put_tile(x, indent + 1);
  cg_line(x->out, indent, "}");
}

static cg_contract
measured(cg_emitter *e, const po_contraction *c, const char *name) {
  int64_t bytes = gs_dtype_table[c->dtype].bytes, line = 64 / bytes;
  cg_contract x = {.e = e, .c = c, .out = &e->body, .name = name};
  x.type = gs_dtype_table[c->dtype].c_type;
  x.m = po_cdims_size(&c->dims[PO_DIM_M]);
  x.n = po_cdims_size(&c->dims[PO_DIM_N]);
  x.k = po_cdims_size(&c->dims[PO_DIM_K]);
  x.inner = x.k / c->dims[PO_DIM_K].d[0].extent;
  x.ld = (c->nc + line - 1) / line;
  x.ld = (x.ld + (x.ld % 2 == 0)) * line;
  return x;
}

void
cg_put_contract_parts(cg_emitter *e, const po_contraction *c,
                      const char *name) {
  cg_contract x = measured(e, c, name);
  e->uses_contract = true;
  cg_put_contract_packs(&x);
  cg_put_contract_kernels(&x);
}

void
cg_put_contract_body(cg_emitter *e, const po_contraction *c, const char *name,
                     const cg_scope *scope) {
  cg_contract x = measured(e, c, name);
  put_pointer(&x, scope, 'x', &c->x);
  put_pointer(&x, scope, 'y', &c->y);
  put_pointer(&x, scope, 'c', &c->c);
  if (c->x_mode == PO_WHOLE) {
    cg_line(x.out, 1, "%s *const glen_packed = %s;", x.type,
            array_name(&x, scope, c->packed));
    put_whole(&x);
  }
  put_tiles(&x);
}
