/* SPDX-License-Identifier: MIT */
/* device.h - a scheduled loop program as kernels of a device, in CUDA C++ or in
 * OpenCL C.
 *
 *   device.c  kernels: their launches and parameters
 *   device_nest.c  a kernel's body from its part of the nest
 *   device_check.c  threads against dependences: barriers, locals, blocks
 *   cuda.c, opencl.c  what each language says in a way of its own, and the
 *             host's functions */
#ifndef CODEGEN_DEVICE_H
#define CODEGEN_DEVICE_H

#include "codegen/file/codegen_file.h"

enum { CG_AXES = 6 }; /* po_bind_axis */

struct cg_launch;

/* What the languages differ in. */
typedef struct cg_device {
  const char *name;
  const cg_language *language; /* of bodies */
  const char *axes[CG_AXES];   /* indices of the block and of the thread */
  const char *pointer;         /* before the type that a parameter points to */
  const char *restricted;
  const char *shared; /* before the type of an array of a block */
  int64_t most_shared;
  const char *constants, *helpers; /* before those of the file */
  /* The type of the workspace, which a kernel is passed; NULL: it is passed
   * pointers into it. */
  const char *workspace;
  /* What stands before a kernel's name; above all; the functions of the host,
   * behind the kernels or in a file of their own. */
  const char *(*head)(const struct cg_launch *);
  void (*put_top)(const cg_emitter *, bs_text *out);
  void (*put_host)(cg_emitter *, const struct cg_launch *, bs_text *kernels,
                   bs_text *host);
  /* An array cannot be called so. */
  bool (*is_word)(const po_array *);
} cg_device;

/* A kernel's launch, and what its code is written with. */
typedef struct cg_launch {
  cg_emitter *e;
  const cg_device *device;
  const po_group *group;
  const cg_use *use;
  const char *name;
  int64_t size[CG_AXES]; /* 0: no loop is bound to the axis */
  int64_t shared_bytes;
  uint32_t guarded; /* a bit an axis: only its index 0 comes here */
} cg_launch;

/* Of the grid or the block, at least 1. */
int64_t cg_size_of(const cg_launch *, uint32_t axis);
const char *cg_type_of(const cg_emitter *, uint32_t array);
/* The array has a place there; those that nothing reads or writes any more have
 * none. */
bool cg_is_in_workspace(const po_array *);
/* An array of the kernel is in the workspace that it is passed; some is. */
bool cg_is_passed_whole(const cg_launch *, uint32_t slot);
bool cg_uses_workspace(const cg_launch *);
/* A pointer to its elements. */
const char *cg_type_of_slot(const cg_launch *, uint32_t slot);

/* The least value and the number of values of a loop; false without limits. */
bool cg_loop_range(const cg_emitter *, uint32_t loop, int64_t *min,
                   int64_t *count);
/* Some node below (or at) `top` is a barrier. */
bool cg_has_sync(const cg_emitter *, uint32_t top);
/* Some loop below (or at) `top` is bound to the axis. */
bool cg_has_axis(const cg_emitter *, uint32_t top, uint32_t axis);

/* A statement of the kernel mentions the array. */
bool cg_is_in_kernel(const cg_launch *, uint32_t array);

/* device_nest.c: the body of the kernel. */
cg_node *cg_make_device_body(cg_launch *);
/* The axes as schedules name them. */
extern const char *const cg_axis_names[CG_AXES];

/* device_check.c: errors where threads or blocks would race; warnings for
 * barriers that separate nothing. False with diagnostics. */
bool cg_check_threads(cg_launch *);

/* device.c: `host` for languages whose host has a file of its own.  False with
 * diagnostics. */
bool cg_emit_device(const po_program *, const cg_device *, const cg_options *,
                    bs_text *kernels, bs_text *host);

/* int NAME(const T *in..., T *out..., void *workspace) over device pointers,
 * NAME_on_stream with a stream, NAME_workspace_size. */
bool cg_emit_cuda(const po_program *, const cg_options *, bs_text *cu);
/* The kernels; a C file that has them as text, with NAME_build, NAME_on_queue
 * over buffers, NAME_release, NAME_workspace_size. */
bool cg_emit_opencl(const po_program *, const cg_options *, bs_text *kernels,
                    bs_text *host);

#endif
