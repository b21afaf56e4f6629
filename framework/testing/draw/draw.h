// SPDX-License-Identifier: Apache-2.0
//
// Draw: numbers at random that an oracle and a judge draw alike, on every
// machine, from a test_id and the run's seed.

#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "framework/core/numbers.h"
#include "framework/core/status.h"
#include "framework/core/tensor.h"

namespace assay::draw {

class Draw {
 public:
  /// Draws of two purposes have nothing in common.
  Draw(std::string_view test_id, int64_t seed, std::string_view purpose);

  /// In [0, 1), of 53 bits.
  double Uniform() { return numbers_.Share(); }
  /// In [0, n).
  int64_t Index(int64_t n) {
    return static_cast<int64_t>(numbers_.Below(static_cast<uint64_t>(n)));
  }
  bool Coin() { return numbers_.Below(2) != 0; }
  double Sign() { return Coin() ? -1 : 1; }

 private:
  core::Numbers numbers_;
};

/// True for floating-point types whose numbers are drawn, and gradients taken:
/// those of 16 bits or more.
bool Carries(DType type);

/// The elements of a tensor of a floating-point type, exactly.
std::vector<double> NumbersOf(const Tensor& tensor);

/// A tensor of these numbers, rounded to nearest, of a type that carries.
Result<Tensor> TensorOf(DType type, const Shape& shape,
                        std::span<const double> numbers);

/// The numbers from 0 to n in another order.
std::vector<int64_t> Permutation(int64_t n, Draw& draw);

/// Other numbers of the type and shape of `official`, within the range of its
/// finite numbers, no two alike where the type has as many. Where the finite
/// numbers are all one number, the range is from half of it to one and a half
/// times it, and from -1 to 1 where it is 0. Infinities and NaN stay. So
/// domains are kept, and ties are gone.
Result<Tensor> Redrawn(const Tensor& official, Draw& draw);

}  // namespace assay::draw
