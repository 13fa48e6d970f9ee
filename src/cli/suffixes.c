/* SPDX-License-Identifier: MIT */
/* suffixes.c - files whose names end as those of something else than what the
 * command reads or writes, and a result that --json leaves no place for: said
 * before any work is done.
 *
 * A compiler takes C from a file by its name, so C below a name of C++, or of
 * an object, would only fail later and elsewhere.  Ends that mean nothing, such
 * as .tmp or .in, are anybody's. */
#include "cli/cli_emit.h"
#include "cli/cli_session.h"
#include "cli/options_table.h"

#include <stdio.h>
#include <string.h>

static bool
ends_in(const char *path, const char *suffixes) {
  const char *dot = cl_suffix_of(path);
  return *dot && cl_is_choice(suffixes, dot);
}

static int
length_of_stem(const char *path) {
  return (int)(cl_suffix_of(path) - path);
}

/* ---- names of what a C compiler makes ---- */

static bool
is_made_of_c(const char *path) {
  static const struct {
    const char *suffixes, *flags;
  } kinds[] = {{".o .obj .a", "-c"},
               {".so .dll .dylib", "-shared -fPIC"},
               {".s .S .asm", "-S"},
               {".exe", "main.c"}};
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
    if (ends_in(path, kinds[k].suffixes)) {
      int n = length_of_stem(path);
      fprintf(stderr,
              "glen: glen writes C, from which a C compiler makes %s: use -o "
              "%.*s.c, then run cc -O3 -fopenmp %s %.*s.c\n",
              path, n, path, kinds[k].flags, n, path);
      return true;
    }
  return false;
}

/* ---- names of other languages ---- */

static bool
is_of_another_language(const char *path) {
  static const struct {
    const char *suffixes, *said;
  } kinds[] = {
      {".cpp .cc .cxx .c++ .C",
       "glen writes C, which is not C++: use -o NAME.c and a C compiler; "
       "the header can be included from C++"},
      {".py .ipynb", "glen writes C; from Python, glen.compile of the package "
                     "glen compiles and calls it"},
      {".rs .go .java .js .jl .f90 .zig",
       "glen writes C, which that language can call: use -o NAME.c"},
      {".ll .bc .mlir", "glen writes C: use -o NAME.c, and have a C compiler "
                        "translate it further"},
      {".rules .target .onnx .npy", "glen compile writes C: use -o NAME.c"},
      {".json", "C is written unless --emit says otherwise; which of its forms "
                "are JSON is in glen compile --help"}};
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
    if (ends_in(path, kinds[k].suffixes)) {
      fprintf(stderr, "glen: %s: %s\n", path, kinds[k].said);
      return true;
    }
  return false;
}

/* The header would be written to it as well. */
static bool
is_header(const cl_options *o) {
  if (!cl_has_word(o->emit, "h") || !ends_in(o->output, ".h .hh .hpp .hxx"))
    return false;
  fprintf(stderr,
          "glen: %s: the header goes beside the C file: -o NAME.c writes "
          "NAME.h, too\n",
          o->output);
  return true;
}

/* Another form, which --emit has a word for.  Of suffixes of several parts,
 * such as .extracted.glen, the last one is looked at. */
static bool
is_another_form(const char *path) {
  for (size_t k = 0; k < CL_FORM_COUNT; k++) {
    const char *end = strrchr(cl_forms[k].suffix, '.');
    if (k != CL_FORM_H && strcmp(end, cl_forms[CL_FORM_C].suffix) &&
        ends_in(path, end)) {
      fprintf(stderr,
              "glen: %s: C is written unless --emit says otherwise: use --emit "
              "%s, or -o %.*s.c\n",
              path, cl_forms[k].word, length_of_stem(path), path);
      return true;
    }
  }
  return false;
}

static bool
cannot_hold_c(const cl_options *o) {
  return cl_has_word(o->emit, "c") &&
         (is_header(o) || is_made_of_c(o->output) ||
          is_of_another_language(o->output) || is_another_form(o->output));
}

/* ---- programs ---- */

static bool
cannot_hold_program(const cl_command *command, const cl_options *o) {
  if (!ends_in(o->output, ".c .h .o .so .cpp .cu"))
    return false;
  fprintf(stderr,
          "glen: %s: glen %s writes a program: use -o %.*s.glen, or glen "
          "compile, which writes C\n",
          o->output, command->name, length_of_stem(o->output), o->output);
  return true;
}

static bool
is_program_already(const char *path) {
  if (!ends_in(path, ".glen .loops"))
    return false;
  fprintf(stderr,
          "glen: %s is a program already; glen import makes one of a model in "
          "the ONNX format\n",
          path);
  return true;
}

int
cl_refuse_inputs(const cl_command *command, const cl_options *o) {
  bool wrong = cl_command_bit(command) == IMPORT && o->files.n &&
               !o->list_operators && is_program_already(o->files.items[0]);
  return wrong ? GLEN_USAGE : GLEN_OK;
}

/* Does the result go to stdout?  That of map is its report. */
static bool
is_printed(int bit, const cl_options *o) {
  if (bit == MAP || (o->output && !cl_on_stdout(o)))
    return false;
  return o->output || bit == COMPILE ||
         (bit == SATURATE && strcmp(o->form, "glen") != 0);
}

int
cl_refuse_json(const cl_command *command, const cl_options *o) {
  if (!o->json || !is_printed(cl_command_bit(command), o))
    return GLEN_OK;
  fprintf(stderr,
          "glen: --json: the report and the result would both be on stdout: "
          "use -o FILE for the result, or leave --json out\n");
  return GLEN_USAGE;
}

int
cl_refuse_suffixes(const cl_command *command, const cl_options *o) {
  int bit = cl_command_bit(command);
  bool wrong = false;
  if (cl_to_stream(o))
    return GLEN_OK;
  if (bit == COMPILE)
    wrong = cannot_hold_c(o);
  else if (bit == IMPORT || (bit == SATURATE && !strcmp(o->form, "glen")))
    wrong = cannot_hold_program(command, o);
  return wrong ? GLEN_USAGE : GLEN_OK;
}
