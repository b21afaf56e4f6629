// SPDX-License-Identifier: Apache-2.0

#include "perf/power/alarms.h"

#include <algorithm>
#include <map>
#include <utility>

#include "framework/core/numbers.h"
#include "framework/core/text.h"
#include "framework/file/csv.h"

namespace assay::power {
namespace {

/// The recorded comparisons of one case.
using OfCase = std::vector<const Recorded*>;

/// One as `recorded`, whose groups are drawn.
timing::Comparison DrawnFrom(const Recorded& recorded, bool signs,
                             core::Numbers* numbers) {
  std::vector<double> drawn = recorded.log_ratios;
  for (double& log_ratio : drawn) {
    if (signs) {
      log_ratio *= numbers->Below(2) == 0 ? 1 : -1;
    } else {
      log_ratio = recorded.log_ratios[numbers->Below(drawn.size())];
    }
  }
  return timing::Compare(drawn);
}

/// Two places in as many, which are the same only where there is but one.
std::pair<size_t, size_t> DrawTwo(size_t count, core::Numbers* numbers) {
  const size_t first = numbers->Below(count);
  if (count == 1) return {first, first};
  const size_t further = 1 + numbers->Below(count - 1);
  return {first, (first + further) % count};
}

/// Adds what one family says.
void AddFamily(const std::vector<OfCase>& cases,
               const timing::Thresholds& thresholds, bool signs,
               core::Numbers* numbers, Alarms* alarms) {
  std::vector<timing::Comparison> firsts, seconds;
  std::vector<double> p_values;
  for (const OfCase& recorded : cases) {
    const auto [one, other] = DrawTwo(recorded.size(), numbers);
    firsts.push_back(DrawnFrom(*recorded[one], signs, numbers));
    seconds.push_back(DrawnFrom(*recorded[other], signs, numbers));
    p_values.push_back(firsts.back().p_value);
  }
  const auto q_values = timing::BenjaminiHochberg(p_values);
  for (size_t i = 0; i < cases.size(); ++i) {
    ++alarms->n_drawn;
    if (!timing::IsApart(firsts[i], q_values[i], thresholds)) continue;
    ++alarms->n_apart;
    const auto verdict =
        timing::VerdictOf(firsts[i], q_values[i], seconds[i], thresholds);
    alarms->n_told += verdict == timing::Verdict::kWorse ||
                              verdict == timing::Verdict::kBetter
                          ? 1
                          : 0;
  }
}

}  // namespace

Result<std::vector<Recorded>> ReadRecorded(std::string_view csv) {
  file::CsvReader reader(csv);
  std::vector<std::string> fields;
  reader.Next(&fields);
  const auto place_of = [&](std::string_view name) {
    return static_cast<size_t>(std::ranges::find(fields, name) -
                               fields.begin());
  };
  const size_t id = place_of("test_id");
  const size_t logs = place_of("log_ratios");
  const size_t columns = fields.size();
  if (std::max(id, logs) == columns) {
    return DataLoss(
        "found no columns test_id and log_ratios, wanted those of "
        "compare.csv");
  }
  std::vector<Recorded> all;
  while (reader.Next(&fields)) {
    if (fields.size() != columns) {
      return DataLoss("line ", reader.line(), ": found ", fields.size(),
                      " fields, wanted ", columns);
    }
    Recorded one = {fields[id], {}};
    for (std::string_view rest = fields[logs]; !rest.empty();) {
      const std::string_view word = CutFront(&rest, " ");
      const auto number = file::ParseDouble(word);
      if (!number.has_value()) {
        return DataLoss("line ", reader.line(), ": found ", word,
                        " among log_ratios, wanted a number");
      }
      one.log_ratios.push_back(*number);
    }
    if (!one.log_ratios.empty()) all.push_back(std::move(one));
  }
  ASSAY_RETURN_IF_ERROR(reader.status());
  return all;
}

Alarms AlarmsOf(std::span<const Recorded> recorded,
                const timing::Thresholds& thresholds, const Drawing& drawing) {
  std::map<std::string, OfCase> by_id;
  for (const Recorded& one : recorded) by_id[one.case_id].push_back(&one);
  std::vector<OfCase> cases;
  for (auto& [id, of_case] : by_id) cases.push_back(std::move(of_case));
  Alarms alarms;
  core::Numbers numbers(drawing.seed);
  for (int64_t i = 0; i < drawing.families; ++i) {
    AddFamily(cases, thresholds, drawing.signs, &numbers, &alarms);
  }
  return alarms;
}

}  // namespace assay::power
