/* SPDX-License-Identifier: MIT */
/* fit.h - instructions found by what they mean; private to fit*.c.
 *
 * The meaning of an instruction is brought to one form once: a tree of
 * reductions and operators over operands, and for each operand and the result a
 * row of digits for each dimension.  A computation in the e-graph is walked
 * down beside that tree, whatever views stand between its operators.  Then
 * every way to assign its digits, or parts of them, to those of the instruction
 * is a candidate: what is left over is iterated around the call. */
#ifndef RULES_FIT_H
#define RULES_FIT_H

#include "glenside/call/over.h"
#include "rules/rule/rule_apply.h"
#include "rules/instr/digits.h"
#include "rules/rule/rule_internal.h"

enum {
  FIT_VIEWS = 32, /* below an operand that are looked at */
  FIT_OPERANDS = 8,
  FIT_NODES = 48,
  FIT_KIDS = 4,
  FIT_IDS = 16,       /* digits of an instruction */
  FIT_ATOMS = 24,     /* of a computation */
  FIT_SWAPS = 4,      /* operators whose operands are tried in both orders */
  FIT_MOST = 1024,    /* assignments of one match that are looked at */
  FIT_MOST_ADDED = 16 /* of these, the terms that are added */
};

/* A node of what an instruction means, parents first. */
typedef struct fit_node {
  bool is_operand, reduces;
  bool of_dot; /* the products of a dot product, which are not rounded */
  gs_compute op;
  const gs_expr *spec; /* the operator as declared; NULL: it is of_dot */
  gs_dtype dtype;      /* of what it gives */
  uint32_t group;      /* of a reduction */
  uint32_t operand;
  uint32_t n_kids, kid[FIT_KIDS];
  int swap; /* which bit says that its operands change places, or -1 */
} fit_node;

typedef struct fit_id {
  int64_t fixed; /* the size that a call has, 0: any */
  int64_t most;  /* of any size, up to this; 0: as large as it may be */
  int64_t room;  /* memories have none for more, whatever else has; 0: any */
  bool named;    /* a dimension is this digit, and is the variable in `slot` */
  uint32_t slot;
  uint32_t group;
  uint32_t operands; /* bit k: operand k has it */
} fit_id;

typedef struct fit_shape {
  uint32_t rank;
  uint8_t n[GS_MAX_RANK];
  uint8_t id[GS_MAX_RANK][FIT_IDS]; /* of a dimension, the highest first */
} fit_shape;

/* An operand that stands in the meaning more than once is seen once more for
 * each: places from the number of operands on are those. */
typedef struct fit_instr {
  const gs_instr *instr;
  uint32_t n_seen;
  uint8_t seen_as[FIT_OPERANDS]; /* the operand that is seen there */
  uint32_t n_nodes, n_swaps, n_ids;
  fit_node node[FIT_NODES];
  fit_id id[FIT_IDS];
  fit_shape operand[FIT_OPERANDS], result;
  bool in_memory; /* an operand, or the result, is */
  bool goes_on;   /* an operand may be what a further reduction is over */
  uint32_t sum;   /* the group that partial sums may be added over; 0: none */
  uint32_t begun; /* the same where calls of it go on with its own sums */
  /* The group of which calls leave parts, which are reduced behind them, as no
   * instruction goes on with what they leave; 0: none. */
  uint32_t staged;
  uint32_t fixed_slots[GS_MAX_INSTR_VARS]; /* what `where` fixes */
} fit_instr;

/* The dimension of a computation that is walked alike by all: a digit, or
 * digits that stand together wherever they stand. */
typedef struct fit_atom {
  int64_t size;
  uint32_t group;
  uint32_t operands;
} fit_atom;

/* A list of atoms: an array seen as a row of them. */
typedef struct fit_list {
  uint32_t n;
  uint8_t atom[FIT_ATOMS];
} fit_list;

/* The views of a class, those first that lead to an array in the best way; and
 * what is known of classes for that. */
enum { FIT_MOST_WAYS = 8 };
typedef struct fit_ways {
  uint32_t n;
  eg_node node[FIT_MOST_WAYS];
} fit_ways;
typedef struct fit_ranks fit_ranks;

