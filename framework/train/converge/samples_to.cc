// SPDX-License-Identifier: Apache-2.0

#include "framework/train/converge/samples_to.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "framework/graph/edit/training.h"
#include "framework/train/event/stop.h"
#include "framework/train/model/models.h"
#include "framework/train/trainer.h"

namespace assay::converge {
namespace {

constexpr int64_t kTestBatch = 250;

/// Cuts the batches of an epoch into short epochs, so that a test follows each.
train::Sampler Sliced(train::Sampler whole, int64_t batches, int64_t slices) {
  return [whole = std::move(whole), batches, slices](int64_t slice) {
    std::vector<train::Batch> all = whole(slice / slices);
    const int64_t begin = slice % slices * batches;
    const int64_t end = std::min(begin + batches, std::ssize(all));
    return std::vector<train::Batch>(all.begin() + begin, all.begin() + end);
  };
}

class CountSamples : public train::TrainingEvent {
 public:
  Status AfterStep(const train::TrainingMoment& moment) override {
    samples_ += std::ssize(moment.batch);
    return OkStatus();
  }
  int64_t samples() const { return samples_; }

 private:
  int64_t samples_ = 0;
};

Result<std::unique_ptr<train::NetworkObjective>> ObjectiveOf(
    const Goal& goal, const train::Dataset& data, Backend& backend,
    uint64_t seed) {
  ASSAY_ASSIGN_OR_RETURN(const train::ModelOptions wanted,
                         train::OptionsFor(data, seed));
  ASSAY_ASSIGN_OR_RETURN(const train::NewModel model,
                         train::MakeModel(goal.model, wanted));
  edit::LossEdit loss;
  loss.loss = edit::Loss::kSoftmaxCrossEntropyOfOneHot;
  ASSAY_ASSIGN_OR_RETURN(train::Trainee trainee,
                         train::TraineeOf(model, loss, seed));
  return train::NetworkObjective::Load(backend, std::move(trainee));
}

}  // namespace

Result<Reached> SamplesTo(const Goal& goal, const train::Split& data,
                          Backend& backend, const train::Wanted& optimizer,
                          uint64_t seed) {
  ASSAY_ASSIGN_OR_RETURN(const auto objective,
                         ObjectiveOf(goal, data.train, backend, seed));
  ASSAY_ASSIGN_OR_RETURN(train::Made made, train::MakeOptimizer(optimizer));
  const train::Cut cut{.samples = data.train.samples(), .batch = goal.batch};
  ASSAY_ASSIGN_OR_RETURN(train::Sampler whole,
                         train::ShuffledSampler(cut, seed));
  ASSAY_ASSIGN_OR_RETURN(
      train::Sampler test,
      train::OrderedSampler({data.test.samples(), kTestBatch}));
  const int64_t batches = (cut.samples + cut.batch - 1) / cut.batch;
  const int64_t slices = (batches + goal.every - 1) / goal.every;
  train::Training training{
      *objective,
      *made.optimizer,
      {&data.train, Sliced(std::move(whole), goal.every, slices)}};
  training.test = train::Samples{&data.test, std::move(test)};
  training.epochs = slices * goal.most_epochs;
  training.targets = train::Targets::kOneHot;
  CountSamples count;
  train::StopAtAccuracy enough(goal.accuracy);
  train::StopOnNan nan;
  training.events = {&count, &nan, &enough};
  ASSAY_ASSIGN_OR_RETURN(const train::Trained trained, train::Train(training));
  const double accuracy = trained.test.accuracy();
  return Reached{accuracy >= goal.accuracy, count.samples(), accuracy};
}

}  // namespace assay::converge
