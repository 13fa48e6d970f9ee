/* SPDX-License-Identifier: MIT */
/* unit.h - a contraction as functions of a file. */
#ifndef CODEGEN_CONTRACT_UNIT_H
#define CODEGEN_CONTRACT_UNIT_H

#include "codegen/unit/emit.h"

/* contract.c: the functions that a contraction's kernel needs, and its body. */
void cg_put_contract_parts(cg_emitter *, const struct po_contraction *,
                           const char *name);
void cg_put_contract_body(cg_emitter *, const struct po_contraction *,
                          const char *name, const cg_scope *);
/* The calls that pack what is packed beforehand. */
void cg_put_contract_before(cg_emitter *, const struct po_contraction *,
                            const char *name);

/* mac.c: what instructions of the target that are used need included. */
void cg_put_mac_headers(const cg_emitter *, bs_text *out);

/* part.c: what parts of vectors need above the functions; `again`: for
 * another instruction set. */
void cg_put_part_includes(const cg_emitter *, bs_text *out);
void cg_put_part_macros(cg_emitter *, bool again, bs_text *out);

#endif
