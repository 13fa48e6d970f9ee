/* SPDX-License-Identifier: MIT */
/* file.c - files written whole or not at all; directories; paths; the clock.
 *
 * A regular file is replaced by renaming a complete one over it; a device, a
 * pipe or an open descriptor can only be written directly.  Symbolic links are
 * followed first, so that the file behind a link is replaced and not the link.
 * No descriptor is open across an allocation that may unwind. */
#include "base/file.h"
#include "base/output.h"
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_LINKS = 40, MOST_NAMES = 1000 };

const char *
bs_path_beside(bs_arena *arena, const char *base, const char *name) {
  const char *slash = strrchr(base, '/');
  if (name[0] == '/' || !slash)
    return bs_arena_strdup(arena, name);
  return bs_arena_printf(arena, "%.*s%s", (int)(slash + 1 - base), base, name);
}

bool
bs_is_dir(const char *path) {
  struct stat status;
  return !stat(path, &status) && S_ISDIR(status.st_mode);
}

/* The functions below return 0 or an errno. */

static int
write_all(int descriptor, const char *data, size_t n) {
  while (n) {
    ssize_t written = write(descriptor, data, n);
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return errno;
    data += written;
    n -= (size_t)written;
  }
  return 0;
}

static int
write_and_close(int descriptor, const void *data, size_t n) {
  int error = write_all(descriptor, data, n);
  if (close(descriptor) && !error && errno != EINTR)
    error = errno;
  return error;
}

/* The open descriptor that a path names, or -1. */
static int
descriptor_named(const char *path) {
  static const struct {
    const char *path;
    int descriptor;
  } names[] = {{"-", STDOUT_FILENO},
               {"/dev/stdout", STDOUT_FILENO},
               {"/dev/stderr", STDERR_FILENO}};
  static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!strcmp(path, names[i].path))
      return names[i].descriptor;
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
    size_t n = strlen(folders[i]);
    int64_t number;
    double real;
    if (!strncmp(path, folders[i], n) &&
        bs_read_number(path + n, strlen(path + n), &number, &real) ==
            BS_INTEGER &&
        number >= 0 && number <= INT_MAX)
      return (int)number;
  }
  return -1;
}

/* Through a copy, so that an error on closing is seen and the position in a
 * redirected file is kept. */
static int
write_descriptor(int descriptor, const void *data, size_t n) {
  if (descriptor == STDOUT_FILENO)
    fflush(stdout);
  int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  return copy < 0 ? errno : write_and_close(copy, data, n);
}

static int
write_directly(const char *path, const void *data, size_t n) {
  int descriptor = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
  return descriptor < 0 ? errno : write_and_close(descriptor, data, n);
}

static bool
reads_as(int descriptor, const char *data, size_t n) {
  char piece[1 << 14];
  for (;;) {
    ssize_t got = read(descriptor, piece, sizeof piece);
    if (got < 0 || (size_t)got > n || memcmp(piece, data, (size_t)got))
      return false;
    if (!got)
      return n == 0;
    data += got;
    n -= (size_t)got;
  }
}

static bool
holds_already(const char *path, const struct stat *status, const void *data,
              size_t n) {
  if ((uint64_t)status->st_size != n)
    return false;
  int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return false;
  bool same = reads_as(descriptor, data, n);
  close(descriptor);
  return same;
}

/* Files are put in their places together, later. */
static bool
is_waiting(const bs_diags *diags) {
  return diags->outputs && diags->outputs->open;
}

/* Opens a new file; `name` ends in room for a number.  Once it is there it is
 * listed: no signal comes between. */
static int
open_new(const bs_diags *diags, char *name, size_t size, size_t prefix,
         bs_temporary *temporary, int *descriptor) {
  sigset_t old;
  int error = bs_file_step(diags, "open");
  if (error)
    return error;
  bs_hold_signals(&old);
  error = EEXIST;
  for (int i = 0; i < MOST_NAMES && error == EEXIST; i++) {
    snprintf(name + prefix, size - prefix, "%ld-%d", (long)getpid(), i);
    *descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    error = *descriptor < 0 ? errno : 0;
  }
  temporary->live = !error;
  bs_release_signals(&old);
  return error;
}

