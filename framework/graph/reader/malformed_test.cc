// SPDX-License-Identifier: Apache-2.0
//
// Bytes that are no model, or nearly one: each must come back as a status.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>

#include "framework/graph/model.h"
#include "framework/graph/operator.h"
#include "framework/graph/reader/proto_text.h"

namespace assay::reader {
namespace {

using ::testing::HasSubstr;

constexpr char kText[] = R"(
    g (bool c, float[2,N] x) => (float[2,N] y)
    <float[2] w = {1, 2}, int64[1] a = {0}> {
      s = Softmax <axis = 1> (x)
      t = Split <axis = 0, num_outputs = 1> (s)
      y = If(c) <
        then_branch = p () => (float[2,N] r) { q = Squeeze(t, a) r = Relu(q) },
        else_branch = e () => (float[2,N] r) { r = test.f <k = 2> (t) } >
    }
    <domain: "test", opset_import: ["" : 28]>
    f <k> (u) => (v) { v = Concat <axis: int = @k> (u, u) })";

/// Takes a model through all that this library does with one.
Status ReadFully(const std::string& bytes) {
  ASSAY_ASSIGN_OR_RETURN(auto model, Model::Parse(BytesOf(bytes)));
  ASSAY_ASSIGN_OR_RETURN(Graph typed, InferTypes(*model));
  return ToCurrentOpset(std::move(typed)).status();
}

TEST(Malformed, TheUnbrokenModelIsRead) {
  const Status status = ReadFully(ProtoOf(kText).SerializeAsString());
  EXPECT_TRUE(status.ok()) << status.ToString();
}

TEST(Malformed, EveryPrefixOfAModelIsHandled) {
  const std::string whole = ProtoOf(kText).SerializeAsString();
  int failed = 0;
  for (size_t size = 0; size < whole.size(); ++size) {
    failed += ReadFully(whole.substr(0, size)).ok() ? 0 : 1;
  }
  // A cut between two fields of the outermost message may still be a model.
  EXPECT_GT(failed, static_cast<int>(whole.size()) - 20);
}

TEST(Malformed, EveryChangedByteIsHandled) {
  const std::string whole = ProtoOf(kText).SerializeAsString();
  const char values[] = {'\x00', '\x01', '\x7F', '\x80', '\xFF'};
  int failed = 0;
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const char value : values) {
      std::string changed = whole;
      changed[at] = value;
      failed += ReadFully(changed).ok() ? 0 : 1;
    }
  }
  EXPECT_GT(failed, 0);
}

TEST(Malformed, RandomBytesAreHandled) {
  std::mt19937 random(1234);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes(random() % 64, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    EXPECT_FALSE(ReadFully(bytes).ok());
    for (const ValueKind kind :
         {ValueKind::kTensor, ValueKind::kSparseTensor, ValueKind::kSequence,
          ValueKind::kOptional, ValueKind::kMap}) {
      ValueType type;
      type.kind = kind;
      const auto value = ParseValue(BytesOf(bytes), type);
      EXPECT_TRUE(!value.ok() || value->kind() == kind);
    }
  }
}

TEST(Malformed, AWrongWireTypeIsNoModel) {
  // Field 7 (graph) as a varint, and as a group that does not end.
  for (const std::string& bytes :
       {std::string("\x38\x01"), std::string("\x3B\x08\x01")}) {
    EXPECT_FALSE(Model::Parse(BytesOf(bytes)).ok());
  }
}

TEST(Malformed, DeepNestingIsRefused) {
  onnx::ModelProto proto;
  proto.set_ir_version(10);
  auto* import = proto.add_opset_import();
  import->set_version(28);
  onnx::GraphProto* graph = proto.mutable_graph();
  for (int depth = 0; depth < 1000; ++depth) {
    onnx::NodeProto* node = graph->add_node();
    node->set_op_type("If");
    onnx::AttributeProto* attribute = node->add_attribute();
    attribute->set_name("then_branch");
    attribute->set_type(onnx::AttributeProto::GRAPH);
    graph = attribute->mutable_g();
  }
  const Status status = ParseProto(proto).status();
  EXPECT_EQ(status.code(), StatusCode::kDataLoss);
  EXPECT_THAT(status.message(), HasSubstr("nested too deep"));
}

}  // namespace
}  // namespace assay::reader
