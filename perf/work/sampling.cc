// SPDX-License-Identifier: Apache-2.0
//
// Interpolation between the elements of an image: t neighbours take t products
// and t - 1 sums. Where a place lies, and the weights there, is not counted.

#include <cmath>
#include <string>

#include "perf/work/rules.h"

namespace assay::work {
namespace {

double Interpolated(const std::string& mode, double axes) {
  if (mode == "nearest") return 0;
  const double neighbours = std::pow(mode == "cubic" ? 4.0 : 2.0, axes);
  return 2 * neighbours - 1;
}

/// Resize-19, along the axes whose extent changes.
void CountResize(const NodeFacts& facts, Work* work) {
  const std::string mode = facts.Text("mode", "nearest");
  if (facts.Integer("antialias", 0) != 0 && mode != "nearest") {
    throw Untold{Reason::kAttribute,
                 "antialias takes as many neighbours as the scale asks for"};
  }
  const Shape x = facts.In(0);
  const Shape y = facts.Out(0);
  double axes = 0;
  for (int i = 0; i < x.rank(); ++i) axes += x[i] != y[i] ? 1 : 0;
  if (axes > 0) work->flops += Interpolated(mode, axes) * facts.CountOut(0);
}

/// GridSample-22: the grid is [N,D1,...,R], R axes of the image.
void CountGridSample(const NodeFacts& facts, Work* work) {
  const std::string mode = facts.Text("mode", "linear");
  work->flops +=
      Interpolated(mode, Extent(facts.In(1), -1)) * facts.CountOut(0);
}

/// RoiAlign-22: sampling_ratio squared places a bin, folded into one number.
void CountRoiAlign(const NodeFacts& facts, Work* work) {
  const auto ratio = static_cast<double>(facts.Integer("sampling_ratio", 0));
  if (ratio <= 0) {
    throw Untold{Reason::kOperator,
                 "with sampling_ratio 0 the regions decide how many places "
                 "there are"};
  }
  work->flops +=
      (Interpolated("linear", 2) + 1) * ratio * ratio * facts.CountOut(0);
}

constexpr Rule kSamplings[] = {
    {"GridSample", {.count = CountGridSample}},
    {"Resize", {.count = CountResize}},
    {"RoiAlign", {.count = CountRoiAlign}},
    {"Upsample", {.unknown = "its current form is Resize"}},
};

}  // namespace

std::span<const Rule> SamplingRules() { return kSamplings; }

}  // namespace assay::work
