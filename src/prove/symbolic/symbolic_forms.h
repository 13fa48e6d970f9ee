/* SPDX-License-Identifier: MIT */
/* symbolic_forms.h - all forms that the left side of a rule can have up to a
 * rank.
 *
 * A form is what tells applications apart but for sizes and amounts: ranks and
 * splits of the terms, axes, permutations, lengths of lists, kinds of padding,
 * operators, dtypes (symbolic.h).  Here they are not found by chance but
 * listed, so that what is proved of each is proved of all. */
#ifndef PROVE_FORMS_H
#define PROVE_FORMS_H

#include "prove/session/session_work.h"
#include "rules/rule/rule_apply.h"

/* Nodes of a side and variables of a rule that is proved for all sizes. */
enum { PV_RULE_NODES = 24, PV_RULE_SLOTS = 64 };

typedef struct pv_listing {
  const gs_context *ctx;
  const rl_rules *rules;
  const rl_rule *rule;
  uint32_t rank;      /* of terms that variables stand for, and lengths */
  uint32_t max_tries; /* combinations looked at */
  uint32_t max_forms;
  /* Operators that the rule does not tell apart are one (forms_alike.c). */
  bool alike;
  /* Called for each; false: no more.  `slots` by variable: a term of the
   * program, whose sizes mean nothing, or a value; UINT32_MAX or a list of
   * ones where sizes and amounts are free.  `any` has a bit for each variable
   * whose operator stands for others that are alike. */
  bool (*found)(void *arg, const gs_program *, const uint32_t *slots,
                uint64_t any);
  void *arg;
  pv_counts *counts; /* or NULL */
} pv_listing;

/* True when all were found, none of which `found` stopped at. */
bool pv_list_forms(const pv_listing *, uint32_t *n);

/* forms_where.c: is a clause of the rule about a dtype; and do dtypes tell
 * forms of it apart? */
bool pv_asks_dtype(const rl_rule *);
bool pv_tells_dtypes(const rl_rule *);

/* symbolic_forms.c: does the expression read the variable of that slot? */
bool ls_reads(const gs_expr *, uint32_t slot);

/* spread.c: where ranks are compared several at a time, the one up to which
 * that tells them apart; else 0.  `is_size`, by slot: a number, or the items of
 * a list, are sizes. */
uint64_t pv_rank_multiple(const gs_context *, const rl_rule *,
                          const uint8_t *is_size);
/* items.c: may what the rule says of the items of its lists of sizes hold at
 * some ranks only, however high these are? */
bool pv_lists_tell_ranks(const gs_context *, const rl_rule *,
                         const uint8_t *is_size);
/* moved.c: are the items of the list sizes? */
bool pv_holds_sizes(const uint8_t *is_size, const gs_expr *);
/* How far items that are read, or compared, stand from their places: by so many
 * places, and then twice as far so many times. */
typedef struct pv_moves {
  uint32_t units, turns;
} pv_moves;
pv_moves pv_moves_of_places(const gs_context *, const rl_rule *,
                            const uint8_t *is_size);
/* uniform.c: the rank above which nothing that the rule says tells ranks, axes
 * and lengths apart: its numbers for these, its literal lists, the axes that it
 * names.  UINT32_MAX where there is none: it multiplies by them, or takes them
 * for sizes. */
uint32_t pv_rank_reach(const gs_context *, const rl_rule *);
/* What it rests on: its numbers for places and what they are compared with
 * strictly, the longest of its lists, the most that an expression comes to, the
 * axes that it names and those that there have to be beside them, how often
 * permutations are composed and what a word of so many tells, ranks compared
 * several at a time, axes of terms between.  False: there is no such rank. */
typedef struct pv_reach {
  uint64_t numbers, strict, longest, most, axes, others, composed, word,
      multiple, between;
  pv_moves moves;
} pv_reach;
bool pv_reach_of(const gs_context *, const rl_rule *, pv_reach *);
/* symbolic_between.c: how many axes fewer, or more, than a variable a term
 * between has. */
uint32_t pv_axes_between(const gs_context *, const rl_rule *);
/* The operator that a computation names, without its parameters. */
const gs_expr *pv_operator_of(const gs_sk_node *compute);

#endif
