/* SPDX-License-Identifier: MIT */
/* session_prove.h - are two terms equal for every input?
 *
 *   proved    a complete argument over these shapes: floats are taken as the
 *             real numbers and finite, integers as they wrap
 *   refuted   the types differ, or the interpreter gave different results for
 *             an input, which is in the answer
 *   tested    no argument was found; the interpreter agreed on every input
 *   unknown   no argument was found, and the terms are too large to run
 *
 * The arguments (docs/PROVER.md): small terms element by element as
 * polynomials, large ones by the relations between result elements and the
 * elements they are made of, with isl; integers by all their values, or as
 * bit-vectors.  Both are bounded, in work and in
 * memory; nothing here hangs, and what fails is `unknown`. */
#ifndef PROVE_PROVE_H
#define PROVE_PROVE_H

#include "glenside/program/program.h"
#include "glenside/array/tensor.h"
#include "prove/session/session_work.h"

typedef enum pv_verdict {
  PV_PROVED,
  PV_REFUTED,
  PV_TESTED,
  PV_UNKNOWN,
  PV_CHECKED /* of rules alone (prove_rule.h): proved on the shapes looked at */
} pv_verdict;

/* What the verdict rests on. */
typedef enum pv_method {
  PV_BY_TYPES,
  PV_BY_ELEMENTS,
  PV_BY_RELATIONS,
  PV_BY_RUNNING,
  PV_BY_NOTHING,
  PV_BY_STEPS,  /* of a chain between the terms (equal_steps.h) */
  PV_BY_VALUES, /* all values of integers, each of which was tried */
  PV_BY_BITS    /* as bit-vectors, by Z3 */
} pv_method;

typedef struct pv_input {
  const char *name;
  gs_tensor tensor; /* in the context's arena */
} pv_input;

typedef struct pv_answer {
  pv_verdict verdict;
  pv_method method;
  const char *reason; /* one line; in the context's arena */
  uint32_t output;    /* of two programs: the one the verdict is about */
  uint32_t runs;      /* inputs tried */
  bool any_order;     /* proved if floats of 16 bits may be added and multiplied
                         in any order, as the reason then says */
  /* Refuted by running: the element, both values, and the inputs.  By steps:
   * those of the sub-terms of the step that is wrong. */
  uint32_t rank;
  int64_t index[GS_MAX_RANK];
  double left, right;
  const pv_input *inputs;
  uint32_t n_inputs;
} pv_answer;

typedef struct pv_options {
  uint64_t seed;
  uint32_t runs;           /* inputs to try */
  int64_t max_elements;    /* of all terms, for polynomials; 0: never */
  uint64_t max_work;       /* of the polynomials */
  uint64_t max_operations; /* of isl; 0: no relations */
  int64_t max_run;         /* element visits of all runs; 0: no runs */
  size_t max_bytes;
  struct pv_memo *memo; /* NULL: each question has its own */
  pv_counts *counts;    /* what is done is added up there; or NULL */
  /* Whether an input of this name may be infinite, or NaN; NULL: none is. */
  bool (*is_partial)(const char *input);
} pv_options;

/* What was decided of integers, for questions with the same bs_values: kept on
 * the heap, with which it goes. */
typedef struct pv_memo pv_memo;
pv_memo *pv_memo_new(bs_heap *);

void pv_defaults(pv_options *);
/* What follows a reason if the proof takes that for granted. */
#define PV_ANY_ORDER ", with 16-bit floats summed in any order"

/* partial.c: what is known of a float term for all inputs: that it may be
 * infinite or NaN, and the sign that it has wherever it is a number.  `facts`
 * by term; `is_partial` as in the options. */
enum { PV_PARTIAL = 1, PV_NONNEGATIVE = 2, PV_POSITIVE = 4 };
/* Of what an `o` item makes of operands of a dtype that have `all` facts in
 * common; the last one, a divisor, has its own. */
uint8_t pv_operator_facts(const bs_values *, bs_value o, gs_dtype from,
                          uint8_t all, uint8_t divisor);
void pv_partial_terms(const gs_program *, bool (*is_partial)(const char *),
                      uint8_t *facts);

/* Two terms of one program.  The answer's texts are in ctx->arena. */
void pv_equal_terms(const gs_context *, const gs_program *, gs_term, gs_term,
                    const pv_options *, pv_answer *);
/* Two programs: inputs by name, outputs in order.  The worst verdict of all
 * outputs: refuted, unknown, tested, proved. */
void pv_equal_programs(const gs_context *, const gs_program *,
                       const gs_program *, const pv_options *, pv_answer *);

static inline bool
pv_has_difference(const pv_answer *a) {
  return a->verdict == PV_REFUTED &&
         (a->method == PV_BY_RUNNING || a->method == PV_BY_STEPS);
}

const char *pv_verdict_name(pv_verdict);
const char *pv_method_name(pv_method);
/* The worse a verdict, the more: of several answers, the one that counts. */
uint32_t pv_verdict_weight(pv_verdict);
/* One line; and the inputs of a refutation as lines of their own. */
void pv_put_answer(bs_text *, const pv_answer *);

#endif
