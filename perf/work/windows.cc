// SPDX-License-Identifier: Apache-2.0
//
// Convolutions and pools.

#include <algorithm>
#include <vector>

#include "framework/kernels/window.h"
#include "perf/work/rules.h"

namespace assay::work {
namespace {

using kernels::Window;
using kernels::WindowAttributes;

/// Pairs of a place of the window and a place of the kernel.
struct Taps {
  double inside = 1;  // of the image
  double all = 1;     // on its pads as well
};

struct Line {
  int64_t places, stride, extent;
};

/// How many places o in [0, places) have 0 <= o * stride + at < extent.
double Inside(const Line& line, int64_t at) {
  const auto up = [&line](int64_t n) {  // n / stride, rounded up
    return n <= 0 ? -(-n / line.stride) : (n + line.stride - 1) / line.stride;
  };
  const int64_t first = std::max<int64_t>(0, up(-at));
  const int64_t last = std::min(line.places, up(line.extent - at));
  return static_cast<double>(std::max<int64_t>(0, last - first));
}

/// `places` slide over `extents`: outputs over inputs, or of a transposed
/// convolution the other way.
Taps TapsOf(const Window& window, std::span<const int64_t> places,
            std::span<const int64_t> extents) {
  Taps taps;
  for (size_t i = 0; i < places.size(); ++i) {
    const Line line = {places[i], window.strides[i], extents[i]};
    double inside = 0;
    for (int64_t k = 0; k < window.kernel[i]; ++k) {
      inside += Inside(line, k * window.dilations[i] - window.pads_begin[i]);
    }
    taps.inside *= inside;
    taps.all *=
        static_cast<double>(places[i]) * static_cast<double>(window.kernel[i]);
  }
  return taps;
}

std::vector<int64_t> Spatial(const Shape& shape) {
  return {shape.begin() + 2, shape.end()};
}

WindowAttributes AttributesOf(const NodeFacts& facts) {
  return {.kernel = facts.Integers("kernel_shape"),
          .strides = facts.Integers("strides"),
          .dilations = facts.Integers("dilations"),
          .pads = facts.Integers("pads"),
          .auto_pad = facts.Text("auto_pad", "NOTSET"),
          .ceil_mode = facts.Integer("ceil_mode", 0) != 0,
          .output_padding = facts.Integers("output_padding"),
          .output_shape = facts.Integers("output_shape")};
}

Window Resolved(const Result<Window>& window) {
  if (window.ok()) return *window;
  throw Untold{Reason::kAttribute, window.status().message()};
}

/// A product and a sum for each tap, each channel of the kernel and each
/// channel that it makes: DeepBench's 2 N K C R S P Q with what lies on pads
/// apart, as oneDNN's benchdnn and XLA count.
void AddProducts(double channels, const Taps& taps, Work* work) {
  work->flops += 2 * channels * taps.inside;
  work->on_padding += 2 * channels * (taps.all - taps.inside);
}

/// A convolution of the inputs `x` and `w`: [N,C,...] and [M,C/group,...].
void CountConvolution(const NodeFacts& facts, size_t x, size_t w, Work* work) {
  const Shape weights = facts.In(w);
  WindowAttributes attributes = AttributesOf(facts);
  attributes.kernel = Spatial(weights);
  const std::vector<int64_t> image = Spatial(facts.In(x));
  const Window window = Resolved(kernels::ResolveWindow(attributes, image));
  const double channels =
      static_cast<double>(facts.In(x)[0]) * Extent(weights, 0, 2);
  AddProducts(channels, TapsOf(window, window.output, image), work);
}

void CountConv(const NodeFacts& facts, Work* work) {
  CountConvolution(facts, 0, 1, work);
  if (facts.HasIn(2)) work->flops += facts.CountOut(0);
}

void CountConvInteger(const NodeFacts& facts, Work* work) {
  CountConvolution(facts, 0, 1, work);
}

/// As QLinearMatMul, behind the bias.
void CountQLinearConv(const NodeFacts& facts, Work* work) {
  CountConvolution(facts, 0, 3, work);
  work->flops += (facts.HasIn(8) ? 6 : 5) * facts.CountOut(0);
}

/// Weights are [C,M/group,...]; what falls on the pads is cut away.
void CountConvTranspose(const NodeFacts& facts, Work* work) {
  const Shape weights = facts.In(1);
  WindowAttributes attributes = AttributesOf(facts);
  attributes.kernel = Spatial(weights);
  const std::vector<int64_t> image = Spatial(facts.In(0));
  const Window window =
      Resolved(kernels::ResolveTransposedWindow(attributes, image));
  const double channels =
      static_cast<double>(facts.In(0)[0]) * Extent(weights, 0, 2);
  AddProducts(channels, TapsOf(window, image, window.output), work);
  if (facts.HasIn(2)) work->flops += facts.CountOut(0);
}

/// DeformConv-22: each tap of each channel is interpolated of four neighbours
/// (7), weighed by the mask, and goes into the products. Where taps lie is in
/// the data: all count.
void CountDeformConv(const NodeFacts& facts, Work* work) {
  const Shape weights = facts.In(1);
  const double places = Extent(facts.Out(0), 2) * Extent(weights, 2);
  const auto n = static_cast<double>(facts.In(0)[0]);
  const auto channels = static_cast<double>(facts.In(0)[1]);
  work->flops += 2 * n * Extent(weights, 0, 2) * places;
  work->flops += n * channels * places * (facts.HasIn(4) ? 8 : 7);
  if (facts.HasIn(3)) work->flops += facts.CountOut(0);
}

/// CausalConvWithState-27: each channel by its own kernel of K, with K - 1
/// numbers of the state, or zeros, before the first.
void CountCausalConv(const NodeFacts& facts, Work* work) {
  const Shape x = facts.In(0);
  const int64_t kernel = facts.In(1)[2];
  const Line line = {x[2], 1, x[2]};
  Taps taps = {0, static_cast<double>(x[2]) * static_cast<double>(kernel)};
  for (int64_t k = 0; k < kernel; ++k)
    taps.inside += Inside(line, k + 1 - kernel);
  if (facts.HasIn(3)) taps.inside = taps.all;
  AddProducts(Extent(x, 0, 2), taps, work);
  if (facts.HasIn(2)) work->flops += facts.CountOut(0);
  if (facts.Text("activation", "none") == "none") return;
  work->flops += 4 * facts.CountOut(0);  // x * sigmoid(x)
  work->transcendentals += facts.CountOut(0);
}

/// The taps of a pool on all images, and its outputs.
struct Pooled {
  double taps, outputs;
};
Pooled PooledBy(const NodeFacts& facts) {
  const Shape x = facts.In(0);
  const std::vector<int64_t> image = Spatial(x);
  const Window window =
      Resolved(kernels::ResolveWindow(AttributesOf(facts), image));
  const Taps taps = TapsOf(window, window.output, image);
  return {Extent(x, 0, 2) * taps.inside, facts.CountOut(0)};
}
/// The same of a pool over whole images.
Pooled PooledWhole(const NodeFacts& facts) {
  return {facts.CountIn(0), facts.CountOut(0)};
}

template <Pooled (*kPooled)(const NodeFacts&)>
void CountMaxPool(const NodeFacts& facts, Work* work) {
  const Pooled pooled = kPooled(facts);
  work->flops += std::max(0.0, pooled.taps - pooled.outputs);
}

/// Sums, and a division each.
template <Pooled (*kPooled)(const NodeFacts&)>
void CountAveragePool(const NodeFacts& facts, Work* work) {
  work->flops += kPooled(facts).taps;
}

/// The root of the sum of powers: |x| for p = 1, x * x for 2.
template <Pooled (*kPooled)(const NodeFacts&)>
void CountLpPool(const NodeFacts& facts, Work* work) {
  const Pooled pooled = kPooled(facts);
  const int64_t p = facts.Integer("p", 2);
  work->flops += (p > 2 ? 1 : 2) * pooled.taps - pooled.outputs;
  if (p > 1) work->transcendentals += pooled.outputs;
  if (p > 2) work->transcendentals += pooled.taps;
}

/// Col2Im-18: each number of a block is added to the image.
void CountCol2Im(const NodeFacts& facts, Work* work) {
  work->flops += facts.CountIn(0);
}

constexpr Rule kWindows[] = {
    {"AveragePool", {.count = CountAveragePool<PooledBy>}},
    {"CausalConvWithState", {.count = CountCausalConv}},
    {"Col2Im", {.count = CountCol2Im}},
    {"Conv", {.count = CountConv}},
    {"ConvInteger", {.count = CountConvInteger}},
    {"ConvTranspose", {.count = CountConvTranspose}},
    {"DeformConv", {.count = CountDeformConv}},
    {"GlobalAveragePool", {.count = CountAveragePool<PooledWhole>}},
    {"GlobalLpPool", {.count = CountLpPool<PooledWhole>}},
    {"GlobalMaxPool", {.count = CountMaxPool<PooledWhole>}},
    {"LpPool", {.count = CountLpPool<PooledBy>}},
    {"MaxPool", {.count = CountMaxPool<PooledBy>}},
    {"MaxRoiPool", {.unknown = "how large its regions are is in the data"}},
    {"MaxUnpool", {}},
    {"QLinearConv", {.count = CountQLinearConv}},
};

}  // namespace

std::span<const Rule> WindowRules() { return kWindows; }

}  // namespace assay::work
