// SPDX-License-Identifier: Apache-2.0
//
// ReasonCode: why a verdict is not a pass, as one word that a program can sort
// by. The words of core's Reason have a meaning here; a suite registers its own
// with a sentence each (suite.h), and a word without one leaves no worker.
//
//   measure::Judgement verdict{Outcome::kFail, Reason::kValue, message};
//   verdict.reason = ReasonCode("kink");
//   MeaningOf("value");  // "an output differs from what is expected"

#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "framework/core/status.h"

namespace assay::record {

class ReasonCode {
 public:
  /// Implicit: a Reason is one.
  ReasonCode(Reason reason = Reason::kNone) : text_(assay::ToString(reason)) {}
  explicit ReasonCode(std::string text) : text_(std::move(text)) {}

  const std::string& text() const { return text_; }
  bool operator==(const ReasonCode& other) const = default;

 private:
  std::string text_;  // empty: none
};

inline std::string_view ToString(const ReasonCode& reason) {
  return reason.text();
}
inline std::ostream& operator<<(std::ostream& out, const ReasonCode& reason) {
  return out << reason.text();
}

/// A word of the column reason_code, and what it says.
struct ReasonMeaning {
  std::string code;
  std::string meaning;  // a sentence without its full stop
};

/// Those of core, then those that were added.
const std::vector<ReasonMeaning>& ReasonMeanings();

/// Always true, so that a static initialiser can call it.
bool AddReason(ReasonMeaning reason);

/// Empty for a word that nobody registered.
std::string_view MeaningOf(std::string_view code);

}  // namespace assay::record
