// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <cmath>
#include <limits>

#include "framework/core/text.h"
#include "framework/testing/limit/limit.h"
#include "gradcheck/draw/draw.h"
#include "gradcheck/judge/checks.h"

namespace assay::gradcheck {
namespace {

constexpr int kLevels = 6;
constexpr double kFirstStep = 1.0 / 64;  // of the greatest input, or of 1
constexpr double kShrink = 2;            // exact in every type
constexpr double kRoundoff = 0x1p-53;

/// A sum, and the sum of the magnitudes in it.
struct Sum {
  double value = 0;
  double magnitude = 0;
};

Sum Weighted(std::span<const Value> outputs, std::span<const Value> weights) {
  Sum sum;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (!weights[i].present()) continue;
    const auto y = outputs[i].tensor()->elements<double>();
    const auto w = weights[i].tensor()->elements<double>();
    // The sum is compensated, so that only the outputs have rounding.
    double lost = 0;
    for (size_t k = 0; k < w.size(); ++k) {
      if (w[k] == 0) continue;
      const double term = w[k] * y[k];
      const double before = sum.value;
      sum.value += term;
      lost += std::abs(before) >= std::abs(term) ? (before - sum.value) + term
                                                 : (term - sum.value) + before;
      sum.magnitude += std::abs(term);
    }
    sum.value += lost;
  }
  return sum;
}

class Differencing {
 public:
  Differencing(Trial& trial, std::span<const Value> cotangents,
               std::span<const Value> directions)
      : trial_(trial), cotangents_(cotangents), directions_(directions) {}

  Result<Differences> Run() {
    double greatest = 0;
    for (size_t t = 0; t < directions_.size(); ++t) {
      ASSAY_ASSIGN_OR_RETURN(std::vector<double> numbers, trial_.NumbersOf(t));
      for (const double x : numbers) {
        if (std::isfinite(x)) greatest = std::max(greatest, std::abs(x));
      }
      own_.push_back(std::move(numbers));
    }
    // The scale is a power of two, so that x + h and x - h are seldom rounded.
    const double scale =
        std::exp2(std::floor(std::log2(std::max(greatest, 0x1p-20))));
    Differences found{
        {0, std::numeric_limits<double>::infinity()}, 0, scale * kFirstStep};
    ASSAY_RETURN_IF_ERROR(Forwards(found.h_max));
    double h = found.h_max;
    for (int level = 0; level < kLevels; ++level, h /= kShrink) {
      Level(level, h, found.slope);
      found.h_min = h;
    }
    Doubt(found.slope);
    return found;
  }

 private:
  /// The inputs moved by h along the directions.
  std::vector<std::vector<double>> Moved(double h) const {
    std::vector<std::vector<double>> all = own_;
    for (size_t t = 0; t < all.size(); ++t) {
      const auto u = directions_[t].tensor()->elements<double>();
      for (size_t k = 0; k < u.size(); ++k) all[t][k] += h * u[k];
    }
    return all;
  }

  /// The sums on both sides at each level, then a forward of the own inputs.
  Status Forwards(double h) {
    std::vector<std::vector<std::vector<double>>> runs;
    for (int level = 0; level < kLevels; ++level, h /= kShrink) {
      runs.push_back(Moved(h));
      runs.push_back(Moved(-h));
    }
    const auto sees = [this](std::span<const Value> outputs) {
      sums_.push_back(Weighted(outputs, cotangents_));
      return true;
    };
    ASSAY_RETURN_IF_ERROR(trial_.ForwardEach(runs, sees));
    for (size_t t = 0; t < own_.size(); ++t) {
      ASSAY_RETURN_IF_ERROR(trial_.Put(t, own_[t]));
    }
    return trial_.Forward();
  }

