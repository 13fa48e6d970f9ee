/* SPDX-License-Identifier: MIT */
/* opencl.c - kernels in OpenCL C, and a C file for the host.
 *
 * Buffers have no addresses on the host, so a kernel is passed the workspace as
 * a whole and finds its arrays there.  The host's file has the kernels as text,
 * which the device's compiler translates when they are built. */
#include "codegen/device/device.h"
#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- kernels ---- */

static const char *
head(const cg_launch *c) {
  return bs_arena_printf(
      &c->e->arena,
      "__kernel __attribute__((reqd_work_group_size(%lld, %lld, %lld)))\n"
      "void",
      (long long)cg_size_of(c, PO_THREAD_X),
      (long long)cg_size_of(c, PO_THREAD_Y),
      (long long)cg_size_of(c, PO_THREAD_Z));
}

/* Names of C that OpenCL C has under others. */
static const char *const types[][2] = {
    {"char", "int8_t"},     {"uchar", "uint8_t"}, {"short", "int16_t"},
    {"ushort", "uint16_t"}, {"int", "int32_t"},   {"uint", "uint32_t"},
    {"long", "int64_t"},
};

#define N(table) (sizeof table / sizeof *table)

enum { NAME = 16, MOST = GS_COMPUTE_COUNT + 2 };

static int
by_name(const void *a, const void *b) {
  return strcmp(a, b);
}

/* Functions of math.h that C calls for the dtype by its ending: those in the
 * texts of operators, and two that operators are written with by their form. */
static uint32_t
find_functions(char (*names)[NAME]) {
  uint32_t n = 2;
  strcpy(names[0], "fabs");
  strcpy(names[1], "floor");
  for (uint32_t op = 0; op < GS_COMPUTE_COUNT; op++) {
    const char *c = gs_compute_table[op].c, *at = c ? strchr(c, '@') : NULL;
    if (!at)
      continue;
    size_t length = strcspn(at + 1, "(");
    assert(length < NAME && !strchr(at + 1, '@'));
    memcpy(names[n], at + 1, length);
    names[n++][length] = 0;
  }
  qsort(names, n, sizeof *names, by_name);
  return n;
}

/* In OpenCL C, one name stands for all dtypes. */
static void
put_functions(bs_text *out) {
  char names[MOST][NAME];
  uint32_t n = find_functions(names);
  for (uint32_t k = 0; k < n; k++)
    if (k == 0 || strcmp(names[k], names[k - 1]))
      bs_putf(out, "#define %sf %s\n", names[k], names[k]);
}

static void
put_top(const cg_emitter *e, bs_text *out) {
  bs_put(out, "#ifdef cl_khr_fp64\n"
              "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n#endif\n");
  if (e->p->strict_fp)
    bs_put(out, "#pragma OPENCL FP_CONTRACT OFF\n");
  for (size_t k = 0; k < N(types); k++)
    bs_putf(out, "typedef %s %s;\n", types[k][0], types[k][1]);
  bs_put(out, "#define INT64_C(x) x##L\n");
  put_functions(out);
  bs_putc(out, '\n');
}

/* ---- names ---- */

/* float4, ulong16 */
static bool
is_vector(const char *name) {
  static const char *const bases[] = {"char",  "uchar",  "short", "ushort",
                                      "int",   "uint",   "long",  "ulong",
                                      "float", "double", "half"};
  static const char *const lanes[] = {"", "2", "3", "4", "8", "16"};
  for (size_t k = 0; k < N(bases); k++) {
    size_t n = strlen(bases[k]);
    for (size_t j = 0; !strncmp(name, bases[k], n) && j < N(lanes); j++)
      if (!strcmp(name + n, lanes[j]))
        return true;
  }
  return false;
}

/* cl_mem, clFinish, CL_TRUE */
static bool
is_of_host(const char *name) {
  return !strncmp(name, "CL_", 3) || !strncmp(name, "CLK_", 4) ||
         (!strncmp(name, "cl", 2) &&
          (name[2] == '_' || isupper((unsigned char)name[2])));
}

/* Constants are names of the whole file, which has hundreds of functions of the
 * language: none of these begins with v_. */
static bool
is_word(const po_array *a) {
  static const char *const words[] = {
      "barrier",   "bool",         "complex",      "constant",  "event_t",
      "generic",   "get_group_id", "get_local_id", "global",    "imaginary",
      "intptr_t",  "kernel",       "local",        "pipe",      "private",
      "ptrdiff_t", "quad",         "queue_t",      "read_only", "read_write",
      "sampler_t", "size_t",       "uintptr_t",    "uniform",   "vec_step",
      "write_only"};
  for (size_t k = 0; k < N(words); k++)
    if (!strcmp(a->name, words[k]))
      return true;
  return a->role == PO_CONSTANT || is_vector(a->name) || is_of_host(a->name) ||
         !strncmp(a->name, "image", 5) || !strncmp(a->name, "as_", 3);
}

