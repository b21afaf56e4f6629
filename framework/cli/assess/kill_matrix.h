// SPDX-License-Identifier: Apache-2.0
//
// KillMatrix: the suites that saw each mutant of a backend, with the case.
//
// A suite kills a mutant when one of its cases passes without the mutant and
// does not with it. A mutant that only a second run of the case showed
// (recheck.h) is counted under "recheck" and not under the case's suite.

#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "framework/testing/policy/policy_line.h"
#include "framework/testing/record/rows.h"

namespace assay::assess {

class KillMatrix {
 public:
  /// `passing`: the test_ids that pass without a mutant.
  explicit KillMatrix(std::set<std::string> passing)
      : passing_(std::move(passing)) {}

  /// Adds the results of the cases under a mutant, in the order of their ids.
  void Add(const policy::MutantLine& mutant,
           const std::vector<record::ResultRow>& results);

  /// A line for each mutant with the number of cases of each suite that saw it,
  /// at most 80 columns wide, and "-" for none. Suites that saw none are left
  /// out.
  std::string Text() const;

  /// Mutants that the suite that should see them did not, or nobody did.
  std::vector<std::string> Survivors() const;

  /// A row for each mutant and suite that saw it; one without a kill for a
  /// mutant that none saw.
  std::vector<record::MutantRow> Rows() const;

  size_t n_mutants() const { return entries_.size(); }
  size_t n_classes() const;

 private:
  struct Kills {
    int64_t cases = 0;
    std::string first;  // test_id
  };
  struct Entry {
    policy::MutantLine mutant;
    std::map<std::string, Kills> by_suite;
  };

  std::set<std::string> passing_;
  std::vector<Entry> entries_;
};

}  // namespace assay::assess
