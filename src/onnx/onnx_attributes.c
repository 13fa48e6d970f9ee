/* SPDX-License-Identifier: MIT */
/* onnx_attributes.c - what a node may say beside its inputs: which attributes,
 * of which kind, with which words.
 *
 * What is not as the format has it is refused: read as if it were left out, it
 * would change what the node means. */
#include "base/text.h"
#include "onnx/onnx_graph.h"

#include <string.h>

/* Kinds by the numbers of the format. */
enum { REAL = 1, INT, TEXT, TENSOR, GRAPH, REALS, INTS, TEXTS, KINDS };

static const char *const kind_names[KINDS] = {
    [REAL] = "a real number",
    [INT] = "an integer",
    [TEXT] = "a text",
    [TENSOR] = "a tensor",
    [GRAPH] = "a graph",
    [REALS] = "a list of real numbers",
    [INTS] = "a list of integers",
    [TEXTS] = "a list of texts",
};

/* A name has one kind in all operators; those that are not here are integers.
 */
static const char *const names_of[KINDS] = {
    [REAL] = "alpha beta bias clip cubic_coeff_a epsilon extrapolation_value "
             "gamma lambd momentum ratio value_float",
    [TEXT] = "approximate auto_pad coordinate_transformation_mode direction "
             "equation keep_aspect_ratio_policy mode nearest_mode padding_mode "
             "reduction",
    [TENSOR] = "value",
    [GRAPH] = "body else_branch then_branch",
    [REALS] = "activation_alpha activation_beta value_floats",
    [INTS] = "axes dilations kernel_shape output_padding output_shape pads "
             "perm scan_input_axes scan_input_directions scan_output_axes "
             "scan_output_directions strides value_ints",
    [TEXTS] = "activations",
};

static int
kind_of_name(const char *name) {
  for (int kind = REAL; kind < KINDS; kind++)
    if (bs_has_word(names_of[kind], name))
      return kind;
  return INT;
}

/* What it says that it is, or else what it holds; an empty list holds nothing.
 */
static bool
is_of_kind(const Onnx__Attribute *a, int kind) {
  const bool holds[KINDS] = {
      [REAL] = a->has_f,       [INT] = a->has_i,       [TEXT] = a->has_s,
      [TENSOR] = a->t != NULL, [GRAPH] = a->has_g,     [REALS] = a->n_floats,
      [INTS] = a->n_ints,      [TEXTS] = a->n_strings,
  };
  for (int other = 0; other < KINDS; other++)
    if (holds[other] && other != kind)
      return false;
  if (a->n_tensors || a->n_graphs || a->ref_attr_name)
    return false;
  bool empty = kind >= REALS;
  return a->has_type && a->type ? a->type == kind && (kind != TENSOR || a->t) &&
                                      (kind != GRAPH || a->has_g)
                                : holds[kind] || empty;
}

static bool
check_kind(on_import *im, const Onnx__Attribute *a) {
  int kind = kind_of_name(a->name);
  if (a->ref_attr_name && *a->ref_attr_name)
    return on_fail(im,
                   "the attribute %s is that of a function, in which the node "
                   "does not stand",
                   a->name);
  return is_of_kind(a, kind) ||
         on_fail(im, "the attribute %s is not %s", a->name, kind_names[kind]);
}

/* Where other words, or other numbers than 0 and 1, would have a meaning that
 * nobody knows. */
static const char flags[] =
    "align_corners allowzero antialias ceil_mode count_include_pad "
    "detect_negative "
    "detect_positive exclude_outside exclusive fmod input_forget keepdims "
    "largest layout linear_before_reset noop_with_empty_axes periodic reverse "
    "select_last_index sorted training_mode transA transB upper";
static const struct {
  const char *name, *operators, *words; /* NULL: of all operators */
} choices[] = {
    {"approximate", NULL, "none tanh"},
    {"auto_pad", NULL, "NOTSET SAME_LOWER SAME_UPPER VALID"},
    {"direction", "BitShift", "LEFT RIGHT"},
    {"direction", "GRU LSTM RNN", "bidirectional forward reverse"},
    {"keep_aspect_ratio_policy", NULL, "not_larger not_smaller stretch"},
    {"mode", "DepthToSpace", "CRD DCR"},
    {"mode", "GridSample", "bicubic bilinear cubic linear nearest"},
    {"mode", "Pad", "constant edge reflect wrap"},
    {"mode", "Resize", "cubic linear nearest"},
    {"coordinate_transformation_mode", NULL,
     "align_corners asymmetric half_pixel half_pixel_symmetric "
     "pytorch_half_pixel tf_crop_and_resize tf_half_pixel_for_nn"},
    {"nearest_mode", NULL, "ceil floor round_prefer_ceil round_prefer_floor"},
    {"padding_mode", NULL, "border reflection zeros"},
    {"reduction", "NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss",
     "mean none sum"},
    {"reduction", "ScatterElements ScatterND", "add max min mul none"},
};

static bool
check_word(on_import *im, const Onnx__Attribute *a, const char *words) {
  const char *word = bs_arena_printf(im->ctx->arena, "%.*s", (int)a->s.len,
                                     (const char *)a->s.data);
  if (strlen(word) == a->s.len && bs_has_word(words, word))
    return true;
  on_fail(im, "the attribute %s has an unknown value", a->name);
  on_hint(im, "it is one of %s", words);
  return false;
}

static bool
check_value(on_import *im, const Onnx__Attribute *a) {
  if (bs_has_word(flags, a->name) && a->i != 0 && a->i != 1)
    return on_fail(im, "the attribute %s is neither 0 nor 1", a->name);
  for (size_t k = 0; k < sizeof choices / sizeof *choices; k++)
    if (!strcmp(choices[k].name, a->name) &&
        (!choices[k].operators ||
         bs_has_word(choices[k].operators, im->row->name)))
      return check_word(im, a, choices[k].words);
  return true;
}

static bool
check_one(on_import *im, const Onnx__Attribute *a) {
  const char *name = a->name ? a->name : "";
  if (!bs_has_word(im->row->attributes, name)) {
    on_fail(im, "the attribute %.60s is not supported",
            *name ? name : "without a name");
    on_hint(im, *im->row->attributes ? "%s has these: %s" : "%s has none%s",
            im->row->name, im->row->attributes);
    return false;
  }
  if (on_attr(im, name) != a)
    return on_fail(im, "the attribute %s is given twice", name);
  return check_kind(im, a) && check_value(im, a);
}

bool
on_check_attributes(on_import *im) {
  for (size_t k = 0; k < im->node->n_attribute; k++)
    if (!check_one(im, im->node->attribute[k]))
      return false;
  return true;
}
