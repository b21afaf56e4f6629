// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/distribution/distribution.h"

#include <bit>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>

#include "framework/backend/eager/eager.h"
#include "framework/graph/model_text.h"
#include "framework/testing/measure/measure_rows_fixture.h"
#include "framework/testing/support/drawn_fixture.h"
#include "framework/testing/support/tensors_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace assay::distribution {
namespace {

using testing::HasSubstr;
using Engine = std::mt19937_64;

/// Ways in which the backend below is wrong, or right in another way.
struct Faults {
  double p_shift = 0;
  bool constant = false;      // one seed for everybody
  bool seed_ignored = false;  // equal seeds draw differently
  bool shared = false;        // one number for all elements of a draw
  bool twice = false;         // each draw is given twice
  bool unscaled = false;      // Dropout does not scale
  bool mask_lies = false;     // Dropout's mask says another thing
  bool half = false;          // Bernoulli gives 0.5 once in a while
  bool goes_on = false;       // a seeded network does not repeat itself
  bool one_node = false;      // declines models of several nodes
  bool twice_only = false;    // declines to load more than two networks
  bool breaks = false;        // an error instead
  bool throws = false;        // from Forward, at the 100th draw
  bool reshapes = false;      // an output of another shape, at the 100th draw
  bool waits = false;         // 1 ms before each draw
};

/// The state that all networks of a backend share.
struct Shared {
  Faults faults;
  Engine engine;
  int64_t draws = 0;
};

/// The random numbers of one node.
class Source {
 public:
  Source(Shared& shared, std::optional<uint64_t> seed)
      : shared_(shared), seed_(seed) {
    if (shared.faults.constant) seed_ = 1;
    if (shared.faults.seed_ignored) seed_.reset();
    own_.seed(seed_.value_or(0));
  }

  std::vector<double> Draw(size_t count) {
    const Faults& faults = shared_.faults;
    if (faults.waits) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (++shared_.draws % 2 == 0 && faults.twice) return last_;
    if (shared_.draws == 100 && faults.throws) throw std::runtime_error("out");
    if (seed_.has_value() && !faults.goes_on) own_.seed(*seed_);
    Engine& engine = seed_.has_value() ? own_ : shared_.engine;
    last_.assign(count, Uniform(engine));
    for (double& u : last_) u = faults.shared ? last_[0] : Uniform(engine);
    return last_;
  }

  Shared& shared() { return shared_; }

 private:
  Shared& shared_;
  std::optional<uint64_t> seed_;
  Engine own_;
  std::vector<double> last_;
};

Status Bernoulli(const op::Bernoulli& op, Source& source, KernelContext& run) {
  const Tensor& x = run.input(op.input);
  const Faults& faults = source.shared().faults;
  const auto u = source.Draw(static_cast<size_t>(x.num_elements()));
  const bool strange = source.shared().draws == 100;
  const Shape shape =
      strange && faults.reshapes ? Shape{1, x.num_elements()} : x.shape();
  ASSAY_ASSIGN_OR_RETURN(Tensor * y,
                         run.Output(op.output, DType::kFloat32, shape));
  for (size_t i = 0; i < u.size(); ++i) {
    const double p = x.elements<float>()[i] + faults.p_shift;
    y->mutable_elements<float>()[i] = u[i] < p ? 1 : 0;
  }
  if (strange && faults.half) y->mutable_elements<float>()[0] = 0.5;
  return OkStatus();
}

Status Dropout(const op::Dropout& op, Source& source, KernelContext& run) {
  const Tensor& x = run.input(op.data);
  const Faults& faults = source.shared().faults;
  const float ratio = run.input(op.ratio).elements<float>()[0];
  const float scale = faults.unscaled ? 1 : 1 / (1 - ratio);
  ASSAY_ASSIGN_OR_RETURN(Tensor * y,
                         run.Output(op.output, DType::kFloat32, x.shape()));
  ASSAY_ASSIGN_OR_RETURN(Tensor * mask,
                         run.Output(op.mask, DType::kBool, x.shape()));
  const auto u = source.Draw(static_cast<size_t>(x.num_elements()));
  for (size_t i = 0; i < u.size(); ++i) {
    const bool kept = u[i] >= ratio;
    y->mutable_elements<float>()[i] = kept ? x.elements<float>()[i] * scale : 0;
    if (mask == nullptr) continue;
    mask->mutable_elements<bool>()[i] = kept != faults.mask_lies;
  }
  return OkStatus();
}

class Randoms : public OperatorVisitor {
 public:
  explicit Randoms(Shared& shared) : shared_(shared) {}

