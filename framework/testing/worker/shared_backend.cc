// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "framework/backend/registry.h"
#include "framework/testing/file/module_path.h"
#include "framework/testing/plan/instance.h"
#include "framework/testing/worker/backend_test.h"

namespace assay::worker {
namespace {

struct Shared {
  std::string file;
  std::unique_ptr<Backend> backend;
  Status status;
  bool opened = false;
};

// Never destroyed: a backend's threads may outlive main.
std::map<std::string, Shared>& Instances() {
  static auto* instances = new std::map<std::string, Shared>();
  return *instances;
}

std::string& LoadedInstance() {
  static auto* instance = new std::string();
  return *instance;
}

Status Open(const std::string& instance, Shared* shared) {
  ASSAY_ASSIGN_OR_RETURN(const plan::Instance wanted,
                         plan::ParseInstance(instance));
  const std::string file = shared->file.empty()
                               ? file::ModulePath(wanted.stem).string()
                               : shared->file;
  ASSAY_ASSIGN_OR_RETURN(const auto names, LoadBackendModule(file));
  if (std::ranges::find(names, wanted.name) == names.end()) {
    return FailedPrecondition("module ", file, " registers ", Joined(names),
                              ", wanted ", wanted.name,
                              ": a backend's name() is that of its file");
  }
  ASSAY_ASSIGN_OR_RETURN(auto backend, MakeBackend(wanted.name));
  ASSAY_ASSIGN_OR_RETURN(const Probe probe, backend->Inspect());
  if (!wanted.version.empty() && probe.version != wanted.version) {
    return FailedPrecondition("module ", file, " is of version ", probe.version,
                              ", wanted ", wanted.version, " as its name says");
  }
  shared->backend = std::move(backend);
  return OkStatus();
}

}  // namespace

void UseModule(const std::string& instance, const std::string& file) {
  Instances()[instance].file = file;
}

Result<Backend*> SharedBackend(const std::string& instance) {
  Shared& shared = Instances()[instance];
  if (!shared.opened) {
    shared.opened = true;
    shared.status = Open(instance, &shared);
  }
  if (!shared.status.ok()) return shared.status;
  return shared.backend.get();
}

std::string Loaded::Instance() { return LoadedInstance(); }

void Loaded::SetInstance(std::string instance) {
  LoadedInstance() = std::move(instance);
}

}  // namespace assay::worker
