/* SPDX-License-Identifier: MIT */
/* context.h - the context: memory, limits, diagnostics, versions, files.
 *
 * A part of glen.h. */
#ifndef GLEN_CONTEXT_H
#define GLEN_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glen/version.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define GLEN_API __attribute__((visibility("default")))
#else
#define GLEN_API
#endif

typedef struct glen_context glen_context;
typedef struct glen_target glen_target;
typedef struct glen_program glen_program;
typedef struct glen_rules glen_rules;
typedef struct glen_result glen_result; /* of a saturation */
typedef struct glen_loops glen_loops;   /* a lowered program */
typedef struct glen_tensors glen_tensors;
typedef struct glen_kernel glen_kernel; /* loaded into this process */

/* Exit codes of the command line, and the kind of a failure. */
typedef enum glen_status {
  GLEN_OK = 0,
  GLEN_BAD_INPUT = 1,
  GLEN_USAGE = 2,
  GLEN_LIMIT = 3,   /* a limit was hit where saturation was required */
  GLEN_REFUTED = 4, /* a mismatch, or an unsound rule */
  GLEN_INTERNAL = 70
} glen_status;

/* ---- context ---- */

typedef struct glen_allocator {
  /* size 0 frees; may return NULL */
  void *(*realloc)(void *ctx, void *block, size_t size);
  void *ctx;
} glen_allocator;

/* NULL allocator: libc.  memory_limit in bytes, 0 for none.  NULL when even
 * the context does not fit. */
GLEN_API glen_context *glen_context_new(const glen_allocator *,
                                        size_t memory_limit);
GLEN_API void glen_context_free(glen_context *);
/* Frees the texts that functions have returned so far: those of programs,
 * targets, results, loops, code and reports, and diagnostics that were taken.
 * Names stay.  A program that keeps one context for thousands of requests calls
 * it, and glen_clear_diagnostics, after each. */
GLEN_API void glen_free_strings(glen_context *);
/* What is done with the context from now on takes so many seconds and makes the
 * process no larger than so many bytes; 0: no limit.  What can be cut short is,
 * with a warning "time-limit" or "memory-limit" that says what was done
 * instead; else the function fails with a diagnostic of that code and
 * GLEN_LIMIT, and the context may only be freed. */
GLEN_API void glen_limit(glen_context *, double seconds, size_t bytes);
/* Three quarters of the memory there is for this process, by the machine and by
 * the limits of its control groups. */
GLEN_API size_t glen_default_memory_limit(void);
/* Asks what is running to stop and give what it has: a saturation, an
 * extraction, a search, tests; or to end: a compiler, generated code.  Asked
 * again, these are killed.  False when nothing of that kind is running.  Safe
 * in a signal handler. */
GLEN_API bool glen_interrupt(glen_context *);
/* Ends child processes and removes files that would stay behind: for the
 * handler of a signal that is about to end the program. */
GLEN_API void glen_abandon(const glen_context *);
/* From now on no C compiler is called and no generated code runs: what would
 * fails with "no-native" (GLEN_USAGE).  To be called before anything else. */
GLEN_API void glen_forbid_native(glen_context *);
/* Of the library that runs; what it was compiled with: GLEN_VERSION and
 * GLEN_VERSION_NUMBER. */
GLEN_API const char *glen_version(void);
GLEN_API int glen_version_number(void);
/* The name that was perhaps meant by a word; NULL when none is near. */
GLEN_API const char *glen_nearest(const char *word, const char *const *names,
                                  size_t n);
/* Features and libraries, a line each. */
GLEN_API const char *glen_version_details(glen_context *);

typedef enum glen_diag_format {
  GLEN_DIAG_TEXT,
  GLEN_DIAG_COLOR,
  GLEN_DIAG_JSON
} glen_diag_format;

/* The diagnostics since the last call, rendered; "" when there are none.  Of
 * more than 20 errors between two calls, and of more than 20 warnings, those
 * after are only counted. */
GLEN_API const char *glen_take_diagnostics(glen_context *, glen_diag_format);
GLEN_API uint32_t glen_error_count(const glen_context *);

typedef enum glen_severity {
  GLEN_ERROR,
  GLEN_WARNING,
  GLEN_NOTE
} glen_severity;

typedef struct glen_diagnostic {
  size_t size; /* of this struct, as the library has it */
  glen_severity severity;
  const char *code;              /* stable, as "type-mismatch"; "" of notes */
  const char *message, *hint;    /* hint "": there is none */
  const char *file;              /* "": it has no place */
  uint32_t line, column;         /* from 1, in characters; 0: no place */
  uint32_t end_line, end_column; /* behind its last character */
  uint32_t begin, end;           /* the same in bytes from 0 */
} glen_diagnostic;

/* Diagnostics as values: how many there are since they were cleared, whether
 * taken or not; and one of them, valid until they are cleared.  False where
 * there is none. */
GLEN_API uint32_t glen_diagnostics(const glen_context *);
GLEN_API bool glen_diagnostic_at(const glen_context *, uint32_t k,
                                 glen_diagnostic *out);
/* Forgets them, and frees them and the texts of objects that are gone. */
GLEN_API void glen_clear_diagnostics(glen_context *);
/* GLEN_BAD_INPUT, or what the last failure was. */
GLEN_API glen_status glen_failure(const glen_context *);

/* ---- files ---- */

/* Written whole or not at all; unchanged content leaves the file untouched;
 * "-" is stdout. */
GLEN_API bool glen_write_file(glen_context *, const char *path,
                              const void *data, size_t size);
/* Between these two files are written together: all are there in the end, or,
 * false with diagnostics, all as they were.  None may be one that was read, or
 * another of them (GLEN_USAGE).  Without the second none is written. */
GLEN_API bool glen_outputs_begin(glen_context *);
GLEN_API bool glen_outputs_commit(glen_context *);
/* Makes the commit give a file, or all where path is NULL, the time of the
 * commit, though it may hold already what is written: for tools that compare
 * times. */
GLEN_API bool glen_outputs_touch(glen_context *, const char *path);
/* At once, and over what was read: for programs that edit files. */
GLEN_API bool glen_replace_file(glen_context *, const char *path,
                                const void *data, size_t size);
/* Do both paths name one file, or the same place for one?  Links are
 * followed; devices, pipes and "-" are no files. */
GLEN_API bool glen_same_file(const char *a, const char *b);

#ifdef __cplusplus
}
#endif

#endif
