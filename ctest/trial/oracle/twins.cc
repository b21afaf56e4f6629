// SPDX-License-Identifier: Apache-2.0

#include "ctest/trial/oracle/twins.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "framework/file/csv.h"
#include "framework/testing/measure/measure.h"

namespace assay::oracle {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool IsNumbers(const ExactValue& answer) {
  const Tensor* value = answer.value.tensor();
  return value != nullptr && value->dtype() == DType::kFloat64 &&
         answer.bound.defined();
}

double TailAt(const ExactValue& answer, size_t i) {
  return answer.tail.defined() ? answer.tail.elements<double>()[i] : 0;
}

Twins CompareNumbers(const ExactValue& a, const ExactValue& b) {
  const Tensor& values = *a.value.tensor();
  const Tensor& others = *b.value.tensor();
  if (values.shape() != others.shape()) {
    return {kInfinity, StrCat(values.Signature(), " and ", others.Signature())};
  }
  const auto x = values.elements<double>();
  const auto y = others.elements<double>();
  double largest = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    if (std::isfinite(x[i])) largest = std::max(largest, std::abs(x[i]));
    if (std::isfinite(y[i])) largest = std::max(largest, std::abs(y[i]));
  }
  Twins worst;
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i] == y[i] && TailAt(a, i) == TailAt(b, i)) continue;
    if (std::isnan(x[i]) && std::isnan(y[i])) continue;
    double apart = kInfinity;
    if (std::isfinite(x[i]) && std::isfinite(y[i])) {
      apart = std::abs((x[i] - y[i]) + (TailAt(a, i) - TailAt(b, i))) / largest;
    }
    if (apart > worst.relative) {
      worst = {apart, StrCat("[", i, "]: ", file::ToText(x[i]), " and ",
                             file::ToText(y[i]))};
    }
  }
  return worst;
}

// Compares values that are not computed: integers, strings, sequences.
Twins CompareRest(const Value& a, const Value& b) {
  for (const measure::OutputMetrics& m :
       measure::Measure({{a}}, {{b}}, {}, {})) {
    if (!m.mismatch.empty()) return {kInfinity, m.mismatch};
    if (m.out_of_limit > 0) {
      return {kInfinity, StrCat("[", m.worst_index, "]: ", m.worst_got, " and ",
                                m.worst_want)};
    }
  }
  return {};
}

}  // namespace

Twins CompareTwins(std::span<const ExactValue> a,
                   std::span<const ExactValue> b) {
  if (a.size() != b.size()) {
    return {kInfinity, StrCat(a.size(), " outputs and ", b.size())};
  }
  Twins worst;
  for (size_t i = 0; i < a.size(); ++i) {
    // Neither is known: it depends on a decision that is in doubt.
    if (!a[i].value.present() && !b[i].value.present()) continue;
    Twins one = IsNumbers(a[i]) && IsNumbers(b[i])
                    ? CompareNumbers(a[i], b[i])
                    : CompareRest(a[i].value, b[i].value);
    if (one.relative > worst.relative) {
      worst = {one.relative, StrCat("output ", i, one.where)};
    }
  }
  return worst;
}

Result<std::map<std::string, KnownTwins>> ParseKnownTwins(
    std::string_view text) {
  std::map<std::string, KnownTwins> known;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string id, most;
    KnownTwins one;
    words >> id >> most >> std::ws;
    std::getline(words, one.because);
    const auto number = file::ParseDouble(most);
    one.most = number.value_or(0);
    const bool is_number = number.has_value() && *number > kTwinsAgree;
    if (one.because.empty() || (!is_number && most != "declined")) {
      return InvalidArgument("found '", line, "', wanted CASE, a number above ",
                             kTwinsAgree, " or declined, and why");
    }
    if (!known.emplace(id, std::move(one)).second) {
      return InvalidArgument(id, " stands there twice");
    }
  }
  return known;
}

std::string TwinOf(std::string_view expanded) {
  const size_t at = expanded.rfind("_expanded");
  return std::string(expanded.substr(0, at == std::string_view::npos ? 0 : at));
}

}  // namespace assay::oracle
