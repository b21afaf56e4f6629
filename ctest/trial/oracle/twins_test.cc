// SPDX-License-Identifier: Apache-2.0

#include "ctest/trial/oracle/twins.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

#include "ctest/trial/oracle/oracle_module.h"
#include "framework/backend/exact.h"
#include "framework/file/csv.h"
#include "framework/file/file.h"
#include "framework/graph/model_text.h"
#include "framework/testing/case/corpus.h"
#include "framework/testing/measure/exact_answers.h"
#include "framework/testing/support/statuses_fixture.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::oracle {
namespace {

ExactValue Numbers(const std::vector<double>& value,
                   const std::vector<double>& tail = {0, 0}) {
  const Shape shape = {std::ssize(value)};
  return {*Tensor::Of<double>(shape, std::span(value)),
          *Tensor::Of<double>(shape, std::span(tail)),
          *Tensor::Allocate(DType::kFloat64, shape)};
}

ExactValue Integers(const std::vector<int64_t>& value) {
  return {*Tensor::Of<int64_t>({std::ssize(value)}, std::span(value)), {}, {}};
}

using Values = std::vector<ExactValue>;

// The first field names the defect under which the row would be another.
TEST(CompareTwins, MeasuresAgainstTheLargestMagnitudeOfAnOutput) {
  const struct {
    const char* mutant;
    Values a, b;
    double relative;
  } rows[] = {
      {"equal ones differ", Values{Numbers({1, 2})}, Values{Numbers({1, 2})},
       0},
      {"unit of the element", Values{Numbers({4, 1})}, Values{Numbers({4, 2})},
       0.25},
      {"unit of the first", Values{Numbers({1, 1})}, Values{Numbers({1, 8})},
       7.0 / 8},
      {"tails ignored", Values{Numbers({1, 1}, {0x1p-60, 0})},
       Values{Numbers({1, 1})}, 0x1p-60},
      {"NaN differs from NaN", Values{Numbers({kNan, 1})},
       Values{Numbers({kNan, 1})}, 0},
      {"NaN agrees with all", Values{Numbers({kNan, 1})},
       Values{Numbers({0, 1})}, kInf},
      {"infinity agrees with all", Values{Numbers({kInf, 1})},
       Values{Numbers({-kInf, 1})}, kInf},
      {"infinity is a magnitude", Values{Numbers({kInf, 1})},
       Values{Numbers({kInf, 2})}, 0.5},
      {"zeros divide", Values{Numbers({0, 0})}, Values{Numbers({0, 0})}, 0},
      {"the first output only", Values{Numbers({1, 1}), Integers({1})},
       Values{Numbers({1, 1}), Integers({2})}, kInf},
      {"counts ignored", Values{Integers({1})},
       Values{Integers({1}), Integers({1})}, kInf},
      {"shapes ignored", Values{Numbers({1, 1})}, Values{Numbers({1}, {0})},
       kInf},
  };
  for (const auto& row : rows) {
    const Twins twins = CompareTwins(row.a, row.b);
    EXPECT_EQ(twins.relative, row.relative) << row.mutant << twins.where;
    EXPECT_EQ(twins.where.empty(), row.relative == 0) << row.mutant;
  }
}

TEST(ParseKnownTwins, TakesACaseANumberAndAReason) {
  const struct {
    const char* text;
    bool ok;
    size_t count;
  } rows[] = {{"# none\n\n", true, 0},
              {"a 1e-8 a constant of float32\nb declined no kernel\n", true, 2},
              {"a 1e-8\n", false, 0},
              {"a much too much\n", false, 0},
              {"a 1e-13 not needed\n", false, 0},
              {"a nan never\n", false, 0},
              {"a 1e-8 x\na 1e-8 x\n", false, 0}};
  for (const auto& row : rows) {
    const auto known = ParseKnownTwins(row.text);
    EXPECT_EQ(known.ok(), row.ok) << row.text;
    EXPECT_EQ(known.ok() ? known->size() : 0, row.count) << row.text;
  }
  const auto known = *ParseKnownTwins("a 2e-8 two words\nb declined c\n");
  EXPECT_EQ(known.at("a").most, 2e-8);
  EXPECT_EQ(known.at("a").because, "two words");
  EXPECT_EQ(known.at("b").most, 0);
}

TEST(TwinOf, IsTheNameBeforeTheWord) {
  EXPECT_EQ(TwinOf("node/X/test_x_expanded"), "node/X/test_x");
  EXPECT_EQ(TwinOf("node/X/test_x_expanded_ver18"), "node/X/test_x");
  EXPECT_EQ(TwinOf("node/X/test_x"), "");
}

/// The oracle of the module that the build names.
Backend& Oracle() {
  static const auto oracle = OracleOf(ASSAY_REFERENCE_MODULE);
  return *oracle;
}

Result<std::vector<ExactValue>> Ask(const std::shared_ptr<const Model>& model,
                                    std::span<const Value> inputs,
                                    Precision precision) {
  LoadOptions options;
  options.exact = true;
  ASSAY_ASSIGN_OR_RETURN(auto network, Oracle().Load(model, options));
  if (network->exact() == nullptr) {
    return Unsupported(Reason::kNone, "no Exact is offered");
  }
  return EvaluateAt(*network->exact(), inputs, precision);
}

/// The first data set's answers; the corpus has one for each node case.
Result<std::vector<ExactValue>> Ask(const cases::TestCase& c) {
  ASSAY_ASSIGN_OR_RETURN(const cases::CaseData data,
                         cases::ReadCaseInputs(c.directory, 1));
  std::string dtypes;
  for (const std::string& dtype : c.dtypes) dtypes += dtype + " ";
  return Ask(data.model, data.sets[0].inputs, measure::OraclePrecision(dtypes));
}

/// The fault of a case beyond its known ones; empty: none.
std::string Complaint(const Result<std::vector<ExactValue>>& a,
                      const Result<std::vector<ExactValue>>& b,
                      const KnownTwins* known) {
  for (const auto* one : {&a, &b}) {
    if (one->ok()) continue;
    const bool declined = known != nullptr && known->most == 0 &&
                          one->status().code() == StatusCode::kUnsupported;
    return declined ? "" : one->status().ToString();
  }
  const Twins twins = CompareTwins(*a, *b);
  if (known == nullptr) {
    return twins.relative <= kTwinsAgree
               ? ""
               : StrCat(file::ToText(twins.relative), " apart, ", twins.where);
  }
  if (known->most == 0) return "its line says declined, and it is not";
  if (twins.relative <= kTwinsAgree) {
    return StrCat("its line is not needed any more: ",
                  file::ToText(twins.relative), " apart");
  }
  return twins.relative <= known->most
             ? ""
             : StrCat(file::ToText(twins.relative),
                      " apart, more than its line has");
}

TEST(TwinsTest, ComplaintsAreOfWhatIsNotKnownAndOfWhatIsKnownInVain) {
  const auto model = [](const char* factor) {
    return graph::ModelOfText(StrCat(
        "g (float[2] x) => (float[2] y) { c = Constant<value_float = ", factor,
        ">() y = Mul(x, c) }"));
  };
  const std::vector<float> x = {1, 3};
  const std::vector<Value> inputs = {*Tensor::Of<float>({2}, std::span(x))};
  const auto ask = [&](const char* factor) {
    return Ask(model(factor), inputs, Precision::kDouble);
  };
  const auto one = ask("0.70710677");
  ASSERT_TRUE(one.ok()) << one.status().ToString();
  const auto next = ask("0.7071068");  // the next float32
  const Result<std::vector<ExactValue>> declined =
      Unsupported(Reason::kOperator, "no kernel");
  const KnownTwins little{1e-9, "x"}, enough{1e-6, "x"}, none{0, "x"};
  const struct {
    const char* mutant;
    const Result<std::vector<ExactValue>>& a;
    const Result<std::vector<ExactValue>>& b;
    const KnownTwins* known;
    bool complains;
  } rows[] = {
      {"all complain", one, one, nullptr, false},
      {"a changed constant is not seen", one, next, nullptr, true},
      {"a line excuses any amount", one, next, &little, true},
      {"a line excuses nothing", one, next, &enough, false},
      {"a line may stay in vain", one, one, &enough, true},
      {"what is declined is left out", one, declined, nullptr, true},
      {"declining is never excused", declined, one, &none, false},
      {"a distance excuses declining", one, declined, &enough, true},
      {"declined may stay in vain", one, one, &none, true},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(!Complaint(row.a, row.b, row.known).empty(), row.complains)
        << row.mutant;
  }
}

TEST(TwinsTest, AnOperatorAndItsBodyHaveTheSameExactAnswers) {
  const auto corpus = Got(cases::ReadCorpus(std::string(ASSAY_CORPUS)));
  const auto text = Got(file::ReadFile(ASSAY_KNOWN_TWINS));
  const auto known = Got(ParseKnownTwins(text));
  std::map<std::string, const cases::TestCase*> cases;
  for (const cases::TestCase& c : corpus.cases) cases.emplace(c.test_id, &c);
  std::set<std::string> unmet;
  for (const auto& [id, line] : known) unmet.insert(id);
  int compared = 0;
  for (const auto& [id, c] : cases) {
    if (c->kind != "expanded") continue;
    const auto twin = cases.find(TwinOf(id));
    ASSERT_NE(twin, cases.end()) << id;
    const auto line = known.find(id);
    unmet.erase(id);
    const std::string complaint =
        Complaint(Ask(*twin->second), Ask(*c),
                  line == known.end() ? nullptr : &line->second);
    EXPECT_EQ(complaint, "") << id;
    ++compared;
  }
  EXPECT_GE(compared, 468);
  for (const std::string& id : unmet) ADD_FAILURE() << "no such case: " << id;
}

}  // namespace
}  // namespace assay::oracle
