/* SPDX-License-Identifier: MIT */
/* system.c - systems of inequalities, decided by isl, and answers kept; see
 * system.h. */
#include "prove/symbolic/system.h"
#include "base/hash.h"
#include <assert.h>
#include <isl/aff.h>
#include <isl/constraint.h>
#include <isl/set.h>
#include <isl/space.h>
#include <string.h>
#include <isl/val.h>

/* Answers kept, and the words of their systems; later ones are not. */
enum { MEMO_SLOTS = 1 << 15, MEMO_WORDS = 1 << 21 };

typedef struct kept {
  uint64_t hash;
  uint32_t at, n;
  sy_answer answer;
} kept;

struct sy_memo {
  uint32_t n, used;
  kept slot[MEMO_SLOTS];    /* open addressing */
  int64_t word[MEMO_WORDS]; /* the first `used` are written, and no others */
};

sy_memo *
sy_memo_new(bs_heap *heap) {
  sy_memo *m = bs_alloc(heap, sizeof *m);
  memset(m, 0, offsetof(sy_memo, word));
  return m;
}

/* --- writing -------------------------------------------------------------- */

void
sy_start(sy_system *s, uint32_t columns, uint32_t rows) {
  assert(columns <= SY_COLUMNS && rows <= SY_ROWS);
  s->word[0] = columns;
  s->word[1] = rows;
  s->n = 2;
}

void
sy_row(sy_system *s, uint32_t terms) {
  assert(s->n < SY_WORDS);
  assert(terms <= s->word[0] + 1);
  s->word[s->n++] = terms;
}

void
sy_term(sy_system *s, uint32_t column, int64_t times) {
  assert(column <= SY_COLUMNS && s->n + 2 <= SY_WORDS);
  s->word[s->n++] = column;
  s->word[s->n++] = times;
}

/* --- answers that are kept ------------------------------------------------ */

/* The place of the system, or a free one. */
static kept *
find(sy_memo *m, const sy_system *s, uint64_t hash) {
  uint32_t at = (uint32_t)hash & (MEMO_SLOTS - 1);
  for (; m->slot[at].n; at = (at + 1) & (MEMO_SLOTS - 1)) {
    const kept *k = &m->slot[at];
    if (k->hash == hash && k->n == s->n &&
        !memcmp(m->word + k->at, s->word, s->n * sizeof *s->word))
      break;
  }
  return &m->slot[at];
}

static void
keep(sy_memo *m, kept *k, const sy_system *s, uint64_t hash, sy_answer answer) {
  if (answer == SY_UNKNOWN || m->n == MEMO_SLOTS / 2 ||
      s->n > MEMO_WORDS - m->used)
    return;
  *k = (kept){hash, m->used, s->n, answer};
  memcpy(m->word + m->used, s->word, s->n * sizeof *s->word);
  m->used += s->n;
  m->n++;
}

/* --- isl ------------------------------------------------------------------ */

/* The row that starts at a word; the word behind it. */
static uint32_t
add_row(isl_ctx *isl, const sy_system *s, uint32_t at, isl_constraint **c) {
  uint32_t terms = (uint32_t)s->word[at++];
  for (uint32_t k = 0; k < terms; k++, at += 2) {
    isl_val *v = isl_val_int_from_si(isl, (long)s->word[at + 1]);
    int column = (int)s->word[at];
    *c = column ? isl_constraint_set_coefficient_val(*c, isl_dim_set,
                                                     column - 1, v)
                : isl_constraint_set_constant_val(*c, v);
  }
  return at;
}

static sy_answer
ask_isl(isl_ctx *isl, const sy_system *s) {
  isl_space *space = isl_space_set_alloc(isl, 0, (unsigned)s->word[0]);
  isl_basic_set *set = isl_basic_set_universe(isl_space_copy(space));
  isl_local_space *local = isl_local_space_from_space(space);
  for (uint32_t at = 2; at < s->n;) {
    isl_constraint *c =
        isl_constraint_alloc_inequality(isl_local_space_copy(local));
    at = add_row(isl, s, at, &c);
    set = isl_basic_set_add_constraint(set, c);
  }
  isl_bool empty = isl_basic_set_is_empty(set);
  isl_basic_set_free(set);
  isl_local_space_free(local);
  return empty == isl_bool_error  ? SY_UNKNOWN
         : empty == isl_bool_true ? SY_NO_POINT
                                  : SY_POINT;
}

sy_answer
sy_ask(sy_memo *m, isl_ctx *isl, const sy_system *s) {
  assert(s->n >= 2 && s->n <= SY_WORDS);
  if (!m)
    return ask_isl(isl, s);
  uint64_t hash = bs_hash(s->word, s->n * sizeof *s->word);
  kept *k = find(m, s, hash);
  if (k->n)
    return k->answer;
  sy_answer answer = ask_isl(isl, s);
  keep(m, k, s, hash, answer);
  return answer;
}
