/* SPDX-License-Identifier: MIT */
/* op.h - the tables of the language: operators, compute operators, dtypes.
 *
 * Parser, printer, types, interpreter, lowering, docs and tests are driven by
 * these tables.
 *
 * A node's attribute is one interned list whose items stand in the order of
 * the `attrs` column.  One letter an item:
 *   d  a dimension of the child
 *   g  a place between its dimensions, before the first or behind the last
 *   n  a natural number         f  a factor, at least 1
 *   L  a list of sizes          R  a list of one size a dimension
 *   C  a list of one number a compute dimension; one at the end may be left
 *      out, for ones
 *   P  a permutation of the dimensions
 *   k  a pad kind (zero min edge)
 *   o  a compute operator: `relu`, or `(clip 0 6)` as a list with parameters
 *   s  a name                   t  a dtype
 *   p  a step, which is a program: see scan.h
 *   *  any number of further integers
 * On the surface the children come first, then the attributes, except where
 * `first` is 1 (compute, call: attributes first).
 *
 * An operator without attributes has the empty list.  A real parameter of a
 * compute operator that is a whole number is held as an integer.
 *
 * windows always holds (kernel stride dilation); the printer leaves a dilation
 * of ones out.  concat is binary; more parts are sugar.  tensor and const hold
 * (name shape dtype), so that a node tells its own type. */
#ifndef GLENSIDE_OP_H
#define GLENSIDE_OP_H

#include "base/value.h"
#include <assert.h>

/* Views cost nothing at run time: their prices only break ties, so that the
 * shorter and plainer of two equal programs wins. */

/* What is true of an operator beside its type and its rows (view.h). */
enum {
  GS_PLAIN = 0,
  GS_GROWS = 1,     /* the result may have more elements than a child */
  GS_REREADS = 2,   /* and an element of a child may be several of it */
  GS_INTRICATE = 4, /* its pieces grow as they are composed */
  /* It has the dimensions of its child, in their order: only along the axis
   * that its letter d names are there others of its items, or in another
   * order. */
  GS_SAME_AXES = 8
};

/* A row an operator.  One that is a view has its type in infer_views.c and its
 * rows in view.c, without which it does not compile.
 *
 *   id, surface, children (-1: any number), attrs, first, is it a view, price,
 *   traits, how it is written */
#define GS_OPS(X)                                                              \
  X(TENSOR, "tensor", 0, "sLt", 0, 0, 0, GS_PLAIN,                             \
    "(tensor NAME (shape n...) DTYPE)")                                        \
  X(CONST, "const", 0, "sLt", 0, 0, 0, GS_PLAIN,                               \
    "(const NAME (shape n...) DTYPE v...)")                                    \
  X(ACCESS, "access", 1, "g", 0, 1, 1e-3, GS_PLAIN, "(access a k)")            \
  X(TRANSPOSE, "transpose", 1, "P", 0, 1, 1e-3, GS_PLAIN,                      \
    "(transpose a (list p...))")                                               \
  X(CARTPROD, "cartProd", 2, "", 0, 1, 1e-3, GS_GROWS | GS_REREADS,            \
    "(cartProd a b)")                                                          \
  X(PAIR, "pair", 2, "", 0, 1, 1e-3, GS_GROWS, "(pair a b)")                   \
  X(WINDOWS, "windows", 1, "CCC", 0, 1, 1e-3, GS_GROWS | GS_REREADS,           \
    "(windows a (shape k...) (stride s...)), with an optional "                \
    "(dilation d...)")                                                         \
  X(SLICE, "slice", 1, "dnn", 0, 1, 1e-3, GS_SAME_AXES, "(slice a d lo hi)")   \
  X(CONCAT, "concat", 2, "d", 0, 1, 2e-3, GS_GROWS | GS_INTRICATE,             \
    "(concat a b ... d)")                                                      \
  X(PAD, "pad", 1, "kdnn", 0, 1, 2e-3, GS_GROWS | GS_INTRICATE | GS_SAME_AXES, \
    "(pad a KIND d before after)")                                             \
  X(SQUEEZE, "squeeze", 1, "d", 0, 1, 1e-3, GS_PLAIN, "(squeeze a d)")         \
  X(INSERT_AXIS, "insertAxis", 1, "g", 0, 1, 1e-3, GS_GROWS,                   \
    "(insertAxis a d)")                                                        \
  X(BROADCAST, "broadcast", 1, "R", 0, 1, 1e-3, GS_GROWS | GS_REREADS,         \
    "(broadcast a (shape n...))")                                              \
  X(FLATTEN, "flatten", 1, "", 0, 1, 1.5e-3, GS_INTRICATE, "(flatten a)")      \
  X(RESHAPE, "reshape", 1, "LL", 0, 1, 2e-3, GS_INTRICATE,                     \
    "(reshape a (shape s...) (shape c...))")                                   \
  X(REPEAT, "repeat", 1, "df", 0, 1, 1.5e-3,                                   \
    GS_GROWS | GS_REREADS | GS_INTRICATE | GS_SAME_AXES, "(repeat a d f)")     \
  X(REVERSE, "reverse", 1, "d", 0, 1, 1e-3, GS_SAME_AXES, "(reverse a d)")     \
  X(COMPUTE, "compute", 1, "o", 1, 0, 0, GS_PLAIN, "(compute OP a)")           \
  X(MATERIALIZE, "materialize", 1, "", 0, 0, 0, GS_PLAIN, "(materialize a)")   \
  X(CALL, "call", -1, "s*", 1, 0, 0, GS_GROWS,                                 \
    "(call INSTR attribute... a...)")                                          \
  X(SCAN, "scan", -1, "p", 0, 0, 0, GS_GROWS,                                  \
    "(scan init x... w... (step STATE (each X...) (with W...) TERM))")

