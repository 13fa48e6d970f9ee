/* SPDX-License-Identifier: MIT */
/* test_window.c - images whose windows are read where they lie. */
#include "poly/kernel/contraction.h"
#include "poly/kernel/contraction_taps.h"
#include <criterion/criterion.h>

/* A convolution with square windows on `channels` planes of `size` x `size`,
 * `pad` zeros at the start and end of each axis. */
static po_contraction
convolution(int64_t channels, int64_t size, int64_t window, int64_t stride,
            int64_t dilation, int64_t pad) {
  int64_t span = dilation * (window - 1) + 1;
  int64_t out = (size + 2 * pad - span) / stride + 1;
  po_contraction c = {.dtype = GS_F32,
                      .lanes = 8,
                      .mr = 6,
                      .nv = 2,
                      .cache_line = 64,
                      .cache_ways = 8};
  c.dims[PO_DIM_N] = (po_cdims){
      .n = 2,
      .d = {{.extent = out, .y = stride * size}, {.extent = out, .y = stride}}};
  c.dims[PO_DIM_K] = (po_cdims){.n = 3,
                                .d = {{.extent = channels, .y = size * size},
                                      {.extent = window, .y = dilation * size},
                                      {.extent = window, .y = dilation}}};
  for (uint32_t axis = 0; pad && axis < 2; axis++) {
    po_cguard *least = &c.y.guards[c.y.n_guards++];
    po_cguard *most = &c.y.guards[c.y.n_guards++];
    least->constant = -pad;
    most->constant = pad + size - 1;
    least->factor[PO_DIM_N][axis] = stride;
    least->factor[PO_DIM_K][axis + 1] = dilation;
    most->factor[PO_DIM_N][axis] = -stride;
    most->factor[PO_DIM_K][axis + 1] = -dilation;
  }
  return c;
}

Test(window, padding_is_a_part_of_an_axis) {
  po_contraction c = convolution(64, 56, 3, 1, 1, 1);
  cr_assert(po_find_windows(&c, false));
  for (uint32_t axis = 0; axis < 2; axis++) {
    cr_assert_eq(c.axes[axis].k, axis + 1);
    cr_assert_eq(c.axes[axis].s, 1);
    cr_assert_eq(c.axes[axis].window, 3);
    cr_assert_eq(c.axes[axis].lo, 1);
    cr_assert_eq(c.axes[axis].hi, 56);
  }
  cr_assert_eq(c.axes[0].unit, 56);
  cr_assert(!po_is_along_axis(&c, 0));
  cr_assert(po_is_along_axis(&c, 2));
}

/* A tile of four rows of 56 needs six; the plane is an odd number of lines. */
Test(window, a_tile_needs_its_rows_and_what_is_around) {
  po_contraction c = convolution(64, 56, 3, 1, 1, 1);
  po_cimage image;
  cr_assert(po_find_windows(&c, false));
  c.nc = 4 * 56;
  c.kc = 32;
  po_layout_image(NULL, &c, &image);
  cr_assert_eq(image.phases, 1);
  cr_assert_eq(image.columns, 58);
  cr_assert_eq(image.n[1], 1);
  cr_assert_eq(image.n[0], 64);
  cr_assert_eq(image.k[0], 25 * 16);
  cr_assert_eq(image.size, 32 * 25 * 16 + 16);
  cr_assert(po_image_fits(&c, image.size * 4));
  cr_assert(!po_image_fits(&c, image.size * 4 - 1));
}

/* However it begins: 60 columns are of three rows of 56 at most. */
Test(window, a_tile_may_begin_within_a_row) {
  po_contraction c = convolution(64, 56, 3, 1, 1, 1);
  po_cimage image;
  cr_assert(po_find_windows(&c, false));
  c.nc = 60;
  c.kc = 1;
  po_layout_image(NULL, &c, &image);
  cr_assert_eq(image.size, (64 / 16 * 5 | 1) * 16 + 16);
}

