// SPDX-License-Identifier: Apache-2.0
//
// assay-trainer: training runs of backends in hosts, which the program assay starts;
// a person may run it alone:
//
//   assay-trainer optdiff --a reference --a-module lib/assay/reference.so ...
//
// Exit codes: 0 where the two do the same, 1 where they differ or one is wrong, 2 for
// wrong usage, 77 where one cannot be used, 99 where it could not go on.

#include <sys/prctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "conformance/diverge/bisect.h"
#include "conformance/diverge/duel.h"
#include "conformance/diverge/model_course.h"
#include "conformance/diverge/run_spec.h"
#include "conformance/diverge/tell.h"
#include "conformance/optdiff/judge_network.h"
#include "conformance/optdiff/step_row.h"
#include "framework/backend/registry.h"
#include "framework/file/module_path.h"
#include "framework/testing/draw/draw.h"
#include "framework/testing/host/remote_backend.h"
#include "framework/testing/host/wire/arena.h"
#include "framework/testing/plan/instance.h"
#include "framework/testing/record/record.h"
#include "framework/testing/worker/case_runner.h"
#include "framework/testing/worker/host_process.h"

namespace assay::diverge {
namespace {

constexpr int kOk = 0, kDiffers = 1, kUsage = 2, kUnavailable = 77,
              kHarness = 99;

struct Options {
  std::string a, b;  // RunSpec
  std::string a_module, b_module;
  std::string oracle;
  std::string oracle_module;
  ModelChoice choice;
  uint64_t seed = 0;
  int64_t samples = 2048;
  std::string table;  // empty: none
  std::optional<uint64_t> weights_seed_b, order_seed_b;
  bool is_bisect = false;
  int parent = 0;
};

/// A backend in a process of its own, as an instance sets it.
class Hosted {
 public:
  static Result<std::unique_ptr<Hosted>> Start(const std::string& instance,
                                               const std::string& module) {
    auto hosted = std::unique_ptr<Hosted>(new Hosted());
    ASSAY_ASSIGN_OR_RETURN(hosted->instance_, plan::ParseInstance(instance));
    worker::HostProcess::End end;
    const worker::ModuleUse use = {module, hosted->instance_.name,
                                   hosted->instance_.version};
    ASSAY_ASSIGN_OR_RETURN(
        hosted->host_,
        worker::HostProcess::Start(file::InstallPrefix() / "bin" / "assay-host",
                                   use, {},
                                   /*forks=*/false, &end));
    ASSAY_RETURN_IF_ERROR(hosted->host_->Begin(&end));
    hosted->remote_ =
        std::make_unique<host::RemoteBackend>(use.name, hosted->host_->link());
    hosted->set_ = std::make_unique<worker::SetBackend>(
        *hosted->remote_, hosted->instance_.settings);
    return hosted;
  }

  Backend& backend() { return *set_; }

 private:
  Hosted() = default;

