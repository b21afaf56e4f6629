// SPDX-License-Identifier: Apache-2.0
//
// Models made from models, for cases that need more than their files hold.

#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/graph/model.h"

namespace assay::edit {

/// The model whose named values of the main graph are fixed to these tensors:
/// what computed them goes, and what was an initializer is replaced. Its graph
/// has the types that inference finds, its bytes are those of such a model.
/// Not found for a name that the graph does not have, invalid argument for a
/// tensor of another type, or for a node that computes other values as well.
Result<std::shared_ptr<const Model>> WithInitializers(
    const Model& model, const std::map<std::string, Tensor>& values);

/// The model with `type` wherever it says float32: declared types, constants,
/// and the targets of Cast and its like. `type` is float64, float16 or
/// bfloat16; constants are rounded to it. A value that some operator reads or
/// computes in float32 alone, such as the scales of Resize, stays so.
Result<std::shared_ptr<const Model>> Retyped(const Model& model, DType type);

/// A TensorProto with raw data, as data files hold it. Not for strings.
Result<std::vector<std::byte>> SerializeTensor(const Tensor& tensor,
                                               const std::string& name);

}  // namespace assay::edit
