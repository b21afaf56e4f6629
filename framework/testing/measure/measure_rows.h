// SPDX-License-Identifier: Apache-2.0
//
// Parts for the tables of the comparator's tests: tensors in short, and rows
// of (mutant, got, want, limit, outcome). A mutant is a plausible defect
// of the comparator under which the row would get another outcome.
//
//   ExpectOutcomes({{"NaN equals everything",
//                    {F32({kNan})}, {F32({1})}, kOnnx, kFail, Reason::kNan}});

#ifndef ASSAY_TESTING_MEASURE_MEASURE_ROWS_H_
#define ASSAY_TESTING_MEASURE_MEASURE_ROWS_H_

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

struct DefectRow {
  std::string mutant;
  std::vector<Value> got, want;
  cases::Limit limit;
  record::Outcome outcome;
  Reason reason = Reason::kNone;
};

inline void ExpectOutcomes(const std::vector<DefectRow>& rows) {
  for (const DefectRow& row : rows) {
    Observation seen;
    const auto metrics = Measure(row.got, row.want, {}, row.limit);
    const Judgement judgement = Judge(seen, metrics);
    EXPECT_EQ(ToString(judgement.outcome), ToString(row.outcome))
        << row.mutant << ": " << judgement.message;
    EXPECT_EQ(ToString(judgement.reason), ToString(row.reason)) << row.mutant;
    EXPECT_EQ(judgement.message.empty(), row.outcome == record::Outcome::kPass)
        << row.mutant;
  }
}

}  // namespace assay::measure

#endif  // ASSAY_TESTING_MEASURE_MEASURE_ROWS_H_
