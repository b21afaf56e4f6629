// SPDX-License-Identifier: Apache-2.0
//
// The changes that a run makes to a backend's policy files: cases that newly
// pass go into the floor, lines without need go, cases that newly do not pass
// get a line whose reason a person must give. Pure text in, text out;
// comments, blank lines, order and all other lines stay byte for byte.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "framework/testing/case/test_case.h"
#include "framework/testing/policy/policy.h"
#include "framework/testing/record/outcome.h"

namespace assay::policy {

/// The result of one case in a run, before expectations were asked.
struct SeenCase {
  const cases::TestCase* test_case = nullptr;
  record::Outcome raw = record::Outcome::kMissing;
  bool waived = false;    // it passed, and only under a loosened tolerance
  bool declined = false;  // it failed because it was declined inside the claims
  std::string message;    // of one that did not pass
};

/// The contents of the files; empty where there is none.
struct PolicyTexts {
  std::string expectations;
  std::string passing;
  bool operator==(const PolicyTexts&) const = default;
};

struct PolicyEdit {
  PolicyTexts texts;
  std::vector<std::string> changes;  // "passing.txt: + node/Abs/test_abs"
  std::vector<std::string> by_hand;  // what only a person can decide
};

struct EditRules {
  bool remove = true;  // lines without use; false for a run of a part
  bool drop = false;   // lost cases from the floor
};

/// `policy` was read from `texts`; `seen` holds the planned cases of the
/// backend instance, by test_id. A line goes when it matches no case, when all
/// its cases do without it, or when later lines decide them all; ids that do
/// without go from a line that lists ids. A pass is no reason where a line says
/// `at some seeds`, and none to put its case into the floor. Lines of included
/// files, of other instances, and with a condition, stay and are named. A whole
/// run writes the floor as rules (WriteFloor); one of a part adds the test_ids
/// that it gained.
PolicyEdit EditPolicy(Policy policy, const PolicyTexts& texts,
                      std::string_view backend,
                      const std::vector<SeenCase>& seen,
                      const EditRules& rules);

}  // namespace assay::policy
