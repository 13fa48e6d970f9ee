/* SPDX-License-Identifier: MIT */
/* audit.c - is a proof right where it can be run?
 *
 * What is proved of terms too large to run is held against the interpreter on
 * a copy with smaller sizes (shrink.c).  A copy of which the same argument
 * proves nothing says nothing; where it proves the copy and a run refutes it,
 * the argument is faulty, and its proof of the large terms is none. */
#include "prove/session/shrink.h"

/* What is wrong of an argument shows on some thousand elements as on many; a
 * copy as small as that is tried first, and where the argument says nothing of
 * it, or there is none, a larger one. */
static const int64_t most_visits[] = {8000, 200000};

bool
pv_all_proved(const pv_session *s) {
  for (uint32_t k = 0; k < s->n_pairs; k++)
    if (!s->proved[k])
      return false;
  return true;
}

typedef enum word { NOTHING, AGREES, DISAGREES } word;

/* On a copy of at most so many element visits. */
static word
audit_within(const pv_session *s, void (*prove)(pv_session *), int64_t most) {
  pv_options options = *s->options;
  pv_answer answer = {.verdict = PV_UNKNOWN};
  pv_session small = *s;
  pv_pair *pairs = BS_NEWS(s->ctx.arena, pv_pair, s->n_pairs + (size_t)1);
  options.runs = 2;
  options.max_operations /= 4;
  options.max_run = 8 * most;
  small.options = &options;
  small.answer = &answer;
  small.confirm = NULL;
  small.hint = (pv_hint){0};
  small.plain = pv_shrink(&s->ctx, s->plain, s->pairs, s->n_pairs, most, pairs);
  if (!small.plain)
    return NOTHING;
  pv_count(options.counts, PV_W_COPIES, 1);
  small.given = small.plain;
  small.pairs = small.given_pairs = pairs;
  small.proved = bs_calloc(s->ctx.heap, s->n_pairs + (size_t)1, 1);
  small.facts = bs_calloc(s->ctx.heap, small.plain->nodes.len + (size_t)1, 1);
  pv_partial_terms(small.plain, options.is_partial, small.facts);
  prove(&small);
  if (!pv_all_proved(&small))
    return NOTHING;
  for (uint32_t k = 0; k < s->n_pairs; k++)
    small.proved[k] = 0;
  pv_run(&small);
  return answer.verdict == PV_REFUTED  ? DISAGREES
         : answer.verdict == PV_TESTED ? AGREES
                                       : NOTHING;
}

bool
pv_audit(const pv_session *s, void (*prove)(pv_session *), bool *said) {
  word have = NOTHING;
  for (size_t k = 0; k < 2 && have == NOTHING; k++)
    have = audit_within(s, prove, most_visits[k]);
  *said = have != NOTHING;
  return have != DISAGREES;
}
