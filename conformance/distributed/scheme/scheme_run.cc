// SPDX-License-Identifier: Apache-2.0

#include "conformance/distributed/scheme/scheme_run.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "conformance/distributed/ranks/distributed_row.h"
#include "conformance/distributed/ranks/sent.h"
#include "conformance/distributed/scheme/course.h"
#include "framework/ranks/model/whole_objective.h"
#include "framework/testing/record/run_facts.h"

namespace assay::distributed {
namespace {

using measure::Judgement;

/// Of one rank that has the batches of all.
Result<Course> Alone(const SchemeCase& test_case) {
  ranks::WholeObjective objective(kNobody, test_case.ranks,
                                  BatchesOf(test_case));
  ASSAY_ASSIGN_OR_RETURN(const auto optimizer, OptimizerOf(test_case));
  return CourseOf(objective, test_case.steps,
                  [&](int64_t) { return optimizer->Step(objective).status(); });
}

/// A rank's part: what it trained, as bytes.
Result<std::string> Train(const SchemeCase& test_case, Endpoint& mine) {
  ranks::WholeObjective objective(mine.rank(), test_case.ranks);
  ASSAY_ASSIGN_OR_RETURN(
      const Trainee trainee,
      Trained(mine, objective, test_case.steps,
              [&](Endpoint& watched) { return SchemeOf(test_case, watched); }));
  return BytesOf(trainee);
}

Result<Judgement> Run(const SchemeCase& test_case, const RunOf& run,
                      record::Record* record) {
  ASSAY_ASSIGN_OR_RETURN(
      const std::optional<SchemeCost> cost,
      CostOf(test_case, ranks::WholeObjective::kSizes, test_case.steps));
  ASSAY_ASSIGN_OR_RETURN(Course wanted, Alone(test_case));
  ASSAY_ASSIGN_OR_RETURN(
      const RanRanks ran,
      RunRanks(
          run.ranks, test_case.ranks,
          [&](Endpoint& mine) { return Train(test_case, mine); }, run.scratch));
  if (!ran.judges) return Passes();
  DistributedRow row;
  row.scheme = test_case.scheme;
  row.optimizer = test_case.optimizer;
  row.collective = test_case.way;
  row.transport = run.transport;
  row.ranks = test_case.ranks;
  row.steps = test_case.steps;
  row.mode = PromiseOf(test_case) == Promise::kLargeBatch ? "exact" : "float";
  row.seed = run.seed;
  row.run_us = ran.us;
  std::optional<Judgement> fault = ran.fault;
  if (!fault.has_value()) {
    ASSAY_ASSIGN_OR_RETURN(const std::vector<Trainee> trainees,
                           TraineesOf(ran.found, wanted));
    if (PromiseOf(test_case) == Promise::kAgreement) {
      wanted = trainees[0].course;
    }
    fault = StandsStill(wanted, ranks::WholeObjective(0, 1).Numbers());
    row.differing_bits = CompareLast(trainees, wanted.back(), &row);
    AddSimulated(SentBy(trainees), &row);
    ranks::WholeObjective objective(0, test_case.ranks);
    const auto differs =
        FirstDifference(trainees, wanted, HasEachStep(test_case), objective);
    std::optional<Judgement> spent;
    if (cost.has_value()) {
      spent = JudgeTraffic(SentBy(trainees), cost->bytes, cost->messages, &row);
    }
    if (!fault.has_value()) fault = differs;
    if (!fault.has_value()) fault = spent;
  }
  record->Add(row);
  return WithCorrupt(fault.value_or(Passes()), ran.corrupt);
}

}  // namespace

Judgement RunCase(const SchemeCase& test_case, const RunOf& run,
                  record::Record* record) {
  const int64_t began = record::SteadyMicroseconds();
  const Result<Judgement> judged = Run(test_case, run, record);
  record->result.run_us = record::SteadyMicroseconds() - began;
  if (judged.ok()) return *judged;
  return Declines(judged.status());
}

}  // namespace assay::distributed
