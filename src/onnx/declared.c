/* SPDX-License-Identifier: MIT */
/* declared.c - what a model says of its values beside what they are.
 *
 * An element type, a rank or a size that contradicts what the nodes compute is
 * a fault of the model: one of both is wrong, and which one is not known.  A
 * size that is left open, or has a name, says nothing.  Where --dim gives
 * sizes, those of the model may be left from other ones. */
#include "onnx/onnx_graph.h"
#include "onnx/sized.h"

#include <string.h>

/* Of an initializer, read or not; one that is too large is told when it is
 * read. */
static bool
type_of_stored(const Onnx__Tensor *t, int32_t *element, gs_type *out) {
  if (t->n_dims > GS_MAX_RANK)
    return false;
  *element = t->data_type;
  out->rank = (uint8_t)t->n_dims;
  for (uint32_t k = 0; k < out->rank; k++)
    out->dim[k] = t->dims[k];
  return true;
}

static bool
type_of(on_import *im, const on_value *v, int32_t *element, gs_type *out) {
  *out = (gs_type){0};
  if (v->stored)
    return type_of_stored(v->stored, element, out);
  *element = v->array ? v->array->type : v->type;
  if (!v->array)
    return gs_term_ok(v->term) && t_type(im, v->term, out);
  out->rank = (uint8_t)v->array->rank;
  memcpy(out->dim, v->array->dim, sizeof out->dim);
  return true;
}

static void
put_declared(const Onnx__Shape *s, bs_text *out) {
  for (size_t k = 0; k < s->n_dim && k <= GS_MAX_RANK; k++) {
    bs_put(out, k ? ", " : "");
    if (s->dim[k]->has_dim_value)
      bs_putf(out, "%lld", (long long)s->dim[k]->dim_value);
    else
      bs_putf(out, "%.60s", s->dim[k]->dim_param ? s->dim[k]->dim_param : "?");
  }
}

static bool
contradicts(on_import *im, const char *what, const char *name,
            const Onnx__Shape *s, const gs_type *type) {
  bs_text said, is;
  bs_text_init(&said, im->ctx->heap);
  bs_text_init(&is, im->ctx->heap);
  put_declared(s, &said);
  for (uint32_t k = 0; k < type->rank; k++)
    bs_putf(&is, "%s%s", k ? ", " : "", on_number(im, type->dim[k]));
  on_wrong(im, "%s %.100s is declared with the shape (%s), but it has (%s)",
           what, name, bs_text_str(&said), bs_text_str(&is));
  on_hint(im, "correct what the model declares, or delete it: in Python, del "
              "model.graph.value_info[:] and "
              "output.type.tensor_type.ClearField(\"shape\")");
  bs_text_done(&said);
  bs_text_done(&is);
  return false;
}

static bool
fits(const on_import *im, const Onnx__Dimension *d, gs_number is) {
  return !d->has_dim_value || im->options->n_dims || on_is_sized(im, is) ||
         d->dim_value == is;
}

static bool
check_shape(on_import *im, const char *what, const char *name,
            const Onnx__Shape *s, const gs_type *type) {
  bool fine = s->n_dim == type->rank;
  for (uint32_t k = 0; fine && k < type->rank; k++)
    fine = fits(im, s->dim[k], type->dim[k]);
  return fine || contradicts(im, what, name, s, type);
}

bool
on_check_declared(on_import *im, const char *what, const Onnx__ValueInfo *info,
                  const on_value *v) {
  const Onnx__TensorType *t = info->type ? info->type->tensor_type : NULL;
  int32_t element;
  gs_type type;
  if (!t || v->poison || !type_of(im, v, &element, &type))
    return true;
  if (t->has_elem_type && t->elem_type && t->elem_type != element) {
    on_wrong(im,
             "%s %.100s is declared with elements of type %s, but it has %s",
             what, info->name, on_type_of(t->elem_type)->name,
             on_type_of(element)->name);
    on_hint(im, "correct what the model declares, or convert the value by a "
                "Cast");
    return false;
  }
  return !t->shape || check_shape(im, what, info->name, t->shape, &type);
}

void
on_check_between(on_import *im) {
  for (size_t k = 0; k < im->graph->n_value_info; k++) {
    const Onnx__ValueInfo *info = im->graph->value_info[k];
    const on_value *v = info->name ? on_find(im, info->name) : NULL;
    if (v)
      on_check_declared(im, "value", info, v);
  }
}
