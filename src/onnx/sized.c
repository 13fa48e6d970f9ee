/* SPDX-License-Identifier: MIT */
/* sized.c - dimensions of a model that stay open while it is imported.
 *
 * `--dim NAME=LEAST..MOST` makes a symbolic dimension a size of the program.
 * From then on its number (glenside/type/sizes.h) stands wherever a dimension
 * may: in types, in the arrays that Shape gives, and in what is computed of
 * them. What looks at dimensions asks the functions here, and an operator that
 * does not is refused where a size reaches it. */
#include "onnx/sized.h"
#include "glenside/expr/expr.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- what --dim says ---- */

static bool
read_whole(const char **at, const char *behind, int64_t *out) {
  char *end;
  *out = strtoll(*at, &end, 10);
  if (end == *at || strncmp(end, behind, strlen(behind)) != 0)
    return false;
  *at = end + strlen(behind);
  return *out >= 1 && *out <= GS_MAX_ELEMENTS;
}

bool
on_read_dim(const char *text, gs_size *out) {
  const char *equals = strchr(text, '='), *at;
  *out = (gs_size){.multiple = 1};
  if (!equals || equals == text)
    return false;
  at = equals + 1;
  if (!strstr(at, "..")) {
    bool fine = read_whole(&at, "", &out->least) && !*at;
    out->most = out->least;
    return fine;
  }
  bool steps = strchr(at, ':') != NULL;
  return read_whole(&at, "..", &out->least) &&
         read_whole(&at, steps ? ":" : "", &out->most) &&
         (!steps || read_whole(&at, "", &out->multiple)) && !*at &&
         gs_fit_bounds(out);
}

/* A name of the program that may stand in expressions and in C. */
static const char *
size_name(on_import *im, const char *symbol) {
  char name[64] = "";
  size_t n = 0;
  for (; symbol[n] && n < 40; n++) {
    char c = symbol[n];
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    bool fits = letter || (n && c >= '0' && c <= '9');
    name[n] = fits ? c : n ? '_' : 'n';
  }
  if (gs_is_reserved(name) || gs_function_find(name) >= 0)
    memcpy(name + n, "_size", sizeof "_size");
  return on_fresh_name(im, name);
}

gs_number
on_open_size(on_import *im, const char *symbol, gs_size size) {
  assert(im->n_open <= GS_MOST_SIZES);
  for (uint32_t k = 0; k < im->n_open; k++)
    if (!strcmp(im->open[k].symbol, symbol))
      return im->open[k].number;
  if (im->n_open == GS_MOST_SIZES) {
    on_wrong(im, "more than %d dimensions are open", GS_MOST_SIZES);
    return 1;
  }
  size.name = size_name(im, symbol);
  size.span = BS_NOWHERE;
  gs_number number = gs_open_size(im->p, &size);
  im->open[im->n_open++] = (on_open){symbol, number};
  return number;
}

/* ---- numbers ---- */

const gs_numbers *
on_over(const on_import *im) {
  return im->p->sizes ? &im->p->sizes->over : NULL;
}

bool
on_is_sized(const on_import *im, gs_number x) {
  return im->p->sizes && gs_is_sized(x);
}

int
on_ask(on_import *im, gs_number x, bool zero) {
  if (!on_is_sized(im, x))
    return zero ? x == 0 : x >= 0;
  return gs_ask(im->p->sizes, x, zero);
}

gs_number
on_told(on_import *im, gs_number x) {
  if (im->p->sizes && !gs_is_sized(x) &&
      (x >= GS_MOST_PLAIN || x <= -GS_MOST_PLAIN))
    on_fail(im, "what it computes of sizes is too large");
  return x;
}

gs_number
on_product(on_import *im, const gs_number *dim, uint32_t n) {
  assert(dim || !n);
  gs_number all = 1;
  for (uint32_t k = 0; k < n; k++)
    all = gs_product(on_over(im), all, dim[k]);
  return on_told(im, all);
}

const char *
on_number(const on_import *im, gs_number x) {
  bs_text text;
  bs_text_init(&text, im->ctx->heap);
  gs_put_number(&text, im->p->sizes, x);
  const char *out = bs_arena_strdup(im->ctx->arena, bs_text_str(&text));
  bs_text_done(&text);
  return out;
}

/* Factors that both have are taken out, until what is left of the divisor is
 * an integer. */
bool
on_divide(on_import *im, const gs_number *dim, uint32_t n, const gs_number *by,
          uint32_t n_by, gs_number *out) {
  assert(n <= GS_MAX_RANK);
  gs_number left[GS_MAX_RANK], rest = 1;
  memcpy(left, dim, n * sizeof *dim);
  for (uint32_t k = 0; k < n_by; k++) {
    uint32_t at = 0;
    while (at < n && left[at] != by[k])
      at++;
    if (at < n)
      left[at] = 1;
    else
      rest = gs_product(on_over(im), rest, by[k]);
  }
  *out = 0;
  if (rest < 1 || on_is_sized(im, rest))
    return false;
  gs_number all = on_product(im, left, n);
  *out = gs_quotient(on_over(im), all, rest);
  return gs_product(on_over(im), *out, rest) == all;
}

/* ---- operators ---- */

bool
on_holds_sizes(const on_import *im, const on_array *a) {
  bool sized = false;
  for (int64_t k = 0; im->p->sizes && a->type == ON_INT64 && k < a->n; k++)
    sized |= gs_is_sized(on_int(a, k));
  return sized;
}

/* The value, or a dimension of it. */
static bool
has_sizes(on_import *im, const on_value *v) {
  gs_type type;
  if (!v || v->poison)
    return false;
  if (v->array)
    return on_holds_sizes(im, v->array);
  gs_type_at(im->p, v->term, &type);
  return gs_type_is_sized(&type);
}

bool
on_take_sizes(on_import *im, bool *folds) {
  bool first = false, others = false;
  for (uint32_t k = 0; im->p->sizes && k < on_inputs(im); k++)
    *(k ? &others : &first) |= has_sizes(im, on_in(im, k));
  im->reads_sizes = first || others;
  if (!im->reads_sizes)
    return true;
  on_folding how = im->row->folding;
  *folds &= how == ON_FOLDS || (how == ON_FOLDS_FIRST && !others);
  return how != ON_NO_SIZES ||
         on_fail(im, "it is not supported where a dimension is open; give all "
                     "of them one size each");
}
