// SPDX-License-Identifier: Apache-2.0

#include "perf/problems/inputs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "framework/core/numbers.h"

namespace assay::problems {
namespace {

/// The least number of rows of the tables among the inputs.
int64_t RowsOf(const Made& made) {
  int64_t rows = std::numeric_limits<int64_t>::max();
  for (const ValueType& input : made.inputs) {
    const Shape shape = input.StaticShape().value_or(Shape());
    if (shape.rank() == 2 && IsFloatingPoint(input.dtype)) {
      rows = std::min(rows, shape[0]);
    }
  }
  return rows;
}

/// The greatest number of an input.
double ScaleOf(const Problem& problem, size_t input) {
  const auto* const layer = std::get_if<Recurrent>(&problem.of);
  if (layer == nullptr || input == 0) return 1;
  return 1 / std::sqrt(static_cast<double>(layer->hidden));
}

/// A number for each place of a tensor, which hangs on nothing but the key and
/// the place.
template <class T>
class Numbers {
 public:
  /// float: in [-scale, scale); int64_t: in [0, scale).
  Numbers(uint64_t key, double scale) : key_(key), scale_(scale) {}

  T operator()(int64_t place) const {
    const double share =
        static_cast<double>(core::KeyOf(key_, place) >> 11U) * 0x1p-53;
    if constexpr (std::is_same_v<T, float>) {
      return static_cast<float>(scale_ * (2 * share - 1));
    }
    return static_cast<T>(scale_ * share);
  }

 private:
  uint64_t key_;
  double scale_;
};

template <class T>
void FillAll(const Numbers<T>& numbers, Tensor* tensor) {
  int64_t place = 0;
  for (T& x : tensor->mutable_elements<T>()) x = numbers(place++);
}

/// Fills a tensor with the numbers at places of one of that shape.
template <class T>
void FillAt(const Numbers<T>& numbers, const Shape& whole, const Places& places,
            Tensor* tensor) {
  for (int64_t i = 0; i < tensor->num_elements(); ++i) {
    int64_t rest = i;
    int64_t at = 0;
    int64_t step = 1;
    bool is_zero = false;
    for (size_t axis = places.size(); axis-- > 0;) {
      const auto count = std::ssize(places[axis]);
      const int64_t place = places[axis][static_cast<size_t>(rest % count)];
      is_zero = is_zero || place == kZero;
      at += place * step;
      step *= whole[static_cast<int>(axis)];
      rest /= count;
    }
    if (!is_zero) {
      tensor->mutable_elements<T>()[static_cast<size_t>(i)] = numbers(at);
    }
  }
}

template <class T>
Result<Tensor> Drawn(const ValueType& type, const Numbers<T>& numbers,
                     const Places& places) {
  Shape shape = *type.StaticShape();
  if (places.empty()) {
    ASSAY_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(type.dtype, shape));
    FillAll(numbers, &tensor);
    return tensor;
  }
  std::vector<int64_t> extents;
  for (const auto& axis : places) extents.push_back(std::ssize(axis));
  ASSAY_ASSIGN_OR_RETURN(Tensor tensor,
                         Tensor::Allocate(type.dtype, Shape(extents)));
  FillAt(numbers, shape, places, &tensor);
  return tensor;
}

}  // namespace

Result<std::vector<Value>> DrawInputs(const Problem& problem, const Made& made,
                                      uint64_t key) {
  return DrawAt(problem, made, key, std::vector<Places>(made.inputs.size()));
}

Result<std::vector<Value>> DrawAt(const Problem& problem, const Made& made,
                                  uint64_t key,
                                  std::span<const Places> places) {
  std::vector<Value> inputs;
  for (size_t i = 0; i < made.inputs.size(); ++i) {
    const ValueType& type = made.inputs[i];
    const uint64_t own = core::KeyOf(key, static_cast<int64_t>(i));
    if (type.dtype == DType::kFloat32) {
      const Numbers<float> numbers(own, ScaleOf(problem, i));
      ASSAY_ASSIGN_OR_RETURN(inputs.emplace_back(),
                             Drawn(type, numbers, places[i]));
    } else if (type.dtype == DType::kInt64) {
      const Numbers<int64_t> numbers(own, static_cast<double>(RowsOf(made)));
      ASSAY_ASSIGN_OR_RETURN(inputs.emplace_back(),
                             Drawn(type, numbers, places[i]));
    } else {
      return Unsupported(Reason::kDType, "no numbers are drawn for ",
                         type.ToString(), ", wanted float32 or int64");
    }
  }
  return inputs;
}

}  // namespace assay::problems
