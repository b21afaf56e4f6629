// SPDX-License-Identifier: Apache-2.0
//
// The three operators' attributes as Trees.

#include "backends/reference/ops/traditionalml/tree_forms.h"

#include <cmath>
#include <map>
#include <optional>

#include "backends/reference/families.h"
#include "backends/reference/scalar/codec.h"

namespace assay::reference {
namespace {

/// Invalid argument unless the list has as many elements as the other; an
/// optional one may be left out.
Status CheckLength(std::string_view name, size_t length, std::string_view other,
                   size_t wanted, bool optional = false) {
  if (length == wanted || (optional && length == 0)) return OkStatus();
  return InvalidArgument(name, " has ", length, " elements, wanted ", wanted,
                         " as ", other);
}

std::vector<double> NumbersOf(const Tensor& tensor) {
  const Loaded<double> numbers(tensor);
  return {numbers.data(), numbers.data() + numbers.size()};
}

/// The value of one of two attributes: a list of floats, or a tensor.
Result<std::vector<double>> NumbersOf(std::string_view name,
                                      const std::vector<float>& floats,
                                      const std::optional<Tensor>& tensor,
                                      bool& wide) {
  if (!tensor.has_value())
    return std::vector<double>{floats.begin(), floats.end()};
  if (!floats.empty()) {
    return InvalidArgument("found ", name, " and ", name,
                           "_as_tensor, wanted one of them");
  }
  if (!IsFloatingPoint(tensor->dtype())) {
    return InvalidArgument(name, "_as_tensor is ", tensor->Signature(),
                           ", wanted floats or doubles");
  }
  wide = wide || tensor->dtype() == DType::kFloat64;
  return NumbersOf(*tensor);
}

// ONNX page of TreeEnsemble-5: the sets in the order of the nodes of mode
// BRANCH_MEMBER, delimited by NaN; behind the last one it may be left out.
Status ReadMembers(const std::optional<Tensor>& given, Trees& trees) {
  const std::vector<double> listed =
      given.has_value() ? NumbersOf(*given) : std::vector<double>();
  std::vector<Range> sets;
  Range set;
  for (const double member : listed) {
    if (std::isnan(member)) {
      sets.push_back(set);
      set.first = set.last;
    } else {
      trees.members.push_back(member);
      set.last = trees.members.size();
    }
  }
  if (set.first != set.last) sets.push_back(set);
  size_t next = 0;
  for (TreeNode& node : trees.nodes) {
    if (node.mode != TreeMode::kMember) continue;
    if (next < sets.size()) node.members = sets[next];
    ++next;
  }
  if (next == sets.size()) return OkStatus();
  return InvalidArgument("membership_values has ", sets.size(),
                         " sets, wanted ", next,
                         " as there are nodes of BRANCH_MEMBER");
}

Status CheckTensor(std::string_view name, const Tensor& tensor, DType wanted,
                   std::string_view as) {
  if (tensor.dtype() == wanted && tensor.shape().rank() == 1) return OkStatus();
  return InvalidArgument(name, " is ", tensor.Signature(), ", wanted ", wanted,
                         " along one axis", as);
}

Status CheckForm(const op::ml::TreeEnsemble& op, DType input) {
  constexpr std::string_view kInput = " as input 0";
  ASSAY_RETURN_IF_ERROR(
      CheckTensor("nodes_splits", op.nodes_splits, input, kInput));
  ASSAY_RETURN_IF_ERROR(
      CheckTensor("leaf_weights", op.leaf_weights, input, kInput));
  ASSAY_RETURN_IF_ERROR(
      CheckTensor("nodes_modes", op.nodes_modes, DType::kUint8, ""));
  if (op.membership_values.has_value()) {
    ASSAY_RETURN_IF_ERROR(
        CheckTensor("membership_values", *op.membership_values, input, kInput));
  }
  constexpr std::string_view kSplits = "nodes_splits";
  const auto count = static_cast<size_t>(op.nodes_splits.num_elements());
  const std::pair<std::string_view, size_t> lists[] = {
      {"nodes_featureids", op.nodes_featureids.size()},
      {"nodes_modes", static_cast<size_t>(op.nodes_modes.num_elements())},
      {"nodes_truenodeids", op.nodes_truenodeids.size()},
      {"nodes_falsenodeids", op.nodes_falsenodeids.size()},
      {"nodes_trueleafs", op.nodes_trueleafs.size()},
      {"nodes_falseleafs", op.nodes_falseleafs.size()},
  };
  for (const auto& [name, length] : lists) {
    ASSAY_RETURN_IF_ERROR(CheckLength(name, length, kSplits, count));
  }
  ASSAY_RETURN_IF_ERROR(CheckLength("nodes_missing_value_tracks_true",
                                    op.nodes_missing_value_tracks_true.size(),
                                    kSplits, count, /*optional=*/true));
  if (op.nodes_hitrates.has_value()) {
    ASSAY_RETURN_IF_ERROR(
        CheckLength("nodes_hitrates",
                    static_cast<size_t>(op.nodes_hitrates->num_elements()),
                    kSplits, count));
  }
  return CheckLength("leaf_targetids", op.leaf_targetids.size(), "leaf_weights",
                     static_cast<size_t>(op.leaf_weights.num_elements()));
}

/// The number of targets where the model does not say: those voted for.
int64_t TargetsOf(const std::optional<int64_t>& given,
                  const std::vector<int64_t>& targets) {
  if (given.has_value()) return *given;
  return targets.empty() ? 0 : *std::ranges::max_element(targets) + 1;
}

/// The lists that each of the two deprecated operators names with its prefix.
struct OlderVotes {
  std::string_view prefix;
  const std::vector<int64_t>& tree_ids;
  const std::vector<int64_t>& node_ids;
  const std::vector<int64_t>& targets;
  const std::vector<float>& weights;
  const std::optional<Tensor>& weights_tensor;
};

/// Turns the nodes of such an operator, some of which are leaves, into Trees.
template <class Op>
class OlderTrees {
 public:
  OlderTrees(const Op& op, const OlderVotes& votes) : op_(op), votes_(votes) {}

