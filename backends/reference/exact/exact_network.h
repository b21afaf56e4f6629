// SPDX-License-Identifier: Apache-2.0
//
// ExactNetwork: a network of the reference that can also be evaluated in higher
// precision, with bounds, and differentiated: the interface Exact. It holds the
// same graph twice, with kernels of element types and with kernels on Vars.
//
//   ASSAY_ASSIGN_OR_RETURN(auto network,
//                          backend.Load(model, {.exact = true}));
//   ASSAY_ASSIGN_OR_RETURN(auto run, network->exact()->At(inputs, {}));

#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "framework/backend/exact.h"
#include "framework/backend/forwarding_network.h"
#include "framework/graph/model.h"

namespace assay::reference {

class ExactNetwork final : public ForwardingNetwork, private Exact {
 public:
  /// `traced` has kernels that are Traced. Unsupported, reason dtype, for a
  /// graph with complex numbers, whose place Vars take.
  static Result<std::unique_ptr<Network>> Make(
      std::shared_ptr<const Model> model, std::unique_ptr<Network> plain,
      std::unique_ptr<Network> traced);

  Exact* exact() override { return this; }

 private:
  ExactNetwork(std::shared_ptr<const Model> model,
               std::unique_ptr<Network> plain, std::unique_ptr<Network> traced)
      : ForwardingNetwork(std::move(plain)),
        model_(std::move(model)),
        traced_(std::move(traced)) {}

  Result<std::unique_ptr<ExactRun>> At(
      std::span<const v1::Value> inputs,
      std::span<const std::string> targets) override;

  /// An input, of those given, or an initializer.
  Result<v1::Value> Find(const std::string& target,
                         const std::vector<v1::Value>& inputs) const;

  std::shared_ptr<const Model> model_;
  std::unique_ptr<Network> traced_;
};

}  // namespace assay::reference
