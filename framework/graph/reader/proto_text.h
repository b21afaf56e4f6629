// SPDX-License-Identifier: Apache-2.0
//
// Models for tests, written in ONNX's text form and changed as messages.
//
//   onnx::ModelProto proto = ProtoOf("g (float[2] x) => (float[2] y) "
//                                    "{ y = Relu(x) }");
//   proto.mutable_graph()->mutable_node(0)->clear_op_type();
//   EXPECT_FALSE(ParseProto(proto).ok());

#pragma once

#include <memory>
#include <span>
#include <stdexcept>
#include <string>

#include "framework/graph/model.h"
#include "onnx/defs/parser.h"
#include "onnx/onnx_pb.h"

namespace assay::reader {

/// `text` is a graph, and functions after it; opset 28 unless told.
inline onnx::ModelProto ProtoOf(const std::string& text, int opset = 28) {
  const std::string model =
      StrCat("<ir_version: 10, opset_import: [\"\" : ", opset,
             ", \"test\" : 1]>\n", text);
  onnx::ModelProto proto;
  const auto status = onnx::OnnxParser::Parse(proto, model.c_str());
  if (!status.IsOK()) throw std::invalid_argument(status.ErrorMessage());
  return proto;
}

template <class Proto>
std::span<const std::byte> BytesOf(const Proto& serialized) {
  return std::as_bytes(std::span(serialized));
}

inline Result<std::shared_ptr<const Model>> ParseProto(
    const onnx::ModelProto& proto,
    const std::filesystem::path& directory = {}) {
  const std::string bytes = proto.SerializeAsString();
  return Model::Parse(BytesOf(bytes), directory);
}

/// The model of a text that is known to be right.
inline std::shared_ptr<const Model> ModelOf(const std::string& text,
                                            int opset = 28) {
  auto model = ParseProto(ProtoOf(text, opset));
  if (!model.ok()) throw std::invalid_argument(model.status().ToString());
  return *model;
}

}  // namespace assay::reader
