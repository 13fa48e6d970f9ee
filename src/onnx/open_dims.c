/* SPDX-License-Identifier: MIT */
/* open_dims.c - the dimensions of a model's inputs that it leaves open. */
#include "onnx/sized.h"

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

static void
list_all(const Onnx__Graph *graph, bs_text *names) {
  for (size_t k = 0; k < graph->n_input; k++) {
    const Onnx__Type *type = graph->input[k]->type;
    if (type && type->tensor_type && type->tensor_type->shape)
      list_dims(type->tensor_type->shape, names);
  }
}

bool
on_open_dims(const gs_context *ctx, const char *path, bs_text *names) {
  size_t size;
  const uint8_t *bytes = on_bytes_of(ctx, path, &size);
  const Onnx__Model *model = bytes ? on_read(ctx, path, bytes, size) : NULL;
  if (model)
    list_all(model->graph, names);
  return model != NULL;
}

/* list: the names that the model has, each ended by a NUL. */
static void
warn(const on_import *im, const char *given, bs_text *list) {
  const char *names[16];
  size_t n = 0;
  for (char *at = list->data, *end = at + list->len; at < end && n < 16;
       at += strlen(at) + 1)
    names[n++] = at;
  bs_warning(im->ctx->diags, BS_NOWHERE, "onnx-model",
             "%s: no input has an open dimension named %.60s",
             im->options->path, given);
  if (n)
    bs_hint_names(im->ctx->diags, given, names, n);
  else
    bs_hint(im->ctx->diags, "its inputs leave no dimension open");
}

void
on_warn_of_dims(const on_import *im) {
  bs_text names;
  bs_text_init(&names, im->ctx->heap);
  list_all(im->graph, &names);
  for (uint32_t k = 0; k < im->options->n_dims; k++) {
    const char *dim = im->options->dims[k];
    const char *given =
        bs_arena_printf(im->ctx->arena, "%.*s", (int)strcspn(dim, "="), dim);
    if (is_listed(&names, given))
      continue;
    bs_text list;
    bs_text_init(&list, im->ctx->heap);
    bs_putf(&list, "%s", bs_text_str(&names));
    for (size_t j = 0; j < list.len; j++)
      list.data[j] = list.data[j] == '\n' ? '\0' : list.data[j];
    warn(im, given, &list);
    bs_text_done(&list);
  }
  bs_text_done(&names);
}
