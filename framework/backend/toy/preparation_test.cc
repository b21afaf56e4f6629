// SPDX-License-Identifier: Apache-2.0
//
// Kernel::prepare: when it runs, what it is told, and what a run gets of it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <stdexcept>

#include "framework/backend/eager/eager.h"
#include "framework/backend/toy/toy_fixture.h"

namespace assay::toy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Input kOnlyInput{0, true};
constexpr Input kBy{1, true};
constexpr Output kOnlyOutput{0, true};

/// How often the kernels of a backend prepared and ran.
struct Counts {
  int prepared = 0;
  int runs = 0;  // of nodes that do not prepare
};

struct Plan {
  Shape shape;
  float factor = 1;
  float workspace = 0;  // forward fills it for backward
};

Status Copy(KernelContext& run, const Shape& shape, float factor) {
  const Tensor& x = run.input(kOnlyInput);
  ASSAY_ASSIGN_OR_RETURN(Tensor* const y,
                         run.Output(kOnlyOutput, DType::kFloat32, shape));
  for (int64_t i = 0; i < y->num_elements(); ++i) {
    const auto at = static_cast<size_t>(i);
    y->mutable_elements<float>()[at] =
        i < x.num_elements() ? factor * x.elements<float>()[at] : 0;
  }
  return OkStatus();
}

/// Operators of the domain test:
///   Scaled(x, by)  x times by[0], by what prepare made; gives a stale plan
///   away Silent(x)      Scaled(x), without a word of its output Longer(x) one
///   element more; does not prepare Double(x)      2x; does not prepare
///   Repeat(x, n, c) runs the subgraph `body` n times over x
class Kernels : public OperatorVisitor {
 public:
  explicit Kernels(std::shared_ptr<Counts> counts)
      : counts_(std::move(counts)) {}

  Result<Kernel> VisitCustom(const Node& node, LoadContext& load) override {
    const std::string& name = node.op_type;
    if (name == "Scaled" || name == "Silent") return Scaled(name == "Scaled");
    if (name == "Repeat") return Repeat();
    if (name != "Longer" && name != "Double") {
      return OperatorVisitor::VisitCustom(node, load);
    }
    const bool longer = name == "Longer";
    return Kernel{[counts = counts_, longer](KernelContext& run) {
      ++counts->runs;
      Shape shape = run.input(kOnlyInput).shape();
      if (longer) ++shape[0];
      return Copy(run, shape, longer ? 1 : 2);
    }};
  }

 private:
  Kernel Scaled(bool declares) const {
    Kernel kernel{
        .forward = [](KernelContext& run) -> Status {
          Plan& plan = run.prepared<Plan>();
          plan.workspace = run.input(kOnlyInput).elements<float>()[0];
          return Copy(run, plan.shape, plan.factor);
        },
        .backward = [](GradientContext& run) -> Status {
          ASSAY_ASSIGN_OR_RETURN(Tensor* const dx, run.Gradient(kOnlyInput));
          dx->mutable_elements<float>()[0] = run.prepared<Plan>().workspace;
          return OkStatus();
        }};
    kernel.prepare = [counts = counts_,
                      declares](PrepareContext& known) -> Prepared {
      ++counts->prepared;
      Plan plan{.shape = *known.type(kOnlyInput).StaticShape()};
      ASSAY_ASSIGN_OR_RETURN(const Tensor* const by, known.value(kBy));
      if (by != nullptr) plan.factor = by->elements<float>()[0];
      if (plan.factor == 13) return Unsupported(Reason::kAttribute, "thirteen");
      if (plan.factor == 14) return InvalidArgument("fourteen");
      if (plan.factor == 15) throw std::runtime_error("fifteen");
      if (declares) known.Declare(kOnlyOutput, DType::kFloat32, plan.shape);
      return std::make_shared<Plan>(plan);
    };
    return kernel;
  }

  static Kernel Repeat() {
    return Kernel{[](KernelContext& run) -> Status {
      Value value = run.value(kOnlyInput);
      for (int64_t i = run.input(kBy).elements<int64_t>()[0]; i-- > 0;) {
        ASSAY_ASSIGN_OR_RETURN(const auto outputs, run.Run("body", {{value}}));
        value = outputs[0];
      }
      return run.SetOutput(kOnlyOutput, value);
    }};
  }

  std::shared_ptr<Counts> counts_;
};

class Preparing : public EagerBackend {
 public:
  Preparing() { AddFamily(std::make_unique<Kernels>(counts)); }
  std::string_view name() const override { return "preparing"; }
  Result<Probe> Inspect() override { return Probe{}; }

  std::shared_ptr<Counts> counts = std::make_shared<Counts>();
};

class Prepare : public testing::Test {
 protected:
  std::unique_ptr<Network> Load(const std::string& text,
                                const LoadOptions& options = {}) {
    return LoadedBy(backend_, text, options);
  }

  Preparing backend_;
  Counts& counts_ = *backend_.counts;
};

constexpr char kScaled[] =
    "g (float[N] x, float[1] by) => (float[N] y) { y = test.Scaled(x, by) }";

TEST_F(Prepare, OnceForEachBinding) {
  const auto network = Load(kScaled);
  const auto two = BoundTo(*network, {Floats({1, 2}), Floats({3})});
  const auto three = BoundTo(*network, {Floats({1, 2, 3}), Floats({5})});
  EXPECT_EQ(counts_.prepared, 2);
  for (int run = 0; run < 2; ++run) {
    EXPECT_THAT(Forward(*network, *two), ElementsAre(3, 6));
    EXPECT_THAT(Forward(*network, *three), ElementsAre(5, 10, 15));
  }
  EXPECT_EQ(counts_.prepared, 2);
}

