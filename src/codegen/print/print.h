/* SPDX-License-Identifier: MIT */
/* print.h - the code tree as text: C with OpenMP, CUDA C++ and OpenCL C. */
#ifndef CODEGEN_PRINT_PRINT_H
#define CODEGEN_PRINT_PRINT_H

#include "base/text.h"
#include "codegen/tree/tree.h"

/* What the languages say in ways of their own. */
typedef struct cg_language {
  const char *barrier; /* NULL: there is none */
  const char *unroll;  /* a line before a loop that is written out; NULL */
  bool pragmas;        /* of OpenMP */
  bool launches;       /* kernels of the same file */
} cg_language;

extern const cg_language cg_c, cg_cuda_language, cg_opencl_language;

void cg_indent(bs_text *, uint32_t indent);
void cg_print_expr(bs_text *, const cg_expr *);
/* Of a statement that is indented so far; behind a sign and a space, unless it
 * is on a new line. */
void cg_print_expr_at(bs_text *, const cg_expr *, uint32_t indent);
void cg_print_value(bs_text *, const char *sign, const cg_expr *,
                    uint32_t indent);
void cg_print_nodes(bs_text *, const cg_language *, const cg_node *chain,
                    uint32_t indent);
/* name(parameters); the function, with what stands before its name on a line of
 * its own. */
void cg_print_signature(bs_text *, const cg_function *);
void cg_print_function(bs_text *, const cg_language *, const cg_function *);
/* Appends one of a list's items, on a new line where it would be too long. */
void cg_put_item(bs_text *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* What follows `start` is such an item. */
void cg_end_item(bs_text *, size_t start);
/* A comment on lines of its own, whatever the text. */
void cg_put_comment(bs_text *, uint32_t indent, const char *text);

#endif
