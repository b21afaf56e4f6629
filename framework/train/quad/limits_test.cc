// SPDX-License-Identifier: Apache-2.0
//
// The limits of a step: as wide as its condition wants, and no wider.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/core/numbers.h"
#include "framework/testing/support/backends_fixture.h"
#include "framework/testing/support/statuses_fixture.h"
#include "framework/train/graph_rule/graph_rules.h"
#include "framework/train/optimizer/in_place.h"
#include "framework/train/quad/lockstep_quad.h"
#include "framework/train/quad/number.h"
#include "framework/train/quad/problem_fixture.h"
#include "framework/train/rule/optimizers.h"

namespace assay::quad {
namespace {

constexpr double kU = 0x1p-24;

Quad In32(double x) { return Quad::Of(x, kU); }

// Kills: an operation that adds no rounding, one that forgets what its operands
// bring, a constant that is exact in a type where it is not.
TEST(NumberTest, HasTheLimitOfItsCondition) {
  const Quad third = In32(1) / In32(3);  // off by a third of a roundoff
  const struct {
    const char* name;
    Quad number;
    double roundings;  // of 1
  } rows[] = {
      {"as it is given", In32(3), 0},
      {"a rounded sum", In32(1) + In32(2), 3},
      {"a constant beside it", In32(1) + Quad(2), 5},
      {"of constants alone", Quad(1) / Quad(3), 0},
      {"a product", third * In32(6), 4},
      {"a difference that cancels", third * In32(3) - In32(1), 2},
      {"a quotient", In32(1) / third, 6},
      {"a small divisor", third / (third * In32(3) - In32(0.75)),
       (1.0 / 3 + 4.0 / 3 * (2 + 0.25)) / 0.25 + 4.0 / 3},
      {"a root", Root(third * In32(3)), 2},
      {"the greater", Max(In32(1), third * In32(3)), 2},
      {"the greater by far", Max(In32(2), third * In32(3)), 0},
      {"the greater of constants", Max(Quad(1), Quad(INFINITY)), 0},
      {"the less", Min(third * In32(3), Quad(INFINITY)), 2},
      {"a sum of squares", SumOfSquares({third * In32(6)}), 24},
  };
  for (const auto& row : rows) {
    EXPECT_NEAR(LimitOf(row.number) / kU, kOrders * row.roundings,
                1e-5 * (1 + row.roundings))
        << row.name;
  }
}

// Kills: a limit where a divisor may be 0, a root that is steep there and has a
// narrow one, a number that is flushed.
TEST(NumberTest, IsNotKnownWhereItMayBeAnything) {
  Quad none = In32(0);
  none.error = 2 * kU;
  Quad nearly = In32(kU);
  nearly.error = 2 * kU;
  EXPECT_FALSE(std::isfinite(LimitOf(In32(1) / nearly)));
  Quad edge = In32(2 * kU);
  edge.error = 2 * kU;
  EXPECT_EQ(LimitOf(In32(0) / edge), INFINITY);
  EXPECT_NEAR(LimitOf(Root(none)), kOrders * std::sqrt(2 * kU), 1e-4);
  EXPECT_GE(LimitOf(In32(1e-30) * In32(1e-30)), 0x1p-126);
}

TEST(NumberTest, RootIsRight) {
  for (const double x : {0.0, 2.0, 0.1, 1e-30, 1e300, 5e-324}) {
    const Float128 root = RootOf(x);
    EXPECT_LE(Size(root * root - x), 0x1p-111 * x) << x;
  }
}

constexpr double kCoupled = 0.1;

/// Parameters of float32 whose gradients change with each step: a third of the
/// elements nearly cancel with the decay of the weight, others are of all sizes
/// or 0.
class Cancelling : public train::Objective {
 public:
  explicit Cancelling(uint64_t seed) : numbers_(core::KeyOf(seed, 0)) {
    for (const size_t size : {1, 48}) {
      QuadTensor x;
      for (size_t i = 0; i < size; ++i) x.emplace_back(Signed());
      parameters_.push_back(
          {StrCat("w", size), InType(DType::kFloat32, x).value()});
      gradients_.push_back(parameters_.back().value.Clone().value());
    }
  }

  std::span<train::Parameter> parameters() override { return parameters_; }

  Result<train::Evaluation> Evaluate() override {
    for (size_t p = 0; p < parameters_.size(); ++p) {
      const auto x = parameters_[p].value.elements<float>();
      const auto g = gradients_[p].mutable_elements<float>();
      for (size_t i = 0; i < g.size(); ++i) g[i] = Gradient(i, x[i]);
    }
    lent_.clear();
    for (const Tensor& gradient : gradients_) {
      ASSAY_ASSIGN_OR_RETURN(lent_.emplace_back(), gradient.Clone());
    }
    return train::Evaluation{0, lent_};
  }

 private:
  double Signed() { return 2 * numbers_.Share() - 1; }
  float Gradient(size_t i, double x) {
    const double drawn = Signed();
    switch (i % 3) {
      case 0:
        return static_cast<float>(drawn);
      case 1:
        return static_cast<float>(-kCoupled * x * (1 + 0x1p-20 * drawn));
      default:
        return drawn < -0.5
                   ? 0
                   : static_cast<float>(drawn * std::pow(10, 9 * Signed()));
    }
  }

