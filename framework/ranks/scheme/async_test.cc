// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/scheme/async.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/ranks/threads/choices.h"
#include "framework/ranks/threads/threads.h"
#include "framework/train/rule/optimizers.h"

namespace assay::ranks {
namespace {

using ::testing::HasSubstr;
using train::Evaluation;
using train::Objective;
using train::Parameter;

/// One number. Its gradient is the rank, which gives one sum in every order,
/// or, where `is_pulled`, the number itself, which tells orders apart.
class OneNumber : public Objective {
 public:
  OneNumber(int rank, bool is_pulled) : rank_(rank), is_pulled_(is_pulled) {
    parameters_.push_back(
        {"w", Tensor::Of<double>({1}, std::vector{64.0}).value()});
    gradient_ = Tensor::Allocate(DType::kFloat64, {1}).value();
  }
  std::span<Parameter> parameters() override { return parameters_; }
  Result<Evaluation> Evaluate() override {
    gradient_.mutable_elements<double>()[0] =
        is_pulled_ ? rank_ * number() : rank_;
    return Evaluation{number(), {&gradient_, 1}};
  }
  double number() const { return parameters_[0].value.elements<double>()[0]; }

 private:
  const int rank_;
  const bool is_pulled_;
  std::vector<Parameter> parameters_;
  Tensor gradient_;
};

struct Served {
  double number = 0;
  Staleness seen;
};

/// A run of a server and workers of so many steps each.
Served ServedBy(int workers, const ServerOptions& options, bool is_pulled,
                Choices* choices) {
  Served served;
  const auto ended = RunThreads(
      workers + 1,
      [&](Endpoint& mine) {
        OneNumber objective(mine.rank(), is_pulled);
        if (mine.rank() > 0) {
          WorkerScheme scheme(mine);
          for (int64_t i = 0; i < options.steps; ++i) {
            ASSAY_RETURN_IF_ERROR(scheme.Step(objective).status());
          }
          return OkStatus();
        }
        const auto optimizer =
            train::MakeOptimizer({"gradient_descent", "paper", "rate=0.125"})
                .value()
                .optimizer;
        ASSAY_ASSIGN_OR_RETURN(
            served.seen, ServeGradients(mine, *optimizer, objective, options));
        served.number = objective.number();
        return OkStatus();
      },
      choices);
  for (const Status& status : ended)
    EXPECT_TRUE(status.ok()) << status.ToString();
  return served;
}

// Kills: a gradient that is lost or taken twice in some order.
TEST(ServeGradientsTest, EveryGradientCountsOnceInEveryOrder) {
  int64_t ways = 0;
  ListedChoices listed;
  do {
    ++ways;
    const Served served =
        ServedBy(3, {.steps = 2}, /*is_pulled=*/false, &listed);
    ASSERT_EQ(served.number, 64 - 0.125 * 2 * (1 + 2 + 3));
  } while (listed.GoOn());
  // Two of each worker in any order, since an answer goes out at once.
  EXPECT_EQ(ways, 90);
}

// The numbers stand on a grid of 2^-3: nothing is rounded.
TEST(ServeGradientsTest, EveryGradientCountsOnceInDrawnOrders) {
  constexpr int kWorkers = 4;
  std::set<int64_t> staleness;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    DrawnChoices drawn(seed);
    const Served served =
        ServedBy(kWorkers, {.steps = 6}, /*is_pulled=*/false, &drawn);
    ASSERT_EQ(served.number, 64 - 0.125 * 6 * (1 + 2 + 3 + 4)) << seed;
    staleness.insert(served.seen.updates);
  }
  EXPECT_GT(staleness.size(), 3U);
}

// Kills: a slack that is not kept. Bounds: the gap is what the slack allows and
// the step that is under way; while a gradient is, each other worker makes at
// most twice the slack and one more.
TEST(ServeGradientsTest, NobodyIsFartherAheadThanTheSlack) {
  constexpr int kWorkers = 4;
  for (const int64_t slack : {0, 1, 3}) {
    Staleness worst;
    std::set<double> numbers;
    for (uint64_t seed = 0; seed < 1000; ++seed) {
      DrawnChoices drawn(seed);
      const Served served = ServedBy(kWorkers, {.steps = 6, .slack = slack},
                                     /*is_pulled=*/true, &drawn);
      worst.clock_gap = std::max(worst.clock_gap, served.seen.clock_gap);
      worst.updates = std::max(worst.updates, served.seen.updates);
      numbers.insert(served.number);
    }
    EXPECT_EQ(worst.clock_gap, slack + 1);
    EXPECT_LE(worst.updates, (2 * slack + 1) * (kWorkers - 1));
    EXPECT_GE(worst.updates, kWorkers - 1);
    // Without slack no order shows; with it, or one was run again and again.
    if (slack == 0) {
      EXPECT_EQ(numbers.size(), 1U);
    } else {
      EXPECT_GT(numbers.size(), 50U) << slack;
    }
  }
}

// Kills: a slack of 0 that lets a worker go on before all have followed.
TEST(ServeGradientsTest, WithoutSlackAllStepTogether) {
  ListedChoices listed;
  do {
    const Served served =
        ServedBy(2, {.steps = 3, .slack = 0}, /*is_pulled=*/true, &listed);
    // Both workers' gradients are of the number that a step began with.
    double number = 64;
    for (int i = 0; i < 3; ++i) number -= 0.125 * (1 + 2) * number;
    ASSERT_EQ(served.number, number);
    ASSERT_EQ(served.seen.updates, 1);
  } while (listed.GoOn());
}

TEST(ServeGradientsTest, WantsRankZeroAndWorkers) {
  const auto ended = RunThreads(1, [](Endpoint& mine) {
    OneNumber objective(0, false);
    const auto optimizer =
        train::MakeOptimizer({"gradient_descent"}).value().optimizer;
    return ServeGradients(mine, *optimizer, objective, {}).status();
  });
  EXPECT_THAT(ended[0].message(),
              HasSubstr("found rank 0 of 1, wanted rank 0 of 2 or more"));
}

}  // namespace
}  // namespace assay::ranks
