// SPDX-License-Identifier: MIT
// onednn.cpp - convolutions, pooling and matrix products by oneDNN.
//
// Variants, two words with a hyphen: the layout and the algorithm.
//   plain     activations NCHW, weights OIHW, all as they come
//   packed    activations NCHW, weights in the layout the library likes best,
//             reordered beforehand
//   blocked   everything in the layout the library likes best; activations are
//             reordered beforehand and the result afterwards, untimed, as
//             between the layers of a network
//   direct, auto, winograd    the algorithm of a convolution
//   8, 16     channels in a block, for pooling, which has no favourite
#include "worker.h"

#include <dnnl.hpp>
#include <cstring>
#include <string>
#include <unordered_map>

using namespace dnnl;
using tag = memory::format_tag;
using type = memory::data_type;

namespace {

engine cpu(engine::kind::cpu, 0);
stream order(cpu);
primitive step;
std::unordered_map<int, memory> arguments;
memory result, plain_result;
bool multiply;
std::string fault;

memory
wrap(const memory::dims &dims, tag layout, float *data) {
  return memory({dims, type::f32, layout}, cpu, data);
}

memory
moved(memory from, const memory::desc &to) {
  if (from.get_desc() == to)
    return from;
  memory out(to, cpu);
  reorder(from, out).execute(order, from, out);
  order.wait();
  return out;
}

memory::desc
wanted(const memory::dims &dims, bool free, tag layout) {
  return {dims, type::f32, free ? tag::any : layout};
}

// sizes C H W O K stride pad
void
prepare_conv(problem *p, const std::string &variant) {
  const long *n = p->size;
  long h = (n[1] + 2 * n[6] - n[4]) / n[5] + 1;
  long w = (n[2] + 2 * n[6] - n[4]) / n[5] + 1;
  memory::dims in{1, n[0], n[1], n[2]}, weights{n[3], n[0], n[4], n[4]};
  memory::dims out{1, n[3], h, w}, stride{n[5], n[5]}, pad{n[6], n[6]};
  std::string layout = variant.substr(0, variant.find('-'));
  std::string how = variant.substr(variant.find('-') + 1);
  bool blocked = layout == "blocked", packed = blocked || layout == "packed";
  algorithm kind = how == "winograd" ? algorithm::convolution_winograd
                   : how == "auto"   ? algorithm::convolution_auto
                                     : algorithm::convolution_direct;
  convolution_forward::primitive_desc made(
      {prop_kind::forward_inference, kind, wanted(in, blocked, tag::nchw),
       wanted(weights, packed, tag::oihw), wanted(out, blocked, tag::nchw),
       stride, pad, pad},
      cpu);
  memory source = moved(wrap(in, tag::nchw, p->in[0]), made.src_desc());
  memory filter =
      moved(wrap(weights, tag::oihw, p->in[1]), made.weights_desc());
  plain_result = wrap(out, tag::nchw, p->out[0]);
  result = made.dst_desc() == plain_result.get_desc()
               ? plain_result
               : memory(made.dst_desc(), cpu);
  arguments = {{DNNL_ARG_SRC, source},
               {DNNL_ARG_WEIGHTS, filter},
               {DNNL_ARG_DST, result}};
  step = convolution_forward(made);
}

// sizes C H W K stride pad
void
prepare_pool(problem *p, const std::string &variant) {
  const long *n = p->size;
  long h = (n[1] + 2 * n[5] - n[3]) / n[4] + 1;
  long w = (n[2] + 2 * n[5] - n[3]) / n[4] + 1;
  memory::dims in{1, n[0], n[1], n[2]}, out{1, n[0], h, w};
  memory::dims window{n[3], n[3]}, stride{n[4], n[4]}, pad{n[5], n[5]};
  bool blocked = variant.compare(0, 7, "blocked") == 0;
  tag layout = !blocked                  ? tag::nchw
               : variant == "blocked-16" ? tag::nChw16c
                                         : tag::nChw8c;
  memory::desc source_desc(in, type::f32, layout);
  pooling_forward::primitive_desc made(
      {prop_kind::forward_inference, algorithm::pooling_max, source_desc,
       wanted(out, true, layout), stride, window, pad, pad},
      cpu);
  plain_result = wrap(out, tag::nchw, p->out[0]);
  result = made.dst_desc() == plain_result.get_desc()
               ? plain_result
               : memory(made.dst_desc(), cpu);
  arguments = {
      {DNNL_ARG_SRC, moved(wrap(in, tag::nchw, p->in[0]), source_desc)},
      {DNNL_ARG_DST, result}};
  step = pooling_forward(made);
}

} // namespace

extern "C" const char *
peer_prepare(problem *p) {
  try {
    if (!strcmp(p->kind, "conv"))
      prepare_conv(p, p->variant);
    else if (!strcmp(p->kind, "pool"))
      prepare_pool(p, p->variant);
    else if (!strcmp(p->kind, "gemm"))
      multiply = true;
    else
      return "no primitive";
  } catch (const error &e) {
    fault = std::string(p->variant) + ": " + e.what();
    return fault.c_str();
  }
  return nullptr;
}

extern "C" void
peer_run(problem *p) {
  if (multiply) {
    const long *n = p->size;
    dnnl_sgemm('N', 'N', n[0], n[1], n[2], 1, p->in[0], n[2], p->in[1], n[1], 0,
               p->out[0], n[1]);
    return;
  }
  step.execute(order, arguments);
  order.wait();
}

extern "C" void
peer_finish(problem *) {
  if (multiply || result.get_desc() == plain_result.get_desc())
    return;
  reorder(result, plain_result).execute(order, result, plain_result);
  order.wait();
}
