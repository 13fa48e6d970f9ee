/* SPDX-License-Identifier: MIT */
/* tune.h - strategies measured: built, run on the same input, the fastest kept.
 *
 * Every strategy of poly/strategy becomes C, an executable and runs of it in
 * child processes with a time limit.  Runs go in rounds, one run of each
 * candidate a round, so that what else the machine does falls on all alike; a
 * candidate's time is its fastest call.  The first candidate, the program as
 * it stands, says what is right: one whose output differs is an error and is
 * never chosen.
 *
 * What was measured is kept in a file (record.c) after every run, under a key
 * made of all that a time depends on: program, target, compiler and flags,
 * threads, seed, and the version of glen.  A search that was stopped goes on
 * where it was. */
#ifndef TUNE_TUNE_H
#define TUNE_TUNE_H

#include "base/json.h"
#include "codegen/run/run_build.h"
#include "poly/strategy/strategy.h"

typedef enum tu_status {
  TU_NEW,     /* not run yet */
  TU_OK,      /* `seconds` holds after `rounds` runs */
  TU_SLOW,    /* the compiler or a run did not end in time */
  TU_FAILED,  /* did not compile, or ended by itself with an error */
  TU_MISMATCH /* other output than the first candidate's */
} tu_status;

#define TU_STATUSES (TU_MISMATCH + 1)
extern const char *const tu_status_names[TU_STATUSES];

typedef struct tu_candidate {
  po_strategy strategy;
  const char *code; /* hash of the C text, 16 hexadecimal digits */
  tu_status status;
  double seconds; /* of the fastest call; 0 while there was none */
  uint32_t rounds;
  const char *message; /* why it was not measured, or NULL */
  po_program *program;
  cg_built *built;
} tu_candidate;

typedef struct tu_progress {
  uint32_t round, rounds, candidate, candidates;
  const char *name, *doing; /* "build", "run" */
  double best;              /* seconds; 0: none yet */
} tu_progress;

typedef struct tu_options {
  cg_build_options build;
  uint32_t candidates, rounds;
  double seconds;   /* limit of one compilation, and of one run */
  double tolerance; /* of outputs, relative */
  const char *file; /* of results; NULL: none */
  const char *version;
  const char *program_name; /* for people, in the file */
  uint64_t seed;            /* of the inputs, for the key */
  void (*progress)(const void *ctx, const tu_progress *);
  const void *progress_ctx;
} tu_options;

typedef struct tu_search {
  const gs_context *ctx;
  const po_program *program;
  const tu_options *options;
  const char *key, *compiler;
  BS_VEC(tu_candidate) list;
  uint32_t best;
  uint32_t resumed; /* candidates that the file knew already */
  bool stopped;     /* by the interrupt: the best so far is the answer */
  bool wrong;       /* some output differed */
  const gs_tensor *inputs;
  gs_tensor *expected;
  gs_tensor *bounds; /* of rounding; NULL until they are wanted */
} tu_search;

/* Measures; the search holds the answer.  False with diagnostics: the file is
 * no file of results, or the program as it stands does not run. */
bool tu_measure(tu_search *, const po_program *, const gs_tensor *inputs,
                const tu_options *);
void tu_done(tu_search *);

/* record.c: what the file knows goes into the search's candidates.  False with
 * a diagnostic where it cannot be read. No file is an empty one. */
bool tu_read_record(tu_search *);
bool tu_write_record(const tu_search *);

/* tune_report.c */
void tu_put_report(const tu_search *, bs_text *);
void tu_json_report(const tu_search *, bs_text *);

#endif
