// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "backends/faulty/mutants.h"
#include "backends/faulty/run_rows.h"
#include "framework/graph/model_text.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::faulty {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Result<std::unique_ptr<Network>> Load(const std::string& graph,
                                      const std::string& mutant,
                                      std::vector<std::string> targets = {}) {
  LoadOptions options;
  options.gradient_targets = targets;
  if (!mutant.empty()) options.settings["mutant"] = mutant;
  return MakeFaulty()->Load(graph::ModelOfText(graph), options);
}

constexpr char kDouble[] = "g (float[3] x) => (float[3] y) { y = Add(x, x) }";

/// y = x + x under the mutant; 2, 4, 6 are right.
Tensor Outcome(const std::string& mutant, const std::string& graph = kDouble) {
  auto network = Load(graph, mutant);
  EXPECT_TRUE(network.ok()) << network.status().ToString();
  const auto outputs = assay::Run(**network, {{"x", Floats({1, 2, 3})}});
  EXPECT_TRUE(outputs.ok()) << outputs.status().ToString();
  return *(*outputs)[0].tensor();
}

TEST(Faulty, IsRightWithoutAMutant) {
  EXPECT_THAT(Outcome("").elements<float>(), ElementsAre(2, 4, 6));
}

TEST(Faulty, EachMutantIsWrongInItsOwnWayAlone) {
  const Tensor value = Outcome("value");
  EXPECT_THAT(value.elements<float>(), ElementsAre(2, 0.25, 6));

  const Tensor shape = Outcome("shape");
  EXPECT_EQ(shape.Signature(), "float32[1,3]");
  EXPECT_THAT(shape.elements<float>(), ElementsAre(2, 4, 6));

  const Tensor dtype = Outcome("dtype");
  EXPECT_EQ(dtype.Signature(), "float64[3]");
  EXPECT_THAT(dtype.elements<double>(), ElementsAre(2, 4, 6));

  const Tensor nan = Outcome("nan");
  EXPECT_TRUE(std::isnan(nan.elements<float>()[1]));
  EXPECT_EQ(nan.elements<float>()[0], 2);
  EXPECT_EQ(nan.elements<float>()[2], 6);

  EXPECT_THAT(Outcome("zeros").elements<float>(), ElementsAre(0, 0, 0));
}

TEST(Faulty, StaleShowsTheNetworkBeforeWhereItFits) {
  Outcome("stale", "g (float[3] x) => (float[3] y) { y = Neg(x) }");
  auto network = Load(kDouble, "stale");
  ASSERT_TRUE(network.ok());
  for (int run = 0; run < 2; ++run) {  // it does not turn right when repeated
    const auto outputs = assay::Run(**network, {{"x", Floats({1, 2, 3})}});
    ASSERT_TRUE(outputs.ok());
    EXPECT_THAT((*outputs)[0].tensor()->elements<float>(),
                ElementsAre(-1, -2, -3));
  }
  const Tensor other_shape = Outcome("stale",
                                     "g (float[3] x) => (float[1,3] y) "
                                     "{ y = Flatten <axis = 0> (x) }");
  EXPECT_EQ(other_shape.Signature(), "float32[1,3]");
  EXPECT_THAT(other_shape.elements<float>(), ElementsAre(0, 0, 0));
}

TEST(Faulty, WritesIntoTheCallersMemoryWhatFitsThere) {
  for (const auto& [mutant, middle] :
       {std::pair("value", 0.25F), std::pair("shape", -1.0F)}) {
    auto network = Load(kDouble, mutant);
    ASSERT_TRUE(network.ok());
    Tensor memory = Floats({-1, -1, -1});
    const Value input = Floats({1, 2, 3});
    const Value output = memory;
    const auto binding = (*network)->Bind({&input, 1}, {&output, 1});
    ASSERT_TRUE(binding.ok()) << binding.status().ToString();
    ASSERT_TRUE((*network)->Forward(**binding).ok());
    EXPECT_EQ(memory.elements<float>()[1], middle) << mutant;
  }
}

TEST(Faulty, CorruptsGradientsToo) {
  auto network = Load(kDouble, "zeros", {"x"});
  ASSERT_TRUE(network.ok()) << network.status().ToString();
  const Value x = Floats({1, 2, 3});
  const auto binding = (*network)->Bind({&x, 1}, {});
  ASSERT_TRUE((*network)->Forward(**binding).ok());
  const std::vector<std::string> targets = {"x"};
  const auto gradients =
      (*network)->differentiable()->Backward(**binding, {&x, 1}, targets);
  ASSERT_TRUE(gradients.ok()) << gradients.status().ToString();
  EXPECT_THAT((*gradients)[0].tensor()->elements<float>(),
              ElementsAre(0, 0, 0));
}

TEST(Faulty, RefusesUnknownMutants) {
  const Status status = Load(kDouble, "typo").status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(),
              HasSubstr("'typo', wanted the name of a line of mutants.txt"));
}

// Every element type in which a tensor can be wrong is made wrong, also where
// the right value is infinite, NaN or the largest there is.
TEST(Mutants, ValueChangesEveryElementType) {
  for (int number = 1; number < kDTypeCount; ++number) {
    const auto type = static_cast<DType>(number);
    if (ClassOf(type) == DTypeClass::kComplex) continue;
    for (const uint8_t pattern : {0x00, 0x38, 0x7F, 0xFF}) {
      Tensor right = *Tensor::Allocate(type, {1});
      std::fill_n(
          right.mutable_data(), right.byte_size(),
          static_cast<std::byte>(type == DType::kBool ? pattern & 1 : pattern));
      const auto wrong = FindMutant("value")->corrupt(Value(right), Value());
      ASSERT_TRUE(wrong.ok());
      const Tensor& tensor = *wrong->tensor();
      EXPECT_FALSE(std::ranges::equal(tensor.bytes(), right.bytes()) &&
                   std::ranges::equal(tensor.strings(), right.strings()))
          << type << ' ' << int{pattern};
    }
  }
}

TEST(Mutants, LeaveTheRightOutputAlone) {
  for (const Mutant& mutant : OutputMutants()) {
    const Tensor right = Floats({1, 2, 3});
    ASSERT_TRUE(mutant.corrupt(Value(right), Value()).ok());
    EXPECT_THAT(right.elements<float>(), ElementsAre(1, 2, 3)) << mutant.name;
  }
  EXPECT_EQ(FindMutant("none"), nullptr);
}

TEST(Mutants, ReachTheItemsOfSequences) {
  const Sequence right{ValueType::OfTensor(Floats({1})), {Floats({1})}};
  const auto wrong = FindMutant("zeros")->corrupt(Value(right), Value());
  ASSERT_TRUE(wrong.ok());
  EXPECT_THAT(wrong->sequence()->items[0].tensor()->elements<float>(),
              ElementsAre(0));
}

}  // namespace
}  // namespace assay::faulty
