/* SPDX-License-Identifier: MIT */
/* output.c - several files as one transaction.
 *
 * Each file is complete beside its place before any is put there.  Then the old
 * one gets a second name, the new one is renamed over it, and the second names
 * go when all are in place; a rename that fails is answered by giving the old
 * files their names back.  Where a file system has no second names, what was
 * replaced before the failure stays new.  The power may still fail in between:
 * nothing is synchronised, as outputs can be made again from what they were
 * made of.
 *
 * Signals that end a program wait while the names change. */
#include "base/output.h"
#include "base/file.h"
#include "base/portable.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- what is temporary ---- */

bs_temporary *
bs_temporary_new(bs_diags *diags, bs_kind_of_temporary kind, const char *path) {
  assert(path || kind == BS_TEMPORARY_CHILD);
  diags = bs_outermost(diags);
  bs_temporary *t = BS_NEW(&diags->arena, bs_temporary);
  *t = (bs_temporary){diags->temporaries, kind, path, 0, 0};
  diags->temporaries = t;
  return t;
}

static void
end_child(pid_t child) {
  kill(child, SIGTERM);
  for (int k = 0; k < 200; k++) {
    if (waitpid(child, NULL, WNOHANG))
      return;
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
  }
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
}

void
bs_remove_temporaries(const bs_diags *diags) {
  for (const bs_temporary *t = diags->temporaries; t; t = t->next)
    if (t->live && t->kind == BS_TEMPORARY_CHILD && t->child > 0)
      end_child(t->child);
  for (const bs_temporary *t = diags->temporaries; t; t = t->next)
    if (t->live && t->kind == BS_TEMPORARY_FILE)
      unlink(t->path);
    else if (t->live && t->kind == BS_TEMPORARY_DIRECTORY)
      rmdir(t->path);
}

void
bs_hold_signals(sigset_t *old) {
  sigset_t held;
  sigemptyset(&held);
  sigaddset(&held, SIGINT);
  sigaddset(&held, SIGTERM);
  sigaddset(&held, SIGHUP);
  sigaddset(&held, SIGQUIT);
  sigaddset(&held, SIGALRM);
  pthread_sigmask(SIG_BLOCK, &held, old);
}

void
bs_release_signals(const sigset_t *old) {
  pthread_sigmask(SIG_SETMASK, old, NULL);
}

static void
discard(bs_temporary *t) {
  if (!t || !t->live)
    return;
  unlink(t->path);
  t->live = 0;
}

/* ---- the list ---- */

static bs_outputs *
outputs_of(bs_diags *diags) {
  if (!diags->outputs) {
    diags->outputs = BS_NEW(&diags->arena, bs_outputs);
    *diags->outputs = (bs_outputs){.open = false};
  }
  return diags->outputs;
}

void
bs_let_files_fail(bs_diags *diags, bs_file_fault *fault, void *ctx) {
  outputs_of(diags)->fault = fault;
  outputs_of(diags)->fault_ctx = ctx;
}

int
bs_file_step(const bs_diags *diags, const char *step) {
  const bs_outputs *o = diags->outputs;
  return o && o->fault ? o->fault(o->fault_ctx, step) : 0;
}

void
bs_outputs_begin(bs_diags *diags) {
  outputs_of(diags)->open = true;
}

void
bs_outputs_add(bs_diags *diags, const char *path, bs_temporary *temporary,
               bool exists) {
  /* file.c asks whether one is open before it writes. */
  assert(diags->outputs && diags->outputs->open);
  bs_output o = {.path = bs_arena_strdup(&diags->arena, path),
                 .temporary = temporary,
                 .existed = exists};
  bs_push(diags->heap, &diags->outputs->list, o);
}

static bool
would_overwrite(bs_diags *diags, const char *path, const char *input) {
  return bs_same_file(input, path) &&
         !bs_error(diags, BS_NOWHERE, "overwritten",
                   "the output '%s' would overwrite the input '%s'", path,
                   input);
}

bool
bs_outputs_allow(bs_diags *diags, const char *path) {
  assert(diags->outputs);
  const bs_outputs *o = diags->outputs;
  for (uint32_t k = 0; k < o->list.len; k++)
    if (bs_same_file(o->list.data[k].path, path))
      return bs_error(diags, BS_NOWHERE, "overwritten",
                      "two outputs would be written to one file: '%s' and '%s'",
                      o->list.data[k].path, path);
  for (uint32_t k = 0; k < diags->sources.len; k++)
    if (diags->sources.data[k].path[0] != '<' &&
        would_overwrite(diags, path, diags->sources.data[k].path))
      return false;
  for (uint32_t k = 0; k < diags->named.len; k++)
    if (would_overwrite(diags, path, diags->named.data[k]))
      return false;
  return true;
}

