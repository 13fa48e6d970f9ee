/* SPDX-License-Identifier: MIT */
/* cuda.c - kernels and host in one file of CUDA C++.
 *
 * The host's functions take device pointers; parts of the workspace are
 * pointers into it. */
#include "codegen/device/device.h"
#include <string.h>

static void
put_head(const cg_launch *c, bs_text *out) {
  (void)c;
  bs_put(out, "static __global__ void");
}

static void
put_top(const cg_emitter *e, bs_text *out) {
  (void)e;
  bs_put(out, "#include <cuda_runtime.h>\n#include <math.h>\n"
              "#include <stddef.h>\n#include <stdint.h>\n\n");
}

/* Words of CUDA's own variables and of the host's functions. */
static bool
is_word(const po_array *a) {
  static const char *const words[] = {"blockDim", "blockIdx",  "dim3",
                                      "gridDim",  "half",      "i",
                                      "stream",   "threadIdx", "warpSize"};
  for (size_t k = 0; k < sizeof words / sizeof *words; k++)
    if (!strcmp(a->name, words[k]))
      return true;
  return false;
}

/* ---- the host ---- */

static void
put_dim3(const cg_launch *c, uint32_t axis, bs_text *out) {
  bs_putf(out, "dim3(%lld, %lld, %lld)", (long long)cg_size_of(c, axis),
          (long long)cg_size_of(c, axis + 1),
          (long long)cg_size_of(c, axis + 2));
}

static void
put_launch(const cg_launch *c, bs_text *out) {
  bs_putf(out, "  %s<<<", c->name);
  put_dim3(c, PO_BLOCK_X, out);
  bs_put(out, ", ");
  put_dim3(c, PO_THREAD_X, out);
  bs_put(out, ", 0, stream>>>(\n      ");
  for (uint32_t k = 0; k < c->use->n_slots; k++)
    cg_put_item(out, "%s%s", c->e->p->arrays.data[c->use->slots[k].array].name,
                k + 1 < c->use->n_slots ? ", " : "");
  bs_put(out, ");\n");
}

static void
put_workspace(const cg_emitter *e, bs_text *out) {
  for (uint32_t k = 0; k < e->p->arrays.len; k++) {
    const po_array *a = &e->p->arrays.data[k];
    if (!cg_is_in_workspace(a))
      continue;
    bs_putf(out,
            "  %s *%s = (%s *)(void *)((unsigned char *)workspace + %lld);\n",
            cg_type_of(e, k), a->name, cg_type_of(e, k), (long long)a->offset);
  }
}

static void
put_unused(const cg_emitter *e, bs_text *out) {
  for (uint32_t k = 0; k < e->p->arrays.len; k++) {
    const po_array *a = &e->p->arrays.data[k];
    if (a->role == PO_INPUT || a->role == PO_OUTPUT || cg_is_in_workspace(a))
      bs_putf(out, "  (void)%s;\n", a->name);
  }
  bs_put(out, "  (void)workspace;\n");
}

static void
put_arguments(const cg_emitter *e, bs_text *out) {
  for (uint32_t k = 0; k < e->p->arrays.len; k++) {
    const po_array *a = &e->p->arrays.data[k];
    if (a->role == PO_INPUT || a->role == PO_OUTPUT)
      cg_put_item(out, "%s, ", a->name);
  }
  cg_put_item(out, "workspace, ");
  cg_put_item(out, "0);\n");
}

static void
put_host(cg_emitter *e, const cg_launch *kernels, bs_text *out, bs_text *none) {
  (void)none;
  cg_options on = *e->options;
  on.name = bs_arena_printf(&e->arena, "%s_on_stream", e->options->name);
  bs_put(out, "/* Device pointers; 0, or an error of CUDA. */\n"
              "extern \"C\" int\n");
  cg_put_signature(e->p, &on, false, out);
  out->len--;
  bs_put(out, ", ");
  cg_put_item(out, "cudaStream_t stream) {\n");
  put_workspace(e, out);
  put_unused(e, out);
  for (uint32_t k = 0; k < e->groups.list.len; k++)
    put_launch(&kernels[k], out);
  bs_put(out, "  return (int)cudaGetLastError();\n}\n\n"
              "/* On the default stream. */\nextern \"C\" int\n");
  cg_put_signature(e->p, e->options, false, out);
  bs_putf(out, " {\n  return %s(", on.name);
  put_arguments(e, out);
  bs_putf(out,
          "}\n\nextern \"C\" size_t\n%s_workspace_size(void) {\n"
          "  return %lld;\n}\n",
          e->options->name, (long long)e->p->workspace_bytes);
}

/* ---- the language ---- */

static const cg_device cuda = {
    .name = "CUDA",
    .language = &cg_cuda_language,
    .axes = {"blockIdx.x", "blockIdx.y", "blockIdx.z", "threadIdx.x",
             "threadIdx.y", "threadIdx.z"},
    .pointer = "",
    .restricted = "__restrict__",
    .shared = "__shared__",
    .most_shared = 48 * 1024,
    .constants = "static __device__",
    .helpers = "static __device__ inline",
    .put_head = put_head,
    .put_top = put_top,
    .put_host = put_host,
    .is_word = is_word,
};

bool
cg_emit_cuda(const po_program *p, const cg_options *options, bs_text *cu) {
  return cg_emit_device(p, &cuda, options, cu, NULL);
}
