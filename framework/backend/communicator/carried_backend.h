// SPDX-License-Identifier: Apache-2.0
//
// CarriedBy: a backend of which each rank of a library has networks of its own.
//
//   ASSAY_ASSIGN_OR_RETURN(
//       auto backend,
//       communicator::CarriedBy(MakeBackend("onednn").value(),
//                               MakeBackend("openmpi").value()));

#pragma once

#include <memory>

#include "framework/backend/backend.h"
#include "framework/core/status.h"

namespace assay::communicator {

/// It loads what `backend` loads, and its ranks are those of `library`, which gets none of
/// the settings. Failed precondition for a library without ranks, and as Backend::ranks.
Result<std::unique_ptr<Backend>> CarriedBy(std::unique_ptr<Backend> backend,
                                           std::unique_ptr<Backend> library);

}  // namespace assay::communicator
