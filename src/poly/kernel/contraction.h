/* SPDX-License-Identifier: MIT */
/* contraction.h - sums of products as loops around a register-tiled kernel.
 *
 * A contraction is
 *
 *   c[o, m, n] = sum over k of x[o, m, k] * y[o, n, k]
 *
 * where o, m, n, k stand for any number of loops each, and the address of
 * every operand is linear in them; a point where a guard does not hold counts
 * as zero (the padding of a convolution).  Matrix products, convolutions of
 * any layout and grouped ones are all of this form: only the strides differ.
 *
 * It runs as packed panels around a kernel that holds `mr` x `nv` vectors of c
 * in registers, after Goto and van de Geijn, "Anatomy of high-performance
 * matrix multiplication" (2008) and Van Zee and van de Geijn's BLIS (2015).
 * Elements of y fill vectors, those of x are broadcast; which operand is which
 * is chosen. Where sums may not be reassociated, those of an element run in
 * the original order of k. */
#ifndef POLY_CONTRACTION_H
#define POLY_CONTRACTION_H

#include "glenside/target/tuned.h"
#include "poly/kernel/reduction.h"

typedef enum po_dim_role { PO_DIM_O, PO_DIM_M, PO_DIM_N, PO_DIM_K } po_dim_role;

/* One loop; strides are in elements, 0 where the operand does not depend.  Of a
 * program with sizes all of these are numbers over them (loops/loops_number.h),
 * and so are addresses, and constants of guards. */
typedef struct po_cdim {
  int64_t extent;
  int64_t x, y, c;
  int64_t extra[PO_MAX_EXTRAS];
} po_cdim;

typedef struct po_cdims {
  uint32_t n;
  po_cdim d[PO_MAX_DIMS]; /* outermost first */
} po_cdims;

/* constant + sum of factor * index >= 0. */
typedef struct po_cguard {
  int64_t constant;
  int64_t factor[4][PO_MAX_DIMS]; /* by role, dimension */
} po_cguard;

typedef struct po_coperand {
  uint32_t array;
  int64_t base; /* the address at the origin */
  uint32_t n_guards;
  po_cguard guards[PO_MAX_GUARDS];
} po_coperand;

/* How an operand reaches the kernel. */
typedef enum po_cmode {
  PO_DIRECT, /* read where it is */
  PO_BLOCK,  /* packed for every tile, on the stack */
  PO_WHOLE,  /* packed once, into an array of the workspace */
  PO_BEFORE, /* packed once and for all, by NAME_prepack */
  PO_WINDOWS /* its image copied for every tile, see contraction_window.c; of
                one operand at most */
} po_cmode;

/* "direct", "block", ... */
extern const char *const po_cmode_names[];

/* A loop of n (of m, in an image of x) and the loop of k, or UINT32_MAX, along
 * one axis of the operand: positions
 * s * n + d * k of `unit` elements each; guards hold from lo to hi. */
typedef struct po_caxis {
  uint32_t k;
  int64_t s, d, unit, lo, hi;
  int64_t window; /* positions of one n */
} po_caxis;       /* with sizes, unit, lo and hi are numbers over them */

/* The copy of what a tile needs of the image. */
typedef struct po_cimage {
  int64_t n[PO_MAX_DIMS];  /* elements from a position of an axis to the next */
  int64_t k[PO_MAX_DIMS];  /* the step of a loop of k that is on no axis */
  int64_t phases, columns; /* of the innermost axis */
  int64_t phase;           /* elements from phase to phase */
  int64_t size;            /* and what is read beyond */
} po_cimage;

/* What a schedule fixes of how a contraction runs (`contract`); the plan
 * chooses what is 0, or of the modes PO_ANY_MODE. */
#define PO_ANY_MODE (-1)
typedef enum po_factor_order {
  PO_ANY_ORDER,
  PO_IN_ORDER, /* the first factor is x */
  PO_SWAPPED   /* the second is */
} po_factor_order;

typedef enum po_contract_as {
  PO_AS_KERNEL,
  PO_AS_TILES, /* of windows (kernel_slide.h), of mr rows and nv vectors */
  PO_AS_LOOPS  /* it runs as the nest says, and nothing below matters */
} po_contract_as;

typedef struct po_contract_choice {
  po_contract_as as;
  po_factor_order order;
  int x_mode, y_mode;     /* a po_cmode */
  int64_t mr, nv;         /* of the kernel */
  int64_t kc, mc, nc, mb; /* of blocks and tiles */
} po_contract_choice;

/* How it runs on an instruction that the target declares (kernel_mac.c), with
 * panels of fragments: `mr` x `nv` accumulators at a time, `mc` rows and `nc`
 * columns a tile, all of k in a panel. */
