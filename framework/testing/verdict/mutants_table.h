// SPDX-License-Identifier: Apache-2.0
//
// MutantKills: what share/assay/mutants.csv says of this harness - of how many
// deliberate defects, in backends and in the harness itself, tests saw how
// many. A run shows it beside its verdicts, which are worth no more than it.
//
//   const MutantKills kills = ReadMutants(InstallPrefix());
//   std::cout << "mutants: " << kills.Sentence() << "\n";

#ifndef ASSAY_TESTING_VERDICT_MUTANTS_TABLE_H_
#define ASSAY_TESTING_VERDICT_MUTANTS_TABLE_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "framework/testing/record/rows.h"

namespace assay::inline v1 {

struct MutantKills {
  std::string not_assessed = "no mutants.csv of this build";  // empty: assessed
  std::string build_id;                                       // of the table
  int64_t total = 0;
  int64_t backend_killed = 0;
  int64_t harness_killed = 0;
  std::vector<std::string> survivors;  // sorted names

  bool assessed() const { return not_assessed.empty(); }
  int64_t killed() const { return backend_killed + harness_killed; }

  /// "112 of 112 killed (66 backend, 46 harness)", with the survivors' names,
  /// or "not assessed: ...".
  std::string Sentence() const;
};

/// Counts mutants, each of which may have a row for every suite: it is killed
/// when one of them saw it. Not assessed when there are none, or when a row is
/// of a build other than `build_id`.
MutantKills CountMutants(const std::vector<MutantRow>& rows,
                         const std::string& build_id);

/// Reads the table of an installation. Whatever stands in the way is a reason
/// of not being assessed, not an error.
MutantKills ReadMutants(const std::filesystem::path& prefix);

}  // namespace assay::inline v1

#endif  // ASSAY_TESTING_VERDICT_MUTANTS_TABLE_H_
