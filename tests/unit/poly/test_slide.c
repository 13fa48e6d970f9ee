/* SPDX-License-Identifier: MIT */
/* test_slide.c - tiles of reductions over windows. */
#include "poly/kernel/kernel_slide.h"
#include "glenside/target/target.h"
#include <criterion/criterion.h>

/* A depthwise convolution of `channels` planes of `size` x `size` by windows of
 * three, with a padding of one all around. */
static po_slide
depthwise(int64_t channels, int64_t size, int64_t stride) {
  int64_t out = (size - 1) / stride + 1;
  po_slide c = {.dtype = GS_F32,
                .n = 5,
                .n_outer = 3,
                .body = PO_SLIDE_PRODUCT,
                .extent = {channels, out, out, 3, 3}};
  c.x.at = (po_walk){-size - 1, {size * size, stride * size, stride, size, 1}};
  c.y.at = (po_walk){0, {9, 0, 0, 3, 1}};
  c.c = (po_walk){0, {out * out, out, 1}};
  for (uint32_t axis = 0; axis < 2; axis++) {
    c.borders[c.n_borders++] = (po_border){1 + axis, 3 + axis, -1, stride, 1};
    c.borders[c.n_borders++] =
        (po_border){1 + axis, 3 + axis, size, -stride, -1};
  }
  return c;
}

Test(slide, the_first_and_the_last_tile_are_borders) {
  po_slide c = depthwise(8, 28, 1);
  po_run runs[PO_MAX_RUNS];
  cr_assert_eq(po_find_runs(&c, 2, 8, runs), 3);
  cr_assert(runs[0].border);
  cr_assert_eq(runs[0].from, 0);
  cr_assert(!runs[1].border);
  cr_assert_eq(runs[1].from, 8);
  cr_assert_eq(runs[1].to, 16);
  cr_assert(runs[2].border);
  cr_assert_eq(runs[2].from, 20); /* it ends where the row does */
}

/* Where the last element that a window reaches is there, no tile needs code of
 * its own for the end, but one stands out of step. */
Test(slide, a_last_tile_that_is_whole_has_the_code_of_the_others) {
  po_slide c = depthwise(8, 29, 2);
  po_run runs[PO_MAX_RUNS];
  c.n_borders = 1; /* rows: the first alone */
  cr_assert_eq(po_find_runs(&c, 1, 4, runs), 2);
  cr_assert_eq(runs[1].from, 4);
  cr_assert_eq(runs[1].to, 8);
  cr_assert_eq(runs[1].last, 11);
}

Test(slide, taps_are_there_inside_of_the_padding) {
  po_slide c = depthwise(8, 28, 2);
  cr_assert(!po_tap_is_there(&c, 1, 0, 3, 0));
  cr_assert(po_tap_is_there(&c, 1, 0, 3, 1));
  cr_assert(po_tap_is_there(&c, 1, 13, 3, 2));
  c = depthwise(8, 28, 1);
  cr_assert(!po_tap_is_there(&c, 2, 27, 4, 2));
  cr_assert(po_tap_is_there(&c, 2, 27, 3, 2)); /* another axis' tap */
}

static gs_target
machine(int64_t vector_bytes) {
  return (gs_target){.vector_bytes = vector_bytes, .vector_registers = 16};
}

Test(slide, rows_share_what_they_load) {
  gs_target t = machine(32);
  po_slide c = depthwise(96, 56, 1), room;
  cr_assert(po_plan_slide(&t, false, NULL, &c, &room));
  cr_assert_eq(c.along, 2);
  cr_assert_eq(c.down, 1);
  cr_assert_eq(c.shared, 3);
  cr_assert_gt(c.rows, 1);
  cr_assert_leq(c.rows * c.vectors + 3, t.vector_registers);
}

/* Seven columns are less than a vector of sixteen lanes. */
Test(slide, short_rows_have_short_vectors) {
  gs_target t = machine(64);
  po_slide c = depthwise(960, 7, 1), room;
  cr_assert(po_plan_slide(&t, false, NULL, &c, &room));
  cr_assert_eq(c.lanes, 8);
}

