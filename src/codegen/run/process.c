/* SPDX-License-Identifier: MIT */
/* process.c - children by posix_spawn: no shell sees a name or a flag.
 *
 * Output goes to a file, not to a pipe, so that a talkative compiler can
 * never block; a child past its time is asked to end, then killed: after a
 * second, or when an interrupt is repeated. */
#include "codegen/run/process.h"
#include "base/portable.h"
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- the directory ---- */

/* Paths are listed as temporary, and so live as long as the list. */
static bs_arena *
paths_of(const cg_scratch *scratch) {
  return &bs_outermost(scratch->ctx->diags)->arena;
}

static bool
make_directory(cg_scratch *scratch, const char *base) {
  sigset_t old;
  int n = snprintf(scratch->path, sizeof scratch->path, "%s/glen-XXXXXX", base);
  if (n < 0 || (size_t)n >= sizeof scratch->path)
    return false;
  char *path = bs_arena_strdup(paths_of(scratch), scratch->path);
  bs_temporary *listed =
      bs_temporary_new(scratch->ctx->diags, BS_TEMPORARY_DIRECTORY, path);
  bs_hold_signals(&old);
  bool made = mkdtemp(path) != NULL;
  listed->live = made;
  bs_release_signals(&old);
  memcpy(scratch->path, path, strlen(path) + 1);
  return made;
}

bool
cg_scratch_make(cg_scratch *scratch, const gs_context *ctx) {
  const char *base = getenv("TMPDIR");
  *scratch = (cg_scratch){.ctx = ctx};
  if (ctx->diags->no_children)
    return bs_error(ctx->diags, BS_NOWHERE, "no-native",
                    "--no-native or GLEN_NO_NATIVE forbids calling a compiler "
                    "and executing generated code");
  if (!base || !*base)
    base = "/tmp";
  if (make_directory(scratch, base))
    return true;
  scratch->path[0] = '\0';
  bs_error(ctx->diags, BS_NOWHERE, "cannot-write",
           "cannot make a temporary directory in %s: %s", base,
           strerror(errno));
  bs_hint(ctx->diags, "set TMPDIR to use another place");
  return false;
}

void
cg_scratch_keep(cg_scratch *scratch) {
  size_t n = strlen(scratch->path);
  bs_temporary *t = bs_outermost(scratch->ctx->diags)->temporaries;
  for (; n && t; t = t->next)
    if (t->path && !strncmp(t->path, scratch->path, n) &&
        (!t->path[n] || t->path[n] == '/'))
      t->live = 0;
}

void
cg_scratch_remove(cg_scratch *scratch) {
  DIR *dir = scratch->path[0] ? opendir(scratch->path) : NULL;
  if (!dir)
    return;
  for (struct dirent *entry; (entry = readdir(dir));)
    unlinkat(dirfd(dir), entry->d_name, 0);
  closedir(dir);
  rmdir(scratch->path);
  cg_scratch_keep(scratch);
  scratch->path[0] = '\0';
}

const char *
cg_scratch_file(const cg_scratch *scratch, const char *name) {
  assert(*name && !strchr(name, '/'));
  const char *path =
      bs_arena_printf(paths_of(scratch), "%s/%s", scratch->path, name);
  bs_temporary_new(scratch->ctx->diags, BS_TEMPORARY_FILE, path)->live = 1;
  return path;
}

/* ---- processes ---- */

static bool
overrides(const char *entry, const char *const *settings, uint32_t n) {
  size_t length = strcspn(entry, "=");
  for (uint32_t k = 0; k < n; k++)
    if (strcspn(settings[k], "=") == length &&
        !strncmp(settings[k], entry, length))
      return true;
  return false;
}

/* What a child is given are strings that it may write. */
static char **
writable(bs_arena *arena, const char *const *list) {
  uint32_t n = 0;
  while (list[n])
    n++;
  char **out = BS_NEWS(arena, char *, (size_t)n + 1);
  for (uint32_t k = 0; k < n; k++)
    out[k] = bs_arena_strdup(arena, list[k]);
  out[n] = NULL;
  return out;
}

