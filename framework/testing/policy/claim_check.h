// SPDX-License-Identifier: Apache-2.0
//
// ClaimCheck: tells if the vendor claims a case, and by which lines.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "framework/testing/case/test_case.h"
#include "framework/testing/policy/policy_line.h"

namespace assay::policy {

/// An operator of a case with an element type of its tensors, and the first
/// claim line that covers the two; null: none does.
struct ClaimCover {
  std::string op;             // "ai.onnx::Conv"
  std::string dtype;          // empty for a case without tensors
  int rank = cases::kNoRank;  // where a claim asks for ranks
  const Claim* claim = nullptr;
};

/// A case is claimed where every operator in it is, with every element type of
/// the case's tensors and every rank of the operator's tensors. Each triple of
/// them is put to the claims as a case of one operator, type and rank. So
/// claims may be spread over lines, and a line that names one type does not
/// cover a case of several. One of several operators that stand for each other
/// is enough.
class ClaimCheck {
 public:
  ClaimCheck(const std::vector<Claim>& claims, const cases::TestCase& test_case,
             std::string_view backend)
      : claims_(claims),
        kind_(test_case.claim),
        case_(test_case),
        node_(test_case),
        backend_(backend) {}

  bool Inside();

  /// True when an operator of the case, "ai.onnx::Conv", is claimed.
  bool IsClaimed(const std::string& qualified);

  /// Why it is inside or not; of operators that stand for each other those that
  /// are claimed, or else all.
  std::vector<ClaimCover> Covers();

  /// Marks the claims that a part of the case is inside of.
  void Mark(std::vector<bool>* tested);

 private:
  /// Calls visit(type, rank) with node_ a case of the operator, of the type and
  /// of the rank alone, until one is false. The type is empty for a case
  /// without tensors, the rank kNoRank where it is not known.
  template <class Visit>
  bool ForEachPart(const std::string& qualified, Visit visit);

  /// Makes node_ a case of the operator "domain::Type" alone.
  void Become(std::string_view qualified);

  const Claim* FirstClaim() const;
  bool IsInside(const Claim& claim) const;

  const std::vector<Claim>& claims_;
  const Claim::Kind kind_;
  const cases::TestCase& case_;
  cases::TestCase node_;
  const std::string_view backend_;
};

}  // namespace assay::policy
