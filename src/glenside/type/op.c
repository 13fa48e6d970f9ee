/* SPDX-License-Identifier: MIT */
/* op.c - the tables of op.h, and look-up by name.
 *
 * The tables are small and looked up once a parsed or inferred node, so a
 * linear search is fast enough and keeps the order of op.h. */
#include "glenside/type/op.h"
#include <assert.h>
#include <math.h>
#include <string.h>

const gs_op_info gs_op_table[GS_OP_COUNT] = {
#define X(id, ...) {__VA_ARGS__},
    GS_OPS(X)
#undef X
};

/* ---- what the columns of ops.def compute ---- */

#define FOLD(id, infix, binds, start, whole)                                   \
  static int64_t whole_##id(int64_t a, int64_t b) {                            \
    return (int64_t)(whole);                                                   \
  }
#define COMPUTE(id, name, kind, params, dtypes, result, form, fold, groups,    \
                zero, order, digits, joins, domain, infinite, vanishes, sign,  \
                bends, inverse, ...)                                           \
  static double inverse_##id(double v, double p) {                             \
    (void)v, (void)p;                                                          \
    return inverse;                                                            \
  }
#include "glenside/type/ops.def"

const gs_compute_info gs_compute_table[GS_COMPUTE_COUNT] = {
#define FOLD(...)
#define COMPUTE(id, name, kind, params, dtypes, result, form, fold, groups,    \
                zero, order, digits, joins, domain, infinite, vanishes, sign,  \
                bends, inverse, mirror, steepness, work, rate, lanes, c)       \
  {name,                                                                       \
   GS_##kind,                                                                  \
   params,                                                                     \
   GS_DTYPES_##dtypes,                                                         \
   GS_RESULT_##result,                                                         \
   GS_FORM_##form,                                                             \
   GS_FOLD_##fold,                                                             \
   GS_GROUPS_##groups,                                                         \
   GS_OF_ZEROS_##zero,                                                         \
   GS_ORDER_##order,                                                           \
   GS_DIGITS_##digits,                                                         \
   GS_JOINS_##joins,                                                           \
   GS_DOMAIN_##domain,                                                         \
   GS_INFINITE_##infinite,                                                     \
   GS_VANISHES_##vanishes,                                                     \
   GS_SIGN_##sign,                                                             \
   GS_BEND_##bends,                                                            \
   inverse_##id,                                                               \
   GS_MIRROR_##mirror,                                                         \
   steepness,                                                                  \
   work,                                                                       \
   GS_RATE_##rate,                                                             \
   GS_LANES_##lanes,                                                           \
   c},
#include "glenside/type/ops.def"
};

