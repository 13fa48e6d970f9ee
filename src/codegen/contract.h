/* contract.h - a contraction as C (private to its files).
 *
 *   contract.c         the tiles, in parallel, and the blocks within
 *   contract_pack.c    operands copied into panels
 *   contract_kernel.c  the kernel whose sums are in registers */
#ifndef CODEGEN_CONTRACT_H
#define CODEGEN_CONTRACT_H

#include "codegen/emit.h"
#include "poly/contraction.h"

typedef struct cg_contract {
  cg_emitter *e;
  const po_contraction *c;
  bs_text *out;
  const char *name; /* of the kernel's function: prefix of the others */
  const char *type; /* of elements in C */
  int64_t m, n, k;  /* extents, all dimensions of the role multiplied */
  int64_t inner;    /* iterations of k in one of its outermost loop */
  int64_t ld;       /* elements of a row of packed y */
} cg_contract;

/* contract_kernel.c: its variants; the statement that calls the right one. */
void cg_put_contract_kernels(const cg_contract *);
/* contract_pack.c: NAME_pack_x and NAME_pack_y, where they are needed. */
void cg_put_contract_packs(const cg_contract *);

/* A line of text, indented, ended. */
void cg_line(bs_text *, uint32_t indent, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
