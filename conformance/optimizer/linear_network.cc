// SPDX-License-Identifier: Apache-2.0

#include "conformance/optimizer/linear_network.h"

#include <string>
#include <vector>

#include "framework/backend/registry.h"

namespace assay::optimizer {

Backend& Reference() {
  static const std::unique_ptr<Backend> backend =
      Got(MakeBackend(Got(LoadBackendModule(ASSAY_REFERENCE_MODULE)).front()));
  return *backend;
}

std::unique_ptr<train::NetworkObjective> LinearNetwork(
    const edit::LossEdit& loss, const std::shared_ptr<const Model>& model) {
  train::Trainee trainee;
  std::vector<std::string> names;
  for (const Initializer& initializer : model->graph().initializers) {
    names.push_back(model->graph()[initializer.id].name);
    trainee.parameters.push_back(
        {names.back(), Got(initializer.value.tensor()->Clone())});
  }
  trainee.model =
      Got(edit::WithLoss(*Got(edit::AsInputs(*model, names)), loss));
  return Got(train::NetworkObjective::Load(Reference(), std::move(trainee)));
}

}  // namespace assay::optimizer
