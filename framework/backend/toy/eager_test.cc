// SPDX-License-Identifier: Apache-2.0

#include "framework/backend/eager/eager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "framework/backend/toy/toy_backend.h"
#include "framework/backend/toy/toy_fixture.h"

namespace assay::toy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::unique_ptr<Network> Load(const std::string& text,
                              const LoadOptions& options = {}) {
  Toy toy;
  return LoadedBy(toy, text, options);
}

/// The first output of a run over these inputs, in their order.
std::vector<float> RunOf(Network& network, const std::vector<Value>& inputs) {
  const auto binding = BoundTo(network, inputs);
  return Forward(network, *binding);
}

constexpr char kChain[] =
    "g (float[2] x) => (float[2] y) <float[2] one = {1, 1}> "
    "{ h = Relu(x) y = Add(h, one) }";

TEST(Eager, NodesRunInOrderOverInitializers) {
  EXPECT_THAT(RunOf(*Load(kChain), {Floats({2}, {-1, 2})}), ElementsAre(1, 3));
}

TEST(Eager, MemoryIsUsedAgainUnlessItIsHeld) {
  const auto network = Load(kChain);
  const auto binding = BoundTo(*network, {Floats({2}, {1, 2})});
  ASSERT_TRUE(network->Forward(*binding).ok());
  const void* const first = binding->outputs()[0].tensor()->data();
  ASSERT_TRUE(network->Forward(*binding).ok());
  EXPECT_EQ(binding->outputs()[0].tensor()->data(), first);
  const Value held = binding->outputs()[0];
  ASSERT_TRUE(network->Forward(*binding).ok());
  EXPECT_NE(binding->outputs()[0].tensor()->data(), first);
  EXPECT_THAT(FloatsOf(held), ElementsAre(2, 3));
}

constexpr char kKeep[] =
    "g (float[2] x) => (float[2] y, float n) <float[2] w = {1, 2}> "
    "{ y, n = test.Keep(x, w) }";

// Kills: a mark of two bindings, and one that no run has again.
TEST(Eager, AKernelKeepsPointersOfABinding) {
  const auto network = Load(kKeep);
  Tensor x = Floats({2}, {1, 2});
  const Tensor other = Floats({2}, {5, 6});
  const std::vector<Value> of_x = {Floats({2}, {0, 0}), Floats({}, {0})};
  const std::vector<Value> of_other = {Floats({2}, {0, 0}), Floats({}, {0})};
  const auto first = BoundTo(*network, {x}, of_x);
  const auto second = BoundTo(*network, {other}, of_other);
  EXPECT_THAT(Forward(*network, *first), ElementsAre(2, 4));
  EXPECT_THAT(Forward(*network, *second), ElementsAre(6, 8));
  EXPECT_THAT(FloatsOf(of_x[0]), ElementsAre(2, 4));
  EXPECT_THAT(Forward(*network, *first), ElementsAre(2, 4));
  EXPECT_THAT(FloatsOf(of_x[1]), ElementsAre(3));
  x.mutable_elements<float>()[0] = 7;
  EXPECT_THAT(Forward(*network, *first), ElementsAre(8, 4));
  EXPECT_THAT(FloatsOf(of_x[1]), ElementsAre(3));
}

