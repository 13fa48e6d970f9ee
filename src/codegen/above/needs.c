/* SPDX-License-Identifier: MIT */
/* needs.c - sets of helpers, and their texts. */
#include "codegen/above/above_table.h"
#include <assert.h>

/* ---- sets ---- */

bool
cg_needs_helper(const cg_needs *needs, cg_helper helper) {
  assert(helper < CG_HELPER_COUNT);
  return needs->helpers[helper / 64] >> helper % 64 & 1;
}

void
cg_need(cg_needs *needs, cg_helper helper) {
  _Static_assert(CG_HELPER_COUNT <= 64 * 2, "a bit for each helper");
  assert(helper < CG_HELPER_COUNT);
  if (helper == CG_NO_HELPER || cg_needs_helper(needs, helper))
    return;
  needs->helpers[helper / 64] |= UINT64_C(1) << helper % 64;
  for (uint32_t k = 0; k < CG_MOST_NEEDED; k++)
    cg_need(needs, cg_rows[helper].needs[k]);
}

void
cg_need_all(cg_needs *to, const cg_needs *from) {
  for (uint32_t k = 0; k < 2; k++)
    to->helpers[k] |= from->helpers[k];
  to->macs |= from->macs;
}

/* ---- functions of values ---- */

/* `text` with every word `I` made the index type, indented. */
static void
put_text(bs_text *out, const char *text, const char *index, bool body) {
  bool start = body;
  for (const char *at = text; *at; at++) {
    bool alone = *at == 'I' && (at == text || at[-1] == ' ' || at[-1] == '(') &&
                 (!at[1] || at[1] == ' ' || at[1] == ')');
    if (start)
      bs_put(out, "  ");
    start = body && *at == '\n';
    if (alone)
      bs_put(out, index);
    else
      bs_putc(out, *at);
  }
}

static void
put_function(const cg_above *above, cg_helper helper, bs_text *out) {
  const cg_row *h = &cg_rows[helper];
  bool strict = above->strict && h->function.strict;
  bs_putf(out, "%s ", above->storage);
  put_text(out, h->function.type, above->index, false);
  bs_putf(out, "\n%s(", cg_helper_names[helper]);
  put_text(out, h->function.parameters, above->index, false);
  bs_put(out, ") {\n");
  put_text(out, strict ? h->function.strict : h->function.body, above->index,
           true);
  bs_put(out, "}\n\n");
}

void
cg_put_helpers(const cg_above *above, cg_helper first, cg_helper last,
               bs_text *out) {
  assert(first <= last && last < CG_HELPER_COUNT);
  for (cg_helper k = first; k <= last; k++)
    if (!cg_needs_helper(above->needs, k))
      continue;
    else if (cg_rows[k].put)
      cg_rows[k].put(above, k, out);
    else if (cg_rows[k].function.body)
      put_function(above, k, out);
    else if (cg_rows[k].text)
      bs_put(out, cg_rows[k].text);
}