typedef enum gs_op {
#define X(id, ...) GS_##id,
  GS_OPS(X)
#undef X
      GS_OP_COUNT
} gs_op;

typedef struct gs_op_info {
  const char *name;
  int kids; /* -1: any number */
  const char *attrs;
  bool attrs_first;
  bool view;
  double price;
  uint32_t traits;
  const char *usage;
} gs_op_info;

extern const gs_op_info gs_op_table[GS_OP_COUNT];
bool gs_op_find(const char *name, gs_op *out);
static inline bool
gs_op_is(gs_op op, uint32_t trait) {
  assert(op < GS_OP_COUNT);
  return gs_op_table[op].traits & trait;
}
/* Which item of its attribute names an axis that is there (the letter d). */
uint32_t gs_op_axis(gs_op);
/* A letter of an item that is a list of integers; of a size or an amount, or a
 * list of such. */
bool gs_letter_is_list(char);
bool gs_letter_is_size(char);
/* How an operator is written, e.g. "(slice a d lo hi)". */
const char *gs_op_usage(gs_op);
/* The head of a list on the surface: "shape", "stride", "dilation" or "list";
 * NULL when the item is no list. */
const char *gs_list_head(gs_op, uint32_t item);

/* What stands beside the inner part of a `pad`. */
#define GS_PADDINGS(X)                                                         \
  X(ZERO, "zero")                                                              \
  X(MIN, "min")   /* the lowest value of the dtype */                          \
  X(EDGE, "edge") /* the element next to it */

typedef enum gs_padding {
#define X(id, name) GS_PADDING_##id,
  GS_PADDINGS(X)
#undef X
      GS_PADDING_COUNT
} gs_padding;

extern const char *const gs_padding_names[GS_PADDING_COUNT];
bool gs_padding_find(const char *name, gs_padding *out);
/* The kind of padding that a value of an attribute names. */
bool gs_padding_of(const bs_values *, bs_value kind, gs_padding *out);

/* How a compute operator acts on ((S),(C)). */
typedef enum gs_compute_kind {
  GS_REDUCE,      /* ((S),()) */
  GS_DOT,         /* C = (t, c...): ((S),()) */
  GS_FOLD,        /* C = (t, c...): ((S),(c...)) */
  GS_ELEMENTWISE, /* unchanged */
  GS_CAST,        /* unchanged but for the dtype */
  GS_SOFTMAX,     /* over all of C */
  GS_SELECT,      /* C = (3, c...) */
  GS_GATHER,      /* C = (2, c...): see docs/LANGUAGE.md */
  GS_LOOKUP       /* C = (n + m), n its parameter: ((S),(m)) */
} gs_compute_kind;

