/* SPDX-License-Identifier: MIT */
/* expr_functions.h - the table of the expression language's functions.
 *
 * Argument and result letters:
 *   i integer   n number (integer or real)   b boolean   l list   s name
 *   t dtype     o compute operator           c term      x term or list
 *   v any value but a term                   e all alike, terms too
 *   r a real, of results alone
 * The last letter repeats; what stands behind `|` is given whole or not at
 * all.  A result `n` is an integer when all arguments are,
 * `v` is known at run time only, `u` is what the last two arguments are. */
#ifndef GLENSIDE_EXPR_FUNCTIONS_H
#define GLENSIDE_EXPR_FUNCTIONS_H

#include "glenside/expr/expr.h"

#define GS_MANY GS_MAX_ARGUMENTS

/*     id             name             args  min max   result */
#define GS_FUNCTIONS(X)                                                        \
  X(AND, "and", "b", 0, GS_MANY, 'b', "every part holds")                      \
  X(OR, "or", "b", 1, GS_MANY, 'b', "some part holds")                         \
  X(IF, "if", "bvv", 3, 3, 'u', "b when a holds, else c")                      \
  X(LIST, "list", "v", 0, GS_MANY, 'l', "the list of the arguments")           \
  X(NOT, "not", "b", 1, 1, 'b', "a does not hold")                             \
  X(EQ, "=", "e", 2, GS_MANY, 'b', "all are equal")                            \
  X(NE, "!=", "e", 2, 2, 'b', "a and b differ")                                \
  X(LT, "<", "n", 2, GS_MANY, 'b', "each is less than the next")               \
  X(LE, "<=", "n", 2, GS_MANY, 'b', "none is greater than the next")           \
  X(GT, ">", "n", 2, GS_MANY, 'b', "each is greater than the next")            \
  X(GE, ">=", "n", 2, GS_MANY, 'b', "none is less than the next")              \
  X(ADD, "+", "n", 1, GS_MANY, 'n', "sum")                                     \
  X(SUB, "-", "n", 1, GS_MANY, 'n', "difference; of one argument, negation")   \
  X(MUL, "*", "n", 1, GS_MANY, 'n', "product")                                 \
  X(DIV, "/", "n", 2, 2, 'n', "quotient; of integers, rounded down")           \
  X(MOD, "mod", "i", 2, 2, 'i', "a - b * (/ a b)")                             \
  X(MIN, "min", "n", 1, GS_MANY, 'n', "the least")                             \
  X(MAX, "max", "n", 1, GS_MANY, 'n', "the greatest")                          \
  X(ABS, "abs", "n", 1, 1, 'n', "absolute value")                              \
  X(SQRT, "sqrt", "n", 1, 1, 'r', "square root, a real")                       \
  X(INTEGER, "integer", "n", 1, 1, 'i', "a, where it is a whole number")       \
  X(GCD, "gcd", "i", 2, GS_MANY, 'i', "greatest common divisor")               \
  X(DIVIDES, "divides", "i", 2, 2, 'b', "a is not 0 and divides b")            \
  X(CEIL_DIV, "ceil-div", "i", 2, 2, 'i', "a / b rounded up")                  \
  X(ROUND_UP, "round-up", "i", 2, 2, 'i', "least multiple of b not below a")   \
  X(ROUND_DOWN, "round-down", "i", 2, 2, 'i',                                  \
    "greatest multiple of b not above a")                                      \
  X(PROD, "prod", "l", 1, 1, 'i', "product of the items; of none, 1")          \
  X(SUM, "sum", "l", 1, 1, 'i', "sum of the items")                            \
  X(LEN, "len", "l", 1, 1, 'i', "number of items")                             \
  X(RANK, "rank", "x", 1, 1, 'i',                                              \
    "number of items, or of a term's dimensions")                              \
  X(NTH, "nth", "li", 2, 2, 'v', "item b of a, from 0")                        \
  X(LAST, "last", "l", 1, 1, 'v', "the last item")                             \
  X(CONS, "cons", "vl", 2, 2, 'l', "a put before the list b")                  \
  X(APPEND, "append", "l", 1, GS_MANY, 'l', "the lists one after another")     \
  X(TAKE, "take", "li", 2, 2, 'l', "the first b items")                        \
  X(DROP, "drop", "li", 2, 2, 'l', "all but the first b items")                \
  X(SLICE_LIST, "slice-list", "lii", 3, 3, 'l', "items b to c - 1")            \
  X(SET_NTH, "set-nth", "liv", 3, 3, 'l', "a with item b replaced by c")       \
  X(INSERT_NTH, "insert-nth", "liv", 3, 3, 'l', "a with c put before item b")  \
  X(REMOVE_NTH, "remove-nth", "li", 2, 2, 'l', "a without item b")             \
  X(REVERSE, "reverse", "l", 1, 1, 'l', "last item first")                     \
  X(IOTA, "iota", "i", 1, 1, 'l', "0, 1, ..., a - 1")                          \
  X(RANGE, "range", "ii|i", 2, 3, 'l',                                         \
    "a, a + c, ... below b; c is 1 or given")                                  \
  X(FILL, "fill", "iv", 2, 2, 'l', "a times the item b")                       \
  X(ADD_LISTS, "add-lists", "l", 2, 2, 'l', "item by item, of equal length")   \
  X(SUB_LISTS, "sub-lists", "l", 2, 2, 'l', "item by item, of equal length")   \
  X(MUL_LISTS, "mul-lists", "l", 2, 2, 'l', "item by item, of equal length")   \
  X(DIV_LISTS, "div-lists", "l", 2, 2, 'l', "item by item, rounded down")      \
  X(MOD_LISTS, "mod-lists", "l", 2, 2, 'l', "item by item")                    \
  X(INDEX_OF, "index-of", "lv", 2, 2, 'i', "place of the first item b in a")   \
  X(MEMBER, "member", "lv", 2, 2, 'b', "b is an item of a")                    \
  X(ALL_EQUAL, "all-equal", "l|v", 1, 2, 'b',                                  \
    "all items are the same, or all equal to b")                               \
  X(ALL_ONES, "all-ones", "l", 1, 1, 'b', "all items are 1")                   \
  X(IS_PERMUTATION, "is-permutation", "l", 1, 1, 'b',                          \
    "the items are 0 to (len a) - 1 in some order")                            \
  X(COMPOSE, "compose", "l", 2, 2, 'l',                                        \
    "the permutation of transposing by a, then by b")                          \
  X(INVERT, "invert", "l", 1, 1, 'l', "the permutation that undoes a")         \
  X(PERMUTE, "permute", "l", 2, 2, 'l',                                        \
    "the items of a in the order b: item i is (nth a (nth b i))")              \
  X(HALVINGS, "halvings", "i|i", 1, 2, 'l',                                    \
    "(list a/2) when a is even and a/2 >= b (1), else empty")                  \
  X(CUTS, "cuts", "i", 2, 2, 'l',                                              \
    "(list m), m the multiple of b nearest a/2; empty when a <= b")            \
  X(AXES, "axes", "c", 1, 1, 'l', "0, 1, ... for each dimension of a term")    \
  X(ACCESS_SHAPE, "access-shape", "c", 1, 1, 'l', "S of ((S),(C))")            \
  X(COMPUTE_SHAPE, "compute-shape", "c", 1, 1, 'l', "C of ((S),(C))")          \
  X(SHAPE, "shape", "c", 1, 1, 'l', "all dimensions, S ++ C")                  \
  X(DIM, "dim", "ci", 2, 2, 'i', "size of dimension b")                        \
  X(DTYPE, "dtype", "c", 1, 1, 't', "the dtype of a term")                     \
  X(ACCESS_RANK, "access-rank", "c", 1, 1, 'i', "number of dimensions of S")   \
  X(COMPUTE_RANK, "compute-rank", "c", 1, 1, 'i', "number of dimensions of C") \
  X(ELEMENTS, "elements", "c", 1, 1, 'i', "number of elements of a term")      \
  X(ZEROS, "zeros", "c", 1, 1, 'l',                                            \
    "regions known to hold zeros: (axis lo hi) each")                          \
  X(IS_ZERO, "is-zero", "c|iii", 1, 4, 'b',                                    \
    "known to be 0; with b c d, where dimension b is in c .. d - 1")           \
  X(IS_CONST, "is-const", "c", 1, 1, 'b',                                      \
    "every element is known to have the same value")                           \
  X(CONSTANT, "constant", "c", 1, 1, 'v', "that value")                        \
  X(DTYPE_BYTES, "dtype-bytes", "t", 1, 1, 'i', "size of an element")          \
  X(SUM_DTYPE, "sum-dtype", "t", 1, 1, 't', "dtype of a sum or dot product")   \
  X(IS_INTEGER, "is-integer", "t", 1, 1, 'b', "an integer dtype")              \
  X(OP_KIND, "op-kind", "o", 1, 1, 's',                                        \
    "reduce, dot, fold, elementwise, cast, softmax, select, gather or lookup") \
  X(OP_NAME, "op-name", "o", 1, 1, 's', "the operator without parameters")     \
  X(OP_PARAM, "op-param", "oi", 2, 2, 'v', "parameter b of an operator")       \
  X(FOLD_OF, "fold-of", "o", 1, 1, 'o',                                        \
    "of a reduction or dotProd, the fold that joins partial results")          \
  X(REDUCE_OF, "reduce-of", "o", 1, 1, 'o', "of a fold, the reduction by it")  \
  X(IS_ASSOCIATIVE, "is-associative", "o", 1, 1, 'b',                          \
    "a fold or reduction whose items may be grouped and reordered")            \
  X(IS_MONOTONE, "is-monotone", "o", 1, 1, 'b',                                \
    "an elementwise operator that never decreases")                            \
  X(MAPS_ZERO, "maps-zero", "o", 1, 1, 'b',                                    \
    "zeros alone give zero, exactly and for every dtype")

