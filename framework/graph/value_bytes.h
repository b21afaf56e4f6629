// SPDX-License-Identifier: Apache-2.0
//
// Values as the bytes of ONNX's data files, of every kind; ReadValue in model.h
// reads them back.

#pragma once

#include <string>

#include "framework/core/status.h"
#include "framework/core/value.h"

namespace assay::graph {

/// A TensorProto, SparseTensorProto, SequenceProto, OptionalProto or MapProto.
/// Invalid argument for an absent value, resource exhausted for one of more
/// than 2 GiB, protobuf's limit.
Result<std::string> SerializeValue(const Value& value, const std::string& name);

}  // namespace assay::graph
