// SPDX-License-Identifier: Apache-2.0
//
// The assay program: which command the arguments are for.
//
//   assay run --backend onednn --filter 'op:Conv'

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <exception>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "framework/cli/arguments.h"
#include "framework/cli/commands.h"
#include "framework/core/text.h"
#include "framework/file/nearest.h"
#include "framework/file/output.h"
#include "framework/testing/record/tables.h"

namespace assay::cli {
namespace {

/// "smoke ci": the values that a check permits, as the parser names
/// them; empty where it permits any.
std::string ValuesOf(const CLI::Option& option) {
  const std::string type = option.get_type_name();  // "TEXT:{smoke,ci}"
  const size_t begin = type.find('{');
  const size_t end = type.rfind('}');
  if (begin == std::string::npos || end == std::string::npos) return {};
  std::string values = type.substr(begin + 1, end - begin - 1);
  std::ranges::replace(values, ',', ' ');
  return values;
}

/// Commands below one, its options, and the values of what has no option, as a
/// shell's list of words.
std::string WordsOf(const CLI::App& command) {
  std::vector<std::string> words;
  for (const CLI::App* sub : command.get_subcommands({})) {
    words.push_back(sub->get_name());
  }
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      words.push_back("--" + name);
    }
    if (option->get_positional() && !ValuesOf(*option).empty()) {
      words.push_back(ValuesOf(*option));
    }
  }
  return Joined(words, " ");
}

/// "    run) words='--backend --suite' ;;", a line for each command.
std::string Cases(const CLI::App& app) {
  std::string text;
  for (const CLI::App* command : app.get_subcommands({})) {
    std::string words = WordsOf(*command);
    for (const CLI::App* below : command->get_subcommands({})) {
      words += " " + WordsOf(*below);
    }
    text += StrCat("    ", command->get_name(), ") words='", words, "' ;;\n");
  }
  return text;
}

/// "    --tier) words='smoke ci' ;;", a line for each option of any
/// command that takes few values.
std::string ValueCases(const CLI::App& app) {
  std::map<std::string, std::string> lines;
  for (const CLI::App* command : app.get_subcommands({})) {
    for (const CLI::Option* option : command->get_options()) {
      const std::string values = ValuesOf(*option);
      if (values.empty()) continue;
      for (const std::string& name : option->get_lnames()) {
        lines.emplace(name,
                      StrCat("    --", name, ") words='", values, "' ;;\n"));
      }
    }
  }
  std::string text;
  for (const auto& [name, line] : lines) text += line;
  return text;
}

/// A script of the shell, bash or zsh, that completes commands, their options,
/// the values of options that have a list of them, backends and suites, and
/// else files.
std::string Completion(const CLI::App& app, std::string_view shell) {
  const std::string& name = app.get_name();
  const std::string before =
      shell == "zsh" ? "autoload -U +X bashcompinit && bashcompinit\n" : "";
  return StrCat(before, "_", name,
                "() {\n"
                "  local words=''\n"
                "  case ${COMP_WORDS[1]} in\n",
                Cases(app),
                "  esac\n"
                "  case ${COMP_WORDS[COMP_CWORD-1]} in\n"
                "    --backend) words=$(",
                name,
                " list backends 2>/dev/null) ;;\n"
                "    --suite) words=$(",
                name, " list suites 2>/dev/null | cut -d' ' -f1) ;;\n",
                ValueCases(app),
                "  esac\n"
                "  if ((COMP_CWORD == 1)); then words='",
                WordsOf(app),
                "'; fi\n"
                "  COMPREPLY=($(compgen -W \"$words\" -- "
                "\"${COMP_WORDS[COMP_CWORD]}\"))\n"
                "}\n"
                "complete -o default -F _",
                name, " ", name, "\n");
}

std::string CommandLine(int argc, char** argv) {
  std::string text = "assay";
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool plain = word.find_first_of(" '\"*?()") == std::string::npos;
    text += plain ? " " + word : " '" + word + "'";
  }
  return record::CleanText(text);
}

/// "found 'hlep', wanted one of run, plan, ..." where the word is to be a
/// command, or one below a command, and is none.
std::string WantedCommands(const CLI::App& app, const std::string& word) {
  if (word.starts_with('-')) return {};
  const auto taken = app.get_subcommands();
  if (!taken.empty()) {
    const std::vector<std::string> rest = taken[0]->remaining();
    return WantedCommands(*taken[0], rest.empty() ? "" : rest[0]);
  }
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) {
    names.push_back(command->get_name());
  }
  if (names.empty()) return {};
  if (app.get_parent() == nullptr) names.emplace_back("help");
  const std::string found = word.empty() ? "no word" : StrCat("'", word, "'");
  return select::Wrapped(
      StrCat("found ", found, ", wanted one of ", Joined(names)));
}

/// Suggestions for the words that no command takes, a line each.
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
    if (command == &app) known.emplace_back("help");
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
  if (is("compare")) return compare::CompareCommand(options.compare);
  if (is("trace")) return trace::TraceCommand(options.trace);
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
  const std::string first = argc > 1 ? argv[1] : "";
  try {
    if (first == "help" && argc == 2) throw CLI::CallForHelp();
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (app.exit(error) == 0) return select::kExitOk;
    std::cerr << WantedCommands(app, first) << Meant(app, first);
    return select::kExitUsage;
  }
  options.run.command = options.plan.command = CommandLine(argc, argv);
  return Dispatch(app, options);
}

}  // namespace
}  // namespace assay::cli

int main(int argc, char** argv) {
  using assay::select::ExitCodeOf;
  int code = ExitCodeOf(assay::file::HoldStandardStreams());
  if (code != assay::select::kExitOk) return code;
  try {
    code = assay::cli::Main(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "assay: " << error.what() << "\n";
    code = assay::select::kExitHarness;
  }
  const int written = ExitCodeOf(assay::file::FlushOutput());
  return code == assay::select::kExitOk ? written : code;
}
