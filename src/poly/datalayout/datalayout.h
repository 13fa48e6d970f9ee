/* SPDX-License-Identifier: MIT */
/* datalayout.h - where the elements of arrays should lie: transforms of their
 * layout, what each would cost, and a search for the cheapest.
 *
 * A model holds what the costs need of a program: arrays, and definitions,
 * each some loops around accesses to arrays.  Shapes and indices are row-major
 * as everywhere in glen; "dimension 0" of a transform or a cost is the last
 * one, whose elements stand next to each other.
 *
 * A transformed input is read through a copy, made by one definition more
 * that runs over the copy in its memory order; `lines` prices the loops that
 * `pack` makes, which run over the input.  An array of the program's own is
 * written where it is to lie, without a copy. */
#ifndef POLY_DATALAYOUT_H
#define POLY_DATALAYOUT_H

#include "poly/loops/loops.h"

typedef enum po_layout_op {
  PO_REORDER,    /* (x, y, ..) -> (y, x, ..) */
  PO_INTERLEAVE, /* (x, y, ..) -> (x % q, y, x / q, ..) */
  PO_SPLITY      /* (x, y, ..) -> (x, y % q, y / q, ..) */
} po_layout_op;

typedef struct po_layout_step {
  po_layout_op op;
  int64_t q;
} po_layout_step;

enum { PO_LAYOUT_STEPS = 8 };

/* Steps applied one after the other to an array. */
typedef struct po_layout {
  po_layout_step steps[PO_LAYOUT_STEPS];
  uint32_t n_steps, rank;
  int64_t dim[GS_MAX_RANK]; /* q * ceil(e / q) places of a dimension e */
  isl_multi_aff *map;       /* { [element] -> [new element] } */
  isl_multi_aff *back;      /* { [new element] -> [element] } */
} po_layout;

typedef struct po_layout_array {
  const char *name;
  uint32_t rank;
  int64_t dim[GS_MAX_RANK];
  int64_t bytes;    /* of an element */
  bool movable;     /* its uses can be rewritten */
  bool own;         /* it needs no copy for another layout: of the workspace,
                       its writes, too, or the same for all calls */
  uint32_t copies;  /* else: one for each statement that reads it */
  uint32_t program; /* its number in the program */
} po_layout_array;

typedef struct po_layout_read {
  uint32_t array;
  isl_map *index; /* { [loops, outermost first] -> [element] } */
  bool written;   /* an access that writes, too: what reads pay for the order
                     of inputs, these pay for that of own arrays only */
} po_layout_read;

typedef struct po_definition {
  const char *name;
  uint32_t n_loops;
  int64_t extent[PO_MAX_DEPTH]; /* outermost first */
  bool packs; /* part of a contraction, which packs what it reads: that costs
                 nothing, and stays as it is */
  BS_VEC(po_layout_read) reads;
  double lines; /* that it brings in; of use where `known` */
  bool known;
} po_definition;

/* The first cache, for the cost that counts its lines. */
typedef struct po_layout_cache {
  int64_t line, sets, ways;
} po_layout_cache;

typedef struct po_layout_model {
  bs_heap *heap;
  isl_ctx *isl;
  po_pool pool; /* owns every isl object */
  bs_arena arena;
  BS_VEC(po_layout_array) arrays;
  BS_VEC(po_definition) definitions;
  po_layout_cache cache;
  bool remembers;        /* in a search: lines of definitions are kept */
  uint32_t priced, most; /* times that lines of a definition were counted; the
                            search ends at so many; 0: when nothing pays */
} po_layout_model;

/* ---- model.c ---- */

void po_layout_model_init(po_layout_model *, bs_heap *, isl_ctx *);
void po_layout_model_done(po_layout_model *);
uint32_t po_layout_add_array(po_layout_model *, const char *name, uint32_t rank,
                             const int64_t *dim, int64_t bytes);
/* Loops outermost first. */
uint32_t po_layout_add_definition(po_layout_model *, const char *name,
                                  uint32_t n_loops, const int64_t *extent);
void po_layout_add_read(po_layout_model *, uint32_t definition, uint32_t array,
                        __isl_take isl_map *index);
