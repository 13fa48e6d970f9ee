/* SPDX-License-Identifier: MIT */
/* weights.c - arrays as terms, and the file in which the larger ones stand.
 *
 * An array whose elements are alike is one literal, broadcast.  A few elements
 * are literals, which the compiler can look into; all others become an input
 * of the program whose elements stand in the file of weights. */
#include "base/file.h"
#include "glenside/array/tensor.h"
#include "onnx/onnx_range.h"
#include "onnx/sized.h"
#include "onnx/weights.h"

#include <assert.h>
#include <string.h>

enum { MOST_LITERALS = 16, ALIGNED = 64 };

/* Elements are held as f64, which has not every integer beyond 2^53. */
static bool
holds(gs_dtype dtype, int64_t v) {
  double held = gs_convert(dtype, (double)v);
  return held >= -0x1p53 && held <= 0x1p53 && (int64_t)held == v;
}

static bool
beyond(on_import *im, const on_array *a, int64_t v) {
  on_fail(im, "the integer %lld of %.100s " GS_BEYOND_I64, (long long)v,
          a->name ? a->name : "a constant");
  on_hint(im, "write smaller integers: %lld to %lld are held exactly",
          (long long)gs_dtype_least(GS_I64), (long long)gs_dtype_most(GS_I64));
  return false;
}

/* The elements in the dtype that holds them in the program. */
static bool
convert(on_import *im, const on_array *a, gs_tensor *out) {
  for (int64_t k = 0; k < a->n; k++) {
    if (!on_is_real(a) && !holds(out->dtype, on_int(a, k)))
      return beyond(im, a, on_int(a, k));
    gs_tensor_set(out, k, on_real(a, k));
  }
  return true;
}

static bool
type_of(on_import *im, const on_array *a, gs_type *out) {
  *out = (gs_type){.access = (uint8_t)a->rank,
                   .rank = (uint8_t)a->rank,
                   .dtype = on_type_of(a->type)->dtype};
  memcpy(out->dim, a->dim, sizeof out->dim);
  return a->n > 0 ||
         on_fail(im, "an array without elements, %.100s, cannot be a term",
                 a->name ? a->name : "a constant");
}

/* The language keeps elements of this type as the file does. */
static bool
is_as_held(const on_array *a) {
  return a->type != ON_INT64 && a->type != ON_BOOL; /* which are looked at */
}

/* It gets its name once it is known whether the program needs it. */
static const char *
name_leaf(on_import *im, const char *name) {
  bs_push(im->ctx->heap, &im->leaves, name);
  return on_fresh_name(im, name);
}

static gs_term
note_leaf(on_import *im, gs_term t) {
  if (gs_term_ok(t))
    bs_map_put(im->ctx->heap, &im->leaf_of, t.i, im->leaves.len - 1);
  return t;
}

static gs_term
literals(on_import *im, const on_array *a, const gs_type *type) {
  gs_tensor t;
  gs_term out = GS_NO_TERM;
  const char *name = name_leaf(im, a->name ? a->name : "constant");
  gs_tensor_init(im->ctx->heap, &t, type);
  if (convert(im, a, &t))
    out = note_leaf(im, gs_add_constant(im->p, name, type, t.data, BS_NOWHERE));
  if (gs_term_ok(out))
    on_set_elements(im, out, a);
  gs_tensor_done(im->ctx->heap, &t);
  return out;
}

static gs_term
splat(on_import *im, const on_array *a, const gs_type *type) {
  gs_type scalar = {.dtype = type->dtype};
  on_array one = *a;
  one.n = 1;
  gs_term t = literals(im, &one, &scalar);
  return t_fit(im, t, type->dim, type->rank);
}

static gs_term
by_reference(on_import *im, const on_array *a, const gs_type *type) {
  const char *name = name_leaf(im, a->name ? a->name : "weight");
  gs_term t = note_leaf(im, gs_add_tensor(im->p, name, type, BS_NOWHERE));
  if (gs_term_ok(t))
    bs_push(im->ctx->heap, &im->weights,
            (on_weight){name, a, t, a->node ? a->node : im->node});
  if (gs_term_ok(t) && !on_is_real(a))
    on_set_elements(im, t, a);
  return t;
}

gs_term
t_constant(on_import *im, on_array *a) {
  gs_type type;
  if (gs_term_ok(a->term))
    return a->term;
  if (!im->node) /* an output of the model */
    im->node = a->node;
  if (on_holds_sizes(im, a))
    on_fail(im, "a size that is open is used as an element");
  if (im->failed || !type_of(im, a, &type))
    return GS_NO_TERM;
  a->term = on_is_splat(a)          ? splat(im, a, &type)
            : a->n <= MOST_LITERALS ? literals(im, a, &type)
                                    : by_reference(im, a, &type);
  if (!gs_term_ok(a->term))
    on_fail(im, "an array has no type in the language");
  return a->term;
}

gs_term
t_value(on_import *im, gs_dtype dtype, double v, const int64_t *dim,
        uint32_t rank) {
  assert(dtype < GS_DTYPE_COUNT);
  gs_type scalar = {.dtype = dtype};
  gs_tensor t;
  gs_tensor_init(im->ctx->heap, &t, &scalar);
  gs_tensor_set(&t, 0, v);
  const char *name = name_leaf(im, "value");
  gs_term out =
      note_leaf(im, gs_add_constant(im->p, name, &scalar, t.data, BS_NOWHERE));
  if (gs_term_ok(out))
    on_set_number(im, out, v);
  gs_tensor_done(im->ctx->heap, &t);
  return t_fit(im, out, dim, rank);
}

/* ---- the file ---- */

static void
put_elements(on_import *im, const on_array *a, bs_text *out) {
  gs_type type;
  gs_tensor t;
  if (is_as_held(a)) {
    bs_putn(out, a->data, (size_t)a->n * on_type_of(a->type)->bytes);
    return;
  }
  type_of(im, a, &type);
  gs_tensor_init(im->ctx->heap, &t, &type);
  if (convert(im, a, &t))
    bs_putn(out, t.data, (size_t)a->n * gs_dtype_table[type.dtype].bytes);
  gs_tensor_done(im->ctx->heap, &t);
}

void
on_place_weight(on_import *im, const on_weight *w, const char *file,
                bs_text *out) {
  static const char zeros[ALIGNED];
  bs_putn(out, zeros, (ALIGNED - out->len % ALIGNED) % ALIGNED);
  gs_data data = {.name = w->name,
                  .file = file,
                  .beside = im->options->output,
                  .offset = (int64_t)out->len};
  gs_add_data(im->p, &data);
  put_elements(im, w->array, out);
  im->summary->weights++;
  im->summary->bytes = out->len;
}
