/* SPDX-License-Identifier: MIT */
/* cli_session.c - see cli_session.h.  The only place where the command line
 * touches signals, the terminal and stderr; commands stay a few lines each. */
#include "cli/cli_session.h"
#include "cli/options_table.h"
#include "cli/progress.h"

#include <math.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The context that Ctrl-C stops; a signal handler has no other argument. */
static glen_context *volatile interrupted;

/* Whether and when the first SIGINT came. */
static volatile sig_atomic_t was_interrupted;
static struct timespec interrupted_at;

/* Two signals of one request: timeout(1), for one, signals its child and then
 * the child's process group. */
#define ONE_REQUEST_MS 300

static long
milliseconds_since(const struct timespec *then, const struct timespec *now) {
  return (long)(now->tv_sec - then->tv_sec) * 1000 +
         (now->tv_nsec - then->tv_nsec) / 1000000;
}

/* Seconds in which what was asked to stop twice may tidy up. */
#define GRACE 2

static void
end_by(int number) {
  if (interrupted)
    glen_abandon(interrupted);
  signal(number, SIG_DFL);
  raise(number);
}

static void
end_now(int number) {
  (void)number;
  end_by(SIGINT);
}

static void
on_interrupt(int number) {
  static volatile sig_atomic_t requests;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (was_interrupted &&
      milliseconds_since(&interrupted_at, &now) <= ONE_REQUEST_MS)
    return;
  was_interrupted = 1;
  interrupted_at = now;
  /* A second Ctrl-C leaves some time to remove temporary files; a third, or
   * one that nothing listens to, ends the program. */
  if (++requests > 2 || !interrupted || !glen_interrupt(interrupted))
    end_now(number);
  else if (requests == 2)
    alarm(GRACE);
}

static bool
wants_color(const char *when, int fd) {
  const char *force = getenv("CLICOLOR_FORCE"), *no = getenv("NO_COLOR");
  if (!strcmp(when, "always"))
    return true;
  if (!strcmp(when, "never") || (no && *no))
    return false;
  if (force && *force && strcmp(force, "0"))
    return true;
  return isatty(fd);
}

bool
cl_stdout_color(const cl_options *options) {
  return wants_color(options->color, STDOUT_FILENO);
}

void
cl_limit(glen_context *glen, const cl_options *o) {
  size_t bytes = o->memory_limit == CL_AUTO ? glen_default_memory_limit()
                                            : (size_t)o->memory_limit;
  glen_limit(glen, o->time_limit, bytes);
}

static bool
is_set(const char *variable) {
  const char *value = getenv(variable);
  return value && *value && strcmp(value, "0");
}

static bool
is_without_native(const cl_options *o) {
  return o->no_native || is_set("GLEN_NO_NATIVE");
}

/* What would compile and run is known beforehand, by its options. */
int
cl_refuse_native(const cl_command *command, const cl_options *o) {
  int bit = cl_command_bit(command);
  bool runs = bit == RUN && !o->interpret, tests = bit == TARGET_TEST;
  if (!is_without_native(o) || (!runs && !tests && !o->tune))
    return GLEN_OK;
  fprintf(stderr,
          "glen: %s%s needs the C compiler and executes what it made, which "
          "--no-native (or GLEN_NO_NATIVE) forbids%s\n",
          o->tune ? "" : "glen ", o->tune ? "--tune" : command->name,
          runs && !o->tune ? "; try --interpret" : "");
  return GLEN_USAGE;
}

bool
cl_open(cl_session *session, const cl_options *options) {
  session->options = options;
  session->wrong = session->failed = false;
  session->refused = GLEN_OK;
  session->prepack = options->prepack.items;
  session->n_prepack = options->prepack.n;
  session->files = NULL;
  session->tuned = NULL;
  session->color = wants_color(options->color, STDERR_FILENO);
  session->glen = glen_context_new(NULL, 0);
  if (!session->glen || !glen_outputs_begin(session->glen)) {
    fputs("glen: out of memory\n", stderr);
    return false;
  }
  cl_limit(session->glen, options);
  glen_model_dims(session->glen, options->dims.items, options->dims.n);
  interrupted = session->glen;
  if (is_without_native(options))
    glen_forbid_native(session->glen);
  signal(SIGINT, on_interrupt);
  signal(SIGTERM, end_by);
  if (signal(SIGHUP, end_by) == SIG_IGN)
    signal(SIGHUP, SIG_IGN); /* nohup */
  signal(SIGALRM, end_now);
  signal(SIGPIPE, SIG_IGN);
  return true;
}

/* What was printed stands before what is said of it.  That it could not be is
 * told in the end. */
static int flush_error;

static void
flush_quietly(void) {
  if (fflush(stdout) && !flush_error)
    flush_error = errno;
}

static void
show_diagnostics(cl_session *session) {
  glen_diag_format format = session->color ? GLEN_DIAG_COLOR : GLEN_DIAG_TEXT;
  if (!strcmp(session->options->error_format, "json"))
    format = GLEN_DIAG_JSON;
  flush_quietly();
  fputs(glen_take_diagnostics(session->glen, format), stderr);
}

