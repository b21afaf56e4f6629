// SPDX-License-Identifier: Apache-2.0
//
// The suite redrawn, and the one that runs cases of corpora that state no
// outputs. They register themselves in whatever program they are linked into.

#include "framework/testing/suite/suite.h"

#include <filesystem>
#include <string_view>
#include <vector>

#include "conformance/redrawn/case.h"
#include "conformance/redrawn/judge.h"
#include "framework/core/text.h"
#include "framework/testing/case/data_set.h"
#include "framework/testing/draw/inputs.h"
#include "framework/testing/record/record.h"
#include "framework/testing/record/rows.h"

namespace assay::redrawn {
namespace {

std::string_view HowOf(draw::InputKind kind) {
  switch (kind) {
    case draw::InputKind::kUnread:
      return "as in the case: its elements are not read";
    case draw::InputKind::kNumbers:
      return "drawn in its range, or from its own elements";
    case draw::InputKind::kShifted:
      return "shifted by an integer";
    case draw::InputKind::kShuffled:
      return "its own elements in another order";
    case draw::InputKind::kRenamed:
      return "each of its values in the place of another one";
    case draw::InputKind::kSize:
    case draw::InputKind::kKept:
      break;
  }
  return "as in the case: a setting";
}

/// Nothing where the files of the case are gone.
std::vector<suite::Labelled> Tell(const record::PlanRow& row,
                                  const record::RunFacts& facts,
                                  const record::Record&) {
  const auto file = cases::ModelFileOf(row.directory);
  if (!file.ok()) return {};
  const auto model = Model::Read(*file);
  if (!model.ok()) return {};
  std::vector<suite::Labelled> lines;
  for (const auto& [name, kind] : KindsOf(row, **model)) {
    lines.emplace_back(StrCat("input ", name), HowOf(kind));
  }
  lines.emplace_back("seed", StrCat(facts.seed, "; another has other inputs"));
  return lines;
}

const bool kRedrawnRegistered = suite::AddSuite(
    {.name = "redrawn",
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
     .explain = &Tell});

const bool kUnstatedRegistered =
    suite::AddSuite({.name = std::string(suite::kSuiteOfUnstated),
                     .ask = &UnstatedQuestions,
                     .needs_answers = true,
                     .run = &JudgeUnstated});

}  // namespace
}  // namespace assay::redrawn
