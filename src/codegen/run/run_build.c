/* SPDX-License-Identifier: MIT */
/* run_build.c - see run_build.h.
 *
 *   write the sources -> cc -> write the data -> run -> read the data
 *
 * All of it happens in one temporary directory that is removed whatever
 * happens; what was built may run many times, the data existing only while it
 * does. */
#include "codegen/run/run_build.h"
#include "base/file.h"
#include "base/governor.h"
#include "base/portable.h"
#include "codegen/run/compiler.h"
#include "codegen/run/driver.h"
#include "codegen/run/process.h"
#include "codegen/unit/unit_profile.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct cg_built {
  const gs_context *ctx;
  cg_job *jobs;
  uint32_t n;
  cg_build_options options;
  cg_scratch scratch;
  const char **names;
  int64_t *times;
  cg_place **places;
  int64_t data_size;
  unsigned char *data; /* mapped */
  cg_job one;          /* of cg_build */
  const char *version; /* of the compiler */
  bs_temporary *child; /* that runs, or none */
  bool ok;
} building;

/* ---- sources ---- */

static bool
write_text(building *b, const char *name, const char *suffix, bs_text *text) {
  const char *file = bs_arena_printf(b->ctx->arena, "%s%s", name, suffix);
  return bs_file_write_now(b->ctx->diags, cg_scratch_file(&b->scratch, file),
                           bs_text_str(text), text->len);
}

static bool
write_program(building *b, uint32_t j) {
  bs_text c, h;
  const char *header = bs_arena_printf(b->ctx->arena, "%s.h", b->names[j]);
  cg_options options = {.name = b->names[j],
                        .header = header,
                        .openmp = true,
                        .profile = b->jobs[j].profile,
                        .variants = b->options.variants,
                        .n_variants = b->options.n_variants,
                        .keys = b->options.keys};
  bs_text_init(&c, b->ctx->heap);
  bs_text_init(&h, b->ctx->heap);
  const cg_job *job = &b->jobs[j];
  bool ok =
      cg_emit_c(job->general ? job->general : job->program, &options, &c, &h) &&
      write_text(b, b->names[j], ".c", &c) &&
      write_text(b, b->names[j], ".h", &h);
  bs_text_done(&c);
  bs_text_done(&h);
  return ok;
}

static bool
place_data(building *b) {
  bs_arena *arena = b->ctx->arena;
  b->names = BS_NEWS(arena, const char *, b->n);
  b->times = BS_NEWS(arena, int64_t, b->n);
  b->places = BS_NEWS(arena, cg_place *, b->n);
  for (uint32_t j = 0; j < b->n; j++) {
    b->names[j] = b->n == 1 ? "kernel" : bs_arena_printf(arena, "kernel%u", j);
    b->places[j] =
        BS_NEWS(arena, cg_place, cg_count_parameters(b->jobs[j].program));
  }
  return cg_place_data(b->jobs, b->n, b->times, b->places, &b->data_size) ||
         bs_error(b->ctx->diags, BS_NOWHERE, "too-large",
                  "inputs and outputs are too large to run");
}

/* Behind all other data, once it is known how many steps there are. */
static void
place_profiles(building *b) {
  for (uint32_t j = 0; j < b->n; j++) {
    if (!b->jobs[j].profile)
      continue;
    b->jobs[j].profile_at = b->data_size;
    b->data_size +=
        (int64_t)sizeof(double) * (b->jobs[j].profile->steps.len + 1);
  }
}

static bool
write_sources(building *b) {
  bs_text driver;
  for (uint32_t j = 0; j < b->n; j++)
    if (!write_program(b, j))
      return false;
  place_profiles(b);
  bs_text_init(&driver, b->ctx->heap);
  cg_put_driver(b->jobs, b->n, b->names, b->times, b->places,
                b->options.repeats, b->options.call_seconds, &driver);
  bool ok = write_text(b, "main", ".c", &driver);
  bs_text_done(&driver);
  return ok;
}

/* That a process may take, by the options and by the limits of the command; 0:
 * any number. */