// Kills: marks of runs that may have other tensors.
TEST(Eager, AKernelKeepsNoPointersThatMayChange) {
  const std::vector<Value> given = {Floats({2}, {0, 0}), Floats({}, {0})};
  const auto network =
      Load(kKeep, {.mode = Mode::kTraining, .trainable = {"w"}});
  const auto trained = BoundTo(*network, {Floats({2}, {1, 1})}, given);
  EXPECT_THAT(Forward(*network, *trained), ElementsAre(2, 3));
  ASSERT_TRUE(network->parameters()->Write("w", Floats({2}, {5, 6})).ok());
  EXPECT_THAT(Forward(*network, *trained), ElementsAre(6, 7));

  // Outputs of its own, which somebody holds.
  Tensor x = Floats({2}, {1, 1});
  const auto fixed = Load(kKeep);
  const auto own = BoundTo(*fixed, {x});
  EXPECT_THAT(Forward(*fixed, *own), ElementsAre(2, 3));
  const Value held = own->outputs()[0];
  x.mutable_elements<float>()[0] = 8;
  EXPECT_THAT(Forward(*fixed, *own), ElementsAre(9, 3));
  EXPECT_THAT(FloatsOf(held), ElementsAre(2, 3));

  // An input that another node computes, into other memory where it is held.
  const auto chain = Load(
      "g (float[2] x) => (float[2] y, float n, float[2] h) "
      "{ h = Relu(x) y, n = test.Keep(h, h) }");
  const auto bound = BoundTo(*chain, {x}, {given[0], given[1], Value()});
  EXPECT_THAT(Forward(*chain, *bound), ElementsAre(16, 2));
  const Value kept = bound->outputs()[2];
  x.mutable_elements<float>()[0] = 3;
  EXPECT_THAT(Forward(*chain, *bound), ElementsAre(6, 2));
}

TEST(Eager, SharedIntermediatesDoNotCostMemoryEachRun) {
  const auto network = Load(
      "g (float[2] x) => (float[2] y, float[2] h, float[2] y) "
      "{ h = Relu(x) y = Identity(h) }");
  const auto binding = BoundTo(*network, {Floats({2}, {1, 2})});
  ASSERT_TRUE(network->Forward(*binding).ok());
  const void* const first = binding->outputs()[1].tensor()->data();
  EXPECT_EQ(binding->outputs()[0].tensor()->data(), first);
  ASSERT_TRUE(network->Forward(*binding).ok());
  EXPECT_EQ(binding->outputs()[1].tensor()->data(), first);
  EXPECT_THAT(FloatsOf(binding->outputs()[2]), ElementsAre(1, 2));
}

/// Outputs that are an input, an initializer, an intermediate, or twice there.
TEST(Eager, AnyValueMayBeAnOutput) {
  constexpr char kText[] =
      "g (float[2] x) => (float[2] x, float[2] w, float[2] h, float[2] y, "
      "float[2] y) <float[2] w = {7, 8}> { h = Relu(x) y = Add(h, w) }";
  const auto network = Load(kText);
  const std::vector<std::vector<float>> want = {
      {-1, 2}, {7, 8}, {0, 2}, {7, 10}, {7, 10}};
  // Every subset of the outputs is given by the caller once.
  for (unsigned subset = 0; subset < 32; ++subset) {
    std::array<std::array<float, 2>, 5> memory = {};
    std::vector<Value> given(5);
    for (size_t i = 0; i < 5; ++i) {
      if ((subset >> i & 1) == 0) continue;
      given[i] = *Tensor::Borrow(DType::kFloat32, {2}, memory[i].data());
    }
    const auto binding =
        *network->Bind(std::vector<Value>{Floats({2}, {-1, 2})}, given);
    for (int repeat = 0; repeat < 2; ++repeat) {
      ASSERT_TRUE(network->Forward(*binding).ok());
      for (size_t i = 0; i < 5; ++i) {
        const Tensor& output = *binding->outputs()[i].tensor();
        EXPECT_EQ(FloatsOf(output), want[i]) << subset << " " << i;
        if (!given[i].present()) continue;
        EXPECT_EQ(static_cast<const void*>(output.data()), memory[i].data());
      }
    }
  }
}

TEST(Eager, ExtraOutputsFollowTheDeclaredOnes) {
  LoadOptions options = {.extra_outputs = {"h", "one"}};
  const auto network = Load(kChain, options);
  ASSERT_EQ(network->outputs().size(), 3u);
  EXPECT_EQ(network->outputs()[1].name, "h");
  EXPECT_EQ(network->outputs()[1].type.ToString(), "float32[2]");
  const auto outputs = *assay::Run(*network, {{"x", Floats({2}, {-1, 2})}});
  EXPECT_THAT(FloatsOf(outputs[1]), ElementsAre(0, 2));
  EXPECT_THAT(FloatsOf(outputs[2]), ElementsAre(1, 1));

  Toy toy;
  options.extra_outputs = {"nowhere"};
  EXPECT_THAT(toy.Load(graph::ModelOfText(kChain), options).status().message(),
              HasSubstr("extra output 'nowhere'"));
}