  Result<Kernel> Visit(const op::Bernoulli& op, LoadContext&) override {
    std::optional<uint64_t> seed;
    if (op.seed.has_value()) seed = std::bit_cast<uint32_t>(*op.seed);
    return Drawing(&Bernoulli, op, seed);
  }
  Result<Kernel> Visit(const op::Dropout& op, LoadContext&) override {
    std::optional<uint64_t> seed;
    if (op.seed.has_value()) seed = static_cast<uint64_t>(*op.seed);
    return Drawing(&Dropout, op, seed);
  }

 private:
  template <class Op>
  Kernel Drawing(Status (*draw)(const Op&, Source&, KernelContext&),
                 const Op& op, std::optional<uint64_t> seed) {
    auto source = std::make_shared<Source>(shared_, seed);
    return {
        .forward = [=](KernelContext& run) { return draw(op, *source, run); }};
  }

  Shared& shared_;
};

class RandomBackend : public EagerBackend {
 public:
  explicit RandomBackend(const Faults& faults, uint64_t seed = 0)
      : shared_{faults, Engine(seed)} {
    AddFamily(std::make_unique<Randoms>(shared_));
  }
  std::string_view name() const override { return "random"; }
  Result<Probe> Inspect() override { return Probe{"1.0", "cpu"}; }
  Result<std::unique_ptr<Network>> Load(std::shared_ptr<const Model> model,
                                        const LoadOptions& options) override {
    if (shared_.faults.one_node && model->graph().nodes.size() > 1) {
      return Unsupported(Reason::kOperator, "more than one node");
    }
    ++loads_;
    if (loads_ > 2 && shared_.faults.breaks) return Internal("broken");
    if (loads_ > 2 && shared_.faults.twice_only) {
      return Unsupported(Reason::kLimit, "a third network");
    }
    return EagerBackend::Load(std::move(model), options);
  }
  int64_t draws() const { return shared_.draws; }
  int64_t loads() const { return loads_; }

