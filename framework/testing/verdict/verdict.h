// SPDX-License-Identifier: Apache-2.0
//
// From raw outcomes to verdicts: expectations, claims, floors, the accounting
// equation and the word of conformance. Only the supervisor and merge use it.
//
//   record::ResultRow final = Finalize(plan_row, raw);  // one case
//   const Verdicts verdicts = Assess(plan, rows, records);  // a whole plan
//   return verdicts.ExitCode();

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "framework/core/status.h"
#include "framework/testing/journal/journal.h"
#include "framework/testing/plan/plan.h"
#include "framework/testing/record/outcome.h"
#include "framework/testing/verdict/conformance.h"
#include "framework/testing/verdict/unexpected.h"

namespace assay::verdict {

/// Turns a worker's outcome into the final one, by what the plan says:
///   pass under a tolerate line         -> waived
///   exactly the expected outcome       -> xfail (unsupported stays as it is)
///   pass although something is expected -> xpass, but not at some seeds
///   unsupported inside the claims      -> fail
/// Anything else stays. The message says which line did it.
record::ResultRow Finalize(const record::PlanRow& planned,
                           record::ResultRow raw);

/// The command that runs a case alone, as the plan does.
std::string ReproOf(const plan::Plan& plan, const record::PlanRow& row);

/// Outcomes of one backend in one corpus, which must sum to what was planned.
struct Tally {
  std::string backend;
  std::string corpus;
  int64_t planned = 0;
  int64_t vacuous = 0;  // among the passes
  record::OutcomeCounts counts = {};

  int64_t& operator[](record::Outcome outcome) {
    return counts.at(static_cast<size_t>(outcome));
  }
  int64_t operator[](record::Outcome outcome) const {
    return counts.at(static_cast<size_t>(outcome));
  }
  int64_t Sum() const;
  bool Balanced() const { return Sum() == planned; }

  /// "2036 = pass 612 (vacuous 40) + xfail 2 + unsupported 1422".
  std::string Equation() const;
};

struct Verdicts {
  std::vector<record::Record>
      final;  // one per planned row, in the plan's order
  std::vector<record::ResultRow> attempts;
  std::vector<Tally> tallies;  // by backend, then corpus
  std::vector<Unexpected> unexpected;
  std::vector<Conformance> conformance;
  MutantKills mutants;
  std::vector<record::BackendRow> backends;
  bool complete = false;  // every planned case has a verdict

  int64_t Count(record::Outcome outcome) const;
  int64_t Judged() const;

  /// 1 where something is unexpected, 77 where all that could be judged is
  /// unavailable, and may be, else 0.
  int ExitCode() const;
};

/// The entries of the journals of a run.
struct RawRecords {
  std::map<std::pair<std::string, std::string>, record::Record>
      records;  // backend, id
  /// By backend and id, the attempts after the first.
  std::map<std::pair<std::string, std::string>, std::vector<record::ResultRow>>
      repeats;
  std::map<std::string, record::BackendRow> backends;
  /// By instance, the instruction sets that its workers told of, one text each.
  std::map<std::string, std::set<std::string>> isa;
  std::vector<record::ResultRow> losses;  // ends of workers outside of any case
  /// By instance and path, the digests of the files that its workers ran.
  std::map<std::string, std::map<std::string, std::string>> files;

  /// Data loss when the case has a verdict already; failed precondition when
  /// workers of a backend ran from a file of one name and two contents.
  Status Add(journal::JournalEntry entry);
};

/// Adds the entries of one journal. Data loss when a case has two verdicts;
/// failed precondition, naming the journal, when it was not written for the
/// plan of that digest.
Status Collect(const std::filesystem::path& journal, std::string_view plan,
               RawRecords* raw);

/// The journals in a directory, which may have none, sorted.
std::vector<std::filesystem::path> JournalsIn(
    const std::filesystem::path& directory);

/// Adds the entries of every journal in a directory.
Status CollectFolder(const std::filesystem::path& directory,
                     std::string_view plan, RawRecords* raw);

struct AssessOptions {
  /// The plan was run as a whole: then every planned row must have a verdict
  /// (else missing), and every floor and expectation line is judged. A part
  /// judges only the rows it has.
  bool whole = true;
  bool allow_unavailable = false;  // a missing library or device is no failure
  MutantKills mutants = {};        // what is known of the harness itself
};

Verdicts Assess(const plan::Plan& plan, const std::vector<size_t>& rows,
                RawRecords raw, AssessOptions options = {});

}  // namespace assay::verdict