TEST(Eager, MemoryOfAnotherShapeIsRefusedWhenTheShapeIsComputed) {
  const auto network = Load("g (float[N] x) => (float[M] y) { y = Relu(x) }");
  std::array<float, 3> memory = {};
  const auto binding = *network->Bind(
      std::vector<Value>{Floats({2}, {1, 2})},
      std::vector<Value>{*Tensor::Borrow(DType::kFloat32, {3}, memory.data())});
  EXPECT_THAT(network->Forward(*binding).message(),
              HasSubstr("'y' is computed as float32[2], the caller's memory is "
                        "float32[3]"));
}

TEST(Eager, BindingsOfOtherNetworksAreRefused) {
  const auto a = Load(kChain);
  const auto b = Load(kChain);
  const auto binding = BoundTo(*b, {Floats({2}, {1, 2})});
  EXPECT_EQ(a->Forward(*binding).code(), StatusCode::kInvalidArgument);
}

TEST(Eager, BadKernelsBecomeStatusesThatNameTheNode) {
  const struct {
    const char* op;
    StatusCode code;
    const char* message;
  } rows[] = {
      {"Throw", StatusCode::kInternal, "the device fell off"},
      {"ThrowText", StatusCode::kInternal, "unknown type"},
      {"Exhaust", StatusCode::kResourceExhausted, "memory"},
      {"Refuse", StatusCode::kInvalidArgument, "refused"},
      {"Silent", StatusCode::kInternal, "did not write output 'y'"},
  };
  for (const auto& row : rows) {
    const auto network =
        Load(StrCat("g (float[1] x) => (float[1] y) { h = Relu(x) y = test.",
                    row.op, "(h) }"));
    const Status status =
        assay::Run(*network, {{"x", Floats({1}, {1})}}).status();
    EXPECT_THAT(status, IsStatus(row.code, row.message)) << row.op;
    EXPECT_THAT(status.message(), testing::StartsWith(row.op));
  }
}

TEST(Eager, LoadDeclinesWithReasonAndNode) {
  const struct {
    const char* text;
    StatusCode code;
    Reason reason;
    const char* message;
  } rows[] = {
      {"g (float[1] x) => (float[1] y) { y = Sin(x) }",
       StatusCode::kUnsupported, Reason::kOperator, "Sin"},
      {"g (float16[1] x) => (float16[1] y) { y = Relu(x) }",
       StatusCode::kUnsupported, Reason::kDType, "float16"},
      {"g (float[1] x) => (float[1] y) { y = test.Unknown(x) }",
       StatusCode::kUnsupported, Reason::kOperator, "test.Unknown"},
      {"g (float[1] x) => (float[1] y) { y = test.ThrowAtLoad(x) }",
       StatusCode::kInternal, Reason::kNone, "no such kernel"},
      {"g (bool c, float[1] x) => (float[1] y) { y = If(c) <"
       "then_branch = t () => (float[1] a) { a = Relu(x) },"
       "else_branch = e () => (float[1] b) { b = Cos(x) }> }",
       StatusCode::kUnsupported, Reason::kOperator, "If: Cos"},
  };
  for (const auto& row : rows) {
    Toy toy;
    const Status status = toy.Load(graph::ModelOfText(row.text), {}).status();
    EXPECT_EQ(status.code(), row.code) << status.ToString();
    EXPECT_EQ(status.reason(), row.reason) << row.text;
    EXPECT_THAT(status.message(), HasSubstr(row.message));
  }
}

TEST(Eager, UntypedIntermediatesAreInferred) {
  // The second Relu can only be made when the type of h is known.
  const auto network =
      Load("g (float[2] x) => (float[2] y) { h = Relu(x) y = Relu(h) }");
  EXPECT_THAT(RunOf(*network, {Floats({2}, {-1, 2})}), ElementsAre(0, 2));
}

