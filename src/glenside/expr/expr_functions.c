/* SPDX-License-Identifier: MIT */
/* expr_functions.c - the table of functions and how one is called.
 *
 * Every function is total: an overflow, a division by zero, an index out of
 * range or an argument of the wrong kind gives false ("undefined"), never a
 * fault.  Lists are cut off at GS_MAX_LIST items, so that no expression can ask
 * for much memory.  The bodies stand in expr_arith.c, expr_lists.c and
 * expr_facts.c, one `gs_fn_ID` for each row of the table. */
#include "glenside/expr/expr_apply.h"
#include <assert.h>

/* --- numbers and values --------------------------------------------------- */

gs_datum
gs_datum_of(const bs_values *values, bs_value v) {
  switch (bs_kind_of(values, v)) {
  case BS_KIND_INT:
    return (gs_datum){GS_D_INT, {.i = bs_as_int(values, v)}};
  case BS_KIND_REAL:
    return (gs_datum){GS_D_REAL, {.r = bs_as_real(values, v)}};
  case BS_KIND_BOOL:
    return (gs_datum){GS_D_BOOL, {.b = bs_as_bool(values, v)}};
  case BS_KIND_NIL:
  case BS_KIND_SYM:
  case BS_KIND_LIST:
  default:
    return (gs_datum){GS_D_VALUE, {.v = v}};
  }
}

/* A whole number is held as an integer, as in the attributes of op.h. */
static bs_value
real_value(bs_values *values, double r) {
  bool whole = fabs(r) < 0x1p53 && r == floor(r) && !(r == 0 && signbit(r));
  return whole ? bs_int(values, (int64_t)r) : bs_real(values, r);
}

bool
gs_datum_value(bs_values *values, const gs_datum *d, bs_value *out) {
  assert(d->kind <= GS_D_CLASS);
  switch (d->kind) {
  case GS_D_INT:
    *out = bs_int(values, d->i);
    return true;
  case GS_D_REAL:
    *out = real_value(values, d->r);
    return true;
  case GS_D_BOOL:
    *out = bs_bool(values, d->b);
    return true;
  case GS_D_VALUE:
    *out = d->v;
    return d->v.i != 0;
  case GS_D_CLASS:
    return false;
  }
  return false;
}

/* --- dispatch ------------------------------------------------------------- */

typedef bool apply_fn(const gs_env *, const gs_datum *, uint32_t, gs_datum *);

static apply_fn *const functions[GS_FUNCTION_COUNT] = {
#define X(id, name, args, min, max, result, doc) [GS_F_##id] = gs_fn_##id,
    GS_FUNCTIONS(X)
#undef X
};

bool
gs_apply_plain(gs_function_id f, const gs_env *env, const gs_datum *args,
               uint32_t n, gs_datum *out) {
  assert(f < GS_FUNCTION_COUNT);
  return functions[f](env, args, n, out);
}

bool
gs_apply(gs_function_id f, const gs_env *env, const gs_datum *args, uint32_t n,
         gs_datum *out) {
  assert(f < GS_FUNCTION_COUNT);
  assert(n >= gs_function_at((uint16_t)f)->min_args &&
         n <= gs_function_at((uint16_t)f)->max_args);
  return env->sizes && gs_has_sized(env, f, args, n)
             ? gs_apply_sized(f, env, args, n, out)
             : functions[f](env, args, n, out);
}

static const gs_function_info infos[GS_FUNCTION_COUNT] = {
#define X(id, name, args, min, max, result, doc)                               \
  [GS_F_##id] = {name, args, min, max, result, doc},
    GS_FUNCTIONS(X)
#undef X
};

uint16_t
gs_function_count(void) {
  return GS_FUNCTION_COUNT;
}

const gs_function_info *
gs_function_at(uint16_t function) {
  return function < GS_FUNCTION_COUNT ? &infos[function] : NULL;
}

const char *
gs_function_name(uint16_t function) {
  return function < GS_FUNCTION_COUNT ? infos[function].name : "?";
}

int
gs_function_find(const char *name) {
  for (int k = 0; k < GS_FUNCTION_COUNT; k++)
    if (*infos[k].name == *name && !strcmp(infos[k].name, name))
      return k;
  return -1;
}

/* The last letter repeats; `|` does not count. */
char
gs_function_letter(const gs_function_info *f, uint32_t k) {
  assert(f->args[0]);
  char letter = f->args[0];
  for (const char *at = f->args; *at; at++) {
    if (*at == '|')
      continue;
    letter = *at;
    if (k-- == 0)
      break;
  }
  return letter;
}

/* --- the table as text ---------------------------------------------------- */

const char *
gs_letter_word(char letter) {
  switch (letter) {
  case 'i':
    return "int";
  case 'n':
    return "number";
  case 'r':
    return "real";
  case 'b':
    return "bool";
  case 'l':
    return "list";
  case 's':
    return "name";
  case 't':
    return "dtype";
  case 'o':
    return "op";
  case 'c':
    return "term";
  case 'x':
    return "term|list";
  default:
    return "any";
  }
}

/* (range a:int b:int [c:int]), (+ a:number ...) */
static void
put_usage(bs_text *out, const gs_function_info *f) {
  bool many = f->max_args == GS_MANY, optional = strchr(f->args, '|') != NULL;
  uint32_t n = many ? (uint32_t)strlen(f->args) : f->max_args;
  bs_putf(out, "(%s", f->name);
  for (uint32_t k = 0; k < n; k++)
    bs_putf(out, " %s%c:%s", optional && k == f->min_args ? "[" : "",
            'a' + (int)k, gs_letter_word(gs_function_letter(f, k)));
  bs_put(out, many ? " ...)" : optional ? "])" : ")");
}

void
gs_put_functions(bs_text *out) {
  bs_put(out, "| expression | gives | |\n|---|---|---|\n");
  for (int k = 0; k < GS_FUNCTION_COUNT; k++) {
    bs_text usage;
    bs_text_init(&usage, out->heap);
    put_usage(&usage, &infos[k]);
    bs_put(out, "| `");
    for (const char *s = bs_text_str(&usage); *s; s++)
      bs_putf(out, *s == '|' ? "\\%c" : "%c", *s);
    bs_putf(out, "` | %s | %s |\n", gs_letter_word(infos[k].result),
            infos[k].doc);
    bs_text_done(&usage);
  }
}