static double
seconds_of(const building *b) {
  double all = bs_stage_seconds(bs_governor_of(b->ctx->heap));
  double own = b->options.time_limit;
  if (isinf(all))
    return own;
  all = fmax(all, 0.01);
  return own > 0 ? fmin(own, all) : all;
}

static cg_watch
watch_of(building *b) {
  if (!b->child)
    b->child = bs_temporary_new(b->ctx->diags, BS_TEMPORARY_CHILD, NULL);
  return (cg_watch){.time_limit = seconds_of(b),
                    .own_limit = b->options.time_limit,
                    .interrupt = b->options.interrupt,
                    .listed = b->child};
}

/* ---- compiling ---- */

/* The instruction set that the target names, where all jobs agree. */
static const char *
march_of(const building *b) {
  const gs_target *target = b->jobs[0].program->target;
  for (uint32_t j = 1; j < b->n; j++)
    if (b->jobs[j].program->target != target)
      return NULL;
  return target ? target->march : NULL;
}

static const char *
narrow_flag(const building *b) {
  const char *flag = NULL;
  for (uint32_t j = 0; j < b->n && !flag; j++)
    flag = cg_narrow_flag(b->jobs[j].program->target);
  return flag;
}

/* Files of C in the order of the command. */
static const char **
sources_of(const building *b) {
  const char **files = BS_NEWS(b->ctx->arena, const char *, b->n + (size_t)1);
  files[0] = cg_scratch_file(&b->scratch, "main.c");
  for (uint32_t j = 0; j < b->n; j++)
    files[j + 1] = cg_scratch_file(
        &b->scratch, bs_arena_printf(b->ctx->arena, "%s.c", b->names[j]));
  return files;
}

/* What a program does not call of a target's own C is no fault of either.
 * Accesses by null and beyond what is allocated are seen by the address
 * sanitizer as well: without those checks, and with no more than lines of debug
 * information, the compiler takes up to a quarter less time. */
static bool
build(building *b) {
  const char *level = b->options.optimize ? b->options.optimize : "-O2";
  const char *options[] = {level,
                           "-std=c99",
                           "-Wall",
                           "-Wextra",
                           "-Werror",
                           "-Wno-unused-function",
                           "-g1",
                           "-fsanitize=address,undefined",
                           "-fno-sanitize=null,object-size",
                           "-fno-sanitize-recover=all"};
  enum { WITHOUT_CHECKS = 6, WITH_CHECKS = 10 };
  const char *log = cg_scratch_file(&b->scratch, "compile.log");
  const char *second = cg_scratch_file(&b->scratch, "compile-2.log");
  cg_compiler c = {.ctx = b->ctx,
                   .cc = b->options.cc,
                   .options = options,
                   .n_options =
                       b->options.sanitize ? WITH_CHECKS : WITHOUT_CHECKS,
                   .march = march_of(b),
                   .narrow = narrow_flag(b),
                   .flags = b->options.flags,
                   .n_flags = b->options.n_flags,
                   .files = sources_of(b),
                   .n_files = b->n + 1,
                   .output = cg_scratch_file(&b->scratch, "program")};
  cg_watch watch = watch_of(b);
  cg_result result = cg_compile(&c, &watch, log, second);
  return result.exit == CG_EXIT_OK ||
         cg_report_compiler(&c, &watch, result, log);
}

/* ---- data ---- */

static size_t
bytes_of(const gs_tensor *t) {
  return (size_t)t->elements * gs_dtype_table[t->dtype].bytes;
}

/* The room is claimed at once: a full disk must not fail at a store. */
static bool
map_data(building *b, const char *path) {
  int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  int error = file < 0 ? errno : bs_claim(file, b->data_size);
  void *data = MAP_FAILED;
  if (!error) {
    data = mmap(NULL, (size_t)b->data_size, PROT_READ | PROT_WRITE, MAP_SHARED,
                file, 0);
    error = data == MAP_FAILED ? errno : 0;
  }
  if (file >= 0)
    close(file);
  if (error)
    return bs_error(b->ctx->diags, BS_NOWHERE, "cannot-write",
                    "cannot write %lld bytes for a run: %s",
                    (long long)b->data_size, strerror(error));
  b->data = data;
  return true;
}

