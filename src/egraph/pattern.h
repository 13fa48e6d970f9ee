/* SPDX-License-Identifier: MIT */
/* pattern.h - compiled patterns and e-matching.
 *
 * A pattern is a tree over class variables and operators; attributes are
 * matched structurally against interned values (literals, variables, lists of
 * these).  All variables share one array of 32-bit slots: a class slot holds a
 * class id, an attribute slot a value id.  A slot seen before must be equal. */
#ifndef EGRAPH_PATTERN_H
#define EGRAPH_PATTERN_H

#include "egraph/egraph.h"

typedef enum eg_attr_kind {
  EG_ATTR_ANY,
  EG_ATTR_VALUE, /* equal to `value` */
  EG_ATTR_SLOT,  /* bound to or compared with `slot` */
  EG_ATTR_LIST   /* a list of n items, each matched by items[i] */
} eg_attr_kind;

/* An attribute pattern, and on a right side an attribute template. */
typedef struct eg_attr_pattern {
  eg_attr_kind kind;
  bs_value value;
  uint32_t slot;
  uint32_t n;
  const struct eg_attr_pattern *items;
} eg_attr_pattern;

typedef struct eg_term_node {
  bool is_slot;  /* a class variable */
  uint32_t slot; /* is_slot */
  uint32_t op;
  eg_attr_pattern attr;
  uint32_t n_kids;
  const uint32_t *kids; /* indices of earlier nodes of the term */
} eg_term_node;

/* A term with variables: pattern or template.  Children stand before parents,
 * the root is last. */
typedef struct eg_term {
  const eg_term_node *nodes;
  uint32_t n;
} eg_term;

typedef struct eg_pattern eg_pattern; /* compiled */

/* Compiles a (multi-)pattern: parts[k] is rooted at the class in
 * root_slots[k] (UINT32_MAX: a root of its own; parts[0] always so). */
eg_pattern *eg_pattern_new(bs_heap *, bs_values *, const eg_term *parts,
                           const uint32_t *root_slots, uint32_t n_parts,
                           uint32_t n_slots);
void eg_pattern_free(bs_heap *, eg_pattern *);

/* Calls `found` for each match, in a deterministic order; `slots` has n_slots
 * entries, unbound ones are UINT32_MAX.  Stops when it returns false.  Where
 * the limits on time or memory are met, control unwinds (base/heap.h). */
typedef bool (*eg_found)(void *ctx, eg_class root, eg_node root_node,
                         const uint32_t *slots);
void eg_search(const eg_graph *, const eg_pattern *, eg_found, void *ctx);
void eg_search_class(const eg_graph *, const eg_pattern *, eg_class, eg_found,
                     void *ctx);
/* Searches a class, looking at no more than `steps` candidates and some tens of
 * thousands; false when there were more, and the search ended before its
 * end. */
bool eg_search_within(const eg_graph *, const eg_pattern *, eg_class,
                      uint64_t steps, eg_found, void *ctx);

/* Lists at most 32 deep and 255 items in all; BS_NIL beyond that. */
bs_value eg_attr_build(bs_values *, const eg_attr_pattern *,
                       const uint32_t *slots);

#endif
