// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/judge/structure.h"

#include <algorithm>
#include <cmath>

#include "framework/testing/measure/recheck.h"
#include "gradcheck/draw/draw.h"

namespace assay::gradcheck {
namespace {

constexpr size_t kMostAlone = 4;  // targets that are asked for alone

/// Cotangents times a factor; absent ones stay so.
Result<std::vector<Value>> Scaled(std::span<const Value> dy, double factor) {
  std::vector<Value> scaled(dy.size());
  for (size_t i = 0; i < dy.size(); ++i) {
    if (!dy[i].present()) continue;
    std::vector<double> numbers = NumbersOf(*dy[i].tensor());
    for (double& x : numbers) x *= factor;
    ASSAY_ASSIGN_OR_RETURN(
        scaled[i], Tensor::Of<double>(dy[i].tensor()->shape(), numbers));
  }
  return scaled;
}

class Checks {
 public:
  Checks(Trial& trial, std::span<const Value> dy,
         std::span<const Value> gradients, std::span<const Compared> compared)
      : trial_(trial), dy_(dy), gradients_(gradients), compared_(compared) {}

  Result<Structure> Run() {
    for (const auto check :
         {&Checks::Again, &Checks::Zero, &Checks::Twice, &Checks::Missing,
          &Checks::Alone, &Checks::OtherBinding, &Checks::OtherInputs}) {
      ASSAY_RETURN_IF_ERROR((this->*check)());
      if (!found_.fault.empty()) return found_;
    }
    found_.fault = trial_.Damage();
    return found_;
  }

 private:
  Result<std::vector<Value>> Backward(std::span<const Value> dy) {
    return trial_.Backward(dy, trial_.targets());
  }

  bool Same(const std::vector<Value>& others) const {
    for (size_t i = 0; i < others.size(); ++i) {
      if (!measure::SameBits(others[i], gradients_[i])) return false;
    }
    return true;
  }

  Status Again() {
    ASSAY_ASSIGN_OR_RETURN(const auto again, Backward(dy_));
    if (Same(again)) return OkStatus();
    found_.distinct_results = 2;
    found_.nondeterministic = true;
    found_.fault = "a second backward gives other bits";
    return OkStatus();
  }

  Status Zero() {
    ASSAY_ASSIGN_OR_RETURN(const auto zeros, Scaled(dy_, 0));
    ASSAY_ASSIGN_OR_RETURN(const auto gradients, Backward(zeros));
    for (size_t t = 0; t < gradients.size(); ++t) {
      const std::vector<double> numbers = NumbersOf(*gradients[t].tensor());
      for (size_t i = 0; i < numbers.size(); ++i) {
        // Zero times an infinite derivative is open.
        if (numbers[i] == 0 || !std::isfinite(Limit(t, i))) continue;
        found_.zero_ok = false;
        found_.fault =
            StrCat("cotangents of zeros give ", numbers[i], " at element ", i,
                   " of the gradient of '", trial_.targets()[t], "'");
        return OkStatus();
      }
    }
    return OkStatus();
  }

  Status Twice() {
    ASSAY_ASSIGN_OR_RETURN(const auto twice, Scaled(dy_, 2));
    ASSAY_ASSIGN_OR_RETURN(const auto gradients, Backward(twice));
    return Expect(gradients, 2, "twice the cotangents do not give twice");
  }

  /// Each output's cotangent alone: absent ones against zeros.
  Status Missing() {
    const auto flows = std::ranges::count_if(
        dy_, [](const Value& value) { return value.present(); });
    if (flows < 2) return OkStatus();
    found_.missing_ok = true;
    for (size_t kept = 0; kept < dy_.size(); ++kept) {
      if (!dy_[kept].present()) continue;
      std::vector<Value> absent(dy_.size());
      absent[kept] = dy_[kept];
      ASSAY_ASSIGN_OR_RETURN(std::vector<Value> zeros, Scaled(dy_, 0));
      zeros[kept] = dy_[kept];
      ASSAY_ASSIGN_OR_RETURN(const auto with, Backward(zeros));
      ASSAY_ASSIGN_OR_RETURN(const auto without, Backward(absent));
      if (Near(with, without)) continue;
      found_.missing_ok = false;
      found_.fault = StrCat("with the cotangent of output ", kept,
                            " alone the gradient is not that with zeros for "
                            "the others");
      return OkStatus();
    }
    return OkStatus();
  }

