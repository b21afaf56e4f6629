// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/host/wire/wire.h"

#include <gtest/gtest.h>

#include "framework/testing/measure/measure_rows_fixture.h"
#include "framework/testing/measure/recheck.h"

namespace assay::wire {
namespace {

Tensor Texts() {
  return *Tensor::FromStrings({2}, {"a", std::string(3, '\0')});
}

Tensor Packed() {
  const std::byte bytes[] = {std::byte{0x21}, std::byte{0x03}};
  return *Tensor::FromBytes(DType::kInt4, {3}, bytes);
}

std::vector<Value> ValuesOfAllKinds() {
  const Tensor floats = Floats({1, -2.5F, 3});
  const ValueType element = ValueType::OfTensor(floats);
  return {
      Value(),
      floats,
      Texts(),
      Packed(),
      *Tensor::Allocate(DType::kFloat32, {2, 0}),
      SparseTensor{floats, *Tensor::Allocate(DType::kInt64, {3, 2}), {4, 5}},
      Sequence{element, {floats, floats}},
      Sequence{element, {}},
      Optional{element, std::make_shared<const Value>(floats)},
      Optional{element, nullptr},
      Map{Texts(), {floats, floats}},
  };
}

std::string Written(const Value& value) {
  Writer out;
  out.Put(value);
  return out.bytes();
}

TEST(WireTest, ValuesOfAllKindsComeBack) {
  for (const Value& value : ValuesOfAllKinds()) {
    const std::string bytes = Written(value);
    Reader in(bytes);
    const auto same = in.Read<Value>();
    EXPECT_TRUE(in.Fault().ok()) << in.Fault().ToString();
    EXPECT_TRUE(measure::SameBits(value, same)) << value.Type().ToString();
    EXPECT_EQ(value.Type().ToString(), same.Type().ToString());
  }
}

TEST(WireTest, StatusesOptionsAndDeclarationsComeBack) {
  LoadOptions options;
  options.mode = Mode::kTraining;
  options.extra_outputs = {"h"};
  options.trainable = {"v", "w"};
  options.gradient_targets = {"x", "w"};
  options.exact = true;
  options.settings = {{"threads", "1"}};
  const Status declined = Unsupported(Reason::kDType, "no float8");
  const ValueInfo info{
      "x", ValueType::OfTensor(DType::kFloat32, {Dim(2), Dim("N"), Dim()})};
  Writer out;
  out.Put(options);
  out.Put(declined);
  out.Put(OkStatus());
  out.Put(info);
  out.Put(PlacedNode{"Relu", "acme", "Softmax"});
  out.Put(-0.25);
  Reader in(out.bytes());
  const auto read = in.Read<LoadOptions>();
  EXPECT_EQ(read.mode, Mode::kTraining);
  EXPECT_EQ(read.extra_outputs, options.extra_outputs);
  EXPECT_EQ(read.gradient_targets, options.gradient_targets);
  EXPECT_TRUE(read.exact);
  EXPECT_EQ(read.settings, options.settings);
  EXPECT_EQ(in.Read<Status>().ToString(), declined.ToString());
  EXPECT_TRUE(in.Read<Status>().ok());
  const auto same = in.Read<ValueInfo>();
  EXPECT_EQ(same.name, "x");
  EXPECT_EQ(same.type, info.type);
  EXPECT_EQ(in.Read<PlacedNode>().function, "Softmax");
  EXPECT_EQ(in.Read<double>(), -0.25);
  EXPECT_TRUE(in.Fault().ok());
}

TEST(WireTest, SharedBytesAreNotCopied) {
  std::vector<float> memory = {1, 2, 3};
  Tensor tensor = *Tensor::Borrow(DType::kFloat32, {3}, memory.data());
  Writer out([](const Tensor&) { return Place{7, 64}; });
  out.Put(tensor);
  Reader in(out.bytes(), [&](Place place, uint64_t size) {
    EXPECT_EQ(place.segment, 7U);
    EXPECT_EQ(place.offset, 64U);
    EXPECT_EQ(size, 12U);
    return reinterpret_cast<std::byte*>(memory.data());
  });
  EXPECT_EQ(in.Read<Tensor>().data(), tensor.data());
}

TEST(WireTest, CutOrChangedBytesAreRefusedOrReadAndNeverMore) {
  for (const Value& value : ValuesOfAllKinds()) {
    const std::string bytes = Written(value);
    for (size_t cut = 0; cut < bytes.size(); ++cut) {
      Reader in(std::string_view(bytes).substr(0, cut));
      static_cast<void>(in.Read<Value>());
      EXPECT_EQ(in.Fault().code(), StatusCode::kDataLoss) << cut;
    }
    for (size_t at = 0; at < bytes.size(); ++at) {
      for (const char bits : {'\x01', '\x80', '\xff'}) {
        std::string changed = bytes;
        changed[at] = static_cast<char>(changed[at] ^ bits);
        Reader in(changed);
        static_cast<void>(in.Read<Value>());  // ends, within its memory
      }
    }
    const std::string longer = bytes + "x";
    Reader more(longer);
    static_cast<void>(more.Read<Value>());
    EXPECT_FALSE(more.Fault().ok());
  }
}

TEST(WireTest, APlaceThatIsNoneIsRefused) {
  Writer out([](const Tensor&) { return Place{7, 0}; });
  out.Put(Floats({1}));
  Reader in(out.bytes(), [](Place, uint64_t) -> std::byte* { return nullptr; });
  static_cast<void>(in.Read<Tensor>());
  EXPECT_NE(in.Fault().message().find("outside of the shared memory"),
            std::string::npos);
}

}  // namespace
}  // namespace assay::wire
