/* SPDX-License-Identifier: MIT */
/* saturate.h - a program into an e-graph, rules run by a strategy, typed. */
#ifndef RULES_SATURATE_H
#define RULES_SATURATE_H

#include "rules/rule/rules.h"

/* What every class knows: its type, its proven zero regions. */
typedef struct rl_facts {
  bs_value type;     /* interned gs_type */
  bs_value zeros;    /* list of (axis lo hi), or BS_NIL */
  bs_value constant; /* the value every element has, or BS_NIL */
} rl_facts;

typedef struct rl_options {
  eg_run_options run;
  const char *strategy; /* a strategy's name; NULL: `main` if there is one */
  const char *const *disabled; /* rule names */
  uint32_t n_disabled;
  bool exact; /* no rule that is not exact, if the program has floats */
  uint64_t matches_a_rule; /* applied in the whole run; 0: no limit */
  bool explain;            /* keep what explanations need (explain.h) */
  bool alone; /* the strategy's phases, and none of rules that none knows */
  bool quiet; /* no warning of rules that no phase runs */
  /* By rule: may it be applied?  The others are not prepared, which takes
   * longer than a small run.  NULL: all may. */
  const uint8_t *only;
} rl_options;

/* A step of a strategy as it was run. */
typedef struct rl_phase {
  const char *name;           /* of the sets in it, "pads tiles" */
  const struct rl_plan *plan; /* private */
  uint32_t weight;            /* its part of what limits keep back */
  bool lowers;                /* it runs rules of kind lowering */
  bool ran;                   /* it began */
  eg_stop cut;         /* the limit it ended at; EG_STOP_SATURATED: none */
  uint32_t iterations; /* of its own */
  uint32_t nodes;      /* of the graph at its end */
} rl_phase;

typedef struct rl_run {
  eg_graph *graph;
  eg_runner *runner;
  const rl_rules *rules;
  eg_class *outputs; /* of program.outputs */
  uint32_t n_outputs;
  /* The first limit that cut something off; EG_STOP_ITERATIONS, too, where the
   * strategy ended by itself; EG_STOP_SATURATED: no allowed rule adds
   * anything. */
  eg_stop stop;
  bool finished; /* the strategy ended by itself, not saturated, at no limit */
  rl_phase *phases; /* n_phases; none without a strategy */
  uint32_t n_phases;
  uint32_t n_allowed, n_never_ran; /* rules; of these: never searched */
  /* Private. */
  bs_heap *heap;
  struct rl_session *session;
  eg_rule *engine_rules;
  struct rl_guard *guards;
  bool exact;       /* those that may round otherwise were left out */
  uint8_t *allowed; /* by rule: it was not disabled, nor left out */
  uint8_t *planned; /* by rule: a phase has it */
  uint32_t n_rules;
} rl_run;

/* The term -> e-graph step. False with a diagnostic when a rule was shown
 * unsound (code "unsound-rule") or built an ill-typed term. The run is usable
 * for extraction after every other stop. */
bool rl_saturate(const gs_context *, const gs_program *, const rl_rules *,
                 const rl_options *, rl_run *out);
void rl_run_done(rl_run *);

/* Is the rule, by its index, one that the phase runs? */
bool rl_phase_has(const rl_run *, const rl_phase *, uint32_t rule);

/* graft.c: what was found for parts of a program, each in a run of its own, is
 * put into a run of the whole that no rule was run in. */
typedef struct rl_graft {
  bs_heap *heap;
  rl_run *run;
  BS_VEC(eg_class) equal; /* two by two, to be united */
} rl_graft;

typedef struct rl_piece {
  const gs_program *part;  /* as it was saturated */
  const gs_program *found; /* what is equal to it */
  /* What its inputs, constants and outputs are in the whole. */
  const gs_term *inputs, *constants, *outputs;
  /* The place in the whole of what has this one in the part; NULL: the same. */
  bs_span (*place)(void *ctx, bs_span);
  void *place_ctx;
} rl_piece;

/* A run of the whole program: its e-graph, no rule applied. */
bool rl_begin(const gs_context *, const gs_program *, const rl_rules *,
              const rl_options *, rl_run *out);
/* The run may begin later. */
void rl_graft_init(rl_graft *, bs_heap *, rl_run *whole);
void rl_graft_done(rl_graft *);
/* Adds what was found; false where a node of it cannot be. */
bool rl_graft_piece(rl_graft *, const rl_piece *);
/* Unites it with what it is equal to; false with a diagnostic. */
bool rl_graft_join(rl_graft *);
/* Adds what the rules did in a part's run; how the last run of it stopped. */
void rl_credit(rl_run *whole, const rl_run *part);
void rl_credit_end(rl_run *whole, const rl_run *part);

/* The class of each term of a program; EG_NO_CLASS where the e-graph has no
 * such term. */
void rl_classes_of(const rl_run *, const gs_program *, eg_class *out);
const rl_facts *rl_facts_of(const eg_graph *, eg_class);
/* The program that `choice` (a node a canonical class) denotes.  Inputs and
 * output names are those of `original`. */
gs_program *rl_extracted(const gs_context *, const gs_program *original,
                         const rl_run *, const eg_node *choice_by_class);
/* The choice, below n class ids, that is the program itself: of each class of a
 * term the first node that the program has there. */
void rl_choose_own(const rl_run *, uint32_t n, eg_node *choice_by_class);
/* Which rules made the chosen nodes: rule ids in order of first need. */
uint32_t rl_rules_used(const rl_run *, const eg_node *choice_by_class,
                       const rl_rule **out, uint32_t max);
#endif
