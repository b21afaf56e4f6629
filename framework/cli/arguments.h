// SPDX-License-Identifier: Apache-2.0
//
// What may be typed behind each command of the assay program.
//
//   Options options;
//   AddCommands(app, &options);
//   app.parse(argc, argv);

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
  ReportOptions report;
  AssessOptions assess;
  TrainOptions train;
  ExportOptions deep500;
  OptDiffOptions optdiff;
  BisectOptions bisect;
  ConvergeOptions converge;
  std::string format;  // of schema
  std::string shell;   // of completion
};

/// Adds every command with its options to the program.
void AddCommands(CLI::App& app, Options* options);

/// Adds the lines that a person may type to the end of a command's help.
void AddExamples(CLI::App* app, const std::string& lines);

/// Adds --seed, which takes the word `drawn` for a number.
void AddSeed(CLI::App* app, int64_t* seed);

}  // namespace assay::cli
