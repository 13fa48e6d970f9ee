/* SPDX-License-Identifier: MIT */
/* side.h - what the functions that pack an operand are made of
 * (private to pack.c and contract_rows.c).
 *
 * Index variables of the code are called o0, m0, n0, k0, k1, ... by role and
 * loop.  `which` has a bit for every loop of a role that is meant. */
#ifndef CODEGEN_CONTRACT_SIDE_H
#define CODEGEN_CONTRACT_SIDE_H

#include "codegen/contract/contract.h"

/* One of the operands. */
typedef struct cg_side {
  const cg_contract *x;
  bool of_x;
  po_dim_role role; /* of its own loops */
  const po_coperand *operand;
  int64_t width; /* of a panel */
} cg_side;

cg_side cg_side_of(const cg_contract *, bool of_x);
const po_cdims *cg_side_dims(const cg_side *);
/* The operand's, of a loop; of the last of its own. */
gs_number cg_side_stride(const cg_side *, const po_cdim *);
gs_number cg_side_last_stride(const cg_side *);

/* Sets of loops: all; all but the innermost; those of k that guards name. */
uint32_t cg_all_of(const po_cdims *);
uint32_t cg_all_but_last(const po_cdims *);
uint32_t cg_guarded_k(const cg_side *);

/* Narrows lo .. hi, values of index `dim` of `role`, by the guards. */
void cg_put_interval(const cg_side *, uint32_t role, uint32_t dim);
/* A guard's sum, but for one term. */
void cg_put_linear(const cg_contract *, const po_cguard *, uint32_t but_role,
                   uint32_t but);
/* Part of an address; declared as `name`. */
void cg_put_address(const cg_side *, po_dim_role, uint32_t which);
void cg_put_declared_address(const cg_side *, const char *name, po_dim_role,
                             uint32_t which);
/* Indices of the operand's loops from the flat one in `from`. */
void cg_put_split(const cg_side *, const char *from, bool last);
/* Loops over k, each the body of the one before. */
void cg_put_k_loops(const cg_side *, uint32_t which);
/* How many points of k in the block come before this one. */
void cg_put_flat_k(const cg_side *, uint32_t which);

/* NAME_pack_x(from, to, k_lo, k_hi, first, last, ..) {; its loop over panels;
 * a pointer to a row of one. */
void cg_put_pack_head(const cg_side *);
void cg_put_panel_loop(const cg_side *);
void cg_put_row_pointer(const cg_side *, const char *name, uint32_t which);

/* contract_rows.c: the function for an operand that lies along k; by lines
 * where guards name its innermost loop. */
void cg_put_pack_rows(const cg_side *);
void cg_put_pack_lines(const cg_side *);

#endif
