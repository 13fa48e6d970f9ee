/* SPDX-License-Identifier: MIT */
/* Values: equal content has one id, whatever the table went through. */
#include "counting.h"
#include "base/value.h"
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static bs_heap heap;
static bs_values *values;

static void
start(void) {
  bs_heap_init(&heap, NULL, 0);
  values = bs_values_new(&heap);
}

static void
stop(void) {
  bs_heap_done(&heap);
  cr_assert_eq(heap.used, 0);
}

TestSuite(value, .init = start, .fini = stop);

Test(value, integers) {
  const int64_t samples[] = {INT64_MIN, -1000, -2,   -1,      0,        1,
                             1023,      1024,  1025, 1 << 30, INT64_MAX};
  enum { N = sizeof samples / sizeof *samples };
  bs_value ids[N];
  for (int i = 0; i < N; i++) {
    ids[i] = bs_int(values, samples[i]);
    cr_assert_neq(ids[i].i, 0);
    cr_assert_eq(bs_kind_of(values, ids[i]), BS_KIND_INT);
  }
  for (int i = 0; i < N; i++) {
    cr_assert(bs_same(ids[i], bs_int(values, samples[i])));
    cr_assert_eq(bs_as_int(values, ids[i]), samples[i]);
    for (int j = 0; j < N; j++) {
      int order = bs_value_compare(values, ids[i], ids[j]);
      cr_assert(i < j ? order < 0 : i > j ? order > 0 : order == 0);
    }
  }
  cr_assert_eq(bs_values_count(values), N);
}

Test(value, reals_by_bits_and_in_order) {
  const double samples[] = {-INFINITY, -1e300, -1.5,  -5e-324,  -0.0, 0.0,
                            5e-324,    1.5,    1e300, INFINITY, NAN};
  enum { N = sizeof samples / sizeof *samples };
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      bs_value a = bs_real(values, samples[i]), b = bs_real(values, samples[j]);
      int order = bs_value_compare(values, a, b);
      cr_assert(i < j ? order < 0 : i > j ? order > 0 : order == 0);
      cr_assert_eq(bs_same(a, b), i == j);
    }
  cr_assert(signbit(bs_as_real(values, bs_real(values, -0.0))));
  cr_assert(isnan(bs_as_real(values, bs_real(values, NAN))));
  cr_assert_not(bs_same(bs_real(values, 1), bs_int(values, 1)));
  cr_assert_eq(bs_as_real(values, bs_int(values, 7)), 7.0);
}

Test(value, symbols_by_bytes) {
  bs_value relu = bs_sym(values, "relu");
  cr_assert(bs_same(relu, bs_symn(values, "relu6", 4)));
  cr_assert_not(bs_same(relu, bs_sym(values, "relu6")));
  cr_assert_str_eq(bs_as_sym(values, relu), "relu");
  const char *address = bs_as_sym(values, relu);
  char name[20];
  for (int i = 0; i < 20000; i++) {
    snprintf(name, sizeof name, "name%d", i);
    bs_sym(values, name);
  }
  cr_assert_eq(bs_as_sym(values, relu), address);
  cr_assert_str_eq(address, "relu");
  bs_value empty = bs_symn(values, NULL, 0), nul = bs_symn(values, "a\0b", 3);
  cr_assert_str_eq(bs_as_sym(values, empty), "");
  cr_assert_eq(bs_sym_len(values, nul), 3);
  cr_assert_not(bs_same(nul, bs_sym(values, "a")));
  cr_assert_gt(bs_value_compare(values, nul, bs_sym(values, "a")), 0);
  cr_assert_lt(bs_value_compare(values, nul, bs_sym(values, "aa")), 0);
}

Test(value, lists) {
  bs_value empty = bs_list(values, NULL, 0);
  cr_assert(bs_same(empty, bs_ints(values, NULL, 0)));
  cr_assert_eq(bs_len(values, empty), 0);
  cr_assert_eq(bs_item(values, empty, 0).i, 0);
  const int64_t shape[] = {1, 64, 56, 5600};
  bs_value a = bs_ints(values, shape, 4), b = bs_ints(values, shape, 3);
  cr_assert(bs_same(a, bs_ints(values, shape, 4)));
  cr_assert_not(bs_same(a, b));
  cr_assert_eq(bs_len(values, a), 4);
  cr_assert_eq(bs_as_int(values, bs_item(values, a, 3)), 5600);
  cr_assert_eq(bs_item(values, a, 4).i, 0);
  int64_t out[4] = {0};
  uint32_t n = 0;
  cr_assert(bs_to_ints(values, a, out, 4, &n));
  cr_assert_eq(n, 4);
  cr_assert_arr_eq(out, shape, sizeof shape);
  cr_assert_not(bs_to_ints(values, a, out, 3, &n));
  bs_value mixed[] = {bs_int(values, 1), bs_sym(values, "x"), a};
  bs_value list = bs_list(values, mixed, 3);
  cr_assert_not(bs_to_ints(values, list, out, 4, &n));
  cr_assert_not(bs_to_ints(values, mixed[0], out, 4, &n));
}

