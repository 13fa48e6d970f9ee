/* The lint on any rule file, well-formed or not: it ends, and what it says has
 * a place and can be shown; then once more with half of the memory.
 *
 * Corpora are those of fuzz_rules. */
#include "rules/lint.h"
#include <stdlib.h>
#include <string.h>

typedef struct input {
  bs_heap *heap;
  const char *bytes;
  size_t size;
} input;

static void
require(bool holds) {
  if (!holds)
    abort();
}

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

static size_t
run(const uint8_t *bytes, size_t size, size_t limit) {
  bs_heap heap;
  bs_heap_init(&heap, NULL, limit);
  input in = {&heap, (const char *)bytes, size};
  bool whole = bs_protect(&heap, lint, &in);
  require(whole || limit);
  size_t peak = heap.peak;
  bs_heap_done(&heap);
  require(heap.used == 0);
  return peak;
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  /* Files are not read: a text that could name one is passed over. */
  if (!memmem(bytes, size, "include", 7))
    run(bytes, size, run(bytes, size, 0) / 2);
  return 0;
}
