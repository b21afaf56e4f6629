// SPDX-License-Identifier: Apache-2.0
//
// Parts for the tables of the comparator's tests: tensors in short, and rows
// of (mutant, got, want, verdict, limit). A mutant is a plausible defect
// of the comparator under which the row would get another outcome.
//
//   ExpectOutcomes({{"NaN equals everything", F32({kNan}), F32({1}),
//                    "fail nan"}});

#pragma once

#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "framework/testing/measure/measure.h"
#include "gtest/gtest.h"

namespace assay::measure {

inline constexpr float kInf = std::numeric_limits<float>::infinity();
inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
inline constexpr auto kPass = record::Outcome::kPass;
inline constexpr auto kFail = record::Outcome::kFail;

template <class T>
Tensor Shaped(DType type, Shape shape, const std::vector<T>& bits) {
  auto tensor =
      Tensor::FromBytes(type, std::move(shape), std::as_bytes(std::span(bits)));
  return tensor.ok() ? *tensor : Tensor();
}

template <class T>
Tensor Of(const std::vector<T>& elements) {
  return Shaped(kDTypeOf<T>, {static_cast<int64_t>(elements.size())}, elements);
}
inline Tensor F32(const std::vector<float>& elements) { return Of(elements); }

inline Tensor Text(const std::vector<std::string>& strings) {
  auto tensor =
      Tensor::FromStrings({static_cast<int64_t>(strings.size())}, strings);
  return tensor.ok() ? *tensor : Tensor();
}

inline const cases::Limit kExactly = {.comparator = record::Comparator::kExact};
inline const cases::Limit kOnnx = {.rtol = 1e-3, .atol = 1e-7};
inline const cases::Limit kRandom = {.comparator =
                                         record::Comparator::kDistribution};

inline cases::Limit Within(double rtol, double atol) {
  return {.rtol = rtol, .atol = atol};
}

/// One output, and the outcome and reason that it must get.
struct OutputRow {
  std::string mutant;
  Value got, want;
  std::string verdict;
  cases::Limit limit = kOnnx;
};

/// Several outputs or none.
struct OutputsRow {
  std::string mutant;
  std::vector<Value> got, want;
  std::string verdict;
  cases::Limit limit = kOnnx;
};

inline void ExpectOutcomesOfSeveral(const std::vector<OutputsRow>& rows) {
  for (const OutputsRow& row : rows) {
    const auto metrics = Measure(row.got, row.want, {}, row.limit);
    const auto [outcome, reason, message] = Judge({}, metrics);
    const std::string_view because = ToString(reason);
    EXPECT_EQ(StrCat(ToString(outcome), because.empty() ? "" : " ", because),
              row.verdict)
        << row.mutant << ": " << message;
    EXPECT_EQ(message.empty(), outcome == record::Outcome::kPass) << row.mutant;
  }
}

inline void ExpectOutcomes(const std::vector<OutputRow>& rows) {
  for (const auto& [mutant, got, want, verdict, limit] : rows) {
    ExpectOutcomesOfSeveral({{mutant, {got}, {want}, verdict, limit}});
  }
}

}  // namespace assay::measure