Test(window, a_line_is_cut_anywhere) {
  po_contraction c = {.dtype = GS_F32,
                      .lanes = 8,
                      .mr = 6,
                      .nv = 2,
                      .cache_line = 64,
                      .cache_ways = 8};
  po_cimage image;
  c.dims[PO_DIM_N] = (po_cdims){.n = 1, .d = {{.extent = 100, .y = 1}}};
  c.dims[PO_DIM_K] =
      (po_cdims){.n = 2, .d = {{.extent = 3, .y = 101}, {.extent = 2, .y = 1}}};
  cr_assert(po_find_windows(&c, false));
  c.nc = 64;
  c.kc = 3;
  po_layout_image(NULL, &c, &image);
  cr_assert_eq(image.columns, 65);
}

Test(window, a_stride_makes_phases) {
  po_contraction c = convolution(3, 224, 7, 2, 1, 3);
  po_cimage image;
  cr_assert(po_find_windows(&c, false));
  cr_assert_eq(c.axes[1].lo, 3);
  cr_assert_eq(c.axes[1].hi, 226);
  c.nc = 112;
  c.kc = 3;
  po_layout_image(NULL, &c, &image);
  cr_assert_eq(image.phases, 2);
  cr_assert_eq(image.columns, 115);
  cr_assert_eq(image.n[0], 2 * 120);
}

/* Ends of the part of an axis are positions that are read: a guard may let
 * more in, which need not be in the array. */
Test(window, ends_are_positions_that_are_read) {
  po_contraction c = convolution(4, 30, 4, 3, 2, 1);
  cr_assert(po_find_windows(&c, false));
  cr_assert_eq(c.axes[1].lo, 2, "no 3 n + 2 k is 1");
  cr_assert_eq(c.axes[1].hi, 30);
  c = convolution(4, 32, 3, 1, 2, 0);
  cr_assert(po_find_windows(&c, false));
  cr_assert_eq(c.axes[1].d, 2);
  cr_assert_eq(c.axes[1].hi, 31);
}

Test(window, what_is_left_to_packing) {
  po_contraction c = convolution(64, 56, 1, 1, 1, 0);
  c.dims[PO_DIM_K].n = 1;
  cr_assert(!po_find_windows(&c, false), "no window");
  c = convolution(64, 56, 3, 1, 1, 1);
  c.y.guards[0].factor[PO_DIM_M][0] = 1;
  cr_assert(!po_find_windows(&c, false), "a guard of another loop");
  c = convolution(64, 56, 3, 1, 1, 1);
  c.y.guards[0].factor[PO_DIM_N][1] = 1;
  cr_assert(!po_find_windows(&c, false), "a guard of two axes");
  c = convolution(64, 56, 3, 1, 1, 1);
  for (uint32_t k = 0; k < 2; k++)
    c.dims[PO_DIM_N].d[k].y *= 64;
  for (uint32_t k = 1; k < 3; k++)
    c.dims[PO_DIM_K].d[k].y *= 64;
  cr_assert(!po_find_windows(&c, false), "neighbours apart");
  c = convolution(64, 56, 3, 1, 1, 1);
  c.y.guards[0].constant = -60;
  cr_assert(!po_find_windows(&c, false), "nothing inside");
}

/* The image may be of the operand that is broadcast. */
Test(window, x_has_the_same_image) {
  po_contraction c = convolution(64, 56, 3, 1, 1, 1);
  po_cimage image;
  po_swap_factors(&c);
  cr_assert(!po_find_windows(&c, false));
  cr_assert(po_find_windows(&c, true));
  cr_assert_eq(c.axes[0].lo, 1);
  cr_assert_eq(c.axes[0].hi, 56);
  c.x_mode = PO_WINDOWS;
  c.mb = 4 * 56;
  c.kc = 32;
  po_layout_image(NULL, &c, &image);
  cr_assert_eq(image.n[0], 64);
  cr_assert_eq(image.k[0], 25 * 16);
  cr_assert_eq(po_window_cycles(&c, false) > 0, true);
}

