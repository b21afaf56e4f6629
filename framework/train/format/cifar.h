// SPDX-License-Identifier: Apache-2.0
//
// CIFAR-10 and CIFAR-100, the binary version (A. Krizhevsky, "The CIFAR-10
// dataset", section "Binary version"): records of a label, or of a coarse and a
// fine one, and 3 x 32 x 32 bytes.
//
//   ASSAY_ASSIGN_OR_RETURN(
//       const Dataset train, ReadCifar("cifar", kCifar10, kCifar10.train));

#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "framework/core/status.h"
#include "framework/train/data/dataset.h"

namespace assay::train {

/// How the records of one of the two are.
struct CifarForm {
  int64_t classes = 10;
  int64_t label_bytes = 1;  // the last of them is the label
  std::span<const std::string_view> train, test;  // files
};

inline constexpr std::string_view kCifar10Train[] = {
    "data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
    "data_batch_4.bin", "data_batch_5.bin"};
inline constexpr std::string_view kCifar10Test[] = {"test_batch.bin"};
inline constexpr std::string_view kCifar100Train[] = {"train.bin"};
inline constexpr std::string_view kCifar100Test[] = {"test.bin"};
inline constexpr CifarForm kCifar10 = {10, 1, kCifar10Train, kCifar10Test};
inline constexpr CifarForm kCifar100 = {100, 2, kCifar100Train, kCifar100Test};

/// float32[N,3,32,32]. Not found; data loss for a file that is no whole number
/// of records; invalid argument for a label that there is not.
Result<Dataset> ReadCifar(const std::filesystem::path& folder,
                          const CifarForm& form,
                          std::span<const std::string_view> files);

}  // namespace assay::train
