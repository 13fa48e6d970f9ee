/* SPDX-License-Identifier: MIT */
/* onnx.h - models in the ONNX format as programs. */
#ifndef ONNX_ONNX_H
#define ONNX_ONNX_H

#include "glenside/program/program.h"

typedef struct on_options {
  const char *path; /* of the model */
  /* Symbolic dimensions of inputs: "NAME=SIZE", or, where the dimension becomes
   * a size of the program, "NAME=LEAST..MOST" or "NAME=LEAST..MOST:MULTIPLE".
   */
  const char *const *dims;
  uint32_t n_dims;
  const char *output; /* of the program's text, beside which the weights go */
} on_options;

typedef struct on_summary {
  uint32_t nodes;   /* of the model */
  uint32_t dead;    /* that no output needs */
  uint32_t folded;  /* that were computed while importing */
  uint32_t weights; /* inputs by reference */
  uint64_t bytes;   /* of the file with them */
  const char *weights_file;
} on_summary;

/* Reads the model and writes the program and its weights; false with
 * diagnostics, and then nothing is written. */
bool on_import_file(const gs_context *, const on_options *, on_summary *out);
/* As a program alone, which holds its weights as long as the context lives;
 * NULL with diagnostics. */
gs_program *on_load_file(const gs_context *, const on_options *);
/* As a program from bytes, which are not needed any more afterwards; `weights`
 * (made) takes the elements of its weights.  NULL with diagnostics. */
gs_program *on_program_of(const gs_context *, const on_options *,
                          const uint8_t *bytes, size_t size, on_summary *out,
                          bs_text *weights);
/* Appends the names of the dimensions that the inputs of a model leave open,
 * one a line, each once; false with diagnostics. */
bool on_open_dims(const gs_context *, const char *path, bs_text *names);
/* The operators that are known, one a line, with what is left out. */
void on_list_operators(bs_text *);

#endif
