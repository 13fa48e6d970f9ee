/* SPDX-License-Identifier: MIT */
/* rows.c - the table of operators, in the order of their names.
 *
 * A row says how many inputs there may be, which attributes are looked at (or
 * make no difference here), what is done where all inputs are known while
 * importing, and otherwise; a number tells rows apart that share a function. */
#include "onnx/import.h"

#include <string.h>

#define MANY 255

#define WINDOW "auto_pad dilations kernel_shape pads strides"
#define REDUCE "axes keepdims noop_with_empty_axes"

/* Elementwise operators with one operand, and reductions, are many. */
#define UNARY(name, which)                                                     \
  { name, 1, 1, "", fold_unary, emit_unary, which, NULL }
#define ACTIVATION(name, attributes, which)                                    \
  { name, 1, 1, attributes, NULL, emit_activation, which, NULL }
#define BINARY(name, which)                                                    \
  { name, 2, 2, "", fold_binary, emit_binary, which, NULL }
#define VARIADIC(name, which)                                                  \
  { name, 1, MANY, "", fold_binary, emit_variadic, which, NULL }
#define FUNCTION(name, attributes, which)                                      \
  { name, 1, 1, attributes, NULL, emit_function, which, NULL }
#define RECURRENT(name, most, attributes, which)                               \
  {                                                                            \
    name, 3, most,                                                             \
        "activation_alpha activation_beta activations clip direction "         \
        "hidden_size layout " attributes,                                      \
        NULL, emit_recurrent, which,                                           \
        "sequences of one length; Sigmoid, Tanh, Relu"                         \
  }
#define COMPARE(name, which)                                                   \
  { name, 2, 2, "", fold_binary, emit_compare, which, NULL }
#define LOGIC(name, which)                                                     \
  { name, 2, 2, "", fold_binary, emit_both, which, NULL }
#define ARG(name, which)                                                       \
  { name, 1, 1, "axis keepdims select_last_index", NULL, emit_arg, which, NULL }
#define REDUCTION(name, which)                                                 \
  { name, 1, 2, REDUCE, fold_reduce, emit_reduce, which, NULL }

