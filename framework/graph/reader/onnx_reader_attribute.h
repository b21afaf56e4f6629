// SPDX-License-Identifier: Apache-2.0
//
// ReadAttribute: one attribute of a node or the default of a function's.
//
//   ASSAY_ASSIGN_OR_RETURN(Attribute a, ReadAttribute(proto, external, read));
//
// Subgraphs are read by the caller's function, which knows the scope they
// stand in.

#pragma once

#include <functional>

#include "framework/graph/reader/onnx_reader.h"

namespace assay::reader {

using SubgraphReader = std::function<Result<Graph>(const onnx::GraphProto&)>;

Result<Attribute> ReadAttribute(const onnx::AttributeProto& proto,
                                const External& external,
                                const SubgraphReader& read_subgraph);

}  // namespace assay::reader
