// SPDX-License-Identifier: Apache-2.0
//
// The cost of the framework: calls of a library beside those of the backend on
// it, and epochs by hand beside those of Train. overhead.sh starts it, also
// under callgrind.

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "framework/backend/registry.h"
#include "framework/core/text.h"
#include "framework/file/file.h"
#include "framework/testing/record/tables.h"
#include "perf/overhead/callgrind.h"
#include "perf/overhead/cases.h"
#include "perf/overhead/epoch.h"
#include "perf/overhead/natives.h"
#include "perf/overhead/pair.h"
#include "perf/overhead/report.h"

namespace assay::overhead {
namespace {

struct Options {
  std::vector<std::string> modules;
  std::string only;
  double seconds = 1;
  double epoch_seconds = 0;
  std::string peer;
  bool makes_counted_calls = false;
  bool is_self = false;
  std::string counts;
  int64_t most_instructions = -1;
  std::string out;
};

constexpr double kNsOfSecond = 1e9;

/// The backends of the modules, and what is measured on them.
class Subjects {
 public:
  Status Load(const Options& options) {
    for (const std::string& module : options.modules) {
      const size_t end = module.find('=');
      const bool has_library = end != std::string::npos;
      ASSAY_ASSIGN_OR_RETURN(
          const auto names,
          LoadBackendModule(has_library ? module.substr(end + 1) : module));
      for (const std::string& name : names) {
        ASSAY_ASSIGN_OR_RETURN(auto backend, MakeBackend(name));
        ASSAY_RETURN_IF_ERROR(backend->Inspect().status());
        if (has_library) {
          ASSAY_RETURN_IF_ERROR(
              AddCalls(*backend, module.substr(0, end), options));
        }
        backends_.push_back(std::move(backend));
      }
    }
    return OkStatus();
  }

  /// Epochs on each backend that has gradients.
  Result<std::vector<Pair>> EpochPairs(const std::string& peer) {
    std::vector<Pair> pairs;
    for (const auto& backend : backends_) {
      auto made = Epochs::Make(*backend, peer);
      if (made.status().code() == StatusCode::kUnsupported) continue;
      ASSAY_RETURN_IF_ERROR(made.status());
      const auto more = (*made)->pairs();
      pairs.insert(pairs.end(), more.begin(), more.end());
      epochs_.push_back(*std::move(made));
    }
    return pairs;
  }

  const std::vector<Pair>& calls() const { return calls_; }

 private:
  Status AddCalls(Backend& backend, const std::string& library,
                  const Options& options) {
    for (const Case& each : Cases()) {
      Pair pair;
      pair.test_id = StrCat("overhead/", each.op, "/", each.name);
      if (pair.test_id.find(options.only) == std::string::npos) continue;
      pair.backend = backend.name();
      ASSAY_ASSIGN_OR_RETURN(const auto bound, Bind(backend, each, {}));
      ASSAY_ASSIGN_OR_RETURN(pair.native, NativeOf(library, each, *bound));
      pair.framework = BoundCalls(bound);
      pair.output = bound->output;
      ASSAY_RETURN_IF_ERROR(CheckAlike(pair));
      ASSAY_ASSIGN_OR_RETURN(pair.eigen, EigenCalls(each, *bound));
      if (options.is_self) pair.framework = pair.native;
      calls_.push_back(std::move(pair));
    }
    return OkStatus();
  }

  std::vector<std::unique_ptr<Backend>> backends_;
  std::vector<std::unique_ptr<Epochs>> epochs_;
  std::vector<Pair> calls_;
};

/// Rows without times where there is no time for them.
Result<std::vector<times::OverheadRow>> Rows(const std::vector<Pair>& pairs,
                                             double seconds,
                                             const timing::Clock& clock) {
  std::vector<times::OverheadRow> rows;
  for (const Pair& pair : pairs) {
    if (seconds > 0) {
      const auto budget_ns = static_cast<int64_t>(seconds * kNsOfSecond);
      ASSAY_ASSIGN_OR_RETURN(rows.emplace_back(),
                             TimePair(pair, {.ns = budget_ns}, clock));
    } else {
      times::OverheadRow& row = rows.emplace_back();
      row.test_id = pair.test_id;
      row.backend = pair.backend;
    }
  }
  return rows;
}

Status AddInstructions(const std::string& file,
                       std::vector<times::OverheadRow>* rows) {
  ASSAY_ASSIGN_OR_RETURN(const std::string text, file::ReadFile(file));
  ASSAY_ASSIGN_OR_RETURN(const auto instructions,
                         ReadInstructions(text, rows->size()));
  for (size_t i = 0; i < rows->size(); ++i) {
    (*rows)[i].native_instructions = instructions[i].native;
    (*rows)[i].framework_instructions = instructions[i].framework;
  }
  return OkStatus();
}

/// True when all is within the limit that was asked for.
Result<bool> Measure(const Options& options) {
  Subjects subjects;
  ASSAY_RETURN_IF_ERROR(subjects.Load(options));
  if (options.makes_counted_calls) {
    ASSAY_RETURN_IF_ERROR(MakeCountedCalls(subjects.calls()));
    return true;
  }
  ASSAY_ASSIGN_OR_RETURN(auto rows,
                         Rows(subjects.calls(), options.seconds, ThreadNow));
  if (!options.counts.empty()) {
    ASSAY_RETURN_IF_ERROR(AddInstructions(options.counts, &rows));
  }
  if (options.epoch_seconds > 0) {
    ASSAY_ASSIGN_OR_RETURN(const auto pairs, subjects.EpochPairs(options.peer));
    ASSAY_ASSIGN_OR_RETURN(const auto epochs, Rows(pairs, options.epoch_seconds,
                                                   timing::SteadyNow));
    rows.insert(rows.end(), epochs.begin(), epochs.end());
  }
  std::cout << TextOf(rows) << StandingOf(rows, {});
  if (!options.out.empty()) {
    ASSAY_RETURN_IF_ERROR(file::WriteFile(options.out, record::ToCsv(rows)));
  }
  return options.most_instructions < 0 ||
         CountBeyond(rows, options.most_instructions) == 0;
}

int Main(int argc, char** argv) {
  Options options;
  CLI::App app("The cost of the framework beside calls of a library alone.");
  app.add_option("modules", options.modules,
                 "modules of backends; with the library, dnnl or onnxruntime, "
                 "whose calls stand beside its own")
      ->required()
      ->type_name("[LIBRARY=]MODULE");
  app.add_option("--only", options.only, "calls whose test_id has this");
  app.add_option("--seconds", options.seconds, "of each row; 0: no times");
  app.add_option("--epoch-seconds", options.epoch_seconds,
                 "of each row of an epoch; 0, the default: none");
  app.add_option("--peer", options.peer,
                 "module of a peer, epochs of which stand beside those of "
                 "Train with events");
  app.add_flag("--make-counted-calls", options.makes_counted_calls,
               "make the calls that callgrind counts, and nothing else");
  app.add_flag("--self", options.is_self,
               "native calls beside themselves: the error of the procedure");
  app.add_option("--counts", options.counts, "callgrind's file of these calls");
  app.add_option("--most-instructions", options.most_instructions,
                 "exit with 1 where a bound call adds more");
  app.add_option("--out", options.out, "table to be written, overhead.csv");
  CLI11_PARSE(app, argc, argv);
  const Result<bool> within = Measure(options);
  if (within.ok()) return *within ? 0 : 1;
  std::cerr << "overhead: " << within.status().ToString() << "\n";
  return 2;
}

}  // namespace
}  // namespace assay::overhead

int main(int argc, char** argv) { return assay::overhead::Main(argc, argv); }
