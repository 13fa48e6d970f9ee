/* SPDX-License-Identifier: MIT */
/* cuda.c - kernels and host in one file of CUDA C++.
 *
 * The host's functions take device pointers; parts of the workspace are
 * pointers into it. */
#include "codegen/device/device.h"
#include <string.h>

static const char *
head(const cg_launch *c) {
  (void)c;
  return "static __global__ void";
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

/* dim3(x, y, z), from this axis on. */
static const cg_expr *
make_dim3(const cg_launch *c, uint32_t axis) {
  bs_arena *arena = &c->e->arena;
  const cg_expr *sizes[3];
  for (uint32_t k = 0; k < 3; k++)
    sizes[k] = cg_number(arena, cg_size_of(c, axis + k));
  return cg_called(arena, "dim3", 3, sizes);
}

static cg_node *
make_launch(const cg_launch *c) {
  bs_arena *arena = &c->e->arena;
  uint32_t n = c->use->n_slots;
  const cg_expr **args = BS_NEWS(arena, const cg_expr *, n + 1);
  for (uint32_t k = 0; k < n; k++)
    args[k] = cg_name(arena, c->e->p->arrays.data[c->use->slots[k].array].name);
  cg_node *launch = cg_node_new(arena, CG_LAUNCH);
  launch->launched =
      (cg_launched){cg_called(arena, c->name, n, args),
                    make_dim3(c, PO_BLOCK_X), make_dim3(c, PO_THREAD_X)};
  return launch;
}

static void
write_workspace(const cg_emitter *e, cg_writer *w) {
  for (uint32_t k = 0; k < e->p->arrays.len; k++) {
    const po_array *a = &e->p->arrays.data[k];
    if (cg_is_in_workspace(a))
      cg_write(w, "%s *%s = (%s *)(void *)((unsigned char *)workspace + %lld);",
               cg_type_of(e, k), a->name, cg_type_of(e, k),
               (long long)a->offset);
  }
}

static void
write_unused(const cg_emitter *e, cg_writer *w) {
  for (uint32_t k = 0; k < e->p->arrays.len; k++) {
    const po_array *a = &e->p->arrays.data[k];
    if (a->role == PO_INPUT || a->role == PO_OUTPUT || cg_is_in_workspace(a))
      cg_write(w, "(void)%s;", a->name);
  }
  cg_write(w, "(void)workspace;");
}

/* NAME_on_stream(arrays, workspace, stream) */
static cg_function
signature_on_stream(cg_emitter *e) {
  cg_options on = *e->options;
  on.name = bs_arena_printf(&e->arena, "%s_on_stream", e->options->name);
  cg_function f = cg_signature_of(e->p, &on, false, &e->arena);
  cg_add_parameter(&e->arena, &f,
                   (cg_parameter){"cudaStream_t", "stream", false});
  f.head = "extern \"C\" int";
  return f;
}

static cg_function
make_on_stream(cg_emitter *e, const cg_launch *kernels) {
  cg_function f = signature_on_stream(e);
  cg_writer w;
  cg_start(&w, &e->arena);
  cg_open_body(&w);
  write_workspace(e, &w);
  write_unused(e, &w);
  for (uint32_t k = 0; k < e->groups.list.len; k++)
    cg_write_nodes(&w, make_launch(&kernels[k]));
  cg_write(&w, "return (int)cudaGetLastError();");
  f.body = cg_close_body(e, &w);
  return f;
}

/* NAME(arrays, workspace), which is `on` with stream 0. */
static cg_function
make_on_default(cg_emitter *e, const cg_function *on) {
  cg_function f = cg_signature_of(e->p, e->options, false, &e->arena);
  const cg_expr **args = BS_NEWS(&e->arena, const cg_expr *, on->n_parameters);
  for (uint32_t k = 0; k < f.n_parameters; k++)
    args[k] = cg_name(&e->arena, f.parameters[k].name);
  args[f.n_parameters] = cg_number(&e->arena, 0);
  f.head = "extern \"C\" int";
  f.body = cg_make_return(
      &e->arena, cg_called(&e->arena, on->name, on->n_parameters, args));
  f.body->wraps = true;
  return f;
}

static void
put(cg_emitter *e, const char *before, cg_function *f, bs_text *out) {
  bs_put(out, before);
  e->failed |= !cg_print_entry(e->p, &e->arena, &cg_cuda_language, f, out);
}

static void
put_host(cg_emitter *e, const cg_launch *kernels, bs_text *out, bs_text *none) {
  (void)none;
  bs_arena *arena = &e->arena;
  cg_function on = make_on_stream(e, kernels), f = make_on_default(e, &on);
  put(e, "/* Device pointers; 0, or an error of CUDA. */\n", &on, out);
  put(e, "\n/* On the default stream. */\n", &f, out);
  f = (cg_function){
      .head = "extern \"C\" size_t",
      .name = bs_arena_printf(arena, "%s_workspace_size", e->options->name),
      .body = cg_make_return(arena, cg_number(arena, e->p->workspace_bytes))};
  put(e, "\n", &f, out);
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
    .head = head,
    .put_top = put_top,
    .put_host = put_host,
    .is_word = is_word,
};

bool
cg_emit_cuda(const po_program *p, const cg_options *options, bs_text *cu) {
  return cg_emit_device(p, &cuda, options, cu, NULL);
}
