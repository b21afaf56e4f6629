// SPDX-License-Identifier: Apache-2.0

#include "framework/backend/function_network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "framework/graph/model_text.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::backend {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// y = 2 * x, of `outputs` outputs.
std::unique_ptr<Network> Doubling(size_t outputs = 1) {
  const auto model =
      graph::ModelOfText("g (float[2] x) => (float[2] y) { y = Add(x, x) }");
  return MakeFunctionNetwork(
      *SignatureOf(*model, {}),
      [outputs](std::span<const Value> inputs) -> Result<std::vector<Value>> {
        ASSAY_ASSIGN_OR_RETURN(Tensor y, inputs[0].tensor()->Clone());
        for (float& v : y.mutable_elements<float>()) v *= 2;
        return std::vector<Value>(outputs, y);
      });
}

TEST(Signature, IsThatOfTheGraphWithExtraOutputs) {
  const auto model = graph::ModelOfText(
      "g (float[2] x, float[2] w) => (float[2] y) <float[2] w = {1, 2}> "
      "{ t = Add(x, w) y = Relu(t) }");
  LoadOptions options;
  options.extra_outputs = {"t"};
  const auto signature = SignatureOf(*model, options);
  ASSERT_TRUE(signature.ok()) << signature.status().ToString();
  ASSERT_EQ(signature->inputs.size(), 1U);
  EXPECT_EQ(signature->inputs[0].name, "x");
  ASSERT_EQ(signature->outputs.size(), 2U);
  EXPECT_EQ(signature->outputs[0].name, "y");
  EXPECT_EQ(signature->outputs[1].name, "t");
  options.extra_outputs = {"z"};
  EXPECT_EQ(SignatureOf(*model, options).status().code(),
            StatusCode::kNotFound);
}

TEST(FunctionNetwork, WritesIntoTheCallersMemoryAndKeepsWhatItGave) {
  const auto network = Doubling();
  Tensor y = *Tensor::Allocate(DType::kFloat32, {2});
  const auto bound = network->Bind({{Floats({1, 2})}}, {{y}});
  const auto other = network->Bind({{Floats({5, 6})}}, {});
  ASSERT_TRUE(bound.ok() && other.ok());
  EXPECT_TRUE(network->Forward(**bound).ok());
  EXPECT_THAT(y.elements<float>(), ElementsAre(2, 4));
  EXPECT_EQ((*bound)->outputs()[0].tensor()->data(), y.data());
  EXPECT_TRUE(network->Forward(**other).ok());
  const Value kept = (*other)->outputs()[0];
  EXPECT_TRUE(network->Forward(**other).ok());
  EXPECT_NE((*other)->outputs()[0].tensor()->data(), kept.tensor()->data());
  EXPECT_THAT(kept.tensor()->elements<float>(), ElementsAre(10, 12));
}

TEST(FunctionNetwork, RefusesWhatDoesNotFit) {
  const auto network = Doubling();
  EXPECT_EQ(network->Bind({{Floats({1, 2, 3})}}, {}).status().code(),
            StatusCode::kInvalidArgument);
  const auto foreign = Doubling()->Bind({{Floats({1, 2})}}, {});
  EXPECT_EQ(network->Forward(**foreign).code(), StatusCode::kInvalidArgument);
  const auto two = Doubling(2);
  const auto bound = two->Bind({{Floats({1, 2})}}, {});
  EXPECT_THAT(two->Forward(**bound).message(),
              HasSubstr("found 2 outputs, wanted 1"));
}

// A symbolic extent is known only when the function has run.
TEST(FunctionNetwork, RefusesMemoryThatTheResultDoesNotFit) {
  const auto model =
      graph::ModelOfText("g (float[n] x) => (float[m] y) { y = Abs(x) }");
  const auto network = MakeFunctionNetwork(
      *SignatureOf(*model, {}), [](std::span<const Value> inputs) {
        return Result<std::vector<Value>>({inputs[0]});
      });
  const auto bound = network->Bind({{Floats({1, 2})}},
                                   {{*Tensor::Allocate(DType::kFloat32, {3})}});
  ASSERT_TRUE(bound.ok()) << bound.status().ToString();
  EXPECT_THAT(network->Forward(**bound).message(),
              HasSubstr("output 'y' is float32[2], which does not fit into "
                        "float32[3]"));
}

}  // namespace
}  // namespace assay::backend
