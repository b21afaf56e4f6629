// SPDX-License-Identifier: Apache-2.0
//
// Probabilities of classes from those between each two of them: the second
// method of Wu, Lin and Weng, "Probability Estimates for Multi-class
// Classification by Pairwise Coupling" (2004), with libsvm's stopping rule.
//
//   PairwiseProbability<float> pairs(2);
//   pairs.Set(0, 1, 0.75F);  // of class 0, where it is 0 or 1
//   pairs.Solve();           // {0.75, 0.25}

#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "backends/reference/scalar/scalar.h"

namespace assay::reference {

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
