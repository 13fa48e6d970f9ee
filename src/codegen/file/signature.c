/* SPDX-License-Identifier: MIT */
/* signature.c - the functions that a file has for its callers: their names and
 * parameters, their declarations, and those that return a number. */
#include "codegen/file/codegen_file.h"
#include <assert.h>
#include <string.h>

cg_parameter
cg_parameter_of(bs_arena *arena, const po_array *array, bool restricted) {
  assert(array->dtype < GS_DTYPE_COUNT);
  const char *type = bs_arena_printf(
      arena, "%s%s *%s", array->role == PO_INPUT ? "const " : "",
      gs_dtype_table[array->dtype].c_type, restricted ? "restrict" : "");
  return (cg_parameter){type, array->name, false};
}

cg_function
cg_signature_of(const po_program *p, const cg_options *options, bool restricted,
                bs_arena *arena) {
  assert(options->name && *options->name);
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

cg_function
cg_signature_of_sizes(const po_program *p, const char *name, const char *of,
                      bs_arena *arena) {
  cg_parameter *out = BS_NEWS(arena, cg_parameter, p->sizes.len + 1);
  for (uint32_t k = 0; k < p->sizes.len; k++)
    out[k] = (cg_parameter){"int64_t", p->sizes.data[k].name, false};
  return (cg_function){.head = "\nsize_t",
                       .name = bs_arena_printf(arena, "%s_%s", name, of),
                       .n_parameters = p->sizes.len,
                       .parameters = out};
}

cg_function
cg_prepack_signature(const po_program *p, const cg_options *options,
                     bs_arena *arena) {
  cg_parameter *out = BS_NEWS(arena, cg_parameter, p->arrays.len + 1);
  cg_function f = {.head = "void",
                   .name = bs_arena_printf(arena, "%s_prepack", options->name),
                   .parameters = out};
  for (uint32_t k = 0; k < p->arrays.len; k++) {
    const po_array *a = &p->arrays.data[k];
    if (a->prepack)
      out[f.n_parameters++] = (cg_parameter){
          bs_arena_printf(arena, "const %s *", gs_dtype_table[a->dtype].c_type),
          a->name, false};
  }
  out[f.n_parameters++] = (cg_parameter){"void *", "prepacked", false};
  return f;
}

void
cg_put_prototype(bs_text *out, const char *type, const cg_function *f) {
  assert(*type && f->name && *f->name);
  size_t n = strlen(type);
  bs_putf(out, "%s%s", type, n && type[n - 1] == '*' ? "" : " ");
  cg_print_signature(out, f);
  bs_put(out, ";\n\n");
}

/* Puts a function that returns a number, with an empty line before. */
static bool
put_number_function(const po_program *p, const char *name, int64_t number,
                    bs_arena *arena, bs_text *out) {
  cg_function f = {.head = "\nsize_t",
                   .name = name,
                   .body = cg_make_return(arena, cg_number(arena, number))};
  return cg_print_entry(p, arena, &cg_c, &f, out);
}

bool
cg_put_workspace_size(const po_program *p, const cg_options *options,
                      bs_arena *arena, bs_text *out) {
  const char *name = bs_arena_printf(arena, "%s_workspace_size", options->name);
  return put_number_function(p, name, p->workspace_bytes, arena, out);
}

bool
cg_put_prepacked_size(const po_program *p, const cg_options *options,
                      bs_arena *arena, bs_text *out) {
  const char *name = bs_arena_printf(arena, "%s_prepacked_size", options->name);
  return put_number_function(p, name, p->prepacked_bytes, arena, out);
}
