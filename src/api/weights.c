/* SPDX-License-Identifier: MIT */
/* weights.c - inputs that are the same for all calls, as those whose elements
 * stand in files. */
#include "api/api.h"

#include <string.h>

/* ---- what is known of them ---- */

const void *
glen_weights_held(const glen_program *p, const char **file, size_t *bytes) {
  for (uint32_t k = 0; k < p->program->data.len; k++) {
    const gs_data *data = &p->program->data.data[k];
    if (!data->held)
      continue;
    *file = data->file;
    *bytes = data->held_size;
    return data->held;
  }
  return NULL;
}

/* ---- packing them once ---- */

typedef struct prepack_args {
  glen_context *ctx;
  glen_loops *loops;
  const char *const *names;
  uint32_t n;
  bool ok;
} prepack_args;

/* The generated code finds the elements where the file has them now.  What is
 * known of inputs is the program's own: all loops of it see the same. */
static bool
locate(const prepack_args *a, const char *name) {
  gs_program *p = (gs_program *)a->loops->loops->source;
  gs_data *data = (gs_data *)gs_find_data(p, name);
  gs_type type;
  if (!data || data->located)
    return true;
  for (uint32_t k = 0; k < p->inputs.len; k++)
    if (!strcmp(p->inputs.data[k].name, name))
      gs_type_at(p, p->inputs.data[k].term, &type);
  return data->located = gs_data_locate(&a->ctx->gs, data, &type, &data->site);
}

static void
prepack_body(void *arg) {
  prepack_args *a = arg;
  po_program *p = a->loops->loops;
  if (!api_knows_sizes(a->ctx, p, "prepacking"))
    return;
  for (uint32_t k = 0; k < a->n; k++)
    if (!api_know_input(a->ctx, p->source, a->names[k]) ||
        !locate(a, a->names[k]) || !po_prepack(p, a->names[k]))
      return;
  po_lay_out(p);
  a->ok = true;
}

bool
api_prepack(glen_context *ctx, glen_loops *loops, const char *const *names,
            uint32_t n) {
  prepack_args a = {.ctx = ctx, .loops = loops, .names = names, .n = n};
  return !n || (api_enter(ctx, prepack_body, &a) && a.ok);
}

bool
glen_prepack(glen_context *ctx, glen_loops *loops, const char *input) {
  return api_prepack(ctx, loops, &input, 1);
}
