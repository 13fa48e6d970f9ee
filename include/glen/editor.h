/* SPDX-License-Identifier: MIT */
/* editor.h - source files while they are edited: for editors and their servers.
 *
 * A document is a .glen, .rules, .target or .sched file, read as far as it
 * goes, faults and all.  It lives as long as its context; make a new context
 * for a new text.  Places are bytes of the text, [lo, hi). */
#ifndef GLEN_EDITOR_H
#define GLEN_EDITOR_H

#include "glen/glen.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct glen_document glen_document;

typedef struct glen_place {
  const char *path;
  size_t lo, hi;
} glen_place;

/* Whether the path ends as the files of a language do. */
GLEN_API bool glen_is_source(const char *path);
/* From now on this file holds this text, whatever is on the disk. */
GLEN_API bool glen_overlay(glen_context *, const char *path, const char *text,
                           size_t size);
/* target: declares the instructions; may be NULL.  NULL with diagnostics when
 * there is nothing to read. */
GLEN_API glen_document *glen_document_read(glen_context *, const glen_target *,
                                           const char *path);

typedef struct glen_finding {
  const char *severity; /* "error", "warning", "note" */
  const char *code;     /* NULL: a note to the finding before */
  const char *message;
  const char *hint; /* or NULL */
  glen_place place; /* path NULL: none */
} glen_finding;

GLEN_API const glen_finding *glen_document_findings(glen_document *,
                                                    uint32_t *n);

/* A form of the document that defines a name. */
typedef struct glen_symbol {
  const char *name;
  const char *head; /* "let", "rule", ... */
  glen_place name_place, form;
  uint32_t parent; /* index + 1 of the symbol around it, or 0 */
} glen_symbol;

GLEN_API const glen_symbol *glen_document_symbols(glen_document *, uint32_t *n);

/* Markdown about what stands at a byte, NULL when nothing is known of it. */
GLEN_API const char *glen_document_hover(glen_document *, size_t at,
                                         glen_place *what);
/* Where what is named there is defined; lo and hi are 0 for a whole file. */
GLEN_API bool glen_document_definition(glen_document *, size_t at,
                                       glen_place *out);

/* A place that means the same as another. */
typedef struct glen_use {
  glen_place place; /* the word */
  glen_place name;  /* what another name would take the place of, without ?,
                       $, : and what says a direction */
  bool definition;
} glen_use;

/* All places that mean what stands at a byte of a file that was read with the
 * document (path NULL: of its own), in every file that was.  NULL where nothing
 * of a definition is named there; of schedule scripts nothing is told. */
GLEN_API const glen_use *glen_document_uses(glen_document *, const char *path,
                                            size_t at, uint32_t *n);
/* Why what stands at a byte of the document cannot be given that name; NULL: it
 * can. */
GLEN_API const char *glen_document_refuses(glen_document *, size_t at,
                                           const char *name);

/* What a finding says was perhaps meant. */
typedef struct glen_fix {
  uint32_t finding; /* its index among the findings */
  glen_place place; /* of what is to be replaced */
  const char *text;
} glen_fix;

GLEN_API const glen_fix *glen_document_fixes(glen_document *, uint32_t *n);

typedef struct glen_completion {
  const char *label;
  const char *kind;   /* "operator", "instruction", "function", "form", "name",
                         "variable", "constant" */
  const char *detail; /* how it is written, or its type */
  const char *doc;    /* a sentence, or "" */
} glen_completion;

/* What may stand at a byte instead of `replaced`, the word before it. */
GLEN_API const glen_completion *glen_document_complete(glen_document *,
                                                       size_t at, uint32_t *n,
                                                       glen_place *replaced);
/* The document in its one form; NULL with diagnostics when its parentheses do
 * not match. */
GLEN_API const char *glen_document_format(glen_document *, size_t *size);

#ifdef __cplusplus
}
#endif

#endif
