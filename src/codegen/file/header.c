/* SPDX-License-Identifier: MIT */
/* header.c - the header: one documented declaration, sizes as macros. */
#include "codegen/file/file.h"
#include "poly/loops/sizes.h"
#include <ctype.h>
#include <string.h>

static int64_t
elements_of(const po_array *array) {
  return gs_prod(array->dim, array->rank);
}

cg_parameter
cg_parameter_of(bs_arena *arena, const po_array *array, bool restricted) {
  const char *type = bs_arena_printf(
      arena, "%s%s *%s", array->role == PO_INPUT ? "const " : "",
      gs_dtype_table[array->dtype].c_type, restricted ? "restrict" : "");
  return (cg_parameter){type, array->name, false};
}

cg_function
cg_signature_of(const po_program *p, const cg_options *options, bool restricted,
                bs_arena *arena) {
  uint32_t n = 0;
  cg_parameter *out =
      BS_NEWS(arena, cg_parameter, p->sizes.len + p->arrays.len + 2);
  for (uint32_t k = 0; k < p->sizes.len; k++)
    out[n++] = (cg_parameter){"int64_t", p->sizes.data[k].name, false};
  for (uint32_t k = 0; k < p->arrays.len; k++)
    if (cg_is_parameter(&p->arrays.data[k]))
      out[n++] = cg_parameter_of(arena, &p->arrays.data[k], restricted);
  if (po_has_prepacked(p))
    out[n++] = (cg_parameter){"const void *", "prepacked", false};
  out[n++] = (cg_parameter){"void *", "workspace", false};
  return (cg_function){
      .name = options->name, .n_parameters = n, .parameters = out};
}

void
cg_put_prototype(bs_text *out, const char *type, const cg_function *f) {
  size_t n = strlen(type);
  bs_putf(out, "%s%s", type, n && type[n - 1] == '*' ? "" : " ");
  cg_print_signature(out, f);
  bs_put(out, ";\n\n");
}

static void
put_upper(bs_text *out, const char *name) {
  for (; *name; name++)
    bs_putc(out, (char)toupper((unsigned char)*name));
}

static void
put_define(bs_text *out, const char *name, const char *what,
           const char *parameter, int64_t value) {
  bs_put(out, "#define ");
  put_upper(out, name);
  bs_putf(out, "_%s%s %lld\n", what, parameter, (long long)value);
}

static void
put_parameter(bs_text *out, const po_program *p, const po_array *array) {
  bool input = array->role == PO_INPUT;
  const gs_named *named = input ? &p->source->inputs.data[array->number]
                                : &p->source->outputs.data[array->number];
  bs_putf(out, " *   %-10s %s %s(", array->name, input ? "in " : "out",
          gs_dtype_table[array->dtype].name);
  for (uint32_t d = 0; d < array->rank; d++) {
    bs_put(out, d ? ", " : "");
    po_put_extent(p, array, d, out);
  }
  bs_put(out, ")");
  if (array->dtype == GS_BF16)
    bs_put(out, ", the upper half of a float");
  if (array->dtype == GS_F16)
    bs_put(out, ", the bits of an IEEE 754 half");
  if (array->dtype == GS_BOOL)
    bs_put(out, ", each 0 or 1");
  if (strcmp(named->name, array->name))
    bs_putf(out, ", %s of the program", named->name);
  bs_putc(out, '\n');
}

