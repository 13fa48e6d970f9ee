/* SPDX-License-Identifier: MIT */
/* cmd_rules_ablate.c - `glen rules ablate`: what each rule is worth to a
 * program.
 */
#include "cli/commands.h"
#include "cli/cli_session.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static void
draw(void *ctx, uint32_t done, uint32_t of, const char *rule) {
  (void)ctx;
  fprintf(stderr, "\r\033[Kwithout %s (%u of %u)", rule, done + 1, of);
  fflush(stderr);
}

/* The shortest text that reads back equal. */
static void
print_json_run(const glen_ablation *a, bool seconds) {
  printf("{\"stop\":\"%s\",\"iterations\":%u,\"nodes\":%u,\"classes\":%u,"
         "\"cost\":",
         a->stop, a->iterations, a->nodes, a->classes);
  cl_print_json_number(a->cost);
  if (seconds)
    printf(",\"seconds\":%.9g", a->seconds);
}

static void
print_json(const glen_ablation *a, uint32_t n, bool seconds) {
  printf("{\"schema\":1,\"all\":");
  print_json_run(&a[0], seconds);
  printf("},\"without\":[");
  for (uint32_t k = 1; k < n; k++) {
    printf("%s\n{\"rule\":", k > 1 ? "," : "");
    cl_print_json_text(a[k].rule);
    printf(",\"led\":%s,\"run\":", a[k].led ? "true" : "false");
    print_json_run(&a[k], seconds);
    printf("}}");
  }
  printf("]}\n");
}

/* "+12.5%" of what it was with all rules. */
static void
print_change(double now, double all, int width) {
  char text[32];
  if (!isfinite(now) || !(all > 0))
    snprintf(text, sizeof text, "-");
  else if (now == all)
    snprintf(text, sizeof text, "=");
  else
    snprintf(text, sizeof text, "%+.2f%%", 100 * (now - all) / all);
  printf(" %*s", width, text);
}

static void
print_run(const glen_ablation *a, const glen_ablation *all, bool seconds) {
  printf("%-32s %14.6g", a->rule ? a->rule : "(all rules)", a->cost);
  print_change(a->cost, all->cost, 10);
  printf(" %10u", a->nodes);
  print_change(a->nodes, all->nodes, 10);
  printf(" %6u", a->iterations);
  if (seconds)
    printf(" %9.4f", a->seconds);
  printf("  %s%s\n", a->stop, a->led ? ", led" : "");
}

static void
print_table(const glen_ablation *a, uint32_t n, bool seconds) {
  printf("%-32s %14s %10s %10s %10s %6s%s  stop\n", "without", "cost", "",
         "e-nodes", "", "rounds", seconds ? "   seconds" : "");
  for (uint32_t k = 0; k < n; k++)
    print_run(&a[k], &a[0], seconds);
}

static int
ablate(cl_session *session) {
  const cl_options *o = session->options;
  glen_saturate_options options;
  bool shown = !o->quiet && isatty(STDERR_FILENO);
  uint32_t n;
  glen_target *target = cl_target(session);
  glen_program *program =
      target ? glen_program_load(session->glen, target, o->files.items[0])
             : NULL;
  glen_rules *rules = program ? cl_rules(session, target) : NULL;
  if (!rules)
    return cl_failed(session);
  cl_saturate_options(session, &options);
  const glen_ablation *a =
      glen_rules_ablate(session->glen, program, rules, target, &options,
                        o->filter, shown ? draw : NULL, NULL, &n);
  if (shown)
    fputs("\r\033[K", stderr);
  if (!a)
    return cl_failed(session);
  if (n == 1 && o->filter)
    cl_note_filter(session, "rule that fired");
  if (o->json)
    print_json(a, n, o->timings);
  else
    print_table(a, n, o->timings);
  return GLEN_OK;
}

int
cl_rules_ablate(const cl_options *options) {
  cl_session session;
  if (!cl_open(&session, options))
    return GLEN_INTERNAL;
  return cl_close(&session, ablate(&session));
}
