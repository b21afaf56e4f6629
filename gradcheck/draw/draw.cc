// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/draw/draw.h"

#include <iterator>
#include <utility>

namespace assay::gradcheck {

Result<Tensor> Integers(const Tensor& official, Draw& draw) {
  std::vector<double> numbers(static_cast<size_t>(official.num_elements()));
  for (double& x : numbers) x = static_cast<double>(draw.Index(5) - 2);
  return TensorOf(official.dtype(), official.shape(), numbers);
}

Result<Tensor> Tied(const Tensor& official, std::span<const double> marks,
                    Draw& draw) {
  std::vector<double> values = {-1, -0.0, 0, 0.5, 1, 2};
  for (const double mark : marks) values.insert(values.end(), {mark, -mark});
  std::vector<double> numbers(static_cast<size_t>(official.num_elements()));
  for (double& x : numbers) {
    x = values[static_cast<size_t>(draw.Index(std::ssize(values)))];
  }
  return TensorOf(official.dtype(), official.shape(), numbers);
}

Result<Tensor> Met(const Tensor& drawn, std::span<const Tensor> others,
                   Draw& draw) {
  std::vector<double> numbers = NumbersOf(drawn);
  std::vector<std::vector<double>> of_others;
  for (const Tensor& other : others) of_others.push_back(NumbersOf(other));
  for (size_t i = 0; i < numbers.size(); ++i) {
    const auto& other =
        of_others[static_cast<size_t>(draw.Index(std::ssize(of_others)))];
    if (draw.Index(4) != 0) numbers[i] = other[i % other.size()];
  }
  return TensorOf(drawn.dtype(), drawn.shape(), numbers);
}

std::vector<double> Weights(int64_t count, int bits, Draw& draw) {
  std::vector<double> numbers(static_cast<size_t>(count));
  const int64_t steps = int64_t{1} << (bits - 1);
  for (double& x : numbers) {
    x = draw.Sign() * (1 + static_cast<double>(draw.Index(steps)) /
                               static_cast<double>(steps));
  }
  return numbers;
}

std::vector<double> Signs(int64_t count, Draw& draw) {
  std::vector<double> numbers(static_cast<size_t>(count));
  for (double& x : numbers) x = draw.Sign();
  return numbers;
}

std::string_view ToString(Cotangent kind) {
  constexpr std::string_view kNames[] = {"random 1", "random 2", "ones",
                                         "one-hot"};
  static_assert(std::size(kNames) == kCotangents.size());
  return kNames[static_cast<size_t>(kind)];
}

Result<std::vector<Value>> CotangentsOf(Cotangent kind,
                                        std::span<const int> bits,
                                        std::span<const Shape> shapes,
                                        Draw draw) {
  int64_t total = 0;
  for (size_t i = 0; i < shapes.size(); ++i) {
    if (bits[i] > 0) total += *shapes[i].NumElements();
  }
  // The index of the 1 of one-hot, counted down to its tensor.
  int64_t hot = total > 0 ? draw.Index(total) : 0;
  std::vector<Value> cotangents(shapes.size());
  for (size_t i = 0; i < shapes.size(); ++i) {
    if (bits[i] == 0) continue;
    const int64_t count = *shapes[i].NumElements();
    std::vector<double> numbers;
    if (kind == Cotangent::kOnes) {
      numbers.assign(static_cast<size_t>(count), 1);
    } else if (kind == Cotangent::kOneHot) {
      numbers.assign(static_cast<size_t>(count), 0);
      if (hot >= 0 && hot < count) numbers[static_cast<size_t>(hot)] = 1;
      hot -= count;
    } else {
      numbers = Weights(count, bits[i], draw);
    }
    ASSAY_ASSIGN_OR_RETURN(cotangents[i],
                           Tensor::Of<double>(shapes[i], numbers));
  }
  return cotangents;
}

Result<std::vector<Value>> TangentsOf(std::span<const Shape> shapes,
                                      Draw draw) {
  std::vector<Value> tangents;
  for (const Shape& shape : shapes) {
    ASSAY_ASSIGN_OR_RETURN(
        Tensor tangent,
        Tensor::Of<double>(shape, Signs(*shape.NumElements(), draw)));
    tangents.emplace_back(std::move(tangent));
  }
  return tangents;
}

}  // namespace assay::gradcheck
