// SPDX-License-Identifier: Apache-2.0
//
// Hosted: a backend in a process of its own, with the settings of its instance.

#pragma once

#include <memory>
#include <string>

#include "framework/backend/backend.h"
#include "framework/core/status.h"
#include "framework/testing/host/remote_backend.h"
#include "framework/testing/plan/instance.h"
#include "framework/testing/worker/case_runner.h"
#include "framework/testing/worker/host_process.h"

namespace assay::program {

class Hosted {
 public:
  /// Fails as HostProcess::Start does. The arena that tensors cross in must be
  /// open.
  static Result<std::unique_ptr<Hosted>> Start(const std::string& instance,
                                               const std::string& module);

  Backend& backend() { return *set_; }

 private:
  Hosted() = default;

  plan::Instance instance_;
  std::unique_ptr<worker::HostProcess> host_;
  std::unique_ptr<host::RemoteBackend> remote_;
  std::unique_ptr<worker::SetBackend> set_;
};

}  // namespace assay::program
