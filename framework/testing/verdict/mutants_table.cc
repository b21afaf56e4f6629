// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/verdict/mutants_table.h"

#include <algorithm>
#include <map>
#include <utility>

#include "framework/core/text.h"
#include "framework/testing/file/build_id.h"
#include "framework/testing/file/file.h"
#include "framework/testing/record/tables.h"

namespace assay::inline v1 {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHarness = "harness";
constexpr size_t kNamed = 5;  // survivors in a sentence

MutantKills NotAssessed(std::string why) {
  MutantKills kills;
  kills.not_assessed = std::move(why);
  return kills;
}

}  // namespace

std::string MutantKills::Sentence() const {
  if (!assessed()) return StrCat("not assessed: ", not_assessed);
  std::string text =
      StrCat(killed(), " of ", total, " killed (", backend_killed, " backend, ",
             harness_killed, " harness)");
  for (size_t i = 0; i < std::min(survivors.size(), kNamed); ++i) {
    text += StrCat(i == 0 ? "; not killed: " : ", ", survivors[i]);
  }
  if (survivors.size() > kNamed) {
    text += StrCat(" and ", survivors.size() - kNamed, " more");
  }
  return text;
}

MutantKills CountMutants(const std::vector<MutantRow>& rows,
                         const std::string& build_id) {
  if (rows.empty()) return NotAssessed("mutants.csv has no mutants");
  // By whether it is one of the harness, and name.
  std::map<std::pair<bool, std::string>, bool> killed;
  for (const MutantRow& row : rows) {
    if (row.build_id != build_id) {
      return NotAssessed("mutants.csv is of another build");
    }
    killed[{row.suite == kHarness, row.mutant}] |= row.killed;
  }
  MutantKills kills = NotAssessed("");
  kills.build_id = build_id;
  kills.total = static_cast<int64_t>(killed.size());
  for (const auto& [mutant, seen] : killed) {
    const auto& [harness, name] = mutant;
    if (seen) {
      ++(harness ? kills.harness_killed : kills.backend_killed);
    } else {
      kills.survivors.push_back(name);
    }
  }
  std::sort(kills.survivors.begin(), kills.survivors.end());
  return kills;
}

MutantKills ReadMutants(const fs::path& prefix) {
  const fs::path file = prefix / "share" / "assay" / "mutants.csv";
  std::error_code error;
  // The digest of a build is worth its time only where there is a table.
  if (!fs::exists(file, error)) return {};
  const Result<std::string> text = ReadFile(file);
  if (!text.ok()) return NotAssessed(text.status().message());
  const auto rows = ParseCsv<MutantRow>(*text);
  if (!rows.ok()) {
    return NotAssessed(StrCat("mutants.csv: ", rows.status().message()));
  }
  const Result<std::string> build_id = BuildId(prefix);
  if (!build_id.ok()) return NotAssessed(build_id.status().message());
  return CountMutants(*rows, *build_id);
}

}  // namespace assay::inline v1
