// SPDX-License-Identifier: Apache-2.0
//
// A model that needs no other file, its external data in its bytes; and one
// whose weights stand in a file beside it.

#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/graph/model.h"

namespace assay::edit {

/// The serialized model with its external data in it; empty for one without
/// any, whose own bytes are whole. Resource exhausted for more than 2 GiB,
/// protobuf's limit.
Result<std::string> WholeModel(const Model& model);

/// A model that needs no other file, as it can be handed over.
struct Parted {
  std::string bytes;  // empty: the model's own are whole
  /// Values of inputs of the model of these bytes, which are its initializers.
  std::map<std::string, Tensor> beside;
};

/// As WholeModel, but where that would have more than `most` bytes, which
/// protobuf cannot read, initializers in external data are inputs of the model,
/// and their values stand beside it.
Result<Parted> PartedModel(const Model& model,
                           uint64_t most = std::numeric_limits<int>::max());

/// Tensors of numbers by name.
using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

/// The bytes of a file of external data: one tensor after the other, each at a
/// multiple of 64 bytes.
std::string ExternalData(const NamedTensors& tensors);

/// The serialized model whose inputs of these names are initializers, in this
/// order, their data in a file as ExternalData lays it out, and which imports
/// no domain that it has no node of. Not found for a name that is no input.
Result<std::string> WithDataIn(const std::string& location, const Model& model,
                               const NamedTensors& tensors);

/// The files of external data that initializers of the main graph name, each
/// once.
Result<std::vector<std::string>> ExternalFiles(const Model& model);

}  // namespace assay::edit
