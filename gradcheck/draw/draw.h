// SPDX-License-Identifier: Apache-2.0
//
// Draw: numbers at random that an oracle and a judge draw alike, on every
// machine, from a test_id and the run's seed.
//
//   Draw draw(row.test_id, facts.seed, "inputs");
//   ASSAY_ASSIGN_OR_RETURN(Tensor x, Redrawn(official, draw));

#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <string_view>
#include <vector>

#include "framework/core/status.h"
#include "framework/core/tensor.h"

namespace assay::gradcheck {

class Draw {
 public:
  /// Draws of two purposes have nothing in common.
  Draw(std::string_view test_id, int64_t seed, std::string_view purpose);

  /// In [0, 1), of 53 bits.
  double Uniform() { return static_cast<double>(bits_() >> 11) * 0x1p-53; }
  /// In [0, n).
  int64_t Index(int64_t n);
  bool Coin() { return (bits_() & 1) != 0; }
  double Sign() { return Coin() ? -1 : 1; }

 private:
  std::mt19937_64 bits_;
};

/// True for floating-point types that gradients are taken in: 16 bits or more.
bool Carries(DType type);

/// The elements of a tensor of such a type, exactly.
std::vector<double> NumbersOf(const Tensor& tensor);

/// A tensor of these numbers, rounded to nearest.
Result<Tensor> TensorOf(DType type, const Shape& shape,
                        std::span<const double> numbers);

/// Other numbers of the same type and shape within the range of the finite ones
/// of `official`, no two alike where the type has as many; from half of it to one
/// and a half times it where all are one number, -1 to 1 where that is 0. What
/// is not finite stays. So domains are kept, and ties are gone.
Result<Tensor> Redrawn(const Tensor& official, Draw& draw);

/// Integers from -2 to 2.
Result<Tensor> Integers(const Tensor& official, Draw& draw);

/// Numbers of a few values, so that most have their like: -1, -0, 0, 0.5, 1, 2
/// and the `marks` with both signs.
Result<Tensor> Tied(const Tensor& official, std::span<const double> marks,
                    Draw& draw);

/// `drawn`, of whose elements three of four are those of one of `others` at its
/// place in row-major order, which goes round in a shorter one: so are all of a
/// scalar. `others` have elements.
Result<Tensor> Met(const Tensor& drawn, std::span<const Tensor> others,
                   Draw& draw);

/// Numbers of size 1 to 2, of either sign and so many significant bits.
std::vector<double> Weights(int64_t count, int bits, Draw& draw);

/// 1 or -1 each, so that no element counts less than another (Rademacher).
std::vector<double> Signs(int64_t count, Draw& draw);

}  // namespace assay::gradcheck
