// SPDX-License-Identifier: Apache-2.0
//
// The values that an attribute can have, where ONNX's pages name them all: its
// schemas say only "string" or "int".
//
//   ValuesOf("Resize", "mode");      // {"nearest", "linear", "cubic"}
//   ValuesOf("ReduceSum", "keepdims");  // {"0", "1"}
//   ValuesOf("Conv", "strides");     // none: not to be enumerated
//
// An operator is named as in a test_id, ml.Normalizer for one of ai.onnx.ml.

#pragma once

#include <string_view>
#include <vector>

namespace assay::list {

/// Empty where the values cannot be enumerated.
std::vector<std::string_view> ValuesOf(std::string_view op,
                                       std::string_view attribute);

/// The operators and attributes that the table names, for its test: an operator
/// is empty where an attribute means the same in all.
struct NamedAttribute {
  std::string_view op;
  std::string_view attribute;
};
std::vector<NamedAttribute> NamedAttributes();

}  // namespace assay::list
