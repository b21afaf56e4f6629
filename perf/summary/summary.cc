// SPDX-License-Identifier: Apache-2.0

#include "perf/summary/summary.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <string_view>

#include "framework/core/text.h"
#include "framework/file/csv.h"
#include "framework/file/file.h"
#include "framework/testing/record/tables.h"
#include "perf/problems/known_problems.h"
#include "perf/scaling/scaling.h"

namespace assay::summary {
namespace {

using problems::Fate;
using record::Outcome;

template <class Row>
Result<std::vector<Row>> ReadTable(const std::filesystem::path& folder) {
  ASSAY_ASSIGN_OR_RETURN(
      const std::string text,
      file::ReadFile(folder / StrCat(record::TableOf<Row>().name, ".csv")));
  return record::ParseCsv<Row>(text);
}

/// A case on a backend.
using Place = std::pair<std::string, std::string>;

template <class Row>
Place PlaceOf(const Row& row) {
  return {row.backend, row.test_id};
}

const problems::Problem* ProblemOf(std::string_view test_id) {
  constexpr std::string_view kSuite = "time/";
  if (!test_id.starts_with(kSuite)) return nullptr;
  return problems::ProblemNamed(test_id.substr(test_id.rfind('/') + 1));
}

std::string BenchmarkOf(const problems::Problem& problem) {
  return problem.set.substr(0, problem.set.find('.'));
}

Fate FateWithoutRow(Outcome outcome) {
  if (outcome == Outcome::kTimeout) return Fate::kTooMuchTime;
  if (outcome == Outcome::kUnavailable) return Fate::kDeclined;
  return Fate::kFailed;
}

/// Calls with warm caches that have a median, but for those of wrong cases.
std::vector<const times::TimeRow*> WarmCalls(const TimedRun& run) {
  std::set<Place> wrong;
  for (const record::ResultRow& row : run.results) {
    if (IsFailure(row.outcome) || row.outcome == Outcome::kXfail) {
      wrong.insert(PlaceOf(row));
    }
  }
  std::vector<const times::TimeRow*> calls;
  for (const times::TimeRow& row : run.times) {
    if (row.phase == "warm" && row.cache_mode == "warm" &&
        row.median_ns.has_value() && !wrong.contains(PlaceOf(row))) {
      calls.push_back(&row);
    }
  }
  return calls;
}

/// The whole model that a set has the layers of.
void AddWhole(const std::map<Place, double>& medians, Network* network) {
  for (const auto& [place, ns] : medians) {
    const auto& [backend, test_id] = place;
    if (backend == network->backend && ProblemOf(test_id) == nullptr &&
        test_id.ends_with(network->set)) {
      network->whole = test_id;
      network->whole_ns = ns;
    }
  }
}

/// Calls by size.
struct Family {
  std::string backend, axis;
  std::map<double, const times::TimeRow*> calls;
};

/// The backend's name without its number of threads.
std::string WithoutThreads(std::string_view instance) {
  constexpr std::string_view kThreads = "+threads=";
  const size_t at = instance.find(kThreads);
  if (at == instance.npos) return std::string(instance);
  const size_t end = std::min(instance.find('+', at + 1), instance.size());
  return StrCat(instance.substr(0, at), instance.substr(end));
}

/// By backend and what they have in common.
std::map<Place, Family> FamiliesOf(const TimedRun& run) {
  std::map<Place, Family> families;
  const auto add = [&](const times::TimeRow& row, std::string backend,
                       const std::string& id, const std::string& axis,
                       int64_t size) {
    Family& family = families[{backend, StrCat(id, "#", axis)}];
    family.backend = std::move(backend);
    family.axis = axis;
    family.calls[static_cast<double>(size)] = &row;
  };
  for (const times::TimeRow* const call : WarmCalls(run)) {
    const times::TimeRow& row = *call;
    if (row.threads.has_value()) {
      add(row, WithoutThreads(row.backend), row.test_id, "threads",
          *row.threads);
    }
    const problems::Problem* const problem = ProblemOf(row.test_id);
    if (problem == nullptr || problem->axis.empty()) continue;
    add(row, row.backend, row.test_id.substr(0, row.test_id.find('#')),
        problem->axis, problem->size);
  }
  return families;
}

std::string NumbersText(const std::vector<double>& numbers) {
  return Joined(numbers, " ", [](double x) { return file::ToText(x); });
}

/// One number of each call of a family; nan where it has none.
std::vector<double> NumbersOf(const Family& family,
                              record::Number times::TimeRow::*number) {
  std::vector<double> numbers;
  for (const auto& [size, call] : family.calls) {
    numbers.push_back((call->*number).value_or(std::nan("")));
  }
  return numbers;
}

std::string TextOf(const times::ScalingRow& row) {
  std::string text = StrCat(row.backend, ": ", row.test_id, ": time ~ ",
                            row.axis, "^", row.exponent.value_or(0));
  if (row.ci95_lo.has_value()) {
    text += StrCat(" [", *row.ci95_lo, ", ", *row.ci95_hi, "]");
  }
  return StrCat(text, " over ", row.sizes, "\n");
}

std::string TextOf(const Network& network) {
  std::string text =
      StrCat(network.backend, ": ", network.set, ": ", network.n_timed, " of ",
             network.n_layers, " layers take ", network.sum_ns / 1e6, " ms");
  if (network.whole_ns.has_value()) {
    text += StrCat(", ", network.whole, " ", *network.whole_ns / 1e6, " ms");
  }
  return text + "\n";
}

}  // namespace

Result<TimedRun> ReadRun(const std::filesystem::path& folder) {
  TimedRun run;
  ASSAY_ASSIGN_OR_RETURN(run.results, ReadTable<record::ResultRow>(folder));
  ASSAY_ASSIGN_OR_RETURN(run.problems, ReadTable<times::ProblemRow>(folder));
  ASSAY_ASSIGN_OR_RETURN(run.times, ReadTable<times::TimeRow>(folder));
  return run;
}

std::map<Place, problems::Tally> TalliesOf(const TimedRun& run) {
  std::map<Place, std::string> fates;
  for (const times::ProblemRow& row : run.problems) {
    fates[PlaceOf(row)] = row.fate;
  }
  std::map<Place, problems::Tally> tallies;
  for (const record::ResultRow& row : run.results) {
    const problems::Problem* const problem = ProblemOf(row.test_id);
    if (problem == nullptr) continue;
    const auto said = problems::FateNamed(fates[PlaceOf(row)]);
    tallies[{row.backend, BenchmarkOf(*problem)}].Add(
        said.value_or(FateWithoutRow(row.outcome)));
  }
  return tallies;
}

std::vector<Network> NetworksOf(const TimedRun& run) {
  std::map<Place, double> medians;
  for (const times::TimeRow* const call : WarmCalls(run)) {
    medians[PlaceOf(*call)] = *call->median_ns;
  }
  std::map<Place, Network> networks;
  for (const record::ResultRow& row : run.results) {
    const problems::Problem* const problem = ProblemOf(row.test_id);
    // The sets of benchmarks and of families have a dot in their names.
    if (problem == nullptr || problem->set.find('.') != std::string::npos) {
      continue;
    }
    Network& network = networks[{row.backend, problem->set}];
    network.backend = row.backend;
    network.set = problem->set;
    network.n_layers += problem->times;
    const auto median = medians.find(PlaceOf(row));
    if (median == medians.end()) continue;
    network.n_timed += problem->times;
    network.sum_ns += static_cast<double>(problem->times) * median->second;
  }
  std::vector<Network> all;
  for (auto& [place, network] : networks) {
    AddWhole(medians, &network);
    all.push_back(std::move(network));
  }
  return all;
}

std::vector<times::ScalingRow> ScalingsOf(const TimedRun& run) {
  std::vector<times::ScalingRow> rows;
  for (const auto& [place, family] : FamiliesOf(run)) {
    std::vector<double> sizes;
    for (const auto& [size, call] : family.calls) sizes.push_back(size);
    const auto ns = NumbersOf(family, &times::TimeRow::median_ns);
    const auto scaling = scaling::ScalingOf(sizes, ns);
    if (!scaling.ok()) continue;
    times::ScalingRow& row = rows.emplace_back();
    if (!run.results.empty()) row.run_id = run.results[0].run_id;
    row.test_id = place.second;
    row.backend = family.backend;
    row.settings = family.calls.begin()->second->settings;
    row.axis = family.axis;
    row.sizes = NumbersText(sizes);
    row.median_ns = NumbersText(ns);
    row.ci95_lo_ns =
        NumbersText(NumbersOf(family, &times::TimeRow::ci95_lo_ns));
    row.ci95_hi_ns =
        NumbersText(NumbersOf(family, &times::TimeRow::ci95_hi_ns));
    row.exponent = scaling->exponent;
    if (scaling->interval.has_value()) {
      row.ci95_lo = scaling->interval->low;
      row.ci95_hi = scaling->interval->high;
    }
  }
  return rows;
}

std::vector<record::Record> SumsOf(std::span<const record::Record> finals) {
  TimedRun run;
  for (const record::Record& record : finals) {
    const auto times = record.Rows<times::TimeRow>();
    if (!times.ok() || times->empty()) continue;
    run.results.push_back(record.result);
    std::ranges::copy(*times, std::back_inserter(run.times));
  }
  std::vector<record::Record> sums;
  for (const times::ScalingRow& row : ScalingsOf(run)) {
    static_cast<record::Key&>(sums.emplace_back().result) = row;
    sums.back().Add(row);
  }
  return sums;
}

std::string TextOf(const TimedRun& run) {
  std::string text;
  for (const auto& [place, tally] : TalliesOf(run)) {
    text +=
        StrCat(place.first, ": ", place.second, ": ", tally.ToString(), "\n");
  }
  for (const Network& network : NetworksOf(run)) text += TextOf(network);
  for (const auto& row : ScalingsOf(run)) text += TextOf(row);
  return text;
}

}  // namespace assay::summary
