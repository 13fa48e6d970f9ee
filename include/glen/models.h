/* SPDX-License-Identifier: MIT */
/* models.h - models in the ONNX format and foreign e-graphs.
 *
 * A part of glen.h. */
#ifndef GLEN_MODELS_H
#define GLEN_MODELS_H

#include <glen/saturate.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- models ---- */

typedef struct glen_import_options {
  const char *path; /* of a model in the ONNX format */
  /* What the model leaves open: "NAME=SIZE" gives a dimension one size;
   * "NAME=LEAST..MOST" and "NAME=LEAST..MOST:MULTIPLE" make it a size of the
   * program, a number within these bounds that each call names. */
  const char *const *dims;
  uint32_t n_dims;
  const char *output; /* of the program; its weights go beside it */
} glen_import_options;

typedef struct glen_import_summary {
  uint32_t nodes;  /* of the model */
  uint32_t dead;   /* that no output needs */
  uint32_t folded; /* that were computed at once */
  uint32_t weights;
  uint64_t bytes; /* of the weights */
  const char *weights_file;
} glen_import_summary;

/* Writes a model as a program, with its weights beside it; false with
 * diagnostics, of all that is not supported. */
GLEN_API bool glen_import(glen_context *, const glen_import_options *,
                          glen_import_summary *out);
/* Dimensions, as in glen_import_options, of models that glen_program_load reads
 * from here on: a file NAME.onnx is a model.  They are not copied. */
GLEN_API void glen_model_dims(glen_context *, const char *const *dims,
                              uint32_t n);
/* The names of the dimensions that the inputs of a model leave open, one a
 * line, each once; NULL with diagnostics.  What dims may name. */
GLEN_API const char *glen_model_open_dims(glen_context *, const char *path);
/* The operators that are supported, one a line; "" in a build without them. */
GLEN_API const char *glen_import_operators(glen_context *);

/* ---- foreign e-graphs ---- */

/* Reads egraph-serialize JSON and extracts; the chosen nodes as text or JSON.
 */
GLEN_API const char *glen_extract_foreign(glen_context *, const char *path,
                                          glen_extractor, double seconds,
                                          bool json);

#ifdef __cplusplus
}
#endif

#endif
