/* SPDX-License-Identifier: MIT */
/* test_simplify.c - floors simplified on a box. */
#include "fixture.h"
#include "poly/loops/affine.h"
#include <isl/ctx.h>
#include <stdlib.h>

static isl_ctx *isl;

static void
start(void) {
  isl = isl_ctx_alloc();
}

static void
stop(void) {
  isl_ctx_free(isl);
}

TestSuite(simplify, .init = start, .fini = stop);

/* The function simplified on dim; it must equal `wanted`, floors and all, and
 * be the same function on the box. */
static void
check(const char *text, const int64_t *dim, uint32_t n, const char *wanted) {
  isl_aff *aff = isl_aff_read_from_str(isl, text);
  isl_aff *simple = po_simplify(isl_aff_copy(aff), dim);
  isl_aff *expected = isl_aff_read_from_str(isl, wanted);
  char *shown = isl_aff_to_str(simple);
  cr_expect_eq(isl_aff_plain_is_equal(simple, expected), isl_bool_true,
               "%s gives %s", text, shown);
  isl_set *box = po_box(isl, dim, n);
  isl_map *x =
      isl_map_intersect_domain(isl_map_from_aff(aff), isl_set_copy(box));
  isl_map *y = isl_map_intersect_domain(isl_map_from_aff(simple), box);
  cr_expect_eq(isl_map_is_equal(x, y), isl_bool_true, "%s is not %s", text,
               shown);
  isl_map_free(x);
  isl_map_free(y);
  isl_aff_free(expected);
  free(shown);
}

Test(simplify, digits_of_a_row_major_address) {
  check("{ [i, j] -> [floor((56i + j) / 56)] }", (int64_t[]){9, 56}, 2,
        "{ [i, j] -> [i] }");
  check("{ [i, j] -> [56i + j - 56*floor((56i + j) / 56)] }",
        (int64_t[]){9, 56}, 2, "{ [i, j] -> [j] }");
}

Test(simplify, low_digits_that_cannot_carry) {
  check("{ [i, j, k] -> [floor((128i + 16j + k) / 32)] }",
        (int64_t[]){9, 8, 16}, 3, "{ [i, j, k] -> [4i + floor(j / 2)] }");
}

Test(simplify, floors_of_floors) {
  check("{ [i] -> [floor((floor(i / 3)) / 4)] }", (int64_t[]){1000}, 1,
        "{ [i] -> [floor(i / 12)] }");
}

Test(simplify, constants_by_range) {
  check("{ [i] -> [floor((i + 5) / 100)] }", (int64_t[]){95}, 1,
        "{ [i] -> [0] }");
  check("{ [i] -> [floor((i - 1) / 8)] }", (int64_t[]){8}, 1,
        "{ [i] -> [floor((i - 1) / 8)] }");
}

Test(simplify, indices_of_size_one_vanish) {
  check("{ [i, j] -> [floor((i + j) / 3)] }", (int64_t[]){1, 9}, 2,
        "{ [i, j] -> [floor(j / 3)] }");
}

Test(simplify, reshapes_are_inverse_to_each_other) {
  static const int64_t a[] = {2, 6, 4, 1, 5}, b[] = {3, 4, 1, 20};
  isl_multi_aff *there = po_reshape(isl, a, 5, b, 4);
  isl_multi_aff *back = po_reshape(isl, b, 4, a, 5);
  isl_multi_aff *both =
      po_simplify_multi(isl_multi_aff_pullback_multi_aff(back, there), a);
  isl_map *map =
      isl_map_intersect_domain(isl_map_from_multi_aff(both), po_box(isl, a, 5));
  isl_map *same = isl_map_intersect_domain(
      isl_map_from_multi_aff(po_identity(isl, 5)), po_box(isl, a, 5));
  cr_assert_eq(isl_map_is_equal(map, same), isl_bool_true);
  isl_map_free(map);
  isl_map_free(same);
}
