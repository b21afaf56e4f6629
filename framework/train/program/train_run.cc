// SPDX-License-Identifier: Apache-2.0

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <fstream>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "framework/core/text.h"
#include "framework/file/csv.h"
#include "framework/file/file.h"
#include "framework/file/module_path.h"
#include "framework/graph/edit/training.h"
#include "framework/testing/host/wire/arena.h"
#include "framework/testing/worker/hosted.h"
#include "framework/train/bisect/run_spec.h"
#include "framework/train/checkpoint/checkpoint.h"
#include "framework/train/event/csv_files.h"
#include "framework/train/event/progress_line.h"
#include "framework/train/event/stop.h"
#include "framework/train/format/datasets.h"
#include "framework/train/model/model_file.h"
#include "framework/train/program/commands.h"
#include "framework/train/rule/optimizers.h"
#include "framework/train/trainer.h"

namespace assay::program {
namespace {

namespace fs = std::filesystem;

constexpr char kCheckpoint[] = "checkpoint.safetensors";
constexpr char kModel[] = "model.onnx";
constexpr char kRequest[] = "train.txt";
constexpr int64_t kTestBatch = 250;
constexpr int kNoNumber = 1, kSignalled = 130;

std::atomic<bool> asked_to_stop = false;

void AskToStop(int signal) {
  asked_to_stop = true;
  // A second signal ends the process.
  std::signal(signal, SIG_DFL);
}

/// The options that make a run what it is, as a checkpoint keeps them.
train::Identity IdentityOf(const TrainRequest& wanted) {
  return {{"run", wanted.run},
          {"model", wanted.model},
          {"dataset", wanted.dataset},
          {"batch", file::ToText(wanted.batch)},
          {"micro-batch", file::ToText(wanted.micro_batch)},
          {"seed", file::ToText(wanted.seed)}};
}

class OneRun {
 public:
  OneRun(const TrainRequest& wanted, std::ostream& out)
      : wanted_(wanted), out_(out), seed_(static_cast<uint64_t>(wanted.seed)) {}

  Result<int> Go() {
    ASSAY_RETURN_IF_ERROR(CheckFolder());
    ASSAY_RETURN_IF_ERROR(Load());
    ASSAY_RETURN_IF_ERROR(OpenFolder());
    train::Training training{*objective_, *made_.optimizer};
    ASSAY_RETURN_IF_ERROR(Fill(&training));
    std::ofstream log(wanted_.out / "mlperf.log", std::ios::app);
    train::MlperfLog mlperf(log, {{"submission_benchmark", wanted_.model},
                                  {"global_batch_size", StrCat(wanted_.batch)},
                                  {"opt_name", made_name_},
                                  {"seed", StrCat(seed_)}});
    train::CurveFile curves(wanted_.out / "curves.csv", 1);
    train::Checkpoints keeps(
        {.path = wanted_.out / kCheckpoint,
         .every = wanted_.checkpoint_every,
         .identity = IdentityOf(wanted_),
         .more = [this] { return objective_->Statistics(); },
         .before = [&curves] { return curves.Flush(); }});
    train::DatasetWatch watch(wanted_.out / "epochs.csv", dataset_->train);
    train::WrongSamples wrong(wanted_.out / "wrong_samples.csv",
                              dataset_->test);
    train::ProgressLine progress(out_,
                                 {.is_terminal = isatty(STDOUT_FILENO) != 0,
                                  .epochs = wanted_.epochs,
                                  .steps = wanted_.epochs * batches_});
    train::StopOnNan nan(wanted_.out / "gradients.safetensors");
    train::StopWhenAsked asked(asked_to_stop);
    train::StopAtAccuracy enough(wanted_.stop_at);
    train::StopAtTime late((std::chrono::duration<double>(wanted_.seconds)));
    // The checkpoint is the first event, so the last after a step: the curves
    // have a row of the step by then.
    training.events = {&keeps, &mlperf,   &curves, &watch,
                       &wrong, &progress, &nan,    &asked};
    if (wanted_.stop_at > 0) training.events.push_back(&enough);
    if (wanted_.seconds > 0) training.events.push_back(&late);
    ASSAY_ASSIGN_OR_RETURN(const train::Trained trained,
                           train::Train(training));
    return Tell(trained, nan.has_stopped());
  }

 private:
  /// Makes the folder, once everything is loaded: a run that cannot begin
  /// writes nothing.
  Status OpenFolder() const {
    if (wanted_.goes_on) return OkStatus();
    ASSAY_RETURN_IF_ERROR(file::MakeDirectory(wanted_.out));
    TrainRequest kept = wanted_;  // without what holds for this process alone
    kept.out.clear();
    kept.parent = 0;
    ASSAY_RETURN_IF_ERROR(
        file::WriteFile(wanted_.out / kRequest, request::TextOf(kept)));
    return train::WriteModelFile(wanted_.out / kModel, model_);
  }

  /// A run that goes on reads the model of its folder: the file that it began
  /// with may have changed.
  Result<train::NewModel> ReadModel() const {
    if (train::IsModelFile(wanted_.model) && wanted_.goes_on) {
      return train::ReadModelFile(wanted_.out / kModel);
    }
    return train::ModelFor(wanted_.model, dataset_->train, seed_);
  }

