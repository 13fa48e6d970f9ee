/* SPDX-License-Identifier: MIT */
/* pattern_code.h - the compiled form of patterns; private to this folder.
 *
 * A pattern is a list of atoms.  An atom takes the nodes of one symbol, either
 * of the class in a register or of the whole graph, and stores or compares
 * their children and attribute.  Registers are 32-bit: first the client's
 * slots, then one for each inner class, ground term and attribute part.  What
 * is bound when is known at compile time, so an atom never asks. */
#ifndef EGRAPH_PATTERN_CODE_H
#define EGRAPH_PATTERN_CODE_H

#include "egraph/graph.h"
#include "egraph/pattern.h"
#include "egraph/sink.h"

typedef struct eg_kid_step {
  uint32_t reg;
  bool check; /* compare with the register instead of storing */
} eg_kid_step;

typedef enum eg_attr_op {
  EG_IS_VALUE,
  EG_BIND,
  EG_IS_REG,
  EG_IS_LIST
} eg_attr_op;

typedef struct eg_attr_step {
  eg_attr_op op;
  uint32_t from; /* the register looked at */
  uint32_t to;   /* BIND, IS_REG: a register; IS_LIST: first item's register */
  bs_value value;
  uint32_t n; /* IS_LIST */
} eg_attr_step;

typedef enum eg_atom_kind {
  EG_ATOM_SCAN,    /* every node of the symbol */
  EG_ATOM_CLASS,   /* the nodes of the symbol in the class of `reg` */
  EG_ATOM_CLASSES, /* every class, stored in `reg` */
  EG_ATOM_SAME     /* the registers `reg` and `out` are equal */
} eg_atom_kind;

typedef struct eg_atom {
  eg_atom_kind kind;
  uint32_t op, arity;
  uint32_t reg;
  uint32_t out;      /* the class of the node is stored here; or EG_NONE */
  bool bind_out;     /* SAME: store instead of compare */
  bool plain_kids;   /* none is compared */
  uint32_t attr_reg; /* the attribute is stored here; or EG_NONE */
  uint32_t first_kid, first_attr, n_attr;
} eg_atom;

/* A ground term, looked up before the search; kids are earlier ones. */
typedef struct eg_ground {
  uint32_t op, reg, first_kid, n_kids;
  bs_value attr;
} eg_ground;

struct eg_pattern {
  bs_values *values;
  BS_VEC(eg_atom) atoms;
  BS_VEC(eg_kid_step) kids;
  BS_VEC(eg_attr_step) attrs;
  BS_VEC(eg_ground) grounds;
  BS_VEC(uint32_t) ground_kids;
  uint32_t n_slots, n_regs;
  uint32_t root_reg;   /* the class matched by part 0 */
  uint8_t *class_slot; /* n_slots: bound to a class (not to a value) */
  uint8_t *bound;      /* n_slots */
};

/* A search that only writes matches with something newer than `since` in them
 * but counts all. */
typedef struct eg_search_options {
  uint32_t since;          /* as `eg_now` counts; 0: all matches are fresh */
  uint64_t limit;          /* stop counting above; 0 = none */
  uint32_t only_class;     /* root class, or EG_NONE */
  const uint32_t *grounds; /* classes of the ground terms; NULL: look up */
  uint32_t grounds_newest; /* their latest stamp */
  /* False stops; asked now and then, after so many steps of the search. */
  bool (*tick)(void *, uint64_t steps);
  void *tick_ctx;
} eg_search_options;

/* Looks the ground terms of a pattern up, in the graph as it was indexed; false
 * when one is not there.  *newest: the latest stamp among them. */
bool eg_find_grounds(const eg_graph *, const eg_pattern *, uint32_t *classes,
                     uint32_t *newest);
/* Returns the number of matches counted; *stopped: sink or `tick` said so. */
uint64_t eg_search_with(const eg_graph *, const eg_pattern *,
                        const eg_search_options *, eg_sink *, bool *stopped);

#endif
