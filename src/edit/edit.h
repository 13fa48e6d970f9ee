/* SPDX-License-Identifier: MIT */
/* edit.h - a source file as its author sees it, faults and all.
 *
 * A document is one file of a language, read as far as it goes: its findings,
 * the symbols it and the files it includes define, what is meant at a place.
 * Places are bytes.  Nothing is written to the disk; texts that are not saved
 * are overlays (base/diag.h). */
#ifndef EDIT_EDIT_H
#define EDIT_EDIT_H

#include "base/sexp.h"
#include "glenside/text/define.h"
#include "glenside/program/program.h"
#include "glenside/target/target.h"
#include "rules/rule/rules.h"

typedef struct ed_document ed_document;

/* A form that gives its second item a meaning: (let NAME ...). */
typedef struct ed_form {
  const char *head;
  const char *within; /* NULL: at the top; else the head around it */
  const char *usage;
} ed_form;

typedef struct ed_completions ed_completions;

/* What is asked of a language whose texts are no lists. */
typedef struct ed_questions {
  bool (*hover)(const ed_document *, uint32_t at, bs_text *, bs_span *what);
  bool (*definition)(const ed_document *, uint32_t at, const char **path,
                     bs_span *out);
  void (*complete)(const ed_document *, uint32_t at, ed_completions *);
} ed_questions;

typedef struct ed_language {
  const char *suffix;
  const ed_form *forms;
  uint32_t n_forms;
  bool variables; /* ?x are names, within one form of the top */
  void (*read)(ed_document *);
  const ed_questions *questions; /* NULL: lists, as everywhere else */
} ed_language;

/* NULL: the suffix is none of ours. */
const ed_language *ed_language_of(const char *path);
/* The form, or NULL; `within` as in the table. */
const ed_form *ed_find_form(const ed_language *, const char *head,
                            const char *within);

typedef struct ed_symbol {
  const char *name;
  const char *head; /* of its form: "let" */
  bs_span name_span, form;
  bs_span scope;   /* file 0: seen everywhere */
  uint32_t parent; /* index + 1 of the symbol whose form it stands in, or 0 */
  uint32_t n_items;
} ed_symbol;

struct ed_document {
  const gs_context *ctx;
  const gs_target *target;
  const ed_language *language;
  const char *path;
  uint32_t raw; /* the source as it is */
  BS_VEC(bs_span) damaged;
  BS_VEC(bs_diag) findings;   /* of this document, with their notes */
  BS_VEC(ed_symbol) symbols;  /* in order of the sources */
  gs_program *program;        /* of a .glen file; may be NULL */
  gs_places places;           /* of its terms */
  gs_definitions definitions; /* that it may use */
  const gs_target *described; /* by a .target file; may be NULL */
  rl_rules *rules;            /* of a .rules file; may be NULL */
};

/* NULL with diagnostics when the file cannot be read or is none of ours. */
ed_document *ed_open(const gs_context *, const gs_target *, const char *path);

/* Whether a span is in the document's own text. */
bool ed_is_own(const ed_document *, bs_span);

/* edit_repair.c.  When parentheses or strings do not match: faults are
 * diagnostics, the forms they are in go to `damaged`, and an overlay of the
 * same size with what cannot be read blanked out takes the text's place. */
void ed_repair(ed_document *);

/* symbols.c */
void ed_collect_symbols(ed_document *);
/* What a name at a place of the document means, or NULL. */
const ed_symbol *ed_resolve(const ed_document *, const char *name, uint32_t at);

/* cursor.c: what stands at a place of the raw text. */
typedef struct ed_frame {
  uint32_t open;   /* the parenthesis */
  uint32_t lo, hi; /* the head; lo == hi: none */
  uint32_t item;   /* the index of what stands at the place, the head is 0 */
} ed_frame;

typedef struct ed_cursor {
  uint32_t lo, hi; /* the word; lo == hi: none */
  bool comment, string;
  uint32_t form;           /* where the form of the top begins */
  BS_VEC(ed_frame) frames; /* the lists around the place, outermost first */
} ed_cursor;

