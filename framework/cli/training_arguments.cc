// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/training_arguments.h"

#include <utility>

namespace assay::cli {
namespace {

/// Two training runs, and how they train.
void AddRuns(CLI::App* app, OptDiffOptions* options) {
  for (auto [name, run] : {std::pair("a", &options->a), {"b", &options->b}}) {
    app->add_option(name, *run, "BACKEND[:OPTIMIZER[/PRESET][:SETTINGS]]")
        ->type_name("RUN")
        ->required();
  }
  app->add_option("--model", options->model, "mlp, lenet5 or small_cnn")
      ->capture_default_str();
  app->add_option("--steps", options->steps, "of both")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app->add_option("--batch", options->batch, "samples a step")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  AddSeed(app, &options->seed);
}

void AddOptDiff(CLI::App& app, OptDiffOptions* options) {
  CLI::App* optdiff = app.add_subcommand(
      "optdiff", "train on two backends in step and say where they differ");
  AddRuns(optdiff, options);
  optdiff->add_option("--table", options->table, "optimizer_steps.csv to write")
      ->type_name("FILE");
  AddExamples(optdiff,
              "  assay optdiff acme reference\n"
              "  assay optdiff acme:adam/pytorch acme:adam/keras --model mlp");
}

void AddBisect(CLI::App& app, BisectOptions* options) {
  CLI::App* bisect = app.add_subcommand(
      "bisect", "name the first cause by which two training runs differ");
  AddRuns(bisect, options);
  bisect->add_option("--weights-seed-b", options->weights_seed_b,
                     "of run b, where another");
  bisect->add_option("--order-seed-b", options->order_seed_b,
                     "of run b, where another");
  AddExamples(bisect, "  assay bisect acme:adam/pytorch acme:adam/tensorflow");
}

}  // namespace

void AddTraining(CLI::App& app, Options* options) {
  AddOptDiff(app, &options->optdiff);
  AddBisect(app, &options->bisect);
}

}  // namespace assay::cli
