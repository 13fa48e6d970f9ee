/* SPDX-License-Identifier: MIT */
/* cmd_import.c - `glen import`: a model in the ONNX format becomes a program
 * and the file of its weights. */
#include "cli/commands.h"
#include "cli/cli_session.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void
tell(const cl_options *o, const char *path, const glen_import_summary *s) {
  if (o->json) {
    printf("{\"schema\":1,\"nodes\":%u,\"dead\":%u,\"folded\":%u,"
           "\"weights\":%u,\"bytes\":%" PRIu64 "}\n",
           s->nodes, s->dead, s->folded, s->weights, s->bytes);
    return;
  }
  printf("%s: %u %s, of which %u were computed and %u are not needed\n", path,
         CL_COUNTED(s->nodes, "node"), s->folded, s->dead);
  if (s->weights)
    printf("%s: %u %s, %" PRIu64 " bytes\n", s->weights_file,
           CL_COUNTED(s->weights, "weight"), s->bytes);
}

/* A line a name, with limits behind blanks. */
static void
list_operators(const cl_session *session) {
  const char *text = glen_import_operators(session->glen);
  if (!session->options->json) {
    fputs(text, stdout);
    return;
  }
  fputs("{\"schema\":1,\"operators\":[", stdout);
  for (const char *at = text; *at;) {
    char name[64], limits[200];
    size_t n = strcspn(at, " \n"), line = strcspn(at, "\n");
    size_t blanks = n + strspn(at + n, " ");
    snprintf(name, sizeof name, "%.*s", (int)n, at);
    snprintf(limits, sizeof limits, "%.*s", (int)(line - blanks), at + blanks);
    fputs(at == text ? "\n{\"name\":" : ",\n{\"name\":", stdout);
    cl_print_json_text(name);
    fputs(",\"limits\":", stdout);
    cl_print_json_text(limits);
    putchar('}');
    at += line + (at[line] == '\n');
  }
  puts("]}");
}

static int
import(cl_session *session) {
  const cl_options *o = session->options;
  char path[4096];
  glen_import_summary summary;
  if (!cl_import_output(o, 0, path, sizeof path))
    return cl_failed(session);
  glen_import_options options = {.path = o->files.items[0],
                                 .dims = o->dims.items,
                                 .n_dims = o->dims.n,
                                 .output = path};
  if (!glen_import(session->glen, &options, &summary))
    return cl_failed(session);
  tell(o, path, &summary);
  return GLEN_OK;
}

int
cl_import(const cl_options *options) {
  cl_session session;
  if (!options->list_operators && !options->files.n) {
    fputs("glen: import needs a model; see glen import --help\n", stderr);
    return GLEN_USAGE;
  }
  if (!cl_open(&session, options))
    return GLEN_INTERNAL;
  int code = GLEN_OK;
  if (options->list_operators)
    list_operators(&session);
  else
    code = import(&session);
  return cl_close(&session, code);
}
