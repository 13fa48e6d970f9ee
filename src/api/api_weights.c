/* SPDX-License-Identifier: MIT */
/* api_weights.c - inputs that are the same for all calls, as those whose
 * elements stand in files. */
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

/* The generated code finds the elements where the file has them now.  What is
 * known of inputs is the program's own: all loops of it see the same. */
static bool
locate(glen_context *ctx, const gs_program *p, const char *name) {
  const gs_data *data = gs_find_data(p, name);
  gs_type type;
  if (!data || data->site->known)
    return true;
  for (uint32_t k = 0; k < p->inputs.len; k++)
    if (!strcmp(p->inputs.data[k].name, name))
      gs_type_at(p, p->inputs.data[k].term, &type);
  return data->site->known = gs_data_locate(&ctx->gs, data, &type, data->site);
}

bool
api_prepack(glen_context *ctx, glen_loops *loops, const char *const *names,
            uint32_t n) {
  if (!n)
    return true;
  API_ENTER(ctx, false);
  po_program *p = loops->loops;
  api_free_parts(loops); /* see api_most_keys */
  for (uint32_t k = 0; k < n; k++)
    if (!api_know_input(ctx, p->source, names[k]) ||
        !locate(ctx, p->source, names[k]) || !po_prepack(p, names[k]))
      return false;
  po_lay_out(p);
  return true;
}

bool
glen_prepack(glen_context *ctx, glen_loops *loops, const char *input) {
  return api_prepack(ctx, loops, &input, 1);
}