static void
write_inputs(building *b) {
  for (uint32_t j = 0; j < b->n; j++) {
    const po_program *p = b->jobs[j].program;
    for (uint32_t k = 0; k < p->source->inputs.len; k++)
      memcpy(b->data + b->places[j][k].offset, b->jobs[j].inputs[k].data,
             bytes_of(&b->jobs[j].inputs[k]));
  }
}

static void
read_outputs(building *b) {
  for (uint32_t j = 0; j < b->n; j++) {
    const gs_program *source = b->jobs[j].program->source;
    cg_profile *profile = b->jobs[j].profile;
    memcpy(&b->jobs[j].seconds, b->data + b->times[j], sizeof(double));
    for (uint32_t k = 0; profile && k < profile->steps.len; k++)
      memcpy(&profile->steps.data[k].seconds,
             b->data + b->jobs[j].profile_at + k * sizeof(double),
             sizeof(double));
    for (uint32_t k = 0; k < source->outputs.len; k++) {
      gs_tensor *out = &b->jobs[j].outputs[k];
      gs_type type;
      gs_type_at(source, source->outputs.data[k].term, &type);
      gs_tensor_init(b->ctx->heap, out, &type);
      memcpy(out->data, b->data + b->places[j][source->inputs.len + k].offset,
             bytes_of(out));
    }
  }
}

static bool
inputs_match(building *b) {
  for (uint32_t j = 0; j < b->n; j++) {
    const gs_program *source = b->jobs[j].program->source;
    for (uint32_t k = 0; k < source->inputs.len; k++)
      if (b->places[j][k].bytes != (int64_t)bytes_of(&b->jobs[j].inputs[k]))
        return bs_error(b->ctx->diags, BS_NOWHERE, "type-mismatch",
                        "the input %s has %zu bytes, expected %lld",
                        source->inputs.data[k].name,
                        bytes_of(&b->jobs[j].inputs[k]),
                        (long long)b->places[j][k].bytes);
  }
  return true;
}

/* ---- running ---- */

static bool
report_run(building *b, const cg_watch *watch, cg_result result,
           const char *log) {
  bs_diags *diags = b->ctx->diags;
  uint32_t job;
  memcpy(&job, b->data, sizeof job);
  const char *name = b->names[job < b->n ? job : 0];
  if (result.exit == CG_EXIT_STOPPED)
    return bs_error(diags, BS_NOWHERE, "interrupted", "stopped");
  if (result.exit == CG_EXIT_TIMEOUT)
    return cg_report_late(
        b->ctx, watch, "run-time",
        bs_arena_printf(b->ctx->arena, "the generated code (%s)", name));
  if (result.exit == CG_EXIT_SIGNAL)
    bs_error(diags, BS_NOWHERE, "run-failed",
             "the generated code (%s) was ended by signal %d: %s", name,
             result.code, strsignal(result.code));
  else
    bs_error(diags, BS_NOWHERE, "run-failed",
             "the generated code (%s) failed with status %d", name,
             result.code);
  cg_note_log(b->ctx, log, CG_LOG_LINES);
  return false;
}

static bool
run(building *b, const char *data) {
  const char *log = cg_scratch_file(&b->scratch, "run.log");
  const char *argv[] = {cg_scratch_file(&b->scratch, "program"), data, NULL};
  const char *settings[2] = {"ASAN_OPTIONS=detect_leaks=0"};
  uint32_t n = 1;
  if (!inputs_match(b) || !map_data(b, data))
    return false;
  if (b->options.threads > 0)
    settings[n++] = bs_arena_printf(b->ctx->arena, "OMP_NUM_THREADS=%d",
                                    b->options.threads);
  write_inputs(b);
  cg_watch watch = watch_of(b);
  cg_result result =
      cg_run_process(b->ctx->heap, argv, log, settings, n, &watch);
  if (result.exit != CG_EXIT_OK)
    return report_run(b, &watch, result, log);
  read_outputs(b);
  return true;
}

static void
drop_data(building *b) {
  if (b->data)
    munmap(b->data, (size_t)b->data_size);
  b->data = NULL;
}

static void
build_job(void *arg) {
  building *b = arg;
  b->ok = cg_scratch_make(&b->scratch, b->ctx) && place_data(b) &&
          write_sources(b) && build(b);
}

