// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/policy/claim_check.h"

#include <algorithm>

#include "framework/graph/operator.h"

namespace assay::policy {

template <class Visit>
bool ClaimCheck::ForEachPart(const std::string& qualified, Visit visit) {
  Become(qualified);
  std::vector<std::string> dtypes = case_.dtypes;
  if (dtypes.empty()) dtypes.emplace_back();
  std::vector<int> ranks = {cases::kNoRank};
  const auto found = case_.ranks.find(qualified);
  if (found != case_.ranks.end() && !found->second.empty()) {
    ranks = found->second;
  }
  for (const std::string& dtype : dtypes) {
    node_.dtypes.assign(dtype.empty() ? 0 : 1, dtype);
    for (const int rank : ranks) {
      node_.ranks = {{qualified, {rank}}};
      if (!visit(dtype, rank)) return false;
    }
  }
  return true;
}

bool ClaimCheck::Inside() {
  const auto claimed = [this](const std::string& qualified) {
    return IsClaimed(qualified);
  };
  if (case_.operators.empty() && case_.probes.empty()) return false;
  return std::ranges::all_of(case_.operators, claimed) &&
         (case_.probes.empty() || std::ranges::any_of(case_.probes, claimed));
}

bool ClaimCheck::IsClaimed(const std::string& qualified) {
  return ForEachPart(qualified,
                     [this](auto&&...) { return FirstClaim() != nullptr; });
}

std::vector<ClaimCover> ClaimCheck::Covers() {
  std::vector<ClaimCover> covers;
  const bool one = std::ranges::any_of(
      case_.probes, [this](const auto& probe) { return IsClaimed(probe); });
  const auto add = [&](const std::string& qualified) {
    ForEachPart(qualified, [&](const std::string& dtype, int rank) {
      covers.push_back({qualified, dtype, rank, FirstClaim()});
      return true;
    });
  };
  std::ranges::for_each(case_.operators, add);
  for (const std::string& probe : case_.probes) {
    if (!one || IsClaimed(probe)) add(probe);
  }
  return covers;
}

void ClaimCheck::Mark(std::vector<bool>* tested) {
  for (const auto* operators : {&case_.operators, &case_.probes}) {
    for (const std::string& qualified : *operators) {
      ForEachPart(qualified, [&](auto&&...) {
        for (size_t i = 0; i < claims_.size(); ++i) {
          if (!(*tested)[i]) (*tested)[i] = IsInside(claims_[i]);
        }
        return true;
      });
    }
  }
}

void ClaimCheck::Become(std::string_view qualified) {
  const size_t colons = qualified.find("::");
  const std::string_view domain = qualified.substr(0, colons);
  node_.domain = domain;
  node_.op = cases::OperatorName(domain, qualified.substr(colons + 2));
  const auto imported = case_.imports.find(node_.domain);
  node_.opset =
      imported == case_.imports.end() ? case_.opset : imported->second;
  // The case's attributes are those of the operator under test.
  const bool tested = node_.op == case_.op && domain == case_.domain;
  node_.attributes = tested ? case_.attributes : decltype(node_.attributes)();
}

const Claim* ClaimCheck::FirstClaim() const {
  const auto found = std::ranges::find_if(
      claims_, [this](const Claim& claim) { return IsInside(claim); });
  return found == claims_.end() ? nullptr : &*found;
}

bool ClaimCheck::IsInside(const Claim& claim) const {
  if (claim.kind != kind_) return false;
  // A version that this build does not know can be nobody's promise.
  const bool is_onnx = node_.domain == "ai.onnx";
  const int newest = NewestOpset(is_onnx ? "" : node_.domain);
  if (newest > 0 && node_.opset > newest) return false;
  // No claim about ranks, "not rank>2" included, covers an unknown rank.
  const int rank = node_.ranks.begin()->second.front();
  if (rank == cases::kNoRank && claim.where.NeedsRanks()) return false;
  return claim.where.Matches({node_, backend_, {}, {}});
}

}  // namespace assay::policy
