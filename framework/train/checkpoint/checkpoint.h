// SPDX-License-Identifier: Apache-2.0
//
// Checkpoint: a run between two steps: its parameters, its optimizer's state,
// where it stands, and what it is a run of; and Checkpoints, the event that
// keeps the last one.

#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "framework/core/status.h"
#include "framework/train/optimizer/optimizer.h"
#include "framework/train/other_thread.h"
#include "framework/train/trainer.h"

namespace assay::train {

/// The properties that identify a run: model, optimizer, settings, data, seed,
/// by name.
using Identity = std::map<std::string, std::string>;

struct Checkpoint {
  Standing standing;
  std::vector<Parameter> parameters;
  std::vector<StateTensor> state;
  Identity identity;
};

/// The bytes of a checkpoint's file; room and errors as TensorFileBytes.
Result<std::string> CheckpointBytes(const Checkpoint& checkpoint,
                                    std::string room = {});

/// As ReadTensorFile; data loss also for what is no checkpoint.
Result<Checkpoint> ReadCheckpoint(const std::filesystem::path& path);

/// Writes the checkpoint's values into the parameters and the state, of which
/// it has each with its type and shape and no others. Invalid argument
/// otherwise; nothing is written then.
Status Restore(const Checkpoint& checkpoint, std::span<Parameter> parameters,
               std::span<StateTensor> state);

/// Invalid argument where the checkpoint is of another run, with what differs.
Status CheckIdentity(const Checkpoint& checkpoint, const Identity& wanted);

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

/// Keeps the last checkpoint of a run: the event copies parameters and state,
/// and a thread writes the copy while the run goes on.
///
/// A checkpoint is taken at the beginning of a run, behind so many steps or at
/// the beginning of each epoch, and at the end of a run that has not failed. A
/// failed write ends the run behind the step in which the failure is known; the
/// checkpoint before then stays. No writing outlives AfterRun.
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
  /// The status of the writing under way, at its end; OK where there is none.
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
