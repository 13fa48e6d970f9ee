/* SPDX-License-Identifier: MIT */
/* form_files.h - files of forms that include others, as rule files do, and
 * values as they are written in them.
 *
 * (include "FILE") stands for the forms of that file, beside the one that it is
 * in; each file is read once, whatever the way to it.  A folder stands for its
 * files *.rules. */
#ifndef GLENSIDE_FORM_FILES_H
#define GLENSIDE_FORM_FILES_H

#include "base/sexp.h"
#include "glenside/type/context.h"

typedef struct gs_form_file {
  uint32_t source;
  const char *path;
  const char *real; /* for comparison; NULL: from memory */
  bs_sexps sx;
} gs_form_file;

/* Files by index: one includes the other. */
typedef struct gs_include {
  uint32_t from, to;
} gs_include;

typedef struct gs_form_files {
  const gs_context *ctx;
  /* Each form but includes, in order; false with a diagnostic. */
  bool (*take)(void *arg, uint32_t file, uint32_t node);
  void *arg;
  BS_VEC(gs_form_file) files;
  BS_VEC(gs_include) includes;
  BS_VEC(uint32_t) loading; /* files whose includes are being read */
} gs_form_files;

/* A file, or a folder; false with diagnostics.  All faults are reported. */
bool gs_forms_load(gs_form_files *, const char *path);
bool gs_forms_load_source(gs_form_files *, uint32_t source);

/* The value of a literal: a list of data is without its head `list`, `shape`,
 * `stride` or `dilation`. */
bs_value gs_data_value(const gs_context *, const bs_sexps *, uint32_t node);
/* NAME=VALUE, as it is given to a command; false: that cannot be read. */
bool gs_read_setting(const gs_context *, const char *text, const char **name,
                     bs_value *out);

#endif
