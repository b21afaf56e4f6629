// SPDX-License-Identifier: Apache-2.0

#include <map>
#include <utility>

#include "framework/file/module_path.h"
#include "framework/testing/plan/instance.h"
#include "framework/testing/worker/backend_test.h"
#include "framework/testing/worker/open_backend.h"

namespace assay::worker {
namespace {

struct Shared {
  std::string file;
  Opened opened;
  Status status;
  bool has_opened = false;
};

// Never destroyed: a backend's threads may outlive main.
struct Process {
  std::map<std::string, Shared> instances;
  std::string loaded;  // the instance that Loaded is
  Opener opener = &OpenModule;
};

Process& TheProcess() {
  static auto* process = new Process();
  return *process;
}

Status Open(const std::string& instance, Shared* shared) {
  ASSAY_ASSIGN_OR_RETURN(const plan::Instance wanted,
                         plan::ParseInstance(instance));
  const std::string file = shared->file.empty()
                               ? file::ModulePath(wanted.stem).string()
                               : shared->file;
  ASSAY_ASSIGN_OR_RETURN(
      shared->opened, TheProcess().opener({file, wanted.name, wanted.version}));
  return OkStatus();
}

}  // namespace

void SetOpener(Opener opener) { TheProcess().opener = std::move(opener); }

void UseModule(const std::string& instance, const std::string& file) {
  TheProcess().instances[instance].file = file;
}

Result<Opened*> SharedModule(const std::string& instance) {
  Shared& shared = TheProcess().instances[instance];
  if (!shared.has_opened) {
    shared.has_opened = true;
    shared.status = Open(instance, &shared);
  }
  if (!shared.status.ok()) return shared.status;
  return &shared.opened;
}

Result<Backend*> SharedBackend(const std::string& instance) {
  ASSAY_ASSIGN_OR_RETURN(Opened* const opened, SharedModule(instance));
  if (opened->backend != nullptr) return opened->backend.get();
  return FailedPrecondition(
      instance, " carries messages between ranks and runs no model");
}

std::string Loaded::Instance() { return TheProcess().loaded; }

void Loaded::SetInstance(std::string instance) {
  TheProcess().loaded = std::move(instance);
}

}  // namespace assay::worker
