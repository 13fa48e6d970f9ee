/* SPDX-License-Identifier: MIT */
/* test_blocks.c - products that do not stay in a cache: which of their blocks
 * are asked for ahead, how deep they are, and that results are right. */
#include "glenside/target/machine.h"
#include "nests.h"

TestSuite(blocks, .init = fixture_start, .fini = fixture_stop);

/* A machine with a second cache of so many bytes. */
static const gs_target *
machine_with(int64_t second) {
  gs_target *t = machine(64, 32);
  memset(&t->caches, 0, sizeof t->caches);
  bs_push(&heap, &t->caches,
          (gs_cache){.level = 1,
                     .bytes = 32768,
                     .line = 64,
                     .ways = 8,
                     .bytes_per_cycle = 64});
  bs_push(&heap, &t->caches,
          (gs_cache){.level = 2,
                     .bytes = second,
                     .line = 64,
                     .ways = 8,
                     .bytes_per_cycle = 32});
  return t;
}

/* Rows by columns; the second factor lies along its columns or along k. */
static const char *
product(int rows, int columns, int depth, bool along_k) {
  return bs_arena_printf(
      &arena,
      "(tensor a (shape %d %d) f32)\n(tensor b (shape %d %d) f32)\n"
      "(let c (compute dotProd (cartProd (access a 1) %s)))\n(output c)\n",
      rows, depth, along_k ? columns : depth, along_k ? depth : columns,
      along_k ? "(access b 1)" : "(transpose (access b 1) (list 1 0))");
}

static const char *
code_for(int64_t second, const char *text) {
  return code_of(lower_with(machine_with(second), text, (po_options){0}));
}

Test(blocks, that_are_packed_from_memory_are_asked_for) {
  const char *large = product(40, 3072, 768, false);
  cr_expect(strstr(code_for(1 << 20, large), "_next_y("));
  cr_expect(!strstr(code_for(16 << 20, large), "_next_y("),
            "the cache has room for all of it");
  cr_expect(!strstr(code_for(1 << 18, large), "_next_y("),
            "two blocks are more than the cache has");
  cr_expect(!strstr(code_for(1 << 20, product(40, 48, 768, false)), "_next_y("),
            "there is one block");
}

/* Both factors are packed: the second for all rows. */
Test(blocks, of_both_factors_are_longer_where_the_cache_is) {
  const char *text = product(1024, 1024, 1024, false);
  cr_expect(strstr(code_for(1 << 20, text), "k_lo += 1024"));
  cr_expect(strstr(code_for(1 << 19, text), "k_lo += 512"));
}

Test(blocks, results_are_those_of_the_interpreter) {
  const char *texts[] = {product(40, 700, 300, false),
                         product(40, 300, 700, true),
                         product(3, 1000, 130, false)};
  check_all(machine_with(1 << 17), texts, COUNT(texts), (po_options){0});
}