  Status Alone() {
    const auto& targets = trial_.targets();
    if (targets.size() < 2) return OkStatus();
    for (size_t t = 0; t < std::min(targets.size(), kMostAlone); ++t) {
      const std::vector<std::string> one = {targets[t]};
      ASSAY_ASSIGN_OR_RETURN(const auto alone, trial_.Backward(dy_, one));
      const std::vector<double> got = NumbersOf(*alone[0].tensor());
      const std::vector<double> want = NumbersOf(*gradients_[t].tensor());
      for (size_t i = 0; i < want.size(); ++i) {
        if (IsNear(got[i], want[i], Limit(t, i))) continue;
        found_.fault = StrCat("asked for alone, element ", i,
                              " of the gradient of '", targets[t], "' is ",
                              got[i], ", with the others it is ", want[i]);
        return OkStatus();
      }
    }
    return OkStatus();
  }

  Status OtherBinding() {
    ASSAY_RETURN_IF_ERROR(trial_.ForwardOfOthers());
    ASSAY_ASSIGN_OR_RETURN(const auto gradients, Backward(dy_));
    if (!Same(gradients)) {
      found_.fault = "a forward of another binding changes the gradient";
    }
    return OkStatus();
  }

  Status OtherInputs() {
    ASSAY_RETURN_IF_ERROR(trial_.ForwardOfOthersAndBack());
    ASSAY_ASSIGN_OR_RETURN(const auto gradients, Backward(dy_));
    if (!Same(gradients)) {
      found_.fault =
          "a forward of other inputs before the last one changes "
          "the gradient";
    }
    return OkStatus();
  }

  double Limit(size_t target, size_t i) const {
    return compared_[target].limits[i];
  }

  /// Two that are both right are twice a limit apart at most.
  static bool IsNear(double a, double b, double limit) {
    return a == b || std::isnan(limit) || std::isinf(limit) ||
           std::abs(a - b) <= 2 * limit;
  }

  bool Near(const std::vector<Value>& a, const std::vector<Value>& b) const {
    for (size_t t = 0; t < a.size(); ++t) {
      const std::vector<double> left = NumbersOf(*a[t].tensor());
      const std::vector<double> right = NumbersOf(*b[t].tensor());
      for (size_t i = 0; i < left.size(); ++i) {
        if (!IsNear(left[i], right[i], Limit(t, i))) return false;
      }
    }
    return true;
  }

  /// `factor` times the gradients, within as many limits.
  Status Expect(const std::vector<Value>& others, double factor,
                std::string_view what) {
    for (size_t t = 0; t < others.size(); ++t) {
      const std::vector<double> got = NumbersOf(*others[t].tensor());
      const std::vector<double> one = NumbersOf(*gradients_[t].tensor());
      for (size_t i = 0; i < got.size(); ++i) {
        const double limit = Limit(t, i);
        if (!std::isfinite(limit) || !std::isfinite(one[i])) continue;
        const double error = std::abs(got[i] - factor * one[i]);
        // Beyond the type's greatest number twice is infinite.
        if (error == 0 || std::isinf(got[i])) continue;
        found_.linearity = std::max(found_.linearity, error / (factor * limit));
        if (error <= 2 * factor * limit) continue;
        found_.fault = StrCat(what, " element ", i, " of the gradient of '",
                              trial_.targets()[t], "': found ", got[i],
                              ", wanted ", factor * one[i]);
        return OkStatus();
      }
    }
    return OkStatus();
  }

  Trial& trial_;
  std::span<const Value> dy_;
  std::span<const Value> gradients_;
  std::span<const Compared> compared_;
  Structure found_;
};

}  // namespace

Result<Structure> StructureOf(Trial& trial, std::span<const Value> dy,
                              std::span<const Value> gradients,
                              std::span<const Compared> compared) {
  return Checks(trial, dy, gradients, compared).Run();
}

}  // namespace assay::gradcheck
