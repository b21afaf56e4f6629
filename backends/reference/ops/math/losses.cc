// SPDX-License-Identifier: Apache-2.0
//
// NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss. Sources: their pages,
// versions 22 and 13.

#include <algorithm>
#include <functional>
#include <optional>

#include "backends/reference/families.h"
#include "backends/reference/kernel/gradient.h"
#include "backends/reference/loop/nest.h"
#include "backends/reference/ops/math/softmax.h"
#include "backends/reference/scalar/codec.h"
#include "backends/reference/scalar/scalar.h"

namespace assay::reference {
namespace {

enum class Reduction : uint8_t { kNone, kSum, kMean };

Result<Reduction> ParseReduction(const std::string& name) {
  ASSAY_ASSIGN_OR_RETURN(const size_t word,
                         WordOf("reduction", name, {"none", "sum", "mean"}));
  return static_cast<Reduction>(word);
}

/// The shared parts of the two losses, with the names that each gives it.
struct LossNode {
  Input scores, labels, weights;
  Output loss;
  std::string_view scores_name, labels_name, weights_name;
  std::optional<int64_t> ignore_index;
  Reduction reduction = Reduction::kMean;
};

/// Scores are [images, classes, places], labels [images, places].
struct LossPlan {
  int64_t images = 0;
  int64_t classes = 0;
  int64_t places = 0;
  Shape labels;
};

template <class Context>
Result<LossPlan> PlanLoss(const LossNode& node, const Context& run) {
  const Shape& scores = run.input(node.scores).shape();
  const Shape& labels = run.input(node.labels).shape();
  if (scores.rank() < 2) {
    return InvalidArgument("input ", node.scores_name, " of shape ",
                           scores.ToString(), ", wanted at least two axes");
  }
  Dims extents = scores.dims();
  extents.erase(extents.begin() + 1);
  const Shape wanted(extents);
  if (labels != wanted) {
    return InvalidArgument("input ", node.labels_name, " of shape ",
                           labels.ToString(), ", wanted ", wanted.ToString());
  }
  const Shape& weights = run.input(node.weights).shape();
  if (node.weights.present && weights != Shape{scores[1]}) {
    return InvalidArgument("input ", node.weights_name, " of shape ",
                           weights.ToString(), ", wanted ",
                           Shape{scores[1]}.ToString());
  }
  return LossPlan{scores[0], scores[1], Extent(scores, 2, scores.rank()),
                  wanted};
}

// loss[n][d] = -log_prob[n][c][d] * weight[c] with c = labels[n][d]; "zero for
// the case when target-value equals ignore_index". A mean is the sum of losses
// by the sum of the weights of what is not ignored.
template <class T>
Status StoreLoss(const LossNode& node, const LossPlan& plan, const T* log_prob,
                 KernelContext& run) {
  const Loaded<int64_t> labels(run.input(node.labels));
  const Loaded<T> weights(run.input(node.weights));
  Scratch<T> losses(static_cast<size_t>(labels.size()), T(0));
  T total_weight(0);
  int64_t counted = 0;
  for (int64_t i = 0; i < labels.size(); ++i) {
    const int64_t label = labels[i];
    if (label == node.ignore_index) continue;
    if (label < 0 || label >= plan.classes) {
      return InvalidArgument("input ", node.labels_name, " has the value ",
                             label, ", wanted one in [0, ", plan.classes,
                             ") or the ignore_index");
    }
    const int64_t image = i / plan.places;
    T& loss = losses[static_cast<size_t>(i)];
    loss = -log_prob[(image * plan.classes + label) * plan.places +
                     i % plan.places];
    ++counted;
    if (weights.data() == nullptr) continue;
    loss = loss * weights[label];
    total_weight += weights[label];
  }
  const bool reduces = node.reduction != Reduction::kNone;
  ASSAY_ASSIGN_OR_RETURN(
      auto y, Store<T>(run, node.loss, run.input(node.scores).dtype(),
                       reduces ? Shape{} : plan.labels));
  if (!reduces) {
    std::ranges::copy(losses, y.data());
    return OkStatus();
  }
  T sum(0);
  for (const T loss : losses) sum += loss;
  if (node.reduction == Reduction::kMean) {
    sum = sum / (weights.data() == nullptr ? T(counted) : total_weight);
  }
  y[0] = sum;
  return OkStatus();
}

template <class T>
Status LogLikelihood(const LossNode& node, KernelContext& run) {
  ASSAY_ASSIGN_OR_RETURN(const auto plan, PlanLoss(node, run));
  const Loaded<T> log_prob(run.input(node.scores));
  return StoreLoss(node, plan, log_prob.data(), run);
}

// LogSoftmax(scores) along axis 1, which the view is of.
template <class T>
Scratch<T> LogProbabilities(const Loaded<T>& scores, const AxisView& view) {
  Scratch<T> log_prob(static_cast<size_t>(scores.size()));
  view.ForEachLine([&](int64_t start) {
    LogSoftmax(scores.data() + start, log_prob.data() + start, view.count,
               view.inner);
  });
  return log_prob;
}

template <class T>
Status CrossEntropy(const LossNode& node, Output output, KernelContext& run) {
  ASSAY_ASSIGN_OR_RETURN(const auto plan, PlanLoss(node, run));
  const Tensor& input = run.input(node.scores);
  const Loaded<T> scores(input);
  ASSAY_ASSIGN_OR_RETURN(const auto view, AxisView::Of(input.shape(), 1));
  const Scratch<T> log_prob = LogProbabilities(scores, view);
  ASSAY_ASSIGN_OR_RETURN(auto stored,
                         Store<T>(run, output, input.dtype(), input.shape()));
  if (stored.data() != nullptr) std::ranges::copy(log_prob, stored.data());
  return StoreLoss(node, plan, log_prob.data(), run);
}

/// The flow into each label that is not ignored, and into the sum of weights.
struct LossFlow {
  LossFlow(const LossNode& node, const LossPlan& plan, const double* log_prob,
           const GradientContext& run)
      : labels(run.input(node.labels)),
        weights(run.input(node.weights)),
        dy(FlowInto(run, node.loss)),
        ignored(node.ignore_index),
        classes(plan.classes),
        places(plan.places) {
    if (node.reduction != Reduction::kMean || dy.data() == nullptr) return;
    // Each class is counted: additions of one weight again and again round
    // the same way.
    Scratch<int64_t> counts(static_cast<size_t>(classes), 0);
    double sum = 0;
    ForEach([&](int64_t, int64_t label, int64_t at) {
      sum -= log_prob[at] * WeightOf(label);
      ++counts[static_cast<size_t>(label)];
    });
    double total = 0;
    for (int64_t label = 0; label < classes; ++label) {
      const auto count =
          static_cast<double>(counts[static_cast<size_t>(label)]);
      if (count != 0) total += count * WeightOf(label);
    }
    divisor = total;
    into_weights = -sum / total / total * dy[0];
  }

