// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/structure/bound.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "framework/core/text.h"
#include "framework/testing/measure/guarded_memory.h"
#include "framework/testing/measure/recheck.h"
#include "gradcheck/draw/draw.h"

namespace assay::gradcheck {
namespace {

/// Values in guarded memory, which stays where it is.
class Guarded {
 public:
  Status Copy(std::span<const Value> values) {
    for (const Value& value : values) {
      if (!value.present() || value.tensor()->byte_size() == 0) {
        values_.push_back(value);
        continue;
      }
      ASSAY_RETURN_IF_ERROR(
          Keep(measure::GuardedTensor::CopyOf(*value.tensor())));
    }
    return OkStatus();
  }
  /// Memory for others of their types and shapes.
  Status Fill(std::span<const Value> values) {
    for (const Value& value : values) {
      const Tensor& tensor = *value.tensor();
      if (tensor.byte_size() == 0) {
        values_.push_back(value);
        continue;
      }
      ASSAY_RETURN_IF_ERROR(
          Keep(measure::GuardedTensor::Filled(tensor.dtype(), tensor.shape())));
    }
    return OkStatus();
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
      if (!guard->Damage().empty()) return guard->Damage();
    }
    return "";
  }
  std::span<const Value> values() const { return values_; }

 private:
  Status Keep(Result<measure::GuardedTensor> guarded) {
    ASSAY_RETURN_IF_ERROR(guarded.status());
    guards_.push_back(
        std::make_unique<measure::GuardedTensor>(*std::move(guarded)));
    values_.emplace_back(guards_.back()->tensor());
    return OkStatus();
  }

  std::vector<std::unique_ptr<measure::GuardedTensor>> guards_;
  std::vector<Value> values_;
};

bool Same(std::span<const Value> a, std::span<const Value> b) {
  return std::ranges::equal(a, b, &measure::SameBits);
}

}  // namespace

Result<std::string> BoundFault(Trial& trial, const Judged& judged) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<Value> own,
                         trial.InTypes(judged.dy));
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

}  // namespace assay::gradcheck