/* ---- the host ---- */

/* Each line of the kernels as a string. */
static void
put_source(const char *name, bs_text *kernels, bs_text *out) {
  const char *text = bs_text_str(kernels);
  bs_putf(out, "static const char *const %s_source[] = {\n", name);
  while (*text) {
    size_t n = strcspn(text, "\n");
    bs_put(out, "    \"");
    for (size_t k = 0; k < n; k++) {
      if (strchr("\"\\", text[k]))
        bs_putc(out, '\\');
      bs_putc(out, text[k]);
    }
    bs_put(out, "\\n\",\n");
    text += n + (text[n] == '\n');
  }
  bs_put(out, "};\n\n");
}

static void
put_names(const cg_emitter *e, const cg_launch *kernels, bs_text *out) {
  const char *name = e->options->name;
  bs_putf(out, "static const char *const %s_names[] = {\n    ", name);
  for (uint32_t k = 0; k < e->groups.list.len; k++)
    cg_put_item(out, "\"%s\", ", kernels[k].name);
  cg_put_item(out, "NULL};\n\n");
}

static void
put_build(const char *name, bs_text *out) {
  bs_putf(out,
          "/* How many kernels there are. */\n"
          "size_t\n%s_kernel_count(void) {\n"
          "  return sizeof %s_names / sizeof *%s_names - 1;\n}\n\n",
          name, name, name);
  bs_putf(out,
          "void\n%s_release(cl_kernel *kernels) {\n"
          "  for (size_t k = 0; %s_names[k]; k++)\n"
          "    if (kernels[k])\n"
          "      clReleaseKernel(kernels[k]);\n}\n\n",
          name, name);
  bs_putf(out,
          "static cl_int\n"
          "%s_create(cl_program program, cl_device_id device,\n"
          "    cl_kernel *kernels) {\n"
          "  cl_int error = clBuildProgram(program, 1, &device, "
          "\"-cl-std=CL1.2\",\n"
          "      NULL, NULL);\n"
          "  for (size_t k = 0; %s_names[k]; k++)\n"
          "    kernels[k] = NULL;\n"
          "  for (size_t k = 0; error == CL_SUCCESS && %s_names[k]; k++)\n"
          "    kernels[k] = clCreateKernel(program, %s_names[k], &error);\n"
          "  if (error != CL_SUCCESS)\n"
          "    %s_release(kernels);\n"
          "  return error;\n}\n\n",
          name, name, name, name, name);
  bs_putf(
      out,
      "/* Builds the kernels for a device of a context.  CL_SUCCESS, or an\n"
      "   error of OpenCL, and there are none. */\n"
      "cl_int\n"
      "%s_build(cl_context context, cl_device_id device,\n"
      "    cl_kernel *kernels) {\n"
      "  cl_int error;\n"
      "  cl_program program = clCreateProgramWithSource(context,\n"
      "      sizeof %s_source / sizeof *%s_source,\n"
      "      (const char **)%s_source, NULL, &error);\n"
      "  if (error != CL_SUCCESS)\n"
      "    return error;\n"
      "  error = %s_create(program, device, kernels);\n"
      "  clReleaseProgram(program);\n"
      "  return error;\n}\n\n",
      name, name, name, name, name);
  bs_putf(out,
          "static cl_int\n"
          "%s_enqueue(cl_command_queue queue, cl_kernel kernel, cl_uint n,\n"
          "    const cl_mem *arguments, const size_t *threads,\n"
          "    const size_t *block) {\n"
          "  cl_int error = CL_SUCCESS;\n"
          "  for (cl_uint k = 0; error == CL_SUCCESS && k < n; k++)\n"
          "    error = clSetKernelArg(kernel, k, sizeof *arguments, "
          "&arguments[k]);\n"
          "  if (error != CL_SUCCESS)\n"
          "    return error;\n"
          "  return clEnqueueNDRangeKernel(queue, kernel, 3, NULL, threads, "
          "block, 0,\n"
          "      NULL, NULL);\n}\n\n",
          name);
}

static void
add_sizes(const cg_launch *c, bool all, cg_writer *w) {
  for (uint32_t k = 0; k < 3; k++) {
    int64_t block = cg_size_of(c, PO_THREAD_X + k);
    int64_t grid = all ? cg_size_of(c, PO_BLOCK_X + k) : 1;
    cg_add(w, "%s%lld", k ? ", " : "", (long long)(grid * block));
  }
}