TEST(Eager, OlderOperatorVersionsAreBroughtUp) {
  Toy toy;
  const auto network = Got(toy.Load(
      graph::ModelOfText("g (float[2] x) => (float[2] y) { y = Relu(x) }", 9),
      {}));
  EXPECT_THAT(RunOf(*network, {Floats({2}, {-1, 2})}), ElementsAre(0, 2));
}

constexpr char kIf[] =
    "g (bool c, float[2] x) => (float[2] y) <float[2] w = {10, 20}> {"
    "  h = Relu(x)"
    "  y = If(c) <"
    "    then_branch = t () => (float[2] a) { a = Add(h, w) },"
    "    else_branch = e () => (float[2] b) {"
    "      b = If(c) <"
    "        then_branch = tt () => (float[2] d) { d = Identity(x) },"
    "        else_branch = ee () => (float[2] f) { f = Add(x, h) }>"
    "    }>"
    "}";

TEST(Eager, SubgraphsSeeOuterValuesThroughSeveralLevels) {
  const auto network = Load(kIf);
  struct Row {
    bool condition;
    std::vector<float> want;
  };
  for (const Row& row : {Row{true, {10, 22}}, Row{false, {-1, 4}}}) {
    EXPECT_EQ(RunOf(*network, {Scalar(row.condition), Floats({2}, {-1, 2})}),
              row.want);
  }
}

TEST(Eager, ErrorsInSubgraphsNameTheWayThere) {
  const auto network = Load(
      "g (bool c, float[2] x) => (float[2] y) { y = If(c) <"
      "then_branch = t () => (float[2] a) { a = test.Throw(x) },"
      "else_branch = e () => (float[2] b) { b = Relu(x) }> }");
  const Status status =
      assay::Run(*network, {{"c", Scalar(true)}, {"x", Floats({2}, {-1, 2})}})
          .status();
  EXPECT_THAT(status,
              IsStatus(StatusCode::kInternal, "If: then_branch: Throw: "));
}

TEST(Eager, LoopsCarryValues) {
  const auto network = Load(
      "g (int64 n, bool c, float[2] x) => (float[2] y) { y = Loop(n, c, x) <"
      "body = b (int64 i, bool go, float[2] v) => (bool next, float[2] w) "
      "{ next = Identity(go) w = Add(v, x) }> }");
  const Tensor three = Int64s({}, {3});
  const auto binding = BoundTo(
      *network,
      {three, *Tensor::Allocate(DType::kBool, {}), Floats({2}, {1, 10})});
  for (int repeat = 0; repeat < 2; ++repeat) {
    EXPECT_THAT(Forward(*network, *binding), ElementsAre(4, 40));
  }
}

constexpr char kWeights[] =
    "g (float[1,2] x) => (float[1,2] y) "
    "<float[2,2] w = {1, 2, 3, 4}> { y = MatMul(x, w) }";

TEST(Eager, PlacementTellsWhoRanEachNode) {
  const auto placed = Load(kWeights)->placement()->Placed();
  ASSERT_EQ(placed.size(), 1u);
  EXPECT_EQ(placed[0].node, "MatMul");
  EXPECT_EQ(placed[0].executor, "fixed weights");
  EXPECT_EQ(Load(kChain)->placement()->Placed()[0].executor, "toy");
}

TEST(Eager, ConstantsAreKnownAtLoadThroughNodesAndLevels) {
  const std::vector<std::string> texts = {
      kWeights,
      "g (float[1,1] x) => (float[1,1] y) "
      "{ w = Constant<value = float[1,1] {3}>() y = MatMul(x, w) }",
      "g (float[1,1] x) => (float[1,1] y) "
      "{ w = Constant<value_floats = [3.0]>() y = MatMul(x, w) }",
      "g (float[1,1] x) => (float[1,1] y) "
      "{ w = Constant<value_float = 3.0>() y = MatMul(x, w) }",
  };
  for (const std::string& text : texts) {
    EXPECT_EQ(Load(text)->placement()->Placed().back().executor,
              "fixed weights")
        << text;
  }
}

