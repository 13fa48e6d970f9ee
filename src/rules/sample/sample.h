/* SPDX-License-Identifier: MIT */
/* sample.h - terms that the left side of a rule matches, at random.
 *
 * A term is grown from the pattern: from the leaves up where the type is free,
 * from the result down where it is asked for.  Variables of terms become
 * tensors, variables of attributes what suits.  What does not fit fails, and
 * the caller tries again. */
#ifndef RULES_SAMPLE_SAMPLE_H
#define RULES_SAMPLE_SAMPLE_H

#include "glenside/program/program.h"
#include "rules/rule/rule_apply.h"

typedef struct rl_sample_sizes {
  int64_t max_dim;
  uint32_t max_rank;    /* of a tensor */
  int64_t max_elements; /* of any term */
} rl_sample_sizes;

/* What a rule may tell apart: sample_number.c. */
enum { RL_SAMPLE_NUMBERS = 96 };
typedef struct rl_numbers {
  uint32_t n_ints, n_reals, n_written; /* the first integers are written */
  int64_t ints[RL_SAMPLE_NUMBERS];     /* from 2 on */
  double reals[RL_SAMPLE_NUMBERS];
} rl_numbers;

typedef struct rl_sampler {
  gs_context ctx;
  const gs_target *target;
  const rl_parts *parts;
  rl_sample_sizes sizes;
  uint64_t random;
  gs_dtype dtype; /* of most tensors */
  gs_program *p;
  uint32_t *slots;    /* UINT32_MAX: free; a term, or a value */
  uint8_t *growing;   /* by part */
  uint32_t n_tensors; /* made so far */
  bool upward;        /* no result is drawn before what it is made of */
  /* The operator that a pattern leaves free: GS_COMPUTE_COUNT: any. */
  gs_compute asked;
  bool left_free; /* a pattern did */
  double huge;    /* what parameters of floats are near to, or 0 */
  const rl_numbers *numbers;
  const double *real; /* that parameters of operators are mostly, or NULL */
  bool asks_numbers;  /* an operator of the pattern has such parameters */
  int64_t focus;      /* a number that sizes and amounts are near to, or 0 */
  uint32_t rank;      /* of many terms, and the length of many lists; or 0 */
} rl_sampler;

/* Grows all parts into sampler->p; the root's term, or GS_NO_TERM. */
gs_term rl_sample_terms(rl_sampler *);

/* --- for the files of the sampler --- */

/* A number below n (n >= 1); true once in n times. */
uint64_t rl_draw(rl_sampler *, uint64_t n);
static inline bool
rl_draw_one_in(rl_sampler *s, uint64_t n) {
  return rl_draw(s, n) == 0;
}

/* sample_number.c */
void rl_numbers_of(const bs_values *, const rl_parts *, rl_numbers *out);
int64_t rl_draw_near_focus(rl_sampler *);

/* sample_type.c */
int64_t rl_draw_dim(rl_sampler *);
/* A stride, factor, amount or bound: the likely one, or one that the rule names
 * or has beside such. */
int64_t rl_draw_amount(rl_sampler *, int64_t likely);
void rl_draw_type(rl_sampler *, gs_dtype, gs_type *out);
/* A list of sizes with a product; n of them, or any number for n < 0. */
bool rl_draw_factors(rl_sampler *, int64_t product, int32_t n, int64_t *out,
                     uint32_t *n_out);
void rl_draw_permutation(rl_sampler *, uint32_t split, uint32_t n,
                         int64_t *out);
gs_term rl_draw_leaf(rl_sampler *, const gs_type *);

/* The attribute of the pattern node being grown. */
typedef struct rl_attr {
  rl_sampler *s;
  const eg_term_node *node;
  bs_value item[4];
  bool fixed[4]; /* what the pattern and its bound variables say */
  uint32_t n;
} rl_attr;

void rl_attr_open(rl_sampler *, const eg_term_node *, rl_attr *);
/* Sets an item that is not fixed; bound parts of a list stay. */
void rl_attr_set(rl_attr *, uint32_t item, bs_value);
void rl_attr_set_int(rl_attr *, uint32_t item, int64_t);
void rl_attr_set_ints(rl_attr *, uint32_t item, const int64_t *, uint32_t n);
int64_t rl_attr_int(const rl_attr *, uint32_t item);
uint32_t rl_attr_ints(const rl_attr *, uint32_t item, int64_t *out);
/* The length of the list that the pattern asks for, or -1. */
int32_t rl_attr_length(const rl_attr *, uint32_t item);
/* Whether the pattern has no word for the item: a dilation left out. */
bool rl_attr_left_out(const rl_attr *, uint32_t item);
/* Binds the variables; false when they disagree. */
bool rl_attr_close(rl_attr *, bs_value *out);

/* sample_up.c: attributes for a child of this type. */
bool rl_sample_up(rl_attr *, const gs_type *child);
/* sample_down.c: attributes, and the child's type, for a result; `hint`: the
 * compute shape that the child should have, or NULL. */
bool rl_sample_down(rl_attr *, const gs_type *result, const gs_type *hint,
                    gs_type *child);
/* A result type that the node can have. */
void rl_draw_result(const rl_attr *, gs_type *out);
/* sample_wish.c: binds variables whose types the condition says something
 * about. */
void rl_grant_wishes(rl_sampler *);
/* sample_call.c */
gs_term rl_sample_call(rl_sampler *, const eg_term *part, uint32_t node,
                       const gs_type *goal);
gs_term rl_sample_input(rl_sampler *, const eg_term_node *,
                        const gs_type *goal);
/* sample.c: a node of a part, of the goal's type when there is one. */
gs_term rl_grow(rl_sampler *, const eg_term *part, uint32_t node,
                const gs_type *goal);
/* A compute operator with parameters, for the items that are free; whether
 * they are about a huge literal of the rule is chosen once a sample. */
void rl_choose_huge(rl_sampler *);
bool rl_draw_operator(rl_attr *, gs_dtype);
const char *rl_draw_pad_kind(rl_sampler *);

#endif
