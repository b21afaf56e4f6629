// SPDX-License-Identifier: Apache-2.0

#include "framework/graph/types/signature.h"

#include "framework/core/text.h"

namespace assay::types {

const FormalParameter* FormalAt(std::span<const FormalParameter> formals,
                                size_t position) {
  if (position < formals.size()) return &formals[position];
  const bool variadic =
      !formals.empty() && formals.back().arity == Arity::kVariadic;
  return variadic ? &formals.back() : nullptr;
}

std::string Word(const ValueType& type) {
  const std::string inner = type.element ? Word(*type.element) : "";
  const std::string dtype(
      type.dtype == DType::kUndefined ? "" : ToString(type.dtype));
  switch (type.kind) {
    case ValueKind::kTensor:
      return dtype;
    case ValueKind::kSparseTensor:
      return dtype.empty() ? "" : StrCat("sparse_tensor(", dtype, ")");
    case ValueKind::kSequence:
      return inner.empty() ? "" : StrCat("seq(", inner, ")");
    case ValueKind::kOptional:
      return inner.empty() ? "" : StrCat("optional(", inner, ")");
    case ValueKind::kMap:
      return dtype.empty() || inner.empty()
                 ? ""
                 : StrCat("map(", dtype, ",", inner, ")");
    case ValueKind::kNone:
      break;
  }
  return "";
}

}  // namespace assay::types
