/* SPDX-License-Identifier: MIT */
/* loops.h - loop programs: statements over quasi-affine domains.
 *
 * Lowering turns each compute, materialize, call and output of a program into
 * statements; every view between them is composed into access relations, so
 * the only arrays are inputs, constants, placements of results and outputs.
 *
 * A result is computed straight into its placement: the output array when
 * exactly one injective view leads from it there, else an array of its own in
 * the workspace. */
#ifndef POLY_LOOPS_H
#define POLY_LOOPS_H

#include "glenside/program/program.h"
#include "glenside/type/sizes.h"
#include "glenside/target/target.h"
#include "poly/loops/nest.h"
#include "poly/loops/pool.h"
#include <isl/aff.h>
#include <isl/map.h>
#include <isl/schedule.h>
#include <isl/set.h>
#include <assert.h>

typedef enum po_role {
  PO_INPUT,
  PO_CONSTANT,
  PO_OUTPUT,
  PO_WORKSPACE,
  PO_PREPACKED, /* filled once for all calls, from inputs that are constant */
  PO_LOCAL, /* lives below a loop: declared in the innermost one that holds all
               its uses; see `fold` and `scope` */
  PO_MEMORY /* in a memory of the target, at address `offset`: calls alone read
               and write it, and C has no name for it */
} po_role;

/* Where a PO_LOCAL is kept. */
typedef enum po_scope {
  PO_STACK,
  PO_REGISTER, /* indices are constant once loops are unrolled */
  PO_SHARED    /* of a CUDA block */
} po_scope;

/* A number that is known when the function is called: from `least` to `most`,
 * a multiple of `multiple` (at least 1).  See loops_sizes.h. */
typedef struct po_size {
  const char *name; /* a C identifier, unique */
  int64_t least, most, multiple;
} po_size;

typedef struct po_array {
  const char *name; /* a C identifier, unique */
  po_role role;
  gs_dtype dtype;
  uint32_t rank;
  int64_t dim[GS_MAX_RANK];
  /* A function of the sizes, { [] -> [extent] }, of which dim is the most that
   * it can be; NULL: the number. */
  isl_aff *extent[GS_MAX_RANK];
  /* Dimension d is kept in fold[d] places, by its index modulo that; 0: all of
   * them. 1 for the indices of loops around a local, 2 for a double buffer. */
  int64_t fold[GS_MAX_RANK];
  int64_t pad[GS_MAX_RANK]; /* elements added to the extent in memory */
  po_scope scope;           /* PO_LOCAL */
  uint32_t memory; /* PO_MEMORY: 1 + index into the target's memories */
  gs_term term;    /* what it holds; GS_NO_TERM: something on the way to it */
  int64_t offset;  /* PO_WORKSPACE, PO_PREPACKED: bytes from the start of what
                      it lies in, 64-aligned; -1: nowhere.  With sizes, the
                      number of the place in the workspace that it shares.
                      PO_MEMORY: from the start of the memory */
  /* PO_INPUT: the same for all calls. It is no parameter of the function; where
   * it is read as it is, a copy lies at `offset` among what is prepacked. */
  bool prepack;
  /* PO_WORKSPACE: made by NAME_prepack from such inputs; lies among what is
   * prepacked. By po_lay_out. */
  bool before;
  /* PO_INPUT, PO_OUTPUT: number in the source's list; PO_CONSTANT: data. */
  uint32_t number;
  const void *data;
  bool packed; /* an operand of a contraction: made by po_lay_out */
} po_array;

/* Expression trees of statement bodies, children first. */
typedef enum po_expr_kind {
  PO_LITERAL, /* number; infinities stand for the lowest and highest value */
  PO_READ,    /* arrays[array] at `index` of the instance */
  PO_UNARY,   /* a gs_compute elementwise operator, a cast, or REDUCE_MEAN:
                 kids[0] divided by the count in `literal`, or in `by`,
                 truncating */
  PO_BINARY,  /* a gs_compute fold operator */
  PO_SELECT,  /* kids[0] > 0 ? kids[1] : kids[2] */
  PO_GATHER   /* arrays[array] at `index`, moved on by kids[0] (clamped to
                 0..count-1) times `stride` elements in memory */
} po_expr_kind;

/* Kids are computed in the dtype of the node (f32 for bf16) and wrap to it
 * where it is an integer; a kid of another dtype is converted without loss but
 * by a cast. */
