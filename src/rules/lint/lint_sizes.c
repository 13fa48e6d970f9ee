/* SPDX-License-Identifier: MIT */
/* lint_sizes.c - the sizes that a left side names.
 *
 * A slice from 0 to 5000 has a type where a dimension has 5,000 elements or
 * more, which no small size drawn at random has. */
#include "rules/lint/lint_internal.h"

static void
note_size(rl_named_sizes *out, int64_t n) {
  for (uint32_t k = 0; k < out->n; k++)
    if (out->size[k] == n)
      return;
  if (n > 1 && out->n < RL_NAMED_SIZES)
    out->size[out->n++] = n;
}

static void
note_value(const bs_values *values, bs_value v, rl_named_sizes *out) {
  if (bs_kind_of(values, v) == BS_KIND_INT)
    note_size(out, bs_as_int(values, v));
  else if (bs_kind_of(values, v) == BS_KIND_LIST)
    for (uint32_t k = 0; k < bs_len(values, v); k++)
      if (bs_kind_of(values, bs_item(values, v, k)) == BS_KIND_INT)
        note_size(out, bs_as_int(values, bs_item(values, v, k)));
}

/* An attribute of a pattern nests no deeper than GS_MAX_NESTING. */
static void
note_attr(const bs_values *values, const eg_attr_pattern *a,
          rl_named_sizes *out) {
  if (a->kind == EG_ATTR_VALUE)
    note_value(values, a->value, out);
  for (uint32_t k = 0; a->kind == EG_ATTR_LIST && k < a->n; k++)
    note_attr(values, &a->items[k], out);
}

void
rl_lint_sizes(const bs_values *values, const rl_compiled *rule,
              rl_named_sizes *out) {
  out->n = 0;
  for (uint32_t k = 0; k < rule->n_parts; k++)
    for (uint32_t i = 0; i < rule->parts[k].n; i++)
      if (!rule->parts[k].nodes[i].is_slot)
        note_attr(values, &rule->parts[k].nodes[i].attr, out);
}
