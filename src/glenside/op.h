/* op.h - the tables of the language: operators, compute operators, dtypes.
 *
 * Parser, printer, types, interpreter, lowering, docs and tests are driven by
 * these tables.
 *
 * A node's attribute is one interned list whose items stand in the order of
 * the `attrs` column.  One letter an item:
 *   d  a dimension index        n  a natural number
 *   L  a list of integers (`(shape ...)`, `(stride ...)`, `(list ...)`)
 *   k  a pad kind (zero min edge)
 *   o  a compute operator: `relu`, or `(clip 0 6)` as a list with parameters
 *   s  a name                   t  a dtype
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

/*     id          surface       kids attrs  first  is a view */
#define GS_OPS(X)                                                              \
  X(TENSOR, "tensor", 0, "sLt", 0, 0)                                          \
  X(CONST, "const", 0, "sLt", 0, 0)                                            \
  X(ACCESS, "access", 1, "n", 0, 1)                                            \
  X(TRANSPOSE, "transpose", 1, "L", 0, 1)                                      \
  X(CARTPROD, "cartProd", 2, "", 0, 1)                                         \
  X(PAIR, "pair", 2, "", 0, 1)                                                 \
  X(WINDOWS, "windows", 1, "LLL", 0, 1)                                        \
  X(SLICE, "slice", 1, "dnn", 0, 1)                                            \
  X(CONCAT, "concat", 2, "d", 0, 1)                                            \
  X(PAD, "pad", 1, "kdnn", 0, 1)                                               \
  X(SQUEEZE, "squeeze", 1, "d", 0, 1)                                          \
  X(INSERT_AXIS, "insertAxis", 1, "d", 0, 1)                                   \
  X(BROADCAST, "broadcast", 1, "L", 0, 1)                                      \
  X(FLATTEN, "flatten", 1, "", 0, 1)                                           \
  X(RESHAPE, "reshape", 1, "LL", 0, 1)                                         \
  X(REPEAT, "repeat", 1, "dn", 0, 1)                                           \
  X(COMPUTE, "compute", 1, "o", 1, 0)                                          \
  X(MATERIALIZE, "materialize", 1, "", 0, 0)                                   \
  X(CALL, "call", -1, "s*", 1, 0) /* kids: the instruction's operands */

typedef enum gs_op {
#define X(id, name, kids, attrs, first, view) GS_##id,
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
} gs_op_info;

extern const gs_op_info gs_op_table[GS_OP_COUNT];
bool gs_op_find(const char *name, gs_op *out);
/* How an operator is written, e.g. "(slice a d lo hi)". */
const char *gs_op_usage(gs_op);
/* The head of an `L` item on the surface: "shape", "stride", "dilation" or
 * "list"; NULL when the item is no list. */
const char *gs_list_head(gs_op, uint32_t item);

/* How a compute operator acts on ((S),(C)). */
typedef enum gs_compute_kind {
  GS_REDUCE,      /* ((S),()) */
  GS_DOT,         /* C = (t, c...): ((S),()) */
  GS_FOLD,        /* C = (t, c...): ((S),(c...)) */
  GS_ELEMENTWISE, /* unchanged */
  GS_CAST,        /* unchanged but for the dtype */
  GS_SOFTMAX,     /* over all of C */
  GS_SELECT,      /* C = (3, c...) */
  GS_GATHER       /* C = (2, c...): see docs/LANGUAGE.md */
} gs_compute_kind;

