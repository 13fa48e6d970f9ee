/* SPDX-License-Identifier: MIT */
/* build.h - isl's AST of a group becomes the code tree, once.
 *
 *   separate.c options of the AST: unrolled loops, full tiles apart
 *   slim.c     statements with fewer indices
 *   ast.c      a group's schedule as an isl AST, its accesses as expressions
 *   nodes.c    the AST as a tree
 *   build_sizes.c  arrays whose extents are known when the function is called
 *   build_index.c  isl's expressions;  body.c, operator.c, build_pattern.c,
 * known.c statements;  template.c, calls of instructions */
#ifndef CODEGEN_BUILD_BUILD_H
#define CODEGEN_BUILD_BUILD_H

#include "codegen/unit/emit.h"

/* nodes.c: the tree of a use's group, marks and all; false when isl fails. */
bool cg_build_tree(cg_emitter *, const cg_scope *, uint32_t group,
                   cg_node **out);

/* build_index.c */
const cg_expr *cg_make_index(cg_emitter *, __isl_keep isl_ast_expr *);
/* build_sizes.c: a function of sizes, { [] -> [number] }, as C. */
const cg_expr *cg_make_number(cg_emitter *, __isl_keep isl_aff *);
/* A number over sizes, whose sizes and quotients are converted to the type. */
const cg_expr *cg_make_polynomial(bs_arena *, const gs_sizes *, gs_number,
                                  const char *type);
/* operator.c: a literal in C, of the type that the dtype is computed in. */
const cg_expr *cg_make_literal(cg_emitter *, gs_dtype, double);
void cg_put_literal(bs_text *, gs_dtype, double);
/* body.c: the statement whose accesses are those; what a statement computes
 * whose reads are at `places`, and that as an element of its array, which for a
 * float of 16 bits is its bits. */
cg_node *cg_make_store(cg_emitter *, const cg_scope *, const cg_origin *);
const cg_expr *cg_make_formula(cg_emitter *, const po_stmt *,
                               const cg_expr *const *places);
const cg_expr *cg_make_result(cg_emitter *, const po_stmt *,
                              const cg_expr *const *places);
/* Expression k of the statement whose accesses are those, as an operand. */
const cg_expr *cg_make_part(cg_emitter *, const cg_scope *, const cg_origin *,
                            uint32_t k);
/* The places of a formula that reads `own` alone, to be changed where it reads
 * others; element `at` of the k-th of these others, e0, e1 and so on. */
const cg_expr **cg_places(cg_emitter *, const po_stmt *, const cg_expr *own);
const cg_expr *cg_extra(cg_emitter *, uint32_t k, const cg_expr *at);
/* template.c: the text of a call; scope and origin: NULL outside of kernels. */
cg_node *cg_make_template(cg_emitter *, const cg_scope *, const cg_origin *,
                          const po_stmt *);
/* known.c: nothing is written for the statement. */
bool cg_is_void(cg_emitter *, const cg_origin *);
/* build_pattern.c: a function of the C library, by its name up to a
 * parenthesis, for which the file has a helper: not under --strict-fp. */
bool cg_is_written(const cg_emitter *, const char *name, gs_dtype,
                   cg_helper *helper);
/* build_branch.c: what the C compiler is given for this expression is a call,
 * or a helper with branches. */
bool cg_has_branch_or_call(const cg_emitter *, const po_stmt *,
                           const po_expr *);

/* build_sizes.c: sets e->extents; NULL without sizes. */
void cg_find_extents(cg_emitter *);
/* The element that an access of such an array names: { loops -> index }. */
__isl_give isl_ast_expr *cg_sized_address(const cg_emitter *, uint32_t array,
                                          __isl_keep isl_ast_build *,
                                          __isl_keep isl_pw_multi_aff *index);
/* The bytes of an array that lies by sizes, of type size_t. */
const cg_expr *cg_make_bytes(cg_emitter *, uint32_t array);

/* separate.c: the schedule with what the marks of loops ask of isl. */
__isl_give isl_schedule *cg_ask_for_code(const po_program *,
                                         __isl_take isl_schedule *);
/* The loop a mark of a schedule or an AST stands for. */
uint32_t cg_loop_of(__isl_keep isl_id *mark);

/* slim.c: a copy of a statement, without the indices that others determine; its
 * objects are the emitter's. */
void cg_slim(cg_emitter *, po_stmt *);

/* ast.c: what the AST's nodes carry. */
typedef struct cg_user_note {
  uint32_t stmt;
  uint32_t n;            /* as those of a cg_origin */
  isl_ast_expr *index[]; /* NULL: no access in memory, or a constant place */
} cg_user_note;

/* The AST of a use's group; NULL when isl fails. */
__isl_give isl_ast_node *cg_build_ast(cg_emitter *, uint32_t group);
const cg_user_note *cg_note_of_user(__isl_keep isl_ast_node *);
/* The loop of the nest that a `for` belongs to, or PO_NO_NODE. */
uint32_t cg_loop_of_for(__isl_keep isl_ast_node *);

#endif
