// SPDX-License-Identifier: Apache-2.0

#include "conformance/distributed/network/network_run.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "conformance/distributed/network/goal_run.h"
#include "conformance/distributed/network/student.h"
#include "conformance/distributed/ranks/distributed_row.h"
#include "conformance/distributed/ranks/losses.h"
#include "conformance/distributed/ranks/sent.h"
#include "conformance/distributed/scheme/course.h"
#include "framework/core/text.h"
#include "framework/ranks/share/shared_objective.h"
#include "framework/testing/record/run_facts.h"
#include "framework/train/data/dataset.h"
#include "framework/train/data/sampler.h"
#include "framework/train/network_objective.h"

namespace assay::distributed {
namespace {

using measure::Judgement;
using Batches = std::vector<train::Batch>;

constexpr int64_t kBatch = 32, kLastBatch = 13;
// Of the longest way that an element of a parameter takes. Sums of float32 in another order
// differ by some 1e-5 of it; a sample that is left out, counted twice or weighed wrongly is of
// the order of one over the batch.
constexpr double kNear = 1e-4;

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

/// A rank's part: what it trained on its shares, as bytes.
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

/// What one rank trains on whole batches: from the start, in front of the first step.
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

/// The first element behind a step that is farther from the large batch than `kNear` of the
/// longest way that an element of its parameter has taken. Null where none is; all ranks
/// have the same bits.
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
      // A distance that is no number is too far, too.
      if (apart <= kNear * way) continue;
      return Fails(kFailNear,
                   StrCat("step ", step + 1, ", ",
                          NameOf(student->network(), i), ": found ", found[i],
                          ", wanted ", wanted[i], " of the large batch within ",
                          kNear * way, ", ", kNear, " of the longest way"));
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
  // Sums that round are as the library orders them: no other one has their bits.
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
  const RankBody rank = [&](Endpoint& mine) {
    return Train(test_case, *run.backend, digits, batches, mine);
  };
  ASSAY_ASSIGN_OR_RETURN(
      const RanRanks ran,
      RunRanks(run.ranks, test_case.by.ranks, rank, run.scratch));
  if (!ran.judges) return Passes();
  DistributedRow row = RowOf(test_case, run);
  row.steps = test_case.steps;
  row.run_us = ran.us;
  std::optional<Judgement> fault = ran.fault;
  if (!fault.has_value()) {
    ASSAY_ASSIGN_OR_RETURN(const auto student,
                           Student::Of(test_case.model, *run.backend, digits));
    ASSAY_ASSIGN_OR_RETURN(const Whole whole,
                           TrainAlone(test_case, batches, student.get()));
    ASSAY_ASSIGN_OR_RETURN(const std::vector<Trainee> trainees,
                           TraineesOf(ran.found, whole.course));
    fault = Judge(test_case, trainees, whole, student.get(), &row);
    AddLosses(LossesOf(trainees), &row);
    AddSimulated(SentBy(trainees), &row);
    ASSAY_ASSIGN_OR_RETURN(
        const std::optional<SchemeCost> cost,
        CostOf(test_case.by, student->Sizes(), test_case.steps));
    std::optional<Judgement> spent;
    if (cost.has_value()) {
      spent = JudgeTraffic(SentBy(trainees), cost->bytes, cost->messages, &row);
    }
    if (!fault.has_value()) fault = spent;
  }
  record->Add(row);
  return WithCorrupt(fault.value_or(Passes()), ran.corrupt);
}

}  // namespace

Judgement RunCase(const NetworkCase& test_case, const RunOf& run,
                  record::Record* record) {
  const int64_t began = record::SteadyMicroseconds();
  const Result<Judgement> judged = test_case.goal > 0
                                       ? RunToGoal(test_case, run, record)
                                       : RunNetwork(test_case, run, record);
  record->result.run_us = record::SteadyMicroseconds() - began;
  if (judged.ok()) return *judged;
  return Declines(judged.status());
}

}  // namespace assay::distributed
