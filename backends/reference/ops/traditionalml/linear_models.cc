// SPDX-License-Identifier: Apache-2.0
//
// LinearClassifier and LinearRegressor of ai.onnx.ml.

#include <algorithm>
#include <functional>

#include "backends/reference/families.h"
#include "backends/reference/ops/traditionalml/prediction.h"

namespace assay::reference {
namespace {

/// Rows of coefficients, each with an intercept, and what becomes of a row's
/// scores.
struct LinearModel {
  std::vector<float> coefficients;
  std::vector<float> intercepts;  // none: zeros
  PostTransform transform = PostTransform::kNone;

  /// One number for every row of coefficients, of features of that width.
  Result<int64_t> Count(int64_t width) const {
    const int64_t given = std::ssize(coefficients);
    if (width == 0 || given == 0 || given % width != 0) {
      return InvalidArgument("coefficients has ", given,
                             " elements, wanted a multiple of the ", width,
                             " columns of input 0");
    }
    if (!intercepts.empty() && std::ssize(intercepts) != given / width) {
      return InvalidArgument("intercepts has ", intercepts.size(),
                             " elements, wanted ", given / width,
                             " as coefficients has rows");
    }
    return given / width;
  }

  template <class T>
  std::vector<T> Scores(const T* row, int64_t width, int64_t count) const {
    std::vector<T> scores;
    for (int64_t e = 0; e < count; ++e) {
      const auto at = static_cast<size_t>(e);
      T score(0);
      for (int64_t i = 0; i < width; ++i) {
        score += row[i] * T(coefficients[static_cast<size_t>(e * width + i)]);
      }
      if (!intercepts.empty()) score += T(intercepts[at]);
      scores.push_back(score);
    }
    return scores;
  }
};

// ONNX page of LinearRegressor-1: X times the coefficients of each target, in
// turn, plus its intercept, and the transform over the targets.
template <class T>
Status Regress(const LinearModel& model, const op::ml::LinearRegressor& op,
               KernelContext& run) {
  ASSAY_ASSIGN_OR_RETURN(const auto rows, FeatureRows::Of(run.input(op.x)));
  ASSAY_ASSIGN_OR_RETURN(const int64_t count, model.Count(rows.width));
  if (count != op.targets) {
    return InvalidArgument("coefficients has ", count, " rows of ", rows.width,
                           ", wanted ", op.targets, " as targets");
  }
  const Loaded<T> x(run.input(op.x));
  ASSAY_ASSIGN_OR_RETURN(
      auto y, Store<T>(run, op.y, DType::kFloat32, {rows.count, count}));
  for (int64_t n = 0; n < rows.count; ++n) {
    std::vector<T> scores =
        model.Scores(x.data() + n * rows.width, rows.width, count);
    ApplyTransform<T>(model.transform, scores);
    std::ranges::copy(scores, y.data() + n * count);
  }
  return OkStatus();
}

// The page of LinearClassifier-1 says no more than "Linear classifier". As in
// ONNX's reference implementation: one row of coefficients for two classes
// scores -s and s; the label is that of the greatest score after the transform;
// and a single class is chosen from a score of 0 on, or of 0.5 where there is a
// transform. multi_class, as there, changes nothing.
template <class T>
int64_t Choice(const LinearModel& model, std::span<const T> scores) {
  if (scores.size() > 1) return ClassOfGreatest(scores);
  const T least(model.transform == PostTransform::kNone ? 0 : 0.5);
  return Less(scores[0], least) || IsNan(scores[0]) ? -1 : 0;
}

template <class T>
Status Classify(const LinearModel& model, const ClassLabels& labels,
                const op::ml::LinearClassifier& op, KernelContext& run) {
  ASSAY_ASSIGN_OR_RETURN(const auto rows, FeatureRows::Of(run.input(op.x)));
  ASSAY_ASSIGN_OR_RETURN(const int64_t count, model.Count(rows.width));
  const bool mirrored = count == 1 && labels.size() == 2;
  if (count != labels.size() && !mirrored) {
    return InvalidArgument("coefficients has ", count, " rows of ", rows.width,
                           ", wanted ", labels.size(), " as class labels");
  }
  const Loaded<T> x(run.input(op.x));
  ASSAY_ASSIGN_OR_RETURN(auto z, Store<T>(run, op.z, DType::kFloat32,
                                          {rows.count, labels.size()}));
  std::vector<int64_t> classes;
  for (int64_t n = 0; n < rows.count; ++n) {
    std::vector<T> scores =
        model.Scores(x.data() + n * rows.width, rows.width, count);
    if (mirrored) scores.insert(scores.begin(), -scores[0]);
    ApplyTransform<T>(model.transform, scores);
    classes.push_back(Choice<T>(model, scores));
    if (z.size() > 0) std::ranges::copy(scores, z.data() + n * labels.size());
  }
  return labels.Write(run, op.y, classes);
}

Result<Kernel> MakeLinearRegressor(const op::ml::LinearRegressor& op,
                                   LoadContext& load) {
  LinearModel model{op.coefficients, op.intercepts, PostTransform::kNone};
  ASSAY_ASSIGN_OR_RETURN(model.transform,
                         PostTransformNamed(op.post_transform));
  return DispatchReal(load, op.x, [&]<class T>() {
    return std::bind_front(&Regress<T>, model, op);
  });
}

Result<Kernel> MakeLinearClassifier(const op::ml::LinearClassifier& op,
                                    LoadContext& load) {
  LinearModel model{op.coefficients, op.intercepts, PostTransform::kNone};
  ASSAY_ASSIGN_OR_RETURN(model.transform,
                         PostTransformNamed(op.post_transform));
  ASSAY_ASSIGN_OR_RETURN(
      const auto labels,
      ClassLabels::Of(op.classlabels_ints, op.classlabels_strings,
                      "classlabels_ints"));
  return DispatchReal(load, op.x, [&]<class T>() {
    return std::bind_front(&Classify<T>, model, labels, op);
  });
}

}  // namespace

Family LinearModelFamily() {
  return FamilyOf(MakeLinearRegressor, MakeLinearClassifier);
}

}  // namespace assay::reference
