/* SPDX-License-Identifier: MIT */
/* lower.h - what the passes of lowering share.
 *
 *   views   every term as pieces of base terms          lower_view.c
 *   plan    which views are cut, the order of bases     lower_plan.c
 *   placements   the array each base is computed into        placement.c
 *   emit    statements and groups, one base at a time   emit.c, compute.c,
 *           copy.c, call.c
 *   layout  offsets of workspace arrays                 workspace.c */
#ifndef POLY_LOWER_H
#define POLY_LOWER_H

#include "poly/loops/loops.h"
#include "poly/lower/lower_view.h"
#include <assert.h>

/* Where a base term lives: its index -> the index into an array. */
typedef struct po_placement {
  bool set;
  uint32_t array;
  isl_multi_aff *map;
} po_placement;

/* An operand that was packed for a call. */
typedef struct po_packed {
  uint32_t array;
  const gs_instr *instr; /* whose layout it has; NULL: row-major */
  uint32_t operand;
  bs_value attr; /* of the call, where there is a layout */
  uint32_t next; /* of the same term: index + 1 into `packed` */
} po_packed;

/* An array converted to a wider type (widen.c). */
typedef struct po_widened {
  uint32_t from, to;
} po_widened;

typedef struct po_lowering {
  po_program *out;
  const gs_program *source;
  isl_ctx *isl;
  unsigned long most_operations; /* of isl, for each term */
  bs_heap *heap;
  uint32_t max_pieces;
  bool chains;   /* chain.c */
  bool cautious; /* every view that is not a selection is cut */
  po_views views;
  po_views layout;          /* of the layout being looked through */
  po_view *cut;             /* by cut term: its view before it became a base */
  po_placement *placements; /* by base term */
  uint8_t *chained;         /* by term: it has no array; or NULL */
  uint32_t *recurs;         /* by term: see po_recurs_in; or NULL */
  BS_VEC(gs_term) order;    /* bases to compute, each after what it reads */
  BS_VEC(po_packed) packed;
  BS_VEC(po_widened) widened;
  po_known seen, composed; /* sets and maps of reads.c, in views.pool */
  po_known threads;        /* of copies: which loops are parallel (copy.c) */
  po_known cuts;       /* of shapes: whether they are too many (lower_plan.c) */
  po_known emitted;    /* of computes that are alike (again.c) */
  uint32_t *packed_of; /* by term: index + 1 of the last one */
  po_pool scratch;
  BS_VEC(uint32_t) named; /* by symbol, of names of arrays: see lower_array.c */
  uint32_t n_temporaries; /* named so far */
  uint32_t n_loops[GS_MAX_RANK]; /* by depth: named so far */
  bool failed;                   /* a diagnostic was given */
} po_lowering;

/* How many items a tuple may have to be written out in one expression. */
#define PO_MAX_TUPLE 8

/* Whether isl failed, or a diagnostic was given. */
bool po_has_failed(const po_lowering *);
/* lower_sized.c: whether code can have the sizes that are open; false with a
 * diagnostic. */
bool po_check_sizes(const po_lowering *);
/* lower_plan.c: false with a diagnostic. */
bool po_plan(po_lowering *);
/* What a materialize or a cut term stores. */
const po_view *po_stored(const po_lowering *, gs_term);
/* The items a compute reads apart: the length of its tuple, or 0 where it
 * reads all of its operand alike. */
uint32_t po_tuple_items(const po_lowering *, gs_term compute);

static inline bool
po_is_tuple(gs_op op) {
  return op == GS_CARTPROD || op == GS_PAIR;
}

/* View k that a base reads from, or NULL. */
const po_view *po_operand_view(const po_lowering *, gs_term base, uint32_t k);

/* recur.c: 1 + the number of the recurrence in whose loop a base is computed;
 * 0: in none. */
static inline uint32_t
po_recurs_in(const po_lowering *low, gs_term base) {
  assert(base.i < low->source->nodes.len);
  return low->recurs ? low->recurs[base.i] : 0;
}
/* Finds them, and has those of one stand together in the order of bases. */
void po_order_steps(po_lowering *);
/* The result that a tensor stands for. */
bool po_find_states(const po_lowering *, gs_term tensor, gs_term *result);
/* Makes one loop of all children of the root behind this one. */
void po_join_steps(po_lowering *, uint32_t before);

/* Terms from an operand down. */
typedef BS_VEC(gs_term) po_path;
/* Down to a base, along the child with the most pieces. */
void po_descend(const po_lowering *, gs_term from, po_path *);
/* The term at a place of the path becomes a base; views above are made anew. */
void po_cut(po_lowering *, const po_path *, uint32_t at);
/* crooked.c: factors of a dot product of two that no kernel could read are made
 * arrays, where that pays. */
