// SPDX-License-Identifier: Apache-2.0

#include "framework/train/program/pair.h"

#include <algorithm>
#include <iostream>
#include <memory>
#include <utility>

#include "framework/backend/registry.h"
#include "framework/file/module_path.h"
#include "framework/testing/draw/draw.h"
#include "framework/testing/host/wire/arena.h"
#include "framework/testing/record/record.h"
#include "framework/train/bisect/bisect.h"
#include "framework/train/bisect/duel.h"
#include "framework/train/bisect/run_spec.h"
#include "framework/train/bisect/tell.h"
#include "framework/train/format/datasets.h"
#include "framework/train/model/model_file.h"
#include "framework/train/optdiff/judge_network.h"
#include "framework/train/program/hosted.h"

namespace assay::program {
namespace {

/// Two runs and their judge, ready to begin.
struct Ready {
  bisect::RunSpec a, b;
  std::unique_ptr<Backend> oracle;
  std::unique_ptr<Hosted> host_a, host_b;
  std::unique_ptr<train::Split> dataset;
};

Result<Ready> GetReady(const PairOptions& options) {
  Ready ready;
  ASSAY_ASSIGN_OR_RETURN(ready.a, bisect::ParseRunSpec(options.a));
  ASSAY_ASSIGN_OR_RETURN(ready.b, bisect::ParseRunSpec(options.b));
  wire::Arena::Open();
  ASSAY_RETURN_IF_ERROR(LoadBackendModule(options.oracle_module).status());
  ASSAY_ASSIGN_OR_RETURN(ready.oracle, MakeBackend(options.oracle));
  ASSAY_ASSIGN_OR_RETURN(ready.host_a,
                         Hosted::Start(ready.a.backend, options.a_module));
  ASSAY_ASSIGN_OR_RETURN(ready.host_b,
                         Hosted::Start(ready.b.backend, options.b_module));
  ASSAY_ASSIGN_OR_RETURN(
      train::Split dataset,
      train::MakeDataset(options.dataset,
                         {file::DatasetDirectory(), options.seed}));
  ready.dataset = std::make_unique<train::Split>(std::move(dataset));
  return ready;
}

Result<optdiff::Course> CourseOf(const PairOptions& options, const Ready& ready,
                                 uint64_t weights_seed, uint64_t order_seed) {
  bisect::ModelChoice choice = options.choice;
  choice.dataset = &ready.dataset->train;
  choice.weights_seed = weights_seed;
  choice.order_seed = order_seed;
  return bisect::ModelCourse(choice);
}

std::string RepeatOf(const PairOptions& options, int64_t step) {
  std::string text =
      StrCat("assay bisect '", options.a, "' '", options.b, "' --model ",
             options.choice.model, " --dataset ", options.dataset, " --batch ",
             options.choice.batch, " --seed ", options.seed, " --steps ",
             std::max<int64_t>(1, step));
  if (options.weights_seed_b.has_value()) {
    text += StrCat(" --weights-seed-b ", *options.weights_seed_b);
  }
  if (options.order_seed_b.has_value()) {
    text += StrCat(" --order-seed-b ", *options.order_seed_b);
  }
  return text;
}

}  // namespace

Result<int> OptDiff(const PairOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const Ready ready, GetReady(options));
  ASSAY_ASSIGN_OR_RETURN(const optdiff::Course course,
                         CourseOf(options, ready, options.seed, options.seed));
  ASSAY_ASSIGN_OR_RETURN(auto wide, optdiff::Load(course.wide, *ready.oracle));
  const optdiff::JudgeOf judge{
      *ready.oracle, std::make_shared<optdiff::JudgeNetwork>(std::move(wide))};
  ASSAY_ASSIGN_OR_RETURN(auto setup_a, quad::SetupOf(ready.a.optimizer, {}));
  ASSAY_ASSIGN_OR_RETURN(auto setup_b, quad::SetupOf(ready.b.optimizer, {}));
  ASSAY_ASSIGN_OR_RETURN(
      const auto duel,
      bisect::Duel::Begin(
          course,
          {options.a, ready.host_a->backend(), ready.a.optimizer,
           std::move(setup_a)},
          {options.b, ready.host_b->backend(), ready.b.optimizer,
           std::move(setup_b)},
          judge,
          draw::Draw("optdiff", static_cast<int64_t>(options.seed),
                     "roundings")));
  record::Record record;
  record.result.test_id = StrCat("optimizer/", ready.a.optimizer.optimizer, "/",
                                 course.name, "#optdiff");
  record.result.backend = options.a;
  bisect::Told told;
  Status stepped;
  for (int64_t step = 1; step <= course.steps && stepped.ok(); ++step) {
    stepped = duel->Step(step, options.table.empty() ? nullptr : &record);
    if (stepped.ok()) told.Step(step, course.steps, *duel);
  }
  // The table is written even where the run ended early.
  ASSAY_RETURN_IF_ERROR(bisect::WriteTable(options.table, record));
  ASSAY_RETURN_IF_ERROR(stepped);
  return told.End(*duel) ? 0 : 1;
}

Result<int> FindCause(const PairOptions& options) {
  if (options.weights_seed_b.has_value() &&
      train::IsModelFile(options.choice.model)) {
    return InvalidArgument("found --weights-seed-b with ", options.choice.model,
                           ", wanted a model by name: a file has weights of "
                           "its own");
  }
  ASSAY_ASSIGN_OR_RETURN(const Ready ready, GetReady(options));
  ASSAY_ASSIGN_OR_RETURN(const optdiff::Course course_a,
                         CourseOf(options, ready, options.seed, options.seed));
  ASSAY_ASSIGN_OR_RETURN(
      const optdiff::Course course_b,
      CourseOf(options, ready, options.weights_seed_b.value_or(options.seed),
               options.order_seed_b.value_or(options.seed)));
  ASSAY_ASSIGN_OR_RETURN(auto setup_a, quad::SetupOf(ready.a.optimizer, {}));
  ASSAY_ASSIGN_OR_RETURN(auto setup_b, quad::SetupOf(ready.b.optimizer, {}));
  ASSAY_ASSIGN_OR_RETURN(
      const bisect::Finding found,
      bisect::Bisect({ready.host_a->backend(), course_a, std::move(setup_a)},
                     {ready.host_b->backend(), course_b, std::move(setup_b)},
                     {*ready.oracle, options.choice.steps, options.seed}));
  if (found.cause == bisect::Cause::kNone) {
    std::cout << found.sentence << std::endl;
    return 0;
  }
  std::cout << "cause: " << bisect::ToString(found.cause) << "\n"
            << found.sentence << "\n"
            << "repeat: " << RepeatOf(options, found.step) << std::endl;
  return 1;
}

}  // namespace assay::program
