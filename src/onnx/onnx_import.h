/* SPDX-License-Identifier: MIT */
/* onnx_import.h - an ONNX model on its way to a program (private to src/onnx).
 *
 * Values are looked at in the order of the nodes.  A value is an array, where
 * it does not depend on an input of the model, or else a term, all of whose
 * dimensions are iterated over.  What is wrong with a node is told once; its
 * results are poison, and a node that reads poison is passed over in silence,
 * so that one run tells everything that is missing. */
#ifndef ONNX_IMPORT_H
#define ONNX_IMPORT_H

#include "base/map.h"
#include "glenside/program/program.h"
#include "glenside/type/sizes.h"
#include "onnx/onnx.h"
#include "onnx/onnx.pb-c.h"

/* The versions of the standard operators that are read. */
enum { ON_OLDEST = 1, ON_NEWEST = 21 };

/* The element types of the format that are read; its numbers. */
enum {
  ON_FLOAT = 1,
  ON_UINT8 = 2,
  ON_INT8 = 3,
  ON_UINT16 = 4,
  ON_INT16 = 5,
  ON_INT32 = 6,
  ON_INT64 = 7,
  ON_BOOL = 9,
  ON_FLOAT16 = 10,
  ON_DOUBLE = 11,
  ON_UINT32 = 12,
  ON_BFLOAT16 = 16,
  ON_TYPES = 17
};

typedef struct on_type {
  const char *name;
  uint8_t bytes;    /* 0: not read */
  bool real, known; /* known: the language has it, or one to hold it in */
  gs_dtype dtype;
} on_type;

/* A type that is not read has no bytes. */
const on_type *on_type_of(int32_t element_type);

/* A dense array in C order; any size may be 0. */
typedef struct on_array {
  int32_t type;
  uint32_t rank;
  int64_t dim[GS_MAX_RANK];
  int64_t n;
  void *data;
  const char *name;       /* what its term is to be called */
  const Onnx__Node *node; /* that gave it; NULL: the model has it */
  gs_term term;           /* GS_NO_TERM until one is asked for */
} on_array;

typedef struct on_value {
  const char *name;
  const Onnx__Tensor *stored; /* an initializer that was not read yet */
  on_array *array;            /* NULL: not known while importing */
  gs_term term;
  int32_t type;
  bool poison;
  bool is_input;
  bool absent; /* of a function: what calls it leaves it out */
} on_value;

/* A weight: an array that became an input of the program. */
typedef struct on_weight {
  const char *name;
  const on_array *array;
  gs_term term;
  const Onnx__Node *node; /* that gave it, or else reads it first */
} on_weight;

/* No element of a term is larger, or smaller than its negative: if elements of
 * int64 inputs fit into int32, and for all that they may be. */
typedef struct on_range_of {
  double fits, all;
  bool whole; /* all are integers */
} on_range_of;

typedef struct on_ranged {
  on_range_of range;
  bool is_set;
} on_ranged;

/* A symbolic dimension that is a size of the program. */
typedef struct on_open {
  const char *symbol;
  gs_number number;
} on_open;

struct on_row;
struct on_body;
struct on_frame;
struct on_call;
struct on_function;

typedef struct on_import {
  const gs_context *ctx;
  const on_options *options;
  const Onnx__Model *model;
  const Onnx__Graph *graph;
  int64_t opset;
  gs_program *p;
  bs_map values; /* by symbol id of the name: index in `list` */
  BS_VEC(on_value *) list;
  bs_map taken;   /* names of the program, by symbol id */
  bs_map outputs; /* names of its outputs, by symbol id */
  BS_VEC(on_weight) weights;
  /* What weights and constants are to be called: by term, index in the list. */
  bs_map leaf_of;
  BS_VEC(const char *) leaves;
  BS_VEC(on_ranged) ranges;                  /* by term */
  uint32_t exact_for_usual;                  /* nodes */
  const Onnx__Node *told_of, *first_told_of; /* of them */
  on_summary *summary;
  on_open open[GS_MOST_SIZES];
  uint32_t n_open;
  bool reads_sizes; /* the node that is looked at does */
  /* Graphs inside nodes (flow.h): by the attribute, index in `bodies`. */
  bs_map body_of;
  BS_VEC(struct on_body *) bodies;
  struct on_frame *frame; /* the graph that is walked */
  uint32_t inner;         /* nodes of such graphs that were walked */
  bool entered;           /* the node that is looked at has one */
  /* Functions of the model (flow.h): by symbol id, index in the list. */
  bs_map function_of;
  BS_VEC(struct on_function *) functions;
  struct on_call *call; /* the innermost; NULL: none */
  /* The node that is looked at. */
  const Onnx__Node *node;
  const struct on_row *row;
  bool failed;    /* it was said why */
  bool told;      /* by the last call that says why */
  bool unadvised; /* the last fault that was told has no hint */
} on_import;

