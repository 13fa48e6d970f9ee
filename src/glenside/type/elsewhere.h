/* SPDX-License-Identifier: MIT */
/* elsewhere.h - what other languages call what this one has: hints for those
 * who come from there. */
#ifndef GLENSIDE_ELSEWHERE_H
#define GLENSIDE_ELSEWHERE_H

#include "base/diag.h"

typedef enum gs_word_place {
  GS_AS_FORM,      /* of a program */
  GS_AS_TERM,      /* heads a term */
  GS_AS_RULE_TERM, /* of a rule or an instruction */
  GS_AS_COMPUTE,   /* behind compute */
  GS_AS_ARITY,     /* an operator, with other arguments than it takes */
  GS_AS_DTYPE,
  GS_AS_RULE_FORM,
  GS_AS_RULE_CLAUSE,
  GS_AS_TARGET_FORM, /* of a target file, or an item of (target ...) */
  GS_AS_INSTR_PART
} gs_word_place;

/* Sets the hint of the diagnostic added last to what is to be written instead;
 * false: such a word, or none (NULL), says nothing there. */
bool gs_hint_elsewhere(bs_diags *, gs_word_place, const char *word);
/* Sets the hint to how a variable of rules of that name is written, if it may
 * be meant as one. */
void gs_hint_variable(bs_diags *, const char *word);
/* What a file of this name is, where it holds no program: what to do with it.
 * Never NULL. */
const char *gs_elsewhere_file(const char *path);

#endif
