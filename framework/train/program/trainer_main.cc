// SPDX-License-Identifier: Apache-2.0
//
// assay-trainer: training runs of backends in hosts, which the program assay starts;
// a person may run it alone:
//
//   assay-trainer optdiff --a reference --a-module lib/assay/reference.so ...
//
// Exit codes: 0 where a run came to its end or two do the same, 1 where two differ, one
// is wrong or a loss is no number, 2 for wrong usage, 77 where a backend cannot be used,
// 99 where it could not go on, 130 where a signal stopped it.

#include <sys/prctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <exception>
#include <iostream>

#include "framework/core/status.h"
#include "framework/train/program/converge.h"
#include "framework/train/program/pair.h"
#include "framework/train/program/train_run.h"

namespace assay::program {
namespace {

constexpr int kUsage = 2, kUnavailable = 77, kHarness = 99;

struct Options {
  PairOptions pair;
  TrainOptions train;
  ConvergeOptions converge;
  int parent = 0;
};

CLI::App* AddCommand(CLI::App* app, const char* name, const char* what,
                     Options* options) {
  CLI::App* const command = app->add_subcommand(name, what);
  command->add_option("--parent", options->parent, "process to die with");
  return command;
}

void AddPair(CLI::App* command, PairOptions* options) {
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
  command->add_option("--dataset", options->dataset, "by name");
  command->add_option("--steps", options->choice.steps, "of both");
  command->add_option("--batch", options->choice.batch, "samples a step");
  command->add_option("--seed", options->seed, "of weights, data and order");
}

void AddTrain(CLI::App* command, TrainOptions* options) {
  command->add_option("--run", options->run, "backend and optimizer")
      ->required();
  command->add_option("--module", options->module, "its backend's file")
      ->required();
  command->add_option("--model", options->model, "by name");
  command->add_option("--dataset", options->dataset, "by name");
  command->add_option("--epochs", options->epochs, "of the whole run");
  command->add_option("--batch", options->batch, "samples a step");
  command->add_option("--micro-batch", options->micro_batch,
                      "samples at once; 0: a batch");
  command->add_option("--seed", options->seed, "of weights, split and order");
  command->add_option("--out", options->out, "folder of the run")->required();
  command->add_flag("--resume", options->goes_on, "from its checkpoint");
  command->add_option("--checkpoint-every", options->checkpoint_every, "steps");
  command->add_option("--stop-at", options->stop_at, "accuracy, 0 to 1");
  command->add_option("--seconds", options->seconds, "the run may take");
}

void AddConverge(CLI::App* command, ConvergeOptions* options) {
  command->add_option("--a", options->a, "the first run")->required();
  command->add_option("--a-module", options->a_module, "its backend's file")
      ->required();
  command->add_option("--b", options->b, "the second run");
  command->add_option("--b-module", options->b_module, "its backend's file");
  command->add_option("--against", options->against, "table of another run");
  command->add_option("--table", options->table, "to write");
  command->add_option("--model", options->goal.model, "by name");
  command->add_option("--dataset", options->dataset, "by name");
  command->add_option("--batch", options->goal.batch, "samples a step");
  command->add_option("--every", options->goal.every, "steps between tests");
  command->add_option("--epochs", options->goal.most_epochs, "at most");
  command->add_option("--seeds", options->seeds, "of each run");
  command->add_option("--accuracy", options->goal.accuracy, "to come to");
}

Result<int> Run(const CLI::App& app, const Options& options) {
  if (app.got_subcommand("train")) return TrainRun(options.train);
  if (app.got_subcommand("converge")) return Converge(options.converge);
  if (app.got_subcommand("bisect")) return FindCause(options.pair);
  return OptDiff(options.pair);
}

int ExitCodeOf(const Status& status) {
  switch (status.code()) {
    case StatusCode::kInvalidArgument:
    case StatusCode::kNotFound:
      return kUsage;
    case StatusCode::kUnsupported:
    case StatusCode::kUnavailable:
      return kUnavailable;
    default:
      return kHarness;
  }
}

int Main(int argc, char** argv) {
  Options options;
  CLI::App app("trains networks of backends", "assay-trainer");
  app.require_subcommand(1);
  AddTrain(AddCommand(&app, "train", "trains a network", &options),
           &options.train);
  AddConverge(
      AddCommand(&app, "converge", "says how soon a run learns", &options),
      &options.converge);
  CLI::App* const optdiff =
      AddCommand(&app, "optdiff", "holds two runs beside each other", &options);
  AddPair(optdiff, &options.pair);
  optdiff->add_option("--table", options.pair.table, "file of optimizer_steps");
  CLI::App* const bisect = AddCommand(
      &app, "bisect", "names the first cause of a difference", &options);
  AddPair(bisect, &options.pair);
  bisect->add_option("--weights-seed-b", options.pair.weights_seed_b,
                     "of the second run");
  bisect->add_option("--order-seed-b", options.pair.order_seed_b,
                     "of the second run");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  if (options.parent != 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != options.parent) return kHarness;
  }
  Result<int> code = kHarness;
  try {
    code = Run(app, options);
  } catch (const std::exception& error) {
    code = Internal(error.what());
  }
  if (code.ok()) return *code;
  std::cerr << "assay: " << code.status().message() << "\n";
  return ExitCodeOf(code.status());
}

}  // namespace
}  // namespace assay::program

int main(int argc, char** argv) { return assay::program::Main(argc, argv); }
