/* SPDX-License-Identifier: MIT */
/* random_expr.h - expressions of the language of rules, at random: of every
 * function but those of operators, with arguments of the sorts that it takes.
 */
#ifndef TESTS_PROVE_RANDOM_EXPR_H
#define TESTS_PROVE_RANDOM_EXPR_H

#include "base/random.h"
#include "glenside/expr/expr_functions.h"
#include <string.h>

static uint64_t state;

static uint32_t
draw(uint32_t n) {
  return (uint32_t)(bs_random_next(&state) % n);
}

typedef struct scope {
  const char *ints[6], *lists[3];
  bool rank_alone; /* of terms nothing but the rank */
} scope;

static void put_expr(bs_text *out, const scope *s, char letter, uint32_t depth);

static const char *
pick(const char *const *of, uint32_t n, const char *without) {
  uint32_t have = 0;
  while (have < n && of[have])
    have++;
  return have ? of[draw(have)] : without;
}

static void
put_leaf(bs_text *out, const scope *s, char letter) {
  static const char *const dtypes[] = {"i8", "f32", "(dtype ?a)"};
  switch (letter) {
  case 'b':
    bs_putf(out, "(< (rank ?a) %u)", draw(6));
    break;
  case 'l':
    bs_put(out, s->rank_alone ? "(iota (rank ?a))"
                              : pick(s->lists, 3, "(shape ?a)"));
    break;
  case 't':
    bs_put(out, dtypes[draw(3)]);
    break;
  case 'c':
  case 'x':
    bs_put(out, "?a");
    break;
  default:
    if (draw(3) && s->ints[0])
      bs_put(out, pick(s->ints, 6, "1"));
    else if (draw(2))
      bs_put(out, "(rank ?a)");
    else
      bs_putf(out, "%u", draw(7));
  }
}

static bool
makes(const scope *s, const gs_function_info *f, char letter) {
  char first = f->max_args ? gs_function_letter(f, 0) : 'b';
  if (strchr("os", first) || strchr("os", f->result))
    return false;
  if (s->rank_alone && strchr("cx", first))
    return letter == 'i' && !strcmp(f->name, "rank");
  return f->result == letter || (f->result == 'n' && letter == 'i') ||
         (f->result == 'u' && strchr("il", letter));
}

static const gs_function_info *
pick_function(const scope *s, char letter) {
  for (uint32_t tries = 0; tries < 400; tries++) {
    const gs_function_info *f =
        gs_function_at((uint16_t)draw(GS_FUNCTION_COUNT));
    if (makes(s, f, letter))
      return f;
  }
  return NULL;
}

/* What a letter of an argument stands for here: any two of `e` are alike. */
static char
sort_of(char letter, char alike, char wanted) {
  return strchr("nv", letter) ? 'i'
         : letter == 'e'      ? alike
         : letter == 'u'      ? wanted
                              : letter;
}

static void
put_expr(bs_text *out, const scope *s, char letter, uint32_t depth) {
  static const char alikes[] = "iiilt";
  const gs_function_info *f = depth ? pick_function(s, letter) : NULL;
  char alike = alikes[draw(s->rank_alone ? 4 : 5)];
  if (!f) {
    put_leaf(out, s, letter);
    return;
  }
  uint32_t more = f->max_args > f->min_args + 1 ? draw(2) : 0;
  bool choice = !strcmp(f->name, "if");
  bs_putf(out, "(%s", f->name);
  for (uint32_t k = 0; k < f->min_args + more; k++) {
    char of = sort_of(gs_function_letter(f, k), alike, letter);
    bs_put(out, " ");
    put_expr(out, s, choice && k ? letter : of, depth - 1);
  }
  bs_put(out, ")");
}

#endif
