/* SPDX-License-Identifier: MIT */
/* fit_build.h - a term while it is built; private to fit_build.c and
 * fit_result.c. */
#ifndef RULES_FIT_BUILD_H
#define RULES_FIT_BUILD_H

#include "rules/instr/fit.h"

enum { MOST_PARTS = GS_MAX_RANK };

typedef struct fit_part {
  uint8_t atom;
  uint8_t id; /* REST: what is iterated */
  int64_t size;
} fit_part;

enum { REST = 255 };

/* Parts in a row, and of which dimension each is. */
typedef struct parts {
  uint32_t n;
  fit_part at[MOST_PARTS];
  uint32_t n_dims;
  int64_t dim[MOST_PARTS];
  bool failed;
} parts;

typedef struct building {
  const fit_match *m;
  const fit_space *s;
  const fit_assignment *a;
  const fit_slice *slice; /* NULL: all of it */
  gs_over over;
  uint8_t of_over[GS_MAX_RANK]; /* the atom of each dimension */
  fit_mode mode;
  /* The term so far. */
  eg_class cls;
  gs_type type;
  double copied; /* elements, by the host */
  bool failed;
} building;

/* What cannot be is noted as `failed`, after which nothing more is done. */
void fit_add_node(building *, gs_op, bs_value attr, const eg_class *kids,
                  const gs_type *const *types, uint32_t n);
/* Of the term so far. */
void fit_add_view(building *, gs_op, const bs_value *items, uint32_t n);
/* Its elements in dimensions of other sizes, `access` of them in S. */
void fit_reshape(building *, const int64_t *dim, uint32_t n, uint32_t access);
/* What is iterated of an atom. */
void fit_put_rest(const building *, uint32_t atom, parts *);
/* The parts behind the last dimension are one of that size. */
void fit_end_dim(parts *, int64_t size);
/* The parts of an array, and of operand `bit` of a call (UINT32_MAX: of its
 * result) in the order in which the call has them. */
void fit_list_of_atoms(const building *, const fit_list *, parts *out);
void fit_list_of_call(const building *, const fit_shape *, uint32_t bit,
                      parts *out);
/* The term, whose elements stand in the order of the parts `from`, in that of
 * `to`. */
void fit_rearrange(building *, const parts *from, const parts *to,
                   uint32_t access);
/* Which of the cuts is the digit's, FIT_SLICED: none; and the size that it has
 * in the whole. */
uint32_t fit_cut_of(const building *, uint32_t atom);
int64_t fit_whole_size(const building *, uint32_t atom);
/* Whether parts in the order `p` can be brought as operand k, or as the result,
 * without a copy by the host; and that copy. */
bool fit_lies_well(const building *, const fit_shape *, uint32_t k,
                   const parts *p, const fit_lie *);
void fit_copy(building *);
/* fit_turn.c: operand k, whose parts are `from`, as views of a smaller copy
 * that lie well; false where there is none smaller than the parts `to`. */
bool fit_turn(building *, uint32_t k, const parts *from, const parts *to);
/* The iteration space, then the call with its operands: of what the plain
 * instruction does, or, in fit_onto.c, of one that goes on with sums. */
void fit_find_over(building *);
void fit_build_call(building *, const gs_instr *into, rl_fit *calls);
void fit_build_onto(building *, rl_fit *calls);
/* Operand k as the calls take it; the attribute of a call, whose parameters are
 * those slots of the plain instruction (NULL: the same); and the cycles of all
 * calls. */
void fit_build_operand(building *, uint32_t k);
bs_value fit_call_attr(building *, const gs_instr *, const uint32_t *slot_of,
                       const gs_over *, const gs_instr *into);
double fit_price_call(building *, const gs_instr *, bs_value attr,
                      const gs_type *const *types);
bool fit_has_sums(const gs_over *);

#endif
