// SPDX-License-Identifier: Apache-2.0

#include "conformance/contract/contract.h"

#include <gtest/gtest.h>

#include <iterator>
#include <set>
#include <utility>

#include "conformance/contract/contract_suite.h"
#include "conformance/contract/mutant_backend.h"
#include "framework/testing/host/hosted_backend.h"
#include "framework/testing/suite/suite.h"

// In place of a worker's registry: the typed suite over the toy backend.
assay::Result<assay::Backend*> assay::worker::SharedBackend(
    const std::string& instance) {
  static auto* toy = new toy::Toy();
  if (instance != "toy") return NotFound("no backend ", instance);
  return toy;
}

namespace assay::contract {
namespace {

struct ToyTag {
  static std::string Instance() { return "toy"; }
};
INSTANTIATE_TYPED_TEST_SUITE_P(Toy, ContractTest, ToyTag);

struct Kill {
  Defect defect;
  std::string_view killer;
};

constexpr Kill kKills[] = {
    {Defect::kBindsEverything, "bind/element_type"},
    {Defect::kBindsEverything, "bind/kind"},
    {Defect::kBindsEverything, "bind/missing"},
    {Defect::kBindsEverything, "bind/count"},
    {Defect::kBindsEverything, "bind/output"},
    {Defect::kBindsEverything, "bind/overlap"},
    {Defect::kBindsEverything, "bind/shape"},
    {Defect::kDeclaresMore, "bind/unknown_name"},
    {Defect::kAbsentIsOne, "gradient/absent_cotangent"},
    {Defect::kDifferentiatesTheUnrun, "gradient/before_forward"},
    {Defect::kAddsToGradients, "gradient/bound"},
    {Defect::kCopiesCotangents, "gradient/bound"},
    {Defect::kOwnGradientsOnly, "gradient/bound"},
    {Defect::kWritesHeldGradients, "gradient/bound_kept"},
    {Defect::kBindsEveryGradient, "gradient/bound_memory"},
    {Defect::kTakesEveryCotangent, "gradient/cotangent_shape"},
    {Defect::kPassesEveryGradient, "gradient/fan_out"},
    {Defect::kReusesGradients, "gradient/fresh"},
    {Defect::kSwapsGradients, "gradient/matmul"},
    {Defect::kZeroGradient, "gradient/parameter"},
    {Defect::kRefusesRefilledInputs, "gradient/refilled"},
    {Defect::kPassesEveryGradient, "gradient/relu"},
    {Defect::kDifferentiatesTheFirstRun, "gradient/stale"},
    {Defect::kSwapsGradients, "gradient/subset"},
    {Defect::kDifferentiatesTheLastBinding, "gradient/two_bindings"},
    {Defect::kAlwaysDifferentiates, "gradient/unasked"},
    {Defect::kLoadsEverything, "gradient/unknown"},
    {Defect::kLoadsEverything, "load/attribute_kind"},
    {Defect::kLoadsEverything, "load/element_types"},
    {Defect::kForgetsExtraOutputs, "load/extra_output"},
    {Defect::kBrokenByGarbage, "load/garbage"},
    {Defect::kLoadsEverything, "load/missing_attribute"},
    {Defect::kLoadsEverything, "load/too_few_inputs"},
    {Defect::kLoadsEverything, "load/unknown_extra"},
    {Defect::kLoadsEverything, "load/unknown_operator"},
    {Defect::kLoadsEverything, "load/unknown_setting"},
    {Defect::kOwnOutputsOnly, "run/caller_output"},
    {Defect::kCopiesInputs, "run/changed_input"},
    {Defect::kAddsAnAxis, "run/empty"},
    {Defect::kSwapsOutputs, "run/feed_then_fetch"},
    {Defect::kTakesForeignBindings, "run/foreign_binding"},
    {Defect::kClampsIndices, "run/index_outside"},
    {Defect::kReadsOutside, "run/index_outside"},
    {Defect::kAsksForInitializers, "run/initializer"},
    {Defect::kWritesInputs, "run/inputs_kept"},
    {Defect::kReusesOutputs, "run/kept_output"},
    {Defect::kLosesNetworks, "run/many_networks"},
    {Defect::kLosesLast, "run/odd_sizes"},
    {Defect::kAddsAnAxis, "run/one_element"},
    {Defect::kCountsRuns, "run/repeat"},
    {Defect::kFlushesNan, "run/special_values"},
    {Defect::kFirstExtentOnly, "run/symbolic_extent"},
    {Defect::kOneThreadOnly, "run/threads"},
    {Defect::kSharesOutputs, "run/two_bindings"},
    {Defect::kSharesOutputs, "run/two_networks"},
    {Defect::kNeedsAlignment, "run/unaligned"},
    {Defect::kDrawsAnew, "training/draws"},
    {Defect::kDrawsTheSame, "training/draws"},
    {Defect::kForgetsTheSeed, "training/draws"},
    {Defect::kGivesACopy, "training/memory"},
    {Defect::kDoublesInTraining, "training/mode"},
    {Defect::kIgnoresWrites, "training/parameters"},
    {Defect::kTrainsEverything, "training/trainable"},
};

const ContractCase& Find(std::string_view name) {
  for (const ContractCase& c : ContractCases()) {
    if (c.name == name) return c;
  }
  throw std::invalid_argument(std::string(name));
}

TEST(Contract, EachCaseKillsAMutantWithABrokenPromise) {
  std::set<std::string_view> killers;
  for (const Kill& kill : kKills) {
    SCOPED_TRACE(kill.killer);
    killers.insert(kill.killer);
    Mutant mutant(kill.defect);
    const Status found = TryContract(Find(kill.killer), mutant);
    EXPECT_FALSE(found.ok());
    EXPECT_NE(found.code(), StatusCode::kUnsupported) << found.ToString();
  }
  for (const ContractCase& c : ContractCases()) {
    EXPECT_TRUE(killers.contains(c.name)) << c.name << " kills no mutant";
  }
}

TEST(Contract, ASoundBackendKeepsEveryPromise) {
  for (const ContractCase& c : ContractCases()) {
    Mutant sound(Defect::kNone);
    const Status kept = TryContract(c, sound);
    EXPECT_TRUE(kept.ok()) << c.name << ": " << kept.ToString();
  }
}

TEST(Contract, SeesThroughAHostWhatItSeesWithout) {
  std::vector<Kill> all(std::begin(kKills), std::end(kKills));
  for (const ContractCase& c : ContractCases()) {
    all.push_back({Defect::kNone, c.name});
  }
  for (const Kill& kill : all) {
    SCOPED_TRACE(kill.killer);
    Mutant direct(kill.defect);
    Mutant hosted(kill.defect);
    const Status here = TryContract(Find(kill.killer), direct);
    const Status there =
        TryContract(Find(kill.killer), host::HostedBackend(hosted).backend());
    // Which thread or address is the first to show it is chance.
    if (kill.killer == "run/threads" || kill.killer == "run/unaligned") {
      EXPECT_EQ(here.code(), there.code());
    } else if (kill.killer == "training/memory") {
      // A host's parameters are in its own memory.
      EXPECT_TRUE(there.ok()) << there.ToString();
    } else {
      EXPECT_EQ(here.ToString(), there.ToString());
    }
  }
}

/// The toy without some operators. Notes those that it was given.
class Lacking final : public Backend {
 public:
  explicit Lacking(std::set<std::string> lacks) : lacks_(std::move(lacks)) {}
  std::string_view name() const override { return "lacking"; }
  Result<Probe> Inspect() override { return Probe{"1", "cpu"}; }
  Result<std::unique_ptr<Network>> Load(std::shared_ptr<const Model> model,
                                        const LoadOptions& options) override {
    for (const Node& node : model->graph().nodes) {
      if (lacks_.contains(node.op_type) || lacks_.contains("*")) {
        return Unsupported(Reason::kOperator, "no ", node.op_type);
      }
      given.insert(node.op_type);
    }
    return toy_.Load(std::move(model), options);
  }

