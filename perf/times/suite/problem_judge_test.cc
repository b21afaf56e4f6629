// SPDX-License-Identifier: Apache-2.0

#include "perf/times/suite/problem_judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "framework/file/scratch_folder.h"
#include "framework/testing/times/problem_row.h"
#include "perf/problems/known_problems.h"
#include "perf/problems/problem_fixture.h"
#include "perf/times/made_fixture.h"
#include "perf/times/suite/problem_case.h"

namespace assay::times {
namespace {

using problems::Problem;
using record::Outcome;
using testing::HasSubstr;

constexpr double kBudget = 0.1;
constexpr problems::Limits kWide = {.bytes = 1e9,
                                    .seconds = 1,
                                    .flops_per_second = 1e9,
                                    .bytes_per_second = 1e9};

/// The one that the backends of the fixture compute.
Problem Negation() {
  return problems::FirstOf(
      "graph: set times name model\n"
      "set 3 neg ($T[16] x) => ($T[16] y) { y = Neg(x) }");
}

record::PlanRow RowOf(const Problem& problem) {
  record::PlanRow row;
  row.test_id = "time/Neg/" + problem.name;
  row.comparator = record::Comparator::kOracle;
  row.dtypes = "float32";
  row.drawn = true;
  return row;
}

/// The answers of an oracle to a negation, each number off by `off`.
void Answer(const Problem& problem, double off,
            const std::filesystem::path& folder, record::PlanRow* row) {
  const auto facts = FactsOf(kBudget);
  const auto part = Got(PartOf(problem, facts));
  row->oracle = folder.string();
  for (size_t i = 0; i < part.inputs.size(); ++i) {
    std::vector<double> numbers;
    for (const float x : FloatsOf(part.inputs[i][0])) {
      numbers.push_back(off - static_cast<double>(x));
    }
    measure::ExactAnswer answer;
    answer.value = Doubles(numbers);
    answer.bound = Doubles(std::vector<double>(numbers.size()));
    measure::ExactAnswers answers;
    answers[PartQuestionsOf(problem, *row, facts).at(0).name] = {answer};
    EXPECT_TRUE(
        measure::WriteAnswers(measure::AnswersFile(folder, i), answers).ok());
  }
}

struct Found {
  measure::Judgement verdict;
  ProblemRow row;
  int64_t n_times = 0;
};

Found FoundOf(const Problem& problem, const record::PlanRow& row,
              Backend& backend, const problems::Limits& limits = kWide) {
  Found found;
  record::Record record;
  found.verdict =
      JudgeWithin(problem, row, backend, FactsOf(kBudget), limits, &record);
  found.row = Got(record.Rows<ProblemRow>()).at(0);
  found.n_times = std::ssize(Got(record.Rows<TimeRow>()));
  return found;
}

// Kills: a problem that is timed and not judged, one whose wrong outputs pass.
TEST(JudgeProblem, IsJudgedByTheAnswersToItsCut) {
  const Problem problem = Negation();
  const file::ScratchFolder folder;
  record::PlanRow row = RowOf(problem);
  auto right = MadeOf(Negate);
  auto wrong = MadeOf([](const Bound& bound) { Fill(bound, 3); });
  Answer(problem, 0, folder.path(), &row);
  const Found found = FoundOf(problem, row, right);
  EXPECT_EQ(found.verdict.outcome, Outcome::kPass) << found.verdict.message;
  EXPECT_EQ(found.row.fate, "timed");
  EXPECT_EQ(found.row.problem_set, "set");
  EXPECT_EQ(found.row.n_times, 3);
  EXPECT_EQ(found.row.n_elements, 16);
  EXPECT_EQ(found.row.n_judged, 3 * 16);
  EXPECT_EQ(found.row.needed_bytes, 2 * 64);
  EXPECT_EQ(found.n_times, 6);
  const Found failed = FoundOf(problem, row, wrong);
  EXPECT_EQ(failed.verdict.outcome, Outcome::kFail);
  EXPECT_EQ(failed.row.fate, "failed");
  Answer(problem, 1e-3, folder.path(), &row);
  EXPECT_EQ(FoundOf(problem, row, right).verdict.outcome, Outcome::kFail);
}

// Kills: a pass that nobody has judged, times that are thrown away.
TEST(JudgeProblem, IsTimedAndUndecidedWithoutAnOracle) {
  const Problem problem = Negation();
  auto right = MadeOf(Negate);
  const Found found = FoundOf(problem, RowOf(problem), right);
  EXPECT_EQ(found.verdict.outcome, Outcome::kUnsupported);
  EXPECT_EQ(found.verdict.reason.text(), record::kUndecided);
  EXPECT_THAT(found.verdict.message,
              HasSubstr("it is timed, and nothing says what is right: no exact "
                        "answer: the oracle was not asked"));
  EXPECT_EQ(found.row.fate, "timed");
  EXPECT_EQ(found.row.n_judged, 0);
  EXPECT_EQ(found.n_times, 6);
}

// Kills: a fate that is another's, a limit that is not looked at.
TEST(JudgeProblem, HasTheFateOfItsLimit) {
  const Problem problem = Negation();
  auto right = MadeOf(Negate);
  auto slow = MadeOf([](const Bound& bound) {
    Spin(20'000'000);
    Negate(bound);
  });
  StubBackend declines(Unsupported(Reason::kOperator, "no Neg here"));
  const auto limits = [](double bytes, double seconds) {
    return problems::Limits{bytes, seconds, 1, 1e9};
  };
  const struct {
    Backend* backend;
    problems::Limits limits;
    const char* fate;
    const char* message;
  } kRows[] = {
      {&right, limits(127, 100), "too big by memory",
       "too big by memory: its values take 1.28e-07 GB, wanted at most"},
      {&right, limits(1e9, 15), "too big by time",
       "too big by time: a call takes at least 16 s, wanted at most 15"},
      {&slow,
       {1e9, 0.003, 1e9, 1e9},
       "too big by time",
       "too big by time: its first call takes 0.0"},
      {&declines, kWide, "declined", "no Neg here"},
  };
  for (const auto& row : kRows) {
    const Found found =
        FoundOf(problem, RowOf(problem), *row.backend, row.limits);
    EXPECT_EQ(found.row.fate, row.fate);
    EXPECT_EQ(found.verdict.outcome, Outcome::kUnsupported);
    EXPECT_THAT(found.verdict.message, HasSubstr(row.message));
    EXPECT_EQ(found.n_times, 0);
  }
  const Problem sparse = problems::FirstOf(
      "sparse: set times m n k a b density\na 1 2 3 4 n n 0.05");
  EXPECT_EQ(FoundOf(sparse, RowOf(sparse), right).row.fate, "declined");
}

// Kills: an output of another shape, which a cut would read beyond.
TEST(JudgeProblem, FailsForAnotherShape) {
  const Problem problem = problems::FirstOf(
      "graph: set times name model\n"
      "set 3 neg ($T[16] x) => ($T[4,4] y) { s = Constant<value_ints = [4, "
      "4]>() h = Neg(x) y = Reshape(h, s) }");
  auto flat = MadeOf(Negate);
  const Found found = FoundOf(problem, RowOf(problem), flat);
  EXPECT_EQ(found.verdict.outcome, Outcome::kFail);
  EXPECT_THAT(found.verdict.message,
              HasSubstr("found float32[16], wanted float32[4,4]"));
}

// Kills: ids that no row may have or that two cases have, problems in every
// run, a kind that none is tried of.
TEST(ProblemCases, HaveEachKnownProblemOnce) {
  const auto cases = ProblemCases();
  EXPECT_EQ(cases.size(), problems::KnownProblems().size());
  std::vector<std::string> of_ci;
  for (size_t i = 0; i < cases.size(); ++i) {
    const cases::TestCase& c = cases[i];
    EXPECT_TRUE(cases::IsTestId(c.test_id)) << c.test_id;
    EXPECT_EQ(ProblemOf(c.test_id), &problems::KnownProblems()[i]);
    if (c.tier == cases::Tier::kCi) of_ci.push_back(c.test_id);
  }
  EXPECT_EQ(ProblemOf("time/Relu/test_relu"), nullptr);
  EXPECT_THAT(
      of_ci,
      testing::UnorderedElementsAre(
          testing::StartsWith("time/all_reduce/deepbench.train.all_reduce."),
          testing::StartsWith("time/Conv/"), testing::StartsWith("time/Gemm/"),
          testing::StartsWith("time/sparse/"),
          testing::StartsWith("time/Tanh/bert_base"),
          testing::AnyOf(testing::StartsWith("time/LSTM/"),
                         testing::StartsWith("time/GRU/"),
                         testing::StartsWith("time/RNN/"))));
}

// Kills: limits that do not follow the budget, or that forget copies.
TEST(LimitsOf, AreThoseOfTheMachineAndTheBudget) {
  const problems::Limits limits = LimitsOf(FactsOf(5), {7, 8});
  EXPECT_EQ(limits.seconds, 0.1);
  EXPECT_EQ(limits.flops_per_second, 7);
  EXPECT_EQ(limits.bytes_per_second, 8);
  EXPECT_GT(limits.bytes, 0);
  EXPECT_LT(limits.bytes, 1e15);
}

}  // namespace
}  // namespace assay::times
