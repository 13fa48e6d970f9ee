/* SPDX-License-Identifier: MIT */
/* region.h - a program cut into regions, as a network into its layers.
 *
 * A region is a sum of products with what is computed from it point by point or
 * by reductions, up to the next sum of products; its views belong to who reads
 * them.  What another region reads, or is an output, is a seam.  A region is a
 * program of its own, whose inputs are the seams it reads and the program's own
 * inputs; regions that are equal but for the names of these are alike. */
#ifndef REGION_REGION_H
#define REGION_REGION_H

#include "base/keys.h"
#include "glenside/program/program.h"

#define RG_NONE UINT32_MAX

/* What a program is given: it belongs to no region. */
static inline bool
rg_is_leaf(const gs_node *n) {
  return n->op == GS_TENSOR || n->op == GS_CONST;
}

typedef struct rg_cut {
  bs_heap *heap;
  const gs_program *p;
  uint32_t *of;           /* by term: its region; RG_NONE: none alone */
  uint8_t *seam;          /* by term */
  uint32_t n;             /* regions */
  BS_VEC(uint32_t) works; /* by region: terms that compute */
} rg_cut;

/* region_cut.c */
void rg_cut_program(bs_heap *, const gs_program *, rg_cut *out);
void rg_cut_done(rg_cut *);

/* What a region reads and gives: terms of the whole program. */
typedef struct rg_ends {
  BS_VEC(gs_term) inputs, constants, outputs;
  BS_VEC(gs_term) all; /* of regions that are alike, in the same order */
} rg_ends;
void rg_ends_done(bs_heap *, rg_ends *);

/* A region as a program: its inputs, constants and outputs stand in the order
 * of its ends. */
typedef struct rg_part {
  gs_program *program;
  const char **same; /* inputs that are the same for all calls */
  uint32_t n_same;
} rg_part;

/* region_part.c: the regions of a cut program, listed one at a time. */
typedef struct rg_parts {
  const rg_cut *cut;
  const uint8_t *once; /* by term: the same for all calls; NULL: none is */
  uint32_t reach;      /* so many regions on a way belong to a part */
  uint32_t *first;     /* seams[first[r]] to seams[first[r + 1]] are of r */
  uint32_t *seams;
  uint32_t *number;  /* by term: its place in `order`, or RG_NONE */
  uint32_t *within;  /* by term: regions it may still go back, itself included;
                        0: it is not in the part */
  uint32_t *uses;    /* by term: of the part, how many read it */
  uint32_t *content; /* by constant: the first one of the same elements */
  bs_map constants;  /* by name */
  bs_map named;      /* by term: a let */
  const char *start; /* of names that are given to seams */
  BS_VEC(uint32_t) inner; /* terms of the part that are none of its inputs */
  BS_VEC(uint32_t) order; /* terms of the part, children first */
  BS_VEC(uint32_t) todo, next;
} rg_parts;

void rg_parts_init(rg_parts *, const rg_cut *, bs_arena *, const uint8_t *once,
                   uint32_t reach);
void rg_parts_done(rg_parts *);
/* Lists region r: what follows is about it.  Its key is what tells regions
 * apart: those of equal keys are one program but for the names of inputs,
 * constants and outputs. */
void rg_list(rg_parts *, uint32_t r, bs_key *, rg_ends *);
/* It as a program; false where a term has no type by itself. */
bool rg_make(const rg_parts *, uint32_t r, const gs_context *, rg_part *);

#endif
