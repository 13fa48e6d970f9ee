/* SPDX-License-Identifier: MIT */
/* emit.h - what all that makes code of a program shares.
 *
 *   emit.c      one emission: memory, limits, faults
 *   unit_kernel.c  groups alike up to the arrays they work on become one
 * function unit_names.c  arrays apart from what is made from the function's
 * name elements.c  locals;  large.c, arrays larger than the caches;
 * unit_constant.c range.c     values of loops function.c  functions of the file
 *   verify.c    the checker of trees, told the names of the file */
#ifndef CODEGEN_UNIT_EMIT_H
#define CODEGEN_UNIT_EMIT_H

#include "codegen/unit/options.h"
#include "codegen/above/above.h"
#include "codegen/print/print.h"
#include "codegen/quote/quote.h"
#include "codegen/tree/tree.h"
#include "poly/loops/storage.h"
#include <assert.h>
#include <isl/ast.h>
#include <isl/ast_build.h>

/* An array that a kernel works on: a parameter of its function. */
typedef struct cg_slot {
  uint32_t array;
  int64_t base; /* elements added to the pointer passed */
  bool written;
  bool shared; /* it lies where another one does */
} cg_slot;

/* A group as a use of a kernel. */
typedef struct cg_use {
  uint32_t kernel; /* UINT32_MAX: the group is a call */
  uint32_t n_slots;
  const cg_slot *slots;
} cg_use;

typedef struct cg_kernel {
  uint32_t group; /* the first one of its kind: it is printed */
  uint32_t uses;
  const char *print; /* what makes groups alike */
  const char *name;
} cg_kernel;

typedef struct cg_emitter {
  const po_program *p;
  const cg_options *options;
  bs_heap *heap;
  bs_arena arena;
  po_pool pool;
  bs_text body;      /* of the functions; what they need comes before */
  const char *index; /* the C type of indices */
  cg_needs needs;    /* what stands above the functions */
  bool failed;
  bool is_variant; /* functions are the file's own; no sizes are told */
  po_groups groups;
  uint32_t *local_node;         /* by array: the loop that it is declared in */
  struct cg_elements *elements; /* by array */
  bool *streamed, *fetched;     /* by array: see pass/stream.c */
  bool *mentioned;              /* by array: named in code so far; or NULL */
  BS_VEC(cg_kernel) kernels;
  const po_group *about;  /* code is being made of it; NULL: of none yet */
  cg_use *uses;           /* by group */
  const uint32_t *layers; /* by term: gs_layers; NULL: not asked yet */
  unsigned long weight;   /* of an operation of isl: see poly/loops/limit.h */
  po_program *slim;       /* the program with statements as isl gets them */
  /* By array and dimension: extents of those that lie by sizes. */
  isl_ast_expr **extents;
  uint32_t n_whole; /* groups whose loops were not cut */
} cg_emitter;

/* emit.c: writes files by `write`, with groups, the loops of locals and their
 * elements found; false with diagnostics, its own or of what isl could not
 * do. */
bool cg_emit(const po_program *, const cg_options *,
             bool (*write)(cg_emitter *, void *arg), void *arg);

/* isl may take so many operations from here on, less by the weight of the
 * program; 0: any number.  CG_OPERATIONS: for what is no AST of a group. */
void cg_limit(const cg_emitter *, unsigned long most);
#define CG_OPERATIONS 5000000ul

/* Of a local in registers: bit k stands for element k. It is kept as scalars
 * where every index is a constant and all that is written is read. */
typedef struct cg_elements {
  bool by_name;
  uint64_t read, written;
} cg_elements;

static inline bool
cg_is_by_name(const cg_emitter *e, uint32_t array) {
  assert(array < e->p->arrays.len);
  const cg_elements *x = &e->elements[array];
  return x->by_name && !(x->written & ~x->read);
}

/* Statement k of a group. */
static inline const po_stmt *
cg_stmt(const cg_emitter *e, const po_group *group, uint32_t k) {
  assert(k < group->n);
  return &e->p->stmts.data[e->groups.stmts.data[group->first + k]];
}

/* A few weights, which code names itself instead of being passed them
 * (unit_constant.c). */
bool cg_is_small_constant(const po_array *);
/* Element i of a constant, whatever its dtype. */
double cg_element_at(const po_array *, int64_t i);

/* The array is passed to kernels; other locals are their own. */
static inline bool
cg_is_passed(const cg_emitter *e, uint32_t array) {
  assert(array < e->p->arrays.len);
  const po_array *a = &e->p->arrays.data[array];
  return (a->role != PO_LOCAL && a->role != PO_MEMORY &&
          !cg_is_small_constant(a)) ||
         po_is_large(a);
}

