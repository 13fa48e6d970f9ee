/* SPDX-License-Identifier: MIT */
/* mac.h - multiply-accumulate instructions that a target declares.
 *
 *   (mac vpmaddwd "what it does"
 *     (shape 1 8 2)              ; m n k of one instruction
 *     (x i16) (y i16)            ; what registers hold of the operands
 *     (sum i32)
 *     (accumulators 12)
 *     (cycles 0.6)
 *     (when "defined(__AVX2__)") (headers "immintrin.h")
 *     (zero "..") (load "..")
 *     (load-x "..") (load-y "..") (accumulate "..") (store ".."))
 *
 * Its meaning is fixed by these: an accumulator is m x n sums, and one
 * instruction adds to each of them
 *
 *   sum[i, j] += x[i, 0] * y[j, 0] + .. + x[i, k - 1] * y[j, k - 1]
 *
 * exactly where sums are integers, which wrap, and in any order where they are
 * floats.  A fragment of x is m x k elements that lie side by side, a fragment
 * of y n x k; `interleave q` says that they lie q by q of k: k / q blocks, each
 * of all rows with q elements.  docs/TARGETS.md is the reference. */
#ifndef GLENSIDE_MAC_H
#define GLENSIDE_MAC_H

#include "glenside/type/op.h"
#include "base/diag.h"

/* What an operand's registers hold: the name, the type in C, its bytes. */
#define GS_LANES(X)                                                            \
  X(I8, "i8", "int8_t", 1)                                                     \
  X(U8, "u8", "uint8_t", 1)                                                    \
  X(I16, "i16", "int16_t", 2)                                                  \
  X(I32, "i32", "int32_t", 4)                                                  \
  X(BF16, "bf16", "uint16_t", 2)                                               \
  X(F32, "f32", "float", 4)                                                    \
  X(F64, "f64", "double", 8)

typedef enum gs_lane {
#define X(id, name, ctype, bytes) GS_LANE_##id,
  GS_LANES(X)
#undef X
      GS_LANE_COUNT
} gs_lane;

typedef struct gs_lane_info {
  const char *name, *c_type;
  uint8_t bytes;
} gs_lane_info;

extern const gs_lane_info gs_lane_table[GS_LANE_COUNT];

typedef struct gs_mac_operand {
  gs_lane lane;
  int64_t interleave; /* divides k */
  int64_t held;       /* fragments that registers hold at a time */
} gs_mac_operand;

typedef enum gs_mac_part {
  GS_MAC_ENTER, /* before the first panel of a tile, by the thread it is of */
  GS_MAC_BEGIN, /* of the function, before all others */
  GS_MAC_ZERO,  /* declares an accumulator, all zero */
  GS_MAC_LOAD,  /* declares one that begins with sums in memory */
  GS_MAC_LOAD_X,
  GS_MAC_LOAD_Y,
  GS_MAC_ACCUMULATE,
  GS_MAC_STORE,
  GS_MAC_END,
  GS_MAC_LEAVE, /* behind the last panel of a tile */
  GS_MAC_PARTS
} gs_mac_part;

typedef struct gs_mac {
  const char *name, *intent;
  bs_span span;
  int64_t m, n, k;
  gs_mac_operand x, y;
  gs_dtype sum; /* i32, f32 or f64 */
  int64_t accumulators;
  double cycles;
  const char *when;       /* condition of the C preprocessor, or NULL */
  const char *needs;      /* features of a processor, or NULL */
  const char *processor;  /* the condition for its headers; NULL: that */
  const char *headers;    /* included, a space between; or NULL */
  const char *attributes; /* of a function that uses it, or NULL */
  const char *text[GS_MAC_PARTS]; /* C; NULL: nothing */
} gs_mac;

#define GS_MAX_MACS     64   /* of a target */
#define GS_MAX_MAC_SIDE 4096 /* m, n and k of one instruction at most */

/* The instruction multiplies elements of these dtypes; the offsets of x and
 * y. */
bool gs_mac_takes(const gs_mac *, gs_dtype x, gs_dtype y, gs_dtype sum,
                  int64_t offset[2]);

/* A template piece by piece, as gs_emit_next does it: {x} {y} {sum} are the
 * names of a fragment and of the accumulator, {x.number} .. their numbers,
 * {from} {to} pointers to a fragment and to the sums, {stride} the distance of
 * rows of sums or of a fragment of x, {m} {n} {k} the shape. */
typedef enum gs_mac_name {
  GS_MAC_TEXT, /* as it is */
  GS_MAC_X,
  GS_MAC_X_NUMBER,
  GS_MAC_Y,
  GS_MAC_Y_NUMBER,
  GS_MAC_SUM,
  GS_MAC_SUM_NUMBER,
  GS_MAC_FROM,
  GS_MAC_TO,
  GS_MAC_STRIDE,
  GS_MAC_M,
  GS_MAC_N,
  GS_MAC_K,
  GS_MAC_NAMES
} gs_mac_name;

typedef struct gs_mac_piece {
  gs_mac_name name;
  const char *text;
  size_t len;
} gs_mac_piece;

bool gs_mac_next(const char **at, gs_mac_piece *out);
/* The name may stand in that part. */
bool gs_mac_may_name(gs_mac_part, gs_mac_name);
/* Its rows of x may lie as far apart as memory has them: there is one, or what
 * loads them names their distance. */
bool gs_mac_takes_rows(const gs_mac *);
/* "zero", "load-x", ... */
extern const char *const gs_mac_part_names[GS_MAC_PARTS];

#endif
