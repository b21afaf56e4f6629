// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/worker/hosted.h"

#include "framework/file/module_path.h"

namespace assay::worker {

Own& OwnOfWorker() {
  static Own own;
  return own;
}

Result<std::unique_ptr<Hosted>> Hosted::Start(plan::Instance instance,
                                              const std::string& module,
                                              const walls::Walls& walls) {
  auto hosted = std::unique_ptr<Hosted>(new Hosted());
  hosted->instance_ = std::move(instance);
  HostProcess::End end;
  const ModuleUse use = {module, hosted->instance_.name,
                         hosted->instance_.version};
  ASSAY_ASSIGN_OR_RETURN(
      hosted->host_,
      HostProcess::Start(file::InstallPrefix() / "bin" / "assay-host", use,
                         walls,
                         /*forks=*/false, &end));
  ASSAY_RETURN_IF_ERROR(hosted->host_->Begin(&end));
  hosted->remote_ =
      std::make_unique<host::RemoteBackend>(use.name, hosted->host_->link());
  hosted->set_ = std::make_unique<SetBackend>(*hosted->remote_,
                                              hosted->instance_.settings);
  return hosted;
}

}  // namespace assay::worker
