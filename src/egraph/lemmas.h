/* SPDX-License-Identifier: MIT */
/* lemmas.h - why two terms are equal, as a proof that shares what it can.
 *
 * A proof is a list of lemmas, each an equality of two terms, which cite
 * earlier lemmas only.  A pair of rows has one lemma however often it is
 * needed, and a rule one for each of its matches; so a proof grows with the
 * graph, and not with the number of places that the terms have in a program.
 *
 * Terms are those of the explainer (egraph_explain.h) and live as long. */
#ifndef EGRAPH_LEMMAS_H
#define EGRAPH_LEMMAS_H

#include "egraph/egraph_explain.h"

typedef enum eg_lemma_kind {
  EG_LEMMA_RULE,       /* one result of one match */
  EG_LEMMA_GIVEN,      /* the client said so */
  EG_LEMMA_CONGRUENCE, /* one head, equal children */
  EG_LEMMA_CHAIN       /* one lemma after another */
} eg_lemma_kind;

/* A lemma that is cited: its number times two, plus one when it is read from
 * right to left; EG_SAME where both terms are one. */
#define EG_SAME UINT32_MAX
typedef uint32_t eg_cite;

/* What is cited: of CONGRUENCE one a child; of CHAIN in order from `from` to
 * `to`; of RULE one for each part of the left side but the first, which says
 * that what the part's variable stands for is the instance of the part. */
typedef struct eg_lemma {
  eg_lemma_kind kind;
  uint32_t from, to; /* terms */
  const eg_cite *cites;
  uint32_t n_cites;
  uint32_t age; /* as many events of the journal as it rests on, at most */
  /* Of RULE: as in eg_link. */
  uint32_t rule, result, root;
  const uint32_t *slots;
  const uint8_t *is_class;
  uint32_t n_slots;
} eg_lemma;

/* The equality of two terms; the lemmas it takes are added to those of the
 * explainer, at most `max` together.  EG_TOO_LONG when they do not suffice.
 * Chains (eg_explain) are asked of another explainer: what they make of a
 * term's row is not what lemmas that were found before rest on. */
eg_explained eg_prove(eg_explainer *, uint32_t from, uint32_t to, uint32_t max,
                      eg_cite *out);
const eg_lemma *eg_lemmas(const eg_explainer *, uint32_t *n);

#endif
