// SPDX-License-Identifier: Apache-2.0
//
// For tests of mutants: a graph in ONNX's text form run by the module under a
// mutant.
//
//   EXPECT_TRUE(SameBits(*RunWith("", graph, feeds),
//                        *RunWith("nan", graph, feeds)));

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/reference/kernel_rows.h"
#include "framework/backend/backend.h"

namespace assay::faulty {

std::unique_ptr<Backend> MakeFaulty();

/// The outputs under the mutant of that name; without one where it is empty.
Result<std::vector<Value>> RunWith(std::string_view mutant,
                                   const std::string& graph,
                                   const std::vector<reference::Feed>& feeds,
                                   int opset = 0);

/// Tensors of equal types, shapes and bytes.
bool SameBits(const std::vector<Value>& a, const std::vector<Value>& b);

}  // namespace assay::faulty
