// SPDX-License-Identifier: Apache-2.0
//
// Draws for gradients, beside numbers of a range (framework/testing/draw):
// inputs with ties, integers, cotangents.
//
//   Draw draw(row.test_id, facts.seed, "inputs");
//   ASSAY_ASSIGN_OR_RETURN(Tensor x, Integers(official, draw));

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/testing/draw/draw.h"

namespace assay::gradcheck {

using draw::Carries;
using draw::Draw;
using draw::NumbersOf;
using draw::Redrawn;
using draw::TensorOf;

/// Integers from -2 to 2.
Result<Tensor> Integers(const Tensor& official, Draw& draw);

/// Draws from few values, so that most numbers tie: -1, -0, 0, 0.5, 1, 2 and
/// the `marks` with both signs.
Result<Tensor> Tied(const Tensor& official, std::span<const double> marks,
                    Draw& draw);

/// Copies `drawn`, and overwrites each element with a chance of three in four
/// by the element at the same flat index of one of `others`, drawn for each
/// element. An index beyond the end starts again at 0. No tensor of `others`
/// is empty.
Result<Tensor> Met(const Tensor& drawn, std::span<const Tensor> others,
                   Draw& draw);

/// Numbers of size 1 to 2, of either sign and so many significant bits.
std::vector<double> Weights(int64_t count, int bits, Draw& draw);

/// 1 or -1 each, so that no element counts less than another (Rademacher).
std::vector<double> Signs(int64_t count, Draw& draw);

}  // namespace assay::gradcheck
