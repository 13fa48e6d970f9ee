/* SPDX-License-Identifier: MIT */
/* image.h - an image that is copied for the windows of a tile (private to
 * contract_window.c, which says where its columns are, and image_copy.c, which
 * copies it). */
#ifndef CODEGEN_CONTRACT_IMAGE_H
#define CODEGEN_CONTRACT_IMAGE_H

#include "codegen/contract/contract.h"

typedef struct cg_image {
  const cg_contract *x;
  const po_contraction *c;
  bool of_x;
  const po_cdims *n, *k; /* n: of m, where it is an image of x */
  uint32_t last;         /* loop of n */
  po_cimage at;
} cg_image;

/* contract_window.c */
cg_image cg_image_of(const cg_contract *);
const char *cg_image_text(const cg_image *, gs_number);
/* Elements from a step of the loop of k along an axis to the next, but on the
 * innermost, which has phases. */
gs_number cg_image_window_step(const cg_image *, uint32_t axis);
/* Positions of an axis that is not cut; elements of all phases of a row. */
gs_number cg_image_positions(const cg_image *, uint32_t axis);
gs_number cg_image_phases(const cg_image *);
/* The end of a function's parameters. */
void cg_open_image_function(const cg_image *);

/* image_copy.c: NAME_pad(from, to, k_lo, k_hi, first, last): those of the
 * outermost loop of n. */
void cg_put_image_copy(const cg_image *);

#endif
