// SPDX-License-Identifier: Apache-2.0
//
// The parts of our form turned back into ONNX's messages, for what ONNX's
// library is asked about them. Included by sources of framework/graph only:
// protobuf is hidden in the core.

#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "framework/graph/model.h"
#include "onnx/onnx-data.pb.h"
#include "onnx/onnx_pb.h"

namespace assay {
namespace [[gnu::visibility("hidden")]] graph {

/// By ValueId: the names of a graph's values in the message; "" for none.
using Names = std::vector<std::string>;

void WriteType(const ValueType& type, onnx::TypeProto& proto);

/// A value's name, and its type where it is known.
void WriteInfo(const std::string& name, const ValueType& type,
               onnx::ValueInfoProto& proto);

void WriteTensor(const Tensor& tensor, onnx::TensorProto& proto);

void WriteSparse(const SparseTensor& sparse, onnx::SparseTensorProto& proto);

/// Adds a tensor by that name; of another value nothing.
void WriteInitializer(const Value& value, const std::string& name,
                      onnx::GraphProto& proto);

/// The node with its attributes; subgraphs give their own values names that
/// none of `names` is.
void WriteNode(const Node& node, const Names& names, onnx::NodeProto& proto);

/// Erases messages of a repeated field.
template <class Repeated, class Predicate>
void EraseIf(Repeated* repeated, const Predicate& predicate) {
  repeated->erase(std::remove_if(repeated->begin(), repeated->end(), predicate),
                  repeated->end());
}

}  // namespace graph
}  // namespace assay
