// SPDX-License-Identifier: Apache-2.0
//
// The program assay-trainer, which trains: assay loads no backend.
//
//   ASSAY_ASSIGN_OR_RETURN(const TrainerRun run, TrainerRunOf("acme:adam/pytorch"));
//   program::TrainRequest request;
//   request.run = run.spec;
//   request.module = run.module;
//   return RunTrainer(request);

#pragma once

#include <unistd.h>

#include <string>

#include "framework/core/status.h"
#include "framework/train/program/trainer_request.h"

namespace assay::train {

/// A run, with the module of its backend.
struct TrainerRun {
  std::string spec;
  std::string module;
};

/// "BACKEND:REST", where BACKEND is an instance or a file. As
/// plan::ResolveBackend.
Result<TrainerRun> TrainerRunOf(const std::string& text);

/// Runs it in the place of this program, as far as a terminal can tell, and
/// returns its exit code. Internal where a signal ended it.
Result<int> RunTrainerOn(const std::string& request);

/// The trainer ends with this process.
template <class Request>
Result<int> RunTrainer(Request request) {
  request.parent = getpid();
  return RunTrainerOn(request::TextOf(request));
}

}  // namespace assay::train
