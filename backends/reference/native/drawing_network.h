// SPDX-License-Identifier: Apache-2.0
//
// DrawingNetwork: a network whose operators draw from the seed of a run and the number
// of a step.
//
//   DrawingNetwork network(*std::move(loaded));
//   ASSAY_RETURN_IF_ERROR(network.draws()->DrawFrom(7, step));
//   ASSAY_RETURN_IF_ERROR(network.Forward(*binding));

#pragma once

#include <cstdint>
#include <optional>

#include "framework/backend/backend.h"
#include "framework/backend/forwarding_network.h"
#include "framework/core/status.h"

namespace assay::reference {

class DrawingNetwork : public ForwardingNetwork, private Draws {
 public:
  using ForwardingNetwork::ForwardingNetwork;

  Draws* draws() override { return this; }
  Status Forward(Binding& binding) override;

 private:
  Status DrawFrom(uint64_t run_seed, int64_t step) override;

  std::optional<uint64_t> first_;  // seed of a step
};

}  // namespace assay::reference
