/* SPDX-License-Identifier: MIT */
/* cmd_rules_check.c - `glen rules check`: what is wrong in rule files.  The
 * findings are what the command is asked for, so they go to stdout. */
#include "cli/commands.h"
#include "cli/cli_session.h"

#include <string.h>

static void
print_json(cl_session *session, const glen_check_counts *c) {
  const char *line = glen_take_diagnostics(session->glen, GLEN_DIAG_JSON);
  printf("{\"schema\":1,\"files\":%u,\"rules\":%u,\"tried\":%u,\"errors\":%u,"
         "\"warnings\":%u,\"remarks\":%u,\"findings\":[",
         c->files, c->rules, c->tried, c->errors, c->warnings, c->remarks);
  for (bool first = true; *line; first = false) {
    size_t n = strcspn(line, "\n");
    printf("%s\n%.*s", first ? "" : ",", (int)n, line);
    line += n + (line[n] == '\n');
  }
  printf("]}\n");
}

static void
print_text(cl_session *session, const glen_check_counts *c) {
  const cl_options *o = session->options;
  bool lines = !strcmp(o->error_format, "json");
  glen_diag_format format = lines                ? GLEN_DIAG_JSON
                            : cl_stdout_color(o) ? GLEN_DIAG_COLOR
                                                 : GLEN_DIAG_TEXT;
  fputs(glen_take_diagnostics(session->glen, format), stdout);
  if (!lines)
    printf("%u %s, %u %s (%u tried on shapes): %u %s, %u %s\n",
           CL_COUNTED(c->files, "file"), CL_COUNTED(c->rules, "rule"), c->tried,
           CL_COUNTED(c->errors, "error"), CL_COUNTED(c->warnings, "warning"));
}

static int
check(cl_session *session, const cl_options *o) {
  glen_check_options what = {.paths = o->rules.items,
                             .n_paths = o->rules.n,
                             .params = o->params.items,
                             .n_params = o->params.n,
                             .remarks = o->verbose};
  glen_check_counts counts;
  glen_target *target = cl_target(session);
  if (!target)
    return cl_failed(session);
  bool ok = glen_rules_check(session->glen, target, &what, &counts);
  if (o->json)
    print_json(session, &counts);
  else
    print_text(session, &counts);
  if (!ok)
    return glen_failure(session->glen);
  return o->strict && counts.warnings ? GLEN_BAD_INPUT : GLEN_OK;
}

int
cl_rules_check(const cl_options *options) {
  cl_session session;
  cl_options settings = *options;
  for (uint32_t k = 0; k < options->files.n && settings.rules.n < CL_MAX_LIST;
       k++)
    settings.rules.items[settings.rules.n++] = options->files.items[k];
  if (!settings.rules.n && !options->list) {
    fputs("glen: rules check needs a rule file or a directory of them\n",
          stderr);
    return GLEN_USAGE;
  }
  if (!cl_open(&session, &settings))
    return GLEN_INTERNAL;
  if (!options->list)
    return cl_close(&session, check(&session, &settings));
  fputs(glen_rules_functions(session.glen, options->json), stdout);
  return cl_close(&session, GLEN_OK);
}
