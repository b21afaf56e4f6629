// SPDX-License-Identifier: Apache-2.0

#include "framework/train/trainer.h"

#include <algorithm>
#include <ranges>
#include <utility>

namespace assay::train {
namespace {

using Watch = Status (TrainingEvent::*)(const TrainingMoment&);
using Stop = std::string (TrainingEvent::*)(const TrainingMoment&);

/// Of how many rows the greatest element is the label's; of equals the first.
template <class T>
int64_t CountRight(std::span<const T> scores, std::span<const int64_t> labels) {
  const size_t classes = scores.size() / labels.size();
  int64_t right = 0;
  for (size_t i = 0; i < labels.size(); ++i) {
    const auto row = scores.subspan(i * classes, classes);
    const auto best = std::ranges::max_element(row) - row.begin();
    if (best == labels[i]) ++right;
  }
  return right;
}

class Run {
 public:
  explicit Run(const Training& training)
      : training_(training),
        moment_{.objective = training.objective,
                .optimizer = training.optimizer} {}

  Result<Trained> Go() {
    size_t begun = 0;
    Status status = Begin(&begun);
    for (int64_t epoch = 0;
         status.ok() && stop_.empty() && epoch < training_.epochs; ++epoch) {
      moment_.epoch = epoch;
      status = Epoch();
    }
    // Whoever began ends, whatever came between.
    for (size_t i = begun; i > 0; --i) {
      const Status ended = training_.events[i - 1]->AfterRun(moment_);
      if (status.ok()) status = ended;
    }
    ASSAY_RETURN_IF_ERROR(status);
    return Trained{epochs_, moment_.steps, moment_.train, moment_.test, stop_};
  }

 private:
  Status Begin(size_t* begun) {
    for (TrainingEvent* const event : training_.events) {
      ASSAY_RETURN_IF_ERROR(event->BeforeRun(moment_));
      ++*begun;
    }
    return OkStatus();
  }

  Status Before(Watch watch) {
    for (TrainingEvent* const event : training_.events) {
      ASSAY_RETURN_IF_ERROR((event->*watch)(moment_));
    }
    return OkStatus();
  }

  Status After(Watch watch) {
    for (TrainingEvent* const event : std::views::reverse(training_.events)) {
      ASSAY_RETURN_IF_ERROR((event->*watch)(moment_));
    }
    return OkStatus();
  }

  void AskToStop(Stop stop) {
    for (TrainingEvent* const event : training_.events) {
      if (stop_.empty()) stop_ = (event->*stop)(moment_);
    }
  }

  Status Epoch() {
    ++epochs_;
    ASSAY_RETURN_IF_ERROR(Before(&TrainingEvent::BeforeEpoch));
    ASSAY_RETURN_IF_ERROR(TrainingSet());
    if (stop_.empty() && training_.test.has_value()) {
      ASSAY_RETURN_IF_ERROR(TestSet());
    }
    ASSAY_RETURN_IF_ERROR(After(&TrainingEvent::AfterEpoch));
    AskToStop(&TrainingEvent::StopAfterTest);
    return OkStatus();
  }

  Status TrainingSet() {
    moment_.train = Score();
    ASSAY_RETURN_IF_ERROR(Before(&TrainingEvent::BeforeTrainingSet));
    for (Batch& batch : training_.train.sampler(moment_.epoch)) {
      moment_.batch = std::move(batch);
      ASSAY_RETURN_IF_ERROR(Before(&TrainingEvent::BeforeStep));
      ASSAY_RETURN_IF_ERROR(Put(*training_.train.dataset));
      ASSAY_ASSIGN_OR_RETURN(moment_.loss,
                             training_.optimizer.Step(training_.objective));
      ++moment_.steps;
      ASSAY_RETURN_IF_ERROR(AddTo(&moment_.train));
      ASSAY_RETURN_IF_ERROR(After(&TrainingEvent::AfterStep));
      AskToStop(&TrainingEvent::StopAfterStep);
      if (!stop_.empty()) break;
    }
    return After(&TrainingEvent::AfterTrainingSet);
  }

  Status TestSet() {
    moment_.test = Score();
    ASSAY_RETURN_IF_ERROR(Before(&TrainingEvent::BeforeTestSet));
    for (Batch& batch : training_.test->sampler(moment_.epoch)) {
      moment_.batch = std::move(batch);
      ASSAY_RETURN_IF_ERROR(Before(&TrainingEvent::BeforeInference));
      ASSAY_RETURN_IF_ERROR(Put(*training_.test->dataset));
      ASSAY_ASSIGN_OR_RETURN(moment_.loss, training_.objective.Infer());
      ASSAY_RETURN_IF_ERROR(AddTo(&moment_.test));
      ASSAY_RETURN_IF_ERROR(After(&TrainingEvent::AfterInference));
    }
    return After(&TrainingEvent::AfterTestSet);
  }

  /// The batch of the moment.
  Status Put(const Dataset& dataset) {
    std::vector<Tensor> batch(2);
    ASSAY_ASSIGN_OR_RETURN(batch[0], dataset.Inputs(moment_.batch));
    ASSAY_ASSIGN_OR_RETURN(labels_, dataset.Labels(moment_.batch));
    batch[1] = labels_;
    if (training_.targets == Targets::kOneHot) {
      ASSAY_ASSIGN_OR_RETURN(batch[1],
                             dataset.OneHot(moment_.batch, batch[0].dtype()));
    }
    return training_.objective.Put(batch);
  }

  /// Counts the batch: a mean over unequal batches is not the mean of their means.
  Status AddTo(Score* score) {
    const auto labels = labels_.elements<int64_t>();
    const Tensor* const scores = training_.objective.outputs()[0].tensor();
    const bool fits = scores != nullptr && scores->shape().rank() == 2 &&
                      scores->shape().dims()[0] == std::ssize(labels);
    if (fits && scores->dtype() == DType::kFloat32) {
      score->right += CountRight(scores->elements<float>(), labels);
    } else if (fits && scores->dtype() == DType::kFloat64) {
      score->right += CountRight(scores->elements<double>(), labels);
    } else {
      return InvalidArgument("the scores of ", labels.size(), " samples are ",
                             training_.objective.outputs()[0].Type().ToString(),
                             ", wanted a row of float32 or float64 for each");
    }
    score->samples += std::ssize(labels);
    score->loss += moment_.loss * static_cast<double>(labels.size());
    return OkStatus();
  }

  const Training& training_;
  TrainingMoment moment_;
  Tensor labels_;
  int64_t epochs_ = 0;
  std::string stop_;
};

}  // namespace

Result<Trained> Train(const Training& training) { return Run(training).Go(); }

}  // namespace assay::train
