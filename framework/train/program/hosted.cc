// SPDX-License-Identifier: Apache-2.0

#include "framework/train/program/hosted.h"

#include "framework/file/module_path.h"

namespace assay::program {

Result<std::unique_ptr<Hosted>> Hosted::Start(const std::string& instance,
                                              const std::string& module) {
  auto hosted = std::unique_ptr<Hosted>(new Hosted());
  ASSAY_ASSIGN_OR_RETURN(hosted->instance_, plan::ParseInstance(instance));
  worker::HostProcess::End end;
  const worker::ModuleUse use = {module, hosted->instance_.name,
                                 hosted->instance_.version};
  ASSAY_ASSIGN_OR_RETURN(
      hosted->host_, worker::HostProcess::Start(
                         file::InstallPrefix() / "bin" / "assay-host", use, {},
                         /*forks=*/false, &end));
  ASSAY_RETURN_IF_ERROR(hosted->host_->Begin(&end));
  hosted->remote_ =
      std::make_unique<host::RemoteBackend>(use.name, hosted->host_->link());
  hosted->set_ = std::make_unique<worker::SetBackend>(
      *hosted->remote_, hosted->instance_.settings);
  return hosted;
}

}  // namespace assay::program