static int
fill(const bs_diags *diags, int descriptor, const struct stat *old,
     const void *data, size_t n) {
  int error = old && fchmod(descriptor, old->st_mode & 07777) ? errno : 0;
  if (!error)
    error = bs_file_step(diags, "write");
  int written = write_and_close(descriptor, data, n);
  return error ? error : written;
}

/* A file beside the one to write, complete.  `old`: the status of the file to
 * replace, or NULL for a new one, whose mode then follows the umask.  Its name
 * lives as long as the list that it stands in. */
static int
write_beside(bs_diags *diags, const char *path, const struct stat *old,
             const void *data, size_t n, bs_temporary **out) {
  bs_arena *arena = &bs_outermost(diags)->arena;
  const char *stem = bs_path_beside(arena, path, ".glen-");
  size_t prefix = strlen(stem), size = prefix + 40;
  char *name = bs_arena_alloc(arena, size);
  memcpy(name, stem, prefix + 1);
  *out = bs_temporary_new(diags, BS_TEMPORARY_FILE, name);
  int descriptor;
  int error = open_new(diags, name, size, prefix, *out, &descriptor);
  return error ? error : fill(diags, descriptor, old, data, n);
}

static int
replace(bs_diags *diags, const char *path, const struct stat *old,
        const void *data, size_t n) {
  bs_temporary *temporary;
  int error = write_beside(diags, path, old, data, n, &temporary);
  if (!error && is_waiting(diags)) {
    bs_outputs_add(diags, path, temporary, old != NULL);
    return 0;
  }
  if (!error)
    error = bs_file_step(diags, "rename");
  if (!error && rename(temporary->path, path))
    error = errno;
  if (error && temporary->live)
    unlink(temporary->path);
  temporary->live = 0;
  return error;
}

/* The path behind a chain of symbolic links; its last file need not exist. */
static int
follow_links(bs_arena *arena, const char **path) {
  char target[4096];
  for (int i = 0; i < MOST_LINKS; i++) {
    ssize_t n = readlink(*path, target, sizeof target - 1);
    if (n < 0)
      return 0;
    target[n] = '\0';
    *path = bs_path_beside(arena, *path, target);
  }
  return ELOOP;
}

static int
write_path(bs_diags *diags, const char *path, const void *data, size_t n) {
  struct stat status;
  bool exists = !stat(path, &status);
  if (!exists && errno != ENOENT)
    return errno;
  if (exists && S_ISDIR(status.st_mode))
    return EISDIR;
  if (exists && !S_ISREG(status.st_mode))
    return write_directly(path, data, n);
  int error = follow_links(&diags->arena, &path);
  if (error)
    return error;
  if (!exists)
    return replace(diags, path, NULL, data, n);
  if (holds_already(path, &status, data, n)) {
    if (is_waiting(diags))
      bs_outputs_add(diags, path, NULL, true);
    return 0;
  }
  if (faccessat(AT_FDCWD, path, W_OK, AT_EACCESS))
    return errno;
  return replace(diags, path, &status, data, n);
}

static const char *
missing_folder(bs_diags *diags, const char *path) {
  const char *slash = strrchr(path, '/');
  const char *folder =
      slash ? bs_arena_printf(&diags->arena, "%.*s", (int)(slash - path), path)
            : "";
  return *folder && access(folder, F_OK) ? folder : NULL;
}

bool
bs_cannot_write(bs_diags *diags, const char *path, int error) {
  bs_error(diags, BS_NOWHERE, "cannot-write", "cannot write '%s': %s", path,
           strerror(error));
  const char *folder = error == ENOENT ? missing_folder(diags, path) : NULL;
  if (folder)
    bs_hint(diags, "there is no folder '%s': mkdir -p makes it", folder);
  return false;
}

bool
bs_file_write_now(bs_diags *diags, const char *path, const void *data,
                  size_t n) {
  bool waits = is_waiting(diags);
  if (waits)
    diags->outputs->open = false;
  bool ok = bs_file_write(diags, path, data, n);
  if (waits)
    diags->outputs->open = true;
  return ok;
}