Test(value, a_list_may_be_made_from_items_of_the_table) {
  int64_t shape[100];
  for (int i = 0; i < 100; i++)
    shape[i] = 7 * i;
  bs_value list = bs_ints(values, shape, 100);
  for (uint32_t from = 1; from < 100; from++)
    for (uint32_t to = from + 1; to <= 100; to++) {
      bs_value part = bs_list(values, bs_items(values, list) + from, to - from);
      cr_assert_eq(bs_len(values, part), to - from);
      cr_assert_eq(bs_as_int(values, bs_item(values, part, 0)), 7 * from);
      cr_assert_eq(bs_as_int(values, bs_item(values, part, to - from - 1)),
                   7 * (to - 1));
    }
}

Test(value, other_kinds_read_as_nothing) {
  bs_value x = bs_sym(values, "x"), two = bs_int(values, 2);
  cr_assert_eq(bs_as_int(values, x), 0);
  cr_assert_eq(bs_as_real(values, x), 0);
  cr_assert_not(bs_as_bool(values, two));
  cr_assert_str_eq(bs_as_sym(values, two), "");
  cr_assert_eq(bs_len(values, x), 0);
  cr_assert(bs_items(values, x));
  cr_assert_eq(bs_kind_of(values, BS_NIL), BS_KIND_NIL);
  cr_assert_eq(bs_kind_of(values, (bs_value){4000000000u}), BS_KIND_NIL);
  cr_assert(bs_as_bool(values, bs_bool(values, true)));
  cr_assert_not(bs_as_bool(values, bs_bool(values, false)));
  cr_assert_not(bs_same(bs_bool(values, true), bs_int(values, 1)));
}

Test(value, compare_is_lexicographic) {
  const int64_t one[] = {1}, one_two[] = {1, 2}, two[] = {2};
  bs_value order[] = {
      bs_int(values, 99),      bs_real(values, -1),
      bs_bool(values, false),  bs_bool(values, true),
      bs_sym(values, "a"),     bs_sym(values, "ab"),
      bs_sym(values, "b"),     bs_list(values, NULL, 0),
      bs_ints(values, one, 1), bs_ints(values, one_two, 2),
      bs_ints(values, two, 1),
  };
  int n = sizeof order / sizeof *order;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      int sign = bs_value_compare(values, order[i], order[j]);
      cr_assert(i < j ? sign < 0 : i > j ? sign > 0 : sign == 0);
    }
}

Test(value, compare_bears_any_depth) {
  bs_value a = bs_int(values, 1), b = bs_int(values, 2);
  for (int i = 0; i < 300000; i++) {
    a = bs_list(values, &a, 1);
    b = bs_list(values, &b, 1);
  }
  cr_assert_lt(bs_value_compare(values, a, b), 0);
  cr_assert_gt(bs_value_compare(values, b, a), 0);
}

Test(value, many_values_stay_distinct) {
  enum { N = 200000 };
  bs_value first[2] = {bs_int(values, -5), bs_sym(values, "p")};
  for (int64_t i = 0; i < N; i++) {
    bs_value pair[2] = {bs_int(values, i), first[i & 1]};
    bs_value list = bs_list(values, pair, 2);
    cr_assert(bs_same(bs_item(values, list, 0), pair[0]));
  }
  uint32_t count = bs_values_count(values);
  cr_assert_eq(count, 2 + 2 * N);
  for (int64_t i = 0; i < N; i++) {
    bs_value pair[2] = {bs_int(values, i), first[i & 1]};
    bs_list(values, pair, 2);
  }
  cr_assert_eq(bs_values_count(values), count);
}

