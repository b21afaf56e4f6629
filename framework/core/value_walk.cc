// SPDX-License-Identifier: Apache-2.0

#include "framework/core/value_walk.h"

#include <utility>

namespace assay::inline v1 {
namespace {

class Walk {
 public:
  Walk(const std::function<Result<Tensor>(const Tensor&)>& change,
       const DTypeChange& retype)
      : change_(change), retype_(retype) {}

  Result<Value> Of(const Value& value) const {
    if (const Tensor* tensor = value.tensor()) {
      ASSAY_ASSIGN_OR_RETURN(Tensor changed, change_(*tensor));
      return Value(std::move(changed));
    }
    if (const SparseTensor* sparse = value.sparse()) {
      SparseTensor changed = *sparse;
      ASSAY_ASSIGN_OR_RETURN(changed.values, change_(sparse->values));
      ASSAY_ASSIGN_OR_RETURN(changed.indices, change_(sparse->indices));
      return Value(std::move(changed));
    }
    if (const Sequence* sequence = value.sequence()) {
      Sequence changed{TypeOf(sequence->element), {}};
      ASSAY_ASSIGN_OR_RETURN(changed.items, Of(sequence->items));
      return Value(std::move(changed));
    }
    if (const Map* map = value.map()) {
      Map changed;
      ASSAY_ASSIGN_OR_RETURN(changed.keys, change_(map->keys));
      ASSAY_ASSIGN_OR_RETURN(changed.values, Of(map->values));
      return Value(std::move(changed));
    }
    const Optional* optional = value.optional();
    if (optional == nullptr) return value;
    Optional changed{TypeOf(optional->element), nullptr};
    if (optional->has_value()) {
      ASSAY_ASSIGN_OR_RETURN(Value held, Of(*optional->value));
      changed.value = std::make_shared<const Value>(std::move(held));
    }
    return Value(std::move(changed));
  }

 private:
  Result<std::vector<Value>> Of(const std::vector<Value>& values) const {
    std::vector<Value> changed(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      ASSAY_ASSIGN_OR_RETURN(changed[i], Of(values[i]));
    }
    return changed;
  }

  ValueType TypeOf(ValueType type) const {
    return retype_ ? MapDType(std::move(type), retype_) : type;
  }

  const std::function<Result<Tensor>(const Tensor&)>& change_;
  const DTypeChange& retype_;
};

}  // namespace

void ForEachTensor(const Value& value,
                   const std::function<void(const Tensor&)>& visit) {
  if (const Tensor* tensor = value.tensor()) {
    visit(*tensor);
  } else if (const SparseTensor* sparse = value.sparse()) {
    visit(sparse->values);
  } else if (const Sequence* sequence = value.sequence()) {
    for (const Value& item : sequence->items) ForEachTensor(item, visit);
  } else if (const Map* map = value.map()) {
    visit(map->keys);
    for (const Value& item : map->values) ForEachTensor(item, visit);
  } else if (const Optional* optional = value.optional();
             optional != nullptr && optional->has_value()) {
    ForEachTensor(*optional->value, visit);
  }
}

ValueType MapDType(ValueType type, const DTypeChange& change) {
  if (type.element == nullptr) {
    type.dtype = change(type.dtype);
  } else {
    type.element =
        std::make_shared<const ValueType>(MapDType(*type.element, change));
  }
  return type;
}

Result<Value> MapTensors(
    const Value& value,
    const std::function<Result<Tensor>(const Tensor&)>& change,
    const DTypeChange& retype) {
  return Walk(change, retype).Of(value);
}

}  // namespace assay::inline v1
