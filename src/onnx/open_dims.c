/* SPDX-License-Identifier: MIT */
/* open_dims.c - the dimensions of a model's inputs that it leaves open. */
#include "onnx/onnx_import.h"

#include <string.h>

static bool
is_listed(const bs_text *names, const char *name) {
  size_t n = strlen(name);
  const char *end = names->data + names->len;
  for (const char *at = names->data, *line; at < end; at = line + 1) {
    line = memchr(at, '\n', (size_t)(end - at));
    if ((size_t)(line - at) == n && !memcmp(at, name, n))
      return true;
  }
  return false;
}

static void
list_dims(const Onnx__Shape *shape, bs_text *names) {
  for (size_t k = 0; k < shape->n_dim; k++) {
    const Onnx__Dimension *d = shape->dim[k];
    const char *name = d->has_dim_value ? NULL : d->dim_param;
    if (name && *name && !strpbrk(name, "\n=") && !is_listed(names, name))
      bs_putf(names, "%s\n", name);
  }
}

bool
on_open_dims(const gs_context *ctx, const char *path, bs_text *names) {
  size_t size;
  const uint8_t *bytes = on_bytes_of(ctx, path, &size);
  const Onnx__Model *model = bytes ? on_read(ctx, path, bytes, size) : NULL;
  for (size_t k = 0; model && k < model->graph->n_input; k++) {
    const Onnx__Type *type = model->graph->input[k]->type;
    if (type && type->tensor_type && type->tensor_type->shape)
      list_dims(type->tensor_type->shape, names);
  }
  return model != NULL;
}
