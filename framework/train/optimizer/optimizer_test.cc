// SPDX-License-Identifier: Apache-2.0

#include "framework/train/optimizer/optimizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "framework/testing/support/statuses_fixture.h"
#include "framework/testing/support/tensors_fixture.h"
#include "framework/train/optimizer/in_place.h"
#include "framework/train/optimizer/recipe.h"

namespace assay::train {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

/// Half the squared distance of all elements from their goal.
class ToGoal : public Objective {
 public:
  ToGoal(std::vector<std::string> names, double goal) : goal_(goal) {
    for (std::string& name : names) {
      parameters_.push_back({std::move(name), Doubles({0.0})});
    }
  }

  std::span<Parameter> parameters() override { return parameters_; }
  Result<Evaluation> Evaluate() override {
    Evaluation evaluation;
    gradients_.clear();
    for (const Parameter& parameter : parameters_) {
      const double off = parameter.value.elements<double>()[0] - goal_;
      evaluation.loss += off * off / 2;
      gradients_.push_back(Doubles({off}));
    }
    evaluation.gradients = gradients_;
    return evaluation;
  }
  double at(size_t i) const {
    return parameters_[i].value.elements<double>()[0];
  }

  std::vector<Parameter> parameters_;
  std::vector<Tensor> gradients_;
  double goal_;
};

class Speaking : public ThreeStepOptimizer {
 public:
  using ThreeStepOptimizer::ThreeStepOptimizer;
  std::vector<std::string> said;