static void
put_documentation(bs_text *out, const po_program *p, const char *name) {
  bs_putf(out, "/* %s - row-major arrays, last dimension fastest.\n *\n", name);
  cg_put_size_documentation(p, out);
  for (uint32_t k = 0; k < p->arrays.len; k++)
    if (cg_is_parameter(&p->arrays.data[k]))
      put_parameter(out, p, &p->arrays.data[k]);
  if (po_has_prepacked(p))
    bs_putf(out, " *   prepacked  what %s_%s made\n", name,
            cg_has_life(p) ? "init" : "prepack");
  bs_put(out, " *   workspace  ");
  if (p->workspace_bytes && po_has_sizes(p))
    bs_putf(out,
            "%s_workspace_size(...) bytes, at most %lld, aligned to 64, of\n"
            " *              any content; one for each call that runs at a "
            "time\n",
            name, (long long)p->workspace_bytes);
  else if (p->workspace_bytes)
    bs_putf(out,
            "%lld bytes, aligned to 64, of any content; one for each\n"
            " *              call that runs at a time; %lld hold values at "
            "once\n",
            (long long)p->workspace_bytes, (long long)p->workspace_least);
  else
    bs_put(out, "not used, may be NULL\n");
  bs_put(out, " *\n * Arrays are aligned to their elements (64 bytes are "
              "best); outputs overlap no\n * other array.  Calls may run at a "
              "time, each with outputs and a workspace of its\n * own.  ");
  bs_put(out,
         po_has_sizes(p)
             ? "Returns 0; 1, and does nothing, where a size is not within "
               "its\n * bounds. */\n"
             : "Returns 0. */\n");
}

static void
put_prepack(bs_text *out, const po_program *p, const cg_options *options) {
  const char *name = options->name;
  bs_putf(out, "/* %s_prepack - what all calls of %s have in common.\n *\n",
          name, name);
  for (uint32_t k = 0; k < p->arrays.len; k++)
    if (p->arrays.data[k].prepack)
      put_parameter(out, p, &p->arrays.data[k]);
  bs_putf(out,
          " *   prepacked  out %lld bytes, aligned to 64, for any number of "
          "calls at a time;\n"
          " *              its content is for this function alone\n *\n"
          " * The inputs are not needed any more afterwards. */\n",
          (long long)p->prepacked_bytes);
  cg_function prepack = cg_prepack_signature(p, options);
  cg_put_prototype(out, "void", &prepack);
  bs_put(out, "/* The bytes of what is prepacked. */\n");
  cg_function size = {
      .name = bs_arena_printf(p->ctx.arena, "%s_prepacked_size", name)};
  cg_put_prototype(out, "size_t", &size);
}

static void
put_tiling(bs_text *out, const po_program *p, const char *name) {
  bs_put(out,
         "/* The tiling key: which of the codes for parts of the sizes takes "
         "a call, from 0\n * on; glen tiling says what each is. */\n");
  cg_function f = cg_signature_of_sizes(p, name, "tiling");
  cg_put_prototype(out, "int", &f);
}

void
cg_put_header(const po_program *p, const cg_options *options, bs_text *out) {
  bs_put(out, "/* Generated by glen. */\n#ifndef GLEN_");
  put_upper(out, options->name);
  bs_put(out, "_H\n#define GLEN_");
  put_upper(out, options->name);
  bs_put(out, "_H\n\n#include <stddef.h>\n#include <stdint.h>\n\n"
              "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
  put_define(out, options->name, "WORKSPACE_BYTES", "", p->workspace_bytes);
  if (po_has_prepacked(p))
    put_define(out, options->name, "PREPACKED_BYTES", "", p->prepacked_bytes);
  put_define(out, options->name, "ALIGNMENT", "", 64);
  for (uint32_t k = 0; k < p->arrays.len; k++)
    if ((cg_is_parameter(&p->arrays.data[k]) || p->arrays.data[k].prepack) &&
        !po_is_sized(&p->arrays.data[k]))
      put_define(out, options->name, "ELEMENTS_", p->arrays.data[k].name,
                 elements_of(&p->arrays.data[k]));
  bs_putc(out, '\n');
  put_documentation(out, p, options->name);
  cg_function f = cg_signature_of(p, options, false, p->ctx.arena);
  cg_put_prototype(out, "int", &f);
  bs_putf(out, "/* The bytes of the workspace%s. */\n",
          po_has_sizes(p) ? "; 0 where a size is not within its bounds" : "");
  f = cg_signature_of_sizes(p, options->name, "workspace_size");
  cg_put_prototype(out, "size_t", &f);
  if (options->keys.n)
    put_tiling(out, p, options->name);
  if (po_has_prepacked(p))
    put_prepack(out, p, options);
  if (cg_has_life(p))
    cg_put_life_header(p, options, out);
  bs_put(out, "#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
}
