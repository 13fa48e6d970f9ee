/* SPDX-License-Identifier: MIT */
/* primitive.h - schedule primitives: one table for the C API, scripts, help.
 *
 * A primitive is a command with typed arguments that changes a loop program or
 * refuses with a diagnostic.  po_apply makes it atomic: it works on a copy of
 * the program, checks the copy against the dependences and only then puts it
 * in the place of the original, so that a refusal leaves everything as it was.
 *
 * Primitives themselves check their preconditions of form (what they need to
 * make sense of the request) and leave the order of instances to the gate. */
#ifndef POLY_SCHEDULE_PRIMITIVE_H
#define POLY_SCHEDULE_PRIMITIVE_H

#include "poly/depend/depend.h"

typedef enum po_arg_kind {
  PO_ARG_END,
  PO_ARG_LOOP,  /* a loop's name, NAME of a result, or STMT.NAME */
  PO_ARG_LOOPS, /* [a, b, c], or STMT [a, b, c] */
  PO_ARG_NODE,  /* a loop or a statement */
  PO_ARG_STMT,  /* a statement's name, or the array it computes: then all
                   statements that write it are meant */
  PO_ARG_STMTS, /* [S0, S1] */
  PO_ARG_ARRAY,
  PO_ARG_INT,
  PO_ARG_INTS, /* [4, -1] */
  PO_ARG_WORD, /* shared, local, threadIdx.x, mask, ... */
  PO_ARG_TEXT, /* "..." */
  PO_ARG_AT    /* `at LOOP`; optional */
} po_arg_kind;

typedef struct po_arg {
  po_arg_kind kind;
  bs_span span;
  uint32_t node;  /* PO_ARG_LOOP, PO_ARG_NODE, PO_ARG_AT */
  uint32_t stmt;  /* PO_ARG_STMT; stmts of one array: the first */
  uint32_t array; /* PO_ARG_ARRAY; PO_ARG_STMT by its array; else
                     PO_NO_NODE */
  int64_t number;
  const char *word;
  uint32_t n; /* of the lists */
  const uint32_t *nodes;
  const int64_t *numbers;
} po_arg;

#define PO_MAX_ARGS    8
#define PO_MAX_OPTIONS 10
#define PO_MAX_RESULTS 16

typedef struct po_step_call {
  const struct po_primitive *primitive;
  bs_span span;                        /* of the command */
  po_arg args[PO_MAX_ARGS];            /* kind PO_ARG_END where left out */
  const char *options[PO_MAX_OPTIONS]; /* values; NULL where left out */
  /* Names asked for on the left, "" where none; n_results is the number given;
   * what was made is put in `made`: loops by node. */
  const char *results[PO_MAX_RESULTS];
  uint32_t n_results;
  uint32_t made[PO_MAX_RESULTS], n_made;
  /* Where the pair goes that a refusal is about, with texts that live as long
   * as the diagnostics; NULL: nobody asks. */
  po_violation *violation;
} po_step_call;

typedef struct po_primitive {
  const char *name;
  po_arg_kind args[PO_MAX_ARGS];
  uint32_t n_needed;                   /* of args; the others may be left out */
  const char *options[PO_MAX_OPTIONS]; /* NAME of NAME=value */
  const char *usage;                   /* "i0, i1 = split LOOP [FACTOR...]" */
  const char *effect;                  /* one line */
  /* Changes the program; false with a diagnostic. */
  bool (*apply)(po_program *, po_step_call *);
  bool keeps_order;  /* no new order of old instances: the gate is skipped */
  bool keeps_values; /* it compares the flow of values itself: the gate looks
                        at marks and folds only, of what changed */
  bool open_sizes;   /* it needs no number for a size */
} po_primitive;

extern const po_primitive po_primitives[];
extern const uint32_t po_n_primitives;
const po_primitive *po_primitive_find(const char *name);

/* schedule_apply.c: atomic; *program is replaced on success (the old one is
 * freed, or kept where `undo` is wanted: then *undo owns it). */
bool po_apply(po_program **program, po_step_call *, po_program **undo);
/* A deep copy: same context, source, target and isl; its own arena and pool. */
po_program *po_copy(const po_program *);
/* A copy for a variant of the program's target.  What lowering asks of a
 * target, instructions and memories, is the same in all its variants. */
po_program *po_copy_for(const po_program *, const gs_target *);
/* error at the call's span: "PRIMITIVE: ..." with a code; returns false */
bool po_refuse(const po_program *, const po_step_call *, const char *code,
               const char *format, ...) __attribute__((format(printf, 4, 5)));
/* The refusal that was given is about this pair. */
void po_tell_violation(const po_program *, const po_step_call *,
                       const po_violation *);
/* Refuses with a violation: dependence, pair, counts. */
bool po_refuse_violation(const po_program *, const po_step_call *,
                         const po_violation *);

/* The families, one or more primitives a file, all reached by the table. */
#define PO_APPLY(name) bool po_apply_##name(po_program *, po_step_call *)

/* ---- scripts (script.c) ---- */

typedef struct po_script po_script;
/* Reads and applies a .sched source; `assert`, `print` and `try` included.
 * Text that was printed goes to `out`.  False with diagnostics; the program is
 * then as after the last command that succeeded. */
bool po_run_script(po_program **, uint32_t source, bs_text *out);
/* Runs a script; each command is printed as it was understood, with what it did
 * to the number of instances. */
bool po_explain_script(po_program **, uint32_t source, bs_text *out);
/* loops, program, tree, axes, deps, script; false for another word. */
bool po_print_named(po_program *, const char *what, bs_text *out);
/* The normal form of what was applied so far: replaying it on the unscheduled
 * program gives the same nest. */
void po_print_script(po_program *, bs_text *out);

#endif
