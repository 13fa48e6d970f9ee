/* test_stencils.c - code of stencils: borders apart from what lies between
 * them. */
#include "nests.h"

TestSuite(stencils, .init = fixture_start, .fini = fixture_stop);

/* Sums over windows of `window` x `window` elements that are cut at the
 * borders of an image. */
static const char *
windows_of(int height, int width, int window) {
  bs_text text;
  int before = window / 2;
  bs_text_init(&text, &heap);
  bs_putf(&text,
          "input A: f32[%d, %d]\noutput B: f32[%d, %d]\n"
          "local r: f32[%d fold 1, %d fold 1]\n"
          "separate for i in 0..%d { separate for j in 0..%d {\n"
          "  S: r[i, j] = 0\n"
          "  unroll for k in max(0, %d - i)..min(%d, %d - i) {\n"
          "    unroll for l in max(0, %d - j)..min(%d, %d - j) {\n"
          "      T: r[i, j] += A[i + k - %d, j + l - %d] } }\n"
          "  U: B[i, j] = r[i, j] } }\n",
          height, width, height, width, height, width, height, width, before,
          window, height + before, before, window, width + before, before,
          before);
  return bs_text_str(&text);
}

/* The text of the loop that begins so, up to its closing brace. */
static const char *
loop_of(const char *code, const char *header) {
  const char *at = strstr(code, header), *from = at;
  int depth = 0;
  cr_assert(at, "expected %s in\n%s", header, code);
  do {
    at += strcspn(at, "{}");
    cr_assert(*at, "%s is not closed", header);
    depth += *at++ == '{' ? 1 : -1;
  } while (depth);
  return bs_arena_printf(&arena, "%.*s", (int)(at - from), from);
}

Test(stencils, borders_are_apart_from_what_lies_between) {
  const char *code = code_of(read_loops(windows_of(40, 50, 5)));
  const char *rows = strstr(code, "for (int i0 = 2; i0 <= 37; i0++)");
  cr_assert(rows, "%s", code);
  const char *inside = loop_of(rows, "for (int i1 = 2; i1 <= 47; i1++)");
  cr_assert_not(strstr(inside, "if ("), "%s", inside);
  cr_assert_not(strstr(inside, " for ("), "%s", inside);
  cr_assert(strstr(inside, "A[50 * i0 + i1 + 102]"), "%s", inside);
}

Test(stencils, code_does_not_grow_with_the_image) {
  size_t small = strlen(code_of(read_loops(windows_of(40, 50, 5))));
  size_t large = strlen(code_of(read_loops(windows_of(4000, 5000, 5))));
  cr_assert_lt(large, small + small / 4);
}

Test(stencils, borders_of_any_size) {
  const char *texts[] = {windows_of(40, 50, 5), windows_of(1, 1, 3),
                         windows_of(2, 3, 5),   windows_of(4, 4, 5),
                         windows_of(5, 33, 7),  windows_of(3, 1, 1)};
  run_all(texts, COUNT(texts));
}
