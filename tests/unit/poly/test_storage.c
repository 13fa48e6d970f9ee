/* SPDX-License-Identifier: MIT */
/* Sizes of arrays, and folds that a program must not have. */
#include "byhand.h"
#include "poly/loops/storage.h"

TestSuite(storage, .init = start_program);

Test(storage, bytes_that_are_too_many) {
  po_array a = {.dtype = GS_F64, .rank = 2, .dim = {1 << 30, 1 << 30}};
  cr_assert_eq(po_elements(&a), (int64_t)1 << 60);
  cr_assert_eq(po_bytes(&a), INT64_MAX);
  a.dtype = GS_F32;
  cr_assert_eq(po_bytes(&a), (int64_t)1 << 62);
}

/* Row i is read when row i + 1 is there: two places do, one does not. */
Test(storage, folds_are_part_of_a_program_being_legal) {
  po_violation v;
  array("A", PO_INPUT, GS_I32, 1, 8);
  uint32_t w = array("W", PO_LOCAL, GS_I32, 1, 8);
  array("B", PO_OUTPUT, GS_I32, 1, 8);
  ASSIGN("{ S[i] : 0 <= i < 8 }", "{ S[i] -> W[i] }", "i",
         .reads = {"{ S[i] -> A[i] }"});
  ASSIGN("{ T[i] : 1 <= i < 8 }", "{ T[i] -> B[i] }", "i",
         .reads = {"{ T[i] -> W[i - 1] }"});
  hand->arrays.data[w].fold[0] = 2;
  cr_assert(po_program_is_legal(hand, &v));
  hand->arrays.data[w].fold[0] = 1;
  cr_assert_not(po_program_is_legal(hand, &v));
  cr_assert(v.fold);
  REFUSED("assert legal", "the program is not legal");
}

/* ---- folds against a run ---- */

enum { TIMES = 6, ELEMENTS = 8 };

static const struct {
  const char *text; /* of an iteration `%c` */
  int by, over, mod, plus;
} indices[] = {
    {"%c", 1, 1, 99, 0},         {"%c + 1", 1, 1, 99, 1},
    {"%c / 2", 1, 2, 99, 0},     {"%c % 2", 1, 1, 2, 0},
    {"%c % 3", 1, 1, 3, 0},      {"5 - %c", -1, 1, 99, 5},
    {"%c / 2 + 1", 1, 2, 99, 1},
};

static int
element(size_t of, int i) {
  return indices[of].by * (i / indices[of].over % indices[of].mod) +
         indices[of].plus;
}

/* How the writes S and the reads T follow each other. */
typedef enum order { TWO_LOOPS, ONE_LOOP, HALVES, ORDERS } order;

/* The iteration of S or of T at a time; false where there is none. */
static bool
happens(order how, int t, bool *writes, int *i) {
  *writes = how == TWO_LOOPS ? t < TIMES : t % 2 == 0;
  *i = how == TWO_LOOPS ? t % TIMES : t / 2;
  return how != HALVES || *writes == (*i < TIMES / 2);
}

/* Whether each read finds the element that it names, where `fold` elements have
 * places: 1, or 0; -1: it is read before it is written. */
static int
run_folded(size_t write, size_t read, int fold, order how) {
  int place[ELEMENTS], right = 1, i;
  bool written[ELEMENTS] = {false}, writes;
  for (int t = 0; t < 2 * TIMES; t++) {
    if (!happens(how, t, &writes, &i))
      continue;
    int x = element(writes ? write : read, i);
    if (!writes && !written[x])
      return -1;
    if (writes)
      place[x % fold] = x;
    right &= place[x % fold] == x;
    written[x] = true;
  }
  return right;
}

static const char *
index_text(size_t of, char iterator) {
  bs_text out;
  bs_text_init(&out, &heap);
  for (const char *c = indices[of].text; *c; c++)
    if (c[0] == '%' && c[1] == 'c')
      bs_putc(&out, iterator), c++;
    else
      bs_putc(&out, *c);
  return bs_arena_strdup(&arena, bs_text_str(&out));
}

/* Also where several iterations use one element, or one uses several. */
Test(storage, folds_are_legal_where_each_read_finds_its_element) {
  enum { N = sizeof indices / sizeof *indices };
  uint32_t legal = 0, illegal = 0;
  static const char *const texts[] = {
      [TWO_LOOPS] = "%s  S: r[%s] = A[i]\n}\nfor j in 0..6 {\n"
                    "  T: B[j] = r[%s]\n}\n",
      [ONE_LOOP] = "%s  S: r[%s] = A[i]\n  T: B[i] = r[%s]\n}\n",
      [HALVES] = "%s  S[i]: r[%s] = A[i] where i < 3 at i\n"
                 "  T[i]: B[i] = r[%s] where i >= 3 at i\n}\n"};
  for (size_t k = 0; k < N * N * ORDERS * 4; k++) {
    size_t write = k / 4 / ORDERS % N, read = k / 4 / ORDERS / N;
    int fold = (int)(k % 4) + 1;
    order how = k / 4 % ORDERS;
    int right = run_folded(write, read, fold, how);
    if (right < 0)
      continue;
    const char *head = bs_arena_printf(
        &arena,
        "input A: i32[6]\noutput B: i32[6]\nlocal r: i32[%d fold %d]\n"
        "for i in 0..6 {\n",
        ELEMENTS, fold);
    const char *text =
        bs_arena_printf(&arena, texts[how], head, index_text(write, 'i'),
                        index_text(read, how == TWO_LOOPS ? 'j' : 'i'));
    uint32_t source = bs_source_add(&diags, "f.loops", text, strlen(text));
    bs_diags_clear(&diags);
    bool found =
        po_read_loops(&ctx, gs_target_default(&ctx), source, NULL, 0) != NULL;
    cr_expect_eq(found, right, "%s%s", text, right ? "is refused" : "is read");
    legal += right;
    illegal += !right;
  }
  cr_expect(legal > 20 && illegal > 20, "%u and %u", legal, illegal);
}
