// SPDX-License-Identifier: Apache-2.0

#include "framework/train/program/pair.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "framework/backend/registry.h"
#include "framework/file/module_path.h"
#include "framework/testing/draw/draw.h"
#include "framework/testing/host/wire/arena.h"
#include "framework/testing/record/record.h"
#include "framework/train/bisect/bisect.h"
#include "framework/train/bisect/duel.h"
#include "framework/train/bisect/model_course.h"
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

Result<Ready> GetReady(const PairRequest& request) {
  Ready ready;
  ASSAY_ASSIGN_OR_RETURN(ready.a, bisect::ParseRunSpec(request.a));
  ASSAY_ASSIGN_OR_RETURN(ready.b, bisect::ParseRunSpec(request.b));
  wire::Arena::Open();
  ASSAY_RETURN_IF_ERROR(LoadBackendModule(request.oracle_module).status());
  ASSAY_ASSIGN_OR_RETURN(ready.oracle, MakeBackend(request.oracle));
  ASSAY_ASSIGN_OR_RETURN(ready.host_a,
                         Hosted::Start(ready.a.backend, request.a_module));
  ASSAY_ASSIGN_OR_RETURN(ready.host_b,
                         Hosted::Start(ready.b.backend, request.b_module));
  ASSAY_ASSIGN_OR_RETURN(
      train::Split dataset,
      train::MakeDataset(
          request.dataset,
          {file::DatasetDirectory(), static_cast<uint64_t>(request.seed)}));
  ready.dataset = std::make_unique<train::Split>(std::move(dataset));
  return ready;
}

Result<optdiff::Course> CourseOf(const PairRequest& request, const Ready& ready,
                                 int64_t weights_seed, int64_t order_seed) {
  return bisect::ModelCourse(
      {request.model, &ready.dataset->train, request.batch, request.steps,
       static_cast<uint64_t>(weights_seed), static_cast<uint64_t>(order_seed)});
}

std::string RepeatOf(const BisectRequest& request, int64_t step) {
  std::string text = StrCat(
      "assay bisect '", request.a, "' '", request.b, "' --model ",
      request.model, " --dataset ", request.dataset, " --batch ", request.batch,
      " --seed ", request.seed, " --steps ", std::max<int64_t>(1, step));
  if (request.weights_seed_b.has_value()) {
    text += StrCat(" --weights-seed-b ", *request.weights_seed_b);
  }
  if (request.order_seed_b.has_value()) {
    text += StrCat(" --order-seed-b ", *request.order_seed_b);
  }
  return text;
}

}  // namespace

Result<int> OptDiff(const OptDiffRequest& request, std::ostream& out) {
  ASSAY_ASSIGN_OR_RETURN(const Ready ready, GetReady(request));
  ASSAY_ASSIGN_OR_RETURN(const optdiff::Course course,
                         CourseOf(request, ready, request.seed, request.seed));
  ASSAY_ASSIGN_OR_RETURN(auto wide, optdiff::Load(course.wide, *ready.oracle));
  const optdiff::JudgeOf judge{
      *ready.oracle, std::make_shared<optdiff::JudgeNetwork>(std::move(wide))};
  ASSAY_ASSIGN_OR_RETURN(auto setup_a, quad::SetupOf(ready.a.optimizer, {}));
  ASSAY_ASSIGN_OR_RETURN(auto setup_b, quad::SetupOf(ready.b.optimizer, {}));
  ASSAY_ASSIGN_OR_RETURN(
      const auto duel,
      bisect::Duel::Begin(course,
                          {request.a, ready.host_a->backend(),
                           ready.a.optimizer, std::move(setup_a)},
                          {request.b, ready.host_b->backend(),
                           ready.b.optimizer, std::move(setup_b)},
                          judge,
                          draw::Draw("optdiff", request.seed, "roundings")));
  record::Record record;
  record.result.test_id = StrCat("optimizer/", ready.a.optimizer.optimizer, "/",
                                 course.name, "#optdiff");
  record.result.backend = request.a;
  Status stepped;
  for (int64_t step = 1; step <= course.steps && stepped.ok(); ++step) {
    stepped = duel->Step(step, request.table.empty() ? nullptr : &record);
    if (stepped.ok()) {
      out << bisect::StepText(step, course.steps, *duel) << std::flush;
    }
  }
  // The table is written even where the run ended early.
  ASSAY_RETURN_IF_ERROR(bisect::WriteTable(request.table, record));
  ASSAY_RETURN_IF_ERROR(stepped);
  out << bisect::EndText(course.steps, *duel);
  return bisect::IsSame(*duel) ? 0 : 1;
}

Result<int> FindCause(const BisectRequest& request, std::ostream& out) {
  if (request.weights_seed_b.has_value() && train::IsModelFile(request.model)) {
    return InvalidArgument("found --weights-seed-b with ", request.model,
                           ", wanted a model by name: a file has weights of "
                           "its own");
  }
  ASSAY_ASSIGN_OR_RETURN(const Ready ready, GetReady(request));
  ASSAY_ASSIGN_OR_RETURN(const optdiff::Course course_a,
                         CourseOf(request, ready, request.seed, request.seed));
  ASSAY_ASSIGN_OR_RETURN(
      const optdiff::Course course_b,
      CourseOf(request, ready, request.weights_seed_b.value_or(request.seed),
               request.order_seed_b.value_or(request.seed)));
  ASSAY_ASSIGN_OR_RETURN(auto setup_a, quad::SetupOf(ready.a.optimizer, {}));
  ASSAY_ASSIGN_OR_RETURN(auto setup_b, quad::SetupOf(ready.b.optimizer, {}));
  ASSAY_ASSIGN_OR_RETURN(
      const bisect::Finding found,
      bisect::Bisect(
          {ready.host_a->backend(), course_a, std::move(setup_a)},
          {ready.host_b->backend(), course_b, std::move(setup_b)},
          {*ready.oracle, request.steps, static_cast<uint64_t>(request.seed)}));
  if (found.cause == bisect::Cause::kNone) {
    out << found.sentence << std::endl;
    return 0;
  }
  out << "cause: " << bisect::ToString(found.cause) << "\n"
      << found.sentence << "\n"
      << "repeat: " << RepeatOf(request, found.step) << std::endl;
  return 1;
}

}  // namespace assay::program