/* The array of a kernel's arguments, of which there are n. */
static uint32_t
write_arguments(const cg_launch *c, cg_writer *w) {
  bs_arena *arena = &c->e->arena;
  const cg_expr **all = BS_NEWS(arena, const cg_expr *, c->use->n_slots + 2);
  uint32_t n = 0;
  for (uint32_t k = 0; k < c->use->n_slots; k++)
    if (!cg_is_passed_whole(c, k))
      all[n++] =
          cg_name(arena, c->e->p->arrays.data[c->use->slots[k].array].name);
  if (cg_uses_workspace(c))
    all[n++] = cg_name(arena, "workspace");
  all[n] = cg_literal(arena, "NULL");
  cg_node *let = cg_make_let(arena, "const cl_mem", "glen_arguments",
                             cg_braces(arena, NULL, n + 1, all));
  let->let.elements = n + 1;
  cg_write_nodes(w, let);
  return n;
}

static void
write_launch(const cg_launch *c, uint32_t number, cg_writer *w) {
  cg_write(w, "if (glen_error == CL_SUCCESS) {");
  cg_add(w, "const size_t glen_threads[3] = {");
  add_sizes(c, true, w);
  cg_add(w, "}, glen_block[3] = {");
  add_sizes(c, false, w);
  cg_write(w, "};");
  uint32_t n = write_arguments(c, w);
  cg_write(w,
           "glen_error = %s_enqueue(glen_queue, glen_kernels[%u], %u,\n"
           "glen_arguments, glen_threads, glen_block);",
           c->e->options->name, number, n);
  cg_write(w, "}");
}

/* NAME_on_queue(queue, kernels, arrays, workspace) */
static cg_function
signature_on_queue(cg_emitter *e) {
  const po_program *p = e->p;
  cg_parameter *all = BS_NEWS(&e->arena, cg_parameter, p->arrays.len + 3);
  uint32_t n = 0;
  all[n++] = (cg_parameter){"cl_command_queue", "glen_queue", false};
  all[n++] = (cg_parameter){"const cl_kernel *", "glen_kernels", false};
  for (uint32_t k = 0; k < p->arrays.len; k++)
    if (p->arrays.data[k].role == PO_INPUT ||
        p->arrays.data[k].role == PO_OUTPUT)
      all[n++] = (cg_parameter){"cl_mem", p->arrays.data[k].name, false};
  all[n++] = (cg_parameter){"cl_mem", "workspace", false};
  return (cg_function){
      .head = "cl_int",
      .name = bs_arena_printf(&e->arena, "%s_on_queue", e->options->name),
      .n_parameters = n,
      .parameters = all};
}

static void
put_run(cg_emitter *e, const cg_launch *kernels, bs_text *out) {
  cg_function f = signature_on_queue(e);
  cg_writer w;
  cg_start(&w, &e->arena);
  cg_open_function(&w, &f);
  cg_write(&w, "cl_int glen_error = CL_SUCCESS;");
  for (uint32_t k = 2; k < f.n_parameters; k++)
    cg_write(&w, "(void)%s;", f.parameters[k].name);
  for (uint32_t k = 0; k < e->groups.list.len; k++)
    write_launch(&kernels[k], k, &w);
  cg_write(&w, "return glen_error;");
  bs_put(out, "/* Runs the kernels in order on a queue that keeps it.  Kernels "
              "are\n   used by one thread at a time.  CL_SUCCESS, or an error "
              "of OpenCL. */\n");
  e->failed |= !cg_close_entry(e->p, &w, out);
  bs_putc(out, '\n');
}

static void
put_host(cg_emitter *e, const cg_launch *kernels, bs_text *source,
         bs_text *out) {
  const char *name = e->options->name;
  bs_put(out, "/* Generated by glen. */\n"
              "#ifndef CL_TARGET_OPENCL_VERSION\n"
              "#define CL_TARGET_OPENCL_VERSION 120\n#endif\n"
              "#include <CL/cl.h>\n#include <stddef.h>\n\n");
  put_source(name, source, out);
  put_names(e, kernels, out);
  put_build(name, out);
  put_run(e, kernels, out);
  bs_put(out, "/* A buffer of so many bytes is the workspace; none for 0. */");
  e->failed |= !cg_put_workspace_size(e->p, e->options, &e->arena, out);
}

/* ---- the language ---- */

static const cg_device opencl = {
    .name = "OpenCL C",
    .language = &cg_opencl_language,
    .axes = {"get_group_id(0)", "get_group_id(1)", "get_group_id(2)",
             "get_local_id(0)", "get_local_id(1)", "get_local_id(2)"},
    .pointer = "__global ",
    .restricted = "restrict",
    .shared = "__local",
    .most_shared = 32 * 1024,
    .constants = "__constant",
    .helpers = "static inline",
    .workspace = "__global uchar *",
    .head = head,
    .put_top = put_top,
    .put_host = put_host,
    .is_word = is_word,
};

bool
cg_emit_opencl(const po_program *p, const cg_options *options, bs_text *kernels,
               bs_text *host) {
  return cg_emit_device(p, &opencl, options, kernels, host);
}
