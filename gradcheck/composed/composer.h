// SPDX-License-Identifier: Apache-2.0
//
// Networks at random: 2 to 12 nodes, of which at least two read one value, on
// tensors of two small axes.
//
//   const std::string text = ComposedCase(17);  // case composed/n017: ...

#pragma once

#include <cstdint>
#include <string>

namespace assay::gradcheck {

/// A case in the text of conformance/special, with values of its inputs: the
/// same text for the same number on every machine. What no node reads are the
/// outputs. Numbers stay below 1000, and far enough from where an operator is
/// not defined.
std::string ComposedCase(int64_t number);

}  // namespace assay::gradcheck
