/* SPDX-License-Identifier: MIT */
/* depfile.c - what build systems ask of a command: a list of what it read, and
 * a file whose time says when it last succeeded.
 *
 * make and ninja read one syntax and differ in how a name escapes it. A name
 * that none of its ways of writing can express is left out with a warning: the
 * list would otherwise not be read at all. */
#include "cli/cli_session.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef enum role { TARGET, PREREQUISITE } role;

typedef struct list {
  FILE *to;
  bool ninja;
  cl_session *session;
} list;

/* What stands before the character; NULL: nothing. make takes a `%` of a
 * target, but not of a prerequisite, for a pattern. */
static const char *
escape(const list *l, char c, role as) {
  const char *with_backslash = l->ninja       ? " #:"
                               : as == TARGET ? " \t#:*?[%"
                                              : " \t#:*?[";
  if (c == '$')
    return "$";
  return strchr(with_backslash, c) ? "\\" : NULL;
}

static bool
is_writable(const list *l, const char *name) {
  return !name[strcspn(name, l->ninja ? "\n\t;*?[&'\"|<>`^" : "\n;=|")];
}

/* make halves the backslashes before what one of them escapes. */
static void
put_name(const list *l, const char *name, role as) {
  for (const char *at = name; *at;) {
    size_t n = strspn(at, "\\");
    const char *before = at[n] ? escape(l, at[n], as) : "\\";
    bool doubled = n && !l->ninja && before && *before == '\\';
    for (size_t k = 0; k < n << doubled; k++)
      fputc('\\', l->to);
    at += n;
    if (*at) {
      fputs(before ? before : "", l->to);
      fputc(*at++, l->to);
    }
  }
}

static bool
is_listed(const list *l, const char *name) {
  if (is_writable(l, name))
    return true;
  cl_note(l->session,
          "glen: --depfile leaves out '%s', as %s has no way to write such a "
          "name\n",
          name, l->ninja ? "ninja" : "make");
  return false;
}

/* What was read, then what that names, then folders. */
static const char *
input(const list *l, uint32_t k) {
  glen_context *glen = l->session->glen;
  uint32_t read = glen_files_read(glen), named = glen_files_named(glen);
  if (k < read)
    return glen_file_read(glen, k);
  k -= read;
  return k < named ? glen_file_named(glen, k)
                   : glen_folder_read(glen, k - named);
}

/* A line for each that has nothing behind it, as `gcc -MP` writes them, so that
 * make does not stop when one is gone.  CMake 3.22, which reads the lists for
 * ninja, takes a colon for a part of the name unless a space follows. */
static void
put_rules(const list *l, const char *made) {
  put_name(l, made, TARGET);
  fputc(':', l->to);
  for (uint32_t k = 0; input(l, k); k++)
    if (is_listed(l, input(l, k))) {
      fputs(" \\\n  ", l->to);
      put_name(l, input(l, k), PREREQUISITE);
    }
  fputc('\n', l->to);
  for (uint32_t k = 0; input(l, k); k++)
    if (is_writable(l, input(l, k))) {
      fputc('\n', l->to);
      put_name(l, input(l, k), TARGET);
      fputs(l->ninja ? ": \n" : ":\n", l->to);
    }
}

static const char *
made_by(const cl_options *o, char *path, size_t size) {
  if (o->stamp)
    return o->stamp;
  if (o->output)
    return o->output;
  return cl_import_output(o, 0, path, size) ? path : "-";
}

static bool
write_list(cl_session *session) {
  const cl_options *o = session->options;
  char *text = NULL, path[4096];
  size_t n;
  FILE *to = open_memstream(&text, &n);
  bool ok = to != NULL;
  if (to) {
    list l = {to, !strcmp(o->depfile_format, "ninja"), session};
    put_rules(&l, made_by(o, path, sizeof path));
    ok = !ferror(to);
    /* The stream may close in peace and yet have had no memory for the text. */
    ok = !fclose(to) && ok && text;
  }
  if (!ok)
    fputs("glen: out of memory for the list of files read\n", stderr);
  ok = ok && cl_write(session, o->depfile, text);
  free(text);
  return ok;
}

/* ---- inputs that the tool does not know yet ----
 *
 * Up to version 1.11, ninja dates an output that a command left untouched by
 * the inputs that it knew when the command began.  Where one that it only hears
 * of by this list, such as a rule that was added to a folder, is later than
 * those, ninja would run the command again.  So outputs get the present time
 * then, once: afterwards they are later than the day the input came to be. */

typedef struct times {
  int64_t written, born; /* nanoseconds; where nobody knows, both are one */
} times;

static bool
times_of(const char *path, times *out) {
#ifdef STATX_BTIME
  struct statx x;
  if (statx(AT_FDCWD, path, 0, STATX_MTIME | STATX_BTIME, &x))
    return false;
  out->written = x.stx_mtime.tv_sec * INT64_C(1000000000) + x.stx_mtime.tv_nsec;
  out->born =
      x.stx_mask & STATX_BTIME
          ? x.stx_btime.tv_sec * INT64_C(1000000000) + x.stx_btime.tv_nsec
          : out->written;
#else
  struct stat s;
  if (stat(path, &s))
    return false;
  out->written = out->born = s.st_mtime * INT64_C(1000000000);
#endif
  return true;
}

/* Stands the file on the command line? */
static bool
is_named(const cl_options *o, const char *path) {
  const cl_list *lists[] = {&o->files, &o->rules};
  for (size_t j = 0; j < sizeof lists / sizeof *lists; j++)
    for (uint32_t k = 0; k < lists[j]->n; k++)
      if (glen_same_file(lists[j]->items[k], path))
        return true;
  return false;
}

static bool
is_known(const list *l, uint32_t k) {
  glen_context *glen = l->session->glen;
  return k >= glen_files_read(glen) + glen_files_named(glen) ||
         is_named(l->session->options, input(l, k));
}

/* When the last of those that are known, or are not, was written. */
static int64_t
last_written(const list *l, bool known, int64_t born_after) {
  int64_t last = 0;
  times t;
  for (uint32_t k = 0; input(l, k); k++)
    if (is_known(l, k) == known && times_of(input(l, k), &t) &&
        t.born > born_after && t.written > last)
      last = t.written;
  return last;
}

static bool
has_late_input(cl_session *session) {
  const cl_options *o = session->options;
  list l = {.session = session};
  char path[4096];
  times made;
  return o->depfile && !strcmp(o->depfile_format, "ninja") &&
         times_of(made_by(o, path, sizeof path), &made) &&
         last_written(&l, false, made.written) > last_written(&l, true, -1);
}

bool
cl_write_depfile(cl_session *session, int code) {
  const cl_options *o = session->options;
  glen_context *glen = session->glen;
  if ((o->touch || has_late_input(session)) && !glen_outputs_touch(glen, NULL))
    return false;
  if (o->depfile && !write_list(session))
    return false;
  return !o->stamp || code ||
         (cl_write(session, o->stamp, "") &&
          glen_outputs_touch(glen, o->stamp));
}