/* The columns of ops.def, which says what each is about. */
enum { GS_DTYPES_ALL, GS_DTYPES_FLOATS };
enum { GS_RESULT_SAME, GS_RESULT_WIDE };
enum { GS_GROUPS_WHOLE, GS_GROUPS_ASSOCIATIVE };
enum { GS_ORDER_UNORDERED, GS_ORDER_RISING };
enum { GS_JOINS_SMOOTH, GS_JOINS_JUMPS };
enum { GS_VANISHES_AT_ZERO, GS_VANISHES_ELSEWHERE };
enum { GS_MIRROR_ONE_SIDED, GS_MIRROR_MIRRORED };
#define GS_BY_ENDS 0.0

typedef enum gs_form {
  GS_FORM_NONE, /* not elementwise */
  GS_FORM_NEGATE,
  GS_FORM_ABS,
  GS_FORM_RELU,
  GS_FORM_FLOOR,
  GS_FORM_SQUARE,
  GS_FORM_CLIP,   /* max and min with its parameters */
  GS_FORM_SCALE,  /* times its parameter */
  GS_FORM_OFFSET, /* plus its parameter */
  GS_FORM_FUNCTION
} gs_form;

typedef enum gs_fold {
  GS_FOLD_NONE,
#define FOLD(id, infix, binds, start, whole) GS_FOLD_##id,
#define COMPUTE(...)
#include "glenside/type/ops.def"
  GS_FOLD_COUNT
} gs_fold;

/* The result where all operands are 0. */
typedef enum gs_of_zeros {
  GS_OF_ZEROS_OTHER,
  GS_OF_ZEROS_ZERO,
  GS_OF_ZEROS_ONE,
  GS_OF_ZEROS_BOUNDS /* 0 where the parameters enclose it */
} gs_of_zeros;

typedef enum gs_digits {
  GS_DIGITS_EXACT,  /* a value that was given, or a whole number */
  GS_DIGITS_STORED, /* rounded to the dtype, and not before */
  GS_DIGITS_RING,   /* sums and products: exact where the digits suffice */
  GS_DIGITS_ROUNDED
} gs_digits;

/* Whether the result may be a finite number where an operand is none. */
typedef enum gs_infinite { GS_INFINITE_LASTS, GS_INFINITE_HIDES } gs_infinite;

/* Where the result is a number. */
typedef enum gs_domain {
  GS_DOMAIN_REALS,
  GS_DOMAIN_NONNEGATIVE,
  GS_DOMAIN_POSITIVE,
  GS_DOMAIN_NONZERO
} gs_domain;

typedef enum gs_sign {
  GS_SIGN_ANY,
  GS_SIGN_KEEPS_NONNEGATIVE, /* if the operand is */
  GS_SIGN_KEEPS_POSITIVE,    /* and nonnegative, if the operand is */
  GS_SIGN_POSITIVE_ALONE,    /* if the operand is: of -0 it is below 0 */
  GS_SIGN_NONNEGATIVE,
  GS_SIGN_POSITIVE
} gs_sign;

/* Operands at which an operator changes its mind. */
typedef enum gs_bend {
  GS_BEND_ZERO,
  GS_BEND_HALF,
  GS_BEND_ENDS,   /* 0, and those of what the dtype holds */
  GS_BEND_ROOT,   /* where the square leaves the dtype */
  GS_BEND_BOUNDS, /* the parameters */
  GS_BEND_SHIFT,  /* the parameter, its negative, and the dtype's ends */
  GS_BEND_FACTOR, /* the parameter, and the dtype's ends divided by it */
  GS_BEND_CAST
} gs_bend;

