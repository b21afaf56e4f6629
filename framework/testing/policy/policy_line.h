// SPDX-License-Identifier: Apache-2.0
//
// One line of a policy file, parsed. The reader of the file skips comments and
// blank lines, and decides which lines are in force.
//
//   ASSAY_ASSIGN_OR_RETURN(
//       Expectation line,
//       ParseExpectation("expect fail where op:Conv because \"issue 7\""));
//
// Errors say what was found and what was wanted; the reader adds file and line.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "framework/core/status.h"
#include "framework/testing/policy/expectation.h"

namespace assay::policy {

/// `expect OUTCOME where QUERY because "..." [until DATE] [when CONDITION]`,
/// `expect fail at some seeds where ...`
/// or `tolerate rtol=R atol=A where ...`. The parser leaves `source` empty. The
/// reader checks that the reason is more than blanks.
Result<Expectation> ParseExpectation(std::string_view line);

/// A sentence of claims.txt. `source` of it stays empty.
Result<Claim> ParseClaim(std::string_view line);

/// How many cases of a suite a floor has, and a digest of which.
struct FloorCount {
  int64_t cases = 0;
  std::string digest;
  bool operator==(const FloorCount&) const = default;
};

/// A sentence of passing.txt: `all where QUERY [when CONDITION]`, `but not
/// where QUERY [when CONDITION]`, `test_id [when CONDITION]`, or `makes N
/// cases of SUITE digest HEX`.
struct FloorLine {
  enum class Kind : uint8_t { kAll, kButNot, kCase, kMakes };
  Kind kind = Kind::kCase;
  Query where;       // of all and but not
  std::string name;  // the test_id of a case, the suite of makes
  When when;
  FloorCount makes;
};
Result<FloorLine> ParseFloorLine(std::string_view line);

/// The test_ids of a query that is nothing but `id:a or id:b ...`.
std::optional<std::vector<std::string>> IdsOf(std::string_view query);
std::string QueryOf(const std::vector<std::string>& test_ids);

/// The path of `include PATH`; nothing for another line.
std::optional<std::string> ParseInclude(std::string_view line);

/// The features in a text like that of /proc/cpuinfo: of its first line
/// "flags" or, on ARM, "Features".
std::vector<std::string> CpuFeatures(std::string_view cpuinfo);

}  // namespace assay::policy
