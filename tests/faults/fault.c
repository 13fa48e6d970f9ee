/* SPDX-License-Identifier: MIT */
/* fault.c - the n-th call of a function of the C library fails.
 *
 *   LD_PRELOAD=libfault.so FAULT=write:3 FAULT_COUNT=FILE glen ...
 *
 * FAULT names a function and the call, counted from 1, that fails; with `+`
 * behind the number all later ones fail as well.  Without it none does.
 * FAULT_COUNT is a file to which, at the end, the calls of each function are
 * written.  Children that glen starts (compilers, built kernels) are left
 * alone.  `malloc` stands for all ways to get memory, `exec` for programs that
 * cannot be started. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

typedef enum function {
  F_MALLOC,
  F_WRITE,
  F_RENAME,
  F_CLOSE,
  F_OPEN,
  F_READ,
  F_FORK,
  F_EXEC,
  F_MKDIR,
  F_CHMOD,
  FUNCTIONS
} function;

static const char *const names[FUNCTIONS] = {
    [F_MALLOC] = "malloc", [F_WRITE] = "write", [F_RENAME] = "rename",
    [F_CLOSE] = "close",   [F_OPEN] = "open",   [F_READ] = "read",
    [F_FORK] = "fork",     [F_EXEC] = "exec",   [F_MKDIR] = "mkdir",
    [F_CHMOD] = "chmod"};

static long calls[FUNCTIONS], fails_at[FUNCTIONS];
static bool onwards, started;
static pid_t self;

static void
count_at_exit(void) {
  const char *path = getenv("FAULT_COUNT");
  char line[64];
  if (!path || getpid() != self)
    return;
  started = false;
  int out = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  for (int k = 0; k < FUNCTIONS; k++) {
    int n = snprintf(line, sizeof line, "%s %ld\n", names[k], calls[k]);
    if (out >= 0 && write(out, line, (size_t)n) < 0)
      break;
  }
  if (out >= 0)
    close(out);
}

__attribute__((constructor)) static void
start(void) {
  const char *fault = getenv("FAULT");
  self = getpid();
  for (int k = 0; fault && k < FUNCTIONS; k++) {
    size_t n = strlen(names[k]);
    if (strncmp(fault, names[k], n) || fault[n] != ':')
      continue;
    fails_at[k] = atol(fault + n + 1);
    onwards = strchr(fault, '+');
  }
  /* What is started goes on without it. */
  unsetenv("FAULT");
  unsetenv("LD_PRELOAD");
  atexit(count_at_exit);
  started = true;
}

/* Whether this call is to fail. */
static bool
fails(function f) {
  if (!started || getpid() != self)
    return false;
  long n = __atomic_add_fetch(&calls[f], 1, __ATOMIC_RELAXED);
  return fails_at[f] && (n == fails_at[f] || (onwards && n > fails_at[f]));
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define PUBLIC __attribute__((visibility("default")))

#ifndef NO_MALLOC
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);

PUBLIC void *
malloc(size_t n) {
  if (fails(F_MALLOC)) {
    errno = ENOMEM;
    return NULL;
  }
  return __libc_malloc(n);
}

PUBLIC void *
calloc(size_t n, size_t size) {
  if (fails(F_MALLOC)) {
    errno = ENOMEM;
    return NULL;
  }
  return __libc_calloc(n, size);
}

PUBLIC void *
realloc(void *old, size_t n) {
  if (fails(F_MALLOC)) {
    errno = ENOMEM;
    return NULL;
  }
  return __libc_realloc(old, n);
}
#endif

PUBLIC ssize_t
write(int d, const void *data, size_t n) {
  if (fails(F_WRITE)) {
    errno = ENOSPC;
    return -1;
  }
  return REAL(write)(d, data, n);
}

PUBLIC ssize_t
read(int d, void *data, size_t n) {
  if (fails(F_READ)) {
    errno = EIO;
    return -1;
  }
  return REAL(read)(d, data, n);
}

PUBLIC int
rename(const char *from, const char *to) {
  if (fails(F_RENAME)) {
    errno = EIO;
    return -1;
  }
  return REAL(rename)(from, to);
}

/* The descriptor is closed, as after an error of a network's file. */
PUBLIC int
close(int d) {
  if (fails(F_CLOSE)) {
    REAL(close)(d);
    errno = EIO;
    return -1;
  }
  return REAL(close)(d);
}

static mode_t
mode_of(int flags, va_list args) {
  return flags & O_CREAT ? (mode_t)va_arg(args, int) : 0;
}

PUBLIC int
open(const char *path, int flags, ...) {
  va_list args;
  va_start(args, flags);
  mode_t mode = mode_of(flags, args);
  va_end(args);
  if (fails(F_OPEN)) {
    errno = EMFILE;
    return -1;
  }
  return REAL(open)(path, flags, mode);
}

PUBLIC int
open64(const char *path, int flags, ...) {
  va_list args;
  va_start(args, flags);
  mode_t mode = mode_of(flags, args);
  va_end(args);
  if (fails(F_OPEN)) {
    errno = EMFILE;
    return -1;
  }
  return REAL(open64)(path, flags, mode);
}

PUBLIC pid_t
fork(void) {
  if (fails(F_FORK)) {
    errno = EAGAIN;
    return -1;
  }
  return REAL(fork)();
}

PUBLIC int
posix_spawnp(pid_t *pid, const char *file,
             const posix_spawn_file_actions_t *actions,
             const posix_spawnattr_t *attributes, char *const argv[],
             char *const env[]) {
  if (fails(F_EXEC))
    return ENOENT;
  return REAL(posix_spawnp)(pid, file, actions, attributes, argv, env);
}

PUBLIC char *
mkdtemp(char *name) {
  if (fails(F_MKDIR)) {
    errno = EACCES;
    return NULL;
  }
  return REAL(mkdtemp)(name);
}

PUBLIC int
fchmod(int d, mode_t mode) {
  if (fails(F_CHMOD)) {
    errno = EPERM;
    return -1;
  }
  return REAL(fchmod)(d, mode);
}