typedef struct po_expr {
  po_expr_kind kind;
  gs_dtype dtype;
  double literal;
  isl_aff *by; /* a function of the sizes, { [] -> [count] }; or NULL */
  uint32_t array;
  isl_pw_multi_aff *index; /* statement instance -> array element */
  gs_compute op;
  bs_value param;        /* the whole `o` item, for clip, scale, offset */
  int64_t stride, count; /* PO_GATHER */
  uint32_t n_kids, kids[3];
} po_expr;

typedef enum po_stmt_kind {
  PO_ASSIGN, /* target = body */
  PO_UPDATE, /* target = target op body, op a fold operator: a reduction */
  PO_CALL    /* an instruction */
} po_stmt_kind;

typedef struct po_operand {
  uint32_t array;
  uint32_t rank;
  int64_t dim[GS_MAX_RANK];
  int64_t offset;              /* elements; without base */
  int64_t stride[GS_MAX_RANK]; /* elements, a dimension of the operand */
  isl_pw_multi_aff *base; /* in loops: instance -> its first array element */
} po_operand;

typedef struct po_stmt {
  const char *name; /* S0, S1, ... the tuple name of its domain */
  po_stmt_kind kind;
  isl_set *domain;     /* { S0[i, j, k] } */
  const void *counted; /* the domain that has `instances` (loops_count.c) */
  int64_t instances;
  const char *const *iters;
  uint32_t n_iters, n_outer; /* n_outer: those that are not reduced over */
  uint32_t array;            /* written */
  isl_pw_multi_aff *write;   /* instance -> element */
  gs_compute op;             /* PO_UPDATE */
  const po_expr *exprs;      /* PO_ASSIGN, PO_UPDATE: root is last */
  uint32_t n_exprs;
  const gs_instr *instr;      /* PO_CALL */
  const uint32_t *slots;      /* PO_CALL: params and dimensions bound */
  const po_operand *operands; /* instr->n_operands of them, then the result */
  /* PO_UPDATE: what a schedule says of its kernel (kernel/contraction.h); NULL:
   * nothing. */
  const struct po_contract_choice *contract;
  isl_multi_aff *time; /* instance -> values of the loops around (nest.h) */
  uint32_t leaf;       /* its node in the nest */
  gs_term term;
  bs_span span; /* the source it came from */
  /* What lowering gave one number differs in arrays and names alone, as long as
   * domain, write and exprs are these.  0: no number. */
  uint32_t like;
  const void *made[3];
} po_stmt;

static inline void
po_note_made(po_stmt *s, uint32_t like) {
  s->like = like;
  s->made[0] = s->domain;
  s->made[1] = s->write;
  s->made[2] = s->exprs;
}

static inline bool
po_is_as_made(const po_stmt *s) {
  return s->like && s->made[0] == s->domain && s->made[1] == s->write &&
         s->made[2] == s->exprs;
}

/* Children of the root that share locals, from the first to the last: a
 * function of its own in C. Groups run one after the other. */
typedef struct po_group {
  uint32_t node, last; /* children of the root */
  uint32_t first, n;   /* its statements: a range of `stmts` below */
} po_group;

typedef struct po_groups {
  BS_VEC(po_group) list;
  BS_VEC(uint32_t) stmts; /* in the order of the nest */
} po_groups;

typedef struct po_program {
  gs_context ctx;
  const gs_program *source;
  const gs_target *target;
  isl_ctx *isl;
  BS_VEC(po_size) sizes;
  isl_set *at_sizes; /* { [] : what is known of the sizes }; NULL: none */
  BS_VEC(po_array) arrays;
  BS_VEC(po_stmt) stmts;                    /* in the original order */
  int64_t workspace_bytes, prepacked_bytes; /* for any sizes */
  int64_t workspace_least; /* bytes of it that hold values at a time */
  bool strict_fp;
  bool plain;        /* loops run as the nest says, sums of products too */
  bool chains;       /* lowered so, as too large to be scheduled */
  bool copies_views; /* composing them was too complex */
  bool settled;      /* nothing joins nests any more (search/auto.c) */
  po_nest nest;      /* the schedule as a tree of loops */
  /* By array, as far as they were asked for (depend.c); of the order of what a
   * step began with while it is looked at, or of the program's own. */
  BS_VEC(const struct po_deps *) deps;
  struct po_program *order_of; /* NULL: its own */
  /* While kernels of all groups are looked for: which statements name an array
   * (uses.h). */
  const struct po_uses *uses;
  /* Groups that run as contraction.h says; by po_lay_out. */
  BS_VEC(const struct po_contraction *) contractions;
  /* Groups that run as slide.h says; by po_lay_out, too. */
  BS_VEC(const struct po_slide *) slides;
  struct po_loop_axes *axes;   /* of loops; NULL: nothing was scheduled yet */
  BS_VEC(const char *) script; /* commands applied, in normal form */
  bs_arena arena;              /* names and bodies */
  po_pool pool;                /* owns every isl object above */
  struct po_memo *memo;        /* memo.h; theirs */
  struct po_isl_users *users;  /* programs that share `isl` */
} po_program;

