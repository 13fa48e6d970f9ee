/* SPDX-License-Identifier: MIT */
/* same.c - do two paths name one file?
 *
 * A file that is there is known by its device and number, through any links;
 * one that is not, by those of the nearest folder that is, and the rest of the
 * path. */
#include "base/output.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_LINKS = 40 };

typedef struct place {
  dev_t device;
  ino_t number;
  char rest[PATH_MAX]; /* "" for a file that is there */
} place;

/* The next part of a path that says anything; its length. */
static size_t
next_part(const char **at) {
  for (;;) {
    *at += strspn(*at, "/");
    size_t n = strcspn(*at, "/");
    if (n != 1 || (*at)[0] != '.')
      return n;
    *at += n;
  }
}

static bool
same_rest(const char *a, const char *b) {
  for (;;) {
    size_t n = next_part(&a), m = next_part(&b);
    if (n != m || memcmp(a, b, n))
      return false;
    if (!n)
      return true;
    a += n;
    b += m;
  }
}

/* A link that leads nowhere yet is replaced by what it names. */
static bool
follow(char path[PATH_MAX]) {
  char target[PATH_MAX], whole[2 * PATH_MAX];
  for (int k = 0; k <= MOST_LINKS; k++) {
    ssize_t n = readlink(path, target, sizeof target - 1);
    if (n < 0)
      return true;
    target[n] = '\0';
    const char *slash = strrchr(path, '/');
    int folder = slash && target[0] != '/' ? (int)(slash + 1 - path) : 0;
    int length = snprintf(whole, sizeof whole, "%.*s%s", folder, path, target);
    if (length < 0 || length >= PATH_MAX)
      return false;
    memcpy(path, whole, (size_t)length + 1);
  }
  return false;
}

/* The nearest folder that is there; `path` is cut to it. */
static bool
find_folder(char path[PATH_MAX], place *out) {
  struct stat status;
  for (;;) {
    char *slash = strrchr(path, '/');
    const char *folder = slash == path ? "/" : slash ? path : ".";
    memmove(out->rest + (slash ? strlen(slash) : strlen(path) + 1), out->rest,
            strlen(out->rest) + 1);
    if (slash) {
      memcpy(out->rest, slash, strlen(slash));
      *slash = '\0';
    } else {
      out->rest[0] = '/';
      memcpy(out->rest + 1, path, strlen(path));
      path[0] = '\0';
    }
    if (!stat(folder, &status)) {
      out->device = status.st_dev;
      out->number = status.st_ino;
      return true;
    }
    if (!slash || slash == path)
      return false;
  }
}

/* False where it is no file, nor a place for one. */
static bool
locate(const char *name, place *out) {
  struct stat status;
  char path[PATH_MAX];
  size_t n = strlen(name);
  out->rest[0] = '\0';
  if (!n || !strcmp(name, "-") || n >= sizeof path - 2)
    return false;
  if (!stat(name, &status)) {
    out->device = status.st_dev;
    out->number = status.st_ino;
    return S_ISREG(status.st_mode);
  }
  memcpy(path, name, n + 1);
  return follow(path) && find_folder(path, out);
}

bool
bs_same_file(const char *a, const char *b) {
  place x, y;
  return locate(a, &x) && locate(b, &y) && x.device == y.device &&
         x.number == y.number && same_rest(x.rest, y.rest);
}
