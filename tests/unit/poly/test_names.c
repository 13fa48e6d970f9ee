/* test_names.c - what a program calls an array, and what C does. */
#include "poly/names.h"
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
