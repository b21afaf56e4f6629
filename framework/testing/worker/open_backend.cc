// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/worker/open_backend.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "framework/backend/registry.h"

namespace assay::worker {
namespace {

class Carried : public Backend {
 public:
  Carried(std::unique_ptr<Backend> backend, std::unique_ptr<Backend> carrier)
      : backend_(std::move(backend)), carrier_(std::move(carrier)) {}

  std::string_view name() const override { return backend_->name(); }
  Result<Probe> Inspect() override { return backend_->Inspect(); }
  Result<std::unique_ptr<Network>> Load(std::shared_ptr<const Model> model,
                                        const LoadOptions& options) override {
    return backend_->Load(std::move(model), options);
  }
  /// The settings are the backend's, not the library's.
  Result<Ranks*> ranks(const Settings&) override { return carrier_->ranks({}); }

 private:
  std::unique_ptr<Backend> backend_, carrier_;
};

}  // namespace

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
  ASSAY_ASSIGN_OR_RETURN(const Ranks* const ranks, library->ranks({}));
  if (ranks == nullptr) {
    return FailedPrecondition(carrier.name, " in ", carrier.file,
                              " carries no messages between ranks");
  }
  return std::unique_ptr<Backend>(
      std::make_unique<Carried>(std::move(backend), std::move(library)));
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
