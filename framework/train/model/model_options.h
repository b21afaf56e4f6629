// SPDX-License-Identifier: Apache-2.0
//
// ModelOptions: what a model is to be made for.
//
//   const ModelOptions cifar{.seed = 7, .image = {3, 32, 32}, .classes = 10};

#pragma once

#include <array>
#include <cstdint>

#include "framework/core/dtype.h"

namespace assay::train {

struct ModelOptions {
  uint64_t seed = 0;
  DType type = DType::kFloat32;                // or kFloat64
  std::array<int64_t, 3> image = {1, 28, 28};  // channels, rows, columns
  int64_t classes = 10;
};

}  // namespace assay::train
