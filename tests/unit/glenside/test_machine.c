/* SPDX-License-Identifier: MIT */
/* What prices and plans ask of a machine. */
#include "fixture.h"
#include "glenside/target/machine.h"
#include <math.h>

TestSuite(machine, .init = start_listing, .fini = fixture_stop);

static gs_target *
parse(const char *text) {
  return gs_target_parse(&ctx,
                         bs_source_add(&diags, "t.target", text, strlen(text)));
}

Test(machine, that_says_nothing_of_caches_has_lines_of_64_bytes) {
  gs_target *t = parse("(target t)");
  cr_assert_not_null(t, "%s", faults());
  bs_clear(&t->caches);
  cr_assert_eq(gs_line_elements(t, 4), 16);
  cr_assert_eq(gs_line_elements(NULL, 8), 8);
}

Test(machine, that_has_other_lines_is_asked_for_them) {
  gs_target *t = parse("(target t (cache 1 (bytes 4096) (line 128) (ways 4)))");
  cr_assert_not_null(t, "%s", faults());
  cr_assert_eq(gs_line_elements(t, 4), 32);
  cr_assert_eq(gs_first_cache(t).ways, 4);
}

Test(machine, that_is_none_is_asked_as_the_default_is) {
  const gs_target *t = gs_target_default(&ctx);
  cr_assert_eq(gs_cores(NULL), gs_cores(t));
  cr_assert_eq(gs_vector_bytes(NULL), gs_vector_bytes(t));
  cr_assert_eq(gs_vector_registers(NULL), gs_vector_registers(t));
  cr_assert_eq(gs_first_cache(NULL).line, gs_first_cache(t).line);
  for (uint32_t k = 1; k <= 2; k++)
    cr_assert_eq(gs_cache_bytes(NULL, k), gs_cache_bytes(t, k));
}

Test(machine, with_one_cache_has_no_more_of_its_own) {
  gs_target *t = parse("(target t (cache 1 (bytes 4096)))");
  cr_assert_not_null(t, "%s", faults());
  cr_assert_eq(gs_core_bytes(t), 4096);
  cr_assert_eq(gs_third_cache_share(t), 0);
  cr_assert_eq(gs_far_bytes(t), 4096);
}

Test(machine, with_a_shared_cache_has_a_part_of_it_for_each_core) {
  gs_target *t = parse("(target t (cores 4) (cache 1 (bytes 4096))"
                       " (cache 2 (bytes 65536))"
                       " (cache 3 (bytes 16777216)))");
  cr_assert_not_null(t, "%s", faults());
  cr_assert_eq(gs_core_bytes(t), 65536);
  cr_assert_eq(gs_third_cache_share(t), 4194304);
  cr_assert_eq(gs_far_bytes(t), 16 * 65536);
  cr_assert_eq(gs_near_bytes(t), 65536);
}

Test(machine, gives_bytes_at_the_rate_of_the_nearest_cache_that_holds_them) {
  gs_target *t = parse("(target t (memory (bytes-per-cycle 2))"
                       " (cache 1 (bytes 4096) (bytes-per-cycle 32))"
                       " (cache 2 (bytes 65536) (bytes-per-cycle 16)))");
  cr_assert_not_null(t, "%s", faults());
  cr_assert_float_eq(gs_bytes_a_cycle(t, 4096), 32, 0);
  cr_assert_float_eq(gs_bytes_a_cycle(t, 4097), 16, 0);
  cr_assert_float_eq(gs_bytes_a_cycle(t, 65537), 2, 0);
  cr_assert_float_eq(gs_bytes_a_cycle(t, INFINITY), 2, 0);
}

Test(machine, whose_memory_some_of_its_cores_use_up) {
  cr_assert_float_eq(gs_share_of_memory(1, 8), 0.5, 0);
  cr_assert_float_eq(gs_share_of_memory(2, 8), 1, 0);
  cr_assert_float_eq(gs_share_of_memory(8, 8), 1, 0);
}

Test(machine, whose_lines_are_shorter_than_an_element_has_room_for_one) {
  gs_target *t = parse("(target t (cache 1 (bytes 4096) (line 1) (ways 4)))");
  cr_assert_not_null(t, "%s", faults());
  cr_assert_eq(gs_line_elements(t, 8), 1);
}
