// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/compare/run_comparison.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include "framework/cli/select/chosen_case.h"
#include "framework/cli/select/terminal.h"
#include "framework/core/text.h"
#include "framework/testing/verdict/verdict.h"

namespace assay::compare {
namespace {

namespace fs = std::filesystem;

using times::TimeRow;
using timing::Verdict;

constexpr size_t kMostUnsure = 10;

/// A backend in the one run, and that which it is held beside in the other.
using Sides = std::vector<std::pair<std::string, std::string>>;

std::set<std::string> BackendsOf(const TimedRun& run) {
  std::set<std::string> names;
  for (const TimeRow& row : run.warm) names.insert(row.backend);
  return names;
}

Result<Sides> SidesOf(const TimedRun& base, const TimedRun& candidate) {
  const auto of_base = BackendsOf(base);
  const auto of_candidate = BackendsOf(candidate);
  Sides sides;
  for (const std::string& name : of_base) {
    if (of_candidate.contains(name)) sides.emplace_back(name, name);
  }
  if (sides.empty() && of_base.size() == 1 && of_candidate.size() == 1) {
    sides.emplace_back(*of_base.begin(), *of_candidate.begin());
  }
  if (!sides.empty()) return sides;
  return InvalidArgument("found times of ", Joined(of_base), " in ",
                         base.folder.string(), " and of ", Joined(of_candidate),
                         " in ", candidate.folder.string(),
                         ", wanted a backend that both have, or one in each");
}

/// "cores (2, 4), kernel (6.1, 6.5)".
std::string Differences(const TimedRun& base, const TimedRun& candidate) {
  auto facts = candidate.environment;
  facts.insert(base.environment.begin(), base.environment.end());
  const auto told = [](const TimedRun& run, const std::string& key) {
    const auto found = run.environment.find(key);
    return found == run.environment.end() ? std::string("none") : found->second;
  };
  std::vector<std::string> differ;
  for (const auto& [key, value] : facts) {
    const std::string one = told(base, key);
    const std::string other = told(candidate, key);
    if (one != other)
      differ.push_back(StrCat(key, " (", one, "; ", other, ")"));
  }
  return Joined(differ);
}

/// The ratio of two medians, with all ratios within their intervals.
times::CompareRow RatioOf(const TimeRow& base, const TimeRow& candidate) {
  times::CompareRow row;
  row.test_id = candidate.test_id;
  row.backend = candidate.backend;
  row.base = base.backend;
  row.inner_iters = candidate.inner_iters;
  row.base_ns = base.median_ns;
  row.candidate_ns = candidate.median_ns;
  row.ratio = *candidate.median_ns / *base.median_ns;
  if (base.ci95_lo_ns.value_or(0) > 0 && candidate.ci95_lo_ns.has_value()) {
    row.ci95_lo = *candidate.ci95_lo_ns / *base.ci95_hi_ns;
    row.ci95_hi = *candidate.ci95_hi_ns / *base.ci95_lo_ns;
  }
  row.noisy = base.noisy || candidate.noisy;
  return row;
}

Verdict VerdictOn(const times::CompareRow& row, double margin) {
  const bool is_within = row.ci95_lo.value_or(0) >= 1 / (1 + margin) &&
                         row.ci95_hi.value_or(0) <= 1 + margin;
  return is_within && !row.noisy ? Verdict::kSame : Verdict::kUnsure;
}

/// assay compare of one case, with what its run needed besides.
std::string CommandOf(const TimedRun& base, const TimedRun& candidate,
                      const times::CompareRow& row) {
  const auto planned =
      std::ranges::find_if(candidate.plan.rows, [&](const auto& one) {
        return one.test_id == row.test_id && one.backend == row.backend;
      });
  if (planned == candidate.plan.rows.end()) return "";
  record::PlanRow timed = *planned;
  timed.corpus = timed.suite = "compare";
  timed.test_id =
      StrCat(timed.suite, row.test_id.substr(row.test_id.find('/')));
  const std::string run = verdict::ReproOf(candidate.plan, timed);
  return StrCat("assay compare ", base.plan.Backend(row.base).spec, " ",
                candidate.plan.Backend(row.backend).spec,
                run.substr(run.find(" --filter")));
}

std::string ModuleOf(const TimedRun& run, const std::string& backend) {
  const auto found =
      std::ranges::find(run.backends, backend, &record::BackendRow::backend);
  return found == run.backends.end() ? "" : found->module_sha256;
}

/// Adds the cases of one backend beside another.
void AddCases(const TimedRun& base, const TimedRun& candidate,
              const Sides::value_type& side, double margin,
              ComparedRuns* found) {
  std::map<std::pair<std::string, std::string>, const TimeRow*> of_base;
  for (const TimeRow& row : base.warm) {
    if (row.backend == side.first)
      of_base[{row.test_id, row.cache_mode}] = &row;
  }
  for (const TimeRow& row : candidate.warm) {
    if (row.backend != side.second) continue;
    const auto other = of_base.find({row.test_id, row.cache_mode});
    if (other == of_base.end()) {
      ++found->n_alone;
      continue;
    }
    Compared one = {row.test_id, RatioOf(*other->second, row), {}};
    one.verdict = VerdictOn(one.first, margin);
    found->confirms.push_back(CommandOf(base, candidate, one.first));
    found->all.push_back(std::move(one));
    of_base.erase(other);
  }
  found->n_alone += std::ssize(of_base);
}

/// The unsure, those first that are furthest apart.
std::vector<size_t> UnsureOf(const std::vector<Compared>& all) {
  std::vector<size_t> unsure;
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].verdict == Verdict::kUnsure) unsure.push_back(i);
  }
  std::ranges::stable_sort(unsure, std::greater<>(), [&](size_t i) {
    return std::abs(std::log(all[i].first.ratio.value_or(1)));
  });
  return unsure;
}

}  // namespace

