// SPDX-License-Identifier: Apache-2.0
//
// StepCase: an optimizer with a preset on a network, in one mode and element
// type, as a test_id says it: optimizer/adam/paper.mlp#locked.float32.
//
// The suite makes it of the plan's row where it is called (suite.cc), and hands
// it down; nothing else reads a test_id.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/backend/backend.h"
#include "framework/core/dtype.h"
#include "framework/core/status.h"
#include "framework/testing/case/test_case.h"
#include "framework/testing/draw/draw.h"
#include "framework/testing/measure/measure.h"
#include "framework/testing/record/record.h"
#include "framework/testing/record/rows.h"

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
  int64_t seed = 0;  // of what is drawn for a run: the network's, and roundings

  draw::Draw Drawn(std::string_view purpose) const {
    return {test_id(), seed, purpose};
  }
  std::string test_id() const;
  int64_t steps() const;
};

/// Not found, reason reader, for a test_id that is none of this suite's.
Result<StepCase> CaseOf(const record::PlanRow& row,
                        const record::RunFacts& facts);

/// By our rule each optimizer, as its paper has it, on the linear networks in
/// both types, and on the others; each preset that has a graph by it on the
/// quadratic one, and those of ONNX by the backend's step.
std::vector<StepCase> AllStepCases();

/// As a plan has them. It needs no corpora.
std::vector<cases::TestCase> PlannedCases(
    std::span<const cases::Corpus> corpora);

/// The reason of a free run that leaves its band. The reasons of a step are in
/// locked_run.h.
inline constexpr char kFailGrowth[] = "fail_growth";

/// The reason of a run with a loss or a gradient that could not be judged.
inline constexpr char kUndecided[] = "undecided";

/// Loads the oracle of the run (RunFacts::oracle) into this process as the
/// judge; the backend that is judged stays in its host.
measure::Judgement Judge(const StepCase& step_case, Backend& backend,
                         const record::RunFacts& facts, record::Record* record);

}  // namespace assay::optimizer