typedef struct po_mac_plan {
  const gs_mac *mac; /* NULL: on vectors of its dtype */
  int64_t offset[2]; /* added to elements of x and of y as they are packed */
  /* All loops of k count as one in groups of what an instruction takes;
   * otherwise the innermost alone, whose rest is filled. */
  bool flat;
  int64_t depth; /* elements of k in a panel, with those filled in */
  /* Elements from a row of x to the next where a panel holds row by row, or x
   * is read where it lies; 0: fragments lie side by side. */
  int64_t row;
  int64_t panel[2]; /* bytes of one of x, y, with what is known of its rows */
} po_mac_plan;

typedef struct po_contraction {
  gs_dtype dtype;               /* of the sums */
  gs_dtype factor[2];           /* of x and y */
  uint32_t init, update, store; /* statements; PO_NO_STMT: none */
  bool adds;           /* sums are added to what is in c: there is no init */
  bool keeps_padding;  /* a product with it may be no zero: order is strict */
  const char *refused; /* why po_find_contraction says that it is none */
  /* The statement that makes each element of c from a sum, or UINT32_MAX; the
   * array of sums, which then is none. */
  uint32_t formula, sums;
  uint32_t n_extras;
  po_cextra extras[PO_MAX_EXTRAS];
  po_coperand x, y, c; /* c has no guards */
  po_cdims dims[4];    /* by role; m and n are linear in c */

  /* By role, whether its extents are made of sizes; whether they may be no
   * whole number of vectors. */
  bool sized[4], ragged[4];
  /* With sizes: the operand is packed unless the call finds that it can as well
   * be read where it lies. */
  bool x_may_lie, y_may_lie;
  /* How many of the innermost loops have extents that are integers. */
  uint32_t known[4];
  /* With sizes: windows of the first, of the second factor can be read from a
   * copy of its image, as x and as y; elements of that for each step of the
   * loops of k that are on no axis. */
  bool images[2][2];
  int64_t plane;

  /* ---- the plan ---- */
  po_mac_plan mac;
  uint32_t lanes, mr, nv;
  int64_t kc;         /* iterations of the outermost k loop in a block */
  int64_t mc, nc, mb; /* tile; rows of x that stay in the second cache */
  /* Rows after each of which panels of x begin anew; with sizes a number. */
  int64_t line;
  po_cmode x_mode, y_mode;
  uint32_t packed_x, packed_y; /* the arrays of PO_WHOLE and PO_BEFORE */
  po_caxis axes[PO_MAX_DIMS];  /* of PO_WINDOWS, by loop of n or m */
  /* Bytes of the next panel of y that an iteration of k asks for; 0: it comes
   * from the second cache anyway.  Where m is made of sizes, the call divides
   * the panel among those of x. */
  int64_t later;
  bool waits;   /* sums of a tile wait for the last block of k apart from c */
  bool swapped; /* the second factor is x */
  bool chosen;  /* all that a schedule fixed is so */
  int64_t cache_line, cache_ways; /* of the first cache */
  double product;                 /* cycles of a vector of products */
  double cycles;                  /* estimate, one core */
} po_contraction;

#define PO_NO_STMT UINT32_MAX

/* Statements of a sum by what they read and write: what its elements start
 * with, what is added to them, where they are copied to. */
typedef struct po_sum_parts {
  uint32_t init, update, store; /* PO_NO_STMT: there is none */
} po_sum_parts;

/* contraction_order.c: a list of statements in their order as such parts;
 * false: it has others, or no update.  The statement with the loops of its sum
 * inside those of its element, each in their order: itself, or a copy whose isl
 * objects are in the program's pool. */
bool po_find_parts(const po_program *, const uint32_t *stmts, uint32_t n,
                   po_sum_parts *out);
const po_stmt *po_with_sum_inside(po_program *, const po_stmt *);

/* Whether init, update and store are one, whose sums the formula (or
 * PO_NO_STMT) alone reads: the dimensions, strides and guards of `out`. Without
 * an init products are added to what is in the array.  The sizes are the
 * program's, or NULL. */
bool po_find_contraction(po_program *, gs_sizes *, const po_sum_parts *,
                         uint32_t formula, po_contraction *out);
/* The factors change places: m becomes n. */
void po_swap_factors(po_contraction *);
/* contraction_formula.c: the statement may be the formula of the sums that
 * `last` stores, but for its instances. */
bool po_may_be_formula(const po_program *, uint32_t last, uint32_t formula);
/* An array of the workspace whose elements the formula reads where it makes
 * those of c, so that c may take its place once nobody else needs it;
 * UINT32_MAX: there is none.  Whether it does, in the layout that was made. */
