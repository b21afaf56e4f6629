// SPDX-License-Identifier: Apache-2.0

#include "conformance/distributed/network/network_case.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <mutex>
#include <optional>
#include <string_view>

#include "conformance/distributed/scheme/scheme_run.h"
#include "framework/core/tensor.h"
#include "framework/core/text.h"
#include "framework/file/module_path.h"
#include "framework/graph/edit/training.h"
#include "framework/ranks/fields.h"
#include "framework/ranks/interception.h"
#include "framework/ranks/scheme/scheme.h"
#include "framework/train/event/stop.h"
#include "framework/train/format/datasets.h"
#include "framework/train/model/models.h"
#include "framework/train/optimizer/optimizer.h"
#include "framework/train/trainer.h"

namespace assay::distributed {
namespace {

constexpr int kNetworkRanks[] = {1, 2, 4, 8};
constexpr char kModel[] = "lenet5";
constexpr double kGoal = 0.95;

/// A scheme, and the way in which its tensors travel.
struct NetworkKind {
  std::string_view scheme, way;
  Promise promise = Promise::kLargeBatch;
  /// True where it reaches the goal at the rate of these cases. One bit a
  /// number reaches 79 % in six epochs.
  bool comes_to_goal = true;
};

constexpr NetworkKind kNetworkKinds[] = {
    {"train_all_reduce", "ring"},
    {"train_all_reduce", "recursive_doubling"},
    {"train_all_reduce", "own"},
    {"train_buckets", "ring"},
    {"train_server", "binomial"},
    {"train_sharded", "binomial"},
    {"train_float16", "ring", Promise::kAgreement},
    {"train_top_fifth", "ring", Promise::kAgreement},
    {"train_signs", "ring", Promise::kAgreement, false},
    {"train_sparse_fifth", "recursive_doubling", Promise::kAgreement}};

using measure::Judgement;

constexpr int64_t kGoalBatch = 64, kTestBatch = 200, kEpochs = 6;

/// An optimizer whose steps are those of a scheme, which has the state.
class ByScheme : public train::Optimizer {
 public:
  explicit ByScheme(ranks::Scheme& scheme) : scheme_(scheme) {}
  Status Begin(std::span<const train::Parameter>) override {
    return OkStatus();
  }
  Result<double> Step(train::Objective& objective) override {
    ASSAY_ASSIGN_OR_RETURN(const double loss, scheme_.Step(objective));
    losses_.Add(loss);
    return loss;
  }
  std::vector<train::StateTensor> State() override { return {}; }

  const Losses& losses() const { return losses_; }