static char **
environment(bs_arena *arena, const char *const *settings, uint32_t n) {
  char *const *old = bs_environment();
  uint32_t count = 0, out = 0;
  while (old[count])
    count++;
  char **env = BS_NEWS(arena, char *, (size_t)count + n + 1);
  for (uint32_t k = 0; k < count; k++)
    if (!overrides(old[k], settings, n))
      env[out++] = old[k];
  for (uint32_t k = 0; k < n; k++)
    env[out++] = bs_arena_strdup(arena, settings[k]);
  env[out] = NULL;
  return env;
}

static void
nap(void) {
  nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
}

static double
now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The interrupt came more than so many times. */
static bool
is_stopped(const cg_watch *w, int times) {
  return w->interrupt && *w->interrupt > times;
}

/* Whether the child ended before the time `end` (0: none), or an interrupt
 * that came more than so many times. */
static bool
wait_until(pid_t child, double end, const cg_watch *w, int times, int *status) {
  bool watched = end > 0 || w->interrupt;
  for (;;) {
    pid_t got = waitpid(child, status, watched ? WNOHANG : 0);
    if (got == child || (got < 0 && errno != EINTR))
      return true;
    if ((end > 0 && now() > end) || is_stopped(w, times))
      return false;
    if (watched)
      nap();
  }
}

static void
end_child(pid_t child, const cg_watch *w) {
  static const cg_watch none = {0};
  int status;
  kill(child, SIGTERM);
  if (!wait_until(child, now() + 1, w, 1, &status)) {
    kill(child, SIGKILL);
    wait_until(child, 0, &none, 0, &status);
  }
}

static cg_result
wait_for(pid_t child, const cg_watch *w) {
  int status = 0;
  double end = w->time_limit > 0 ? now() + w->time_limit : 0;
  if (!wait_until(child, end, w, 0, &status)) {
    end_child(child, w);
    return (cg_result){is_stopped(w, 0) ? CG_EXIT_STOPPED : CG_EXIT_TIMEOUT, 0};
  }
  /* A terminal's interrupt reaches the child as well. */
  if (WIFSIGNALED(status) && is_stopped(w, 0))
    return (cg_result){CG_EXIT_STOPPED, 0};
  if (WIFSIGNALED(status))
    return (cg_result){CG_EXIT_SIGNAL, WTERMSIG(status)};
  int code = WEXITSTATUS(status);
  return (cg_result){code ? CG_EXIT_STATUS : CG_EXIT_OK, code};
}

/* 0 or an errno.  Once the child is there it is listed: no signal comes
 * between, and the child does not wait for signals. */
static int
spawn(pid_t *child, char *const *argv, char *const *env,
      const posix_spawn_file_actions_t *actions, bs_temporary *listed) {
  posix_spawnattr_t attributes;
  sigset_t old;
  posix_spawnattr_init(&attributes);
  bs_hold_signals(&old);
  posix_spawnattr_setsigmask(&attributes, &old);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  int error = posix_spawnp(child, argv[0], actions, &attributes, argv, env);
  if (listed && !error) {
    listed->child = *child;
    listed->live = 1;
  }
  bs_release_signals(&old);
  posix_spawnattr_destroy(&attributes);
  return error;
}

cg_result
cg_run_process(bs_heap *heap, const char *const *argv, const char *log,
               const char *const *settings, uint32_t n_settings,
               const cg_watch *watch) {
  assert(argv[0] && log);
  posix_spawn_file_actions_t actions;
  pid_t child;
  bs_arena arena;
  bs_arena_init(&arena, heap);
  char **own = writable(&arena, argv);
  char **env = environment(&arena, settings, n_settings);
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, log,
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  int error = spawn(&child, own, env, &actions, watch->listed);
  posix_spawn_file_actions_destroy(&actions);
  bs_arena_done(&arena);
  if (error)
    return (cg_result){CG_EXIT_NO_START, error};
  cg_result result = wait_for(child, watch);
  if (watch->listed)
    watch->listed->live = 0;
  return result;
}

/* ---- logs ---- */

void
cg_note_log(const gs_context *ctx, const char *log, uint32_t lines) {
  char line[400];
  FILE *file = fopen(log, "r");
  if (!file)
    return;
  /* Read whole before a note may unwind. */
  char text[8000];
  size_t n = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[n] = '\0';
  for (const char *at = text; *at && lines; lines--) {
    size_t length = strcspn(at, "\n");
    snprintf(line, sizeof line, "%.*s", (int)length, at);
    if (length)
      bs_note(ctx->diags, BS_NOWHERE, "%s", line);
    at += length + (at[length] == '\n');
  }
}
