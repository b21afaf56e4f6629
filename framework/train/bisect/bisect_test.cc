// SPDX-License-Identifier: Apache-2.0
//
// Plants causes and checks that the bisection names them.

#include "framework/train/bisect/bisect.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "framework/testing/support/backends_fixture.h"
#include "framework/train/optdiff/course.h"
#include "framework/train/optdiff/spoiling_fixture.h"

namespace assay::bisect {
namespace {

using optdiff::Course;

constexpr int64_t kSteps = 8;

Course CourseNamed(const std::string& network, int64_t seed = 0,
                   bool sums = false) {
  return optdiff::PaperCourse(network, {"bisect", seed, "network"}, kSteps,
                              sums);
}

Finding Find(BisectRun a, BisectRun b) {
  return Got(Bisect(std::move(a), std::move(b),
                    {.oracle = Reference(), .steps = kSteps}));
}

BisectRun RunOn(const Course& course, const quad::OptimizerSpec& spec,
                Backend& backend = Reference(), train::Recipe recipe = {}) {
  return {backend, course, Got(quad::SetupOf(spec, recipe))};
}

const quad::OptimizerSpec kMomentum = {"momentum", "pytorch", ""};
const quad::OptimizerSpec kAdam = {"adam", "pytorch", ""};

TEST(BisectTest, NamesNoCauseWhereThereIsNone) {
  for (const char* network : {"quadratic", "logistic", "mlp", "cnn"}) {
    const Course course = CourseNamed(network);
    for (const char* name :
         {"gradient_descent", "momentum", "nesterov", "adam", "adagrad",
          "adadelta", "rmsprop", "accelegrad", "lamb"}) {
      const quad::OptimizerSpec spec = {name, "paper", ""};
      const Finding found = Find(RunOn(course, spec), RunOn(course, spec));
      EXPECT_EQ(found.cause, Cause::kNone)
          << network << " " << name << ": " << found.sentence;
    }
  }
}

// ---- what the two are given -------------------------------------------------

TEST(BisectTest, NamesOtherWeights) {
  for (const char* network : {"quadratic", "logistic", "mlp", "cnn"}) {
    const Course course = CourseNamed(network);
    Course other = CourseNamed(network);
    for (auto* beginning : {&other.narrow, &other.wide}) {
      beginning->parameters = CourseNamed(network, 1).narrow.parameters;
    }
    other.wide.parameters = CourseNamed(network, 1).wide.parameters;
    const Finding found = Find(RunOn(course, kAdam), RunOn(other, kAdam));
    EXPECT_EQ(found.cause, Cause::kInitialWeights) << found.sentence;
    EXPECT_EQ(found.step, 0);
  }
}

TEST(BisectTest, NamesOtherData) {
  for (const char* network : {"quadratic", "logistic", "mlp", "cnn"}) {
    const Course course = CourseNamed(network);
    for (const int64_t from : {1, 3}) {
      Course other = course;
      other.batch = [&course, from](int64_t step) {
        return course.batch(step >= from ? step + 1 : step);
      };
      const Finding found = Find(RunOn(course, kAdam), RunOn(other, kAdam));
      EXPECT_EQ(found.cause, Cause::kDataOrder) << found.sentence;
      EXPECT_EQ(found.step, from);
    }
  }
}

TEST(BisectTest, NamesTheLossReduction) {
  for (const char* network : {"quadratic", "logistic", "mlp", "cnn"}) {
    const Course course = CourseNamed(network);
    const Course other = CourseNamed(network, 0, /*sums=*/true);
    const Finding found =
        Find(RunOn(course, kMomentum), RunOn(other, kMomentum));
    EXPECT_EQ(found.cause, Cause::kLossReduction) << found.sentence;
    EXPECT_EQ(found.step, 1);
  }
}

// ---- what they say that they do ---------------------------------------------

TEST(BisectTest, NamesTheConvention) {
  struct Row {
    const char *optimizer, *preset, *settings, *where;
    int64_t step;
  };
  for (const Row& row : std::vector<Row>{
           {"momentum", "pytorch", "momentum=0.8", "momentum", 2},
           {"momentum", "pytorch", "dampening=0.5", "dampening", 2},
           {"momentum", "pytorch", "rate=0.002", "rate", 1},
           {"momentum", "keras", "nesterov=folded", "nesterov", 1},
           {"momentum", "pytorch", "weight_decay=0.1", "weight_decay", 1},
           {"adam", "pytorch", "epsilon=1e-3", "epsilon", 1},
           {"adam", "pytorch", "epsilon_at=in_root epsilon=1e-4", "epsilon", 1},
           {"adam", "pytorch", "beta1=0.8", "beta1", 1},
           {"adam", "pytorch", "beta2=0.9", "beta2", 1},
           {"adam", "pytorch", "correction=none", "correction", 1},
           {"adamw", "pytorch", "decay=coupled", "decay", 1},
           {"adamw", "pytorch", "decay=by_schedule", "decay", 1},
           {"adamw", "pytorch", "weight_decay=0.02", "weight_decay", 1},
           {"adagrad", "keras", "initial=0.2", "initial", 1},
           {"rmsprop", "pytorch", "rho=0.9", "rho", 1},
           {"rmsprop", "pytorch", "centered=yes", "centered", 1},
           {"adadelta", "pytorch", "rho=0.95", "rho", 1},
           {"lamb", "paper", "weight_decay=0", "weight_decay", 1},
           {"adam", "pytorch", "clip_norm=0.01 epsilon=1e-2", "clip_norm", 1},
       }) {
    const Course course = CourseNamed("mlp");
    const quad::OptimizerSpec a = {row.optimizer, row.preset, ""};
    const quad::OptimizerSpec b = {row.optimizer, row.preset, row.settings};
    const Finding found = Find(RunOn(course, a), RunOn(course, b));
    EXPECT_EQ(found.cause, Cause::kConvention)
        << row.settings << ": " << found.sentence;
    EXPECT_EQ(found.where, row.where) << found.sentence;
    EXPECT_EQ(found.step, row.step) << found.sentence;
  }
}

TEST(BisectTest, NamesTheSchedule) {
  const Course course = CourseNamed("mlp");
  for (const int64_t lag : {1, 2}) {
    const train::Recipe a = {.schedule = train::StepSchedule(0.5, {3})};
    const train::Recipe b = {.schedule = train::StepSchedule(0.5, {3 + lag})};
    for (const quad::OptimizerSpec& spec : {kMomentum, kAdam}) {
      const Finding found = Find(RunOn(course, spec, Reference(), a),
                                 RunOn(course, spec, Reference(), b));
      EXPECT_EQ(found.cause, Cause::kSchedule) << found.sentence;
    }
  }
}

TEST(BisectTest, NamesOtherOptimizers) {
  const Course course = CourseNamed("mlp");
  const Finding found = Find(RunOn(course, kMomentum), RunOn(course, kAdam));
  EXPECT_EQ(found.cause, Cause::kConvention);
  EXPECT_EQ(found.where, "optimizer");
}

// ---- what one of them does wrong --------------------------------------------

/// An optimizer that says one thing and does another.
TEST(BisectTest, NamesTheWrongRule) {
  struct Row {
    const char *optimizer, *preset, *does, *where;
  };
  for (const Row& row : std::vector<Row>{
           {"adam", "pytorch", "correction=none", "correction"},
           {"adam", "pytorch", "beta1=0.45", "beta1"},
           {"adam", "pytorch", "weight_decay=1", "weight_decay"},
           {"adamw", "pytorch", "decay=coupled", "decay"},
           {"adamw", "pytorch", "decay=after", "decay"},
           {"amsgrad", "pytorch", "maximum=after", "maximum"},
           {"momentum", "pytorch", "rate_at=inside", "rate_at"},
           {"momentum", "pytorch", "momentum=0.45", "momentum"},
           {"momentum", "pytorch", "rate=0.002", "rate"},
           {"nesterov", "pytorch", "nesterov=none", "nesterov"},
           {"rmsprop", "pytorch", "centered=yes", "centered"},
           {"adagrad", "pytorch", "rate=0.02", "rate"},
           {"lamb", "paper", "weight_decay=0", "weight_decay"},
       }) {
    const Course course = CourseNamed("mlp");
    const quad::OptimizerSpec says = {row.optimizer, row.preset, ""};
    const quad::OptimizerSpec does = {row.optimizer, row.preset, row.does};
    quad::OptimizerSetup lying = Got(quad::SetupOf(does, {}));
    lying.made.settings = Got(quad::SetupOf(says, {})).made.settings;
    const Finding found =
        Find(RunOn(course, says), {Reference(), course, std::move(lying)});
    const bool is_rule = found.cause == Cause::kUpdateRule;
    EXPECT_TRUE(is_rule) << row.does << ": " << found.sentence;
    EXPECT_EQ(found.where, row.where) << row.does << ": " << found.sentence;
    EXPECT_EQ(found.run, "b");
  }
}

TEST(BisectTest, NamesChangedState) {
  const Course course = CourseNamed("mlp");
  for (const quad::OptimizerSpec& spec : {kMomentum, kAdam}) {
    for (const int64_t at : {3, 6}) {
      BisectRun forgets = RunOn(course, spec);
      forgets.between = [at](int64_t step, quad::LockstepQuad& lockstep) {
        if (step != at) return;
        for (train::StateTensor& tensor : lockstep.State()) {
          if (tensor.parameter.empty()) continue;
          std::ranges::fill(std::span(tensor.value.mutable_data(),
                                      tensor.value.bytes().size()),
                            std::byte{0});
        }
      };
      const Finding found = Find(RunOn(course, spec), std::move(forgets));
      EXPECT_EQ(found.cause, Cause::kState) << found.sentence;
      EXPECT_EQ(found.step, at);
      EXPECT_EQ(found.run, "b");
    }
  }
}

/// The backend that is wrong on purpose, with one mutant.
StubBackend WithMutant(const std::string& name) {
  return StubBackend([name](auto model, const LoadOptions& options) {
    LoadOptions set = options;
    set.settings["mutant"] = name;
    return BackendOfModule(ASSAY_FAULTY_MODULE).Load(std::move(model), set);
  });
}

struct NodeRow {
  const char *mutant, *network;
  Cause cause;
  const char* op_type;
};

class NodeTest : public ::testing::TestWithParam<NodeRow> {};

// Kills: a node that is not the first, a forward that is taken for a backward,
// noise that is taken for a slip.
TEST_P(NodeTest, IsNamed) {
  const NodeRow& row = GetParam();
  const Course course = CourseNamed(row.network);
  StubBackend wrong = WithMutant(row.mutant);
  const Finding found =
      Find(RunOn(course, kMomentum), RunOn(course, kMomentum, wrong));
  EXPECT_EQ(ToString(found.cause), ToString(row.cause)) << found.sentence;
  EXPECT_EQ(found.where, row.op_type) << found.sentence;
  EXPECT_EQ(found.run, "b");
}

constexpr Cause kForward = Cause::kForward, kGradient = Cause::kGradient,
                kAccumulation = Cause::kAccumulation;

const NodeRow kNodeRows[] = {
    {"add_second_ignored", "logistic", kForward, "Add"},
    {"conv_bias_ignored", "cnn", kForward, "Conv"},
    {"conv_kernel_flipped", "cnn", kForward, "Conv"},
    {"conv_pads_shifted", "cnn", kForward, "Conv"},
    {"gemm_c_ignored", "cnn", kForward, "Gemm"},
    {"matmul_sums_in_half", "logistic", kAccumulation, "MatMul"},
    {"matmul_sums_in_bfloat16", "mlp", kAccumulation, "MatMul"},
    {"conv_reads_bfloat16", "cnn", kAccumulation, "Conv"},
    {"gradient:sign:MatMul.1", "quadratic", kGradient, "MatMul"},
    {"gradient:sign:MatMul.1", "mlp", kGradient, "MatMul"},
    {"gradient:sign:Conv.1", "cnn", kGradient, "Conv"},
    {"gradient:sign:Gemm.2", "cnn", kGradient, "Gemm"},
    {"gradient:factor_1.01:Conv.1", "cnn", kGradient, "Conv"},
    {"gradient:zeros:Gemm.2", "cnn", kGradient, "Gemm"},
    {"gradient:mean_of_slices:Add.1", "mlp", kGradient, "Add"},
    {"gradient:transposed:MatMul.1", "mlp", kGradient, "MatMul"},
    {"gradient:shifted:Conv.1", "cnn", kGradient, "Conv"},
    {"gradient:one_zeroed:MatMul.1", "mlp", kGradient, "MatMul"},
};

INSTANTIATE_TEST_SUITE_P(
    All, NodeTest, ::testing::ValuesIn(kNodeRows), [](const auto& info) {
      std::string name = StrCat(info.param.mutant, "_", info.param.network);
      std::ranges::replace_if(
          name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
      return name;
    });

/// A node whose backward is wrong, and with it all gradients that follow.
struct BackwardRow {
  const char *name, *network;
  std::vector<std::string> values;  // by which gradients are wrong
  std::function<void(std::span<float>)> spoil;
  Cause cause;
  const char* op_type;
};

void Scaled(std::span<float> elements) {
  for (float& x : elements) x *= 1.01F;
}
void Negated(std::span<float> elements) {
  for (float& x : elements) x = -x;
}
void LastZeroed(std::span<float> elements) { elements.back() = 0; }
/// Rounds to 11 binary digits, those of float16.
void Shortened(std::span<float> elements) {
  for (float& x : elements) {
    int exponent = 0;
    const float fraction = std::frexp(x, &exponent);
    x = std::ldexp(std::round(fraction * 0x1p11F), exponent - 11);
  }
}

class BackwardTest : public ::testing::TestWithParam<BackwardRow> {};

// Kills: a gradient that is looked for in the order of the forward.
TEST_P(BackwardTest, IsNamed) {
  const BackwardRow& row = GetParam();
  const Course course = CourseNamed(row.network);
  StubBackend wrong = optdiff::Spoiling(
      Reference(), {.each = [&](const std::string& target, Tensor& gradient) {
        if (std::ranges::count(row.values, target) == 0) return;
        row.spoil(gradient.mutable_elements<float>());
      }});
  const Finding found =
      Find(RunOn(course, kMomentum), RunOn(course, kMomentum, wrong));
  EXPECT_EQ(ToString(found.cause), ToString(row.cause)) << found.sentence;
  EXPECT_EQ(found.where, row.op_type) << found.sentence;
  EXPECT_EQ(found.step, 1);
}

const std::vector<std::string> kBehindTanh = {"a", "h", "w1", "b1"};
const std::vector<std::string> kBehindSecond = {"t", "w2", "a",
                                                "h", "w1", "b1"};
const std::vector<std::string> kBehindRelu = {"v", "k", "c"};
const std::vector<std::string> kBehindPool = {"r", "v", "k", "c"};
const std::vector<std::string> kBehindLoss = {"y", "h", "w", "b"};
const std::vector<std::string> kBias = {"b"};

const BackwardRow kBackwardRows[] = {
    {"tanh_scaled", "mlp", kBehindTanh, Scaled, kGradient, "Tanh"},
    {"tanh_negated", "mlp", kBehindTanh, Negated, kGradient, "Tanh"},
    {"tanh_zeroed", "mlp", kBehindTanh, LastZeroed, kGradient, "Tanh"},
    {"tanh_short", "mlp", kBehindTanh, Shortened, kAccumulation, "Tanh"},
    {"matmul_scaled", "mlp", kBehindSecond, Scaled, kGradient, "MatMul"},
    {"matmul_short", "mlp", kBehindSecond, Shortened, kAccumulation, "MatMul"},
    {"relu_scaled", "cnn", kBehindRelu, Scaled, kGradient, "Relu"},
    {"relu_negated", "cnn", kBehindRelu, Negated, kGradient, "Relu"},
    {"pool_scaled", "cnn", kBehindPool, Scaled, kGradient, "MaxPool"},
    {"pool_negated", "cnn", kBehindPool, Negated, kGradient, "MaxPool"},
    {"loss_scaled", "logistic", kBehindLoss, Scaled, kGradient,
     "SoftmaxCrossEntropyLoss"},
    {"loss_negated", "logistic", kBehindLoss, Negated, kGradient,
     "SoftmaxCrossEntropyLoss"},
    {"bias_scaled", "logistic", kBias, Scaled, kGradient, "Add"},
    {"bias_zeroed", "quadratic", kBias, LastZeroed, kGradient, "Add"},
};

INSTANTIATE_TEST_SUITE_P(All, BackwardTest, ::testing::ValuesIn(kBackwardRows),
                         [](const auto& info) {
                           return std::string(info.param.name);
                         });

}  // namespace
}  // namespace assay::bisect
