// SPDX-License-Identifier: Apache-2.0
//
// The cases of other suites that are timed beside nodes and models, as those
// suites have them, and the names by which they go there: gradients, steps of
// optimizers, and collectives of ranks.
//
//   const auto id = StepIdOf("time/adam/paper.mlp#locked.float32");
//   // "optimizer/adam/paper.mlp#locked.float32"

#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/distributed/collective/collective_case.h"
#include "framework/testing/case/test_case.h"
#include "framework/testing/record/record.h"
#include "framework/testing/record/rows.h"
#include "framework/testing/suite/suite.h"
#include "gradcheck/case/gradient_case.h"

namespace assay::times {

/// The inputs and the type of gradients that are timed.
inline constexpr gradcheck::Variant kTimedVariant = {
    gradcheck::InputClass::kRedrawn, DType::kFloat32};

/// The cases of gradcheck of that variant, of these corpora.
std::vector<cases::TestCase> TimedGradients(
    std::span<const cases::Corpus> corpora);

/// "gradcheck/Relu/test_relu#redrawn.float32" of a case of gradients; nothing
/// for any other id.
std::optional<std::string> GradientIdOf(std::string_view test_id);

/// The case of gradcheck that a planned case is of.
std::optional<gradcheck::GradientCase> GradientCaseOf(
    const record::PlanRow& row, const record::RunFacts& facts);

/// The questions of gradcheck about the outputs and the gradients for two kinds
/// of cotangents, at the inputs of each set.
std::vector<suite::Question> GradientQuestions(
    const gradcheck::GradientCase& c);

/// True for the question of them about "outputs", or about a kind of cotangents
/// (gradcheck::ToString).
bool Asks(const suite::Question& question, std::string_view what);

/// The cases of the suite optimizer in which our rule trains a network of some
/// layers from where the backend's last step ended, in float32.
std::vector<cases::TestCase> TimedSteps();

/// "optimizer/adam/paper.mlp#locked.float32" of a case of steps; nothing for
/// any other id.
std::optional<std::string> StepIdOf(std::string_view test_id);

/// The cases of the suite distributed that are a library's own collectives: of
/// each operation, of float32 and sums, for 2 and 4 ranks and three sizes.
std::vector<cases::TestCase> TimedCollectives();

/// "distributed/allreduce/own_in_place.float32.sum.1022#n2" of a case of
/// collectives; nothing for any other id.
std::optional<std::string> CollectiveIdOf(std::string_view test_id);

/// The collective of that name in suite distributed, which is a timed one.
const distributed::CollectiveCase& CollectiveNamed(const std::string& id);

}  // namespace assay::times
