// SPDX-License-Identifier: Apache-2.0

#include <utility>

#include "framework/cli/commands.h"
#include "framework/cli/train/trainer_program.h"
#include "framework/testing/plan/resolve.h"

namespace assay::train {
namespace {

/// Fills in all that commands about two runs in step have in common.
Status FillPair(const cli::OptDiffOptions& options,
                program::PairRequest* request) {
  ASSAY_ASSIGN_OR_RETURN(TrainerRun a, TrainerRunOf(options.a));
  ASSAY_ASSIGN_OR_RETURN(TrainerRun b, TrainerRunOf(options.b));
  ASSAY_ASSIGN_OR_RETURN(const plan::PlannedBackend oracle,
                         plan::ResolveBackend(options.oracle));
  *request = {std::move(a.spec),   std::move(b.spec), std::move(a.module),
              std::move(b.module), oracle.name,       oracle.module.string(),
              options.model,       options.dataset,   options.steps,
              options.batch,       options.seed};
  return OkStatus();
}

Result<int> OptDiff(const cli::OptDiffOptions& options) {
  program::OptDiffRequest request;
  ASSAY_RETURN_IF_ERROR(FillPair(options, &request));
  request.table = options.table;
  return RunTrainer(std::move(request));
}

Result<int> FindCause(const cli::BisectOptions& options) {
  program::BisectRequest request;
  ASSAY_RETURN_IF_ERROR(FillPair(options, &request));
  request.weights_seed_b = options.weights_seed_b;
  request.order_seed_b = options.order_seed_b;
  return RunTrainer(std::move(request));
}

Result<int> Converge(const cli::ConvergeOptions& options) {
  program::ConvergeRequest request;
  ASSAY_ASSIGN_OR_RETURN(TrainerRun a, TrainerRunOf(options.a));
  request.a = std::move(a.spec);
  request.a_module = std::move(a.module);
  if (!options.b.empty()) {
    ASSAY_ASSIGN_OR_RETURN(TrainerRun b, TrainerRunOf(options.b));
    request.b = std::move(b.spec);
    request.b_module = std::move(b.module);
  }
  request.against = options.against;
  request.table = options.table;
  request.model = options.model;
  request.dataset = options.dataset;
  request.accuracy = options.accuracy;
  request.batch = options.batch;
  request.every = options.every;
  request.most_epochs = options.most_epochs;
  request.seeds = options.seeds;
  return RunTrainer(std::move(request));
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
