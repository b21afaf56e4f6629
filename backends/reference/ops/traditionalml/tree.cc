// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/ops/traditionalml/tree.h"

#include <cmath>
#include <optional>
#include <utility>

#include "backends/reference/scalar/codec.h"

namespace assay::reference {
namespace {

/// Colours of a depth-first walk.
enum class Seen : uint8_t { kNever, kAbove, kBelow };

/// The first node that can be reached from itself, with an explicit stack: a
/// tree may be deeper than ours.
std::optional<int64_t> FindCycle(const Trees& trees) {
  std::vector<Seen> seen(trees.nodes.size(), Seen::kNever);
  std::vector<std::pair<int64_t, int>> stack;  // node, branches taken
  for (const Branch& root : trees.roots) {
    if (!root.is_leaf) stack.emplace_back(root.index, 0);
    while (!stack.empty()) {
      const int64_t index = stack.back().first;
      const int taken = stack.back().second++;
      Seen& state = seen[static_cast<size_t>(index)];
      if (taken == 0 && state == Seen::kAbove) return index;
      if ((taken == 0 && state == Seen::kBelow) || taken == 2) {
        state = Seen::kBelow;
        stack.pop_back();
        continue;
      }
      state = Seen::kAbove;
      const TreeNode& node = trees.nodes[static_cast<size_t>(index)];
      const Branch next = taken == 0 ? node.when_true : node.when_false;
      if (!next.is_leaf) stack.emplace_back(next.index, 0);
    }
  }
  return std::nullopt;
}

Status CheckBranch(const Trees& trees, std::string_view attribute,
                   int64_t position, const Branch& branch) {
  const int64_t count =
      branch.is_leaf ? std::ssize(trees.leaves) : std::ssize(trees.nodes);
  if (branch.index >= 0 && branch.index < count) return OkStatus();
  return InvalidArgument(attribute, "[", position, "] is ", branch.index,
                         ", wanted one of ", count,
                         branch.is_leaf ? " leaves" : " nodes");
}

}  // namespace

Status Trees::Check() const {
  for (const TreeNode& node : nodes) {
    ASSAY_RETURN_IF_ERROR(
        CheckBranch(*this, "nodes_truenodeids", node.position, node.when_true));
    ASSAY_RETURN_IF_ERROR(CheckBranch(*this, "nodes_falsenodeids",
                                      node.position, node.when_false));
    if (node.feature < 0) {
      return InvalidArgument("nodes_featureids[", node.position, "] is ",
                             node.feature);
    }
  }
  for (size_t i = 0; i < roots.size(); ++i) {
    ASSAY_RETURN_IF_ERROR(
        CheckBranch(*this, "tree_roots", static_cast<int64_t>(i), roots[i]));
  }
  for (size_t i = 0; i < votes.size(); ++i) {
    if (votes[i].target < 0 || votes[i].target >= targets) {
      return InvalidArgument("vote ", i, " is for target ", votes[i].target,
                             ", wanted one in [0, ", targets, ")");
    }
  }
  if (base_values.size() > 1 && std::ssize(base_values) != targets) {
    return InvalidArgument("base_values has ", base_values.size(),
                           " elements, wanted ", targets, " as targets");
  }
  if (const auto cycle = FindCycle(*this)) {
    const TreeNode& node = nodes[static_cast<size_t>(*cycle)];
    return InvalidArgument(
        "nodes_truenodeids and nodes_falsenodeids lead from "
        "node ",
        node.position, " back to it, wanted a tree");
  }
  return OkStatus();
}

Status Trees::CheckWidth(int64_t width) const {
  for (const TreeNode& node : nodes) {
    if (node.feature >= width) {
      return InvalidArgument("nodes_featureids[", node.position, "] is ",
                             node.feature, ", wanted one of the ", width,
                             " columns of input 0");
    }
  }
  return OkStatus();
}

}  // namespace assay::reference
