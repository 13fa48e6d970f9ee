/* SPDX-License-Identifier: MIT */
/* tiles.c - loops that kernels of either kind have around them: over tiles, by
 * threads where that pays, and over the elements of one. */
#include "codegen/contract/contract.h"

/* Products below which threads take longer to meet than to multiply: by the
 * processor's vectors, and by an instruction for products. */
#define LEAST_PARALLEL     131072.0
#define LEAST_MAC_PARALLEL 1048576.0

static bool
runs_parallel(const cg_contract *x) {
  double products = (double)x->m * (double)x->n * (double)x->k *
                    (double)po_cdims_size(&x->c->dims[PO_DIM_O]);
  double least = x->c->mac.mac ? LEAST_MAC_PARALLEL : LEAST_PARALLEL;
  return x->e->options->openmp && x->e->p->target->cores > 1 &&
         products >= least;
}

void
cg_put_team(const cg_contract *x, uint32_t loops) {
  if (!runs_parallel(x))
    return;
  bs_put(x->out, "#ifdef _OPENMP\n");
  if (loops > 1)
    cg_line(x->out, 1, "#pragma omp parallel for collapse(%u)", loops);
  else
    cg_line(x->out, 1, "#pragma omp parallel for");
  bs_put(x->out, "#endif\n");
}

void
cg_put_tiles(const cg_contract *x, const char *row,
             void (*put_tile)(const cg_contract *, uint32_t indent)) {
  const po_cdims *o = &x->c->dims[PO_DIM_O];
  const char *index = x->e->index;
  uint32_t indent = 1;
  cg_put_team(x, o->n + 2);
  for (uint32_t d = 0; d < o->n; d++, indent++)
    cg_line(x->out, indent, "for (%s o%u = 0; o%u < %lld; o%u++)", index, d, d,
            (long long)o->d[d].extent, d);
  cg_line(x->out, indent++, "for (%s n_lo = 0; n_lo < %lld; n_lo += %lld)",
          index, (long long)x->n, (long long)x->c->nc);
  cg_line(x->out, indent, "for (%s %s = 0; %s < %lld; %s += %lld) {", index,
          row, row, (long long)x->m, row, (long long)x->c->mc);
  put_tile(x, indent + 1);
  cg_line(x->out, indent, "}");
}

void
cg_put_elements(const cg_contract *x, bool across) {
  const char *index = x->e->index;
  const char *outer = across ? "row" : "column";
  const char *inner = across ? "column" : "row";
  cg_line(x->out, 1, "for (%s %s = 0; %s < %ss; %s++)", index, outer, outer,
          outer, outer);
  cg_line(x->out, 2, "for (%s %s = 0; %s < %ss; %s++) {", index, inner, inner,
          inner, inner);
}
