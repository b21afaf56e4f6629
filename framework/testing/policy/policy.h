// SPDX-License-Identifier: Apache-2.0
//
// Policy: the sentences about a backend that stand beside it: expectations and
// tolerances, claims, and the floor of cases that must go on passing.
//
// Files, each optional: expectations.txt, claims.txt, passing.txt; Expectation
// and Claim give their sentences. A line that begins with # is a comment.
// Errors name file, line, what was found and what was wanted.
//
// A claim asks for op, domain, opset, dtype, rank, attr or backend, and not for
// cases. A case is claimed when for each operator in it, each element type of
// its tensors, and each rank of the tensors that nodes of the operator read or
// write, some claim line accepts a case of that operator, in its opset, and of
// that type and rank alone. So a line without dtype: accepts all types, and a
// case that also has int64 shapes needs `dtype:float32 or dtype:int64`, or two
// lines. `claim forward where op:MatMul and rank<=2` covers no MatMul that
// reads or writes a tensor of rank 3, and none of a rank that the model does
// not tell. attr: is known of the operator under test only.
//
// `claim accumulator float32 where dtype:float16` says that the sums of such
// gradients are kept in float32 and rounded once: their limit is then narrower.
// The last line that matches decides. It is about cases of one operator, since
// between the nodes of a network numbers are stored in the case's own type.

#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "framework/core/status.h"
#include "framework/testing/case/test_case.h"
#include "framework/testing/policy/claim_check.h"
#include "framework/testing/policy/floor.h"
#include "framework/testing/policy/policy_line.h"
#include "framework/testing/record/outcome.h"

namespace assay::policy {

/// The policy for one case. Pointers are into the Policy.
struct CasePolicy {
  const Expectation* expected = nullptr;   // the last matching expect line
  const Expectation* tolerated = nullptr;  // the last matching tolerate line
  /// The last claim of an accumulator about a gradient of one operator.
  const Claim* accumulator = nullptr;
  bool claimed = false;
  /// TestCase::probes; of a claimed case those that are claimed.
  std::vector<std::string> probes = {};
};

class Policy {
 public:
  /// `backend` is the instance. Marks the lines that match as matched.
  CasePolicy Of(const cases::TestCase& test_case, std::string_view backend);

  /// Why a case is claimed or not: it is when every pair has a line.
  std::vector<ClaimCover> CoverOf(const cases::TestCase& test_case,
                                  std::string_view backend) const;

  /// The lines that are wrong, once every case of a plan was asked about, as
  /// "expectations.txt:12: expect fail where ...: matches no planned case",
  /// unless it names a backend, and so may be about another instance. So are
  /// lines past their date; lines that later ones take every case from; lines
  /// that expect `unsupported` of a case inside the claims; claims that no case
  /// tests, or of an operator that none does; claims of an accumulator that
  /// decide no case, or that declare fewer digits than a case's type has, which
  /// is a departure and no promise; a claims.txt that claims nothing, so that
  /// all may be declined; and those of the floor (Floor::Errors).
  std::vector<std::string> Errors() const;

  /// True when some line asks for the ranks of a case's tensors.
  bool NeedsRanks() const;

  /// True when some line holds for some instruction sets only.
  bool NeedsIsa() const { return needs_isa_; }

  const std::vector<Expectation>& expectations() const { return expectations_; }
  /// The lines past their date, which are not among expectations().
  const std::vector<Expectation>& outdated() const { return outdated_; }
  const std::vector<Claim>& claims() const { return claims_; }
  /// passing.txt, over the cases asked about so far.
  const Floor& floor() const { return floor_; }
  /// The text of all files read, in order, for a digest.
  const std::string& text() const { return text_; }

 private:
  friend class PolicyReader;

  /// The use of a line by the cases asked about so far.
  struct Use {
    int64_t matched = 0;
    bool decides = false;  // in one of them no later line of its sort matched
    int64_t contradicted = 0;   // among those, inside the claims
    std::string contradiction;  // the first such test_id
  };

  /// The use of a claim of an accumulator.
  struct SumUse {
    /// The operators of the cases where no later claim matched.
    std::set<std::string> operators;
    int64_t narrower = 0;     // cases of a type of more digits than declared
    std::string first, type;  // of these: test_id, and that type
  };

  void ClaimSums(const cases::TestCase& test_case, const QuerySubject& subject,
                 CasePolicy* verdict);
  /// The error of a claim, without its place; empty where it is right.
  std::string ClaimError(size_t claim) const;
  std::string SumError(size_t claim) const;

  std::vector<Expectation> expectations_;
  std::vector<Use> uses_;  // of each of them
  std::vector<Expectation> outdated_;
  std::string today_;
  std::vector<Claim> claims_;
  bool has_claims_file_ = false;
  std::vector<SumUse> sums_;  // of each of them
  /// For each claim, true where some case asked about so far is inside of it.
  std::vector<bool> claim_tested_;
  /// The operators of the cases asked about so far, by the claim they are for.
  std::map<cases::ClaimKind, std::set<std::string>> tested_;
  Floor floor_;
  bool needs_isa_ = false;
  std::string text_;
};

/// A line that is in force needs its reason; a draft may be without one.
enum class Reasons : uint8_t { kWanted, kMayBeEmpty };

/// Reads the files in `directory`. Lines whose `when` does not hold of the
/// facts are left out. A line past its date on `today` (ISO) is no longer in
/// force, and is among Policy::Errors.
Result<Policy> ReadPolicy(const std::filesystem::path& directory,
                          const Facts& facts, std::string_view today,
                          Reasons reasons = Reasons::kWanted);

/// Those of this machine, beside the instruction sets, which the backend tells.
Facts MachineFacts(std::vector<std::string> isa = {});

/// The day, UTC, as 2027-03-01.
std::string Today();

}  // namespace assay::policy
