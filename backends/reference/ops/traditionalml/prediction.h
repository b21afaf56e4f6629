// SPDX-License-Identifier: Apache-2.0
//
// Parts of all classifiers and regressors of ai.onnx.ml: rows of features,
// transforms of scores, the labels of classes, and probabilities from pairs of
// classes.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/reference/scalar/codec.h"
#include "backends/reference/scalar/exponentials.h"
#include "backends/reference/scalar/scalar.h"

namespace assay::reference {

/// The scalar of an input of numbers whose results are floats: double for
/// integers, and where `wide` says that a double stands among the attributes;
/// Var for all where the network is traced.
ScalarKind RealScalarOf(const LoadContext& load, Input input, bool wide);

/// Dispatch over the scalars that RealScalarOf gives.
template <class Make>
Result<Kernel> DispatchReal(const LoadContext& load, Input input, Make&& make,
                            bool wide = false) {
  switch (RealScalarOf(load, input, wide)) {
    case ScalarKind::kFloat:
      return KernelFrom(make.template operator()<float>());
    case ScalarKind::kDouble:
      return KernelFrom(make.template operator()<double>());
    case ScalarKind::kVar:
      return KernelFrom(make.template operator()<Var>());
    default:
      return DeclineType(load, input, "numbers");
  }
}

/// An input of shape [N, C], or [C], which is taken for [1, C].
struct FeatureRows {
  static Result<FeatureRows> Of(const Tensor& x);

  int64_t count = 0;
  int64_t width = 0;
};

/// In the order in which TreeEnsemble-5 counts them.
enum class PostTransform : uint8_t {
  kNone,
  kSoftmax,
  kLogistic,
  kSoftmaxZero,
  kProbit
};

/// Invalid argument, naming the attribute, for another name.
Result<PostTransform> PostTransformNamed(std::string_view name);

/// The labels of classes: integers or strings.
class ClassLabels {
 public:
  /// One and only one list has elements; invalid argument otherwise, naming
  /// classlabels_strings and the other attribute by its name.
  static Result<ClassLabels> Of(const std::vector<int64_t>& integers,
                                const std::vector<std::string>& strings,
                                std::string_view integers_name);

  int64_t size() const { return std::ssize(integers_) + std::ssize(strings_); }
  bool are_strings() const { return !strings_.empty(); }
  /// A label that is an integer.
  int64_t integer(int64_t i) const { return integers_[static_cast<size_t>(i)]; }

  /// The output of shape [N] with the label of each row's class. The class -1
  /// is that of none: 0 or the empty string.
  Status Write(KernelContext& run, Output output,
               std::span<const int64_t> classes) const;

 private:
  std::vector<int64_t> integers_;
  std::vector<std::string> strings_;
};

/// The first of the greatest; a NaN counts as greater than any number.
template <class T>
int64_t ClassOfGreatest(std::span<const T> scores) {
  Choose<T> greatest;
  for (size_t i = 0; i < scores.size(); ++i) {
    greatest.Offer(scores[i], static_cast<int64_t>(i));
  }
  return greatest.index();
}

// ONNX's text names the transforms without a formula. These are those of ONNX's
// reference implementation, aionnxml/_common_classifier.py.

// sqrt(2) erfinv(2 p - 1), the inverse of the error function being Winitzki's
// approximation with a = 0.147, and 0 where p is 0 or 1.
template <class T>
T Probit(T p) {
  const T x = T(2) * p - T(1);
  const T gap = (T(1) - x) * (T(1) + x);
  if (Equal(gap, T(0))) return T(0);
  const T a = T(147) / T(1000);
  const T pi = T(4) * atan(T(1));
  const T half_log = log(gap) * T(0.5);
  const T term = T(2) / (pi * a) + half_log;
  const T root = sqrt(sqrt(term * term - T(2) * half_log / a) - term);
  return sqrt(T(2)) * IfBefore(
                          x, T(0), [&] { return -root; }, [&] { return root; });
}

// The shift cancels in the result, so that no derivative flows through it.
template <class T>
T ScoreShift(std::span<const T> scores) {
  Choose<T> greatest;
  for (const T& score : scores) greatest.Offer(Detach(score), 0);
  return greatest.best();
}

// Softmax over the scores that are not zero, which here means within 1e-7 of
// it: those stay, scaled. Where the sum is 0 each becomes a half.
template <class T>
void SoftmaxZero(std::span<T> scores) {
  const T shift = ScoreShift<T>(scores);
  const T near = T(1) / T(10000000);
  T sum(0);
  for (T& score : scores) {
    const bool counts = Less(near, score) || Less(score, -near);
    score = counts ? T(exp(score - shift)) : T(score * exp(-shift));
    sum += score;
  }
  const bool vanishes = Equal(sum, T(0));
  for (T& score : scores) score = vanishes ? T(0.5) : T(score / sum);
}

template <class T>
void SoftmaxOfScores(std::span<T> scores) {
  const T shift = ScoreShift<T>(scores);
  T sum(0);
  for (T& score : scores) {
    score = exp(score - shift);
    sum += score;
  }
  for (T& score : scores) score = score / sum;
}

/// The scores of one row, in place.
template <class T>
void ApplyTransform(PostTransform transform, std::span<T> scores) {
  switch (transform) {
    case PostTransform::kNone:
      return;
    case PostTransform::kSoftmax:
      return SoftmaxOfScores(scores);
    case PostTransform::kSoftmaxZero:
      return SoftmaxZero(scores);
    case PostTransform::kLogistic:
      for (T& score : scores) score = Sigmoid(score);
      return;
    case PostTransform::kProbit:
      for (T& score : scores) score = Probit(score);
      return;
  }
}

/// r(i, j) is the probability of i where the class is i or j. Sought is p that
/// makes the sum over pairs of (r(j, i) p(i) - r(i, j) p(j))^2 least.
template <class T>
class PairwiseProbability {
 public:
  explicit PairwiseProbability(size_t classes)
      : classes_(classes), r_(classes * classes, T(0)) {}

