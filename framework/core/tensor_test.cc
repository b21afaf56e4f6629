// SPDX-License-Identifier: Apache-2.0

#include "framework/core/tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <set>

namespace assay::core {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

TEST(DType, NamesAreDistinctAndParseBack) {
  std::set<std::string_view> names;
  for (int number = 1; number < kDTypeCount; ++number) {
    const DType type = *DTypeFromOnnx(number);
    EXPECT_EQ(static_cast<int>(type), number);
    EXPECT_EQ(ParseDType(ToString(type)), type) << type;
    names.insert(ToString(type));
  }
  EXPECT_EQ(names.size(), 28u);
}

TEST(DType, UnknownNamesAndNumbersAreRefused) {
  for (const int number : {-1, 0, 29, 255, 1 << 20}) {
    EXPECT_EQ(DTypeFromOnnx(number), std::nullopt) << number;
  }
  for (const char* name : {"", "undefined", "Float32", "float", "int128"}) {
    EXPECT_EQ(ParseDType(name), std::nullopt) << name;
  }
}

TEST(DType, SizesArePacked) {
  const struct {
    DType type;
    int64_t count;
    int64_t bytes;
  } rows[] = {
      {DType::kFloat32, 3, 12},
      {DType::kComplex128, 2, 32},
      {DType::kBool, 5, 5},
      {DType::kInt4, 0, 0},
      {DType::kInt4, 1, 1},
      {DType::kUint4, 3, 2},
      {DType::kUint2, 4, 1},
      {DType::kInt2, 5, 2},
      {DType::kFloat6E2M3, 1, 1},
      {DType::kFloat6E3M2, 4, 3},
      {DType::kFloat6E3M2, 5, 4},
      {DType::kFloat4E2M1, 7, 4},
      {DType::kFloat8E8M0, 9, 9},
      {DType::kBFloat16, 3, 6},
      {DType::kString, 100, 0},
      {DType::kInt4, (1LL << 62) + 1, (1LL << 61) + 1},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(PackedBytes(row.type, row.count), row.bytes)
        << row.type << " x " << row.count;
  }
}

TEST(DType, ClassesFollowTheArithmetic) {
  EXPECT_TRUE(IsFloatingPoint(DType::kFloat8E5M2FNUZ));
  EXPECT_FALSE(IsFloatingPoint(DType::kComplex64));
  EXPECT_EQ(ClassOf(DType::kUint2), DTypeClass::kUnsigned);
  EXPECT_EQ(ClassOf(DType::kInt2), DTypeClass::kSigned);
  EXPECT_EQ(ClassOf(DType::kBool), DTypeClass::kBool);
  EXPECT_EQ(ClassOf(DType::kString), DTypeClass::kString);
  EXPECT_EQ(ClassOf(DType::kUndefined), DTypeClass::kNone);
}

TEST(DType, AVisitIsOfTheElementType) {
  for (int number = 0; number < kDTypeCount; ++number) {
    const auto type = static_cast<DType>(number);
    DType met = DType::kUndefined;
    const bool found =
        VisitInteger(type, [&]<class T>(T) { met = kDTypeOf<T>; });
    const bool integer = ClassOf(type) == DTypeClass::kSigned ||
                         ClassOf(type) == DTypeClass::kUnsigned;
    EXPECT_EQ(found, integer && BitsOf(type) >= 8) << type;
    EXPECT_EQ(met, found ? type : DType::kUndefined);
  }
}

constexpr std::array<float, 6> kSix = {1, 2, 3, 4, 5, 6};

TEST(Tensor, AllocationIsZeroedAndAligned) {
  const Tensor tensor = *Tensor::Allocate(DType::kFloat32, {2, 3});
  EXPECT_EQ(tensor.byte_size(), 24);
  EXPECT_THAT(tensor.elements<float>(), Each(0.0F));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.data()) % 64, 0u);
  EXPECT_EQ(tensor.Signature(), "float32[2,3]");
}

