// SPDX-License-Identifier: Apache-2.0

#include "framework/graph/types/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "framework/graph/reader/proto_text.h"

namespace assay::types {
namespace {

using ::testing::HasSubstr;

TEST(CheckModel, RefusesInTheCheckersWords) {
  struct Row {
    std::string text;
    int opset;
    std::string message;  // "": the checker has nothing to say
  };
  const Row rows[] = {
      {"g (float[1] x) => (float[1] y) { y = Relu(x) }", 28, ""},
      {"g (float[1] x) => (float[1] y) { y = Relu(x, x) }", 28,
       "has input size 2 not in range"},
      {"g (float[1] x) => (float[1] y) { y = Relu <slope=1.0> (x) }", 28,
       "Unrecognized attribute: slope"},
      {"g (float[1] x) => (float[1] y) { y = Rleu(x) }", 28,
       "No Op registered for Rleu"},
      // An operator of another domain is not checked.
      {"g (float[1] x) => (float[1] y) { y = test.Rleu(x) }", 28, ""},
      // Deprecated, but it has a current form.
      {"g (float[1,2,1] x, float[1] s) => (float[1,2,1] y) "
       "{ y = GroupNormalization <num_groups=1> (x, s, s) }",
       18, ""},
  };
  for (const Row& row : rows) {
    const Status status = CheckModel(*reader::ModelOf(row.text, row.opset));
    EXPECT_EQ(status.ok(), row.message.empty()) << status.ToString();
    if (row.message.empty()) continue;
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr(row.message));
  }
}

TEST(CheckModel, IsNotAskedAboutWhatItCannotKnow) {
  onnx::ModelProto proto =
      reader::ProtoOf("g (float[1] x) => (float[1] y) { y = Relu(x, x) }");
  EXPECT_FALSE(CheckModel(**reader::ParseProto(proto)).ok());
  proto.set_ir_version(999);
  EXPECT_TRUE(CheckModel(**reader::ParseProto(proto)).ok());
  EXPECT_TRUE(CheckModel(Model({.checked = true})).ok());
  EXPECT_FALSE(CheckModel(Model({.ir_version = 8})).ok());
}

}  // namespace
}  // namespace assay::types
