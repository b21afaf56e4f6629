// SPDX-License-Identifier: Apache-2.0

#include "conformance/redrawn/suite.h"

#include "conformance/redrawn/answer.h"
#include "conformance/redrawn/case.h"
#include "conformance/redrawn/judge.h"
#include "conformance/redrawn/subject.h"
#include "conformance/redrawn/tell.h"

namespace assay::redrawn {
namespace {

const bool kRedrawnRegistered = suite::AddSuite(RedrawnSuite());

}  // namespace

suite::Suite RedrawnSuite() {
  return {.name = "redrawn",
          .cases = &RedrawnCases,
          .source = &SourceOf,
          .subject = &SubjectOf,
          .ask = &QuestionsOf,
          .needs_answers = true,
          .run = &Judge,
          .listings = {{.name = "undrawn",
                        .help = "the cases of nodes and models that are not "
                                "run at drawn inputs, and why",
                        .why = &WhyNot}},
          .explain = &Tell};
}

}  // namespace assay::redrawn
