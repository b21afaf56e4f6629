// SPDX-License-Identifier: Apache-2.0
//
// TensorFile: named tensors with notes in one file, in the safetensors format
// (huggingface/safetensors, README, "Format"): the size of a header, the header
// in JSON, and the elements in little endian order.

#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/core/status.h"
#include "framework/core/tensor.h"

namespace assay::train {

struct TensorFile {
  std::vector<std::pair<std::string, Tensor>> tensors;
  std::map<std::string, std::string> notes;

  /// Null where there is none of the name.
  const Tensor* Find(std::string_view name) const;
};

/// The bytes of the file. Tensors of float32, float64 and int64; unsupported
/// for another type. `room` is memory to use again, such as that of the last
/// file.
Result<std::string> TensorFileBytes(const TensorFile& file,
                                    std::string room = {});

/// As TensorFileBytes; resource exhausted as WriteFile: the old file then
/// stays.
Status WriteTensorFile(const std::filesystem::path& path,
                       const TensorFile& file);

/// Not found for a missing file; data loss, with the place, for a header that
/// is no JSON, that claims what the file does not have, or whose tensors
/// overlap or leave bytes out. Memory is taken for what the file has and not
/// for what it claims.
Result<TensorFile> ReadTensorFile(const std::filesystem::path& path);

}  // namespace assay::train
