/* SPDX-License-Identifier: MIT */
/* test_images.c - kernels of sums over windows of an image: what they leave
 * out, what they read in two parts, and that results are right. */
#include "nests.h"

TestSuite(images, .init = fixture_start, .fini = fixture_stop);

/* Square images with a border, 3 x 3 windows so many elements apart, channels
 * to channels, and groups of them. */
static const char *
convolution(int size, int channels, int results, int stride) {
  return bs_arena_printf(
      &arena,
      "(tensor x (shape 1 %d %d %d) f32)\n(tensor w (shape %d %d 3 3) f32)\n"
      "(let y (transpose (squeeze (compute dotProd (cartProd\n"
      "  (windows (access (pad (pad x zero 2 1 1) zero 3 1 1) 1)\n"
      "    (shape %d 3 3) (stride 1 %d %d))\n"
      "  (access w 1))) 1) (list 0 3 1 2)))\n(output y)\n",
      channels, size, size, results, channels, channels, stride, stride);
}

static uint32_t
count(const char *in, const char *what) {
  uint32_t n = 0;
  for (const char *at = strstr(in, what); at; at = strstr(at + 1, what))
    n++;
  return n;
}

/* Panels are rows of seven pixels: the first has no element under the first of
 * three taps, the last none under the last. */
Test(images, products_with_the_padding_are_not_there) {
  const gs_target *t = machine(64, 32);
  const char *text = convolution(7, 16, 32, 1);
  po_program *p = lower_with(t, text, (po_options){0});
  const char *c = code_of(p);
  cr_assert_eq(count(c, "_7x32("), 2, "one kernel, and its call, in\n%s", c);
  cr_expect_eq(count(c, "s0_0 += "), 2);
  cr_expect_eq(count(c, "s3_0 += "), 3);
  cr_expect_eq(count(c, "s6_1 += "), 2);
  cr_expect(strstr(c, "const int from1 = glen_max(1 - m / 7 % 7, 0);"));
  cr_expect(strstr(c, "const int to1 = glen_min((7 - m / 7 % 7) + 1, 3);"));
  p = lower_with(t, text, (po_options){.strict_fp = true});
  cr_expect(!strstr(code_of(p), "from1"), "all products are there");
}

/* 17 columns: the second vector of eight begins in one row and ends in the
 * next. */
Test(images, vectors_of_two_rows_are_loaded_twice) {
  const gs_target *t = machine(32, 16);
  po_program *p = lower_with(t, convolution(17, 16, 4, 1), (po_options){0});
  const char *c = code_of(p);
  cr_expect(strstr(c, "_two("), "in\n%s", c);
  cr_expect(!strstr(c, "_gather("));
  p = lower_with(t, convolution(17, 16, 64, 1), (po_options){0});
  cr_expect(!strstr(code_of(p), "_two("), "many panels are worth a copy");
}

Test(images, results_are_those_of_the_interpreter) {
  const char *texts[] = {
      convolution(7, 16, 32, 1), convolution(14, 8, 16, 2),
      convolution(17, 16, 4, 1), convolution(20, 9, 6, 1),
      convolution(5, 33, 48, 1), convolution(9, 1, 40, 2),
  };
  check_all(machine(64, 32), texts, COUNT(texts), (po_options){0});
  check_all(machine(32, 16), texts, COUNT(texts), (po_options){0});
  check_all(machine(16, 16), texts, COUNT(texts),
            (po_options){.strict_fp = true});
}
