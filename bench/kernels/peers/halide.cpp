// SPDX-License-Identifier: MIT
// halide.cpp - pipelines, convolutions and matrix products by Halide, compiled
// at run time.
//
// The variant names the schedule: `manual`, `manual-...` (those that Halide
// publishes with its examples, and neighbours of them), or an autoscheduler:
// Mullapudi2016, Adams2019, Li2018.  All compute what the .glen programs do;
// images are planar, a convolution has Halide's own order of dimensions, into
// which its arrays are brought beforehand.
#include "worker.h"

#include <Halide.h>
#include <cstring>
#include <stdexcept>
#include <string>

using namespace Halide;

namespace {

Var x("x"), y("y"), c("c"), n("n"), xo, xi, yo, yi, co, ci, t;
Pipeline pipeline;
Buffer<float> result;
Buffer<float> held[4];
void (*after)(problem *);
std::string fault;
int vec;

Buffer<float>
image(float *data, std::initializer_list<int> extents) {
  return Buffer<float>(data, std::vector<int>(extents));
}

bool
manual(const std::string &variant) {
  return variant.compare(0, 6, "manual") == 0;
}

// The image itself, or for an autoscheduler a copy with room around it: some
// round the work of a stage up and read beyond the edge.
Buffer<float>
source_of(Buffer<float> in, const std::string &variant) {
  if (manual(variant))
    return in;
  std::vector<int> extents, least;
  for (int d = 0; d < in.dimensions(); d++) {
    extents.push_back(in.dim(d).extent() + (d < 2 ? 256 : 0));
    least.push_back(d < 2 ? -128 : 0);
  }
  Buffer<float> out(extents);
  out.set_min(least);
  out.fill(0);
  out.copy_from(in);
  return out;
}

// The number behind the last hyphen, as in manual-32.
int
number_of(const std::string &variant, int otherwise) {
  size_t at = variant.rfind('-');
  return at == std::string::npos ? otherwise : atoi(variant.c_str() + at + 1);
}

// sizes H W of the result
void
make_blur(problem *p, const std::string &variant) {
  int h = p->size[0], w = p->size[1];
  Buffer<float> in = source_of(image(p->in[0], {w + 2, h + 2}), variant);
  Func across("across"), blurred("blurred");
  float third = 0.3333333333f;
  across(x, y) = (in(x, y) + in(x + 1, y) + in(x + 2, y)) * third;
  blurred(x, y) = (across(x, y) + across(x, y + 1) + across(x, y + 2)) * third;
  result = image(p->out[0], {w, h});
  blurred.bound(x, 0, w).bound(y, 0, h);
  blurred.set_estimates({{0, w}, {0, h}});
  if (manual(variant)) {
    blurred.split(y, yo, yi, number_of(variant, 32))
        .parallel(yo)
        .vectorize(x, vec);
    across.store_at(blurred, yo).compute_at(blurred, yi).vectorize(x, vec);
  }
  pipeline = Pipeline(blurred);
}

Func
brightness(const Func &in) {
  Func gray("gray");
  gray(x, y) =
      0.299f * in(x, y, 0) + 0.587f * in(x, y, 1) + 0.114f * in(x, y, 2);
  return gray;
}

Expr
sum3x3(const Func &f) {
  Expr sum = 0.0f;
  for (int dy = 0; dy < 3; dy++)
    for (int dx = 0; dx < 3; dx++)
      sum += f(x + dx, y + dy);
  return sum;
}

// sizes H W of the image
void
make_harris(problem *p, const std::string &variant) {
  int h = p->size[0], w = p->size[1];
  Func in("in");
  in(x, y, c) = source_of(image(p->in[0], {w, h, 3}), variant)(x, y, c);
  Func gray = brightness(in);
  Func ix("ix"), iy("iy"), ixx("ixx"), iyy("iyy"), ixy("ixy");
  Func sxx("sxx"), syy("syy"), sxy("sxy"), corners("corners");
  float edge = 1.0f / 12, middle = 2.0f / 12;
  iy(x, y) = edge * (gray(x, y + 2) - gray(x, y)) +
             middle * (gray(x + 1, y + 2) - gray(x + 1, y)) +
             edge * (gray(x + 2, y + 2) - gray(x + 2, y));
  ix(x, y) = edge * (gray(x + 2, y) - gray(x, y)) +
             middle * (gray(x + 2, y + 1) - gray(x, y + 1)) +
             edge * (gray(x + 2, y + 2) - gray(x, y + 2));
  ixx(x, y) = ix(x, y) * ix(x, y);
  iyy(x, y) = iy(x, y) * iy(x, y);
  ixy(x, y) = ix(x, y) * iy(x, y);
  sxx(x, y) = sum3x3(ixx);
  syy(x, y) = sum3x3(iyy);
  sxy(x, y) = sum3x3(ixy);
  Expr trace = sxx(x, y) + syy(x, y);
  corners(x, y) =
      sxx(x, y) * syy(x, y) - sxy(x, y) * sxy(x, y) - 0.04f * trace * trace;
  result = image(p->out[0], {w - 4, h - 4});
  corners.bound(x, 0, w - 4).bound(y, 0, h - 4);
  corners.set_estimates({{0, w - 4}, {0, h - 4}});
  if (manual(variant)) {
    corners.split(y, yo, yi, number_of(variant, 32))
        .parallel(yo)
        .vectorize(x, vec);
    gray.store_at(corners, yo).compute_at(corners, yi).vectorize(x, vec);
    iy.store_at(corners, yo).compute_at(corners, yi).vectorize(x, vec);
    ix.store_at(corners, yo).compute_at(corners, yi).vectorize(x, vec);
    ix.compute_with(iy, x);
  }
  pipeline = Pipeline(corners);
}

// sizes H W
void
make_unsharp(problem *p, const std::string &variant) {
  int h = p->size[0], w = p->size[1];
  static const float gauss[4] = {0.2706821495f, 0.2167453203f, 0.1112807576f,
                                 0.0366328470f};
  Buffer<float> in = image(p->in[0], {w, h, 3});
  Func bounded = BoundaryConditions::repeat_edge(in);
  Func gray = brightness(bounded);
  Func down("down"), blurred("blurred"), ratio("ratio"), sharpened("sharpened");
  Expr sum = gauss[0] * gray(x, y);
  for (int d = 1; d <= 3; d++)
    sum += gauss[d] * (gray(x, y - d) + gray(x, y + d));
  down(x, y) = sum;
  Expr cross = gauss[0] * down(x, y);
  for (int d = 1; d <= 3; d++)
    cross += gauss[d] * (down(x - d, y) + down(x + d, y));
  blurred(x, y) = cross;
  ratio(x, y) = (2 * gray(x, y) - blurred(x, y)) / gray(x, y);
  sharpened(x, y, c) = ratio(x, y) * in(x, y, c);
  result = image(p->out[0], {w, h, 3});
  sharpened.bound(x, 0, w).bound(y, 0, h).bound(c, 0, 3);
  sharpened.set_estimates({{0, w}, {0, h}, {0, 3}});
  if (manual(variant)) {
    sharpened.split(y, yo, yi, number_of(variant, 32))
        .reorder(x, c, yi, yo)
        .vectorize(x, vec)
        .parallel(yo);
    gray.compute_at(sharpened, yi).store_at(sharpened, yo).vectorize(x, vec);
    down.compute_at(sharpened, yi).store_at(sharpened, yo).vectorize(x, vec);
    ratio.compute_at(sharpened, yi).store_at(sharpened, yo).vectorize(x, vec);
  }
  pipeline = Pipeline(sharpened);
}

// sizes M N K; out = a b
void
make_gemm(problem *p, const std::string &variant) {
  int rows = p->size[0], columns = p->size[1], depth = p->size[2];
  Buffer<float> a = image(p->in[0], {depth, rows});
  Buffer<float> b = image(p->in[1], {columns, depth});
  Func product("product"), out("out");
  RDom k(0, depth);
  product(x, y) += a(k, y) * b(x, k);
  out(x, y) = product(x, y);
  result = image(p->out[0], {columns, rows});
  out.bound(x, 0, columns).bound(y, 0, rows);
  out.set_estimates({{0, columns}, {0, rows}});
  if (manual(variant)) {
    // Tiles for the caches; in them register tiles of `high` rows and two
    // vectors.
    int high = number_of(variant, 4);
    Var xii, yii;
    out.tile(x, y, xi, yi, std::min(columns, 8 * vec), std::min(rows, 8 * high))
        .fuse(x, y, t)
        .parallel(t)
        .tile(xi, yi, xii, yii, 2 * vec, high)
        .vectorize(xii, vec)
        .unroll(xii)
        .unroll(yii);
    product.compute_at(out, xi).vectorize(x, vec).unroll(x).unroll(y);
    product.update()
        .reorder(x, y, k)
        .vectorize(x, vec)
        .unroll(x)
        .unroll(y)
        .unroll(k, 2);
  }
  pipeline = Pipeline(out);
}

void
unpack_conv(problem *p) {
  int channels = result.dim(0).extent(), w = result.dim(1).extent();
  int h = result.dim(2).extent();
  for (int o = 0; o < channels; o++)
    for (int i = 0; i < h; i++)
      for (int j = 0; j < w; j++)
        p->out[0][((size_t)o * h + i) * w + j] = result(o, j, i);
}

// sizes C H W O K stride pad; channels are innermost in all arrays and the
// image is padded
void
make_conv(problem *p, const std::string &variant) {
  int channels = p->size[0], h = p->size[1], w = p->size[2];
  int outs = p->size[3], k = p->size[4], stride = p->size[5], pad = p->size[6];
  int ho = (h + 2 * pad - k) / stride + 1, wo = (w + 2 * pad - k) / stride + 1;
  Buffer<float> in(channels, w + 2 * pad, h + 2 * pad);
  in.fill(0);
  for (int i = 0; i < channels; i++)
    for (int a = 0; a < h; a++)
      for (int b = 0; b < w; b++)
        in(i, b + pad, a + pad) = p->in[0][((size_t)i * h + a) * w + b];
  Buffer<float> filter(outs, k, k, channels);
  for (int o = 0; o < outs; o++)
    for (int i = 0; i < channels; i++)
      for (int a = 0; a < k; a++)
        for (int b = 0; b < k; b++)
          filter(o, b, a, i) =
              p->in[1][(((size_t)o * channels + i) * k + a) * k + b];
  held[0] = in;
  held[1] = filter;
  Func conv("conv"), out("out"), source("source"), weights("weights");
  Var u, v;
  source(c, x, y) = in(c, x, y);
  weights(c, u, v, n) = filter(c, u, v, n);
  RDom r(0, channels, 0, k, 0, k);
  conv(c, x, y) += weights(c, r.y, r.z, r.x) *
                   source(r.x, stride * x + r.y, stride * y + r.z);
  out(c, x, y) = conv(c, x, y);
  result = Buffer<float>(outs, wo, ho);
  result.fill(0);
  after = unpack_conv;
  out.bound(c, 0, outs).bound(x, 0, wo).bound(y, 0, ho);
  out.set_estimates({{0, outs}, {0, wo}, {0, ho}});
  if (manual(variant)) {
    int wide = number_of(variant, 2), high = std::min(wide == 3 ? 4 : 5, wo);
    if (outs % (vec * wide))
      throw std::runtime_error("the channels are no multiple of its tile");
    out.split(c, co, ci, vec * wide, TailStrategy::GuardWithIf)
        .split(x, xo, xi, high, TailStrategy::ShiftInwards)
        .reorder(ci, xi, xo, y, co)
        .vectorize(ci, vec)
        .unroll(ci)
        .unroll(xi)
        .fuse(y, co, t)
        .parallel(t);
    conv.compute_at(out, xo).vectorize(c, vec).unroll(c).unroll(x);
    conv.update()
        .reorder(c, x, r.x, r.y, r.z)
        .vectorize(c, vec)
        .unroll(c)
        .unroll(x);
    if (channels % 2 == 0)
      conv.update().unroll(r.x, 2);
  }
  pipeline = Pipeline(out);
}

const struct {
  const char *kind;
  void (*make)(problem *, const std::string &);
} table[] = {{"blur", make_blur},
             {"harris", make_harris},
             {"unsharp", make_unsharp},
             {"gemm", make_gemm},
             {"conv", make_conv}};

void
schedule(problem *p, const std::string &variant, const Target &target) {
  if (manual(variant))
    return;
  std::string file = variant;
  for (char &letter : file)
    letter = (char)tolower(letter);
  load_plugin(PLUGINS "/libautoschedule_" + file + ".so");
  pipeline.auto_schedule(variant, target,
                         MachineParams(p->threads, 16 << 20, 40));
}

} // namespace

extern "C" const char *
peer_prepare(problem *p) {
  Target target = get_jit_target_from_environment();
  vec = target.natural_vector_size<float>();
  for (auto &entry : table) {
    if (strcmp(entry.kind, p->kind))
      continue;
    try {
      entry.make(p, p->variant);
      schedule(p, p->variant, target);
      pipeline.compile_jit(target);
      pipeline.realize(result); // finds accesses out of bounds
    } catch (const std::exception &e) {
      fault = std::string(p->variant) + ": " + e.what();
      fault = fault.substr(0, fault.find('\n'));
      return fault.c_str();
    }
    return nullptr;
  }
  return "no pipeline";
}

extern "C" void
peer_run(problem *) {
  pipeline.realize(result);
}

extern "C" void
peer_finish(problem *p) {
  if (after)
    after(p);
}
