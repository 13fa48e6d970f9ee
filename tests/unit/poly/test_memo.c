/* SPDX-License-Identifier: MIT */
/* What is remembered of statements, and until when. */
#include "poly/loops/memo.h"
#include <criterion/criterion.h>
#include <isl/ctx.h>
#include <isl/set.h>

typedef struct fixture {
  isl_ctx *isl;
  isl_set *a, *b;
  po_memo *memo;
} fixture;

static fixture
begin(void) {
  fixture f = {.isl = isl_ctx_alloc(), .memo = calloc(1, sizeof *f.memo)};
  f.a = isl_set_read_from_str(f.isl, "{ S[i] : 0 <= i < 8 }");
  f.b = isl_set_read_from_str(f.isl, "{ S[i] : 0 <= i < 9 }");
  return f;
}

/* isl complains where something is still held. */
static void
end(fixture *f) {
  po_memo_clear(f->memo);
  cr_assert_eq(f->memo->n, 0);
  free(f->memo);
  isl_set_free(f->a);
  isl_set_free(f->b);
  isl_ctx_free(f->isl);
}

static po_memo_key
asked(po_memo_question question, uint32_t number, isl_set *of, uint64_t how) {
  po_memo_key key;
  po_memo_ask(&key, question, number);
  po_memo_of(&key, of, NULL, NULL, how);
  return key;
}

Test(memo, an_answer_is_that_of_all_that_was_asked) {
  fixture f = begin();
  po_memo_key key = asked(PO_MEMO_CARRIED, 2, f.a, 3);
  cr_assert_null(po_memo_find(f.memo, &key));
  po_memo_put(f.memo, &key, (po_memo_answer){.set = f.b, .yes = true});
  const po_memo_answer *found = po_memo_find(f.memo, &key);
  cr_assert(found && found->yes && found->set == f.b);
  po_memo_key others[] = {
      asked(PO_MEMO_HANDED_ON, 2, f.a, 3), asked(PO_MEMO_CARRIED, 1, f.a, 3),
      asked(PO_MEMO_CARRIED, 2, f.b, 3), asked(PO_MEMO_CARRIED, 2, f.a, 2)};
  for (size_t k = 0; k < sizeof others / sizeof *others; k++)
    cr_expect_null(po_memo_find(f.memo, &others[k]), "key %zu", k);
  po_memo_of(&key, f.a, NULL, NULL, 3);
  cr_expect_null(po_memo_find(f.memo, &key), "of one part more");
  end(&f);
}

/* All of them are compared, and not what they are mixed to. */
Test(memo, numbers_are_told_apart_one_by_one) {
  fixture f = begin();
  po_memo_key key = asked(PO_MEMO_PLAN, 0, f.a, 0), other = key;
  for (uint64_t k = 0; k < PO_MEMO_WORDS; k++)
    po_memo_word(&key, k);
  po_memo_put(f.memo, &key, (po_memo_answer){.yes = true});
  cr_assert(po_memo_find(f.memo, &key));
  cr_expect_null(po_memo_find(f.memo, &other), "without numbers");
  for (uint32_t k = 0; k < PO_MEMO_WORDS; k += 73) {
    other = key;
    other.word[k]++;
    cr_expect_null(po_memo_find(f.memo, &other), "another number %u", k);
  }
  po_memo_word(&key, 1);
  cr_expect(key.too_long && !po_memo_find(f.memo, &key), "one too many");
  end(&f);
}

Test(memo, the_oldest_answers_go) {
  fixture f = begin();
  for (uint32_t k = 0; k <= PO_MEMO_ENTRIES; k++) {
    po_memo_key key = asked(PO_MEMO_VALUES, k, f.a, 0);
    po_memo_put(f.memo, &key, (po_memo_answer){.set = f.b});
  }
  cr_assert_eq(f.memo->n, PO_MEMO_ENTRIES);
  for (uint32_t k = 0; k <= PO_MEMO_ENTRIES; k++) {
    po_memo_key key = asked(PO_MEMO_VALUES, k, f.a, 0);
    cr_expect_eq(po_memo_find(f.memo, &key) != NULL, k > 0, "entry %u", k);
  }
  end(&f);
}

Test(memo, what_has_too_many_parts_is_not_remembered) {
  fixture f = begin();
  po_memo_key key;
  po_memo_ask(&key, PO_MEMO_VALUES, 1);
  for (uint32_t k = 0; k <= PO_MEMO_PARTS; k++)
    po_memo_of(&key, f.a, NULL, NULL, k);
  po_memo_put(f.memo, &key, (po_memo_answer){.set = f.b});
  cr_assert_eq(f.memo->n, 0);
  cr_assert_null(po_memo_find(f.memo, &key));
  end(&f);
}

Test(memo, bytes_are_copied) {
  fixture f = begin();
  int plan[2] = {5, 7};
  po_memo_key key = asked(PO_MEMO_PLAN, 0, f.a, 0);
  po_memo_key other = asked(PO_MEMO_PLAN, 0, f.b, 0);
  po_memo_put(
      f.memo, &key,
      (po_memo_answer){.yes = true, .bytes = plan, .n_bytes = sizeof plan});
  po_memo_put(f.memo, &other, (po_memo_answer){.yes = false});
  plan[1] = 0;
  const po_memo_answer *found = po_memo_find(f.memo, &key);
  cr_assert(found && found->yes && found->n_bytes == sizeof plan);
  cr_expect_eq(((const int *)found->bytes)[1], 7);
  found = po_memo_find(f.memo, &other);
  cr_expect(found && !found->yes && !found->bytes);
  end(&f);
}
