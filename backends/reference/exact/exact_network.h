// SPDX-License-Identifier: Apache-2.0
//
// A network of the reference that can also be evaluated in higher precision,
// with bounds, and differentiated: it offers the interface Exact. It holds the
// same graph twice, with kernels of element types and with kernels on Vars.
//
//   ASSAY_ASSIGN_OR_RETURN(auto network,
//                          backend.Load(model, {.exact = true}));
//   ASSAY_ASSIGN_OR_RETURN(auto run, network->exact()->At(inputs, {}));

#pragma once

#include <memory>

#include "framework/backend/backend.h"

namespace assay::reference {

/// `traced` has kernels that are Traced. Unsupported, reason dtype, for a graph
/// with complex numbers, whose place Vars take.
Result<std::unique_ptr<Network>> MakeExactNetwork(
    std::shared_ptr<const Model> model, std::unique_ptr<Network> plain,
    std::unique_ptr<Network> traced);

}  // namespace assay::reference
