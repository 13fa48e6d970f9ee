/* SPDX-License-Identifier: MIT */
/* runner.h - a run's state; private to this folder. */
#ifndef EGRAPH_RUNNER_H
#define EGRAPH_RUNNER_H

#include "egraph/pattern_code.h"
#include "egraph/run.h"

/* A node of a right side, its head interned when the attribute is fixed. */
typedef struct eg_step {
  const eg_term_node *node;
  uint32_t head; /* EG_NONE: the attribute is computed */
  /* The first two children: words of the match, or earlier steps. */
  struct {
    uint32_t at;
    bool is_word;
  } from[2];
} eg_step;

/* At most two children and a fixed attribute. */
static inline bool
eg_step_is_plain(const eg_step *s) {
  return s->head != EG_NONE && s->node->n_kids <= 2;
}

typedef struct eg_code {
  eg_step *steps;
  uint32_t n, slot; /* slot: united with; or EG_NONE, the root */
  bool plain;       /* all steps are variables or plain nodes */
} eg_code;

typedef struct eg_rule_state {
  eg_code *codes;
  uint32_t stride;                   /* words of a match */
  uint32_t most_nodes, most_classes; /* that one match can add */
  double rate;       /* fresh matches a root of its search, lately */
  uint32_t since;    /* the epoch from which matches are fresh to it */
  uint64_t count;    /* of all matches, as it was before that epoch */
  uint32_t *grounds; /* of its pattern, as the iteration began */
  uint32_t grounds_newest;
  bool grounds_missing;
  uint64_t banned_until;
  uint32_t times_banned;
  uint64_t emitted; /* matches applied, against match_limit */
} eg_rule_state;

/* A match whose last node is there, in another class than it shall be in. */
typedef struct eg_equal {
  uint32_t match, cls;
  uint32_t row; /* with a journal */
} eg_equal;

enum {
  EG_BATCH = 256,          /* matches whose cache misses overlap */
  EG_GROUP_MOST = 1 << 12, /* matches built before classes are united */
  /* Words of matches held back while a rule may still be banned, before they
   * are too many to hold. */
  EG_HELD = 1u << 12
};

struct eg_runner {
  bs_heap *heap;
  eg_graph *g;
  const eg_rule *rules;
  eg_rule_state *states;
  eg_rule_stats *stats;
  uint32_t n_rules;
  eg_run_options o;
  BS_VEC(eg_iteration) iterations;

  BS_VEC(uint32_t) matches; /* waiting to be applied */
  uint32_t *slots, *given;  /* of the match being guarded */
  uint32_t *guarded;        /* room for a batch of matches with all slots; for
                               one where none is made ready with others */
  const uint32_t *ready;    /* matches to build, `stride` words each */
  uint32_t n_ready, stride, most_slots;
  uint32_t group; /* matches of one, this iteration */
  uint32_t most_steps;
  BS_VEC(uint32_t) made; /* classes: a row of `group` a step being built */
  BS_VEC(eg_equal) equal;
  eg_class *kids;
  struct bs_governor *governor; /* of the heap, or NULL */

  uint32_t *due; /* the rules an iteration searches, in order */

  uint64_t work;       /* of a rule, this iteration */
  bool unwatched;      /* no guard is left that sees the unfinished graph */
  double begun, spent; /* seconds; `spent` in earlier calls */
  double restore_s;    /* seconds of congruence restored while applying */
  bool cut;            /* the iteration was cut short */
  bool cut_nodes;      /* and what cut it was the node limit */
  eg_stop why;
  uint32_t fault_rule;
};

/* run.c: how a rule is searched in this iteration */
eg_search_options eg_search_how(eg_runner *, uint32_t rule);

/* batch.c: builds what is ready, a group at most; false when a node or a union
 * was refused. */
bool eg_build_ready(eg_runner *, uint32_t rule);

/* apply.c */
void eg_apply_init(eg_runner *);
void eg_apply_done(eg_runner *);
void eg_apply_begin(eg_runner *); /* an iteration */
/* Applies and forgets the waiting matches of a rule, a group at a time. */
void eg_apply_matches(eg_runner *, uint32_t rule);
/* Sets `cut` and `why` when a limit is reached. */
bool eg_within_limits(eg_runner *);
void eg_cut(eg_runner *, eg_stop);

#endif
