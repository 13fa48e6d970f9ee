/* SPDX-License-Identifier: MIT */
/* diag.h - sources, spans and diagnostics.
 *
 * The library never prints.  A fault in the input becomes a diagnostic with a
 * span, kept in order in a `bs_diags`; the caller renders them.  Columns count
 * characters (UTF-8 code points) from 1, lines from 1. */
#ifndef BASE_DIAG_H
#define BASE_DIAG_H

#include "base/arena.h"
#include "base/text.h"
#include "base/vec.h"

typedef struct bs_span {
  uint32_t file;   /* index + 1 into the sources; 0 = no place */
  uint32_t lo, hi; /* byte offsets, [lo, hi) */
} bs_span;

#define BS_NOWHERE ((bs_span){0, 0, 0})

typedef struct bs_source {
  const char *path;          /* as the user wrote it */
  const char *text;          /* NUL-terminated */
  uint32_t size;             /* bytes, at most 2^31 */
  uint32_t *lines;           /* ends of lines before each block of the text */
  bool unused;               /* of an object that is gone: bs_sources_forget */
  char *own_path, *own_text; /* on the heap, or NULL: an overlay's text */
} bs_source;

/* Bytes of a block. */
enum { BS_SOURCE_BLOCK = 4096 };

/* A text that stands for a file. */
typedef struct bs_overlay {
  const char *path, *real; /* as given; resolved */
  const char *text;
  uint32_t size;
} bs_overlay;

typedef enum bs_severity { BS_ERROR, BS_WARNING, BS_NOTE } bs_severity;

typedef struct bs_diag {
  bs_severity severity;
  const char *code; /* stable, e.g. "type-mismatch"; a string literal */
  bs_span span;
  const char *message; /* one line, no final stop */
  const char *hint;    /* one line or NULL */
  const char *fix;     /* what the word at the place, or the head of the list
                          there, was perhaps meant to be; or NULL */
} bs_diag;

typedef struct bs_diags {
  bs_heap *heap;
  bs_arena arena;    /* paths, overlays */
  bs_arena messages; /* of the list: bs_diags_clear */
  BS_VEC(bs_source) sources;
  BS_VEC(bs_overlay) overlays;
  BS_VEC(const char *) folders; /* listed for what is in them */
  BS_VEC(const char *) named;   /* files that sources name: bs_note_file */
  BS_VEC(bs_diag) list;
  uint32_t errors, warnings;
  uint32_t errors_taken, warnings_taken; /* bs_diags_taken */
  uint32_t limit; /* errors kept, and warnings, that were not taken; later ones
                     are only counted, their hints and notes dropped (20) */
  bool dropped;   /* the last error or warning was one too many */
  bool unread;    /* all is taken back later: messages need not say much */
  struct bs_outputs *outputs;       /* output.h; NULL: none are waiting */
  struct bs_temporary *temporaries; /* newest first */
  bool no_children;       /* no process is started: codegen/process.h */
  struct bs_diags *outer; /* bs_diags_init_within; else NULL */
} bs_diags;

void bs_diags_init(bs_diags *, bs_heap *);
/* For messages that the outer ones do not show.  What is temporary is listed by
 * the outer ones, where a signal finds it, and no process is started where they
 * forbid it.  They live longer. */
void bs_diags_init_within(bs_diags *, bs_heap *, bs_diags *outer);

static inline bs_diags *
bs_outermost(bs_diags *d) {
  while (d->outer)
    d = d->outer;
  return d;
}

/* What was told up to now; going back to it forgets what came after. */
typedef struct bs_moment {
  uint32_t len, errors, warnings;
  bool dropped;
} bs_moment;

static inline bs_moment
bs_moment_of(const bs_diags *d) {
  return (bs_moment){d->list.len, d->errors, d->warnings, d->dropped};
}

static inline void
bs_go_back(bs_diags *d, bs_moment m) {
  d->list.len = m.len;
  d->errors = m.errors;
  d->warnings = m.warnings;
  if (d->errors_taken > m.errors)
    d->errors_taken = m.errors;
  if (d->warnings_taken > m.warnings)
    d->warnings_taken = m.warnings;
  d->dropped = m.dropped;
}

/* All that was told was read: what follows has the whole limit. */
static inline void
bs_diags_taken(bs_diags *d) {
  d->errors_taken = d->errors;
  d->warnings_taken = d->warnings;
}

/* Forgets all that was told, and frees it. */
void bs_diags_clear(bs_diags *);

/* Reads a file, "-" (stdin) or a pipe that is open (base/file.h).  Returns its
 * index + 1; 0 with a diagnostic (code "no-file", "too-large", "not-text") on
 * failure. */
uint32_t bs_source_read(bs_diags *, const char *path, bs_span from);
/* Sets the hint of the diagnostic added last, where the path of a file that
 * cannot be read is an address of the web. */
void bs_hint_address(bs_diags *, const char *path);
/* A source from memory (copied). */
uint32_t bs_source_add(bs_diags *, const char *path, const char *text,
                       size_t size);
/* What was made of a source from memory is gone.  It is freed by the latter,
 * for which no diagnostic may be left. */
void bs_source_unused(bs_diags *, uint32_t index);
void bs_sources_forget(bs_diags *);
/* From now on reading this file, by whatever path, gives this text (copied);
 * false with a diagnostic when it is too large. */
bool bs_overlay_set(bs_diags *, const char *path, const char *text,
                    size_t size);
void bs_position(const bs_diags *, bs_span, uint32_t *line, uint32_t *column);

/* Adds a diagnostic; texts are formatted into the arena.  Returns false, so
 * that a caller may `return bs_error(...)`. */
bool bs_error(bs_diags *, bs_span, const char *code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void bs_warning(bs_diags *, bs_span, const char *code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void bs_note(bs_diags *, bs_span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Sets the hint of the diagnostic added last. */
void bs_hint(bs_diags *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Sets its hint to "did you mean `TEXT`?", and its fix; `quote` stands around
 * the text. */
void bs_meant(bs_diags *, const char *quote, const char *text);
/* Sets its fix alone. */
void bs_fix(bs_diags *, const char *text);

/* `path:line:col: error: message [code]`, the source line, a caret, the hint */
void bs_render(const bs_diags *, const bs_diag *, bool color, bs_text *out);
/* One JSON object on one line, newline included; what has no place: null. */
void bs_render_json(const bs_diags *, const bs_diag *, bs_text *out);
/* `path:line` of a span, or "" */
void bs_put_place(const bs_diags *, bs_span, bs_text *out);
/* The nearest of `n` names by edit distance, or NULL when none is near. */
const char *bs_nearest(const char *word, const char *const *names, size_t n);
/* Sets the hint of the diagnostic added last to the nearest name or else, if
 * they are few, to all of them. */
void bs_hint_names(bs_diags *, const char *word, const char *const *names,
                   size_t n);

#endif
