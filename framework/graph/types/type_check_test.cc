// SPDX-License-Identifier: Apache-2.0

#include "framework/graph/types/type_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/graph/model_text.h"

namespace assay::types {
namespace {

using ::testing::HasSubstr;

Status Checked(std::string_view text) {
  const auto model = graph::ParseModelText(text);
  if (!model.ok()) return model.status();
  return CheckTypes((*model)->graph());
}

TEST(CheckTypes, TakesWhatSchemasPermit) {
  for (const char* text :
       {"g (float[2] x, int64[2] i) => (float[2] y) { y = Gather(x, i) }",
        "g (seq(float[2]) s, float[2] x) => (seq(float[2]) t) "
        "{ t = SequenceInsert(s, x) }",
        "g (optional(float[2]) o) => (float[2] y) { y = OptionalGetElement(o) "
        "}",
        "g (float[2] a, float[2] b, float[2] c) => (float[2] y) "
        "{ y = Sum(a, b, c) }",
        "g (int64 n, bool c, float[2] x) => (float[2] y) "
        "{ y = Loop(n, c, x) <body = b (int64 i, bool d, float[2] a) "
        "=> (bool d, float[2] a) {}> }",
        "g (float[2] x) => (float[2] y) { y = test.Unknown(x) }"}) {
    const Status status = Checked(text);
    EXPECT_TRUE(status.ok()) << text << ": " << status.ToString();
  }
}

TEST(CheckTypes, RefusesWhatTheyDoNot) {
  struct Row {
    const char* text;
    const char* why;
  };
  for (const Row& row :
       {Row{"g (float[2] x, int64[2] i) => (float[2] y) { y = Add(x, i) }",
            "Add: input 1 is tensor(int64), wanted tensor(float) as input 0"},
        Row{"g (string[2] x) => (string[2] y) { y = Neg(x) }",
            "Neg: input 0 is string[2], which the operator's X does not"},
        Row{"g (float[2] x) => (double[2] y) { y = Relu(x) }",
            "output 0 is tensor(double), wanted tensor(float)"},
        Row{"g (float[2] a, float[2] b, double[2] c) => (float[2] y) "
            "{ y = Sum(a, b, c) }",
            "input 2 is tensor(double)"},
        Row{"g (seq(float[2]) s) => (float[2] y) { y = Relu(s) }",
            "input 0 is seq(float32[2])"}}) {
    const Status status = Checked(row.text);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << row.text;
    EXPECT_THAT(status.message(), HasSubstr(row.why));
  }
}

}  // namespace
}  // namespace assay::types
