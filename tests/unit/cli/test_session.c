/* SPDX-License-Identifier: MIT */
/* What every command does around its work: how often a signal is asked for
 * before it ends the program, colours, and numbers and texts as JSON. */
#include "cli/cli_session.h"
#include "printed.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static cl_options
options_of(const char *color) {
  cl_options o = {.color = color,
                  .error_format = "text",
                  .form = "",
                  .memory_limit = CL_AUTO};
  return o;
}

/* ---- signals ---- */

/* Longer than what counts as one request. */
static void
wait_a_moment(void) {
  nanosleep(&(struct timespec){0, 400 * 1000 * 1000}, NULL);
}

/* Asks for the end of a saturation from within it. */
static void
within_work(void (*call)(void *, const glen_progress *)) {
  static const char program[] =
      "(tensor x (shape 4) f32)(let y (compute neg (compute neg x)))(output y)";
  static const char text[] =
      "(rule twice (compute neg (compute neg ?a)) => ?a)";
  cl_options o = options_of("never");
  cl_session session;
  cr_assert(cl_open(&session, &o));
  glen_saturate_options how;
  glen_saturate_defaults(&how);
  how.progress = call;
  glen_target *target = glen_target_load(session.glen, NULL);
  glen_program *p = glen_program_parse(session.glen, target, "p", program,
                                       sizeof program - 1);
  glen_rules *rules = glen_rules_parse(session.glen, target, NULL, 0, "r", text,
                                       sizeof text - 1);
  cr_assert(p && rules, "%s",
            glen_take_diagnostics(session.glen, GLEN_DIAG_TEXT));
  glen_result_free(glen_saturate(session.glen, p, rules, target, &how));
  cl_close(&session, 0);
}

static void
ask_twice(void *context, const glen_progress *p) {
  (void)context;
  if (p->iteration > 1)
    return;
  alarm(0);
  raise(SIGINT);
  cr_expect_eq(alarm(0), 0, "one request leaves all the time there is");
  wait_a_moment();
  raise(SIGINT);
  unsigned left = alarm(0);
  cr_expect(left >= 1 && left <= 60, "two leave %u seconds", left);
}

static void
ask_thrice(void *context, const glen_progress *p) {
  (void)context;
  for (int k = 0; k < 3 && p->iteration == 1; k++) {
    raise(SIGINT);
    wait_a_moment();
  }
}

Test(session, the_second_request_leaves_seconds) {
  within_work(ask_twice);
}

Test(session, the_third_request_ends, .signal = SIGINT) {
  within_work(ask_thrice);
}

Test(session, a_request_that_nothing_listens_to_ends, .signal = SIGINT) {
  cl_options o = options_of("never");
  cl_session session;
  cr_assert(cl_open(&session, &o));
  raise(SIGINT);
}

Test(session, a_request_to_end_ends, .signal = SIGTERM) {
  cl_options o = options_of("never");
  cl_session session;
  cr_assert(cl_open(&session, &o));
  raise(SIGTERM);
}

Test(session, a_pipe_that_is_closed_does_not) {
  cl_options o = options_of("never");
  cl_session session;
  cr_assert(cl_open(&session, &o));
  raise(SIGPIPE);
  cr_expect_eq(cl_close(&session, 3), 3);
}

/* ---- colours ---- */

Test(session, colours_are_asked_for_or_forbidden) {
  static const struct {
    const char *color, *force, *no;
    bool wanted; /* stderr is no terminal here */
  } rows[] = {
      {"always", NULL, NULL, true}, {"always", NULL, "1", true},
      {"always", "0", "1", true},   {"never", "1", NULL, false},
      {"never", NULL, NULL, false}, {"auto", NULL, NULL, false},
      {"auto", "1", NULL, true},    {"auto", "0", NULL, false},
      {"auto", "", NULL, false},    {"auto", "1", "1", false},
      {"auto", "1", "", true},      {"auto", NULL, "", false},
  };
  cr_assert(freopen("/dev/null", "w", stderr));
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    cl_options o = options_of(rows[k].color);
    cl_session session;
    unsetenv("CLICOLOR_FORCE");
    unsetenv("NO_COLOR");
    if (rows[k].force)
      setenv("CLICOLOR_FORCE", rows[k].force, 1);
    if (rows[k].no)
      setenv("NO_COLOR", rows[k].no, 1);
    cr_assert(cl_open(&session, &o));
    cr_expect_eq(session.color, rows[k].wanted, "row %zu", k);
    cl_close(&session, 0);
  }
}

/* ---- what is executed ---- */

Test(session, what_may_not_execute_is_refused) {
  static const struct {
    const char *command, *variable;
    bool option, interpret, tune, refused;
  } rows[] = {
      {"run", NULL, false, false, false, false},
      {"run", NULL, true, false, false, true},
      {"run", NULL, true, true, false, false},
      {"run", "1", false, false, false, true},
      {"run", "0", false, false, false, false},
      {"run", "", false, false, false, false},
      {"run", "1", false, true, false, false},
      {"compile", NULL, true, false, false, false},
      {"compile", NULL, true, false, true, true},
      {"compile", "1", false, false, true, true},
      {"compile", NULL, false, false, true, false},
      {"run", NULL, true, true, true, true},
      {"target test", NULL, true, false, false, true},
      {"target test", NULL, false, false, false, false},
      {"saturate", NULL, true, false, false, false},
  };
  cr_assert(freopen("/dev/null", "w", stderr));
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    cl_options o = options_of("never");
    const cl_command *command = NULL;
    for (size_t i = 0; i < cl_command_count; i++)
      if (!strcmp(cl_commands[i].name, rows[k].command))
        command = &cl_commands[i];
    cr_assert(command);
    o.no_native = rows[k].option;
    o.interpret = rows[k].interpret;
    o.tune = rows[k].tune ? 3 : 0;
    unsetenv("GLEN_NO_NATIVE");
    if (rows[k].variable)
      setenv("GLEN_NO_NATIVE", rows[k].variable, 1);
    cr_expect_eq(cl_refuse_native(command, &o),
                 rows[k].refused ? GLEN_USAGE : GLEN_OK, "row %zu", k);
  }
}

/* ---- JSON ---- */

static void
print_text(const void *text) {
  cl_print_json_text(text);
}

static void
print_number(const void *x) {
  cl_print_json_number(*(const double *)x);
}

Test(json, texts_are_escaped) {
  static const char *const rows[][2] = {
      {"", "\"\""},          {"a b", "\"a b\""},
      {"\"", "\"\\\"\""},    {"\\", "\"\\\\\""},
      {"\n", "\"\\u000a\""}, {"\x1f ", "\"\\u001f \""},
      {"\x7f", "\"\x7f\""},  {"\xc3\xa9", "\"\xc3\xa9\""}};
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
    cr_expect_str_eq(printed(1, print_text, rows[k][0]), rows[k][1]);
}

Test(json, numbers_are_read_as_they_were) {
  static const double rows[] = {
      0,     1,      -1,       0.1,       1 / 3.0,
      2e300, 5e-324, 1e16 + 2, 0.1 + 0.2, 123456789012345680};
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    const char *text = printed(1, print_number, &rows[k]);
    cr_expect_eq(strtod(text, NULL), rows[k], "%s", text);
  }
  double tenth = 0.1, bad = INFINITY;
  cr_expect_str_eq(printed(1, print_number, &tenth), "0.1");
  cr_expect_str_eq(printed(1, print_number, &bad), "null");
}
