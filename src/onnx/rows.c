/* SPDX-License-Identifier: MIT */
/* rows.c - the table of operators, in the order of their names.
 *
 * A row says how many inputs there may be, of which types (onnx_types.c), which
 * attributes are looked at (or make no difference here), what is done where all
 * inputs are known while importing, and otherwise; a number tells rows apart
 * that share a function; and what becomes of sizes that are open. */
#include "onnx/onnx_import.h"

#include <string.h>

#define MANY 255

#define WINDOW "auto_pad dilations kernel_shape pads strides"
#define REDUCE "axes keepdims noop_with_empty_axes"

/* Elementwise operators with one operand, and reductions, are many. */
#define UNARY(name, types, which)                                              \
  { name, 1, 1, types, "", fold_unary, emit_unary, which, NULL, ON_FOLDS }
#define ACTIVATION(name, attributes, which)                                    \
  {                                                                            \
    name, 1, 1, "real", attributes, NULL, emit_activation, which, NULL,        \
        ON_FOLDS                                                               \
  }
#define BINARY(name, which)                                                    \
  {                                                                            \
    name, 2, 2, "wide+14:integer =", "", fold_binary, emit_binary, which,      \
        NULL, ON_FOLDS                                                         \
  }
#define VARIADIC(name, types, which)                                           \
  {                                                                            \
    name, 1, MANY, types, "", fold_binary, emit_variadic, which, NULL,         \
        ON_FOLDS                                                               \
  }
#define FUNCTION(name, types, attributes, which)                               \
  { name, 1, 1, types, attributes, NULL, emit_function, which, NULL, ON_FOLDS }
#define RECURRENT(name, most, attributes, which)                               \
  {                                                                            \
    name, 3, most, "real = = = int32 = = =",                                   \
        "activation_alpha activation_beta activations clip direction "         \
        "hidden_size layout " attributes,                                      \
        NULL, emit_recurrent, which, "Sigmoid, Tanh, Relu; no float16",        \
        ON_NO_SIZES                                                            \
  }
#define COMPARE(name, types, which)                                            \
  { name, 2, 2, types, "", fold_binary, emit_compare, which, NULL, ON_FOLDS }
#define LOGIC(name, which)                                                     \
  { name, 2, 2, "bool =", "", fold_binary, emit_both, which, NULL, ON_FOLDS }
#define ARG(name, which)                                                       \
  {                                                                            \
    name, 1, 1, "number", "axis keepdims select_last_index", NULL, emit_arg,   \
        which, NULL, ON_NO_SIZES                                               \
  }
#define REDUCTION(name, types, which)                                          \
  { name, 1, 2, types, REDUCE, fold_reduce, emit_reduce, which, NULL, ON_FOLDS }
#define APPLIED(name, which)                                                   \
  {                                                                            \
    name, 1, 2, "wide int64", REDUCE, fold_reduce, emit_reduce, which,         \
        "noop_with_empty_axes only where there are axes", ON_FOLDS             \
  }