/* A node of the nest. */
static inline po_nest_node *
po_node(const po_program *p, uint32_t node) {
  assert(node < p->nest.nodes.len);
  return &p->nest.nodes.data[node];
}

typedef struct po_options {
  bool strict_fp;
  bool plain;          /* no contractions */
  bool chains;         /* chains of pointwise computes are one statement */
  uint32_t max_pieces; /* pieces an operand may have before it is copied, and
                          regions a statement may be cut into; 0: 64 */
  unsigned long max_operations; /* of isl, for one term; 0: a few seconds'
                                   worth.  Beyond, views are copied one by
                                   one instead of being composed. */
  const po_program *like;       /* whose isl context is shared; NULL: its own */
  const char *const *prepack; /* inputs that are packed before calls, for those
                                 who lower by po_lower_part */
  uint32_t n_prepack;
} po_options;

/* lower.c; NULL with diagnostics. */
po_program *po_lower(const gs_program *, const gs_target *, const po_options *);
/* loops_program.c: an empty program, with the isl context of `like` or, where
 * that is NULL, one of its own. */
po_program *po_new_program(const gs_context *, const gs_program *source,
                           const gs_target *, const po_program *like);
void po_free(po_program *);
/* Leaves out of domains what follows from the rest. isl does so when it
 * comes upon it, in the objects themselves, so that what was asked before would
 * show in bounds and conditions. */
void po_simplify_domains(const po_program *);
/* group.c: the groups that the nest and its locals make now. */
void po_find_groups(const po_program *, po_groups *);
void po_groups_done(const po_program *, po_groups *);
/* nest_isl.c: the sequence of the trees of its children of the root. */
__isl_give isl_schedule *po_group_schedule(const po_program *,
                                           const po_group *);
/* reduce.c: what updates by a fold operator start from: what they leave as it
 * is; infinities stand for the lowest and the highest value. */
double po_fold_start(gs_compute);
/* workspace.c: where workspace arrays lie, by the nest's order; made anew
 * after a change of the schedule. */
void po_lay_out(po_program *);
/* The bytes of the workspace that a call at these sizes of the program needs,
 * once it is laid out. */
int64_t po_workspace_at(const po_program *, const int64_t *at);
/* prepack.c: the input of that name is the same for all calls, so that what is
 * made of it alone is made once; false: there is no such input.  po_lay_out
 * makes use of it. */
bool po_prepack(po_program *, const char *input);
bool po_has_prepacked(const po_program *);
/* Finds the groups that NAME_prepack runs, and marks the arrays they make;
 * false: there are none. (po_lay_out) */
bool po_find_before(po_program *, const po_groups *);
bool po_is_before(const po_program *, const po_groups *, const po_group *);
/* Places among what is prepacked, of what calls read. (po_lay_out) */
void po_lay_out_prepacked(po_program *, const po_groups *);
/* poly_print.c: `conv.glen:7: compute dotProd, ((4), ()) f32` */
void po_put_origin(const po_program *, gs_term, bs_span, bs_text *out);
/* The loop program as text (docs/LOOPS.md); the same with comments that say
 * where statements come from. */
void po_print(const po_program *, bs_text *out);
void po_print_with_origins(const po_program *, bs_text *out);
/* Dimension d of an array: `48`, or of sizes, `n + 1`. */
void po_put_extent(const po_program *, const po_array *, uint32_t d,
                   bs_text *out);
/* A number put in for a size of a program that is read: within its bounds, and
 * named by the program. */
typedef gs_given_size po_given_size;
/* text_read.c: a program from such a text, a source of the context's
 * diagnostics; the target declares instructions and may be NULL.  NULL with
 * diagnostics. */
po_program *po_read_loops(const gs_context *, const gs_target *,
                          uint32_t source, const po_given_size *, uint32_t n);
void po_print_schedule_tree(const po_program *, bs_text *out);

#endif
