/* SPDX-License-Identifier: MIT */
/* senses.c - of all functions, which numbers are places and which are sizes. */
#include "prove/symbolic/senses.h"
#include <string.h>

static const fm_senses table[] = {
    {GS_F_AND, "-", '-'},
    {GS_F_OR, "-", '-'},
    {GS_F_NOT, "-", '-'},
    {GS_F_IF, "-aa", 'a'},
    {GS_F_LIST, "a", 'a'},
    {GS_F_EQ, "~", '-'},
    {GS_F_NE, "~", '-'},
    {GS_F_LT, "~", '-'},
    {GS_F_LE, "~", '-'},
    {GS_F_GT, "~", '-'},
    {GS_F_GE, "~", '-'},
    {GS_F_ADD, "a", 'a'},
    {GS_F_SUB, "a", 'a'},
    {GS_F_MIN, "a", 'a'},
    {GS_F_MAX, "a", 'a'},
    {GS_F_ABS, "a", 'a'},
    {GS_F_MUL, "s", 's'},
    {GS_F_DIV, "s", 's'},
    {GS_F_MOD, "s", 's'},
    {GS_F_GCD, "s", 's'},
    {GS_F_DIVIDES, "s", '-'},
    {GS_F_CEIL_DIV, "s", 's'},
    {GS_F_ROUND_UP, "s", 's'},
    {GS_F_ROUND_DOWN, "s", 's'},
    {GS_F_PROD, "s", 's'},
    {GS_F_SUM, "s", 's'},
    {GS_F_LEN, "-", 'p'},
    {GS_F_RANK, "-", 'p'},
    {GS_F_NTH, "ap", 'a'},
    {GS_F_LAST, "a", 'a'},
    {GS_F_CONS, "a", 'a'},
    {GS_F_APPEND, "a", 'a'},
    {GS_F_TAKE, "ap", 'a'},
    {GS_F_DROP, "ap", 'a'},
    {GS_F_SLICE_LIST, "ap", 'a'},
    {GS_F_SET_NTH, "apa", 'a'},
    {GS_F_INSERT_NTH, "apa", 'a'},
    {GS_F_REMOVE_NTH, "ap", 'a'},
    {GS_F_REVERSE, "a", 'a'},
    {GS_F_IOTA, "a", 'a'},
    {GS_F_RANGE, "a", 'a'},
    {GS_F_FILL, "pa", 'a'},
    {GS_F_ADD_LISTS, "a", 'a'},
    {GS_F_SUB_LISTS, "a", 'a'},
    {GS_F_MUL_LISTS, "s", 's'},
    {GS_F_DIV_LISTS, "s", 's'},
    {GS_F_MOD_LISTS, "s", 's'},
    {GS_F_INDEX_OF, "~", 'p'},
    {GS_F_MEMBER, "~", '-'},
    {GS_F_ALL_EQUAL, "~", '-'},
    {GS_F_ALL_ONES, "s", '-'},
    {GS_F_IS_PERMUTATION, "p", '-'},
    {GS_F_COMPOSE, "p", 'p'},
    {GS_F_INVERT, "p", 'p'},
    {GS_F_PERMUTE, "ap", 'a'},
    {GS_F_HALVINGS, "s", 's'},
    {GS_F_CUTS, "s", 's'},
    {GS_F_AXES, "-", 'p'},
    {GS_F_ACCESS_SHAPE, "-", 's'},
    {GS_F_COMPUTE_SHAPE, "-", 's'},
    {GS_F_SHAPE, "-", 's'},
    {GS_F_DIM, "-p", 's'},
    {GS_F_DTYPE, "-", '-'},
    {GS_F_ACCESS_RANK, "-", 'p'},
    {GS_F_COMPUTE_RANK, "-", 'p'},
    {GS_F_ELEMENTS, "-", 's'},
    {GS_F_IS_ZERO, "-pss", '-'},
    {GS_F_IS_CONST, "-", '-'},
    {GS_F_DTYPE_BYTES, "-", 's'},
    {GS_F_SUM_DTYPE, "-", '-'},
    {GS_F_IS_INTEGER, "-", '-'},
    {GS_F_OP_KIND, "-", '-'},
    {GS_F_OP_NAME, "-", '-'},
    {GS_F_OP_PARAM, "-p", 's'},
    {GS_F_FOLD_OF, "-", '-'},
    {GS_F_REDUCE_OF, "-", '-'},
    {GS_F_IS_ASSOCIATIVE, "-", '-'},
    {GS_F_IS_MONOTONE, "-", '-'},
    {GS_F_MAPS_ZERO, "-", '-'},
};

const fm_senses *
fm_senses_of(gs_function_id id) {
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (table[i].id == id)
      return &table[i];
  return NULL;
}

char
fm_letter_at(const fm_senses *s, uint32_t argument) {
  size_t n = strnlen(s->args, sizeof s->args);
  return s->args[argument < n ? argument : n - 1];
}

fm_sense
fm_sense_of(char letter, fm_sense whole) {
  return letter == 'p'   ? FM_PLACE
         : letter == 's' ? FM_SIZE
         : letter == 'a' ? whole
                         : FM_EITHER;
}
