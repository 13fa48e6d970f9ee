/* SPDX-License-Identifier: MIT */
/* cli_emit.h - what --emit of `glen compile` may name, and where each goes. */
#ifndef CLI_EMIT_H
#define CLI_EMIT_H

#include "cli/cli_options.h"

enum { CL_PATH = 4096 };

/* The word, what stands behind the stem of its path, whether it is made of a
 * saturation or of loops, and whether for blocks and threads. */
#define CL_FORMS(X)                                                            \
  X(GLEN, "glen", ".extracted.glen", false, false, false)                      \
  X(EGRAPH_JSON, "egraph-json", ".egraph.json", true, false, false)            \
  X(DOT, "dot", ".dot", true, false, false)                                    \
  X(HTML, "html", ".html", true, true, false)                                  \
  X(LOOPS, "loops", ".loops", false, true, false)                              \
  X(SCHED, "sched", ".sched", false, true, false)                              \
  X(TREE, "tree", ".tree", false, true, false)                                 \
  X(IMPLGRAPH, "implgraph", ".implgraph", false, true, false)                  \
  X(IMPLGRAPH_JSON, "implgraph-json", ".implgraph.json", false, true, false)   \
  X(C, "c", ".c", false, true, false)                                          \
  X(CUDA, "cuda", ".cu", false, true, true)                                    \
  X(OPENCL, "opencl", ".cl", false, true, true)                                \
  X(OPENCL_HOST, "opencl-host", ".cl.c", false, true, true)                    \
  X(H, "h", ".h", false, true, false)                                          \
  X(MANIFEST, "manifest", ".manifest.json", false, true, false)

enum {
#define X(id, ...) CL_FORM_##id,
  CL_FORMS(X)
#undef X
      CL_FORM_COUNT
};

typedef struct cl_form {
  const char *word, *suffix;
  bool needs_rules, needs_loops, is_device;
} cl_form;

extern const cl_form cl_forms[CL_FORM_COUNT];

/* The outputs of a compilation. */
typedef struct cl_named {
  const char *name;   /* of the function */
  char stem[CL_PATH]; /* output path without .c */
} cl_named;

bool cl_has_word(const char *list, const char *word);
/* NULL where there is no such form. */
const cl_form *cl_find_form(const char *word, size_t n);
/* False where the path is too long. */
bool cl_name_outputs(const cl_options *, cl_named *);
/* Where one of the forms to be emitted is written; `only`: there is no
 * other. */
void cl_form_path(const cl_named *, const cl_options *, const cl_form *,
                  bool only, char *path, size_t size);

#endif