TEST(Eager, ParametersAreOfferedInTrainingOnly) {
  EXPECT_EQ(Load(kWeights)->parameters(), nullptr);
  LoadOptions training = {.mode = Mode::kTraining, .trainable = {"w"}};
  const auto network = Load(kWeights, training);
  EXPECT_THAT(network->parameters()->List(), ElementsAre("w"));
  training.trainable = {"nobody"};
  EXPECT_THAT(
      Toy().Load(graph::ModelOfText(kWeights), training).status().message(),
      HasSubstr("'nobody' is to be trained"));
  training.trainable = {};
  EXPECT_THAT(Load(kWeights, training)->parameters()->List(), IsEmpty());
  // A kernel must not bake in what may be written.
  EXPECT_EQ(network->placement()->Placed()[0].executor, "toy");
  EXPECT_EQ(Load(kWeights, training)->placement()->Placed()[0].executor,
            "fixed weights");
  EXPECT_THAT(Load(kWeights, {.gradient_targets = {"w"}})->parameters()->List(),
              ElementsAre("w"));
}

TEST(Eager, ParametersAreReadByTheNextForward) {
  LoadOptions training = {.mode = Mode::kTraining, .trainable = {"w"}};
  const auto model = graph::ModelOfText(kWeights);
  Toy toy;
  const auto network = *toy.Load(model, training);
  const auto untouched = *toy.Load(model, training);
  const auto binding = BoundTo(*network, {Floats({1, 2}, {1, 1})});
  EXPECT_THAT(Forward(*network, *binding), ElementsAre(4, 6));

  Parameters& parameters = *network->parameters();
  const Tensor old = *parameters.Read("w");
  ASSERT_TRUE(parameters.Write("w", Floats({2, 2}, {0, 1, 0, 1})).ok());
  EXPECT_THAT(Forward(*network, *binding), ElementsAre(0, 2));
  EXPECT_THAT(FloatsOf(old), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(parameters.Write("w", Floats({4}, {0, 0, 0, 0})).message(),
              HasSubstr("'w' is float32[2,2], found float32[4]"));
  EXPECT_EQ(parameters.Read("v").status().code(), StatusCode::kNotFound);

  Tensor memory = *parameters.Memory("w");
  std::ranges::fill(memory.mutable_elements<float>(), 3.0F);
  EXPECT_THAT(Forward(*network, *binding), ElementsAre(6, 6));
  // The memory has a written value, too, and the model's own numbers stay.
  ASSERT_TRUE(parameters.Write("w", Floats({2, 2}, {0, 1, 0, 1})).ok());
  EXPECT_THAT(FloatsOf(memory), ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(FloatsOf(*untouched->parameters()->Read("w")),
              ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(parameters.Memory("v").status().code(), StatusCode::kNotFound);
}

TEST(Eager, FunctionsOfTheModelAreInlined) {
  const auto network = Load(
      "g (float[1] x) => (float[1] y) { y = test.Twofold(x) }\n"
      "<domain: \"test\", opset_import: [\"\" : 20]> Twofold (x) => (y) "
      "{ y = Add(x, x) }");
  EXPECT_THAT(RunOf(*network, {Floats({1}, {3})}), ElementsAre(6));
}

TEST(Eager, KnownSettingsAreAccepted) {
  LoadOptions options = {.settings = {{"threads", "1"}}};
  EXPECT_NE(Load(kChain, options), nullptr);
}

TEST(Eager, DeviceMemoryIsDeclinedAtBind) {
  const auto network = Load(kChain);
  std::array<float, 2> memory = {};
  const Value elsewhere = *Tensor::Borrow(DType::kFloat32, {2}, memory.data(),
                                          {Device::Kind::kCuda, 0});
  EXPECT_EQ(network->Bind(std::vector<Value>{elsewhere}, {}).status().reason(),
            Reason::kDevice);
}

}  // namespace
}  // namespace assay::toy
