// SPDX-License-Identifier: Apache-2.0
//
// Checkpoint: a run between two steps: its parameters, its optimizer's state, where it
// stands, and what it is a run of.
//
//   ASSAY_ASSIGN_OR_RETURN(const std::string bytes, CheckpointBytes(what));
//   ASSAY_RETURN_IF_ERROR(file::WriteFile("run/checkpoint.safetensors", bytes));
//   ASSAY_ASSIGN_OR_RETURN(const Checkpoint kept,
//                          ReadCheckpoint("run/checkpoint.safetensors"));
//   ASSAY_RETURN_IF_ERROR(Restore(kept, parameters, optimizer));
//   training.from = kept.standing;

#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "framework/core/status.h"
#include "framework/train/optimizer/optimizer.h"
#include "framework/train/training_event.h"

namespace assay::train {

/// What makes two runs one: model, optimizer, settings, data, seed, by name.
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

}  // namespace assay::train