void
bs_outputs_drop(bs_diags *diags) {
  bs_outputs *o = diags->outputs;
  for (uint32_t k = 0; o && k < o->list.len; k++) {
    discard(o->list.data[k].temporary);
    discard(o->list.data[k].backup);
  }
  if (o) {
    bs_clear(&o->list);
    o->open = false;
  }
}

/* ---- the commit ---- */

/* Allocated before any name changes: memory may run out. */
static void
name_backups(bs_diags *diags) {
  for (uint32_t k = 0; k < diags->outputs->list.len; k++) {
    bs_output *o = &diags->outputs->list.data[k];
    if (o->temporary && o->existed)
      o->backup = bs_temporary_new(
          diags, BS_TEMPORARY_FILE,
          bs_arena_printf(&diags->arena, "%s-old", o->temporary->path));
  }
}

/* 0 or an errno.  A file system without second names is no failure. */
static int
keep_old(const bs_diags *diags, bs_output *o) {
  assert(o->backup && o->existed);
  int error = bs_file_step(diags, "link");
  if (!error && link(o->path, o->backup->path))
    error = errno;
  o->backup->live = !error;
  bool cannot = error == EPERM || error == ENOTSUP || error == EMLINK ||
                error == ENOSYS || error == ENOENT || error == EXDEV;
  return cannot ? 0 : error;
}

static int
place(const bs_diags *diags, bs_output *o) {
  assert(o->temporary);
  int error = o->backup ? keep_old(diags, o) : 0;
  if (!error)
    error = bs_file_step(diags, "rename");
  if (!error && rename(o->temporary->path, o->path))
    error = errno;
  if (!error) {
    o->temporary->live = 0;
    o->placed = true;
  }
  return error;
}

/* The old file takes its name again.  Where a name cannot be moved a second
 * one may still be given. */
static void
restore(const bs_output *o) {
  assert(o->backup && o->existed);
  if (!rename(o->backup->path, o->path))
    return;
  unlink(o->path);
  if (!link(o->backup->path, o->path))
    unlink(o->backup->path);
}

/* Newest first, as it was done.  An old file that cannot have its name again
 * keeps the other one: it is the only copy. */
static void
take_back(bs_outputs *all) {
  for (uint32_t k = all->list.len; k-- > 0;) {
    bs_output *o = &all->list.data[k];
    if (!o->placed)
      continue;
    if (!o->existed)
      unlink(o->path);
    else if (o->backup->live) {
      restore(o);
      o->backup->live = 0;
    }
    o->placed = false;
  }
}

static int
place_all(const bs_diags *diags, bs_outputs *all, const char **failed) {
  for (uint32_t k = 0; k < all->list.len; k++) {
    bs_output *o = &all->list.data[k];
    int error = o->temporary ? place(diags, o) : 0;
    *failed = o->path;
    if (error)
      return error;
  }
  return 0;
}

/* Sets the times of a file; where they are the present, they become what the
 * file got: 0 or an errno.  The clock of files may lag behind that of the
 * system by some milliseconds, and a build tool that creates a file next must
 * not find it older than this one. */
static int
touch(const char *path, struct timespec times[2]) {
  struct stat st;
  if (utimensat(AT_FDCWD, path, times, 0) || stat(path, &st))
    return errno;
  times[0] = times[1] = bs_written_at(&st);
  return 0;
}

/* One time for all, so that none is older than what it was made together with.
 * 0 or an errno. */
static int
touch_all(const bs_diags *diags, const bs_outputs *all, const char **failed) {
  struct timespec times[2] = {{0, UTIME_NOW}, {0, UTIME_NOW}};
  for (uint32_t k = 0; k < all->list.len; k++) {
    *failed = all->list.data[k].path;
    if (!all->touch_all &&
        !(all->touch_one && bs_same_file(all->touch_one, *failed)))
      continue;
    int error = bs_file_step(diags, "touch");
    if (!error)
      error = touch(*failed, times);
    if (error)
      return error;
  }
  return 0;
}

bool
bs_outputs_commit(bs_diags *diags) {
  sigset_t old;
  const char *failed = "";
  if (!diags->outputs)
    return true;
  name_backups(diags);
  bs_hold_signals(&old);
  int error = place_all(diags, diags->outputs, &failed);
  if (!error)
    error = touch_all(diags, diags->outputs, &failed);
  if (error)
    take_back(diags->outputs);
  bs_outputs_drop(diags);
  bs_release_signals(&old);
  return !error || bs_cannot_write(diags, failed, error);
}
