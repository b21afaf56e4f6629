// SPDX-License-Identifier: Apache-2.0
//
// All that a run folder knows of one case on one backend, with the sentences of
// the policy that its verdict rests on.

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "framework/core/status.h"
#include "framework/testing/case/test_case.h"
#include "framework/testing/record/record.h"
#include "framework/testing/record/rows.h"

namespace assay::explain {

/// A line of a policy file.
struct PolicySentence {
  std::string source;    // "expectations.txt:12"
  std::string text;      // as it stands there now; empty: it is not there
  bool changed = false;  // it gives another reason than in the run
};

/// Which claim covers an operator with an element type and, where it is known
/// and some claim asks, a rank; no source: none.
struct CoverText {
  std::string op, dtype;
  int rank = cases::kNoRank;
  std::string source, claim;
};

struct Explanation {
  std::string run;  // the folder
  record::ResultRow result;
  record::PlanRow planned;
  std::vector<record::AccuracyRow> outputs;
  std::vector<record::ResultRow> attempts;
  record::Record rows;  // of the tables that suites have added
  PolicySentence expected, tolerated;
  std::vector<CoverText> covers;  // empty: the corpus or policy is not here
  bool claims_anything = false;
  record::RunRow made;  // commit, time, version
  std::string cpu;
  record::BackendRow backend;
};

/// One for each backend of the run that has the case, or for the one named.
/// Invalid argument for a folder that is no run, and, with the nearest ids or
/// the backends there are, for a case that the run has not.
Result<std::vector<Explanation>> Explain(const std::filesystem::path& run,
                                         const std::string& test_id,
                                         const std::string& backend);

}  // namespace assay::explain
