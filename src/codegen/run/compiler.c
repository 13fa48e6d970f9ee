/* SPDX-License-Identifier: MIT */
/* compiler.c - see compiler.h. */
#include "codegen/run/compiler.h"
#include "base/governor.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *
cg_compiler_name(const char *cc) {
  const char *name = cc ? cc : getenv("CC");
  return name && *name ? name : "cc";
}

static void
put(const gs_context *ctx, cg_words *to, const char *word) {
  bs_push(ctx->heap, to, word);
}

void
cg_put_words(const gs_context *ctx, const char *command, cg_words *to) {
  for (const char *at = command + strspn(command, " "); *at;) {
    size_t n = strcspn(at, " ");
    put(ctx, to, bs_arena_printf(ctx->arena, "%.*s", (int)n, at));
    at += n + strspn(at + n, " ");
  }
}

/* plain: without what a compiler may lack. */
static void
put_command(const cg_compiler *c, bool plain, cg_words *to) {
  cg_put_words(c->ctx, cg_compiler_name(c->cc), to);
  for (uint32_t k = 0; k < c->n_options; k++)
    put(c->ctx, to, c->options[k]);
  if (!plain)
    put(c->ctx, to, "-fopenmp");
  if (!plain && c->march)
    put(c->ctx, to, bs_arena_printf(c->ctx->arena, "-march=%s", c->march));
  if (c->narrow)
    put(c->ctx, to, c->narrow);
  for (uint32_t k = 0; k < c->n_flags; k++)
    put(c->ctx, to, c->flags[k]);
}

void
cg_put_command(const cg_compiler *c, cg_words *to) {
  put_command(c, false, to);
}

static cg_result
try(const cg_compiler *c, bool plain, const cg_watch *watch, const char *log) {
  cg_words argv = {0};
  put_command(c, plain, &argv);
  put(c->ctx, &argv, "-o");
  put(c->ctx, &argv, c->output);
  for (uint32_t k = 0; k < c->n_files; k++)
    put(c->ctx, &argv, c->files[k]);
  put(c->ctx, &argv, "-lm");
  put(c->ctx, &argv, NULL);
  cg_result result =
      cg_run_process(c->ctx->heap, argv.data, log, NULL, 0, watch);
  bs_vec_done(c->ctx->heap, &argv);
  return result;
}

/* What the command's limits leave by now. */
static cg_watch
what_is_left(const cg_compiler *c, const cg_watch *watch) {
  cg_watch left = *watch;
  double all = bs_stage_seconds(bs_governor_of(c->ctx->heap));
  if (!isinf(all) && (!left.time_limit || all < left.time_limit))
    left.time_limit = fmax(all, 0.01);
  return left;
}

cg_result
cg_compile(const cg_compiler *c, const cg_watch *watch, const char *log,
           const char *second) {
  cg_result first = try(c, false, watch, log);
  if (first.exit != CG_EXIT_STATUS)
    return first;
  cg_watch left = what_is_left(c, watch);
  cg_result plain = try(c, true, &left, second);
  return plain.exit == CG_EXIT_OK ? plain : first;
}

bool
cg_report_late(const gs_context *ctx, const cg_watch *watch, const char *code,
               const char *what) {
  if (bs_stage_late(bs_governor_of(ctx->heap)))
    return bs_error(ctx->diags, BS_NOWHERE, "time-limit",
                    "time limit: %s was stopped", what);
  return bs_error(ctx->diags, BS_NOWHERE, code,
                  "%s did not end within %g seconds", what, watch->own_limit);
}

bool
cg_report_compiler(const cg_compiler *c, const cg_watch *watch,
                   cg_result result, const char *log) {
  bs_diags *diags = c->ctx->diags;
  const char *cc = cg_compiler_name(c->cc);
  if (result.exit == CG_EXIT_NO_START) {
    bs_error(diags, BS_NOWHERE, "no-compiler", "cannot run %s: %s", cc,
             strerror(result.code));
    bs_hint(diags, "install a C compiler, or name one by CC");
    return false;
  }
  if (result.exit == CG_EXIT_STOPPED)
    return bs_error(diags, BS_NOWHERE, "interrupted", "stopped");
  if (result.exit == CG_EXIT_TIMEOUT)
    return cg_report_late(c->ctx, watch, "compile-time", cc);
  bs_error(diags, BS_NOWHERE, "compile-failed",
           result.exit == CG_EXIT_SIGNAL ? "%s was ended by signal %d"
                                         : "%s failed with status %d",
           cc, result.code);
  cg_note_log(c->ctx, log, CG_LOG_LINES);
  return false;
}
