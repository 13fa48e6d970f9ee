/* names.c - see names.h. */
#include "poly/names.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Sorted by bytes. */
static const char *const reserved[] = {
    "DOMAIN",       "EOF",
    "INFINITY",     "NAN",
    "NULL",         "OVERFLOW",
    "PLOSS",        "SING",
    "TLOSS",        "UNDERFLOW",
    "alignas",      "alignof",
    "and",          "and_eq",
    "asm",          "auto",
    "bitand",       "bitor",
    "bool",         "break",
    "case",         "catch",
    "char",         "class",
    "compl",        "const",
    "const_cast",   "constexpr",
    "continue",     "decltype",
    "default",      "delete",
    "do",           "double",
    "dynamic_cast", "else",
    "enum",         "errno",
    "explicit",     "export",
    "extern",       "false",
    "float",        "for",
    "friend",       "goto",
    "i386",         "if",
    "inline",       "int",
    "linux",        "long",
    "main",         "math_errhandling",
    "memcpy",       "memset",
    "mutable",      "namespace",
    "new",          "noexcept",
    "not",          "not_eq",
    "nullptr",      "offsetof",
    "operator",     "or",
    "or_eq",        "prepacked",
    "private",      "protected",
    "ptrdiff_t",    "public",
    "register",     "reinterpret_cast",
    "requires",     "restrict",
    "return",       "short",
    "signed",       "signgam",
    "size_t",       "sizeof",
    "static",       "static_assert",
    "static_cast",  "struct",
    "switch",       "template",
    "this",         "thread_local",
    "throw",        "true",
    "try",          "typedef",
    "typeid",       "typename",
    "typeof",       "union",
    "unix",         "unsigned",
    "using",        "virtual",
    "void",         "volatile",
    "wchar_t",      "while",
    "workspace",    "xor",
    "xor_eq",
};

/* Families of macros and types. */
static const char *const prefixes[] = {
    "FP_",   "GLEN_", "HUGE_",  "INT",   "MATH_", "M_",   "PTRDIFF_",
    "SIZE_", "UINT",  "WCHAR_", "WINT_", "omp_",  "glen_"};

/* Letters that the generator puts before a number. */
static const char *const numbered[] = {"t", "acc", "i", "S", "k", "p"};

/* Functions of math.h, also with an f or l behind; sorted by bytes. */
static const char *const functions[] = {
    "acos",      "acosh",       "asin",       "asinh",    "atan",
    "atan2",     "atanh",       "cbrt",       "ceil",     "copysign",
    "cos",       "cosh",        "drem",       "erf",      "erfc",
    "exp",       "exp10",       "exp2",       "expm1",    "fabs",
    "fdim",      "finite",      "floor",      "fma",      "fmax",
    "fmin",      "fmod",        "frexp",      "gamma",    "hypot",
    "ilogb",     "isinf",       "isnan",      "j0",       "j1",
    "jn",        "ldexp",       "lgamma",     "lgamma_r", "llrint",
    "llround",   "log",         "log10",      "log1p",    "log2",
    "logb",      "lrint",       "lround",     "modf",     "nan",
    "nearbyint", "nextafter",   "nexttoward", "pow",      "remainder",
    "remquo",    "rint",        "round",      "scalb",    "scalbln",
    "scalbn",    "significand", "sin",        "sincos",   "sinh",
    "sqrt",      "tan",         "tanh",       "tgamma",   "trunc",
    "y0",        "y1",          "yn",
};

static int
compare(const void *a, const void *b) {
  return strcmp(a, *(const char *const *)b);
}

static bool
is_numbered(const char *name, const char *letters) {
  size_t n = strlen(letters);
  if (strncmp(name, letters, n) || !name[n])
    return false;
  return strspn(name + n, "0123456789") == strlen(name + n);
}

static bool
is_standard_type(const char *name) {
  size_t n = strlen(name);
  bool is_int = !strncmp(name, "int", 3) || !strncmp(name, "uint", 4);
  return is_int && n > 2 && !strcmp(name + n - 2, "_t");
}

static bool
is_among(const char *name, const char *const *words, size_t n) {
  return bsearch(name, words, n, sizeof *words, compare);
}

static bool
is_function(const char *name) {
  char base[16];
  size_t n = strlen(name), count = sizeof functions / sizeof *functions;
  if (is_among(name, functions, count))
    return true;
  if (n < 2 || n > sizeof base || !strchr("fl", name[n - 1]))
    return false;
  memcpy(base, name, n - 1);
  base[n - 1] = '\0';
  return is_among(base, functions, count);
}

bool
po_name_is_reserved(const char *name) {
  if (is_among(name, reserved, sizeof reserved / sizeof *reserved) ||
      is_function(name))
    return true;
  for (size_t k = 0; k < sizeof prefixes / sizeof *prefixes; k++)
    if (!strncmp(name, prefixes[k], strlen(prefixes[k])))
      return true;
  for (size_t k = 0; k < sizeof numbered / sizeof *numbered; k++)
    if (is_numbered(name, numbered[k]))
      return true;
  return is_standard_type(name) || name[0] == '_';
}

static const char *
made_of_letters(bs_arena *arena, const char *name) {
  bool bad_start = !isalpha((unsigned char)name[0]) || !isascii(name[0]);
  char *out = bs_arena_printf(arena, "%s%s", bad_start ? "v" : "", name);
  for (char *at = out; *at; at++)
    if (!isascii(*at) || !(isalnum((unsigned char)*at) || *at == '_'))
      *at = '_';
  return out;
}

/* No reserved name begins so. */
const char *
po_sanitize(bs_arena *arena, const char *name) {
  const char *out = made_of_letters(arena, name);
  return po_name_is_reserved(out) ? bs_arena_printf(arena, "v_%s", out) : out;
}
