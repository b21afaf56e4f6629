// SPDX-License-Identifier: Apache-2.0
//
// For tests of mutants: a graph in ONNX's text form run by the module under a
// mutant.

#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/reference/kernel_rows.h"
#include "framework/backend/backend.h"
#include "framework/backend/registry.h"
#include "framework/graph/model_text.h"

namespace assay::faulty {

inline std::unique_ptr<Backend> MakeFaulty() {
  static const bool loaded = LoadBackendModule(ASSAY_FAULTY_MODULE).ok();
  EXPECT_TRUE(loaded);
  return *MakeBackend("faulty");
}

/// A network under the mutant of that name; without one where it is empty.
inline Result<std::unique_ptr<Network>> LoadWith(std::string_view mutant,
                                                 const std::string& graph,
                                                 LoadOptions options = {},
                                                 int opset = 0) {
  if (!mutant.empty()) options.settings["mutant"] = mutant;
  return MakeFaulty()->Load(graph::ModelOfText(graph, opset), options);
}

/// The outputs under the mutant.
inline Result<std::vector<Value>> RunWith(
    std::string_view mutant, const std::string& graph,
    const std::vector<reference::Feed>& feeds, int opset = 0) {
  ASSAY_ASSIGN_OR_RETURN(auto network, LoadWith(mutant, graph, {}, opset));
  std::map<std::string, Value> inputs;
  for (size_t i = 0; i < feeds.size(); ++i) {
    inputs[network->inputs()[i].name] = feeds[i].Make();
  }
  return assay::Run(*network, inputs);
}

/// Tensors of equal types, shapes and bytes.
inline bool SameBits(const std::vector<Value>& a, const std::vector<Value>& b) {
  return std::ranges::equal(a, b, [](const Value& x, const Value& y) {
    const Tensor* left = x.tensor();
    const Tensor* right = y.tensor();
    return left != nullptr && right != nullptr &&
           left->dtype() == right->dtype() && left->shape() == right->shape() &&
           std::ranges::equal(left->bytes(), right->bytes());
  });
}

}  // namespace assay::faulty
