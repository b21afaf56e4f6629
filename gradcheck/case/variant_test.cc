// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/case/variant.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "framework/core/text.h"

namespace assay::gradcheck {
namespace {

// Kills: a class or a type that is written and not read, or read as another.
TEST(Variant, IsReadAsItWasWritten) {
  std::set<std::string> seen;
  for (const InputClass input_class :
       {InputClass::kOfficial, InputClass::kRedrawn, InputClass::kExact,
        InputClass::kKinks, InputClass::kJacobian, InputClass::kField,
        InputClass::kBorders, InputClass::kSpecial, InputClass::kComposed}) {
    for (const DType type : {DType::kFloat32, DType::kFloat64, DType::kFloat16,
                             DType::kBFloat16}) {
      const std::string suffix = Suffix({input_class, type});
      EXPECT_TRUE(seen.insert(suffix).second) << suffix;
      const auto read = VariantOf(StrCat("gradcheck/Relu/a", suffix));
      ASSERT_TRUE(read.has_value()) << suffix;
      EXPECT_EQ(read->input_class, input_class);
      EXPECT_EQ(read->type, type);
    }
  }
  EXPECT_TRUE(seen.contains("#redrawn.float64"));
  // The last # counts.
  EXPECT_EQ(VariantOf("a/B/c#kinks.float32#exact.bfloat16")->input_class,
            InputClass::kExact);
}

// Kills: an end that is nearly one.
TEST(Variant, IsNothingForAnyOtherEnd) {
  for (const char* id :
       {"", "gradcheck/Relu/a", "#", "a#redrawn", "a#redrawn.", "a#.float32",
        "a#drawn.float32", "a#redrawn.int32", "a#redrawn.float8e4m3fn",
        "a#redrawn.float321", "a#redrawn.float32/b", "a#Redrawn.float32",
        "redrawn.float32", "a#redrawn.float32#"}) {
    EXPECT_FALSE(VariantOf(id).has_value()) << id;
  }
}

}  // namespace
}  // namespace assay::gradcheck
