/* SPDX-License-Identifier: MIT */
/* number_hint.c - numbers as other languages write them: 1_000, 10k, 0.5f. */
#include "glenside/text/parse.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The word as a number is written here; NULL: it is none. */
static const char *
plain_number(bs_arena *arena, const char *word, bool whole) {
  char digits[64], *end;
  size_t n = 0;
  for (const char *at = word; *at && n + 1 < sizeof digits; at++)
    if (*at != '_')
      digits[n++] = *at;
  digits[n] = '\0';
  size_t sign = digits[0] == '-' || digits[0] == '+';
  if (digits[sign] < '0' || digits[sign] > '9')
    return NULL;
  double value = strtod(digits, &end);
  bool thousands = !strcmp(end, "k") || !strcmp(end, "K");
  value *= thousands ? 1000 : !strcmp(end, "M") ? 1e6 : 1;
  bool is_whole = value == floor(value) && fabs(value) < 0x1p53;
  if (strspn(end, "kKMfFlLuU") < strlen(end) || (whole && !is_whole))
    return NULL;
  return is_whole && (whole || thousands || *end == 'M')
             ? bs_arena_printf(arena, "%.0f", value)
             : bs_arena_printf(arena, "%.*s", (int)(end - digits), digits);
}

void
parse_hint_number(const gs_context *ctx, const bs_sx *found, bool whole) {
  const char *word = NULL, *plain = NULL;
  if (found->kind == BS_SX_SYM)
    word = bs_as_sym(ctx->values, found->value);
  else if (found->kind == BS_SX_REAL && whole)
    word = bs_arena_printf(ctx->arena, "%.17g",
                           bs_as_real(ctx->values, found->value));
  if (word)
    plain = plain_number(ctx->arena, word, whole);
  if (plain)
    bs_meant(ctx->diags, "`", plain);
}