/* The array has elements to index, and is no scalar. */
static inline bool
cg_is_indexed(const cg_emitter *e, uint32_t array) {
  assert(array < e->p->arrays.len);
  const po_array *a = &e->p->arrays.data[array];
  return !po_is_variable(a);
}

/* The array's name is about to be written. */
static inline void
cg_mention(const cg_emitter *e, uint32_t array) {
  assert(array < e->p->arrays.len);
  if (e->mentioned)
    e->mentioned[array] = true;
}

static inline const char *
cg_helper_used(cg_emitter *e, cg_helper helper) {
  assert(helper > CG_NO_HELPER && helper < CG_HELPER_COUNT);
  cg_need(&e->needs, helper);
  return cg_helper_names[helper];
}

/* A parameter of the program's function; an input that is prepacked is one of
 * NAME_prepack instead. */
static inline bool
cg_is_parameter(const po_array *array) {
  return (array->role == PO_INPUT && !array->prepack) ||
         array->role == PO_OUTPUT;
}

/* unit_kernel.c */
void cg_find_kernels(cg_emitter *);

/* range.c: the least and the greatest value that a loop ever takes; false: not
 * known, or too large. */
bool cg_range(const po_program *, uint32_t loop, int64_t *lo, int64_t *hi);
/* From the one to the other; 0: too many. */
int64_t cg_range_size(const po_program *, uint32_t loop);

/* What the tree of a kernel is made for: arrays under their names in it. */
typedef struct cg_scope {
  const po_group *group;
  const cg_use *use;
  const char *const *slot_names;
} cg_scope;

/* unit_names.c: the C name of an array in a kernel: its slot's, or the local's
 * own.
 */
const char *cg_array_name(const cg_emitter *, const cg_scope *, uint32_t array);
/* A local whose declaration in the kernel is its name. */
bool cg_has_own_name(const cg_emitter *, uint32_t array);
/* An array of the program has the name. */
bool cg_is_array_name(const cg_emitter *, const char *name);

/* elements.c: the locals that may be kept as scalars; nothing is known of
 * their elements before the AST is built. */
void cg_find_elements(cg_emitter *);
/* Whether the local is one of the group that lives in an iteration of the loop;
 * whether it has any. */
bool cg_is_local_of(const cg_emitter *, const po_group *, uint32_t loop,
                    uint32_t array);
bool cg_has_locals(const cg_emitter *, const po_group *, uint32_t loop);

/* large.c: sets e->streamed and e->fetched: the arrays that are worth
 * it. */
void cg_find_streamed(cg_emitter *);
/* Some array of a kernel is one of them. */
bool cg_may_stream(const cg_emitter *, const cg_use *);
int64_t cg_element_bytes(const cg_emitter *, uint32_t array);

static inline uint32_t
cg_count_operands(const po_stmt *stmt) {
  return stmt->instr ? stmt->instr->n_operands + 1 : 0;
}

/* verify.c: whether the tree of a kernel is sound after a pass, which is asked
 * in builds with assertions (CG_VERIFY); that of each function before it is
 * written.  An error where it is not. */
bool cg_verify(cg_emitter *, const cg_scope *, const cg_node *body,
               const char *after, bool complete);
bool cg_verify_function(const po_program *, bs_arena *, const cg_function *);
#ifdef NDEBUG
#define CG_VERIFY(...) ((void)0)
#else
#define CG_VERIFY(...) ((void)cg_verify(__VA_ARGS__))
#endif

/* function.c: puts a function into the file. */
void cg_put_function(cg_emitter *, cg_function *, cg_node *body);
/* What was quoted of one, with a line behind it; of a body; or an error where
 * that is no C. */
void cg_close_function(cg_emitter *, cg_writer *);
cg_node *cg_close_body(cg_emitter *, cg_writer *);
/* Of functions that stand apart from those of one emission: one of its tree,
 * one that was quoted, which ends the quotes.  False with an error. */
bool cg_print_entry(const po_program *, bs_arena *, const cg_language *,
                    cg_function *, bs_text *out);
bool cg_close_entry(const po_program *, cg_writer *, bs_text *out);

/* unit_names.c: no size is named like what is made from the function's name, or
 * an error; the program, or a copy of it in the context's arena whose arrays
 * are not named like what is made from the function's name, nor such that the
 * language, if it has words of its own, does not have them. */
bool cg_sizes_are_apart(const po_program *, const char *function);
const po_program *cg_with_own_names(const po_program *, const char *function,
                                    bool (*is_word)(const po_array *));
/* The program, or a copy of it in the context's arena in which arrays whose
 * names other programs of the file have taken have new ones. */
const po_program *cg_with_new_names(const po_program *,
                                    bool (*is_taken)(const void *arg,
                                                     const po_array *),
                                    const void *arg);

#endif
