// SPDX-License-Identifier: Apache-2.0

#include "perf/times/sources.h"

#include <array>
#include <functional>
#include <map>
#include <utility>

#include "conformance/distributed/case.h"
#include "conformance/distributed/own/own_case.h"
#include "conformance/optimizer/case.h"
#include "framework/core/text.h"
#include "gradcheck/answer/questions.h"
#include "gradcheck/draw/draw.h"

namespace assay::times {
namespace {

using distributed::CollectiveCase;
using ranks::Operation;

bool IsTimed(const optimizer::StepCase& c) {
  return c.tier == optimizer::Tier::kRule &&
         c.mode == optimizer::Mode::kLocked && c.type == DType::kFloat32 &&
         (c.network == "mlp" || c.network == "cnn");
}

constexpr std::array kOfTimes = {
    Operation::kBroadcast, Operation::kReduce,        Operation::kAllReduce,
    Operation::kAllGather, Operation::kReduceScatter, Operation::kAllToAll};
constexpr int64_t kCounts[] = {62, 1022, 65'538};  // of floats
constexpr int kRanks[] = {2, 4};

/// As RunOwn calls them: in place where the operation can be.
std::vector<distributed::OwnCase> MakeAll() {
  using distributed::Way;
  std::vector<distributed::OwnCase> all;
  for (const Operation operation : kOfTimes) {
    const bool is_apart = operation == Operation::kAllToAll;
    for (const int ranks : kRanks) {
      for (const int64_t count : kCounts) {
        all.push_back({{.what = {operation, {}, ranks, count, 0}},
                       is_apart ? Way::kOwn : Way::kInPlace});
      }
    }
  }
  return all;
}

/// By their names in the suite distributed.
const std::map<std::string, CollectiveCase, std::less<>>& AllTimed() {
  static const auto& all = *[] {
    auto* const made = new std::map<std::string, CollectiveCase, std::less<>>;
    for (const auto& own : MakeAll()) made->emplace(own.test_id(), own.of);
    return made;
  }();
  return all;
}

}  // namespace

std::vector<cases::TestCase> TimedGradients(
    std::span<const cases::Corpus> corpora) {
  auto all = gradcheck::GradientCases(corpora);
  const std::string end = gradcheck::Suffix(kTimedVariant);
  std::erase_if(all, [&](const cases::TestCase& c) {
    return c.kind == "expanded" || !c.test_id.ends_with(end);
  });
  return all;
}

std::optional<std::string> GradientIdOf(std::string_view test_id) {
  if (!gradcheck::VariantOf(test_id).has_value()) return std::nullopt;
  return StrCat("gradcheck", test_id.substr(test_id.find('/')));
}

std::optional<gradcheck::GradientCase> GradientCaseOf(
    const record::PlanRow& row, const record::RunFacts& facts) {
  auto c = gradcheck::CaseOf(row, facts);
  if (!c.ok()) return std::nullopt;
  c->row.test_id = *GradientIdOf(row.test_id);
  return *std::move(c);
}

std::vector<suite::Question> GradientQuestions(
    const gradcheck::GradientCase& c) {
  auto questions = gradcheck::QuestionsOf(c);
  std::erase_if(questions, [](const suite::Question& question) {
    return !Asks(question, "outputs") &&
           !Asks(question, gradcheck::ToString(gradcheck::Cotangent::kFirst)) &&
           !Asks(question, gradcheck::ToString(gradcheck::Cotangent::kSecond));
  });
  return questions;
}

bool Asks(const suite::Question& question, std::string_view what) {
  return question.name.ends_with(StrCat(": ", what));
}

std::vector<cases::TestCase> TimedSteps() {
  auto all = optimizer::PlannedCases({});
  std::erase_if(all, [](const cases::TestCase& c) {
    record::PlanRow row;
    row.test_id = c.test_id;
    return !IsTimed(optimizer::CaseOf(row, {}).value());
  });
  return all;
}

std::optional<std::string> StepIdOf(std::string_view test_id) {
  record::PlanRow row;
  row.test_id = StrCat("optimizer", test_id.substr(test_id.find('/')));
  if (!optimizer::CaseOf(row, {}).ok()) return std::nullopt;
  return row.test_id;
}

std::vector<cases::TestCase> TimedCollectives() {
  const suite::Sizing sizing = distributed::CaseSizing();
  std::vector<cases::TestCase> all;
  for (const auto& [id, c] : AllTimed()) {
    if (auto named = sizing.named(id)) {
      all.push_back(std::move(named->test_case));
    }
  }
  return all;
}

std::optional<std::string> CollectiveIdOf(std::string_view test_id) {
  std::string id = StrCat("distributed", test_id.substr(test_id.find('/')));
  if (!AllTimed().contains(id)) return std::nullopt;
  return id;
}

const CollectiveCase& CollectiveNamed(const std::string& id) {
  return AllTimed().at(id);
}

}  // namespace assay::times
