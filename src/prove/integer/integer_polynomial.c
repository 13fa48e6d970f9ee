/* SPDX-License-Identifier: MIT */
/* integer_polynomial.c - pairs of small terms: equal when every element is the
 * same value. */
#include "prove/relation/element.h"
#include "prove/session/session.h"
#include <string.h>

static bool
same_elements(const pv_elements *e, const gs_program *p, const pv_pair *pair) {
  gs_type type;
  gs_type_at(p, pair->left, &type);
  return !memcmp(e->of[pair->left.i], e->of[pair->right.i],
                 (size_t)gs_elements(&type) * sizeof **e->of);
}

bool
pv_prove_by_elements(pv_session *s) {
  bool done = false;
  uint32_t n = s->plain->nodes.len;
  bs_heap *heap = s->ctx.heap;
  uint8_t *live = bs_calloc(heap, n + (size_t)1, 1);
  pv_mark(s->plain, s->pairs, s->n_pairs, live);
  if (pv_is_plain(s->plain, live) &&
      pv_count_elements(s->plain, live, s->options->max_elements) >= 0) {
    pv_values values;
    pv_elements e = {.p = s->plain, .values = &values, .facts = s->facts};
    pv_values_init(&values, heap, s->options->max_work);
    e.of = bs_calloc(heap, n + (size_t)1, sizeof *e.of);
    done = pv_evaluate(&e, live) && !values.unsure && !values.dropped.len;
    for (uint32_t k = 0; done && k < s->n_pairs; k++)
      s->proved[k] = same_elements(&e, s->plain, &s->pairs[k]);
    s->any_order |= values.any_order;
    pv_count(s->options->counts, PV_W_VALUES, values.work);
    for (uint32_t k = 0; k < n; k++)
      bs_free(heap, e.of[k]);
    bs_free(heap, e.of);
    pv_values_done(&values);
  }
  bs_free(heap, live);
  return done;
}