TEST_F(Prepare, AgainWhenAValueItReadHasChanged) {
  const auto network = Load(kScaled);
  Value by = Floats({3});
  const auto binding = BoundTo(*network, {Floats({1, 2}), by});
  EXPECT_THAT(Forward(*network, *binding), ElementsAre(3, 6));
  by.mutable_tensor()->mutable_elements<float>()[0] = 4;
  EXPECT_THAT(Forward(*network, *binding), ElementsAre(4, 8));
  EXPECT_THAT(Forward(*network, *binding), ElementsAre(4, 8));
  EXPECT_EQ(counts_.prepared, 2);
}

TEST_F(Prepare, AgainWhenAShapeChangesWithinABinding) {
  const auto network = Load(
      "g (float[N] x, int64 n) => (float[M] y) { y = test.Repeat(x, n) <"
      "body = b (float[K] v) => (float[L] w) "
      "{ s = test.Scaled(v) w = test.Longer(s) }> }");
  const auto binding = BoundTo(*network, {Floats({7}), Scalar<int64_t>(3)});
  counts_.prepared = 0;
  EXPECT_THAT(Forward(*network, *binding), ElementsAre(7, 0, 0, 0));
  EXPECT_EQ(counts_.prepared, 3);

  const auto same = Load(
      "g (float[N] x, int64 n) => (float[M] y) { y = test.Repeat(x, n) <"
      "body = b (float[K] v) => (float[L] w) { w = test.Scaled(v) }> }");
  const auto bound = BoundTo(*same, {Floats({7}), Scalar<int64_t>(3)});
  counts_.prepared = 0;
  EXPECT_THAT(Forward(*same, *bound), ElementsAre(7));
  EXPECT_EQ(counts_.prepared, 0);  // Bind ran the body
}

TEST_F(Prepare, WhatItDeclinesBindDeclines) {
  const auto network = Load(kScaled);
  const std::vector<Value> inputs = {Floats({1}), Floats({13})};
  const Status status = network->Bind(inputs, {}).status();
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_EQ(status.reason(), Reason::kAttribute);
  EXPECT_EQ(status.message(), "Scaled: thirteen");
}

TEST_F(Prepare, OtherErrorsAreLeftForForward) {
  const auto network = Load(kScaled);
  for (const float by : {14.F, 15.F}) {
    Value factor = Floats({by});
    const auto binding = BoundTo(*network, {Floats({1}), factor});
    const Status status = network->Forward(*binding);
    EXPECT_FALSE(status.ok());
    EXPECT_THAT(status.message(), HasSubstr("Scaled: "));
    factor.mutable_tensor()->mutable_elements<float>()[0] = 3;
    EXPECT_THAT(Forward(*network, *binding), ElementsAre(3));
  }
}

TEST_F(Prepare, BindRunsNoMoreThanThePreparationNeeds) {
  const struct {
    const char* nodes;
    int prepared;
    int runs;
  } rows[] = {
      {"y = test.Double(x)", 0, 0},
      {"h = test.Double(x) y = test.Scaled(h)", 1, 1},
      {"h = test.Scaled(x) y = test.Double(h)", 1, 0},
      {"h = test.Scaled(x) k = test.Scaled(h) y = test.Scaled(k)", 3, 0},
      {"h = test.Silent(x) y = test.Scaled(h)", 2, 0},
      {"h = test.Double(x) k = test.Double(h) y = test.Scaled(x, k)", 1, 2},
      {"h = test.Double(x) k = test.Double(x) y = test.Scaled(h)", 1, 1},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.nodes);
    counts_ = {};
    const auto network =
        Load(StrCat("g (float[N] x) => (float[M] y) { ", row.nodes, " }"));
    const auto binding = BoundTo(*network, {Floats({1, 2})});
    EXPECT_EQ(counts_.prepared, row.prepared);
    EXPECT_EQ(counts_.runs, row.runs);
    EXPECT_EQ(Forward(*network, *binding).size(), 2U);
    EXPECT_EQ(counts_.prepared, row.prepared);
  }
}

TEST_F(Prepare, BindLeavesTheCallersMemoryAloneWhereNothingHasToRun) {
  const auto network = Load(kScaled);
  std::array<float, 2> memory = {-7, -7};
  const auto binding =
      BoundTo(*network, {Floats({1, 2}), Floats({3})},
              {*Tensor::Borrow(DType::kFloat32, {2}, memory.data())});
  EXPECT_THAT(memory, ElementsAre(-7, -7));
  EXPECT_THAT(Forward(*network, *binding), ElementsAre(3, 6));
}

TEST_F(Prepare, BackwardGetsWhatForwardUsed) {
  const auto network =
      Load("g (float[1] x) => (float[1] y) { y = test.Scaled(x) }",
           {.gradient_targets = {"x"}});
  const auto binding = BoundTo(*network, {Floats({9})});
  EXPECT_THAT(Forward(*network, *binding), ElementsAre(9));
  const std::vector<Value> one = {Floats({1})};
  const std::vector<std::string> targets = {"x"};
  const auto gradients =
      Got(network->differentiable()->Backward(*binding, one, targets));
  EXPECT_EQ(gradients[0].tensor()->elements<float>()[0], 9);
}

}  // namespace
}  // namespace assay::toy