  std::set<std::string> given;

 private:
  toy::Toy toy_;
  std::set<std::string> lacks_;
};

// Kills: a promise that is tried with an operator that it is not about and that
// the backend lacks.
TEST(Contract, ABackendWithoutReluIsJudgedByAnotherOperator) {
  for (const ContractCase& c : ContractCases()) {
    Lacking backend({"Relu", "Mul", "Abs"});
    const Status kept = TryContract(c, backend);
    const bool is_lacked =
        c.operators == "Relu" || c.operators == "RandomUniformLike";
    EXPECT_EQ(kept.code(),
              is_lacked ? StatusCode::kUnsupported : StatusCode::kOk)
        << c.name << ": " << kept.ToString();
  }
  Lacking none({"*"});
  const Status declined = TryContract(Find("bind/shape"), none);
  EXPECT_EQ(declined.code(), StatusCode::kUnsupported);
  EXPECT_EQ(declined.message(),
            "it loads no operator to probe with: tried Relu: no Relu; Mul: no "
            "Mul; Abs: no Abs; Add: no Add; Neg: no Neg");
}

// Kills: a case inside the claims that runs with an operator which is not; one
// that is declined inside them and passes with another.
TEST(Contract, ACaseRunsWithTheProbesOfItsPlan) {
  const suite::Suite* suite = suite::FindSuite("contract");
  record::PlanRow row;
  row.test_id = "contract/bind/shape";
  const struct {
    const char* probes;
    std::set<std::string> lacks;
    std::set<std::string> given;
    record::Outcome outcome;
  } rows[] = {
      {"", {}, {"Relu"}, record::Outcome::kPass},
      {"ai.onnx::Add", {}, {"Add"}, record::Outcome::kPass},
      {"ai.onnx::Mul ai.onnx::Add", {"Mul"}, {"Add"}, record::Outcome::kPass},
      {"ai.onnx::Add", {"Add"}, {}, record::Outcome::kUnsupported},
  };
  for (const auto& wanted : rows) {
    row.probes = wanted.probes;
    Lacking backend(wanted.lacks);
    record::Record record;
    EXPECT_EQ(suite->run(row, backend, {}, &record).outcome, wanted.outcome);
    EXPECT_EQ(backend.given, wanted.given) << wanted.probes;
  }
}

// Kills: a case that a claim of Relu alone covers.
TEST(Contract, CasesStandUnderTheClaimsOfTheirProbes) {
  for (const cases::TestCase& c : suite::FindSuite("contract")->cases({})) {
    if (c.test_id == "contract/bind/shape") {
      EXPECT_EQ(c.operators, std::vector<std::string>());
      EXPECT_EQ(c.probes, (std::vector<std::string>{
                              "ai.onnx::Relu", "ai.onnx::Mul", "ai.onnx::Abs",
                              "ai.onnx::Add", "ai.onnx::Neg"}));
    } else if (c.test_id == "contract/load/attribute_kind") {
      EXPECT_EQ(c.operators, std::vector<std::string>{"ai.onnx::Softmax"});
      EXPECT_EQ(c.probes.size(), 5U);
    } else if (c.test_id.starts_with("contract/gradient/")) {
      EXPECT_TRUE(c.operators.empty() && c.probes.empty()) << c.test_id;
    }
  }
}

TEST(Contract, NamesAreUniqueAndTheSuiteIsRegistered) {
  std::set<std::string_view> names;
  for (const ContractCase& c : ContractCases()) names.insert(c.name);
  EXPECT_EQ(names.size(), ContractCases().size());
  const suite::Suite* suite = suite::FindSuite("contract");
  ASSERT_NE(suite, nullptr);
  EXPECT_EQ(suite->cases({}).size(), names.size());
}

TEST(Contract, ExceptionsBecomeFailures) {
  toy::Toy toy;
  const Status thrown =
      TryContract({"x/y", Duty::kMay, "", "",
                   [](Backend&, const ProbeOperator&) -> Status { throw 7; }},
                  toy);
  EXPECT_EQ(thrown.code(), StatusCode::kInternal);
}

}  // namespace
}  // namespace assay::contract
