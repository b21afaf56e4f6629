// SPDX-License-Identifier: Apache-2.0
//
// The program assay-trainer, which trains: assay loads no backend.
//
//   ASSAY_ASSIGN_OR_RETURN(const TrainerRun run, TrainerRunOf("acme:adam/pytorch"));
//   return RunTrainer({"train", "--run", run.spec, "--module", run.module});

#pragma once

#include <string>
#include <vector>

#include "framework/core/status.h"

namespace assay::train {

/// A run, with the module of its backend.
struct TrainerRun {
  std::string spec;
  std::string module;
};

/// "BACKEND:REST", where BACKEND is an instance or a file. As plan::ResolveBackend.
Result<TrainerRun> TrainerRunOf(const std::string& text);

/// Runs it in the place of this program, as far as a terminal can tell, and returns its
/// exit code. Internal where a signal ended it.
Result<int> RunTrainer(std::vector<std::string> arguments);

}  // namespace assay::train
