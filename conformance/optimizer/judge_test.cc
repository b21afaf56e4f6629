// SPDX-License-Identifier: Apache-2.0
//
// The judge of the suite optimizer: backends whose steps are wrong, and one
// whose steps are right.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "conformance/optimizer/case.h"
#include "framework/backend/forwarding_network.h"
#include "framework/backend/network_interfaces.h"
#include "framework/testing/support/backends_fixture.h"
#include "framework/train/optdiff/locked_run.h"
#include "framework/train/optdiff/spoiling_fixture.h"
#include "framework/train/optdiff/step_rows.h"
#include "framework/train/rule/optimizers.h"

namespace assay::optimizer {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Tensors = std::vector<Tensor>;

constexpr char kLogistic[] = "optimizer/momentum/paper.logistic#locked.float32";
constexpr char kMlp[] = "optimizer/adam/paper.mlp#free.float32";
constexpr char kGraph[] =
    "optimizer/momentum/paper.quadratic#locked-graph.float32";
constexpr char kNative[] =
    "optimizer/adam/onnx.quadratic#locked-native.float32";
constexpr char kMomentum[] = "optimizer/momentum/paper.mlp#free.float32";

record::RunFacts Facts(int64_t seed = 0) {
  record::RunFacts facts;
  facts.seed = seed;
  facts.oracle = "reference";
  facts.oracle_module = ASSAY_REFERENCE_MODULE;
  return facts;
}

Result<StepCase> CaseNamed(std::string_view test_id, int64_t seed = 0) {
  record::PlanRow row;
  row.test_id = test_id;
  return CaseOf(row, Facts(seed));
}

record::Record RecordOf(const std::string& test_id, Backend& backend,
                        int64_t seed = 0) {
  record::Record record;
  record.result.test_id = test_id;
  record.result.backend = "spoiling";
  const measure::Judgement verdict =
      Judge(CaseNamed(test_id, seed).value(), backend, Facts(), &record);
  record.result.outcome = verdict.outcome;
  record.result.reason_code = verdict.reason.text();
  record.result.message = verdict.message;
  return record;
}

void Scale(float factor, Tensor* tensor) {
  for (float& x : tensor->mutable_elements<float>()) x *= factor;
}

/// The gradients of the step before, of no step at first.
struct Memory {
  std::vector<std::vector<float>> before;

