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
  uint32_t stride;     /* words of a match */
  uint32_t most_nodes; /* that one match can add */
  bool resolves;       /* its matches may be looked up ahead (resolve.c) */
  uint32_t *named;     /* ... words of them that right sides name children by */
  uint32_t n_named, n_inner; /* n_inner: nodes of right sides but the last */
  uint64_t looked_up, known; /* matches, lately */
  double rate;               /* ... a root of its search */
  uint32_t since;            /* the epoch from which matches are fresh to it */
  uint64_t count;            /* of all matches, as it was before that epoch */
  uint32_t *grounds;         /* of its pattern, as the iteration began */
  uint32_t grounds_newest;
  bool grounds_missing;
  uint64_t banned_until;
  uint32_t times_banned;
  uint64_t emitted; /* matches applied, against match_limit */
} eg_rule_state;

typedef struct eg_ahead eg_ahead;

enum {
  EG_BATCH = 256, /* matches built at a time */
  /* Words of matches before some are applied, and before those held back while
   * a rule may still be banned are too many to hold. */
  EG_WAITING = 1u << 12,
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
  uint32_t *made; /* classes: a row a step of the right side being built */
  eg_class *kids;
  struct eg_piece *pieces; /* matches looked up ahead that are next: a group */
  uint32_t n_pieces;

  uint32_t *due;   /* the rules an iteration searches, in order */
  eg_ahead *ahead; /* searching on several threads; or NULL */
  size_t extra;    /* bytes that only several threads need, with `ahead` */

  bool unwatched;      /* no guard is left that sees the unfinished graph */
  double begun, spent; /* seconds; `spent` in earlier calls */
  double restore_s;    /* seconds of congruence restored while applying */
  bool cut;            /* the iteration was cut short */
  bool cut_nodes;      /* ... by the node limit */
  eg_stop why;
  uint32_t fault_rule;
};

/* run.c: how a rule is searched in this iteration */
eg_search_options eg_search_how(eg_runner *, uint32_t rule);
/* Has nothing changed that its pattern looks at since the rule was searched?
 * Then nothing is fresh to it, and its matches are as many as they were. */
bool eg_is_settled(eg_runner *, uint32_t rule);

/* batch.c: builds what is ready; false when a node or a union was refused. */
bool eg_build_ready(eg_runner *, uint32_t rule);

/* apply.c */
void eg_apply_init(eg_runner *);
void eg_apply_done(eg_runner *);
/* Applies and forgets the waiting matches of a rule, in groups of EG_BATCH. */
void eg_apply_matches(eg_runner *, uint32_t rule);
/* The same for a group that was looked up ahead: EG_BATCH pieces at most. */
void eg_apply_pieces(eg_runner *, uint32_t rule);
/* Sets `cut` and `why` when a limit is reached. */
bool eg_within_limits(eg_runner *);
void eg_cut(eg_runner *, eg_stop);

#endif