const on_row on_rows[] = {
    UNARY("Abs", ON_ABS),
    FUNCTION("Acos", "", ON_ACOS),
    FUNCTION("Acosh", "", ON_ACOSH),
    BINARY("Add", ON_ADD),
    LOGIC("And", ON_AND),
    ARG("ArgMax", ON_REDUCE_MAX),
    ARG("ArgMin", ON_REDUCE_MIN),
    FUNCTION("Asin", "", ON_ASIN),
    FUNCTION("Asinh", "", ON_ASINH),
    FUNCTION("Atan", "", ON_ATAN),
    FUNCTION("Atanh", "", ON_ATANH),
    {"AveragePool", 1, 1, WINDOW " ceil_mode count_include_pad", NULL,
     emit_pool, ON_AVERAGE_POOL, NULL},
    {"BatchNormalization", 5, 5, "epsilon momentum training_mode", NULL,
     emit_batch_norm, 0, "not in training; statistics are known values"},
    {"BlackmanWindow", 1, 1, "output_datatype periodic", fold_window, NULL,
     ON_BLACKMAN, "of a known size"},
    {"Cast", 1, 1, "to saturate", fold_cast, emit_cast, 0,
     "not to string and float16"},
    {"CastLike", 2, 2, "saturate", NULL, emit_cast_like, 0, NULL},
    UNARY("Ceil", ON_CEIL),
    FUNCTION("Celu", "alpha", ON_CELU),
    {"Clip", 1, 3, "", NULL, emit_clip, 0, "bounds are known values"},
    {"Concat", 1, MANY, "axis", fold_concat, emit_concat, 0, NULL},
    {"Constant", 0, 0, "value value_int value_ints value_float value_floats",
     fold_constant, NULL, 0, "not of strings"},
    {"ConstantOfShape", 1, 1, "value", fold_constant_of_shape,
     emit_constant_of_shape, 0, "the shape is a known value"},
    {"Conv", 2, 3, WINDOW " group", NULL, emit_conv, 0, NULL},
    {"ConvInteger", 2, 4, WINDOW " group", NULL, emit_conv_integer, 0, NULL},
    {"ConvTranspose", 2, 3, WINDOW " group output_padding output_shape", NULL,
     emit_conv_transpose, 0, "weights are known values; auto_pad is not SAME"},
    UNARY("Cos", ON_COS),
    FUNCTION("Cosh", "", ON_COSH),
    {"CumSum", 2, 2, "exclusive reverse", NULL, emit_cum_sum, 0,
     "the axis is a known value"},
    {"DepthToSpace", 1, 1, "blocksize mode", NULL, emit_depth_space,
     ON_DEPTH_TO_SPACE, NULL},
    {"DequantizeLinear", 2, 3, "axis", NULL, emit_dequantize, 0, NULL},
    BINARY("Div", ON_DIV),
    {"Dropout", 1, 3, "seed ratio", NULL, emit_dropout, 0,
     "in inference, where it changes nothing"},
    {"DynamicQuantizeLinear", 1, 1, "", NULL, emit_dynamic_quantize, 0, NULL},
    {"Einsum", 1, MANY, "equation", NULL, emit_einsum, 0, NULL},
    ACTIVATION("Elu", "alpha", ON_ELU),
    COMPARE("Equal", ON_EQUAL),
    UNARY("Erf", ON_ERF),
    UNARY("Exp", ON_EXP),
    {"Expand", 2, 2, "", fold_expand, emit_expand, 0,
     "the shape is a known value"},
    {"EyeLike", 1, 1, "dtype k", NULL, emit_eye_like, 0, NULL},
    {"Flatten", 1, 1, "axis", fold_reshape, emit_reshape, ON_FLATTEN, NULL},
    UNARY("Floor", ON_FLOOR),
    RECURRENT("GRU", 6, "linear_before_reset", ON_GRU),
    {"Gather", 2, 2, "axis", fold_gather, emit_gather, 0, NULL},
    {"GatherElements", 2, 2, "axis", NULL, emit_gather_elements, 0, NULL},
    {"GatherND", 2, 2, "batch_dims", NULL, emit_gather_nd, 0, NULL},
    ACTIVATION("Gelu", "approximate", ON_GELU),
    {"Gemm", 2, 3, "alpha beta transA transB", NULL, emit_gemm, 0, NULL},
    {"GlobalAveragePool", 1, 1, "", NULL, emit_global_pool, ON_AVERAGE_POOL,
     NULL},
    {"GlobalMaxPool", 1, 1, "", NULL, emit_global_pool, ON_MAX_POOL, NULL},
    COMPARE("Greater", ON_GREATER),
    COMPARE("GreaterOrEqual", ON_GREATER_EQUAL),
    {"GroupNormalization", 3, 3, "epsilon num_groups stash_type", NULL,
     emit_instance_norm, ON_GROUP_NORM, "from version 21"},
    {"HammingWindow", 1, 1, "output_datatype periodic", fold_window, NULL,
     ON_HAMMING, "of a known size"},
    {"HannWindow", 1, 1, "output_datatype periodic", fold_window, NULL, ON_HANN,
     "of a known size"},
    ACTIVATION("HardSigmoid", "alpha beta", ON_HARD_SIGMOID),
    ACTIVATION("HardSwish", "", ON_HARD_SWISH),
    {"Hardmax", 1, 1, "axis", NULL, emit_hardmax, 0, NULL},
    {"Identity", 1, 1, "", fold_identity, emit_identity, 0, NULL},
    {"InstanceNormalization", 3, 3, "epsilon", NULL, emit_instance_norm,
     ON_INSTANCE_NORM, NULL},
    {"IsInf", 1, 1, "detect_negative detect_positive", NULL, emit_is_inf, 0,
     NULL},
    {"IsNaN", 1, 1, "", NULL, emit_is_nan, 0, NULL},
    {"LRN", 1, 1, "alpha beta bias size", NULL, emit_lrn, 0, NULL},
    RECURRENT("LSTM", 8, "input_forget", ON_LSTM),
    {"LayerNormalization", 2, 3, "axis epsilon stash_type", NULL,
     emit_layer_norm, ON_LAYER_NORM, NULL},
    ACTIVATION("LeakyRelu", "alpha", ON_LEAKY_RELU),
    COMPARE("Less", ON_LESS),
    COMPARE("LessOrEqual", ON_LESS_EQUAL),
    UNARY("Log", ON_LOG),
    {"LogSoftmax", 1, 1, "axis", NULL, emit_softmax, ON_LOG_SOFTMAX, NULL},
    {"MatMul", 2, 2, "", NULL, emit_matmul, 0, NULL},
    {"MatMulInteger", 2, 4, "", NULL, emit_matmul_integer, 0, NULL},
    VARIADIC("Max", ON_MAX),
    {"MaxPool", 1, 1, WINDOW " ceil_mode storage_order", NULL, emit_pool,
     ON_MAX_POOL, "one result"},
    {"Mean", 1, MANY, "", NULL, emit_variadic, ON_MEAN, NULL},
    {"MeanVarianceNormalization", 1, 1, "axes", NULL, emit_mean_variance, 0,
     NULL},
    VARIADIC("Min", ON_MIN),
    ACTIVATION("Mish", "", ON_MISH),
    {"Mod", 2, 2, "fmod", fold_binary, emit_mod, ON_MOD, NULL},
    BINARY("Mul", ON_MUL),
    UNARY("Neg", ON_NEG),
    {"NegativeLogLikelihoodLoss", 2, 3, "ignore_index reduction", NULL,
     emit_loss, ON_SOFTMAX, NULL},
    {"Not", 1, 1, "", fold_unary, emit_not, ON_NOT, NULL},
    {"OneHot", 3, 3, "axis", NULL, emit_one_hot, 0,
     "the depth is a known value"},
    LOGIC("Or", ON_OR),
    {"PRelu", 2, 2, "", NULL, emit_prelu, 0, NULL},
    {"Pad", 2, 4, "mode", NULL, emit_pad, 0,
     "reflected and wrapped ones up to 64"},
    {"Pow", 2, 2, "", fold_binary, emit_pow, ON_POW, NULL},
    {"QLinearConv", 8, 9, WINDOW " group", NULL, emit_qlinear_conv, 0, NULL},
    {"QLinearMatMul", 8, 8, "", NULL, emit_qlinear_matmul, 0, NULL},
    {"QuantizeLinear", 2, 3, "axis saturate", NULL, emit_quantize, 0,
     "to int8 and uint8"},
    RECURRENT("RNN", 6, "", ON_RNN),
    {"Range", 3, 3, "", fold_range, emit_range, 0, "of known values"},
    UNARY("Reciprocal", ON_RECIP),
    REDUCTION("ReduceL1", ON_REDUCE_L1),
    REDUCTION("ReduceL2", ON_REDUCE_L2),
    REDUCTION("ReduceLogSum", ON_REDUCE_LOG_SUM),
    REDUCTION("ReduceLogSumExp", ON_REDUCE_LOG_SUM_EXP),
    REDUCTION("ReduceMax", ON_REDUCE_MAX),
    REDUCTION("ReduceMean", ON_REDUCE_MEAN),
    REDUCTION("ReduceMin", ON_REDUCE_MIN),
    REDUCTION("ReduceProd", ON_REDUCE_PROD),
    REDUCTION("ReduceSum", ON_REDUCE_SUM),
    REDUCTION("ReduceSumSquare", ON_REDUCE_SUM_SQUARE),
    UNARY("Relu", ON_RELU),
    {"Reshape", 2, 2, "allowzero", fold_reshape, emit_reshape, ON_RESHAPE,
     "the shape is a known value"},
    {"Resize", 1, 4,
     "antialias axes coordinate_transformation_mode cubic_coeff_a "
     "exclude_outside extrapolation_value keep_aspect_ratio_policy mode "
     "nearest_mode",
     NULL, emit_resize, 0,
     "not tf_crop_and_resize, antialias, exclude_outside, axes"},
    UNARY("Round", ON_ROUND),
    {"Scatter", 3, 3, "axis", NULL, emit_scatter_elements, 0, NULL},
    {"ScatterElements", 3, 3, "axis reduction", NULL, emit_scatter_elements, 0,
     NULL},
    {"ScatterND", 3, 3, "reduction", fold_scatter_nd, emit_scatter_nd, 0, NULL},
    ACTIVATION("Selu", "alpha gamma", ON_SELU),
    {"Shape", 1, 1, "start end", fold_shape, fold_shape, 0, NULL},
    FUNCTION("Shrink", "bias lambd", ON_SHRINK),
    UNARY("Sigmoid", ON_SIGMOID),
    {"Sign", 1, 1, "", NULL, emit_sign, 0, NULL},
    UNARY("Sin", ON_SIN),
    FUNCTION("Sinh", "", ON_SINH),
    {"Size", 1, 1, "", fold_size, fold_size, 0, NULL},
    {"Slice", 3, 5, "", fold_slice, emit_slice, 0,
     "bounds are known values; steps above 0"},
    {"Softmax", 1, 1, "axis", NULL, emit_softmax, ON_SOFTMAX, NULL},
    {"SoftmaxCrossEntropyLoss", 2, 3, "ignore_index reduction", NULL, emit_loss,
     ON_LOG_SOFTMAX, NULL},
    ACTIVATION("Softplus", "", ON_SOFTPLUS),
    ACTIVATION("Softsign", "", ON_SOFTSIGN),
    {"SpaceToDepth", 1, 1, "blocksize", NULL, emit_depth_space,
     ON_SPACE_TO_DEPTH, NULL},
    {"Split", 1, 2, "axis num_outputs", fold_split, emit_split, 0,
     "at most 256 parts, of known sizes"},
    UNARY("Sqrt", ON_SQRT),
    {"Squeeze", 1, 2, "", fold_reshape, emit_squeeze, ON_SQUEEZE, NULL},
    BINARY("Sub", ON_SUB),
    VARIADIC("Sum", ON_ADD),
    FUNCTION("Tan", "", ON_TAN),
    UNARY("Tanh", ON_TANH),
    ACTIVATION("ThresholdedRelu", "alpha", ON_THRESHOLDED),
    {"Tile", 2, 2, "", fold_tile, emit_tile, 0, "copies are known values"},
    {"TopK", 2, 2, "axis largest sorted", NULL, emit_top_k, 0,
     "k is a known value; up to 2^28 comparisons"},
    {"Transpose", 1, 1, "perm", fold_transpose, emit_transpose, 0, NULL},
    {"Trilu", 1, 2, "upper", NULL, emit_trilu, 0,
     "the diagonal is a known value"},
    {"Unsqueeze", 2, 2, "", fold_reshape, emit_unsqueeze, ON_UNSQUEEZE, NULL},
    {"Where", 3, 3, "", fold_where, emit_where, 0, NULL},
    LOGIC("Xor", ON_XOR),
};

