// SPDX-License-Identifier: Apache-2.0

//
// Mutants of what is shown, whatever ran: every output and gradient is wrong.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "backends/faulty/mutants.h"
#include "backends/faulty/numbers.h"

namespace assay::faulty {
namespace {

/// The tensors inside a value, each replaced by change(tensor); what is no
/// tensor, sequence or optional stays.
template <class Change>
Result<Value> MapTensors(const Value& value, Change change) {
  if (const Tensor* tensor = value.tensor()) {
    ASSAY_ASSIGN_OR_RETURN(Tensor changed, change(*tensor));
    return Value(std::move(changed));
  }
  if (const Sequence* sequence = value.sequence()) {
    Sequence changed{sequence->element, {}};
    for (const Value& item : sequence->items) {
      ASSAY_ASSIGN_OR_RETURN(Value next, MapTensors(item, change));
      changed.items.push_back(std::move(next));
    }
    return Value(std::move(changed));
  }
  if (const Optional* optional = value.optional();
      optional != nullptr && optional->has_value()) {
    ASSAY_ASSIGN_OR_RETURN(Value inner, MapTensors(*optional->value, change));
    return Value(Optional{optional->element,
                          std::make_shared<const Value>(std::move(inner))});
  }
  return value;
}

template <Result<Tensor> (*kChange)(const Tensor& tensor)>
Result<Value> Each(const Value& right, const Value&) {
  return MapTensors(right, kChange);
}

/// A copy with the middle element replaced: the mutant that is hardest to see.
template <class Replace>
Result<Tensor> WithMiddle(const Tensor& tensor, Replace replace) {
  ASSAY_ASSIGN_OR_RETURN(Tensor copy, tensor.Clone());
  if (copy.num_elements() == 0) return copy;
  const auto middle = static_cast<size_t>(copy.num_elements() / 2);
  if (copy.dtype() == DType::kString) {
    copy.mutable_strings()[middle] += "?";
    return copy;
  }
  return WithNumbers(copy, [&](int64_t i, double x) {
    if (std::cmp_equal(i, middle)) replace(x);
    return x;
  });
}

// Beyond any tolerance of the corpus, in every type and also in place of
// infinity and NaN: both numbers are exact in the narrowest floats.
Result<Tensor> CorruptValue(const Tensor& tensor) {
  if (tensor.dtype() == DType::kBool) {
    return WithMiddle(tensor, [](double& x) { x = x == 0 ? 1 : 0; });
  }
  return WithMiddle(tensor, [](double& x) { x = std::abs(x) < 1 ? 2 : 0.25; });
}

// The same bytes under one axis more.
Result<Tensor> CorruptShape(const Tensor& tensor) {
  std::vector<int64_t> dims = tensor.shape().dims();
  dims.insert(dims.begin(), 1);
  ASSAY_ASSIGN_OR_RETURN(Tensor copy, tensor.Clone());
  return copy.Reshape(Shape(dims));
}

// The same numbers in another type.
Result<Tensor> CorruptType(const Tensor& tensor) {
  const DType type =
      IsFloatingPoint(tensor.dtype()) ? DType::kFloat64 : DType::kInt64;
  const DType other = tensor.dtype() != type    ? type
                      : type == DType::kFloat64 ? DType::kFloat32
                                                : DType::kInt32;
  if (!HasNumbers(tensor)) return Tensor::Allocate(other, tensor.shape());
  return OfNumbers(other, tensor.shape(), Numbers(tensor));
}

// One NaN; types without NaN stay right.
Result<Tensor> CorruptToNan(const Tensor& tensor) {
  if (!IsFloatingPoint(tensor.dtype())) return tensor.Clone();
  return WithMiddle(
      tensor, [](double& x) { x = std::numeric_limits<double>::quiet_NaN(); });
}

Result<Tensor> CorruptToZeros(const Tensor& tensor) {
  return Tensor::Allocate(tensor.dtype(), tensor.shape());
}

// The last network's output, where it would fit: a buffer never written.
Result<Value> CorruptToStale(const Value& right, const Value& previous) {
  const Tensor* old = previous.tensor();
  const Tensor* now = right.tensor();
  if (old == nullptr || now == nullptr || old->dtype() != now->dtype() ||
      old->shape() != now->shape()) {
    return Each<CorruptToZeros>(right, previous);
  }
  return previous;
}

// The last two extents change places, the bytes do not.
Result<Tensor> SwapLastExtents(const Tensor& tensor) {
  std::vector<int64_t> dims = tensor.shape().dims();
  if (dims.size() > 1) std::swap(dims.back(), dims[dims.size() - 2]);
  ASSAY_ASSIGN_OR_RETURN(Tensor copy, tensor.Clone());
  return copy.Reshape(Shape(dims));
}

// The same bytes as integers of the other signedness, float32 as int32.
Result<Tensor> RenameType(const Tensor& tensor) {
  constexpr std::pair<DType, DType> kNames[] = {
      {DType::kInt8, DType::kUint8},       {DType::kUint8, DType::kInt8},
      {DType::kInt16, DType::kUint16},     {DType::kUint16, DType::kInt16},
      {DType::kInt32, DType::kUint32},     {DType::kUint32, DType::kInt32},
      {DType::kInt64, DType::kUint64},     {DType::kUint64, DType::kInt64},
      {DType::kFloat32, DType::kInt32},    {DType::kFloat64, DType::kInt64},
      {DType::kFloat16, DType::kBFloat16}, {DType::kBFloat16, DType::kFloat16},
      {DType::kBool, DType::kUint8}};
  const auto* const found = std::ranges::find(kNames, tensor.dtype(),
                                              &std::pair<DType, DType>::first);
  if (found == std::end(kNames)) return tensor.Clone();
  return Tensor::FromBytes(found->second, tensor.shape(), tensor.bytes());
}

// Every element is the first.
Result<Tensor> RepeatFirst(const Tensor& tensor) {
  const auto count = static_cast<size_t>(tensor.num_elements());
  return Picked(tensor, tensor.shape(), std::vector<int64_t>(count, 0));
}

// Two lanes of a register changed places.
Result<Tensor> SwapFirstTwo(const Tensor& tensor) {
  if (tensor.num_elements() < 2) return tensor.Clone();
  std::vector<int64_t> places(static_cast<size_t>(tensor.num_elements()));
  std::iota(places.begin(), places.end(), 0);
  std::swap(places[0], places[1]);
  return Picked(tensor, tensor.shape(), places);
}

}  // namespace

std::vector<Mutant> OutputMutants() {
  return {
      {.name = "value", .corrupt = Each<CorruptValue>},
      {.name = "shape", .corrupt = Each<CorruptShape>},
      {.name = "shape_last_extents_swapped", .corrupt = Each<SwapLastExtents>},
      {.name = "dtype", .corrupt = Each<CorruptType>},
      {.name = "dtype_renamed", .corrupt = Each<RenameType>},
      {.name = "nan", .corrupt = Each<CorruptToNan>},
      {.name = "zeros", .corrupt = Each<CorruptToZeros>},
      {.name = "first_element_repeated", .corrupt = Each<RepeatFirst>},
      {.name = "first_two_swapped", .corrupt = Each<SwapFirstTwo>},
      {.name = "stale", .corrupt = CorruptToStale},
  };
}

}  // namespace assay::faulty
