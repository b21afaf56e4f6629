// SPDX-License-Identifier: Apache-2.0
//
// Mutant: a sound backend with one broken promise, for the contract's tests.
//
//   Mutant mutant(Defect::kSwapsOutputs);
//   EXPECT_FALSE(TryContract(feed_then_fetch, mutant).ok());

#pragma once

#include <cstdint>
#include <memory>
#include <thread>

#include "framework/backend/toy/toy_backend.h"

namespace assay::contract {

enum class Defect : uint8_t {
  kNone,
  // Defects of Load.
  kLoadsEverything,
  kBrokenByGarbage,
  kForgetsExtraOutputs,
  kAsksForInitializers,
  kDeclaresMore,
  kAlwaysDifferentiates,
  kDoublesInTraining,
  kLosesNetworks,
  kOneThreadOnly,
  // Defects of Bind.
  kBindsEverything,
  kCopiesInputs,
  kOwnOutputsOnly,
  kFirstExtentOnly,
  kClampsIndices,
  // Defects of Forward.
  kSwapsOutputs,
  kCountsRuns,
  kWritesInputs,
  kReusesOutputs,
  kSharesOutputs,
  kLosesLast,
  kFlushesNan,
  kAddsAnAxis,
  kTakesForeignBindings,
  kNeedsAlignment,
  kReadsOutside,
  // Defects of Backward and of parameters.
  kPassesEveryGradient,
  kSwapsGradients,
  kAbsentIsOne,
  kTakesEveryCotangent,
  kReusesGradients,
  kZeroGradient,
  kDifferentiatesTheUnrun,
  kDifferentiatesTheFirstRun,
  kDifferentiatesTheLastBinding,
  kRefusesRefilledInputs,
  kBindsEveryGradient,
  kOwnGradientsOnly,
  kCopiesCotangents,
  kAddsToGradients,
  kWritesHeldGradients,
  kIgnoresWrites,
  kGivesACopy,
  kTrainsEverything,
  // Defects of what is drawn.
  kDrawsAnew,
  kDrawsTheSame,
  kForgetsTheSeed,
};

class Mutant : public Backend {
 public:
  explicit Mutant(Defect defect) : defect_(defect) {}

  std::string_view name() const override { return "mutant"; }
  Result<Probe> Inspect() override { return Probe{"1.0", "cpu"}; }
  Result<std::unique_ptr<Network>> Load(std::shared_ptr<const Model> model,
                                        const LoadOptions& options) override;

 private:
  toy::Toy toy_;
  Defect defect_;
  bool broken_ = false;
  int loaded_ = 0;
  std::thread::id thread_;
  Tensor shared_output_;
};

}  // namespace assay::contract
