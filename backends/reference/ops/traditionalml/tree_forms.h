// SPDX-License-Identifier: Apache-2.0
//
// Trees: what TreeEnsemble-5 and the two deprecated operators before it all
// are, in one form. Interior nodes compare a feature with a number or a set,
// leaves vote for targets with weights.

#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "backends/reference/scalar/scalar.h"
#include "framework/core/status.h"
#include "framework/graph/generated/operators.h"

namespace assay::reference {

/// In the order in which TreeEnsemble-5 counts them.
enum class TreeMode : uint8_t { kLeq, kLt, kGte, kGt, kEq, kNeq, kMember };
enum class Aggregate : uint8_t { kAverage, kSum, kMin, kMax };

/// Where a comparison, or the search, leads: a leaf or a node.
struct Branch {
  bool is_leaf = false;
  int64_t index = 0;  // of Trees::leaves or Trees::nodes
};

/// A half-open range of another list.
struct Range {
  size_t first = 0;
  size_t last = 0;
};

struct TreeNode {
  TreeMode mode = TreeMode::kLeq;
  int64_t feature = 0;
  double split = 0;
  Range members;  // of Trees::members, where the mode is kMember
  bool nan_is_true = false;
  Branch when_true;
  Branch when_false;
  int64_t position = 0;  // among the model's nodes_*: for messages
};

struct Vote {
  int64_t target = 0;
  double weight = 0;
};

struct Trees {
  std::vector<TreeNode> nodes;
  std::vector<Range> leaves;  // of votes
  std::vector<Vote> votes;
  std::vector<double> members;
  std::vector<Branch> roots;
  int64_t targets = 0;
  Aggregate aggregate = Aggregate::kSum;
  /// Added to each target; one for all, one for each, or none.
  std::vector<double> base_values;
  /// True when a number among the attributes is a double.
  bool wide = false;

  /// Invalid argument, naming the attribute and the position, for a branch out
  /// of range, a negative feature, a vote for no target, or a walk that would
  /// never end.
  Status Check() const;

  /// Invalid argument where a row of so many features has not all compared.
  Status CheckWidth(int64_t width) const;

  /// The votes of the leaves that a row ends in, by target: `scores` has
  /// `targets` elements. `limit` is the greatest finite number of the result's
  /// type, which the minimum of no votes is; the maximum is its negative.
  template <class T>
  void Evaluate(const T* row, const T& limit, std::span<T> scores) const;

 private:
  template <class T>
  bool Compare(const TreeNode& node, const T& x) const;
  template <class T>
  Range LeafOf(const T* row, Branch at) const;
};

// NaN has been seen to before.
template <class T>
bool Trees::Compare(const TreeNode& node, const T& x) const {
  const T split(node.split);
  switch (node.mode) {
    case TreeMode::kLeq:
      return !Less(split, x);
    case TreeMode::kLt:
      return Less(x, split);
    case TreeMode::kGte:
      return !Less(x, split);
    case TreeMode::kGt:
      return Less(split, x);
    case TreeMode::kEq:
      return Equal(x, split);
    case TreeMode::kNeq:
      return !Equal(x, split);
    case TreeMode::kMember:
      break;
  }
  return std::any_of(
      members.begin() + static_cast<std::ptrdiff_t>(node.members.first),
      members.begin() + static_cast<std::ptrdiff_t>(node.members.last),
      [&](double member) { return Equal(x, T(member)); });
}

template <class T>
Range Trees::LeafOf(const T* row, Branch at) const {
  while (!at.is_leaf) {
    const TreeNode& node = nodes[static_cast<size_t>(at.index)];
    const T& x = row[node.feature];
    const bool is_true = IsNan(x) ? node.nan_is_true : Compare(node, x);
    at = is_true ? node.when_true : node.when_false;
  }
  return leaves[static_cast<size_t>(at.index)];
}

template <class T>
void Trees::Evaluate(const T* row, const T& limit, std::span<T> scores) const {
  const T start = aggregate == Aggregate::kMin   ? limit
                  : aggregate == Aggregate::kMax ? T(-limit)
                                                 : T(0);
  std::ranges::fill(scores, start);
  for (const Branch& root : roots) {
    const Range leaf = LeafOf(row, root);
    for (size_t i = leaf.first; i < leaf.last; ++i) {
      T& score = scores[static_cast<size_t>(votes[i].target)];
      const T weight(votes[i].weight);
      score = aggregate == Aggregate::kMin   ? Min(score, weight)
              : aggregate == Aggregate::kMax ? Max(score, weight)
                                             : T(score + weight);
    }
  }
  for (size_t i = 0; i < scores.size(); ++i) {
    if (aggregate == Aggregate::kAverage && !roots.empty()) {
      scores[i] = scores[i] / T(static_cast<double>(roots.size()));
    }
    if (!base_values.empty()) {
      scores[i] += T(base_values[base_values.size() == 1 ? 0 : i]);
    }
  }
}

/// The operators as trees, checked. Invalid argument for lists of different
/// lengths, unknown modes, and whatever Check finds.
Result<Trees> TreesOf(const op::ml::TreeEnsemble& op, DType input);
Result<Trees> TreesOf(const op::ml::TreeEnsembleRegressor& op);
Result<Trees> TreesOf(const op::ml::TreeEnsembleClassifier& op);

}  // namespace assay::reference
