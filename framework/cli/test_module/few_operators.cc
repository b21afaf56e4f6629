// SPDX-License-Identifier: Apache-2.0
//
// A backend for tests that run everything: the reference, for models of a few
// operators that TreeTest keeps. It declines the rest at once, the steps of
// optimizers above all, so that a whole run is short. With the setting outputs
// it declines models of more outputs than one, and no operator.

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

#include "backends/reference/families.h"
#include "framework/backend/registry.h"

namespace assay::test_module {
namespace {

constexpr std::array<std::string_view, 6> kOperators = {
    "Abs", "Neg", "Relu", "Sqrt", "Sigmoid", "ConstantOfShape"};

class FewOperators final : public reference::ReferenceBackend {
 public:
  std::string_view name() const override { return "reference"; }
  Result<Probe> Inspect() override { return Probe{"1", "cpu"}; }
  Result<std::unique_ptr<Network>> Load(std::shared_ptr<const Model> model,
                                        const LoadOptions& options) override {
    if (options.settings.contains("outputs")) {
      const size_t count = model->graph().outputs.size();
      if (count == 1) return ReferenceBackend::Load(std::move(model), {});
      return Unsupported(Reason::kNone, "found ", count, " outputs, wanted 1");
    }
    for (const Node& node : model->graph().nodes) {
      if (std::ranges::count(kOperators, node.op_type) == 0) {
        return Unsupported(Reason::kOperator, node.op_type);
      }
    }
    return ReferenceBackend::Load(std::move(model), options);
  }
};

ASSAY_REGISTER_BACKEND(FewOperators);

}  // namespace
}  // namespace assay::test_module
