// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "framework/graph/model.h"
#include "framework/graph/reader/proto_text.h"
#include "onnx/onnx-data.pb.h"

namespace assay::reader {
namespace {

using onnx::TensorProto;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

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

TensorProto TensorProtoOf(DType type, std::vector<int64_t> dims) {
  TensorProto proto;
  proto.set_name("t");
  proto.set_data_type(static_cast<int>(type));
  for (const int64_t dim : dims) proto.add_dims(dim);
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
    TensorProto proto = TensorProtoOf(type, {2, 2});
    proto.set_raw_data(RawBytes(type, 4));
    const auto value = Read(proto, kTensor);
    ASSERT_TRUE(value.ok()) << type << value.status().ToString();
    const Tensor& tensor = *value->tensor();
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
    std::function<void(TensorProto&)> fill;
    std::vector<int> bytes;
  };
  const auto int32 = [](std::vector<int> entries) {
    return [entries](TensorProto& proto) {
      for (const int entry : entries) proto.add_int32_data(entry);
    };
  };
  const std::vector<Row> rows = {
      {DType::kFloat32,
       1,
       [](auto& p) { p.add_float_data(1); },
       {0, 0, 128, 63}},
      {DType::kComplex64,
       1,
       [](auto& p) { p.add_float_data(0), p.add_float_data(1); },
       {0, 0, 0, 0, 0, 0, 128, 63}},
      {DType::kFloat64,
       1,
       [](auto& p) { p.add_double_data(2); },
       {0, 0, 0, 0, 0, 0, 0, 64}},
      {DType::kComplex128,
       1,
       [](auto& p) { p.add_double_data(2), p.add_double_data(0); },
       {0, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0, 0, 0, 0, 0, 0}},
      {DType::kInt64,
       1,
       [](auto& p) { p.add_int64_data(-2); },
       {254, 255, 255, 255, 255, 255, 255, 255}},
      {DType::kUint64,
       1,
       [](auto& p) { p.add_uint64_data(3); },
       {3, 0, 0, 0, 0, 0, 0, 0}},
      {DType::kUint32,
       1,
       [](auto& p) { p.add_uint64_data(4294967295U); },
       {255, 255, 255, 255}},
      {DType::kInt32, 1, int32({-1}), {255, 255, 255, 255}},
      {DType::kInt16, 2, int32({-1, 258}), {255, 255, 2, 1}},
      {DType::kUint16, 1, int32({65535}), {255, 255}},
      {DType::kInt8, 2, int32({-128, 127}), {128, 127}},
      {DType::kUint8, 1, int32({255}), {255}},
      {DType::kBool, 2, int32({1, 0}), {1, 0}},
      {DType::kFloat16, 1, int32({0x3C00}), {0, 0x3C}},
      {DType::kBFloat16, 1, int32({0x3F80}), {0x80, 0x3F}},
      {DType::kFloat8E4M3FN, 1, int32({0x38}), {0x38}},
      {DType::kFloat8E4M3FNUZ, 1, int32({0x80}), {0x80}},
      {DType::kFloat8E5M2, 1, int32({0x3C}), {0x3C}},
      {DType::kFloat8E5M2FNUZ, 1, int32({0x40}), {0x40}},
      {DType::kFloat8E8M0, 1, int32({127}), {127}},
      {DType::kInt4, 3, int32({0x21, 0x03}), {0x21, 0x03}},
      {DType::kUint4, 2, int32({0xFE}), {0xFE}},
      {DType::kFloat4E2M1, 2, int32({0x76}), {0x76}},
      {DType::kInt2, 4, int32({0xE4}), {0xE4}},
      {DType::kUint2, 5, int32({0xE4, 0x03}), {0xE4, 0x03}},
      {DType::kFloat6E2M3, 4, int32({1, 2, 3, 63}), {0x81, 0x30, 0xFC}},
      {DType::kFloat6E3M2, 2, int32({63, 1}), {0x7F, 0x00}},
  };
  EXPECT_EQ(rows.size(), 27u) << "all but string";
  for (const Row& row : rows) {
    TensorProto proto = TensorProtoOf(row.type, {row.count});
    row.fill(proto);
    const auto value = Read(proto, kTensor);
    ASSERT_TRUE(value.ok()) << row.type << value.status().ToString();
    EXPECT_EQ(Numbers(*value->tensor()), row.bytes) << row.type;
  }
}

TEST(TensorReading, TakesStringsScalarsAndEmptyTensors) {
  TensorProto strings = TensorProtoOf(DType::kString, {2});
  strings.add_string_data("a");
  strings.add_string_data(std::string("b\0c", 3));
  EXPECT_THAT(Read(strings, kTensor)->tensor()->strings(),
              ElementsAre("a", std::string("b\0c", 3)));
  TensorProto scalar = TensorProtoOf(DType::kFloat32, {});
  scalar.add_float_data(2);
  EXPECT_EQ(Read(scalar, kTensor)->tensor()->Signature(), "float32[]");
  EXPECT_EQ(Read(TensorProtoOf(DType::kInt64, {0, 3}), kTensor)
                ->tensor()
                ->Signature(),
            "int64[0,3]");
}

TEST(TensorReading, ClearsTheUnusedBitsOfPackedTypes) {
  TensorProto proto = TensorProtoOf(DType::kInt4, {1});
  proto.set_raw_data("\xF7");
  EXPECT_EQ(Numbers(*Read(proto, kTensor)->tensor()), std::vector<int>{7});
}

TEST(TensorReading, RefusesWhatDoesNotFit) {
  struct Row {
    DType type;
    std::vector<int64_t> dims;
    std::function<void(TensorProto&)> fill;
    std::string message;
  };
  const int64_t huge = int64_t{1} << 40;
  const auto nothing = [](TensorProto&) {};
  const std::vector<Row> rows = {
      {DType::kUndefined, {1}, nothing, "element type 0, wanted 1 to 28"},
      {DType::kFloat32, {1}, [](auto& p) { p.set_data_type(29); }, "type 29"},
      {DType::kFloat32, {1}, [](auto& p) { p.set_data_type(-1); }, "type -1"},
      {DType::kFloat32, {-1}, nothing, "negative extent"},
      {DType::kFloat32, {huge}, nothing, "has 0 entries of float_data"},
      {DType::kString, {huge}, nothing, "has 0 entries of string_data"},
      {DType::kUint8, {huge, huge}, nothing, "more elements than int64"},
      {DType::kUint8, {huge, huge >> 19}, nothing, "too large"},
      {DType::kFloat32,
       {2},
       [](auto& p) { p.set_raw_data("1234567"); },
       "needs 8 bytes, found 7"},
      {DType::kString,
       {1},
       [](auto& p) { p.set_raw_data("a"); },
       "wanted string_data"},
      {DType::kBool,
       {2},
       [](auto& p) { p.set_raw_data("\x01\x02"); },
       "has 2 as element 1 of a bool tensor"},
      {DType::kInt8,
       {1},
       [](auto& p) { p.add_int32_data(256); },
       "has 256 in int32_data, which is no element of int8"},
      {DType::kInt8, {1}, [](auto& p) { p.add_int32_data(-129); }, "has -129"},
      {DType::kUint32,
       {1},
       [](auto& p) { p.add_uint64_data(1ULL << 32); },
       "no element of uint32"},
      {DType::kFloat6E2M3,
       {1},
       [](auto& p) { p.add_int32_data(64); },
       "wanted 0 to 63"},
      {DType::kInt64,
       {1},
       [](auto& p) { p.add_float_data(1); },
       "has 0 entries of int64_data, wanted 1"},
      {DType::kInt4, {3}, [](auto& p) { p.add_int32_data(1); }, "wanted 2"},
      {DType::kFloat32,
       {1},
       [](auto& p) { p.set_data_location(TensorProto::EXTERNAL); },
       "has no location"},
      {DType::kFloat32, {1}, [](auto& p) { p.mutable_segment(); }, "segment"},
  };
  for (const Row& row : rows) {
    TensorProto proto = TensorProtoOf(row.type, row.dims);
    row.fill(proto);
    const Status status = Read(proto, kTensor).status();
    EXPECT_FALSE(status.ok()) << row.message;
    EXPECT_THAT(status.message(), HasSubstr(row.message));
    EXPECT_THAT(status.message(), HasSubstr("tensor 't'"));
  }
}

TEST(SparseReading, ChecksCoordinates) {
  struct Row {
    std::vector<int64_t> index_dims;
    std::vector<int64_t> indices;
    std::string message;  // empty: good
  };
  const Row rows[] = {
      {{2}, {1, 5}, ""},
      {{2, 2}, {0, 1, 1, 2}, ""},
      {{2}, {1, 6}, "has index 6, wanted 0 to 5"},
      {{2}, {-1, 5}, "has index -1"},
      {{2, 2}, {0, 1, 0, 3}, "has index 3, wanted 0 to 2"},
      {{2}, {5, 1}, "do not ascend at value 1"},
      {{2}, {1, 1}, "do not ascend"},
      {{1}, {1}, "wanted [n] and int64[n] or int64[n,rank]"},
  };
  for (const Row& row : rows) {
    onnx::SparseTensorProto proto;
    *proto.mutable_values() = TensorProtoOf(DType::kFloat32, {2});
    proto.mutable_values()->add_float_data(1);
    proto.mutable_values()->add_float_data(2);
    *proto.mutable_indices() = TensorProtoOf(DType::kInt64, row.index_dims);
    for (const int64_t i : row.indices) {
      proto.mutable_indices()->add_int64_data(i);
    }
    proto.add_dims(2);
    proto.add_dims(3);
    const auto value = Read(proto, Kind(ValueKind::kSparseTensor));
    EXPECT_EQ(value.ok(), row.message.empty()) << row.message;
    EXPECT_THAT(value.status().message(), HasSubstr(row.message));
    if (!value.ok()) continue;
    EXPECT_EQ(value->sparse()->shape, Shape({2, 3}));
  }
}

TensorProto ScalarProto(float number) {
  TensorProto proto = TensorProtoOf(DType::kFloat32, {});
  proto.add_float_data(number);
  return proto;
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
  EXPECT_THAT(Read(map, kind).status().message(), HasSubstr("is no int8"));
  map.set_keys(0, 1);
  EXPECT_THAT(Read(map, kind).status().message(),
              HasSubstr("1 keys and 0 values"));
  map.set_key_type(static_cast<int>(DType::kFloat32));
  EXPECT_THAT(Read(map, kind).status().message(), HasSubstr("key type 1"));
  onnx::SequenceProto sequence;
  sequence.set_elem_type(17);
  EXPECT_THAT(Read(sequence, Kind(ValueKind::kSequence)).status().message(),
              HasSubstr("element kind 17"));
  EXPECT_FALSE(Read(map, {}).ok());
}

}  // namespace
}  // namespace assay::reader
