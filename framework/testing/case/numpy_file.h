// SPDX-License-Identifier: Apache-2.0
//
// NumpyArray: an array in NumPy's own files, .npy and .npz, as people keep the
// data of their models.
//
//   ASSAY_ASSIGN_OR_RETURN(const auto arrays, ReadNumpy("inputs.npz"));
//   ASSAY_ASSIGN_OR_RETURN(Tensor x, arrays[0].As(DType::kFloat32));

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "framework/core/dtype.h"
#include "framework/core/shape.h"
#include "framework/core/status.h"
#include "framework/core/tensor.h"

namespace assay::cases {

struct NumpyArray {
  std::string name;   // in an .npz; of an .npy none
  std::string where;  // the file, and the array in it: for messages
  std::string descr;  // "<f4"
  Shape shape;
  std::vector<std::byte> data;  // in row-major order

  /// A tensor of the type that the array has; of `wanted` where the file has
  /// that type's bytes without its name, as NumPy writes bfloat16. Invalid
  /// argument for a type that is none of numbers or booleans.
  Result<Tensor> As(DType wanted) const;

  /// The arrays along the first axis, as onnx/models packs inputs of one shape
  /// into one.
  Result<std::vector<NumpyArray>> Parts() const;
};

/// The array of an .npy, or those of an .npz in its order. Not found, data loss
/// for a file that is torn, invalid argument for what NumPy pickles, for
/// big-endian numbers and for an archive of 4 GiB or more.
Result<std::vector<NumpyArray>> ReadNumpy(const std::filesystem::path& file);

}  // namespace assay::cases
