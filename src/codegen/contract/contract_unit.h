/* SPDX-License-Identifier: MIT */
/* contract_unit.h - a contraction as functions of a file. */
#ifndef CODEGEN_CONTRACT_UNIT_H
#define CODEGEN_CONTRACT_UNIT_H

#include "codegen/unit/emit.h"

/* contract.c: the functions that a contraction's kernel needs, and its body. */
void cg_put_contract_parts(cg_emitter *, const struct po_contraction *,
                           const char *name);
cg_node *cg_make_contract_body(cg_emitter *, const struct po_contraction *,
                               const char *name, const cg_scope *);
/* The calls that pack what is packed beforehand. */
cg_node *cg_make_contract_before(cg_emitter *, const struct po_contraction *,
                                 const char *name);

#endif
