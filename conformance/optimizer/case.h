// SPDX-License-Identifier: Apache-2.0
//
// StepCase: an optimizer with a preset on a network, in one mode and element type,
// as a test_id says it: optimizer/adam/paper.mlp#locked.float32.
//
//   const auto step_case = StepCaseOf(row.test_id);
//   if (step_case.has_value()) Run(*step_case);   // or it is another suite's

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/core/dtype.h"
#include "framework/testing/case/corpus.h"
#include "framework/testing/case/test_case.h"

namespace assay::optimizer {

enum class Mode : uint8_t {
  kLocked,  // each step begins where the backend's last one ended
  kFree,    // the judge goes its own way
};

std::string_view ToString(Mode mode);

/// Who computes the update.
enum class Tier : uint8_t {
  kRule,    // our rule
  kGraph,   // the backend, from the rule's nodes
  kNative,  // the backend, which takes the whole step
};

/// The word of a row's column tier_a.
std::string_view ToString(Tier tier);

struct StepCase {
  std::string optimizer, preset, network;
  Mode mode = Mode::kLocked;
  DType type = DType::kFloat32;
  Tier tier = Tier::kRule;

  std::string test_id() const;
  int64_t steps() const;
};

/// Nothing for what is no case of this suite.
std::optional<StepCase> StepCaseOf(std::string_view test_id);

/// By our rule each optimizer, as its paper has it, on the linear networks in both
/// types, and on the others; each preset that has a graph by it on the quadratic
/// one, and those of ONNX by the backend's step.
std::vector<StepCase> AllStepCases();

/// As a plan has them. It needs no corpora.
std::vector<cases::TestCase> PlannedCases(
    std::span<const cases::Corpus> corpora);

}  // namespace assay::optimizer
