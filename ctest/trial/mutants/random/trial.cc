// SPDX-License-Identifier: Apache-2.0

#include "ctest/trial/mutants/random/trial.h"

#include <iomanip>
#include <map>
#include <sstream>

#include "framework/core/text.h"
#include "framework/file/csv.h"

namespace assay::random_mutants {
namespace {

/// On one line, and not longer than a line should be.
std::string Short(const std::string& text) {
  constexpr size_t kLongest = 60;
  std::string line;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\n';
    if (!blank) line += c;
    if (blank && !line.empty() && line.back() != ' ') line += ' ';
  }
  return line.size() <= kLongest ? line : line.substr(0, kLongest - 3) + "...";
}

std::string Percent(const Kills& kills) {
  if (kills.killed + kills.survived == 0) return "-";
  std::ostringstream out;
  out << std::fixed << std::setprecision(1) << kills.Percent() << " %";
  return out.str();
}

void AddTable(const std::string& head,
              const std::map<std::string, Kills>& groups, std::string* text) {
  *text += StrCat("| ", head, " | killed | survived | equivalent | kill rate |",
                  "\n| --- | ---: | ---: | ---: | ---: |\n");
  for (const auto& [name, kills] : groups) {
    *text += StrCat("| ", name, " | ", kills.killed, " | ", kills.survived,
                    " | ", kills.equivalent, " | ", Percent(kills), " |\n");
  }
  *text += "\n";
}

}  // namespace

std::string_view ToString(TrialEnd end) {
  switch (end) {
    case TrialEnd::kKilled:
      return "killed";
    case TrialEnd::kSurvived:
      return "survived";
    case TrialEnd::kSameCode:
      return "same code";
    case TrialEnd::kEquivalent:
      return "equivalent";
    case TrialEnd::kNotCompiled:
      break;
  }
  return "not compiled";
}

std::string Describe(const Trial& trial) {
  return StrCat(trial.file, ":", trial.line, " ", trial.kind, ": ",
                Short(trial.before), " becomes ", Short(trial.after));
}

void Kills::Add(const Trial& trial) {
  killed += trial.end == TrialEnd::kKilled ? 1 : 0;
  survived += trial.end == TrialEnd::kSurvived ? 1 : 0;
  equivalent +=
      trial.end == TrialEnd::kSameCode || trial.end == TrialEnd::kEquivalent
          ? 1
          : 0;
}

double Kills::Percent() const {
  const int seen = killed + survived;
  return seen == 0 ? 0 : 100.0 * killed / seen;
}

Kills CountKills(const std::vector<Trial>& trials) {
  Kills kills;
  for (const Trial& trial : trials) kills.Add(trial);
  return kills;
}

std::string TrialsCsv(const std::vector<Trial>& trials) {
  std::string text = "file,line,kind,before,after,end,killed_by,seconds\n";
  for (const Trial& trial : trials) {
    const std::string fields[] = {
        trial.file,      file::ToText(int64_t{trial.line}),
        trial.kind,      trial.before,
        trial.after,     std::string(ToString(trial.end)),
        trial.killed_by, file::ToText(trial.seconds)};
    for (const std::string& field : fields) {
      if (&field != fields) text += ',';
      file::AppendCsvField(text, field);
    }
    text += '\n';
  }
  return text;
}

std::string TrialsMarkdown(const std::vector<Trial>& trials) {
  std::map<std::string, Kills> files;
  std::map<std::string, Kills> kinds;
  std::string survivors;
  for (const Trial& trial : trials) {
    if (trial.end == TrialEnd::kNotCompiled) continue;
    files[trial.file].Add(trial);
    kinds[trial.kind].Add(trial);
    if (trial.end != TrialEnd::kSurvived) continue;
    survivors += StrCat("- ", Describe(trial), "\n");
  }
  const Kills all = CountKills(trials);
  std::string text =
      StrCat("# Random mutants\n\n", all.killed, " of ",
             all.killed + all.survived, " killed, ", Percent(all), "; ",
             all.equivalent, " more are equivalent.\n\n");
  AddTable("kind", kinds, &text);
  AddTable("file", files, &text);
  if (!survivors.empty()) text += StrCat("Survivors:\n\n", survivors);
  return text;
}

}  // namespace assay::random_mutants
