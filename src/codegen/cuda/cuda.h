/* SPDX-License-Identifier: MIT */
/* cuda.h - a scheduled loop program as CUDA C++.
 *
 *   cuda.c        the file: kernels, launches, the host's functions
 *   nest.c   a kernel's body from its part of the nest
 *   check.c  threads against dependences: barriers, locals, blocks */
#ifndef CODEGEN_CUDA_H
#define CODEGEN_CUDA_H

#include "codegen/file/file.h"

enum { CG_AXES = 6 }; /* po_bind_axis */

/* A kernel's launch, and what its code is written with. */
typedef struct cg_cuda {
  cg_emitter *e;
  const po_group *group;
  const cg_use *use;
  const char *name;
  int64_t size[CG_AXES]; /* 0: no loop is bound to the axis */
  int64_t shared_bytes;
  uint32_t guarded; /* a bit an axis: only its index 0 comes here */
} cg_cuda;

/* The least value and the number of values of a loop; false without limits. */
bool cg_loop_range(const cg_emitter *, uint32_t loop, int64_t *min,
                   int64_t *count);
/* Some node below (or at) `top` is a barrier. */
bool cg_has_sync(const cg_emitter *, uint32_t top);
/* Some loop below (or at) `top` is bound to the axis. */
bool cg_has_axis(const cg_emitter *, uint32_t top, uint32_t axis);

/* A statement of the kernel mentions the array. */
bool cg_is_in_kernel(const cg_cuda *, uint32_t array);

/* nest.c: the body of the kernel. */
cg_node *cg_make_cuda_body(cg_cuda *);
extern const char *const cg_axis_names[CG_AXES];

/* check.c: errors where threads or blocks would race; warnings for
 * barriers that separate nothing. False with diagnostics. */
bool cg_check_threads(cg_cuda *);

/* int NAME(const T *in..., T *out..., void *workspace) over device pointers,
 * NAME_on_stream with a stream, NAME_workspace_size. False with diagnostics. */
bool cg_emit_cuda(const po_program *, const cg_options *, bs_text *cu);

#endif
