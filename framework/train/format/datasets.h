// SPDX-License-Identifier: Apache-2.0
//
// MakeDataset: a dataset as a person names it, in its two parts.

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "framework/core/status.h"
#include "framework/train/data/dataset.h"

namespace assay::train {

/// Where datasets are that nobody gives a folder for, and how they are split or
/// drawn.
struct DatasetOptions {
  std::filesystem::path folder;
  uint64_t seed = 0;
};

/// "digits", "drawn", "mnist:DIR", "fashion:DIR", "cifar10:DIR" or
/// "cifar100:DIR". Invalid argument for another name, with those that there
/// are; as the readers decline.
Result<Split> MakeDataset(std::string_view name, const DatasetOptions& options);

/// "digits, drawn, mnist:DIR, ...", for help.
std::string DatasetNames();

/// Images of a seed: ten patterns, and samples that are one of them with noise.
/// A network learns them in few steps, and no file has to be there.
/// float32[N,1,28,28] of ten classes, the same on every machine.
Result<Dataset> DrawnImages(int64_t samples, uint64_t seed);

}  // namespace assay::train
