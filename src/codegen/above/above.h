/* SPDX-License-Identifier: MIT */
/* above.h - what stands above the functions of a file: includes, macros, small
 * functions.
 *
 * Each is a helper: a row of one table with the name by which code uses it, its
 * text, and the helpers that this text needs.  Which of them a file has follows
 * from the names in the trees of its functions.
 *
 *   above_table.c  the table; sets of helpers, and their texts in order
 *   above_walk.c  the helpers that a tree names
 *   needs.c    sets of them;  above_memory.c, functions of what lies in memory
 *   macros.c   macros;  parts.c, those for the first lanes of a vector */
#ifndef CODEGEN_ABOVE_ABOVE_H
#define CODEGEN_ABOVE_ABOVE_H

#include "base/text.h"
#include "codegen/tree/tree.h"
#include "glenside/target/target.h"

/* X(id, name), in the order in which they stand in a file.  Without a name: one
 * that others need, or that is asked for. */
#define CG_HELPERS(X)                                                          \
  /* Includes. */                                                              \
  X(MATH, NULL)                                                                \
  X(STRING, NULL)                                                              \
  X(TEAM, "GLEN_THREAD")                                                       \
  X(MACS, NULL)                                                                \
  /* Macros. */                                                                \
  X(UNROLL, "GLEN_UNROLL")                                                     \
  X(QUIET, NULL)                                                               \
  X(ALIGNED, "GLEN_ALIGNED")                                                   \
  X(NOINLINE, "GLEN_NOINLINE")                                                 \
  X(UNROLLED, "GLEN_UNROLLED")                                                 \
  X(EXTREMES, NULL)                                                            \
  X(LARGER, "GLEN_LARGER")                                                     \
  X(SMALLER, "GLEN_SMALLER")                                                   \
  X(LARGER8, "GLEN_LARGER8")                                                   \
  X(SMALLER8, "GLEN_SMALLER8")                                                 \
  X(CONTRACT, "GLEN_CONTRACT")                                                 \
  X(PACK, "GLEN_PACK")                                                         \
  X(HOLD, "GLEN_HOLD")                                                         \
  X(HIDE, "GLEN_HIDE")                                                         \
  X(AHEAD, "GLEN_AHEAD")                                                       \
  X(PARTS_F32_16, NULL)                                                        \
  X(PARTS_F64_8, NULL)                                                         \
  X(PARTS_I32_16, NULL)                                                        \
  X(PARTS_F32_8, NULL)                                                         \
  X(PARTS_F64_4, NULL)                                                         \
  X(PARTS_I32_8, NULL)                                                         \
  X(SOME_F32_16, NULL)                                                         \
  X(SOME_F64_8, NULL)                                                          \
  X(SOME_I32_16, NULL)                                                         \
  X(SOME_F32_8, NULL)                                                          \
  X(SOME_F64_4, NULL)                                                          \
  X(SOME_I32_8, NULL)                                                          \
  /* Functions of memory. */                                                   \
  X(STREAM, "glen_stream")                                                     \
  X(FENCE, "glen_fence")                                                       \
  X(PREFETCH, "glen_prefetch")                                                 \
  X(PREFETCH_ROW, "glen_prefetch_row")                                         \
  X(PREFETCH_WRITE, "glen_prefetch_write")                                     \
  /* Macros of lanes. */                                                       \
  X(TURNS, "GLEN_TURNS")                                                       \
  X(TURN_2, NULL)                                                              \
  X(TURN_4, NULL)                                                              \
  X(TURN_8, NULL)                                                              \
  X(TURN_16, NULL)                                                             \
  X(PICK, "GLEN_PICK")                                                         \
  /* Functions of values. */                                                   \
  X(MIN_INDEX, "glen_min")                                                     \
  X(MAX_INDEX, "glen_max")                                                     \
  X(FLOOR_DIV, "glen_floor_div")                                               \
  X(BF16_TO_F32, "glen_bf16_to_f32")                                           \
  X(F32_TO_BF16, "glen_f32_to_bf16")                                           \
  X(F64_TO_BF16, "glen_f64_to_bf16")                                           \
  X(F16_TO_F32, "glen_f16_to_f32")                                             \
  X(F32_TO_F16, "glen_f32_to_f16")                                             \
  X(F64_TO_F16, "glen_f64_to_f16")                                             \
  X(ADD_I32, "glen_add_i32")                                                   \
  X(SUB_I32, "glen_sub_i32")                                                   \
  X(MUL_I32, "glen_mul_i32")                                                   \
  X(DIV_I32, "glen_div_i32")                                                   \
  X(MAX_I32, "glen_max_i32")                                                   \
  X(MIN_I32, "glen_min_i32")                                                   \
  X(MAX_I64, "glen_max_i64")                                                   \
  X(MIN_I64, "glen_min_i64")                                                   \
  X(MAX_F32, "glen_max_f32")                                                   \
  X(MIN_F32, "glen_min_f32")                                                   \
  X(MAX_F64, "glen_max_f64")                                                   \
  X(MIN_F64, "glen_min_f64")                                                   \
  X(PICK_F32, "glen_pick_f32")                                                 \
  X(SELECT_I32, "glen_select_i32")                                             \
  X(SELECT_I64, "glen_select_i64")                                             \
  X(SELECT_F32, "glen_select_f32")                                             \
  X(SELECT_F64, "glen_select_f64")                                             \
  X(SQUARE_F32, "glen_square_f32")                                             \
  X(SQUARE_F64, "glen_square_f64")                                             \
  X(SQUARE_I32, "glen_square_i32")                                             \
  X(ABS_I32, "glen_abs_i32")                                                   \
  X(F64_TO_I32, "glen_f64_to_i32")                                             \
  X(F64_TO_I64, "glen_f64_to_i64")                                             \
  X(F64_TO_U32, "glen_f64_to_u32")                                             \
  X(F64_TO_I8, "glen_f64_to_i8")                                               \
  X(F64_TO_U8, "glen_f64_to_u8")                                               \
  X(F64_TO_I16, "glen_f64_to_i16")                                             \
  X(F64_TO_U16, "glen_f64_to_u16")                                             \
  X(EXP_F32, "glen_exp_f32")                                                   \
  X(ERF_F32, "glen_erf_f32")                                                   \
  X(TANH_F32, "glen_tanh_f32")                                                 \
  X(REACH, "glen_reach")                                                       \
  X(CLAMP_INDEX, "glen_clamp_index")                                           \
  X(CLAMP_REAL, "glen_clamp_real")