  Result<Trees> Read(Trees trees) {
    ASSAY_ASSIGN_OR_RETURN(splits_,
                           NumbersOf("nodes_values", op_.nodes_values,
                                     op_.nodes_values_as_tensor, trees.wide));
    ASSAY_ASSIGN_OR_RETURN(
        weights_, NumbersOf(StrCat(votes_.prefix, "_weights"), votes_.weights,
                            votes_.weights_tensor, trees.wide));
    ASSAY_ASSIGN_OR_RETURN(trees.base_values,
                           NumbersOf("base_values", op_.base_values,
                                     op_.base_values_as_tensor, trees.wide));
    ASSAY_RETURN_IF_ERROR(CheckLengths());
    ASSAY_RETURN_IF_ERROR(Place(trees));
    for (size_t i = 0; i < op_.nodes_nodeids.size(); ++i) {
      if (op_.nodes_modes[i] == "LEAF") continue;
      ASSAY_RETURN_IF_ERROR(ReadNode(i, trees));
    }
    // In the order of their ids, as ONNX's reference implementation adds them.
    for (const auto& [id, first] : roots_) trees.roots.push_back(first);
    ASSAY_RETURN_IF_ERROR(ReadVotes(trees));
    return trees;
  }

 private:
  Status CheckLengths() const {
    const size_t nodes = op_.nodes_nodeids.size();
    const std::pair<std::string_view, size_t> lists[] = {
        {"nodes_treeids", op_.nodes_treeids.size()},
        {"nodes_featureids", op_.nodes_featureids.size()},
        {"nodes_modes", op_.nodes_modes.size()},
        {"nodes_truenodeids", op_.nodes_truenodeids.size()},
        {"nodes_falsenodeids", op_.nodes_falsenodeids.size()},
        {"nodes_values", splits_.size()},
    };
    for (const auto& [name, length] : lists) {
      ASSAY_RETURN_IF_ERROR(CheckLength(name, length, "nodes_nodeids", nodes));
    }
    const auto& tensor = op_.nodes_hitrates_as_tensor;
    const std::pair<std::string_view, size_t> optional_lists[] = {
        {"nodes_missing_value_tracks_true",
         op_.nodes_missing_value_tracks_true.size()},
        {"nodes_hitrates", tensor.has_value()
                               ? static_cast<size_t>(tensor->num_elements())
                               : op_.nodes_hitrates.size()},
    };
    for (const auto& [name, length] : optional_lists) {
      ASSAY_RETURN_IF_ERROR(CheckLength(name, length, "nodes_nodeids", nodes,
                                        /*optional=*/true));
    }
    const std::pair<std::string_view, size_t> tuples[] = {
        {"_treeids", votes_.tree_ids.size()},
        {"_nodeids", votes_.node_ids.size()},
        {"_weights", weights_.size()},
    };
    for (const auto& [name, length] : tuples) {
      ASSAY_RETURN_IF_ERROR(CheckLength(StrCat(votes_.prefix, name), length,
                                        StrCat(votes_.prefix, "_ids"),
                                        votes_.targets.size()));
    }
    return OkStatus();
  }

