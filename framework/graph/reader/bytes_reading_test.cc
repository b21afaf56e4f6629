// SPDX-License-Identifier: Apache-2.0
//
// Bytes of values, and bytes that are no model, or nearly one: each of these
// must come back as a status.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "framework/graph/model.h"
#include "framework/graph/operator.h"
#include "framework/graph/reader/proto_text.h"
#include "framework/testing/support/statuses_fixture.h"
#include "onnx/onnx-data.pb.h"

namespace assay::reader {
namespace {

using ::testing::ElementsAre;

using onnx::TensorProto;

const ValueType kTensor = ValueType::OfTensor(DType::kFloat32, {});

ValueType Kind(ValueKind kind) {
  ValueType type;
  type.kind = kind;
  return type;
}

template <class Proto>
Result<Value> Read(const Proto& proto, const ValueType& type) {
  const std::string bytes = proto.SerializeAsString();
  return ParseValue(BytesOf(bytes), type);
}

/// A change of a message.
using Fill = std::function<void(TensorProto&)>;

constexpr auto kFloats = &TensorProto::add_float_data;
constexpr auto kDoubles = &TensorProto::add_double_data;
constexpr auto kInt32s = &TensorProto::add_int32_data;
constexpr auto kInt64s = &TensorProto::add_int64_data;
constexpr auto kUint64s = &TensorProto::add_uint64_data;

template <class T>
Fill Adds(void (TensorProto::*add)(T),
          const std::vector<std::type_identity_t<T>>& entries) {
  return [=](TensorProto& proto) {
    for (const T entry : entries) (proto.*add)(entry);
  };
}

Fill HasRaw(const std::string& bytes) {
  return [=](TensorProto& proto) { proto.set_raw_data(bytes); };
}

TensorProto TensorProtoOf(DType type, const std::vector<int64_t>& dims,
                          const Fill& fill = nullptr) {
  TensorProto proto;
  proto.set_name("t");
  proto.set_data_type(static_cast<int>(type));
  for (const int64_t dim : dims) proto.add_dims(dim);
  if (fill) fill(proto);
  return proto;
}

/// The bytes of a tensor as numbers.
std::vector<int> Numbers(const Tensor& tensor) {
  std::vector<int> numbers;
  for (const std::byte byte : tensor.bytes()) {
    numbers.push_back(std::to_integer<int>(byte));
  }
  return numbers;
}

/// Raw bytes 1, 2, 3, ... that are valid for the type.
std::string RawBytes(DType type, int64_t count) {
  std::string raw(static_cast<size_t>(PackedBytes(type, count)), '\1');
  if (type == DType::kBool) return raw;
  for (size_t i = 0; i < raw.size(); ++i) raw[i] = static_cast<char>(i + 1);
  return raw;
}

TEST(TensorReading, TakesRawDataOfEveryType) {
  for (int number = 1; number < kDTypeCount; ++number) {
    const DType type = *DTypeFromOnnx(number);
    if (type == DType::kString) continue;
    const TensorProto proto =
        TensorProtoOf(type, {2, 2}, HasRaw(RawBytes(type, 4)));
    const auto value = Got(Read(proto, kTensor));
    const Tensor& tensor = *value.tensor();
    EXPECT_EQ(tensor.dtype(), type);
    EXPECT_EQ(tensor.shape(), Shape({2, 2}));
    EXPECT_EQ(std::memcmp(tensor.data(), proto.raw_data().data(),
                          proto.raw_data().size()),
              0)
        << type;
  }
}

TEST(TensorReading, TakesTheTypedFieldOfEveryType) {
  struct Row {
    DType type;
    int64_t count;
    Fill fill;
    std::vector<int> bytes;
  };
  const std::vector<Row> rows = {
      {DType::kFloat32, 1, Adds(kFloats, {1}), {0, 0, 128, 63}},
      {DType::kComplex64,
       1,
       Adds(kFloats, {0, 1}),
       {0, 0, 0, 0, 0, 0, 128, 63}},
      {DType::kFloat64, 1, Adds(kDoubles, {2}), {0, 0, 0, 0, 0, 0, 0, 64}},
      {DType::kComplex128,
       1,
       Adds(kDoubles, {2, 0}),
       {0, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0, 0, 0, 0, 0, 0}},
      {DType::kInt64,
       1,
       Adds(kInt64s, {-2}),
       {254, 255, 255, 255, 255, 255, 255, 255}},
      {DType::kUint64, 1, Adds(kUint64s, {3}), {3, 0, 0, 0, 0, 0, 0, 0}},
      {DType::kUint32, 1, Adds(kUint64s, {4294967295U}), {255, 255, 255, 255}},
      {DType::kInt32, 1, Adds(kInt32s, {-1}), {255, 255, 255, 255}},
      {DType::kInt16, 2, Adds(kInt32s, {-1, 258}), {255, 255, 2, 1}},
      {DType::kUint16, 1, Adds(kInt32s, {65535}), {255, 255}},
      {DType::kInt8, 2, Adds(kInt32s, {-128, 127}), {128, 127}},
      {DType::kUint8, 1, Adds(kInt32s, {255}), {255}},
      {DType::kBool, 2, Adds(kInt32s, {1, 0}), {1, 0}},
      {DType::kFloat16, 1, Adds(kInt32s, {0x3C00}), {0, 0x3C}},
      {DType::kBFloat16, 1, Adds(kInt32s, {0x3F80}), {0x80, 0x3F}},
      {DType::kFloat8E4M3FN, 1, Adds(kInt32s, {0x38}), {0x38}},
      {DType::kFloat8E4M3FNUZ, 1, Adds(kInt32s, {0x80}), {0x80}},
      {DType::kFloat8E5M2, 1, Adds(kInt32s, {0x3C}), {0x3C}},
      {DType::kFloat8E5M2FNUZ, 1, Adds(kInt32s, {0x40}), {0x40}},
      {DType::kFloat8E8M0, 1, Adds(kInt32s, {127}), {127}},
      {DType::kInt4, 3, Adds(kInt32s, {0x21, 0x03}), {0x21, 0x03}},
      {DType::kUint4, 2, Adds(kInt32s, {0xFE}), {0xFE}},
      {DType::kFloat4E2M1, 2, Adds(kInt32s, {0x76}), {0x76}},
      {DType::kInt2, 4, Adds(kInt32s, {0xE4}), {0xE4}},
      {DType::kUint2, 5, Adds(kInt32s, {0xE4, 0x03}), {0xE4, 0x03}},
      {DType::kFloat6E2M3, 4, Adds(kInt32s, {1, 2, 3, 63}), {0x81, 0x30, 0xFC}},
      {DType::kFloat6E3M2, 2, Adds(kInt32s, {63, 1}), {0x7F, 0x00}},
  };
  EXPECT_EQ(rows.size(), 27u) << "all but string";
  for (const Row& row : rows) {
    const auto value =
        Got(Read(TensorProtoOf(row.type, {row.count}, row.fill), kTensor));
    EXPECT_EQ(Numbers(*value.tensor()), row.bytes) << row.type;
  }
}

TEST(TensorReading, TakesStringsScalarsAndEmptyTensors) {
  TensorProto strings = TensorProtoOf(DType::kString, {2});
  strings.add_string_data("a");
  strings.add_string_data(std::string("b\0c", 3));
  EXPECT_THAT(Read(strings, kTensor)->tensor()->strings(),
              ElementsAre("a", std::string("b\0c", 3)));
  EXPECT_EQ(
      Read(TensorProtoOf(DType::kFloat32, {}, Adds(kFloats, {2})), kTensor)
          ->tensor()
          ->Signature(),
      "float32[]");
  EXPECT_EQ(Read(TensorProtoOf(DType::kInt64, {0, 3}), kTensor)
                ->tensor()
                ->Signature(),
            "int64[0,3]");
}

TEST(TensorReading, ClearsTheUnusedBitsOfPackedTypes) {
  const TensorProto proto = TensorProtoOf(DType::kInt4, {1}, HasRaw("\xF7"));
  EXPECT_EQ(Numbers(*Read(proto, kTensor)->tensor()), std::vector<int>{7});
}

TEST(TensorReading, RefusesWhatDoesNotFit) {
  struct Row {
    TensorProto proto;
    std::string message;
  };
  const int64_t huge = int64_t{1} << 40;
  const std::vector<Row> rows = {
      {TensorProtoOf(DType::kUndefined, {1}), "element type 0, wanted 1 to 28"},
      {TensorProtoOf(DType::kFloat32, {1},
                     [](auto& p) { p.set_data_type(29); }),
       "type 29"},
      {TensorProtoOf(DType::kFloat32, {1},
                     [](auto& p) { p.set_data_type(-1); }),
       "type -1"},
      {TensorProtoOf(DType::kFloat32, {-1}), "negative extent"},
      {TensorProtoOf(DType::kFloat32, {huge}), "has 0 entries of float_data"},
      {TensorProtoOf(DType::kString, {huge}), "has 0 entries of string_data"},
      {TensorProtoOf(DType::kUint8, {huge, huge}), "more elements than int64"},
      {TensorProtoOf(DType::kUint8, {huge, huge >> 19}), "too large"},
      {TensorProtoOf(DType::kFloat32, {2}, HasRaw("1234567")),
       "needs 8 bytes, found 7"},
      {TensorProtoOf(DType::kString, {1}, HasRaw("a")), "wanted string_data"},
      {TensorProtoOf(DType::kFloat32, {1},
                     [](auto& p) {
                       p.set_raw_data("1234");
                       p.add_float_data(1);
                     }),
       "has raw_data and float_data, wanted one field of data"},
      {TensorProtoOf(DType::kBool, {2}, HasRaw("\x01\x02")),
       "has 2 as element 1 of a bool tensor"},
      {TensorProtoOf(DType::kInt8, {1}, Adds(kInt32s, {256})),
       "has 256 in int32_data, which is no element of int8"},
      {TensorProtoOf(DType::kInt8, {1}, Adds(kInt32s, {-129})), "has -129"},
      {TensorProtoOf(DType::kUint32, {1}, Adds(kUint64s, {1ULL << 32})),
       "no element of uint32"},
      {TensorProtoOf(DType::kFloat6E2M3, {1}, Adds(kInt32s, {64})),
       "wanted 0 to 63"},
      {TensorProtoOf(DType::kInt64, {1}, Adds(kFloats, {1})),
       "has 0 entries of int64_data, wanted 1"},
      {TensorProtoOf(DType::kInt4, {3}, Adds(kInt32s, {1})), "wanted 2"},
      {TensorProtoOf(
           DType::kFloat32, {1},
           [](auto& p) { p.set_data_location(TensorProto::EXTERNAL); }),
       "has no location"},
      {TensorProtoOf(DType::kFloat32, {1},
                     [](auto& p) { p.mutable_segment(); }),
       "segment"},
  };
  for (const Row& row : rows) {
    const Status status = Read(row.proto, kTensor).status();
    EXPECT_THAT(status, Says(row.message)) << row.message;
    EXPECT_THAT(status, Says("tensor 't'"));
  }
}

TensorProto ScalarProto(float number) {
  return TensorProtoOf(DType::kFloat32, {}, Adds(kFloats, {number}));
}

TEST(ValueReading, TakesSequencesOptionalsAndMaps) {
  onnx::SequenceProto sequence;
  sequence.set_elem_type(onnx::SequenceProto::TENSOR);
  *sequence.add_tensor_values() = ScalarProto(1);
  *sequence.add_tensor_values() = ScalarProto(2);
  const Value list = *Read(sequence, Kind(ValueKind::kSequence));
  ASSERT_EQ(list.sequence()->items.size(), 2u);
  EXPECT_EQ(list.sequence()->element.ToString(), "float32");

  onnx::OptionalProto optional;
  const Value none = *Read(optional, Kind(ValueKind::kOptional));
  EXPECT_FALSE(none.optional()->has_value());
  *optional.mutable_sequence_value() = sequence;
  const Value some = *Read(optional, Kind(ValueKind::kOptional));
  EXPECT_EQ(some.optional()->value->kind(), ValueKind::kSequence);

  onnx::MapProto map;
  map.set_key_type(static_cast<int>(DType::kInt16));
  map.add_keys(-3);
  map.add_keys(4);
  *map.mutable_values() = sequence;
  const Value pairs = *Read(map, Kind(ValueKind::kMap));
  EXPECT_EQ(pairs.Type().ToString(), "map(int16,float32[])");
  EXPECT_THAT(pairs.map()->keys.elements<int16_t>(), ElementsAre(-3, 4));
}

TEST(ValueReading, KeepsTheDeclaredElementOfAnEmptySequence) {
  ValueType declared = Kind(ValueKind::kSequence);
  declared.element = std::make_shared<const ValueType>(
      ValueType::OfTensor(DType::kInt8, {Dim("N")}));
  const Value empty = *Read(onnx::SequenceProto(), declared);
  EXPECT_EQ(empty.Type(), declared);
}

TEST(ValueReading, RefusesBrokenMapsAndKinds) {
  onnx::MapProto map;
  map.set_key_type(static_cast<int>(DType::kInt8));
  map.add_keys(200);
  const ValueType kind = Kind(ValueKind::kMap);
  EXPECT_THAT(Read(map, kind), Says("is no int8"));
  map.set_keys(0, 1);
  EXPECT_THAT(Read(map, kind), Says("1 keys and 0 values"));
  map.set_key_type(static_cast<int>(DType::kFloat32));
  EXPECT_THAT(Read(map, kind), Says("key type 1"));
  onnx::SequenceProto sequence;
  sequence.set_elem_type(17);
  EXPECT_THAT(Read(sequence, Kind(ValueKind::kSequence)),
              Says("element kind 17"));
  EXPECT_FALSE(Read(map, {}).ok());
}

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
  EXPECT_THAT(ParseProto(proto),
              IsStatus(StatusCode::kDataLoss, "nested too deep"));
}

}  // namespace
}  // namespace assay::reader
