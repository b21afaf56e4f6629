// SPDX-License-Identifier: Apache-2.0

#include "framework/backend/eager/preparation.h"

#include <algorithm>

#include "framework/backend/eager/flow/flow.h"

namespace assay::eager {
namespace {

using flow::SameExtents;

const ValueType kUnknown;

bool SameElements(const Tensor& a, const Tensor& b) {
  if (!SameExtents(a.shape(), b.shape())) return false;
  return a.dtype() == DType::kString
             ? std::ranges::equal(a.strings(), b.strings())
             : std::ranges::equal(a.bytes(), b.bytes());
}

}  // namespace

/// Answers a kernel and notes what it asked.
class Preparation::Asked final : public PrepareContext {
 public:
  Asked(Preparation& notes, std::span<const ValueType> types,
        const ValueOf& value_of)
      : notes_(notes), types_(types), value_of_(value_of) {}

  const ValueType& type(Input input) override {
    const auto position = static_cast<size_t>(input.position);
    if (position >= types_.size()) return kUnknown;
    const ValueType& type = types_[position];
    const auto noted = [input](const SeenType& seen) {
      return seen.input.position == input.position;
    };
    if (std::ranges::none_of(notes_.types_, noted)) {
      notes_.types_.push_back({input, type, type.StaticShape()});
    }
    return type;
  }

  Result<const Tensor*> value(Input input) override {
    ASSAY_ASSIGN_OR_RETURN(const Tensor* const tensor, value_of_(input));
    SeenValue& seen = notes_.values_.emplace_back(SeenValue{input, {}});
    if (tensor != nullptr) {
      ASSAY_ASSIGN_OR_RETURN(seen.tensor, tensor->Clone());
    }
    return tensor;
  }

  void Declare(Output output, DType dtype, const Shape& shape) override {
    const auto position = static_cast<size_t>(output.position);
    if (notes_.declared_.size() <= position) {
      notes_.declared_.resize(position + 1);
    }
    ValueType& declared = notes_.declared_[position];
    declared = ValueType();
    declared.kind = ValueKind::kTensor;
    declared.dtype = dtype;
    declared.dims.emplace(shape.begin(), shape.end());
  }

 private:
  Preparation& notes_;
  std::span<const ValueType> types_;
  const ValueOf& value_of_;
};

Status Preparation::Make(
    const std::function<Prepared(PrepareContext&)>& prepare,
    std::span<const ValueType> types, const ValueOf& value_of) {
  *this = Preparation();
  Asked asked(*this, types, value_of);
  ASSAY_ASSIGN_OR_RETURN(made_, prepare(asked));
  valid_ = true;
  return OkStatus();
}

bool Preparation::Fits(const KernelContext& run) const {
  if (!valid_) return false;
  for (const SeenType& seen : types_) {
    const Value& value = run.value(seen.input);
    const Tensor* const tensor = value.tensor();
    const bool same = tensor != nullptr && seen.shape.has_value()
                          ? SameExtents(tensor->shape(), *seen.shape)
                          : value.Type() == seen.type;
    if (!same) return false;
  }
  return std::ranges::all_of(values_, [&run](const SeenValue& seen) {
    const Tensor* const tensor = run.value(seen.input).tensor();
    if (tensor == nullptr || !seen.tensor.defined()) {
      return tensor == nullptr && !seen.tensor.defined();
    }
    return SameElements(*tensor, seen.tensor);
  });
}

const ValueType& Preparation::declared(Output output) const {
  const auto position = static_cast<size_t>(output.position);
  return position < declared_.size() ? declared_[position] : kUnknown;
}

}  // namespace assay::eager