  using Id = std::pair<int64_t, int64_t>;  // of the tree, of the node in it

  /// Gives every node and leaf its index. The first node of a tree is its root,
  /// which ONNX's reference implementation says, not ONNX's text.
  Status Place(Trees& trees) {
    for (size_t i = 0; i < op_.nodes_nodeids.size(); ++i) {
      const bool is_leaf = op_.nodes_modes[i] == "LEAF";
      const Branch branch{is_leaf, is_leaf ? std::ssize(trees.leaves)
                                           : std::ssize(trees.nodes)};
      if (is_leaf) {
        trees.leaves.emplace_back();
      } else {
        trees.nodes.emplace_back();
      }
      const Id id{op_.nodes_treeids[i], op_.nodes_nodeids[i]};
      if (!placed_.emplace(id, branch).second) {
        return InvalidArgument("nodes_nodeids[", i, "] is ", id.second,
                               " again in tree ", id.first,
                               ", wanted each once");
      }
      roots_.emplace(id.first, branch);
    }
    return OkStatus();
  }

  Result<Branch> Follow(std::string_view attribute, size_t i,
                        const std::vector<int64_t>& ids) const {
    const auto found = placed_.find({op_.nodes_treeids[i], ids[i]});
    if (found != placed_.end()) return found->second;
    return InvalidArgument(attribute, "[", i, "] is ", ids[i],
                           ", wanted a node of tree ", op_.nodes_treeids[i]);
  }

  Status ReadNode(size_t i, Trees& trees) const {
    constexpr std::string_view kModes[] = {"BRANCH_LEQ", "BRANCH_LT",
                                           "BRANCH_GTE", "BRANCH_GT",
                                           "BRANCH_EQ",  "BRANCH_NEQ"};
    const auto* const mode = std::ranges::find(kModes, op_.nodes_modes[i]);
    if (mode == std::end(kModes)) {
      return InvalidArgument("nodes_modes[", i, "] is '", op_.nodes_modes[i],
                             "', wanted LEAF or BRANCH_ and one of LEQ, LT, "
                             "GTE, GT, EQ, NEQ");
    }
    const Branch place =
        placed_.at({op_.nodes_treeids[i], op_.nodes_nodeids[i]});
    TreeNode& node = trees.nodes[static_cast<size_t>(place.index)];
    node.mode = static_cast<TreeMode>(mode - std::begin(kModes));
    node.feature = op_.nodes_featureids[i];
    node.split = splits_[i];
    node.nan_is_true = !op_.nodes_missing_value_tracks_true.empty() &&
                       op_.nodes_missing_value_tracks_true[i] != 0;
    node.position = static_cast<int64_t>(i);
    ASSAY_ASSIGN_OR_RETURN(
        node.when_true, Follow("nodes_truenodeids", i, op_.nodes_truenodeids));
    ASSAY_ASSIGN_OR_RETURN(node.when_false, Follow("nodes_falsenodeids", i,
                                                   op_.nodes_falsenodeids));
    return OkStatus();
  }

