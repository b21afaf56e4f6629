// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/gradient_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <regex>
#include <utility>

#include "framework/backend/eager/flow/flow.h"
#include "framework/backend/exact.h"

namespace assay::reference {
namespace {

/// The row with this type in place of double.
GradientRow InType(GradientRow row, const GradientType& type) {
  static const std::regex kWord("\\bdouble\\b");
  row.graph = std::regex_replace(row.graph, kWord, type.name);
  for (Feed& feed : row.feeds) {
    if (feed.dtype == DType::kFloat64) feed.dtype = type.dtype;
  }
  return row;
}

/// Weights of which all are 1, 2, 3, ..., or every other is 0, or all but one.
std::vector<std::vector<double>> WeightsOf(int64_t count) {
  std::vector<std::vector<double>> all(3);
  for (int64_t i = 0; i < count; ++i) {
    all[0].push_back(static_cast<double>(i + 1));
    all[1].push_back(i % 2 == 0 ? 0 : 1.5);
    all[2].push_back(i == count / 2 ? -2 : 0);
  }
  return all;
}

double GreatestOf(const std::vector<double>& numbers) {
  double greatest = 0;
  for (const double x : numbers) {
    if (std::isfinite(x)) greatest = std::max(greatest, std::abs(x));
  }
  return greatest;
}

/// Infinities and what is no number are the same.
void ExpectNear(const std::vector<double>& got,
                const std::vector<double>& wanted, const GradientType& type,
                const std::string& what) {
  ASSERT_EQ(got.size(), wanted.size()) << what;
  const double bound = type.bound * GreatestOf(wanted);
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isfinite(got[i]) && std::isfinite(wanted[i])) {
      EXPECT_NEAR(got[i], wanted[i], bound) << what << " element " << i;
    } else {
      EXPECT_TRUE(got[i] == wanted[i] ||
                  (std::isnan(got[i]) && std::isnan(wanted[i])))
          << what << " element " << i << " is " << got[i] << ", wanted "
          << wanted[i];
    }
  }
}

}  // namespace

GradientRow GradientOf(const std::string& body, const std::string& outputs,
                       std::vector<Feed> feeds) {
  static const std::regex kNamed("[\\w, ]* = .*");
  std::string names;
  for (size_t i = 0; i < feeds.size(); ++i) {
    names += StrCat(" ", std::string(1, static_cast<char>('a' + i)));
  }
  const std::string graph =
      StrCat("g (", DeclareFully(names, feeds), ") => (", outputs, ") { ",
             std::regex_match(body, kNamed) ? "" : "y = ", body, " }");
  return {graph, std::move(feeds)};
}

GradientRow GradientOf(const std::string& body, std::vector<Feed> feeds) {
  const std::string output = DeclareFully("y", {feeds[0]});
  return GradientOf(body, output, std::move(feeds));
}

assay::Value CotangentOf(const Tensor& y, std::vector<double> weights) {
  if (weights.empty()) {
    weights.resize(static_cast<size_t>(y.num_elements()));
    std::iota(weights.begin(), weights.end(), 1);
  }
  return Feed{y.dtype(), y.shape(), std::move(weights)}.Make();
}

Result<std::vector<assay::Value>> Gradients(const GradientRow& row,
                                            const std::vector<double>& weights,
                                            By by, bool weighs_all) {
  LoadOptions options;
  if (by == By::kTape) options.settings["backward"] = "tape";
  for (size_t i = 0; i < row.feeds.size(); ++i) {
    if (!flow::IsGradientType(row.feeds[i].dtype)) continue;
    options.gradient_targets.emplace_back(1, static_cast<char>('a' + i));
  }
  RowBackend backend;
  ASSAY_ASSIGN_OR_RETURN(auto network,
                         backend.Load(ModelOf(row.graph), options));
  ASSAY_ASSIGN_OR_RETURN(auto binding, network->Bind(ValuesOf(row.feeds), {}));
  ASSAY_RETURN_IF_ERROR(network->Forward(*binding));
  std::vector<assay::Value> cotangents(binding->outputs().size());
  for (size_t i = 0; i < (weighs_all ? cotangents.size() : 1); ++i) {
    const Tensor& y = *binding->outputs()[i].tensor();
    if (!flow::IsGradientType(y.dtype())) continue;
    cotangents[i] = CotangentOf(y, i == 0 ? weights : std::vector<double>());
  }
  return network->differentiable()->Backward(*binding, cotangents,
                                             options.gradient_targets);
}

void ExpectTheTapes(const GradientRow& row, const GradientType& type) {
  const auto outputs = OutputsOf(row.graph, row.feeds);
  for (const auto& weights : WeightsOf(outputs[0].tensor()->num_elements())) {
    for (const bool all : {false, true}) {
      const auto got = Gradients(row, weights, By::kKernel, all);
      const auto wanted = Gradients(row, weights, By::kTape, all);
      ASSERT_TRUE(got.ok()) << row.graph << got.status().ToString();
      ASSERT_TRUE(wanted.ok()) << row.graph << wanted.status().ToString();
      for (size_t k = 0; k < got->size(); ++k) {
        ExpectNear(NumbersOf((*got)[k]), NumbersOf((*wanted)[k]), type,
                   StrCat(row.graph, " gradient ", k, " of weights ",
                          testing::PrintToString(weights)));
      }
    }
  }
}

void ExpectTheTapes(const std::vector<GradientRow>& rows) {
  for (const GradientRow& row : rows) {
    for (const GradientType& type : kGradientTypes)
      ExpectTheTapes(InType(row, type), type);
  }
}

void ExpectTheTapesIn(const GradientType& type, const GradientRow& row) {
  ExpectTheTapes(InType(row, type), type);
}

std::vector<double> Counting(int64_t count) {
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i) {
    values.push_back(static_cast<double>((i * 7 + 3) % 11) / 4 - 1);
  }
  return values;
}

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

TruthRow TruthOf(const char* fault, const std::string& body,
                 std::vector<Feed> feeds, Truth truth,
                 const std::string& outputs) {
  GradientRow row = outputs.empty()
                        ? GradientOf(body, std::move(feeds))
                        : GradientOf(body, outputs, std::move(feeds));
  return {fault, std::move(row.graph), std::move(row.feeds), truth};
}

void ExpectTruths(const std::vector<TruthRow>& rows) {
  for (const TruthRow& row : rows) ExpectTruth(row);
}

}  // namespace assay::reference
