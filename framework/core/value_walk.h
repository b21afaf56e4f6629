// SPDX-License-Identifier: Apache-2.0
//
// The tensors inside a value, whatever its kind: in sequences, optionals, maps
// and sparse tensors.
//
//   ForEachTensor(value, [&](const Tensor& t) { bytes += t.byte_size(); });
//   ASSAY_ASSIGN_OR_RETURN(Value copy, MapTensors(value, &Tensor::Clone));

#pragma once

#include <functional>

#include "framework/core/value.h"

namespace assay::inline v1 {

/// Calls visit(tensor) in order: of a map the keys first, of a sparse tensor
/// the values alone.
void ForEachTensor(const Value& value,
                   const std::function<void(const Tensor&)>& visit);

/// The type with change(dtype) in the place of the innermost element type.
using DTypeChange = std::function<DType(DType)>;
ValueType MapDType(ValueType type, const DTypeChange& change);

/// The value with change(tensor) in the place of each tensor, keys and indices
/// too. The types that sequences and optionals declare are changed by retype,
/// or stay without it.
Result<Value> MapTensors(
    const Value& value,
    const std::function<Result<Tensor>(const Tensor&)>& change,
    const DTypeChange& retype = nullptr);

}  // namespace assay::inline v1
