// SPDX-License-Identifier: Apache-2.0
//
// The commands of the assay program, each taking its parsed options and
// returning an exit code: 0 all as expected, 1 unexpected result, 2 usage or
// empty selection, 77 everything unavailable and allowed, 99 harness error.

#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "framework/cli/select/chosen_case.h"
#include "framework/cli/select/selection.h"
#include "framework/cli/select/terminal.h"
#include "framework/train/program/trainer_request.h"

namespace assay::cli {

struct RunOptions : select::SelectionOptions {
  std::filesystem::path out;
  std::filesystem::path resume;
  std::filesystem::path plan;  // with shard and parts
  std::filesystem::path parts;
  std::string shard = "1/1";
  std::string isolation = "batch";
  double timeout_s = 120;
  double time_budget_s = 0.25;
  double memory_gib = 0;       // of a worker; 0: a share of the machine's
  int jobs = 0;                // 0: one per processor
  std::optional<int> repeats;  // none: a share of the cases
  int attempts = 1;            // of a case that passes, at most
  bool shuffle = false;
  std::filesystem::path oracle_cache;  // empty: where they are kept
  int capsules = 0;                    // of unexpected cases, at most
  bool allow_unavailable = false;
  bool report = true;
  bool json = false;  // for a program, on standard output
};

struct PlanOptions : select::SelectionOptions {
  std::filesystem::path out;
};

struct MergeOptions {
  std::filesystem::path parts;  // the folder of plan and parts
  std::filesystem::path out;
  bool allow_unavailable = false;
  bool report = true;
};

struct ListOptions {
  std::string what;  // a name of list::ListsText
  std::vector<std::string> corpora;
  std::string filter;
  bool json = false;
  bool csv = false;    // of results and operators
  std::string run;     // of coverage, inexact, operators and results
  bool holes = false;  // of coverage, in place of its table
};

struct InspectOptions {
  std::string backend;  // instance or file
  bool json = false;
};

struct ExplainOptions {
  std::string test_id;
  std::string backend;
  std::filesystem::path run;
  bool json = false;
};

struct CapsuleOptions : select::CaseOptions {
  std::filesystem::path out;
  std::string oracle = "reference";
};

struct ShrinkOptions : CapsuleOptions {
  int64_t budget = 2000;  // candidates that the backend runs
};

struct TraceOptions : CapsuleOptions {  // `out` may be empty
  int64_t data_set = 0;
  bool json = false;
};

/// expect update: adopts what a run showed.
struct ExpectOptions {
  std::filesystem::path run;
  std::string backend;  // instance; empty: all of the run
  bool drop = false;    // also cases from the floor
  bool dry_run = false;
};

struct AssessOptions {
  std::vector<std::string> backends;  // empty: all that have a mutants.txt
  std::vector<std::string> mutants;   // empty: all
  std::filesystem::path out;          // empty: where runs look for it
  std::optional<int> repeats;         // of the clean backend; 20, of ranks 10
  bool check = false;                 // only say whether it is done
  int jobs = 0;                       // 0: one per processor
};

struct CompareOptions {
  std::string base, candidate;  // instances
  std::string filter;
  std::vector<std::string> corpora;
  std::string tier = "ci";
  int64_t seed = 0;
  double budget_s = 2;        // of one case
  double threshold = 0.03;    // a share
  double timeout_s = 120;     // of one case
  std::filesystem::path out;  // empty: no file is written
};

struct ReportOptions {
  std::vector<std::string> runs;
  bool is_training = false;   // they are of assay train
  std::filesystem::path out;  // empty: report.html of the first run
  std::string alpha, beta;    // of a simulated network; both or none
};

/// The tables of the Deep500 thesis.
struct ExportOptions {
  std::filesystem::path folder;            // to write, of tables of the thesis
  std::filesystem::path google_benchmark;  // file to write; empty: none
  std::filesystem::path run;               // of cases; empty: none
  std::vector<std::string> training;
};

/// One training run: the request that the trainer gets, and what it is made of.
struct TrainOptions {
  program::TrainRequest request;
  std::string backend = "reference";
  std::string optimizer = "momentum";  // OPTIMIZER[/PRESET][:SETTINGS]
  std::filesystem::path resume;        // empty: a new one
  // Those of the run that goes on, or the trainer's own, where none is given.
  std::optional<int64_t> epochs, checkpoint_every;  // every so many steps
  std::optional<double> stop_at;                    // accuracy; 0: none
  std::optional<double> seconds;                    // 0: as many as it takes
};

}  // namespace assay::cli

namespace assay::train {
int TrainCommand(const cli::TrainOptions& options);
// In these requests a run is as typed, BACKEND[:OPTIMIZER[/PRESET][:SETTINGS]],
// and has no module yet.
int OptDiffCommand(const program::OptDiffRequest& typed);
int BisectCommand(const program::BisectRequest& typed);
int ConvergeCommand(const program::ConvergeRequest& typed);
}  // namespace assay::train

namespace assay::run {
int RunCommand(const cli::RunOptions& options);
int PlanCommand(const cli::PlanOptions& options);
int MergeCommand(const cli::MergeOptions& options);
int ReportCommand(const cli::ReportOptions& options);
int ExportCommand(const cli::ExportOptions& options);
}  // namespace assay::run

namespace assay::list {
/// A line for each list that there is, those of suites behind our own.
std::string ListsText();
int ListCommand(const cli::ListOptions& options);
int InspectCommand(const cli::InspectOptions& options);
}  // namespace assay::list

namespace assay::explain {
int ExplainCommand(const cli::ExplainOptions& options);
}  // namespace assay::explain

namespace assay::expect {
int ExpectCommand(const cli::ExpectOptions& options);
}  // namespace assay::expect

namespace assay::repro {
int CapsuleCommand(const cli::CapsuleOptions& options);
int ShrinkCommand(const cli::ShrinkOptions& options);
}  // namespace assay::repro

namespace assay::trace {
int TraceCommand(const cli::TraceOptions& options);
}  // namespace assay::trace

namespace assay::compare {
int CompareCommand(const cli::CompareOptions& options);
}  // namespace assay::compare

namespace assay::assess {
int AssessCommand(const cli::AssessOptions& options);
}  // namespace assay::assess
