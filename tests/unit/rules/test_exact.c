/* SPDX-License-Identifier: MIT */
/* Which rules leave every float as it is, to the last bit: those whose sides
 * have the same operators, none of which adds up or is applied to the result
 * of another one. */
#include "lawful.h"

TestSuite(exact, .init = fixture_start, .fini = fixture_stop);

typedef struct row {
  bool exact;
  const char *rule; /* what stands behind the name and the intent */
} row;

static void
expect_rows(const row *rows, size_t n) {
  for (size_t k = 0; k < n; k++) {
    rl_rules *rules =
        rules_of(bs_arena_printf(&arena, "(rule r \"d\" %s)", rows[k].rule));
    size_t before = heap.used;
    cr_expect_eq(rl_is_exact(rules, 0), rows[k].exact, "%s", rows[k].rule);
    cr_expect_eq(heap.used, before, "%s keeps memory", rows[k].rule);
    cr_expect_eq(rl_count_inexact(rules), !rows[k].exact, "%s", rows[k].rule);
  }
}

#define N(rows) (sizeof(rows) / sizeof *(rows))

Test(exact, what_only_moves_elements) {
  static const row rows[] = {
      {true, "(transpose (transpose ?a ?p) ?q) => (transpose ?a ?r)"
             " :where (= ?r (compose ?p ?q))"},
      {true, "(pad (transpose ?a ?p) ?k ?d ?l ?h) => (transpose (pad ?a ?k"
             " (nth ?p ?d) ?l ?h) ?p)"},
      {true, "(compute relu (transpose ?a ?p)) => (transpose (compute relu"
             " ?a) ?p) :where (= (access-rank ?a) 0)"},
      {true, "(compute relu (access ?a ?n)) => (access (compute relu ?a) ?n)"},
      {true, "(pair (compute relu ?a) (compute exp ?b)) => (pair (compute exp"
             " ?b) (compute relu ?a))"},
  };
  expect_rows(rows, N(rows));
}

/* Operators that differ, that work on one another, or that add up. */
Test(exact, what_computes_otherwise) {
  static const row rows[] = {
      {false, "(compute relu ?a) => (compute abs ?a)"},
      {false, "(compute neg (compute neg ?a)) => ?a"},
      {false, "?a => (compute neg (compute neg ?a))"},
      {false, "(compute neg (compute relu ?a)) => (compute relu (compute neg"
              " ?a))"},
      {false, "(compute neg (transpose (compute relu ?a) ?p)) => (compute relu"
              " (transpose (compute neg ?a) ?p))"},
      {false, "(compute reduceSum (transpose ?a ?p)) => (compute reduceSum"
              " ?a)"},
      {false, "(compute dotProd (cartProd ?a ?b)) => (transpose (compute"
              " dotProd (cartProd ?b ?a)) (list 1 0))"},
      {false, "(compute softmax (transpose ?a ?p)) => (compute softmax ?a)"},
      /* 0 * NaN is no 0 */
      {false, "(compute relu (pad ?a zero ?d ?l ?h)) => (pad (compute relu ?a)"
              " zero ?d ?l ?h)"},
      /* what is known of values holds up to the sign of a zero */
      {false, "(slice ?a ?d ?l ?h) => (slice ?a ?d ?l ?h)"
              " :where (is-zero ?a 0 0 1)"},
  };
  expect_rows(rows, N(rows));
}

/* An operator that is a variable may be a sum where the condition speaks of
 * sums, or asks what is true of some operators; conditions on anything else say
 * nothing of it. */
Test(exact, operators_that_are_variables) {
#define MOVED "(compute ?o (transpose ?a ?p)) => (transpose (compute ?o ?a) ?p)"
  static const row rows[] = {
      {true, MOVED},
      {true, MOVED " :where (= (op-kind ?o) elementwise)"},
      {true, MOVED " :where (and (= (op-kind ?o) elementwise)"
                   " (= (rank ?a) 2))"},
      {true, MOVED " :where (and (!= ?o relu) (= (len ?p) (rank ?a)))"},
      {true, MOVED " :for (?d (list 1 2 3)) :where (member (list 1 2) ?d)"},
      {false, MOVED " :where (= (op-kind ?o) reduce)"},
      {false, MOVED " :where (member (list elementwise fold) (op-kind ?o))"},
      {false, MOVED " :where (!= ?o reduceSum)"},
      {false, MOVED " :where (is-associative ?o)"},
      {false, MOVED " :where (and (= (rank ?a) 2) (not (maps-zero ?o)))"},
  };
  expect_rows(rows, N(rows));
}
