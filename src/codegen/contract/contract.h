/* SPDX-License-Identifier: MIT */
/* contract.h - a contraction as C (private to its files).
 *
 *   contract.c         the tiles, in parallel, and the blocks within
 *   pack.c    operands copied into panels
 *   contract_rows.c  ... those that lie along k
 *   side.c    loops and addresses of such functions
 *   contract_window.c  an image copied once, for all windows
 *   image_copy.c  ... and its copy, with the padding
 *   contract_copy.c  the functions that packing is made of
 *   next.c    what is copied next, on its way into a cache
 *   kernel.c  the kernel whose sums are in registers
 *   taps.c    ... which leaves out products with the padding
 *   store.c   the sums on their way to memory
 *   contract_part.c  ... less than a vector of them
 *   finish.c  what is made of them in registers
 *   formula.c ... or there
 *   ragged.c  vectors that are not full
 *   blend.c   ... whose lanes are of two rows of an image
 *   contract_number.c  what of all that is made of sizes */
#ifndef CODEGEN_CONTRACT_CONTRACT_H
#define CODEGEN_CONTRACT_CONTRACT_H

#include "codegen/contract/contract_unit.h"
#include "codegen/contract/vectors.h"
#include "glenside/target/tuned.h"
#include "poly/kernel/contraction_taps.h"

#define CG_MOST_NUMBERS 96

typedef struct cg_contract {
  cg_emitter *e;
  const po_contraction *c;
  cg_writer *w;     /* of the function that is being made */
  const char *name; /* of the kernel's function: prefix of the others */
  const char *type; /* of elements in C */
  int64_t columns;  /* of a panel of y: nv vectors */
  bool packs[2];    /* y, x are packed by functions of its own */
  /* Numbers over the sizes of the program, as all that is said of dimensions
   * (poly/loops/loops_number.h); `over` is NULL where they are integers. */
  gs_sizes *sizes;
  const gs_numbers *over;
  gs_number m, n, k; /* extents, all dimensions of the role multiplied */
  gs_number inner;   /* iterations of k in one of its outermost loop */
  uint32_t n_numbers;
  gs_number numbers[CG_MOST_NUMBERS]; /* those that are no integers */
} cg_contract;

/* A panel of at most mr x columns elements of c; ragged: its last vector may
 * have fewer, as `n`, the columns that are left, says when it runs. */
typedef struct cg_panel {
  int64_t rows, columns;
  bool ragged;
  bool blended; /* lanes of a vector are of two rows of the image */
} cg_panel;

/* The sizes of panels that occur, the full one last: rows and columns are full
 * or what is left of m and n, or any where that is not known. */
#define CG_MOST_PANELS (GS_KERNEL_ROWS * GS_KERNEL_VECTORS)

/* How far elements of x and y are apart along k, and rows of x, where the call
 * decides whether they are packed: `glen_x_lies`, `glen_y_lies` are true where
 * they are not. */
#define CG_STEP_OF_X "glen_xs"
#define CG_ROW_OF_X  "glen_xr"
#define CG_STEP_OF_Y "glen_ys"

/* contract.c: NAME_v, or another letter: a vector of the type, as many bytes as
 * those of sums have, anywhere in memory. */
void cg_put_vector_type(const cg_contract *, const char *type, char letter);
/* From one index of the last dimension to the next, 0 where there is none: in
 * c, or in another array that the formula reads. */
#define CG_OF_C UINT32_MAX
gs_number cg_last_stride(const po_cdims *, uint32_t extra);
/* contract_number.c: a number, so many times a number, and an element of c or
 * of what else is read, as C; a block's kc, mc, nc or mb; the elements of all
 * panels of an operand for one step of the outermost k. */
const char *cg_number_text(const cg_contract *, gs_number);
const char *cg_times_text(const cg_contract *, int64_t by, gs_number);
const char *cg_place_text(const cg_contract *, int64_t row,
                          gs_number row_stride, int64_t column,
                          gs_number column_stride);