typedef enum cg_helper {
  CG_NO_HELPER,
#define X(id, name) CG_##id,
  CG_HELPERS(X)
#undef X
      CG_HELPER_COUNT
} cg_helper;

/* The names; NULL where there is none. */
extern const char *const cg_helper_names[CG_HELPER_COUNT];

/* A set of helpers, and of the instructions of the target, a bit each, whose
 * headers are included. */
typedef struct cg_needs {
  uint64_t helpers[2];
  uint64_t macs;
} cg_needs;

/* Adds the helper and those that it needs. */
void cg_need(cg_needs *, cg_helper);
void cg_need_all(cg_needs *, const cg_needs *);
bool cg_needs_helper(const cg_needs *, cg_helper);

/* above_walk.c: adds what a list of nodes names; a function, with its head; one
 * name. */
void cg_need_for_nodes(cg_needs *, const cg_node *chain);
void cg_need_for_function(cg_needs *, const cg_function *);
void cg_need_for_name(cg_needs *, const char *name);
/* The helper that has the name; CG_NO_HELPER: none has. */
cg_helper cg_helper_named(const char *name);

/* A file that helpers are written for. */
typedef struct cg_above {
  const cg_needs *needs;
  const gs_target *target;
  const char *index;   /* the C type of indices */
  const char *storage; /* of functions: static inline */
  bool strict;         /* NaNs propagate */
} cg_above;

/* The texts of those of the helpers from `first` to `last` that are needed. */
void cg_put_helpers(const cg_above *, cg_helper first, cg_helper last,
                    bs_text *out);
#define CG_LAST_INCLUDE    CG_MACS
#define CG_FIRST_MACRO     CG_QUIET
#define CG_FIRST_OF_VALUES CG_MIN_INDEX
#define CG_LAST_OF_ALL     CG_CLAMP_REAL

/* macros.c: GLEN_HOLD and the macros of parts once more, for functions that are
 * compiled for another instruction set. */
void cg_put_vectors_again(const cg_above *, bs_text *out);
/* parts.c: the macros for vectors of so many lanes, where the C compiler may
 * use masks for them; CG_NO_HELPER: there are none.  The end of their names:
 * float_16. */
cg_helper cg_parts_of(gs_dtype, uint32_t lanes);
const char *cg_name_of_parts(bs_arena *, cg_helper);

#endif
