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
Result<ExactValue> Answer(Network& network, const TruthRow& row,
                          Precision precision) {
  std::vector<assay::Value> inputs, ones;
  std::vector<std::string> targets;
  size_t of = row.of;
  for (const Feed& feed : row.feeds) {
    inputs.emplace_back(feed.Make());
    if (IsFloatingPoint(feed.dtype)) {
      targets.push_back(network.inputs()[inputs.size() - 1].name);
      ones.emplace_back(OneLike(feed).Make());
    } else if (row.ask == Ask::kVjp && inputs.size() <= row.of) {
      --of;
    }
  }
  ASSAY_ASSIGN_OR_RETURN(const auto run, network.exact()->At(inputs, targets));
  Result<std::vector<ExactValue>> answers = run->Evaluate(precision);
  if (answers.ok() && row.ask == Ask::kVjp) {
    answers = run->Vjp(OnesLike(*answers), precision);
  } else if (answers.ok() && row.ask == Ask::kJvp) {
    answers = run->Jvp(ones, precision);
  }
  if (!answers.ok()) return answers.status();
  return answers->at(of);
}

}  // namespace

void ExpectTruth(const TruthRow& row) {
  RowBackend backend;
  LoadOptions options;
  options.exact = true;
  const auto network = backend.Load(ModelOf(row.graph), options);
  ASSERT_TRUE(network.ok()) << row.fault << network.status().ToString();
  for (const Precision precision :
       {Precision::kDouble, Precision::kQuad, Precision::kArbitrary}) {
    const auto answer = Answer(**network, row, precision);
    ASSERT_TRUE(answer.ok()) << row.fault << answer.status().ToString();
    const double value = answer->value.tensor()->elements<double>()[row.at];
    const double tail = answer->tail.elements<double>()[row.at];
    const double bound = answer->bound.elements<double>()[row.at];
    // The truth itself has 113 bits.
    const double slack = 0x1p-111 * std::abs(ToDouble(row.truth));
    const double off = std::abs(ToDouble(Quad(value) + Quad(tail) - row.truth));
    EXPECT_TRUE(std::isinf(bound) || off <= bound + slack)
        << row.fault << ": in precision " << static_cast<int>(precision)
        << " found " << value << " + " << tail << " within " << bound
        << ", which is off by " << off;
    const bool must =
        row.known == Known::kAlways ||
        (row.known == Known::kInQuad && precision != Precision::kDouble);
    EXPECT_TRUE(!must || std::isfinite(bound)) << row.fault;
  }
}

}  // namespace assay::reference
