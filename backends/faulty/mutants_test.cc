// SPDX-License-Identifier: Apache-2.0
//
// The tables and mutants.txt say the same, and a mutant of operators leaves all
// others right, as does a mutant of what is accepted.

#include "backends/faulty/mutants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "backends/faulty/faulty_fixture.h"
#include "backends/faulty/gradient_defect.h"
#include "framework/testing/support/statuses_fixture.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::faulty {
namespace {

using reference::F;
using reference::Feed;
using reference::I;

struct Line {
  std::string name;
  std::string kind;
  std::string suite;
};

std::vector<Line> LinesOfFile() {
  std::ifstream file(ASSAY_FAULTY_MUTANTS);
  EXPECT_TRUE(file.is_open()) << ASSAY_FAULTY_MUTANTS;
  const std::regex form(
      "mutant ([a-z0-9_.+]+|(?:gradient:[a-z0-9_.]+:)?\\w+(?::\\w+)?[.]\\w+|"
      "gradient:as:\\w+) of ([a-z-]+) (?:where [^\"]+ )?killed by "
      "(node|model|contract|special|gradcheck|recheck) because \"[^\"]+\"");
  std::vector<Line> lines;
  for (std::string text; std::getline(file, text);) {
    if (text.empty() || text.starts_with('#')) continue;
    std::smatch parts;
    EXPECT_TRUE(std::regex_match(text, parts, form)) << text;
    if (parts.size() == 4) lines.push_back({parts[1], parts[2], parts[3]});
  }
  return lines;
}

TEST(MutantsFile, NamesTheMutantsOfTheTablesEachOnce) {
  std::vector<std::string> in_file;
  for (const Line& line : LinesOfFile()) {
    if (IgnoredAttribute(line.name) || ParseGradientMutant(line.name)) continue;
    in_file.push_back(line.name);
  }
  std::vector<std::string> in_tables;
  for (const Mutant& mutant : Mutants()) in_tables.emplace_back(mutant.name);
  std::ranges::sort(in_file);
  std::ranges::sort(in_tables);
  EXPECT_EQ(in_file, in_tables);
  EXPECT_EQ(std::ranges::adjacent_find(in_file), in_file.end());
}

TEST(MutantsFile, HasMutantsOfManyClasses) {
  std::set<std::string> classes;
  const std::vector<Line> lines = LinesOfFile();
  for (const Line& line : lines) classes.insert(line.kind);
  EXPECT_GE(lines.size(), 66U);
  EXPECT_GE(classes.size(), 20U);
}

TEST(MutantsFile, NamesGradientMutantsThatThereAre) {
  std::set<std::string> operators;
  int n_mutants = 0;
  for (const Line& line : LinesOfFile()) {
    const auto what = ParseGradientMutant(line.name);
    EXPECT_EQ(what.has_value(), line.suite == "gradcheck") << line.name;
    if (!what.has_value()) continue;
    ++n_mutants;
    if (!what->mutant.empty()) {
      EXPECT_TRUE(FindMutant(what->mutant) || IgnoredAttribute(what->mutant))
          << line.name;
      continue;
    }
    EXPECT_NE(FindGradientRule(what->rule, what->op_type), nullptr)
        << line.name;
    EXPECT_TRUE(FindOperator("", what->op_type).has_value()) << line.name;
    operators.insert(what->op_type);
  }
  EXPECT_GE(n_mutants, 120);
  EXPECT_GE(operators.size(), 30U);
}

struct Case {
  std::string graph;
  std::vector<Feed> feeds;
};

std::vector<Case> Networks() {
  const Feed x = F({2, 3}, {1, -2, 3, 0.5, 5, -6});
  return {
      {"g (float[2,3] x) => (float[2,3] y) { y = Add(x, x) }", {x}},
      {"g (float[2,3] x) => (float[2,3] y) { y = Sinh(x) }", {x}},
      {"g (float[2,3] x) => (float[2,3] y) { y = Relu(x) }", {x}},
      {"g (float[2,3] x) => (float[2,3] y) { y = Softmax(x) }", {x}},
      {"g (float[2,3] x) => (float[3,2] y) { y = Transpose(x) }", {x}},
      {"g (float[2,3] x) => (float[1,1] y) { y = ReduceSum(x) }", {x}},
      {"g (float[2,3] x) => (int32[2,3] y) { y = Cast<to = 6>(x) }", {x}},
      {"g (float[1,1,2,3] x) => (float[1,1,1,2] y) "
       "{ y = MaxPool<kernel_shape = [2, 2]>(x) }",
       {F({1, 1, 2, 3}, {1, -2, 3, 0.5, 5, -6})}},
      {"g (float[2,3] a, float[3,2] b) => (float[2,2] y) { y = MatMul(a, b) }",
       {x, F({3, 2}, {1, 2, 3, 4, 5, 6})}},
      {"g (int64[3] a, int64[3] b) => (int64[3] y) { y = Mod(a, b) }",
       {I({3}, {7, -7, 7}), I({3}, {3, 3, -3})}},
  };
}

TEST(Mutants, OfOperatorsLeaveOtherOperatorsRight) {
  int compared = 0;
  for (const Case& network : Networks()) {
    const auto right = RunWith("", network.graph, network.feeds);
    ASSERT_TRUE(right.ok()) << network.graph << right.status().ToString();
    for (const Mutant& mutant : Mutants()) {
      const auto& operators = mutant.operators.operators;
      const bool touched =
          std::ranges::any_of(operators, [&](std::string_view name) {
            return network.graph.find(StrCat(" ", name, "(")) !=
                       std::string::npos ||
                   network.graph.find(StrCat(" ", name, "<")) !=
                       std::string::npos;
          });
      const bool wide = mutant.corrupt != nullptr || mutant.run != nullptr;
      if (wide || touched) continue;
      const auto outputs = RunWith(mutant.name, network.graph, network.feeds);
      ASSERT_TRUE(outputs.ok()) << mutant.name << outputs.status().ToString();
      EXPECT_TRUE(SameBits(*outputs, *right)) << mutant.name << network.graph;
      ++compared;
    }
  }
  EXPECT_GT(compared, 1000);
}

TEST(IgnoredAttribute, IsErasedFromItsOperatorInSubgraphsToo) {
  const std::string leaky = "LeakyRelu<alpha = 0.5>(x)";
  const std::string branch = StrCat("b () => (float[2] z) { z = ", leaky, " }");
  const std::string graphs[] = {
      StrCat("g (float[2] x) => (float[2] y) { y = ", leaky, " }"),
      StrCat(
          "g (float[2] x) => (float[2] y) { c = Constant<value = bool {1}>()",
          " y = If<then_branch = ", branch, ", else_branch = ", branch,
          ">(c) }")};
  const Feed x = F({2}, {-2, 4});
  for (const std::string& graph : graphs) {
    const auto right = Got(RunWith("", graph, {x}));
    EXPECT_TRUE(SameBits(*RunWith("ignore:Elu.alpha", graph, {x}), right));
    EXPECT_TRUE(SameBits(*RunWith("ignore:LeakyRelu.beta", graph, {x}), right));
    const auto wrong = Got(RunWith("ignore:LeakyRelu.alpha", graph, {x}));
    EXPECT_EQ(wrong.at(0).tensor()->elements<float>()[0], -2 * 0.01F);
    EXPECT_EQ(wrong.at(0).tensor()->elements<float>()[1], 4);
  }
}

// A mutant of operators names every operator that its family takes.
TEST(Mutants, OfOperatorsNameThem) {
  for (const Mutant& mutant : Mutants()) {
    for (const std::string_view name : mutant.operators.operators) {
      EXPECT_TRUE(std::ranges::any_of(Domains(), [&](const DomainInfo& of) {
        return FindOperator(of.domain, name).has_value();
      })) << mutant.name;
    }
  }
}

using ::testing::ElementsAre;

constexpr char kDouble[] = "g (float[3] x) => (float[3] y) { y = Add(x, x) }";

/// y = x + x under the mutant; 2, 4, 6 are right.
Tensor Outcome(const std::string& mutant, const std::string& graph = kDouble) {
  const auto network = Got(LoadWith(mutant, graph));
  return *Got(assay::Run(*network, {{"x", Floats({1, 2, 3})}}))[0].tensor();
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
  auto network = Got(LoadWith("stale", kDouble));
  for (int run = 0; run < 2; ++run) {  // it does not turn right when repeated
    const auto outputs = Got(assay::Run(*network, {{"x", Floats({1, 2, 3})}}));
    EXPECT_THAT(outputs[0].tensor()->elements<float>(),
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
    auto network = Got(LoadWith(mutant, kDouble));
    Tensor memory = Floats({-1, -1, -1});
    const Value input = Floats({1, 2, 3});
    const Value output = memory;
    const auto binding = Got(network->Bind({&input, 1}, {&output, 1}));
    ASSERT_TRUE(network->Forward(*binding).ok());
    EXPECT_EQ(memory.elements<float>()[1], middle) << mutant;
  }
}

TEST(Faulty, CorruptsGradientsToo) {
  const std::vector<std::string> targets = {"x"};
  auto network = Got(LoadWith("zeros", kDouble, {.gradient_targets = targets}));
  const Value x = Floats({1, 2, 3});
  const auto binding = network->Bind({&x, 1}, {});
  ASSERT_TRUE(network->Forward(**binding).ok());
  const auto gradients =
      Got(network->differentiable()->Backward(**binding, {&x, 1}, targets));
  EXPECT_THAT(gradients[0].tensor()->elements<float>(), ElementsAre(0, 0, 0));
}

TEST(Faulty, RefusesUnknownMutants) {
  EXPECT_THAT(LoadWith("typo", kDouble).status(),
              IsStatus(StatusCode::kInvalidArgument,
                       "'typo', wanted the name of a line of mutants.txt"));
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
      const auto wrong =
          Got(FindMutant("value")->corrupt(Value(right), Value()));
      const Tensor& tensor = *wrong.tensor();
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
  const auto wrong = Got(FindMutant("zeros")->corrupt(Value(right), Value()));
  EXPECT_THAT(wrong.sequence()->items[0].tensor()->elements<float>(),
              ElementsAre(0));
}

}  // namespace

}  // namespace assay::faulty
