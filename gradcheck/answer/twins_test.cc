// SPDX-License-Identifier: Apache-2.0

#include "ctest/trial/oracle/twins.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "ctest/trial/oracle/oracle_module.h"
#include "framework/file/csv.h"
#include "framework/file/file.h"
#include "framework/testing/case/corpus.h"
#include "framework/testing/limit/limit.h"
#include "framework/testing/support/statuses_fixture.h"
#include "gradcheck/case/gradient_case.h"
#include "gradcheck/case/subject.h"
#include "gradcheck/draw/draw.h"

namespace assay::gradcheck {
namespace {

/// The oracle of the module that the build names.
Backend& Oracle() {
  static const auto oracle = oracle::OracleOf(ASSAY_REFERENCE_MODULE);
  return *oracle;
}

/// A case at its own inputs, recorded by the oracle.
struct Side {
  DType type = DType::kUndefined;
  suite::Subject subject;
  std::unique_ptr<Network> network;
  std::unique_ptr<ExactRun> run;
  std::vector<int> bits;  // of cotangents, by output
};

/// `targets`: those of both sides.
Result<Side> SideOf(const cases::TestCase& c) {
  record::PlanRow row;
  row.test_id = c.test_id;
  row.directory = c.directory.string();
  Side side;
  ASSAY_ASSIGN_OR_RETURN(const auto own, CaseOf(row, record::RunFacts()));
  side.type = own.variant.type;
  ASSAY_ASSIGN_OR_RETURN(side.subject, SubjectOf(own));
  LoadOptions options;
  options.exact = true;
  ASSAY_ASSIGN_OR_RETURN(side.network,
                         Oracle().Load(side.subject.model, options));
  side.bits = CotangentBits(*side.subject.model, InputClass::kRedrawn);
  return side;
}

struct Gradients {
  std::vector<ExactValue> values;
  std::vector<ExactHull> hulls;
};

Result<Gradients> Ask(Side& side, const std::vector<std::string>& targets,
                      const std::vector<int>& bits, double roundoff) {
  ASSAY_ASSIGN_OR_RETURN(
      side.run, side.network->exact()->At(side.subject.inputs[0], targets));
  ASSAY_ASSIGN_OR_RETURN(const auto outputs,
                         side.run->Evaluate(Precision::kDouble));
  std::vector<Shape> shapes;
  for (const ExactValue& output : outputs) {
    const Tensor* const tensor = output.value.tensor();
    shapes.push_back(tensor == nullptr ? Shape() : tensor->shape());
  }
  ASSAY_ASSIGN_OR_RETURN(
      const std::vector<Value> dy,
      CotangentsOf(Cotangent::kFirst, bits, shapes, Draw("twins", 0, "dy")));
  Gradients found;
  ASSAY_ASSIGN_OR_RETURN(found.values, side.run->Vjp(dy, Precision::kQuad));
  ASSAY_ASSIGN_OR_RETURN(found.hulls, side.run->VjpHull(dy, roundoff));
  return found;
}

/// The difference of two gradients of one target.
struct Apart {
  int64_t compared = 0;
  /// Beyond the sum of bounds, relative to the greatest magnitude.
  double relative = 0;
  std::string where;
};

double Widest(const ExactHull& hull, size_t i) {
  if (!hull.low.defined()) return 0;
  return hull.high.elements<double>()[i] - hull.low.elements<double>()[i];
}

void CompareTwins(const std::string& target, const Gradients& a,
                  const Gradients& b, size_t t, Apart* apart) {
  const auto x = a.values[t].value.tensor()->elements<double>();
  const auto y = b.values[t].value.tensor()->elements<double>();
  const auto x_tail = a.values[t].tail.elements<double>();
  const auto y_tail = b.values[t].tail.elements<double>();
  const auto x_bound = a.values[t].bound.elements<double>();
  const auto y_bound = b.values[t].bound.elements<double>();
  double greatest = 0;
  for (const double number : x) {
    if (std::isfinite(number)) greatest = std::max(greatest, std::abs(number));
  }
  for (size_t i = 0; i < x.size(); ++i) {
    // At a kink each may be another one of those that are right.
    if (!(Widest(a.hulls[t], i) == 0 && Widest(b.hulls[t], i) == 0)) continue;
    const double error = std::abs((x[i] - y[i]) + (x_tail[i] - y_tail[i]));
    const double allowed = x_bound[i] + y_bound[i];
    if (!std::isfinite(allowed) || !std::isfinite(error)) continue;
    ++apart->compared;
    if (error <= allowed) continue;
    const double relative = greatest > 0 ? error / greatest : error;
    if (relative <= apart->relative) continue;
    apart->relative = relative;
    apart->where = StrCat("element ", i, " by '", target, "' is ", x[i],
                          " and ", y[i], " within ", allowed);
  }
}

Result<Apart> ApartOf(const cases::TestCase& of_operator,
                      const cases::TestCase& of_body) {
  ASSAY_ASSIGN_OR_RETURN(Side a, SideOf(of_operator));
  ASSAY_ASSIGN_OR_RETURN(Side b, SideOf(of_body));
  std::vector<std::string> targets;
  for (const std::string& target : a.subject.targets) {
    if (std::ranges::count(b.subject.targets, target) > 0) {
      targets.push_back(target);
    }
  }
  std::vector<int> bits = a.bits;
  for (size_t i = 0; i < bits.size(); ++i) {
    bits[i] = std::min(bits[i], b.bits[i]);
  }
  if (targets.size() != a.subject.targets.size() || bits != a.bits) {
    return NotFound(
        "a target or an output of the operator is none of the body");
  }
  const double roundoff = limit::UnitRoundoff(b.type);
  ASSAY_ASSIGN_OR_RETURN(const Gradients x, Ask(a, targets, bits, roundoff));
  ASSAY_ASSIGN_OR_RETURN(const Gradients y, Ask(b, targets, bits, roundoff));
  Apart apart;
  for (size_t t = 0; t < targets.size(); ++t) {
    CompareTwins(targets[t], x, y, t, &apart);
  }
  return apart;
}

/// The fault beyond what is known; empty: none.
std::string Complaint(const Result<Apart>& apart,
                      const oracle::KnownTwins* known) {
  if (!apart.ok()) {
    return known != nullptr && known->most == 0 ? ""
                                                : apart.status().ToString();
  }
  if (known == nullptr) return apart->where;
  if (apart->relative == 0) return "its line is not needed";
  if (apart->relative <= known->most) return "";
  return StrCat(file::ToText(apart->relative), " apart, ", apart->where);
}

// Kills: a derivative that the oracle's kernel of an operator has and its steps
// have not, or the other way round.
TEST(GradientTwins, AnOperatorAndItsBodyHaveTheSameExactGradients) {
  const std::vector corpora = {
      Got(cases::ReadCorpus(std::string(ASSAY_CORPUS)))};
  const auto known = Got(
      oracle::ParseKnownTwins(Got(file::ReadFile(ASSAY_KNOWN_GRADIENT_TWINS))));
  std::map<std::string, cases::TestCase> cases;
  for (cases::TestCase& c : GradientCases(corpora)) {
    if (VariantOf(c.test_id)->input_class != InputClass::kOfficial ||
        c.tier == cases::Tier::kNightly) {
      continue;
    }
    cases.emplace(SourceOf(c.test_id), std::move(c));
  }
  std::set<std::string> unmet;
  for (const auto& [id, line] : known) unmet.insert(id);
  int pairs = 0;
  int64_t elements = 0;
  for (const auto& [id, c] : cases) {
    if (c.kind != "expanded") continue;
    const auto twin = cases.find(oracle::TwinOf(id));
    ASSERT_NE(twin, cases.end()) << id;
    const auto line = known.find(id);
    unmet.erase(id);
    const auto apart = ApartOf(twin->second, c);
    EXPECT_EQ(Complaint(apart, line == known.end() ? nullptr : &line->second),
              "")
        << id << " "
        << (apart.ok() ? file::ToText(apart->relative) : std::string());
    if (apart.ok()) elements += apart->compared;
    ++pairs;
  }
  EXPECT_GE(pairs, 390);
  EXPECT_GE(elements, 30000);
  for (const std::string& id : unmet) ADD_FAILURE() << "no such case: " << id;
}

}  // namespace
}  // namespace assay::gradcheck