  Status CheckFolder() const {
    const bool has_run = fs::exists(wanted_.out / kCheckpoint);
    if (has_run && !wanted_.goes_on) {
      return InvalidArgument("found a run in ", wanted_.out.string(),
                             ", wanted another folder, or --resume ",
                             wanted_.out.string());
    }
    if (!has_run && wanted_.goes_on) {
      return NotFound("found no ", kCheckpoint, " in ", wanted_.out.string(),
                      ", wanted a run to go on with");
    }
    return OkStatus();
  }

  Status Load() {
    ASSAY_ASSIGN_OR_RETURN(const bisect::RunSpec spec,
                           bisect::ParseRunSpec(wanted_.run));
    made_name_ = spec.optimizer.optimizer;
    ASSAY_ASSIGN_OR_RETURN(
        made_, train::MakeOptimizer({made_name_, spec.optimizer.preset,
                                     spec.optimizer.settings}));
    ASSAY_ASSIGN_OR_RETURN(
        train::Split dataset,
        train::MakeDataset(wanted_.dataset, {file::DatasetDirectory(), seed_}));
    dataset_.emplace(std::move(dataset));
    // A step writes into memory that the host sees.
    wire::Arena::Open();
    ASSAY_ASSIGN_OR_RETURN(model_, ReadModel());
    const std::string softmax = train::SoftmaxAtEnd(*model_.model);
    if (!softmax.empty()) {
      out_ << "the model ends in a Softmax, '" << softmax
           << "', and the loss takes another of it: it learns little; wanted "
              "the scores before it"
           << std::endl;
    }
    ASSAY_ASSIGN_OR_RETURN(
        train::Trainee trainee,
        train::TraineeOf(
            model_, {.loss = edit::Loss::kSoftmaxCrossEntropyOfOneHot}, seed_));
    // A Ctrl-C reaches the host too, which must answer until the step is done.
    std::signal(SIGINT, SIG_IGN);
    ASSAY_ASSIGN_OR_RETURN(host_,
                           worker::Hosted::Start(spec.backend, wanted_.module));
    std::signal(SIGINT, AskToStop);
    std::signal(SIGTERM, AskToStop);
    ASSAY_ASSIGN_OR_RETURN(
        objective_,
        train::NetworkObjective::Load(host_->backend(), std::move(trainee)));
    return OkStatus();
  }

  Status Fill(train::Training* training) {
    const train::Cut cut{.samples = dataset_->train.samples(),
                         .batch = wanted_.batch};
    ASSAY_ASSIGN_OR_RETURN(train::Sampler shuffled,
                           train::ShuffledSampler(cut, seed_));
    ASSAY_ASSIGN_OR_RETURN(
        train::Sampler ordered,
        train::OrderedSampler({dataset_->test.samples(), kTestBatch}));
    batches_ = (cut.samples + cut.batch - 1) / cut.batch;
    training->train = {&dataset_->train, std::move(shuffled)};
    training->test = train::Samples{&dataset_->test, std::move(ordered)};
    training->epochs = wanted_.epochs;
    training->targets = train::Targets::kOneHot;
    training->micro_batch = wanted_.micro_batch;
    if (!wanted_.goes_on) return OkStatus();
    ASSAY_ASSIGN_OR_RETURN(const train::Checkpoint kept,
                           train::ReadCheckpoint(wanted_.out / kCheckpoint));
    ASSAY_RETURN_IF_ERROR(train::CheckIdentity(kept, IdentityOf(wanted_)));
    const auto parameters = objective_->parameters();
    ASSAY_RETURN_IF_ERROR(made_.optimizer->Begin(parameters));
    std::vector<train::StateTensor> state = made_.optimizer->State();
    for (train::StateTensor& statistic : objective_->Statistics()) {
      state.push_back(std::move(statistic));
    }
    ASSAY_RETURN_IF_ERROR(train::Restore(kept, parameters, state));
    training->from = kept.standing;
    out_ << "goes on behind step " << kept.standing.steps << std::endl;
    return OkStatus();
  }

  int Tell(const train::Trained& trained, bool is_broken) const {
    if (!trained.stop.empty()) {
      out_ << "stopped behind step " << trained.steps << ": " << trained.stop
           << "\n";
    }
    out_ << "written to " << wanted_.out.string() << std::endl;
    if (asked_to_stop) return kSignalled;
    return is_broken ? kNoNumber : 0;
  }

  const TrainRequest& wanted_;
  std::ostream& out_;
  uint64_t seed_;
  std::unique_ptr<worker::Hosted> host_;
  std::optional<train::Split> dataset_;
  train::NewModel model_;
  std::unique_ptr<train::NetworkObjective> objective_;
  train::Made made_;
  std::string made_name_;
  int64_t batches_ = 0;  // of an epoch
};

}  // namespace

Result<int> TrainRun(const TrainRequest& request, std::ostream& out) {
  return OneRun(request, out).Go();
}

}  // namespace assay::program
