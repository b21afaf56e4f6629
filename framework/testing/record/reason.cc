// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/record/reason.h"

#include <algorithm>
#include <utility>

namespace assay::record {
namespace {

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
      Meaning(Reason::kLimit, "a limit of time, draws or tolerance is passed")};
  return *all;
}

}  // namespace

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
