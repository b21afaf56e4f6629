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
#include <csignal>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include "conformance/diverge/duel.h"
#include "conformance/diverge/model_course.h"
#include "conformance/diverge/run_spec.h"
#include "conformance/diverge/tell.h"
#include "conformance/optdiff/judge_network.h"
#include "conformance/optdiff/step_row.h"
#include "framework/backend/registry.h"
#include "framework/file/file.h"
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
  std::string out;  // the table; empty: none
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

int Parse(int argc, char** argv, Options* options) {
  CLI::App app("trains networks of two backends in step", "assay-trainer");
  app.require_subcommand(1);
  CLI::App* const command =
      app.add_subcommand("optdiff", "holds two runs beside each other");
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
  command->add_option("--table", options->out, "file for optimizer_steps.csv");
  command->add_option("--parent", options->parent, "process to die with");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? -1 : kUsage;
  }
  return 0;
}

Result<std::unique_ptr<Backend>> OpenOracle(const Options& options) {
  ASSAY_RETURN_IF_ERROR(LoadBackendModule(options.oracle_module).status());
  return MakeBackend(options.oracle);
}

Result<int> OptDiff(Options options) {
  ASSAY_ASSIGN_OR_RETURN(const RunSpec spec_a, ParseRunSpec(options.a));
  ASSAY_ASSIGN_OR_RETURN(const RunSpec spec_b, ParseRunSpec(options.b));
  wire::Arena::Open();
  ASSAY_ASSIGN_OR_RETURN(const auto oracle, OpenOracle(options));
  ASSAY_ASSIGN_OR_RETURN(const auto host_a,
                         Hosted::Start(spec_a.backend, options.a_module));
  ASSAY_ASSIGN_OR_RETURN(const auto host_b,
                         Hosted::Start(spec_b.backend, options.b_module));
  ASSAY_ASSIGN_OR_RETURN(const train::Dataset images,
                         DrawnImages(options.samples, options.seed));
  options.choice.dataset = &images;
  options.choice.weights_seed = options.choice.order_seed = options.seed;
  ASSAY_ASSIGN_OR_RETURN(const optdiff::Course course,
                         ModelCourse(options.choice));
  ASSAY_ASSIGN_OR_RETURN(auto wide, optdiff::Load(course.wide, *oracle));
  const optdiff::JudgeOf judge{
      *oracle, std::make_shared<optdiff::JudgeNetwork>(std::move(wide))};
  ASSAY_ASSIGN_OR_RETURN(auto trial_a,
                         optimizer::TrialOf(spec_a.optimizer, {}));
  ASSAY_ASSIGN_OR_RETURN(auto trial_b,
                         optimizer::TrialOf(spec_b.optimizer, {}));
  ASSAY_ASSIGN_OR_RETURN(
      const auto duel,
      Duel::Begin(
          course,
          {options.a, host_a->backend(), spec_a.optimizer, std::move(trial_a)},
          {options.b, host_b->backend(), spec_b.optimizer, std::move(trial_b)},
          judge,
          draw::Draw("optdiff", static_cast<int64_t>(options.seed),
                     "roundings")));
  record::Record record;
  record.result.test_id = StrCat("optimizer/", spec_a.optimizer.optimizer, "/",
                                 course.name, "#optdiff");
  record.result.backend = options.a;
  Told told;
  for (int64_t step = 1; step <= course.steps; ++step) {
    const Status stepped = duel->Step(step, &record);
    told.Step(step, course.steps, *duel);
    if (stepped.ok()) continue;
    ASSAY_RETURN_IF_ERROR(WriteTable(options.out, record));
    return stepped;
  }
  ASSAY_RETURN_IF_ERROR(WriteTable(options.out, record));
  return told.End(*duel) ? kOk : kDiffers;
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
    code = OptDiff(std::move(options));
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
