/* SPDX-License-Identifier: MIT */
/* input.c - files opened for reading, and what is none.
 *
 * A FIFO without a writer would hold up a command forever and a device may
 * never end, so that only regular files are read by their names.  A pipe is
 * read where whoever started the command opened it: as stdin, or by a
 * descriptor that the path names, as a shell's <(...) does.  Nothing else is
 * even opened: a device may act on that. */
#include "base/file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool
begins_with(const char *path, const char *prefix) {
  return !strncmp(path, prefix, strlen(prefix));
}

static bool
names_descriptor(const char *path) {
  return !strcmp(path, "/dev/stdin") || begins_with(path, "/dev/fd/") ||
         begins_with(path, "/proc/self/fd/");
}

static bool
is_null_device(const struct stat *status) {
  struct stat null;
  return S_ISCHR(status->st_mode) && !stat("/dev/null", &null) &&
         S_ISCHR(null.st_mode) && null.st_rdev == status->st_rdev;
}

/* opened: by whoever started the command.  NULL: it is read. */
static const char *
why_not(const struct stat *status, bool opened, bool terminal) {
  mode_t mode = status->st_mode;
  if (S_ISREG(mode) || is_null_device(status))
    return NULL;
  if (S_ISDIR(mode))
    return BS_IS_FOLDER;
  if (opened && (terminal || S_ISFIFO(mode) || S_ISSOCK(mode)))
    return NULL;
  return S_ISFIFO(mode)   ? "it is a FIFO; a pipe is read as stdin or /dev/fd/N"
         : S_ISSOCK(mode) ? "it is a socket"
                          : "it is a device";
}

static int
refuse(int descriptor, const char *path, const char *why, const char **out) {
  *out = why;
  if (descriptor >= 0 && strcmp(path, "-"))
    close(descriptor);
  return -1;
}

int
bs_open_input(const char *path, const char **why) {
  struct stat status;
  bool standard = !strcmp(path, "-");
  bool opened = standard || names_descriptor(path);
  int descriptor = standard ? STDIN_FILENO : -1;
  if (!opened && stat(path, &status))
    return refuse(-1, path, strerror(errno), why);
  if (!opened && (*why = why_not(&status, false, false)))
    return -1;
  if (!standard)
    descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (descriptor < 0 || fstat(descriptor, &status))
    return refuse(descriptor, path, strerror(errno), why);
  if ((*why = why_not(&status, opened, isatty(descriptor))))
    return refuse(descriptor, path, *why, why);
  int flags = standard ? -1 : fcntl(descriptor, F_GETFL);
  if (flags >= 0)
    (void)fcntl(descriptor, F_SETFL, flags & ~O_NONBLOCK);
  return descriptor;
}