uint32_t po_may_lie_over(const po_program *, const po_contraction *);
bool po_lies_over(const po_program *, const po_contraction *);
/* Chooses which operand fills vectors, and the sizes, for the target. constant:
 * x, y are packed beforehand; fixed: what is given, or NULL; room: for two more
 * of this size, which are too large for a stack.  False, with the reason, where
 * what is given cannot be; `why` may be NULL. */
bool po_plan_contraction(const gs_target *, const bool constant[2],
                         const po_contract_choice *fixed, po_contraction *,
                         po_contraction room[2], bs_text *why);

/* kernel_mac.c: the same on the instruction of the target that takes the fewest
 * cycles; false where none can multiply the factors. */
bool po_plan_mac(const gs_target *, const bool constant[2],
                 const po_contract_choice *fixed, po_contraction *,
                 po_contraction room[2], bs_text *why);
/* How panels of an operand are filled: from runs that lie along its own loops,
 * from rows that lie along the innermost loop of k, or element by element. */
typedef enum po_mac_way { PO_MAC_RUNS, PO_MAC_ROWS, PO_MAC_SINGLE } po_mac_way;
po_mac_way po_mac_way_of(const po_contraction *, bool x);
/* The first of the innermost loops of k along which rows of x are one run in
 * memory, of which guards may name that first one alone. */
uint32_t po_mac_line_of(const po_contraction *);
/* Rows of a panel of x or columns of one of y. */
int64_t po_panel_width(const po_contraction *, bool x);
/* Elements of a panel of the operand, without the sums of its rows. */
int64_t po_mac_panel(const po_contraction *, bool x);
/* A panel of the operand ends with a sum for each of its rows, by which the
 * offset of the other operand is taken back. */
bool po_mac_sums_rows(const po_contraction *, bool x);
/* Accumulators begin with what offsets will have added, less than nothing. */
bool po_mac_begins_with_sums(const po_contraction *);

/* contraction_choice.c: whether a way of planning agrees with what is fixed of
 * the kernel and of the operands; of the tile and the blocks, once they are
 * chosen.  False with the reason. */
bool po_choice_admits(const gs_target *, const po_contract_choice *,
                      const po_contraction *, bs_text *why);
bool po_choice_fits(const po_contract_choice *, const po_contraction *,
                    bs_text *why);
/* The choice that leads to this plan again, as options of `contract`. */
void po_put_choice(const po_contraction *, bs_text *out);

/* contraction_window.c: the axes of x or y, or false where windows of it cannot
 * be read where they lie.  Once the mode of the operand is PO_WINDOWS: what
 * that costs; with mb or nc and kc, whether the copy takes at most so many
 * bytes, and its layout. */
bool po_find_windows(po_contraction *, bool of_x);
/* The operand of the image is x; there is none, or it is y. */
bool po_image_of_x(const po_contraction *);
/* Rows after which panels of mr rows of an image of x begin anew, so that each
 * has its rows at the same distances; 0 where there is no such number.  Lines
 * whose length the call knows are one row of the image, of which panels have
 * equal parts. */
int64_t po_line_of(const po_contraction *, int64_t mr);
static inline bool
po_has_open_lines(const po_contraction *c) {
  return c->x_mode == PO_WINDOWS && c->sized[PO_DIM_M] && !c->known[PO_DIM_M] &&
         c->dims[PO_DIM_M].n > 1;
}
/* Lengths that are looked at where rows of an image have any. */
#define PO_LENGTHS 16
/* Lines of memory that such a panel comes to for each k. */
double po_lines_of(const po_contraction *, int64_t mr);
double po_window_cycles(const po_contraction *, bool for_all_sizes);
/* Vectors of y that span two rows of its image are made of both when they are
 * loaded, rather than copied: few panels of x are multiplied by them. */
bool po_blends_rows(const po_contraction *);
bool po_image_fits(const po_contraction *, int64_t bytes);
void po_layout_image(const gs_numbers *over, const po_contraction *,
                     po_cimage *);
/* contraction_window_sized.c: the axes of x or y at all sizes, those that it
 * has at some, `at`; false: they are no axes everywhere.  Room for the image at
 * any sizes, with fewer iterations of k in a block where that is needed, for a
 * plan that was made at the greatest; false: it takes too much. */
bool po_find_sized_windows(gs_sizes *, const po_contraction *at, bool of_x,
                           po_contraction *);
bool po_fit_sized_image(gs_sizes *, const po_contraction *at, po_contraction *);
/* An odd number of lines, lest all planes fall into the same sets of a
 * cache. */