/* A computation that has the operators of an instruction. */
typedef struct fit_space {
  uint32_t n;
  fit_atom atom[FIT_ATOMS];
  fit_list operand[FIT_OPERANDS], result;
} fit_space;

/* Of each atom what each digit of the instruction takes, and what is left. */
typedef struct fit_assignment {
  int64_t part[FIT_ATOMS][FIT_IDS];
  int64_t rest[FIT_ATOMS];
} fit_assignment;

/* Digits that are cut in two, two of the result and one of a sum, and others of
 * which there is a slice. */
enum { FIT_CUTS = 3, FIT_PARTS = 1 << FIT_CUTS, FIT_SLICED = 4 };

/* What one call takes or gives, where it is a piece of an array: by dimension
 * its size and how far apart neighbours are; 0: a size of 1. */
typedef struct fit_tile {
  uint32_t rank;
  int64_t size[GS_MAX_RANK], step[GS_MAX_RANK];
} fit_tile;

/* What other calls leave of operand 0 in its memory, as tiles of the array that
 * is read; whose class that is. */
enum { FIT_MOST_LEFT = 4 };
typedef struct fit_left {
  eg_class of;
  uint32_t n;
  fit_tile tile[FIT_MOST_LEFT];
} fit_left;

/* What padded calls leave, of which a computation's operand is a slice. */
typedef struct fit_wide {
  eg_class cls;
  gs_type type;
  fit_tile tile; /* of its calls */
} fit_wide;

/* Sums that the calls of a part go on with: the instruction that does so, and
 * an array whose dimensions are the digits of the result. */
typedef struct fit_onto {
  gs_accumulation by;
  eg_class cls;
  gs_type type;
} fit_onto;

/* A part of a computation: of some digits only from .. from + size - 1, which
 * are zero beyond what there is. */
typedef struct fit_slice {
  const struct fit_wide *wide; /* NULL: operands are padded */
  bool is_taken;               /* what converts the result takes it as it is */
  const fit_onto *onto;        /* NULL: sums begin */
  uint32_t n;
  struct {
    uint32_t atom;
    int64_t from, size;
  } of[FIT_SLICED];
} fit_slice;

/* Parts that are a whole.  Of a part's number the highest bit says which half
 * it is of the first digit.  The last digit may be one of a sum, whose second
 * half goes on with the first one.  Or, padded, one part of which `at` are
 * sizes; what is wide need not be padded for that. */
typedef struct fit_cut {
  bool padded, is_wide, sums, is_taken;
  fit_wide wide;
  uint32_t n, atom[FIT_SLICED];
  int64_t at[FIT_SLICED];
  fit_assignment a[FIT_PARTS];
} fit_cut;

/* The distances of elements along each dimension of a shape: that of the term,
 * or a finer one of the same elements in the same order. */
typedef struct fit_lie {
  bool known;
  gs_type shape;
  int64_t stride[GS_MAX_RANK];
} fit_lie;

/* The views below a class. */
typedef struct fit_chain {
  uint32_t n;
  eg_class cls[FIT_VIEWS + 1]; /* cls[n]: the array */
  eg_node node[FIT_VIEWS];     /* the view that cls[k] is */
} fit_chain;

typedef struct fit_match {
  const fit_instr *f;
  rl_session *session;
  eg_graph *graph;
  fit_ranks *ranks;
  /* The compute node that is looked at. */
  eg_class root, kid;
  bs_value spec;
  gs_compute op;
  rl_digits digits;
  eg_class leaf[FIT_OPERANDS];
  rl_index index[FIT_OPERANDS], result;
  bool has_leaf[FIT_OPERANDS];
  /* Of leaves that fit_uncast made, its views; n is 0 where there are none. */
  fit_chain uncast[FIT_OPERANDS];
  fit_lie lie[FIT_OPERANDS + 1]; /* of leaves, and at the end of the root */
  fit_left left;
  uint32_t slots[GS_MAX_INSTR_VARS]; /* parameters that operators tell */
  gs_type type;                      /* of the whole */
  bool adds; /* terms to the graph; else those that are there are found */
  /* Of a class that several nodes compute in the same way, the first one is
   * taken, but at place `turn` of these the one after `past` others. */
  uint32_t several, turn, past;
} fit_match;

