/* SPDX-License-Identifier: MIT */
/* part.c - independent parts of a core.
 *
 * Edges to forced classes of other components are gone (C4), so classes that
 * no node connects any more do not influence each other: their optima add. */
#include "extract/core.h"
#include <assert.h>

static uint32_t
find(uint32_t *leader, uint32_t c) {
  while (leader[c] != c)
    c = leader[c] = leader[leader[c]];
  return c;
}

uint32_t
core_parts(const ex_core *g, uint32_t *part_of) {
  uint32_t *leader = EX_NEW(g->heap, uint32_t, g->n_classes), n = 0;
  for (uint32_t c = 0; c < g->n_classes; c++)
    leader[c] = c;
  for (uint32_t i = 0; i < g->nodes.len; i++) {
    const core_node *node = &g->nodes.data[i];
    for (uint32_t k = 0; node->live && k < node->n_kids; k++) {
      uint32_t a = find(leader, node->class), b = find(leader, node->kids[k]);
      if (a < b)
        leader[b] = a;
      else
        leader[a] = b;
    }
  }
  for (uint32_t c = 0; c < g->n_classes; c++) {
    part_of[c] = EX_NONE;
    if (!g->classes[c].live)
      continue;
    uint32_t l = find(leader, c); /* the smallest of its part */
    part_of[c] = l == c ? n++ : part_of[l];
  }
  bs_free(g->heap, leader);
  return n;
}

void
core_extract_part(const ex_core *g, const uint32_t *part_of, uint32_t part,
                  ex_core *out) {
  assert(out != g);
  assert(part_of);
  ex_core shell = *g; /* same nodes, the part's classes only */
  shell.base = 0;
  shell.fixed = (ex_list){0};
  shell.classes = EX_NEW(g->heap, core_class, g->n_classes);
  for (uint32_t c = 0; c < g->n_classes; c++) {
    shell.classes[c] = g->classes[c];
    shell.classes[c].live = g->classes[c].live && part_of[c] == part;
  }
  core_copy(out, &shell);
  bs_free(g->heap, shell.classes);
}