static void
intern_some(bs_heap *h, void *argument) {
  (void)argument;
  bs_values *table = bs_values_new(h);
  for (int64_t i = 0; i < 3000; i++) {
    char name[20];
    snprintf(name, sizeof name, "%ld", (long)i);
    bs_value items[] = {bs_int(table, i), bs_sym(table, name),
                        bs_real(table, (double)i / 3)};
    bs_list(table, items, 3);
  }
}

Test(value, every_refusal_is_survived_without_a_leak) {
  cr_assert_gt(sweep(intern_some, NULL), 10);
}

typedef struct attempt {
  bs_values *table;
  int64_t next;
} attempt;

static void
intern_on(void *argument) {
  attempt *a = argument;
  for (; a->next < 2000; a->next++) {
    int64_t items[] = {a->next, -a->next};
    bs_ints(a->table, items, 2);
  }
}

Test(value, the_table_is_whole_after_a_refusal) {
  counting c = {0};
  bs_hooks hooks = counting_hooks(&c);
  bs_heap own;
  bs_heap_init(&own, &hooks, 0);
  attempt a = {bs_values_new(&own), 0};
  int refused = 0;
  for (bool done = false; !done;) {
    c.fail_at = c.calls + 1 + refused % 2;
    done = bs_protect(&own, intern_on, &a);
    refused += !done;
  }
  c.fail_at = 0;
  cr_assert_gt(refused, 5);
  uint32_t count = bs_values_count(a.table);
  a.next = 0;
  intern_on(&a);
  cr_assert_eq(bs_values_count(a.table), count);
  cr_assert_eq(count, 2000 + 1999 + 2000);
  bs_heap_done(&own);
  cr_assert_eq(c.live, 0);
}

/* One of any kind: numbers with and without a place of their own, names, and
 * lists of what was made just before. */
static bs_value
make_one(bs_values *table, int64_t i, bs_value last) {
  char name[20];
  bs_value items[] = {last, bs_int(table, i % 50)};
  snprintf(name, sizeof name, "s%ld", (long)i);
  switch (i % 5) {
  case 0:
    return bs_int(table, i % 3 ? i : 2000 + i);
  case 1:
    return bs_real(table, (double)i / 7);
  case 2:
    return bs_sym(table, name);
  case 3:
    return bs_list(table, items, (uint32_t)(i % 3));
  default:
    return bs_list(table, items, 2);
  }
}

/* Makes values from `from` on, without names where they are to be forgotten. */
static bs_value
make_many(bs_values *table, int64_t from, int64_t n, bool names) {
  bs_value last = BS_NIL;
  for (int64_t i = from; i < from + n; i++)
    if (names || i % 5 != 2)
      last = make_one(table, i, last);
  return last;
}

Test(value, a_table_is_as_if_what_it_forgot_had_never_been_there) {
  bs_values *other = bs_values_new(&heap);
  int64_t begins[] = {0, 100, 400, 3000}, ends[] = {5, 4000, 1, 700};
  for (int k = 0; k < 4; k++) {
    uint32_t count = bs_values_count(values);
    make_many(values, 10000, ends[k], false);
    bs_values_forget(values, count);
    cr_assert_eq(bs_values_count(values), count);
    for (int again = 0; again < 2; again++)
      for (int64_t n = 1; n < 300; n += 37) {
        bs_value a = make_many(values, begins[k], n, true);
        cr_assert(bs_same(a, make_many(other, begins[k], n, true)));
        cr_assert_eq(bs_values_count(values), bs_values_count(other));
      }
  }
}

Test(value, names_outlive_what_is_forgotten_with_their_texts) {
  enum { N = 400 };
  const char *texts[N];
  char name[20];
  make_many(values, 0, 300, true);
  uint32_t count = bs_values_count(values);
  for (int k = 0; k < N; k++) {
    snprintf(name, sizeof name, "name %d", k);
    bs_value list[] = {bs_int(values, 5000 + k), bs_sym(values, name)};
    bs_list(values, list, 2);
    texts[k] = bs_as_sym(values, list[1]);
  }
  bs_values_forget(values, count);
  cr_assert_eq(bs_values_count(values), count + N);
  for (int k = 0; k < N; k++) {
    snprintf(name, sizeof name, "name %d", k);
    cr_assert_eq(bs_as_sym(values, bs_sym(values, name)), texts[k]);
  }
  make_many(values, 0, 300, true);
  cr_assert_eq(bs_values_count(values), count + N);
}
