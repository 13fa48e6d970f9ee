/* SPDX-License-Identifier: MIT */
/* plan.h - random well-typed programs as lists of steps; see
 * codegen_programs.c.
 *
 * One process, one session: heap, arena and target are global. */
#ifndef TESTS_PROPERTY_PROGRAMS_PLAN_H
#define TESTS_PROPERTY_PROGRAMS_PLAN_H

#include "glenside/interpret/interpret.h"
#include "poly/search/auto.h"

enum {
  MAX_STEPS = 40,
  MAX_OUTPUTS = 4,
  MAX_DIM = 5,
  LONG_DIM = 37, /* of a dimension now and then: vectors with tails */
  MAX_SIZE = 4000,
  LONG_ROW = 150, /* of an image, which has at most so many rows, ... */
  MANY_ROWS = 40,
  MAX_WINDOWS = 12 * MANY_ROWS * LONG_ROW, /* ... and all of its windows */
  MACHINES = 3,
  MOST_MACHINES = 8,     /* those and shipped targets */
  MANY_PRODUCTS = 60000, /* of a contraction, which are interpreted */
  ENOUGH = 60            /* programs, so that some have each feature */
};

typedef struct step {
  gs_op op;
  bs_value attr;
  uint32_t n_kids, kids[3];
  gs_type type;
  bool exact;     /* both sides have the same bits */
  uint32_t depth; /* inexact operators below */
} step;

typedef struct plan {
  uint64_t seed;
  uint32_t n, n_outputs;
  step steps[MAX_STEPS];
  uint32_t outputs[MAX_OUTPUTS];
  bool strict_fp, pipeline;
  bool products; /* weighted to contractions, windows and chains of views */
  uint32_t max_pieces;
  unsigned long max_operations;
  uint32_t machine;
  uint32_t way; /* 0: loops as written, else po_fuse + 1 */
  uint32_t n_tiles;
  int64_t tiles[2];
} plan;

/* Pointwise results are parts of their readers' expressions, as in a program
 * that is too large to be scheduled. */
static inline bool
has_chains(const plan *p) {
  return !p->way && p->seed % 2;
}

extern bs_heap heap;
extern bs_arena arena;
extern bs_diags diags;
extern gs_context ctx;
extern gs_target *targets[MOST_MACHINES];
extern uint32_t n_machines; /* in use; MACHINES at first */

/* ---- random choices (plan.c) ---- */

void seed_choices(uint64_t seed);

/* The first number after a seed; the choices go on as if it was not asked. */
uint64_t random_of(uint64_t seed);

int64_t pick(int64_t lo, int64_t hi);

bool chance(int percent);

/* ---- attributes ---- */

bs_value ints(uint32_t n, const int64_t *items);

bs_value number(int64_t n);

bs_value word(const char *s);

bs_value attr1(bs_value a);

bs_value attr_of(uint32_t n, const bs_value *items);

#define ATTR(...)                                                              \
  attr_of(sizeof((bs_value[]){__VA_ARGS__}) / sizeof(bs_value),                \
          (bs_value[]){__VA_ARGS__})

/* ---- steps (plan.c) ---- */

/* Adds the step when it has a type of a reasonable size. */
bool add(plan *p, step s);

bool add_view(plan *p, gs_op op, bs_value attr, uint32_t kid);

bool add_two(plan *p, gs_op op, bs_value attr, uint32_t a, uint32_t b);

/* An input; with a compute side it is seen through an access. */
bool add_input(plan *p, gs_type type);

gs_type random_type(gs_dtype dtype);

uint32_t some_step(const plan *p);

bool is_float(gs_dtype dtype);

/* ---- computations (grow.c) ---- */

/* Tries one random step. */
void grow(plan *p);

bool try_fold(plan *p, uint32_t k);

bool try_elementwise(plan *p, uint32_t k);

bool try_with_literal(plan *p, uint32_t k);

bool try_view(plan *p, uint32_t k);

bool try_cartprod(plan *p, uint32_t k);

bool add_compute(plan *p, bs_value o, uint32_t k, bool exact, uint32_t deeper);

/* ---- whole plans (pipeline.c, build.c) ---- */

void make_plan(plan *p, uint64_t seed);

/* products.c: chains of views around sums of products. */
void make_products(plan *p, uint64_t seed);

/* all: every step but inputs is an output. */
gs_program *build(const plan *p, bool all);

gs_tensor *inputs_of(const plan *p, const gs_program *program);

/* ---- what comes of them (compare.c, shrink.c) ---- */

/* All diagnostics, on stderr; they are forgotten. */
void show_faults(void);

/* Whether outputs are those expected of the plan's program. */
bool agree(const plan *p, const gs_program *program, const gs_tensor *expected,
           const gs_tensor *found, bool show);

/* Leaves out what the failure of a plan does not need: passes says whether one
 * still does. */
void shrink(plan *p, bool (*passes)(const plan *, bool show), int times);

#endif
