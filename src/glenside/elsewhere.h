/* SPDX-License-Identifier: MIT */
/* elsewhere.h - what other languages call what this one has: hints for those
 * who come from there. */
#ifndef GLENSIDE_ELSEWHERE_H
#define GLENSIDE_ELSEWHERE_H

typedef enum gs_word_place {
  GS_AS_FORM,    /* of a program */
  GS_AS_TERM,    /* heads a term */
  GS_AS_COMPUTE, /* behind compute */
  GS_AS_DTYPE,
  GS_AS_RULE_FORM,
  GS_AS_TARGET_FORM
} gs_word_place;

/* What to write instead, or NULL: such a word says nothing there. */
const char *gs_elsewhere(gs_word_place, const char *word);
/* What a file of this name is, where it holds no program: what to do with it.
 * Never NULL. */
const char *gs_elsewhere_file(const char *path);

#endif
