// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/draw/draw.h"

#include <iterator>

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

}  // namespace assay::gradcheck
