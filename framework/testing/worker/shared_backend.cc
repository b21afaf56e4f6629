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
std::map<std::string, Shared>& Instances() {
  static auto* instances = new std::map<std::string, Shared>();
  return *instances;
}

std::string& LoadedInstance() {
  static auto* instance = new std::string();
  return *instance;
}

Opener& TheOpener() {
  static auto* opener = new Opener(&OpenModule);
  return *opener;
}

Status Open(const std::string& instance, Shared* shared) {
  ASSAY_ASSIGN_OR_RETURN(const plan::Instance wanted,
                         plan::ParseInstance(instance));
  const std::string file = shared->file.empty()
                               ? file::ModulePath(wanted.stem).string()
                               : shared->file;
  ASSAY_ASSIGN_OR_RETURN(shared->opened,
                         TheOpener()({file, wanted.name, wanted.version}));
  return OkStatus();
}

}  // namespace

void SetOpener(Opener opener) { TheOpener() = std::move(opener); }

void UseModule(const std::string& instance, const std::string& file) {
  Instances()[instance].file = file;
}

Result<Opened*> SharedModule(const std::string& instance) {
  Shared& shared = Instances()[instance];
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

std::string Loaded::Instance() { return LoadedInstance(); }

void Loaded::SetInstance(std::string instance) {
  LoadedInstance() = std::move(instance);
}

}  // namespace assay::worker
