// SPDX-License-Identifier: Apache-2.0
//
// The verdict on a backend's claims: conformant, conformant with waivers, or
// not, and the share of deliberate defects that our tests see, since it is
// worth no more. It is printed and stored; it never changes an exit code.

#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "framework/file/digest.h"
#include "framework/testing/plan/plan.h"
#include "framework/testing/record/record.h"
#include "framework/testing/record/rows.h"
#include "framework/testing/verdict/unexpected.h"

namespace assay::verdict {

/// The defects are of backends and of the harness itself, and are counted in
/// share/assay/mutants.csv. A selection of cases shows how many its own cases
/// are known to see. A check tries a sample of the mutants on its build; the
/// whole list is tried every night, and share/assay/nightly.txt names the
/// commit of the last night that was green.
struct MutantKills {
  std::string not_assessed = "no mutants.csv of this build";  // empty: assessed
  std::string build_id;                                       // of the table
  int64_t total = 0;                                          // of the lists
  int64_t tried = 0;     // of these, on this build
  bool harness = false;  // whether the harness' own mutants are among them
  int64_t backend_killed = 0;
  int64_t harness_killed = 0;
  int64_t elsewhere = 0;  // of the backend's: only by cases that were not run
  std::vector<std::string> survivors;  // sorted names
  std::string
      nightly;  // "commit 0123456789ab, 2026-11-29"; empty: none is known

  bool assessed() const { return not_assessed.empty(); }
  bool is_sample() const { return tried < total; }
  int64_t killed_by_all() const { return backend_killed + harness_killed; }
  int64_t killed() const { return killed_by_all() - elsewhere; }

  /// "112 of 112 killed (66 backend, 46 harness)", with the survivors' names,
  /// "66 of 66 killed (66 backend, harness not assessed)" where none of the
  /// harness' own was tried, "at least 50 of 112 killed by the cases of this
  /// run ..." for a selection, "sample 34 of 34 killed on this build (24
  /// backend, 10 harness), whole list of 1247: commit 0123456789ab, 2026-11-29"
  /// where some were tried, or "not assessed: ...".
  std::string Sentence() const;
};

/// Counts mutants, each of which may have a row for every suite: it is killed
/// when one of them saw it. A row without a build is of a mutant that was not
/// tried. Not assessed when none was tried, or when a row is of a build other
/// than `build_id`. `ran` holds the test_ids of a run; without it all cases
/// count. A row names the first case alone that sees its mutant, so that the
/// count of a selection is a lower bound.
MutantKills CountMutants(const std::vector<record::MutantRow>& rows,
                         const std::string& build_id,
                         const std::set<std::string>* ran = nullptr);

/// Reads the tables of an installation. A table that cannot be used is no
/// error: the harness is then not assessed, with the reason.
MutantKills ReadMutants(const std::filesystem::path& prefix,
                        const std::set<std::string>* ran = nullptr,
                        const file::FileDigests& digests = {});

struct Conformance {
  std::string backend;
  // conformant, conformant with waivers, not conformant, or partial
  std::string verdict;
  std::string reason;
  int64_t n_planned = 0;
  int64_t n_claimed = 0;
  std::vector<std::string> waived;  // test_ids inside the claims
};

/// The findings of a run, of all backends.
struct Findings {
  const std::vector<record::Record>& final;  // verdicts
  const std::vector<Unexpected>& unexpected;
  const MutantKills& kills;
  bool complete = false;  // every planned case has a verdict
};

/// Partial: the plan left something out. Conformant: there are claims, every
/// case inside them passes, not all of them are vacuous, the inputs of some are
/// drawn for the run, so that their answers cannot be looked up, a backend that
/// claims to be deterministic gave one result, nothing of the backend was
/// unexpected, outside its claims either, and no mutant of this build's harness
/// survived. The reason says over how many cases and operators, and when the
/// harness is not assessed.
Conformance ConformanceOf(const plan::Plan& plan,
                          const plan::BackendUse& backend,
                          const Findings& findings);

}  // namespace assay::verdict
