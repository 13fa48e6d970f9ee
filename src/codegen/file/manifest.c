/* SPDX-License-Identifier: MIT */
/* manifest.c - inputs and outputs for programs that load what was emitted. */
#include "base/json.h"
#include "codegen/file/codegen_file.h"

static void
put_arrays(bs_json *json, const po_program *p, po_role role, const char *key) {
  bs_json_array(json, key);
  for (uint32_t k = 0; k < p->arrays.len; k++) {
    const po_array *array = &p->arrays.data[k];
    if (array->role != role)
      continue;
    const gs_dtype_info *dtype = &gs_dtype_table[array->dtype];
    const gs_named *named = role == PO_INPUT
                                ? &p->source->inputs.data[array->number]
                                : &p->source->outputs.data[array->number];
    bs_json_object(json, NULL);
    bs_json_string(json, "name", named->name);
    bs_json_string(json, "parameter", array->name);
    bs_json_string(json, "dtype", dtype->name);
    bs_json_string(json, "c_type", dtype->c_type);
    bs_json_array(json, "shape");
    for (uint32_t d = 0; d < array->rank; d++)
      bs_json_int(json, NULL, array->dim[d]);
    bs_json_end(json);
    bs_json_int(json, "bytes", gs_prod(array->dim, array->rank) * dtype->bytes);
    bs_json_int(json, "alignment", 64);
    if (array->prepack)
      bs_json_bool(json, "prepack", true);
    bs_json_end(json);
  }
  bs_json_end(json);
}

void
cg_emit_manifest(const po_program *p, const cg_options *options, bs_text *out) {
  bs_json json;
  p = cg_with_own_names(p, options->name, NULL);
  bs_json_init(&json, out, 2);
  bs_json_object(&json, NULL);
  bs_json_int(&json, "schema", 1);
  bs_json_string(&json, "function", options->name);
  put_arrays(&json, p, PO_INPUT, "inputs");
  put_arrays(&json, p, PO_OUTPUT, "outputs");
  if (po_has_prepacked(p))
    bs_json_int(&json, "prepacked_bytes", p->prepacked_bytes);
  bs_json_int(&json, "workspace_bytes", p->workspace_bytes);
  bs_json_int(&json, "workspace_least_bytes", p->workspace_least);
  bs_json_end(&json);
  bs_putc(out, '\n');
}
