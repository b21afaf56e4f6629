// SPDX-License-Identifier: Apache-2.0
//
// ExactNetwork: a network of the reference that can also be evaluated in higher
// precision, with bounds, and differentiated: the interface Exact. It holds the
// same graph twice, with kernels of element types and with kernels on Vars.
//
//   ASSAY_ASSIGN_OR_RETURN(auto network,
//                          backend.Load(model, {.exact = true}));
//   auto values = network->exact()->Evaluate(inputs, Precision::kQuad);

#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "backends/reference/tape/referee.h"
#include "backends/reference/tape/trace.h"
#include "framework/backend/forwarding_network.h"
#include "framework/backend/network_interfaces.h"

namespace assay::reference {

class ExactNetwork final : public ForwardingNetwork, private Exact {
 public:
  /// `traced` has kernels that are Traced. Unsupported, reason dtype, for a
  /// graph with complex numbers, whose place Vars take.
  static Result<std::unique_ptr<Network>> Make(const Model& model,
                                               std::unique_ptr<Network> plain,
                                               std::unique_ptr<Network> traced);

  Exact* exact() override { return this; }

 private:
  ExactNetwork(std::unique_ptr<Network> plain, std::unique_ptr<Network> traced)
      : ForwardingNetwork(std::move(plain)), traced_(std::move(traced)) {}

  Result<std::vector<ExactValue>> Evaluate(std::span<const Value> inputs,
                                           Precision precision) override;
  Result<std::vector<ExactValue>> Vjp(std::span<const Value> inputs,
                                      std::span<const Value> cotangents,
                                      Precision precision) override;
  Result<std::vector<ExactValue>> Jvp(std::span<const Value> inputs,
                                      std::span<const Value> tangents,
                                      Precision precision) override;
  Result<Slope> Difference(std::span<const Value> inputs,
                           std::span<const Value> tangents,
                           std::span<const Value> cotangents) override;
  Result<std::vector<Tensor>> ConditionUnits(
      std::span<const Value> inputs) override;

  /// The outputs, on the trace's tape.
  Result<std::vector<Value>> RunTraced(std::span<const Value> inputs,
                                       Trace* trace);

  /// The tangent of each node that an input was read into, 0 for others.
  Result<std::vector<double>> DirectionsOf(std::span<const Value> inputs,
                                           std::span<const Value> tangents,
                                           const Trace& trace);
  Result<Sample> Weighted(std::span<const Value> inputs,
                          std::span<const Value> cotangents, Trace* trace);

  std::unique_ptr<Network> traced_;
};

}  // namespace assay::reference
