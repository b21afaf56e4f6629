// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/truth_rows.h"

#include <gtest/gtest.h>

#include <cmath>

#include "framework/backend/exact.h"

namespace assay::reference {
namespace {

Feed OneLike(const Feed& feed) {
  return D(feed.shape, std::vector<double>(feed.values.size(), 1));
}

std::vector<assay::Value> OnesLike(const std::vector<ExactValue>& outputs) {
  std::vector<assay::Value> ones;
  for (const ExactValue& output : outputs) {
    const Tensor& like = *output.value.tensor();
    const auto count = static_cast<size_t>(like.num_elements());
    ones.emplace_back(
        OneLike(D(like.shape(), std::vector<double>(count))).Make());
  }
  return ones;
}

// The value asked for, with directions of ones.
Result<ExactValue> AnswerTo(Network& network, const TruthRow& row,
                            Precision precision) {
  std::vector<assay::Value> inputs, ones;
  std::vector<std::string> targets;
  size_t of = row.truth.of;
  for (const Feed& feed : row.feeds) {
    inputs.emplace_back(feed.Make());
    if (IsFloatingPoint(feed.dtype)) {
      targets.push_back(network.inputs()[inputs.size() - 1].name);
      ones.emplace_back(OneLike(feed).Make());
    } else if (row.truth.ask == Ask::kGradient &&
               inputs.size() <= row.truth.of) {
      --of;
    }
  }
  ASSAY_ASSIGN_OR_RETURN(const auto run, network.exact()->At(inputs, targets));
  Result<std::vector<ExactValue>> answers = run->Evaluate(precision);
  if (answers.ok() && row.truth.ask == Ask::kGradient) {
    answers = run->Vjp(OnesLike(*answers), precision);
  } else if (answers.ok() && row.truth.ask == Ask::kTangent) {
    answers = run->Jvp(ones, precision);
  }
  if (!answers.ok()) return answers.status();
  return answers->at(of);
}

void ExpectTruth(const TruthRow& row) {
  const auto& [ask, of, at, number, known] = row.truth;
  const auto network = NetworkOf(row.graph, {.exact = true});
  for (const Precision precision :
       {Precision::kDouble, Precision::kQuad, Precision::kArbitrary}) {
    const auto answer = AnswerTo(*network, row, precision);
    ASSERT_TRUE(answer.ok()) << row.fault << answer.status().ToString();
    const double value = answer->value.tensor()->elements<double>()[at];
    const double tail = answer->tail.elements<double>()[at];
    const double bound = answer->bound.elements<double>()[at];
    // The truth itself has 113 bits.
    const double slack = 0x1p-111 * std::abs(ToDouble(number));
    const double off = std::abs(ToDouble(Quad(value) + Quad(tail) - number));
    EXPECT_TRUE(std::isinf(bound) || off <= bound + slack)
        << row.fault << ": in precision " << static_cast<int>(precision)
        << " found " << value << " + " << tail << " within " << bound
        << ", which is off by " << off;
    EXPECT_TRUE(known == Known::kPerhaps || std::isfinite(bound)) << row.fault;
  }
}

}  // namespace

void ExpectTruths(const std::vector<TruthRow>& rows) {
  for (const TruthRow& row : rows) ExpectTruth(row);
}

}  // namespace assay::reference