typedef enum gs_function_id {
#define X(id, name, args, min, max, result, doc) GS_F_##id,
  GS_FUNCTIONS(X)
#undef X
      GS_FUNCTION_COUNT
} gs_function_id;

/* As gs_expr_is_call (expr.h), where the function is known here. */
static inline bool
gs_expr_calls(const gs_expr *e, gs_function_id f) {
  return e && e->kind == GS_X_CALL && e->function == f;
}

/* What evaluation passes around: numbers and booleans are not interned until
 * they end in a list or in a slot. */
typedef enum gs_datum_kind {
  GS_D_INT,
  GS_D_REAL,
  GS_D_BOOL,
  GS_D_VALUE, /* a symbol or a list */
  GS_D_CLASS
} gs_datum_kind;

typedef struct gs_datum {
  gs_datum_kind kind;
  union {
    int64_t i;
    double r;
    bool b;
    bs_value v;
    uint32_t c;
  };
} gs_datum;

gs_datum gs_datum_of(const bs_values *, bs_value);
/* The interned value; false for a class. */
bool gs_datum_value(bs_values *, const gs_datum *, bs_value *out);

/* Names of pad kinds and of kinds of operators. */
bool gs_is_kind_name(const char *name);
/* What `op-kind` says, by kind. */
enum { GS_COMPUTE_KINDS = GS_LOOKUP + 1 };
extern const char *const gs_kind_words[GS_COMPUTE_KINDS];
/* expr_words.c: false, with a diagnostic, where a word is compared with what
 * can never say it. */
bool gs_check_words(const gs_context *, int function,
                    const gs_expr *const *args, uint32_t n);
/* The letter of argument k. */
char gs_function_letter(const gs_function_info *, uint32_t k);
/* expr_sized.c: the same, where numbers of env->sizes are among the arguments,
 * or may be in the types of terms. */
bool gs_has_sized(const gs_env *, gs_function_id, const gs_datum *args,
                  uint32_t n);
bool gs_apply_sized(gs_function_id, const gs_env *, const gs_datum *args,
                    uint32_t n, gs_datum *out);
/* As the table has it, whatever the arguments are. */
bool gs_apply_plain(gs_function_id, const gs_env *, const gs_datum *args,
                    uint32_t n, gs_datum *out);
/* Applies an eager function (not AND, OR, IF); false when undefined. */
bool gs_apply(gs_function_id, const gs_env *, const gs_datum *args, uint32_t n,
              gs_datum *out);

#endif