Result<TimedRun> ReadTimedRun(const fs::path& folder) {
  TimedRun run = {.folder = folder};
  ASSAY_ASSIGN_OR_RETURN(const auto runs,
                         select::ReadTable<record::RunRow>(folder, "runs.csv"));
  if (runs.size() != 1) {
    return InvalidArgument((folder / "runs.csv").string(), ": found ",
                           runs.size(), " rows, wanted 1");
  }
  run.env_id = runs[0].env_id;
  if (!fs::exists(folder / "time.csv")) {
    return InvalidArgument("found no time.csv in ", folder.string(),
                           ", wanted a run with times: assay run --suite time");
  }
  ASSAY_ASSIGN_OR_RETURN(const auto facts,
                         select::ReadTable<record::EnvRow>(folder, "env.csv"));
  for (const auto& fact : facts) run.environment[fact.key] = fact.value;
  ASSAY_ASSIGN_OR_RETURN(run.plan, plan::ReadPlan(folder));
  ASSAY_ASSIGN_OR_RETURN(run.backends, select::ReadTable<record::BackendRow>(
                                           folder, "backends.csv"));
  ASSAY_ASSIGN_OR_RETURN(
      const auto results,
      select::ReadTable<record::ResultRow>(folder, "results.csv"));
  std::set<std::pair<std::string, std::string>> right;
  for (const record::ResultRow& row : results) {
    if (row.outcome == record::Outcome::kPass) {
      right.emplace(row.backend, row.test_id);
    }
  }
  ASSAY_ASSIGN_OR_RETURN(run.warm,
                         select::ReadTable<TimeRow>(folder, "time.csv"));
  std::erase_if(run.warm, [&](const TimeRow& row) {
    return row.phase != "warm" || row.median_ns.value_or(0) <= 0 ||
           !right.contains({row.backend, row.test_id});
  });
  if (run.warm.empty()) {
    return InvalidArgument("found no case in ", folder.string(),
                           " that passed and has warm times, wanted one");
  }
  return run;
}

Result<ComparedRuns> CompareRuns(const TimedRun& base,
                                 const TimedRun& candidate, double margin) {
  if (base.env_id != candidate.env_id) {
    return InvalidArgument(
        base.folder.string(), " and ", candidate.folder.string(),
        " were timed in two environments, wanted one; they differ in ",
        Differences(base, candidate));
  }
  ASSAY_ASSIGN_OR_RETURN(const Sides sides, SidesOf(base, candidate));
  ComparedRuns found;
  for (const auto& side : sides) {
    AddCases(base, candidate, side, margin, &found);
    if (side.first == side.second &&
        ModuleOf(base, side.first) != ModuleOf(candidate, side.second)) {
      found.rebuilt.push_back(side.first);
    }
  }
  if (!found.all.empty()) return found;
  return InvalidArgument("found no case that was timed in ",
                         base.folder.string(), " and in ",
                         candidate.folder.string(), ", wanted one");
}

std::string RunsText(const ComparedRuns& found, const TimedRun& base,
                     const TimedRun& candidate, double margin) {
  std::string text = select::Wrapped(StrCat(
      candidate.folder.string(), " beside ", base.folder.string(), ", ",
      found.all.size(), found.all.size() == 1 ? " case" : " cases",
      ", timed one run after the other: same or unsure, never better or worse; "
      "a change of ",
      select::Digits(100 * margin, 3), " % counts for nothing."));
  const std::vector<size_t> unsure = UnsureOf(found.all);
  text += StrCat(Count(found.all, Verdict::kSame), " same, ", unsure.size(),
                 " unsure\n");
  for (size_t i = 0; i < std::min(unsure.size(), kMostUnsure); ++i) {
    text += CaseText(found.all[unsure[i]]);
    text += select::Wrapped(
        found.confirms[unsure[i]],
        {.label = "to confirm:", .indent = 10, .command = true});
  }
  if (unsure.size() > kMostUnsure) {
    text += StrCat("  and ", unsure.size() - kMostUnsure, " more\n");
  }
  if (found.n_alone > 0) {
    text += StrCat("Timed in one of the two only: ", found.n_alone, ".\n");
  }
  if (!found.rebuilt.empty()) {
    text += select::Wrapped(
        StrCat("The runs had two builds of ", Joined(found.rebuilt),
               ": to confirm, give the files of both in the place of the "
               "name."));
  }
  return text;
}

}  // namespace assay::compare