/* The word that the place is in or, when there is none, just behind. */
void ed_look(const ed_document *, uint32_t at, ed_cursor *out);
void ed_cursor_done(const ed_document *, ed_cursor *);
/* The word, and the head of the list `up` lists out (0: the innermost), as
 * strings of the context's arena; "" when there is none. */
const char *ed_word(const ed_document *, const ed_cursor *);
const char *ed_head(const ed_document *, const ed_cursor *, uint32_t up);
/* The next word from *at on that begins before `limit`; moves *at behind it. */
bool ed_next_word(const ed_document *, uint32_t *at, uint32_t limit,
                  bs_span *out);
/* The first word of the cursor's form that is spelled so. */
bool ed_first_in_form(const ed_document *, const ed_cursor *, const char *word,
                      bs_span *out);

/* hover.c.  Markdown about what stands at a place; false: nothing is known. */
bool ed_hover(const ed_document *, uint32_t at, bs_text *out, bs_span *what);
/* edit_uses.c: every word of a source that names something. */
typedef enum ed_role {
  ED_NO_NAME,
  ED_TERM,       /* a tensor, constant or let of a program */
  ED_INSTR,      /* an instruction; operators and functions look like one */
  ED_RULE,       /* a rule, a set of rules or a strategy */
  ED_PARAMETER,  /* of rules or of a target */
  ED_VARIABLE,   /* ?x of a rule, or of a clause of a test */
  ED_DEFINITION, /* of a program */
  ED_LOCAL       /* a parameter, operand or dimension of an instruction */
} ed_role;

typedef struct ed_use {
  ed_role role;
  bs_span span;  /* the word */
  bs_span name;  /* without ?, $, : and ~rev */
  bs_span scope; /* the form that it means something in; file 0: everywhere */
  bool definition;
} ed_use;

void ed_uses(const ed_document *, uint32_t source,
             void (*each)(void *, const ed_use *), void *arg);

/* references.c */
typedef BS_VEC(ed_use) ed_references;
/* What a place of a file that was read names; path NULL: of the document. */
bool ed_use_at(const ed_document *, const char *path, uint32_t at, ed_use *out);
/* All that means the same, in every file that was read; false: nothing that has
 * a definition. */
bool ed_references_to(const ed_document *, const ed_use *, ed_references *out);
/* Why it cannot have that name; NULL: it can. */
const char *ed_refuses(const ed_document *, const ed_use *, const char *name);
/* Where the fix of a finding would stand; false: it has none. */
bool ed_fix_place(const ed_document *, const bs_diag *, bs_span *out);

/* find.c.  Where what is named at a place is defined. */
bool ed_definition(const ed_document *, uint32_t at, const char **path,
                   bs_span *out);

/* complete.c */
typedef struct ed_completion {
  const char *label;
  const char *kind;   /* "operator", "function", "form", "name", "variable",
                         "constant" */
  const char *detail; /* how it is written, or its type */
  const char *doc;    /* a sentence, or "" */
} ed_completion;

struct ed_completions {
  BS_VEC(ed_completion) list;
  bs_span replaced; /* the word at the place, up to it */
};

void ed_complete(const ed_document *, uint32_t at, ed_completions *out);

/* sched.c: schedule scripts. */
void ed_read_sched(ed_document *);
bool ed_hover_sched(const ed_document *, uint32_t at, bs_text *, bs_span *what);
bool ed_definition_sched(const ed_document *, uint32_t at, const char **path,
                         bs_span *out);
void ed_complete_sched(const ed_document *, uint32_t at, ed_completions *);

/* words.c: what the words of the languages mean. */
typedef struct ed_word_info {
  const char *kind, *usage, *doc; /* doc may be "" */
} ed_word_info;
/* An operator, compute operator, instruction, function, dtype, form. */
bool ed_word_find(const ed_document *, const char *word, const char *around,
                  ed_word_info *out);
/* ((1, 64), (3, 3)) f32 and how many elements and bytes that is. */
const char *ed_type_text(const ed_document *, const gs_type *, bool size);
const char *ed_function_usage(const ed_document *, const gs_function_info *);

#endif
