/* SPDX-License-Identifier: MIT */
/* stranded.h - calls that are only of use beside others.
 *
 * A memory from which nothing brings values back as they are, or to which
 * nothing brings them, is left, or reached, by calls alone: sums that can only
 * be stored as bytes need an instruction that makes bytes of them behind them.
 * The price of one e-node cannot say so.  What was chosen is looked at instead,
 * and calls that turn out to be stranded are left out of the next choice. */
#ifndef EXTRACT_STRANDED_H
#define EXTRACT_STRANDED_H

#include "egraph/egraph.h"
#include "glenside/target/target.h"

typedef enum ex_stranding {
  EX_STAYS = 1,   /* what the class's calls give stays in such a memory */
  EX_LACKING = 2, /* what they take never comes to one */
  EX_TURNS = 4    /* who reads the class takes other rows than those there */
} ex_stranding;

/* What was chosen of an e-graph: a node of each class, by id. */
typedef struct ex_choice {
  const eg_graph *graph;
  const eg_class *roots;
  uint32_t n_roots, n_ids;
  const eg_node *node;
} ex_choice;

/* Adds what is found to `stranded`, by class id, n_ids of them; false: there is
 * nothing new. */
bool ex_find_stranded(bs_heap *, const gs_target *, const bs_values *,
                      const ex_choice *, uint8_t *stranded);
/* Whether the node is one of the calls that are left out. */
bool ex_is_stranded(const gs_target *, const bs_values *, const eg_graph *,
                    eg_node, const uint8_t *stranded);
/* The operand, or the result, for which calls of the instruction were left out;
 * NULL: none was. */
const gs_operand *ex_stranded_operand(const gs_target *, const bs_values *,
                                      const eg_graph *, const uint8_t *stranded,
                                      const gs_instr *);

#endif