static void
run_job(void *arg) {
  building *b = arg;
  const char *data = cg_scratch_file(&b->scratch, "data");
  b->ok = run(b, data);
  if (!b->options.keep)
    unlink(data);
}

static void
close_scratch(building *b, bool memory) {
  drop_data(b);
  if (memory && b->options.keep && b->scratch.path[0]) {
    cg_scratch_keep(&b->scratch);
    bs_note(b->ctx->diags, BS_NOWHERE, "kept %s", b->scratch.path);
  } else {
    cg_scratch_remove(&b->scratch);
  }
  if (!memory)
    bs_out_of_memory(b->ctx->heap);
}

bool
cg_build_and_run_all(cg_job *jobs, uint32_t n, const cg_build_options *options,
                     uint32_t repeats) {
  if (!n)
    return true;
  building b = {
      .ctx = &jobs[0].program->ctx, .jobs = jobs, .n = n, .options = *options};
  b.options.repeats = repeats;
  bool memory = bs_protect(b.ctx->heap, build_job, &b) &&
                (!b.ok || bs_protect(b.ctx->heap, run_job, &b));
  close_scratch(&b, memory);
  return b.ok;
}

bool
cg_build_and_run(const po_program *program, const cg_build_options *options,
                 const gs_tensor *inputs, gs_tensor *outputs, uint32_t repeats,
                 double *seconds) {
  cg_job job = {.program = program,
                .general = options->general,
                .sizes = options->sizes,
                .inputs = inputs,
                .outputs = outputs,
                .profile = options->profile};
  bool ok = cg_build_and_run_all(&job, 1, options, repeats);
  if (ok && seconds)
    *seconds = job.seconds;
  return ok;
}

/* ---- built once, run many times ---- */

static void
version_job(void *arg) {
  building *b = arg;
  cg_words argv = {0};
  char line[256];
  if (!cg_scratch_make(&b->scratch, b->ctx))
    return;
  const char *log = cg_scratch_file(&b->scratch, "version.log");
  cg_put_words(b->ctx, cg_compiler_name(b->options.cc), &argv);
  bs_push(b->ctx->heap, &argv, "--version");
  bs_push(b->ctx->heap, &argv, NULL);
  cg_watch watch = watch_of(b);
  b->ok = cg_run_process(b->ctx->heap, argv.data, log, NULL, 0, &watch).exit ==
          CG_EXIT_OK;
  bs_vec_done(b->ctx->heap, &argv);
  FILE *file = b->ok ? fopen(log, "r") : NULL;
  b->ok = file && fgets(line, sizeof line, file);
  if (file)
    fclose(file);
  if (b->ok)
    b->version = bs_arena_printf(b->ctx->arena, "%.*s",
                                 (int)strcspn(line, "\r\n"), line);
}

const char *
cg_compiler_version(const gs_context *ctx, const cg_build_options *options) {
  building b = {.ctx = ctx, .options = *options};
  b.options.keep = false;
  bool memory = bs_protect(ctx->heap, version_job, &b);
  close_scratch(&b, memory);
  return b.version;
}

cg_built *
cg_build(const po_program *program, const cg_build_options *options) {
  cg_built *b = BS_NEW(program->ctx.arena, cg_built);
  *b = (cg_built){.ctx = &program->ctx, .n = 1, .options = *options};
  b->one.program = program;
  b->jobs = &b->one;
  bool memory = bs_protect(b->ctx->heap, build_job, b);
  if (!memory || !b->ok)
    close_scratch(b, memory);
  return b->ok ? b : NULL;
}

bool
cg_built_run(cg_built *b, const gs_tensor *inputs, gs_tensor *outputs,
             double *seconds) {
  assert(b->ok);
  b->one.inputs = inputs;
  b->one.outputs = outputs;
  bool memory = bs_protect(b->ctx->heap, run_job, b);
  drop_data(b);
  if (!memory)
    close_scratch(b, memory);
  *seconds = b->one.seconds;
  return b->ok;
}

void
cg_built_free(cg_built *b) {
  if (b)
    close_scratch(b, true);
}