 private:
  ranks::Scheme& scheme_;
  Losses losses_;
};

struct Reached {
  int64_t steps = 0;
  double accuracy = 0;
  RankSent sent;
  Losses losses;
};

constexpr void EachField(Reached& reached, const auto& visit) {
  ranks::VisitEach(visit, reached.steps, reached.accuracy);
  EachField(reached.sent, visit);
  EachField(reached.losses, visit);
}

/// A rank's shares of the batches. Their sizes are multiples of the ranks, so
/// that the mean over ranks is the mean over the batch.
Result<train::Sampler> SharesOf(const train::Dataset& digits, int64_t seed,
                                const Endpoint& mine) {
  ASSAY_ASSIGN_OR_RETURN(
      const train::Sampler whole,
      train::ShuffledSampler({digits.samples(), kGoalBatch, /*drop_last=*/true},
                             static_cast<uint64_t>(seed)));
  return train::Sampler(
      [whole, rank = mine.rank(), ranks = mine.size()](int64_t epoch) {
        std::vector<train::Batch> shares;
        for (const train::Batch& batch : whole(epoch)) {
          shares.push_back(ranks::ShareOf(batch, rank, ranks).samples);
        }
        return shares;
      });
}

Result<Reached> TrainToGoal(const NetworkCase& test_case, const RunOf& run,
                            const train::Split& digits, Endpoint& mine) {
  ASSAY_ASSIGN_OR_RETURN(
      const auto student,
      Student::Of(test_case.model, *run.backend, digits.train));
  ranks::WatchedEndpoint watched(mine);
  const auto scheme = SchemeOf(test_case.by, watched);
  ASSAY_ASSIGN_OR_RETURN(const LibraryCount before, CountOf(mine));
  ByScheme optimizer(*scheme);
  train::StopAtAccuracy stop(test_case.goal);
  ASSAY_ASSIGN_OR_RETURN(train::Sampler shares,
                         SharesOf(digits.train, run.seed, mine));
  ASSAY_ASSIGN_OR_RETURN(
      train::Sampler tests,
      train::OrderedSampler({digits.test.samples(), kTestBatch}));
  ASSAY_ASSIGN_OR_RETURN(
      const train::Trained trained,
      train::Train({.objective = student->network(),
                    .optimizer = optimizer,
                    .train = {&digits.train, std::move(shares)},
                    .test = train::Samples{&digits.test, std::move(tests)},
                    .epochs = kEpochs,
                    .targets = train::Targets::kOneHot,
                    .events = {&stop}}));
  ASSAY_ASSIGN_OR_RETURN(const RankSent sent,
                         SentSince(before, mine, watched.sent()));
  return Reached{trained.steps, trained.test.accuracy(), sent,
                 optimizer.losses()};
}

/// Null where all ranks ended after the same step, and the run reached its
/// accuracy.
std::optional<Judgement> JudgeEnds(const std::vector<Reached>& ends,
                                   double goal) {
  for (size_t rank = 1; rank < ends.size(); ++rank) {
    if (ends[rank].steps == ends[0].steps) continue;
    return Fails(kFailBits,
                 StrCat("rank ", rank, " ended behind step ", ends[rank].steps,
                        ", wanted step ", ends[0].steps, " as rank 0"));
  }
  if (ends[0].accuracy >= goal) return std::nullopt;
  return Fails(kFailNear,
               StrCat("found an accuracy of ", ends[0].accuracy, " behind ",
                      kEpochs, " epochs, wanted ", goal));
}

/// Fails where the run does not reach the accuracy within some epochs, or where
/// ranks end after different steps. Errors as of Digits and the backend.
Result<Judgement> RunToGoal(const NetworkCase& test_case, const RunOf& run,
                            record::Record* record) {
  ASSAY_ASSIGN_OR_RETURN(const train::Split* const digits, Digits());
  return RunAndJudge(
      run, RowOf(test_case, run),
      [&](Endpoint& mine) -> Result<std::string> {
        ASSAY_ASSIGN_OR_RETURN(const Reached reached,
                               TrainToGoal(test_case, run, *digits, mine));
        std::string bytes;
        ranks::AppendFields(reached, &bytes);
        return bytes;
      },
      [&](const auto& found,
          DistributedRow* row) -> Result<std::optional<Judgement>> {
        std::vector<Reached> ends;
        std::vector<RankSent> sent;
        std::vector<Losses> losses;
        for (const std::string& bytes : found) {
          std::string_view rest = bytes;
          if (!ranks::CutFields(&rest, &ends.emplace_back())) {
            return DataLoss("rank ", ends.size() - 1, " brought ", bytes.size(),
                            " bytes of where it ended");
          }
          sent.push_back(ends.back().sent);
          losses.push_back(ends.back().losses);
        }
        AddLosses(losses, row);
        AddSimulated(sent, row);
        row->steps = ends[0].steps;
        ASSAY_ASSIGN_OR_RETURN(
            const auto student,
            Student::Of(test_case.model, *run.backend, digits->train));
        ASSAY_ASSIGN_OR_RETURN(const auto spent,
                               JudgeCost(test_case.by, student->Sizes(),
                                         ends[0].steps, sent, row));
        const auto missed = JudgeEnds(ends, test_case.goal);
        return missed.has_value() ? missed : spent;
      },
      record);
}

using Batches = std::vector<train::Batch>;

constexpr int64_t kBatch = 32, kLastBatch = 13;
// A share of the longest way of an element of a parameter. Sums of float32 in
// another order differ by some 1e-5 of it; a sample that is left out, counted
// twice or weighed wrongly differs by the order of 1 / batch.
constexpr double kNearBatch = 1e-4;

Result<Batches> BatchesOf(const train::Dataset& digits, int64_t seed,
                          int64_t steps) {
  ASSAY_ASSIGN_OR_RETURN(const train::Sampler sampler,
                         train::ShuffledSampler({digits.samples(), kBatch},
                                                static_cast<uint64_t>(seed)));
  Batches batches = sampler(/*epoch=*/0);
  batches.resize(kNetworkSteps);
  batches.back().resize(kLastBatch);
  batches.resize(static_cast<size_t>(steps));
  return batches;
}

/// Trains a rank on its shares, and returns its course as bytes.
Result<std::string> Train(const NetworkCase& test_case, Backend& backend,
                          const train::Dataset& digits, const Batches& batches,
                          Endpoint& mine) {
  ASSAY_ASSIGN_OR_RETURN(const auto student,
                         Student::Of(test_case.model, backend, digits));
  ranks::SharedObjective shared(
      student->network(),
      [&](std::span<const int64_t> samples) { return student->Put(samples); });
  ASSAY_ASSIGN_OR_RETURN(
      const Trainee trainee,
      Trained(
          mine, shared, std::ssize(batches),
          [&](Endpoint& watched) { return SchemeOf(test_case.by, watched); },
          [&](int64_t step) {
            shared.Take(ranks::ShareOf(batches[static_cast<size_t>(step)],
                                       mine.rank(), mine.size()));
            return OkStatus();
          }));
  return BytesOf(trainee);
}

/// The course of one rank on whole batches, and its parameters before the first
/// step.
struct Whole {
  Vector start;
  Course course;
};

Result<Whole> TrainAlone(const NetworkCase& test_case, const Batches& batches,
                         Student* student) {
  ASSAY_ASSIGN_OR_RETURN(const auto optimizer, OptimizerOf(test_case.by));
  train::NetworkObjective& network = student->network();
  Whole whole{NumbersOf(network), {}};
  ASSAY_ASSIGN_OR_RETURN(
      whole.course,
      CourseOf(network, std::ssize(batches), [&](int64_t step) -> Status {
        ASSAY_RETURN_IF_ERROR(student->Put(batches[static_cast<size_t>(step)]));
        return optimizer->Step(network).status();
      }));
  return whole;
}

/// Fails for the first element after a step that is farther from the large
/// batch than `kNearBatch` times the longest way of an element of its
/// parameter. Null where none is. The ranks agree already.
std::optional<Judgement> JudgeStep(const Vector& found, const Vector& wanted,
                                   const Vector& start, size_t step,
                                   Student* student) {
  size_t first = 0;
  for (const int64_t size : student->Sizes()) {
    const size_t end = first + static_cast<size_t>(size);
    double way = 0;
    for (size_t i = first; i < end; ++i) {
      way = std::max(way, std::fabs(double{wanted[i]} - double{start[i]}));
    }
    for (size_t i = first; i < end; ++i) {
      const double apart = std::fabs(double{found[i]} - double{wanted[i]});
      // A NaN is too far, too.
      if (apart <= kNearBatch * way) continue;
      return Fails(
          kFailNear,
          StrCat("step ", step + 1, ", ", NameOf(student->network(), i),
                 ": found ", found[i], ", wanted ", wanted[i],
                 " of the large batch within ", kNearBatch * way, ", ",
                 kNearBatch, " of the longest way"));
    }
    first = end;
  }
  return std::nullopt;
}

std::optional<Judgement> JudgeNear(const Course& found, const Whole& whole,
                                   bool has_each_step, Student* student) {
  const size_t steps = whole.course.size();
  for (size_t step = has_each_step ? 0 : steps - 1; step < steps; ++step) {
    if (auto far = JudgeStep(found[step], whole.course[step], whole.start, step,
                             student)) {
      return far;
    }
  }
  return std::nullopt;
}

std::optional<Judgement> Judge(const NetworkCase& test_case,
                               const std::vector<Trainee>& trainees,
                               const Whole& whole, Student* student,
                               DistributedRow* row) {
  const Course& first = trainees[0].course;
  CompareLast(trainees, first.back(), row);
  // The library's own sums round in an order that no other library has.
  if (IsOwn(test_case.by)) row->hash.clear();
  const bool has_each_step = HasEachStep(test_case.by);
  if (auto differs =
          FirstDifference(trainees, first, has_each_step, student->network())) {
    return differs;
  }
  if (auto still = StandsStill(first, whole.start)) return still;
  if (PromiseOf(test_case) == Promise::kAgreement) return std::nullopt;
  return JudgeNear(first, whole, has_each_step, student);
}

Result<Judgement> RunNetwork(const NetworkCase& test_case, const RunOf& run,
                             record::Record* record) {
  ASSAY_ASSIGN_OR_RETURN(const train::Split* const split, Digits());
  const train::Dataset& digits = split->train;
  ASSAY_ASSIGN_OR_RETURN(const Batches batches,
                         BatchesOf(digits, run.seed, test_case.steps));
  DistributedRow row = RowOf(test_case, run);
  row.steps = test_case.steps;
  return RunAndJudge(
      run, row,
      [&](Endpoint& mine) {
        return Train(test_case, *run.backend, digits, batches, mine);
      },
      [&](const auto& found,
          DistributedRow* judged) -> Result<std::optional<Judgement>> {
        ASSAY_ASSIGN_OR_RETURN(
            const auto student,
            Student::Of(test_case.model, *run.backend, digits));
        ASSAY_ASSIGN_OR_RETURN(const Whole whole,
                               TrainAlone(test_case, batches, student.get()));
        ASSAY_ASSIGN_OR_RETURN(const std::vector<Trainee> trainees,
                               TraineesOf(found, whole.course));
        const auto fault =
            Judge(test_case, trainees, whole, student.get(), judged);
        AddLosses(LossesOf(trainees), judged);
        AddSimulated(SentBy(trainees), judged);
        ASSAY_ASSIGN_OR_RETURN(
            const auto spent,
            JudgeCost(test_case.by, student->Sizes(), test_case.steps,
                      SentBy(trainees), judged));
        return fault.has_value() ? fault : spent;
      },
      record);
}

}  // namespace

std::string NetworkCase::test_id() const {
  const std::string until =
      goal > 0 ? StrCat("_to_", std::lround(100 * goal)) : "";
  return StrCat("distributed/", model, until, "/", by.scheme, ".", by.way, ".",
                by.optimizer, "#n", by.ranks, StepsText(steps, kNetworkSteps));
}

cases::Tier NetworkCase::tier() const {
  return goal > 0 ? cases::Tier::kNightly : cases::Tier::kCi;
}

std::vector<NetworkCase> AllNetworkCases() {
  std::vector<NetworkCase> all;
  for (const NetworkKind& each : kNetworkKinds) {
    for (const int ranks : kNetworkRanks) {
      const SchemeCase by = {std::string(each.scheme), std::string(each.way),
                             "momentum", ranks, "rate=0.05"};
      all.push_back({kModel, by});
      // A server sends parameters with the next step, after the test.
      if (HasEachStep(by) && each.comes_to_goal) {
        all.push_back({kModel, by, kGoal});
      }
    }
  }
  return all;
}

Promise PromiseOf(const NetworkCase& test_case) {
  return std::ranges::find(kNetworkKinds, test_case.by.scheme,
                           &NetworkKind::scheme)
      ->promise;
}

DistributedRow RowOf(const NetworkCase& test_case, const RunOf& run) {
  DistributedRow row;
  row.scheme = StrCat(test_case.model, "/", test_case.by.scheme);
  row.optimizer = test_case.by.optimizer;
  row.collective = test_case.by.way;
  row.transport = run.transport;
  row.ranks = test_case.by.ranks;
  row.mode = test_case.goal > 0 ? "goal" : "network";
  row.seed = run.seed;
  return row;
}

Result<const train::Split*> Digits() {
  static const Result<train::Split> digits =
      train::MakeDataset("digits", {file::DatasetDirectory(), /*seed=*/0});
  if (!digits.ok()) return Unavailable(digits.status().message());
  return &*digits;
}

Result<std::unique_ptr<Student>> Student::Of(const std::string& model,
                                             Backend& backend,
                                             const train::Dataset& digits) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  edit::LossEdit loss;
  loss.loss = edit::Loss::kSoftmaxCrossEntropyOfOneHot;
  ASSAY_ASSIGN_OR_RETURN(const train::NewModel made,
                         train::MakeModel(model, {.seed = 1}));
  ASSAY_ASSIGN_OR_RETURN(train::Trainee trainee,
                         train::TraineeOf(made, loss, /*seed=*/1));
  ASSAY_ASSIGN_OR_RETURN(
      auto network, train::NetworkObjective::Load(backend, std::move(trainee)));
  return std::make_unique<Student>(std::move(network), digits);
}

Status Student::Put(std::span<const int64_t> samples) {
  const train::Batch own(samples.begin(), samples.end());
  std::vector<Tensor> batch(2);
  ASSAY_ASSIGN_OR_RETURN(batch[0], digits_.Inputs(own));
  ASSAY_ASSIGN_OR_RETURN(batch[1], digits_.OneHot(own, DType::kFloat32));
  return network_->Put(batch);
}

std::vector<int64_t> Student::Sizes() {
  std::vector<int64_t> sizes;
  for (const train::Parameter& each : network_->parameters()) {
    sizes.push_back(each.value.num_elements());
  }
  return sizes;
}

Judgement RunCase(const NetworkCase& test_case, const RunOf& run,
                  record::Record* record) {
  return RunRoots(kNoRoot, record, [&](int) {
    return test_case.goal > 0 ? RunToGoal(test_case, run, record)
                              : RunNetwork(test_case, run, record);
  });
}

}  // namespace assay::distributed
