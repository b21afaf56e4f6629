// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/training_arguments.h"

#include <utility>

#include "framework/core/text.h"

namespace assay::cli {
namespace {

constexpr char kModels[] =
    "mlp, lenet5, small_cnn, resnet8, resnet20, lstm, transformer";

void AddTrain(CLI::App& app, TrainOptions* options) {
  CLI::App* train = app.add_subcommand("train", "train a network on a backend");
  train->add_option("model", options->model, StrCat(kModels, " or FILE.onnx"))
      ->capture_default_str();
  train
      ->add_option("--dataset", options->dataset,
                   "digits, drawn, mnist:DIR, fashion:DIR, cifar10:DIR or "
                   "cifar100:DIR")
      ->capture_default_str();
  train->add_option("--backend", options->backend, "name or file")
      ->type_name("BACKEND")
      ->capture_default_str();
  train
      ->add_option("--optimizer", options->optimizer,
                   "as adam, adam/pytorch or 'adam/keras:rate=0.01 beta1=0.8'")
      ->type_name("OPTIMIZER[/PRESET][:SETTINGS]")
      ->capture_default_str();
  train
      ->add_option("--epochs", options->epochs,
                   "of the whole run; 10, or as the run that goes on")
      ->check(CLI::PositiveNumber);
  train->add_option("--batch", options->batch, "samples a step")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  train
      ->add_option("--micro-batch", options->micro_batch,
                   "samples at once, whose gradients are summed; 0: a batch")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  AddSeed(train, &options->seed);
  auto* out = train
                  ->add_option("--out", options->out,
                               "folder to write; below runs/ if none")
                  ->type_name("DIR");
  auto* resume =
      train->add_option("--resume", options->resume, "folder to go on with")
          ->type_name("DIR")
          ->excludes(out);
  for (const char* name : {"model", "--dataset", "--backend", "--optimizer",
                           "--batch", "--micro-batch", "--seed"}) {
    resume->excludes(train->get_option(name));
  }
  train
      ->add_option("--checkpoint-every", options->checkpoint_every,
                   "steps; what a kill costs at most; 100, or as the run that "
                   "goes on")
      ->check(CLI::PositiveNumber);
  train
      ->add_option("--stop-at", options->stop_at,
                   "accuracy of the test set that is enough, 0 to 1")
      ->check(CLI::Range(0.0, 1.0));
  train->add_option("--seconds", options->seconds, "that the run may take")
      ->check(CLI::NonNegativeNumber);
  AddExamples(train,
              "  assay train lenet5 --dataset digits --backend acme\n"
              "  assay train mlp --optimizer adam/pytorch:rate=0.002\n"
              "  assay train resnet8 --dataset cifar10:data/cifar\n"
              "  assay train --resume runs/20261126T120000Z-lenet5");
}

/// Two training runs, and how they train.
void AddRuns(CLI::App* app, OptDiffOptions* options) {
  for (auto [name, run] : {std::pair("a", &options->a), {"b", &options->b}}) {
    app->add_option(name, *run, "BACKEND[:OPTIMIZER[/PRESET][:SETTINGS]]")
        ->type_name("RUN")
        ->required();
  }
  app->add_option("--model", options->model, StrCat(kModels, " or FILE.onnx"))
      ->capture_default_str();
  app->add_option("--dataset", options->dataset,
                  "digits, drawn, mnist:DIR, ...")
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

void AddConverge(CLI::App& app, ConvergeOptions* options) {
  CLI::App* converge = app.add_subcommand(
      "converge", "say how soon a backend learns, beside another, over seeds");
  converge
      ->add_option("a", options->a, "BACKEND[:OPTIMIZER[/PRESET][:SETTINGS]]")
      ->type_name("RUN")
      ->required();
  CLI::Option* const b =
      converge->add_option("b", options->b, "the one to hold beside it")
          ->type_name("RUN");
  converge
      ->add_option("--against", options->against,
                   "table of an earlier run to hold it against")
      ->type_name("FILE")
      ->check(CLI::ExistingFile)
      ->excludes(b);
  converge->add_option("--table", options->table, "convergence.csv to write")
      ->type_name("FILE");
  converge->add_option("--model", options->model, "mlp, lenet5, ...")
      ->capture_default_str();
  converge
      ->add_option("--dataset", options->dataset,
                   "digits, drawn, mnist:DIR, ...")
      ->capture_default_str();
  converge
      ->add_option("--accuracy", options->accuracy,
                   "of the test set to come to")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  const auto add_count = [&](const char* name, int64_t* count,
                             const char* what) {
    converge->add_option(name, *count, what)
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
  };
  add_count("--batch", &options->batch, "samples a step");
  add_count("--every", &options->every, "steps between two tests");
  add_count("--epochs", &options->most_epochs, "to give up behind");
  converge->add_option("--seeds", options->seeds, "of each run, from 0 on")
      ->check(CLI::Range(4, 12))
      ->capture_default_str();
  AddExamples(converge,
              "  assay converge reference acme\n"
              "  assay converge reference --table reference.csv\n"
              "  assay converge acme --against reference.csv");
}

}  // namespace

void AddTraining(CLI::App& app, Options* options) {
  AddTrain(app, &options->train);
  AddOptDiff(app, &options->optdiff);
  AddBisect(app, &options->bisect);
  AddConverge(app, &options->converge);
}

}  // namespace assay::cli