 protected:
  std::vector<Slot> StateOfEach() const override { return {{"sum", 2}}; }
  Status NewInput(const Progress& at) override {
    said.push_back(StrCat("input ", at.step));
    return OkStatus();
  }
  Status PrepareParameter(const Progress& at, Slots&, Tensor*) override {
    said.push_back(StrCat("prepare ", at.rate));
    return OkStatus();
  }
  Status NewGradients(const Progress&, std::span<const Tensor> all) override {
    said.push_back(StrCat("gradients ", all.size()));
    return OkStatus();
  }
  Status UpdateRule(const Progress& at, const Tensor& gradient, Slots& slots,
                    Tensor* parameter) override {
    said.push_back(StrCat("update ", at.rate));
    return InPlace(parameter, gradient, slots,
                   [&]<class T>(const Elements<T>& each) {
                     each.state[0][0] += each.g[0];
                     each.x[0] -= static_cast<T>(at.rate) * each.state[0][0];
                   });
  }
};

Recipe Halving() { return {.rate = 0.5, .schedule = ExponentialSchedule(0.5)}; }

TEST(OptimizerTest, TakesThreeStepsInOrder) {
  Recipe recipe = Halving();
  recipe.groups = {{.names = {"b"}, .rate_scale = 10}};
  Speaking optimizer(recipe);
  ToGoal objective({"a", "b"}, 1);
  ASSERT_TRUE(optimizer.Step(objective).ok());
  EXPECT_THAT(optimizer.said,
              ElementsAre("input 1", "prepare 0.5", "prepare 5", "gradients 2",
                          "update 0.5", "update 5"));
  optimizer.said.clear();
  ASSERT_TRUE(optimizer.Step(objective).ok());
  EXPECT_THAT(optimizer.said[0], "input 2");
  EXPECT_THAT(optimizer.said[1], "prepare 0.25");
}

// Kills: state that is shared between parameters, or made anew.
TEST(OptimizerTest, KeepsStateForEachParameter) {
  Speaking optimizer(Halving());
  ToGoal objective({"a", "b"}, 1);
  const auto loss = Got(optimizer.Step(objective));
  EXPECT_EQ(loss, 1);  // of both, before the step
  const std::vector<StateTensor> state = optimizer.State();
  ASSERT_EQ(state.size(), 3U);
  EXPECT_EQ(state[0].name, "steps");
  EXPECT_EQ(state[0].value.elements<int64_t>()[0], 1);
  for (const size_t i : {1, 2}) {
    EXPECT_EQ(state[i].parameter, i == 1 ? "a" : "b");
    EXPECT_EQ(state[i].name, "sum");
    EXPECT_EQ(state[i].value.elements<double>()[0], 2 - 1);
  }
}

// Kills: anything that the next step depends on and that is not in the state.
TEST(OptimizerTest, GoesOnFromItsState) {
  ToGoal one({"a"}, 1);
  Speaking whole(Halving());
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(whole.Step(one).ok());

  ToGoal two({"a"}, 1);
  Speaking before(Halving());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(before.Step(two).ok());
  Speaking after(Halving());
  ASSERT_TRUE(after.Begin(two.parameters()).ok());
  const auto from = before.State();
  auto to = after.State();
  ASSERT_EQ(from.size(), to.size());
  for (size_t i = 0; i < from.size(); ++i) {
    std::ranges::copy(from[i].value.bytes(), to[i].value.mutable_data());
  }
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(after.Step(two).ok());
  EXPECT_EQ(one.at(0), two.at(0));
}

// Kills: a decay of another factor, at another place, or of another group.
TEST(OptimizerTest, DecaysAsIsSaid) {
  struct Row {
    Decay decay;
    double want;  // from x = 1 and a gradient of 1 and the sum 2 before
  };
  // rate 0.5, schedule 0.5, decay 0.1
  for (const Row& row : {
           Row{Decay::kCoupled, 1 - 0.25 * (2 + 1.1)},
           Row{Decay::kByRate, 1 - 0.25 * 0.1 - 0.25 * 3},
           Row{Decay::kBySchedule, 1 - 0.5 * 0.1 - 0.25 * 3},
           Row{Decay::kAfter, (1 - 0.25 * 3) * 0.9},
           Row{Decay::kInRule, 1 - 0.25 * 3},
       }) {
    Recipe recipe{.rate = 0.5, .weight_decay = 0.1, .decay = row.decay};
    recipe.schedule = [](int64_t) { return 0.5; };
    recipe.groups = {{.names = {"b"}, .weight_decay = 0.0}};
    Speaking optimizer(recipe);
    ToGoal objective({"a", "b"}, 0);
    for (Parameter& each : objective.parameters()) {
      each.value.mutable_elements<double>()[0] = 1;
    }
    ASSERT_TRUE(optimizer.Step(objective).ok());
    EXPECT_NEAR(objective.at(0), row.want, 1e-15)
        << kDecayWords[static_cast<size_t>(row.decay)];
    EXPECT_EQ(objective.at(1), 1 - 0.25 * 3);
  }
}

TEST(OptimizerTest, SaysWhatIsWrong) {
  Speaking twice(Halving());
  ToGoal same({"a", "a"}, 1);
  EXPECT_THAT(twice.Step(same), Says("two parameters have the name 'a'"));

  Speaking other(Halving());
  ToGoal first({"a"}, 1);
  ToGoal second({"b"}, 1);
  ASSERT_TRUE(other.Step(first).ok());
  EXPECT_THAT(other.Step(second), Says("found the parameters b, began with a"));

  struct Bent : ToGoal {
    using ToGoal::ToGoal;
    Result<Evaluation> Evaluate() override {
      gradients_ = {Doubles({1, 1}, {0.0})};
      return Evaluation{0, gradients_};
    }
  };
  Speaking optimizer(Halving());
  Bent bent({"a"}, 1);
  EXPECT_THAT(optimizer.Step(bent),
              Says("the gradient of 'a' is float64[1,1], wanted "
                   "float64[1]"));
}

TEST(OptimizerTest, ParametersAreFloats) {
  struct Whole : ToGoal {
    using ToGoal::ToGoal;
    Result<Evaluation> Evaluate() override {
      gradients_ = {parameters_[0].value};
      return Evaluation{0, gradients_};
    }
  };
  Whole whole({"a"}, 1);
  whole.parameters_[0].value = *Tensor::Allocate(DType::kInt32, {1});
  Speaking optimizer(Halving());
  EXPECT_THAT(optimizer.Step(whole),
              IsStatus(StatusCode::kUnsupported,
                       "a: found a parameter of type int32, wanted float32 or "
                       "float64"));
}

// Kills: a schedule that is a step early or late, and one that goes on behind
// its end.
TEST(ScheduleTest, IsAFunctionOfTheStep) {
  struct Row {
    const char* name;
    Schedule schedule;
    int64_t step;
    double want;
  };
  const Schedule steps = StepSchedule(0.1, {3, 5});
  const Schedule cosine = CosineSchedule(4, 0.2);
  const Schedule polynomial = PolynomialSchedule(4, 2);
  const Schedule warm = AfterWarmup(4, ExponentialSchedule(0.5));
  for (const Row& row : {
           Row{"constant", ConstantSchedule(), 1000, 1},
           Row{"steps", steps, 3, 1},
           Row{"steps", steps, 4, 0.1},
           Row{"steps", steps, 5, 0.1},
           Row{"steps", steps, 6, 0.1 * 0.1},
           Row{"exponential", ExponentialSchedule(0.5), 1, 1},
           Row{"exponential", ExponentialSchedule(0.5), 4, 0.125},
           Row{"cosine", cosine, 1, 1},
           Row{"cosine", cosine, 3, 0.6},
           Row{"cosine", cosine, 5, 0.2},
           Row{"cosine", cosine, 50, 0.2},
           Row{"polynomial", polynomial, 1, 1},
           Row{"polynomial", polynomial, 3, 0.25},
           Row{"polynomial", polynomial, 9, 0},
           Row{"warm", warm, 1, 0.25},
           Row{"warm", warm, 4, 1},
           Row{"warm", warm, 5, 1},
           Row{"warm", warm, 6, 0.5},
       }) {
    EXPECT_NEAR(row.schedule(row.step), row.want, 1e-15)
        << row.name << " at " << row.step;
  }
}

std::vector<Tensor> Gradients(const std::vector<float>& a,
                              const std::vector<double>& b) {
  return {Floats(a), Doubles(b)};
}

TEST(ClipTest, LimitsEachElement) {
  std::vector<Tensor> gradients = Gradients({-3, 0.5F}, {2});
  ASSERT_TRUE(ClipGradients({.value = 1}, gradients).ok());
  EXPECT_THAT(gradients[0].elements<float>(), ElementsAre(-1, 0.5F));
  EXPECT_THAT(gradients[1].elements<double>(), ElementsAre(1));
}

// Kills: a norm of each tensor for itself; a scaling of what is within.
TEST(ClipTest, LimitsTheNormOfAllTogether) {
  std::vector<Tensor> gradients = Gradients({3, 0}, {4});
  ASSERT_TRUE(ClipGradients({.norm = 1}, gradients).ok());
  EXPECT_THAT(gradients[0].elements<float>(), ElementsAre(0.6F, 0));
  EXPECT_THAT(gradients[1].elements<double>(), ElementsAre(0.8));

  std::vector<Tensor> within = Gradients({3, 0}, {4});
  ASSERT_TRUE(ClipGradients({.norm = 6}, within).ok());
  EXPECT_THAT(within[1].elements<double>(), ElementsAre(4));
}

// Kills: a norm before the values.
TEST(ClipTest, LimitsValuesFirst) {
  std::vector<Tensor> gradients = Gradients({30, 0}, {4});
  ASSERT_TRUE(ClipGradients({.value = 3, .norm = 3}, gradients).ok());
  EXPECT_THAT(gradients[0].elements<float>(),
              ElementsAre(static_cast<float>(3 * (3 / std::sqrt(18.0))), 0));
}

TEST(GroupsTest, AreOfTheParametersThatTheyName) {
  Recipe recipe{.weight_decay = 0.1};
  recipe.groups = {{.names = {"b"}, .rate_scale = 2, .weight_decay = 0.0},
                   {.names = {"c"}, .rate_scale = 3}};
  const std::vector<std::string> names = {"a", "b", "c"};
  const auto groups = Got(GroupsOf(recipe, names));
  const auto is = [&](size_t place, double scale, double decay) {
    EXPECT_EQ(groups[place].rate_scale, scale) << place;
    EXPECT_EQ(groups[place].weight_decay, decay) << place;
  };
  is(0, 1, 0.1);
  is(1, 2, 0);
  is(2, 3, 0.1);
}

// Kills: a group that is ignored since its name is misspelt.
TEST(GroupsTest, SayWhatIsWrong) {
  struct Row {
    std::vector<Group> groups;
    std::string_view message;
  };
  const std::vector<std::string> names = {"a", "b"};
  for (const Row& row : {
           Row{{{.names = {"c"}}}, "the parameter 'c', wanted one of a, b"},
           Row{{{.names = {"a"}}, {.names = {"b", "a"}}},
               "two groups name the parameter 'a'"},
       }) {
    Recipe recipe;
    recipe.groups = row.groups;
    EXPECT_THAT(GroupsOf(recipe, names),
                IsStatus(StatusCode::kInvalidArgument, row.message));
  }
}

enum class Where : uint8_t { kHere, kThere };
constexpr std::array<std::string_view, 2> kWords = {"here", "there"};

struct Some {
  double beta = 0.9;
  double limit = std::numeric_limits<double>::infinity();
  Where where = Where::kHere;

