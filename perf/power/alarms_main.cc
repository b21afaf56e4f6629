// SPDX-License-Identifier: Apache-2.0
//
// power_alarms MARGIN FAMILIES FILE...: false alarms drawn from compare.csv of
// comparisons of a backend with itself, by signs and by groups. Prints a line
// for each: how, drawn, apart, told.

#include <iostream>
#include <string>
#include <vector>

#include "framework/file/csv.h"
#include "framework/file/file.h"
#include "perf/power/alarms.h"

namespace assay::power {
namespace {

Status Run(const timing::Thresholds& thresholds, int64_t families,
           const std::vector<std::string>& files) {
  std::vector<Recorded> all;
  for (const std::string& file : files) {
    ASSAY_ASSIGN_OR_RETURN(const std::string text, file::ReadFile(file));
    auto recorded = ReadRecorded(text);
    if (!recorded.ok()) return recorded.status().WithContext(file);
    all.insert(all.end(), recorded->begin(), recorded->end());
  }
  if (all.empty()) return InvalidArgument("found no log_ratios in the files");
  for (const bool signs : {true, false}) {
    const Alarms alarms = AlarmsOf(
        all, thresholds, {.signs = signs, .families = families, .seed = 1});
    std::cout << (signs ? "signs" : "groups") << ' ' << alarms.n_drawn << ' '
              << alarms.n_apart << ' ' << alarms.n_told << '\n';
  }
  return OkStatus();
}

}  // namespace
}  // namespace assay::power

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const auto margin = assay::file::ParseDouble(words.empty() ? "" : words[0]);
  const auto families = assay::file::ParseInt(words.size() < 2 ? "" : words[1]);
  if (words.size() < 3 || !margin.has_value() || !families.has_value()) {
    std::cerr << "usage: power_alarms MARGIN FAMILIES FILE...\n";
    return 2;
  }
  const assay::Status status = assay::power::Run(
      {.margin = *margin}, *families, {words.begin() + 2, words.end()});
  if (!status.ok()) std::cerr << "power_alarms: " << status.ToString() << '\n';
  return status.ok() ? 0 : 1;
}
