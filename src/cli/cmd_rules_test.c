/* SPDX-License-Identifier: MIT */
/* cmd_rules_test.c - `glen rules test`: the tests written beside the rules. */
#include "cli/commands.h"
#include "cli/cli_session.h"

#include <string.h>
#include <sys/stat.h>

typedef struct printer {
  const cl_session *session;
  bool first;
} printer;

static void
print_test(void *ctx, const char *name, bool passed, const char *detail,
           double seconds) {
  printer *p = ctx;
  if (p->session->options->json) {
    printf("%s\n{\"name\":", p->first ? "" : ",");
    cl_print_json_text(name);
    printf(",\"passed\":%s,\"detail\":", passed ? "true" : "false");
    cl_print_json_text(detail);
    putchar('}');
    p->first = false;
    return;
  }
  if (!passed)
    printf("FAIL %s: %s\n", name, detail);
  else if (p->session->options->verbose)
    printf("ok   %s: %s (%.2f s)\n", name, detail, seconds);
}

static int
test(cl_session *session) {
  printer p = {session, true};
  glen_test_counts counts;
  glen_target *target = cl_target(session);
  glen_rules *rules = target ? cl_rules(session, target) : NULL;
  if (!rules)
    return cl_failed(session);
  if (session->options->json)
    printf("{\"schema\":1,\"tests\":[");
  const cl_options *o = session->options;
  uint32_t random = o->random < UINT32_MAX ? (uint32_t)o->random : UINT32_MAX;
  bool ok = random
                ? glen_rules_test_random(session->glen, rules, random, o->seed,
                                         o->filter, print_test, &p, &counts)
                : glen_rules_test(session->glen, rules, o->filter, print_test,
                                  &p, &counts);
  if (!ok)
    return cl_failed(session);
  if (!counts.passed && !counts.failed)
    cl_note_filter(session, random ? "rule" : "test");
  if (session->options->json)
    printf("],\"passed\":%u,\"failed\":%u}\n", counts.passed, counts.failed);
  else
    printf("%u passed, %u failed\n", counts.passed, counts.failed);
  return counts.failed ? GLEN_REFUTED : GLEN_OK;
}

/* The folder of tests that belongs to a folder of rules, as `tests/rules` does
 * to `rules` beside it; false where there is none. */
static bool
tests_of(const char *rules, char *path, size_t size) {
  struct stat status;
  size_t n = strlen(rules);
  while (n > 1 && rules[n - 1] == '/')
    n--;
  size_t start = n;
  while (start && rules[start - 1] != '/')
    start--;
  int length = snprintf(path, size, "%.*stests/%.*s", (int)start, rules,
                        (int)(n - start), rules + start);
  return length > 0 && (size_t)length < size && !stat(rules, &status) &&
         S_ISDIR(status.st_mode) && !stat(path, &status) &&
         S_ISDIR(status.st_mode);
}

int
cl_rules_test(const cl_options *options) {
  cl_session session;
  cl_options settings = *options;
  /* Files may be given as operands, too: `glen rules test rules/`. */
  static char tests[CL_MAX_LIST][512];
  for (uint32_t k = 0; k < options->files.n && settings.rules.n < CL_MAX_LIST;
       k++) {
    settings.rules.items[settings.rules.n++] = options->files.items[k];
    if (settings.rules.n < CL_MAX_LIST && !options->random &&
        tests_of(options->files.items[k], tests[k], sizeof tests[k]))
      settings.rules.items[settings.rules.n++] = tests[k];
  }
  if (!settings.rules.n) {
    fputs("glen: rules test needs a rule file or a directory of them\n",
          stderr);
    return GLEN_USAGE;
  }
  if (!cl_open(&session, &settings))
    return GLEN_INTERNAL;
  return cl_close(&session, test(&session));
}
