/* SPDX-License-Identifier: MIT */
/* listing.h - one pass over a rule that lists its forms (private to forms*.c).
 *
 * symbolic_forms.c goes over the left side, forms_where.c over the
 * condition. */
#ifndef PROVE_LISTING_H
#define PROVE_LISTING_H

#include "prove/symbolic/symbolic_forms.h"

enum { LS_WHEELS = 64, LS_OPERATORS = 96, LS_EARLY = 64 };

typedef struct ls_shape {
  uint32_t access, rank;
  gs_dtype dtype;
} ls_shape;

/* The operators that a variable may stand for, by place: the first of each
 * class of those that are alike. */
typedef struct ls_classes {
  bool made;
  uint32_t n;
  uint8_t first[LS_OPERATORS];
  uint64_t several; /* bits: those that stand for others, too */
} ls_classes;

/* What a pass has chosen before one of its steps. */
typedef struct ls_mark {
  uint32_t at; /* wheels taken */
  uint32_t slots[PV_RULE_SLOTS];
  bool sizes[PV_RULE_SLOTS];
  uint64_t alike, held;
} ls_mark;

typedef struct ls_walk {
  const pv_listing *l;
  bs_values *values;
  gs_program *p;
  uint16_t wheel[LS_WHEELS], of[LS_WHEELS];
  bool dtype_at[LS_WHEELS]; /* the wheel is the dtype of a term */
  uint32_t n_wheels, at;
  bool dead;     /* there is no such form */
  bool whatever; /* no dtypes of terms would make it one: see dead */
  bool unknown;  /* something is not understood: the list is not complete */
  bool dtypes;   /* tell forms apart */
  uint32_t slots[PV_RULE_SLOTS];
  bool sizes[PV_RULE_SLOTS]; /* the slot stands for any sizes, a number, or an
                            operator with any parameters */
  ls_shape node[PV_RULE_NODES];
  gs_term term[GS_MAX_RANK + 1][GS_MAX_RANK + 1][GS_DTYPE_COUNT];
  bool made[GS_MAX_RANK + 1][GS_MAX_RANK + 1][GS_DTYPE_COUNT];
  uint32_t n_operators;
  bs_value operators[LS_OPERATORS];
  ls_classes classes[PV_RULE_SLOTS];
  uint64_t alike;    /* bits: variables whose operator stands for others, too */
  uint64_t held;     /* bits: tests, of the first LS_EARLY clauses, that hold
                        whatever is chosen after, and definitions made */
  uint64_t of_dtype; /* bits: variables whose definitions ask for dtypes */
  ls_mark before[PV_RULE_NODES + 1]; /* each node, and the condition */
  uint32_t marks;
} ls_walk;

/* symbolic_forms.c: the next choice, a number below n; and what a variable
 * stands
 * for. */
uint32_t ls_pick(ls_walk *, uint32_t n);
bool ls_is_bound(const ls_walk *, uint32_t slot);
void ls_set(ls_walk *, uint32_t slot, bs_value);
/* A variable whose value stands for others, too. */
bool ls_is_any(const ls_walk *, const gs_expr *);

/* forms_terms.c: a term of that shape, made once. */
gs_term ls_term_of(ls_walk *, const ls_shape *);

/* Does the operator have numbers, which stand for any? */
bool ls_has_numbers(const ls_walk *, bs_value o);

/* forms_alike.c: one of each class of operators; and is the form one of those
 * that another dtype stands for? */
bs_value ls_pick_operator(ls_walk *, uint32_t slot);
bool ls_is_other_dtype(const ls_walk *);

/* forms_where.c: does the value follow from the form? */
bool ls_follows(const ls_walk *, const gs_expr *);
/* What the clauses add to the form, or that there is none. */
void ls_take_clauses(ls_walk *);
/* Clauses that are false already leave nothing behind them to be counted. */
void ls_test_early(ls_walk *);
/* Does a test say that the dtype of the variable is that of one before? */
bool ls_has_dtype_of_other(const ls_walk *, uint32_t slot, gs_dtype *);
/* Which variables are defined by dtypes. */
void ls_find_dtypes(ls_walk *);

#endif
