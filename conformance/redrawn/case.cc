// SPDX-License-Identifier: Apache-2.0

#include "conformance/redrawn/case.h"

#include <algorithm>
#include <optional>

#include "conformance/redrawn/left_out.h"
#include "framework/core/text.h"
#include "framework/graph/operator.h"
#include "framework/testing/draw/draw.h"
#include "framework/testing/draw/input_kind.h"

namespace assay::redrawn {
namespace {

constexpr std::string_view kSuite = "redrawn";
constexpr std::string_view kNode = "node";
constexpr std::string_view kModel = "model";

bool IsSource(const cases::TestCase& c) {
  return c.suite == kNode || c.suite == kModel;
}

/// The operator of a case of one node, or of its function body.
std::optional<OperatorId> OperatorOf(const cases::TestCase& c) {
  const std::string_view name = c.op;
  return FindOperator(c.domain == "ai.onnx" ? "" : c.domain,
                      name.substr(name.rfind('.') + 1));
}

/// True where some input may be another. Omitted inputs are not counted, so
/// that a place may be one too early.
bool HasInputToDraw(const cases::TestCase& c) {
  const auto carries = [](const std::string& dtype) {
    const auto type = ParseDType(dtype);
    return type.has_value() && draw::Carries(*type);
  };
  const auto op = OperatorOf(c);
  if (c.suite == kModel || !op.has_value()) {
    return std::ranges::any_of(c.input_dtypes, carries);
  }
  const auto& formals = types::SignatureOf(*op).inputs;
  for (size_t i = 0; i < c.input_dtypes.size(); ++i) {
    const auto* const formal = types::FormalAt(formals, i);
    if (formal != nullptr && draw::IsDrawn(draw::KindOf(*op, *formal))) {
      return true;
    }
  }
  return false;
}

cases::TestCase Derived(const cases::TestCase& source) {
  cases::TestCase c = source;
  c.test_id = StrCat(kSuite, source.test_id.substr(source.test_id.find('/')));
  c.corpus = c.suite = kSuite;
  c.tier = cases::Tier::kCi;
  c.n_data_sets = 1;
  c.sensitive.clear();
  c.drawn = true;
  return c;
}

}  // namespace

std::string WhyNot(const cases::TestCase& test_case) {
  if (!IsSource(test_case)) return "";
  if (test_case.limit.comparator == record::Comparator::kDistribution) {
    return "its outputs are drawn at random";
  }
  if (!test_case.vacuous.empty()) return "its outputs hang on no input";
  if (!HasInputToDraw(test_case))
    return "its inputs are settings or are not read";
  return LeftOut(test_case);
}

std::vector<cases::TestCase> RedrawnCases(
    std::span<const cases::Corpus> corpora) {
  std::vector<cases::TestCase> cases;
  for (const cases::Corpus& corpus : corpora) {
    for (const cases::TestCase& c : corpus.cases) {
      if (IsSource(c) && WhyNot(c).empty()) cases.push_back(Derived(c));
    }
  }
  return cases;
}

std::string SourceOf(std::string_view test_id) {
  if (!test_id.starts_with(StrCat(kSuite, "/"))) return std::string(test_id);
  const std::string_view own = test_id.substr(kSuite.size());
  // "light" is a group of models, "Relu" and "ml.Scaler" are operators.
  const std::string_view op = own.substr(1, own.find('/', 1) - 1);
  const char first = op.substr(op.rfind('.') + 1).front();
  return StrCat(first >= 'a' && first <= 'z' ? kModel : kNode, own);
}

}  // namespace assay::redrawn
