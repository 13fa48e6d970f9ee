/* SPDX-License-Identifier: MIT */
/* process.h - child processes and the directory they work in. */
#ifndef CODEGEN_PROCESS_H
#define CODEGEN_PROCESS_H

#include "base/output.h"
#include "glenside/type/context.h"

/* A temporary directory below $TMPDIR (else /tmp). */
typedef struct cg_scratch {
  const gs_context *ctx;
  char path[4096]; /* "" when there is none */
} cg_scratch;

/* It and its files are removed when a signal ends the program, until one of the
 * latter two is called. */

bool cg_scratch_make(cg_scratch *, const gs_context *);
void cg_scratch_remove(cg_scratch *); /* with what is in it */
void cg_scratch_keep(cg_scratch *);
/* The path of a file in it (in the arena of the diagnostics). */
const char *cg_scratch_file(const cg_scratch *, const char *name);

typedef enum cg_exit {
  CG_EXIT_OK,
  CG_EXIT_STATUS, /* `code`: not 0 */
  CG_EXIT_SIGNAL, /* `code` */
  CG_EXIT_TIMEOUT,
  CG_EXIT_STOPPED, /* by the interrupt */
  CG_EXIT_NO_START /* `code`: errno */
} cg_exit;

typedef struct cg_result {
  cg_exit exit;
  int code;
} cg_result;

/* When a child is ended before it ends by itself. */
typedef struct cg_watch {
  double time_limit; /* seconds; 0: none */
  double own_limit;  /* of these, what was asked for this child alone */
  const volatile int *interrupt; /* when not 0, at once beyond 1; NULL: never */
  bs_temporary *listed; /* while it runs, for the handler of a signal */
} cg_watch;

/* Runs argv (NULL-terminated; found by PATH), its output going to the file
 * `log`.  setting: "NAME=value" added to the environment, or NULL. */
cg_result cg_run_process(bs_heap *, const char *const *argv, const char *log,
                         const char *const *settings, uint32_t n_settings,
                         const cg_watch *);
/* Lines of a log that are worth showing. */
enum { CG_LOG_LINES = 12 };
/* Notes with the first lines of a log. */
void cg_note_log(const gs_context *, const char *log, uint32_t lines);

#endif
