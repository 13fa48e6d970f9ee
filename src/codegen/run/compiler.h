/* SPDX-License-Identifier: MIT */
/* compiler.h - the C compiler as a child process.
 *
 * One that fails is tried once more without OpenMP and -march, which it may
 * lack. */
#ifndef CODEGEN_COMPILER_H
#define CODEGEN_COMPILER_H

#include "base/vec.h"
#include "codegen/run/process.h"

typedef BS_VEC(const char *) cg_words;

typedef struct cg_compiler {
  const gs_context *ctx;
  const char *cc;             /* a command with options; NULL: $CC, then cc */
  const char *const *options; /* of both tries */
  uint32_t n_options;
  const char *march, *narrow; /* NULL: none */
  const char *const *flags;   /* of the user: they come last */
  uint32_t n_flags;
  const char *const *files; /* C that is compiled */
  uint32_t n_files;
  const char *output;
} cg_compiler;

/* The command, "cc" where nothing names one. */
const char *cg_compiler_name(const char *cc);
/* The words of a command. */
void cg_put_words(const gs_context *, const char *command, cg_words *);
/* Of the first try, all but output and files. */
void cg_put_command(const cg_compiler *, cg_words *);
/* Both tries; how the first one ended where the second is no better.  What they
 * say is in the logs. */
cg_result cg_compile(const cg_compiler *, const cg_watch *, const char *log,
                     const char *second);
/* Says why it failed; false. */
bool cg_report_compiler(const cg_compiler *, const cg_watch *, cg_result,
                        const char *log);
/* Says that a child did not end within the limits; false. */
bool cg_report_late(const gs_context *, const cg_watch *, const char *code,
                    const char *what);

#endif
