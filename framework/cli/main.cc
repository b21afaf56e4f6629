// SPDX-License-Identifier: Apache-2.0
//
// The assay program: options, and which command they are for.
//
//   assay run --backend onednn --filter 'op:Conv'

#include <CLI/CLI.hpp>
#include <csignal>
#include <exception>
#include <iostream>
#include <string>

#include "framework/cli/commands.h"
#include "framework/cli/select/version.h"
#include "framework/testing/record/clean_text.h"
#include "framework/testing/record/tables.h"

namespace assay::cli {
namespace {

/// The command as typed, words with spaces quoted.
std::string CommandLine(int argc, char** argv) {
  std::string text = "assay";
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool plain = word.find_first_of(" '\"*?()") == std::string::npos;
    text += plain ? " " + word : " '" + word + "'";
  }
  return record::CleanText(text);
}

void AddSelection(CLI::App* app, select::SelectionOptions* options) {
  app->add_option("--backend", options->backends,
                  "name, name+setting=value or a file; repeatable")
      ->allow_extra_args(false);
  app->add_option("--suite", options->selection.suites,
                  "node, model; repeatable")
      ->allow_extra_args(false);
  app->add_option("--filter", options->selection.filter,
                  "query, as 'op:Conv and not dtype:float16'");
  app->add_option("--tier", options->selection.tier, "smoke, ci or nightly")
      ->check(CLI::IsMember({"smoke", "ci", "nightly"}));
  app->add_option("--corpus", options->corpora,
                  "name, or a folder of cases; repeatable")
      ->allow_extra_args(false);
  app->add_option("--seed", options->selection.seed, "of everything random");
  app->add_flag("--oracle{reference}", options->selection.oracle,
                "measure distances to exact answers, too");
}

void AddRun(CLI::App& app, RunOptions* options) {
  CLI::App* run = app.add_subcommand("run", "run cases and judge them");
  AddSelection(run, options);
  auto* out = run->add_option("--out", options->out, "run folder to write");
  auto* resume =
      run->add_option("--resume", options->resume, "run folder to go on with")
          ->excludes(out);
  auto* parts = run->add_option("--parts", options->parts,
                                "where the records of a shard go");
  auto* plan = run->add_option("--plan", options->plan, "folder of a plan");
  plan->needs(parts);
  parts->needs(plan);
  run->add_option("--shard", options->shard, "I/N, part of a plan")
      ->needs(plan);
  resume->excludes(plan);
  // A plan has its selection; of its parts a shard takes suites and backends.
  for (const char* name : {"--filter", "--tier", "--corpus", "--seed"}) {
    run->get_option(name)->excludes(resume)->excludes(plan);
  }
  run->get_option("--suite")->excludes(resume);
  run->get_option("--backend")->excludes(resume);
  run->add_option("--jobs", options->jobs,
                  "workers at a time; 0: one per processor")
      ->check(CLI::NonNegativeNumber);
  run->add_option("--isolation", options->isolation,
                  "cases per worker: none (all), batch or case (one)")
      ->check(CLI::IsMember({"none", "batch", "case"}));
  run->add_option("--repeats", options->repeats,
                  "most unexpected results that are run again alone")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  run->add_flag("--shuffle", options->shuffle,
                "run cases in an order drawn with the seed");
  run->add_option("--timeout", options->timeout_s, "seconds for one case")
      ->check(CLI::PositiveNumber);
  run->add_option("--memory", options->memory_gib,
                  "GiB that a worker may take; 0: a share of all")
      ->check(CLI::NonNegativeNumber);
  run->add_option("--capsules", options->capsules,
                  "folders to write of unexpected cases, at most")
      ->check(CLI::NonNegativeNumber);
  run->add_option("--oracle-cache", options->oracle_cache,
                  "folder that keeps exact answers")
      ->needs("--oracle");
  run->add_flag("--allow-unavailable", options->allow_unavailable,
                "a missing library or device is no failure");
  run->add_flag("!--no-report", options->report, "write no report.html");
}

void AddPlan(CLI::App& app, PlanOptions* options) {
  CLI::App* plan = app.add_subcommand("plan", "write what a run would do");
  AddSelection(plan, options);
  plan->add_option("--out", options->out, "folder of the plan")->required();
}

void AddMerge(CLI::App& app, MergeOptions* options) {
  CLI::App* merge =
      app.add_subcommand("merge", "judge the parts of a plan as one run");
  merge->add_option("plan", options->parts, "folder of plan and parts")
      ->required();
  merge->add_option("--out", options->out, "run folder to write");
  merge->add_flag("--allow-unavailable", options->allow_unavailable,
                  "a missing library or device is no failure");
  merge->add_flag("!--no-report", options->report, "write no report.html");
}

void AddList(CLI::App& app, ListOptions* options) {
  CLI::App* list = app.add_subcommand("list", "list what there is");
  list->add_option("what", options->what, "one of the lists below");
  list->add_option("--corpus", options->corpora, "name or folder; repeatable")
      ->allow_extra_args(false);
  list->add_option("--filter", options->filter, "query over cases");
  list->add_option("--run", options->run,
                   "run folder, for coverage and inexact");
  list->add_flag("--holes", options->holes,
                 "of coverage: a line for what no case touches");
  list->add_flag("--json", options->json, "for programs");
  list->footer("Lists:\n" + inventory::ListsText());
}

void AddExplain(CLI::App& app, ExplainOptions* options) {
  CLI::App* explain =
      app.add_subcommand("explain", "say why a case has its verdict");
  explain->add_option("test_id", options->test_id)->required();
  explain->add_option("--backend", options->backend, "instance; all if none");
  options->run = "runs/latest";
  explain->add_option("--run", options->run, "run folder")
      ->capture_default_str();
  explain->add_flag("--json", options->json, "for programs");
}

void AddCase(CLI::App* app, CapsuleOptions* options) {
  app->add_option("test_id", options->test_id)->required();
  app->add_option("--backend", options->backend,
                  "instance or file; may be left out with --run");
  app->add_option("--run", options->run, "run folder that has the case");
  app->add_option("--corpus", options->corpora,
                  "name, or a folder of cases; repeatable")
      ->allow_extra_args(false);
  app->add_option("--seed", options->seed, "of everything random");
  app->add_option("--timeout", options->timeout_s, "seconds for one case")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app->add_option("--oracle", options->oracle,
                  "backend whose answers are taken for right")
      ->capture_default_str();
  app->add_option("--out", options->out, "folder to write")->required();
}

void AddCapsule(CLI::App& app, CapsuleOptions* options) {
  AddCase(app.add_subcommand(
              "capsule", "write a case and what a backend gave to a folder"),
          options);
}

void AddShrink(CLI::App& app, ShrinkOptions* options) {
  CLI::App* shrink = app.add_subcommand(
      "shrink", "find the smallest case that fails in the same way");
  options->timeout_s = 20;
  AddCase(shrink, options);
  shrink
      ->add_option("--budget", options->budget,
                   "cases that the backend is tried on at most")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
}

void AddExpect(CLI::App& app, ExpectOptions* options) {
  CLI::App* expect =
      app.add_subcommand("expect", "expectations and floors of backends");
  expect->require_subcommand(1);
  CLI::App* update = expect->add_subcommand(
      "update", "adopt what a run showed into the policy files");
  update->add_option("--run", options->run, "run folder")->required();
  update->add_option("--backend", options->backend, "instance; all if none");
  update->add_flag("--drop", options->drop,
                   "take lost cases out of passing.txt");
  update->add_flag("--dry-run", options->dry_run, "print, write nothing");
}

void AddReport(CLI::App& app, ReportOptions* options) {
  CLI::App* report = app.add_subcommand("report", "write a run's HTML page");
  report->add_option("run", options->runs, "run folder")->required();
  report->add_option("--out", options->out, "file to write")->required();
}

void AddAssess(CLI::App& app, AssessOptions* options) {
  CLI::App* assess = app.add_subcommand(
      "assess", "find out which deliberate defects the suites see");
  assess->add_option("--backend", options->backend,
                     "by default the installed one with a mutants.txt");
  assess->add_option("--out", options->out, "mutants.csv to write");
  assess->add_flag("--check", options->check,
                   "only say what is known of this build; 1: nothing");
  assess->add_option("--repeats", options->repeats, "of the clean backend")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  assess
      ->add_option("--jobs", options->jobs,
                   "workers at a time; 0: one per processor")
      ->check(CLI::NonNegativeNumber);
}

int Main(int argc, char** argv) {
  // Where it is ignored, as some daemons have it, no child can be waited for.
  std::signal(SIGCHLD, SIG_DFL);
  CLI::App app("tests and qualifies deep-learning backends", "assay");
  app.set_version_flag("--version", select::kVersion);
  app.require_subcommand(1);
  RunOptions run;
  PlanOptions plan;
  MergeOptions merge;
  ListOptions list;
  ExplainOptions explain;
  ExpectOptions expect;
  CapsuleOptions capsule;
  ShrinkOptions shrink;
  ReportOptions report;
  AssessOptions assess;
  std::string format;
  AddRun(app, &run);
  AddPlan(app, &plan);
  AddMerge(app, &merge);
  AddList(app, &list);
  AddExplain(app, &explain);
  AddExpect(app, &expect);
  AddCapsule(app, &capsule);
  AddShrink(app, &shrink);
  AddReport(app, &report);
  AddAssess(app, &assess);
  app.add_subcommand("schema", "print the tables' columns")
      ->add_option("format", format, "json or markdown")
      ->required()
      ->check(CLI::IsMember({"json", "markdown"}));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? select::kExitOk : select::kExitUsage;
  }
  run.command = plan.command = CommandLine(argc, argv);
  if (app.got_subcommand("run")) return run::RunCommand(run);
  if (app.got_subcommand("plan")) return run::PlanCommand(plan);
  if (app.got_subcommand("merge")) return run::MergeCommand(merge);
  if (app.got_subcommand("list")) return inventory::ListCommand(list);
  if (app.got_subcommand("explain")) return explain::ExplainCommand(explain);
  if (app.got_subcommand("expect")) return expect::ExpectCommand(expect);
  if (app.got_subcommand("capsule")) return repro::CapsuleCommand(capsule);
  if (app.got_subcommand("shrink")) return repro::ShrinkCommand(shrink);
  if (app.got_subcommand("report")) return run::ReportCommand(report);
  if (app.got_subcommand("assess")) return mutants::AssessCommand(assess);
  std::cout << (format == "json" ? record::SchemaJson()
                                 : record::SchemaMarkdown());
  return select::kExitOk;
}

}  // namespace
}  // namespace assay::cli

int main(int argc, char** argv) {
  try {
    return assay::cli::Main(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "assay: " << error.what() << "\n";
    return assay::select::kExitHarness;
  }
}
