/* SPDX-License-Identifier: MIT */
/* cmd_compile.c - `glen compile`: all stages to C and its header.
 *
 * What to write stands in --emit; one table maps each word to its file suffix
 * and its maker.  With several words and -o F.c the others stand beside F.c;
 * without -o the single word goes to stdout. */
#include "cli/commands.h"
#include "cli/cli_emit.h"
#include "cli/other_tools.h"
#include "cli/cli_session.h"
#include "cli/options_table.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { DOT_CLASSES = 400 };

typedef struct job {
  cl_session *session;
  cl_explored explored;
  glen_loops *loops;
  cl_named named;
  const char *c, *h;
  const char *function;       /* as the code calls it */
  const char *kernels, *host; /* of OpenCL; NULL: not made */
  const char *unscheduled;    /* the loops as lowered, for --dump-phases */
  glen_loops *device;         /* bound to blocks and threads; NULL: not made */
} job;

static const char *
emit_glen(job *j) {
  return glen_program_text(j->session->glen, j->explored.program, true);
}

static const char *
emit_json(job *j) {
  return j->explored.result
             ? glen_result_egraph_json(j->session->glen, j->explored.result)
             : NULL;
}

static const char *
emit_dot(job *j) {
  return j->explored.result ? glen_result_dot(j->session->glen,
                                              j->explored.result, DOT_CLASSES)
                            : NULL;
}

static const char *
emit_html(job *j) {
  return j->explored.result ? cl_html(j->session, &j->explored, j->loops)
                            : NULL;
}

static const char *
emit_loops(job *j) {
  return glen_loops_text(j->session->glen, j->loops);
}

static const char *
emit_tree(job *j) {
  return glen_loops_tree(j->session->glen, j->loops);
}

/* Without a script, blocks and threads are chosen; C keeps its own loops. */
static glen_loops *
device_loops(job *j) {
  glen_context *glen = j->session->glen;
  if (j->session->options->script)
    return j->loops;
  if (!j->device) {
    j->device = glen_loops_copy(glen, j->loops);
    if (j->device && !glen_bind(glen, j->device))
      j->device = NULL;
  }
  return j->device;
}

/* Code for a device is written and C is not: `sched` is the script of the
 * former. */
static bool
is_for_device(const cl_options *o) {
  return cl_emits_device(o) && !cl_has_word(o->emit, "c");
}

static const char *
emit_sched(job *j) {
  glen_loops *loops =
      is_for_device(j->session->options) ? device_loops(j) : j->loops;
  return loops ? glen_schedule_print(j->session->glen, loops, GLEN_PRINT_SCRIPT)
               : NULL;
}

static const char *
emit_implgraph(job *j) {
  return glen_loops_implgraph(j->session->glen, j->loops, false);
}

static const char *
emit_implgraph_json(job *j) {
  return glen_loops_implgraph(j->session->glen, j->loops, true);
}

static const char *
emit_c(job *j) {
  return j->c;
}

static const char *
emit_h(job *j) {
  return j->h;
}

static const char *
emit_manifest(job *j) {
  return glen_manifest(j->session->glen, j->loops, j->named.name);
}

static const char *
emit_cuda(job *j) {
  const glen_loops *loops = device_loops(j);
  return loops ? glen_emit_cuda(j->session->glen, loops, j->named.name) : NULL;
}

/* Both texts are made together, and kept for the other. */
static bool
make_opencl(job *j) {
  const glen_loops *loops = j->kernels ? NULL : device_loops(j);
  return j->kernels ||
         (loops && glen_emit_opencl(j->session->glen, loops, j->named.name,
                                    &j->kernels, &j->host));
}

static const char *
emit_opencl(job *j) {
  return make_opencl(j) ? j->kernels : NULL;
}

static const char *
emit_opencl_host(job *j) {
  return make_opencl(j) ? j->host : NULL;
}

static const char *(*const make[CL_FORM_COUNT])(job *) = {
    [CL_FORM_GLEN] = emit_glen,
    [CL_FORM_EGRAPH_JSON] = emit_json,
    [CL_FORM_DOT] = emit_dot,
    [CL_FORM_HTML] = emit_html,
    [CL_FORM_LOOPS] = emit_loops,
    [CL_FORM_SCHED] = emit_sched,
    [CL_FORM_TREE] = emit_tree,
    [CL_FORM_IMPLGRAPH] = emit_implgraph,
    [CL_FORM_IMPLGRAPH_JSON] = emit_implgraph_json,
    [CL_FORM_C] = emit_c,
    [CL_FORM_CUDA] = emit_cuda,
    [CL_FORM_OPENCL] = emit_opencl,
    [CL_FORM_OPENCL_HOST] = emit_opencl_host,
    [CL_FORM_H] = emit_h,
    [CL_FORM_MANIFEST] = emit_manifest,
};