  std::vector<std::vector<float>> Exchange(const Tensors& now) {
    std::vector<std::vector<float>> old = std::move(before);
    before.clear();
    for (const Tensor& tensor : now) {
      const auto elements = tensor.elements<float>();
      before.emplace_back(elements.begin(), elements.end());
    }
    return old;
  }
};

struct Row {
  const char* name;
  std::string test_id;
  const char* reason;
  const char* message;  // begins so
  optdiff::Spoil spoil;
};

optdiff::Spoil OfGradients(decltype(optdiff::Spoil::gradients) changes) {
  return {.gradients = std::move(changes)};
}
optdiff::Spoil OfOutputs(decltype(optdiff::Spoil::outputs) changes) {
  return {.outputs = std::move(changes)};
}

/// Wrong from the first steps on.
std::vector<Row> Rows() {
  const auto memory = std::make_shared<Memory>();
  return {
      {"scaled", kLogistic, optdiff::kFailGradient,
       "at step 1 the gradient of 'w': element ",
       OfGradients([](int64_t, Tensors& g) { Scale(1 + 1e-4F, &g[0]); })},
      {"sign", kLogistic, optdiff::kFailGradient,
       "at step 500 the gradient of 'b': element 2 is ",
       OfGradients([](int64_t step, Tensors& g) {
         if (step == 500) g[1].mutable_elements<float>()[2] *= -1;
       })},
      {"not_zeroed", kLogistic, optdiff::kFailGradient,
       "at step 2 the gradient of 'w': element ",
       OfGradients([memory](int64_t, Tensors& g) {
         const auto before = memory->Exchange(g);
         for (size_t p = 0; p < before.size(); ++p) {
           const auto x = g[p].mutable_elements<float>();
           for (size_t i = 0; i < x.size(); ++i) x[i] += before[p][i];
         }
       })},
      {"in_half", kLogistic, optdiff::kFailGradient,
       "at step 1 the gradient of 'w': element ",
       OfGradients([](int64_t, Tensors& g) {
         for (float& x : g[0].mutable_elements<float>()) {
           x = std::ldexp(std::round(std::ldexp(x, 11)), -11);
         }
       })},
  };
}

/// Wrong at one step, or only in the long run.
std::vector<Row> RareRows() {
  return {
      {"nan", kLogistic, optdiff::kFailGradient,
       "at step 7 the gradient of 'w': element 3 is nan",
       OfGradients([](int64_t step, Tensors& g) {
         if (step != 7) return;
         g[0].mutable_elements<float>()[3] =
             std::numeric_limits<float>::quiet_NaN();
       })},
      {"loss", kLogistic, optdiff::kFailLoss,
       "at step 3 the loss: element 0 is ",
       OfOutputs([](int64_t step, Tensors& y) {
         if (step == 3) Scale(1 + 1e-4F, &y[1]);
       })},
      {"stale_weights",
       kLogistic,
       optdiff::kFailLoss,
       "at step 2 the loss: element 0 is ",
       {.keeps_weights = true}},
      {"drifts", kMomentum, kFailGrowth, "at step ",
       OfGradients([](int64_t, Tensors& g) { Scale(1 + 1e-3F, &g[2]); })},
      {"graph_of_the_rule", kGraph, optdiff::kFailUpdate,
       "at step 3 b is off by ", OfOutputs([](int64_t step, Tensors& y) {
         const bool is_of_b = y[1].shape() == Shape{2};
         if (step == 3 && is_of_b) Scale(1 + 1e-4F, &y[0]);
       })},
      {"one_step", kMlp, kFailGrowth,
       "at step 50 w1 is away from the exact run by ",
       OfGradients([](int64_t step, Tensors& g) {
         if (step == 50) Scale(-1, &g[0]);
       })},
  };
}

class JudgeTest : public ::testing::TestWithParam<Row> {};

// Kills: a sieve that lets through, an oracle that is not asked, a place that
// is not the backend's, NaN that is within a limit, a run that is not judged to
// its end.
TEST_P(JudgeTest, FindsTheStep) {
  const Row& row = GetParam();
  StubBackend backend = optdiff::Spoiling(Reference(), row.spoil);
  const record::Record record = RecordOf(row.test_id, backend);
  EXPECT_EQ(record.result.outcome, record::Outcome::kFail);
  EXPECT_EQ(record.result.reason_code, row.reason);
  EXPECT_THAT(record.result.message, StartsWith(row.message));
  const auto rows = Got(record.Rows<optdiff::StepRow>());
  ASSERT_FALSE(rows.empty());
  const optdiff::StepRow& last = rows.back();
  EXPECT_EQ(last.outcome, "fail");
  EXPECT_EQ(last.first_divergence, last.step);
  EXPECT_THAT(row.test_id, HasSubstr(last.mode));
  EXPECT_EQ(last.tier_a, row.test_id == kGraph ? "graph" : "rule");
}

std::string NameOf(const ::testing::TestParamInfo<Row>& info) {
  return info.param.name;
}
INSTANTIATE_TEST_SUITE_P(All, JudgeTest, ::testing::ValuesIn(Rows()), NameOf);
INSTANTIATE_TEST_SUITE_P(Rare, JudgeTest, ::testing::ValuesIn(RareRows()),
                         NameOf);

// Kills: a judge that refuses what roundings explain.
TEST(JudgeTest, LetsTheRightOnesPass) {
  for (const char* test_id :
       {kLogistic, kMlp, kGraph,
        "optimizer/adam/paper.quadratic#locked.float64",
        "optimizer/nesterov/paper.mlp#locked.float32",
        "optimizer/rmsprop/paper.mlp#free.float32",
        "optimizer/accelegrad/paper.cnn#locked.float32"}) {
    const record::Record record = RecordOf(test_id, Reference());
    EXPECT_EQ(record.result.outcome, record::Outcome::kPass)
        << test_id << ": " << record.result.message;
    const auto rows = Got(record.Rows<optdiff::StepRow>());
    EXPECT_EQ(rows.front().step, 1);
    EXPECT_EQ(rows.back().step, CaseNamed(test_id)->steps());
    // The judge answers for where the backend is.
    for (const optdiff::StepRow& row : rows) {
      const double loss = row.loss_b.value();
      EXPECT_NEAR(row.loss_a.value(), loss, 1e-5 * std::abs(loss))
          << test_id << " step " << row.step;
    }
  }
}

// Kills: a limit that does not know that a number cancels, or that the square
// of a step has twice its roundings.
TEST(JudgeTest, LetsTheRightOnesPassAtEachSeed) {
  const struct {
    int64_t seed;
    const char* test_id;
  } rows[] = {
      {1, "optimizer/accelegrad/paper.cnn#locked.float32"},
      {4, "optimizer/adadelta/paper.cnn#locked.float32"},
      {77, "optimizer/adadelta/paper.logistic#locked.float32"},
      {101, "optimizer/lamb/paper.quadratic#locked.float32"},
  };
  for (const auto& row : rows) {
    const record::Record record = RecordOf(row.test_id, Reference(), row.seed);
    EXPECT_EQ(record.result.outcome, record::Outcome::kPass)
        << row.test_id << ": " << record.result.message;
  }
}

/// A network whose own step is another one than what is asked for.
class LyingNetwork : public ForwardingNetwork, private NativeStep {
 public:
  using Numbers = std::map<std::string, double>;
  struct Lie {
    std::string optimizer = "", number = "";  // taken in place of what is told
    double value = 0;
    bool forgets = false;  // begins anew at each step
    bool is_off = false;   // tells another loss
  };

