// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/catalogue/catalogue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

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
}

// Kills: a flag without its operator, its schema's opset or its reason; counts
// that are not those of the lines; a line that a terminal breaks.
TEST(CatalogueTest, TheFlagsAreToldAsToONNX) {
  const std::string text = FlagsText();
  const std::string version = ASSAY_ONNX_VERSION;
  EXPECT_TRUE(text.starts_with(
      "Flags of differentiability in the operator schemas of ONNX " + version +
      "\n\n"));
  EXPECT_NE(text.find(R"(
ai.onnx::Clip, since opset 13
  input min: NonDifferentiable, should be Differentiable
    an element of the output equals it where it limits
  input max: NonDifferentiable, should be Differentiable
    an element of the output equals it where it limits

ai.onnx::DFT, since opset 20
  input input: NonDifferentiable, should be Differentiable
    the output is linear in it
  output output: missing, should be Differentiable
    it is linear in the input
)"),
            std::string::npos)
      << text;
  std::istringstream lines(text);
  size_t flags = 0;
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 80U) << line;
    flags += line.find(", should be ") == std::string::npos ? 0 : 1;
  }
  EXPECT_EQ(flags, Overrides().size());
  EXPECT_EQ(FlagRows().size(), flags);
  EXPECT_NE(text.find(StrCat("\n", flags, " of them, of ")), std::string::npos);
  const auto rows = FlagRows();
  const auto row = std::ranges::find_if(
      rows, [](const auto& one) { return one[3].second == "constant_value"; });
  ASSERT_NE(row, rows.end());
  EXPECT_EQ(row->at(0).second, "ai.onnx::Pad");
  EXPECT_EQ(row->at(4).second, "NonDifferentiable");
}

}  // namespace
}  // namespace assay::gradcheck
