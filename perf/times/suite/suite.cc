// SPDX-License-Identifier: Apache-2.0
//
// The suites time and compare. They register themselves in whatever program
// they are linked into.

#include "framework/testing/suite/suite.h"

#include <algorithm>
#include <iterator>

#include "perf/summary/summary.h"
#include "perf/times/case.h"
#include "perf/times/judge.h"
#include "perf/times/roof_rows.h"
#include "perf/times/suite/collective.h"
#include "perf/times/suite/problem_case.h"
#include "perf/times/suite/problem_judge.h"

namespace assay::times {
namespace {

// The cases of the suite time are those of corpora, and the known problems.

std::vector<cases::TestCase> AllCases(std::span<const cases::Corpus> corpora) {
  std::vector<cases::TestCase> all = TimeCases(corpora);
  std::ranges::move(ProblemCases(), std::back_inserter(all));
  return all;
}

std::string Source(std::string_view test_id) {
  return ProblemOf(test_id) == nullptr ? SourceOf(test_id)
                                       : std::string(test_id);
}

Result<suite::Subject> Asked(const record::PlanRow& row,
                             const record::RunFacts& facts) {
  const auto* const problem = ProblemOf(row.test_id);
  return problem == nullptr ? SubjectOf(row, facts) : PartOf(*problem, facts);
}

std::vector<suite::Question> Questions(const record::PlanRow& row,
                                       const record::RunFacts& facts) {
  const auto* const problem = ProblemOf(row.test_id);
  return problem == nullptr ? QuestionsOf(row, facts)
                            : PartQuestionsOf(*problem, row, facts);
}

measure::Judgement Judge(const record::PlanRow& row, Backend& backend,
                         const record::RunFacts& facts,
                         record::Record* record) {
  const auto* const problem = ProblemOf(row.test_id);
  measure::Judgement verdict =
      problem == nullptr ? JudgeTimes(row, backend, facts, record)
                         : JudgeProblem(*problem, row, backend, facts, record);
  MeasureAt(worker::CasePlace(), &RoofsHere());
  AddRoofs(&RoofsHere(), record);
  return verdict;
}

const bool kTimeRegistered = suite::AddSuite(
    {.name = std::string(kTime),
     .cases = &AllCases,
     .source = &Source,
     .subject = &Asked,
     .ask = &Questions,
     .needs_answers = true,
     .needs_oracle = true,
     .run = &Judge,
     .run_ranks = &JudgeCollective,
     .alone = true,
     .reasons = {{kForgedTime,
                  "the times of a backend contradict the judge's clock, or "
                  "results were kept from earlier calls"}},
     .sums = &summary::SumsOf});

const bool kCompareRegistered = suite::AddSuite({.name = std::string(kCompare),
                                                 .cases = &CompareCases,
                                                 .source = &SourceOf,
                                                 .subject = &SubjectOf,
                                                 .ask = &QuestionsOf,
                                                 .needs_answers = true,
                                                 .run = &JudgeBeside,
                                                 .alone = true});

}  // namespace
}  // namespace assay::times