  /// i and j differ; 0 < p < 1.
  void Set(size_t i, size_t j, T p) {
    r_[i * classes_ + j] = p;
    r_[j * classes_ + i] = T(1) - p;
  }

  /// Sums to 1. Stops where each class is within 0.005 / classes of the
  /// optimum's condition, or after 100 rounds, or as many as there are classes.
  std::vector<T> Solve() const {
    const std::vector<T> q = Quadratic();
    std::vector<T> p(classes_, T(1) / T(static_cast<double>(classes_)));
    const size_t rounds = std::max<size_t>(100, classes_);
    for (size_t round = 0; round < rounds; ++round) {
      std::vector<T> qp(classes_, T(0));
      T pqp(0);
      for (size_t t = 0; t < classes_; ++t) {
        for (size_t j = 0; j < classes_; ++j) {
          qp[t] += q[t * classes_ + j] * p[j];
        }
        pqp += p[t] * qp[t];
      }
      if (HasConverged(qp, pqp)) break;
      Improve(q, p, qp, pqp);
    }
    return p;
  }

 private:
  // Q(t, t) = sum of r(j, t)^2, Q(t, j) = -r(j, t) r(t, j).
  std::vector<T> Quadratic() const {
    std::vector<T> q(classes_ * classes_, T(0));
    for (size_t t = 0; t < classes_; ++t) {
      for (size_t j = 0; j < classes_; ++j) {
        if (j == t) continue;
        const T r = r_[j * classes_ + t];
        q[t * classes_ + t] += r * r;
        q[t * classes_ + j] = -r * r_[t * classes_ + j];
      }
    }
    return q;
  }

  bool HasConverged(const std::vector<T>& qp, const T& pqp) const {
    return std::ranges::all_of(qp, [&](const T& each) {
      return Less(abs(each - pqp) * T(static_cast<double>(classes_)), T(0.005));
    });
  }

  // One coordinate after the other, scaled to a sum of 1 each time.
  void Improve(const std::vector<T>& q, std::vector<T>& p, std::vector<T>& qp,
               T pqp) const {
    for (size_t t = 0; t < classes_; ++t) {
      const T own = q[t * classes_ + t];
      const T step = (pqp - qp[t]) / own;
      const T scale = T(1) + step;
      p[t] += step;
      pqp = (pqp + step * (step * own + T(2) * qp[t])) / (scale * scale);
      for (size_t j = 0; j < classes_; ++j) {
        p[j] = p[j] / scale;
        qp[j] = (qp[j] + step * q[t * classes_ + j]) / scale;
      }
    }
  }

  size_t classes_;
  std::vector<T> r_;
};

}  // namespace assay::reference