static void
tell_forms(const char *unknown, int n) {
  char word[16];
  snprintf(word, sizeof word, "%.*s", n, unknown);
  const char *other = cl_other_form(word);
  fprintf(stderr, "glen: --emit: unknown word \"%.*s\"; one of:", n, unknown);
  for (size_t i = 0; i < CL_FORM_COUNT; i++)
    fprintf(stderr, " %s", cl_forms[i].word);
  fputc('\n', stderr);
  if (other)
    fprintf(stderr, "hint: %s\n", other);
}

/* Checks the list before any work is done; counts its words. */
static int
check_forms(const cl_options *o, uint32_t *count, bool *loops) {
  *count = 0;
  *loops = o->dump_phases != NULL;
  for (const char *at = o->emit; *at;) {
    size_t n = strcspn(at, ",");
    const cl_form *f = cl_find_form(at, n);
    if (!f) {
      tell_forms(at, (int)n);
      return GLEN_USAGE;
    }
    if (f->needs_rules && cl_without_rules(o)) {
      fprintf(stderr, "glen: --emit=%s needs rules\n", f->word);
      return GLEN_USAGE;
    }
    if ((f->needs_rules || !f->needs_loops || f == &cl_forms[CL_FORM_HTML]) &&
        cl_is_loops(o->files.items[0])) {
      fprintf(stderr, "glen: --emit=%s needs a program of terms\n", f->word);
      return GLEN_USAGE;
    }
    ++*count;
    *loops |= f->needs_loops;
    at += n + (at[n] == ',');
  }
  if (!*count) {
    fputs("glen: --emit: the list is empty\n", stderr);
    return GLEN_USAGE;
  }
  return GLEN_OK;
}

static bool
write_form(job *j, const cl_options *o, const cl_form *f, bool only) {
  const char *text = make[f - cl_forms](j);
  char path[CL_PATH];
  if (!text)
    return false;
  if (!o->output)
    return cl_write(j->session, "-", text);
  cl_form_path(&j->named, o, f, only, path, sizeof path);
  return cl_write(j->session, path, text);
}

static bool
write_forms(job *j, const cl_options *o, uint32_t count) {
  for (const char *at = o->emit; *at;) {
    size_t n = strcspn(at, ",");
    if (!write_form(j, o, cl_find_form(at, n), count == 1))
      return false;
    at += n + (at[n] == ',');
  }
  return true;
}

static bool
dump_phases(job *j, const cl_options *o) {
  const char *dir = o->dump_phases;
  if (!dir)
    return true;
  const char *loops = j->unscheduled ? j->unscheduled : emit_loops(j);
  const char *script =
      glen_schedule_print(j->session->glen, j->loops, GLEN_PRINT_SCRIPT);
  return cl_write_in(j->session, dir, "3.loops", loops) &&
         cl_write_in(j->session, dir, "4.sched", script ? script : "") &&
         cl_write_in(j->session, dir, "5.tree", emit_tree(j)) &&
         cl_write_in(j->session, dir, "6.c", j->c);
}

/* Whoever gave the name, or expects that of the file, would look for it in
 * vain in C; that other characters of a file's name become `_` is expected. */
static void
tell_function(const job *j, const cl_options *o) {
  const char *name = j->named.name;
  if (!cl_has_word(o->emit, "c") && !cl_has_word(o->emit, "h"))
    return;
  bool is_word = *name && !isdigit((unsigned char)*name);
  for (const char *at = name; *at; at++)
    is_word &= isalnum((unsigned char)*at) || *at == '_';
  if (strcmp(j->function, name) && (o->name || is_word))
    cl_note(j->session, "glen: the function is called %s, since '%s' %s\n",
            j->function, name,
            is_word ? "is a word of C, its library or generated code"
                    : "is no identifier of C");
}

/* Only forms for devices are written, and scripts: nobody reads C. */
static bool
is_without_c(const cl_options *o) {
  bool only = cl_emits_device(o) && !o->dump_phases;
  for (const char *at = o->emit; *at && only;) {
    size_t n = strcspn(at, ",");
    const cl_form *f = cl_find_form(at, n);
    only = f->is_device || f == &cl_forms[CL_FORM_SCHED];
    at += n + (at[n] == ',');
  }
  return only;
}

/* C includes its header where the header is written to a file beside it. */
static bool
emit_code(job *j) {
  const cl_options *o = j->session->options;
  bool is_beside = !cl_to_stream(o) && cl_has_word(o->emit, "h");
  char header[CL_PATH + 4];
  snprintf(header, sizeof header, "%s.h", cl_base_name(j->named.stem));
  j->function = glen_function_name(j->session->glen, j->loops, j->named.name);
  tell_function(j, o);
  return is_without_c(o) ||
         glen_emit_c(j->session->glen, j->loops, j->named.name,
                     is_beside ? header : NULL, &j->c, &j->h);
}

