// SPDX-License-Identifier: Apache-2.0

#include "conformance/distributed/scheme/scheme_run.h"

#include <bit>
#include <string_view>

#include "framework/core/text.h"
#include "framework/ranks/fields.h"
#include "framework/ranks/interception.h"
#include "framework/ranks/scheme/objectives.h"

namespace assay::distributed {
namespace {

int64_t Differing(const Vector& got, const Vector& wanted) {
  return DifferingBits(std::as_bytes(std::span(got)),
                       std::as_bytes(std::span(wanted)));
}

bool SameBits(float got, float wanted) {
  return std::bit_cast<uint32_t>(got) == std::bit_cast<uint32_t>(wanted);
}

using measure::Judgement;

/// The course of one rank that has the batches of all.
Result<Course> Alone(const SchemeCase& test_case) {
  ranks::WholeObjective objective(kNobody, test_case.ranks,
                                  BatchesOf(test_case));
  ASSAY_ASSIGN_OR_RETURN(const auto optimizer, OptimizerOf(test_case));
  return CourseOf(objective, test_case.steps,
                  [&](int64_t) { return optimizer->Step(objective).status(); });
}

/// Trains a rank, and returns its course as bytes.
Result<std::string> Train(const SchemeCase& test_case, Endpoint& mine) {
  ranks::WholeObjective objective(mine.rank(), test_case.ranks);
  ASSAY_ASSIGN_OR_RETURN(
      const Trainee trainee,
      Trained(mine, objective, test_case.steps,
              [&](Endpoint& watched) { return SchemeOf(test_case, watched); }));
  return BytesOf(trainee);
}

Result<std::optional<Judgement>> Judge(const SchemeCase& test_case,
                                       const std::vector<std::string>& found,
                                       Course wanted, DistributedRow* row) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<Trainee> trainees,
                         TraineesOf(found, wanted));
  if (PromiseOf(test_case) == Promise::kAgreement) wanted = trainees[0].course;
  const auto still = StandsStill(wanted, ranks::WholeObjective(0, 1).Numbers());
  row->differing_bits = CompareLast(trainees, wanted.back(), row);
  AddSimulated(SentBy(trainees), row);
  ranks::WholeObjective objective(0, test_case.ranks);
  const auto differs =
      FirstDifference(trainees, wanted, HasEachStep(test_case), objective);
  ASSAY_ASSIGN_OR_RETURN(const auto spent,
                         JudgeCost(test_case, ranks::WholeObjective::kSizes,
                                   test_case.steps, SentBy(trainees), row));
  if (still.has_value()) return still;
  return differs.has_value() ? differs : spent;
}

Result<Judgement> Run(const SchemeCase& test_case, const RunOf& run,
                      record::Record* record) {
  ASSAY_ASSIGN_OR_RETURN(Course wanted, Alone(test_case));
  DistributedRow row;
  row.scheme = test_case.scheme;
  row.optimizer = test_case.optimizer;
  row.collective = test_case.way;
  row.transport = run.transport;
  row.ranks = test_case.ranks;
  row.steps = test_case.steps;
  row.mode = PromiseOf(test_case) == Promise::kLargeBatch ? "exact" : "float";
  row.seed = run.seed;
  return RunAndJudge(
      run, row, [&](Endpoint& mine) { return Train(test_case, mine); },
      [&](const auto& found, DistributedRow* judged) {
        return Judge(test_case, found, std::move(wanted), judged);
      },
      record);
}

}  // namespace

Vector NumbersOf(train::Objective& objective) {
  Vector numbers;
  for (const train::Parameter& each : objective.parameters()) {
    const auto elements = each.value.elements<float>();
    numbers.insert(numbers.end(), elements.begin(), elements.end());
  }
  return numbers;
}

Result<Course> CourseOf(train::Objective& objective, int64_t steps,
                        const std::function<Status(int64_t)>& step) {
  Course course;
  for (int64_t i = 0; i < steps; ++i) {
    ASSAY_RETURN_IF_ERROR(step(i));
    course.push_back(NumbersOf(objective));
  }
  return course;
}

