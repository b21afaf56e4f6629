// SPDX-License-Identifier: Apache-2.0
//
// The models of framework/train/model on the reference: their gradients beside
// differences of their losses, and whether they learn.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/core/numbers.h"
#include "framework/graph/edit/training.h"
#include "framework/testing/support/tensors_fixture.h"
#include "framework/train/model/models.h"
#include "framework/train/network_objective.h"
#include "framework/train/on_reference/linear_network_fixture.h"
#include "framework/train/rule/optimizers.h"

namespace assay::on_reference {
namespace {

constexpr int64_t kImages = 4, kImageClasses = 3;

/// Images of two channels with as many rows and columns as each model takes.
std::unique_ptr<train::NetworkObjective> ModelOf(std::string_view name,
                                                 DType type) {
  const train::NewModel made =
      Got(train::MakeModel(name, {.seed = 5,
                                  .type = type,
                                  .image = {2, 12, 13},
                                  .classes = kImageClasses}));
  train::Trainee trainee = Got(train::TraineeOf(made, {}, /*seed=*/5));
  // What is measured is the loss of the training form.
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
