/* SPDX-License-Identifier: MIT */
/* fixture.h - programs from text, lowered, for the tests of poly and codegen.
 */
#ifndef TESTS_POLY_FIXTURE_H
#define TESTS_POLY_FIXTURE_H

#include "../context.h"
#include "poly/loops/loops.h"

static inline bool
has_fault(const char *code) {
  for (uint32_t k = 0; k < diags.list.len; k++)
    if (!strcmp(diags.list.data[k].code, code))
      return true;
  return false;
}

static inline po_program *
lower_with(const gs_target *target, const char *text, po_options options) {
  po_program *p = po_lower(program_over(target, text), target, &options);
  cr_assert(p, "%s", faults());
  return p;
}

static inline po_program *
lower(const char *text) {
  return lower_with(gs_target_default(&ctx), text, (po_options){0});
}

static inline uint32_t
count_arrays(const po_program *p, po_role role) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < p->arrays.len; k++)
    n += p->arrays.data[k].role == role;
  return n;
}

static inline uint32_t
count_stmts(const po_program *p, po_stmt_kind kind) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < p->stmts.len; k++)
    n += p->stmts.data[k].kind == kind;
  return n;
}

static inline uint32_t
count_groups(const po_program *p) {
  po_groups groups;
  po_find_groups(p, &groups);
  uint32_t n = groups.list.len;
  po_groups_done(p, &groups);
  return n;
}

static inline const char *
loops_text(const po_program *p) {
  bs_text out;
  bs_text_init(&out, &heap);
  po_print(p, &out);
  return bs_text_str(&out);
}

#define MATMUL                                                                 \
  "(tensor a (shape 6 5) f32)(tensor b (shape 5 4) f32)"                       \
  "(let c (compute dotProd (cartProd (access a 1)"                             \
  "  (access (transpose b (list 1 0)) 1))))"

#endif