static bool
make_code(job *j, const cl_options *o) {
  const char **unscheduled = o->dump_phases ? &j->unscheduled : NULL;
  j->loops = cl_lower(j->session, j->explored.program, j->explored.target,
                      unscheduled);
  return j->loops && emit_code(j);
}

/* One object: what the search found, or the verdict, which is there already,
 * or else what was written. */
static void
print_json(const job *j, const cl_options *o) {
  char path[CL_PATH];
  if (!o->json)
    return;
  if (j->session->tuned)
    fputs(j->session->tuned, stdout);
  if (j->session->tuned || j->explored.verdict)
    return;
  fputs("{\"schema\":1,\"function\":", stdout);
  cl_print_json_text(j->function);
  printf(",\"rewritten\":%s,\"outputs\":[",
         j->explored.result ? "true" : "false");
  for (uint32_t k = 0; cl_compile_output(o, k, path, sizeof path); k++) {
    fputs(k ? "," : "", stdout);
    cl_print_json_text(path);
  }
  puts("]}");
}

/* Code for a processor is made of the program as it is, unless rules are
 * given; without a word, that would look like a proof. */
static bool
not_rewritten(const job *j, const cl_options *o) {
  if (o->verify)
    cl_note(j->session, "; verify   nothing to prove: no rule was run, so the "
                        "code is that of the program as it is\n");
  return true;
}

/* A program that is not the input is not written. */
static bool
verified(job *j, const cl_options *o) {
  const cl_explored *e = &j->explored;
  if (!e->verdict)
    return not_rewritten(j, o);
  bool refuted = !strcmp(e->verdict, "refuted");
  bool json = o->json && (refuted || !o->tune);
  const char *text =
      glen_result_verified_text(j->session->glen, e->result, json);
  if (json)
    fputs(text, stdout);
  else
    cl_note(j->session, "%s", text);
  return !refuted;
}

/* Loops in their text form: there is no term to explore or to print. */
static bool
compile_loops(job *j, const cl_options *o, uint32_t count) {
  j->loops = cl_load_loops(j->session, o->files.items[0], true);
  return j->loops && emit_code(j) && dump_phases(j, o) &&
         write_forms(j, o, count);
}

static bool
compile(job *j, const cl_options *o, uint32_t count, bool loops) {
  return cl_explore(j->session, &j->explored) && verified(j, o) &&
         (!loops || make_code(j, o)) && dump_phases(j, o) &&
         write_forms(j, o, count) &&
         (!loops || cl_write_weights(j->session, j->explored.input));
}

/* Who leaves the suffix out may expect a program, as of a C compiler. */
static void
note_no_suffix(const job *j, const cl_options *o) {
  if (cl_has_word(o->emit, "c") && o->output && *o->output &&
      !cl_to_stream(o) && !strchr(cl_base_name(o->output), '.'))
    cl_note(j->session,
            "%s has C, which a C compiler takes from a file whose name ends in "
            ".c: use -o %s.c\n",
            o->output, o->output);
}

/* In a stream the header would follow the code: it does if it is asked for. */
static bool
is_default_emit(const cl_options *o) {
  return o->emit == cl_find_row("emit", 4, COMPILE)->preset;
}

/* A user who says nothing of the machine gets code for the one that it will run
 * on. Schedules that are given or searched for are for one target. */
static const char *
default_dispatch(const cl_options *o) {
  bool one = o->target || o->script || o->tune || o->choose ||
             cl_is_loops(o->files.items[0]);
  return one || !cl_has_word(o->emit, "c") ? NULL : "avx2,avx512";
}

int
cl_compile(const cl_options *options) {
  cl_session session;
  static job j;
  uint32_t count;
  cl_options settings = *options;
  if (cl_to_stream(&settings) && is_default_emit(&settings))
    settings.emit = "c";
  bool loops;
  int code = check_forms(&settings, &count, &loops);
  if (code)
    return code;
  if (!settings.dispatch)
    settings.dispatch = default_dispatch(&settings);
  j.session = &session;
  if (!cl_name_outputs(&settings, &j.named)) {
    fputs("glen: the output path is too long\n", stderr);
    return GLEN_USAGE;
  }
  if (!cl_open(&session, &settings))
    return GLEN_INTERNAL;
  if (cl_is_loops(settings.files.items[0]))
    code = compile_loops(&j, &settings, count) ? GLEN_OK : cl_failed(&session);
  else
    code = compile(&j, &settings, count, loops)
               ? cl_explored_code(&session, &j.explored)
               : cl_failed(&session);
  if (cl_explored_code(&session, &j.explored) == GLEN_REFUTED)
    code = GLEN_REFUTED;
  if (!code && session.wrong)
    code = GLEN_REFUTED;
  if (!session.failed)
    print_json(&j, &settings);
  if (!code)
    note_no_suffix(&j, &settings);
  return cl_close(&session, code);
}
