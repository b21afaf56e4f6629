// SPDX-License-Identifier: Apache-2.0

#include "framework/train/on_reference/linear_network.h"

#include "framework/backend/registry.h"
#include "framework/train/model/new_model.h"

namespace assay::on_reference {

Backend& Reference() {
  static const std::unique_ptr<Backend> backend =
      Got(MakeBackend(Got(LoadBackendModule(ASSAY_REFERENCE_MODULE)).front()));
  return *backend;
}

std::unique_ptr<train::NetworkObjective> LinearNetwork(
    const edit::LossEdit& loss, const std::shared_ptr<const Model>& model) {
  return Got(train::NetworkObjective::Load(
      Reference(), Got(train::TraineeOf(Got(train::NewModelOf(*model)), loss,
                                        /*seed=*/1))));
}

}  // namespace assay::on_reference
