// SPDX-License-Identifier: Apache-2.0
//
// TreeEnsemble of ai.onnx.ml, and the deprecated TreeEnsembleRegressor and
// TreeEnsembleClassifier, over one form of trees (tree_forms.h).

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "backends/reference/families.h"
#include "backends/reference/ops/traditionalml/prediction.h"
#include "backends/reference/ops/traditionalml/tree_forms.h"
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

using SharedTrees = std::shared_ptr<const Trees>;

/// The greatest finite number of a type.
double LimitOf(DType type) {
  switch (type) {
    case DType::kFloat16:
      return 65504;
    case DType::kFloat64:
      return std::numeric_limits<double>::max();
    default:
      return std::numeric_limits<float>::max();
  }
}

// ONNX page of TreeEnsemble-5, and of TreeEnsembleRegressor-5: for each target
// the sum, average, least or greatest of the weights of the leaves that the row
// ends in, one per tree; plus the base value; then the transform over targets.
// A NaN takes the branch that nodes_missing_value_tracks_true says. The page
// does not say what the least of no weights is: as in ONNX's reference
// implementation the greatest number of the result's type.
template <class T>
Status Predict(const SharedTrees& trees, PostTransform transform, Input input,
               Output output, DType to, KernelContext& run) {
  ASSAY_ASSIGN_OR_RETURN(const auto rows, FeatureRows::Of(run.input(input)));
  ASSAY_RETURN_IF_ERROR(trees->CheckWidth(rows.width));
  const Loaded<T> x(run.input(input));
  ASSAY_ASSIGN_OR_RETURN(
      auto y, Store<T>(run, output, to, {rows.count, trees->targets}));
  for (int64_t n = 0; n < rows.count; ++n) {
    const std::span<T> scores(y.data() + n * trees->targets,
                              static_cast<size_t>(trees->targets));
    trees->Evaluate(x.data() + n * rows.width, T(LimitOf(to)), scores);
    ApplyTransform(transform, scores);
  }
  return OkStatus();
}

struct TreeClassifier {
  SharedTrees trees;
  PostTransform transform = PostTransform::kNone;
  ClassLabels labels;
  /// The one class that every leaf votes for; -1 where there are several.
  int64_t only = -1;

  /// The page of TreeEnsembleClassifier-5 does not say so, but ONNX's reference
  /// implementation: of two classes, or one, with votes for one only, the score
  /// is that of the second class.
  bool is_binary() const { return only >= 0 && labels.size() <= 2; }
  int64_t columns() const { return is_binary() ? 2 : labels.size(); }
};

// As there: without a transform, and under PROBIT, the first class has one less
// the score, else the negative score.
template <class T>
void Complete(const TreeClassifier& model, std::span<T> scores) {
  const T score = scores[static_cast<size_t>(model.only)];
  const bool probability = model.transform == PostTransform::kNone ||
                           model.transform == PostTransform::kProbit;
  scores[1] = score;
  scores[0] = probability ? T(T(1) - score) : T(-score);
}

// ONNX page of TreeEnsembleClassifier-5: the votes for each class, plus its
// base value, and the label of the greatest after the transform. A single label
// can only be 1, and stands beside 0.
template <class T>
Status ClassifyByTrees(const TreeClassifier& model,
                       const op::ml::TreeEnsembleClassifier& op,
                       KernelContext& run) {
  ASSAY_ASSIGN_OR_RETURN(const auto rows, FeatureRows::Of(run.input(op.x)));
  ASSAY_RETURN_IF_ERROR(model.trees->CheckWidth(rows.width));
  const Loaded<T> x(run.input(op.x));
  const int64_t columns = model.columns();
  ASSAY_ASSIGN_OR_RETURN(
      auto z, Store<T>(run, op.z, DType::kFloat32, {rows.count, columns}));
  std::vector<int64_t> classes;
  std::vector<T> held(static_cast<size_t>(columns));
  const std::span<T> scores(held);
  for (int64_t n = 0; n < rows.count; ++n) {
    model.trees->Evaluate(
        x.data() + n * rows.width, T(0),
        scores.first(static_cast<size_t>(model.trees->targets)));
    if (model.is_binary()) Complete(model, scores);
    ApplyTransform(model.transform, scores);
    const int64_t best = ClassOfGreatest<T>(scores);
    // One label: -1 is that of none, 0.
    classes.push_back(model.labels.size() == 1 ? best - 1 : best);
    if (z.size() > 0) std::ranges::copy(scores, z.data() + n * columns);
  }
  return model.labels.Write(run, op.y, classes);
}

int64_t OnlyClass(const std::vector<int64_t>& classes) {
  const std::set<int64_t> voted(classes.begin(), classes.end());
  return voted.size() == 1 ? *voted.begin() : -1;
}

Result<Kernel> PredictKernel(const LoadContext& load, Trees trees,
                             PostTransform transform, Input x, Output y,
                             DType to) {
  const bool wide = trees.wide;
  const auto shared = std::make_shared<const Trees>(std::move(trees));
  return DispatchReal(
      load, x,
      [&]<class T>() {
        return std::bind_front(&Predict<T>, shared, transform, x, y, to);
      },
      wide);
}

Result<Kernel> MakeTreeEnsemble(const op::ml::TreeEnsemble& op,
                                LoadContext& load) {
  if (op.post_transform < 0 || op.post_transform > 4) {
    return InvalidArgument("post_transform is ", op.post_transform,
                           ", wanted one in [0, 4]");
  }
  const DType dtype = load.dtype(op.x);
  ASSAY_ASSIGN_OR_RETURN(Trees trees, TreesOf(op, dtype));
  return PredictKernel(load, std::move(trees),
                       static_cast<PostTransform>(op.post_transform), op.x,
                       op.y, dtype);
}

Result<Kernel> MakeTreeEnsembleRegressor(
    const op::ml::TreeEnsembleRegressor& op, LoadContext& load) {
  ASSAY_ASSIGN_OR_RETURN(const auto transform,
                         PostTransformNamed(op.post_transform));
  ASSAY_ASSIGN_OR_RETURN(Trees trees, TreesOf(op));
  return PredictKernel(load, std::move(trees), transform, op.x, op.y,
                       DType::kFloat32);
}

Result<Kernel> MakeTreeEnsembleClassifier(
    const op::ml::TreeEnsembleClassifier& op, LoadContext& load) {
  TreeClassifier model;
  ASSAY_ASSIGN_OR_RETURN(model.transform,
                         PostTransformNamed(op.post_transform));
  ASSAY_ASSIGN_OR_RETURN(model.labels, ClassLabels::Of(op.classlabels_int64s,
                                                       op.classlabels_strings,
                                                       "classlabels_int64s"));
  if (model.labels.size() == 1 &&
      (model.labels.are_strings() || model.labels.integer(0) != 1)) {
    return Unsupported(Reason::kAttribute,
                       "one class label that is not the integer 1");
  }
  ASSAY_ASSIGN_OR_RETURN(Trees trees, TreesOf(op));
  const bool wide = trees.wide;
  model.trees = std::make_shared<const Trees>(std::move(trees));
  model.only = OnlyClass(op.class_ids);
  return DispatchReal(
      load, op.x,
      [&]<class T>() {
        return std::bind_front(&ClassifyByTrees<T>, model, op);
      },
      wide);
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

Family TreeEnsembleFamily() {
  return FamilyOf(MakeTreeEnsemble, MakeTreeEnsembleRegressor,
                  MakeTreeEnsembleClassifier);
}

}  // namespace assay::reference
