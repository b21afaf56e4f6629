// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/structure/structure.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "framework/file/csv.h"
#include "framework/testing/host/runs.h"
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

/// A question after the last forward, and its gradients.
struct Asked {
  std::vector<Value> dy;
  std::vector<std::string> targets;
  std::vector<Value> gradients = {};
};
/// The cotangent of one output alone: with zeros for the others, or nothing.
struct Kept {
  size_t output;
  Asked zeros;
  Asked absent;
};

class Checks {
 public:
  Checks(Trial& trial, const Judged& judged) : trial_(trial), judged_(judged) {}

  Result<Structure> Run() {
    ASSAY_RETURN_IF_ERROR(Ask());
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
  /// All that is asked without another forward, in one call.
  Status Ask() {
    const std::vector<std::string>& targets = trial_.targets();
    const std::vector<Value> dy(judged_.dy.begin(), judged_.dy.end());
    again_ = {dy, targets};
    ASSAY_ASSIGN_OR_RETURN(std::vector<Value> zeros, Scaled(judged_.dy, 0));
    ASSAY_ASSIGN_OR_RETURN(std::vector<Value> twice, Scaled(judged_.dy, 2));
    const auto flows = std::ranges::count_if(
        dy, [](const Value& value) { return value.present(); });
    for (size_t i = 0; flows > 1 && i < dy.size(); ++i) {
      if (!dy[i].present()) continue;
      Kept kept = {i, {zeros, targets}, {{}, targets}};
      kept.absent.dy.resize(dy.size());
      kept.zeros.dy[i] = kept.absent.dy[i] = dy[i];
      kept_.push_back(std::move(kept));
    }
    zero_ = {std::move(zeros), targets};
    twice_ = {std::move(twice), targets};
    for (size_t t = 0; t < std::min(targets.size(), kMostAlone); ++t) {
      if (targets.size() > 1) alone_.push_back({dy, {targets[t]}});
    }
    return Pull();
  }

  Status Pull() {
    std::vector<Asked*> all = {&again_, &zero_, &twice_};
    for (Kept& kept : kept_) {
      all.insert(all.end(), {&kept.zeros, &kept.absent});
    }
    for (Asked& alone : alone_) all.push_back(&alone);
    std::vector<host::BackwardAsk> asks;
    for (const Asked* asked : all) asks.push_back({asked->dy, asked->targets});
    std::vector<host::Pulled> pulled = trial_.BackwardEach(asks);
    for (size_t i = 0; i < pulled.size(); ++i) {
      ASSAY_ASSIGN_OR_RETURN(all[i]->gradients, std::move(pulled[i].gradients));
    }
    return OkStatus();
  }

  bool Same(const std::vector<Value>& others) const {
    for (size_t i = 0; i < others.size(); ++i) {
      if (!measure::SameBits(others[i], judged_.gradients[i])) return false;
    }
    return true;
  }

  Status Again() {
    if (Same(again_.gradients)) return OkStatus();
    found_.distinct_results = 2;
    found_.nondeterministic = true;
    found_.fault = "a second backward gives other bits";
    return OkStatus();
  }

  Status Zero() {
    const std::vector<Value>& gradients = zero_.gradients;
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
    const Beside beside = judged_.Hold(twice_.gradients, 2);
    found_.linearity = beside.greatest;
    if (!beside.fault.empty()) {
      found_.fault = StrCat("for twice the cotangents ", beside.fault);
    }
    return OkStatus();
  }

  /// Each output's cotangent alone: absent ones against zeros.
  Status Missing() {
    if (kept_.empty()) return OkStatus();
    found_.missing_ok = true;
    for (const Kept& kept : kept_) {
      if (Near(kept.zeros.gradients, kept.absent.gradients)) continue;
      found_.missing_ok = false;
      found_.fault = StrCat("with the cotangent of output ", kept.output,
                            " alone the gradient is not that with zeros for "
                            "the others");
      return OkStatus();
    }
    return OkStatus();
  }

  Status Alone() {
    for (size_t t = 0; t < alone_.size(); ++t) {
      const Beside beside = judged_.HoldOne(t, alone_[t].gradients[0]);
      if (beside.fault.empty()) continue;
      found_.fault =
          StrCat("asked for alone, not with the others, ", beside.fault);
      return OkStatus();
    }
    return OkStatus();
  }

  Status OtherBinding() {
    ASSAY_RETURN_IF_ERROR(trial_.ForwardOfOtherBinding());
    ASSAY_ASSIGN_OR_RETURN(const auto gradients,
                           trial_.Backward(judged_.dy, trial_.targets()));
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
  Asked again_, zero_, twice_;
  std::vector<Kept> kept_;
  std::vector<Asked> alone_;
  Structure found_;
};

}  // namespace

Result<Structure> StructureOf(Trial& trial, const Judged& judged) {
  return Checks(trial, judged).Run();
}

}  // namespace assay::gradcheck
