/* SPDX-License-Identifier: MIT */
/* test_names.c - what a program calls an array, and what C does. */
#include "poly/loops/names.h"
#include <criterion/criterion.h>

Test(names, words_of_c_and_of_the_generated_file_are_reserved) {
  static const char *const words[] = {
      "DOMAIN", "NULL",      "alignas",   "for",     "int",  "main",
      "or_eq",  "prepacked", "private",   "size_t",  "void", "while",
      "xor_eq", "workspace", "GLEN_HOLD", "int32_t", "expf", "omp_get_max",
      "t12",    "_Bool",     "INT_MAX",   "memcpy",  "acc0", "fmaxl"};
  for (size_t k = 0; k < sizeof words / sizeof *words; k++)
    cr_expect(po_name_is_reserved(words[k]), "%s", words[k]);
}

Test(names, others_are_free) {
  static const char *const words[] = {"image", "t",  "acc",   "weights",
                                      "expo",  "in", "glenn", "x1"};
  for (size_t k = 0; k < sizeof words / sizeof *words; k++)
    cr_expect(!po_name_is_reserved(words[k]), "%s", words[k]);
}

Test(names, words_of_the_library_are_no_names_of_functions) {
  bs_heap heap;
  bs_arena arena;
  static const struct {
    const char *from, *to;
  } names[] = {{"select", "v_select"}, {"selected", "selected"},
               {"mem", "mem"},         {"malloc", "v_malloc"},
               {"write", "v_write"},   {"wri", "wri"},
               {"int", "v_int"},       {"pthread_x", "v_pthread_x"},
               {"my-conv", "my_conv"}, {"step", "step"}};
  bs_heap_init(&heap, NULL, 0);
  bs_arena_init(&arena, &heap);
  for (size_t k = 0; k < sizeof names / sizeof *names; k++)
    cr_expect_str_eq(po_function_name(&arena, NULL, names[k].from),
                     names[k].to);
  bs_heap_done(&heap);
}

Test(names, macros_of_headers_are_reserved_and_words_like_them_are_not) {
  cr_expect(po_name_is_reserved("EINVAL"));
  cr_expect(po_name_is_reserved("SIGTERM"));
  cr_expect(po_name_is_reserved("si_addr"));
  cr_expect(!po_name_is_reserved("EINVALID"));
  cr_expect(!po_name_is_reserved("SIGMA"));
  cr_expect(!po_name_is_reserved("si"));
}