int64_t po_odd_lines(const po_contraction *, int64_t elements);
/* The axis of y or x that a guard names, or UINT32_MAX. */
uint32_t po_axis_of_guard(const po_contraction *, bool of_x, const po_cguard *);
int64_t po_phases_of(const po_caxis *last);
/* Rows of y, of which a panel has `depth`, do not drive each other out of a
 * cache of so many bytes where they lie. */
bool po_stays_in_place(const po_contraction *, int64_t cache, int64_t depth);
/* The axis that a loop of k is along, or UINT32_MAX; whether it is along one.
 */
uint32_t po_axis_along(const po_contraction *, uint32_t k);
bool po_is_along_axis(const po_contraction *, uint32_t k);

/* contraction.c: the statement adds up products of two elements. */
bool po_is_sum_of_products(const po_stmt *);
/* contraction_program.c: each loop around the statement runs over one index, in
 * order, and has no mark but parallel. */
bool po_is_as_lowered(const po_program *, const po_stmt *);
/* The statement of the group behind group k, where it is alone and as it was
 * lowered; for a group that may be a kernel: this is asked after each step of a
 * schedule. */
uint32_t po_formula_behind(const po_program *, const po_groups *, uint32_t k);
/* Finds and plans those groups that are worth it and whose nest is the one
 * that lowering made, but for parallel marks: what a schedule changed runs as
 * the schedule says.  Makes p->contractions anew. */
void po_plan_contractions(po_program *, const po_groups *);
/* No contraction of the program before this one packs the operand, which is
 * packed beforehand, into the same array. */
bool po_packs_first(const po_program *, const po_contraction *, bool x);
/* Whether the update runs as what is fixed for it says, after po_lay_out; false
 * with the reason. */
bool po_runs_as_chosen(po_program *, uint32_t update, bs_text *why);
/* That of a statement that updates, or NULL. */
const po_contraction *po_contraction_of_update(const po_program *,
                                               uint32_t update);
/* That of a group, or NULL. */
const po_contraction *po_contraction_of(const po_program *, const po_groups *,
                                        const po_group *);

/* Products from which on threads share the kernel. */
static inline double
po_least_shared(const po_contraction *c) {
  return c->mac.mac ? GS_THREAD_MAC_PRODUCTS : GS_THREAD_PRODUCTS;
}

/* Factors are narrower than sums: no vectors of one type can do it. */
static inline bool
po_is_mixed(const po_contraction *c) {
  return c->factor[0] != c->dtype || c->factor[1] != c->dtype;
}

/* An operand is read from a packed array. */
static inline bool
po_is_packed_whole(po_cmode mode) {
  return mode == PO_WHOLE || mode == PO_BEFORE;
}

/* Extents of all dimensions of a role, multiplied, where they are integers; of
 * those from `from` on, whatever they are. */
int64_t po_cdims_size(const po_cdims *);
gs_number po_cdims_product(const gs_numbers *, const po_cdims *, uint32_t from);

/* contraction_sized.c: plans it by what it is at the most of all sizes. The
 * plan holds for any: blocks are no larger than its, and kernels take less than
 * a panel of rows and columns. */
bool po_plan_sized(po_program *, gs_sizes *, const bool constant[2],
                   const po_contract_choice *fixed, po_contraction *,
                   po_contraction room[3], bs_text *why);
/* Cycles of a plan at sizes: it is integers, made by po_contraction_at of one
 * with sizes.  What the call decides is decided. */
double po_contraction_cycles(const gs_target *, const po_contraction *);
/* Whether the call reads the operand where it lies, of those that may be: rows
 * of x that do not fall into the same few sets of the first cache, or few
 * columns of y; whole vectors of y, which that cache holds for all rows of x,
 * or which but a panel of these reads. */
bool po_x_lies(const po_contraction *);
bool po_y_lies(const po_contraction *, const gs_target *);
/* What it is at some sizes, as integers. */
void po_contraction_at(const gs_sizes *, const int64_t *at,
                       const po_contraction *, po_contraction *out);
/* The array for panels of an operand that is packed whole; false: its elements
 * are no sum of sizes for each dimension. */
bool po_describe_packed(po_program *, gs_sizes *, const po_contraction *,
                        bool x, po_array *);
/* The rows of x or y, with what fills the last panel, of `width` rows. */
gs_number po_rounded_rows(const gs_numbers *, const po_contraction *, bool x,
                          int64_t width);

/* Parts that an operand has: one for each step of the outer loops that move it,
 * of which an operand that is packed whole has a packed one each. */
int64_t po_parts_of(const po_contraction *, bool x);
/* A step of an outer loop moves that operand. */
static inline bool
po_moves(const po_cdim *outer, bool x) {
  return (x ? outer->x : outer->y) != 0;
}

#endif
