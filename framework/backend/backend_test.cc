// SPDX-License-Identifier: Apache-2.0

#include "framework/backend/backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "framework/backend/registry.h"
#include "framework/backend/toy/toy_backend.h"
#include "framework/backend/toy/toy_fixture.h"

namespace assay::backend {
namespace {

using ::testing::HasSubstr;

/// The same promises, held against three backends that share no code: one of
/// kernels, one that takes whole models, one that computes nothing.
struct Kind {
  const char* name;
  std::unique_ptr<Backend> (*make)();
  /// Its answer to x = {-1, 2} under y = Relu(x); empty: any.
  std::vector<float> relu;
};

std::unique_ptr<Backend> MakeNull() {
  static const auto kNames = LoadBackendModule(ASSAY_NULL_MODULE);
  if (!kNames.ok()) ADD_FAILURE() << kNames.status().ToString();
  auto made = MakeBackend("null");
  return made.ok() ? *std::move(made) : nullptr;
}

const std::array<Kind, 3> kKinds = {{
    {"Eager",
     []() -> std::unique_ptr<Backend> { return std::make_unique<toy::Toy>(); },
     {0, 2}},
    {"WholeModel",
     []() -> std::unique_ptr<Backend> {
       return std::make_unique<toy::Opaque>();
     },
     {}},
    {"Null", MakeNull, {0, 0}},
}};

using toy::BoundTo;

constexpr char kRelu[] = "g (float[2] x) => (float[2] y) { y = Relu(x) }";
constexpr char kTwoOutputs[] =
    "g (float[2] x, float[2] z) => (float[2] y, float[2] w) "
    "{ y = Relu(x) w = Add(x, z) }";

class AnyBackend : public ::testing::TestWithParam<Kind> {
 protected:
  std::unique_ptr<Network> Load(const char* text) {
    backend_ = GetParam().make();
    return toy::LoadedBy(*backend_, text);
  }

  /// The outputs after one run.
  static std::vector<Value> Outputs(Network& network, Binding& binding) {
    const Status status = network.Forward(binding);
    EXPECT_TRUE(status.ok()) << status.ToString();
    EXPECT_TRUE(network.Synchronize().ok());
    return {binding.outputs().begin(), binding.outputs().end()};
  }