  /// The votes of each leaf, in their order. One at an interior node says
  /// nothing, as in ONNX's reference implementation.
  Status ReadVotes(Trees& trees) const {
    std::vector<std::vector<Vote>> votes(trees.leaves.size());
    for (size_t i = 0; i < votes_.targets.size(); ++i) {
      const auto found = placed_.find({votes_.tree_ids[i], votes_.node_ids[i]});
      if (found == placed_.end()) {
        return InvalidArgument(votes_.prefix, "_nodeids[", i, "] is ",
                               votes_.node_ids[i], ", wanted a node of tree ",
                               votes_.tree_ids[i]);
      }
      if (found->second.is_leaf) {
        votes[static_cast<size_t>(found->second.index)].push_back(
            {votes_.targets[i], weights_[i]});
      }
    }
    for (size_t i = 0; i < votes.size(); ++i) {
      trees.leaves[i].first = trees.votes.size();
      trees.votes.insert(trees.votes.end(), votes[i].begin(), votes[i].end());
      trees.leaves[i].last = trees.votes.size();
    }
    return trees.Check();
  }

  const Op& op_;
  const OlderVotes& votes_;
  std::vector<double> splits_;
  std::vector<double> weights_;
  std::map<Id, Branch> placed_;
  std::map<int64_t, Branch> roots_;
};

}  // namespace

Result<Trees> TreesOf(const op::ml::TreeEnsemble& op, DType input) {
  ASSAY_RETURN_IF_ERROR(CheckForm(op, input));
  Trees trees;
  const std::vector<double> splits = NumbersOf(op.nodes_splits);
  const auto modes = op.nodes_modes.elements<uint8_t>();
  for (size_t i = 0; i < splits.size(); ++i) {
    if (modes[i] > static_cast<uint8_t>(TreeMode::kMember)) {
      return InvalidArgument("nodes_modes[", i, "] is ", int{modes[i]},
                             ", wanted one in [0, 6]");
    }
    const auto& nan = op.nodes_missing_value_tracks_true;
    trees.nodes.push_back(
        {.mode = static_cast<TreeMode>(modes[i]),
         .feature = op.nodes_featureids[i],
         .split = splits[i],
         .nan_is_true = !nan.empty() && nan[i] != 0,
         .when_true = {op.nodes_trueleafs[i] != 0, op.nodes_truenodeids[i]},
         .when_false = {op.nodes_falseleafs[i] != 0, op.nodes_falsenodeids[i]},
         .position = static_cast<int64_t>(i)});
  }
  ASSAY_RETURN_IF_ERROR(ReadMembers(op.membership_values, trees));
  for (const double weight : NumbersOf(op.leaf_weights)) {
    const size_t i = trees.votes.size();
    trees.leaves.push_back({i, i + 1});
    trees.votes.push_back({op.leaf_targetids[i], weight});
  }
  for (const int64_t root : op.tree_roots) trees.roots.push_back({false, root});
  trees.targets = TargetsOf(op.n_targets, op.leaf_targetids);
  if (op.aggregate_function < 0 || op.aggregate_function > 3) {
    return InvalidArgument("aggregate_function is ", op.aggregate_function,
                           ", wanted one in [0, 3]");
  }
  trees.aggregate = static_cast<Aggregate>(op.aggregate_function);
  ASSAY_RETURN_IF_ERROR(trees.Check());
  return trees;
}

Result<Trees> TreesOf(const op::ml::TreeEnsembleRegressor& op) {
  ASSAY_ASSIGN_OR_RETURN(const size_t aggregate,
                         WordOf("aggregate_function", op.aggregate_function,
                                {"AVERAGE", "SUM", "MIN", "MAX"}));
  Trees trees;
  trees.aggregate = static_cast<Aggregate>(aggregate);
  trees.targets = TargetsOf(op.n_targets, op.target_ids);
  const OlderVotes votes = {"target",          op.target_treeids,
                            op.target_nodeids, op.target_ids,
                            op.target_weights, op.target_weights_as_tensor};
  return OlderTrees(op, votes).Read(std::move(trees));
}

Result<Trees> TreesOf(const op::ml::TreeEnsembleClassifier& op) {
  Trees trees;
  trees.targets =
      std::ssize(op.classlabels_int64s) + std::ssize(op.classlabels_strings);
  const OlderVotes votes = {"class",          op.class_treeids,
                            op.class_nodeids, op.class_ids,
                            op.class_weights, op.class_weights_as_tensor};
  return OlderTrees(op, votes).Read(std::move(trees));
}

}  // namespace assay::reference