/* Of windows of one point, only those positions are copied that are read. */
Test(window, a_point_has_an_image_too) {
  po_contraction c = convolution(64, 56, 1, 2, 1, 0);
  po_cimage image;
  c.dims[PO_DIM_K].n = 1;
  po_swap_factors(&c);
  cr_assert(po_find_windows(&c, true));
  cr_assert_eq(c.axes[1].s, 2);
  cr_assert_eq(c.axes[1].hi, 54);
  c.x_mode = PO_WINDOWS;
  c.mb = 4 * 28;
  c.kc = 64;
  po_layout_image(NULL, &c, &image);
  cr_assert_eq(image.phases, 1);
  cr_assert_eq(image.columns, 28);
  cr_assert_eq(image.n[0], 32);
}

/* A part of a line, or whole lines. */
Test(window, rows_of_a_panel_keep_their_distances) {
  po_contraction c = convolution(64, 14, 3, 1, 1, 1);
  po_swap_factors(&c);
  cr_assert_eq(po_line_of(&c, 7), 14);
  cr_assert_eq(po_line_of(&c, 9), 14);
  cr_assert_eq(po_line_of(&c, 14), 14);
  cr_assert_eq(po_line_of(&c, 28), 196);
  cr_assert_eq(po_line_of(&c, 20), 0);
  cr_assert_eq(po_line_of(&c, 210), 0);
}

static po_contraction
image_of_x(int64_t size, int64_t window, int64_t stride, int64_t dilation,
           int64_t pad) {
  po_contraction c = convolution(4, size, window, stride, dilation, pad);
  po_swap_factors(&c);
  cr_assert(po_find_windows(&c, true));
  c.x_mode = PO_WINDOWS;
  return c;
}

static double
square(double x) {
  return x * x;
}

/* Of 7 rows times 3 taps, 19 are in the array. */
Test(window, products_with_the_padding_are_left_out) {
  po_contraction c = image_of_x(7, 3, 1, 1, 1);
  cr_assert_float_eq(po_part_inside(&c, 7, 2), square(19. / 21), 1e-12);
  cr_assert_float_eq(po_part_inside(&c, 14, 2), 19. / 21 * 20 / 21, 1e-12,
                     "two rows of pixels, the last row alone");
  cr_assert_float_eq(po_part_inside(&c, 28, 1), 19. / 21, 1e-12);
  c = image_of_x(14, 3, 1, 1, 1);
  cr_assert_float_eq(po_part_inside(&c, 7, 2), 40. / 42, 1e-12,
                     "a part of a row of pixels");
  c = image_of_x(7, 3, 1, 2, 2);
  cr_assert_float_eq(po_part_inside(&c, 7, 1), square(17. / 21), 1e-12);
  c = image_of_x(14, 3, 2, 1, 1);
  cr_assert_float_eq(po_part_inside(&c, 7, 1), square(20. / 21), 1e-12);
}

Test(window, where_all_products_are_computed) {
  po_contraction c = image_of_x(7, 3, 1, 1, 0);
  cr_assert_eq(po_part_inside(&c, 5, 2), 1, "there is no padding");
  c = image_of_x(7, 3, 1, 1, 1);
  c.keeps_padding = true;
  cr_assert_eq(po_part_inside(&c, 7, 2), 1, "sums are in the written order");
  c = convolution(4, 7, 3, 1, 1, 1);
  cr_assert(po_find_windows(&c, false));
  c.y_mode = PO_WINDOWS;
  cr_assert_eq(po_part_inside(&c, 7, 2), 1, "the image fills vectors");
  c = image_of_x(7, 3, 1, 1, 1);
  c.dims[PO_DIM_K].d[2].extent = 64;
  cr_assert_eq(po_part_inside(&c, 7, 2), 1, "taps too many to write out");
}

