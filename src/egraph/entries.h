/* SPDX-License-Identifier: MIT */
/* entries.h - the operators' lists of an index; private, inline.
 *
 * An entry is a copy of a row's children for the search, which so reads memory
 * in order, and the node.  The class stands in the row, which keeps it while a
 * search is on.  Where the ids of a graph are short, an entry is one word: its
 * top, which is two flags and the node, above the two children.  Else the word
 * holds the children and the tops are a list of their own: then entries are
 * `wide`.  Loops over many entries are made for each form. */
#ifndef EGRAPH_ENTRIES_H
#define EGRAPH_ENTRIES_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EG_RECENT                                                              \
  0x80000000u                    /* in a top: changed since the last index;    \
                                    in a segment: some of it did */
#define EG_FIRST     0x40000000u /* in a top: the first of its segment */
#define EG_NODE_MASK 0x3fffffffu

/* Bits of a node and of a child in entries that are not wide. */
/* As many as there are nodes, places of entries have as many bits. */
enum { EG_SHORT_NODE = 22, EG_SHORT_KID = 20, EG_TOP_SHIFT = 8 };

/* A function with `wide` given as a constant: made for each form. */
#define EG_EACH_FORM static inline __attribute__((always_inline))

typedef struct eg_entries {
  uint64_t *words;
  uint32_t *tops; /* in the same block; or NULL */
  uint32_t cap;
} eg_entries;

enum { EG_ENTRY_MOST = sizeof(uint64_t) + sizeof(uint32_t) };

static inline size_t
eg_entries_bytes(const eg_entries *e) {
  return e->cap * (e->tops ? EG_ENTRY_MOST : sizeof *e->words);
}

static inline uint32_t
eg_entry_top(const eg_entries *e, uint32_t i, bool wide) {
  return wide ? e->tops[i] : (uint32_t)(e->words[i] >> 32);
}

static inline uint32_t
eg_top_node(uint32_t top, bool wide) {
  return (top & EG_NODE_MASK) >> (wide ? 0 : EG_TOP_SHIFT);
}

static inline uint32_t
eg_entry_node(const eg_entries *e, uint32_t i) {
  return eg_top_node(eg_entry_top(e, i, e->tops), e->tops);
}

/* The second child is cut off where it is none; then the first may be none,
 * too, and spill into it. */

/* Child 0 or 1.  Of a wide node the first is its place in the pool; where there
 * is none, it is any number. */
static inline uint32_t
eg_entry_kid(const eg_entries *e, uint32_t i, uint32_t k, bool wide) {
  assert(i < e->cap && k < 2);
  uint64_t word = e->words[i];
  if (wide)
    return (uint32_t)(k ? word >> 32 : word);
  return (uint32_t)(k ? word >> EG_SHORT_KID : word) &
         ((1u << EG_SHORT_KID) - 1);
}

static inline void
eg_entry_set(const eg_entries *e, uint32_t i, uint32_t flags, uint32_t node,
             uint32_t kid0, uint32_t kid1, bool wide) {
  uint64_t mask = (1u << EG_SHORT_KID) - 1;
  if (wide) {
    e->words[i] = (uint64_t)kid1 << 32 | kid0;
    e->tops[i] = flags | node;
  } else {
    e->words[i] = (uint64_t)(flags | node << EG_TOP_SHIFT) << 32 |
                  (kid1 & mask) << EG_SHORT_KID | kid0;
  }
}

#endif
