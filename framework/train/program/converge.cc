// SPDX-License-Identifier: Apache-2.0

#include "framework/train/program/converge.h"

#include <algorithm>
#include <array>
#include <cstdio>
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

converge::Goal GoalOf(const ConvergeRequest& request) {
  return {request.model, request.accuracy, request.batch, request.every,
          request.most_epochs};
}

Result<SeededRuns> Train(const ConvergeRequest& request, const std::string& run,
                         const std::string& module, const train::Split& data,
                         std::ostream& out) {
  ASSAY_ASSIGN_OR_RETURN(const bisect::RunSpec spec, bisect::ParseRunSpec(run));
  ASSAY_ASSIGN_OR_RETURN(const auto host, Hosted::Start(spec.backend, module));
  SeededRuns runs{run, request.dataset, GoalOf(request), {}};
  const auto& [optimizer, preset, settings] = spec.optimizer;
  for (int64_t seed = 0; seed < request.seeds; ++seed) {
    ASSAY_ASSIGN_OR_RETURN(
        const converge::Reached reached,
        converge::SamplesTo(GoalOf(request), data, host->backend(),
                            {optimizer, preset, settings},
                            static_cast<uint64_t>(seed)));
    runs.seeds.push_back(reached);
    out << run << ", seed " << seed << ": "
        << (reached.is_reached ? "" : "not reached: ") << reached.samples
        << " samples, accuracy " << Fixed(reached.accuracy, 4) << std::endl;
  }
  return runs;
}

std::string TextOf(const SeededRuns& runs) {
  std::vector<double> samples = runs.Samples();
  std::string text =
      StrCat(runs.run, ": ", samples.size(), " of ", runs.seeds.size(),
             " seeds come to ", runs.goal.accuracy);
  if (!samples.empty()) {
    std::ranges::sort(samples);
    text += StrCat(", with ", samples[samples.size() / 2],
                   " samples in the middle, ", samples.front(), " to ",
                   samples.back());
  }
  return text + "\n";
}

bool IsWhole(const SeededRuns& runs) {
  return runs.Samples().size() == runs.seeds.size();
}

/// Says what the numbers of b show beside those of a.
std::string TextOf(const SeededRuns& a, const SeededRuns& b,
                   const converge::Comparison& found) {
  return StrCat(
      b.run, " takes ", Fixed(found.ratio, 3), " times the samples of ", a.run,
      " (", Fixed(found.low, 3), " to ", Fixed(found.high, 3), " at 95 %, p ",
      Fixed(found.p, 3),
      found.is_apart() ? "): they are apart\n" : "): they are not told apart\n",
      "so many seeds show a ratio of ", Fixed(found.least, 2), ", or of ",
      Fixed(1 / found.least, 2), ", four times in five\n");
}

/// Writes the comparison of two runs.
Result<int> Hold(const SeededRuns& a, const SeededRuns& b, std::ostream& out) {
  if (!IsWhole(a) || !IsWhole(b)) {
    out << "a seed that does not learn cannot be compared\n";
    return 1;
  }
  ASSAY_ASSIGN_OR_RETURN(const converge::Comparison found,
                         converge::Compare(a.Samples(), b.Samples()));
  out << TextOf(a, b, found);
  return found.is_apart() ? 1 : 0;
}

Status Check(const ConvergeRequest& request) {
  const auto least = static_cast<int64_t>(converge::kLeastSeeds);
  const auto most = static_cast<int64_t>(converge::kMostSeeds);
  if (request.seeds >= least && request.seeds <= most) return OkStatus();
  return InvalidArgument("found ", request.seeds, " seeds, wanted ", least,
                         " to ", most);
}

}  // namespace

Result<int> Converge(const ConvergeRequest& request, std::ostream& out) {
  ASSAY_RETURN_IF_ERROR(Check(request));
  std::vector<SeededRuns> all;
  if (!request.against.empty()) {
    ASSAY_ASSIGN_OR_RETURN(all, converge::ReadRunTable(request.against));
    all.resize(1);
    const SeededRuns wanted{request.a, request.dataset, GoalOf(request), {}};
    ASSAY_RETURN_IF_ERROR(converge::CheckComparable(all[0], wanted));
  }
  wire::Arena::Open();
  ASSAY_ASSIGN_OR_RETURN(
      const train::Split data,
      train::MakeDataset(request.dataset,
                         {file::DatasetDirectory(), /*seed=*/0}));
  for (const auto& [run, module] : {std::pair(request.a, request.a_module),
                                    {request.b, request.b_module}}) {
    if (run.empty()) continue;
    ASSAY_ASSIGN_OR_RETURN(all.emplace_back(),
                           Train(request, run, module, data, out));
  }
  if (!request.table.empty()) {
    ASSAY_RETURN_IF_ERROR(converge::WriteRunTable(request.table, all));
  }
  for (const SeededRuns& runs : all) out << TextOf(runs);
  if (all.size() == 1) return IsWhole(all[0]) ? 0 : 1;
  return Hold(all[0], all.back(), out);
}

}  // namespace assay::program
