// SPDX-License-Identifier: Apache-2.0

#include "framework/train/trainer.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <ranges>
#include <span>
#include <utility>

#include "framework/core/tensor.h"
#include "framework/train/optimizer/in_place.h"

namespace assay::train {
namespace {

/// A batch that is too large for the network's memory as one objective: its
/// loss and gradients are the means over its parts, each weighted by its
/// samples. Gradients are summed in double and rounded once, so that a batch in
/// parts differs from the whole by the roundings of the parts alone.
class MicroBatches : public Objective {
 public:
  using Put = std::function<Status(const Batch& part)>;
  using Seen = std::function<Status(double loss)>;

  /// The network's loss is the mean over the samples. `put` puts a part into
  /// it, of `most` samples at most; `seen` is called while its outputs are
  /// those of the part.
  MicroBatches(NetworkObjective& network, int64_t most, Put put, Seen seen)
      : network_(network),
        most_(most),
        put_(std::move(put)),
        seen_(std::move(seen)) {}

  void Take(Batch batch) { batch_ = std::move(batch); }

  std::span<Parameter> parameters() override { return network_.parameters(); }

  Result<Evaluation> Evaluate() override {
    Evaluation whole;
    sums_.clear();
    const std::span<const int64_t> batch = batch_;
    const auto most = static_cast<size_t>(most_);
    for (size_t at = 0; at < batch.size(); at += most) {
      const auto samples = batch.subspan(at, std::min(most, batch.size() - at));
      ASSAY_RETURN_IF_ERROR(put_(Batch(samples.begin(), samples.end())));
      ASSAY_ASSIGN_OR_RETURN(const Evaluation part, network_.Evaluate());
      const double weight = static_cast<double>(samples.size()) /
                            static_cast<double>(batch.size());
      whole.loss += weight * part.loss;
      ASSAY_RETURN_IF_ERROR(Add(weight, part.gradients));
      ASSAY_RETURN_IF_ERROR(seen_(part.loss));
    }
    ASSAY_RETURN_IF_ERROR(Round());
    whole.gradients = gradients_;
    return whole;
  }

 private:
  Status Add(double weight, std::span<const Tensor> gradients) {
    sums_.resize(gradients.size());
    gradients_.resize(gradients.size());
    for (size_t p = 0; p < gradients.size(); ++p) {
      const Tensor& part = gradients[p];
      ASSAY_RETURN_IF_ERROR(Reserve(part, &gradients_[p]));
      std::vector<double>& sum = sums_[p];
      sum.resize(static_cast<size_t>(part.num_elements()));
      ASSAY_RETURN_IF_ERROR(
          InPlace(&gradients_[p], part, {}, [&](const auto& each) {
            for (size_t i = 0; i < sum.size(); ++i) {
              sum[i] += weight * double{each.g[i]};
            }
          }));
    }
    return OkStatus();
  }

  Status Round() {
    for (size_t p = 0; p < gradients_.size(); ++p) {
      ASSAY_RETURN_IF_ERROR(InPlace(
          &gradients_[p], gradients_[p], {},
          [&]<class T>(const Elements<T>& each) {
            std::ranges::transform(sums_[p], each.x.begin(), [](double sum) {
              return static_cast<T>(sum);
            });
          }));
    }
    return OkStatus();
  }

  NetworkObjective& network_;
  int64_t most_;
  Put put_;
  Seen seen_;
  Batch batch_;
  std::vector<std::vector<double>> sums_;  // of each gradient
  std::vector<Tensor> gradients_;
};

using Watch = Status (TrainingEvent::*)(const TrainingMoment&);
using Stop = std::string (TrainingEvent::*)(const TrainingMoment&);

/// The number of rows whose greatest element is the label's; the first of equal
/// elements is the greatest.
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
        moment_{training.from,     {}, 0, 0, false, training.objective,
                training.optimizer},
        parts_(
            training.objective, training.micro_batch,
            [this](const Batch& part) {
              training_.objective.At(moment_.steps, part_++);
              return Put(*training_.train.dataset, part);
            },
            [this](double loss) { return AddTo(&moment_.train, loss); }) {}

  Result<Trained> Go() {
    size_t begun = 0;
    Status status = Begin(&begun);
    while (status.ok() && stop_.empty() && moment_.epoch < training_.epochs) {
      status = Epoch();
    }
    moment_.has_failed = !status.ok();
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
    const bool is_whole = stop_.empty();
    if (is_whole && training_.test.has_value()) {
      ASSAY_RETURN_IF_ERROR(TestSet());
    }
    ASSAY_RETURN_IF_ERROR(After(&TrainingEvent::AfterEpoch));
    AskToStop(&TrainingEvent::StopAfterTest);
    if (is_whole) {
      ++moment_.epoch;
      moment_.batches = 0;
    }
    return OkStatus();
  }

