// SPDX-License-Identifier: Apache-2.0
//
// The computations whose overhead is measured: networks of one node at sizes
// from far below a microsecond to about a millisecond, and a network of them
// bound on a backend.
//
//   for (const overhead::Case& each : overhead::Cases()) {
//     ASSAY_ASSIGN_OR_RETURN(auto bound, overhead::Bind(backend, each, {}));
//     ASSAY_RETURN_IF_ERROR(bound->network->Forward(*bound->binding));
//   }

#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "framework/backend/backend.h"
#include "framework/core/shape.h"
#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/graph/model.h"
#include "perf/overhead/pair.h"

namespace assay::overhead {

/// One node over float32 tensors.
struct Case {
  std::string op, name;       // "Relu", "4"
  std::vector<Shape> inputs;  // of a, b, ...
  Shape output;
  std::string node;  // "Relu(a)"
};

std::vector<Case> Cases();

/// Its tensors are the caller's, so that native calls run over the same.
struct Bound {
  std::shared_ptr<const Model> model;
  std::vector<Tensor> inputs;  // drawn from [0.5, 1.5)
  Tensor output;
  std::unique_ptr<Network> network;
  std::unique_ptr<Binding> binding;
};

/// As the backend declines the network.
Result<std::shared_ptr<Bound>> Bind(
    Backend& backend, const Case& of,
    const std::map<std::string, std::string>& settings);

/// Forward and Synchronize.
Calls BoundCalls(std::shared_ptr<Bound> bound);

}  // namespace assay::overhead
