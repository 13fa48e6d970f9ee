/* SPDX-License-Identifier: MIT */
/* cmd_target_test.c - `glen target test`: do C templates do what their
 * instructions mean? */
#include "cli/commands.h"
#include "cli/cli_session.h"

#include <string.h>

typedef struct counts {
  uint32_t tested, refuted, untested, all;
} counts;

static void
print_lines(const glen_instr_test *t) {
  printf("%-8s %-20s %s\n", t->verdict, t->instr, t->reason);
  if (!strcmp(t->verdict, "refuted"))
    printf("  of %s\n%s", t->place, t->detail);
}

static void
count(counts *c, const char *verdict) {
  c->all++;
  c->tested += !strcmp(verdict, "tested");
  c->refuted += !strcmp(verdict, "refuted");
  c->untested += !strcmp(verdict, "untested");
}

static bool
test_file(cl_session *session, const char *path, counts *c) {
  const cl_options *o = session->options;
  glen_target *target = glen_target_load(session->glen, path);
  glen_instr_options options = {o->seed, o->cc, o->cc_flags.items,
                                o->cc_flags.n};
  for (uint32_t k = 0; target && k < glen_target_instrs(target); k++) {
    glen_instr_test answer;
    if (o->filter && !strstr(glen_target_instr(target, k), o->filter))
      continue;
    if (!glen_target_test(session->glen, target, k, &options, &answer))
      return false;
    if (o->json)
      printf("%s\n%s", c->all ? "," : "", answer.json);
    else
      print_lines(&answer);
    fflush(stdout);
    count(c, answer.verdict);
  }
  return target != NULL;
}

static int
test(cl_session *session) {
  const cl_options *o = session->options;
  counts c = {0};
  if (o->json)
    printf("{\"schema\":1,\"instructions\":[");
  for (uint32_t k = 0; k < o->files.n; k++)
    if (!test_file(session, o->files.items[k], &c))
      return cl_failed(session);
  if (!c.all && o->filter)
    cl_note_filter(session, "instruction");
  if (o->json)
    printf("],\"tested\":%u,\"refuted\":%u,\"untested\":%u}\n", c.tested,
           c.refuted, c.untested);
  else
    printf("%u %s: %u tested, %u refuted, %u untested\n",
           CL_COUNTED(c.all, "instruction"), c.tested, c.refuted, c.untested);
  if (c.refuted)
    return GLEN_REFUTED;
  return c.untested ? GLEN_LIMIT : GLEN_OK;
}

int
cl_target_test(const cl_options *options) {
  cl_session session;
  if (!cl_open(&session, options))
    return GLEN_INTERNAL;
  return cl_close(&session, test(&session));
}
