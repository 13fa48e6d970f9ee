/* SPDX-License-Identifier: MIT */
/* asking.h - a rule being asked about (private to rule*.c).
 *
 * prove_rule.c says what follows from the answers, rule_look.c which shapes are
 * looked at, rule_shape.c makes one and judges it. */
#ifndef PROVE_ASKING_H
#define PROVE_ASKING_H

#include "prove/rule/prove_rule.h"
#include "prove/rule/rule_words.h"
#include "rules/sample/sample.h"

/* Elements of all shapes together that are run although they are large. */
#define PV_LONG_RUNS ((int64_t)1 << 26)

typedef struct pv_asking {
  const gs_context *ctx;
  const rl_rules *rules;
  const rl_rule *rule;
  const rl_parts *parts; /* of the rule */
  const pv_rule_options *options;
  pv_rule_answer *out;
  pv_words seen;      /* shapes */
  pv_words samples;   /* and how often the rule applies to each */
  rl_numbers numbers; /* that the rule may tell apart */
  int64_t focus;      /* one of them, or 0 */
  uint32_t rank;      /* asked for, or 0 */
  bool narrow;        /* there is nothing to claim for all sizes: out->why */
  uint64_t random;
  int64_t long_runs; /* elements left for them */
  uint32_t size_class;
  rl_sample_sizes sizes; /* of the class */
  int64_t cost;          /* of the shape reported */
  bool params;           /* the rule has parameters */
  uint32_t setting;      /* counts these values */
  bool turned_on;        /* the shapes are those of other values of them */
  gs_compute asked;      /* of free operators: GS_COMPUTE_COUNT: any */
  gs_dtype dtype;        /* of most tensors: GS_DTYPE_COUNT: any */
  bool left_free;        /* the rule leaves an operator free */
  bool asks_numbers;     /* an operator of it has numbers */
  const double *real;    /* what these mostly are, or NULL */
  bool any_order;        /* as in the answers */
  bool rounded;          /* for all sizes: as in pv_form */
  bool applies;          /* for all sizes, it applies to some form */
} pv_asking;

/* rule_shape.c: true when a new shape was looked at. */
bool pv_try_shape(pv_asking *);

static inline bool
pv_is_refuted(const pv_asking *pr) {
  return pr->out->shape && pr->out->answer.verdict == PV_REFUTED;
}

/* prove_rule.c: what the left side asks for, read once for thousands of
 * shapes. */
const rl_parts *pv_parts_of(const gs_context *, const rl_rules *,
                            const rl_rule *);

/* rule_general.c: what there is to claim for all sizes, or why nothing. */
void pv_prove_generally(pv_asking *);

/* rule_look.c: the rule as it stands, then under other parameters. */
void pv_look_at_shapes(pv_asking *);

/* prove_rule.c: there is nothing to claim for all sizes, and this is why; the
 * first reason stays. */
void pv_not_general(pv_asking *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