const char *cg_block_text(const cg_contract *, const char *name);
const char *cg_panels_step(const cg_contract *, bool of_x);
/* Finds the numbers; declares them, and the blocks; , int glen_n0, ...; the
 * same handed on, once more as text; (void)glen_n0; ... */
void cg_find_numbers(cg_contract *);
void cg_put_numbers(const cg_contract *);
void cg_put_number_parameters(const cg_contract *);
void cg_put_number_arguments(const cg_contract *);
const char *cg_number_arguments(const cg_contract *);
void cg_put_number_uses(const cg_contract *);
/* NAME_prepack is told no sizes, and all that it packs needs none: functions
 * that pack an operand for it are passed no numbers, and their loops are shared
 * by threads where that pays for the greatest sizes. */
bool cg_is_told_sizes(const cg_contract *, bool of_x);
void cg_put_side_number_parameters(const cg_contract *, bool of_x);
const char *cg_side_number_arguments(const cg_contract *, bool of_x);
void cg_put_side_number_uses(const cg_contract *, bool of_x);
/* Bytes of y for one step of k, of a panel; how many of the next panel each
 * step asks for, as a number or as what the call computes from the panels of x
 * that a block has. */
#define CG_LATER "glen_later"
int64_t cg_bytes_of_panel(const cg_contract *);
bool cg_shares_later(const cg_contract *);
const char *cg_later_text(const cg_contract *);
/* ragged.c: NAME_put and NAME_get, of the first n lanes of a vector; how many
 * lanes of a ragged panel's last vector count, as CG_LEFT; the vector, by a
 * new name, from a place; sums on their way. */
#define CG_LEFT "left"
void cg_put_ragged_functions(const cg_contract *);
void cg_put_ragged_uses(const cg_contract *);
void cg_put_left(const cg_contract *, int64_t columns);
void cg_put_get(const cg_contract *, const char *vector, const char *from);
void cg_put_ragged(const cg_contract *, const char *sum, const char *place,
                   int transfer);

/* Rows of a panel of x within a line of its image, at most. */
#define CG_ROWS_OF_LINE "glen_mr"

/* The blocks along a role are computed when the function is called. */
static inline bool
cg_has_sized_blocks(const cg_contract *x, po_dim_role role) {
  return role == PO_DIM_K ? gs_is_sized(x->c->dims[PO_DIM_K].d[0].extent)
                          : x->c->sized[role];
}

/* Kernels are for any rows up to mr, and any vectors up to nv. */
static inline bool
cg_has_any_panel(const cg_contract *x) {
  return x->c->sized[PO_DIM_M] || x->c->sized[PO_DIM_N];
}

/* kernel.c: a function for every size of panel, and NAME_panel, which
 * calls the right one. */
void cg_put_contract_kernels(const cg_contract *);
/* A point of k: its element of the first row of x, without the bracket behind
 * it, where its elements of y are, and its number in the block, as C; its tap
 * along the innermost axis of the image, where rows of which that
 * is padding are left out (NULL: none are). */
typedef struct cg_point {
  const char *x, *y, *k;
  const po_caxis *axis;
  int64_t tap;
} cg_point;
/* The products of a panel at a point; the pragma for a loop over points. */
void cg_put_point(const cg_contract *, cg_panel, const cg_point *);
void cg_put_unrolled(const cg_contract *, int64_t iterations);

/* blend.c: panels of y that span rows of the image are read where those lie;
 * what is declared in a kernel, and a vector at a point; NAME_parts, which says
 * where the vectors of a panel are, and its call. */
static inline bool
cg_blends(const cg_contract *x) {
  return x->c->y_mode == PO_WINDOWS && po_blends_rows(x->c);
}

