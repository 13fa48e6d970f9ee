/* SPDX-License-Identifier: MIT */
/* depfile.c - what build systems ask of a command: a list of what it read, and
 * a file whose time says when it last succeeded.
 *
 * make and ninja read one syntax and differ in how a name escapes it. A name
 * that none of its ways of writing can express is left out with a warning: the
 * list would otherwise not be read at all. */
#include "cli/session.h"

#include <stdlib.h>
#include <string.h>

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
 * make does not stop when one is gone. */
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
      fputs(":\n", l->to);
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

bool
cl_write_depfile(cl_session *session, int code) {
  const cl_options *o = session->options;
  glen_context *glen = session->glen;
  if (o->touch && !glen_outputs_touch(glen, NULL))
    return false;
  if (o->depfile && !write_list(session))
    return false;
  return !o->stamp || code ||
         (cl_write(session, o->stamp, "") &&
          glen_outputs_touch(glen, o->stamp));
}