/*     id           surface       kind        parameters (r real, t dtype) */
#define GS_COMPUTES(X)                                                         \
  X(REDUCE_SUM, "reduceSum", REDUCE, "")                                       \
  X(REDUCE_MAX, "reduceMax", REDUCE, "")                                       \
  X(REDUCE_MIN, "reduceMin", REDUCE, "")                                       \
  X(REDUCE_MEAN, "reduceMean", REDUCE, "")                                     \
  X(REDUCE_PROD, "reduceProd", REDUCE, "")                                     \
  X(DOT_PROD, "dotProd", DOT, "")                                              \
  X(ADD, "add", FOLD, "")                                                      \
  X(SUB, "sub", FOLD, "")                                                      \
  X(MUL, "mul", FOLD, "")                                                      \
  X(DIV, "div", FOLD, "")                                                      \
  X(MAX, "max", FOLD, "")                                                      \
  X(MIN, "min", FOLD, "")                                                      \
  X(NEG, "neg", ELEMENTWISE, "")                                               \
  X(ABS, "abs", ELEMENTWISE, "")                                               \
  X(RELU, "relu", ELEMENTWISE, "")                                             \
  X(SQRT, "sqrt", ELEMENTWISE, "")                                             \
  X(RSQRT, "rsqrt", ELEMENTWISE, "")                                           \
  X(EXP, "exp", ELEMENTWISE, "")                                               \
  X(LOG, "log", ELEMENTWISE, "")                                               \
  X(TANH, "tanh", ELEMENTWISE, "")                                             \
  X(SIGMOID, "sigmoid", ELEMENTWISE, "")                                       \
  X(ERF, "erf", ELEMENTWISE, "")                                               \
  X(RECIP, "recip", ELEMENTWISE, "")                                           \
  X(FLOOR, "floor", ELEMENTWISE, "")                                           \
  X(SQUARE, "square", ELEMENTWISE, "")                                         \
  X(CLIP, "clip", ELEMENTWISE, "rr")                                           \
  X(SCALE, "scale", ELEMENTWISE, "r")                                          \
  X(OFFSET, "offset", ELEMENTWISE, "r")                                        \
  X(CAST, "cast", CAST, "t")                                                   \
  X(SOFTMAX, "softmax", SOFTMAX, "")                                           \
  X(SELECT, "select", SELECT, "")                                              \
  X(GATHER, "gather", GATHER, "")

typedef enum gs_compute {
#define X(id, name, kind, params) GS_C_##id,
  GS_COMPUTES(X)
#undef X
      GS_COMPUTE_COUNT
} gs_compute;

typedef struct gs_compute_info {
  const char *name;
  gs_compute_kind kind;
  const char *params;
} gs_compute_info;

extern const gs_compute_info gs_compute_table[GS_COMPUTE_COUNT];
bool gs_compute_find(const char *name, gs_compute *out);
/* The operator of an `o` attribute item: a symbol, or a list headed by one. */
bool gs_compute_of(const bs_values *, bs_value o, gs_compute *out);
/* Parameter k of an `o` item (BS_NIL when it has none). */
bs_value gs_compute_param(const bs_values *, bs_value o, uint32_t k);
/* False for what is defined on float dtypes only (sqrt, exp, softmax, ...). */
bool gs_compute_takes_integers(gs_compute);

/*     id    name   bytes  C type          is integer, is signed */
#define GS_DTYPES(X)                                                           \
  X(F32, "f32", 4, "float", 0, 1)                                              \
  X(F64, "f64", 8, "double", 0, 1)                                             \
  X(BF16, "bf16", 2, "uint16_t", 0, 1)                                         \
  X(I8, "i8", 1, "int8_t", 1, 1)                                               \
  X(U8, "u8", 1, "uint8_t", 1, 0)                                              \
  X(I32, "i32", 4, "int32_t", 1, 1)

typedef enum gs_dtype {
#define X(id, name, bytes, ctype, integer, sign) GS_##id,
  GS_DTYPES(X)
#undef X
      GS_DTYPE_COUNT
} gs_dtype;

typedef struct gs_dtype_info {
  const char *name;
  uint8_t bytes;
  const char *c_type;
  bool integer, is_signed;
} gs_dtype_info;

extern const gs_dtype_info gs_dtype_table[GS_DTYPE_COUNT];
bool gs_dtype_find(const char *name, gs_dtype *out);
/* The dtype of a sum or dot product: i8 u8 -> i32, bf16 -> f32, else itself */
gs_dtype gs_sum_dtype(gs_dtype);
/* The result dtype of a compute operator on `dtype` (a cast says its own). */
gs_dtype gs_compute_dtype(gs_compute, gs_dtype);

#endif
