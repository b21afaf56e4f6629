// SPDX-License-Identifier: Apache-2.0
//
// An operator as test_ids and queries name it: outside ai.onnx the last part of
// its domain stands before it, as the corpus export has it.
//
//   OperatorName("ai.onnx", "Conv");             // "Conv"
//   OperatorName("ai.onnx.ml", "TreeEnsemble");  // "ml.TreeEnsemble"

#pragma once

#include <string>
#include <string_view>

#include "framework/core/text.h"

namespace assay::cases {

inline std::string OperatorName(std::string_view domain,
                                std::string_view op_type) {
  if (domain.empty() || domain == "ai.onnx") return std::string(op_type);
  return StrCat(domain.substr(domain.rfind('.') + 1), ".", op_type);
}

}  // namespace assay::cases