int
cl_failed(cl_session *session) {
  show_diagnostics(session);
  session->failed = true;
  return was_interrupted    ? 128 + SIGINT
         : session->refused ? session->refused
                            : (int)glen_failure(session->glen);
}

bool
cl_flush(void) {
  errno = 0;
  bool flushed = !fflush(stdout);
  if (flushed && !ferror(stdout))
    return true;
  if (flush_error)
    errno = flush_error;
  fprintf(stderr, "glen: cannot write to stdout%s%s\n", errno ? ": " : "",
          errno ? strerror(errno) : "");
  clearerr(stdout);
  return false;
}

int
cl_close(cl_session *session, int code) {
  if (!cl_flush()) {
    session->failed = true;
    code = code ? code : GLEN_BAD_INPUT;
  }
  if (!session->failed &&
      !(cl_write_depfile(session, code) && glen_outputs_commit(session->glen)))
    code = cl_failed(session);
  show_diagnostics(session);
  interrupted = NULL;
  glen_context_free(session->glen);
  free(session->files);
  return code;
}

glen_target *
cl_target(cl_session *session) {
  return glen_target_named(session->glen, session->options->target);
}

static uint32_t
to_u32(uint64_t n) {
  return n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

void
cl_saturate_options(cl_session *session, glen_saturate_options *out) {
  const cl_options *o = session->options;
  glen_saturate_defaults(out);
  out->iterations = to_u32(o->iter_limit);
  out->nodes = to_u32(o->node_limit);
  out->bytes = 0; /* by cl_limit */
  out->seconds = 0;
  out->matches_a_rule = o->match_limit;
  out->work = o->work_limit;
  out->backoff = !strcmp(o->scheduler, "backoff");
  out->strategy = o->strategy;
  out->disabled = o->disabled.items;
  out->n_disabled = o->disabled.n;
  glen_extractor_find(o->extractor, &out->extractor);
  glen_regions_find(o->regions, &out->regions);
  out->strict_fp = o->strict_fp;
  out->prepack = session->prepack;
  out->n_prepack = session->n_prepack;
  out->extract_seconds = o->extract_time;
}

bool
cl_write(cl_session *session, const char *path, const char *text) {
  if (!strcmp(path, "-")) {
    fputs(text, stdout);
    return true;
  }
  return glen_write_file(session->glen, path, text, strlen(text));
}

bool
cl_write_in(cl_session *session, const char *dir, const char *name,
            const char *text) {
  char path[4096];
  int n = snprintf(path, sizeof path, "%s/%s", dir, name);
  if (n < 0 || (size_t)n >= sizeof path) {
    fprintf(stderr, "glen: the path is too long: %s\n", dir);
    return false;
  }
  if (mkdir(dir, 0777) && errno != EEXIST) {
    fprintf(stderr, "glen: cannot make directory %s: %s\n", dir,
            strerror(errno));
    return false;
  }
  return cl_write(session, path, text);
}

void
cl_print_json_text(const char *s) {
  putchar('"');
  for (; *s; s++) {
    unsigned char c = (unsigned char)*s;
    if (c == '"' || c == '\\')
      printf("\\%c", c);
    else if (c < 0x20)
      printf("\\u%04x", c);
    else
      putchar(c);
  }
  putchar('"');
}

void
cl_print_json_number(double x) {
  char text[40] = "null";
  for (int digits = 15; isfinite(x) && digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, x);
    if (strtod(text, NULL) == x)
      break;
  }
  fputs(text, stdout);
}

void
cl_print_json_object(const char *key, const char *text) {
  printf("{\"schema\":1,\"%s\":", key);
  cl_print_json_text(text);
  puts("}");
}

void
cl_note(const cl_session *session, const char *format, ...) {
  if (session->options->quiet)
    return;
  va_list args;
  flush_quietly();
  va_start(args, format);
  vfprintf(stderr, format, args);
  va_end(args);
}

void
cl_note_filter(const cl_session *session, const char *what) {
  const char *filter = session->options->filter;
  if (filter)
    cl_note(session, "glen: no %s has '%s' in its name\n", what, filter);
  else
    cl_note(session, "glen: no %s was found in these files\n", what);
}

static bool
dump_exploration(cl_session *session, const cl_explored *e) {
  const char *dir = session->options->dump_phases;
  if (!dir)
    return true;
  glen_context *glen = session->glen;
  if (!cl_write_in(session, dir, "0.input.glen",
                   glen_program_text(glen, e->input, true)))
    return false;
  return !e->result || (cl_write_in(session, dir, "1.egraph.json",
                                    glen_result_egraph_json(glen, e->result)) &&
                        cl_write_in(session, dir, "2.extracted.glen",
                                    glen_program_text(glen, e->program, true)));
}

