/* SPDX-License-Identifier: MIT */
/* test_axis.c - splits, merges and reordering of axes, and their refusals. */
#include "poly/axis/axis.h"
#include "base/text.h"
#include <criterion/criterion.h>
#include <string.h>

static bs_heap heap;
static bs_arena arena;
static po_axes axes;

static void
start(void) {
  bs_heap_init(&heap, NULL, 0);
  bs_arena_init(&arena, &heap);
  po_axes_init(&axes, &arena);
}

static void
stop(void) {
  po_axes_done(&axes);
  bs_heap_done(&heap);
  cr_assert_eq(heap.used, 0);
}

TestSuite(axis, .init = start, .fini = stop);

static void
add(uint32_t n, const int64_t *sizes) {
  static const char *const names[] = {"z0", "z1", "z2", "z3"};
  static const char *const exprs[] = {"s0", "s1", "s2", "s3"};
  for (uint32_t k = 0; k < n; k++)
    po_axis_add(&axes, names[k], exprs[k], sizes[k], PO_AXIS_PARALLEL);
}

#define ADD(...)                                                               \
  add(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t),                      \
      (int64_t[]){__VA_ARGS__})
#define MERGE(...)                                                             \
  po_axis_merge(&axes, (uint32_t[]){__VA_ARGS__},                              \
                sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))
