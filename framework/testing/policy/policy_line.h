// SPDX-License-Identifier: Apache-2.0
//
// Lines of the policy files, parsed: of expectations.txt, claims.txt,
// passing.txt and mutants.txt. The reader of a file skips comments and blank
// lines, and decides which lines are in force. Errors say what was found and
// what was wanted; the reader adds file and line.

#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "framework/core/dtype.h"
#include "framework/core/status.h"
#include "framework/testing/case/test_case.h"
#include "framework/testing/policy/query.h"
#include "framework/testing/record/outcome.h"

namespace assay::policy {

/// The facts of the place where a backend runs.
struct Facts {
  std::vector<std::string> cpu;  // features, as Linux names them
  std::vector<std::string> isa;  // instruction sets, as the library names them
};

/// The condition of a line, as `when cpu:avx512_fp16`, or as `when isa:avx2 and
/// not isa:avx512_core`. `cpu:` is a feature of the processor, `isa:` a set of
/// instructions that the backend's library says it may take code of
/// (Probe::isa). A set is in force beside those that it includes, so `isa:avx2`
/// holds with AVX-512 too, and `not isa:avx512_core` with each lesser one.
/// Nothing holds of facts that nobody knows, neither `isa:avx2` nor `not
/// isa:avx2`.
class When {
 public:
  enum class Key : uint8_t { kCpu, kIsa };
  static constexpr std::array<std::string_view, 2> kKeys = {"cpu:", "isa:"};

  /// True of every place that has all terms; without a term of all places.
  bool Holds(const Facts& facts) const;

  bool AsksForIsa() const;
  bool empty() const { return terms_.empty(); }

  /// As the line says it: "when isa:avx2 and not cpu:sse4a"; empty without one.
  std::string text() const;

  void Add(bool negated, Key key, std::string_view value) {
    terms_.push_back({negated, key, std::string(value)});
  }

 private:
  struct Term {
    bool negated;
    Key key;
    std::string value;
  };
  std::vector<Term> terms_;
};

/// `expect OUTCOME where QUERY because "..." [until DATE] [when CONDITION]`,
/// or `tolerate rtol=R atol=A where ...`. `expect fail at some seeds where ...`
/// is of cases whose inputs the seed draws: where one passes, the line is right
/// too. No seed makes such a case conformant.
struct Expectation {
  std::optional<record::Outcome> outcome;  // of an expect line
  bool at_some_seeds = false;              // the case passes at others
  std::optional<cases::Limit> tolerance;   // of a tolerate line
  Query where;
  std::string because;
  std::string until;  // ISO date; empty: for ever
  When when;
  std::string source;  // "expectations.txt:12"
};

/// `claim forward where QUERY`, `claim gradient where QUERY`,
/// `claim accumulator TYPE where QUERY`, `claim deterministic run-to-run`.
struct Claim {
  using Kind = cases::ClaimKind;
  Kind kind;
  DType accumulator =
      DType::kUndefined;  // that the gradients' sums are kept in
  Query where;
  std::string text;    // the sentence
  std::string source;  // "claims.txt:3"
};

/// Leaves `source` empty. The reader checks that the reason is more than
/// blanks.
Result<Expectation> ParseExpectation(std::string_view line);

/// Leaves `source` empty.
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

/// One sentence a line in the list of a backend's mutants, as
///
///     mutant pad_begin_plus_1 of off-by-one-pad where op:Conv or op:MaxPool
///         killed by node because "the first pad is one too great"   (one line)
struct MutantLine {
  std::string name;     // the value of the setting `mutant`
  std::string kind;     // the class of defect
  std::string where;    // a Query of the cases it may show in; empty: all
  std::string killer;   // the suite that must see it, or recheck
  std::string because;  // what is wrong
};

/// The name of the list, in the folder of a backend's policy.
inline constexpr char kMutantsFile[] = "mutants.txt";

/// The lines of DIRECTORY/mutants.txt; those that are blank or begin with # are
/// left out. Invalid argument with file and line for any other form, and for a
/// name that is there twice.
Result<std::vector<MutantLine>> ReadMutantLines(
    const std::filesystem::path& directory);

}  // namespace assay::policy
