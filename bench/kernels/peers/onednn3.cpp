// SPDX-License-Identifier: MIT
// onednn3.cpp - the same kernels by oneDNN 3.x, in several types.
//
// What is done once for all calls is not timed: weights are in the layout that
// the library likes best.  Variants say how activations lie:
//   plain     as they come: matrices by rows, images as the kind of problem
//             says
//   any       as the library likes best; reordered before and after, as between
//             the layers of a network
//   nhwc, blocked    images with channels innermost, all or 16 of them
#include "worker.h"

#include <dnnl.hpp>
#include <cstring>
#include <string>
#include <unordered_map>

using namespace dnnl;
using tag = memory::format_tag;
using type = memory::data_type;

namespace {

engine cpu;
stream order;
primitive step;
std::unordered_map<int, memory> arguments;
memory result, plain_result;
std::string fault;

// The array of a worker as the library's own memory of that description.
memory
brought(const memory::dims &dims, tag layout, float *data,
        const memory::desc &to) {
  memory from({dims, type::f32, layout}, cpu), out(to, cpu);
  std::memcpy(from.get_data_handle(), data, from.get_desc().get_size());
  reorder(from, out).execute(order, from, out);
  order.wait();
  return out;
}

memory::desc
wanted(const memory::dims &dims, type of, bool free, tag layout) {
  return {dims, of, free ? tag::any : layout};
}

void
result_is(const memory::dims &dims, tag layout, const memory::desc &made) {
  plain_result = memory({dims, type::f32, layout}, cpu);
  result = memory(made, cpu);
  arguments[DNNL_ARG_DST] = result;
}

bool
ends_with(const std::string &text, const char *end) {
  size_t n = std::strlen(end);
  return text.size() >= n && !text.compare(text.size() - n, n, end);
}

// The type of factors by what a kind of problem ends with.
type
factors_of(const std::string &kind) {
  return ends_with(kind, "-i8")     ? type::s8
         : ends_with(kind, "-bf16") ? type::bf16
                                    : type::f32;
}

type
sums_of(type factors) {
  return factors == type::s8 ? type::s32 : type::f32;
}

// sizes M N K
void
prepare_gemm(problem *p, bool any) {
  const long *n = p->size;
  type of = factors_of(p->kind);
  memory::dims a{n[0], n[2]}, b{n[2], n[1]}, c{n[0], n[1]};
  matmul::primitive_desc made(cpu, wanted(a, of, any, tag::ab),
                              wanted(b, of, true, tag::ab),
                              wanted(c, sums_of(of), any, tag::ab));
  arguments = {
      {DNNL_ARG_SRC, brought(a, tag::ab, p->in[0], made.src_desc())},
      {DNNL_ARG_WEIGHTS, brought(b, tag::ab, p->in[1], made.weights_desc())}};
  result_is(c, tag::ab, made.dst_desc());
  step = matmul(made);
}

// sizes C H W O K stride pad; NHWC and O H W I, or NCHW and O I H W
void
prepare_conv(problem *p, bool any) {
  const long *n = p->size;
  type of = factors_of(p->kind);
  bool last = of != type::f32;
  tag images = last ? tag::nhwc : tag::nchw;
  tag filters = last ? tag::ohwi : tag::oihw;
  long h = (n[1] + 2 * n[6] - n[4]) / n[5] + 1;
  long w = (n[2] + 2 * n[6] - n[4]) / n[5] + 1;
  memory::dims in{1, n[0], n[1], n[2]}, weights{n[3], n[0], n[4], n[4]};
  memory::dims out{1, n[3], h, w}, stride{n[5], n[5]}, pad{n[6], n[6]};
  convolution_forward::primitive_desc made(
      cpu, prop_kind::forward_inference, algorithm::convolution_auto,
      wanted(in, of, any, images), wanted(weights, of, true, filters),
      wanted(out, sums_of(of), any, images), stride, pad, pad);
  arguments = {
      {DNNL_ARG_SRC, brought(in, images, p->in[0], made.src_desc())},
      {DNNL_ARG_WEIGHTS,
       brought(weights, filters, p->in[1], made.weights_desc())}};
  result_is(out, images, made.dst_desc());
  step = convolution_forward(made);
}

// Images in the layout of a variant.
memory::desc
image_of(const memory::dims &dims, const std::string &variant) {
  tag layout = variant == "any"       ? tag::any
               : variant == "nhwc"    ? tag::nhwc
               : variant == "blocked" ? tag::nChw16c
                                      : tag::nchw;
  return {dims, type::f32, layout};
}

// As many channels in and out in each of the groups; NCHW and G O I H W, or
// NHWC and H W I G O.
void
prepare_groups(problem *p, const memory::dims &in, const memory::dims &out,
               const memory::dims &weights, long stride) {
  bool last = ends_with(p->kind, "-nhwc");
  tag images = last ? tag::nhwc : tag::nchw;
  tag filters = last ? tag::hwigo : tag::goihw;
  long pad = weights[3] / 2, k = weights[3];
  memory::dims before{pad, pad};
  memory::dims after{(out[2] - 1) * stride + k - in[2] - pad,
                     (out[3] - 1) * stride + k - in[3] - pad};
  convolution_forward::primitive_desc made(
      cpu, prop_kind::forward_inference, algorithm::convolution_direct,
      image_of(in, p->variant), wanted(weights, type::f32, true, filters),
      image_of(out, p->variant), {stride, stride}, before, after);
  arguments = {
      {DNNL_ARG_SRC, brought(in, images, p->in[0], made.src_desc())},
      {DNNL_ARG_WEIGHTS,
       brought(weights, filters, p->in[1], made.weights_desc())}};
  result_is(out, images, made.dst_desc());
  step = convolution_forward(made);
}

// sizes C H W K stride
void
prepare_depthwise(problem *p) {
  const long *n = p->size;
  prepare_groups(p, {1, n[0], n[1], n[2]},
                 {1, n[0], (n[1] - 1) / n[4] + 1, (n[2] - 1) / n[4] + 1},
                 {n[0], 1, 1, n[3], n[3]}, n[4]);
}

// sizes C H W O K groups
void
prepare_grouped(problem *p) {
  const long *n = p->size;
  prepare_groups(p, {1, n[0], n[1], n[2]}, {1, n[3], n[1], n[2]},
                 {n[5], n[3] / n[5], n[0] / n[5], n[4], n[4]}, 1);
}

// sizes C H W K stride and, of the largest, pad
void
prepare_pool(problem *p, algorithm kind) {
  const long *n = p->size;
  long pad = kind == algorithm::pooling_max ? n[5] : 0;
  memory::dims in{1, n[0], n[1], n[2]};
  memory::dims out{1, n[0], (n[1] + 2 * pad - n[3]) / n[4] + 1,
                   (n[2] + 2 * pad - n[3]) / n[4] + 1};
  pooling_forward::primitive_desc made(
      cpu, prop_kind::forward_inference, kind, image_of(in, p->variant),
      image_of(out, p->variant), {n[4], n[4]}, {n[3], n[3]}, {0, 0}, {pad, pad},
      {pad, pad});
  arguments = {
      {DNNL_ARG_SRC, brought(in, tag::nchw, p->in[0], made.src_desc())}};
  result_is(out, tag::nchw, made.dst_desc());
  step = pooling_forward(made);
}

// sizes R N
void
prepare_layernorm(problem *p) {
  memory::dims rows{p->size[0], p->size[1]}, row{p->size[1]};
  memory::desc all(rows, type::f32, tag::ab), one(row, type::f32, tag::a);
  layer_normalization_forward::primitive_desc made(
      cpu, prop_kind::forward_inference, all, all, 1e-5f,
      normalization_flags::use_scale | normalization_flags::use_shift);
  arguments = {{DNNL_ARG_SRC, brought(rows, tag::ab, p->in[0], all)},
               {DNNL_ARG_SCALE, brought(row, tag::a, p->in[1], one)},
               {DNNL_ARG_SHIFT, brought(row, tag::a, p->in[2], one)}};
  result_is(rows, tag::ab, all);
  step = layer_normalization_forward(made);
}

// sizes R N
void
prepare_softmax(problem *p) {
  memory::dims rows{p->size[0], p->size[1]};
  memory::desc all(rows, type::f32, tag::ab);
  softmax_forward::primitive_desc made(cpu, prop_kind::forward_inference,
                                       algorithm::softmax_accurate, all, all,
                                       1);
  arguments = {{DNNL_ARG_SRC, brought(rows, tag::ab, p->in[0], all)}};
  result_is(rows, tag::ab, all);
  step = softmax_forward(made);
}

// sizes M K; any: the matrix is packed
void
prepare_matvec(problem *p, bool any) {
  long m = p->size[0], k = p->size[1];
  memory::dims a{m, k}, x{1, k}, y{1, m};
  inner_product_forward::primitive_desc made(
      cpu, prop_kind::forward_inference, wanted(x, type::f32, false, tag::ab),
      wanted(a, type::f32, any, tag::ab), wanted(y, type::f32, false, tag::ab));
  arguments = {
      {DNNL_ARG_SRC, brought(x, tag::ab, p->in[1], made.src_desc())},
      {DNNL_ARG_WEIGHTS, brought(a, tag::ab, p->in[0], made.weights_desc())}};
  result_is(y, tag::ab, made.dst_desc());
  step = inner_product_forward(made);
}

bool
prepare_light(problem *p) {
  const std::string kind = p->kind, variant = p->variant;
  if (kind == "depthwise" || kind == "depthwise-nhwc")
    prepare_depthwise(p);
  else if (kind == "grouped")
    prepare_grouped(p);
  else if (kind == "pool")
    prepare_pool(p, algorithm::pooling_max);
  else if (kind == "average")
    prepare_pool(p, algorithm::pooling_avg_exclude_padding);
  else if (kind == "layernorm")
    prepare_layernorm(p);
  else if (kind == "softmax")
    prepare_softmax(p);
  else if (kind == "matvec")
    prepare_matvec(p, variant == "any");
  else
    return false;
  return true;
}

} // namespace

extern "C" const char *
peer_prepare(problem *p) {
  bool any = !std::strcmp(p->variant, "any");
  try {
    cpu = engine(engine::kind::cpu, 0);
    order = stream(cpu);
    if (!std::strncmp(p->kind, "conv", 4))
      prepare_conv(p, any);
    else if (!std::strncmp(p->kind, "gemm", 4))
      prepare_gemm(p, any);
    else if (!prepare_light(p))
      return "no primitive";
  } catch (const error &e) {
    fault = std::string(p->variant) + ": " + e.what();
    return fault.c_str();
  }
  return nullptr;
}

extern "C" void
peer_run(problem *) {
  step.execute(order, arguments);
  order.wait();
}

extern "C" void
peer_finish(problem *p) {
  reorder(result, plain_result).execute(order, result, plain_result);
  order.wait();
  std::memcpy(p->out[0], plain_result.get_data_handle(),
              plain_result.get_desc().get_size());
}
