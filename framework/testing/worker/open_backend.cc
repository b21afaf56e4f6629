// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/worker/open_backend.h"

#include <algorithm>
#include <utility>

#include "framework/backend/communicator/carried_backend.h"
#include "framework/backend/registry.h"

namespace assay::worker {

Result<std::unique_ptr<Backend>> OpenBackend(const ModuleUse& use) {
  ASSAY_ASSIGN_OR_RETURN(const auto names, LoadBackendModule(use.file));
  if (std::ranges::find(names, use.name) == names.end()) {
    return FailedPrecondition("module ", use.file, " registers ", Joined(names),
                              ", wanted ", use.name,
                              ": a backend's name() is that of its file");
  }
  ASSAY_ASSIGN_OR_RETURN(auto backend, MakeBackend(use.name));
  ASSAY_ASSIGN_OR_RETURN(const Probe probe, backend->Inspect());
  if (!use.version.empty() && probe.version != use.version) {
    return FailedPrecondition("module ", use.file, " is of version ",
                              probe.version, ", wanted ", use.version,
                              " as its name says");
  }
  return backend;
}

Result<std::unique_ptr<Backend>> OpenCarried(const ModuleUse& use,
                                             const ModuleUse& carrier) {
  ASSAY_ASSIGN_OR_RETURN(auto backend, OpenBackend(use));
  ASSAY_ASSIGN_OR_RETURN(auto library, OpenBackend(carrier));
  return communicator::CarriedBy(std::move(backend), std::move(library));
}

}  // namespace assay::worker

#ifdef __SANITIZE_ADDRESS__
// For the programs that load modules. At exit LeakSanitizer walks the thread-local
// storage of all threads, and crashes over that of OpenMP's unless it has not
// tracked it.
extern "C" __attribute__((visibility("default"))) const char*
__asan_default_options() {
  return "intercept_tls_get_addr=0";
}
#endif
