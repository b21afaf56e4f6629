// SPDX-License-Identifier: Apache-2.0
//
// Checkpoints: keeps a run's last checkpoint while it goes. What is kept is what stood
// when the event came: the event copies it, and a thread writes it while the run goes on.
//
//   Checkpoints keeps({.path = "run/checkpoint.safetensors", .every = 100});
//   training.events.push_back(&keeps);

#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "framework/core/status.h"
#include "framework/train/checkpoint/checkpoint.h"
#include "framework/train/other_thread.h"
#include "framework/train/training_event.h"

namespace assay::train {

struct CheckpointOptions {
  std::filesystem::path path;
  int64_t every = 0;  // steps; 0: at the beginning of each epoch
  Identity identity;
  /// State beside the optimizer's, such as running statistics.
  std::function<std::vector<StateTensor>()> more;
  /// Brings to the disk what a run that goes on from the checkpoint needs
  /// beside it.
  std::function<Status()> before;
};

/// At the beginning of a run, behind so many steps or at the beginning of each
/// epoch, and at the end of a run that has not failed. What cannot be written
/// ends the run behind the step in which that is known; the checkpoint before
/// then stays. No writing outlives AfterRun.
class Checkpoints : public TrainingEvent {
 public:
  explicit Checkpoints(CheckpointOptions options)
      : options_(std::move(options)) {
    kept_.identity = options_.identity;
  }
  Checkpoints(const Checkpoints&) = delete;
  Checkpoints& operator=(const Checkpoints&) = delete;

  /// An optimizer that has not begun does: its state is part of the first one.
  Status BeforeRun(const TrainingMoment& moment) override;
  Status BeforeEpoch(const TrainingMoment& moment) override;
  Status AfterStep(const TrainingMoment& moment) override;
  Status AfterRun(const TrainingMoment& moment) override;

 private:
  Status Save(const TrainingMoment& moment);
  /// Copies what stands there, into the memory of the last copy.
  Status Keep(const TrainingMoment& moment);
  Status Write();
  /// What became of the writing under way, at its end; OK where there is none.
  Status Written();

  CheckpointOptions options_;
  // The last one, its file, and what became of it: the thread's while it
  // writes.
  Checkpoint kept_;
  std::string bytes_;
  Status written_;
  std::unique_ptr<OtherThread> writer_;  // from the first one on
};

}  // namespace assay::train
