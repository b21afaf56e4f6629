// SPDX-License-Identifier: Apache-2.0
//
// Floor: the set of cases that must go on passing, as passing.txt says it in
// rules, exceptions and single test_ids. Rules take cases of the plan, so a
// case that the plan lost is seen by the number and the digest of each suite.
//
// Rules apply in the order of the file, the last one that matches decides. They
// take cases up to tier ci, which every run has. A case that a line names is
// in, whatever the rules say.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "framework/core/status.h"
#include "framework/testing/case/test_case.h"
#include "framework/testing/policy/policy_line.h"

namespace assay::policy {

/// A case of a floor: without conditions it must pass on every machine.
struct FloorCase {
  std::string conditions;  // " when isa:avx2", as the lines say them
  bool in_force = true;    // here
};

using FloorCases = std::map<std::string, FloorCase, std::less<>>;

class Floor {
 public:
  /// A line of passing.txt; `met` says that its `when` holds here. Invalid
  /// argument for a second line about the same case or the same suite.
  Status Add(FloorLine line, std::string source, bool met);

  /// Puts a planned case to the rules.
  void Consider(const cases::TestCase& planned);

  /// The set over the cases considered, and those that lines name.
  const FloorCases& cases() const { return cases_; }
  /// Their test_ids in force here, sorted.
  std::vector<std::string> InForce() const;

  /// The lines that are wrong, once every planned case was considered: rules
  /// that match none, and suites of another number or digest than stated.
  std::vector<std::string> Errors() const;
  /// The suites among them that do not have more cases than stated: a case that
  /// was gained does not explain these.
  std::vector<std::string> Losses() const;

 private:
  struct Rule {
    FloorLine line;
    std::string source;
    bool met = true;
    int64_t matched = 0;
  };

  std::vector<std::string> Changes(bool with_grown) const;

  std::vector<Rule> rules_;
  std::vector<Rule> stated_;  // lines about a suite
  FloorCases named_;
  FloorCases cases_;
};

/// A passing.txt that means `wanted` over the planned cases. The rules of
/// `before` stay, with its comments. Where it has no rules, each suite gets
/// one, for all its cases or for the operators most of whose cases are wanted.
/// Lines about single cases state the rest.
std::string WriteFloor(std::string_view before, const FloorCases& wanted,
                       const std::vector<const cases::TestCase*>& planned);

}  // namespace assay::policy
