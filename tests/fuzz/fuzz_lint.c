/* SPDX-License-Identifier: MIT */
/* The lint on any rule file, well-formed or not: it ends, and what it says has
 * a place and can be shown; then once more with half of the memory.
 *
 * Corpora are those of fuzz_rules. */
#include "fuzz.h"
#include "rules/lint/lint.h"

static void
show(bs_heap *heap, const bs_diags *diags) {
  bs_text out;
  bs_text_init(&out, heap);
  for (uint32_t k = 0; k < diags->list.len; k++)
    bs_render_json(diags, &diags->list.data[k], &out);
  bs_text_done(&out);
}

static void
lint(void *arg) {
  const input *in = arg;
  bs_arena arena;
  bs_diags diags;
  rl_lint_counts counts;
  bs_arena_init(&arena, in->heap);
  bs_diags_init(&diags, in->heap);
  gs_context ctx = {in->heap, &arena, bs_values_new(in->heap), &diags};
  uint32_t source = bs_source_add(&diags, "r", in->bytes, in->size);
  rl_rules *rules = rl_new(&ctx, NULL);
  if (source && rl_load_source(rules, source))
    rl_finish(rules);
  uint32_t before = diags.list.len;
  rl_lint(&ctx, rules, true, &counts);
  require(counts.tried <= counts.rules);
  for (uint32_t k = before; k < diags.list.len; k++)
    require(diags.list.data[k].span.file == source);
  show(in->heap, &diags);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  /* Files are not read: a text that could name one is passed over. */
  if (!memmem(bytes, size, "include", 7))
    read_twice(lint, bytes, size, 0);
  return 0;
}
