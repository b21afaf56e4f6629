// SPDX-License-Identifier: Apache-2.0
//
// The cases of the suite time that are no corpus': a known problem each
// (perf/problems), "time/Gemm/deepbench.train.gemm.m1760n16k1760nn". Model and
// inputs are made when a case runs. The oracle is asked about a cut of the
// problem, whose outputs are elements of the whole's.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "framework/core/status.h"
#include "framework/testing/case/test_case.h"
#include "framework/testing/measure/exact_answers.h"
#include "framework/testing/record/record.h"
#include "framework/testing/record/rows.h"
#include "framework/testing/suite/suite.h"
#include "perf/problems/cut.h"
#include "perf/problems/fate.h"
#include "perf/problems/problem.h"

namespace assay::times {

/// Operations and bytes that no machine does more of in a second, until its own
/// limits are measured: those of a server of two sockets.
struct Rates {
  double flops_per_second = 4e12;
  double bytes_per_second = 4e11;
};

/// The least of each kind is of the tier ci, all others are of scale.
std::vector<cases::TestCase> ProblemCases();

/// Null for the id of a case that is none.
const problems::Problem* ProblemOf(std::string_view test_id);

/// The time of one call is the budget of a case over kLeastCalls, the memory
/// what is there now over kCopies, since judge and host keep several sets of
/// inputs and outputs.
inline constexpr int64_t kLeastCalls = 50;
inline constexpr int64_t kCopies = 12;
problems::Limits LimitsOf(const record::RunFacts& facts,
                          const Rates& rates = {});

/// The model of a problem, and kJudgedSets of drawn inputs.
Result<suite::Subject> WholeOf(const problems::Problem& problem,
                               const record::RunFacts& facts);

/// The cut of a problem for one of its sets of inputs.
std::optional<problems::Cut> CutOf(const problems::Problem& problem, int set,
                                   const record::RunFacts& facts);

/// The same of the cuts, for the oracle. Unsupported, reason shape, where there
/// is none.
Result<suite::Subject> PartOf(const problems::Problem& problem,
                              const record::RunFacts& facts);

/// The outputs of the cuts; none where there is none, or where a call of the
/// problem takes too long.
std::vector<suite::Question> PartQuestionsOf(const problems::Problem& problem,
                                             const record::PlanRow& row,
                                             const record::RunFacts& facts);

/// One for each output of a cut, as redrawn::ReadAnswers.
Result<std::vector<measure::ExactAnswer>> ReadPartAnswers(
    const problems::Problem& problem, const record::PlanRow& row,
    const record::RunFacts& facts, size_t data_set);

}  // namespace assay::times