  Status TrainingSet() {
    if (moment_.batches == 0) moment_.train = Score();
    ASSAY_RETURN_IF_ERROR(Before(&TrainingEvent::BeforeTrainingSet));
    std::vector<Batch> batches = training_.train.sampler(moment_.epoch);
    if (moment_.batches > std::ssize(batches)) {
      return InvalidArgument("found a run that had done ", moment_.batches,
                             " batches of an epoch, wanted at most its ",
                             batches.size());
    }
    while (moment_.batches < std::ssize(batches)) {
      moment_.batch = std::move(batches[static_cast<size_t>(moment_.batches)]);
      ASSAY_RETURN_IF_ERROR(Before(&TrainingEvent::BeforeStep));
      ASSAY_RETURN_IF_ERROR(Step());
      ++moment_.steps;
      ++moment_.batches;
      ASSAY_RETURN_IF_ERROR(After(&TrainingEvent::AfterStep));
      AskToStop(&TrainingEvent::StopAfterStep);
      if (!stop_.empty()) break;
    }
    return After(&TrainingEvent::AfterTrainingSet);
  }

  Status Step() {
    moment_.batch_seconds = 0;
    if (training_.micro_batch > 0) {
      part_ = 0;
      parts_.Take(moment_.batch);
      ASSAY_ASSIGN_OR_RETURN(moment_.loss, training_.optimizer.Step(parts_));
      return OkStatus();
    }
    training_.objective.At(moment_.steps);
    ASSAY_RETURN_IF_ERROR(Put(*training_.train.dataset, moment_.batch));
    ASSAY_ASSIGN_OR_RETURN(moment_.loss,
                           training_.optimizer.Step(training_.objective));
    return AddTo(&moment_.train, moment_.loss);
  }

  Status TestSet() {
    moment_.test = Score();
    ASSAY_RETURN_IF_ERROR(Before(&TrainingEvent::BeforeTestSet));
    for (Batch& batch : training_.test->sampler(moment_.epoch)) {
      moment_.batch = std::move(batch);
      ASSAY_RETURN_IF_ERROR(Before(&TrainingEvent::BeforeInference));
      moment_.batch_seconds = 0;
      ASSAY_RETURN_IF_ERROR(Put(*training_.test->dataset, moment_.batch));
      ASSAY_ASSIGN_OR_RETURN(moment_.loss, training_.objective.Infer());
      ASSAY_RETURN_IF_ERROR(AddTo(&moment_.test, moment_.loss));
      ASSAY_RETURN_IF_ERROR(After(&TrainingEvent::AfterInference));
    }
    return After(&TrainingEvent::AfterTestSet);
  }

  Status Put(const Dataset& dataset, const Batch& samples) {
    const auto began = std::chrono::steady_clock::now();
    std::vector<Tensor> batch(2);
    ASSAY_ASSIGN_OR_RETURN(batch[0], dataset.Inputs(samples));
    ASSAY_ASSIGN_OR_RETURN(labels_, dataset.Labels(samples));
    batch[1] = labels_;
    if (training_.targets == Targets::kOneHot) {
      ASSAY_ASSIGN_OR_RETURN(batch[1],
                             dataset.OneHot(samples, batch[0].dtype()));
    }
    ASSAY_RETURN_IF_ERROR(training_.objective.Put(batch));
    moment_.batch_seconds +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - began)
            .count();
    return OkStatus();
  }

  /// Counts what was put: a mean over unequal batches is not the mean of their
  /// means.
  Status AddTo(Score* score, double loss) {
    const auto labels = labels_.elements<int64_t>();
    const Value& first = training_.objective.outputs()[0];
    const Tensor* const scores = first.tensor();
    const bool fits = scores != nullptr && scores->shape().rank() == 2 &&
                      scores->shape().dims()[0] == std::ssize(labels);
    if (fits && scores->dtype() == DType::kFloat32) {
      score->right += CountRight(scores->elements<float>(), labels);
    } else if (fits && scores->dtype() == DType::kFloat64) {
      score->right += CountRight(scores->elements<double>(), labels);
    } else {
      return InvalidArgument("the scores of ", labels.size(), " samples are ",
                             first.Type().ToString(),
                             ", wanted a row of float32 or float64 for each");
    }
    score->samples += std::ssize(labels);
    score->loss += loss * static_cast<double>(labels.size());
    return OkStatus();
  }

  const Training& training_;
  TrainingMoment moment_;
  MicroBatches parts_;
  int64_t part_ = 0;  // of the step, the next one
  Tensor labels_;
  int64_t epochs_ = 0;
  std::string stop_;
};

}  // namespace

Result<Trained> Train(const Training& training) { return Run(training).Go(); }

}  // namespace assay::train