  /// Calls visit(i, label, at) for each label, of the score at `at`.
  template <class Visit>
  void ForEach(const Visit& visit) const {
    for (int64_t i = 0; i < labels.size(); ++i) {
      if (labels[i] == ignored) continue;
      const int64_t line = i / places * classes + labels[i];
      visit(i, labels[i], line * places + i % places);
    }
  }
  double WeightOf(int64_t label) const {
    return weights.data() == nullptr ? 1 : weights[label];
  }
  double Into(int64_t i) const {
    return (dy.size() == 1 ? dy[0] : dy[i]) / divisor;
  }

  Loaded<int64_t> labels;
  Loaded<double> weights;
  Loaded<double> dy;
  std::optional<int64_t> ignored;
  int64_t classes;
  int64_t places;
  double divisor = 1;
  double into_weights = 0;  // each that is counted
};

/// Adds what flows into the loss to what flows into the log-probabilities,
/// unless it is null, and to the gradient of the weights.
Status FlowFromLoss(const LossNode& node, const LossPlan& plan,
                    const double* log_prob, double* into_log_prob,
                    GradientContext& run) {
  ASSAY_ASSIGN_OR_RETURN(auto dweights, GradientOf<double>(run, node.weights));
  const LossFlow flow(node, plan, log_prob, run);
  if (flow.dy.data() == nullptr) return OkStatus();
  flow.ForEach([&](int64_t i, int64_t label, int64_t at) {
    const double into = flow.Into(i);
    if (into == 0) return;
    if (into_log_prob != nullptr) {
      into_log_prob[at] -= Flow(into, flow.WeightOf(label));
    }
    if (dweights.data() == nullptr) return;
    dweights[label] += flow.into_weights - Flow(into, log_prob[at]);
  });
  return OkStatus();
}

Status LogLikelihoodBackward(const LossNode& node, GradientContext& run) {
  ASSAY_ASSIGN_OR_RETURN(const auto plan, PlanLoss(node, run));
  const Loaded<double> log_prob(run.input(node.scores));
  ASSAY_ASSIGN_OR_RETURN(auto dscores, GradientOf<double>(run, node.scores));
  return FlowFromLoss(node, plan, log_prob.data(), dscores.data(), run);
}

Status CrossEntropyBackward(const LossNode& node, Output log_prob_output,
                            GradientContext& run) {
  ASSAY_ASSIGN_OR_RETURN(const auto plan, PlanLoss(node, run));
  const Tensor& input = run.input(node.scores);
  const Loaded<double> scores(input);
  ASSAY_ASSIGN_OR_RETURN(const auto view, AxisView::Of(input.shape(), 1));
  const Scratch<double> log_prob = LogProbabilities(scores, view);
  Scratch<double> flows =
      FlowOrZeros(run, log_prob_output, std::ssize(log_prob));
  ASSAY_RETURN_IF_ERROR(
      FlowFromLoss(node, plan, log_prob.data(), flows.data(), run));
  ASSAY_ASSIGN_OR_RETURN(auto dscores, GradientOf<double>(run, node.scores));
  if (dscores.data() == nullptr) return OkStatus();
  view.ForEachLine([&](int64_t start) {
    if (!AnyFlow(flows.data() + start, view.count, view.inner)) return;
    LogSoftmaxBackward(scores.data() + start, flows.data() + start,
                       dscores.data() + start, view.count, view.inner);
  });
  return OkStatus();
}

Result<Kernel> MakeNegativeLogLikelihoodLoss(
    const op::NegativeLogLikelihoodLoss& op, LoadContext& load) {
  ASSAY_ASSIGN_OR_RETURN(const auto reduction, ParseReduction(op.reduction));
  const LossNode node = {op.input, op.target,       op.weight,
                         op.loss,  "input",         "target",
                         "weight", op.ignore_index, reduction};
  return Dispatch(load, op.input, kFloats, [&]<class T>() -> Kernel {
    return {.forward = std::bind_front(&LogLikelihood<Wide<T>>, node),
            .backward = std::bind_front(&LogLikelihoodBackward, node)};
  });
}

Result<Kernel> MakeSoftmaxCrossEntropyLoss(
    const op::SoftmaxCrossEntropyLoss& op, LoadContext& load) {
  ASSAY_ASSIGN_OR_RETURN(const auto reduction, ParseReduction(op.reduction));
  const LossNode node = {op.scores, op.labels,       op.weights,
                         op.output, "scores",        "labels",
                         "weights", op.ignore_index, reduction};
  return Dispatch(load, op.scores, kFloats, [&]<class T>() -> Kernel {
    return {
        .forward = std::bind_front(&CrossEntropy<Wide<T>>, node, op.log_prob),
        .backward = std::bind_front(&CrossEntropyBackward, node, op.log_prob)};
  });
}

}  // namespace

Family LossFamily() {
  return FamilyOf(MakeNegativeLogLikelihoodLoss, MakeSoftmaxCrossEntropyLoss);
}

}  // namespace assay::reference