static inline const gs_type *
fit_class_type(const fit_match *m, eg_class c) {
  return rl_type_of(m->session, rl_facts_of(m->graph, c)->type);
}

/* fit_instr.c: NULL where the meaning has no such form. */
const fit_instr *fit_instr_new(const gs_context *, const gs_target *,
                               const gs_instr *);
/* fit_room.c: fills in what memories have room for; whether they have for a
 * call of these sizes, by digit. */
void fit_find_room(const gs_context *, fit_instr *);
bool fit_has_room(const gs_context *, const fit_instr *, const int64_t *size);
/* fit_ways.c: whether a class is an array, or there is none that is smaller
 * below its views; and its views. */
fit_ranks *fit_ranks_new(bs_heap *);
void fit_ranks_free(bs_heap *, fit_ranks *);
bool fit_is_array(const fit_match *, eg_class);
void fit_find_ways(const fit_match *, eg_class, fit_ways *);
/* fit_walk.c: the root has the operators; bit k of `swaps`: operands of the
 * k-th operator that commutes change places; the bit behind these: reductions
 * of operands are parts of the one that they are reduced by. */
bool fit_walk(fit_match *, uint32_t swaps);
/* One view down, if it does no more than move digits. */
bool fit_go_through(fit_match *, eg_node, eg_class *, rl_index *);
/* fit_same.c: place k sees the array that it is said to, from now on. */
bool fit_is_same(fit_match *, uint32_t k);
/* Whether the node is that operator; *spec: with its parameters. */
bool fit_computes(const fit_match *, eg_node, gs_compute, bs_value *spec);
/* fit_uncast.c: what is cast by a node of the class, from that dtype or one
 * that holds it, or EG_NO_CLASS; and a class that is views of such a cast as
 * these views of what is cast, false where it is none.  Nodes of classes that
 * are new are not listed yet, so that the views are given, too. */
eg_class fit_uncast_once(const fit_match *, eg_class, gs_dtype);
bool fit_uncast(const fit_match *, gs_dtype, eg_class *, fit_chain *);
/* fit_space.c: which digits are one where they stand together. */
typedef enum fit_joins {
  FIT_JOIN_ACROSS, /* across dimensions of operands, too */
  FIT_JOIN_WITHIN, /* those of one dimension */
  FIT_JOIN_LYING   /* those that are one row of elements in memory */
} fit_joins;
bool fit_space_of(fit_match *, fit_joins, fit_space *out);
/* fit_assign.c: calls `found` for each; ends when it says false. */
typedef bool (*fit_found)(void *, const fit_assignment *);
void fit_assign(const gs_context *, const fit_instr *, const gs_instr *into,
                const fit_space *, fit_found, void *);
/* fit_build.c: the term of an assignment; EG_NO_CLASS: the instruction does not
 * take it, or it was looked up and is not there. */
typedef enum fit_mode { FIT_PRICE, FIT_ADD, FIT_LOOK_UP } fit_mode;
eg_class fit_build(fit_match *, const fit_space *, const fit_assignment *,
                   const gs_instr *into, fit_mode, rl_fit *calls);
/* Prices the term of a part, with an assignment of its digits, as it would be
 * within the whole; false where the instruction does not take it. */
bool fit_price_slice(fit_match *, const fit_space *, const fit_slice *,
                     const fit_assignment *, const gs_instr *into,
                     rl_fit *calls);
/* Whether an instruction can go on with the sums of a part; and the type of
 * what a part leaves, with the digits of the result as dimensions. */
bool fit_goes_on(const fit_match *, const gs_instr *into, gs_accumulation *out);
gs_type fit_type_of_part(const fit_match *, const fit_space *part);
/* What the host takes to reduce two of them to one. */
double fit_fold_cycles(const fit_match *, const fit_space *part);
/* All parts, put together. */
eg_class fit_build_cut(fit_match *, const fit_space *, const fit_cut *,
                       const gs_instr *into, fit_mode);
/* The one part of what is padded, with what is added to it, and where a digit
 * stands among those of a result: their number, nowhere. */
bool fit_build_wide(fit_match *, const fit_space *, const fit_cut *,
                    const gs_instr *into, fit_mode, fit_wide *out);
