/* SPDX-License-Identifier: MIT */
/* implgraph_keys.c - tiling keys: one number for a result and its groups' impl
 * graphs.
 *
 * Mixed radix: the last group of a result is the fastest digit, and a result's
 * keys begin where those of the one before it end.  Where groups run at the
 * same time, one kernel holds all of them and there is one key. */
#include "poly/implgraph/candidates.h"
#include <assert.h>

static int64_t
keys_of(const po_impl_result *r) {
  int64_t n = 1;
  for (uint32_t k = 0; k < r->groups.len; k++)
    if (__builtin_mul_overflow(n, r->groups.data[k].impls.len, &n))
      return -1;
  return n;
}

int64_t
po_count_keys(const po_impl_plan *plan) {
  int64_t sum = 0;
  for (uint32_t k = 0; k < plan->results.len; k++) {
    int64_t n = keys_of(&plan->results.data[k]);
    if (plan->results.data[k].group_parallel)
      return 1;
    if (n < 0 || __builtin_add_overflow(sum, n, &sum))
      return -1;
  }
  return sum;
}

bool
po_key_result(const po_impl_plan *plan, int64_t key, uint32_t *result,
              int64_t *rest) {
  for (uint32_t k = 0; key >= 0 && k < plan->results.len; k++) {
    int64_t n = keys_of(&plan->results.data[k]);
    if (n < 0 || key < n) {
      *result = k;
      *rest = key;
      return n >= 0;
    }
    key -= n;
  }
  return false;
}

uint32_t
po_key_impl(const po_impl_result *r, int64_t rest, uint32_t group) {
  assert(group < r->groups.len && r->groups.data[group].impls.len > 0);
  for (uint32_t k = r->groups.len; k-- > group + 1;)
    rest /= r->groups.data[k].impls.len;
  return (uint32_t)(rest % r->groups.data[group].impls.len);
}

int64_t
po_key_of_choice(const po_impl_plan *plan, uint32_t result) {
  assert(result < plan->results.len);
  int64_t first = 0, key = 0;
  if (po_count_keys(plan) < 0)
    return -1;
  for (uint32_t k = 0; k < result; k++)
    first += keys_of(&plan->results.data[k]);
  const po_impl_result *r = &plan->results.data[result];
  for (uint32_t k = 0; k < r->groups.len; k++)
    key = key * r->groups.data[k].impls.len + r->groups.data[k].chosen;
  return r->group_parallel ? 0 : first + key;
}
