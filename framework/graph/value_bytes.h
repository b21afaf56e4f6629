// SPDX-License-Identifier: Apache-2.0
//
// Values as the bytes of ONNX's data files, of every kind; ReadValue in model.h
// reads them back.
//
//   ASSAY_ASSIGN_OR_RETURN(const std::string bytes, SerializeValue(y, "y"));
//   ASSAY_RETURN_IF_ERROR(
//       file::WriteFile("test_data_set_0/output_0.pb", bytes));

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
