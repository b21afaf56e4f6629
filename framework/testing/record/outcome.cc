// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/record/outcome.h"

namespace assay::record {
namespace {

constexpr std::array<std::string_view, kOutcomeCount> kNames = {
    "pass",        "waived",  "fail",   "suspect", "unsupported",
    "unavailable", "xfail",   "xpass",  "flaky",   "error",
    "crash",       "timeout", "missing"};

}  // namespace

std::string_view ToString(Outcome outcome) {
  return kNames.at(static_cast<size_t>(outcome));
}

std::optional<Outcome> ParseOutcome(std::string_view text) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames.at(i) == text) return static_cast<Outcome>(i);
  }
  return std::nullopt;
}

bool ParseWord(std::string_view text, Outcome* outcome) {
  const auto parsed = ParseOutcome(text);
  *outcome = parsed.value_or(Outcome::kMissing);
  return parsed.has_value();
}

std::ostream& operator<<(std::ostream& out, Outcome outcome) {
  return out << ToString(outcome);
}

bool IsJudged(Outcome outcome) {
  return outcome != Outcome::kUnsupported && outcome != Outcome::kUnavailable &&
         outcome != Outcome::kMissing;
}

bool IsUnexpected(Outcome outcome) {
  switch (outcome) {
    case Outcome::kPass:
    case Outcome::kWaived:
    case Outcome::kXfail:
    case Outcome::kUnsupported:
    case Outcome::kUnavailable:
      return false;
    default:
      return true;
  }
}

bool IsFailure(Outcome outcome) {
  switch (outcome) {
    case Outcome::kFail:
    case Outcome::kSuspect:
    case Outcome::kError:
    case Outcome::kCrash:
    case Outcome::kTimeout:
      return true;
    default:
      return false;
  }
}

}  // namespace assay::record
