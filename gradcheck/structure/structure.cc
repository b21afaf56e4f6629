// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/structure/structure.h"

#include <algorithm>
#include <cmath>

#include "framework/testing/file/csv.h"
#include "framework/testing/measure/recheck.h"
#include "gradcheck/draw/draw.h"
#include "gradcheck/structure/batch.h"
#include "gradcheck/structure/bound.h"
#include "gradcheck/structure/fan_out.h"

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
  Checks(Trial& trial, const Judged& judged) : trial_(trial), judged_(judged) {}

  Result<Structure> Run() {
    for (const auto check :
         {&Checks::Again, &Checks::Zero, &Checks::Twice, &Checks::Missing,
          &Checks::Alone, &Checks::OtherBinding, &Checks::Elsewhere}) {
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
      if (!measure::SameBits(others[i], judged_.gradients[i])) return false;
    }
    return true;
  }

  Status Again() {
    ASSAY_ASSIGN_OR_RETURN(const auto again, Backward(judged_.dy));
    if (Same(again)) return OkStatus();
    found_.distinct_results = 2;
    found_.nondeterministic = true;
    found_.fault = "a second backward gives other bits";
    return OkStatus();
  }

  Status Zero() {
    ASSAY_ASSIGN_OR_RETURN(const auto zeros, Scaled(judged_.dy, 0));
    ASSAY_ASSIGN_OR_RETURN(const auto gradients, Backward(zeros));
    for (size_t t = 0; t < gradients.size(); ++t) {
      const std::vector<double> numbers = NumbersOf(*gradients[t].tensor());
      for (size_t i = 0; i < numbers.size(); ++i) {
        // Zero times an infinite derivative is open.
        if (numbers[i] == 0 || !std::isfinite(Limit(t, i))) continue;
        found_.zero_ok = false;
        found_.fault =
            StrCat("cotangents of zeros give ", file::ToText(numbers[i]),
                   " at element ", i, " of the gradient of '",
                   trial_.targets()[t], "'");
        return OkStatus();
      }
    }
    return OkStatus();
  }

  Status Twice() {
    ASSAY_ASSIGN_OR_RETURN(const auto twice, Scaled(judged_.dy, 2));
    ASSAY_ASSIGN_OR_RETURN(const auto gradients, Backward(twice));
    const Beside beside = judged_.Hold(gradients, 2);
    found_.linearity = beside.greatest;
    if (!beside.fault.empty()) {
      found_.fault = StrCat("for twice the cotangents ", beside.fault);
    }
    return OkStatus();
  }

  /// Each output's cotangent alone: absent ones against zeros.
  Status Missing() {
    const auto flows = std::ranges::count_if(
        judged_.dy, [](const Value& value) { return value.present(); });
    if (flows < 2) return OkStatus();
    found_.missing_ok = true;
    for (size_t kept = 0; kept < judged_.dy.size(); ++kept) {
      if (!judged_.dy[kept].present()) continue;
      std::vector<Value> absent(judged_.dy.size());
      absent[kept] = judged_.dy[kept];
      ASSAY_ASSIGN_OR_RETURN(std::vector<Value> zeros, Scaled(judged_.dy, 0));
      zeros[kept] = judged_.dy[kept];
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
      ASSAY_ASSIGN_OR_RETURN(const auto alone,
                             trial_.Backward(judged_.dy, one));
      const Beside beside = judged_.HoldOne(t, alone[0]);
      if (beside.fault.empty()) continue;
      found_.fault =
          StrCat("asked for alone, not with the others, ", beside.fault);
      return OkStatus();
    }
    return OkStatus();
  }

  Status OtherBinding() {
    ASSAY_RETURN_IF_ERROR(trial_.ForwardOfOtherBinding());
    ASSAY_ASSIGN_OR_RETURN(const auto gradients, Backward(judged_.dy));
    if (!Same(gradients)) {
      found_.fault = "a forward of another binding changes the gradient";
    }
    return OkStatus();
  }

  /// The same gradients by other ways.
  Status Elsewhere() {
    for (const auto fault_of :
         {&BoundFault, &ReversedBatchFault, &FanOutFault}) {
      ASSAY_ASSIGN_OR_RETURN(found_.fault, fault_of(trial_, judged_));
      if (!found_.fault.empty()) break;
    }
    return OkStatus();
  }

  double Limit(size_t target, size_t i) const {
    return judged_.compared[target].limits[i];
  }

  bool Near(const std::vector<Value>& a, const std::vector<Value>& b) const {
    const Judged first{judged_.targets, judged_.dy, a, judged_.compared};
    return first.Hold(b).fault.empty();
  }

  Trial& trial_;
  const Judged& judged_;
  Structure found_;
};

}  // namespace

Result<Structure> StructureOf(Trial& trial, const Judged& judged) {
  return Checks(trial, judged).Run();
}

}  // namespace assay::gradcheck
