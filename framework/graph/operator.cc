// SPDX-License-Identifier: Apache-2.0

#include "framework/graph/operator.h"

#include <algorithm>
#include <tuple>

namespace assay::inline v1 {

std::optional<OperatorId> FindOperator(std::string_view domain,
                                       std::string_view name) {
  // The table is sorted, since the generator numbers operators that way.
  const auto all = Operators();
  const auto key = [](const OperatorInfo& info) {
    return std::tie(info.domain, info.name);
  };
  const auto found =
      std::ranges::lower_bound(all, std::tie(domain, name), {}, key);
  if (found == all.end() || key(*found) != std::tie(domain, name)) {
    return std::nullopt;
  }
  return static_cast<OperatorId>(found - all.begin());
}

int VersionInForce(const OperatorInfo& info, int opset) {
  const auto after = std::ranges::upper_bound(info.versions, opset);
  return after == info.versions.begin() ? 0 : *(after - 1);
}

int NewestOpset(std::string_view domain) {
  const auto known = std::ranges::find(Domains(), domain, &DomainInfo::domain);
  return known == Domains().end() ? 0 : known->newest_opset;
}

Status UnknownOperator(const Node& node) {
  return Unsupported(Reason::kOperator, node.Label(), " is of domain ",
                     node.domain.empty() ? "ai.onnx" : node.domain,
                     ", which has no current operator of that name");
}

}  // namespace assay::inline v1