void po_straighten_factors(po_lowering *, gs_term compute);
/* chain.c: results that are no arrays, as one pointwise consumer holds their
 * expressions; they leave the order of bases. */
void po_find_chains(po_lowering *);

/* turn.c: arrays of sums take the order of what reads them, if that is
 * pointwise. */
void po_turn_sums(po_program *);
/* divisor.c: arrays of roots that values are divided by hold reciprocals. */
void po_turn_divisors(po_program *);

/* lower_array.c */
/* A C identifier like `name` that nothing generated uses yet. */
const char *po_fresh_name(po_lowering *, const char *prefix, const char *name);
uint32_t po_new_array(po_lowering *, po_role, const char *name, gs_dtype,
                      const int64_t *dim, uint32_t rank, gs_term);
/* An array for something on the way to a term: workspace or local. */
uint32_t po_new_temporary(po_lowering *, po_role, gs_dtype, const int64_t *dim,
                          uint32_t rank, gs_term);
void po_declare_arrays(po_lowering *); /* inputs and outputs */

/* placement.c */
void po_find_placements(po_lowering *);
/* The piece, of a view of `shown`, shows each element of `base` once. */
bool po_shows_whole(po_lowering *, const po_piece *, gs_term base,
                    gs_term shown);
/* between.c: the term by whose shape the result of a call lies where other
 * calls read it, and how its indices lead there; the call itself and no map
 * where its own shape will do. */
gs_term po_shape_between(po_lowering *, gs_term call, isl_multi_aff **map);
/* Where a base lives; tensors and constants too. */
const po_placement *po_placement_of(po_lowering *, gs_term);
/* The address of map's element as offset + sum of stride * index; false when
 * it is none such. */
bool po_strided(__isl_keep isl_multi_aff *map, const po_array *,
                int64_t *offset, int64_t *stride);
/* Whether a call can write its result with these strides (fits.c). */
bool po_call_result_fits(const po_lowering *, gs_term call,
                         const int64_t *stride, const gs_type *);

/* reads.c */
/* [s, c, ...] -> [s, tuple, c] over n indices: the tuple's is index `of`, plus
 * an offset, or the offset alone where that is n. */
isl_multi_aff *po_into_tuple(po_lowering *, const gs_type *, uint32_t n,
                             uint32_t of, int64_t offset);
/* A piece of an operand with its place in memory. */
typedef struct po_read {
  isl_set *set; /* over the operand's indices, its box implied */
  bool constant;
  bool lasts;     /* the set is a view's, and shared by those that are alike */
  double literal; /* infinities: lowest, highest */
  uint32_t array;
  isl_multi_aff *map;
} po_read;

typedef struct po_reads {
  BS_VEC(po_read) list;
  gs_dtype dtype;
  uint32_t rank;
  int64_t dim[GS_MAX_RANK];
} po_reads;

/* How a view is read; isl objects go to scratch.  All of it; one item of its
 * first compute dimension, which is then no index; n of its items from lo on;
 * all items but the first, that dimension standing last. */
po_reads po_reads_all(po_lowering *, const po_view *, const gs_type *);
po_reads po_reads_item(po_lowering *, const po_view *, const gs_type *,
                       uint32_t item);
po_reads po_reads_part(po_lowering *, const po_view *, const gs_type *,
                       int64_t lo, int64_t n);
po_reads po_reads_after_first(po_lowering *, const po_view *, const gs_type *);
/* Adds what a view shows where `window`, a piece of another view, looks into
 * it. */
void po_reads_through(po_lowering *, const po_view *, const gs_type *,
                      const po_piece *window, po_reads *);
/* layout.c: operand k of a call, through its declared layout. */
po_reads po_reads_laid_out(po_lowering *, const po_view *, const gs_instr *,
                           uint32_t k, const gs_type *const *kids,
                           const uint32_t *slots);
void po_reads_done(po_lowering *, po_reads *);

/* A region of a domain in which every operand has one piece. */
typedef struct po_region {
  isl_set *set; /* box included */
  const po_read *read[PO_MAX_TUPLE];
} po_region;

typedef struct po_regions {
  BS_VEC(po_region) list;
} po_regions;

po_regions po_refine(po_lowering *, const po_reads *operands, uint32_t n);
void po_regions_done(po_lowering *, po_regions *);

