// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <vector>

#include "framework/core/text.h"
#include "gradcheck/draw/draw.h"
#include "gradcheck/structure/structure.h"

namespace assay::gradcheck {
namespace {

constexpr int64_t kMostElements = 1'000'000;

int64_t Elements(std::span<const Value> values) {
  int64_t count = 0;
  for (const Value& value : values) {
    if (value.present()) count += value.tensor()->num_elements();
  }
  return count;
}

/// Sums of rows. Wider than float64, so that they round nothing that counts.
class Rows {
 public:
  explicit Rows(std::span<const Value> gradients) : gradients_(gradients) {
    for (const Value& gradient : gradients) {
      sums_.emplace_back(
          static_cast<size_t>(gradient.tensor()->num_elements()));
    }
  }

  /// A row that has not the shapes of the gradients is left to Sums.
  void Add(double weight, std::span<const Value> row) {
    for (size_t t = 0; t < row.size(); ++t) {
      const std::vector<double> numbers = NumbersOf(*row[t].tensor());
      const size_t count = std::min(numbers.size(), sums_[t].size());
      for (size_t i = 0; i < count; ++i) {
        sums_[t][i] += static_cast<long double>(weight) * numbers[i];
      }
    }
  }

  Result<std::vector<Value>> Sums() const {
    std::vector<Value> values;
    for (size_t t = 0; t < sums_.size(); ++t) {
      const Tensor& like = *gradients_[t].tensor();
      const std::vector<double> numbers(sums_[t].begin(), sums_[t].end());
      ASSAY_ASSIGN_OR_RETURN(Tensor sum,
                             TensorOf(like.dtype(), like.shape(), numbers));
      values.emplace_back(std::move(sum));
    }
    return values;
  }

 private:
  std::span<const Value> gradients_;
  std::vector<std::vector<long double>> sums_;
};

}  // namespace

Result<std::optional<std::string>> JacobianFault(Trial& trial,
                                                 const Judged& judged) {
  const int64_t n_out = Elements(judged.dy);
  const int64_t n_widest = std::max(n_out, Elements(judged.gradients));
  if (n_out > kMostElements / std::max<int64_t>(n_widest, 1)) {
    return std::optional<std::string>();
  }
  Rows rows(judged.gradients);
  std::vector<Value> hot(judged.dy.size());
  for (size_t k = 0; k < hot.size(); ++k) {
    if (!judged.dy[k].present()) continue;
    const Tensor& dy = *judged.dy[k].tensor();
    std::vector<double> one(static_cast<size_t>(dy.num_elements()));
    for (size_t i = 0; i < one.size(); ++i) {
      one[i] = 1;
      ASSAY_ASSIGN_OR_RETURN(hot[k], Tensor::Of<double>(dy.shape(), one));
      one[i] = 0;
      ASSAY_ASSIGN_OR_RETURN(const auto row,
                             trial.Backward(hot, trial.targets()));
      rows.Add(dy.elements<double>()[i], row);
    }
    hot[k] = Value();
  }
  ASSAY_ASSIGN_OR_RETURN(const std::vector<Value> sums, rows.Sums());
  const Beside beside = judged.Hold(sums);
  return std::optional(
      beside.fault.empty()
          ? std::string()
          : StrCat("summed over one-hot cotangents, ", beside.fault));
}

}  // namespace assay::gradcheck
