// SPDX-License-Identifier: Apache-2.0
//
// Networks of the reference in float64 as objectives: their losses, and optimizers
// on them beside quad.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "framework/graph/edit/node_edit.h"
#include "framework/graph/edit/training.h"
#include "framework/graph/model_text.h"
#include "framework/train/network_objective.h"
#include "framework/train/on_reference/linear_network.h"
#include "framework/train/quad/lockstep_quad.h"
#include "framework/train/quad/problem.h"

namespace assay::on_reference {
namespace {

using quad::Exponential;
using quad::Gradients;
using quad::LockstepQuad;
using quad::OptimizerSpec;
using quad::Quad;
using quad::QuadTensor;

using ::testing::HasSubstr;

constexpr size_t kSamples = 6, kFeatures = 2, kClasses = 3;
const std::vector<double> kX = {1, 2, -1, 0.5, 3, -2, 0, 0.25, -3, 1, 0.5, 0.5};
const std::vector<int64_t> kLabels = {0, 2, 1, 1, 0, 2};

Tensor Inputs() { return Got(Tensor::Of<double>({kSamples, kFeatures}, kX)); }

Tensor Labels(const std::vector<int64_t>& labels) {
  return Got(Tensor::Of<int64_t>({kSamples}, labels));
}

/// Rows with a one at the label; of zeros where it is -1.
Tensor OneHot(const std::vector<int64_t>& labels) {
  std::vector<double> rows(kSamples * kClasses, 0);
  for (size_t i = 0; i < kSamples; ++i) {
    if (labels[i] >= 0) rows[i * kClasses + static_cast<size_t>(labels[i])] = 1;
  }
  return Got(Tensor::Of<double>({kSamples, kClasses}, rows));
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
      const auto a = classes.gradients[p].elements<double>();
      const auto b = one_hot.gradients[p].elements<double>();
      for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-14);
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
  loss.weights = Got(Tensor::Of<double>({kClasses}, std::array{0.5, 2.0, 1.0}));
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
      const auto a = got.gradients[0].elements<double>();
      const auto b = want.gradients[0].elements<double>();
      for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-14);
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

/// The gradient of the mean cross entropy: with p the softmax of x w + b and t the
/// one-hot labels, of w it is x^T (p - t) / N, and of b the sum of its rows.
std::vector<QuadTensor> LinearGradient(const std::vector<QuadTensor>& at) {
  std::vector<QuadTensor> gradients = {QuadTensor(kFeatures * kClasses, 0),
                                       QuadTensor(kClasses, 0)};
  for (size_t i = 0; i < kSamples; ++i) {
    std::array<Quad, kClasses> p = {};
    Quad sum = 0;
    for (size_t c = 0; c < kClasses; ++c) {
      p[c] = Exponential(kX[2 * i] * at[0][c] +
                         kX[2 * i + 1] * at[0][kClasses + c] + at[1][c]);
      sum += p[c];
    }
    for (size_t c = 0; c < kClasses; ++c) {
      const bool is_label = static_cast<size_t>(kLabels[i]) == c;
      const Quad off = (p[c] / sum - (is_label ? 1 : 0)) / kSamples;
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
  LockstepQuad lockstep(Got(SetupOf(GetParam())), std::move(objective),
                        LinearGradient);
  for (int step = 1; step <= 1000; ++step) {
    const Status stepped = lockstep.Step(Gradients::kOwn);
    ASSERT_TRUE(stepped.ok()) << stepped.ToString();
    ASSERT_LE(lockstep.Difference(), 1e-12) << "at " << step;
  }
}

INSTANTIATE_TEST_SUITE_P(All, NetworkTest,
                         ::testing::ValuesIn(quad::OptimizerSpecs()),
                         [](const auto& info) { return info.param.id(); });

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
  EXPECT_THAT(objective->Put(std::vector{Inputs()}).message(),
              HasSubstr("found 1 tensors of a batch, wanted 2"));
  const auto model = graph::ModelOfText(kLinear);
  EXPECT_THAT(train::NetworkObjective::Load(Reference(), {model, {}, "loss"})
                  .status()
                  .message(),
              HasSubstr("the model has no output 'loss'"));
}

}  // namespace
}  // namespace assay::on_reference
