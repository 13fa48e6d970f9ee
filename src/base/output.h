/* SPDX-License-Identifier: MIT */
/* output.h - several files as one transaction, and what must not stay behind.
 *
 * Between bs_outputs_begin and bs_outputs_commit bs_file_write writes temporary
 * files beside their places; the commit puts all of them there, or none.  What
 * is temporary, a child process among it, is listed, so that the handler of a
 * signal can end it without allocating. */
#ifndef BASE_OUTPUT_H
#define BASE_OUTPUT_H

#include "base/diag.h"
#include <signal.h>
#include <sys/types.h>

typedef enum bs_kind_of_temporary {
  BS_TEMPORARY_FILE,
  BS_TEMPORARY_DIRECTORY, /* empty when those listed after it are gone */
  BS_TEMPORARY_CHILD
} bs_kind_of_temporary;

typedef struct bs_temporary {
  struct bs_temporary *next; /* older */
  bs_kind_of_temporary kind;
  const char *path;
  volatile pid_t child;
  volatile sig_atomic_t live; /* 0: gone, or what it was to be */
} bs_temporary;

/* Lists one that is not live yet; lives with the diagnostics. */
bs_temporary *bs_temporary_new(bs_diags *, bs_kind_of_temporary,
                               const char *path);
/* Ends all that is live, newest first.  Safe in a signal handler; children have
 * a second to tidy up. */
void bs_remove_temporaries(const bs_diags *);

/* Signals that end a program wait between these two: what was made and is not
 * listed yet would stay. */
void bs_hold_signals(sigset_t *old);
void bs_release_signals(const sigset_t *old);

void bs_outputs_begin(bs_diags *);
/* All files are there with their new content; or, false with a diagnostic, as
 * they were, as far as the file system allows. */
bool bs_outputs_commit(bs_diags *);
/* Removes what was written. */
void bs_outputs_drop(bs_diags *);
/* file.c: the temporary file beside `path` is complete, and takes its place in
 * the end. exists: there is a file now. */
void bs_outputs_add(bs_diags *, const char *path, bs_temporary *, bool exists);
/* Whether a file may be written: false with a diagnostic ("overwritten") where
 * the transaction has it already, or it was read, or a source names it. */
bool bs_outputs_allow(bs_diags *, const char *path);

/* Do both name one file, or the same place for one that is not there yet?
 * Links are followed; devices, pipes and stdout are nobody's. */
bool bs_same_file(const char *a, const char *b);

/* For tests: called before each "open", "write", "link", "rename" and "touch"
 * of a file, which fails with the errno that it returns. */
typedef int bs_file_fault(void *ctx, const char *step);
void bs_let_files_fail(bs_diags *, bs_file_fault *, void *ctx);
/* 0, or the errno of a step that is to fail. */
int bs_file_step(const bs_diags *, const char *step);

typedef struct bs_output {
  const char *path;
  bs_temporary *temporary, *backup; /* NULL: none */
  bool existed, placed;
} bs_output;

typedef struct bs_outputs {
  BS_VEC(bs_output) list;
  bool open;             /* files wait for the commit */
  bool touch_all;        /* they get the time of the commit, */
  const char *touch_one; /* or this one does, unless it is NULL */
  bs_file_fault *fault;
  void *fault_ctx;
} bs_outputs;

#endif
