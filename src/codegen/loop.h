/* SPDX-License-Identifier: MIT */
/* loop.h - a `for` of the AST (loop.c). */
#ifndef CODEGEN_LOOP_H
#define CODEGEN_LOOP_H

#include "codegen/emit.h"

/* As it is written; the pool keeps what is isl's. */
typedef struct cg_loop {
  uint32_t node; /* of the nest; PO_NO_NODE */
  const char *iterator;
  isl_ast_expr *first, *condition;
  isl_ast_expr *last; /* NULL where the condition is no bound */
  bool last_excluded;
  bool is_team;               /* threads share its iterations */
  int64_t step, trips;        /* how often it runs; 0: not known */
  isl_ast_node *body, *inner; /* inner: below marks */
} cg_loop;

cg_loop cg_describe_loop(cg_emitter *, __isl_keep isl_ast_node *);
isl_ast_node *cg_body_of(cg_emitter *, __isl_keep isl_ast_node *loop);
/* What is below the marks at a node. */
isl_ast_node *cg_below_marks(cg_emitter *, __isl_keep isl_ast_node *);
/* A `for` that is a loop, not one iteration. */
bool cg_is_loop(__isl_keep isl_ast_node *);
/* The loop of the nest that a `for` belongs to, or PO_NO_NODE. */
uint32_t cg_loop_of_for(__isl_keep isl_ast_node *);
bool cg_declares_locals(const cg_emitter *, const cg_scope *, uint32_t loop);

/* Gives a parallel loop a team of threads where there is none yet: sets
 * in_parallel and team of the scope, and is_team. */
void cg_put_pragma(cg_emitter *, cg_scope *, cg_loop *, uint32_t indent);

/* node.c: an iteration of a loop: its locals live in it. */
void cg_put_body(cg_emitter *, cg_scope *, uint32_t loop,
                 __isl_keep isl_ast_node *body, uint32_t indent);
/* vector.c: a loop that is marked for vectors, as those and what fills none;
 * false: the loop is not. */
bool cg_put_vector_loop(cg_emitter *, const cg_scope *, const cg_loop *,
                        uint32_t indent);

#endif
