// SPDX-License-Identifier: Apache-2.0
//
// Running statistics that are fed back, and masks that are drawn, beside their
// formulas.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <vector>

#include "framework/graph/edit/training.h"
#include "framework/graph/model_text.h"
#include "framework/testing/support/tensors_fixture.h"
#include "framework/train/data/dataset.h"
#include "framework/train/network_objective.h"
#include "framework/train/on_reference/linear_network_fixture.h"
#include "framework/train/trainer.h"

namespace assay::on_reference {
namespace {

const std::vector<double> kW = {0.5, -1, 0.25, 1, 0.75, -0.5};

// Attributes are float32.
constexpr double kMomentum = 0.9F, kEpsilon = 0.01F;

/// kNormalized without its Dropout: all of its numbers have a formula.
const std::string kNormalizedAlone = Normalized("h = MatMul(x, w) ");

std::unique_ptr<train::NetworkObjective> WithBatch(const std::string& network) {
  auto objective = LinearNetwork({}, graph::ModelOfText(network));
  const std::vector<Tensor> batch = {Doubles({kSamples, 2}, kX),
                                     Int64s({kSamples}, {0, 2, 1, 1, 0, 2})};
  const Status put = objective->Put(batch);
  EXPECT_TRUE(put.ok()) << put.ToString();
  return objective;
}

double Hidden(size_t i, size_t c) {
  return kX[2 * i] * kW[c] + kX[2 * i + 1] * kW[kClasses + c];
}

/// The mean and the variance of a class over the samples. The variance is
/// divided by the number of samples, as in ONNX's BatchNormalization-15:
/// "ReduceVar ... divides by N, which is the population size".
std::array<double, 2> MeanAndVariance(size_t c) {
  double mean = 0;
  for (size_t i = 0; i < kSamples; ++i) mean += Hidden(i, c) / kSamples;
  double variance = 0;
  for (size_t i = 0; i < kSamples; ++i) {
    variance += (Hidden(i, c) - mean) * (Hidden(i, c) - mean) / kSamples;
  }
  return {mean, variance};
}

std::vector<double> Statistics(const train::NetworkObjective& objective) {
  std::vector<double> all;
  for (const train::StateTensor& each : objective.Statistics()) {
    const auto elements = each.value.elements<double>();
    all.insert(all.end(), elements.begin(), elements.end());
  }
  return all;
}

// Kills: statistics that stay, that are fed back twice or into the other input,
// the momentum for one minus it, the variance of a sample for that of a
// population.
TEST(StatisticsTest, AreFedBackByTheirFormula) {
  const auto objective = WithBatch(kNormalizedAlone);
  std::vector<double> want = {0.5, 0, -1, 1, 2, 4};
  EXPECT_EQ(Statistics(*objective), want);
  for (int step = 0; step < 3; ++step) {
    ASSERT_TRUE(objective->Evaluate().ok());
    const std::vector<double> got = Statistics(*objective);
    for (size_t c = 0; c < kClasses; ++c) {
      for (const size_t part : {0U, 1U}) {
        double& running = want[part * kClasses + c];
        running =
            kMomentum * running + (1 - kMomentum) * MeanAndVariance(c)[part];
        EXPECT_NEAR(got[part * kClasses + c], running, 1e-14);
      }
    }
  }
}

double Score(const train::NetworkObjective& objective, size_t i, size_t c) {
  return objective.outputs()[0].tensor()->elements<double>()[i * kClasses + c];
}

// Kills: a test set that is normalized by its batch, one that changes what it
// reads.
TEST(StatisticsTest, AreThoseOfTheTestSet) {
  const auto objective = WithBatch(kNormalizedAlone);
  const std::vector<double> scale = {1, 2, 0.5};
  const std::vector<double> bias = {0.1, 0, -0.2};
  const auto normalized = [&](size_t i, size_t c, double mean, double var) {
    return scale[c] * (Hidden(i, c) - mean) / std::sqrt(var + kEpsilon) +
           bias[c];
  };
  for (int step = 0; step < 2; ++step) {
    const std::vector<double> before = Statistics(*objective);
    ASSERT_TRUE(objective->Infer().ok());
    EXPECT_EQ(Statistics(*objective), before);
    for (size_t i = 0; i < kSamples; ++i) {
      for (size_t c = 0; c < kClasses; ++c) {
        EXPECT_NEAR(Score(*objective, i, c),
                    normalized(i, c, before[c], before[kClasses + c]), 1e-14);
      }
    }
    ASSERT_TRUE(objective->Evaluate().ok());
    for (size_t c = 0; c < kClasses; ++c) {
      const auto [mean, variance] = MeanAndVariance(c);
      EXPECT_NEAR(Score(*objective, 1, c), normalized(1, c, mean, variance),
                  1e-14);
    }
  }
}

// Kills: a step that takes memory of its own for statistics or masks.
TEST(StatisticsTest, StayInTheirMemory) {
  const auto objective = WithBatch(kNormalized);
  ASSERT_TRUE(objective->Evaluate().ok());
  const auto places = [&] {
    std::vector<const std::byte*> places = {objective->masks()[0].data()};
    for (const train::StateTensor& each : objective->Statistics()) {
      places.push_back(each.value.data());
    }
    return places;
  };
  const auto before = places();
  objective->At(1);
  ASSERT_TRUE(objective->Evaluate().ok());
  ASSERT_TRUE(objective->Infer().ok());
  EXPECT_EQ(places(), before);
}

std::vector<double> MaskAt(train::NetworkObjective& objective, int64_t step,
                           int64_t part = 0) {
  objective.At(step, part);
  EXPECT_TRUE(objective.Evaluate().ok());
  return DoublesOf(objective.masks()[0]);
}

constexpr char kDropped[] =
    "g (double[N,2] x) => (double[N,3] y) "
    "<double[2,3] w = {0.5, -1, 0.25, 1, 0.75, -0.5}, double r = {0.25}> "
    "{ h = MatMul(x, w) y = Dropout(h, r) }";

// Kills: one mask for all steps, one for all parts, one that is drawn anew when
// the same step is asked for again, one of the run's seed left out.
TEST(MaskTest, IsOfItsStep) {
  const auto objective = WithBatch(kDropped);
  const std::vector<double> first = MaskAt(*objective, 0);
  const std::vector<double> second = MaskAt(*objective, 1);
  EXPECT_EQ(MaskAt(*objective, 1), second);
  EXPECT_EQ(MaskAt(*objective, 0), first);
  EXPECT_NE(first, second);
  EXPECT_NE(MaskAt(*objective, 0, 1), first);
  Tensor drawn = Got(Tensor::Allocate(DType::kFloat64, {kSamples, kClasses}));
  const uint64_t key = train::MaskKey(/*seed=*/1, /*step=*/1, 0, "y_mask");
  ASSERT_TRUE(train::DrawMask(key, 0.25, &drawn).ok());
  EXPECT_TRUE(std::ranges::equal(drawn.elements<double>(), second));
}

// Kills: a mask that is not applied or not scaled, a test set that drops.
TEST(MaskTest, DropsInStepsAndNotInTests) {
  const auto objective = WithBatch(kDropped);
  const std::vector<double> mask = MaskAt(*objective, 0);
  EXPECT_EQ(std::ranges::count(mask, 0) + std::ranges::count(mask, 1 / 0.75),
            std::ssize(mask));
  EXPECT_GT(std::ranges::count(mask, 0), 0);
  for (size_t i = 0; i < kSamples; ++i) {
    for (size_t c = 0; c < kClasses; ++c) {
      EXPECT_NEAR(Score(*objective, i, c),
                  Hidden(i, c) * mask[i * kClasses + c], 1e-15);
    }
  }
  ASSERT_TRUE(objective->Infer().ok());
  for (size_t i = 0; i < kSamples; ++i) {
    EXPECT_NEAR(Score(*objective, i, 1), Hidden(i, 1), 1e-15);
  }
}

// Kills: a mask whose extents are looked for behind those of the batch.
TEST(MaskTest, IsOfNoBatchOfAnotherRank) {
  const auto objective = WithBatch(kDropped);
  const std::vector<Tensor> batch = {Doubles({}, {1}), Int64s({0})};
  ASSERT_TRUE(objective->Put(batch).ok());
  EXPECT_EQ(objective->Evaluate().status().code(),
            StatusCode::kInvalidArgument);
}

/// Counts the steps behind which the mask is that of their last part.
class LooksAtMasks : public train::TrainingEvent {
 public:
  Status AfterStep(const train::TrainingMoment& moment) override {
    const Tensor& mask = moment.objective.masks()[0];
    ASSAY_ASSIGN_OR_RETURN(Tensor wanted,
                           Tensor::Allocate(mask.dtype(), mask.shape()));
    const int64_t part = (std::ssize(moment.batch) + 2) / 3 - 1;
    const uint64_t key =
        train::MaskKey(/*seed=*/1, moment.steps - 1, part, "d_mask");
    ASSAY_RETURN_IF_ERROR(train::DrawMask(key, 0.5, &wanted));
    steps += std::ranges::equal(mask.bytes(), wanted.bytes());
    return OkStatus();
  }
  int64_t steps = 0;
};

// Kills: parts that drop the same, a step that is counted by its epoch.
TEST(MaskTest, IsOfItsPart) {
  CornersRun run("rate=0.1", edit::Loss::kSoftmaxCrossEntropy, kNormalized);
  LooksAtMasks looks;
  train::Training training = run.Run(2, {&looks});
  training.micro_batch = 3;
  EXPECT_EQ(Got(train::Train(training)).steps, 14);
  EXPECT_EQ(looks.steps, 14);
}

TEST(StatisticsTest, SayWhatIsWrong) {
  const auto model = graph::ModelOfText(
      "g (double[N,2] x, double[2] w, double m, double[A] k) => "
      "(double[N,2] y, double n, double loss) { h = Mul(x, k) y = Mul(h, w) "
      "n = Neg(m) loss = ReduceMean<keepdims = 0>(y) }");
  const std::vector<Tensor> batch = {Doubles({6, 2}, kX)};
  const struct {
    const char *statistic, *next, *mask, *message;
  } rows[] = {
      {"q", "n", "k", "the model has no input 'q'"},
      {"m", "q", "k", "the model has no output 'q'"},
      {"m", "n", "q", "the model has no input 'q'"},
      {"m", "n", "k", "found the extent 'A' of 'k', wanted one of the batch"},
  };
  for (const auto& row : rows) {
    train::Trainee trainee;
    trainee.model = model;
    trainee.parameters = {{"w", Got(Tensor::Allocate(DType::kFloat64, {2}))}};
    trainee.statistics = {
        {row.statistic, row.next, Got(Tensor::Allocate(DType::kFloat64, {}))}};
    trainee.masks = {{row.mask, 0.5}};
    auto loaded = train::NetworkObjective::Load(Reference(), trainee);
    Status status = loaded.status();
    if (status.ok()) {
      ASSERT_TRUE((*loaded)->Put(batch).ok());
      status = (*loaded)->Evaluate().status();
    }
    EXPECT_THAT(status, Says(row.message));
  }
}

}  // namespace
}  // namespace assay::on_reference
