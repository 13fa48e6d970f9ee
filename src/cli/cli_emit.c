/* SPDX-License-Identifier: MIT */
/* cli_emit.c - see cli_emit.h. */
#include "cli/cli_emit.h"
#include "cli/cli_session.h"

#include <stdio.h>
#include <string.h>

const cl_form cl_forms[CL_FORM_COUNT] = {
#define X(id, ...) [CL_FORM_##id] = {__VA_ARGS__},
    CL_FORMS(X)
#undef X
};

bool
cl_has_word(const char *list, const char *word) {
  size_t n;
  for (; *list; list += n + (list[n] == ',')) {
    n = strcspn(list, ",");
    if (strlen(word) == n && !memcmp(list, word, n))
      return true;
  }
  return false;
}

const cl_form *
cl_find_form(const char *word, size_t n) {
  for (size_t i = 0; i < CL_FORM_COUNT; i++)
    if (strlen(cl_forms[i].word) == n && !memcmp(cl_forms[i].word, word, n))
      return &cl_forms[i];
  return NULL;
}

bool
cl_emits_egraph(const cl_options *o) {
  for (size_t i = 0; i < CL_FORM_COUNT; i++)
    if (cl_forms[i].needs_rules && cl_has_word(o->emit, cl_forms[i].word))
      return true;
  return false;
}

bool
cl_emits_device(const cl_options *o) {
  for (size_t i = 0; o->emit && i < CL_FORM_COUNT; i++)
    if (cl_forms[i].is_device && cl_has_word(o->emit, cl_forms[i].word))
      return true;
  return false;
}

/* The stem of the outputs and the default name of the function: a program that
 * comes from stdin has none, nor has a stream. */
bool
cl_name_outputs(const cl_options *o, cl_named *out) {
  const char *from = cl_to_stream(o) ? o->files.items[0] : o->output;
  if (!strcmp(from, "-"))
    from = "kernel";
  size_t n = (size_t)(cl_suffix_of(from) - from);
  if (n >= CL_PATH - 32)
    return false;
  memcpy(out->stem, from, n);
  out->stem[n] = '\0';
  out->name = o->name ? o->name : cl_base_name(out->stem);
  return true;
}

/* Where there are several, they go beside the C file, which is what -o names,
 * or one after the other into a stream. */
void
cl_form_path(const cl_named *named, const cl_options *o, const cl_form *f,
             bool only, char *path, size_t size) {
  if (only || f == &cl_forms[CL_FORM_C] || cl_to_stream(o))
    snprintf(path, size, "%s", o->output);
  else
    snprintf(path, size, "%s%s", named->stem, f->suffix);
}

bool
cl_compile_output(const cl_options *o, uint32_t k, char *path, size_t size) {
  cl_named named;
  uint32_t count = 0;
  const cl_form *found = NULL;
  if (cl_to_stream(o) || !cl_name_outputs(o, &named))
    return false;
  for (const char *at = o->emit; *at; count++) {
    size_t n = strcspn(at, ",");
    if (count == k)
      found = cl_find_form(at, n);
    at += n + (at[n] == ',');
  }
  if (found)
    cl_form_path(&named, o, found, count == 1, path, size);
  return found != NULL;
}
