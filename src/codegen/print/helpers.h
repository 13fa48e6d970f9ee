/* SPDX-License-Identifier: MIT */
/* helpers.h - the small functions that generated code may need.
 *
 * Only those used are emitted, as static inline functions. */
#ifndef CODEGEN_HELPERS_H
#define CODEGEN_HELPERS_H

#include "base/text.h"

/*     id            name                    needs */
#define CG_HELPERS(X)                                                          \
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
  X(MAX_F32, "glen_max_f32")                                                   \
  X(MIN_F32, "glen_min_f32")                                                   \
  X(MAX_F64, "glen_max_f64")                                                   \
  X(MIN_F64, "glen_min_f64")                                                   \
  X(SELECT_I32, "glen_select_i32")                                             \
  X(SELECT_F32, "glen_select_f32")                                             \
  X(SELECT_F64, "glen_select_f64")                                             \
  X(SQUARE_F32, "glen_square_f32")                                             \
  X(SQUARE_F64, "glen_square_f64")                                             \
  X(SQUARE_I32, "glen_square_i32")                                             \
  X(ABS_I32, "glen_abs_i32")                                                   \
  X(F64_TO_I32, "glen_f64_to_i32")                                             \
  X(F64_TO_I8, "glen_f64_to_i8")                                               \
  X(F64_TO_U8, "glen_f64_to_u8")                                               \
  X(F64_TO_I16, "glen_f64_to_i16")                                             \
  X(F64_TO_U16, "glen_f64_to_u16")                                             \
  X(PICK_F32, "glen_pick_f32")                                                 \
  X(EXP_F32, "glen_exp_f32")                                                   \
  X(ERF_F32, "glen_erf_f32")                                                   \
  X(TANH_F32, "glen_tanh_f32")                                                 \
  X(CLAMP_INDEX, "glen_clamp_index")                                           \
  X(CLAMP_REAL, "glen_clamp_real")

typedef enum cg_helper {
#define X(id, name) CG_##id,
  CG_HELPERS(X)
#undef X
      CG_HELPER_COUNT
} cg_helper;

extern const char *const cg_helper_names[CG_HELPER_COUNT];
/* The definitions of the helpers in `used` (a bit each) and of those they
 * need; index: the C type of indices; strict: NaNs propagate. */
void cg_put_helpers(bs_text *, uint64_t used, const char *index, bool strict);

#endif