typedef enum gs_rate { GS_RATE_FUSED, GS_RATE_VECTOR, GS_RATE_SCALAR } gs_rate;
typedef enum gs_lanes {
  GS_LANES_CALLS,
  GS_LANES_INLINE,
  GS_LANES_BY_DTYPE
} gs_lanes;

typedef enum gs_compute {
#define FOLD(...)
#define COMPUTE(id, ...) GS_C_##id,
#include "glenside/type/ops.def"
  GS_COMPUTE_COUNT
} gs_compute;

typedef struct gs_compute_info {
  const char *name;
  gs_compute_kind kind;
  const char *params;
  bool floats_only, widens;
  gs_form form;
  gs_fold fold;
  bool is_associative;
  gs_of_zeros of_zeros;
  bool rises;
  gs_digits digits;
  bool jumps;
  gs_domain domain;
  gs_infinite infinite;
  bool vanishes_elsewhere;
  gs_sign sign;
  gs_bend bends;
  double (*inverse)(double v, double p);
  bool mirrored;
  double steepness;
  double work;
  gs_rate rate;
  gs_lanes lanes;
  const char *c;
} gs_compute_info;

extern const gs_compute_info gs_compute_table[GS_COMPUTE_COUNT];

/* A binary operator that is applied again and again. */
typedef struct gs_fold_info {
  const char *infix; /* NULL: it has no sign */
  int binds;         /* 1: as sums do; 2: as products do */
  double start;      /* where a fold starts: as second operand, no change */
  int64_t (*whole)(int64_t a, int64_t b); /* its low bits are those of any
                                           * width; a quotient by 0 is 0 */
} gs_fold_info;

extern const gs_fold_info gs_fold_table[GS_FOLD_COUNT];
/* The operator of tuples that folds like that: GS_FOLD_ADD: GS_C_ADD. */
gs_compute gs_fold_operator(gs_fold);
/* On reals; the larger, or smaller, of a NaN and a number is the NaN. */
double gs_fold_real(gs_fold, double a, double b);

bool gs_compute_find(const char *name, gs_compute *out);
/* The operator of an `o` attribute item: a symbol, or a list headed by one. */
bool gs_compute_of(const bs_values *, bs_value o, gs_compute *out);
/* Parameter k of an `o` item (BS_NIL when it has none). */
bs_value gs_compute_param(const bs_values *, bs_value o, uint32_t k);
/* The size of the table of a `lookup`. */
int64_t gs_lookup_table(const bs_values *, bs_value o);
/* False for what is defined on float dtypes only (sqrt, exp, softmax, ...). */
bool gs_compute_takes_integers(gs_compute);
/* Whether operands that are all 0 give 0, for an `o` item of that operator. */
bool gs_compute_keeps_zero(const bs_values *, bs_value o, gs_compute);

/* A row a dtype.  The last columns:
 *
 *   digits    binary digits: whole numbers of so many are exact
 *   exponent  finite floats are below 2 to it; 0 of integers
 *   storage   HALF: kept as its bits, computed in f32 and rounded once, by
 *             helpers of generated C that codegen/build/operator.c names; else
 *             FULL
 *   sum       the dtype of its sums
 *   npy       how a .npy file names it, without the order of its bytes
 *   numpy     and numpy, or NULL where that has no such dtype
 *   holds     what is in an element, for who writes C with it
 *
 *     id, name, bytes, C type, is integer, is signed, digits, exponent,
 *     storage, sum, npy, numpy, holds */
