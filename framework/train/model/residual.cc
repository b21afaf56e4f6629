// SPDX-License-Identifier: Apache-2.0

#include "framework/train/model/residual.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "framework/core/text.h"

namespace assay::train {
namespace {

class Blocks {
 public:
  explicit Blocks(Sketch* to)
      : to_(to), channels_(to->options().image.front()) {}

  /// A convolution of 3 x 3 without a bias, which the normalization behind it
  /// has.
  void Convolve(int64_t channels, int stride) {
    const int at = ++n_layers_;
    const double fan_in = static_cast<double>(9 * channels_);
    const std::string weights =
        to_->Parameter(StrCat("conv", at, "_w"), {channels, channels_, 3, 3},
                       {.reach = std::sqrt(6 / fan_in)});
    to_->Then(StrCat("Conv<pads = [1, 1, 1, 1], strides = [", stride, ", ",
                     stride, "]>"),
              ", " + weights);
    const auto named = [&](const char* part) {
      return StrCat("norm", at, part);
    };
    const std::array<std::string, 4> inputs = {
        to_->Parameter(named("_s"), {channels}, {.value = 1}),
        to_->Parameter(named("_b"), {channels}, {}),
        to_->Statistic(named("_mean"), channels, 0),
        to_->Statistic(named("_var"), channels, 1)};
    to_->Then("BatchNormalization", ", " + Joined(inputs));
    channels_ = channels;
  }

  void Block(int64_t channels) {
    const std::string before = to_->value();
    const int64_t had = channels_;
    const bool is_wider = channels != had && n_layers_ > 1;
    Convolve(channels, is_wider ? 2 : 1);
    to_->Then("Relu");
    Convolve(channels, 1);
    to_->Then("Add", ", " + (is_wider ? Narrowed(before, had) : before));
    to_->Then("Relu");
  }

 private:
  /// Half of the rows and columns, with as many channels of zeros as there are.
  std::string Narrowed(const std::string& image, int64_t channels) {
    const std::string at = StrCat("half", channels);
    constexpr int64_t kEnd = std::numeric_limits<int32_t>::max();
    const auto named = [&](const char* part, std::array<int64_t, 2> integers) {
      return to_->Integers(at + part, integers);
    };
    const std::array<std::string, 5> slice = {
        image, named("_from", {0, 0}), named("_to", {kEnd, kEnd}),
        named("_axes", {2, 3}), named("_steps", {2, 2})};
    const std::string half = to_->Node("Slice", Joined(slice));
    const std::array<int64_t, 8> pads = {0, 0, 0, 0, 0, channels, 0, 0};
    return to_->Node("Pad",
                     StrCat(half, ", ", to_->Integers(at + "_pads", pads)));
  }

  Sketch* to_;
  int64_t channels_;
  int n_layers_ = 0;
};

}  // namespace

void ResNet(int n, Sketch* to) {
  Blocks blocks(to);
  blocks.Convolve(16, 1);
  to->Then("Relu");
  for (const int64_t channels : {16, 32, 64}) {
    for (int i = 0; i < n; ++i) blocks.Block(channels);
  }
  to->Then("GlobalAveragePool");
  to->Then("Flatten");
  to->Layer("Gemm<transB = 1>", {to->options().classes, 64});
}

}  // namespace assay::train