bool
bs_file_write(bs_diags *diags, const char *path, const void *data, size_t n) {
  assert(data || !n);
  int descriptor = descriptor_named(path);
  if (is_waiting(diags) && !bs_outputs_allow(diags, path))
    return false;
  int error = descriptor < 0 ? write_path(diags, path, data, n)
                             : write_descriptor(descriptor, data, n);
  if (!error)
    return true;
  return bs_cannot_write(diags, path, error);
}

/* Names one behind another, each with its NUL. */
typedef struct names {
  bs_heap *heap;
  char *data;
  size_t len, cap;
  uint32_t count;
} names;

static bool
add_name(names *all, const char *name) {
  size_t n = strlen(name) + 1;
  if (n > all->cap - all->len) {
    size_t cap = 2 * all->cap + n + 1024;
    char *data = bs_try_realloc(all->heap, all->data, cap);
    if (!data)
      return false;
    all->data = data;
    all->cap = cap;
  }
  memcpy(all->data + all->len, name, n);
  all->len += n;
  all->count++;
  return true;
}

static bool
ends_in(const char *name, const char *suffix) {
  size_t n = strlen(name), m = strlen(suffix);
  return n >= m && !memcmp(name + n - m, suffix, m);
}

static int
read_names(const char *path, const char *suffix, names *all) {
  DIR *directory = opendir(path);
  if (!directory)
    return errno;
  int error = 0;
  const struct dirent *entry;
  while (errno = 0, !error && (entry = readdir(directory)))
    if (entry->d_name[0] != '.' && ends_in(entry->d_name, suffix) &&
        !add_name(all, entry->d_name))
      error = ENOMEM;
  if (!error)
    error = errno;
  closedir(directory);
  return error;
}

static int
compare_paths(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const char *const *
sorted_paths(bs_arena *arena, const char *path, const names *all) {
  const char **paths = BS_NEWS(arena, const char *, all->count);
  const char *slash = ends_in(path, "/") ? "" : "/";
  const char *name = all->data;
  for (uint32_t i = 0; i < all->count; i++) {
    paths[i] = bs_arena_printf(arena, "%s%s%s", path, slash, name);
    name += strlen(name) + 1;
  }
  if (all->count)
    qsort(paths, all->count, sizeof *paths, compare_paths);
  return paths;
}

bool
bs_dir_list(bs_diags *diags, const char *path, const char *suffix,
            const char *const **out, uint32_t *n) {
  names all = {.heap = diags->heap};
  int error = read_names(path, suffix, &all);
  if (error == ENOMEM) {
    bs_free(all.heap, all.data);
    bs_out_of_memory(diags->heap);
  }
  if (error) {
    bs_free(all.heap, all.data);
    return bs_error(diags, BS_NOWHERE, "no-directory",
                    "cannot read the directory '%s': %s", path,
                    strerror(error));
  }
  *out = sorted_paths(&diags->arena, path, &all);
  *n = all.count;
  bs_free(all.heap, all.data);
  return true;
}

static bool
is_among(const char *path, const char *const *paths, uint32_t n) {
  for (uint32_t k = n; k-- > 0;)
    if (!strcmp(paths[k], path))
      return true;
  return false;
}

void
bs_note_folder(bs_diags *diags, const char *path) {
  if (!is_among(path, diags->folders.data, diags->folders.len))
    bs_push(diags->heap, &diags->folders, bs_arena_strdup(&diags->arena, path));
}

void
bs_note_file(bs_diags *diags, const char *base, const char *name) {
  char path[PATH_MAX];
  struct stat status;
  const char *slash = strrchr(base, '/');
  int folder = slash ? (int)(slash + 1 - base) : 0;
  int n = snprintf(path, sizeof path, "%.*s%s", folder, base, name);
  if (n < 0 || (size_t)n >= sizeof path ||
      is_among(path, diags->named.data, diags->named.len))
    return;
  if (!stat(path, &status) && S_ISREG(status.st_mode))
    bs_push(diags->heap, &diags->named, bs_arena_strdup(&diags->arena, path));
}