static const on_row rows[] = {
    UNARY("Abs", "number", ON_ABS),
    FUNCTION("Acos", "real", "", ON_ACOS),
    FUNCTION("Acosh", "real", "", ON_ACOSH),
    BINARY("Add", ON_ADD),
    LOGIC("And", ON_AND),
    ARG("ArgMax", ON_REDUCE_MAX),
    ARG("ArgMin", ON_REDUCE_MIN),
    FUNCTION("Asin", "real", "", ON_ASIN),
    FUNCTION("Asinh", "real", "", ON_ASINH),
    FUNCTION("Atan", "real", "", ON_ATAN),
    FUNCTION("Atanh", "real", "", ON_ATANH),
    {"AveragePool", 1, 1, "real", WINDOW " ceil_mode count_include_pad", NULL,
     emit_pool, ON_AVERAGE_POOL, NULL, ON_FOLDS},
    {"BatchNormalization", 5, 5, "real real =1 real =3",
     "epsilon momentum training_mode", NULL, emit_batch_norm, 0,
     "statistics are known values, but in training", ON_FOLDS},
    {"BitShift", 2, 2, "uint8+uint16+uint32 =", "direction", NULL,
     emit_bit_shift, 0, "of uint8 and uint16, by known values", ON_NO_SIZES},
    {"BlackmanWindow", 1, 1, "index", "output_datatype periodic", fold_window,
     NULL, ON_BLACKMAN, "of a known size", ON_NO_SIZES},
    {"Cast", 1, 1, "any", "to saturate", fold_cast, emit_cast, 0,
     "not to string and float16", ON_FOLDS},
    {"CastLike", 2, 2, "any any", "saturate", NULL, emit_cast_like, 0, NULL,
     ON_NO_SIZES},
    UNARY("Ceil", "real", ON_CEIL),
    FUNCTION("Celu", "float", "alpha", ON_CELU),
    {"Clip", 1, 3, "number = =", "", fold_clip, emit_clip, 0,
     "bounds are known values", ON_FOLDS},
    {"Compress", 2, 2, "any bool", "axis", NULL, emit_compress, 0,
     "the condition is a known value", ON_NO_SIZES},
    {"Concat", 1, MANY, "any ...", "axis", fold_concat, emit_concat, 0, NULL,
     ON_FOLDS},
    {"Constant", 0, 0, "",
     "value value_int value_ints value_float value_floats", fold_constant, NULL,
     0, "not of strings", ON_NO_SIZES},
    {"ConstantOfShape", 1, 1, "int64", "value", fold_constant_of_shape,
     emit_constant_of_shape, 0, "the shape is known, but for open sizes",
     ON_NO_FOLDING},
    {"Conv", 2, 3, "real = =", WINDOW " group", NULL, emit_conv, 0, NULL,
     ON_FOLDS},
    {"ConvInteger", 2, 4, "byte byte = =1", WINDOW " group", NULL,
     emit_conv_integer, 0, NULL, ON_NO_SIZES},
    {"ConvTranspose", 2, 3,
     "real = =", WINDOW " group output_padding output_shape", NULL,
     emit_conv_transpose, 0, "weights are known values", ON_NO_SIZES},
    UNARY("Cos", "real", ON_COS),
    FUNCTION("Cosh", "real", "", ON_COSH),
    {"CumSum", 2, 2, "float+double+index+uint32+14:float16 index",
     "exclusive reverse", NULL, emit_cum_sum, 0, "the axis is a known value",
     ON_NO_SIZES},
    {"DepthToSpace", 1, 1, "any", "blocksize mode", NULL, emit_depth_space,
     ON_DEPTH_TO_SPACE, NULL, ON_NO_SIZES},
    {"DequantizeLinear", 2, 3,
     "byte+int32+21:int16+21:uint16 float+19:float16 =", "axis block_size",
     NULL, emit_dequantize, 0, NULL, ON_NO_SIZES},
    BINARY("Div", ON_DIV),
    {"Dropout", 1, 3, "real real bool", "seed ratio", NULL, emit_dropout, 0,
     "in inference, where it changes nothing", ON_NO_SIZES},
    {"DynamicQuantizeLinear", 1, 1, "float", "", NULL, emit_dynamic_quantize, 0,
     NULL, ON_NO_SIZES},
    {"Einsum", 1, MANY, "number ...", "equation", NULL, emit_einsum, 0, NULL,
     ON_NO_SIZES},
    ACTIVATION("Elu", "alpha", ON_ELU),
    COMPARE("Equal", "any =", ON_EQUAL),
    UNARY("Erf", "real", ON_ERF),
    UNARY("Exp", "real", ON_EXP),
    {"Expand", 2, 2, "any int64", "", fold_expand, emit_expand, 0,
     "the shape is a known value", ON_FOLDS_FIRST},
    {"EyeLike", 1, 1, "any", "dtype k", NULL, emit_eye_like, 0, NULL,
     ON_NO_SIZES},
    {"Flatten", 1, 1, "any", "axis", fold_reshape, emit_reshape, ON_FLATTEN,
     NULL, ON_FOLDS},
    UNARY("Floor", "real", ON_FLOOR),
    RECURRENT("GRU", 6, "linear_before_reset", ON_GRU),
    {"Gather", 2, 2, "any index", "axis", fold_gather, emit_gather, 0, NULL,
     ON_FOLDS},
    {"GatherElements", 2, 2, "any index", "axis", NULL, emit_gather_elements, 0,
     NULL, ON_FOLDS},
    {"GatherND", 2, 2, "any int64", "batch_dims", NULL, emit_gather_nd, 0, NULL,
     ON_NO_SIZES},
    ACTIVATION("Gelu", "approximate", ON_GELU),
    {"Gemm", 2, 3, "wide = =", "alpha beta transA transB", NULL, emit_gemm, 0,
     NULL, ON_FOLDS},
    {"GlobalAveragePool", 1, 1, "real", "", NULL, emit_global_pool,
     ON_AVERAGE_POOL, NULL, ON_FOLDS},
    {"GlobalLpPool", 1, 1, "real", "p", NULL, emit_global_pool, ON_LP_POOL,
     NULL, ON_FOLDS},
    {"GlobalMaxPool", 1, 1, "real", "", NULL, emit_global_pool, ON_MAX_POOL,
     NULL, ON_FOLDS},
    COMPARE("Greater", "number =", ON_GREATER),
    COMPARE("GreaterOrEqual", "number =", ON_GREATER_EQUAL),
    {"GridSample", 2, 2, "real real", "align_corners mode padding_mode", NULL,
     emit_grid_sample, 0, "images of two dimensions; not cubic", ON_NO_SIZES},
    {"GroupNormalization", 3, 3, "real = =", "epsilon num_groups stash_type",
     NULL, emit_instance_norm, ON_GROUP_NORM, NULL, ON_NO_SIZES},
    {"HammingWindow", 1, 1, "index", "output_datatype periodic", fold_window,
     NULL, ON_HAMMING, "of a known size", ON_NO_SIZES},
    {"HannWindow", 1, 1, "index", "output_datatype periodic", fold_window, NULL,
     ON_HANN, "of a known size", ON_NO_SIZES},
    ACTIVATION("HardSigmoid", "alpha beta", ON_HARD_SIGMOID),
    ACTIVATION("HardSwish", "", ON_HARD_SWISH),
    {"Hardmax", 1, 1, "real", "axis", NULL, emit_hardmax, 0, NULL, ON_NO_SIZES},
    {"Identity", 1, 1, "any", "", fold_identity, emit_identity, 0, NULL,
     ON_FOLDS},
    {"If", 1, 1, "bool", "else_branch then_branch", NULL, emit_if, 0,
     "the condition is a known value", ON_FOLDS},
    {"InstanceNormalization", 3, 3, "real = =", "epsilon", NULL,
     emit_instance_norm, ON_INSTANCE_NORM, NULL, ON_NO_SIZES},
    {"IsInf", 1, 1, "float+double+20:float16",
     "detect_negative detect_positive", NULL, emit_is_inf, 0, NULL,
     ON_NO_SIZES},
    {"IsNaN", 1, 1, "real", "", NULL, emit_is_nan, 0, NULL, ON_NO_SIZES},
    {"LRN", 1, 1, "real", "alpha beta bias size", NULL, emit_lrn, 0, NULL,
     ON_NO_SIZES},
    RECURRENT("LSTM", 8, "input_forget", ON_LSTM),
    {"LayerNormalization", 2, 3, "real = =", "axis epsilon stash_type", NULL,
     emit_layer_norm, ON_LAYER_NORM, NULL, ON_FOLDS},
    ACTIVATION("LeakyRelu", "alpha", ON_LEAKY_RELU),
    COMPARE("Less", "number =", ON_LESS),
    COMPARE("LessOrEqual", "number =", ON_LESS_EQUAL),
    UNARY("Log", "real", ON_LOG),
    {"LogSoftmax", 1, 1, "real", "axis", NULL, emit_softmax, ON_LOG_SOFTMAX,
     NULL, ON_FOLDS},
    {"Loop", 2, MANY, "int64 bool", "body", NULL, emit_loop, ON_LOOP,
     "the number of turns is known", ON_FOLDS},
    {"LpNormalization", 1, 1, "real", "axis p", NULL, emit_lp_norm, 0, NULL,
     ON_NO_SIZES},
    {"LpPool", 1, 1, "real", WINDOW " ceil_mode p", NULL, emit_pool, ON_LP_POOL,
     NULL, ON_FOLDS},
    {"MatMul", 2, 2, "wide =", "", NULL, emit_matmul, 0, NULL, ON_FOLDS},
    {"MatMulInteger", 2, 4, "byte byte = =1", "", NULL, emit_matmul_integer, 0,
     NULL, ON_NO_SIZES},
    VARIADIC("Max", "number ...", ON_MAX),
    {"MaxPool", 1, 1, "real+byte", WINDOW " ceil_mode storage_order", NULL,
     emit_pool, ON_MAX_POOL, "one result", ON_FOLDS},
    {"Mean", 1, MANY, "real ...", "", NULL, emit_variadic, ON_MEAN, NULL,
     ON_NO_SIZES},
    {"MeanVarianceNormalization", 1, 1, "real", "axes", NULL,
     emit_mean_variance, 0, NULL, ON_NO_SIZES},
    VARIADIC("Min", "number ...", ON_MIN),
    ACTIVATION("Mish", "", ON_MISH),
    {"Mod", 2, 2, "number =", "fmod", fold_binary, emit_mod, ON_MOD, NULL,
     ON_NO_SIZES},
    BINARY("Mul", ON_MUL),
    UNARY("Neg", "real+index+int8+int16", ON_NEG),
    {"NegativeLogLikelihoodLoss", 2, 3, "real index =",
     "ignore_index reduction", NULL, emit_loss, ON_SOFTMAX, NULL, ON_NO_SIZES},
    {"Not", 1, 1, "bool", "", fold_unary, emit_not, ON_NOT, NULL, ON_FOLDS},
    {"OneHot", 3, 3, "number number any", "axis", NULL, emit_one_hot, 0,
     "the depth is a known value", ON_NO_SIZES},
    LOGIC("Or", ON_OR),
    {"PRelu", 2, 2, "wide =", "", NULL, emit_prelu, 0, NULL, ON_NO_SIZES},
    {"Pad", 2, 4, "any int64 = index", "mode", NULL, emit_pad, 0,
     "reflected and wrapped ones up to 64", ON_NO_SIZES},
    {"Pow", 2, 2, "real+index number", "", fold_binary, emit_pow, ON_POW,
     "an integer to an integer, or to a whole number that is known", ON_FOLDS},
    {"QLinearConv", 8, 9, "byte float = byte =1 =3 =1 byte int32",
     WINDOW " group", NULL, emit_qlinear_conv, 0, NULL, ON_NO_SIZES},
    {"QLinearMatMul", 8, 8, "byte float+21:float16 = byte =1 =3 =1 byte", "",
     NULL, emit_qlinear_matmul, 0, NULL, ON_NO_SIZES},
    {"QuantizeLinear", 2, 3,
     "float+int32+19:float16 float+19:float16+19:int32 byte+21:int16+21:uint16",
     "axis block_size output_dtype saturate", NULL, emit_quantize, 0,
     "to 8 and 16 bits", ON_NO_SIZES},
    RECURRENT("RNN", 6, "", ON_RNN),
    {"Range", 3, 3, "float+double+int16+index = =", "", fold_range, emit_range,
     0, "of values that are known, but for open sizes", ON_NO_FOLDING},
    UNARY("Reciprocal", "real", ON_RECIP),
    APPLIED("ReduceL1", ON_REDUCE_L1),
    APPLIED("ReduceL2", ON_REDUCE_L2),
    APPLIED("ReduceLogSum", ON_REDUCE_LOG_SUM),
    REDUCTION("ReduceLogSumExp", "wide int64", ON_REDUCE_LOG_SUM_EXP),
    REDUCTION("ReduceMax", "wide+byte+20:bool int64", ON_REDUCE_MAX),
    REDUCTION("ReduceMean", "wide int64", ON_REDUCE_MEAN),
    REDUCTION("ReduceMin", "wide+byte+20:bool int64", ON_REDUCE_MIN),
    REDUCTION("ReduceProd", "wide int64", ON_REDUCE_PROD),
    REDUCTION("ReduceSum", "wide int64", ON_REDUCE_SUM),
    APPLIED("ReduceSumSquare", ON_REDUCE_SUM_SQUARE),
    UNARY("Relu", "real+14:int8+14:int16+14:index", ON_RELU),
    {"Reshape", 2, 2, "any int64", "allowzero", fold_reshape, emit_reshape,
     ON_RESHAPE, "the shape is a known value", ON_FOLDS_FIRST},
    {"Resize", 1, 4, "any real float int64",
     "antialias axes coordinate_transformation_mode cubic_coeff_a "
     "exclude_outside extrapolation_value keep_aspect_ratio_policy mode "
     "nearest_mode",
     NULL, emit_resize, 0, "not antialias; integers by nearest", ON_NO_SIZES},
    {"ReverseSequence", 2, 2, "any int64", "batch_axis time_axis", NULL,
     emit_reverse_sequence, 0, "lengths are known values, at most 256",
     ON_NO_SIZES},
    UNARY("Round", "real", ON_ROUND),
    {"Scan", 1, MANY, "",
     "body num_scan_inputs scan_input_axes scan_input_directions "
     "scan_output_axes scan_output_directions",
     NULL, emit_scan, ON_SCAN, NULL, ON_FOLDS},
    {"Scatter", 3, 3, "any index =", "axis", NULL, emit_scatter_elements, 0,
     NULL, ON_NO_SIZES},
    {"ScatterElements", 3, 3, "any index =", "axis reduction", NULL,
     emit_scatter_elements, 0, NULL, ON_NO_SIZES},
    {"ScatterND", 3, 3, "any int64 =", "reduction", fold_scatter_nd,
     emit_scatter_nd, 0, NULL, ON_NO_SIZES},
    ACTIVATION("Selu", "alpha gamma", ON_SELU),
    {"Shape", 1, 1, "any", "start end", fold_shape, fold_shape, 0, NULL,
     ON_FOLDS},
    FUNCTION("Shrink", "number", "bias lambd", ON_SHRINK),
    UNARY("Sigmoid", "real", ON_SIGMOID),
    {"Sign", 1, 1, "number", "", NULL, emit_sign, 0, NULL, ON_NO_SIZES},
    UNARY("Sin", "real", ON_SIN),
    FUNCTION("Sinh", "real", "", ON_SINH),
    {"Size", 1, 1, "any", "", fold_size, fold_size, 0, NULL, ON_FOLDS},
    {"Slice", 3, 5, "any index =1 =1 =1", "", fold_slice, emit_slice, 0,
     "bounds are known values; steps above 0", ON_FOLDS_FIRST},
    {"Softmax", 1, 1, "real", "axis", NULL, emit_softmax, ON_SOFTMAX, NULL,
     ON_FOLDS},
    {"SoftmaxCrossEntropyLoss", 2, 3, "real index =", "ignore_index reduction",
     NULL, emit_loss, ON_LOG_SOFTMAX, NULL, ON_NO_SIZES},
    ACTIVATION("Softplus", "", ON_SOFTPLUS),
    ACTIVATION("Softsign", "", ON_SOFTSIGN),
    {"SpaceToDepth", 1, 1, "any", "blocksize", NULL, emit_depth_space,
     ON_SPACE_TO_DEPTH, NULL, ON_NO_SIZES},
    {"Split", 1, 2, "any int64", "axis num_outputs", fold_split, emit_split, 0,
     "at most 256 parts, of known sizes", ON_FOLDS},
    UNARY("Sqrt", "real", ON_SQRT),
    {"Squeeze", 1, 2, "any int64", "", fold_reshape, emit_squeeze, ON_SQUEEZE,
     NULL, ON_FOLDS},
    BINARY("Sub", ON_SUB),
    VARIADIC("Sum", "real ...", ON_ADD),
    FUNCTION("Tan", "real", "", ON_TAN),
    UNARY("Tanh", "real", ON_TANH),
    ACTIVATION("ThresholdedRelu", "alpha", ON_THRESHOLDED),
    {"Tile", 2, 2, "any int64", "", fold_tile, emit_tile, 0,
     "copies are known values", ON_NO_SIZES},
    {"TopK", 2, 2, "number int64", "axis largest sorted", NULL, emit_top_k, 0,
     "k is a known value; up to 2^28 comparisons", ON_NO_SIZES},
    {"Transpose", 1, 1, "any", "perm", fold_transpose, emit_transpose, 0, NULL,
     ON_FOLDS},
    {"Trilu", 1, 2, "any int64", "upper", NULL, emit_trilu, 0,
     "the diagonal is a known value", ON_NO_SIZES},
    {"Unsqueeze", 2, 2, "any int64", "", fold_reshape, emit_unsqueeze,
     ON_UNSQUEEZE, NULL, ON_FOLDS},
    {"Where", 3, 3, "bool any =1", "", fold_where, emit_where, 0, NULL,
     ON_FOLDS},
    LOGIC("Xor", ON_XOR),
};

