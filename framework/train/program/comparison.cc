// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/backend/registry.h"
#include "framework/core/text.h"
#include "framework/file/csv.h"
#include "framework/file/file.h"
#include "framework/file/module_path.h"
#include "framework/testing/draw/draw.h"
#include "framework/testing/host/wire/arena.h"
#include "framework/testing/record/record.h"
#include "framework/testing/worker/hosted.h"
#include "framework/train/bisect/bisect.h"
#include "framework/train/bisect/duel.h"
#include "framework/train/bisect/run_spec.h"
#include "framework/train/converge/compare.h"
#include "framework/train/format/datasets.h"
#include "framework/train/model/model_file.h"
#include "framework/train/optdiff/beside_judge.h"
#include "framework/train/optdiff/locked_run.h"
#include "framework/train/optdiff/step_rows.h"
#include "framework/train/program/commands.h"

namespace assay::program {
namespace {

std::string FaultText(const char* run,
                      const std::optional<bisect::FirstFault>& fault,
                      const optdiff::Undecided& undecided) {
  if (fault.has_value()) {
    return StrCat("run ", run, ": wrong at step ", fault->step, ": ",
                  fault->fault.what, "\n");
  }
  if (undecided.empty()) {
    return StrCat("run ", run, ": right at every step\n");
  }
  return StrCat("run ", run, ": undecided: ", optdiff::UndecidedText(undecided),
                "; right otherwise\n");
}

/// The losses, at the first steps and at each tenth of the run; empty at
/// others.
std::string StepText(int64_t step, int64_t steps, const bisect::Duel& duel) {
  const int64_t every = std::max<int64_t>(1, steps / 10);
  if (step > 3 && step % every != 0) return {};
  return StrCat("step ", step, ": loss a ", file::ToText(duel.a_loss()), ", b ",
                file::ToText(duel.b_loss()), "\n");
}

std::string EndText(int64_t steps, const bisect::Duel& duel) {
  const std::string faults =
      FaultText("a", duel.a_fault(), duel.a_undecided()) +
      FaultText("b", duel.b_fault(), duel.b_undecided());
  const auto& first = duel.difference();
  if (!first.has_value()) {
    return StrCat(faults, "in ", steps,
                  " steps they differ by what roundings explain\n");
  }
  return StrCat(faults, "they differ first at step ", first->step, ", in ",
                first->tensor, ": by ", file::ToText(first->l2),
                ", where roundings explain ", file::ToText(first->limit), "\n");
}

bool IsSame(const bisect::Duel& duel) {
  return !duel.difference().has_value() && !duel.a_fault().has_value() &&
         !duel.b_fault().has_value();
}

/// Writes the rows of optimizer_steps.csv; writes nothing for an empty name.
Status WriteTable(const std::filesystem::path& file,
                  const record::Record& record) {
  if (file.empty()) return OkStatus();
  return file::WriteFile(
      file, record::ToCsv(record::TableOf<optdiff::StepRow>(), {record}));
}

struct Ready {
  bisect::RunSpec a, b;
  std::unique_ptr<Backend> oracle;
  std::unique_ptr<worker::Hosted> host_a, host_b;
  std::unique_ptr<train::Split> dataset;
};

Result<Ready> GetReady(const PairRequest& request) {
  Ready ready;
  ASSAY_ASSIGN_OR_RETURN(ready.a, bisect::ParseRunSpec(request.a));
  ASSAY_ASSIGN_OR_RETURN(ready.b, bisect::ParseRunSpec(request.b));
  wire::Arena::Open();
  ASSAY_RETURN_IF_ERROR(LoadBackendModule(request.oracle_module).status());
  ASSAY_ASSIGN_OR_RETURN(ready.oracle, MakeBackend(request.oracle));
  ASSAY_ASSIGN_OR_RETURN(
      ready.host_a, worker::Hosted::Start(ready.a.backend, request.a_module));
  ASSAY_ASSIGN_OR_RETURN(
      ready.host_b, worker::Hosted::Start(ready.b.backend, request.b_module));
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

using converge::SeededRuns;

std::string Fixed(double number, int digits) {
  std::array<char, 32> text = {};
  std::snprintf(text.data(), text.size(), "%.*f", digits, number);
  return text.data();
}

converge::Goal GoalOf(const ConvergeRequest& request) {
  return {request.model, request.accuracy, request.batch, request.every,
          request.most_epochs};
}

Result<SeededRuns> Train(const ConvergeRequest& request, const std::string& run,
                         const std::string& module, const train::Split& data,
                         std::ostream& out) {
  ASSAY_ASSIGN_OR_RETURN(const bisect::RunSpec spec, bisect::ParseRunSpec(run));
  ASSAY_ASSIGN_OR_RETURN(const auto host,
                         worker::Hosted::Start(spec.backend, module));
  SeededRuns runs{run, request.dataset, GoalOf(request), {}};
  const auto& [optimizer, preset, settings] = spec.optimizer;
  for (int64_t seed = 0; seed < request.seeds; ++seed) {
    ASSAY_ASSIGN_OR_RETURN(
        const converge::Reached reached,
        converge::SamplesTo(GoalOf(request), data, host->backend(),
                            {optimizer, preset, settings},
                            static_cast<uint64_t>(seed)));
    runs.seeds.push_back(reached);
    out << run << ", seed " << seed << ": "
        << (reached.is_reached ? "" : "not reached: ") << reached.samples
        << " samples, accuracy " << Fixed(reached.accuracy, 4) << std::endl;
  }
  return runs;
}

std::string TextOf(const SeededRuns& runs) {
  std::vector<double> samples = runs.Samples();
  std::string text =
      StrCat(runs.run, ": ", samples.size(), " of ", runs.seeds.size(),
             " seeds come to ", runs.goal.accuracy);
  if (!samples.empty()) {
    std::ranges::sort(samples);
    text += StrCat(", with ", samples[samples.size() / 2],
                   " samples in the middle, ", samples.front(), " to ",
                   samples.back());
  }
  return text + "\n";
}

bool IsWhole(const SeededRuns& runs) {
  return runs.Samples().size() == runs.seeds.size();
}

/// Says what the numbers of b show beside those of a.
std::string TextOf(const SeededRuns& a, const SeededRuns& b,
                   const converge::Comparison& found) {
  return StrCat(
      b.run, " takes ", Fixed(found.ratio, 3), " times the samples of ", a.run,
      " (", Fixed(found.low, 3), " to ", Fixed(found.high, 3), " at 95 %, p ",
      Fixed(found.p, 3),
      found.is_apart() ? "): they are apart\n" : "): they are not told apart\n",
      "so many seeds show a ratio of ", Fixed(found.least, 2), ", or of ",
      Fixed(1 / found.least, 2), ", four times in five\n");
}

Result<int> Hold(const SeededRuns& a, const SeededRuns& b, std::ostream& out) {
  if (!IsWhole(a) || !IsWhole(b)) {
    out << "a seed that does not learn cannot be compared\n";
    return 1;
  }
  ASSAY_ASSIGN_OR_RETURN(const converge::Comparison found,
                         converge::Compare(a.Samples(), b.Samples()));
  out << TextOf(a, b, found);
  return found.is_apart() ? 1 : 0;
}

Status Check(const ConvergeRequest& request) {
  const auto least = static_cast<int64_t>(converge::kLeastSeeds);
  const auto most = static_cast<int64_t>(converge::kMostSeeds);
  if (request.seeds >= least && request.seeds <= most) return OkStatus();
  return InvalidArgument("found ", request.seeds, " seeds, wanted ", least,
                         " to ", most);
}

}  // namespace

Result<int> OptDiff(const OptDiffRequest& request, std::ostream& out) {
  ASSAY_ASSIGN_OR_RETURN(const Ready ready, GetReady(request));
  ASSAY_ASSIGN_OR_RETURN(const optdiff::Course course,
                         CourseOf(request, ready, request.seed, request.seed));
  ASSAY_ASSIGN_OR_RETURN(const optdiff::JudgeOf judge,
                         optdiff::JudgeFor(course, *ready.oracle));
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
      out << StepText(step, course.steps, *duel) << std::flush;
    }
  }
  // The table is written even where the run ended early.
  ASSAY_RETURN_IF_ERROR(WriteTable(request.table, record));
  ASSAY_RETURN_IF_ERROR(stepped);
  out << EndText(course.steps, *duel);
  return IsSame(*duel) ? 0 : 1;
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

Result<int> Converge(const ConvergeRequest& request, std::ostream& out) {
  ASSAY_RETURN_IF_ERROR(Check(request));
  std::vector<SeededRuns> all;
  if (!request.against.empty()) {
    ASSAY_ASSIGN_OR_RETURN(all, converge::ReadRunTable(request.against));
    all.resize(1);
    const SeededRuns wanted{request.a, request.dataset, GoalOf(request), {}};
    ASSAY_RETURN_IF_ERROR(converge::CheckComparable(all[0], wanted));
  }
  wire::Arena::Open();
  ASSAY_ASSIGN_OR_RETURN(
      const train::Split data,
      train::MakeDataset(request.dataset,
                         {file::DatasetDirectory(), /*seed=*/0}));
  for (const auto& [run, module] : {std::pair(request.a, request.a_module),
                                    {request.b, request.b_module}}) {
    if (run.empty()) continue;
    ASSAY_ASSIGN_OR_RETURN(all.emplace_back(),
                           Train(request, run, module, data, out));
  }
  if (!request.table.empty()) {
    ASSAY_RETURN_IF_ERROR(converge::WriteRunTable(request.table, all));
  }
  for (const SeededRuns& runs : all) out << TextOf(runs);
  if (all.size() == 1) return IsWhole(all[0]) ? 0 : 1;
  return Hold(all[0], all.back(), out);
}

}  // namespace assay::program