  /// A row of the tableau; keeps the entry with the least bound.
  void Level(int level, double h, Slope& best) {
    const size_t at = 2 * static_cast<size_t>(level);
    const Sum up = sums_[at];
    const Sum down = sums_[at + 1];
    const double slope = (up.value - down.value) / (2 * h);
    // The rounding of the outputs, a few roundoffs each, and of the moved
    // inputs.
    const double rounding =
        4 * kRoundoff *
        ((up.magnitude + down.magnitude) / (2 * h) + std::abs(slope));
    std::array<double, kLevels> row = {slope};
    std::array<double, kLevels> rounded = {rounding};
    double factor = 1;
    for (int k = 1; k <= level; ++k) {
      factor *= kShrink * kShrink;
      row[k] = (factor * row[k - 1] - above_[k - 1]) / (factor - 1);
      rounded[k] =
          (factor * rounded[k - 1] + above_rounded_[k - 1]) / (factor - 1);
      const double spread = std::max(std::abs(row[k] - row[k - 1]),
                                     std::abs(row[k] - above_[k - 1]));
      entries_.push_back({row[k], spread + rounded[k]});
      if (entries_.back().bound < best.bound) best = entries_.back();
    }
    above_ = row;
    above_rounded_ = rounded;
  }

  /// By chance an entry may be near both entries that it is made of but far
  /// from the slope, as where errors of two orders cancel. Another entry shows
  /// this where the two differ by more than the sum of their bounds.
  void Doubt(Slope& best) const {
    double bound = best.bound;
    for (const Slope& entry : entries_) {
      const double apart = std::abs(entry.value - best.value);
      if (apart > entry.bound + best.bound) {
        bound = std::max(bound, apart + entry.bound);
      }
    }
    best.bound = bound;
  }

  Trial& trial_;
  std::span<const Value> cotangents_;
  std::span<const Value> directions_;
  std::vector<std::vector<double>> own_;
  std::vector<Sum> sums_;  // up and down, level by level
  std::vector<Slope> entries_;
  std::array<double, kLevels> above_ = {};
  std::array<double, kLevels> above_rounded_ = {};
};

/// The fault of one output or gradient.
std::string FaultOf(const std::string& what, const Value& got,
                    const Value& want) {
  const Tensor* const tensor = got.tensor();
  const Tensor& stated = *want.tensor();
  if (tensor == nullptr || !Carries(tensor->dtype()) ||
      tensor->shape() != stated.shape()) {
    return StrCat(
        what, " is ", tensor == nullptr ? "no tensor" : tensor->Signature(),
        ", wanted ", stated.shape().ToString(), " as the case states");
  }
  const std::vector<double> numbers = NumbersOf(*tensor);
  const std::vector<double> wanted = NumbersOf(stated);
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] == wanted[i]) continue;
    return StrCat(what, " is ", numbers[i], " at element ", i, ", wanted ",
                  wanted[i], " as the case states");
  }
  return "";
}

}  // namespace

bool ShowsAnotherForward(const Slope& slope, double along, const Known& exact) {
  return std::abs(along - slope.value) <= slope.bound &&
         std::abs(slope.value - exact.value) > slope.bound + exact.bound &&
         slope.bound <= limit::kEnoughOfLimit * std::abs(along - exact.value);
}

Result<Differences> DifferencesOf(Trial& trial,
                                  std::span<const Value> cotangents,
                                  std::span<const Value> directions) {
  return Differencing(trial, cotangents, directions).Run();
}

std::string FaultOfStated(const cases::Stated& stated,
                          const std::vector<std::string>& targets,
                          std::span<const Value> outputs,
                          std::span<const Value> gradients) {
  for (size_t i = 0; i < stated.outputs.size(); ++i) {
    std::string fault =
        FaultOf(StrCat("output ", i), outputs[i], stated.outputs[i]);
    if (!fault.empty()) return fault;
  }
  for (size_t t = 0; t < targets.size(); ++t) {
    const auto want = stated.gradients.find(targets[t]);
    if (want == stated.gradients.end()) continue;
    std::string fault = FaultOf(StrCat("the gradient of '", targets[t], "'"),
                                gradients[t], want->second);
    if (!fault.empty()) return fault;
  }
  return "";
}

}  // namespace assay::gradcheck