/* Channels lie side by side: windows are those of the next loop. */
Test(slide, channels_are_lanes_where_they_are_neighbours) {
  gs_target t = machine(32);
  po_slide c = depthwise(96, 28, 1), room;
  c.x.at = (po_walk){-29 * 96, {1, 28 * 96, 96, 28 * 96, 96}};
  c.y.at = (po_walk){0, {1, 0, 0, 3 * 96, 96}};
  c.c = (po_walk){0, {1, 28 * 96, 96}};
  cr_assert(po_plan_slide(&t, false, NULL, &c, &room));
  cr_assert_eq(c.along, 0);
  cr_assert_eq(c.down, 2);
  cr_assert_eq(c.shared, 4);
  cr_assert(!c.unrolled[3]);
}

/* Loads that begin anywhere cost more than picking lanes of a row. */
Test(slide, rows_of_two_vectors_are_held) {
  gs_target t = machine(64);
  t.vector_registers = 32;
  po_slide c = depthwise(192, 28, 1), room;
  cr_assert(po_plan_slide(&t, false, NULL, &c, &room));
  cr_assert_eq(c.across, 4);
  cr_assert_eq(c.vectors, 2);
  cr_assert_eq(po_results_in(&c, 0), 16);
  cr_assert_eq(po_results_in(&c, 1), 12);
  po_held row = po_held_row(&c);
  cr_assert_eq(row.first, 1); /* the first tap of the first result is padding */
  cr_assert_eq(row.n, 28);
  cr_assert_leq(c.rows * c.vectors + 2 + 3, t.vector_registers);
}

Test(slide, rows_of_more_vectors_are_not_held) {
  gs_target t = machine(64);
  t.vector_registers = 32;
  po_slide c = depthwise(192, 40, 1), room;
  cr_assert(po_plan_slide(&t, false, NULL, &c, &room));
  cr_assert_eq(c.across, PO_NO_LOOP);
}

/* The third tap of a row reads a half of the first or the second one. */
Test(slide, taps_of_every_other_element_share_halves) {
  gs_target wide = machine(64), narrow = machine(32);
  wide.vector_registers = 32;
  po_slide c = depthwise(96, 112, 2), room;
  cr_assert(po_plan_slide(&wide, false, NULL, &c, &room));
  cr_assert(c.halved);
  cr_assert_leq(c.rows * c.vectors + 2 * c.vectors + 3, wide.vector_registers);
  c = depthwise(96, 112, 2);
  c.extent[4] = 2; /* each tap reads a half as it is */
  cr_assert(po_plan_slide(&wide, false, NULL, &c, &room));
  cr_assert(!c.halved);
  c = depthwise(96, 112, 2); /* lanes of two vectors are several instructions */
  cr_assert(po_plan_slide(&narrow, false, NULL, &c, &room));
  cr_assert(!c.halved);
}

Test(slide, rows_that_are_held_are_not_halved) {
  gs_target t = machine(64);
  t.vector_registers = 32;
  po_slide c = depthwise(576, 14, 2), room;
  cr_assert(po_plan_slide(&t, false, NULL, &c, &room));
  cr_assert_neq(c.across, PO_NO_LOOP);
  cr_assert(!c.halved);
}

Test(slide, no_neighbours_no_plan) {
  gs_target t = machine(32);
  po_slide c = depthwise(8, 28, 1), room;
  c.x.at.factor[2] = 5;
  cr_assert(!po_plan_slide(&t, false, NULL, &c, &room));
}

/* Few sums take turns in a large window: each is two, side by side. */
Test(slide, sums_of_large_windows_are_two) {
  gs_target t = machine(64);
  t.vector_registers = 32;
  po_slide c = depthwise(384, 14, 1), room;
  cr_assert(po_plan_slide(&t, false, NULL, &c, &room));
  cr_assert_eq(c.sides, 1);
  c = depthwise(384, 14, 1);
  c.extent[3] = c.extent[4] = 5;
  c.x.at.base = -2 * 14 - 2;
  c.y.at = (po_walk){0, {25, 0, 0, 5, 1}};
  c.borders[0].constant = c.borders[2].constant = -2;
  c.borders[1].constant = c.borders[3].constant = 14 + 1;
  po_slide strict = c;
  cr_assert(po_plan_slide(&t, false, NULL, &c, &room));
  cr_assert_eq(c.sides, 2);
  cr_assert_leq(c.sides * c.rows * c.vectors + 3, t.vector_registers);
  cr_assert(po_plan_slide(&t, true, NULL, &strict, &room));
  cr_assert_eq(strict.sides, 1);
}
