// SPDX-License-Identifier: Apache-2.0
//
// The assay program: which command the arguments are for.
//
//   assay run --backend onednn --filter 'op:Conv'

#include <CLI/CLI.hpp>
#include <csignal>
#include <exception>
#include <iostream>
#include <string>

#include "framework/cli/arguments.h"
#include "framework/cli/commands.h"
#include "framework/cli/completion.h"
#include "framework/cli/training_arguments.h"
#include "framework/file/nearest.h"
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

/// What the words that no command takes may have been meant to be, a line each.
std::string Meant(const CLI::App& app, const std::string& first) {
  const CLI::App* command = &app;
  std::string text;
  for (;;) {
    std::vector<std::string> known;
    for (const CLI::Option* option : command->get_options()) {
      for (const std::string& name : option->get_lnames()) {
        known.push_back("--" + name);
      }
    }
    for (const CLI::App* sub : command->get_subcommands({})) {
      known.push_back(sub->get_name());
    }
    std::vector<std::string> words = command->remaining();
    // Where no command was found the parser keeps no words.
    if (app.get_subcommands().empty() && words.empty()) words.push_back(first);
    for (const std::string& word : words) {
      const std::string meant =
          file::DidYouMean(word.substr(0, word.find('=')), known);
      if (!meant.empty()) text += StrCat(word, meant, "\n");
    }
    const auto taken = command->get_subcommands();
    if (taken.empty()) return text;
    command = taken.back();
  }
}

int Dispatch(const CLI::App& app, const Options& options) {
  const auto is = [&](const char* name) { return app.got_subcommand(name); };
  if (is("run")) return run::RunCommand(options.run);
  if (is("plan")) return run::PlanCommand(options.plan);
  if (is("merge")) return run::MergeCommand(options.merge);
  if (is("list")) return list::ListCommand(options.list);
  if (is("inspect")) return list::InspectCommand(options.inspect);
  if (is("explain")) return explain::ExplainCommand(options.explain);
  if (is("expect")) return expect::ExpectCommand(options.expect);
  if (is("capsule")) return repro::CapsuleCommand(options.capsule);
  if (is("shrink")) return repro::ShrinkCommand(options.shrink);
  if (is("export")) return run::ExportCommand(options.deep500);
  if (is("report")) return run::ReportCommand(options.report);
  if (is("assess")) return assess::AssessCommand(options.assess);
  if (is("train")) return train::TrainCommand(options.train);
  if (is("converge")) return train::ConvergeCommand(options.converge);
  if (is("bisect")) return train::BisectCommand(options.bisect);
  if (is("optdiff")) return train::OptDiffCommand(options.optdiff);
  if (is("completion")) {
    std::cout << Completion(app, options.shell);
    return select::kExitOk;
  }
  std::cout << (options.format == "json" ? record::SchemaJson()
                                         : record::SchemaMarkdown());
  return select::kExitOk;
}

int Main(int argc, char** argv) {
  // Where it is ignored, as some daemons have it, no child can be waited for.
  std::signal(SIGCHLD, SIG_DFL);
  CLI::App app("tests and qualifies deep-learning backends", "assay");
  Options options;
  AddCommands(app, &options);
  AddTraining(app, &options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (app.exit(error) == 0) return select::kExitOk;
    std::cerr << Meant(app, argc > 1 ? argv[1] : "");
    return select::kExitUsage;
  }
  options.run.command = options.plan.command = CommandLine(argc, argv);
  return Dispatch(app, options);
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
