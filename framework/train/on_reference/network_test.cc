// SPDX-License-Identifier: Apache-2.0
//
// Networks of the reference as objectives: their losses, optimizers on them
// beside quad, and the models of framework/train/model, their gradients beside
// differences of their losses.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/core/numbers.h"
#include "framework/graph/edit/node_edit.h"
#include "framework/graph/edit/training.h"
#include "framework/graph/model_text.h"
#include "framework/testing/support/tensors_fixture.h"
#include "framework/train/model/models.h"
#include "framework/train/network_objective.h"
#include "framework/train/on_reference/linear_network_fixture.h"
#include "framework/train/quad/lockstep_quad.h"
#include "framework/train/quad/problem_fixture.h"
#include "framework/train/rule/optimizers.h"

namespace assay::on_reference {
namespace {

using quad::Exponential;
using quad::Float128;
using quad::OptimizerSpec;
using quad::QuadTensor;

const std::vector<int64_t> kLabels = {0, 2, 1, 1, 0, 2};

Tensor Inputs() { return Doubles({kSamples, kFeatures}, kX); }

Tensor Labels(const std::vector<int64_t>& labels) {
  return Int64s({kSamples}, labels);
}

/// Rows with a one at the label; of zeros where it is -1.
Tensor OneHot(const std::vector<int64_t>& labels) {
  std::vector<double> rows(kSamples * kClasses, 0);
  for (size_t i = 0; i < kSamples; ++i) {
    if (labels[i] >= 0) rows[i * kClasses + static_cast<size_t>(labels[i])] = 1;
  }
  return Doubles({kSamples, kClasses}, rows);
}

/// An evaluation that outlives its objective.
struct Found {
  double loss;
  std::vector<Tensor> gradients;
};

Found EvaluationOf(
    const edit::LossEdit& loss, const Tensor& targets,
    std::shared_ptr<const Model> model = graph::ModelOfText(kLinear)) {
  const auto objective = LinearNetwork(loss, std::move(model));
  const std::vector<Tensor> batch = {Inputs(), targets};
  const Status put = objective->Put(batch);
  if (!put.ok()) throw std::runtime_error(put.ToString());
  const train::Evaluation found = Got(objective->Evaluate());
  return {found.loss, {found.gradients.begin(), found.gradients.end()}};
}

/// The cross entropy of the linear network by its formula, and how many samples
/// it is of, by weight.
std::pair<double, double> CrossEntropy(const std::vector<int64_t>& labels,
                                       const std::array<double, 3>& weights) {
  const std::vector<double> w = {0.5, -1, 0.25, 1, 0.75, -0.5};
  const std::vector<double> b = {0.1, 0, -0.2};
  double sum = 0;
  double count = 0;
  for (size_t i = 0; i < kSamples; ++i) {
    if (labels[i] < 0) continue;
    std::array<double, kClasses> y = {};
    double exponentials = 0;
    for (size_t c = 0; c < kClasses; ++c) {
      y[c] = kX[2 * i] * w[c] + kX[2 * i + 1] * w[kClasses + c] + b[c];
      exponentials += std::exp(y[c]);
    }
    const auto label = static_cast<size_t>(labels[i]);
    sum += weights[label] * (std::log(exponentials) - y[label]);
    count += weights[label];
  }
  return {sum, count};
}

auto IsNear(const Tensor& want) {
  return ::testing::Pointwise(::testing::DoubleNear(1e-14), DoublesOf(want));
}

// Kills: a mean over other samples, a weight that is not counted, an ignored
// label that is; and two forms of one loss that differ.
TEST(LossTest, IsThatOfItsFormulaInBothForms) {
  struct Row {
    const char* name;
    std::vector<int64_t> labels;
    std::array<double, 3> weights;
    bool is_weighted, is_sum;
  };
  const std::vector<int64_t> ignored = {0, -1, 1, 1, -1, 2};
  for (const Row& row : {
           Row{"mean", kLabels, {1, 1, 1}, false, false},
           Row{"sum", kLabels, {1, 1, 1}, false, true},
           Row{"weighted", kLabels, {0.5, 2, 1}, true, false},
           Row{"weighted sum", kLabels, {0.5, 2, 1}, true, true},
           Row{"ignored", ignored, {1, 1, 1}, false, false},
           Row{"ignored and weighted", ignored, {0.5, 2, 1}, true, false},
       }) {
    SCOPED_TRACE(row.name);
    edit::LossEdit loss;
    loss.sum = row.is_sum;
    loss.ignore_index = -1;
    if (row.is_weighted) {
      loss.weights = Got(Tensor::Of<double>({kClasses}, row.weights));
    }
    const auto [sum, count] = CrossEntropy(row.labels, row.weights);
    const double want = row.is_sum ? sum : sum / count;
    const Found classes = EvaluationOf(loss, Labels(row.labels));
    EXPECT_NEAR(classes.loss, want, 1e-14);
    loss.loss = edit::Loss::kSoftmaxCrossEntropyOfOneHot;
    const Found one_hot = EvaluationOf(loss, OneHot(row.labels));
    EXPECT_NEAR(one_hot.loss, want, 1e-14);
    for (const size_t p : {0U, 1U}) {
      EXPECT_THAT(DoublesOf(classes.gradients[p]),
                  IsNear(one_hot.gradients[p]));
    }
  }
}

/// The network with its LogSoftmax in front of a loss.
Found EvaluationOfLog(edit::LossEdit loss, const Tensor& targets) {
  const auto model =
      Got(edit::AddOutput(*Got(edit::AddNodes(*graph::ModelOfText(kLinear),
                                              "log = LogSoftmax<axis = 1>(y)")),
                          "log"));
  loss.of = "log";
  return EvaluationOf(loss, targets, model);
}

// Kills: a likelihood that is not that of the cross entropy, which has its
// logarithm within.
TEST(LossTest, LikelihoodOfLogSoftmaxIsCrossEntropy) {
  edit::LossEdit loss;
  loss.ignore_index = -1;
  loss.weights = Doubles({kClasses}, {0.5, 2.0, 1.0});
  const std::vector<int64_t> labels = {0, -1, 1, 1, -1, 2};
  for (const bool is_sum : {false, true}) {
    loss.sum = is_sum;
    loss.loss = edit::Loss::kSoftmaxCrossEntropy;
    const Found want = EvaluationOf(loss, Labels(labels));
    loss.loss = edit::Loss::kNegativeLogLikelihood;
    const Found classes = EvaluationOfLog(loss, Labels(labels));
    loss.loss = edit::Loss::kNegativeLogLikelihoodOfOneHot;
    const Found one_hot = EvaluationOfLog(loss, OneHot(labels));
    for (const Found& got : {classes, one_hot}) {
      EXPECT_NEAR(got.loss, want.loss, 1e-14);
      EXPECT_THAT(DoublesOf(got.gradients[0]), IsNear(want.gradients[0]));
    }
  }
}

TEST(LossTest, MeanSquaredErrorIsOverAllNumbers) {
  edit::LossEdit loss;
  loss.loss = edit::Loss::kMeanSquaredError;
  const Tensor targets = OneHot(kLabels);
  const double mean = EvaluationOf(loss, targets).loss;
  loss.sum = true;
  EXPECT_NEAR(EvaluationOf(loss, targets).loss,
              mean * static_cast<double>(kSamples * kClasses), 1e-13);
}

/// The gradient of the mean cross entropy: with p the softmax of x w + b and t
/// the one-hot labels, of w it is x^T (p - t) / N, and of b the sum of its
/// rows.
std::vector<QuadTensor> LinearGradient(const std::vector<QuadTensor>& at) {
  std::vector<QuadTensor> gradients = {QuadTensor(kFeatures * kClasses, 0),
                                       QuadTensor(kClasses, 0)};
  for (size_t i = 0; i < kSamples; ++i) {
    std::array<Float128, kClasses> p = {};
    Float128 sum = 0;
    for (size_t c = 0; c < kClasses; ++c) {
      p[c] = Exponential(kX[2 * i] * at[0][c].value +
                         kX[2 * i + 1] * at[0][kClasses + c].value +
                         at[1][c].value);
      sum += p[c];
    }
    for (size_t c = 0; c < kClasses; ++c) {
      const bool is_label = static_cast<size_t>(kLabels[i]) == c;
      const Float128 off = (p[c] / sum - (is_label ? 1 : 0)) / kSamples;
      for (size_t f = 0; f < kFeatures; ++f) {
        gradients[0][f * kClasses + c] += kX[2 * i + f] * off;
      }
      gradients[1][c] += off;
    }
  }
  return gradients;
}

class NetworkTest : public ::testing::TestWithParam<OptimizerSpec> {};

// Kills: a gradient or a rule that is not its formula's; memory of a parameter
// that the network does not read.
TEST_P(NetworkTest, TrainsAsItsFormulaDoes) {
  auto objective = LinearNetwork({});
  const std::vector<Tensor> batch = {Inputs(), Labels(kLabels)};
  ASSERT_TRUE(objective->Put(batch).ok());
  quad::ExpectClose(
      {Got(SetupOf(GetParam())), std::move(objective), LinearGradient},
      {.steps = 1000}, "the linear network");
}

INSTANTIATE_TEST_SUITE_P(All, NetworkTest,
                         ::testing::ValuesIn(quad::OptimizerSpecs()),
                         [](const auto& info) { return IdOf(info.param); });

// Kills: a batch that is left where the one before was.
TEST(NetworkObjectiveTest, TakesBatchesOfAnySize) {
  const auto objective = LinearNetwork({});
  EXPECT_EQ(objective->Evaluate().status().code(),
            StatusCode::kFailedPrecondition);
  const std::vector<Tensor> all = {Inputs(), Labels(kLabels)};
  ASSERT_TRUE(objective->Put(all).ok());
  const double of_all = Got(objective->Evaluate()).loss;
  double sum = 0;
  for (size_t i = 0; i < kSamples; i += 2) {
    const std::vector<Tensor> pair = {
        Got(Tensor::Of<double>({2, kFeatures},
                               std::span(kX).subspan(2 * i, 4))),
        Got(Tensor::Of<int64_t>({2}, std::span(kLabels).subspan(i, 2)))};
    ASSERT_TRUE(objective->Put(pair).ok());
    sum += Got(objective->Evaluate()).loss;
  }
  EXPECT_NEAR(of_all, sum / 3, 1e-15);
}

TEST(NetworkObjectiveTest, SaysWhatIsWrong) {
  const auto objective = LinearNetwork({});
  EXPECT_THAT(objective->Put(std::vector{Inputs()}),
              Says("found 1 tensors of a batch, wanted 2"));
  const auto model = graph::ModelOfText(kLinear);
  EXPECT_THAT(train::NetworkObjective::Load(Reference(), {model, {}, "loss"}),
              Says("the model has no output 'loss'"));
}

constexpr int64_t kImages = 4, kImageClasses = 3;

std::unique_ptr<train::NetworkObjective> ModelOf(std::string_view name,
                                                 DType type) {
  const train::NewModel made =
      Got(train::MakeModel(name, {.seed = 5,
                                  .type = type,
                                  .image = {2, 12, 13},
                                  .classes = kImageClasses}));
  train::Trainee trainee = Got(train::TraineeOf(made, {}, /*seed=*/5));
  // The objective is the loss of the training form.
  trainee.inference = nullptr;
  auto objective =
      Got(train::NetworkObjective::Load(Reference(), std::move(trainee)));
  Tensor images = Got(Tensor::Allocate(type, {kImages, 2, 12, 13}));
  core::Numbers numbers(1);
  VisitType<float, double>(type, [&]<class T>(T) {
    for (T& pixel : images.mutable_elements<T>()) {
      pixel = static_cast<T>(numbers.Share());
    }
  });
  const std::vector<Tensor> batch = {images, Int64s({kImages}, {0, 1, 2, 0})};
  EXPECT_TRUE(objective->Put(batch).ok());
  return objective;
}

class ModelTest : public ::testing::TestWithParam<std::string_view> {};

// Kills: an operator of a model whose gradient is not that of its loss, a mask
// that is drawn anew amid a step, a statistic that the loss depends on.
TEST_P(ModelTest, GradientsAreThoseOfDifferences) {
  // So short that the way crosses no corner of Relu or MaxPool.
  constexpr double kStep = 1e-7;
  const auto objective = ModelOf(GetParam(), DType::kFloat64);
  const auto gradients = Got(objective->Evaluate()).gradients;
  std::vector<Tensor> kept;
  for (const Tensor& each : gradients) kept.push_back(Got(each.Clone()));
  for (size_t p = 0; p < kept.size(); ++p) {
    train::Parameter& parameter = objective->parameters()[p];
    const auto x = parameter.value.mutable_elements<double>();
    const std::vector<double> at(x.begin(), x.end());
    core::Numbers numbers(p);
    std::vector<double> way;
    double wanted = 0;
    double norm = 0;
    for (const double each : kept[p].elements<double>()) {
      way.push_back(numbers.Share() < 0.5 ? -1 : 1);
      wanted += each * way.back();
      norm += each * each;
    }
    const auto loss_at = [&](double step) {
      for (size_t i = 0; i < at.size(); ++i) x[i] = at[i] + step * way[i];
      return Got(objective->Infer());
    };
    const double got = (loss_at(kStep) - loss_at(-kStep)) / (2 * kStep);
    std::ranges::copy(at, x.begin());
    const double off = std::abs(got - wanted);
    // Ten roundings of a loss, over the step.
    EXPECT_LE(off, 1e-6 * std::sqrt(norm) + 0x1p-53 / kStep * 10)
        << parameter.name;
  }
}

TEST_P(ModelTest, Learns) {
  for (const DType type : {DType::kFloat32, DType::kFloat64}) {
    const auto objective = ModelOf(GetParam(), type);
    const auto optimizer =
        Got(train::MakeOptimizer({"adam", "pytorch", "rate=0.01"})).optimizer;
    const double first = Got(optimizer->Step(*objective));
    double last = first;
    for (int64_t step = 1; step < 12; ++step) {
      objective->At(step);
      last = Got(optimizer->Step(*objective));
    }
    EXPECT_LE(last, 0.5 * first) << ToString(type);
  }
}

INSTANTIATE_TEST_SUITE_P(All, ModelTest,
                         ::testing::ValuesIn(train::ModelNames()),
                         [](const auto& info) {
                           return std::string(info.param);
                         });

}  // namespace
}  // namespace assay::on_reference
