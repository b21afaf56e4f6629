// SPDX-License-Identifier: Apache-2.0

#include "framework/core/dtype.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

namespace assay::core {
namespace {

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
  struct Row {
    DType type;
    int64_t count;
    int64_t bytes;
  };
  const Row rows[] = {
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
  for (const Row& row : rows) {
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

}  // namespace
}  // namespace assay::core