/* stmt.c: statements, whose bodies are built child first. */
typedef struct po_body {
  po_lowering *low;
  BS_VEC(po_expr) exprs;
  BS_VEC(isl_multi_aff *) maps; /* of exprs that read; else NULL */
} po_body;

uint32_t po_put_literal(po_body *, gs_dtype, double);
uint32_t po_put_read(po_body *, gs_dtype, const po_read *);
uint32_t po_put_unary(po_body *, gs_compute, gs_dtype, uint32_t kid);
uint32_t po_put_binary(po_body *, gs_compute, gs_dtype, uint32_t, uint32_t);
/* chain.c: what is read, or the expression of what is no array; dim: of the
 * statement's indices. */
uint32_t po_put_operand(po_body *, gs_dtype, const po_read *,
                        const int64_t *dim);
/* Reads of what is no array are cut where an operand of it is several
 * arrays. */
void po_split_chained(po_lowering *, po_reads *);
/* compute.c: the pointwise operator `o` of these values. */
uint32_t po_put_pointwise(po_body *, bs_value o, gs_dtype,
                          const uint32_t *values, uint32_t n);
po_expr *po_put_expr(po_body *, po_expr_kind, gs_dtype);

/* What a statement writes, as a function of its instance. */
typedef struct po_target {
  uint32_t array;
  isl_multi_aff *map;
} po_target;

/* squeeze.c: dimensions of one element, which are no loops; at least one stays.
 * How many stay; reads and a target, over n indices, without the others. */
uint32_t po_find_units(const int64_t *dim, uint32_t n, bool *unit);
void po_squeeze_reads(po_lowering *, const bool *unit, po_reads *);
void po_squeeze_target(po_lowering *, const bool *unit, uint32_t n,
                       po_target *);

/* The element of a local at the first indices of an instance of n; and a read
 * of it. */
po_target po_local_at(po_lowering *, uint32_t array, uint32_t n);
uint32_t po_put_local(po_body *, uint32_t array, uint32_t n);

/* Adds a statement; its body's root is the expression added last.  The body
 * is emptied.  op: of a PO_UPDATE. */
void po_add_stmt(po_body *, po_stmt_kind, gs_compute op,
                 __isl_keep isl_set *domain, uint32_t n_outer,
                 const po_target *, gs_term);
/* A call: no body.  In loops, with the domain of its instances and the first
 * element of each operand and of the result; else both are NULL. */
void po_add_call(po_lowering *, const po_stmt *like, __isl_keep isl_set *domain,
                 isl_multi_aff *const *starts);

/* lower_order.c: puts the statements added since `first` under n_outer loops of
 * their own. ordered: updates keep the order of their instances. */
void po_add_nest(po_lowering *, uint32_t first, uint32_t n_outer, bool ordered);

/* Which of the n_outer loops of such a nest, `loop` being the first, are
 * parallel, a bit each; and the same for a nest that is alike. */
uint32_t po_threads_of(const po_lowering *, uint32_t loop, uint32_t n_outer);
void po_add_nest_like(po_lowering *, uint32_t first, uint32_t n_outer,
                      uint32_t threads);

/* Puts them under n loops that they share, further ones of their own below. */
void po_add_shared_nest(po_lowering *, uint32_t first, uint32_t n);

/* One file a kind of base. */
void po_emit_compute(po_lowering *, gs_term); /* compute.c */
/* lower_reduce.c.  target: over the n_outer first indices of the operands
 * (which are taken), dtype: of what is stored there.  The product of n > 1
 * operands. */
void po_emit_reduction(po_lowering *, gs_term, gs_compute,
                       const po_reads *operands, uint32_t n, uint32_t n_outer,
                       gs_dtype, const po_target *);
/* widen.c: operands of so many products are read from arrays of the type of
 * their sum, where that pays. */
void po_widen_operands(po_lowering *, po_reads *operands, uint32_t n,
                       gs_dtype sum, int64_t products, gs_term);
/* A fold over the first compute dimension, item by item. */
void po_emit_long_fold(po_lowering *, gs_term, gs_compute, const po_view *,
                       const gs_type *, gs_dtype, const po_target *);
void po_emit_softmax(po_lowering *, gs_term); /* softmax.c */
void po_emit_gather(po_lowering *, gs_term);  /* gather.c */
void po_emit_call(po_lowering *, gs_term);    /* call.c */
/* copy.c: what of a view does not live at `at` already is copied there. */
void po_emit_copies(po_lowering *, const po_view *, const gs_type *,
                    const po_target *at, gs_term);
/* All of an operand copied to a dense array of the workspace. */
uint32_t po_pack(po_lowering *, const po_reads *, gs_term);

#endif
