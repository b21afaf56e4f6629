// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/suite/unjudged_suites.h"

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "framework/backend/exact.h"
#include "framework/file/file.h"
#include "framework/graph/model_text.h"
#include "framework/graph/value_bytes.h"
#include "framework/testing/measure/exact_answers.h"

namespace assay::suite {
namespace {

namespace fs = std::filesystem;

Status AnswerAll(const record::PlanRow& row, Backend& backend,
                 const record::RunFacts& facts, record::ResultRow* result) {
  ASSAY_ASSIGN_OR_RETURN(const Subject subject, SubjectOf(row, facts));
  const int64_t began = record::SteadyMicroseconds();
  LoadOptions options;
  options.exact = true;
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<Network> network,
                         backend.Load(subject.model, options));
  Exact* const exact = network == nullptr ? nullptr : network->exact();
  if (exact == nullptr) {
    return Unsupported(Reason::kNone, backend.name(),
                       " offers no exact evaluation of the model");
  }
  result->load_us = record::SteadyMicroseconds() - began;
  result->run_us = 0;
  // The first set comes last: where its file is, all are.
  for (size_t i = subject.inputs.size(); i-- > 0;) {
    const int64_t asked = record::SteadyMicroseconds();
    measure::ExactAnswers answers;
    ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<ExactRun> run,
                           exact->At(subject.inputs[i], subject.targets));
    for (const Question& question : QuestionsOf(row, facts)) {
      ASSAY_ASSIGN_OR_RETURN(answers[question.name],
                             question.ask(*run, subject));
    }
    *result->run_us += record::SteadyMicroseconds() - asked;
    ASSAY_RETURN_IF_ERROR(
        measure::WriteAnswers(measure::AnswersFile(row.oracle, i), answers));
  }
  return OkStatus();
}

measure::Judgement RunAnswers(const record::PlanRow& row, Backend& backend,
                              const record::RunFacts& facts,
                              record::Record* record) {
  const Status status = AnswerAll(row, backend, facts, &record->result);
  return {OutcomeOf(status), status.reason(), status.message()};
}

Status WriteOutputs(const measure::Observation& seen,
                    const fs::path& directory) {
  ASSAY_RETURN_IF_ERROR(file::MakeDirectory(directory));
  for (size_t i = 0; i < seen.outputs.size(); ++i) {
    const std::string name =
        i < seen.output_names.size() ? seen.output_names[i] : std::string();
    ASSAY_ASSIGN_OR_RETURN(const std::string bytes,
                           graph::SerializeValue(seen.outputs[i], name));
    ASSAY_RETURN_IF_ERROR(
        file::WriteFile(directory / StrCat("output_", i, ".pb"), bytes));
  }
  return OkStatus();
}

measure::Judgement RunOutputs(const record::PlanRow& row, Backend& backend,
                              const record::RunFacts& facts, record::Record*) {
  const Suite* const suite = SuiteOf(row);
  if (suite != nullptr && suite->evidence.write != nullptr) {
    const Status written =
        suite->evidence.write(row, backend, facts, facts.output / row.test_id);
    return {OutcomeOf(written), written.reason(), written.message()};
  }
  const Result<Subject> subject = SubjectOf(row, facts);
  if (!subject.ok()) {
    return {record::Outcome::kError, Reason::kReader,
            subject.status().message()};
  }
  const fs::path directory = facts.output / row.test_id;
  for (size_t i = 0; i < subject->inputs.size(); ++i) {
    const measure::Observation seen =
        measure::Run(backend, subject->model, subject->inputs[i], {});
    if (!seen.status.ok()) return measure::Judge(seen, {});
    const Status written =
        WriteOutputs(seen, directory / StrCat("test_data_set_", i));
    if (!written.ok()) {
      return {record::Outcome::kError, written.reason(), written.message()};
    }
  }
  return {record::Outcome::kPass, Reason::kNone, {}};
}

/// Models of operators that backends have: a backend needs one of them.
constexpr std::pair<const char*, const char*> kModels[] = {
    {"Relu", "g (float[2,2] x) => (float[2,2] y) { y = Relu(x) }"},
    {"Add", "g (float[2,2] x) => (float[2,2] y) { y = Add(x, x) }"},
    {"MatMul", "g (float[2,2] x) => (float[2,2] y) { y = MatMul(x, x) }"},
    {"Identity", "g (float[2,2] x) => (float[2,2] y) { y = Identity(x) }"},
    {"Sigmoid", "g (float[2,2] x) => (float[2,2] y) { y = Sigmoid(x) }"},
    {"Conv", "g (float[1,1,2,2] x) => (float[1,1,1,1] y) { y = Conv(x, x) }"},
};

/// With what it was loaded for: gradients, and exact answers, are prepared at
/// Load, and a backend may decline them.
std::vector<std::string> OfferedBy(Backend& backend,
                                   const std::shared_ptr<const Model>& model,
                                   const LoadOptions& plain, Network& network) {
  std::vector<std::string> offered;
  LoadOptions gradients = plain;
  gradients.gradient_targets = {"x"};
  if (const auto loaded = backend.Load(model, gradients);
      loaded.ok() && *loaded != nullptr && (*loaded)->differentiable()) {
    offered.emplace_back("differentiable");
  }
  if (network.parameters() != nullptr) offered.emplace_back("parameters");
  if (network.native_step() != nullptr) offered.emplace_back("native step");
  if (network.draws() != nullptr) offered.emplace_back("draws");
  if (network.placement() != nullptr) offered.emplace_back("placement");
  LoadOptions exact = plain;
  exact.exact = true;
  if (const auto loaded = backend.Load(model, exact);
      loaded.ok() && *loaded != nullptr && (*loaded)->exact()) {
    offered.emplace_back("exact");
  }
  return offered;
}

measure::Judgement RunInterfaces(const record::PlanRow& /*row*/,
                                 Backend& backend,
                                 const record::RunFacts& facts,
                                 record::Record* /*record*/) {
  LoadOptions options;
  options.settings = facts.settings;
  Status declined;
  for (const auto& [op, text] : kModels) {
    const auto model = graph::ModelOfText(text);
    const auto network = backend.Load(model, options);
    if (network.ok() && *network != nullptr) {
      const auto offered = OfferedBy(backend, model, options, **network);
      return {record::Outcome::kPass, Reason::kNone,
              StrCat(offered.empty() ? "none" : Joined(offered), "; by ", op)};
    }
    declined = network.ok() ? Internal("Load gave no network and no error")
                            : network.status();
    if (declined.code() != StatusCode::kUnsupported) break;
  }
  return {OutcomeOf(declined), declined.reason(), declined.message()};
}

}  // namespace

Suite AnswersSuite() {
  return {.name = kAnswersSuite, .run = &RunAnswers, .keeps_memory = false};
}

Suite OutputsSuite() { return {.name = kOutputsSuite, .run = &RunOutputs}; }

Suite InterfacesSuite() {
  return {.name = kInterfacesSuite, .run = &RunInterfaces};
}

}  // namespace assay::suite
