// SPDX-License-Identifier: Apache-2.0
//
// Statuses and results in short, for tests.

#pragma once

#include <gmock/gmock.h>

#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "framework/core/status.h"

namespace assay {

inline const auto kAllWell =
    ::testing::Each(::testing::Property(&Status::ok, true));

inline Status StatusOf(const Status& status) { return status; }
template <class T>
Status StatusOf(const Result<T>& result) {
  return result.status();
}

/// A status, or a result that has one, whose message has the text.
inline auto Says(std::string_view text) {
  return ::testing::ResultOf(
      [](const auto& said) { return StatusOf(said); },
      ::testing::Property(&Status::message,
                          ::testing::HasSubstr(std::string(text))));
}

/// The same, and the status has that code.
inline auto IsStatus(StatusCode code, std::string_view text) {
  return ::testing::AllOf(
      ::testing::ResultOf(
          [](const auto& said) { return StatusOf(said).code(); }, code),
      Says(text));
}

inline void PrintTo(const Status& status, std::ostream* out) {
  *out << status.ToString();
}

/// The value of a result. Throws std::runtime_error where there is none.
template <class T>
T Got(Result<T> result) {
  if (!result.ok()) throw std::runtime_error(result.status().ToString());
  return *std::move(result);
}

}  // namespace assay
