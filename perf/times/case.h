// SPDX-License-Identifier: Apache-2.0
//
// The cases of the suites: those of nodes and models in the run's corpora,
// "time/Relu/test_relu" of "node/Relu/test_relu". Each is about the model as it
// is. Where its inputs can be drawn, they are, as those of the suite redrawn,
// and an oracle says what is right at them; else they are the case's own, and
// its data says so. "time/Relu/test_relu#redrawn.float32" is about the
// gradients of the case of gradcheck with that end (gradient.h), and
// "time/adam/paper.mlp#locked.float32" about steps (step.h), and
// "time/allreduce/own_in_place.float32.sum.1022#n2" about messages between
// ranks (collective.h).

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/core/numbers.h"
#include "framework/core/status.h"
#include "framework/testing/case/test_case.h"
#include "framework/testing/draw/inputs.h"
#include "framework/testing/measure/exact_answers.h"
#include "framework/testing/record/record.h"
#include "framework/testing/record/rows.h"
#include "framework/testing/suite/suite.h"

namespace assay::times {

inline constexpr std::string_view kTime = "time";
inline constexpr std::string_view kCompare = "compare";

/// Sets of inputs that are judged, where these are drawn.
inline constexpr int kJudgedSets = 3;

/// The case of the most input elements of each operator is of the tier ci, all
/// others and the models are nightly; likewise the cases of gradients. Steps of
/// adam and collectives of 2 ranks are of ci, too.
std::vector<cases::TestCase> TimeCases(std::span<const cases::Corpus> corpora);

/// The same of the suite compare.
std::vector<cases::TestCase> CompareCases(
    std::span<const cases::Corpus> corpora);

/// The case that one of either suite is derived from; any other id as it is.
std::string SourceOf(std::string_view test_id);

/// The model, and the inputs that are judged. Drawn ones are kJudgedSets: those
/// of the suite redrawn, or of gradcheck, and FreshInputs of them.
Result<suite::Subject> SubjectOf(const record::PlanRow& row,
                                 const record::RunFacts& facts);

/// The outputs at each of them; none where the inputs are the case's own.
std::vector<suite::Question> QuestionsOf(const record::PlanRow& row,
                                         const record::RunFacts& facts);

/// One for each output, as redrawn::ReadAnswers.
Result<std::vector<measure::ExactAnswer>> ReadAnswers(
    const record::PlanRow& row, const record::RunFacts& facts, size_t data_set);

/// Inputs as often as they are asked for: those before with the elements of
/// each input of numbers in another order. Never those before, nor those that
/// this was made of; others come back as seldom as their number says.
class FreshInputs {
 public:
  /// The last `n_cotangents` of the inputs are none of the graph's; they are
  /// numbers.
  FreshInputs(const draw::InputKinds& kinds, const Graph& graph,
              std::vector<Value> inputs, uint64_t seed,
              size_t n_cotangents = 0);

  /// True where there are 2^16 orders at least. Else all inputs are the same: a
  /// backend that keeps what it has computed would soon have met each.
  bool is_fresh() const { return !moved_.empty(); }
  Result<std::vector<Value>> Next();

 private:
  Result<Tensor> Moved(const Tensor& from);

  std::vector<Value> first_, last_;
  std::vector<size_t> moved_;  // those whose elements change places
  core::Numbers numbers_;
};

}  // namespace assay::times