const size_t on_row_count = sizeof on_rows / sizeof on_rows[0];

/* Operators that were something else before a version. */
int64_t
on_row_since(const on_row *row) {
  static const struct {
    const char *name;
    int64_t version;
  } changes[] = {{"Clip", 11},    {"Hardmax", 13},   {"LogSoftmax", 13},
                 {"Pad", 11},     {"Resize", 11},    {"Slice", 10},
                 {"Softmax", 13}, {"Split", 13},     {"Squeeze", 13},
                 {"TopK", 10},    {"Unsqueeze", 13}, {"BatchNormalization", 9}};
  for (size_t k = 0; k < sizeof changes / sizeof *changes; k++)
    if (!strcmp(changes[k].name, row->name))
      return changes[k].version;
  return 0;
}

const on_row *
on_find_row(const char *name) {
  for (size_t k = 0; k < on_row_count; k++)
    if (!strcmp(on_rows[k].name, name))
      return &on_rows[k];
  return NULL;
}

void
on_list_operators(bs_text *out) {
  for (size_t k = 0; k < on_row_count; k++)
    if (on_rows[k].note)
      bs_putf(out, "%-22s %s\n", on_rows[k].name, on_rows[k].note);
    else
      bs_putf(out, "%s\n", on_rows[k].name);
}
