/* SPDX-License-Identifier: MIT */
/* pool.h - isl objects owned by a list, so that unwinding leaks none.
 *
 * isl objects are not on a heap.  Whatever must live across an allocation that
 * may unwind is put into a pool at once; the pool's owner frees it by a heap
 * cleanup.  The functions take the object and give it back as borrowed: copy
 * it before handing it to a function that takes.  A mark bounds a lifetime. */
#ifndef POLY_POOL_H
#define POLY_POOL_H

#include "base/heap.h"
#include <isl/aff.h>
#include <isl/ast.h>
#include <isl/ast_build.h>
#include <isl/constraint.h>
#include <isl/id.h>
#include <isl/map.h>
#include <isl/schedule.h>
#include <isl/set.h>
#include <isl/union_map.h>
#include <isl/union_set.h>

typedef struct po_pool_item {
  uint32_t kind;
  void *object;
} po_pool_item;

typedef struct po_pool {
  bs_heap *heap;
  po_pool_item *items;
  uint32_t len, cap;
  bool failed; /* a NULL was put in: isl refused an operation */
} po_pool;

void po_pool_init(po_pool *, bs_heap *);
void po_pool_done(po_pool *);
static inline uint32_t
po_pool_mark(const po_pool *p) {
  return p->len;
}
/* Makes room, so that the next n objects are kept without allocating. */
void po_pool_reserve(po_pool *, uint32_t n);
void po_pool_release(po_pool *, uint32_t mark);

#define PO_POOL_KINDS(X)                                                       \
  X(set, isl_set)                                                              \
  X(basic_set, isl_basic_set)                                                  \
  X(basic_set_list, isl_basic_set_list)                                        \
  X(constraint_list, isl_constraint_list)                                      \
  X(map, isl_map)                                                              \
  X(aff, isl_aff)                                                              \
  X(pw_aff, isl_pw_aff)                                                        \
  X(multi_aff, isl_multi_aff)                                                  \
  X(pw_multi_aff, isl_pw_multi_aff)                                            \
  X(union_set, isl_union_set)                                                  \
  X(union_map, isl_union_map)                                                  \
  X(schedule, isl_schedule)                                                    \
  X(ast_build, isl_ast_build)                                                  \
  X(ast_node, isl_ast_node)                                                    \
  X(ast_expr, isl_ast_expr)

#define X(name, type) type *po_keep_##name(po_pool *, __isl_take type *);
PO_POOL_KINDS(X)
#undef X
/* The text that an isl_..._to_str returned. */
char *po_keep_str(po_pool *, __isl_take char *);

#endif
