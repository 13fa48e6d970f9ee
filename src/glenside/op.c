/* op.c - the tables of op.h, and look-up by name.
 *
 * The tables are small and looked up once a parsed or inferred node, so a
 * linear search is fast enough and keeps the order of op.h. */
#include "glenside/op.h"
#include <string.h>

const gs_op_info gs_op_table[GS_OP_COUNT] = {
#define X(id, name, kids, attrs, first, view) {name, kids, attrs, first, view},
    GS_OPS(X)
#undef X
};

const gs_compute_info gs_compute_table[GS_COMPUTE_COUNT] = {
#define X(id, name, kind, params) {name, GS_##kind, params},
    GS_COMPUTES(X)
#undef X
};

const gs_dtype_info gs_dtype_table[GS_DTYPE_COUNT] = {
#define X(id, name, bytes, ctype, integer, sign)                               \
  {name, bytes, ctype, integer, sign},
    GS_DTYPES(X)
#undef X
};

static const char *const usages[GS_OP_COUNT] = {
    [GS_TENSOR] = "(tensor NAME (shape n...) DTYPE)",
    [GS_CONST] = "(const NAME (shape n...) DTYPE v...)",
    [GS_ACCESS] = "(access a k)",
    [GS_TRANSPOSE] = "(transpose a (list p...))",
    [GS_CARTPROD] = "(cartProd a b)",
    [GS_PAIR] = "(pair a b)",
    [GS_WINDOWS] = "(windows a (shape k...) (stride s...)), with an optional "
                   "(dilation d...)",
    [GS_SLICE] = "(slice a d lo hi)",
    [GS_CONCAT] = "(concat a b ... d)",
    [GS_PAD] = "(pad a KIND d before after)",
    [GS_SQUEEZE] = "(squeeze a d)",
    [GS_INSERT_AXIS] = "(insertAxis a d)",
    [GS_BROADCAST] = "(broadcast a (shape n...))",
    [GS_FLATTEN] = "(flatten a)",
    [GS_RESHAPE] = "(reshape a (shape s...) (shape c...))",
    [GS_REPEAT] = "(repeat a d f)",
    [GS_COMPUTE] = "(compute OP a)",
    [GS_MATERIALIZE] = "(materialize a)",
    [GS_CALL] = "(call INSTR attribute... a...)",
};

static const char *const list_heads[GS_OP_COUNT][3] = {
    [GS_TENSOR] = {NULL, "shape"},
    [GS_CONST] = {NULL, "shape"},
    [GS_TRANSPOSE] = {"list"},
    [GS_WINDOWS] = {"shape", "stride", "dilation"},
    [GS_BROADCAST] = {"shape"},
    [GS_RESHAPE] = {"shape", "shape"},
};

/* Operators on floats only; the rest keep to two's complement on integers. */
static const bool float_only[GS_COMPUTE_COUNT] = {
    [GS_C_SQRT] = true, [GS_C_RSQRT] = true, [GS_C_EXP] = true,
    [GS_C_LOG] = true,  [GS_C_TANH] = true,  [GS_C_SIGMOID] = true,
    [GS_C_ERF] = true,  [GS_C_RECIP] = true, [GS_C_SOFTMAX] = true,
};

bool
gs_op_find(const char *name, gs_op *out) {
  for (int k = 0; k < GS_OP_COUNT; k++)
    if (!strcmp(gs_op_table[k].name, name)) {
      *out = (gs_op)k;
      return true;
    }
  return false;
}

const char *
gs_op_usage(gs_op op) {
  return usages[op];
}

const char *
gs_list_head(gs_op op, uint32_t item) {
  return item < 3 ? list_heads[op][item] : NULL;
}

bool
gs_compute_find(const char *name, gs_compute *out) {
  for (int k = 0; k < GS_COMPUTE_COUNT; k++)
    if (!strcmp(gs_compute_table[k].name, name)) {
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

bool
gs_compute_takes_integers(gs_compute op) {
  return !float_only[op];
}

bool
gs_dtype_find(const char *name, gs_dtype *out) {
  for (int k = 0; k < GS_DTYPE_COUNT; k++)
    if (!strcmp(gs_dtype_table[k].name, name)) {
      *out = (gs_dtype)k;
      return true;
    }
  return false;
}

gs_dtype
gs_sum_dtype(gs_dtype dtype) {
  switch (dtype) {
  case GS_I8:
  case GS_U8:
    return GS_I32;
  case GS_BF16:
    return GS_F32;
  default:
    return dtype;
  }
}

gs_dtype
gs_compute_dtype(gs_compute op, gs_dtype dtype) {
  bool sums =
      op == GS_C_REDUCE_SUM || op == GS_C_REDUCE_MEAN || op == GS_C_DOT_PROD;
  return sums ? gs_sum_dtype(dtype) : dtype;
}
