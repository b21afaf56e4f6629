// SPDX-License-Identifier: Apache-2.0
//
// The suite gradcheck. It registers itself in whatever program it is linked
// into.

#include "framework/testing/suite/suite.h"

#include <filesystem>

#include "gradcheck/answer/questions.h"
#include "gradcheck/case/gradient_case.h"
#include "gradcheck/case/subject.h"
#include "gradcheck/catalogue/catalogue.h"
#include "gradcheck/judge/gradient_row.h"
#include "gradcheck/judge/judge.h"

namespace assay::gradcheck {
namespace {

// The plan's row becomes a case here, and nowhere else.

Result<suite::Subject> SubjectOfRow(const record::PlanRow& row,
                                    const record::RunFacts& facts) {
  ASSAY_ASSIGN_OR_RETURN(const GradientCase c, CaseOf(row, facts));
  return SubjectOf(c);
}

std::vector<suite::Question> Ask(const record::PlanRow& row,
                                 const record::RunFacts& facts) {
  const auto c = CaseOf(row, facts);
  return c.ok() ? QuestionsOf(*c) : std::vector<suite::Question>();
}

measure::Judgement Run(const record::PlanRow& row, Backend& backend,
                       const record::RunFacts& facts, record::Record* record) {
  const auto c = CaseOf(row, facts);
  return c.ok() ? Judge(*c, backend, record) : Stopped(c.status());
}

std::vector<suite::Labelled> Explain(const record::PlanRow& row,
                                     const record::RunFacts& facts,
                                     const record::Record& record) {
  const auto c = CaseOf(row, facts);
  return c.ok() ? Tell(*c, record) : std::vector<suite::Labelled>();
}

Status WriteEvidenceOfRow(const record::PlanRow& row, Backend& backend,
                          const record::RunFacts& facts,
                          const std::filesystem::path& folder) {
  ASSAY_ASSIGN_OR_RETURN(const GradientCase c, CaseOf(row, facts));
  return WriteEvidence(c, backend, folder);
}

const bool kRegistered = suite::AddSuite(
    {.name = "gradcheck",
     .cases = &GradientCases,
     .source = &SourceOf,
     .subject = &SubjectOfRow,
     .ask = &Ask,
     .needs_answers = true,
     .run = &Run,
     .reasons = Reasons(),
     .listings = {{.name = "differentiability",
                   .help = "flags of gradients that ONNX has wrong or "
                           "not at all",
                   .text = &FlagsText,
                   .rows = &FlagRows}},
     .explain = &Explain,
     .evidence = {.write = &WriteEvidenceOfRow, .files = EvidenceFiles()}});

}  // namespace
}  // namespace assay::gradcheck
