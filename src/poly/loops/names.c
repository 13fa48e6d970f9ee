/* SPDX-License-Identifier: MIT */
/* names.c - see names.h. */
#include "poly/loops/names.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Sorted by bytes. */
static const char *const reserved[] = {
    "BIG_ENDIAN",
    "BUFSIZ",
    "BYTE_ORDER",
    "CHAR_BIT",
    "CHAR_MAX",
    "CHAR_MIN",
    "CLOCKS_PER_SEC",
    "DECIMAL_DIG",
    "DOMAIN",
    "EDOM",
    "EILSEQ",
    "EOF",
    "ERANGE",
    "FILENAME_MAX",
    "FOPEN_MAX",
    "I",
    "INFINITY",
    "LITTLE_ENDIAN",
    "LLONG_MAX",
    "LLONG_MIN",
    "LONG_MAX",
    "LONG_MIN",
    "L_tmpnam",
    "MAXFLOAT",
    "MB_CUR_MAX",
    "MB_LEN_MAX",
    "NAME_MAX",
    "NAN",
    "NSIG",
    "NULL",
    "ONCE_FLAG_INIT",
    "OVERFLOW",
    "PATH_MAX",
    "PDP_ENDIAN",
    "PIPE_BUF",
    "PLOSS",
    "RAND_MAX",
    "SCHAR_MAX",
    "SCHAR_MIN",
    "SHRT_MAX",
    "SHRT_MIN",
    "SIGABRT",
    "SIGALRM",
    "SIGBUS",
    "SIGCHLD",
    "SIGCONT",
    "SIGFPE",
    "SIGHUP",
    "SIGILL",
    "SIGINT",
    "SIGKILL",
    "SIGPIPE",
    "SIGQUIT",
    "SIGSEGV",
    "SIGSTOP",
    "SIGTERM",
    "SIGTSTP",
    "SIGTTIN",
    "SIGTTOU",
    "SIGUSR1",
    "SIGUSR2",
    "SING",
    "SSIZE_MAX",
    "TIME_UTC",
    "TLOSS",
    "TMP_MAX",
    "TSS_DTOR_ITERATIONS",
    "UCHAR_MAX",
    "ULLONG_MAX",
    "ULONG_MAX",
    "UNDERFLOW",
    "USHRT_MAX",
    "WEOF",
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "asm",
    "assert",
    "atomic_init",
    "auto",
    "bitand",
    "bitor",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "char16_t",
    "char32_t",
    "char8_t",
    "class",
    "co_await",
    "co_return",
    "co_yield",
    "compl",
    "complex",
    "concept",
    "const",
    "const_cast",
    "consteval",
    "constexpr",
    "constinit",
    "continue",
    "decltype",
    "default",
    "delete",
    "do",
    "double",
    "dynamic_cast",
    "else",
    "enum",
    "errno",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "i386",
    "if",
    "inline",
    "int",
    "linux",
    "long",
    "m68k",
    "main",
    "math_errhandling",
    "max_align_t",
    "memcpy",
    "memset",
    "mips",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "noreturn",
    "not",
    "not_eq",
    "nullptr",
    "nullptr_t",
    "offsetof",
    "operator",
    "or",
    "or_eq",
    "prepacked",
    "private",
    "protected",
    "ptrdiff_t",
    "public",
    "register",
    "reinterpret_cast",
    "requires",
    "restrict",
    "return",
    "short",
    "signed",
    "signgam",
    "size_t",
    "sizeof",
    "sparc",
    "static",
    "static_assert",
    "static_cast",
    "stderr",
    "stdin",
    "stdout",
    "struct",
    "sun",
    "switch",
    "template",
    "this",
    "thread_local",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "typeof",
    "typeof_unqual",
    "union",
    "unix",
    "unsigned",
    "using",
    "va_list",
    "virtual",
    "void",
    "volatile",
    "wchar_t",
    "while",
    "workspace",
    "xor",
    "xor_eq",
};

/* Families of macros and types. */
static const char *const prefixes[] = {
    "ATOMIC_",  "CLOCK_",  "CUDA",  "DBL_",  "EXIT_", "FE_",          "FLT_",
    "FPE_",     "FP_",     "GLEN_", "HUGE_", "INT",   "KMP_",         "LC_",
    "LDBL_",    "MATH_",   "M_",    "PRIX",  "PRId",  "PRIi",         "PRIo",
    "PRIu",     "PRIx",    "SCNd",  "SCNi",  "SCNo",  "SCNu",         "SCNx",
    "PTRDIFF_", "SEEK_",   "SIG_",  "SIZE_", "SNAN",  "UINT",         "WCHAR_",
    "WINT_",    "atomic_", "cuda",  "glen_", "kmp_",  "memory_order", "omp_",
    "ompt_"};

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

bool
po_name_is_of_math(const char *name) {
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
      po_name_is_of_math(name) || po_name_is_of_header(name))
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

static bool
is_letter(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

/* `name` as a word of C text.  called: only as a function or a macro; else
 * anywhere but in a placeholder. */
static bool
is_word_of(const char *text, const char *name, bool called) {
  size_t n = strlen(name);
  for (const char *at = text; (at = strstr(at, name)); at++) {
    char before = at == text ? ' ' : at[-1], after = at[n];
    if (is_letter(before) || is_letter(after))
      continue;
    if (called
            ? after == '(' || (at - text >= 8 && !memcmp(at - 8, "#define ", 8))
            : before != '{' && before != '.')
      return true;
  }
  return false;
}

bool
po_name_is_of_target(const gs_target *target, const char *name) {
  for (uint32_t k = 0; target && k < target->preludes.len; k++)
    if (is_word_of(target->preludes.data[k], name, true))
      return true;
  for (uint32_t k = 0; target && k < target->instrs.len; k++)
    if (target->instrs.data[k]->emit &&
        is_word_of(target->instrs.data[k]->emit, name, false))
      return true;
  return false;
}

/* No reserved name begins so. */
const char *
po_sanitize(bs_arena *arena, const char *name) {
  const char *out = made_of_letters(arena, name);
  return po_name_is_reserved(out) ? bs_arena_printf(arena, "v_%s", out) : out;
}

const char *
po_function_name(bs_arena *arena, const gs_target *target, const char *name) {
  const char *out = po_sanitize(arena, name);
  while (po_name_is_of_library(out) || po_name_is_of_target(target, out))
    out = bs_arena_printf(arena, "v_%s", out);
  return out;
}
