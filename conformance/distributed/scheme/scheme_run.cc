// SPDX-License-Identifier: Apache-2.0

#include "conformance/distributed/scheme/scheme_run.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "conformance/distributed/ranks/bits.h"
#include "conformance/distributed/ranks/distributed_row.h"
#include "framework/core/text.h"
#include "framework/dist/model/whole_objective.h"
#include "framework/dist/watch.h"
#include "framework/testing/record/run_facts.h"
#include "framework/train/rule/optimizers.h"

namespace assay::distributed {
namespace {

using measure::Judgement;
using Vector = std::vector<float>;

/// The parameters behind each step, the last one behind the end of the run.
using Course = std::vector<Vector>;

/// What one rank trained.
struct Trainee {
  Course course;
  dist::Traffic sent;
};

/// Of one rank that has the batches of all.
Result<Course> Alone(const SchemeCase& test_case) {
  dist::WholeObjective objective(kNobody, test_case.ranks);
  ASSAY_ASSIGN_OR_RETURN(
      const auto made,
      train::MakeOptimizer({test_case.optimizer, "paper", "rate=0.125"}));
  Course course;
  for (int64_t step = 0; step < kTrainedSteps; ++step) {
    ASSAY_RETURN_IF_ERROR(made.optimizer->Step(objective).status());
    course.push_back(objective.Numbers());
  }
  return course;
}

/// "w7[3]": the element of a parameter that stands there among all.
std::string NameOf(size_t at) {
  dist::WholeObjective objective(0, 1);
  for (const train::Parameter& each : objective.parameters()) {
    const auto size = static_cast<size_t>(each.value.num_elements());
    if (at < size) return StrCat(each.name, "[", at, "]");
    at -= size;
  }
  return StrCat("[", at, "]");
}

int64_t Differing(const Vector& got, const Vector& wanted) {
  return DifferingBits(std::as_bytes(std::span(got)),
                       std::as_bytes(std::span(wanted)));
}

/// The first step whose parameters differ where each rank has those of the step; a server
/// sends them with the next one, so that only the last is compared there.
Judgement FirstDifference(const std::vector<Trainee>& trainees,
                          const Course& wanted, bool has_each_step) {
  const size_t first = has_each_step ? 0 : wanted.size() - 1;
  for (size_t step = first; step < wanted.size(); ++step) {
    for (size_t rank = 0; rank < trainees.size(); ++rank) {
      const Vector& got = trainees[rank].course[step];
      for (size_t i = 0; i < got.size(); ++i) {
        if (Differing({got[i]}, {wanted[step][i]}) == 0) continue;
        return Fails(kFailBits,
                     StrCat("rank ", rank, ", step ", step + 1, ", ", NameOf(i),
                            ": found ", got[i], ", wanted ", wanted[step][i]));
      }
    }
  }
  return Fails(kFailBits, "parameters differ behind the last step");
}

/// Adds to the row what differs behind the last step.
std::optional<Judgement> JudgeBits(const SchemeCase& test_case,
                                   const std::vector<Trainee>& trainees,
                                   const Course& wanted, DistributedRow* row) {
  int64_t differing = 0;
  bool agree = true;
  HashOfRanks hash;
  for (const Trainee& each : trainees) {
    const Vector& last = each.course.back();
    differing += Differing(last, wanted.back());
    agree = agree && Differing(last, trainees[0].course.back()) == 0;
    hash.Add(std::as_bytes(std::span(last)));
  }
  row->differing_bits = differing;
  row->rank_agreement = agree ? 1 : 0;
  row->hash = hash.text();
  if (differing == 0) return std::nullopt;
  return FirstDifference(trainees, wanted, HasEachStep(test_case));
}

std::optional<Judgement> JudgeCost(const std::vector<Trainee>& trainees,
                                   const SchemeCost& cost,
                                   DistributedRow* row) {
  dist::Traffic sent;
  for (const Trainee& each : trainees) {
    sent.bytes += each.sent.bytes;
    sent.messages += each.sent.messages;
  }
  return JudgeTraffic(sent, cost.bytes, cost.messages, row);
}

/// A rank's part: what it trained, as bytes.
Result<std::string> Train(const SchemeCase& test_case, Endpoint& mine) {
  dist::WholeObjective objective(mine.rank(), test_case.ranks);
  dist::WatchedEndpoint watched(mine);
  const auto scheme = SchemeOf(test_case, watched);
  Course course;
  for (int64_t step = 0; step < kTrainedSteps; ++step) {
    ASSAY_RETURN_IF_ERROR(scheme->Step(objective).status());
    course.push_back(objective.Numbers());
  }
  const dist::Traffic sent = watched.sent();
  ASSAY_RETURN_IF_ERROR(scheme->Finish(objective));
  course.back() = objective.Numbers();
  std::string text;
  AppendBytes(std::span(&sent, 1), &text);
  for (const Vector& each : course) AppendBytes(std::span(each), &text);
  return text;
}

/// Of each rank, whose courses are as long as the one that is wanted. Data loss for other
/// bytes.
Result<std::vector<Trainee>> TraineesOf(const std::vector<std::string>& found,
                                        const Course& wanted) {
  std::vector<Trainee> trainees;
  for (const std::string& bytes : found) {
    Trainee& trainee = trainees.emplace_back(Trainee{wanted, {}});
    std::string_view text = bytes;
    bool fits = CutBytes(&text, std::span(&trainee.sent, 1));
    for (Vector& each : trainee.course) {
      fits = fits && CutBytes(&text, std::span(each));
    }
    if (!fits || !text.empty()) {
      return DataLoss("rank ", trainees.size() - 1, " brought ", bytes.size(),
                      " bytes of what it trained");
    }
  }
  return trainees;
}

/// Whether a run ends with other parameters than it began with: two that did nothing
/// are alike.
bool HasMoved(const Course& course) {
  return course.back() != dist::WholeObjective(0, 1).Numbers();
}

Result<Judgement> Run(const SchemeCase& test_case, const RunOf& run,
                      record::Record* record) {
  ASSAY_ASSIGN_OR_RETURN(const std::optional<SchemeCost> cost,
                         CostOf(test_case));
  ASSAY_ASSIGN_OR_RETURN(Course wanted, Alone(test_case));
  ASSAY_ASSIGN_OR_RETURN(
      const RanRanks ran,
      RunRanks(run.ranks, test_case.ranks,
               [&](Endpoint& mine) { return Train(test_case, mine); }));
  if (!ran.judges) return Passes();
  DistributedRow row;
  row.scheme = test_case.scheme;
  row.optimizer = test_case.optimizer;
  row.collective = test_case.way;
  row.transport = run.transport;
  row.ranks = test_case.ranks;
  row.steps = kTrainedSteps;
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
    if (!HasMoved(wanted)) {
      fault = Fails(kFailBits, "no parameter is another than at the start");
    }
    const auto differs = JudgeBits(test_case, trainees, wanted, &row);
    std::optional<Judgement> spent;
    if (cost.has_value()) spent = JudgeCost(trainees, *cost, &row);
    if (!fault.has_value()) fault = differs;
    if (!fault.has_value()) fault = spent;
  }
  record->Add(row);
  return fault.value_or(Passes());
}

}  // namespace

Judgement RunSchemeCase(const SchemeCase& test_case, const RunOf& run,
                        record::Record* record) {
  const int64_t began = record::SteadyMicroseconds();
  const Result<Judgement> judged = Run(test_case, run, record);
  record->result.run_us = record::SteadyMicroseconds() - began;
  if (judged.ok()) return *judged;
  return Declines(judged.status());
}

}  // namespace assay::distributed