  Settings Named() {
    Settings settings;
    settings.Add("beta", &beta, {0, 1});
    settings.Add("limit", &limit);
    settings.Add("where", &where, kWords);
    return settings;
  }
};

TEST(SettingsTest, AreSetByName) {
  Some some;
  Settings settings = some.Named();
  ASSERT_TRUE(settings.SetAll(" beta=0.25  where=there limit=3e-5 ").ok());
  EXPECT_EQ(some.beta, 0.25);
  EXPECT_EQ(some.limit, 3e-5);
  EXPECT_EQ(some.where, Where::kThere);
}

// Kills: a number that is written with fewer digits than it has.
TEST(SettingsTest, ReadBackAsTheyAre) {
  Some some;
  some.beta = 0.1 + 0.2;
  Settings settings = some.Named();
  EXPECT_THAT(settings.Values(),
              ElementsAre(Pair("beta", "0.30000000000000004"),
                          Pair("limit", "inf"), Pair("where", "here")));
  for (const auto& [name, value] : settings.Values()) {
    EXPECT_TRUE(settings.Set(StrCat(name, "=", value)).ok()) << name;
  }
  EXPECT_EQ(some.beta, 0.1 + 0.2);
}

// Kills: a hyperparameter that is taken though it is wrong.
TEST(SettingsTest, SayWhatIsWrong) {
  struct Row {
    std::string_view assignment, message;
  };
  for (const Row& row : {
           Row{"bta=1", "found the setting 'bta', wanted beta, limit, where"},
           Row{"beta=1", "beta: found '1', wanted a number in [0, 1)"},
           Row{"beta=-0.1", "wanted a number in [0, 1)"},
           Row{"beta=nan", "found 'nan'"},
           Row{"beta=0.5x", "found '0.5x'"},
           Row{"beta", "found ''"},
           Row{"limit=-1", "wanted a number in [0, inf)"},
           Row{"where=away", "where: found 'away', wanted here or there"},
       }) {
    Some some;
    EXPECT_THAT(some.Named().SetAll(row.assignment),
                IsStatus(StatusCode::kInvalidArgument, row.message))
        << row.assignment;
    EXPECT_EQ(some.beta, 0.9) << "is as it was";
  }
}

}  // namespace
}  // namespace assay::train
