// SPDX-License-Identifier: Apache-2.0

#include "framework/train/format/drawn.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "framework/core/numbers.h"

namespace assay::train {

Result<Dataset> DrawnImages(int64_t samples, uint64_t seed) {
  constexpr int64_t kClasses = 10, kPixels = 28 * 28;
  core::Numbers patterns(core::KeyOf(seed, 0)), noise(core::KeyOf(seed, 1));
  std::array<std::array<double, kPixels>, kClasses> means;
  for (auto& pattern : means) {
    for (double& mean : pattern) mean = 2 * patterns.Share() - 1;
  }
  ASSAY_ASSIGN_OR_RETURN(
      Tensor images, Tensor::Allocate(DType::kFloat32, {samples, 1, 28, 28}));
  auto pixel = images.mutable_elements<float>().begin();
  std::vector<int64_t> labels;
  for (int64_t n = 0; n < samples; ++n) {
    labels.push_back(static_cast<int64_t>(noise.Below(kClasses)));
    for (const double mean : means[static_cast<size_t>(labels.back())]) {
      const double drawn = 2 * noise.Share() - 1;
      *pixel++ = static_cast<float>((mean + drawn) / 2);
    }
  }
  ASSAY_ASSIGN_OR_RETURN(Tensor classes,
                         Tensor::Of<int64_t>({samples}, labels));
  return Dataset::Of(std::move(images), std::move(classes), kClasses);
}

}  // namespace assay::train
