// SPDX-License-Identifier: Apache-2.0
//
// Sparse tensors: those of data files, and those of models, which are dense.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "framework/graph/model.h"
#include "framework/graph/reader/proto_text.h"
#include "framework/testing/support/statuses_fixture.h"
#include "onnx/onnx-data.pb.h"

namespace assay::reader {
namespace {

using onnx::TensorProto;
using ::testing::ElementsAre;

/// A tensor of numbers as bytes.
TensorProto TensorOf(DType type, const std::vector<int64_t>& dims,
                     const std::string& bytes) {
  TensorProto proto;
  proto.set_data_type(static_cast<int>(type));
  for (const int64_t dim : dims) proto.add_dims(dim);
  proto.set_raw_data(bytes);
  return proto;
}

TensorProto Coordinates(const std::vector<int64_t>& dims,
                        const std::vector<int64_t>& entries) {
  return TensorOf(DType::kInt64, dims,
                  {reinterpret_cast<const char*>(entries.data()),
                   entries.size() * sizeof(int64_t)});
}

std::vector<int> Dense(const Tensor& tensor) {
  std::vector<int> numbers;
  for (const std::byte byte : tensor.bytes()) {
    numbers.push_back(std::to_integer<int>(byte));
  }
  return numbers;
}

TEST(SparseReading, ChecksCoordinates) {
  const struct {
    std::vector<int64_t> index_dims;
    std::vector<int64_t> indices;
    std::string message;  // empty: good
  } rows[] = {
      {{2}, {1, 5}, ""},
      {{2, 2}, {0, 1, 1, 2}, ""},
      {{2}, {1, 6}, "has index 6, wanted 0 to 5"},
      {{2}, {-1, 5}, "has index -1"},
      {{2, 2}, {0, 1, 0, 3}, "has index 3, wanted 0 to 2"},
      {{2}, {5, 1}, "do not ascend at value 1"},
      {{2}, {1, 1}, "do not ascend"},
      {{1},
       {1},
       "wanted a rank of at least 1, [n], and int64[n] or int64[n,rank]"},
  };
  for (const auto& row : rows) {
    onnx::SparseTensorProto proto;
    *proto.mutable_values() = TensorOf(DType::kUint8, {2}, "\1\2");
    *proto.mutable_indices() = Coordinates(row.index_dims, row.indices);
    proto.add_dims(2);
    proto.add_dims(3);
    ValueType type;
    type.kind = ValueKind::kSparseTensor;
    const std::string bytes = proto.SerializeAsString();
    const auto value = ParseValue(BytesOf(bytes), type);
    EXPECT_EQ(value.ok(), row.message.empty()) << row.message;
    EXPECT_THAT(value, Says(row.message));
    if (!value.ok()) continue;
    EXPECT_EQ(value->sparse()->shape, Shape({2, 3}));
  }
}

/// y = Identity(w) of a sparse w [2,3] whose values are at `places`.
onnx::ModelProto SparseModel(const TensorProto& values,
                             const std::vector<int64_t>& places,
                             const std::vector<int64_t>& dims = {2, 3}) {
  onnx::ModelProto model =
      ProtoOf("g () => (uint8[2,3] y) { y = Identity(w) }");
  auto* const sparse = model.mutable_graph()->add_sparse_initializer();
  *sparse->mutable_values() = values;
  sparse->mutable_values()->set_name("w");
  const auto count = static_cast<int64_t>(places.size());
  *sparse->mutable_indices() = Coordinates({count}, places);
  for (const int64_t dim : dims) sparse->add_dims(dim);
  return model;
}

TEST(SparseReading, AModelHasDenseTensors) {
  const struct {
    TensorProto values;
    std::vector<int64_t> places;
    std::vector<int> bytes;
  } rows[] = {
      {TensorOf(DType::kUint8, {2}, "\7\11"), {1, 5}, {0, 7, 0, 0, 0, 9}},
      {TensorOf(DType::kFloat16, {1}, std::string("\0\x3C", 2)),
       {2},
       {0, 0, 0, 0, 0, 0x3C, 0, 0, 0, 0, 0, 0}},
      {TensorOf(DType::kInt4, {3}, "\x3F\x05"), {0, 3, 4}, {0x0F, 0x30, 0x05}},
      {TensorOf(DType::kFloat6E2M3, {1}, "\x3F"), {1}, {0xC0, 0x0F, 0, 0, 0}},
      {TensorOf(DType::kBool, {0}, ""), {}, {0, 0, 0, 0, 0, 0}},
  };
  for (const auto& row : rows) {
    const auto model = Got(ParseProto(SparseModel(row.values, row.places)));
    const Tensor& w = *model->graph().initializers.at(0).value.tensor();
    EXPECT_EQ(w.shape(), Shape({2, 3}));
    EXPECT_EQ(Dense(w), row.bytes) << w.dtype();
    // Whoever reads the bytes finds the same model.
    const auto again = Got(Model::Parse(model->bytes()));
    EXPECT_EQ(Dense(*again->graph().initializers.at(0).value.tensor()),
              row.bytes);
  }
}

TEST(SparseReading, PlacesStringsAndCoordinatePairs) {
  TensorProto values;
  values.set_data_type(TensorProto::STRING);
  values.add_dims(2);
  values.add_string_data("a");
  values.add_string_data("b");
  onnx::ModelProto model = SparseModel(values, {});
  *model.mutable_graph()->mutable_sparse_initializer(0)->mutable_indices() =
      Coordinates({2, 2}, {0, 2, 1, 0});
  const auto read = Got(ParseProto(model));
  EXPECT_THAT(read->graph().initializers.at(0).value.tensor()->strings(),
              ElementsAre("", "", "a", "b", "", ""));
  // No coordinates are needed of no values.
  onnx::ModelProto none = SparseModel(TensorOf(DType::kInt8, {0}, ""), {});
  none.mutable_graph()->mutable_sparse_initializer(0)->clear_indices();
  EXPECT_TRUE(ParseProto(none).ok());
}

TEST(SparseReading, AConstantsIsItsValue) {
  const onnx::ModelProto sparse =
      SparseModel(TensorOf(DType::kUint8, {1}, "\7"), {4});
  onnx::ModelProto model = ProtoOf(R"(
      g (bool c) => (uint8[2,3] y) {
        y = If(c) <
          then_branch = t () => (uint8[2,3] r) { r = Constant() },
          else_branch = e () => (uint8[2,3] r) { r = test.f <v = 1> () } > }
      <domain: "test", opset_import: ["" : 28]>
      f <v> () => (b) { b = Constant <sparse_value: tensor = @v> () })");
  auto* const branch = model.mutable_graph()->mutable_node(0);
  auto* const constant =
      branch->mutable_attribute(0)->mutable_g()->mutable_node(0);
  auto* const call = branch->mutable_attribute(1)->mutable_g()->mutable_node(0);
  model.mutable_functions(0)->mutable_node(0)->mutable_attribute(0)->set_type(
      onnx::AttributeProto::SPARSE_TENSOR);
  auto* const value = constant->add_attribute();
  value->set_name("sparse_value");
  value->set_type(onnx::AttributeProto::SPARSE_TENSOR);
  *value->mutable_sparse_tensor() = sparse.graph().sparse_initializer(0);
  *call->mutable_attribute(0) = *value;
  call->mutable_attribute(0)->set_name("v");
  const auto read = Got(ParseProto(model));
  const Node& chosen = read->graph().nodes[0];
  for (const auto& [graph, name] : {std::pair{chosen.Subgraphs()[0], "value"},
                                    std::pair{chosen.Subgraphs()[1], "v"}}) {
    const Attribute* const held = graph->nodes[0].Find(name);
    ASSERT_NE(held, nullptr) << name;
    EXPECT_THAT(Dense(std::get<Tensor>(held->held)),
                ElementsAre(0, 0, 0, 0, 7, 0));
  }
  EXPECT_EQ(read->functions()[0].body->nodes[0].Find("value")->ref, "v");
}

TEST(SparseReading, RefusesWhatHasNoDenseForm) {
  const TensorProto one = TensorOf(DType::kUint8, {1}, "\7");
  const struct {
    onnx::ModelProto model;
    std::string message;
  } rows[] = {
      {SparseModel(one, {6}),
       "graph 'g': sparse tensor 'w': has index 6, wanted 0 to 5"},
      {SparseModel(one, {0}, {}), "wanted a rank of at least 1"},
      {SparseModel(one, {0}, {1 << 20, 1 << 20}),
       "sparse tensor 'w': has 1099511627776 elements of uint8, wanted at most "
       "2147483647 bytes when dense"},
      {SparseModel(TensorOf(DType::kFloat8E8M0, {1}, "\x7F"), {0}),
       "leaves out zeros, which float8e8m0 does not have"},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(ParseProto(row.model), Says(row.message)) << row.message;
  }
}

}  // namespace
}  // namespace assay::reader
