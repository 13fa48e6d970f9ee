/* SPDX-License-Identifier: MIT */
/* cli_weights.c - which inputs are packed once for all calls: those of
 * --prepack, or, unless it was asked for otherwise, those whose elements stand
 * in files. What a model keeps in memory is written beside the code that opens
 * it. */
#include "cli/cli_session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Code for a device has no such inputs, and an option that names some means
 * these. */
static bool
takes_files(const cl_options *o) {
  return o->weights && !strcmp(o->weights, "init") && !o->prepack.n &&
         !cl_emits_device(o);
}

bool
cl_choose_prepacked(cl_session *session, const glen_program *program) {
  const cl_options *o = session->options;
  uint32_t n = glen_program_inputs(program);
  session->prepack = o->prepack.items;
  session->n_prepack = o->prepack.n;
  if (!takes_files(o))
    return true;
  session->files = calloc(n + 1u, sizeof *session->files);
  if (!session->files) {
    fputs("glen: out of memory\n", stderr);
    return false;
  }
  for (uint32_t k = 0; k < n; k++)
    if (glen_input_is_stored(program, k))
      session->files[session->n_prepack++] = glen_input_name(program, k);
  session->prepack = session->files;
  return true;
}

/* Beside the code, where NAME_init of its folder looks for them. */
bool
cl_write_weights(cl_session *session, const glen_program *program) {
  const cl_options *o = session->options;
  const char *file, *slash = o->output ? strrchr(o->output, '/') : NULL;
  char path[4096];
  size_t bytes;
  const void *held = glen_weights_held(program, &file, &bytes);
  if (!held || !session->files || cl_to_stream(o))
    return true;
  int folder = slash ? (int)(slash + 1 - o->output) : 0;
  int n = snprintf(path, sizeof path, "%.*s%s", folder, o->output, file);
  if (n < 0 || (size_t)n >= sizeof path) {
    fputs("glen: the path of the weights is too long\n", stderr);
    return false;
  }
  cl_note(session, "%s: the weights, %zu bytes\n", path, bytes);
  return glen_write_file(session->glen, path, held, bytes);
}
