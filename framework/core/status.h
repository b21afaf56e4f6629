// SPDX-License-Identifier: Apache-2.0
//
// Status and Result: how every function of the framework reports failure.
//
// A Status is OK or carries a code, a reason and a message that says what was
// found, what was wanted and where. A Result<T> is a T or such a Status.
//
//   Result<int> Half(int n) {
//     if (n % 2 != 0) return InvalidArgument("found ", n, ", wanted it even");
//     return n / 2;
//   }
//   Status Quarter(int* n) {
//     ASSAY_ASSIGN_OR_RETURN(const int half, Half(*n));
//     ASSAY_ASSIGN_OR_RETURN(*n, Half(half));
//     return OkStatus();
//   }

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "framework/core/text.h"

namespace assay::inline v1 {

/// The class of failure of a Status. A caller decides by the code, a person
/// by the message.
enum class StatusCode : uint8_t {
  kOk,
  kInvalidArgument,     // the caller's input is wrong
  kUnsupported,         // valid, but declined with a reason
  kUnavailable,         // a library or a device is missing
  kNotFound,            // a named thing does not exist
  kDataLoss,            // a file is broken or truncated
  kResourceExhausted,   // memory, disk or a limit
  kFailedPrecondition,  // called in the wrong state
  kCancelled,           // stopped on request
  kInternal,            // a defect of the framework or of a backend
};

/// The reason code of a record (column reason_code). kNone prints as "".
enum class Reason : uint8_t {
  kNone,
  kOperator,
  kOpset,
  kDType,
  kValueKind,
  kAttribute,
  kShape,
  kTraining,
  kGradient,
  kDevice,
  kReader,
  kValue,
  kNan,
  kStateChanged,
  kSignal,
  kExit,
  kLimit,
};

std::string_view ToString(StatusCode code);
std::string_view ToString(Reason reason);

/// The reason named by a column's text; nullopt when there is none such.
std::optional<Reason> ParseReason(std::string_view text);

/// OK, or a failure with code, reason and message. Copies share the message.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(StatusCode code, Reason reason, std::string message);

  bool ok() const { return failure_ == nullptr; }
  StatusCode code() const { return ok() ? StatusCode::kOk : failure_->code; }
  Reason reason() const { return ok() ? Reason::kNone : failure_->reason; }
  const std::string& message() const;

  /// The same failure with `context` and ": " before its message.
  Status WithContext(std::string_view context) const;

  /// "OK", or "unsupported (dtype): message".
  std::string ToString() const;

 private:
  struct Failure {
    StatusCode code;
    Reason reason;
    std::string message;
  };
  std::shared_ptr<const Failure> failure_;
};

inline Status OkStatus() { return {}; }

template <class... Parts>
Status InvalidArgument(const Parts&... parts) {
  return {StatusCode::kInvalidArgument, Reason::kNone, StrCat(parts...)};
}
template <class... Parts>
Status Unsupported(Reason reason, const Parts&... parts) {
  return {StatusCode::kUnsupported, reason, StrCat(parts...)};
}
template <class... Parts>
Status Unavailable(const Parts&... parts) {
  return {StatusCode::kUnavailable, Reason::kDevice, StrCat(parts...)};
}
template <class... Parts>
Status NotFound(const Parts&... parts) {
  return {StatusCode::kNotFound, Reason::kNone, StrCat(parts...)};
}
template <class... Parts>
Status DataLoss(const Parts&... parts) {
  return {StatusCode::kDataLoss, Reason::kReader, StrCat(parts...)};
}
template <class... Parts>
Status ResourceExhausted(const Parts&... parts) {
  return {StatusCode::kResourceExhausted, Reason::kLimit, StrCat(parts...)};
}
template <class... Parts>
Status FailedPrecondition(const Parts&... parts) {
  return {StatusCode::kFailedPrecondition, Reason::kNone, StrCat(parts...)};
}
template <class... Parts>
Status Cancelled(const Parts&... parts) {
  return {StatusCode::kCancelled, Reason::kNone, StrCat(parts...)};
}
template <class... Parts>
Status Internal(const Parts&... parts) {
  return {StatusCode::kInternal, Reason::kNone, StrCat(parts...)};
}

/// A T, or the Status that says why there is none. Reading the value of a
/// failed Result is a defect and throws std::bad_variant_access.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : held_(std::in_place_index<0>, std::move(value)) {}
  Result(Status status) : held_(std::in_place_index<1>, std::move(status)) {
    if (std::get<1>(held_).ok()) {
      held_ = Internal("a Result was made from an OK status");
    }
  }
  template <class U>
  requires(std::convertible_to<U, T> && !std::same_as<U, T> &&
           !std::convertible_to<U, Status>) Result(U&& value)
      : held_(std::in_place_index<0>, std::forward<U>(value)) {}

  bool ok() const { return held_.index() == 0; }
  Status status() const { return ok() ? OkStatus() : std::get<1>(held_); }

  T& value() & { return std::get<0>(held_); }
  const T& value() const& { return std::get<0>(held_); }
  T&& value() && { return std::get<0>(std::move(held_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  std::variant<T, Status> held_;
};

}  // namespace assay::inline v1

/// Returns the failed Status of `expression` from the calling function.
#define ASSAY_RETURN_IF_ERROR(expression)                                \
  if (::assay::Status assay_status_ = (expression); !assay_status_.ok()) \
      [[unlikely]]                                                       \
  return assay_status_

/// Declares or assigns `target` from a Result, or returns its Status.
#define ASSAY_ASSIGN_OR_RETURN(target, expression) \
  ASSAY_ASSIGN_OR_RETURN_AT_(__LINE__, target, expression)
#define ASSAY_ASSIGN_OR_RETURN_AT_(id, target, expression) \
  ASSAY_ASSIGN_OR_RETURN_IN_(id, target, expression)
#define ASSAY_ASSIGN_OR_RETURN_IN_(id, target, expression)        \
  auto assay_result_##id = (expression);                          \
  if (!assay_result_##id.ok()) return assay_result_##id.status(); \
  target = *std::move(assay_result_##id)