#define GS_DTYPES(X)                                                           \
  X(F32, "f32", 4, "float", 0, 1, 24, 128, FULL, F32, "f4", "float32", "")     \
  X(F64, "f64", 8, "double", 0, 1, 53, 1024, FULL, F64, "f8", "float64", "")   \
  X(BF16, "bf16", 2, "uint16_t", 0, 1, 8, 128, HALF, F32, "V2", NULL,          \
    "the upper half of a float")                                               \
  X(I8, "i8", 1, "int8_t", 1, 1, 7, 0, FULL, I32, "i1", "int8", "")            \
  X(U8, "u8", 1, "uint8_t", 1, 0, 8, 0, FULL, I32, "u1", "uint8", "")          \
  X(I32, "i32", 4, "int32_t", 1, 1, 31, 0, FULL, I32, "i4", "int32", "")       \
  X(F16, "f16", 2, "uint16_t", 0, 1, 11, 16, HALF, F32, "f2", "float16",       \
    "the bits of an IEEE 754 half")                                            \
  X(I16, "i16", 2, "int16_t", 1, 1, 15, 0, FULL, I32, "i2", "int16", "")       \
  X(U16, "u16", 2, "uint16_t", 1, 0, 16, 0, FULL, I32, "u2", "uint16", "")     \
  X(BOOL, "bool", 1, "uint8_t", 1, 0, 1, 0, FULL, BOOL, "b1", "bool",          \
    "each 0 or 1")                                                             \
  X(I64, "i64", 8, "int64_t", 1, 1, 53, 0, FULL, I64, "i8", "int64", "")       \
  X(U32, "u32", 4, "uint32_t", 1, 0, 32, 0, FULL, U32, "u4", "uint32", "")

typedef enum gs_dtype {
#define X(id, ...) GS_##id,
  GS_DTYPES(X)
#undef X
      GS_DTYPE_COUNT
} gs_dtype;

typedef struct gs_dtype_info {
  const char *name;
  uint8_t bytes;
  const char *c_type;
  bool integer, is_signed;
  uint8_t digits;
  uint16_t exponent;
  bool half;
  gs_dtype sum;
  const char *npy, *numpy, *holds;
} gs_dtype_info;

extern const gs_dtype_info gs_dtype_table[GS_DTYPE_COUNT];
bool gs_dtype_find(const char *name, gs_dtype *out);
/* Floats of 16 bits: kept as their bits, computed in f32, rounded once. */
static inline bool
gs_is_half(gs_dtype d) {
  return gs_dtype_table[d].half;
}
/* Floats with fewer exponents than f32: what is small is 0 there, or loses
 * digits. */
static inline bool
gs_has_few_exponents(gs_dtype d) {
  return !gs_dtype_table[d].integer &&
         gs_dtype_table[d].exponent < gs_dtype_table[GS_F32].exponent;
}
/* Binary digits of a float: whole numbers of so many are exact. */
int gs_float_digits(gs_dtype);
static inline bool
gs_is_unsigned(gs_dtype d) {
  return gs_dtype_table[d].integer && !gs_dtype_table[d].is_signed;
}
/* Integers that are kept, moved, chosen, ordered and cast, and not computed
 * with: those of i64 are the ones that an f64 holds one by one. */
static inline bool
gs_is_wide(gs_dtype d) {
  return d == GS_I64 || d == GS_U32;
}
/* Integers that C computes in a wider type. */
static inline bool
gs_is_narrow(gs_dtype d) {
  return gs_dtype_table[d].integer && gs_dtype_table[d].bytes < 4;
}
/* The bounds of an integer dtype; a bool is 0 or 1, an i64 within 2^53. */
int64_t gs_dtype_least(gs_dtype);
int64_t gs_dtype_most(gs_dtype);
/* A finite number rounds to a finite value of the dtype. */
bool gs_stays_finite(gs_dtype, double);
/* Digits with which messages show values of the dtype. */
static inline int
gs_digits_shown(gs_dtype d) {
  return d == GS_I64 ? 16 : 10;
}
/* Whether every value of `from` is one of `to`. */
bool gs_dtype_holds(gs_dtype to, gs_dtype from);
/* It computes no number: it chooses, moves, orders or casts, which is all that
 * there is for truth values and wide integers. */
bool gs_compute_takes_any(gs_compute);
/* Whether the operator is defined on operands of that dtype. */
bool gs_compute_takes(gs_compute, gs_dtype);
/* The dtype of a sum or dot product: i8 u8 i16 u16 -> i32, bf16 f16 -> f32,
 * else itself */
gs_dtype gs_sum_dtype(gs_dtype);
/* The result dtype of a compute operator on `dtype` (a cast says its own). */
gs_dtype gs_compute_dtype(gs_compute, gs_dtype);

#endif
