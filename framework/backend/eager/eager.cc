// SPDX-License-Identifier: Apache-2.0

#include "framework/backend/eager/eager.h"

#include <algorithm>
#include <utility>

#include "framework/backend/eager/eager_network.h"
#include "framework/backend/eager/part.h"

namespace assay::inline v1 {

void EagerBackend::AddFamily(std::unique_ptr<OperatorVisitor> family) {
  families_.push_back(std::move(family));
}

Result<std::unique_ptr<Network>> EagerBackend::Load(
    std::shared_ptr<const Model> model, const LoadOptions& options) {
  const std::vector<std::string> known = Settings();
  for (const auto& [name, value] : options.settings) {
    if (std::ranges::find(known, name) == known.end()) {
      return InvalidArgument("backend '", this->name(), "' has no setting '",
                             name, "'");
    }
  }
  return eager::EagerNetwork::Load(model, MakeKernelSource(), this->name(),
                                   options);
}

Result<BackwardFunction> EagerBackend::MakeBackward(LoadContext& load) {
  return Unsupported(Reason::kGradient, load.node().Label(),
                     load.node().Subgraphs().empty()
                         ? ": the kernel has no backward"
                         : ": gradients through subgraphs are not offered");
}

Result<NodeNetwork> EagerBackend::LoadNode(const LoadContext& load,
                                           const LoadOptions& options) {
  eager::LoneNode alone = eager::CutNode(load.node(), load.scope());
  ASSAY_ASSIGN_OR_RETURN(
      std::shared_ptr<Network> network,
      eager::EagerNetwork::LoadGraph(
          std::make_shared<const Graph>(std::move(alone.graph)),
          MakeKernelSource(), this->name(), options));
  return NodeNetwork{std::move(network), std::move(alone.inputs),
                     std::move(alone.outputs)};
}

eager::KernelSource EagerBackend::MakeKernelSource() {
  return {families_, [this](const Node& node) { return MayExpand(node); },
          [this](Kernel kernel, const LoadContext& load) {
            return Around(std::move(kernel), load);
          },
          [this](LoadContext& load) { return MakeBackward(load); },
          [this](const LoadOptions& options) {
            return MakeDifferentiate(options);
          }};
}

}  // namespace assay::inline v1
