// SPDX-License-Identifier: Apache-2.0
//
// The suites time and compare. They register themselves in whatever program
// they are linked into.

#include "framework/testing/suite/suite.h"

#include "perf/times/case.h"
#include "perf/times/judge.h"

namespace assay::times {
namespace {

const bool kTimeRegistered = suite::AddSuite(
    {.name = std::string(kTime),
     .cases = &TimeCases,
     .source = &SourceOf,
     .subject = &SubjectOf,
     .ask = &QuestionsOf,
     .needs_answers = true,
     .run = &JudgeTimes,
     .alone = true,
     .reasons = {{kForgedTime,
                  "the times of a backend contradict the judge's clock, or "
                  "results were kept from earlier calls"}}});

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
