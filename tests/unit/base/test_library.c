/* SPDX-License-Identifier: MIT */
#include "base/library.h"
#include <criterion/criterion.h>

Test(library, functions_come_in_their_order) {
  void *found[2] = {NULL, NULL};
  cr_assert(bs_library_load("libnone.so.77 libm.so.6 libm.dylib", "floor ceil ",
                            found));
  double (*down)(double), (*up)(double);
  *(void **)&down = found[0];
  *(void **)&up = found[1];
  volatile double half = 2.5;
  cr_expect(down(half) == 2);
  cr_expect(up(half) == 3);
}

Test(library, a_library_that_is_not_there) {
  void *found[1];
  cr_expect(!bs_library_load("libnone.so.77 libnone.so", "floor", found));
  cr_expect(!bs_library_load("", "floor", found));
}

Test(library, one_function_is_missing) {
  void *found[2];
  cr_expect(!bs_library_load("libm.so.6 libm.dylib", "floor floorless", found));
}
