// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/judge/verdict.h"

#include <utility>

#include "framework/core/text.h"

namespace assay::gradcheck {

using record::Outcome;
using record::ReasonCode;

std::vector<record::ReasonMeaning> Reasons() {
  return {
      {kFailForward,
       "the forward of a network loaded for gradients gives other outputs"},
      {kFailBackward, "a gradient differs from the exact one"},
      {kFailOracle, "the oracle's answer is missing, too wide or in doubt"},
      {kSubgradient,
       "at a kink the gradient is one of those that it may be there"},
      {kZero, "the exact gradient is zero everywhere"},
      {kNotDifferentiable, "nothing in the case can be differentiated"},
      {kMasked, "a derivative is infinite or none, and its product is open"},
      {kStochastic, "the gradient is that of the mask that was drawn"},
      {kVacuous, "no element of a gradient could be judged, or only zeros"},
      {kTooGreat,
       "the gradients hold, and the Jacobian is too great to be asked for"},
      {kNondeterministic, "a second backward gives other bits"},
  };
}

measure::Judgement Verdict(Outcome outcome, const char* reason,
                           std::string message) {
  return {outcome, ReasonCode(std::string(reason)), std::move(message)};
}

measure::Judgement Stopped(const Status& status) {
  if (status.code() == StatusCode::kUnsupported) {
    return {Outcome::kUnsupported, status.reason(), status.message()};
  }
  if (status.code() == StatusCode::kUnavailable) {
    return {Outcome::kUnavailable, status.reason(), status.message()};
  }
  return {Outcome::kError, status.reason(), status.message()};
}

measure::Judgement StoppedRunning(const Status& status, const char* when) {
  return {Outcome::kError, status.reason(),
          StrCat(when, ": ", status.message())};
}

}  // namespace assay::gradcheck
