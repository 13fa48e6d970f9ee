/* SPDX-License-Identifier: MIT */
/* proof.h - the inside of an explainer: its terms, and chains being built;
 * private to this folder. */
#ifndef EGRAPH_PROOF_H
#define EGRAPH_PROOF_H

#include "base/arena.h"
#include "egraph/history.h"
#include "egraph/lemmas.h"

/* A term; `row` is a row with the same head and children of the same
 * classes. */
typedef struct eg_xnode {
  uint32_t head, kids, row;
} eg_xnode;

/* Most terms looked for are new: their hash alone tells so. */
typedef struct eg_xplace {
  uint32_t term; /* + 1; 0: free */
  uint32_t hash;
} eg_xplace;

/* One application of a rule: a match and what its variables stand for. */
typedef struct eg_instance {
  uint32_t event;
  uint32_t sigma; /* first slot in `bound` */
  uint32_t n_slots;
  uint64_t busy; /* parts whose variable is being made to fit */
} eg_instance;

typedef enum eg_task_kind {
  EG_TO_ROW,     /* to a term like row x */
  EG_TO_TERM,    /* to term x */
  EG_TO_KIDS,    /* to term x, which has the same key */
  EG_TO_PATTERN, /* to an instance of node y of a side of instance x */
  EG_TO_SLOT,    /* to what slot y of instance x stands for */
  EG_SET_SLOT,   /* the term here is what slot y of instance x stands for */
  EG_DO_RULE,    /* replace one side of instance x by the other; y: forward */
  EG_DO_CLIENT   /* replace the one row of event x by the other */
} eg_task_kind;

/* Something to be done to the subterm at a path, before what stands below it
 * on the stack. */
typedef struct eg_task {
  eg_task_kind kind;
  uint32_t path, x, y;
  uint32_t side;  /* TO_PATTERN: a part, or n_parts + a result */
  uint32_t bound; /* use events before this one */
} eg_task;

typedef struct eg_path_step {
  uint32_t up, kid; /* path 0 is the root */
} eg_path_step;

/* Something to be proved (lemmas.c), and the lemma that says it. */
typedef struct eg_goal {
  uint32_t kind, a, b, c;
  uint32_t state;
  uint32_t row; /* the one that an instance of a pattern was found at */
  eg_cite cite;
} eg_goal;

typedef struct eg_lemma_book {
  BS_VEC(eg_goal) goals;
  BS_VEC(uint32_t) table; /* open addressing: goals + 1 */
  BS_VEC(eg_lemma) lemmas;
} eg_lemma_book;

struct eg_explainer {
  const eg_graph *g;
  bs_heap *heap;
  eg_history h;
  bs_arena arena; /* chains */

  BS_VEC(eg_xnode) nodes;
  BS_VEC(uint32_t) kids;
  BS_VEC(eg_xplace) table; /* open addressing; power of two */
  uint32_t *of_row;        /* the term of a row as added, + 1; or 0 */
  BS_VEC(uint32_t) stack;  /* of eg_term_of_row */

  /* One chain being built. */
  BS_VEC(eg_task) tasks;
  BS_VEC(eg_path_step) paths;
  BS_VEC(eg_instance) instances;
  BS_VEC(uint32_t) bound; /* terms by slot; EG_NO_TERM: none yet */
  BS_VEC(eg_link) links;
  BS_VEC(uint32_t) scratch;
  eg_way way;
  uint32_t whole;
  bool strict, shortest, failed;
  uint32_t fuel, max_steps;

  eg_lemma_book book;
};

/* proof_terms.c */
uint32_t eg_xterm(eg_explainer *, uint32_t head, const uint32_t *kids,
                  uint32_t n); /* EG_NO_TERM: not in the graph */
uint32_t eg_xterm_of_row(eg_explainer *, uint32_t row);
uint32_t eg_xterm_class(const eg_explainer *, uint32_t term);
static inline const uint32_t *
eg_xkids(const eg_explainer *x, uint32_t term) {
  return x->kids.data + x->nodes.data[term].kids;
}
static inline uint32_t
eg_xarity(const eg_explainer *x, uint32_t term) {
  return eg_head_of(x->g, x->nodes.data[term].head)->arity;
}
uint32_t eg_subterm(eg_explainer *, uint32_t whole, uint32_t path);
uint32_t eg_replaced(eg_explainer *, uint32_t whole, uint32_t path,
                     uint32_t by);

/* proof_match.c: sides of rules under an instance. */
const eg_shape *eg_shape_of(const eg_explainer *, const eg_instance *);
const uint32_t *eg_slots_of(const eg_explainer *, const eg_instance *);
const eg_term *eg_side_of(const eg_explainer *, const eg_instance *,
                          uint32_t side);
uint32_t eg_rule_of(const eg_explainer *, const eg_instance *);
uint32_t eg_instance_new(eg_explainer *, uint32_t event);
/* A row that node `at` of a side stood for, the one that was equal to `row`
 * first; EG_NONE. */
uint32_t eg_side_row(eg_explainer *, const eg_instance *, uint32_t side,
                     uint32_t at, uint32_t row);
/* Is the term one with the head of the node and children of its classes? */
bool eg_side_fits(eg_explainer *, const eg_instance *, uint32_t side,
                  uint32_t at, uint32_t term);
/* The side as a term; variables that nothing has bound stand for what their
 * class was made as, and are bound to it. */
uint32_t eg_side_term(eg_explainer *, uint32_t instance, uint32_t side);
uint32_t eg_slot_term(eg_explainer *, uint32_t instance, uint32_t slot);
/* Node `at` of a side as a term in which each variable stands for what made its
 * class, whatever parts say of it. */
uint32_t eg_side_instance(eg_explainer *, uint32_t instance, uint32_t side,
                          uint32_t at);
/* The row that made the class of a variable. */
uint32_t eg_slot_row(const eg_explainer *, const eg_instance *, uint32_t slot);
/* By slot: does it hold a class? */
const uint8_t *eg_class_slots(eg_explainer *, const eg_instance *);

#endif
