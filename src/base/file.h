/* SPDX-License-Identifier: MIT */
/* file.h - files written whole or not at all; what may be read. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "base/diag.h"

/* Writes to a temporary file beside `path`, then renames it; a file that
 * already holds these bytes is left untouched, one that is replaced keeps its
 * mode.  "-" and /dev/stdout are stdout; devices, pipes and open descriptors
 * (/dev/fd/N) are written directly.  False with a diagnostic ("cannot-write")
 * and no partial file on failure. */
bool bs_file_write(bs_diags *, const char *path, const void *data, size_t n);
/* The error says why, and which folder is not there; false. */
bool bs_cannot_write(bs_diags *, const char *path, int error);
/* Writes a file as bs_file_write does, at once, even while the outputs of a
 * command are gathered to be written together (output.h). */
bool bs_file_write_now(bs_diags *, const char *path, const void *data,
                       size_t n);
/* The entries of a directory ending in `suffix`, hidden ones left out, sorted
 * by bytes, as full paths in the arena.  False with a diagnostic
 * ("no-directory") when it cannot be read. */
bool bs_dir_list(bs_diags *, const char *path, const char *suffix,
                 const char *const **out, uint32_t *n);
/* Notes that what was read depends on what the folder holds. */
void bs_note_folder(bs_diags *, const char *path);
/* Notes that what was read depends on the file `name` in the folder of `base`,
 * if it is there. */
void bs_note_file(bs_diags *, const char *base, const char *name);
bool bs_is_dir(const char *path);
/* A descriptor of a file to read, or of stdin ("-"), which is not to be
 * closed.  -1 where there is none or it is no regular file, /dev/null or pipe
 * that was opened already; *why says so. */
int bs_open_input(const char *path, const char **why);
/* What *why is of a folder. */
#define BS_IS_FOLDER "it is a directory"
/* Why a name that stands in a file may not lead to another one: it is absolute,
 * goes up, or could not be printed; NULL: it may. */
const char *bs_why_not_within(const char *name);
/* bs_open_input of a file that the file `base` names: it must lie in that one's
 * folder, or below, links followed. */
int bs_open_within(const char *base, const char *name, const char **why);
/* `dir` of `base` joined with `name` when it is relative. */
const char *bs_path_beside(bs_arena *, const char *base, const char *name);
double bs_now(void); /* seconds of a monotonic clock */

#endif
