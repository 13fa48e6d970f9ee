/* SPDX-License-Identifier: MIT */
/* cmd_schedule.c - `glen schedule`: a script of schedule primitives applied to
 * the loops of a program. */
#include "cli/commands.h"
#include "cli/cli_session.h"

#include <string.h>

typedef struct job {
  cl_session session;
  glen_loops *loops;
  const char *printed;
} job;

static bool
ends_in(const char *path, const char *suffix) {
  size_t n = strlen(path), m = strlen(suffix);
  return n >= m && !strcmp(path + n - m, suffix);
}

static bool
load(job *j, const cl_options *o) {
  glen_context *glen = j->session.glen;
  const char *path = o->files.items[0];
  glen_target *target = cl_target(&j->session);
  if (!target)
    return false;
  if (ends_in(path, ".loops")) {
    j->loops = cl_read_loops(&j->session, path, true);
    return j->loops != NULL;
  }
  const glen_program *program = cl_load_program(&j->session, target, path);
  if (program)
    j->loops = glen_lower(glen, program, target, o->strict_fp);
  return j->loops != NULL;
}

/* Whole schedules that are printed. */
enum { MOST_RESULTS = 12 };

static const char *
text_of(job *j, const char *what) {
  glen_context *glen = j->session.glen;
  glen_printed printed;
  if (glen_printed_find(what, &printed))
    return glen_schedule_print(glen, j->loops, printed);
  return (j->session.options->json ? glen_results : glen_strategies)(
      glen, j->loops, MOST_RESULTS);
}

static bool
print_word(job *j, const char *word, size_t n) {
  char what[16];
  snprintf(what, sizeof what, "%.*s", (int)n, word);
  const char *text = text_of(j, what);
  if (!text)
    return false;
  if (!j->session.options->json) {
    fputs(text, stdout);
    return true;
  }
  printf(",\"%s\":", what);
  if (!strcmp(what, "results"))
    fputs(text, stdout);
  else
    cl_print_json_text(text);
  return true;
}

/* With --json one object: what the script said, then each word's text. */
static void
start_printing(const job *j) {
  if (j->session.options->json) {
    fputs("{\"schema\":1,\"explained\":", stdout);
    cl_print_json_text(j->printed ? j->printed : "");
  } else if (j->printed)
    fputs(j->printed, stdout);
}

static bool
print_all(job *j, const char *words) {
  while (words && *words) {
    size_t n = strcspn(words, ",");
    if (!print_word(j, words, n))
      return false;
    words += n + (words[n] == ',');
  }
  return true;
}

static bool
write_code(job *j, const cl_options *o) {
  const char *c, *h, *name = o->name ? o->name : "kernel";
  bool cuda = ends_in(o->output, ".cu"), kernels = ends_in(o->output, ".cl");
  bool host = ends_in(o->output, ".cl.c");
  if ((cuda || kernels || host) && !o->script &&
      !glen_bind(j->session.glen, j->loops))
    return false;
  if (cuda) {
    c = glen_emit_cuda(j->session.glen, j->loops, name);
    return c && cl_write(&j->session, o->output, c);
  }
  if (kernels || host)
    return glen_emit_opencl(j->session.glen, j->loops, name, &c, &h) &&
           cl_write(&j->session, o->output, host ? h : c);
  if (!glen_emit_c(j->session.glen, j->loops, name, NULL, &c, &h))
    return false;
  return cl_write(&j->session, o->output, c);
}

static bool
schedule(job *j, const cl_options *o) {
  bool ok = load(j, o) && cl_schedule_loops(&j->session, j->loops, &j->printed);
  if (!ok) {
    fputs(j->printed ? j->printed : "", stdout);
    return false;
  }
  start_printing(j);
  const char *print = o->print;
  if (!print && !o->output && !(j->printed && *j->printed))
    print = "loops";
  ok = print_all(j, print);
  if (o->json && j->session.tuned)
    printf(",\"tune\":%s", j->session.tuned);
  if (o->json)
    puts("}");
  return ok && (!o->output || o->dry_run || write_code(j, o));
}

static bool
check_words(const char *words) {
  static const char *const known[] = {"loops", "program", "tree",    "axes",
                                      "deps",  "script",  "results", "fused"};
  while (words && *words) {
    size_t n = strcspn(words, ","), k = 0;
    while (k < 8 && (strlen(known[k]) != n || memcmp(known[k], words, n)))
      k++;
    if (k == 8) {
      fprintf(stderr,
              "glen: --print: unknown word \"%.*s\"; one of: loops program "
              "tree axes deps script results fused\n",
              (int)n, words);
      return false;
    }
    words += n + (words[n] == ',');
  }
  return true;
}

int
cl_schedule(const cl_options *options) {
  job j = {0};
  if (options->list) {
    if (!cl_open(&j.session, options))
      return GLEN_INTERNAL;
    if (options->json)
      cl_print_json_object("commands", glen_schedule_help(j.session.glen));
    else
      fputs(glen_schedule_help(j.session.glen), stdout);
    return cl_close(&j.session, GLEN_OK);
  }
  if (!options->files.n) {
    fputs("glen: schedule: a program is needed\n", stderr);
    return GLEN_USAGE;
  }
  if (!check_words(options->print))
    return GLEN_USAGE;
  if (!cl_open(&j.session, options))
    return GLEN_INTERNAL;
  int code = schedule(&j, options) ? GLEN_OK : cl_failed(&j.session);
  if (!code && j.session.wrong)
    code = GLEN_REFUTED;
  return cl_close(&j.session, code);
}