 private:
  Shared shared_;
  int64_t loads_ = 0;
};

struct RandomCase {
  std::shared_ptr<const Model> model;
  cases::DataSet set;
};

RandomCase BernoulliCase(const std::string& attributes) {
  const Tensor p = Floats({0.55F, 0.72F, 0.1F, 0, 1, 0.5F, 0.9F, 0.3F});
  return {graph::ModelOfText("g (float[8] x) => (float[8] y) { y = Bernoulli " +
                             attributes + " (x) }"),
          {{p}, {p}}};
}

RandomCase DropoutCase(const std::string& attributes) {
  const Tensor x = Floats({1, -2, 3, 0, 5, 1e-3F});
  return {graph::ModelOfText("g (float[6] x, float r, bool t) => (float[6] y, "
                             "bool[6] m) { y, m = Dropout " +
                             attributes + " (x, r, t) }"),
          {{x, Scalar<float>(0.75), Scalar<bool>(true)},
           {x, *Tensor::Allocate(DType::kBool, {6})}}};
}

/// Two elements are 0, whether they are on or off, and no output tells.
RandomCase NoMaskCase() {
  const Tensor x = Floats({0, -2, 3, 1, 5, 0});
  return {graph::ModelOfText("g (float[6] x, float r, bool t) => (float[6] y) "
                             "{ y = Dropout(x, r, t) }"),
          {{x, Scalar<float>(0.75), Scalar<bool>(true)}, {x}}};
}

struct Judged {
  measure::Judgement judgement;
  std::vector<measure::OutputMetrics> metrics;
  int64_t draws;
  int64_t loads;
};

Judged JudgeWith(const Faults& faults, const RandomCase& one,
                 const DrawPlan& plan = {}, uint64_t seed = 0) {
  RandomBackend backend(faults, seed);
  std::vector<measure::OutputMetrics> metrics(one.set.expected.size());
  metrics[0].output_name = "y";
  const measure::Judgement judgement = JudgeDraws(
      backend, one.model, one.set, {}, measure::kRandom, plan, metrics);
  return {judgement, metrics, backend.draws(), backend.loads()};
}

void ExpectVerdict(const measure::Judgement& judgement, const char* outcome,
                   const char* says = "") {
  EXPECT_EQ(ToString(judgement.outcome), outcome) << judgement.message;
  EXPECT_THAT(judgement.message, HasSubstr(says));
}

TEST(JudgeDrawsTest, RightBackendsPassWithEverySeed) {
  const RandomCase cases[] = {BernoulliCase(""), BernoulliCase("<seed = 0.0>"),
                              DropoutCase("<seed = 0>")};
  for (uint64_t seed = 0; seed < 20; ++seed) {
    for (const RandomCase& one : cases) {
      const auto [judgement, metrics, draws, loads] =
          JudgeWith({}, one, {.seed = static_cast<int64_t>(seed)}, seed);
      EXPECT_EQ(ToString(judgement.outcome), "pass")
          << seed << ": " << judgement.message;
      EXPECT_GE(draws, 10000);
      for (const measure::OutputMetrics& output : metrics) {
        EXPECT_EQ(output.n_draws, 10000);
        EXPECT_GT(*output.p_value, 1e-6);
        EXPECT_LE(*output.p_value, 1);
        EXPECT_GT(*output.headroom, 0);
        EXPECT_EQ(output.p_limit, 1e-6);
      }
    }
  }
}

// With a threshold far looser than that of verdicts: of 40 at 5 %, 2 or fewer
// are the mean, and 12 or more have a probability below 1e-6. Nearly all would
// fail were each count held against the threshold of all.
TEST(JudgeDrawsTest, TheThresholdIsThatOfAllCountsTogether) {
  int alarms = 0;
  for (int64_t seed = 0; seed < 40; ++seed) {
    const measure::Judgement judgement =
        JudgeWith({}, BernoulliCase(""),
                  {.draws = 400, .false_alarms = 0.05, .seed = seed},
                  static_cast<uint64_t>(seed))
            .judgement;
    alarms += judgement.outcome == record::Outcome::kFail ? 1 : 0;
  }
  EXPECT_LT(alarms, 12);
}

// Kills: a network that goes on loaded anew for each draw; more runs than it
// takes to see that a network repeats itself.
TEST(JudgeDrawsTest, SeededNetworksMayGoOnAndMayTakeOneNodeOnly) {
  const struct {
    Faults faults;
    int64_t loads;
    int64_t looks;  // draws beside those that are counted
  } rows[] = {{{}, 2 + 100, 2 + 8},
              {{.goes_on = true}, 2, 2 + 1},
              {{.one_node = true}, 10002, 2 + 8}};
  for (const auto& row : rows) {
    const auto judged = JudgeWith(row.faults, BernoulliCase("<seed = 0.0>"));
    ExpectVerdict(judged.judgement, "pass");
    EXPECT_EQ(judged.draws, 10000 + row.looks);
    EXPECT_EQ(judged.loads, row.loads);
  }
}

TEST(JudgeDrawsTest, EveryFaultIsSeenAndTheMessageSaysWhere) {
  const RandomCase fresh = BernoulliCase("");
  const RandomCase seeded = BernoulliCase("<seed = 0.0>");
  const RandomCase fresh_mask = DropoutCase("");
  const RandomCase seeded_mask = DropoutCase("<seed = 0>");
  const RandomCase no_mask = NoMaskCase();
  const Tensor two = Floats({2});
  const RandomCase no_law = {
      graph::ModelOfText("g (float[1] x) => (float[1] y) { y = Bernoulli(x) }"),
      {{two}, {two}}};
  const struct {
    const char* what;
    Faults faults;
    const RandomCase& one;
    const char* message;
    const char* outcome = "fail";
  } rows[] = {
      {"p + 0.05", {.p_shift = 0.05}, fresh, "output y: at "},
      {"p + 0.05, seeded", {.p_shift = 0.05}, seeded, "on in a share of"},
      {"constant", {.constant = true}, fresh, "on in a share of"},
      {"constant, seeded", {.constant = true}, seeded, "on in a share of"},
      {"constant mask", {.constant = true}, fresh_mask, "on in a share of"},
      {"constant, no mask", {.constant = true}, no_mask, "1e-06 / 44 counts"},
      {"constant mask, seeded", {.constant = true}, seeded_mask, "share of"},
      {"shared", {.shared = true}, fresh, "as at"},
      {"shared, seeded", {.shared = true}, seeded_mask, "all elements as"},
      {"twice", {.twice = true}, fresh, "as 1 draws before"},
      {"twice, mask", {.twice = true}, fresh_mask, "as 1 draws before"},
      {"seed ignored", {.seed_ignored = true}, seeded, "same seed"},
      {"seed ignored, mask", {.seed_ignored = true}, seeded_mask, "same seed"},
      {"unscaled", {.unscaled = true}, fresh_mask, "wanted 0 or 4"},
      {"mask lies", Faults{.mask_lies = true}, fresh_mask,
       "got 0, wanted 1 as the outputs before"},
      {"half", Faults{.half = true}, fresh,
       "output y: draw 99: at 0 got 0.5, wanted 0 or 1"},
      {"reshaped", {.reshapes = true}, fresh, "wanted float32[8]"},
      {"a seed that cannot be loaded, and is not asked for again and again",
       Faults{.twice_only = true}, seeded, "a third network", "error"},
      {"a seed that breaks", {.breaks = true}, seeded, "broken", "error"},
      {"an exception", {.throws = true}, fresh, "out", "error"},
      {"a law that cannot be", Faults{}, no_law, "a probability is 2, wanted",
       "error"},
      {"an element that no output tells of is no fault", Faults{}, no_mask, "",
       "pass"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    ExpectVerdict(JudgeWith(row.faults, row.one).judgement, row.outcome,
                  row.message);
  }
}

TEST(JudgeDrawsTest, FailingCountsAreInTheMetrics) {
  const auto judged = JudgeWith({.p_shift = 0.2}, BernoulliCase(""));
  const measure::OutputMetrics& output = judged.metrics[0];
  EXPECT_LT(*output.p_value, 1e-6);
  EXPECT_LT(*output.headroom, 0);
  EXPECT_GE(output.out_of_limit, 1);
  ASSERT_GE(output.worst_index, 0);
  EXPECT_NEAR(std::stod(output.worst_got) - std::stod(output.worst_want), 0.2,
              0.1);
  EXPECT_THAT(judged.judgement.message, HasSubstr("wanted at least 1e-06 / "));
}

TEST(JudgeDrawsTest, WhatIsPlainlyWrongIsNotDrawnTenThousandTimes) {
  for (const char* attributes : {"", "<seed = 0.0>"}) {
    const auto judged =
        JudgeWith({.constant = true}, BernoulliCase(attributes));
    EXPECT_EQ(judged.metrics[0].n_draws, 100) << attributes;
    EXPECT_LT(judged.draws, 200) << attributes;
  }
}

TEST(JudgeDrawsTest, TooLittleTimeIsNoPass) {
  for (const char* attributes : {"", "<seed = 0.0>"}) {
    const measure::Judgement judgement =
        JudgeWith({}, BernoulliCase(attributes),
                  {.budget = std::chrono::microseconds(0)})
            .judgement;
    SCOPED_TRACE(attributes);
    ExpectVerdict(judgement, "error", "no draw in 0 us, wanted 10000");
    EXPECT_EQ(judgement.reason, Reason::kLimit);
  }
}

// A backend that waits stands for a machine that has other work.
TEST(JudgeDrawsTest, TimeInWhichTheThreadDoesNotRunIsNotCounted) {
  for (const char* attributes : {"", "<seed = 0.0>"}) {
    const measure::Judgement judgement =
        JudgeWith({.waits = true}, BernoulliCase(attributes),
                  {.draws = 150, .budget = std::chrono::milliseconds(100)})
            .judgement;
    ExpectVerdict(judgement, "pass");
  }
}

// More draws than any machine has time for.
TEST(JudgeDrawsTest, SomeDrawsOfTooManyAreNoPass) {
  const measure::Judgement judgement =
      JudgeWith(
          {}, BernoulliCase(""),
          {.draws = int64_t{1} << 40, .budget = std::chrono::milliseconds(100)})
          .judgement;
  ExpectVerdict(judgement, "error", "wanted 1099511627776");
  EXPECT_EQ(judgement.reason, Reason::kLimit);
}

TEST(JudgeDrawsTest, UnknownLawsAreUnsupportedWithTheReason) {
  const Tensor x = Floats({0.5});
  const struct {
    const char* graph;
    cases::DataSet set;
    const char* message;
  } rows[] = {
      {"g (float[1] x) => (float[1] y) { b = Bernoulli(x) y = Neg(b) }",
       {{x}, {x}},
       "law is not known"},
      {"g (float[1] x) => (float[1] y) { y = Bernoulli(x) }",
       {{x}, {Floats({0, 1})}},
       "of a law of 1 elements"},
      {"g (float[0] x) => (float[0] y) { y = Bernoulli(x) }",
       {{Floats({})}, {Floats({})}},
       "0 elements"},
  };
  for (const auto& row : rows) {
    const measure::Judgement judgement =
        JudgeWith({}, {graph::ModelOfText(row.graph), row.set}).judgement;
    SCOPED_TRACE(row.graph);
    ExpectVerdict(judgement, "unsupported", row.message);
    EXPECT_EQ(judgement.reason, Reason::kValue);
  }
}

}  // namespace
}  // namespace assay::distribution
