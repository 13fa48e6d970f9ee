/* SPDX-License-Identifier: MIT */
/* session.h - one question being decided (private to this folder).
 *
 * All memory of a session is on a heap of its own, which is given back when it
 * is over. */
#ifndef PROVE_SESSION_H
#define PROVE_SESSION_H

#include "prove/session/session_prove.h"

typedef struct pv_pair {
  gs_term left, right;
} pv_pair;

#define PV_EVERYWHERE (-1) /* an element: all of them */

/* An element of an input, or of a term that is taken for one. */
typedef struct pv_wire {
  gs_term source; /* in the plain program */
  int64_t element;
} pv_wire;

/* What may tell both sides apart, and is run first. */
typedef struct pv_hint {
  uint32_t n;
  const pv_wire *wires;
  const double *values;
  bool certain; /* when it does not, something is wrong */
} pv_hint;

typedef struct pv_session {
  gs_context ctx;          /* of the session */
  const gs_context *outer; /* where the answer lives */
  const pv_options *options;
  gs_program *given;                  /* both sides, calls kept */
  gs_program *plain;                  /* without calls and materialize */
  const pv_pair *given_pairs, *pairs; /* in `given`, in `plain` */
  uint32_t n_pairs;
  uint8_t *proved; /* by pair */
  uint8_t *facts;  /* by term of `plain`: see pv_partial_terms */
  bool undefined;  /* a term may have no value for some input */
  pv_answer *answer;
  struct pv_confirm *confirm; /* of confirm.c */
  pv_hint hint;               /* n is 0: there is none */
  /* Whether there is a proof that two terms are equal, as a question of its
   * own; prove.c sets it. */
  bool (*proves)(const struct pv_session *, const gs_program *, gs_term,
                 const gs_program *, gs_term);
  struct pv_scan *scans; /* of session_scan.c */
  bool by_induction;     /* over the steps of scans, some were the same */
  bool any_order;        /* as in the answer */
  bool hides_scans;      /* some inputs of `plain` stand for scans: no runs */
} pv_session;

/* session_import.c: copies the terms that `roots` need into `to`.  `plain`:
 * calls are replaced by their meaning, materialize by its operand, scans as
 * below.  NULL with the session's diagnostics when a call has no meaning there;
 * else the copy of each term, by term. */
gs_term *pv_import(pv_session *, const gs_program *from, gs_program *to,
                   const gs_term *roots, uint32_t n, bool plain);
/* That of its name and elements, or a new one, of another name if need be. */
gs_term pv_import_constant(const gs_constant *, gs_program *to, bs_span);
/* session_scan.c: a scan over these terms, in the plain program.  An input that
 * stands for one has a name of several words, of which the first is this where
 * the states may be no numbers. */
#define PV_PARTIAL_SCAN "partial-scan"
gs_term pv_import_scan(pv_session *, const gs_program *from, gs_term scan,
                       const gs_term *kids, gs_fault *);
bool pv_all_proved(const pv_session *); /* audit.c */
bool pv_is_plain(const gs_program *, const uint8_t *live);
/* live[i] = 1 for what the pairs need. */
void pv_mark(const gs_program *, const pv_pair *, uint32_t n, uint8_t *live);

/* polynomial.c: proves pairs element by element where they are small.  True
 * when all were looked at: then relations will find no more. */
bool pv_prove_by_elements(pv_session *);
/* relation.c: proves pairs by relations. */
void pv_prove_by_relations(pv_session *);
/* integer.c: proves pairs of integers by all their values, or as bit-vectors;
 * leaves a hint where they differ.  Sets the answer's method and reason. */
void pv_decide_integers(pv_session *);
/* session_run.c: tries inputs; decides the answer. */
void pv_run(pv_session *);

/* audit.c: whether a run of a copy with smaller sizes, which the argument
 * proves, too, agrees with it; true where there is no such copy, and then it
 * has not said anything. */
bool pv_audit(const pv_session *, void (*prove)(pv_session *), bool *said);

/* A difference of floats: of `element` of a pair, for these inputs of p. */
typedef struct pv_doubt {
  uint32_t pair;
  int64_t element;
  const gs_program *p;
  const gs_tensor *inputs;
  double rel; /* what counts as equal; 0: what rounding may make of it */
} pv_doubt;

/* confirm.c: whether rounding does not explain it.  `again`: the inputs are
 * those of the last call. */
bool pv_is_meant(pv_session *, const pv_doubt *, bool again);
/* Whether a pair rounds because it says so: then rounding, too, may differ. */
bool pv_means_rounding(pv_session *, uint32_t pair);

const char *pv_say(const pv_session *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
