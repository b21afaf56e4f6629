// SPDX-License-Identifier: Apache-2.0
//
// MakeDataset: a dataset as a person names it, in its two parts.
//
//   ASSAY_ASSIGN_OR_RETURN(const Split digits, MakeDataset("digits", place));
//   digits.train.samples();   // 4000

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

}  // namespace assay::train
