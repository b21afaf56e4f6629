// SPDX-License-Identifier: Apache-2.0

#include "conformance/contract/contract.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "conformance/contract/contract_suite.h"
#include "conformance/contract/mutant_backend.h"
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
    {Defect::kDoublesInTraining, "training/mode"},
    {Defect::kIgnoresWrites, "training/parameters"},
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
      TryContract({"x/y", "", "", [](Backend&) -> Status { throw 7; }}, toy);
  EXPECT_EQ(thrown.code(), StatusCode::kInternal);
}

}  // namespace
}  // namespace assay::contract