  core::Numbers numbers_;
  std::vector<train::Parameter> parameters_;
  std::vector<Tensor> gradients_, lent_;
};

/// So many seeds; a test at night has more.
uint64_t Seeds() {
  const char* const text = std::getenv("ASSAY_SEEDS");
  return text == nullptr ? 2 : std::strtoull(text, nullptr, 10);
}

/// The memory of a tensor that is compared.
Tensor MemoryOf(LockstepQuad& lockstep, const TensorDifference& compared) {
  for (const auto& each : lockstep.parameters()) {
    if (compared.name() == each.name) return each.value;
  }
  for (const auto& [p, state] : lockstep.StateByParameter()) {
    if (compared.name() == StrCat(state.parameter, ".", state.name)) {
      return state.value;
    }
  }
  throw std::runtime_error(compared.name());
}

bool IsZero(const Tensor& tensor) {
  return std::ranges::all_of(tensor.bytes(),
                             [](std::byte b) { return b == std::byte{0}; });
}

/// True where a tensor of the step that is 1 % off is seen. It is put back.
bool IsSeen(LockstepQuad& lockstep, size_t at) {
  Tensor tensor = MemoryOf(lockstep, lockstep.Compare()[at]);
  if (IsZero(tensor)) return true;
  const Tensor kept = tensor.Clone().value();
  const Status scaled = train::InPlace(
      &tensor, tensor, {}, []<class T>(const train::Elements<T>& each) {
        for (T& x : each.x) x *= static_cast<T>(1.01);
      });
  EXPECT_TRUE(scaled.ok());
  const TensorDifference off = lockstep.Compare()[at];
  std::ranges::copy(kept.bytes(), tensor.mutable_data());
  const bool is_seen = !(off.share <= 1);
  // A single number that cancels says nothing, and is not called right.
  EXPECT_TRUE(is_seen || !off.is_decided()) << off.name();
  return is_seen;
}

class SeedsTest : public ::testing::TestWithParam<train::Preset> {};

// Kills: a limit that takes a right step for a wrong one where its gradient
// cancels with the decay, one so wide that it hides a tensor that is 1 % off.
TEST_P(SeedsTest, ARightStepPassesAndAWrongOneDoesNot) {
  const OptimizerSpec spec = {std::string(GetParam().optimizer),
                              std::string(GetParam().name),
                              StrCat("decay=coupled weight_decay=", kCoupled)};
  constexpr int kSteps = 12;
  int64_t n_tried = 0;
  int64_t n_hidden = 0;
  for (uint64_t seed = 0; seed < Seeds(); ++seed) {
    LockstepQuad lockstep(Got(SetupOf(spec)),
                          std::make_unique<Cancelling>(seed), nullptr);
    for (int step = 1; step <= kSteps; ++step) {
      ASSERT_TRUE(lockstep.Step(Gradients::kGiven).ok());
      ASSERT_LE(lockstep.Share(), 1)
          << spec.optimizer << " seed " << seed << " step " << step;
      SCOPED_TRACE(StrCat("seed ", seed, " step ", step));
      for (size_t i = 0; i < lockstep.Compare().size(); ++i) {
        ++n_tried;
        n_hidden += IsSeen(lockstep, i) ? 0 : 1;
      }
      lockstep.Lock();
    }
  }
  EXPECT_LE(1000 * n_hidden, n_tried);
}

INSTANTIATE_TEST_SUITE_P(All, SeedsTest,
                         ::testing::ValuesIn(train::Presets().begin(),
                                             train::Presets().end()),
                         [](const auto& info) {
                           return StrCat(info.param.optimizer, "_",
                                         info.param.name);
                         });

class DecayTest : public ::testing::TestWithParam<std::string_view> {};

// Kills: weights that decay twice or not at all, a word that a rule does not
// have.
TEST_P(DecayTest, WeightsDecayOnceByEachWordOfTheRule) {
  for (const std::string_view word : train::kDecayWords) {
    const OptimizerSpec spec = {std::string(GetParam()), "paper",
                                StrCat("weight_decay=0.1 decay=", word)};
    auto setup = SetupOf(spec);
    const bool is_own = word == "in_rule";
    if (is_own && GetParam() != "lamb") {
      EXPECT_THAT(setup, Says("decay: found 'in_rule', wanted coupled or "));
      auto made = Got(SetupOf({spec.optimizer, "paper", ""}));
      for (auto& [name, text] : made.made.settings) {
        if (name == "decay") text = word;
      }
      EXPECT_THAT(MakeQuadRule(spec.optimizer, made.made.settings, 1),
                  Says("wanted one of coupled, by_rate, by_schedule, after"));
      continue;
    }
    for (const Problem& problem : Problems()) {
      ExpectClose(LockstepOf(Got(SetupOf(spec)), problem, DType::kFloat64),
                  {.steps = 20, .locks = true},
                  StrCat(problem.name, " ", word));
      if (!train::HasGraphRule(GetParam())) continue;
      auto graph = Got(train::MakeGraphOptimizer(
          {spec.optimizer, "paper", spec.settings}, Reference()));
      ExpectClose(LockstepOf({spec.optimizer, std::move(graph)}, problem,
                             DType::kFloat64),
                  {.steps = 20, .locks = true}, StrCat("graph, ", word));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, DecayTest,
                         ::testing::ValuesIn(train::OptimizerNames()),
                         [](const auto& info) {
                           return std::string(info.param);
                         });

}  // namespace
}  // namespace assay::quad
