/* SPDX-License-Identifier: MIT */
/* text.h - a string under construction, on a heap. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include "base/value.h"
#include <stdarg.h>

typedef struct bs_text {
  bs_heap *heap;
  char *data; /* NUL-terminated once anything was written; else NULL */
  size_t len, cap;
} bs_text;

/* Arguments of "%u %s": so many of what the noun names, 1 step or 2 steps. */
#define BS_COUNTED(n, noun)           BS_COUNTED_AS(n, noun, noun "s")
#define BS_COUNTED_AS(n, one, others) (n), (n) == 1 ? one : others

void bs_text_init(bs_text *, bs_heap *);
void bs_text_done(bs_text *);
void bs_text_clear(bs_text *);
const char *bs_text_str(bs_text *); /* never NULL */
void bs_put(bs_text *, const char *s);
void bs_putn(bs_text *, const char *s, size_t n);
void bs_putc(bs_text *, char c);
void bs_putf(bs_text *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void bs_putv(bs_text *, const char *format, va_list)
    __attribute__((format(printf, 2, 0)));
/* The shortest text that reads back equal, always a real (2.0, inf, nan). */
void bs_put_real(bs_text *, double);
/* As it is written in a source file: 3, 1.5, true, relu, (1 2 3), "a b". */
void bs_put_value(bs_text *, const bs_values *, bs_value);
/* Whether these bytes are one symbol of a source file, needing no quotes. */
bool bs_is_symbol(const char *s, size_t n);
/* Is it one of `words`, which spaces divide?  NULL has none. */
bool bs_has_word(const char *words, const char *word);
/* A JSON string literal, quoted and escaped; ill-formed UTF-8 becomes U+FFFD */
void bs_put_json_string(bs_text *, const char *s);

typedef enum bs_number {
  BS_NO_NUMBER,
  BS_INTEGER,
  BS_REAL,
  BS_TOO_LARGE
} bs_number;

/* Reads a number as source files write it (-?[0-9]+, or with `.` or an
 * exponent, or inf, -inf, nan) from exactly n bytes, whatever the locale.
 * BS_TOO_LARGE: of that form, but beyond int64 or the finite doubles, or
 * over 1000 characters long. */
bs_number bs_read_number(const char *s, size_t n, int64_t *integer,
                         double *real);

#endif