typedef void on_action(on_import *);

/* What an operator makes of sizes that are open. */
typedef enum on_folding {
  ON_NO_SIZES,    /* it is refused: it computes with dimensions as integers */
  ON_FOLDS,       /* it may be computed while importing, of sizes, too */
  ON_FOLDS_FIRST, /* unless sizes stand behind its first input */
  ON_NO_FOLDING   /* not where it reads sizes */
} on_folding;

/* What is known of an operator. */
typedef struct on_row {
  const char *name;
  uint8_t least, most;    /* inputs; 255: any number */
  const char *types;      /* of each input (onnx_types.c) */
  const char *attributes; /* that are looked at, or may be ignored */
  on_action *fold;        /* where all inputs are arrays; NULL: as `emit` */
  on_action *emit;        /* NULL: only on arrays */
  int which;              /* says what to do where rows share a function */
  const char *note;       /* what is left out */
  on_folding folding;
} on_row;

const on_row *on_find_row(const char *name);
/* The version from which on it means what the row says. */
int64_t on_row_since(const on_row *);

/* ---- faults (fault.c) ---- */

/* Of the node that is looked at; its results are poison.  Returns false. */
bool on_fail(on_import *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A fault of the model as a whole. */
bool on_wrong(on_import *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* What to do about the last fault, if it was told: in place of its inputs. */
void on_hint(on_import *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* At most 60 characters, none of them a control character. */
void on_put_plain(bs_text *, const char *, size_t n);
#define ON_CHECKER                                                             \
  "onnx.checker.check_model, of the onnx package for Python, tells more"

/* ---- the file (read.c) ---- */

/* NULL with a diagnostic. */
const uint8_t *on_bytes_of(const gs_context *, const char *path, size_t *n);
ProtobufCAllocator on_allocator(const gs_context *);
const Onnx__Model *on_read(const gs_context *, const char *name,
                           const uint8_t *bytes, size_t n);

/* ---- arrays (array.c, onnx_tensor.c) ---- */

/* Uninitialised, to be computed, or to be read from the model, which may be
 * larger; NULL after a fault: too large. */
on_array *on_array_new(on_import *, int32_t type, const int64_t *dim,
                       uint32_t rank);
on_array *on_array_stored(on_import *, int32_t type, const int64_t *dim,
                          uint32_t rank);
int64_t on_int(const on_array *, int64_t i);
double on_real(const on_array *, int64_t i);
void on_set_int(on_array *, int64_t i, int64_t v);
void on_set_real(on_array *, int64_t i, double v);
bool on_is_real(const on_array *);
/* All elements are alike, and there are some. */
bool on_is_splat(const on_array *);
/* Element (i0, i1, ...) of the result is at offset + sum of ik stride[k]. */
on_array *on_view(on_import *, const on_array *, const int64_t *dim,
                  const int64_t *stride, uint32_t rank, int64_t offset);
/* An array with the elements of this one in another shape; on_expanded: each
 * repeated along dimensions of 1. */
on_array *on_reshaped(on_import *, const on_array *, const int64_t *dim,
                      uint32_t rank);
on_array *on_expanded(on_import *, const on_array *, const int64_t *dim,
                      uint32_t rank);
void on_strides(const on_array *, int64_t *stride);
/* A list of integers as an array of rank 1. */
on_array *on_ints(on_import *, const int64_t *, uint32_t n);
on_array *on_reals(on_import *, int32_t type, const double *,
                   const int64_t *dim, uint32_t rank);
/* onnx_tensor.c */
on_array *on_load(on_import *, const Onnx__Tensor *);

/* ---- inputs, outputs and attributes of the node (node.c) ---- */

uint32_t on_inputs(const on_import *);
/* NULL: it is left out. */
on_value *on_in(on_import *, uint32_t k);
/* The array of an input; NULL: it is left out, or, after a fault, not known. */
on_array *on_array_in(on_import *, uint32_t k);
/* An initializer is read when it is wanted. */
void on_read_stored(on_import *, on_value *);
/* The term of an input, which must be there; GS_NO_TERM after a fault. */
gs_term on_term_in(on_import *, uint32_t k);
int32_t on_type_in(on_import *, uint32_t k);
/* The shape of an input, as an array or a term. */
bool on_shape_in(on_import *, uint32_t k, gs_type *out);
void on_out(on_import *, uint32_t k, gs_term, int32_t type);
void on_out_array(on_import *, uint32_t k, on_array *);
bool on_wants(const on_import *, uint32_t k);

const Onnx__Attribute *on_attr(const on_import *, const char *name);
int64_t on_attr_int(const on_import *, const char *name, int64_t otherwise);
double on_attr_real(const on_import *, const char *name, double otherwise);
bool on_attr_is(const on_import *, const char *name, const char *word,
                const char *otherwise);
/* The integers, or `otherwise` n times where there are none.  A list of
 * another length is a fault. */
bool on_attr_ints(on_import *, const char *name, int64_t otherwise,
                  int64_t *out, uint32_t n);
/* A list of any length, from an attribute or an input (NULL, or >= 255: only
 * the other).  *n: how many; -1: there is none. */
bool on_list(on_import *, const char *name, uint32_t input, int64_t *out,
             int *n);
/* An axis from -rank to rank - 1; a fault if it is none. */
bool on_axis(on_import *, int64_t axis, uint32_t rank, uint32_t *out);
/* No axes are named, and none are meant; a fault where that is not what
 * implementations agree on. */
bool on_no_axes(on_import *, bool given);
/* As a set; all of them where there is no list. */
bool on_axes(on_import *, uint32_t input, uint32_t rank, bool *out,
             bool *given);

/* ---- what only moves elements, as numbers (shape.c) ---- */

/* Elements first, first + step, ... of a dimension, n of them: with sizes, the
 * step is 1. */
typedef struct on_range {
  gs_number first;
  int64_t step;
  gs_number n;
} on_range;
/* Of Slice, for each dimension. */
bool on_slices(on_import *, const gs_type *, on_range *out);
/* The shape after Reshape, Flatten, Squeeze or Unsqueeze. */
bool on_new_shape(on_import *, const gs_type *, gs_type *out);
bool on_expanded_shape(on_import *, const gs_type *, gs_type *out);
/* Where input k is known: its elements are places in dimensions of these sizes,
 * which take turns, from the end where they are below 0; a fault if not. */
bool on_check_places(on_import *, uint32_t k, const int64_t *size,
                     uint32_t depth);
/* Of Concat. */
bool on_joined_axis(on_import *, uint32_t rank, uint32_t *axis);
/* The order of Transpose. */
bool on_order(on_import *, uint32_t rank, int64_t *out);
/* The axis and the sizes of the parts of Split, one an output, at most 256. */
bool on_parts(on_import *, const gs_type *, uint32_t *axis, int64_t *size);

/* ---- names ---- */

const char *on_fresh_name(on_import *, const char *name);
/* Takes these names from the start. */
void on_take_name(on_import *, const char *name);
const char *on_plain_name(on_import *, const char *name);

/* ---- terms (term.c): poison in, poison out; a fault of the node ---- */

gs_term t_access(on_import *, gs_term, int64_t n);
gs_term t_whole(on_import *, gs_term); /* all dimensions iterated over */
gs_term t_transpose(on_import *, gs_term, const int64_t *order, uint32_t n);
gs_term t_pair(on_import *, gs_term, gs_term);
gs_term t_cartprod(on_import *, gs_term, gs_term);
gs_term t_windows(on_import *, gs_term, const int64_t *shape,
                  const int64_t *stride, const int64_t *dilation, uint32_t n);
gs_term t_slice(on_import *, gs_term, int64_t d, int64_t lo, int64_t hi);
gs_term t_concat(on_import *, gs_term, gs_term, int64_t d);
/* Negative amounts cut off. */
gs_term t_pad(on_import *, gs_term, const char *kind, int64_t d, int64_t before,
              int64_t after);
gs_term t_squeeze(on_import *, gs_term, int64_t d);
gs_term t_insert(on_import *, gs_term, int64_t d);
gs_term t_broadcast(on_import *, gs_term, const int64_t *dim, uint32_t n);
gs_term t_reshape(on_import *, gs_term, const int64_t *s, uint32_t n_s,
                  const int64_t *c, uint32_t n_c);
gs_term t_repeat(on_import *, gs_term, int64_t d, int64_t times);
gs_term t_reverse(on_import *, gs_term, int64_t d);
gs_term t_compute(on_import *, const char *op, gs_term);
gs_term t_compute1(on_import *, const char *op, double v, gs_term);
gs_term t_scale(on_import *, double by, gs_term);
gs_term t_offset(on_import *, double by, gs_term);
gs_term t_clip(on_import *, double lo, double hi, gs_term);
gs_term t_cast(on_import *, gs_dtype, gs_term);
gs_term t_widened(on_import *, gs_term); /* half floats as f32 */
gs_term t_fold(on_import *, const char *op, gs_term, gs_term);
/* attr: a step (glenside/program/scan.h) of so many parameters. */
gs_term t_scan(on_import *, bs_value attr, const gs_term *, uint32_t n);
/* c above 0 ? a : b */
gs_term t_select(on_import *, gs_term c, gs_term a, gs_term b);
/* Indices (emit_index.c).  Below 0 they count from the end; as i32. */
gs_term t_from_end(on_import *, gs_term at, int64_t size);
/* Of a table ((s...), (size)) what indices ((s...), (n)) choose. */
gs_term t_look_up(on_import *, gs_term table, gs_term at);
/* 0, 1, ..., n - 1, of i32, f32 or f64. */
gs_term t_iota(on_import *, gs_dtype, int64_t n);
gs_term t_same_index(on_import *, gs_term a, gs_term b);
/* An axis as the only one of C; and back from the end. */
gs_term t_axis_last(on_import *, gs_term, uint32_t axis);
gs_term t_axis_back(on_import *, gs_term, uint32_t axis);
gs_term t_lookup(on_import *, int64_t size, gs_term both);
/* x - max - log(sum exp(x - max)) over the axes (emit_norm.c). */
gs_term t_log_softmax(on_import *, gs_term, const bool *axes);
/* As numpy's matmul (emit_matmul.c); of images in the node's windows, with the
 * bias of that input (emit_conv.c). */
gs_term t_matmul(on_import *, gs_term a, gs_term b);
gs_term t_conv(on_import *, gs_term x, gs_term weights, uint32_t bias);
/* In a dtype in which differences of integers do not wrap (emit_logic.c). */
gs_term t_compared(on_import *, gs_term);
/* 0 or 1, in some dtype; the same shape (emit_logic.c). */
gs_term t_equal(on_import *, gs_term a, gs_term b);
bool t_type(on_import *, gs_term, gs_type *out); /* false: poison */
/* Dimensions of size 1 before it, then broadcast: as numpy does. */
gs_term t_fit(on_import *, gs_term, const int64_t *dim, uint32_t rank);
/* The shape that both fit; a fault where there is none. */
bool t_common(on_import *, const gs_type *a, const gs_type *b, gs_type *out);
/* Every `step`-th element along d, from the first. */
gs_term t_stride(on_import *, gs_term, int64_t d, int64_t step);
/* One value in a shape. */
gs_term t_value(on_import *, gs_dtype, double v, const int64_t *dim,
                uint32_t rank);
gs_term t_constant(on_import *, on_array *);
/* The set of axes goes last, in order; the order that does it into `order`. */
gs_term t_axes_last(on_import *, gs_term, const bool *axes, int64_t *order);
/* What a reduction gives over the axes that are last: ones inserted. */
gs_term t_keep_axes(on_import *, gs_term, const bool *axes, uint32_t rank);

/* ---- operators ---- */

on_action fold_identity, fold_cast, fold_unary, fold_binary, fold_clip,
    fold_where, fold_shape, fold_constant, fold_constant_of_shape, fold_range,
    fold_gather, fold_concat, fold_slice, fold_reshape, fold_transpose,
    fold_expand, fold_reduce, fold_scatter_nd, fold_split, fold_tile, fold_size,
    fold_window;
/* What is known but for sizes. */
on_action emit_constant_of_shape, emit_range;
on_action emit_unary, emit_binary, emit_clip, emit_activation, emit_cast,
    emit_variadic, emit_pow, emit_where, emit_prelu, emit_compare, emit_both,
    emit_not, emit_is_nan, emit_is_inf, emit_sign;
on_action emit_identity, emit_dropout, emit_reshape, emit_flatten, emit_squeeze,
    emit_unsqueeze, emit_transpose, emit_concat, emit_slice, emit_split,
    emit_pad, emit_expand, emit_tile, emit_gather, emit_gather_elements,
    emit_gather_nd, emit_depth_space, emit_scatter_elements, emit_scatter_nd,
    emit_arg, emit_top_k, emit_cum_sum, emit_one_hot, emit_trilu,
    emit_recurrent, emit_function, emit_mod, emit_general_pow, emit_loss,
    emit_hardmax, emit_eye_like, emit_cast_like, emit_lrn, emit_quantize,
    emit_dequantize, emit_compress, emit_reverse_sequence, emit_bit_shift;
on_action emit_conv, emit_conv_transpose, emit_pool, emit_global_pool,
    emit_gemm, emit_matmul, emit_batch_norm, emit_layer_norm,
    emit_instance_norm, emit_softmax, emit_reduce, emit_resize, emit_einsum,
    emit_matmul_integer, emit_conv_integer, emit_qlinear_matmul,
    emit_qlinear_conv, emit_dynamic_quantize, emit_mean_variance, emit_lp_norm,
    emit_if, emit_loop, emit_scan, emit_grid_sample;

/* Which of a family; the columns of the table say so. */
enum {
  ON_ADD,
  ON_SUB,
  ON_MUL,
  ON_DIV,
  ON_MIN,
  ON_MAX,
  ON_MEAN,
  ON_POW,
  ON_MOD,
  ON_AND,
  ON_OR,
  ON_XOR,
  ON_EQUAL,
  ON_LESS,
  ON_GREATER,
  ON_LESS_EQUAL,
  ON_GREATER_EQUAL
};
enum {
  ON_NEG,
  ON_ABS,
  ON_SQRT,
  ON_EXP,
  ON_LOG,
  ON_TANH,
  ON_ERF,
  ON_SIN,
  ON_COS,
  ON_SIGMOID,
  ON_RECIP,
  ON_FLOOR,
  ON_RELU,
  ON_CEIL,
  ON_ROUND,
  ON_NOT
};
enum {
  ON_HARD_SWISH,
  ON_HARD_SIGMOID,
  ON_GELU,
  ON_LEAKY_RELU,
  ON_SOFTPLUS,
  ON_SOFTSIGN,
  ON_ELU,
  ON_SELU,
  ON_MISH,
  ON_SILU,
  ON_THRESHOLDED
};
enum {
  ON_REDUCE_SUM,
  ON_REDUCE_MEAN,
  ON_REDUCE_MAX,
  ON_REDUCE_MIN,
  ON_REDUCE_PROD,
  ON_REDUCE_L1,
  ON_REDUCE_L2,
  ON_REDUCE_SUM_SQUARE,
  ON_REDUCE_LOG_SUM,
  ON_REDUCE_LOG_SUM_EXP
};
enum {
  ON_TAN,
  ON_SINH,
  ON_COSH,
  ON_ASINH,
  ON_ACOSH,
  ON_ATANH,
  ON_ASIN,
  ON_ACOS,
  ON_ATAN,
  ON_SHRINK,
  ON_CELU
};
enum { ON_LSTM, ON_GRU, ON_RNN };
enum { ON_LOOP, ON_SCAN };
enum { ON_HANN, ON_HAMMING, ON_BLACKMAN };
enum { ON_MAX_POOL, ON_AVERAGE_POOL, ON_LP_POOL };
enum { ON_LAYER_NORM, ON_RMS_NORM };
enum { ON_INSTANCE_NORM, ON_GROUP_NORM };
enum { ON_DEPTH_TO_SPACE, ON_SPACE_TO_DEPTH };
enum { ON_RESHAPE, ON_FLATTEN, ON_SQUEEZE, ON_UNSQUEEZE };
enum { ON_SOFTMAX, ON_LOG_SOFTMAX };

#endif
