// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/structure/structure.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "framework/core/text.h"
#include "framework/file/csv.h"
#include "framework/graph/edit/copies.h"
#include "framework/testing/host/runs.h"
#include "framework/testing/measure/recheck.h"
#include "gradcheck/draw/draw.h"

namespace assay::gradcheck {
namespace {

/// Values in guarded memory, which stays where it is.
class Guarded {
 public:
  Status Copy(std::span<const Value> values) {
    return Keep(values, &measure::GuardedTensor::CopyOf);
  }
  /// Memory for others of their types and shapes.
  Status Fill(std::span<const Value> values) {
    return Keep(values, [](const Tensor& tensor) {
      return measure::GuardedTensor::Filled(tensor.dtype(), tensor.shape());
    });
  }
  void Put(std::span<const Value> values) {
    for (size_t i = 0; i < values.size(); ++i) {
      if (!values[i].present() || values[i].tensor()->byte_size() == 0)
        continue;
      std::ranges::copy(values[i].tensor()->bytes(),
                        values_[i].mutable_tensor()->mutable_data());
    }
  }
  std::string Damage() const {
    for (const auto& guard : guards_) {
      if (!guard.Damage().empty()) return guard.Damage();
    }
    return "";
  }
  std::span<const Value> values() const { return values_; }

 private:
  Status Keep(std::span<const Value> values, const auto& make) {
    for (const Value& value : values) {
      values_.push_back(value);
      if (!value.present() || value.tensor()->byte_size() == 0) continue;
      ASSAY_ASSIGN_OR_RETURN(auto guarded, make(*value.tensor()));
      values_.back() = guarded.tensor();
      guards_.push_back(std::move(guarded));
    }
    return OkStatus();
  }

  std::vector<measure::GuardedTensor> guards_;
  std::vector<Value> values_;
};

bool Same(std::span<const Value> a, std::span<const Value> b) {
  return std::ranges::equal(a, b, &measure::SameBits);
}

/// Binds gradients in guarded memory after a forward of other inputs, for other
/// cotangents, and runs them; then runs them twice after a forward of the
/// case's own, whose gradients `judged` has. Empty where these are near, of the
/// same bits twice, and no memory was written that is not theirs; or where
/// BindBackward is unsupported.
Result<std::string> BoundFault(Trial& trial, const Judged& judged) {
  ASSAY_ASSIGN_OR_RETURN(const auto own, trial.InTypes(judged.dy));
  std::vector<Value> reversed = own;
  for (Value& value : reversed) {
    if (!value.present()) continue;
    std::vector<double> numbers = NumbersOf(*value.tensor());
    std::ranges::reverse(numbers);
    ASSAY_ASSIGN_OR_RETURN(value, TensorOf(value.tensor()->dtype(),
                                           value.tensor()->shape(), numbers));
  }
  Guarded cotangents;
  Guarded gradients;
  ASSAY_RETURN_IF_ERROR(cotangents.Copy(reversed));
  ASSAY_RETURN_IF_ERROR(gradients.Fill(judged.gradients));
  ASSAY_RETURN_IF_ERROR(trial.ForwardOfOthers());
  auto bound = trial.BindBackward(cotangents.values(), gradients.values());
  if (bound.status().code() == StatusCode::kUnsupported) {
    ASSAY_RETURN_IF_ERROR(trial.ForwardOfOwn());
    return std::string();
  }
  ASSAY_RETURN_IF_ERROR(bound.status());
  ASSAY_RETURN_IF_ERROR(trial.RunBackward(**bound));
  ASSAY_RETURN_IF_ERROR(trial.ForwardOfOwn());
  cotangents.Put(own);
  ASSAY_RETURN_IF_ERROR(trial.RunBackward(**bound));
  const Beside beside = judged.Hold(gradients.values());
  if (!beside.fault.empty()) {
    return StrCat("bound before the last forward, ", beside.fault);
  }
  if (!Same((*bound)->gradients(), gradients.values())) {
    return std::string(
        "a bound backward names other gradients than it was given");
  }
  Guarded first;
  ASSAY_RETURN_IF_ERROR(first.Copy(gradients.values()));
  ASSAY_RETURN_IF_ERROR(trial.RunBackward(**bound));
  if (!Same(first.values(), gradients.values())) {
    return std::string("a bound backward that is run again gives other bits");
  }
  if (!Same(own, cotangents.values())) {
    return std::string("a bound backward wrote into a cotangent");
  }
  const std::string beside_them =
      cotangents.Damage().empty() ? gradients.Damage() : cotangents.Damage();
  if (beside_them.empty()) return std::string();
  return StrCat("a bound backward wrote ", beside_them,
                " of a cotangent or a gradient");
}

constexpr char kUnread[] = "assay_unread";

Result<suite::Subject> Doubled(const suite::Subject& subject) {
  ASSAY_ASSIGN_OR_RETURN(auto model, edit::Doubled(*subject.model, kUnread));
  suite::Subject doubled{
      std::move(model), {subject.inputs[0]}, subject.targets};
  ASSAY_ASSIGN_OR_RETURN(
      Tensor unread,
      Tensor::Of<float>(Shape{2}, std::vector<float>{0.5F, -2.0F}));
  doubled.inputs[0].emplace_back(std::move(unread));
  doubled.targets.emplace_back(kUnread);
  return doubled;
}

std::string FaultOfUnread(const Tensor& gradient) {
  const Shape want{2};
  if (gradient.dtype() != DType::kFloat32 || gradient.shape() != want) {
    return StrCat("the gradient of an input that no node reads is ",
                  gradient.Signature(), ", wanted float32[2]");
  }
  for (const double number : NumbersOf(gradient)) {
    if (number == 0) continue;
    return StrCat("the gradient of an input that no node reads is ",
                  file::ToText(number), ", wanted 0");
  }
  return "";
}

bool Declines(const Result<Trial>& trial) {
  return trial.status().code() == StatusCode::kUnsupported;
}

/// Loads the case's model twice over (edit/copies.h) with the backend of the
/// trial, and gives both halves the same cotangents. Empty where the gradients
/// are twice those that were judged, or where Load or Bind declines the model.
/// An input that nobody reads may be declined as a target.
Result<std::string> FanOutFault(Trial& trial, const Judged& judged) {
  ASSAY_ASSIGN_OR_RETURN(suite::Subject doubled, Doubled(trial.subject()));
  auto loaded = Trial::Load(trial.backend(), doubled);
  const bool has_unread = !Declines(loaded);
  if (!has_unread) {
    doubled.targets.pop_back();
    loaded = Trial::Load(trial.backend(), doubled);
  }
  if (Declines(loaded)) return std::string();
  ASSAY_RETURN_IF_ERROR(loaded.status());
  ASSAY_RETURN_IF_ERROR(loaded->Forward());
  std::vector<Value> dy(judged.dy.begin(), judged.dy.end());
  dy.insert(dy.end(), judged.dy.begin(), judged.dy.end());
  ASSAY_ASSIGN_OR_RETURN(auto gradients, loaded->Backward(dy, doubled.targets));
  if (has_unread) {
    const std::string fault = FaultOfUnread(*gradients.back().tensor());
    if (!fault.empty()) return fault;
    gradients.pop_back();
  }
  const Beside beside = judged.Hold(gradients, 2);
  if (beside.fault.empty()) return loaded->Damage();
  return StrCat("where each input is read by two nodes, ", beside.fault);
}

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
      ASSAY_ASSIGN_OR_RETURN(found_.fault, (this->*check)());
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