  LyingNetwork(std::unique_ptr<Network> inner, const Lie& lie)
      : ForwardingNetwork(std::move(inner)), lie_(lie) {}
  NativeStep* native_step() override {
    return inner().native_step() == nullptr ? nullptr : this;
  }

 private:
  std::vector<std::string> Optimizers() const override {
    return {"adam", "momentum"};
  }
  Status Configure(std::string_view optimizer,
                   const Numbers& numbers) override {
    optimizer_ = lie_.optimizer.empty() ? optimizer : lie_.optimizer;
    numbers_ = numbers;
    if (!lie_.number.empty()) numbers_[lie_.number] = lie_.value;
    return inner().native_step()->Configure(optimizer_, numbers_);
  }
  Status Step(Binding& binding, std::string_view loss) override {
    ASSAY_RETURN_IF_ERROR(inner().native_step()->Step(binding, loss));
    if (lie_.is_off) {
      for (const Value& output : binding.outputs()) {
        Tensor tensor = *output.tensor();
        if (tensor.num_elements() == 1) Scale(1 + 1e-4F, &tensor);
      }
    }
    if (!lie_.forgets) return OkStatus();
    return inner().native_step()->Configure(optimizer_, numbers_);
  }

  const Lie lie_;
  std::string optimizer_;
  Numbers numbers_;
};

StubBackend Lying(const LyingNetwork::Lie& lie) {
  return StubBackend(
      [lie](auto model,
            const LoadOptions& options) -> Result<std::unique_ptr<Network>> {
        ASSAY_ASSIGN_OR_RETURN(auto network,
                               Reference().Load(std::move(model), options));
        return std::make_unique<LyingNetwork>(std::move(network), lie);
      });
}

// Kills: a native step that is not judged, or by another rule.
TEST(NativeRunTest, FindsTheStep) {
  const auto number = [](const char* name, double value) {
    return LyingNetwork::Lie{.number = name, .value = value};
  };
  using optdiff::kFailUpdate;
  const struct {
    const char* reason;
    const char* message;
    LyingNetwork::Lie lie;
  } rows[] = {
      {kFailUpdate, "at step 1 w is off by ", number("epsilon", 1e-3)},
      {kFailUpdate, "at step 1 w is off by ", number("beta2", 0.99)},
      {kFailUpdate, "at step 1 w is off by ", {"adamw", "weight_decay", 0.1}},
      {kFailUpdate, "at step 2 w is off by ", {.forgets = true}},
      {optdiff::kFailLoss, "at step 1 the loss is ", {.is_off = true}},
  };
  for (const auto& row : rows) {
    StubBackend backend = Lying(row.lie);
    const record::Record record = RecordOf(kNative, backend);
    EXPECT_EQ(record.result.outcome, record::Outcome::kFail);
    EXPECT_EQ(record.result.reason_code, row.reason);
    EXPECT_THAT(record.result.message, StartsWith(row.message));
    const auto steps = Got(record.Rows<optdiff::StepRow>());
    EXPECT_EQ(steps.back().tier_a, "native");
    EXPECT_EQ(steps.back().outcome, "fail");
  }
}

// Kills: a backend without the interface or the optimizer that is blamed for
// it.
TEST(NativeRunTest, IsDeclinedByName) {
  StubBackend lying = Lying({});
  const record::Record other =
      RecordOf("optimizer/adagrad/onnx.quadratic#locked-native.float32", lying);
  EXPECT_EQ(other.result.outcome, record::Outcome::kUnsupported);
  EXPECT_EQ(other.result.message,
            "found native steps of adam, momentum, wanted adagrad");
  StubBackend plain = optdiff::Spoiling(Reference(), {});
  const record::Record none = RecordOf(kNative, plain);
  EXPECT_EQ(none.result.outcome, record::Outcome::kUnsupported);
  EXPECT_EQ(none.result.reason_code, "training");
  EXPECT_EQ(none.result.message, "the backend has no native step");
}

TEST(JudgeTest, SaysWhatIsMissing) {
  record::Record record;
  const measure::Judgement verdict = Judge(
      CaseNamed(kLogistic).value(), Reference(), record::RunFacts(), &record);
  EXPECT_EQ(verdict.outcome, record::Outcome::kError);
  EXPECT_THAT(verdict.message, HasSubstr("found no oracle of the run"));
  const auto moon = CaseNamed("optimizer/adam/paper.moon#locked.float32");
  EXPECT_EQ(Judge(moon.value(), Reference(), Facts(), &record).outcome,
            record::Outcome::kError);
}

TEST(StepCaseTest, ReadsItsName) {
  const std::vector<StepCase> all = AllStepCases();
  for (const StepCase& step_case : all) {
    const auto read = CaseNamed(step_case.test_id());
    ASSERT_TRUE(read.ok()) << step_case.test_id();
    EXPECT_EQ(read->test_id(), step_case.test_id());
  }
  for (const char* wrong :
       {"node/Abs/test_abs", "optimizer/adam/paper.mlp#locked",
        "optimizer/adam/paper.mlp#loose.float32",
        "optimizer/adam/paper.mlp#locked-quad.float32",
        "optimizer/adam/paper.mlp#locked-rule.float32"}) {
    const Status status = CaseNamed(wrong).status();
    EXPECT_EQ(status.code(), StatusCode::kNotFound) << wrong;
    EXPECT_EQ(status.reason(), Reason::kReader) << wrong;
  }
}

// Kills: an optimizer that our rule leaves out, a preset that it runs beside
// the paper's, a preset of another tier that went with them.
TEST(StepCaseTest, RunOurRuleByThePaperAndTheOthersByEveryPreset) {
  const std::map<std::string, std::set<std::string>> of_rule = {
      {"quadratic", {"locked.float32", "locked.float64"}},
      {"logistic", {"locked.float32", "locked.float64"}},
      {"mlp", {"locked.float32", "free.float32"}},
      {"cnn", {"locked.float32"}}};
  std::set<std::string> wanted;
  for (const train::Preset& preset : train::Presets()) {
    const std::string name =
        StrCat("optimizer/", preset.optimizer, "/", preset.name, ".");
    for (const auto& [network, hows] : of_rule) {
      for (const std::string& how : hows) {
        if (preset.name == "paper") {
          wanted.insert(StrCat(name, network, "#", how));
        }
      }
    }
    for (const char* type : {"float32", "float64"}) {
      const std::string locked = StrCat(name, "quadratic#locked-");
      if (preset.optimizer != "accelegrad") {
        wanted.insert(StrCat(locked, "graph.", type));
      }
      if (preset.name == "onnx") wanted.insert(StrCat(locked, "native.", type));
    }
  }
  std::set<std::string> listed;
  for (const StepCase& step_case : AllStepCases()) {
    EXPECT_TRUE(listed.insert(step_case.test_id()).second);
  }
  EXPECT_EQ(listed, wanted);
  EXPECT_EQ(listed.size(), 167U);
}

// Kills: a case that a claim of the network's operators alone answers for.
TEST(StepCaseTest, HasTheOperatorsOfItsRule) {
  struct OperatorRow {
    std::string test_id, op;
  };
  const std::vector<cases::TestCase> planned = PlannedCases({});
  for (const OperatorRow& row :
       {OperatorRow{kGraph, "ai.onnx::Mul"},
        OperatorRow{"optimizer/amsgrad/pytorch.quadratic#locked-graph."
                    "float64",
                    "ai.onnx::Max"},
        OperatorRow{kNative, "ai.onnx.preview.training::Adam"}}) {
    const auto found =
        std::ranges::find(planned, row.test_id, &cases::TestCase::test_id);
    ASSERT_NE(found, planned.end()) << row.test_id;
    EXPECT_THAT(found->operators, Contains(row.op));
    EXPECT_THAT(found->operators, Contains("ai.onnx::MatMul"));
  }
}

}  // namespace
}  // namespace assay::optimizer