/* A panel is copied once for all panels of x; blended by each of them. */
Test(window, panels_that_few_read_are_blended) {
  po_contraction c = convolution(8, 28, 3, 1, 1, 1);
  c.mr = 8;
  c.dims[PO_DIM_M] = (po_cdims){.n = 1, .d = {{.extent = 8, .x = 72}}};
  cr_assert(po_find_windows(&c, false));
  cr_assert(po_blends_rows(&c), "two vectors of eight in a row of 28");
  double blended = po_window_cycles(&c, false);
  c.dims[PO_DIM_M].d[0].extent = 512;
  cr_assert(!po_blends_rows(&c), "64 panels");
  cr_assert_gt(po_window_cycles(&c, false), blended);
  c.dims[PO_DIM_M].d[0].extent = 8;
  c.nv = 1;
  c.lanes = 4;
  cr_assert(!po_blends_rows(&c), "seven vectors are a row");
  c.lanes = 32;
  cr_assert(!po_blends_rows(&c), "a vector may be of three rows");
}

Test(window, rows_that_share_sets_are_not_read_in_place) {
  po_contraction c = {.dtype = GS_F32,
                      .lanes = 8,
                      .mr = 6,
                      .nv = 2,
                      .cache_line = 64,
                      .cache_ways = 8};
  c.dims[PO_DIM_N] = (po_cdims){.n = 1, .d = {{.extent = 3136, .y = 1}}};
  c.dims[PO_DIM_K] = (po_cdims){.n = 1, .d = {{.extent = 256, .y = 3136}}};
  cr_assert(po_stays_in_place(&c, 524288, 256));
  cr_assert(!po_stays_in_place(&c, 16384, 256));
  c.dims[PO_DIM_K].d[0].y = 4096;
  cr_assert(!po_stays_in_place(&c, 524288, 256));
  c.dims[PO_DIM_K].d[0].y = 3136;
  c.dims[PO_DIM_N].d[0].extent = 196;
  cr_assert(!po_stays_in_place(&c, 524288, 256), "half a vector");
}

/* A convolution whose image is that of x. */
static po_contraction
broadcast(int64_t size, uint32_t known) {
  po_contraction c = {.dtype = GS_F32,
                      .lanes = 8,
                      .mr = 6,
                      .nv = 2,
                      .x_mode = PO_WINDOWS,
                      .cache_line = 64,
                      .cache_ways = 8};
  c.dims[PO_DIM_M] = (po_cdims){
      .n = 2, .d = {{.extent = size, .x = size}, {.extent = size, .x = 1}}};
  c.dims[PO_DIM_K] = (po_cdims){.n = 3,
                                .d = {{.extent = 8, .x = size * size},
                                      {.extent = 3, .x = size},
                                      {.extent = 3, .x = 1}}};
  c.sized[PO_DIM_M] = true;
  c.known[PO_DIM_M] = known;
  return c;
}

/* Panels hold no more than a row of the image where its length is open, and
 * whole rows only where it is not. */
Test(window, lines_of_any_length_are_rows) {
  po_contraction c = broadcast(7, 0);
  cr_assert(po_has_open_lines(&c));
  cr_assert_eq(po_line_of(&c, 6), 7);
  cr_assert_eq(po_line_of(&c, 14), 7);
  c = broadcast(7, 1);
  cr_assert(!po_has_open_lines(&c));
  cr_assert_eq(po_line_of(&c, 6), 7);
  cr_assert_eq(po_line_of(&c, 14), 0, "two rows, of how many is open");
  c.sized[PO_DIM_M] = false;
  cr_assert_eq(po_line_of(&c, 14), 49);
}

/* Where rows have any length, their multiples of a panel's width are not
 * counted on. */
Test(window, open_rows_are_priced_as_any) {
  po_contraction c = convolution(64, 64, 3, 1, 1, 1);
  cr_assert(po_find_windows(&c, false));
  c.nc = 64;
  c.kc = 64;
  c.y_mode = PO_WINDOWS;
  double known = po_window_cycles(&c, true);
  c.sized[PO_DIM_N] = true;
  cr_assert_gt(po_window_cycles(&c, true), known);
  cr_assert_eq(po_window_cycles(&c, false), known);
}
