/* SPDX-License-Identifier: MIT */
/* number.c - numbers as text, the same in every locale.
 *
 * A real is written with the fewest digits that read back as the same bits:
 * any decimal of 15 digits survives the way through a normal double, and 17
 * digits tell all doubles apart; only subnormals need a look at fewer. */
#include "base/portable.h"
#include "base/text.h"
#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static locale_t
enter_c_locale(locale_t *before) {
  locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (c)
    *before = uselocale(c);
  return c;
}

static void
leave_c_locale(locale_t c, locale_t before) {
  if (!c)
    return;
  uselocale(before);
  freelocale(c);
}

static void
print_shortest(char *out, size_t size, double real) {
  int digits = fabs(real) < DBL_MIN ? 1 : DBL_DIG;
  do
    snprintf(out, size, "%.*g", digits, real);
  while (digits++ < 17 && strtod(out, NULL) != real);
}

void
bs_put_real(bs_text *text, double real) {
  if (isnan(real)) {
    bs_put(text, "nan");
    return;
  }
  if (isinf(real)) {
    bs_put(text, real < 0 ? "-inf" : "inf");
    return;
  }
  char digits[40];
  locale_t before, c = enter_c_locale(&before);
  print_shortest(digits, sizeof digits, real);
  leave_c_locale(c, before);
  bs_put(text, digits);
  if (!strpbrk(digits, ".e"))
    bs_put(text, ".0");
}

enum { LONGEST = 1024 }; /* bytes of a real, and a NUL */

typedef struct shape {
  bool number, real;
} shape;

static size_t
skip_digits(const char *s, size_t n, size_t at) {
  while (at < n && s[at] >= '0' && s[at] <= '9')
    at++;
  return at;
}

/* -?D with D digits, or with a `.` among them, an exponent behind, or both */
static shape
shape_of(const char *s, size_t n) {
  size_t start = n && s[0] == '-';
  size_t at = skip_digits(s, n, start);
  size_t digits = at - start;
  bool real = false;
  if (at < n && s[at] == '.') {
    size_t end = skip_digits(s, n, at + 1);
    digits += end - (at + 1);
    at = end;
    real = true;
  }
  if (!digits)
    return (shape){false, false};
  if (at < n && (s[at] == 'e' || s[at] == 'E')) {
    size_t sign = at + 1 < n && (s[at + 1] == '-' || s[at + 1] == '+');
    size_t first = at + 1 + sign;
    at = skip_digits(s, n, first);
    real = true;
    if (at == first)
      return (shape){false, false};
  }
  return (shape){at == n, real};
}

static bs_number
read_integer(const char *s, size_t n, int64_t *out) {
  bool negative = s[0] == '-';
  int64_t integer = 0;
  for (size_t at = negative; at < n; at++) {
    int digit = negative ? '0' - s[at] : s[at] - '0';
    if (__builtin_mul_overflow(integer, 10, &integer) ||
        __builtin_add_overflow(integer, digit, &integer))
      return BS_TOO_LARGE;
  }
  *out = integer;
  return BS_INTEGER;
}

/* strtod wants a NUL behind its text, so that text is copied. */
static bs_number
read_real(const char *s, size_t n, double *out) {
  char copy[LONGEST];
  if (n >= sizeof copy)
    return BS_TOO_LARGE;
  memcpy(copy, s, n);
  copy[n] = '\0';
  locale_t before, c = enter_c_locale(&before);
  *out = strtod(copy, NULL);
  leave_c_locale(c, before);
  return isinf(*out) ? BS_TOO_LARGE : BS_REAL;
}

static bool
is_word(const char *s, size_t n, const char *word) {
  return n == strlen(word) && !memcmp(s, word, n);
}

bs_number
bs_read_number(const char *s, size_t n, int64_t *integer, double *real) {
  assert(s || !n);
  shape form = shape_of(s, n);
  if (form.number)
    return form.real ? read_real(s, n, real) : read_integer(s, n, integer);
  if (is_word(s, n, "inf"))
    *real = INFINITY;
  else if (is_word(s, n, "-inf"))
    *real = -INFINITY;
  else if (is_word(s, n, "nan"))
    *real = NAN;
  else
    return BS_NO_NUMBER;
  return BS_REAL;
}
