/* SPDX-License-Identifier: MIT */
/* cmd_layout.c - `glen layout`: how arrays should lie in memory, and the script
 * that puts them there. */
#include "cli/commands.h"
#include "cli/cli_session.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_WIDTHS = 16, WIDEST = 65536 };

/* "4,8,16": false for anything else. */
static bool
read_widths(const char *text, int64_t *widths, uint32_t *n) {
  for (*n = 0; *n < MOST_WIDTHS; text++) {
    char *end;
    long long width =
        *text >= '0' && *text <= '9' ? strtoll(text, &end, 10) : 0;
    if (width < 2 || width > WIDEST)
      return false;
    widths[(*n)++] = width;
    text = end;
    if (*text != ',')
      return !*text;
  }
  return false;
}

static glen_loops *
load(cl_session *s, const cl_options *o) {
  const char *path = o->files.items[0];
  glen_target *target = cl_target(s);
  if (!target)
    return NULL;
  if (cl_is_loops(path))
    return glen_loops_load_at(s->glen, target, path, o->strict_fp,
                              o->sizes.items, o->sizes.n);
  const glen_program *program = cl_load_program(s, target, path);
  return program ? glen_lower(s->glen, program, target, o->strict_fp) : NULL;
}

int
cl_layout(const cl_options *options) {
  cl_session session = {0};
  int64_t widths[MOST_WIDTHS];
  uint32_t n;
  const char *list = options->widths;
  glen_layout_cost cost = GLEN_LAYOUT_DOC;
  glen_layout_cost_find(options->layout_cost, &cost);
  if (!list)
    list = cost == GLEN_LAYOUT_LINES ? "4,8,16,32" : "8";
  if (!read_widths(list, widths, &n)) {
    fprintf(stderr,
            "glen: --widths: expected up to %d numbers from 2 to %d, such as "
            "4,8,16, not %s\n",
            MOST_WIDTHS, WIDEST, list);
    return GLEN_USAGE;
  }
  if (!cl_open(&session, options))
    return GLEN_INTERNAL;
  glen_loops *loops = load(&session, options);
  const char *text = loops ? glen_layout(session.glen, loops, cost, widths, n,
                                         options->keep_order)
                           : NULL;
  bool ok = text != NULL;
  if (ok && options->output)
    ok = cl_write(&session, options->output, text);
  if (ok && options->json)
    cl_print_json_object("script", text);
  else if (ok && !options->output)
    fputs(text, stdout);
  return cl_close(&session, ok ? GLEN_OK : cl_failed(&session));
}