Result<Trainee> Trained(
    Endpoint& mine, train::Objective& objective, int64_t steps,
    const std::function<std::unique_ptr<ranks::Scheme>(Endpoint&)>& make,
    const std::function<Status(int64_t)>& step) {
  ranks::WatchedEndpoint watched(mine);
  const auto scheme = make(watched);
  ASSAY_ASSIGN_OR_RETURN(const LibraryCount before, CountOf(mine));
  Trainee trainee;
  ASSAY_ASSIGN_OR_RETURN(
      trainee.course, CourseOf(objective, steps, [&](int64_t i) -> Status {
        if (step) ASSAY_RETURN_IF_ERROR(step(i));
        ASSAY_ASSIGN_OR_RETURN(const double loss, scheme->Step(objective));
        trainee.losses.Add(loss);
        return OkStatus();
      }));
  ASSAY_ASSIGN_OR_RETURN(trainee.sent, SentSince(before, mine, watched.sent()));
  ASSAY_RETURN_IF_ERROR(scheme->Finish(objective));
  trainee.course.back() = NumbersOf(objective);
  return trainee;
}

std::string BytesOf(const Trainee& trainee) {
  std::string text;
  ranks::AppendFields(trainee.sent, &text);
  ranks::AppendFields(trainee.losses, &text);
  for (const Vector& each : trainee.course) {
    AppendBytes(std::span(each), &text);
  }
  return text;
}

Result<std::vector<Trainee>> TraineesOf(std::span<const std::string> found,
                                        const Course& like) {
  std::vector<Trainee> trainees;
  for (const std::string& bytes : found) {
    Trainee& trainee = trainees.emplace_back(Trainee{like, {}, {}});
    std::string_view text = bytes;
    bool fits = ranks::CutFields(&text, &trainee.sent) &&
                ranks::CutFields(&text, &trainee.losses);
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

std::vector<RankSent> SentBy(std::span<const Trainee> trainees) {
  std::vector<RankSent> sent;
  for (const Trainee& each : trainees) sent.push_back(each.sent);
  return sent;
}

std::vector<Losses> LossesOf(std::span<const Trainee> trainees) {
  std::vector<Losses> losses;
  for (const Trainee& each : trainees) losses.push_back(each.losses);
  return losses;
}

std::string NameOf(train::Objective& objective, size_t at) {
  for (const train::Parameter& each : objective.parameters()) {
    const auto size = static_cast<size_t>(each.value.num_elements());
    if (at < size) return StrCat(each.name, "[", at, "]");
    at -= size;
  }
  return StrCat("[", at, "]");
}

std::optional<measure::Judgement> FirstDifference(
    std::span<const Trainee> trainees, const Course& wanted, bool has_each_step,
    train::Objective& objective) {
  const size_t first = has_each_step ? 0 : wanted.size() - 1;
  for (size_t step = first; step < wanted.size(); ++step) {
    for (size_t rank = 0; rank < trainees.size(); ++rank) {
      const Vector& got = trainees[rank].course[step];
      for (size_t i = 0; i < got.size(); ++i) {
        if (SameBits(got[i], wanted[step][i])) continue;
        return Fails(kFailBits, StrCat("rank ", rank, ", step ", step + 1, ", ",
                                       NameOf(objective, i), ": found ", got[i],
                                       ", wanted ", wanted[step][i]));
      }
    }
  }
  return std::nullopt;
}

std::optional<measure::Judgement> StandsStill(const Course& course,
                                              const Vector& start) {
  if (course.back() != start) return std::nullopt;
  return Fails(kFailBits, "no parameter is another than at the start");
}

int64_t CompareLast(std::span<const Trainee> trainees, const Vector& wanted,
                    DistributedRow* row) {
  int64_t differing = 0;
  bool agree = true;
  HashOfRanks hash;
  for (const Trainee& each : trainees) {
    const Vector& last = each.course.back();
    differing += Differing(last, wanted);
    agree = agree && Differing(last, trainees[0].course.back()) == 0;
    hash.Add(std::as_bytes(std::span(last)));
  }
  row->rank_agreement = agree ? 1 : 0;
  row->hash = hash.text();
  return differing;
}

Result<std::optional<Judgement>> JudgeCost(const SchemeCase& test_case,
                                           std::span<const int64_t> sizes,
                                           int64_t steps,
                                           std::span<const RankSent> sent,
                                           DistributedRow* row) {
  ASSAY_ASSIGN_OR_RETURN(const std::optional<SchemeCost> cost,
                         CostOf(test_case, sizes, steps));
  if (!cost.has_value()) return std::optional<Judgement>();
  return JudgeTraffic(sent, cost->bytes, cost->messages, row);
}

Judgement RunCase(const SchemeCase& test_case, const RunOf& run,
                  record::Record* record) {
  return RunRoots(kNoRoot, record,
                  [&](int) { return Run(test_case, run, record); });
}

}  // namespace assay::distributed
