/* SPDX-License-Identifier: MIT */
/* cmd_rules_fmt.c - `glen rules fmt`: source files brought to their one form,
 * in place; or, with --check, those named that are not. */
#include "cli/commands.h"
#include "cli/cli_session.h"

#include <string.h>

typedef struct formatter {
  cl_session *session;
  uint32_t files, differ;
  bool ok;
} formatter;

static void
take(void *ctx, const glen_formatted *f) {
  formatter *to = ctx;
  const cl_options *o = to->session->options;
  bool from_stdin = !strcmp(f->path, "-");
  to->files++;
  to->differ += f->differs;
  if (o->json && f->differs) {
    fputs(to->differ > 1 ? "," : "", stdout);
    cl_print_json_text(f->path);
  }
  if (o->json && (o->check || from_stdin))
    return;
  if (o->check) {
    if (f->differs)
      printf("%s\n", from_stdin ? "<stdin>" : f->path);
  } else if (from_stdin) {
    fwrite(f->text, 1, f->size, stdout);
  } else if (f->differs) {
    /* In place: each file is whole by itself. */
    to->ok &= glen_replace_file(to->session->glen, f->path, f->text, f->size);
    cl_note(to->session, "formatted %s\n", f->path);
  }
}

static int
format(cl_session *session) {
  const cl_options *o = session->options;
  formatter f = {session, 0, 0, true};
  if (o->json)
    fputs("{\"schema\":1,\"differ\":[", stdout);
  for (uint32_t k = 0; k < o->files.n; k++)
    f.ok &= glen_format(session->glen, o->files.items[k], take, &f);
  if (o->json)
    printf("],\"files\":%u}\n", f.files);
  if (!f.ok)
    return cl_failed(session);
  if (!o->check || !f.differ)
    return GLEN_OK;
  cl_note(session, "%u of %u %s %s from the form that glen rules fmt gives\n",
          f.differ, CL_COUNTED(f.files, "file"),
          f.differ == 1 ? "differs" : "differ");
  return GLEN_BAD_INPUT;
}

int
cl_rules_fmt(const cl_options *options) {
  cl_session session;
  if (!cl_open(&session, options))
    return GLEN_INTERNAL;
  return cl_close(&session, format(&session));
}
