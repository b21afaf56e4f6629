// SPDX-License-Identifier: Apache-2.0
//
// A backend or a communicator from its module, made and inspected in this
// process.

#pragma once

#include <functional>
#include <memory>
#include <string>

#include "framework/backend/backend.h"
#include "framework/backend/communicator.h"
#include "framework/core/status.h"

namespace assay::worker {

struct ModuleUse {
  std::string file;
  std::string name;     // that the module must register
  std::string version;  // that Inspect must give; empty: any
};

/// The backend or the communicator on which cases run, or both, where ranks of
/// the communicator train networks of the backend. A module has one of the two.
struct Opened {
  std::unique_ptr<Backend> backend;
  std::unique_ptr<Communicator> communicator;

  /// The backend's, set as its instance is, where there is one.
  Result<Probe> InspectAs(const Settings& settings) {
    return backend != nullptr ? backend->InspectAs(settings)
                              : communicator->Inspect();
  }
};

/// Asks the module which of the two it has. Errors as of LoadBackendModule and
/// Inspect; failed precondition where the module is not what its name says.
Result<Opened> OpenModule(const ModuleUse& use);

/// As OpenModule; failed precondition for a communicator.
Result<std::unique_ptr<Backend>> OpenBackend(const ModuleUse& use);

/// The backend of `use` and the communicator of `carrier`. As OpenModule;
/// failed precondition for modules of the other kinds.
Result<Opened> OpenCarried(const ModuleUse& use, const ModuleUse& carrier);

using Opener = std::function<Result<Opened>(const ModuleUse& use)>;

/// How SharedModule opens what it has not opened yet; by OpenModule unless
/// something else is said.
void SetOpener(Opener opener);

/// The process' instance of a module, opened on the first call. Later calls
/// give the same answer. SharedBackend (backend_test.h) gives its backend.
Result<Opened*> SharedModule(const std::string& instance);

}  // namespace assay::worker
