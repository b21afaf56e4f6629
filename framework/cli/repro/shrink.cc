// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/repro/shrink.h"

#include "framework/cli/repro/shrink_graph.h"
#include "framework/cli/repro/shrink_parts.h"
#include "framework/cli/repro/shrink_values.h"

namespace assay::repro {
namespace {

using Step = Result<std::optional<Draft>> (*)(const Draft&, ShrinkJudge&);

/// Applies a step until it finds nothing; whether it found anything.
Result<bool> Exhaust(Step step, Draft* draft, ShrinkJudge& judge) {
  bool smaller = false;
  while (!judge.Spent()) {
    ASSAY_ASSIGN_OR_RETURN(std::optional<Draft> next, step(*draft, judge));
    if (!next.has_value()) break;
    *draft = *std::move(next);
    smaller = true;
  }
  return smaller;
}

}  // namespace

Result<Draft> FirstDraft(const std::vector<Draft>& drafts, ShrinkJudge& judge) {
  std::vector<Candidate> candidates;
  for (size_t i = 0; i < drafts.size(); ++i) {
    candidates.push_back({StrCat("as it is, data set ", i), 0,
                          [&, i]() -> Result<Draft> { return drafts[i]; }});
  }
  ASSAY_ASSIGN_OR_RETURN(std::optional<Kept> kept, judge.First(candidates));
  if (kept.has_value()) return std::move(kept->draft);
  return InvalidArgument(
      "the case does not fail in this way against the oracle's outputs, so "
      "that nothing smaller can be judged");
}

Result<Draft> Shrink(Draft draft, ShrinkJudge& judge) {
  constexpr int kRounds = 4;
  for (int round = 0; round < kRounds; ++round) {
    if (!draft.targets.empty()) {
      judge.Note("fewer targets and outputs");
      ASSAY_RETURN_IF_ERROR(Exhaust(ShrinkTargets, &draft, judge).status());
    }
    judge.Note("fewer nodes");
    ASSAY_ASSIGN_OR_RETURN(bool smaller, Exhaust(ShrinkGraph, &draft, judge));
    judge.Note("fewer attributes");
    ASSAY_RETURN_IF_ERROR(Exhaust(ShrinkAttributes, &draft, judge).status());
    judge.Note("fewer elements");
    ASSAY_ASSIGN_OR_RETURN(const bool narrower,
                           Exhaust(ShrinkShapes, &draft, judge));
    judge.Note("plainer values");
    ASSAY_ASSIGN_OR_RETURN(const bool plainer,
                           Exhaust(ShrinkValues, &draft, judge));
    // Only other values open new ways; fewer nodes are tried once more when
    // shapes have changed.
    if (judge.Spent()) {
      judge.Note("the budget is spent");
      break;
    }
    smaller = plainer || (narrower && NodeCount(draft) > 1);
    if (!smaller) break;
  }
  return draft;
}

}  // namespace assay::repro
