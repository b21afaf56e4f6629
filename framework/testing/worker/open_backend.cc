// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/worker/open_backend.h"

#include <algorithm>
#include <string_view>

#include "framework/backend/registry.h"

namespace assay::worker {
namespace {

/// Failed precondition where it does not register that name.
Status Load(const ModuleUse& use) {
  ASSAY_ASSIGN_OR_RETURN(const auto names, LoadBackendModule(use.file));
  if (std::ranges::find(names, use.name) == names.end()) {
    return FailedPrecondition("module ", use.file, " registers ", Joined(names),
                              ", wanted ", use.name,
                              ": a backend's name() is that of its file");
  }
  return OkStatus();
}

Status CheckVersion(const ModuleUse& use, const Probe& probe) {
  if (!use.version.empty() && probe.version != use.version) {
    return FailedPrecondition("module ", use.file, " is of version ",
                              probe.version, ", wanted ", use.version,
                              " as its name says");
  }
  return OkStatus();
}

/// Opens the backend or the communicator of a loaded module.
template <class T>
Result<std::unique_ptr<T>> Open(
    const ModuleUse& use,
    Result<std::unique_ptr<T>> (*make)(std::string_view name)) {
  ASSAY_ASSIGN_OR_RETURN(auto made, make(use.name));
  ASSAY_ASSIGN_OR_RETURN(const Probe probe, made->Inspect());
  ASSAY_RETURN_IF_ERROR(CheckVersion(use, probe));
  return made;
}

}  // namespace

Result<std::unique_ptr<Backend>> OpenBackend(const ModuleUse& use) {
  ASSAY_RETURN_IF_ERROR(Load(use));
  return Open(use, &MakeBackend);
}

Result<Opened> OpenModule(const ModuleUse& use) {
  ASSAY_RETURN_IF_ERROR(Load(use));
  Opened opened;
  if (IsCommunicator(use.name)) {
    ASSAY_ASSIGN_OR_RETURN(opened.communicator, Open(use, &MakeCommunicator));
  } else {
    ASSAY_ASSIGN_OR_RETURN(opened.backend, Open(use, &MakeBackend));
  }
  return opened;
}

Result<Opened> OpenCarried(const ModuleUse& use, const ModuleUse& carrier) {
  Opened opened;
  ASSAY_ASSIGN_OR_RETURN(opened.backend, OpenBackend(use));
  ASSAY_RETURN_IF_ERROR(Load(carrier));
  ASSAY_ASSIGN_OR_RETURN(opened.communicator, Open(carrier, &MakeCommunicator));
  return opened;
}

}  // namespace assay::worker

#ifdef __SANITIZE_ADDRESS__
// For the programs that load modules. At exit LeakSanitizer walks the
// thread-local storage of all threads, and crashes over that of OpenMP's unless
// it has not tracked it.
extern "C" __attribute__((visibility("default"))) const char*
__asan_default_options() {
  return "intercept_tls_get_addr=0";
}
#endif
