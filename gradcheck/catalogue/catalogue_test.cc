// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/catalogue/catalogue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

namespace assay::gradcheck {
namespace {

using types::Differentiability;

// Kills: an override for an operator or a parameter that ONNX has not, and one
// that says what the flag says.
TEST(CatalogueTest, EachOverrideChangesAFlag) {
  const std::vector<Entry> entries = Catalogue();
  std::set<std::pair<std::string, std::string>> seen;
  for (const Override& line : Overrides()) {
    std::string op(line.op);
    if (op.find("::") == std::string::npos) op = "ai.onnx::" + op;
    EXPECT_TRUE(seen.emplace(op, line.parameter).second)
        << op << " " << line.parameter << " stands twice";
    const auto entry = std::ranges::find_if(entries, [&](const Entry& e) {
      return e.op == op && e.parameter == line.parameter;
    });
    ASSERT_NE(entry, entries.end()) << op << " " << line.parameter;
    EXPECT_EQ(entry->differentiable, line.differentiable);
    EXPECT_NE(entry->flag, line.differentiable
                               ? Differentiability::kDifferentiable
                               : Differentiability::kNot)
        << op << " " << line.parameter << " is flagged so already";
    EXPECT_FALSE(line.because.empty());
  }
}

TEST(CatalogueTest, OperatorsThatONNXFlags) {
  int flagged = 0;
  for (size_t i = 0; i < Operators().size(); ++i) {
    const auto& signature = types::SignatureOf(static_cast<OperatorId>(i));
    const auto is = [](const types::FormalParameter& parameter) {
      return parameter.flag == Differentiability::kDifferentiable;
    };
    flagged += std::ranges::any_of(signature.inputs, is) &&
                       std::ranges::any_of(signature.outputs, is)
                   ? 1
                   : 0;
  }
  // onnx 1.23.2; counted from its schemas.
  EXPECT_EQ(flagged, 121);
}

TEST(CatalogueTest, TheFlagHoldsWhereNothingElseIsSaid) {
  const OperatorId clip = *FindOperator("", "Clip");
  const auto& signature = types::SignatureOf(clip);
  EXPECT_EQ(signature.inputs[1].flag, Differentiability::kNot);
  EXPECT_TRUE(IsDifferentiable(clip, signature.inputs[1]));
  const OperatorId floor = *FindOperator("", "Floor");
  EXPECT_FALSE(IsDifferentiable(floor, types::SignatureOf(floor).inputs[0]));
  EXPECT_NE(FlagsText().find("ai.onnx::Clip input min: non-differentiable, "
                             "should be differentiable: "),
            std::string::npos);
}

}  // namespace
}  // namespace assay::gradcheck
