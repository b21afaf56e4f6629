// SPDX-License-Identifier: Apache-2.0

#include <utility>

#include "framework/cli/arguments.h"
#include "framework/cli/commands.h"
#include "framework/core/text.h"

namespace assay::cli {
namespace {

constexpr char kModels[] =
    "mlp, lenet5, small_cnn, resnet8, resnet20, lstm, transformer";

void AddTrain(CLI::App& app, TrainOptions* options) {
  CLI::App* train = app.add_subcommand("train", "train a network on a backend");
  Defaulted(train, "model", options->request.model,
            StrCat(kModels, " or FILE.onnx"));
  Defaulted(train, "--dataset", options->request.dataset,
            "digits, drawn, mnist:DIR, fashion:DIR, cifar10:DIR or "
            "cifar100:DIR");
  Named(train, "BACKEND", "--backend", options->backend, "name or file")
      ->capture_default_str();
  Named(train, "OPTIMIZER[/PRESET][:SETTINGS]", "--optimizer",
        options->optimizer,
        "as adam, adam/pytorch or 'adam/keras:rate=0.01 beta1=0.8'")
      ->capture_default_str();
  train
      ->add_option("--epochs", options->epochs,
                   "of the whole run; 10, or as the run that goes on")
      ->check(Whole(1));
  Checked(train, Whole(1), "--batch", options->request.batch, "samples a step");
  Checked(train, Whole(0), "--micro-batch", options->request.micro_batch,
          "samples at once, whose gradients are summed; 0: a batch");
  AddSeed(train, &options->request.seed);
  auto* out = Named(train, "DIR", "--out", options->request.out,
                    "folder to write; below runs/ if none");
  auto* resume =
      Named(train, "DIR", "--resume", options->resume, "folder to go on with")
          ->excludes(out);
  for (const char* name : {"model", "--dataset", "--backend", "--optimizer",
                           "--batch", "--micro-batch", "--seed"}) {
    resume->excludes(train->get_option(name));
  }
  train
      ->add_option("--checkpoint-every", options->checkpoint_every,
                   "steps; what a kill costs at most; 100, or as the run that "
                   "goes on")
      ->check(Whole(1));
  train
      ->add_option("--stop-at", options->stop_at,
                   "accuracy of the test set that is enough, 0 to 1")
      ->check(Between(0, 1));
  train->add_option("--seconds", options->seconds, "that the run may take")
      ->check(Between(0, 1e9));
  AddExamples(train,
              "  assay train lenet5 --dataset digits --backend acme\n"
              "  assay train mlp --optimizer adam/pytorch:rate=0.002\n"
              "  assay train resnet8 --dataset cifar10:data/cifar\n"
              "  assay train --resume runs/20261126T120000Z-lenet5");
}

void AddRuns(CLI::App* app, program::PairRequest* options) {
  for (auto [name, run] : {std::pair("a", &options->a), {"b", &options->b}}) {
    Named(app, "RUN", name, *run, "BACKEND[:OPTIMIZER[/PRESET][:SETTINGS]]")
        ->required();
  }
  Defaulted(app, "--model", options->model, StrCat(kModels, " or FILE.onnx"));
  Defaulted(app, "--dataset", options->dataset,
            "digits, drawn, mnist:DIR, ...");
  Checked(app, Whole(1), "--steps", options->steps, "of both");
  Checked(app, Whole(1), "--batch", options->batch, "samples a step");
  AddSeed(app, &options->seed);
}

void AddOptDiff(CLI::App& app, program::OptDiffRequest* options) {
  CLI::App* optdiff = app.add_subcommand(
      "optdiff", "train on two backends in step and say where they differ");
  AddRuns(optdiff, options);
  Named(optdiff, "FILE", "--table", options->table,
        "optimizer_steps.csv to write");
  AddExamples(optdiff,
              "  assay optdiff acme reference\n"
              "  assay optdiff acme:adam/pytorch acme:adam/keras --model mlp");
}

void AddBisect(CLI::App& app, program::BisectRequest* options) {
  CLI::App* bisect = app.add_subcommand(
      "bisect", "name the first cause by which two training runs differ");
  AddRuns(bisect, options);
  bisect->add_option("--weights-seed-b", options->weights_seed_b,
                     "of run b, where another");
  bisect->add_option("--order-seed-b", options->order_seed_b,
                     "of run b, where another");
  AddExamples(bisect, "  assay bisect acme:adam/pytorch acme:adam/tensorflow");
}

void AddConverge(CLI::App& app, program::ConvergeRequest* options) {
  CLI::App* converge = app.add_subcommand(
      "converge", "say how soon a backend learns, beside another, over seeds");
  Named(converge, "RUN", "a", options->a,
        "BACKEND[:OPTIMIZER[/PRESET][:SETTINGS]]")
      ->required();
  CLI::Option* const b =
      Named(converge, "RUN", "b", options->b, "the one to hold beside it");
  Named(converge, "FILE", "--against", options->against,
        "table of an earlier run to hold it against")
      ->check(CLI::ExistingFile)
      ->excludes(b);
  Named(converge, "FILE", "--table", options->table,
        "convergence.csv to write");
  Defaulted(converge, "--model", options->model, "mlp, lenet5, ...");
  Defaulted(converge, "--dataset", options->dataset,
            "digits, drawn, mnist:DIR, ...");
  Checked(converge, Between(0, 1), "--accuracy", options->accuracy,
          "of the test set to come to");
  Checked(converge, Whole(1), "--batch", options->batch, "samples a step");
  Checked(converge, Whole(1), "--every", options->every,
          "steps between two tests");
  Checked(converge, Whole(1), "--epochs", options->most_epochs,
          "to give up behind");
  Checked(converge, Whole(4, 12), "--seeds", options->seeds,
          "of each run, from 0 on");
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
