/* SPDX-License-Identifier: MIT */
/* contract_mac.h - a contraction on an instruction of the target as C (private
 * to its files).
 *
 *   contract_mac.c  the tiles, in parallel, and the panels within
 *   mac_pack.c    operands copied into panels of fragments
 *   mac_kernel.c  the accumulators of a panel, and the same in plain C
 *   mac_store.c   sums on their way to memory */
#ifndef CODEGEN_CONTRACT_MAC_H
#define CODEGEN_CONTRACT_MAC_H

#include "codegen/contract/side.h"

/* One of the operands, of a contraction on an instruction. */
typedef struct cg_mac_side {
  cg_side side; /* its width: rows of a panel */
  const gs_mac *mac;
  const gs_mac_operand *operand;
  gs_dtype dtype;       /* of its elements in memory */
  const char *lane;     /* the type in C of those in panels */
  int64_t rows;         /* of a fragment */
  int64_t offset;       /* added to an element */
  int64_t panel;        /* elements of one */
  int64_t row;          /* of one to the next; 0: in fragments side by side */
  int64_t sums;         /* where the sums of its rows are, behind a panel */
  int64_t depth, inner; /* of k: in a panel, of its innermost loop, filled */
  po_mac_way way;
} cg_mac_side;

cg_mac_side cg_mac_side_of(const cg_contract *, bool of_x);
/* Type in C of an operand's elements in memory. */
const char *cg_mac_type(const cg_mac_side *);

/* mac_pack.c: NAME_pack_x(from, to, first, last, o..): panels of rows first
 * to last. */
void cg_put_mac_pack(const cg_mac_side *);
/* mac_kernel.c: NAME_RxC(x, y, to, apart): the sums of a panel of R x C
 * fragments, rows of them so far apart; for every size of panel. */
void cg_put_mac_kernels(const cg_contract *);
/* The call of what is done before, or behind, all panels of a tile. */
void cg_put_mac_around(const cg_contract *, gs_mac_part);
/* mac_store.c: NAME_store(sums, c, ..): what c is from the sums of a panel,
 * unless it always is these sums, which kernels put there. */
void cg_put_mac_store(const cg_contract *);
/* Whether the sums of panels of whole fragments are stored by their kernel; the
 * condition that a panel is one, NULL where all of them are. */
bool cg_mac_stores_sums(const cg_contract *);
const cg_expr *cg_mac_is_whole(const cg_contract *);

/* Fragments of a panel of so many rows. */
int64_t cg_mac_fragments(const cg_mac_side *, int64_t rows);

#endif
