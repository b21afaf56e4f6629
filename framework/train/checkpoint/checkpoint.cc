// SPDX-License-Identifier: Apache-2.0

#include "framework/train/checkpoint/checkpoint.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <system_error>

#include "framework/core/text.h"
#include "framework/file/csv.h"
#include "framework/file/file.h"
#include "framework/train/checkpoint/tensor_file.h"
#include "framework/train/optimizer/in_place.h"

namespace assay::train {
namespace {

constexpr std::string_view kParameter = "parameter:", kState = "state:",
                           kOfRun = "run.";
constexpr char kFormat[] = "format", kThisFormat[] = "assay checkpoint 1";

/// The numbers of a standing by name, whole ones and others.
struct StandingParts {
  std::vector<std::pair<const char*, int64_t*>> counts;
  std::vector<std::pair<const char*, double*>> sums;
};

StandingParts PartsOf(Standing* standing) {
  return {{{"epoch", &standing->epoch},
           {"batches", &standing->batches},
           {"steps", &standing->steps},
           {"train.samples", &standing->train.samples},
           {"train.right", &standing->train.right},
           {"test.samples", &standing->test.samples},
           {"test.right", &standing->test.right}},
          {{"train.loss", &standing->train.loss},
           {"test.loss", &standing->test.loss}}};
}

/// The tensors by their keys, which share their memory: parameter:NAME and
/// state:NAME:PARAMETER; a parameter's name may have any letter.
std::vector<std::pair<std::string, Tensor>> Keyed(
    std::span<const Parameter> parameters, std::span<const StateTensor> state) {
  std::vector<std::pair<std::string, Tensor>> keyed;
  for (const Parameter& each : parameters) {
    keyed.emplace_back(StrCat(kParameter, each.name), each.value);
  }
  for (const StateTensor& each : state) {
    keyed.emplace_back(StrCat(kState, each.name, ":", each.parameter),
                       each.value);
  }
  return keyed;
}

Status ReadStanding(const TensorFile& file, Standing* standing) {
  const auto note = [&](const char* name) {
    const auto found = file.notes.find(name);
    return found == file.notes.end() ? std::string() : found->second;
  };
  const StandingParts parts = PartsOf(standing);
  for (const auto& [name, count] : parts.counts) {
    const auto read = file::ParseInt(note(name));
    if (!read.has_value() || *read < 0) {
      return DataLoss("found ", name, " '", note(name), "', wanted a count");
    }
    *count = *read;
  }
  for (const auto& [name, sum] : parts.sums) {
    const auto read = file::ParseDouble(note(name));
    if (!read.has_value()) {
      return DataLoss("found ", name, " '", note(name), "', wanted a number");
    }
    *sum = *read;
  }
  return OkStatus();
}

Result<Checkpoint> CheckpointOf(const TensorFile& file) {
  Checkpoint checkpoint;
  const auto format = file.notes.find(kFormat);
  if (format == file.notes.end() || format->second != kThisFormat) {
    return DataLoss("found no note format '", kThisFormat,
                    "', wanted a checkpoint of a run");
  }
  ASSAY_RETURN_IF_ERROR(ReadStanding(file, &checkpoint.standing));
  for (const auto& [name, note] : file.notes) {
    if (name.starts_with(kOfRun)) {
      checkpoint.identity[name.substr(kOfRun.size())] = note;
    }
  }
  for (const auto& [key, tensor] : file.tensors) {
    std::string_view name = key;
    if (name.starts_with(kParameter)) {
      name.remove_prefix(kParameter.size());
      checkpoint.parameters.push_back({std::string(name), tensor});
    } else if (name.starts_with(kState)) {
      name.remove_prefix(kState.size());
      const std::string_view state = CutFront(&name, ":");
      checkpoint.state.push_back(
          {std::string(name), std::string(state), tensor});
    } else {
      return DataLoss("found the tensor '", key,
                      "', wanted a parameter's or one of state");
    }
  }
  return checkpoint;
}

/// Where a tensor goes to, and what is written there.
struct Move {
  Tensor from, to;
};

/// The move of each of ours, by key; the checkpoint has no others.
Status AddMoves(std::map<std::string, Tensor> kept,
                std::span<const std::pair<std::string, Tensor>> ours,
                std::vector<Move>* moves) {
  for (const auto& [key, tensor] : ours) {
    const auto found = kept.find(key);
    if (found == kept.end()) {
      return InvalidArgument("found no ", key, " in the checkpoint, wanted ",
                             tensor.Signature());
    }
    if (found->second.dtype() != tensor.dtype() ||
        found->second.shape() != tensor.shape()) {
      return InvalidArgument("found ", key, " of ", found->second.Signature(),
                             " in the checkpoint, wanted ", tensor.Signature());
    }
    moves->push_back({found->second, tensor});
    kept.erase(found);
  }
  if (kept.empty()) return OkStatus();
  return InvalidArgument("found ", kept.begin()->first,
                         " in the checkpoint, which the run does not have");
}

/// Into memory of its own.
Status Copy(const Tensor& from, Tensor* to) {
  ASSAY_RETURN_IF_ERROR(Reserve(from, to));
  std::ranges::copy(from.bytes(), to->mutable_data());
  return OkStatus();
}

/// Null where there is no thread to be had.
std::unique_ptr<OtherThread> NewThread() {
  try {
    return std::make_unique<OtherThread>();
  } catch (const std::system_error&) {
    return nullptr;
  }
}

}  // namespace

Result<std::string> CheckpointBytes(const Checkpoint& checkpoint,
                                    std::string room) {
  TensorFile file;
  file.notes[kFormat] = kThisFormat;
  Standing standing = checkpoint.standing;
  const StandingParts parts = PartsOf(&standing);
  for (const auto& [name, count] : parts.counts) {
    file.notes[name] = file::ToText(*count);
  }
  for (const auto& [name, sum] : parts.sums) {
    file.notes[name] = file::ToText(*sum);
  }
  for (const auto& [name, text] : checkpoint.identity) {
    file.notes[StrCat(kOfRun, name)] = text;
  }
  file.tensors = Keyed(checkpoint.parameters, checkpoint.state);
  return TensorFileBytes(file, std::move(room));
}

Result<Checkpoint> ReadCheckpoint(const std::filesystem::path& path) {
  ASSAY_ASSIGN_OR_RETURN(const TensorFile file, ReadTensorFile(path));
  auto checkpoint = CheckpointOf(file);
  if (!checkpoint.ok()) return checkpoint.status().WithContext(path.string());
  return checkpoint;
}

Status Restore(const Checkpoint& checkpoint, std::span<Parameter> parameters,
               std::span<StateTensor> state) {
  const auto kept = Keyed(checkpoint.parameters, checkpoint.state);
  std::vector<Move> moves;
  ASSAY_RETURN_IF_ERROR(
      AddMoves({kept.begin(), kept.end()}, Keyed(parameters, state), &moves));
  for (Move& move : moves) {
    std::ranges::copy(move.from.bytes(), move.to.mutable_data());
  }
  return OkStatus();
}

Status CheckIdentity(const Checkpoint& checkpoint, const Identity& wanted) {
  for (const auto& [name, text] : wanted) {
    const auto found = checkpoint.identity.find(name);
    const std::string kept =
        found == checkpoint.identity.end() ? "" : found->second;
    if (kept == text) continue;
    return InvalidArgument("found a checkpoint of a run with ", name, " '",
                           kept, "', wanted '", text, "'");
  }
  return OkStatus();
}

Status Checkpoints::Written() {
  if (writer_ != nullptr) writer_->Wait();
  return std::exchange(written_, OkStatus());
}

Status Checkpoints::Keep(const TrainingMoment& moment) {
  kept_.standing = moment;
  const std::span<const Parameter> parameters = moment.objective.parameters();
  kept_.parameters.resize(parameters.size());
  for (size_t p = 0; p < parameters.size(); ++p) {
    kept_.parameters[p].name = parameters[p].name;
    ASSAY_RETURN_IF_ERROR(
        Copy(parameters[p].value, &kept_.parameters[p].value));
  }
  std::vector<StateTensor> state = moment.optimizer.State();
  if (options_.more) {
    std::ranges::move(options_.more(), std::back_inserter(state));
  }
  kept_.state.resize(state.size());
  for (size_t s = 0; s < state.size(); ++s) {
    kept_.state[s].parameter = std::move(state[s].parameter);
    kept_.state[s].name = std::move(state[s].name);
    ASSAY_RETURN_IF_ERROR(Copy(state[s].value, &kept_.state[s].value));
  }
  return OkStatus();
}

Status Checkpoints::Write() {
  ASSAY_ASSIGN_OR_RETURN(bytes_, CheckpointBytes(kept_, std::move(bytes_)));
  return file::WriteFile(options_.path, bytes_);
}

Status Checkpoints::Save(const TrainingMoment& moment) {
  if (options_.before) ASSAY_RETURN_IF_ERROR(options_.before());
  ASSAY_RETURN_IF_ERROR(Written());
  ASSAY_RETURN_IF_ERROR(Keep(moment));
  if (writer_ == nullptr) writer_ = NewThread();
  const auto write = [this] { written_ = Write(); };
  if (writer_ == nullptr) {
    write();
  } else {
    writer_->Start(write);
  }
  return OkStatus();
}

Status Checkpoints::BeforeRun(const TrainingMoment& moment) {
  if (!moment.optimizer.State().empty()) return OkStatus();
  return moment.optimizer.Begin(moment.objective.parameters());
}

Status Checkpoints::BeforeEpoch(const TrainingMoment& moment) {
  const bool is_due = options_.every == 0 || moment.steps == 0;
  return is_due && moment.batches == 0 ? Save(moment) : OkStatus();
}

Status Checkpoints::AfterStep(const TrainingMoment& moment) {
  const bool is_due = options_.every > 0 && moment.steps % options_.every == 0;
  if (is_due) return Save(moment);
  const bool is_writing = writer_ != nullptr && writer_->IsBusy();
  return is_writing ? OkStatus() : Written();
}

Status Checkpoints::AfterRun(const TrainingMoment& moment) {
  const Status saved = moment.has_failed ? OkStatus() : Save(moment);
  const Status written = Written();
  return saved.ok() ? written : saved;
}

}  // namespace assay::train