static bool
saturate(cl_session *session, cl_explored *e) {
  glen_saturate_options options;
  cl_progress progress;
  glen_rules *rules = cl_rules(session, e->target);
  if (!rules)
    return false;
  cl_saturate_options(session, &options);
  options.growth = cl_wants_html(session->options);
  options.explain = options.growth || session->options->verify ||
                    !strcmp(session->options->form, "proof");
  options.contribution = session->options->stats;
  if (!strcmp(session->options->form, "proof"))
    options.regions = GLEN_REGIONS_WHOLE;
  cl_progress_start(&progress, session, &options);
  e->result =
      glen_saturate(session->glen, e->input, rules, e->target, &options);
  cl_progress_end(&progress);
  if (!e->result)
    return false;
  e->program = glen_result_program(e->result);
  if (!session->options->verify)
    return true;
  e->verdict = glen_result_verify(session->glen, e->result);
  return e->verdict != NULL;
}

glen_program *
cl_load_program(cl_session *session, const glen_target *target,
                const char *path) {
  const cl_list *sizes = &session->options->sizes;
  return glen_program_load_at(session->glen, target, path, sizes->items,
                              sizes->n);
}

static glen_program *
load_one(cl_session *session, const glen_target *target, const char *path,
         bool *taken) {
  const cl_list *sizes = &session->options->sizes;
  return glen_program_load_among(session->glen, target, path, sizes->items,
                                 sizes->n, taken);
}

static int
all_taken(const cl_list *sizes, const bool *taken) {
  for (uint32_t k = 0; k < sizes->n; k++)
    if (!taken[k]) {
      fprintf(stderr, "glen: --size: neither program has the size of %s\n",
              sizes->items[k]);
      return GLEN_USAGE;
    }
  return GLEN_OK;
}

int
cl_load_pair(cl_session *session, const glen_target *target, glen_program **a,
             glen_program **b) {
  const cl_options *o = session->options;
  bool *taken = calloc(o->sizes.n + (size_t)1, sizeof *taken);
  if (!taken)
    return GLEN_INTERNAL;
  *a = target ? load_one(session, target, o->files.items[0], taken) : NULL;
  *b = *a ? load_one(session, target, o->files.items[1], taken) : NULL;
  int code = *b ? all_taken(&o->sizes, taken) : cl_failed(session);
  free(taken);
  return code;
}

bool
cl_explore(cl_session *session, cl_explored *e) {
  *e = (cl_explored){0};
  e->target = cl_target(session);
  if (!e->target)
    return false;
  e->input =
      cl_load_program(session, e->target, session->options->files.items[0]);
  if (!e->input || !cl_choose_prepacked(session, e->input))
    return false;
  e->program = e->input;
  if (cl_uses_rules(session->options, e->target)
          ? !saturate(session, e)
          : cl_refuse_idle_rules(session))
    return false;
  return dump_exploration(session, e);
}

/* Runs that agree are no proof; they suffice where that was asked for. */
static bool
suffices(const char *level, const char *verdict) {
  return !strcmp(verdict, "proved") ||
         (!strcmp(verdict, "tested") && !strcmp(level, "tested"));
}

int
cl_explored_code(const cl_session *session, const cl_explored *e) {
  if (e->verdict && !strcmp(e->verdict, "refuted"))
    return GLEN_REFUTED;
  if (e->verdict && !suffices(session->options->verify, e->verdict))
    return GLEN_LIMIT;
  if (session->options->require_saturation && e->result &&
      !glen_result_saturated(e->result))
    return GLEN_LIMIT;
  return GLEN_OK;
}

bool
cl_is_loops(const char *path) {
  size_t n = strlen(path);
  return n > 6 && !strcmp(path + n - 6, ".loops");
}

glen_loops *
cl_read_loops(cl_session *session, const char *path, bool sized) {
  const cl_options *o = session->options;
  glen_target *target = cl_target(session);
  return target ? glen_loops_load_at(session->glen, target, path, o->strict_fp,
                                     o->sizes.items, sized ? o->sizes.n : 0)
                : NULL;
}

glen_loops *
cl_load_loops(cl_session *session, const char *path, bool sized) {
  const char *printed = "";
  glen_loops *loops = cl_read_loops(session, path, sized);
  bool ok = loops && cl_schedule_loops(session, loops, &printed);
  fputs(printed, stderr);
  return ok ? loops : NULL;
}

static uint32_t
count_models(const cl_options *o) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < o->files.n; k++)
    n += !strcmp(cl_suffix_of(o->files.items[k]), ".onnx");
  return n;
}

int
cl_refuse_sizes(const cl_command *command, const cl_options *o) {
  const char *first = o->files.n ? o->files.items[0] : "";
  bool asks = !strcmp(command->name, "tiling"); /* of sizes that --dim leaves */
  if (o->dims.n && o->files.n && !count_models(o)) {
    fputs("glen: --dim is for models (.onnx); --size NAME=NUMBER gives a "
          "number to a size of a program\n",
          stderr);
    return GLEN_USAGE;
  }
  if (!o->sizes.n || asks || strcmp(cl_suffix_of(first), ".onnx") != 0)
    return GLEN_OK;
  fputs("glen: --size is for programs (.glen) and loops (.loops), such as glen "
        "import makes of a model; a model has --dim\n",
        stderr);
  return GLEN_USAGE;
}