void po_layout_add_write(po_layout_model *, uint32_t definition, uint32_t array,
                         __isl_take isl_map *index);
/* The arrays of a program but for locals and the statements that use them;
 * false where isl gave up.  p->contractions is to be up to date. */
bool po_layout_model_of(const po_program *, po_layout_model *out);

/* ---- transform.c ---- */

/* The layout that an array has of its own. */
po_layout po_layout_plain(po_layout_model *, const po_layout_array *);
/* One step more; false where there are no two dimensions, or too many. */
bool po_layout_apply(po_layout_model *, const po_layout *, po_layout_step,
                     po_layout *out);
/* Elements stand in the same order in both: at most padding differs. */
bool po_layout_same_order(po_layout_model *, const po_layout_array *,
                          const po_layout *, const po_layout *);
/* "[i, j] -> [floor(j / 8), i, j mod 8]", as schedule commands take it; the
 * place in memory as a function of the same indices. */
void po_layout_put_map(po_layout_model *, const po_layout_array *,
                       const po_layout *, bs_text *out);
void po_layout_put_address(po_layout_model *, const po_layout_array *,
                           const po_layout *, bs_text *out);
/* "SPLITY(8) REORDER" */
void po_layout_put_steps(const po_layout *, uint32_t from, bs_text *out);

/* ---- datalayout_cost.c ---- */

typedef enum po_layout_cost {
  PO_COST_DOC,        /* extents of what is read; nothing where it fits */
  PO_COST_AUTOKERNEL, /* extents of the original array */
  PO_COST_LINES       /* lines brought into the first cache */
} po_layout_cost;

extern const char *const po_layout_cost_names[];

/* All definitions, and a copy for every array whose layout has steps. */
double po_layout_price(po_layout_model *, po_layout_cost,
                       const po_layout *layouts);
/* The array's layout is not what it was: what is kept of it holds no more. */
void po_layout_forget(po_layout_model *, uint32_t array);

/* ---- datalayout_search.c ---- */

typedef struct po_layout_candidate {
  uint32_t array;
  po_layout_step step;
  double cost;
  bool kept; /* the order of elements is the original or the present one: not
                to be chosen */
} po_layout_candidate;

typedef struct po_layout_round {
  BS_VEC(po_layout_candidate) candidates;
  uint32_t chosen; /* the number of candidates: none */
} po_layout_round;

typedef struct po_layout_search {
  po_layout_cost cost;
  double start, best;
  bool stopped; /* by the model's bound */
  BS_VEC(po_layout_round) rounds;
  po_layout *layouts; /* of every array */
} po_layout_search;

/* Greedily: in every round the step of one array that lowers the cost most,
 * the first of equals, until none does.  widths: the q to try. */
void po_layout_find(po_layout_model *, po_layout_cost, const int64_t *widths,
                    uint32_t n_widths, po_layout_search *out);
void po_layout_search_done(po_layout_model *, po_layout_search *);

/* ---- datalayout_apply.c ---- */

/* Arrays that contractions use, and those that fit into the first cache, are
 * not moved. */
void po_layout_leave_some(po_layout_model *);
/* Gives the program the layouts that were found, by commands of its script;
 * the number of arrays that got one: what a command refuses stays. */
uint32_t po_layout_give(po_program **, po_layout_model *,
                        const po_layout_search *);

/* ---- order.c ---- */

/* Puts the loop innermost, nest by nest, with which the program costs least,
 * its layouts being searched anew for every order; replaces *program by one
 * with these orders, by commands of its script.  What was tried goes to `out`
 * as comments. */
void po_layout_order_loops(po_program **program, po_layout_cost,
                           const int64_t *widths, uint32_t n_widths,
                           bs_text *out);

/* ---- show.c ---- */

/* The rounds, as comments of a schedule script. */
void po_layout_put_trace(po_layout_model *, const po_layout_search *,
                         bs_text *out);
/* The commands that give a program these layouts. */
void po_layout_put_script(po_layout_model *, const po_program *,
                          const po_layout_search *, bs_text *out);

#endif
