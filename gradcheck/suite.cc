// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/suite.h"

#include "gradcheck/answer/questions.h"
#include "gradcheck/case/derive.h"
#include "gradcheck/case/subject.h"
#include "gradcheck/catalogue/catalogue.h"
#include "gradcheck/judge/evidence.h"
#include "gradcheck/judge/judge.h"
#include "gradcheck/judge/tell.h"
#include "gradcheck/judge/verdict.h"

namespace assay::gradcheck {
namespace {

const bool kRegistered = suite::AddSuite(GradcheckSuite());

}  // namespace

suite::Suite GradcheckSuite() {
  return {.name = "gradcheck",
          .cases = &GradientCases,
          .source = &SourceOf,
          .subject = &SubjectOf,
          .ask = &QuestionsOf,
          .needs_answers = true,
          .run = &Judge,
          .reasons = Reasons(),
          .listings = {{.name = "differentiability",
                        .help = "flags of gradients that ONNX has wrong or "
                                "not at all",
                        .text = &FlagsText,
                        .rows = &FlagRows}},
          .explain = &Tell,
          .evidence = EvidenceOfGradients()};
}

}  // namespace assay::gradcheck
