// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/record/outcome.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

namespace assay::record {
namespace {

using enum Outcome;

constexpr std::array<std::string_view, kOutcomeCount> kOutcomes = {
    "pass",        "waived",  "fail",   "suspect", "unsupported",
    "unavailable", "xfail",   "xpass",  "flaky",   "error",
    "crash",       "timeout", "missing"};

constexpr auto kComparators = std::to_array<std::string_view>(
    {"exact", "tolerance", "text", "distribution", "oracle"});

template <class T>
std::optional<T> Named(const auto& names, std::string_view text) {
  const auto found = std::ranges::find(names, text);
  if (found == names.end()) return std::nullopt;
  return static_cast<T>(found - names.begin());
}

bool IsOneOf(Outcome outcome, std::initializer_list<Outcome> outcomes) {
  return std::ranges::find(outcomes, outcome) != outcomes.end();
}

ReasonMeaning Meaning(Reason reason, std::string meaning) {
  return {std::string(ToString(reason)), std::move(meaning)};
}

std::vector<ReasonMeaning>& All() {
  static auto* all = new std::vector<ReasonMeaning>{
      Meaning(Reason::kOperator, "the backend lacks an operator"),
      Meaning(Reason::kOpset, "the backend lacks a version of an operator"),
      Meaning(Reason::kDType, "an element type is not taken, or is wrong"),
      Meaning(Reason::kValueKind,
              "a sequence, map, optional or sparse tensor is not taken, or "
              "another kind of value or number of outputs was wanted"),
      Meaning(Reason::kAttribute, "an attribute's value is not taken"),
      Meaning(Reason::kShape, "a shape is not taken, or is wrong"),
      Meaning(Reason::kTraining, "the backend does not train"),
      Meaning(Reason::kGradient, "the backend has no gradient of this"),
      Meaning(Reason::kDevice, "a library, a device or its memory is missing"),
      Meaning(Reason::kReader, "the model or data cannot be read"),
      Meaning(Reason::kValue, "an output differs from what is expected"),
      Meaning(Reason::kNan,
              "an output is NaN where a number is expected, or "
              "the other way round"),
      Meaning(Reason::kStateChanged,
              "the backend changed what all cases of its process share"),
      Meaning(Reason::kSignal, "a signal ended the worker"),
      Meaning(Reason::kExit, "the worker ended by itself"),
      Meaning(Reason::kLimit, "a limit of time, draws or tolerance is passed"),
      {std::string(kUndecided), "no oracle can judge the outputs"}};
  return *all;
}

}  // namespace

std::string_view ToString(Outcome outcome) {
  return kOutcomes.at(static_cast<size_t>(outcome));
}

std::optional<Outcome> ParseOutcome(std::string_view text) {
  return Named<Outcome>(kOutcomes, text);
}

bool ParseWord(std::string_view text, Outcome* outcome) {
  *outcome = ParseOutcome(text).value_or(kMissing);
  return ToString(*outcome) == text;
}

std::ostream& operator<<(std::ostream& out, Outcome outcome) {
  return out << ToString(outcome);
}

bool IsJudged(Outcome outcome) {
  return !IsOneOf(outcome, {kUnsupported, kUnavailable, kMissing});
}

bool IsUnexpected(Outcome outcome) {
  return !IsOneOf(outcome,
                  {kPass, kWaived, kXfail, kUnsupported, kUnavailable});
}

bool IsFailure(Outcome outcome) {
  return IsOneOf(outcome, {kFail, kSuspect, kError, kCrash, kTimeout});
}

std::string_view ToString(Comparator comparator) {
  return kComparators.at(static_cast<size_t>(comparator));
}

std::optional<Comparator> ParseComparator(std::string_view text) {
  return Named<Comparator>(kComparators, text);
}

bool ParseWord(std::string_view text, Comparator* comparator) {
  *comparator = ParseComparator(text).value_or(Comparator::kTolerance);
  return ToString(*comparator) == text;
}

std::ostream& operator<<(std::ostream& out, Comparator comparator) {
  return out << ToString(comparator);
}

const std::vector<ReasonMeaning>& ReasonMeanings() { return All(); }

bool AddReason(ReasonMeaning reason) {
  All().push_back(std::move(reason));
  return true;
}

std::string_view MeaningOf(std::string_view code) {
  const auto found = std::ranges::find(All(), code, &ReasonMeaning::code);
  return found == All().end() ? std::string_view() : found->meaning;
}

}  // namespace assay::record
