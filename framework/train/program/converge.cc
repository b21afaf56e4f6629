// SPDX-License-Identifier: Apache-2.0

#include "framework/train/program/converge.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <iostream>
#include <memory>
#include <utility>
#include <vector>

#include "framework/core/text.h"
#include "framework/file/module_path.h"
#include "framework/testing/host/wire/arena.h"
#include "framework/train/bisect/run_spec.h"
#include "framework/train/converge/compare.h"
#include "framework/train/converge/run_table.h"
#include "framework/train/format/datasets.h"
#include "framework/train/program/hosted.h"

namespace assay::program {
namespace {

using converge::SeededRuns;

/// Writes a number with `digits` digits after the point.
std::string Fixed(double number, int digits) {
  std::array<char, 32> text = {};
  std::snprintf(text.data(), text.size(), "%.*f", digits, number);
  return text.data();
}

Result<SeededRuns> Train(const ConvergeOptions& options, const std::string& run,
                         const std::string& module, const train::Split& data) {
  ASSAY_ASSIGN_OR_RETURN(const bisect::RunSpec spec, bisect::ParseRunSpec(run));
  ASSAY_ASSIGN_OR_RETURN(const auto host, Hosted::Start(spec.backend, module));
  SeededRuns runs{run, options.dataset, options.goal, {}};
  const auto& [optimizer, preset, settings] = spec.optimizer;
  for (int64_t seed = 0; seed < options.seeds; ++seed) {
    ASSAY_ASSIGN_OR_RETURN(
        const converge::Reached reached,
        converge::SamplesTo(options.goal, data, host->backend(),
                            {optimizer, preset, settings},
                            static_cast<uint64_t>(seed)));
    runs.seeds.push_back(reached);
    std::cout << run << ", seed " << seed << ": "
              << (reached.is_reached ? "" : "not reached: ") << reached.samples
              << " samples, accuracy " << Fixed(reached.accuracy, 4)
              << std::endl;
  }
  return runs;
}

void Tell(const SeededRuns& runs) {
  std::vector<double> samples = runs.Samples();
  std::cout << runs.run << ": " << samples.size() << " of " << runs.seeds.size()
            << " seeds come to " << runs.goal.accuracy;
  if (!samples.empty()) {
    std::ranges::sort(samples);
    std::cout << ", with " << samples[samples.size() / 2]
              << " samples in the middle, " << samples.front() << " to "
              << samples.back();
  }
  std::cout << "\n";
}

bool IsWhole(const SeededRuns& runs) {
  return runs.Samples().size() == runs.seeds.size();
}

/// Prints the comparison of two runs.
Result<int> Hold(const SeededRuns& a, const SeededRuns& b) {
  if (!IsWhole(a) || !IsWhole(b)) {
    std::cout << "a seed that does not learn cannot be compared\n";
    return 1;
  }
  ASSAY_ASSIGN_OR_RETURN(const converge::Comparison found,
                         converge::Compare(a.Samples(), b.Samples()));
  std::cout << b.run << " takes " << Fixed(found.ratio, 3)
            << " times the samples of " << a.run << " (" << Fixed(found.low, 3)
            << " to " << Fixed(found.high, 3) << " at 95 %, p "
            << Fixed(found.p, 3)
            << (found.is_apart() ? "): they are apart\n"
                                 : "): they are not told apart\n")
            << "so many seeds show a ratio of " << Fixed(found.least, 2)
            << ", or of " << Fixed(1 / found.least, 2)
            << ", four times in five\n";
  return found.is_apart() ? 1 : 0;
}

Status Check(const ConvergeOptions& options) {
  const auto least = static_cast<int64_t>(converge::kLeastSeeds);
  const auto most = static_cast<int64_t>(converge::kMostSeeds);
  if (options.seeds >= least && options.seeds <= most) return OkStatus();
  return InvalidArgument("found ", options.seeds, " seeds, wanted ", least,
                         " to ", most);
}

}  // namespace

Result<int> Converge(const ConvergeOptions& options) {
  ASSAY_RETURN_IF_ERROR(Check(options));
  std::vector<SeededRuns> all;
  if (!options.against.empty()) {
    ASSAY_ASSIGN_OR_RETURN(all, converge::ReadRunTable(options.against));
    all.resize(1);
    const SeededRuns wanted{options.a, options.dataset, options.goal, {}};
    ASSAY_RETURN_IF_ERROR(converge::CheckComparable(all[0], wanted));
  }
  wire::Arena::Open();
  ASSAY_ASSIGN_OR_RETURN(
      const train::Split data,
      train::MakeDataset(options.dataset,
                         {file::DatasetDirectory(), /*seed=*/0}));
  for (const auto& [run, module] : {std::pair(options.a, options.a_module),
                                    {options.b, options.b_module}}) {
    if (run.empty()) continue;
    ASSAY_ASSIGN_OR_RETURN(all.emplace_back(),
                           Train(options, run, module, data));
  }
  if (!options.table.empty()) {
    ASSAY_RETURN_IF_ERROR(converge::WriteRunTable(options.table, all));
  }
  for (const SeededRuns& runs : all) Tell(runs);
  if (all.size() == 1) return IsWhole(all[0]) ? 0 : 1;
  return Hold(all[0], all.back());
}

}  // namespace assay::program
