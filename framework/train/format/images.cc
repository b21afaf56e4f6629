// SPDX-License-Identifier: Apache-2.0

#include "framework/train/format/images.h"

#include <algorithm>
#include <utility>

namespace assay::train {

Result<Dataset> ImagesOf(const std::filesystem::path& path,
                         std::string_view pixels,
                         const std::vector<int64_t>& labels,
                         const std::vector<int64_t>& dims, int64_t classes) {
  std::vector<int64_t> shape = {std::ssize(labels)};
  shape.insert(shape.end(), dims.begin(), dims.end());
  ASSAY_ASSIGN_OR_RETURN(Tensor inputs,
                         Tensor::Allocate(DType::kFloat32, Shape(shape)));
  std::ranges::transform(
      pixels, inputs.mutable_elements<float>().begin(), [](char pixel) {
        return static_cast<float>(static_cast<unsigned char>(pixel)) / 255;
      });
  ASSAY_ASSIGN_OR_RETURN(
      Tensor classes_of,
      Tensor::Of<int64_t>(Shape({std::ssize(labels)}), labels));
  auto dataset = Dataset::Of(std::move(inputs), std::move(classes_of), classes);
  if (!dataset.ok()) return dataset.status().WithContext(path.string());
  return dataset;
}

}  // namespace assay::train