  // Each of these checks gives what does not hold; empty where all does.

  Result<std::string> Again() {
    if (Same(again_.gradients)) return std::string();
    found_.distinct_results = 2;
    found_.nondeterministic = true;
    return std::string("a second backward gives other bits");
  }

  Result<std::string> Zero() {
    const std::vector<Value>& gradients = zero_.gradients;
    for (size_t t = 0; t < gradients.size(); ++t) {
      const std::vector<double> numbers = NumbersOf(*gradients[t].tensor());
      for (size_t i = 0; i < numbers.size(); ++i) {
        // Zero times an infinite derivative is open.
        if (numbers[i] == 0 || !std::isfinite(Limit(t, i))) continue;
        found_.zero_ok = false;
        return StrCat("cotangents of zeros give ", file::ToText(numbers[i]),
                      " at element ", i, " of the gradient of '",
                      trial_.targets()[t], "'");
      }
    }
    return std::string();
  }

  Result<std::string> Twice() {
    const Beside beside = judged_.Hold(twice_.gradients, 2);
    found_.linearity = beside.greatest;
    if (beside.fault.empty()) return std::string();
    return StrCat("for twice the cotangents ", beside.fault);
  }

  /// Each output's cotangent alone: absent ones against zeros.
  Result<std::string> Missing() {
    if (!kept_.empty()) found_.missing_ok = true;
    for (const Kept& kept : kept_) {
      if (Near(kept.zeros.gradients, kept.absent.gradients)) continue;
      found_.missing_ok = false;
      return StrCat(
          "with the cotangent of output ", kept.output,
          " alone the gradient is not that with zeros for the others");
    }
    return std::string();
  }

  Result<std::string> Alone() {
    for (size_t t = 0; t < alone_.size(); ++t) {
      const Beside beside = judged_.HoldOne(t, alone_[t].gradients[0]);
      if (beside.fault.empty()) continue;
      return StrCat("asked for alone, not with the others, ", beside.fault);
    }
    return std::string();
  }

  Result<std::string> OtherBinding() {
    ASSAY_RETURN_IF_ERROR(trial_.ForwardOfOtherBinding());
    ASSAY_ASSIGN_OR_RETURN(const auto gradients,
                           trial_.Backward(judged_.dy, trial_.targets()));
    return std::string(Same(gradients)
                           ? ""
                           : "a forward of another binding changes the "
                             "gradient");
  }

  /// The same gradients by other ways.
  Result<std::string> Elsewhere() {
    for (const auto fault_of :
         {&BoundFault, &ReversedBatchFault, &FanOutFault}) {
      ASSAY_ASSIGN_OR_RETURN(std::string fault, fault_of(trial_, judged_));
      if (!fault.empty()) return fault;
    }
    return std::string();
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
