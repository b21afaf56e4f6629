// SPDX-License-Identifier: Apache-2.0
//
// The arguments of each command of the assay program.

#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "framework/cli/commands.h"

namespace assay::cli {

/// The options of every command.
struct Options {
  RunOptions run;
  PlanOptions plan;
  MergeOptions merge;
  ListOptions list;
  InspectOptions inspect;
  ExplainOptions explain;
  ExpectOptions expect;
  CapsuleOptions capsule;
  ShrinkOptions shrink;
  TraceOptions trace;
  ReportOptions report;
  AssessOptions assess;
  CompareOptions compare;
  TrainOptions train;
  ExportOptions deep500;
  program::OptDiffRequest optdiff;
  program::BisectRequest bisect;
  program::ConvergeRequest converge;
  std::string format;  // of schema
  std::string shell;   // of completion
};

/// Adds every command with its options to the program.
void AddCommands(CLI::App& app, Options* options);

/// Those that train, which AddCommands adds as well.
void AddTraining(CLI::App& app, Options* options);

/// Adds an option whose value the help calls `type`.
template <class Value>
CLI::Option* Named(CLI::App* app, const char* type, const char* name,
                   Value& value, const std::string& help) {
  return app->add_option(name, value, help)->type_name(type);
}

/// Adds an option whose default the help has.
template <class Value>
CLI::Option* Defaulted(CLI::App* app, const char* name, Value& value,
                       const std::string& help) {
  return app->add_option(name, value, help)->capture_default_str();
}

/// The same of one whose value has to pass `check`.
template <class Value>
CLI::Option* Checked(CLI::App* app, const CLI::Validator& check,
                     const char* name, Value& value, const std::string& help) {
  return Defaulted(app, name, value, help)->check(check);
}

/// Permits the numbers from `least` to `most`.
CLI::Validator Whole(int64_t least, int64_t most = 1'000'000'000);
CLI::Validator Between(double least, double most);

/// Adds the lines that a person may type to the end of a command's help.
void AddExamples(CLI::App* app, const std::string& lines);

/// Adds --seed, which takes the word `drawn` for a number.
void AddSeed(CLI::App* app, int64_t* seed);

}  // namespace assay::cli
