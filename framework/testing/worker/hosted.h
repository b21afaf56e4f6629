// SPDX-License-Identifier: Apache-2.0
//
// Hosted: a backend in a process of its own, with the settings of its instance.

#pragma once

#include <memory>
#include <string>
#include <utility>

#include "framework/backend/backend.h"
#include "framework/core/status.h"
#include "framework/testing/host/remote_backend.h"
#include "framework/testing/plan/instance.h"
#include "framework/testing/walls/walls.h"
#include "framework/testing/worker/case_runner.h"
#include "framework/testing/worker/host_process.h"

namespace assay::worker {

class Hosted {
 public:
  /// Fails as ParseInstance and HostProcess::Start do. The arena that tensors
  /// cross in must be open.
  static Result<std::unique_ptr<Hosted>> Start(const std::string& instance,
                                               const std::string& module,
                                               const walls::Walls& walls = {}) {
    ASSAY_ASSIGN_OR_RETURN(plan::Instance parsed,
                           plan::ParseInstance(instance));
    return Start(std::move(parsed), module, walls);
  }
  static Result<std::unique_ptr<Hosted>> Start(plan::Instance instance,
                                               const std::string& module,
                                               const walls::Walls& walls = {});

  Backend& backend() { return *set_; }
  /// True when its process ended.
  bool is_gone() const { return host_->link().is_gone(); }

 private:
  Hosted() = default;

  plan::Instance instance_;
  std::unique_ptr<HostProcess> host_;
  std::unique_ptr<host::RemoteBackend> remote_;
  std::unique_ptr<SetBackend> set_;
};

/// The backend that a worker runs, for suites that start it once more.
struct Own {
  std::string instance, module;
  walls::Walls walls;
};

/// Empty but in a worker, whose main function writes it.
Own& OwnOfWorker();

}  // namespace assay::worker
