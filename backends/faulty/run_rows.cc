// SPDX-License-Identifier: Apache-2.0

#include "backends/faulty/run_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "framework/backend/registry.h"
#include "framework/graph/model_text.h"

namespace assay::faulty {

std::unique_ptr<Backend> MakeFaulty() {
  static const bool loaded = LoadBackendModule(ASSAY_FAULTY_MODULE).ok();
  EXPECT_TRUE(loaded);
  return *MakeBackend("faulty");
}

Result<std::vector<Value>> RunWith(std::string_view mutant,
                                   const std::string& graph,
                                   const std::vector<reference::Feed>& feeds,
                                   int opset) {
  LoadOptions options;
  if (!mutant.empty()) options.settings["mutant"] = mutant;
  ASSAY_ASSIGN_OR_RETURN(
      auto network,
      MakeFaulty()->Load(graph::ModelOfText(graph, opset), options));
  std::map<std::string, Value> inputs;
  for (size_t i = 0; i < feeds.size(); ++i) {
    inputs[network->inputs()[i].name] = feeds[i].Make();
  }
  return assay::Run(*network, inputs);
}

bool SameBits(const std::vector<Value>& a, const std::vector<Value>& b) {
  return std::ranges::equal(a, b, [](const Value& x, const Value& y) {
    const Tensor* left = x.tensor();
    const Tensor* right = y.tensor();
    return left != nullptr && right != nullptr &&
           left->dtype() == right->dtype() && left->shape() == right->shape() &&
           std::ranges::equal(left->bytes(), right->bytes());
  });
}

}  // namespace assay::faulty