enum { N_ROWS = sizeof rows / sizeof rows[0] };

/* Operators that were something else before a version. */
int64_t
on_row_since(const on_row *row) {
  static const struct {
    const char *name;
    int64_t version;
  } changes[] = {{"Clip", 11},
                 {"Hardmax", 13},
                 {"LogSoftmax", 13},
                 {"Pad", 11},
                 {"Resize", 11},
                 {"Scan", 9},
                 {"Slice", 10},
                 {"Softmax", 13},
                 {"Split", 13},
                 {"Squeeze", 13},
                 {"TopK", 10},
                 {"Unsqueeze", 13},
                 {"BatchNormalization", 9}};
  for (size_t k = 0; k < sizeof changes / sizeof *changes; k++)
    if (!strcmp(changes[k].name, row->name))
      return changes[k].version;
  return 0;
}

const on_row *
on_find_row(const char *name) {
  for (size_t k = 0; k < N_ROWS; k++)
    if (!strcmp(rows[k].name, name))
      return &rows[k];
  return NULL;
}

void
on_list_operators(bs_text *out) {
  for (size_t k = 0; k < N_ROWS; k++)
    if (rows[k].note)
      bs_putf(out, "%-22s %s\n", rows[k].name, rows[k].note);
    else
      bs_putf(out, "%s\n", rows[k].name);
}
