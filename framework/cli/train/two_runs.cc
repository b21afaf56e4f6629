// SPDX-License-Identifier: Apache-2.0

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/cli/commands.h"
#include "framework/cli/train/trainer_program.h"
#include "framework/core/text.h"
#include "framework/file/csv.h"
#include "framework/testing/plan/resolve.h"

namespace assay::train {
namespace {

/// The words of a command of the trainer about two runs.
Result<std::vector<std::string>> ArgumentsFor(
    const char* command, const cli::OptDiffOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const TrainerRun a, TrainerRunOf(options.a));
  ASSAY_ASSIGN_OR_RETURN(const TrainerRun b, TrainerRunOf(options.b));
  ASSAY_ASSIGN_OR_RETURN(const plan::PlannedBackend oracle,
                         plan::ResolveBackend(options.oracle));
  return std::vector<std::string>{command,
                                  "--a",
                                  a.spec,
                                  "--a-module",
                                  a.module,
                                  "--b",
                                  b.spec,
                                  "--b-module",
                                  b.module,
                                  "--oracle",
                                  oracle.name,
                                  "--oracle-module",
                                  oracle.module.string(),
                                  "--model",
                                  options.model,
                                  "--dataset",
                                  options.dataset,
                                  "--steps",
                                  std::to_string(options.steps),
                                  "--batch",
                                  std::to_string(options.batch),
                                  "--seed",
                                  std::to_string(options.seed)};
}

Result<int> OptDiff(const cli::OptDiffOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(auto arguments, ArgumentsFor("optdiff", options));
  if (!options.table.empty()) {
    arguments.insert(arguments.end(), {"--table", options.table.string()});
  }
  return RunTrainer(std::move(arguments));
}

Result<int> FindCause(const cli::BisectOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(auto arguments, ArgumentsFor("bisect", options));
  const auto add = [&](const char* name, const std::optional<int64_t>& seed) {
    if (!seed.has_value()) return;
    arguments.insert(arguments.end(), {name, std::to_string(*seed)});
  };
  add("--weights-seed-b", options.weights_seed_b);
  add("--order-seed-b", options.order_seed_b);
  return RunTrainer(std::move(arguments));
}

Result<int> Converge(const cli::ConvergeOptions& options) {
  std::vector<std::string> arguments = {"converge",
                                        "--model",
                                        options.model,
                                        "--dataset",
                                        options.dataset,
                                        "--batch",
                                        std::to_string(options.batch),
                                        "--every",
                                        std::to_string(options.every),
                                        "--epochs",
                                        std::to_string(options.most_epochs),
                                        "--seeds",
                                        std::to_string(options.seeds),
                                        "--accuracy",
                                        file::ToText(options.accuracy)};
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) arguments.insert(arguments.end(), {name, value});
  };
  ASSAY_ASSIGN_OR_RETURN(const TrainerRun a, TrainerRunOf(options.a));
  add("--a", a.spec);
  add("--a-module", a.module);
  if (!options.b.empty()) {
    ASSAY_ASSIGN_OR_RETURN(const TrainerRun b, TrainerRunOf(options.b));
    add("--b", b.spec);
    add("--b-module", b.module);
  }
  add("--against", options.against.string());
  add("--table", options.table.string());
  return RunTrainer(std::move(arguments));
}

}  // namespace

int OptDiffCommand(const cli::OptDiffOptions& options) {
  const Result<int> code = OptDiff(options);
  return code.ok() ? *code : select::Fail(code.status());
}

int BisectCommand(const cli::BisectOptions& options) {
  const Result<int> code = FindCause(options);
  return code.ok() ? *code : select::Fail(code.status());
}

int ConvergeCommand(const cli::ConvergeOptions& options) {
  const Result<int> code = Converge(options);
  return code.ok() ? *code : select::Fail(code.status());
}

}  // namespace assay::train