  std::unique_ptr<Backend> backend_;
};

INSTANTIATE_TEST_SUITE_P(Of, AnyBackend, ::testing::ValuesIn(kKinds),
                         [](const auto& tested) { return tested.param.name; });

TEST_P(AnyBackend, DeclaresWhatTheGraphDeclares) {
  const auto network = Load(kTwoOutputs);
  ASSERT_EQ(network->inputs().size(), 2u);
  ASSERT_EQ(network->outputs().size(), 2u);
  EXPECT_EQ(network->inputs()[1].name, "z");
  EXPECT_EQ(network->outputs()[1].name, "w");
  EXPECT_EQ(network->outputs()[1].type.ToString(), "float32[2]");
}

TEST_P(AnyBackend, FetchReturnsWhatTheModelMakesOfTheFeed) {
  const auto network = Load(kRelu);
  const auto outputs = Got(assay::Run(*network, {{"x", Floats({2}, {-1, 2})}}));
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_EQ(outputs[0].tensor()->Signature(), "float32[2]");
  if (!GetParam().relu.empty()) {
    EXPECT_EQ(FloatsOf(outputs[0]), GetParam().relu);
  }
}

TEST_P(AnyBackend, RepeatingARunRepeatsItsResult) {
  const auto network = Load(kRelu);
  const auto binding = BoundTo(*network, {Floats({2}, {-1, 2})});
  const std::vector<float> first = FloatsOf(Outputs(*network, *binding)[0]);
  EXPECT_EQ(FloatsOf(Outputs(*network, *binding)[0]), first);
}

TEST_P(AnyBackend, BindingsOfOneNetworkAreApart) {
  const auto network = Load(kRelu);
  const auto a = BoundTo(*network, {Floats({2}, {1, 2})});
  const auto b = BoundTo(*network, {Floats({2}, {3, 4})});
  const std::vector<float> of_a = FloatsOf(Outputs(*network, *a)[0]);
  Outputs(*network, *b);
  EXPECT_EQ(FloatsOf(a->outputs()[0]), of_a);
  EXPECT_NE(a->outputs()[0].tensor()->data(), b->outputs()[0].tensor()->data());
}

TEST_P(AnyBackend, NetworksOfOneModelAreApart) {
  const auto a = Load(kRelu);
  const auto first_backend = std::move(backend_);
  const auto b = Load(kRelu);
  const std::vector<Value> inputs = {Floats({2}, {-1, 2})};
  const auto binding_a = BoundTo(*a, inputs);
  const auto binding_b = BoundTo(*b, inputs);
  EXPECT_EQ(FloatsOf(Outputs(*a, *binding_a)[0]),
            FloatsOf(Outputs(*b, *binding_b)[0]));
}

TEST_P(AnyBackend, OutputsOfTheCallerAreWrittenInPlace) {
  const auto network = Load(kTwoOutputs);
  const std::vector<Value> inputs = {Floats({2}, {-1, 2}), Floats({2}, {3, 4})};
  const auto free_binding = BoundTo(*network, inputs);
  const std::vector<float> want = FloatsOf(Outputs(*network, *free_binding)[1]);

  std::array<float, 2> memory = {77, 77};
  const auto binding =
      BoundTo(*network, inputs,
              {Value(), *Tensor::Borrow(DType::kFloat32, {2}, memory.data())});
  const std::vector<Value> outputs = Outputs(*network, *binding);
  EXPECT_EQ(std::vector<float>(memory.begin(), memory.end()), want);
  EXPECT_EQ(static_cast<const void*>(outputs[1].tensor()->data()),
            memory.data());
  EXPECT_EQ(outputs[0].tensor()->Signature(), "float32[2]");
}

TEST_P(AnyBackend, HeldOutputsKeepTheirBytes) {
  const auto network = Load(kRelu);
  Tensor x = Floats({2}, {1, 2});
  const auto binding = BoundTo(*network, {x});
  const Value held = Outputs(*network, *binding)[0];
  const std::vector<float> before = FloatsOf(held);
  x.mutable_elements<float>()[0] = 50;
  Outputs(*network, *binding);
  EXPECT_EQ(FloatsOf(held), before);
}

TEST_P(AnyBackend, WrongBindingsAreRefusedByName) {
  const auto network = Load(kTwoOutputs);
  const Value good = Floats({2}, {1, 2});
  const std::vector<Value> right = {good, good};
  const Value longer = Floats({3}, {1, 2, 3});
  const Value integers = *Tensor::Allocate(DType::kInt32, {2});
  const Value sequence = Sequence{ValueType(), {}};
  const struct {
    const char* what;
    std::vector<Value> inputs;
    std::vector<Value> outputs;
    const char* message;
  } rows[] = {
      {"one input", {good}, {}, "found 1 inputs, wanted 2"},
      {"no input", {}, {}, "found 0 inputs, wanted 2"},
      {"absent input", {good, Value()}, {}, "input 'z' has no value"},
      {"long input",
       {longer, good},
       {},
       "'x' is float32[3], wanted float32[2]"},
      {"integers", {good, integers}, {}, "'z' is int32[2], wanted float32[2]"},
      {"sequence", {sequence, good}, {}, "'x' is seq("},
      {"one output", right, {Value()}, "found 1 outputs, wanted none or"},
      {"long output", right, {Value(), longer}, "output 'w' is float32"},
      {"integer output", right, {integers, Value()}, "output 'y' is int"},
      {"sequence output", right, {sequence, Value()}, "only tensors"},
      {"typeless output", right, {Value(), Tensor()}, "only tensors"},
      {"output over input", right, {good, Value()}, "overlaps"},
  };
  for (const auto& row : rows) {
    const auto binding = network->Bind(row.inputs, row.outputs);
    EXPECT_THAT(binding.status(),
                IsStatus(StatusCode::kInvalidArgument, row.message))
        << row.what;
  }
}

TEST_P(AnyBackend, UnknownSettingsAreRefused) {
  const LoadOptions options = {.settings = {{"colour", "blue"}}};
  const auto network =
      GetParam().make()->Load(graph::ModelOfText(kRelu), options);
  EXPECT_THAT(network.status(),
              IsStatus(StatusCode::kInvalidArgument, "colour"));
}

TEST(CheckBind, OutputsMayTouchButNotOverlap) {
  const ValueInfo info{"v", ValueType::OfTensor(DType::kFloat32, {Dim(2)})};
  const std::vector<ValueInfo> none;
  const std::vector<ValueInfo> two = {info, info};
  std::array<float, 4> memory = {};
  struct Row {
    int second_starts;
    bool ok;
  };
  for (const Row row : {Row{0, false}, Row{1, false}, Row{2, true}}) {
    const std::vector<Value> outputs = {
        *Tensor::Borrow(DType::kFloat32, {2}, memory.data()),
        *Tensor::Borrow(DType::kFloat32, {2},
                        memory.data() + row.second_starts)};
    EXPECT_EQ(CheckBind(none, two, {}, outputs).ok(), row.ok)
        << row.second_starts;
  }
}

TEST(CheckBind, OnlyOptionalInputsMayBeAbsent) {
  ValueType optional;
  optional.kind = ValueKind::kOptional;
  const std::vector<ValueInfo> declared = {{"o", optional}, {"any", {}}};
  EXPECT_TRUE(CheckBind(declared, {}, std::vector<Value>(2), {}).ok());
}

TEST(RunByName, UnknownAndMissingInputsAreNamed) {
  toy::Toy toy;
  const auto network = *toy.Load(graph::ModelOfText(kRelu), {});
  const Value x = Floats({2}, {1, 2});
  EXPECT_THAT(assay::Run(*network, {}).status().message(),
              HasSubstr("input 'x'"));
  const Status unknown = assay::Run(*network, {{"x", x}, {"q", x}}).status();
  EXPECT_THAT(unknown, IsStatus(StatusCode::kInvalidArgument,
                                "found inputs 'q', 'x', wanted 'x'"));
}

TEST(Null, DeclinesWhatHasNoStaticTensorOutput) {
  const struct {
    const char* text;
    Reason reason;
  } rows[] = {
      {"g (float[N] x) => (float[N] y) { y = Relu(x) }", Reason::kShape},
      {"g (float[2] x) => (float[4294967296] y) { y = Relu(x) }",
       Reason::kShape},
      {"g (float[2] x) => (seq(float[2]) y) { y = SequenceConstruct(x) }",
       Reason::kValueKind},
  };
  const auto null = MakeNull();
  for (const auto& row : rows) {
    const Status status = null->Load(graph::ModelOfText(row.text), {}).status();
    EXPECT_EQ(status.code(), StatusCode::kUnsupported) << row.text;
    EXPECT_EQ(status.reason(), row.reason) << row.text;
  }
}

}  // namespace
}  // namespace assay::backend
