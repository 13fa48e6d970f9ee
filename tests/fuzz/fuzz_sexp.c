/* SPDX-License-Identifier: MIT */
/* The S-expression reader on any bytes: it reads, or it explains why not.
 *
 * What was read is written and read again, and must be the same value; every
 * diagnostic is rendered in all forms; then all of it is done once more with
 * half of the memory. */
#include "fuzz.h"
#include "base/sexp.h"

static void
render_all(bs_heap *heap, const bs_diags *diags) {
  bs_text out;
  bs_text_init(&out, heap);
  for (uint32_t i = 0; i < diags->list.len; i++) {
    bs_render(diags, &diags->list.data[i], false, &out);
    bs_render(diags, &diags->list.data[i], true, &out);
    bs_render_json(diags, &diags->list.data[i], &out);
  }
  require(out.len < 1 << 20);
  bs_text_done(&out);
}

static void
check_root(bs_heap *heap, bs_values *values, bs_diags *diags, bs_value value) {
  bs_text out;
  bs_text_init(&out, heap);
  bs_put_value(&out, values, value);
  uint32_t source = bs_source_add(diags, "again", out.data, out.len);
  bs_sexps again;
  require(bs_sexp_read(heap, values, diags, source, &again));
  require(again.roots.len == 1);
  bs_value back = bs_sx_value(heap, values, &again, again.roots.data[0]);
  require(bs_same(value, back));
  require(bs_value_compare(values, value, back) == 0);
  bs_sexps_done(heap, &again);
  bs_text_done(&out);
}

static void
read_input(void *argument) {
  const input *in = argument;
  bs_diags diags;
  bs_diags_init(&diags, in->heap);
  bs_values *values = bs_values_new(in->heap);
  uint32_t source = bs_source_add(&diags, "input", in->bytes, in->size);
  bs_sexps sexps;
  if (bs_sexp_read(in->heap, values, &diags, source, &sexps)) {
    require(!diags.errors);
    for (uint32_t i = 0; i < sexps.roots.len; i++)
      check_root(in->heap, values, &diags,
                 bs_sx_value(in->heap, values, &sexps, sexps.roots.data[i]));
  } else {
    require(diags.errors);
  }
  render_all(in->heap, &diags);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  read_twice(read_input, bytes, size, 0);
  return 0;
}
