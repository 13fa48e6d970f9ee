/* SPDX-License-Identifier: MIT */
/* derive.h - a rule on its way from an instruction's meaning to text; private
 * to derive*.c.  Texts and tables live in the arena of the context. */
#ifndef RULES_DERIVE_H
#define RULES_DERIVE_H

#include "rules/rule/rule_internal.h"

/* The size of a dimension as text, and which variables it takes. */
typedef struct size {
  const char *text;
  const uint8_t *uses; /* by slot; NULL: none */
  int plain;           /* the slot when it is a variable alone, else -1 */
  const struct size *factors; /* of a product */
  uint32_t n_factors;
} size;

/* A shape on the way up a chain. */
typedef struct stage {
  uint32_t access, rank;
  size dim[GS_MAX_RANK];
} stage;

#define MAX_CHAIN 32 /* views above are matched as they are */

/* The views over an operand, from the operand up; stages[k] is the shape below
 * node[k], stages[n] that of what is matched. */
typedef struct chain {
  uint32_t n;
  uint32_t node[MAX_CHAIN];
  stage stages[MAX_CHAIN + 1];
} chain;

typedef struct conjunct {
  const char *text;
  const uint8_t *uses;
  int defines;       /* slot, or -1 */
  const size *whole; /* of a dimension: what it must be */
  const char *dim;   /* and the dimension */
  bool done;
} conjunct;

/* A dimension of an instruction that may be cut. */
typedef struct rl_dimension {
  bool sum;        /* partial sums are added; else a part of the result each */
  int in_result;   /* where it stands, or -1 */
  int *in_operand; /* by operand */
} rl_dimension;

/* What a rule for calls over further dimensions adds to one for a call. */
typedef struct rl_over {
  uint32_t n; /* dimensions that are cut, those of the result first */
  rl_dimension dim[GS_MAX_RANK];
  int64_t tile[GS_MAX_RANK];  /* what one call takes of it */
  uint32_t slot[GS_MAX_RANK]; /* of the number of tiles */
  const gs_instr *instr;      /* as declared; that of the deriver has the
                                 whole dimensions */
  const gs_instr *into;       /* goes on with sums, or NULL */
} rl_over;

typedef struct deriver {
  rl_rules *rules;
  const gs_context *ctx;
  const gs_instr *instr;
  gs_scope scope; /* the instruction's, written with question marks */
  uint8_t *bound; /* by slot */
  uint32_t n_fresh;
  BS_VEC(conjunct) conjuncts;
  chain *chains;       /* by operand */
  const rl_over *over; /* NULL: a rule for one call */
} deriver;

/* Moves a text to the arena. */
const char *rl_keep_text(const deriver *d, bs_text *t);

const char *rl_expr_text(const deriver *d, const gs_expr *e);

/* The variables of an expression, a byte a slot. */
const uint8_t *rl_uses_of(const deriver *d, const gs_expr *e);

size rl_size_of(const deriver *d, const gs_expr *e);

size rl_size_literal(const deriver *d, int64_t x);

size rl_size_product(const deriver *d, const size *s, uint32_t n);

/* The node over `node`, or the end. */
uint32_t rl_parent_of(const gs_skeleton *s, uint32_t node);

/* Climbs from a hole as far as views can be inverted; stops below `top`. */
void rl_climb(const deriver *d, const gs_skeleton *s, uint32_t hole,
              uint32_t top, const gs_operand *o, chain *c);

/* `term`, which has the shape at the top of the chain, with the shape at its
 * bottom. */
const char *rl_invert(const deriver *d, const gs_skeleton *s, const chain *c,
                      const char *term);

const gs_operand *rl_operand_of(const deriver *d, uint32_t slot);

void rl_find_chains(deriver *d);

/* Dimensions that a view has joined cannot be told apart above it: chains over
 * them are cut below that view, which is then matched as it stands. */
void rl_cut_chains(deriver *d);

/* `defines`: the slot that the conjunct tells, or -1. */
void rl_add_conjunct(deriver *d, const char *text, const uint8_t *uses,
                     int defines);

/* The shape of what an operand's chain is matched at. */
void rl_bind_operand(deriver *d, const gs_operand *o, const chain *c);

/* The parts of a condition that a target declares. */
void rl_add_condition(deriver *d, const gs_expr *e);

bool rl_are_bound(const deriver *d, const uint8_t *uses);

/* Conjuncts in an order in which each variable is defined before it is used;
 * what cannot be put in order comes last and is reported as unbound. */
void rl_put_conjuncts(deriver *d, bs_text *out);

/* derive_dims.c: the dimensions that may be cut; their number. */
uint32_t rl_find_dimensions(const deriver *d, rl_dimension *out, uint32_t most);

/* derive_over.c */
/* What is cut where a call's sizes are fixed; false: nothing. */
bool rl_plan_over(const deriver *d, rl_over *out);
/* The declaration with whole dimensions in place of those that are cut. */
const gs_instr *rl_widen_instr(const deriver *d, rl_over *over);
/* Binds what the declaration fixes and asks for more calls than one. */
void rl_bind_over(deriver *d);
const char *rl_over_attr(const deriver *d);
/* An operand cut into tiles, numbers of tiles in front; and the result put
 * together again. */
const char *rl_cut_operand(const deriver *d, uint32_t k, const char *term);
const char *rl_join_result(const deriver *d, const char *call);

#endif