const gs_fold_info gs_fold_table[GS_FOLD_COUNT] = {
#define FOLD(id, infix, binds, start, whole)                                   \
  [GS_FOLD_##id] = {infix, binds, start, whole_##id},
#define COMPUTE(...)
#include "glenside/type/ops.def"
};

const gs_dtype_info gs_dtype_table[GS_DTYPE_COUNT] = {
#define FULL false
#define HALF true
#define X(id, name, bytes, ctype, integer, sign, digits, exponent, half, sum,  \
          npy, numpy, holds)                                                   \
  {name,     bytes, ctype,    integer, sign,  digits,                          \
   exponent, half,  GS_##sum, npy,     numpy, holds},
    GS_DTYPES(X)
#undef X
#undef HALF
#undef FULL
};

const char *const gs_padding_names[GS_PADDING_COUNT] = {
#define X(id, name) name,
    GS_PADDINGS(X)
#undef X
};

static const char *const list_heads[GS_OP_COUNT][3] = {
    [GS_TENSOR] = {NULL, "shape"},
    [GS_CONST] = {NULL, "shape"},
    [GS_TRANSPOSE] = {"list"},
    [GS_WINDOWS] = {"shape", "stride", "dilation"},
    [GS_BROADCAST] = {"shape"},
    [GS_RESHAPE] = {"shape", "shape"},
};

/* Most names differ in the first character already. */
static bool
is_name(const char *a, const char *b) {
  return *a == *b && !strcmp(a, b);
}

uint32_t
gs_op_axis(gs_op op) {
  assert(op < GS_OP_COUNT);
  const char *letters = gs_op_table[op].attrs, *at = strchr(letters, 'd');
  assert(at);
  return (uint32_t)(at - letters);
}

bool
gs_op_find(const char *name, gs_op *out) {
  for (int k = 0; k < GS_OP_COUNT; k++)
    if (is_name(gs_op_table[k].name, name)) {
      *out = (gs_op)k;
      return true;
    }
  return false;
}

bool
gs_padding_find(const char *name, gs_padding *out) {
  for (int k = 0; k < GS_PADDING_COUNT; k++)
    if (is_name(gs_padding_names[k], name)) {
      *out = (gs_padding)k;
      return true;
    }
  return false;
}

bool
gs_padding_of(const bs_values *values, bs_value kind, gs_padding *out) {
  return bs_kind_of(values, kind) == BS_KIND_SYM &&
         gs_padding_find(bs_as_sym(values, kind), out);
}

const char *
gs_op_usage(gs_op op) {
  assert(op < GS_OP_COUNT);
  return gs_op_table[op].usage;
}

bool
gs_letter_is_list(char letter) {
  return letter == 'L' || letter == 'R' || letter == 'C' || letter == 'P';
}

bool
gs_letter_is_size(char letter) {
  return letter == 'n' || letter == 'f' ||
         (gs_letter_is_list(letter) && letter != 'P');
}

const char *
gs_list_head(gs_op op, uint32_t item) {
  assert(op < GS_OP_COUNT);
  return item < 3 ? list_heads[op][item] : NULL;
}

bool
gs_compute_find(const char *name, gs_compute *out) {
  for (int k = 0; k < GS_COMPUTE_COUNT; k++)
    if (is_name(gs_compute_table[k].name, name)) {
      *out = (gs_compute)k;
      return true;
    }
  return false;
}

bool
gs_compute_of(const bs_values *values, bs_value o, gs_compute *out) {
  if (bs_kind_of(values, o) == BS_KIND_LIST && bs_len(values, o) > 0)
    o = bs_item(values, o, 0);
  return bs_kind_of(values, o) == BS_KIND_SYM &&
         gs_compute_find(bs_as_sym(values, o), out);
}

bs_value
gs_compute_param(const bs_values *values, bs_value o, uint32_t k) {
  if (bs_kind_of(values, o) != BS_KIND_LIST || k + 1 >= bs_len(values, o))
    return BS_NIL;
  return bs_item(values, o, k + 1);
}

int64_t
gs_lookup_table(const bs_values *values, bs_value o) {
  bs_value v = gs_compute_param(values, o, 0);
  return bs_kind_of(values, v) == BS_KIND_INT ? bs_as_int(values, v) : 0;
}

bool
gs_compute_takes_integers(gs_compute op) {
  assert(op < GS_COMPUTE_COUNT);
  return !gs_compute_table[op].floats_only;
}

bool
gs_compute_keeps_zero(const bs_values *values, bs_value o, gs_compute op) {
  assert(op < GS_COMPUTE_COUNT);
  switch (gs_compute_table[op].of_zeros) {
  case GS_OF_ZEROS_ZERO:
    return true;
  case GS_OF_ZEROS_BOUNDS: {
    bs_value lo = gs_compute_param(values, o, 0);
    bs_value hi = gs_compute_param(values, o, 1);
    return lo.i && hi.i && bs_as_real(values, lo) <= 0 &&
           bs_as_real(values, hi) >= 0;
  }
  case GS_OF_ZEROS_ONE:
  case GS_OF_ZEROS_OTHER:
    return false;
  }
  return false;
}

gs_compute
gs_fold_operator(gs_fold fold) {
  switch (fold) {
#define FOLD(id, infix, binds, start, whole)                                   \
  case GS_FOLD_##id:                                                           \
    return GS_C_##id;
#define COMPUTE(...)
#include "glenside/type/ops.def"
  case GS_FOLD_NONE:
  case GS_FOLD_COUNT:
    break;
  }
  return GS_COMPUTE_COUNT;
}

bool
gs_dtype_find(const char *name, gs_dtype *out) {
  for (int k = 0; k < GS_DTYPE_COUNT; k++) {
    const char *have = gs_dtype_table[k].name;
    /* Asked by the million: a call for each that begins alike alone. */
    if (have[0] == name[0] && !strcmp(have, name)) {
      *out = (gs_dtype)k;
      return true;
    }
  }
  return false;
}

gs_dtype
gs_sum_dtype(gs_dtype dtype) {
  assert(dtype < GS_DTYPE_COUNT);
  return gs_dtype_table[dtype].sum;
}

/* Beyond, an f64 stands for several of them. */
#define MOST_OF_I64 ((int64_t)1 << 53)

int64_t
gs_dtype_least(gs_dtype d) {
  assert(d < GS_DTYPE_COUNT);
  if (gs_dtype_table[d].bytes == 8)
    return -MOST_OF_I64;
  int bits = 8 * gs_dtype_table[d].bytes;
  return gs_dtype_table[d].is_signed ? -((int64_t)1 << (bits - 1)) : 0;
}

int64_t
gs_dtype_most(gs_dtype d) {
  assert(d < GS_DTYPE_COUNT);
  if (gs_dtype_table[d].bytes == 8)
    return MOST_OF_I64;
  int bits = 8 * gs_dtype_table[d].bytes - gs_dtype_table[d].is_signed;
  return d == GS_BOOL ? 1 : ((int64_t)1 << bits) - 1;
}

bool
gs_stays_finite(gs_dtype dtype, double v) {
  assert(dtype < GS_DTYPE_COUNT);
  switch (dtype) {
  case GS_F32:
    return fabs(v) < 0x1.ffffffp127;
  case GS_BF16: /* by way of f32 */
    return fabs(v) < 0x1.ffffffp127 && fabsf((float)v) < 0x1.ffp127f;
  case GS_F16:
    return fabs(v) < 65520;
  case GS_F64:
  case GS_I8:
  case GS_U8:
  case GS_I16:
  case GS_U16:
  case GS_I32:
  case GS_BOOL:
  case GS_I64:
  case GS_U32:
  case GS_DTYPE_COUNT:
  default:
    return true;
  }
}

int
gs_float_digits(gs_dtype d) {
  assert(d < GS_DTYPE_COUNT && !gs_dtype_table[d].integer);
  return gs_dtype_table[d].digits;
}

bool
gs_dtype_holds(gs_dtype to, gs_dtype from) {
  assert(to < GS_DTYPE_COUNT && from < GS_DTYPE_COUNT);
  bool whole = gs_dtype_table[from].integer;
  if (to == from)
    return true;
  if (gs_dtype_table[to].integer)
    return whole && gs_dtype_least(to) <= gs_dtype_least(from) &&
           gs_dtype_most(to) >= gs_dtype_most(from);
  if (whole)
    return gs_dtype_most(from) <= (int64_t)1 << gs_float_digits(to);
  return gs_float_digits(to) > gs_float_digits(from) &&
         gs_dtype_table[to].exponent >= gs_dtype_table[from].exponent;
}

bool
gs_compute_takes_any(gs_compute op) {
  assert(op < GS_COMPUTE_COUNT);
  const gs_compute_info *info = &gs_compute_table[op];
  switch (info->kind) {
  case GS_CAST:
  case GS_SELECT:
  case GS_GATHER:
  case GS_LOOKUP:
    return true;
  case GS_REDUCE:
  case GS_FOLD:
    return info->fold == GS_FOLD_MAX || info->fold == GS_FOLD_MIN;
  case GS_DOT:
  case GS_ELEMENTWISE:
  case GS_SOFTMAX:
    return false;
  }
  return false;
}

bool
gs_compute_takes(gs_compute op, gs_dtype d) {
  assert(op < GS_COMPUTE_COUNT && d < GS_DTYPE_COUNT);
  if (d == GS_BOOL || gs_is_wide(d))
    return gs_compute_takes_any(op);
  return !gs_dtype_table[d].integer || gs_compute_takes_integers(op);
}

gs_dtype
gs_compute_dtype(gs_compute op, gs_dtype dtype) {
  assert(op < GS_COMPUTE_COUNT && dtype < GS_DTYPE_COUNT);
  return gs_compute_table[op].widens ? gs_sum_dtype(dtype) : dtype;
}
