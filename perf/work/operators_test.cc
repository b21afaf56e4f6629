// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "framework/core/text.h"
#include "framework/graph/operator.h"
#include "perf/work/rules.h"
#include "perf/work/work_of.h"

namespace assay::work {
namespace {

using testing::Contains;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAreArray;

std::string NameOf(const OperatorInfo& info) {
  return info.domain.empty() ? std::string(info.name)
                             : StrCat(info.domain, ":", info.name);
}

// Kills: an operator that has no rule, a rule for none, one that has two.
TEST(WorkRules, EveryOperatorOfOnnxHasOne) {
  std::set<std::string> operators;
  for (const OperatorInfo& info : Operators()) operators.insert(NameOf(info));
  EXPECT_THAT(KnownToRules(), UnorderedElementsAreArray(operators));
  size_t rows = 0;
  for (const auto rules :
       {ElementwiseRules(), ProductRules(), WindowRules(), ReductionRules(),
        AttentionRules(), RecurrentRules(), SamplingRules(), MovementRules(),
        FlowRules(), OtherDomainRules()}) {
    rows += rules.size();
  }
  EXPECT_EQ(rows, operators.size());
}

// The count is printed, so that an upgrade of ONNX shows what it brings.
TEST(WorkRules, UnknownOperatorsAreNamedWithTheReason) {
  std::set<std::string, std::less<>> of_onnx;
  std::string text;
  for (const auto& [op, because] : UnknownOperators()) {
    EXPECT_THAT(std::string(because), Not(IsEmpty())) << op;
    if (op.find(':') == op.npos) of_onnx.emplace(op);
    text += StrCat("  ", op, ": ", because, "\n");
  }
  RecordProperty("operators", std::to_string(Operators().size()));
  RecordProperty("unknown", std::to_string(UnknownOperators().size()));
  EXPECT_THAT(
      of_onnx,
      testing::ElementsAre(
          "ImageDecoder", "MaxRoiPool", "MelWeightMatrix", "Multinomial",
          "NonMaxSuppression", "RegexFullMatch", "Scatter", "SequenceErase",
          "SequenceInsert", "SequenceMap", "StringConcat", "StringNormalizer",
          "StringSplit", "TfIdfVectorizer", "Unique", "Upsample"))
      << text;
  EXPECT_EQ(UnknownOperators().size(), 28) << text;
  EXPECT_EQ(Operators().size(), 227);
}

}  // namespace
}  // namespace assay::work
