// SPDX-License-Identifier: Apache-2.0
//
// Bound gradients, of the eager runtime and by the default of Differentiable.

#include "framework/backend/eager/gradient_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <new>

#include "framework/backend/forwarding_network.h"
#include "framework/backend/toy/toy_backend.h"
#include "framework/backend/toy/toy_fixture.h"

namespace {

/// Counts what the process takes by new, the framework's library included; a
/// tensor takes its owner so.
std::atomic<int64_t> allocations = 0;

void* Take(size_t size, size_t alignment) {
  ++allocations;
  const size_t whole = (size + alignment) / alignment * alignment;
  void* const memory = std::aligned_alloc(alignment, whole);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(size_t size) { return Take(size, alignof(max_align_t)); }
void* operator new(size_t size, std::align_val_t alignment) {
  return Take(size, static_cast<size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, size_t, std::align_val_t) noexcept {
  std::free(memory);
}

namespace assay::toy {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using NameList = std::vector<std::string>;

void Write(Tensor tensor, const std::vector<double>& elements) {
  std::ranges::copy(elements, tensor.mutable_elements<double>().begin());
}

/// A network whose Differentiable has Backward only, and is the default in the
/// rest.
class OneShot final : public ForwardingNetwork, private Differentiable {
 public:
  using ForwardingNetwork::ForwardingNetwork;
  Differentiable* differentiable() override { return this; }

 private:
  Result<std::vector<Value>> Backward(
      Binding& binding, std::span<const Value> cotangents,
      std::span<const std::string> targets) override {
    return inner().differentiable()->Backward(binding, cotangents, targets);
  }
};

/// A network of the toy's, of both kinds.
class Bound : public testing::TestWithParam<const char*> {
 protected:
  void Load(const std::string& text, const NameList& targets) {
    Toy toy;
    network_ = LoadedBy(toy, text,
                        {.mode = Mode::kTraining, .gradient_targets = targets});
    if (std::string_view(GetParam()) == "Default") {
      network_ = std::make_unique<OneShot>(std::move(network_));
    }
  }

  std::unique_ptr<Binding> Run(const std::vector<Value>& inputs) {
    auto binding = network_->Bind(inputs, {});
    EXPECT_TRUE(network_->Forward(**binding).ok());
    return *std::move(binding);
  }

  Result<std::unique_ptr<GradientBinding>> Bind(
      Binding& binding, const std::vector<Value>& cotangents,
      const NameList& targets, const std::vector<Value>& gradients = {}) {
    return network_->differentiable()->BindBackward(binding, cotangents,
                                                    targets, gradients);
  }

  /// Forward and backward.
  Status Step(Binding& binding, GradientBinding& bound) {
    ASSAY_RETURN_IF_ERROR(network_->Forward(binding));
    return network_->differentiable()->RunBackward(bound);
  }

  std::unique_ptr<Network> network_;
};

INSTANTIATE_TEST_SUITE_P(Of, Bound, testing::Values("Eager", "Default"),
                         [](const auto& row) { return row.param; });

constexpr char kLayer[] =
    "g (double[1,2] x) => (double[1,2] y) <double[2,2] w = {1, 2, 3, 4}> "
    "{ h = MatMul(x, w) y = Relu(h) }";

TEST_P(Bound, EachRunReadsWhatIsThereThen) {
  Load(kLayer, {"x", "w"});
  const Tensor x = Doubles({1, 2}, {1, 1});
  const Tensor dy = Doubles({1, 2}, {1, 0});
  const auto binding = Run({x});
  const auto bound = *Bind(*binding, {dy}, {"x", "w"});
  ASSERT_TRUE(Step(*binding, *bound).ok());
  EXPECT_THAT(DoublesOf(bound->gradients()[0]), ElementsAre(1, 3));
  EXPECT_THAT(DoublesOf(bound->gradients()[1]), ElementsAre(1, 0, 1, 0));
  Write(x, {2, -1});  // h = {-1, 0}, which Relu stops
  ASSERT_TRUE(Step(*binding, *bound).ok());
  EXPECT_THAT(DoublesOf(bound->gradients()[1]), Each(0));
  Write(x, {0, 5});
  Write(dy, {2, 3});
  ASSERT_TRUE(Step(*binding, *bound).ok());
  EXPECT_THAT(DoublesOf(bound->gradients()[0]), ElementsAre(8, 18));
  EXPECT_THAT(DoublesOf(bound->gradients()[1]), ElementsAre(0, 0, 10, 15));
}

TEST_P(Bound, TheCallersMemoryIsWrittenOver) {
  Load(kLayer, {"x", "w"});
  std::array<double, 4> memory = {9, 9, 9, 9};
  const Tensor dx = *Tensor::Borrow(DType::kFloat64, {1, 2}, memory.data() + 1);
  const auto binding = Run({Doubles({1, 2}, {1, 1})});
  const auto bound =
      *Bind(*binding, {Doubles({1, 2}, {1, 0})}, {"w", "x"}, {Value(), dx});
  for (int run = 0; run < 2; ++run) {
    ASSERT_TRUE(Step(*binding, *bound).ok());
    EXPECT_THAT(memory, ElementsAre(9, 1, 3, 9));
    EXPECT_THAT(DoublesOf(bound->gradients()[0]), ElementsAre(1, 0, 1, 0));
  }
}

TEST_P(Bound, AGradientThatIsHeldKeepsItsBytes) {
  Load("g (double[1] x) => (double[1] y) { y = test.Twice(x) }", {"x", "y"});
  const Tensor dy = Doubles({1}, {1});
  const auto binding = Run({Doubles({1}, {1})});
  const auto bound = *Bind(*binding, {dy}, {"x", "y", "x"});
  ASSERT_TRUE(Step(*binding, *bound).ok());
  const std::vector<Value> held(bound->gradients().begin(),
                                bound->gradients().end());
  Write(dy, {5});
  ASSERT_TRUE(Step(*binding, *bound).ok());
  for (const size_t i : {0U, 1U, 2U}) {
    EXPECT_THAT(DoublesOf(held[i]), ElementsAre(i == 1 ? 1 : 2)) << i;
    EXPECT_THAT(DoublesOf(bound->gradients()[i]), ElementsAre(i == 1 ? 5 : 10))
        << i;
  }
}

TEST_P(Bound, ReadsOfOneValueAreSummedOnce) {
  const struct {
    const char* text;
    double want;
  } rows[] = {
      {"g (double[1] x) => (double[1] y) { y = Add(x, x) }", 2},
      {"g (double[1] x) => (double[1] y) "
       "{ a = Relu(x) b = Add(x, a) c = Add(a, b) y = Add(c, x) }",
       4},
      {"g (double[1] x) => (double[1] y, double[1] x) { y = Relu(x) }", 2},
      {"g (double[1] x) => (double[1] y, double[1] y) { y = Relu(x) }", 2},
  };
  for (const auto& row : rows) {
    Load(row.text, {"x"});
    const std::vector<Value> cotangents(network_->outputs().size(),
                                        Doubles({1}, {1}));
    const auto binding = Run({Doubles({1}, {3})});
    const auto bound = *Bind(*binding, cotangents, {"x"});
    for (int run = 0; run < 3; ++run) {
      ASSERT_TRUE(Step(*binding, *bound).ok());
      EXPECT_THAT(DoublesOf(bound->gradients()[0]), ElementsAre(row.want))
          << row.text;
    }
  }
}

TEST_P(Bound, BindingsAreApart) {
  Load(kLayer, {"x"});
  const auto one = Run({Doubles({1, 2}, {1, 1})});
  const auto other = Run({Doubles({1, 2}, {-1, -1})});
  const auto bound = *Bind(*one, {Doubles({1, 2}, {1, 0})}, {"x"});
  const auto bound_other = *Bind(*other, {Doubles({1, 2}, {1, 1})}, {"x"});
  for (int run = 0; run < 2; ++run) {
    ASSERT_TRUE(network_->Forward(*one).ok());
    ASSERT_TRUE(Step(*other, *bound_other).ok());
    ASSERT_TRUE(network_->differentiable()->RunBackward(*bound).ok());
    EXPECT_THAT(DoublesOf(bound->gradients()[0]), ElementsAre(1, 3));
    EXPECT_THAT(DoublesOf(bound_other->gradients()[0]), ElementsAre(0, 0));
  }
}

TEST_P(Bound, WrongCallsAreRefused) {
  Load(kLayer, {"x", "w"});
  const Tensor dy = Doubles({1, 2}, {1, 0});
  const Tensor dx = Doubles({1, 2}, {0, 0});
  const auto binding = Run({Doubles({1, 2}, {1, 1})});
  const struct {
    std::vector<Value> cotangents;
    NameList targets;
    std::vector<Value> gradients;
    const char* message;
  } rows[] = {
      {{}, {"x"}, {}, "found 0 cotangents, wanted 1"},
      {{Doubles({2}, {1, 0})}, {"x"}, {}, "is float64[2], wanted float64[1,2]"},
      {{dy}, {"h"}, {}, "'h' is none of the network's gradient targets"},
      {{dy}, {"x"}, {dx, dx}, "found 2 gradients, wanted none or 1"},
      {{dy}, {"x"}, {Doubles({2}, {0, 0})}, "gradient 'x' is float64[2]"},
      {{dy}, {"x"}, {Sequence{}}, "only tensors can be written into"},
      {{dy}, {"x"}, {dy}, "overlaps that of 'cotangent"},
      {{dy}, {"x", "x"}, {dx, dx}, "overlaps that of 'x'"},
      {{dy}, {"x"}, {binding->outputs()[0]}, "overlaps that of '"},
  };
  for (const auto& row : rows) {
    const Status status =
        Bind(*binding, row.cotangents, row.targets, row.gradients).status();
    EXPECT_THAT(status, IsStatus(StatusCode::kInvalidArgument, row.message))
        << row.message;
  }
}

TEST_P(Bound, ABindingOfAnotherNetworkIsRefused) {
  Load(kLayer, {"x"});
  const auto first = std::move(network_);
  const Tensor x = Doubles({1, 2}, {1, 1});
  const auto binding = *first->Bind(std::vector<Value>{x}, {});
  ASSERT_TRUE(first->Forward(*binding).ok());
  const auto bound = *first->differentiable()->BindBackward(
      *binding, std::vector<Value>{x}, NameList{"x"}, {});
  Load(kLayer, {"x"});
  EXPECT_EQ(network_->differentiable()->RunBackward(*bound).code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(Bind(*binding, {x}, {"x"}).status().code(),
            StatusCode::kInvalidArgument);
}

TEST_P(Bound, ABackwardNeedsAForwardThatCameToItsEnd) {
  Load(
      "g (float[2] x, int64[1] i) => (float[1] y, float[2] z) "
      "{ y = Gather(x, i) z = Relu(x) }",
      {"z"});
  Tensor index = Int64s({0});
  const std::vector<Value> inputs = {Floats({1.F, 2.F}), index};
  const std::vector<Value> dz = {Value(), inputs[0]};
  const auto unrun = *network_->Bind(inputs, {});
  EXPECT_EQ(Bind(*unrun, dz, {"z"}).status().code(),
            StatusCode::kFailedPrecondition);
  const auto binding = Run(inputs);
  const auto bound = *Bind(*binding, dz, {"z"});
  index.mutable_elements<int64_t>()[0] = 7;
  EXPECT_FALSE(network_->Forward(*binding).ok());
  EXPECT_EQ(network_->differentiable()->RunBackward(*bound).code(),
            StatusCode::kFailedPrecondition);
  index.mutable_elements<int64_t>()[0] = 1;
  EXPECT_TRUE(Step(*binding, *bound).ok());
}

class EagerBound : public Bound {};
INSTANTIATE_TEST_SUITE_P(Of, EagerBound, testing::Values("Eager"));

TEST_P(EagerBound, MemoryOfAnInputIsRefused) {
  Load(kLayer, {"x"});
  const Tensor x = Doubles({1, 2}, {1, 1});
  const auto binding = Run({x});
  EXPECT_THAT(
      Bind(*binding, {Doubles({1, 2}, {1, 0})}, {"x"}, {x}).status().message(),
      HasSubstr("gradient 'x' overlaps that of 'x'"));
}

/// The number of allocations of ten calls, which must be OK.
template <class F>
int64_t AllocationsOf(const F& call) {
  bool ok = true;
  const int64_t before = allocations;
  for (int i = 0; i < 10; ++i) ok = call().ok() && ok;
  const int64_t after = allocations;
  EXPECT_TRUE(ok);
  EXPECT_GT(before, 0);
  return after - before;
}

TEST_P(EagerBound, FromTheSecondStepOnNothingIsAllocated) {
  // Fan-out, a saved workspace, and kernels that overwrite.
  Load(
      "g (double[1,2] x) => (double[1,2] y, double[1,2] z) "
      "{ r = Relu(x) s = Add(r, x) z = Add(s, s) y = test.Twice(x) }",
      {"x", "r"});
  const Tensor one = Doubles({1, 2}, {1, 1});
  const auto binding = Run({one});
  const auto bound = *Bind(*binding, {one, one}, {"x", "x", "r"},
                           {Doubles({1, 2}, {7, 7}), Value(), Value()});
  ASSERT_TRUE(Step(*binding, *bound).ok());
  EXPECT_EQ(AllocationsOf([&] { return Step(*binding, *bound); }), 0);
  EXPECT_THAT(DoublesOf(bound->gradients()[0]), Each(6));
  EXPECT_THAT(DoublesOf(bound->gradients()[1]), Each(6));
  EXPECT_THAT(DoublesOf(bound->gradients()[2]), Each(2));
}

// Forward of the toy's MatMul makes a shape.
TEST_P(EagerBound, KernelsThatAddAllocateNothingBackward) {
  Load(
      "g (double[1,2] x) => (double[1,2] y) <double[2,2] w = {1, 2, 3, 4}> "
      "{ h = MatMul(x, w) y = MatMul(h, w) }",
      {"x", "w"});
  const auto binding = Run({Doubles({1, 2}, {1, 1})});
  const auto bound = *Bind(*binding, {Doubles({1, 2}, {1, 0})}, {"x", "w"});
  ASSERT_TRUE(Step(*binding, *bound).ok());
  EXPECT_EQ(AllocationsOf([&] {
              return network_->differentiable()->RunBackward(*bound);
            }),
            0);
  EXPECT_THAT(DoublesOf(bound->gradients()[0]), ElementsAre(7, 15));
  EXPECT_THAT(DoublesOf(bound->gradients()[1]), ElementsAre(5, 3, 7, 3));
}

TEST(Workspace, IsNoneWithoutGradients) {
  Toy toy;
  const auto network =
      LoadedBy(toy, "g (double[1] x) => (double[1] y) { y = test.Twice(x) }");
  const auto outputs = Got(assay::Run(*network, {{"x", Doubles({1}, {3})}}));
  EXPECT_THAT(DoublesOf(outputs[0]), ElementsAre(6));
}

/// Both of test.Leave(x) and test.Clear(x) add one to what they are given: by
/// GradientToWrite what the run before left there, by Gradient zeros.
class Leaving : public Toy {
 public:
  Leaving() { AddFamily(std::make_unique<Family>()); }

 private:
  class Family : public OperatorVisitor {
    Result<Kernel> VisitCustom(const Node& node, LoadContext& load) override {
      if (node.op_type != "Leave" && node.op_type != "Clear") {
        return OperatorVisitor::VisitCustom(node, load);
      }
      const bool clears = node.op_type == "Clear";
      return Kernel{
          [](KernelContext& run) -> Status {
            const Tensor& x = run.input(Input{0, true});
            return run.Output(Output{0, true}, x.dtype(), x.shape()).status();
          },
          [clears](GradientContext& run) -> Status {
            ASSAY_ASSIGN_OR_RETURN(
                Tensor* const dx, clears ? run.Gradient(Input{0, true})
                                         : run.GradientToWrite(Input{0, true}));
            dx->mutable_elements<double>()[0] += 1;
            return OkStatus();
          }};
    }
  };
};

TEST(GradientToWrite, ClearsNothing) {
  for (const bool clears : {false, true}) {
    Leaving backend;
    const auto network =
        LoadedBy(backend,
                 StrCat("g (double[1] x) => (double[1] y) { y = test.",
                        clears ? "Clear" : "Leave", "(x) }"),
                 {.gradient_targets = {"x"}});
    const Value one = Doubles({1}, {1});
    const auto binding = BoundTo(*network, {one});
    ASSERT_TRUE(network->Forward(*binding).ok());
    const auto bound = *network->differentiable()->BindBackward(
        *binding, {&one, 1}, NameList{"x"}, {});
    for (int run = 1; run < 4; ++run) {
      ASSERT_TRUE(network->differentiable()->RunBackward(*bound).ok());
      EXPECT_THAT(DoublesOf(bound->gradients()[0]),
                  ElementsAre(clears ? 1 : run));
    }
  }
}

}  // namespace
}  // namespace assay::toy
