/* SPDX-License-Identifier: MIT */
/* advice.c - the hint of a fault that has none of its own: what its node was
 * given, and what is supported of its operator. */
#include "onnx/onnx_graph.h"
#include "onnx/sized.h"

#include <string.h>

enum { MOST_ITEMS = 12 };

static void
put_shape(const on_import *im, const on_value *v, bs_text *out) {
  gs_type type = {0};
  if (!v->array)
    gs_type_at(im->p, v->term, &type);
  uint32_t rank = v->array ? v->array->rank : type.rank;
  const int64_t *dim = v->array ? v->array->dim : type.dim;
  for (uint32_t k = 0; k < rank && k < MOST_ITEMS; k++)
    bs_putf(out, "%s%s", k ? "x" : " ", on_number(im, dim[k]));
}

/* x: float 2x3 */
static void
put_input(on_import *im, const char *name, bs_text *out) {
  const on_value *v = on_find(im, name);
  if (!*name) {
    bs_put(out, "left out");
    return;
  }
  on_put_plain(out, name, strlen(name));
  if (!v || (!v->array && !gs_term_ok(v->term))) {
    bs_put(out, v && v->stored ? ": an initializer" : ": not known");
    return;
  }
  bs_putf(out, ": %s", on_type_of(v->array ? v->array->type : v->type)->name);
  put_shape(im, v, out);
}

void
on_advise(on_import *im) {
  const Onnx__Node *n = im->node;
  if (!im->unadvised || !n)
    return;
  im->unadvised = false;
  bs_text text;
  bs_text_init(&text, im->ctx->heap);
  if (im->row && im->row->note)
    bs_putf(&text, "limits of %s: %s", im->row->name, im->row->note);
  for (size_t k = 0; k < n->n_input && k < MOST_ITEMS; k++) {
    bs_put(&text, k          ? ", "
                  : text.len ? "; its inputs are "
                             : "its inputs are ");
    put_input(im, n->input[k], &text);
  }
  bs_hint(im->ctx->diags, "%s", text.len ? bs_text_str(&text) : ON_CHECKER);
  bs_text_done(&text);
}