const char *cg_lane_number(const cg_contract *); /* its type */
void cg_put_blends(const cg_contract *, int64_t vectors);
void cg_put_blended(const cg_contract *, const cg_point *, int64_t vector);
void cg_put_vector_places_function(const cg_contract *);
void cg_put_vector_places(const cg_contract *);

/* taps.c: kernels leave out what is multiplied by padding; all products of a
 * panel.  int from1, int to1, ..: the taps of each loop of k that a panel has
 * in the array; the same handed on; what they are for the panel at m. */
static inline bool
cg_leaves_out(const cg_contract *x) {
  return x->c->x_mode == PO_WINDOWS && po_leaves_out_padding(x->c);
}

void cg_put_taps(const cg_contract *, cg_panel);
void cg_put_range_parameters(const cg_contract *);
const char *cg_range_arguments(const cg_contract *);
void cg_put_ranges(const cg_contract *);
/* What the pointer to a panel of x is moved by, where blocks of k are blocks of
 * taps. */
void cg_put_block_of_taps(const cg_contract *);

/* store.c: what the sums s0_0 .. become c by.  LOAD: they begin with
 * c; STORE, ADD, FINISH: they are put there, or added to what is there, or
 * their values of the formula are put there. */
typedef enum cg_transfer {
  CG_SUMS_LOAD,
  CG_SUMS_STORE,
  CG_SUMS_ADD,
  CG_SUMS_FINISH
} cg_transfer;
void cg_put_transfer(const cg_contract *, cg_panel, cg_transfer);
/* Neighbours along m lie side by side in c: vectors are stored turned over. */
bool cg_stores_turned(const cg_contract *);
/* contract_part.c: the first `width` lanes of a vector, to a place and from
 * there. */
void cg_put_part(const cg_contract *, const char *sum, const char *to,
                 cg_transfer, int64_t width);
/* tiles.c: the pragma for so many loops, where threads pay. */
void cg_put_team(const cg_contract *, uint32_t loops);
void cg_put_side_team(const cg_contract *, bool of_x, uint32_t loops);
/* The loops over tiles; `row` names the index of the one over rows. */
void cg_put_tiles(const cg_contract *, const char *row,
                  void (*put_tile)(const cg_contract *));
/* Opens the loops over the elements of a panel, along a row inside or not. */
void cg_put_elements(const cg_contract *, bool across);
/* NAME_formula(c, extras, rows, columns): sums in c become what the formula
 * makes of them; its call for a panel, where there is one. */
void cg_put_formula_function(const cg_contract *);
void cg_put_formula_call(const cg_contract *, cg_panel);
/* finish.c: the formula is arithmetic of whole vectors, which sums become the
 * values of on their way to memory. */
bool cg_finishes_in_registers(const cg_contract *);
/* A vector of a panel's sums: of `width` lanes, along a row or a column, from
 * (row, column) on; ragged: as many as are left of the columns. */
typedef struct cg_sums {
  int64_t row, column, width;
  bool down, ragged;
} cg_sums;
void cg_put_finish(const cg_contract *, const char *sums, const cg_sums *);
/* Names the functions that the formula calls for one element, in code that has
 * it for vectors alone. */
void cg_put_not_finished(const cg_contract *);
/* Asks for what it reads as it does for the sums' places. */
void cg_put_extra_prefetches(const cg_contract *, cg_panel);
/* The value of the formula for a sum; elements of what else it reads are those
 * of `row` and `column`. */
const cg_expr *cg_formula_value(const cg_contract *, const cg_expr *sum);
/* , const float *restrict e0, ...; or the same handed on */
void cg_put_extra_parameters(const cg_contract *);
void cg_put_extra_arguments(const cg_contract *);
/* The bytes that it will touch are asked for. */
void cg_put_prefetches(const cg_contract *, cg_panel);

/* kernel.c: sums become values of the formula on their way to memory. */
bool cg_finishes(const cg_contract *);
/* " restrict", unless c lies where something lies that the formula reads. */
const char *cg_restrict(const cg_contract *);