uint32_t fit_place_of(const fit_list *, uint32_t atom);
/* fit_wide.c: in an array of these digits; false: elements along a dimension
 * are no single distance apart. */
bool fit_tile_of(const fit_instr *, const fit_space *, const fit_list *,
                 const fit_shape *, const fit_assignment *, fit_tile *out);
/* fit_result.c: whether calls leave their part of the result as it is stored;
 * slice: NULL where it is all of it. */
bool fit_leaves_well(const fit_match *, const fit_space *, const fit_slice *,
                     const fit_assignment *);
/* fit_cut.c: part k. */
fit_slice fit_slice_of(const fit_space *, const fit_cut *, uint32_t k);
fit_space fit_part_of(const fit_space *, const fit_slice *);
/* Where an atom is worth to be cut: no part of it comes close to a bound that
 * it could fill in fewer calls if one of them were smaller; 0: nowhere.  One of
 * a sum has to be what calls with `into` are iterated over. */
int64_t fit_cut_at(const fit_instr *, const gs_instr *into, const fit_space *,
                   uint32_t atom);
/* Digits of one element for those of a call's result that have a fixed size and
 * that no digit stands for; false where there are none, or too many.  There are
 * none for sums: a product of two numbers is no use of an array that adds. */
bool fit_add_ones(const fit_instr *, fit_space *);
/* Digits to be padded so that each that has a fixed size in a call has a
 * multiple of it; false where none would do. */
bool fit_find_pads(const fit_instr *, const fit_space *, fit_cut *);
uint32_t fit_parts_of(const fit_cut *);
/* The cheapest assignment of each part; false where one has none. */
bool fit_find_cut(fit_match *, const fit_space *, const gs_instr *into,
                  fit_cut *, rl_fit *calls);

/* fit_over.c: the group that may be iterated with what goes on with a sum, or
 * with NULL; 0: none.  Whether calls leave parts of what an atom is reduced
 * over. */
uint32_t fit_sums_over(const fit_instr *, const gs_instr *into);
bool fit_is_staged(const fit_instr *, const fit_atom *);
/* With what goes on with a sum, or NULL. */
bs_value fit_over_value(bs_values *, const gs_instr *, const gs_over *,
                        const gs_instr *into);

/* fit_lies.c: the views below operand k, down to an array; false: they are
 * beyond what is looked at. */
bool fit_find_chain(const fit_match *, uint32_t k, fit_chain *out);
/* Distances in an array that is laid out by its type, and with
 * another dimension as the last one; and in the views that stand above
 * cls[level], of which they are given. */
void fit_lie_dense(const gs_type *, fit_lie *out);
void fit_lie_with(const gs_type *, uint32_t last, fit_lie *out);
void fit_lie_up(const fit_match *, const fit_chain *, uint32_t level,
                fit_lie *);
/* Of the array that is read below operand k. */
void fit_lie_below(const fit_match *, uint32_t k, fit_lie *out);
/* Of the index that the dimensions make up in row-major order the digit of that
 * size above `low` elements: the distance of its values; 0: it has no single
 * one, or none is known. */
int64_t fit_flat_stride(const fit_lie *, int64_t low, int64_t size);
/* fit_above.c: of the array that the root, or what is made of each of its
 * elements, is stored in. */
void fit_lie_above(const fit_match *, fit_lie *out);
/* fit_bring.c: whether operand k, the result where k is their number, can be
 * taken from, or put, where its elements lie so far apart along dimensions of a
 * call. */
bool fit_can_bring(const gs_target *, const gs_instr *, uint32_t k,
                   const int64_t *dim, const int64_t *stride, uint32_t rank);
/* Whether a tile of an operand can come to its memory from dram, in pieces of
 * any size, or need not, as another call leaves it there. */
bool fit_can_come(const fit_match *, const gs_operand *, const int64_t *dim);

/* fit.c: makes a rule, whose right side is a variable, one that finds what the
 * instruction means. */
void fit_attach(const gs_context *, rl_compiled *, const fit_instr *,
                const gs_instr *into);
/* As rl_guard_ask. */
eg_guard_result fit_ask(rl_guard *, eg_graph *, uint32_t *slots,
                        uint32_t alternative);

#endif
