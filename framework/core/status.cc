// SPDX-License-Identifier: Apache-2.0

#include "framework/core/status.h"

#include <array>

namespace assay::inline v1 {
namespace {

constexpr std::array<std::string_view, 10> kCodeNames = {"ok",
                                                         "invalid argument",
                                                         "unsupported",
                                                         "unavailable",
                                                         "not found",
                                                         "data loss",
                                                         "resource exhausted",
                                                         "failed precondition",
                                                         "cancelled",
                                                         "internal"};

constexpr std::array<std::string_view, 17> kReasonNames = {
    "",      "operator",      "opset",    "dtype",  "value_kind", "attribute",
    "shape", "training",      "gradient", "device", "reader",     "value",
    "nan",   "state_changed", "signal",   "exit",   "limit"};

}  // namespace

std::string_view ToString(StatusCode code) {
  return kCodeNames.at(static_cast<size_t>(code));
}

std::string_view ToString(Reason reason) {
  return kReasonNames.at(static_cast<size_t>(reason));
}

std::optional<Reason> ParseReason(std::string_view text) {
  for (size_t i = 0; i < kReasonNames.size(); ++i) {
    if (kReasonNames.at(i) == text) return static_cast<Reason>(i);
  }
  return std::nullopt;
}

Status::Status(StatusCode code, Reason reason, std::string message) {
  if (code == StatusCode::kOk) return;
  failure_ = std::make_shared<const Failure>(
      Failure{code, reason, std::move(message)});
}

const std::string& Status::message() const {
  static const std::string kNone;
  return ok() ? kNone : failure_->message;
}

Status Status::WithContext(std::string_view context) const {
  if (ok()) return {};
  return {code(), reason(), StrCat(context, ": ", message())};
}

std::string Status::ToString() const {
  if (ok()) return "OK";
  const std::string_view why = assay::ToString(reason());
  return why.empty()
             ? StrCat(assay::ToString(code()), ": ", message())
             : StrCat(assay::ToString(code()), " (", why, "): ", message());
}

}  // namespace assay::inline v1