  plan::Instance instance_;
  std::unique_ptr<worker::HostProcess> host_;
  std::unique_ptr<host::RemoteBackend> remote_;
  std::unique_ptr<worker::SetBackend> set_;
};

void AddRuns(CLI::App* command, Options* options) {
  command->add_option("--a", options->a, "the first run")->required();
  command->add_option("--a-module", options->a_module, "its backend's file")
      ->required();
  command->add_option("--b", options->b, "the second run")->required();
  command->add_option("--b-module", options->b_module, "its backend's file")
      ->required();
  command->add_option("--oracle", options->oracle, "backend that judges")
      ->required();
  command->add_option("--oracle-module", options->oracle_module, "its file")
      ->required();
  command->add_option("--model", options->choice.model, "by name");
  command->add_option("--steps", options->choice.steps, "of both");
  command->add_option("--batch", options->choice.batch, "samples a step");
  command->add_option("--seed", options->seed, "of weights, data and order");
  command->add_option("--parent", options->parent, "process to die with");
}

int Parse(int argc, char** argv, Options* options) {
  CLI::App app("trains networks of two backends in step", "assay-trainer");
  app.require_subcommand(1);
  CLI::App* const optdiff =
      app.add_subcommand("optdiff", "holds two runs beside each other");
  AddRuns(optdiff, options);
  optdiff->add_option("--table", options->table, "file of optimizer_steps");
  CLI::App* const bisect =
      app.add_subcommand("bisect", "names the first cause of a difference");
  AddRuns(bisect, options);
  bisect->add_option("--weights-seed-b", options->weights_seed_b,
                     "of the second run");
  bisect->add_option("--order-seed-b", options->order_seed_b,
                     "of the second run");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? -1 : kUsage;
  }
  options->is_bisect = bisect->parsed();
  return 0;
}

/// Two runs and their judge, ready to begin.
struct Ready {
  RunSpec a, b;
  std::unique_ptr<Backend> oracle;
  std::unique_ptr<Hosted> host_a, host_b;
  std::unique_ptr<train::Dataset> images;
};

Result<Ready> GetReady(const Options& options) {
  Ready ready;
  ASSAY_ASSIGN_OR_RETURN(ready.a, ParseRunSpec(options.a));
  ASSAY_ASSIGN_OR_RETURN(ready.b, ParseRunSpec(options.b));
  wire::Arena::Open();
  ASSAY_RETURN_IF_ERROR(LoadBackendModule(options.oracle_module).status());
  ASSAY_ASSIGN_OR_RETURN(ready.oracle, MakeBackend(options.oracle));
  ASSAY_ASSIGN_OR_RETURN(ready.host_a,
                         Hosted::Start(ready.a.backend, options.a_module));
  ASSAY_ASSIGN_OR_RETURN(ready.host_b,
                         Hosted::Start(ready.b.backend, options.b_module));
  ASSAY_ASSIGN_OR_RETURN(train::Dataset images,
                         DrawnImages(options.samples, options.seed));
  ready.images = std::make_unique<train::Dataset>(std::move(images));
  return ready;
}

Result<optdiff::Course> CourseOf(const Options& options, const Ready& ready,
                                 uint64_t weights_seed, uint64_t order_seed) {
  ModelChoice choice = options.choice;
  choice.dataset = ready.images.get();
  choice.weights_seed = weights_seed;
  choice.order_seed = order_seed;
  return ModelCourse(choice);
}

Result<int> OptDiff(const Options& options) {
  ASSAY_ASSIGN_OR_RETURN(const Ready ready, GetReady(options));
  ASSAY_ASSIGN_OR_RETURN(const optdiff::Course course,
                         CourseOf(options, ready, options.seed, options.seed));
  ASSAY_ASSIGN_OR_RETURN(auto wide, optdiff::Load(course.wide, *ready.oracle));
  const optdiff::JudgeOf judge{
      *ready.oracle, std::make_shared<optdiff::JudgeNetwork>(std::move(wide))};
  ASSAY_ASSIGN_OR_RETURN(auto trial_a,
                         optimizer::TrialOf(ready.a.optimizer, {}));
  ASSAY_ASSIGN_OR_RETURN(auto trial_b,
                         optimizer::TrialOf(ready.b.optimizer, {}));
  ASSAY_ASSIGN_OR_RETURN(
      const auto duel,
      Duel::Begin(course,
                  {options.a, ready.host_a->backend(), ready.a.optimizer,
                   std::move(trial_a)},
                  {options.b, ready.host_b->backend(), ready.b.optimizer,
                   std::move(trial_b)},
                  judge,
                  draw::Draw("optdiff", static_cast<int64_t>(options.seed),
                             "roundings")));
  record::Record record;
  record.result.test_id = StrCat("optimizer/", ready.a.optimizer.optimizer, "/",
                                 course.name, "#optdiff");
  record.result.backend = options.a;
  Told told;
  Status stepped;
  for (int64_t step = 1; step <= course.steps && stepped.ok(); ++step) {
    stepped = duel->Step(step, options.table.empty() ? nullptr : &record);
    if (stepped.ok()) told.Step(step, course.steps, *duel);
  }
  // What was seen is kept, whatever ended the run.
  ASSAY_RETURN_IF_ERROR(WriteTable(options.table, record));
  ASSAY_RETURN_IF_ERROR(stepped);
  return told.End(*duel) ? kOk : kDiffers;
}

std::string RepeatOf(const Options& options, int64_t step) {
  std::string text =
      StrCat("assay bisect '", options.a, "' '", options.b, "' --model ",
             options.choice.model, " --batch ", options.choice.batch,
             " --seed ", options.seed, " --steps ", std::max<int64_t>(1, step));
  if (options.weights_seed_b.has_value()) {
    text += StrCat(" --weights-seed-b ", *options.weights_seed_b);
  }
  if (options.order_seed_b.has_value()) {
    text += StrCat(" --order-seed-b ", *options.order_seed_b);
  }
  return text;
}

Result<int> FindCause(const Options& options) {
  ASSAY_ASSIGN_OR_RETURN(const Ready ready, GetReady(options));
  ASSAY_ASSIGN_OR_RETURN(const optdiff::Course course_a,
                         CourseOf(options, ready, options.seed, options.seed));
  ASSAY_ASSIGN_OR_RETURN(
      const optdiff::Course course_b,
      CourseOf(options, ready, options.weights_seed_b.value_or(options.seed),
               options.order_seed_b.value_or(options.seed)));
  ASSAY_ASSIGN_OR_RETURN(auto trial_a,
                         optimizer::TrialOf(ready.a.optimizer, {}));
  ASSAY_ASSIGN_OR_RETURN(auto trial_b,
                         optimizer::TrialOf(ready.b.optimizer, {}));
  ASSAY_ASSIGN_OR_RETURN(
      const Finding found,
      Bisect({ready.host_a->backend(), course_a, std::move(trial_a)},
             {ready.host_b->backend(), course_b, std::move(trial_b)},
             {*ready.oracle, options.choice.steps, options.seed}));
  if (found.cause == Cause::kNone) {
    std::cout << found.sentence << std::endl;
    return kOk;
  }
  std::cout << "cause: " << ToString(found.cause) << "\n"
            << found.sentence << "\n"
            << "repeat: " << RepeatOf(options, found.step) << std::endl;
  return kDiffers;
}

int Main(int argc, char** argv) {
  Options options;
  if (const int code = Parse(argc, argv, &options); code != 0) {
    return code < 0 ? 0 : code;
  }
  if (options.parent != 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != options.parent) return kHarness;
  }
  Result<int> code = kHarness;
  try {
    code = options.is_bisect ? FindCause(options) : OptDiff(options);
  } catch (const std::exception& error) {
    code = Internal(error.what());
  }
  if (code.ok()) return *code;
  std::cerr << "assay: " << code.status().message() << "\n";
  switch (code.status().code()) {
    case StatusCode::kInvalidArgument:
      return kUsage;
    case StatusCode::kUnsupported:
    case StatusCode::kUnavailable:
      return kUnavailable;
    default:
      return kHarness;
  }
}

}  // namespace
}  // namespace assay::diverge

int main(int argc, char** argv) { return assay::diverge::Main(argc, argv); }