TEST(Tensor, EveryElementTypeAllocates) {
  for (int number = 1; number < kDTypeCount; ++number) {
    const DType type = *DTypeFromOnnx(number);
    const auto tensor = Tensor::Allocate(type, {3});
    ASSERT_TRUE(tensor.ok()) << type;
    EXPECT_EQ(tensor->byte_size(), PackedBytes(type, 3)) << type;
    EXPECT_EQ(tensor->strings().size(), type == DType::kString ? 3u : 0u);
  }
}

TEST(Tensor, ClaimsAreCheckedBeforeMemoryIsTaken) {
  const int64_t huge = int64_t{1} << 40;
  const struct {
    DType type;
    Shape shape;
    StatusCode code;
  } rows[] = {
      {DType::kUndefined, {1}, StatusCode::kInvalidArgument},
      {DType::kFloat32, {-1}, StatusCode::kInvalidArgument},
      {DType::kFloat32, {5}, StatusCode::kInvalidArgument},
      {DType::kUint8, {huge}, StatusCode::kInvalidArgument},
      {DType::kFloat32, {huge, huge}, StatusCode::kResourceExhausted},
      {DType::kComplex128, {huge, huge >> 19}, StatusCode::kResourceExhausted},
  };
  for (const auto& row : rows) {
    const auto made =
        Tensor::FromBytes(row.type, row.shape, std::as_bytes(std::span(kSix)));
    EXPECT_EQ(made.status().code(), row.code)
        << row.type << row.shape.ToString();
  }
}

TEST(Tensor, CopiesShareAndClonesDoNot) {
  Tensor tensor = *Tensor::Of<float>({2, 3}, kSix);
  EXPECT_TRUE(tensor.unique());
  const Tensor copy = tensor;
  const Tensor clone = *tensor.Clone();
  EXPECT_FALSE(tensor.unique());
  tensor.mutable_elements<float>()[0] = 9;
  EXPECT_EQ(copy.elements<float>()[0], 9);
  EXPECT_EQ(clone.elements<float>()[0], 1);
}

TEST(Tensor, BorrowedMemoryIsTheCallers) {
  std::array<float, 6> memory = kSix;
  Tensor view = *Tensor::Borrow(DType::kFloat32, {6}, memory.data());
  view.mutable_elements<float>()[5] = 7;
  EXPECT_EQ(memory[5], 7);
  EXPECT_FALSE(view.unique());
  EXPECT_FALSE(Tensor::Borrow(DType::kString, {6}, memory.data()).ok());
}

TEST(Tensor, ReshapeKeepsTheElements) {
  const Tensor tensor = *Tensor::Of<float>({2, 3}, kSix);
  const Tensor view = *tensor.Reshape({3, 2});
  EXPECT_EQ(view.data(), tensor.data());
  EXPECT_EQ(view.Signature(), "float32[3,2]");
  EXPECT_EQ(tensor.Reshape({4}).status().code(), StatusCode::kInvalidArgument);
}

TEST(Tensor, StringsAreHeldAsStrings) {
  const Tensor tensor = *Tensor::FromStrings({2}, {"a", "b"});
  const Tensor clone = *tensor.Clone();
  EXPECT_THAT(clone.strings(), ElementsAre("a", "b"));
  EXPECT_NE(clone.strings().data(), tensor.strings().data());
  EXPECT_EQ(tensor.byte_size(), 0);
  EXPECT_FALSE(Tensor::FromStrings({3}, {"a", "b"}).ok());
}

TEST(Tensor, TheDefaultIsUndefined) {
  const Tensor tensor;
  EXPECT_FALSE(tensor.defined());
  EXPECT_EQ(tensor.Signature(), "undefined[]");
  EXPECT_FALSE(tensor.Clone()->defined());
}

}  // namespace
}  // namespace assay::core