#define REORDER(...)                                                           \
  po_axis_reorder(&axes, (uint32_t[]){__VA_ARGS__},                            \
                  sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

/* "z0 z1T z1t" */
static const char *
order(void) {
  bs_text out;
  bs_text_init(&out, &heap);
  for (uint32_t k = 0; k < axes.order.len; k++)
    bs_putf(&out, "%s%s", k ? " " : "",
            po_axis_at(&axes, axes.order.data[k])->name);
  return bs_text_str(&out);
}

static void
is_axis(uint32_t id, const char *name, int64_t value, const char *type,
        uint32_t from, uint32_t pair) {
  const po_axis *a = po_axis_at(&axes, id);
  cr_assert_eq(a->id, id);
  cr_assert_str_eq(a->name, name);
  cr_assert_eq(a->value, value, "%s: %lld", name, (long long)a->value);
  cr_assert_str_eq(po_axis_type_names[a->type], type);
  cr_assert_eq(a->n_from, from != PO_NO_AXIS);
  cr_assert(from == PO_NO_AXIS || a->from[0] == from);
  cr_assert_eq(a->split_pair, pair);
}

static void
was_refused(const char *rule, const char *part) {
  cr_assert_str_eq(axes.rule, rule);
  cr_assert(strstr(axes.why, part), "%s", axes.why);
}

Test(axis, a_tile_split_makes_a_pair) {
  ADD(1000);
  cr_assert_eq(po_axis_tile_split(&axes, 0, 64), 1);
  is_axis(0, "z0", 1000, "Original", PO_NO_AXIS, PO_NO_AXIS);
  is_axis(1, "z0T", 16, "TileOuter", 0, 2);
  is_axis(2, "z0t", 64, "TileInner", 0, 1);
  cr_assert_str_eq(po_axis_at(&axes, 1)->size, "Ceiling(s0/z0t_size)");
  cr_assert_str_eq(po_axis_at(&axes, 2)->size, "z0t_size");
  cr_assert_eq(po_axis_at(&axes, 2)->tail, 40);
  cr_assert_str_eq(order(), "z0T z0t");
}

Test(axis, a_block_split_gives_every_core_a_block) {
  static const struct {
    int64_t cores, inner, outer, tail;
  } cases[] = {{8, 125, 8, 125}, {48, 21, 48, 13}, {7, 143, 7, 142}};
  for (uint32_t k = 0; k < 3; k++) {
    po_axes_done(&axes);
    po_axes_init(&axes, &arena);
    ADD(1000);
    int64_t size = po_axis_block_size(&axes, 0, cases[k].cores);
    cr_assert_eq(size, cases[k].inner);
    cr_assert_eq(po_axis_block_split(&axes, 0, size), 1);
    is_axis(1, "z0B", cases[k].outer, "BlockOuter", 0, 2);
    is_axis(2, "z0b", cases[k].inner, "BlockInner", 0, 1);
    cr_assert_eq(po_axis_at(&axes, 2)->tail, cases[k].tail);
  }
}

Test(axis, there_is_one_block_axis) {
  ADD(1000);
  po_axis_block_split(&axes, 0, 125);
  cr_assert_eq(po_axis_block_split(&axes, 2, 5), PO_NO_AXIS);
  was_refused("R2", "second block-outer axis beside z0B");
  cr_assert_eq(axes.list.len, 3);
  cr_assert_eq(po_axis_tile_split(&axes, 2, 5), 3);
  cr_assert_str_eq(order(), "z0B z0bT z0bt");
}

Test(axis, adjacent_axes_merge_in_their_order) {
  ADD(2, 6, 8, 5);
  cr_assert_eq(MERGE(1, 3), PO_NO_AXIS);
  was_refused("R3", "z3 does not follow z1");
  cr_assert_eq(MERGE(2, 1), PO_NO_AXIS);
  was_refused("R3", "z1 does not follow z2");
  cr_assert_eq(MERGE(1), PO_NO_AXIS);
  was_refused("R3", "two or more");
  cr_assert_eq(MERGE(1, 2, 3), 4);
  const po_axis *a = po_axis_at(&axes, 4);
  cr_assert_str_eq(a->name, "z1z2z3");
  cr_assert_eq(a->value, 240);
  cr_assert_eq(a->n_from, 3);
  for (uint32_t k = 0; k < 3; k++)
    cr_assert_eq(a->from[k], k + 1);
  cr_assert_str_eq(order(), "z0 z1z2z3");
  cr_assert_eq(MERGE(0, 1), PO_NO_AXIS);
  was_refused("axis", "z1 has been replaced");
}

Test(axis, parts_of_two_splits_merge) {
  ADD(2, 6, 8, 5);
  cr_assert_eq(po_axis_tile_split(&axes, 1, 2), 4);
  cr_assert_eq(po_axis_tile_split(&axes, 2, 4), 6);
  cr_assert_str_eq(order(), "z0 z1T z1t z2T z2t z3");
  cr_assert_eq(MERGE(5, 6), 8);
  cr_assert_eq(po_axis_at(&axes, 8)->value, 4);
  cr_assert_str_eq(order(), "z0 z1T z1tz2T z2t z3");
  cr_assert(po_axis_comes_from(&axes, 8, 1));
  cr_assert_not(po_axis_comes_from(&axes, 8, 3));
}

Test(axis, reordered_whole_axes_merge) {
  ADD(2, 6, 8, 5);
  cr_assert(REORDER(0, 2, 1, 3));
  cr_assert_eq(MERGE(0, 1), PO_NO_AXIS);
  was_refused("R3", "z1 does not follow z0");
  cr_assert_eq(MERGE(0, 2), 4);
  cr_assert_eq(po_axis_at(&axes, 4)->value, 16);
  cr_assert_str_eq(order(), "z0z2 z1 z3");
}

Test(axis, reordered_parts_of_a_split_do_not_merge) {
  ADD(2, 6, 8, 5);
  po_axis_tile_split(&axes, 1, 2);
  cr_assert(REORDER(0, 4, 2, 5, 3));
  cr_assert_str_eq(order(), "z0 z1T z2 z1t z3");
  cr_assert_eq(MERGE(2, 5), PO_NO_AXIS);
  was_refused("R4", "z1t was made by a split and then reordered");
  cr_assert_eq(MERGE(5, 3), PO_NO_AXIS);
  was_refused("R4", "legal by dependence");
  axes.strict = true;
  cr_assert_eq(MERGE(4, 2), PO_NO_AXIS);
  was_refused("R4", "strict");
  axes.strict = false;
  cr_assert_eq(MERGE(0, 4), 6);
  cr_assert_eq(po_axis_at(&axes, 6)->value, 6);
  cr_assert_eq(po_axis_at(&axes, 6)->from[1], 4);
  cr_assert_str_eq(order(), "z0z1T z2 z1t z3");
}

Test(axis, an_order_put_back_allows_merging) {
  ADD(2, 6, 8);
  po_axis_tile_split(&axes, 1, 2);
  cr_assert(REORDER(0, 3, 2, 4));
  cr_assert_eq(MERGE(2, 4), PO_NO_AXIS);
  cr_assert(REORDER(0, 3, 4, 2));
  cr_assert_neq(MERGE(4, 2), PO_NO_AXIS);
}

Test(axis, dependences_restrict_blocks_and_orders) {
  po_axis_add(&axes, "t", NULL, 10, PO_AXIS_SERIAL);
  po_axis_add(&axes, "i", NULL, 20, PO_AXIS_PARALLEL);
  po_axis_add(&axes, "k", NULL, 30, PO_AXIS_REDUCTION);
  cr_assert_not(REORDER(1, 0, 2));
  was_refused("R8", "t carries a dependence");
  cr_assert(REORDER(0, 2, 1));
  cr_assert_eq(po_axis_block_split(&axes, 2, 3), PO_NO_AXIS);
  was_refused("R8", "a reduction");
  uint32_t merged = MERGE(0, 2);
  cr_assert_eq(po_axis_at(&axes, merged)->order, PO_AXIS_SERIAL);
  cr_assert_neq(po_axis_block_split(&axes, 1, 3), PO_NO_AXIS);
}

Test(axis, what_makes_no_sense_is_refused) {
  ADD(6, 7);
  cr_assert_eq(po_axis_tile_split(&axes, 0, 0), PO_NO_AXIS);
  cr_assert_eq(po_axis_tile_split(&axes, 0, 7), PO_NO_AXIS);
  was_refused("R1", "7 is not a size of a part of z0");
  cr_assert_eq(po_axis_tile_split(&axes, 9, 1), PO_NO_AXIS);
  cr_assert_not(REORDER(0, 0));
  cr_assert_not(REORDER(0));
  cr_assert_eq(po_axis_add(&axes, "e", NULL, 0, PO_AXIS_PARALLEL), PO_NO_AXIS);
  uint32_t big = po_axis_add(&axes, "b", NULL, INT64_MAX, PO_AXIS_PARALLEL);
  cr_assert_eq(MERGE(1, big), PO_NO_AXIS);
  was_refused("size", "beyond 64 bits");
  for (uint32_t k = 0; k < PO_MAX_AXES; k++)
    po_axis_add(&axes, "z0", NULL, 1, PO_AXIS_PARALLEL);
  was_refused("limit", "256");
  cr_assert_eq(po_axis_tile_split(&axes, 0, 2), PO_NO_AXIS);
  cr_assert_str_eq(po_axis_at(&axes, 3)->name, "z0_1");
}
