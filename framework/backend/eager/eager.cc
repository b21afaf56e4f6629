// SPDX-License-Identifier: Apache-2.0

#include "framework/backend/eager/eager.h"

#include <algorithm>
#include <utility>

#include "framework/backend/eager/eager_network.h"

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
  const eager::KernelSource kernels = {
      families_, [this](const Node& node) { return MayExpand(node); },
      [&](Kernel kernel) { return Around(std::move(kernel), options); }};
  return eager::EagerNetwork::Load(model, kernels, this->name(), options);
}

}  // namespace assay::inline v1
