/* SPDX-License-Identifier: MIT */
/* other_numbers.c - numbers as other tools take them: 1e6, 1_000, 10k, 4GB,
 * 5min.  They are not read, since some of them mean two things, but told as
 * they are written here. */
#include "cli/options_table.h"
#include "cli/other_tools.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct unit {
  const char *words; /* in small letters, divided by spaces */
  double factor;
} unit;

static const unit counts[] = {
    {"k", 1e3}, {"m", 1e6}, {"g b", 1e9}, {"t", 1e12}};
static const unit sizes[] = {{"b byte bytes", 1},
                             {"k kb kib", 1024},
                             {"m mb mib", 1048576},
                             {"g gb gib", 1073741824},
                             {"t tb tib", 1099511627776}};
static const unit times[] = {{"s sec secs second seconds", 1},
                             {"ms", 1e-3},
                             {"m min mins minute minutes", 60},
                             {"h hour hours", 3600},
                             {"d day days", 86400}};

/* What a unit stands for; 0: it is none of these. */
static double
factor_of(const unit *units, size_t n, const char *word) {
  char small[16];
  size_t k = 0;
  for (; word[k] && k + 1 < sizeof small; k++)
    small[k] = (char)(word[k] >= 'A' && word[k] <= 'Z' ? word[k] - 'A' + 'a'
                                                       : word[k]);
  small[k] = '\0';
  if (!*word)
    return 1;
  for (size_t u = 0; u < n && !word[k]; u++)
    if (cl_is_choice(units[u].words, small))
      return units[u].factor;
  return 0;
}

/* The text without what separates its digits. */
static bool
without_separators(const char *text, char *out, size_t size) {
  size_t n = 0;
  for (const char *at = text; *at; at++) {
    bool separates = strchr("_,'", *at) && at > text && at[-1] >= '0' &&
                     at[-1] <= '9' && at[1] >= '0' && at[1] <= '9';
    if (separates)
      continue;
    if (n + 1 == size)
      return false;
    out[n++] = *at;
  }
  out[n] = '\0';
  return n > 0;
}

static void
print_bytes(double bytes, char *out, size_t size) {
  static const char letters[] = "KMGT";
  uint64_t n = (uint64_t)bytes;
  unsigned k = 0;
  for (; k < 4 && n && n % 1024 == 0; k++)
    n /= 1024;
  snprintf(out, size, k ? "%" PRIu64 "%c" : "%" PRIu64, n,
           k ? letters[k - 1] : 0);
}

bool
cl_number_meant(cl_kind kind, const char *text, char *out, size_t size) {
  const unit *units = kind == BYTES ? sizes : kind == SECONDS ? times : counts;
  size_t n = kind == BYTES     ? sizeof sizes / sizeof *sizes
             : kind == SECONDS ? sizeof times / sizeof *times
                               : sizeof counts / sizeof *counts;
  char digits[40], *end;
  if (*text < '0' || *text > '9' ||
      !without_separators(text, digits, sizeof digits))
    return false;
  double x = strtod(digits, &end);
  x *= factor_of(units, n, end + (*end == ' '));
  if (kind != SECONDS && (x != floor(x) || x > 0x1p53))
    return false;
  if (kind == BYTES)
    print_bytes(x, out, size);
  else
    snprintf(out, size, kind == SECONDS ? "%g" : "%.0f", x);
  return x > 0;
}
