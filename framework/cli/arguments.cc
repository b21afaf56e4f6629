// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/arguments.h"

#include <memory>
#include <optional>
#include <random>

#include "framework/cli/help.h"
#include "framework/cli/select/version.h"
#include "framework/file/csv.h"

namespace assay::cli {
namespace {

constexpr int64_t kMostRanks = 4096;
constexpr int64_t kMostJobs = 4096;
constexpr int64_t kMostAttempts = 10000;
constexpr int64_t kMostCapsules = 10000;
constexpr double kShortest = 1e-3, kLongest = 1e6;  // seconds
constexpr double kMostMemory = 1e6;                 // GiB

/// --no-report, which a flag with a leading "!" would show as a value.
void AddNoReport(CLI::App* app, bool* report) {
  app->add_flag_callback(
      "--no-report", [report] { *report = false; }, "write no report.html");
}

void AddSelection(CLI::App* app, select::SelectionOptions* options) {
  Named(app, "BACKEND", "--backend", options->backends,
        "name, name+setting=value or a file; repeatable;\n"
        "the reference if none. name+ranks=LIBRARY: its\n"
        "networks, trained by the ranks of that library")
      ->allow_extra_args(false);
  Named(app, "NAME", "--suite", options->selection.suites,
        "one of `assay list suites`; repeatable; all if none")
      ->allow_extra_args(false);
  Named(app, "QUERY", "--filter", options->selection.filter,
        "query, as 'op:Conv and not dtype:float16'");
  Checked(app, CLI::IsMember({"smoke", "ci", "nightly", "scale"}), "--tier",
          options->selection.tier, "how much to run");
  app->add_option(
         "--ranks", options->selection.ranks,
         "of a library of ranks: cases of so many at most, and as many "
         "launched; 0: as its launch.txt has them")
      ->check(Whole(0, kMostRanks))
      ->type_name("N");
  Named(app, "NAME|DIR", "--corpus", options->corpora,
        "name, or a folder of cases; repeatable; the default ones "
        "if none")
      ->allow_extra_args(false);
  AddSeed(app, &options->selection.seed);
  app->add_flag("--oracle{reference}", options->selection.oracle,
                "measure distances to exact answers, too");
  Checked(app, CLI::IsMember({plan::kApart, plan::kInProcess}), "--host",
          options->selection.host,
          "where backends run: apart from their judge, or in-process, "
          "which says nothing on conformance");
}

/// A model of a person's own in the place of corpora.
CLI::Option* AddModel(CLI::App* app, select::OwnModel* own) {
  auto* model = Named(app, "FILE|DIR", "--model", own->file,
                      "a model of your own, or a folder of one:\n"
                      "the oracle judges where no outputs are");
  auto* dim = Named(app, "NAME=N", "--dim", own->dims,
                    "an extent that the model leaves open;\n"
                    "repeatable")
                  ->allow_extra_args(false)
                  ->needs(model);
  Named(app, "DIR|NPZ", "--inputs", own->inputs,
        "the model's inputs; drawn from the seed if\n"
        "none")
      ->needs(model)
      ->excludes(dim);
  return model;
}

void AddModels(CLI::App* app, select::SelectionOptions* options) {
  AddModel(app, &options->model);
  app->add_flag("--gradients", options->gradients,
                "gradients of the models of --model and --corpus,\n"
                "too");
}

void AddSupervision(CLI::App* run, RunOptions* options) {
  Checked(run, Whole(0, kMostJobs), "--jobs", options->jobs,
          "workers at a time; 0: one per processor");
  Checked(run, CLI::IsMember({"none", "batch", "case"}), "--isolation",
          options->isolation,
          "cases per worker: none (all), batch or case (one)");
  run->add_option("--repeats", options->repeats,
                  "most unexpected results that are run again alone; a tenth "
                  "of the cases, and 32 at least, if none")
      ->check(Whole(0));
  Checked(run, Whole(1, kMostAttempts), "--attempts", options->attempts,
          "times that a case which passes is run at most, the others alone, "
          "until it does not");
  run->add_flag("--shuffle", options->shuffle,
                "run cases in an order drawn with the seed");
  Checked(run, Between(kShortest, kLongest), "--timeout", options->timeout_s,
          "seconds for one case");
  Checked(run, Between(kShortest, kLongest), "--time-budget",
          options->time_budget_s, "seconds for the times of one case");
  Checked(run, Between(0, kMostMemory), "--memory", options->memory_gib,
          "GiB that a worker may take; 0: a share of all");
}

void AddRun(CLI::App& app, RunOptions* options) {
  CLI::App* run = app.add_subcommand("run", "run cases and judge them");
  AddSelection(run, options);
  AddModels(run, options);
  auto* out = Named(run, "DIR", "--out", options->out,
                    "run folder to write; below runs/ if none");
  auto* resume =
      Named(run, "DIR", "--resume", options->resume, "run folder to go on with")
          ->excludes(out);
  auto* parts = Named(run, "DIR", "--parts", options->parts,
                      "where the records of a shard go");
  auto* plan = Named(run, "DIR", "--plan", options->plan, "folder of a plan");
  plan->needs(parts);
  parts->needs(plan);
  Named(run, "I/N", "--shard", options->shard, "part of a plan")
      ->capture_default_str()
      ->needs(plan);
  resume->excludes(plan);
  // A plan has its selection; of its parts a shard takes suites and backends.
  for (const char* name : {"--filter", "--tier", "--ranks", "--corpus",
                           "--seed", "--host", "--model", "--gradients"}) {
    run->get_option(name)->excludes(resume)->excludes(plan);
  }
  run->get_option("--suite")->excludes(resume);
  run->get_option("--backend")->excludes(resume);
  AddSupervision(run, options);
  Checked(run, Whole(0, kMostCapsules), "--capsules", options->capsules,
          "folders to write of unexpected cases, at most");
  Named(run, "DIR", "--oracle-cache", options->oracle_cache,
        "folder that keeps exact answers")
      ->needs("--oracle");
  run->add_flag("--allow-unavailable", options->allow_unavailable,
                "a missing library or device is no failure");
  AddNoReport(run, &options->report);
  run->add_flag("--json", options->json,
                "the summary as JSON on standard output, with the paths of "
                "the run; all else goes to standard error")
      ->excludes(plan);
  AddExamples(run,
              "  assay run --backend acme\n"
              "  assay run --backend ./acme.so+threads=2 --filter op:Conv\n"
              "  assay run --backend acme --model m.onnx --dim batch=4\n"
              "  assay run --backend acme --corpus ./mine --gradients\n"
              "  assay run --resume runs/latest\n"
              "  assay run --backend acme --json >run.json");
}

void AddPlan(CLI::App& app, PlanOptions* options) {
  CLI::App* plan = app.add_subcommand("plan", "write what a run would do");
  AddSelection(plan, options);
  AddModels(plan, options);
  Named(plan, "DIR", "--out", options->out, "folder of the plan")->required();
  AddExamples(plan, "  assay plan --backend acme --out plan");
}

void AddMerge(CLI::App& app, MergeOptions* options) {
  CLI::App* merge =
      app.add_subcommand("merge", "judge the parts of a plan as one run");
  Named(merge, "DIR", "plan", options->parts, "folder of plan and parts")
      ->required();
  Named(merge, "DIR", "--out", options->out,
        "run folder to write; below runs/ if none");
  merge->add_flag("--allow-unavailable", options->allow_unavailable,
                  "a missing library or device is no failure");
  AddNoReport(merge, &options->report);
  AddExamples(merge,
              "  assay run --plan plan --parts plan/parts --shard 1/2\n"
              "  assay run --plan plan --parts plan/parts --shard 2/2\n"
              "  assay merge plan");
}

void AddList(CLI::App& app, ListOptions* options) {
  CLI::App* list = app.add_subcommand("list", "list what there is");
  Named(list, "LIST", "what", options->what, "one of the lists below");
  Named(list, "NAME|DIR", "--corpus", options->corpora,
        "name or folder; repeatable")
      ->allow_extra_args(false);
  Named(list, "QUERY", "--filter", options->filter, "query over cases");
  Named(list, "DIR", "--run", options->run,
        "run folder, for coverage, inexact and results");
  list->add_flag("--holes", options->holes,
                 "of coverage: a line for what no case touches");
  list->add_flag("--json", options->json, "for programs");
  list->add_flag("--csv", options->csv, "of results and operators");
  list->footer("Lists:\n" + list::ListsText());
  AddExamples(list,
              "  assay list cases --filter 'op:MatMul and rank<=2'\n"
              "  assay list results --run runs/latest --filter outcome:fail");
}

void AddInspect(CLI::App& app, InspectOptions* options) {
  CLI::App* inspect =
      app.add_subcommand("inspect", "say what a backend's module is");
  Named(inspect, "BACKEND", "backend", options->backend, "name or file")
      ->required();
  inspect->add_flag("--json", options->json, "for programs");
  AddExamples(inspect, "  assay inspect ./acme.so");
}

void AddExplain(CLI::App& app, ExplainOptions* options) {
  CLI::App* explain =
      app.add_subcommand("explain", "say why a case has its verdict");
  Named(explain, "TEST_ID", "test_id", options->test_id,
        "as assay list cases has it")
      ->required();
  Named(explain, "BACKEND", "--backend", options->backend,
        "instance; all if none");
  options->run = "runs/latest";
  Named(explain, "DIR", "--run", options->run, "run folder")
      ->capture_default_str();
  explain->add_flag("--json", options->json, "for programs");
  AddExamples(explain, "  assay explain node/Abs/test_abs --run runs/latest");
}

void AddCase(CLI::App* app, CapsuleOptions* options) {
  Named(app, "TEST_ID", "test_id", options->test_id,
        "as assay list cases has it")
      ->required();
  Named(app, "BACKEND", "--backend", options->backend,
        "instance or file; may be left out with --run");
  Named(app, "DIR", "--run", options->run, "run folder that has the case");
  Named(app, "NAME|DIR", "--corpus", options->corpora,
        "name, or a folder of cases; repeatable")
      ->allow_extra_args(false);
  Defaulted(app, "--seed", options->seed, "of everything random");
  Checked(app, Between(kShortest, kLongest), "--timeout", options->timeout_s,
          "seconds for one case");
  Named(app, "BACKEND", "--oracle", options->oracle,
        "backend whose answers are taken for right")
      ->capture_default_str();
  Named(app, "DIR", "--out", options->out, "folder to write")->required();
  AddExamples(app, StrCat("  assay ", app->get_name(),
                          " node/Abs/test_abs --run runs/latest --out abs"));
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
  shrink->get_option("--oracle")
      ->description(
          "backend whose answers are taken for right; of a case of ranks, "
          "threads if none");
  Checked(shrink, Whole(1), "--budget", options->budget,
          "cases that the backend is tried on at most");
}

void AddTrace(CLI::App& app, TraceOptions* options) {
  CLI::App* trace = app.add_subcommand(
      "trace", "find the first node of a network that goes wrong by itself");
  AddCase(trace, options);
  trace->get_option("test_id")->required(false);
  trace->get_option("--out")->required(false)->description(
      "folder to write: trace.csv, trace.svg and, of the first wrong node, a "
      "capsule");
  AddModel(trace, &options->model)
      ->excludes("test_id")
      ->excludes("--corpus")
      ->excludes("--run");
  Checked(trace, Whole(0), "--data-set", options->data_set,
          "of the case, whose inputs are taken");
  trace->add_flag("--json", options->json, "for programs");
}

void AddExpect(CLI::App& app, ExpectOptions* options) {
  CLI::App* expect =
      app.add_subcommand("expect", "expectations and floors of backends");
  expect->require_subcommand(1);
  CLI::App* update = expect->add_subcommand(
      "update", "adopt what a run showed into the policy files");
  Named(update, "DIR", "--run", options->run, "run folder")->required();
  Named(update, "BACKEND", "--backend", options->backend,
        "instance; all if none");
  update->add_flag("--drop", options->drop,
                   "take lost cases out of passing.txt");
  update->add_flag("--dry-run", options->dry_run, "print, write nothing");
  AddExamples(expect, "  assay expect update --run runs/latest --dry-run");
}

/// Adds an option of seconds, for the network on which a page simulates
/// messages.
CLI::Option* AddSeconds(CLI::App* report, const char* name, std::string* text,
                        const char* what) {
  const auto check = [](std::string& word) {
    const std::optional<double> seconds = file::ParseDouble(word);
    if (seconds.has_value() && *seconds > 0 && *seconds < 1e6) {
      return std::string();
    }
    return StrCat("found ", word, ", wanted seconds above 0 and below 1e6");
  };
  return report->add_option(name, *text, what)
      ->check(CLI::Validator(check, ""));
}

void AddReport(CLI::App& app, ReportOptions* options) {
  CLI::App* report = app.add_subcommand("report", "write a run's HTML page");
  Named(report, "DIR", "run", options->runs,
        "run folder; several with --training")
      ->required();
  auto* training = report->add_flag("--training", options->is_training,
                                    "compare runs of assay train");
  Named(report, "FILE", "--out", options->out,
        "file to write; report.html of the first run if none");
  auto* alpha = AddSeconds(report, "--alpha", &options->alpha,
                           "of a message on the network that a page of\n"
                           "ranks simulates; if none, the page's own")
                    ->type_name("SECONDS")
                    ->excludes(training);
  auto* beta = AddSeconds(report, "--beta", &options->beta,
                          "of each byte of such a message")
                   ->type_name("SECONDS_PER_BYTE")
                   ->needs(alpha);
  alpha->needs(beta);
  AddExamples(report,
              "  assay report runs/latest --out page.html\n"
              "  assay report runs/latest --alpha 2e-6 --beta 6.4e-11\n"
              "  assay report --training runs/*-lenet5 --out training.html");
}

void AddExport(CLI::App& app, ExportOptions* options) {
  CLI::App* tables = app.add_subcommand(
      "export", "write the tables of the Deep500 thesis, or times as JSON");
  auto* deep500 = Named(tables, "DIR", "--deep500", options->folder,
                        "folder to write: accuracy, time, gradient, optimizer "
                        "steps, epochs");
  auto* google =
      Named(tables, "FILE", "--google-benchmark", options->google_benchmark,
            "times of a run as the JSON of Google Benchmark")
          ->excludes(deep500);
  Named(tables, "DIR", "--run", options->run, "run folder of cases");
  Named(tables, "DIR", "--training", options->training,
        "run folder of assay train")
      ->excludes(google);
  AddExamples(tables,
              "  assay export --deep500 tables --run runs/latest\n"
              "  assay export --deep500 tables --training runs/a "
              "--training runs/b\n"
              "  assay export --google-benchmark times.json --run runs/latest");
}

void AddCompare(CLI::App& app, CompareOptions* options) {
  CLI::App* compare = app.add_subcommand(
      "compare", "find out which of two backends takes longer");
  Named(compare, "BACKEND", "base", options->base,
        "instance that is timed beside it")
      ->required();
  Named(compare, "BACKEND", "candidate", options->candidate,
        "that is slower or faster than it, of the same kind")
      ->required();
  Named(compare, "QUERY", "--filter", options->filter, "cases, as of run");
  Named(compare, "NAME|DIR", "--corpus", options->corpora,
        "by default the one of ONNX")
      ->allow_extra_args(false);
  Checked(compare, CLI::IsMember({"smoke", "ci", "nightly", "scale"}), "--tier",
          options->tier, "ci has a case of each operator");
  AddSeed(compare, &options->seed);
  Checked(compare, Between(kShortest, kLongest), "--budget", options->budget_s,
          "seconds for one case");
  Checked(compare, Between(0.001, 10), "--threshold", options->threshold,
          "share of the time that counts for nothing");
  Checked(compare, Between(kShortest, kLongest), "--timeout",
          options->timeout_s, "seconds until a case is ended");
  Named(compare, "DIR", "--out", options->out, "folder for compare.csv");
  AddExamples(
      compare,
      "  assay compare reference reference --filter op:Conv --budget 1");
}

void AddAssess(CLI::App& app, AssessOptions* options) {
  CLI::App* assess = app.add_subcommand(
      "assess", "find out which deliberate defects the suites see");
  Named(assess, "BACKEND", "--backend", options->backends,
        "by default each that has a mutants.txt");
  Named(assess, "NAME", "--mutant", options->mutants,
        "this one alone; writes no table without --out");
  Named(assess, "FILE", "--out", options->out, "mutants.csv to write");
  assess->add_flag("--check", options->check,
                   "only say what is known of this build; 1: nothing");
  assess
      ->add_option("--repeats", options->repeats,
                   "of the clean backend; 20, of a library of ranks 10")
      ->check(Whole(0));
  Checked(assess, Whole(0, kMostJobs), "--jobs", options->jobs,
          "workers at a time; 0: one per processor");
  AddExamples(assess,
              "  assay assess --check\n"
              "  assay assess --backend threads --mutant broadcast_dropped");
}

}  // namespace

CLI::Validator Whole(int64_t least, int64_t most) {
  return CLI::Validator(
      [=](std::string& text) {
        const std::optional<int64_t> number = file::ParseInt(text);
        if (number.has_value() && *number >= least && *number <= most) {
          return std::string();
        }
        return StrCat("found ", text, ", wanted a whole number from ", least,
                      " to ", most);
      },
      "");
}

CLI::Validator Between(double least, double most) {
  return CLI::Validator(
      [=](std::string& text) {
        const std::optional<double> number = file::ParseDouble(text);
        if (number.has_value() && *number >= least && *number <= most) {
          return std::string();
        }
        return StrCat("found ", text, ", wanted a number from ",
                      file::ToText(least), " to ", file::ToText(most));
      },
      "");
}

void AddExamples(CLI::App* app, const std::string& lines) {
  const std::string before = app->get_footer();
  app->footer(
      StrCat(before, before.empty() ? "" : "\n\n", "Examples:\n", lines));
}

void AddSeed(CLI::App* app, int64_t* seed) {
  const auto draw = [](std::string& text) {
    if (text == "drawn") text = std::to_string(std::random_device()());
    return std::string();
  };
  app->add_option("--seed", *seed,
                  "of everything random; drawn: one that nobody knows before")
      ->transform(CLI::Validator(draw, ""))
      ->type_name("INT|drawn")
      ->capture_default_str();
}

void AddCommands(CLI::App& app, Options* options) {
  app.formatter(std::make_shared<Help>());
  app.set_version_flag("--version", select::kVersion);
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 all as expected, 1 something unexpected, 2 wrong usage "
      "or\n"
      "nothing selected, 77 all backends unavailable and allowed to be, 99 "
      "the\n"
      "harness failed, 130 stopped by a signal. COMMAND --help has its "
      "options.\n"
      "Outcomes are coloured on a terminal, unless NO_COLOR is set; "
      "CLICOLOR_FORCE\n"
      "colours a pipe, too.");
  AddRun(app, &options->run);
  AddPlan(app, &options->plan);
  AddMerge(app, &options->merge);
  AddList(app, &options->list);
  AddInspect(app, &options->inspect);
  AddExplain(app, &options->explain);
  AddExpect(app, &options->expect);
  AddCapsule(app, &options->capsule);
  AddShrink(app, &options->shrink);
  AddTrace(app, &options->trace);
  AddCompare(app, &options->compare);
  AddReport(app, &options->report);
  AddExport(app, &options->deep500);
  AddAssess(app, &options->assess);
  CLI::App* schema = app.add_subcommand("schema", "print the tables' columns");
  schema->add_option("format", options->format, "of the text")
      ->required()
      ->check(CLI::IsMember({"json", "markdown"}));
  AddExamples(schema, "  assay schema markdown");
  CLI::App* completion = app.add_subcommand(
      "completion", "print a script that completes commands");
  completion->add_option("shell", options->shell, "that reads it")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh"}));
  AddExamples(completion, "  source <(assay completion bash)");
  AddTraining(app, options);
}

}  // namespace assay::cli
