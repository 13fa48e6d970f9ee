/* SPDX-License-Identifier: MIT */
/* nearest.c - "did you mean": the nearest name by edit distance.
 *
 * Optimal string alignment (insert, delete, replace, swap neighbours) over
 * three rows of a table of bounded width, so any word may be asked for. */
#include "base/diag.h"
#include "base/text.h"
#include <assert.h>
#include <string.h>

enum { LONGEST = 63, FEW = 16 };

static unsigned
least(unsigned a, unsigned b) {
  return a < b ? a : b;
}

static unsigned
distance(const char *a, size_t a_len, const char *b, size_t b_len) {
  unsigned rows[3][LONGEST + 1];
  unsigned *last = rows[0], *now = rows[1], *older = rows[2];
  for (size_t j = 0; j <= b_len; j++)
    now[j] = (unsigned)j;
  for (size_t i = 1; i <= a_len; i++) {
    unsigned *spare = older;
    older = last;
    last = now;
    now = spare;
    now[0] = (unsigned)i;
    for (size_t j = 1; j <= b_len; j++) {
      unsigned replaced = last[j - 1] + (a[i - 1] != b[j - 1]);
      now[j] = least(replaced, least(last[j], now[j - 1]) + 1);
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        now[j] = least(now[j], older[j - 2] + 1);
    }
  }
  return now[b_len];
}

const char *
bs_nearest(const char *word, const char *const *names, size_t n) {
  assert(names || !n);
  size_t len = strnlen(word, LONGEST + 1);
  if (len > LONGEST)
    return NULL;
  unsigned nearest = (unsigned)(len < 3 ? 0 : (len + 2) / 3) + 1;
  const char *found = NULL;
  for (size_t i = 0; i < n; i++) {
    size_t name_len = strnlen(names[i], LONGEST + 1);
    if (name_len > LONGEST || name_len + nearest <= len ||
        len + nearest <= name_len)
      continue;
    unsigned d = distance(word, len, names[i], name_len);
    if (d < nearest) {
      nearest = d;
      found = names[i];
    }
  }
  return found;
}

void
bs_hint_names(bs_diags *diags, const char *word, const char *const *names,
              size_t n) {
  const char *near = bs_nearest(word, names, n);
  bs_text all;
  if (near)
    bs_meant(diags, "`", near);
  if (near || !n || n > FEW)
    return;
  bs_text_init(&all, diags->heap);
  for (size_t k = 0; k < n; k++)
    bs_putf(&all, "%s%.60s", k ? ", " : "", names[k]);
  bs_hint(diags, n == 1 ? "there is only %s" : "there are %s",
          bs_text_str(&all));
  bs_text_done(&all);
}