static inline bool
cg_has_formula(const cg_contract *x) {
  return x->c->formula != UINT32_MAX;
}

/* Its vectors are such that the C compiler can be asked to hold them in a
 * register: of several lanes, and no wider than there are any. */
static inline bool
cg_fits_register(const cg_contract *x) {
  return cg_is_register(x->c->lanes, x->c->dtype);
}

/* pack.c: NAME_pack_x and NAME_pack_y, where they are needed. */
void cg_put_contract_packs(const cg_contract *);

/* next.c: panels ask for the rows of the block of y that is copied next; the
 * function that does, which block that is, and the part of it that a panel asks
 * for. */
bool cg_asks_for_next(const cg_contract *);
void cg_put_next_function(const cg_contract *);
void cg_put_next_block(const cg_contract *);
void cg_put_next_part(const cg_contract *);

/* contract_window.c: the functions of an image whose windows are read where
 * they lie; what a tile declares, what it does for a block of k and for one of
 * rows, and the names `panel`, `at` of a panel of y and of its offsets. */
int64_t cg_window_stride(const cg_contract *); /* of neighbours of the image */
#define CG_MOST_WINDOW_NUMBERS (7 * PO_MAX_DIMS + 3)
void cg_put_window_functions(const cg_contract *);
/* The numbers of its layout; glen_widest, the columns that a tile has at most
 * where a plane of the image has room for so many rows at the call's sizes;
 * glen_tallest, the rows whose image is copied at once, of x. */
uint32_t cg_window_numbers(const cg_contract *,
                           gs_number out[CG_MOST_WINDOW_NUMBERS]);
void cg_put_window_width(const cg_contract *);
void cg_put_window_height(const cg_contract *);
/* The columns, or rows, of one step of the outermost loop of the image. */
const char *cg_window_inner(const cg_contract *);
void cg_put_window_blocks(const cg_contract *);
void cg_put_window_calls(const cg_contract *);
void cg_put_window_rows(const cg_contract *);
void cg_put_window_panel(const cg_contract *);
/* Where row `row` of a panel of x is in its image, from where the panel is. */
int64_t cg_window_row(const cg_contract *, int64_t row);

static inline bool
cg_has_windows(const cg_contract *x) {
  return x->c->x_mode == PO_WINDOWS || x->c->y_mode == PO_WINDOWS;
}

/* Panels of x end with lines of its image. */
static inline bool
cg_has_lines(const cg_contract *x) {
  return po_image_of_x(x->c) && x->c->line != x->m;
}

/* contract_copy.c: NAME_copy1 or 2(from, to, n): n elements, `stride` (1 or 2)
 * apart in `from`.  NAME_turn_x and _y(row, at, to): `width` pointers to rows,
 * of each `lanes` elements from `at` on, to `lanes` rows of `width`
 * elements. */
void cg_put_copy_function(const cg_contract *, int64_t stride);
/* Less than a vector from t on, by the bits of n, but for what the lowest of
 * them says: gcc 12 takes addresses counted back from the end of a row this
 * short for ones before its start, and warns. */
void cg_put_bits(const cg_contract *);
void cg_put_turn_function(const cg_contract *, char letter, int64_t width);
/* Vectors t0 .. become the columns of what they were the rows of. */
void cg_put_turn(const cg_contract *);
/* It can be done for vectors of so many. */
bool cg_can_turn(int64_t lanes);

/* contract_mac.c: the same of a contraction on an instruction of the target. */
void cg_put_mac_parts(const cg_contract *);
void cg_put_mac_body(const cg_contract *, const cg_scope *);
/* The type in C of what is in an operand's panels. */
const char *cg_mac_lane(const cg_contract *, bool of_x);

/* contract.c: a guard of the operand names that loop of o. */
bool cg_names_outer(const po_coperand *, uint32_t dim);
#endif
