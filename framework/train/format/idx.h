// SPDX-License-Identifier: Apache-2.0
//
// IDX, the format of MNIST and Fashion-MNIST (Y. LeCun, C. Cortes, C. Burges,
// "The MNIST database", section "File formats"): two zeros, a type, a rank, an
// extent of 32 bits for each dimension, the most significant byte first, and
// the elements.
//
//   ASSAY_ASSIGN_OR_RETURN(const Dataset train, ReadMnist("mnist", "train"));

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "framework/core/status.h"
#include "framework/train/data/dataset.h"

namespace assay::train {

/// Elements of one byte each.
struct Idx {
  std::vector<uint32_t> dims;
  std::string elements;
};

/// A file of unsigned bytes, of rank 1 to 4. Not found; data loss for another
/// type or rank, and where the file has fewer or more elements than its extents
/// say.
Result<Idx> ReadIdx(const std::filesystem::path& path);

/// The images and labels of a folder, of `part` "train" or "t10k"; each file as
/// it is or in gzip. Not found with the names that were looked for; data loss
/// for images that are not 28 x 28 or are not as many as the labels.
Result<Dataset> ReadMnist(const std::filesystem::path& folder,
                          std::string_view part);

}  // namespace assay::train
