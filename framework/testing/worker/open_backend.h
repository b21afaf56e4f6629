// SPDX-License-Identifier: Apache-2.0
//
// A backend from its module, made and inspected in this process.
//
//   ASSAY_ASSIGN_OR_RETURN(
//       auto backend, OpenBackend({"lib/assay/acme.so", "acme", "2.1"}));

#pragma once

#include <functional>
#include <memory>
#include <string>

#include "framework/backend/backend.h"
#include "framework/core/status.h"

namespace assay::worker {

struct ModuleUse {
  std::string file;
  std::string name;     // that the module must register
  std::string version;  // that Inspect must give; empty: any
};

/// As LoadBackendModule and Inspect decline; failed precondition where the
/// module is not what its name says.
Result<std::unique_ptr<Backend>> OpenBackend(const ModuleUse& use);

/// The first, with the ranks of the second (carried_backend.h). As OpenBackend and
/// CarriedBy decline.
Result<std::unique_ptr<Backend>> OpenCarried(const ModuleUse& use,
                                             const ModuleUse& carrier);

using Opener =
    std::function<Result<std::unique_ptr<Backend>>(const ModuleUse& use)>;

/// How SharedBackend (backend_test.h) opens the backends that it has not opened
/// yet; by OpenBackend unless something else is said.
void SetOpener(Opener opener);

}  // namespace assay::worker
