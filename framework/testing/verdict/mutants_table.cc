// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/verdict/mutants_table.h"

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>

#include "framework/core/text.h"
#include "framework/file/build_id.h"
#include "framework/file/file.h"
#include "framework/testing/record/tables.h"

namespace assay::verdict {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHarness = "harness";
constexpr size_t kNamed = 5;  // survivors in a sentence

MutantKills NotAssessed(std::string why) {
  MutantKills kills;
  kills.not_assessed = std::move(why);
  return kills;
}

/// The commit and the day of nightly.txt, whose lines with # are comments.
std::string ReadNightly(const fs::path& file) {
  const Result<std::string> text = file::ReadFile(file);
  std::istringstream lines(text.ok() ? *text : std::string());
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string commit, day;
    if (line.starts_with('#') || !(words >> commit >> day)) continue;
    return StrCat("commit ", commit.substr(0, 12), ", ", day);
  }
  return "";
}

}  // namespace

std::string MutantKills::Sentence() const {
  if (!assessed()) return StrCat("not assessed: ", not_assessed);
  const bool partly = elsewhere > 0;
  std::string text = StrCat(
      is_sample() ? "sample " : "", partly ? "at least " : "", killed(), " of ",
      tried, " killed", is_sample() ? " on this build" : "",
      partly ? " by the cases of this run" : "", " (",
      backend_killed - elsewhere, " backend, ",
      harness ? StrCat(harness_killed, " harness)") : "harness not assessed)");
  if (partly) text += StrCat("; whole suites kill ", killed_by_all());
  if (is_sample()) {
    text += StrCat(", whole list of ", total, ": ",
                   nightly.empty() ? "no green night" : nightly);
  }
  for (size_t i = 0; i < std::min(survivors.size(), kNamed); ++i) {
    text += StrCat(i == 0 ? "; not killed: " : ", ", survivors[i]);
  }
  if (survivors.size() > kNamed) {
    text += StrCat(" and ", survivors.size() - kNamed, " more");
  }
  return text;
}

MutantKills CountMutants(const std::vector<record::MutantRow>& rows,
                         const std::string& build_id,
                         const std::set<std::string>* ran) {
  if (rows.empty()) return NotAssessed("mutants.csv has no mutants");
  // By whether it is one of the harness, and name.
  std::map<std::pair<bool, std::string>, bool> killed;
  std::set<std::pair<bool, std::string>> all;
  std::set<std::string> here;  // mutants of a backend that the run's cases see
  for (const record::MutantRow& row : rows) {
    all.emplace(row.suite == kHarness, row.mutant);
    if (row.build_id.empty()) continue;
    if (row.build_id != build_id) {
      return NotAssessed("mutants.csv is of another build");
    }
    killed[{row.suite == kHarness, row.mutant}] |= row.killed;
    if (row.killed && (ran == nullptr || ran->contains(row.killing_case))) {
      here.insert(row.mutant);
    }
  }
  if (killed.empty()) return NotAssessed("no mutant was tried on this build");
  MutantKills kills = NotAssessed("");
  kills.build_id = build_id;
  kills.total = static_cast<int64_t>(all.size());
  kills.tried = static_cast<int64_t>(killed.size());
  for (const auto& [mutant, seen] : killed) {
    const auto& [harness, name] = mutant;
    kills.harness |= harness;
    if (seen) {
      ++(harness ? kills.harness_killed : kills.backend_killed);
      if (!harness && !here.contains(name)) ++kills.elsewhere;
    } else {
      kills.survivors.push_back(name);
    }
  }
  std::ranges::sort(kills.survivors);
  return kills;
}

MutantKills ReadMutants(const fs::path& prefix,
                        const std::set<std::string>* ran,
                        const file::FileDigests& digests) {
  const fs::path file = prefix / "share" / "assay" / "mutants.csv";
  std::error_code error;
  // The digest of a build is worth its time only where there is a table.
  if (!fs::exists(file, error)) return {};
  const Result<std::string> text = file::ReadFile(file);
  if (!text.ok()) return NotAssessed(text.status().message());
  const auto rows = record::ParseCsv<record::MutantRow>(*text);
  if (!rows.ok()) {
    return NotAssessed(StrCat("mutants.csv: ", rows.status().message()));
  }
  const Result<std::string> build_id = file::BuildId(prefix, digests);
  if (!build_id.ok()) return NotAssessed(build_id.status().message());
  MutantKills kills = CountMutants(*rows, *build_id, ran);
  kills.nightly = ReadNightly(prefix / "share" / "assay" / "nightly.txt");
  return kills;
}

}  // namespace assay::verdict
